/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file iosched/iosched.h
 * Embeddable I/O scheduling: which request goes to the device next, and when
 * to wait instead.
 *
 * The library never reads a clock, opens a descriptor, starts a thread or,
 * once initialised, allocates.  You say what time it is; it says which request
 * to issue next, and when to ask again.  One turn of your loop:
 *
 *     iosched_complete()   for every request the device finished
 *     iosched_expire()     if now >= iosched_next_expiry()
 *     iosched_insert()     for every request that arrived
 *     iosched_dispatch()   until it answers something other than GOT
 *     sleep until a completion, an arrival, or iosched_next_expiry()
 *
 * Life of a request (enum iosched_state); the rest is the library's inside:
 *
 *              insert                  dispatch
 *      IDLE ------------> QUEUED ------------------> INFLIGHT
 *      ^  |                |  ^  requeue, queue_full    |  |
 *      |  |                |  +-------------------------+  |
 *      |  |                |  +---- complete: MORE --------+   next phase
 *      |<-------cancel-----+                               |
 *      |<-------complete: OK, or abort --------------------+
 *      |  |
 *      |  +-- post --> POSTED -- intake --> QUEUED, or DONE if refused
 *      +------------------------- reap ---- DONE <-- intake of a completion
 *
 *      QUEUED --joins a merge--> ABSORBED --its carrier completes--> IDLE
 *         ^                          |
 *         +--the merge dissolves-----+---- cancel ----> IDLE
 *
 * +-- Caveats ---------------------------------------------------------------+
 * | ORDER.  Requests that overlap on the device are reordered like any others|
 * | unless IOSCHED_F_ORDER_OVERLAPS is set: a read may pass the write it was |
 * | meant to see, two writes may land either way round.  With the flag, a    |
 * | later request is held while an earlier overlapping one is queued or in   |
 * | flight and either writes.  What must be ordered without overlapping      |
 * | needs a BARRIER, or to be inserted after the first has completed.  What  |
 * | is aborted counts as complete: its tag tells when it really is.          |
 * | DURABILITY.  A completed write may sit in the device's cache: FLUSH, FUA.|
 * | A BARRIER orders dispatch and completion; it flushes nothing.            |
 * | ERRORS.  The library does not retry; a failed phase ends the request.    |
 * +--------------------------------------------------------------------------+
 *
 * Threads: one instance, one thread at a time; instances share nothing but
 * tags.  [any] = callable from any thread.  [cb] = callable inside a callback;
 * anything else called there answers IOSCHED_ERR_REENTRANT.
 * Time: `now` is the last argument, never IOSCHED_NEVER.  A step back shifts
 * an internal offset: intervals go on, and it is counted.
 * Errors, besides those named: INVAL (NULL, a foreign object, a bad now) and
 * REENTRANT.  Costs: P is what the policy needs, at most O(log queued); for a
 * request that comes late, out of a dissolved merge or an order, also O(those
 * that are younger).
 */
#ifndef IOSCHED_IOSCHED_H
#define IOSCHED_IOSCHED_H
#include <iosched/request.h>
#include <iosched/stream.h>
#include <iosched/types.h>
IOSCHED_BEGIN_DECLS

struct iosched;                 /* one scheduler: one device queue        */
struct iosched_policy;          /* <iosched/policy.h>                     */
struct iosched_tags;            /* <iosched/tags.h>                       */
struct iosched_event;           /* <iosched/stats.h>                      */

/** iosched_insert(). */
enum iosched_inserted {
    IOSCHED_QUEUED       = 0,   /* on its own                             */
    IOSCHED_MERGED_BACK  = 1,   /* rq continues one that was queued       */
    IOSCHED_MERGED_FRONT = 2    /* rq precedes one that was queued        */
};
/** iosched_dispatch(); treat others as HOLD. */
enum iosched_picked {
    IOSCHED_EMPTY  = 0,         /* nothing is queued                      */
    IOSCHED_GOT    = 1,         /* *out is yours to issue                 */
    IOSCHED_HOLD   = 2,         /* held back on purpose: anticipation, an */
                                /* overlap, a barrier, a busy device      */
    IOSCHED_FULL   = 3,         /* no slot: complete or release something */
    IOSCHED_FROZEN = 4          /* until iosched_thaw()                   */
};
#define IOSCHED_MORE 1          /* iosched_complete(): a phase is done,   */
                                /* rq is queued for the next              */
