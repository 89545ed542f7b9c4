/* SPDX-License-Identifier: BSD-2-Clause */
/* internal.h - the scheduler from the inside.  Grouped by the file that
 * defines what is declared; the structs first.
 *
 * Every public call that takes `now` runs between iosched__enter() and
 * iosched__leave(): one time for the whole call, no re-entry.
 */
#ifndef IOSCHED_CORE_INTERNAL_H
#define IOSCHED_CORE_INTERNAL_H
#include <iosched/inbox.h>
#include <iosched/iosched.h>
#include <iosched/policy.h>
#include <iosched/stats.h>
#include <iosched/tags.h>
#include <iosched/tunable.h>
#include "device/tags_internal.h"
#include "util.h"

/* --- What the core keeps in a request ------------------------------------- */
/* core_flags_: where it is (exactly one place while it is not idle) ... */
enum place {
    PLACE_NONE     = 0,     /* idle, or absorbed: look at its carrier         */
    PLACE_POLICY   = 1,     /* the policy holds it; hashed if it may merge    */
    PLACE_EMITTED  = 2,     /* the policy has chosen it                       */
    PLACE_DIRECT   = 3,     /* HEAD, FLUSH, PASS, a flush phase, a barrier    */
    PLACE_REQUEUED = 4,     /* given back by the caller                       */
    PLACE_WAITING  = 5,     /* behind a barrier, or for an order node         */
    PLACE_BLOCKED  = 6,     /* an earlier request overlaps it                 */
    PLACE_FLYING   = 7      /* in flight                                      */
};
#define PLACE_MASK   0x0fu
/* ... and what is true of it. */
#define RQ_KNOWN     0x10u  /* the running policy emitted it: gets its hooks  */
#define RQ_HASHED    0x20u  /* in the back-merge hash                         */
#define RQ_CLOSED    0x40u  /* compat: refused a merge once, so for good      */
#define RQ_RAISED    0x100u /* its ioprio is a member's; its own: next 5 bits */
#define RQ_OWN_SHIFT 9
#define RQ_OWN_MASK  (0x1fu << RQ_OWN_SHIFT)
#define RQ_PRIO_SHIFT 16    /* the upper half: effective ioprio               */

/* generation counts the segments of a carrier's members while it is queued;
 * sort.key is the number of its dispatch once it was dispatched (the policy's
 * use of `sort` ends at emit). */

/* Flags of the caller's that keep a request from merging. */
#define RQ_NEVER_MERGES                                                      \
    (IOSCHED_RQ_NOMERGE | IOSCHED_RQ_BARRIER | IOSCHED_RQ_HEAD |             \
     IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA)

/** A list of requests by link_next_ and link_prev_. */
struct rqlist {
    struct iosched_req *head, **tail;   /* tail: last link_next_ or &head */
};

/* --- Streams, groups, slots ----------------------------------------------- */
enum handle_state { HANDLE_FREE = 0, HANDLE_OPEN = 1, HANDLE_CLOSED = 2 };

struct iosched_group {
    struct iosched       *s;
    struct iosched_group *parent;       /* NULL: this is the root         */
    void                 *user;
    struct iosched_group *next_free;
    struct iosched_group *next, **prev; /* not free: in order of opening  */
    uint32_t              slot;
    uint32_t              weight, leaf_weight;
    uint32_t              open_kids;    /* streams and groups in it: open */
    uint32_t              kids;         /* ... and those not freed yet    */
    uint32_t              requests;     /* inserted by its streams, not idle */
    uint8_t               state;        /* enum handle_state              */
};

struct iosched_stream {
    struct iosched        *s;
    struct iosched_group  *group;
    void                  *user;
    struct iosched_stream *next_free;
    uint32_t               slot;
    uint32_t               inflight;    /* carriers of it                 */
    uint32_t               requests;    /* of it, not idle                */
    uint16_t               ioprio;
    uint8_t                state;       /* enum handle_state              */
};

