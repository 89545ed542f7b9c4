/* SPDX-License-Identifier: BSD-2-Clause */
/** @file iosched/tunable.h
 *  Tunables: got, set and listed by name.  Policies have them while running,
 *  device models when they are built.  Names are sysfs's where Linux had one;
 *  times are in ns, whatever the unit of the original.
 */
#ifndef IOSCHED_TUNABLE_H
#define IOSCHED_TUNABLE_H
#include <iosched/types.h>
IOSCHED_BEGIN_DECLS

struct iosched;

/** What a value counts. */
enum iosched_unit {
    IOSCHED_UNIT_NONE  = 0,     /* a count                                */
    IOSCHED_UNIT_NS    = 1,
    IOSCHED_UNIT_KIB   = 2,
    IOSCHED_UNIT_BOOL  = 3,
    IOSCHED_UNIT_BYTES = 4,
    IOSCHED_UNIT_PPM   = 5
};
#define IOSCHED_TUNABLE_RO    0x1u  /* an estimate to look at             */
#define IOSCHED_TUNABLE_QUIRK 0x2u  /* a reference's behaviour, which a   */
                                    /* preset turns on                    */
/** One tunable, described.  Append-only; see tunable_stride. */
struct iosched_tunable {
    const char *name;               /* [a-z0-9_]+, static                 */
    const char *help;               /* one line, static                   */
    int64_t     min;                /* inclusive                          */
    int64_t     max;                /* inclusive                          */
    int64_t     def;                /* what it is if nobody says          */
    uint16_t    unit;               /* enum iosched_unit                  */
    uint16_t    flags;              /* IOSCHED_TUNABLE_*                  */
    uint32_t    pad_;               /* 0                                  */
};

/* The core's own, for every policy: tick_ns (the clock that policies see is
 * rounded down to this; 0: not; only in the string that chooses a policy),
 * nomerges (0 merge, 2 not at all; 1 as 2, but under IOSCHED_F_COMPAT still
 * with the request merged last; for what is inserted from then on),
 * max_sectors_kb (largest merged extent, KiB), rotational (0: seeks are free),
 * sort_across_ops (a quirk: see IOSCHED_EMIT_SORTED).  As a policy's, they
 * start from cfg, the preset and the string at each switch. */

/** The value of one, of the running policy or of the core ("tick_ns").  [cb]
 *  @retval IOSCHED_ERR_NOENT no such tunable  O(tunables) */
IOSCHED_API int iosched_tunable_get(const struct iosched *s, const char *name,
                                    int64_t *value);
/** Set one; takes effect at the next decision.  Never clamps.  O(tunables).
 *  @retval IOSCHED_ERR_NOENT  no such tunable
 *  @retval IOSCHED_ERR_RANGE  outside min..max
 *  @retval IOSCHED_ERR_NOTSUP it is read-only */
IOSCHED_API int iosched_tunable_set(struct iosched *s, const char *name,
                                    int64_t value, iosched_time now);
/** List them: i = 0, 1, ... until NOENT, the policy's first, then the core's.
 *  Fills min(size, what it knows) bytes and zeroes the rest.  [cb]  O(i). */
IOSCHED_API int iosched_tunable_at(const struct iosched *s, size_t i,
                                   struct iosched_tunable *out, size_t size);

IOSCHED_END_DECLS
#endif
