/* SPDX-License-Identifier: BSD-2-Clause */
/** @file iosched/device.h
 *  A device that is not there: given the commands it holds, when does which
 *  one complete?  Integers only, one seed, no allocation: the same calls give
 *  the same answers on every platform, so it serves tests, simulation and a
 *  policy that wants to know what a seek would cost.
 *
 *      iosched_device_submit()      until it answers IOSCHED_DEVICE_BUSY
 *      now = iosched_device_next()  or something of yours, if sooner
 *      iosched_device_reap()        until it answers EMPTY
 *
 *  Models: null (completes at once), linear (a time per command, per block and
 *  per distance).  Both serve one command at a time and have no cache: what
 *  completes is on the medium.  Fields of a mechanism a model lacks are 0.
 *
 *  One instance, one thread at a time; time never goes back.  Errors, besides
 *  those named: INVAL (NULL, a now before an earlier one or NEVER), REENTRANT
 *  (from inside the trace callback, where only const calls are allowed).
 *  Costs are by tags in use, for each command that ends meanwhile.
 */
#ifndef IOSCHED_DEVICE_H
#define IOSCHED_DEVICE_H
#include <iosched/iosched.h>
#include <iosched/tunable.h>
IOSCHED_BEGIN_DECLS

struct iosched_device;

/* --- What it is made of --------------------------------------------------- */
/** Append-only.  Set struct_size, zero the rest for the defaults. */
struct iosched_device_cfg {
    uint32_t    struct_size;        /* sizeof(struct iosched_device_cfg)  */
    uint32_t    block_size;         /* bytes, a power of two >= 512; 512  */
    uint64_t    capacity_nblk;      /* 0: the profile's                   */
    uint64_t    seed;               /* of its every random number; 0 too  */
    /** MODEL[:PROFILE][,PARAMETER=VALUE]..., as for policies; not kept.  Of a
     *  parameter given twice the last counts.
     *  NULL: "null".  "linear:flat,tag_depth=32,policy=sstf" */
    const char *model;
    void       *user;               /* handed to trace                    */
    /** Every media access, as it is chosen, in order of time; so start may lie
     *  before the now of the call it comes from.  NULL: nobody looks. */
    void      (*trace)(void *user, const struct iosched_device *d,
                       uint64_t cookie, iosched_time start);
};

/** Profiles: i = 0, 1, ... as "linear:flat", with a line of help; static.
 *  @retval IOSCHED_ERR_NOENT no more  [any]  O(profiles). */
IOSCHED_API int iosched_device_profile_at(size_t i, const char **name,
                                          const char **help);
/** Parameters of a model ("linear"): i = 0, 1, ... as iosched_tunable_at(),
 *  with the defaults of its first profile.
 *  @retval IOSCHED_ERR_NOENT no more, or no such model  [any]  O(models). */
IOSCHED_API int iosched_device_param_at(const char *model, size_t i,
                                        struct iosched_tunable *out,
                                        size_t size);

/* --- Life ----------------------------------------------------------------- */
/** Bytes iosched_device_init() needs, aligned as iosched_align(); 0 if cfg is
 *  invalid.  A linear with 64 tags: below 8 KiB.  O(parameters). */
IOSCHED_API size_t iosched_device_size(const struct iosched_device_cfg *cfg);
/** Build it in your memory, idle, at lba 0; cfg is copied.  Nothing to
 *  destroy.  O(size).
 *  @retval IOSCHED_ERR_NOENT no such model, profile or parameter
 *  @retval IOSCHED_ERR_RANGE a parameter, the block size
 *  @retval IOSCHED_ERR_INVAL bad syntax; struct_size is below the first
 *                            release's; mem is not aligned
 *  @retval IOSCHED_ERR_NOTSUP non-zero bytes beyond what the library knows
 *  @retval IOSCHED_ERR_NOSPC size is too small, if by one byte */
IOSCHED_API int iosched_device_init(void *mem, size_t size,
                                    const struct iosched_device_cfg *cfg,
                                    struct iosched_device **out,
                                    iosched_time now);
/** Blocks it has.  O(1). */
IOSCHED_API uint64_t
iosched_device_capacity(const struct iosched_device *d);
/** Tags it offers now.  O(1). */
IOSCHED_API uint32_t iosched_device_depth(const struct iosched_device *d);
/** 1 .. the tag_depth it was built with, else RANGE; accepted commands stay:
 *  beyond the new depth it is BUSY until enough are reaped.  O(tags). */