/** One tag of the device queue. */
struct slot {
    struct iosched_req *rq;             /* in flight, or NULL             */
    uint32_t            generation;     /* of its last dispatch           */
    uint8_t             quarantined;    /* aborted and not released       */
    /* The generation while its completion may be posted, else 0.  The one
     * thing of a slot that other threads look at. */
    iosched__word       live;
};

/** One posted completion.  ready is the ticket + 1 once the rest is there. */
struct posting {
    uint64_t      cookie;
    iosched_time  when;                 /* the poster's clock             */
    int32_t       status;
    iosched__word ready;
};

/** A request's place among overlapping ones: order.c. */
struct order_node {
    struct iosched_rbnode rb;           /* key: lba; or the free list     */
    uint64_t              max_end;      /* of its subtree; likewise ...   */
    uint64_t              min_seq, max_seq;
    struct iosched_req   *rq;
    struct order_node    *blocker;      /* whom rq waits for, or NULL     */
    struct order_node    *waiters, *last_waiter;    /* by arrival         */
    struct order_node    *wait_next, *wait_prev;
};

/* Of several requests with the right end this many are asked at most whether
 * they take another: the rest would hardly say otherwise. */
#define HASH_TRIES 16u

/* --- A policy that runs --------------------------------------------------- */
enum core_tunable {
    TUN_TICK_NS, TUN_NOMERGES, TUN_MAX_SECTORS_KB, TUN_SORT_ACROSS_OPS,
    TUN_ROTATIONAL, TUN_COUNT
};

/** Which of a policy's requests are entered in the merge hash. */
enum hashing { HASH_NONE = 0, HASH_ALL = 1, HASH_COMPAT = 2 };

/** What a policy's hooks get as `core`: one instance of one policy.  There are
 *  two, so that a switch can build the new one before it touches the old. */
struct iosched_core {
    struct iosched        *s;
    struct iosched_policy  ops;         /* a copy, zero-filled            */
    void                  *state;
    char                  *stream_data, *group_data;    /* by slot        */
    size_t                 stream_stride, group_stride;
    iosched_time           timer[IOSCHED_TIMERS];       /* NEVER: disarmed */
    iosched_time           next;        /* the earliest of them           */
    uint32_t               held;        /* carriers the policy holds      */
    uint8_t                hashes;      /* enum hashing                   */
    uint8_t                fronts;      /* it has find(): count starts    */
    uint32_t               merge_nblk;  /* TUN_MAX_SECTORS_KB in blocks   */
    int64_t                tun[TUN_COUNT];
    char                  *area;        /* its part of the memory         */
};

struct iosched {
    struct iosched_cfg  cfg;            /* complete: no zero means default */
    struct iosched_core core[2];
    struct iosched_core *run;           /* the one that runs              */
    void               *allocated;      /* by iosched_create(), or NULL   */

    /* Time.  now = the caller's + offset; it never goes back. */
    iosched_time        now, caller_now, offset;
    uint8_t             inside;         /* a public call is running       */
    uint8_t             holding;        /* the last dispatch answered HOLD */
    uint8_t             orderly;        /* arrivals have to be admitted:   */
                                        /* ORDER_OVERLAPS, a fence, or     */
                                        /* something waits                 */
    uint8_t             refused;        /* a queue_full, and no completion */
                                        /* since                          */
    uint32_t            frozen;         /* nesting                        */

    /* Requests. */
    uint32_t            queued;         /* members included               */
    uint32_t            inflight;       /* carriers                       */
    uint32_t            quarantined;    /* tags                           */
    uint32_t            admitted;       /* past the barriers and not idle */
    uint32_t            blocked;        /* PLACE_BLOCKED                  */
    uint32_t            head_run;       /* direct ones issued in a row    */
    uint64_t            next_seq, next_dispatch;
    struct rqlist       emitted, direct, requeued, waiting;
    struct iosched_req *fence;          /* the barrier that is under way  */
    struct rqlist       done;           /* for iosched_reap()             */