/** iosched_may_queue(). */
enum iosched_admit {
    IOSCHED_MAY_WAIT = 0,       /* better after a completion              */
    IOSCHED_MAY      = 1,       /* the policy has nothing against it      */
    IOSCHED_MUST     = 2        /* the policy is waiting for just this    */
};

/* --- Configuration -------------------------------------------------------- */
#define IOSCHED_F_NONROTATIONAL     0x0001u /* seeks are free             */
#define IOSCHED_F_NOMERGE           0x0002u /* merge nothing              */
#define IOSCHED_F_DEVICE_FUA        0x0004u /* FUA without a POSTFLUSH    */
#define IOSCHED_F_NO_VOLATILE_CACHE 0x0008u /* no flush phases; FLUSH     */
                                            /* itself is still dispatched */
#define IOSCHED_F_ORDER_OVERLAPS    0x0010u /* see the caveats; O(log n), */
                                            /* O(n) if many overlap       */
#define IOSCHED_F_NO_SWITCH         0x0020u /* one policy area, not two;  */
                                            /* switch answers NOTSUP      */
#define IOSCHED_F_COMPAT            0x0040u /* merge and drain as Linux   */
                                            /* did, to compare decisions  */

/** Append-only.  In every field but struct_size, zero means the default. */
struct iosched_cfg {
    uint32_t struct_size;       /* set by iosched_cfg_init()              */
    uint32_t flags;             /* IOSCHED_F_*                            */
    uint64_t capacity_nblk;     /* blocks of the device; unbounded        */
    uint32_t block_size;        /* bytes, a power of two >= 512; 512      */
    uint32_t depth;             /* most in flight; bounds memory; 1       */
    uint32_t max_streams;       /* with the default stream; 32            */
    uint32_t max_groups;        /* with the root; 8                       */
    uint32_t queued_hint;       /* merge buckets, next power of two; 128: */
                                /* beyond it slower, never refused.  With */
                                /* ORDER_OVERLAPS: beyond it the policy   */
                                /* gets them in order of arrival          */
    uint32_t max_merge_kib;     /* largest merged extent; 512             */
    uint32_t max_merge_segs;    /* most segments in one; 128              */
    uint32_t head_burst;        /* HEADs in a row past the policy; 16     */
    /** NULL-terminated, must outlive the scheduler; NULL = the built-in set. */
    const struct iosched_policy *const *policies;
    struct iosched_tags *tags;  /* shared with others; NULL = its own     */
    void *user;                 /* handed to every callback below         */
    /** For iosched_create() alone, and destroy; both or neither.  alloc: size
     *  bytes at a multiple of align, NULL: there are none; may be dirty. */
    void *(*alloc)(void *user, size_t size, size_t align);
    void  (*dealloc)(void *user, void *ptr);        /* what alloc gave    */
    /** May `rq` join `into`?  where: IOSCHED_MERGED_*.  1 or 0; may be asked
     *  several times for one insert.  NULL: always. */
    int   (*may_merge)(void *user, const struct iosched_req *into,
                       const struct iosched_req *rq, int where);
    /** Called for each event, once, in order: <iosched/stats.h>. */
    void  (*trace)(void *user, const struct iosched_event *ev);
    /** A shared tag came free after FULL: dispatch again.  May come from any
     *  thread, and must not call the library: post to your loop. */
    void  (*wake)(void *user);
    /** More of them, looked through after `policies`: yours, beside the
     *  built-in set.  NULL-terminated, must outlive the scheduler; or NULL. */
    const struct iosched_policy *const *extra_policies;
};

/** Zero *cfg, of size bytes, and set struct_size; call it through the macro.
 *  [any]  O(1). */
IOSCHED_API int iosched_cfg_init_sized(struct iosched_cfg *cfg, size_t size);
/** The same for the cfg your compiler sees. */
#define iosched_cfg_init(cfg) iosched_cfg_init_sized((cfg), sizeof *(cfg))

/* --- Life cycle ----------------------------------------------------------- */
/* A policy is named by a string, here and for iosched_switch():
 *     NAME[:PRESET][,TUNABLE=VALUE]...     "cfq:2.6.32,slice_idle=0"
 * VALUE is in the tunable's unit; ns, us, ms, s may follow a time.  The string
 * is not kept.  Bad syntax INVAL, unknown name NOENT, bad value RANGE. */

