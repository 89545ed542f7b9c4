/* SPDX-License-Identifier: BSD-2-Clause */
/** @file iosched/stats.h
 *  What happened, and why nothing does: counters and histograms, the event
 *  trace they can be recomputed from, and a dump of everything queued.
 *  All times are core times: the caller's clock, steps back taken out.
 */
#ifndef IOSCHED_STATS_H
#define IOSCHED_STATS_H
#include <iosched/iosched.h>
IOSCHED_BEGIN_DECLS

/* --- Histograms: powers of two -------------------------------------------- */
#define IOSCHED_HIST_BUCKETS 32         /* for good                       */

/** n[0] counts durations below 1024 ns, n[b] those in 2^(b+9) .. 2^(b+10)-1 ns,
 *  n[31] also everything longer (18 minutes and up).  256 bytes, frozen. */
struct iosched_hist {
    uint64_t n[IOSCHED_HIST_BUCKETS];   /* samples in each                */
};

/** The bucket a duration falls into.  [any]  O(1). */
IOSCHED_API int iosched_hist_bucket(iosched_dur d);
/** The least duration of bucket b, in ns; NEVER above 31.  [any]  O(1). */
IOSCHED_API iosched_dur iosched_hist_floor(int b);
/** The floor of the bucket that holds the ppm-th part (990000: p99) of all
 *  samples; 0 if there are none.  [any]  O(buckets). */
IOSCHED_API iosched_dur iosched_hist_quantile(const struct iosched_hist *h,
                                              uint32_t ppm);

/* --- Counters ------------------------------------------------------------- */
/** Rows of the histograms. */
enum iosched_kind {
    IOSCHED_KIND_READ  = 0,     /* all of them                            */
    IOSCHED_KIND_SYNC  = 1,     /* writes somebody waits for              */
    IOSCHED_KIND_ASYNC = 2,     /* writes nobody waits for                */
    IOSCHED_KIND_OTHER = 3,     /* discard, zeroes, flush, pass-through   */
    IOSCHED_KIND_COUNT = 4      /* how many rows                          */
};

/** Append-only; counters only grow.  Requests count singly, members too,
 *  unless it says dispatches: a merge or a phase is one of those. */
struct iosched_stats {
    uint64_t inserted[8];           /* by enum iosched_op                 */
    uint64_t completed[8];          /* by op, failed ones too             */
    uint64_t blocks[8];             /* completed, by op                   */
    uint64_t dispatches;            /* answers GOT                        */
    uint64_t phases;                /* those beyond a request's first     */
    uint64_t merged_back;           /* joins, of two carriers as well     */
    uint64_t merged_front;          /* the same, in front                 */
    uint64_t dissolved;             /* merges that a cancel took apart    */
    uint64_t requeued;              /* dispatches: iosched_requeue()      */
    uint64_t queue_full;            /* dispatches: iosched_queue_full()   */
    uint64_t cancelled;             /* iosched_cancel()                   */
    uint64_t aborted;               /* iosched_abort()                    */
    uint64_t failed;                /* completed with status < 0          */
    uint64_t late;                  /* completions that intake refused    */
    uint64_t refused;               /* requests that intake refused       */
    uint64_t heads;                 /* dispatches of HEAD and PASS        */
    uint64_t barriers;              /* dispatches of BARRIER, data phase  */
    uint64_t overlap_waits;         /* held back by ORDER_OVERLAPS        */
    uint64_t fifo_expired;          /* dispatched past their deadline     */
    uint64_t holds;                 /* times a HOLD began                 */
    uint64_t fulls;                 /* answers FULL                       */
    uint64_t switches;              /* of policy                          */
    uint64_t timers;                /* fired                              */
    uint64_t clock_backwards;       /* steps back of the caller's clock   */
    iosched_dur held;               /* time in HOLD with a free slot      */
    iosched_dur wait_sum;           /* insert to dispatch, of completed   */
    iosched_dur service_sum;        /* dispatch to complete               */
    iosched_dur busy;               /* time with something in flight      */
    uint32_t max_queued;            /* most at any time                   */
    uint32_t max_inflight;          /* the same, dispatches               */
    struct iosched_hist wait[IOSCHED_KIND_COUNT];       /* wait_sum's     */
    struct iosched_hist service[IOSCHED_KIND_COUNT];    /* service_sum's  */
    struct iosched_hist response[IOSCHED_KIND_COUNT];   /* their sum      */
};
/** Fills min(size, what it knows) bytes and zeroes the rest.  busy and held
 *  are up to the latest call.  [cb]  O(1). */
IOSCHED_API int iosched_get_stats(const struct iosched *s,
                                  struct iosched_stats *out, size_t size);