    /* Merging. */
    struct iosched_req **bucket;        /* by end of extent               */
    uint8_t            *starts;         /* how many start at an lba of this
                                         * hash, modulo 256; 16 a bucket  */
    uint8_t             starts_unsure;  /* one has wrapped: ask always    */
    unsigned            bucket_shift;   /* 64 - log2(buckets)             */
    struct iosched_req *last_merge;     /* compat: the one-hit cache      */

    /* The sweep of what is emitted: emit.c. */
    iosched_lba         sweep;          /* where it stands                */
    struct iosched_req *sweep_owner;    /* who set it and is not issued   */

    /* Depth. */
    uint32_t            depth_set, depth_now;
    iosched_time        depth_changed;  /* lowered or raised last         */
    iosched_time        retry_at;       /* NEVER: not armed               */
    iosched_dur         retry_wait;
    uint64_t            refused_before; /* next_dispatch at that queue_full */

    /* Objects. */
    struct iosched_stream *streams, *streams_end;
    struct iosched_stream *free_stream, **free_stream_tail;
    struct iosched_group  *groups, *free_group, **free_group_tail;
    struct iosched_group  *live_group, **live_group_tail;   /* not free   */
    struct iosched_tags   *tags;        /* shared; NULL: its own, below   */
    int                    seat;
    uint64_t               tags_few;    /* own tags, 64 or less: a bit    */
                                        /* each, 1: free                  */
    uint64_t              *tag_free;    /* more: as many such words       */
    uint64_t              *tag_words;   /* a bit for each word not empty  */
    uint8_t                few;         /* it has 64 or less of its own   */
    uint32_t               ntags;
    struct slot           *slots;

    /* Overlaps. */
    struct iosched_rbtree  readers, writers;
    struct order_node     *order_pool, *order_free;
    uint32_t               order_size;

    /* Inbox: written by any thread. */
    iosched__word          post_head;   /* a stack of requests            */
    iosched__word          post_tail;   /* next ticket of the ring        */
    iosched__word          post_pending;
    iosched__word          post_late;   /* completions refused            */
    iosched__word          ring_head;   /* owner: the next to take        */
    iosched__word          late_seen;   /* owner: post_late, as counted   */
    struct posting        *ring;
    uint32_t               ring_mask;

    struct iosched_stats   stats;
    iosched_time           busy_since, hold_since;
};

/* --- clock.c -------------------------------------------------------------- */
void iosched__set_clock(struct iosched *s, iosched_time now);
iosched_time iosched__caller_time(const struct iosched *s, iosched_time at);

/* --- trace.c -------------------------------------------------------------- */
void iosched__trace_out(struct iosched *s, unsigned action,
                        const struct iosched_req *rq,
                        const struct iosched_stream *st,
                        const struct iosched_group *g, const char *note,
                        int64_t arg);
/* --- setup.c, policyname.c, tunable.c ------------------------------------- */
/** A policy string, taken apart; parts that are not there are NULL. */
struct policy_choice {
    const struct iosched_policy *policy;
    const char                  *preset;    /* settings of the preset     */
    const char                  *settings;  /* what follows the first comma */
};
int iosched__parse_policy(const struct iosched_cfg *cfg, const char *text,
                          struct policy_choice *out);
int iosched__policy_ok(const struct iosched_policy *p);
int iosched__core_build(struct iosched *s, struct iosched_core *c,
                        const struct policy_choice *choice);
void iosched__core_open_all(struct iosched *s);
void iosched__core_close_all(struct iosched *s);
int  iosched__core_tune(struct iosched_core *c, const char *settings);
void iosched__core_tune_defaults(struct iosched_core *c);
void iosched__core_tuned(struct iosched_core *c);