/** Bytes iosched_init() needs: exactly what any listed policy, and a switch
 *  between two, can use.  cfg NULL: the defaults.  0 if it is invalid.  [any]
 *  O(policies). */
IOSCHED_API size_t iosched_size(const struct iosched_cfg *cfg);
/** Alignment of that memory.  [any]  O(1). */
IOSCHED_API size_t iosched_align(void);
/** Build a scheduler in your memory, which is yours again after destroy.
 *  `now` starts its clock.  cfg is copied; NULL: all defaults.  Errors of the
 *  policy string as above, or what its init answers.  O(size).
 *  @retval IOSCHED_ERR_INVAL  also if mem is not aligned
 *  @retval IOSCHED_ERR_RANGE  a bound in cfg is beyond what the library can do
 *  @retval IOSCHED_ERR_NOSPC size is below iosched_size(), if by one byte
 *  @retval IOSCHED_ERR_NOTSUP non-zero bytes beyond what the library knows */
IOSCHED_API int iosched_init(void *mem, size_t size, const char *policy,
                             const struct iosched_cfg *cfg,
                             struct iosched **out, iosched_time now);
/** The same in memory from cfg->alloc, or malloc() where there is one: else
 *  NOTSUP.  destroy gives it back.  O(size).  @retval IOSCHED_ERR_NOMEM */
IOSCHED_API int iosched_create(const char *policy,
                               const struct iosched_cfg *cfg,
                               struct iosched **out, iosched_time now);
/** End it; open streams and groups go with it.  NULL is a no-op.
 *  O(max_streams + max_groups) + P.
 *  @retval IOSCHED_ERR_BUSY requests are posted, queued, in flight or DONE; a
 *                           shared tag is quarantined, or a wake on its way */
IOSCHED_API int iosched_destroy(struct iosched *s);
/** The built-in policies, NULL-terminated, static.  [any]  O(1). */
IOSCHED_API const struct iosched_policy *const *iosched_builtin_policies(void);

/* --- The data path: none of these allocates ------------------------------- */
/** Hand over rq: the library's until it is idle again; on error still yours.
 *  @return enum iosched_inserted.  O(1) + P.
 *  @retval IOSCHED_ERR_BUSY   rq is not idle
 *  @retval IOSCHED_ERR_STATE  its stream is closed
 *  @retval IOSCHED_ERR_INVAL  nblk 0; beyond cfg.capacity_nblk; foreign stream;
 *                             PREFLUSH or FUA on other than WRITE and ZEROES
 *  @retval IOSCHED_ERR_NOTSUP unknown op or flag
 *  @retval IOSCHED_ERR_RANGE  its ioprio, as iosched_prio() */
IOSCHED_API int iosched_insert(struct iosched *s, struct iosched_req *rq,
                               iosched_time now);
/**
 * Choose the next request to issue: rq->phase, xlba, xnblk, tag say how.  It
 * stays linked here until complete, requeue, queue_full or abort.
 * @return enum iosched_picked; *out is NULL unless GOT.  O(1) + P.
 * @retval IOSCHED_ERR_NOTSUP unknown flag
 *
 * Liveness: after any answer but GOT the answer cannot change before another
 * call that takes `now`, or the clock reaches iosched_next_expiry(), or
 * cfg.wake.  HOLD implies a timer or something in flight; FULL implies that,
 * a quarantined tag or, with shared tags, a wake to come.  Never poll.
 */
IOSCHED_API int iosched_dispatch(struct iosched *s, struct iosched_req **out,
                                 unsigned flags, iosched_time now);
#define IOSCHED_DISPATCH_FORCE 0x1u     /* drain: no idling; order stays  */
/** Up to max of them into out[0..*n-1], as that many calls would choose.
 *  @return why it stopped: GOT if *n == max; on error, as of max 0, *n is 0.
 *  O(n * (1 + P)). */
IOSCHED_API int iosched_dispatch_many(struct iosched *s,
                                      struct iosched_req **out, uint32_t max,
                                      uint32_t *n, unsigned flags,
                                      iosched_time now);
/** The device finished the carrier rq; status 0 or your negative errno, copied
 *  to every member.  After OK all members are idle and yours.  After
 *  IOSCHED_MORE rq is queued again for its next phase; status < 0 skips the
 *  rest.  @retval IOSCHED_ERR_STATE not in flight  O(members) + P. */
IOSCHED_API int iosched_complete(struct iosched *s, struct iosched_req *rq,
                                 int status, iosched_time now);