/* --- Trace ---------------------------------------------------------------- */
/** blktrace's letters where it has one, lower case where it has none. */
enum iosched_action {
    IOSCHED_EV_INSERT   = 'Q',  /* it arrived                             */
    IOSCHED_EV_ADD      = 'I',  /* the policy gets it now                 */
    IOSCHED_EV_WAIT     = 'y',  /* the rules of order hold it; note: which */
    IOSCHED_EV_EMIT     = 'E',  /* the policy chose it; arg: how          */
    IOSCHED_EV_BACK     = 'M',  /* joined; arg: the carrier's seq         */
    IOSCHED_EV_FRONT    = 'F',  /* the same, in front of it               */
    IOSCHED_EV_DISPATCH = 'D',  /* arg: tag                               */
    IOSCHED_EV_COMPLETE = 'C',  /* once a member; arg: status             */
    IOSCHED_EV_REQUEUE  = 'R',  /* given back by iosched_requeue()        */
    IOSCHED_EV_NOTE     = 'm',  /* iosched_core_note(): text and arg      */
    IOSCHED_EV_PHASE    = 'p',  /* complete answered MORE; arg: next phase */
    IOSCHED_EV_FULL     = 'q',  /* queue_full; arg: depth from now on     */
    IOSCHED_EV_CANCEL   = 'x',  /* taken back                             */
    IOSCHED_EV_ABORT    = 'a',  /* arg: tag                               */
    IOSCHED_EV_RELEASE  = 'r',  /* tag_release; arg: tag                  */
    IOSCHED_EV_LATE     = 'l',  /* posted completions that were refused;  */
                                /* arg: how many since the last of these  */
    IOSCHED_EV_REFUSE   = 'e',  /* the inbox refused it; arg: status      */
    IOSCHED_EV_DISSOLVE = 'u',  /* a merge fell apart; rq: its carrier    */
    IOSCHED_EV_HOLD     = 'h',  /* begins; note: why                      */
    IOSCHED_EV_UNHOLD   = 'g',  /* ends                                   */
    IOSCHED_EV_NOSLOT   = 'n',  /* dispatch answered FULL                 */
    IOSCHED_EV_TIMER    = 't',  /* fired; arg: which                      */
    IOSCHED_EV_SWITCH   = 's',  /* note: the new policy                   */
    IOSCHED_EV_TUNE     = 'v',  /* note: tunable; arg: value              */
    IOSCHED_EV_DEPTH    = 'd',  /* set_depth, or the ramp; arg: depth     */
    IOSCHED_EV_FREEZE   = 'f',  /* arg: nesting, 0 = thawed               */
    IOSCHED_EV_CLOCK    = 'k',  /* now stepped back; arg: by how many ns  */
    IOSCHED_EV_STREAM   = 'o',  /* opened, changed, closed, yielded: note */
    IOSCHED_EV_GROUP    = 'w'   /* opened, closed, a weight: note; arg: it */
};

/** Append-only; valid during cfg.trace only.  rq's public members are as they
 *  are at this moment.  From these events alone every number in iosched_stats
 *  can be recomputed: fifo_expired, say, counts the 'E' with EMIT_EXPIRED. */
struct iosched_event {
    uint32_t                     struct_size;   /* the library's          */
    uint32_t                     action;        /* enum iosched_action    */
    iosched_time                 time;          /* core time              */
    uint64_t                     seq;           /* rq's arrival number    */
    const struct iosched_req    *rq;            /* may be NULL            */
    const struct iosched_stream *stream;        /* may be NULL            */
    const struct iosched_group  *group;         /* may be NULL            */
    const char                  *note;          /* static string, or NULL */
    int64_t                      arg;           /* see the action         */
    uint32_t                     queued;        /* after it               */
    uint32_t                     inflight;      /* after it               */
};

/* --- Dump ----------------------------------------------------------------- */
/** Takes len bytes of text, not terminated.  @return 0 to go on; anything
 *  else stops the dump, which returns it.  Must not call the library. */
typedef int (*iosched_writer)(void *user, const char *text, size_t len);

/** Write the state as lines of "key=value" pairs: the scheduler, each timer,
 *  stream and group, then each queued request once with age, place and why it
 *  waits, then each in flight, then each quarantined tag.  Allocates nothing;
 *  `now` only dates it.  @return 0, what the writer answered to stop it, or an
 *  error.  [cb]  O(queued + depth + streams + groups), with ORDER_OVERLAPS
 *  + queued_hint. */
IOSCHED_API int iosched_dump(const struct iosched *s, iosched_writer write,
                             void *user, iosched_time now);

IOSCHED_END_DECLS
#endif