IOSCHED_API int iosched_device_set_depth(struct iosched_device *d,
                                         uint32_t depth, iosched_time now);

/* --- Commands ------------------------------------------------------------- */
#define IOSCHED_CMD_FUA       0x1u  /* on the medium before it completes  */
#define IOSCHED_CMD_ORDERED   0x2u  /* after all earlier, before all later*/
                                    /* but HEAD                           */
#define IOSCHED_CMD_HEAD      0x4u  /* next after the one on the medium;  */
                                    /* several as they came               */
#define IOSCHED_CMD_PRIO      0x8u  /* before those without               */
#define IOSCHED_CMD_NONQUEUED 0x10u /* only while no other tag is in use  */

/** Frozen, 32 bytes; not kept.  A FLUSH is served when every WRITE, ZEROES and
 *  DISCARD taken before it has completed. */
struct iosched_cmd {
    iosched_lba lba;            /* of a FLUSH ignored                     */
    uint64_t    cookie;         /* yours; comes back with the completion  */
    uint32_t    nblk;           /* 0 for a FLUSH                          */
    uint16_t    op;             /* enum iosched_op, but PASS              */
    uint16_t    flags;          /* IOSCHED_CMD_*                          */
    int32_t     tag;            /* out: the device's slot, if TAKEN       */
    uint32_t    pad_;           /* 0                                      */
};

/** iosched_device_submit(). */
enum iosched_submitted {
    IOSCHED_DEVICE_TAKEN = 0,   /* it holds the command; cmd->tag is set  */
    IOSCHED_DEVICE_BUSY  = 1    /* no tag, a NONQUEUED is held, or must   */
                                /* wait: submit again after a reap        */
};
/** What the device's cache had to do with it; null, linear: always NONE. */
enum iosched_verdict {
    IOSCHED_CACHE_NONE     = 0, /* no cache, or not asked                 */
    IOSCHED_CACHE_MISS     = 1, /* all from the medium                    */
    IOSCHED_CACHE_PARTIAL  = 2, /* some of it was there                   */
    IOSCHED_CACHE_INFLIGHT = 3, /* was being read already                 */
    IOSCHED_CACHE_HIT      = 4, /* all was there                          */
    IOSCHED_CACHE_BUFFERED = 5  /* a write, taken by the cache            */
};

/** Parts of one access, in ns; their sum is completed - submitted, on each
 *  device and in each case. */
struct iosched_access {
    iosched_dur queued;         /* held, and others were served           */
    iosched_dur overhead;       /* of the command                         */
    iosched_dur seek;           /* the arm moves                          */
    iosched_dur settle;         /* it comes to rest                       */
    iosched_dur rotation;       /* until the first block comes by         */
    iosched_dur transfer;       /* at the medium                          */
    iosched_dur link;           /* to or from the host                    */
    iosched_dur stall;          /* waits inside the device: retries       */
};
/** A completion.  Append-only. */
struct iosched_done {
    uint64_t     cookie;        /* the command's                          */
    int32_t      tag;           /* free from now on                       */
    int32_t      status;        /* 0, or a negative errno                 */
    uint32_t     verdict;       /* enum iosched_verdict                   */
    uint32_t     pad_;          /* 0                                      */
    iosched_time submitted;     /* taken                                  */
    iosched_time selected;      /* chosen                                 */
    iosched_time media;         /* off the medium, or done with, if it    */
                                /* never went there                       */
    iosched_time completed;     /* which is not when it is reaped         */
    struct iosched_access parts; /* completed - submitted, in parts       */
};

/** Give it a command, at `now`.  What ends at `now` ends first, and the next
 *  one is chosen, without this one.  @return enum iosched_submitted.  O(tags).
 *  @retval IOSCHED_ERR_INVAL  nblk 0, of a FLUSH not 0; HEAD with ORDERED; FUA
 *                             on other than WRITE and ZEROES
 *  @retval IOSCHED_ERR_RANGE  past the end
 *  @retval IOSCHED_ERR_NOTSUP unknown op or flag, PASS */
IOSCHED_API int iosched_device_submit(struct iosched_device *d,
                                      struct iosched_cmd *cmd,
                                      iosched_time now);
/** When the next thing happens inside, so: when to call reap, which may still
 *  answer EMPTY.  Never before the latest now it was told; that, if something
 *  waits to be reaped; NEVER if idle.  O(1). */