/** You could not issue rq: it goes out next, at its old age, same phase.
 *  Several given back go out in the order they were dispatched in.
 *  @retval IOSCHED_ERR_STATE not in flight  O(requeued) + P. */
IOSCHED_API int iosched_requeue(struct iosched *s, struct iosched_req *rq,
                                iosched_time now);
/** The device would not take rq: as requeue, and lower the depth in use to
 *  what it did take; it creeps up again.  If nothing is in flight a retry
 *  timer is armed, 1 ms doubling to 100 ms, so HOLD ends.  What else of a
 *  batch the device did not get to see is requeued, before this or after it:
 *  until the next completion it counts as part of the refusal.
 *  O(requeued) + P.
 *  @retval IOSCHED_ERR_STATE not in flight */
IOSCHED_API int iosched_queue_full(struct iosched *s, struct iosched_req *rq,
                                   iosched_time now);
/** Take back a queued request, member or carrier: idle and yours.  Its merge
 *  dissolves, the others go on at their own age.  O(members * (1 + P)).
 *  @retval IOSCHED_ERR_STATE not queued: idle, in the inbox or in flight */
IOSCHED_API int iosched_cancel(struct iosched *s, struct iosched_req *rq,
                               iosched_time now);
/** Give up on the carrier rq in flight: its members are idle and yours, but
 *  the tag (still in rq->tag) stays out of use until iosched_tag_release(),
 *  for the device may yet write.  @retval IOSCHED_ERR_STATE not in flight
 *  O(members) + P. */
IOSCHED_API int iosched_abort(struct iosched *s, struct iosched_req *rq,
                              iosched_time now);
/** The device is sure to have forgotten this aborted tag.  O(1).
 *  @retval IOSCHED_ERR_STATE that tag is not quarantined */
IOSCHED_API int iosched_tag_release(struct iosched *s, int32_t tag,
                                    iosched_time now);

/* --- Time and control ----------------------------------------------------- */
/** When to call expire, in your clock; NEVER: no timer armed.  [cb]  O(1). */
IOSCHED_API iosched_time iosched_next_expiry(const struct iosched *s);
/** Early calls are harmless.  @return 1: dispatch may now yield; 0.  O(P). */
IOSCHED_API int iosched_expire(struct iosched *s, iosched_time now);
/** Dispatch nothing until thaw; nests; all else goes on.  O(1).
 *  @retval IOSCHED_ERR_RANGE frozen 2^32 - 1 times already */
IOSCHED_API int iosched_freeze(struct iosched *s, iosched_time now);
/** Undo one freeze.  @retval IOSCHED_ERR_STATE not frozen  O(1). */
IOSCHED_API int iosched_thaw(struct iosched *s, iosched_time now);
/** Change policy without draining, for a string as above.  Queued requests
 *  move in arrival order and keep their age; tunables start from the string.
 *  On error nothing has changed: one of the string, what the new policy's init
 *  answers, or as below.  O(streams + groups + depth + queued * (log + P)).
 *  @retval IOSCHED_ERR_NOTSUP IOSCHED_F_NO_SWITCH is set */
IOSCHED_API int iosched_switch(struct iosched *s, const char *policy,
                               iosched_time now);
/** 1..cfg.depth, else RANGE.  Below what is in flight: FULL for now.  O(1). */
IOSCHED_API int iosched_set_depth(struct iosched *s, uint32_t depth,
                                  iosched_time now);
/** Backpressure, if you want it: should a request of st (NULL: the default
 *  stream) come now?  Nothing is inserted.  @return enum iosched_admit, or what
 *  insert would answer to such an op, flags or stream.  O(1) + P. */
IOSCHED_API int iosched_may_queue(struct iosched *s, struct iosched_stream *st,
                                  unsigned op, unsigned flags,
                                  iosched_time now);
/** Name in use, as "cfq"; static.  [cb]  O(1). */
IOSCHED_API const char *iosched_policy_name(const struct iosched *s);
/** Requests queued, members included.  [cb]  O(1). */
IOSCHED_API uint32_t iosched_queued(const struct iosched *s);
/** Slots in use by requests in flight; a merge is one.  [cb]  O(1). */
IOSCHED_API uint32_t iosched_inflight(const struct iosched *s);
/** Depth in use: set_depth, lowered by queue_full.  [cb]  O(1). */
IOSCHED_API uint32_t iosched_depth(const struct iosched *s);

IOSCHED_END_DECLS
#endif
