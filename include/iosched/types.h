/* SPDX-License-Identifier: BSD-2-Clause */
/** @file iosched/types.h
 *  Units, results and the 32-bit clock helper.  Every other header includes
 *  this one; it includes nothing of ours but the generated version.h. */
#ifndef IOSCHED_TYPES_H
#define IOSCHED_TYPES_H
#include <stddef.h>
#include <stdint.h>
#include <iosched/version.h>
IOSCHED_BEGIN_DECLS

/* --- Units ---------------------------------------------------------------- */
typedef uint64_t iosched_time;  /* ns, monotonic, epoch of your choosing  */
typedef uint64_t iosched_dur;   /* ns                                     */
typedef uint64_t iosched_lba;   /* device address in cfg.block_size units */

#define IOSCHED_NEVER    UINT64_MAX     /* "no timer"; never a valid now  */
#define IOSCHED_USEC(n)  ((iosched_dur)(n) * 1000u)         /* in ns      */
#define IOSCHED_MSEC(n)  ((iosched_dur)(n) * 1000000u)      /* in ns      */
#define IOSCHED_SEC(n)   ((iosched_dur)(n) * 1000000000u)   /* in ns      */

/** From a pointer to an embedded member back to the struct around it.  Casts
 *  const away: what you then do with it is up to you. */
#define iosched_container_of(ptr, type, member) \
    ((type *)(void *)((char *)(ptr) - offsetof(type, member)))

/* --- Results: negative is an error, zero or positive an outcome ----------- */

/** After an error nothing has changed.  The numbers are errno's on Linux and
 *  frozen on every platform.  Misuse is checked in every build. */
enum iosched_err {
    IOSCHED_OK            = 0,
    IOSCHED_ERR_NOENT     = -2,   /* no such policy, preset, tunable, index */
    IOSCHED_ERR_NOMEM     = -12,  /* only from iosched_create()           */
    IOSCHED_ERR_BUSY      = -16,  /* still queued, in flight or populated */
    IOSCHED_ERR_INVAL     = -22,  /* not ours, NULL, empty, past the end, */
                                  /* malformed, or now == IOSCHED_NEVER   */
    IOSCHED_ERR_NOSPC     = -28,  /* your memory, or a configured bound   */
    IOSCHED_ERR_RANGE     = -34,  /* a value outside its bounds           */
    IOSCHED_ERR_REENTRANT = -35,  /* called from a callback that may not  */
    IOSCHED_ERR_STATE     = -77,  /* not in the state this call is for    */
    IOSCHED_ERR_NOTSUP    = -95   /* unknown op, flag or struct bytes; or */
                                  /* a feature this build lacks           */
};

/** One line of English for a result; a static string, never NULL, "unknown
 *  error" for a number that is none of ours.  [any]  O(1). */
IOSCHED_API const char *iosched_strerror(int err);

/** IOSCHED_VERSION_NUMBER of the library that is running.  [any]  O(1). */
IOSCHED_API uint32_t iosched_version_number(void);

/** The same as text; a static string.  [any]  O(1). */
IOSCHED_API const char *iosched_version_string(void);

/* --- A clock from a 32-bit counter ---------------------------------------
 * For targets whose only timer is a free-running 32-bit counter.  Times the
 * scheduler sees are 64-bit ns and never wrap; this struct carries the upper
 * half.  Read it at least once in every 2^32 ticks: iosched_clock32_alarm()
 * never answers with a sleep longer than half of that.  One reader; share it
 * with an interrupt handler only with that interrupt masked. */

/** Zero it and set tick_ns.  16 bytes, frozen. */
struct iosched_clock32 {
    uint64_t ticks_;            /* extended count at the last reading     */
    uint32_t last_;             /* counter at the last reading            */
    uint32_t tick_ns;           /* ns per tick, > 0; 1000 for 1 MHz       */
};

/** The time now, in ns, from what the counter shows, which is always taken as
 *  later than the last reading: a smaller value means that it has wrapped.
 *  IOSCHED_NEVER, which every other call refuses as a time, if c is NULL or
 *  tick_ns is 0.  O(1). */
IOSCHED_API iosched_time iosched_clock32_extend(struct iosched_clock32 *c,
                                                uint32_t counter);

/** The counter value to load into a compare register so as to wake at `at`
 *  (rounded up to a tick), or half a wrap after the last reading if that is
 *  sooner (so also for IOSCHED_NEVER).  A past `at` answers the last reading
 *  plus one tick.  O(1), one 64-bit division. */
IOSCHED_API uint32_t iosched_clock32_alarm(const struct iosched_clock32 *c,
                                           iosched_time at);

IOSCHED_END_DECLS
#endif