/* --- stream.c, group.c ---------------------------------------------------- */
int  iosched__prio_ok(uint16_t ioprio);
void iosched__stream_init_all(struct iosched *s);
void iosched__stream_settle(struct iosched_stream *st);
void iosched__group_init_all(struct iosched *s);
void iosched__group_settle(struct iosched_group *g);
int  iosched__group_ours(const struct iosched *s,
                         const struct iosched_group *g);

/* --- merge.c, compat.c ---------------------------------------------------- */
int  iosched__may_join(struct iosched *s, const struct iosched_req *into,
                       const struct iosched_req *rq, int where);
int  iosched__fits(const struct iosched *s, const struct iosched_req *into,
                   const struct iosched_req *rq);
void iosched__link_member(struct iosched_req *into, struct iosched_req *rq,
                          int where);
void iosched__absorb(struct iosched *s, struct iosched_req *into,
                     struct iosched_req *rq, int where);
void iosched__joined(struct iosched *s, struct iosched_req *into,
                     struct iosched_req *rq, int where);
/** At which end of a request somebody may touch it. */
enum touch { TOUCH_START = 1, TOUCH_END = 2 };
int  iosched__merge(struct iosched *s, struct iosched_req *rq, unsigned touch);
int  iosched__compat_merge(struct iosched *s, struct iosched_req *rq);
struct iosched_req *iosched__carrier_of(const struct iosched_req *rq);

/* --- emit.c --------------------------------------------------------------- */
void iosched__unemit(struct iosched *s, struct iosched_req *rq);
void iosched__give_back(struct iosched *s, struct iosched_req *rq);

/* --- order.c -------------------------------------------------------------- */
uint32_t iosched__order_nodes(const struct iosched_cfg *cfg);
void iosched__order_init(struct iosched *s);
int  iosched__admit(struct iosched *s, struct iosched_req *rq);
void iosched__order_settled(struct iosched *s, struct iosched_req *rq);
void iosched__order_settled(struct iosched *s, struct iosched_req *rq);
void iosched__pump(struct iosched *s);
void iosched__order_cancel(struct iosched *s, struct iosched_req *rq);
const struct iosched_req *iosched__blocker(const struct iosched_req *rq);

/* --- inbox.c -------------------------------------------------------------- */
int  iosched__inbox_empty(const struct iosched *s);

/* --- phase.c -------------------------------------------------------------- */
/** After the present phase ended with status: 1 and the next one, or 0. */
int  iosched__next_phase(const struct iosched *s, const struct iosched_req *rq,
                         int status, unsigned *next);

/* --- depth.c -------------------------------------------------------------- */
#define IOSCHED_RETRY_FIRST IOSCHED_MSEC(1)
void iosched__depth_refused(struct iosched *s);
void iosched__depth_given_back(struct iosched *s,
                               const struct iosched_req *rq);
/** A request completed while the depth in use is lowered. */
void iosched__depth_ramp(struct iosched *s);

/* --- tag.c ---------------------------------------------------------------- */
int32_t iosched__tag_get_many(struct iosched *s, int sync);
void iosched__tag_put_many(struct iosched *s, int32_t tag);

/* --- dispatch.c, insert.c, complete.c ------------------------------------- */
void iosched__hold_ends(struct iosched *s);
int  iosched__check_req(const struct iosched *s, const struct iosched_req *rq);
int  iosched__take_in(struct iosched *s, struct iosched_req *rq);
int  iosched__route(struct iosched *s, struct iosched_req *rq);
void iosched__to_policy(struct iosched *s, struct iosched_req *rq);
void iosched__lower_prio(struct iosched_req *rq);
void iosched__member_reset(struct iosched_req *rq);
int  iosched__finish(struct iosched *s, struct iosched_req *rq, int status,
                     unsigned state);
void iosched__make_idle(struct iosched *s, struct iosched_req *rq,
                        unsigned state);

#endif