IOSCHED_API iosched_time iosched_device_next(const struct iosched_device *d);
/** The next completion at or before now, earliest first, ties by tag: frees
 *  its tag.  Fills min(size, what it knows) bytes and zeroes the rest.
 *  @return IOSCHED_GOT or IOSCHED_EMPTY.  O(tags). */
IOSCHED_API int iosched_device_reap(struct iosched_device *d,
                                    struct iosched_done *out, size_t size,
                                    iosched_time now);
/** What would cmd cost if it were the next on the medium at `now`, after the
 *  access chosen last?  Without what chance adds: nothing moves, no random
 *  number is drawn.  Total in ns, or NEVER if invalid, also in time; parts may
 *  be NULL, and is written only if valid.  O(1). */
IOSCHED_API iosched_dur iosched_device_estimate(const struct iosched_device *d,
                                                const struct iosched_cmd *cmd,
                                                struct iosched_access *parts,
                                                iosched_time now);
/** How many commands the host has ready and withholds, from now on: tells idle
 *  time from idle time with work pending, the price of anticipation.
 *  O(tags). */
IOSCHED_API int iosched_device_pending(struct iosched_device *d, uint32_t n,
                                       iosched_time now);
/** A run of blocks: lba .. lba + nblk - 1.  Frozen. */
struct iosched_extent {
    iosched_lba lba;            /* its first block                        */
    uint64_t    nblk;           /* how many                               */
};
/** The power fails: writes that completed and are not on the medium, as extents
 *  out[0..*n-1], ascending: of a model without a write cache, none.  Commands
 *  that have not completed are gone; those that have can still be reaped; it
 *  is idle, at lba 0.  out may be NULL if max is 0.  O(tags).
 *  @retval IOSCHED_ERR_NOSPC more than max of them; nothing has happened */
IOSCHED_API int iosched_device_power_cut(struct iosched_device *d,
                                         struct iosched_extent *out,
                                         uint32_t max, uint32_t *n,
                                         iosched_time now);

/* --- Counters ------------------------------------------------------------- */
/** Append-only; but for in_use they only grow.  busy (a command is held that
 *  has not completed) + idle = elapsed; accepted = completed + dropped +
 *  in_use.  What a command took is counted as it is reaped. */
struct iosched_device_counters {
    uint64_t accepted[8];       /* commands taken, by op                  */
    uint64_t completed[8];      /* reaped, by op                          */
    uint64_t blocks[8];         /* of those, by op                        */
    uint64_t refused;           /* answers BUSY                           */
    uint64_t ordered;           /* taken with CMD_ORDERED                 */
    uint64_t verdict[8];        /* reaped, by enum iosched_verdict        */
    uint32_t in_use;            /* tags, from submit until reaped         */
    uint32_t in_use_max;        /* most at any time                       */
    uint64_t in_use_ns;         /* tags * ns: over elapsed, the mean      */
    iosched_dur elapsed;        /* since init                             */
    iosched_dur busy;           /* a command is held, not complete        */
    iosched_dur idle;           /* none is                                */
    iosched_dur idle_pending;   /* idle, and the host withholds some      */
    uint64_t media_accesses;    /* chosen for the medium                  */
    uint64_t cylinders;         /* that the arm crossed                   */
    uint64_t head_switches;     /* to another surface                     */
    uint64_t retries;           /* of accesses, inside the device         */
    iosched_dur seek;           /* sums of the parts of what was reaped   */
    iosched_dur settle;         /* the same, as all down to stall         */
    iosched_dur rotation;       /* of iosched_access.rotation             */
    iosched_dur transfer;       /* of .transfer                           */
    iosched_dur link;           /* of .link                               */
    iosched_dur overhead;       /* of .overhead                           */
    iosched_dur stall;          /* of .stall                              */
    uint64_t destaged_blocks;   /* from the write cache to the medium     */
    uint64_t dirty_blocks;      /* came into the write cache              */
    uint64_t dirty_max;         /* most blocks in it at any time          */
    uint64_t readahead_blocks;  /* read without being asked for           */
    uint64_t erases;            /* of flash blocks                        */
    uint64_t moved_pages;       /* copied by garbage collection           */
    uint64_t programs;          /* of flash pages                         */
    uint64_t dropped;           /* by power cuts                          */
};
/** Up to the latest now of any call but estimate.  Fills min(size, known) bytes
 *  and zeroes the rest.  O(1). */
IOSCHED_API int iosched_device_counters(const struct iosched_device *d,
                                        struct iosched_device_counters *out,
                                        size_t size);

IOSCHED_END_DECLS
#endif
