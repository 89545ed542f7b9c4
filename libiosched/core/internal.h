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
#define RQ_ADMITTED  0x80u  /* past the barriers                              */
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
    struct iosched_req *head, **tail;   /* tail: the last link_next_, or &head */
    uint32_t            len;            /* carriers                       */
};

/* --- Streams, groups, slots ------------------------------------------------ */
enum handle_state { HANDLE_FREE = 0, HANDLE_OPEN = 1, HANDLE_CLOSED = 2 };

struct iosched_group {
    struct iosched       *s;
    struct iosched_group *parent;       /* NULL: this is the root         */
    void                 *user;
    struct iosched_group *next_free;
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
    uint64_t              max_end;      /* of its subtree                 */
    struct iosched_req   *rq;
    struct order_node    *blocker;      /* whom rq waits for, or NULL     */
    struct order_node    *waiters;      /* who waits for rq               */
    struct order_node    *wait_next, **wait_prev;
};

/* --- A policy that runs ------------------------------------------------------ */
enum core_tunable {
    TUN_TICK_NS, TUN_NOMERGES, TUN_MAX_SECTORS_KB, TUN_SORT_ACROSS_OPS,
    TUN_ROTATIONAL, TUN_COUNT
};

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
    uint8_t             refused;        /* a queue_full at this very now  */
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
                                         * hash, 255: many; 8 a bucket    */
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

    /* Objects. */
    struct iosched_stream *streams, *free_stream, **free_stream_tail;
    struct iosched_group  *groups, *free_group, **free_group_tail;
    struct iosched_tags   *tags;        /* shared; NULL: its own, below   */
    int                    seat;
    uint64_t              *tag_free;    /* own tags: a bit each, 1: free  */
    uint64_t              *tag_words;   /* a bit for each word of those   */
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
    iosched__word          ring_head;   /* owner: the next to take        */
    struct posting        *ring;
    uint32_t               ring_mask;

    struct iosched_stats   stats;
    iosched_time           busy_since, hold_since;
};

/* --- Small things ------------------------------------------------------------ */
static inline enum place iosched__place(const struct iosched_req *rq)
{
    return (enum place)(rq->core_flags_ & PLACE_MASK);
}

static inline void iosched__set_place(struct iosched_req *rq, enum place p)
{
    rq->core_flags_ = (rq->core_flags_ & ~PLACE_MASK) | (uint32_t)p;
}

static inline iosched_lba iosched__end(const struct iosched_req *rq)
{
    return rq->xlba + rq->xnblk;
}

static inline uint16_t iosched__prio_of(const struct iosched_req *rq)
{
    return (uint16_t)(rq->core_flags_ >> RQ_PRIO_SHIFT);
}

static inline void iosched__set_prio(struct iosched_req *rq, uint16_t prio)
{
    rq->core_flags_ = (rq->core_flags_ & ((1u << RQ_PRIO_SHIFT) - 1u)) |
                      (uint32_t)prio << RQ_PRIO_SHIFT;
}

static inline struct iosched_stream *
iosched__stream_of(const struct iosched *s, const struct iosched_req *rq)
{
    return rq->stream != NULL ? rq->stream : &s->streams[0];
}

static inline int iosched__compat(const struct iosched *s)
{
    return (s->cfg.flags & IOSCHED_F_COMPAT) != 0;
}

static inline void iosched__list_init(struct rqlist *l)
{
    l->head = NULL;
    l->tail = &l->head;
    l->len = 0;
}

/** Link rq at *at, which is l->head or a link_next_ of the list. */
static inline void iosched__list_add(struct rqlist *l, struct iosched_req **at,
                                     struct iosched_req *rq)
{
    rq->link_next_ = *at;
    rq->link_prev_ = at;
    if (rq->link_next_ != NULL)
        rq->link_next_->link_prev_ = &rq->link_next_;
    else
        l->tail = &rq->link_next_;
    *at = rq;
    l->len++;
}

static inline void iosched__list_remove(struct rqlist *l,
                                        struct iosched_req *rq)
{
    *rq->link_prev_ = rq->link_next_;
    if (rq->link_next_ != NULL)
        rq->link_next_->link_prev_ = rq->link_prev_;
    else
        l->tail = rq->link_prev_;
    l->len--;
}

/** The request whose link_next_ `at` is, or NULL at the head. */
static inline struct iosched_req *iosched__list_prev(const struct rqlist *l,
                                                     struct iosched_req **at)
{
    return at == (struct iosched_req **)(uintptr_t)&l->head
               ? NULL
               : iosched_container_of(at, struct iosched_req, link_next_);
}

/** 1 if rq has an address on the device. */
static inline int iosched__has_extent(const struct iosched_req *rq)
{
    return rq->op <= IOSCHED_ZEROES;
}

/** As iosched_req_sync(). */
static inline int iosched__sync(const struct iosched_req *rq)
{
    return rq->op == IOSCHED_READ ||
           (rq->flags & (IOSCHED_RQ_SYNC | IOSCHED_RQ_PREFLUSH |
                         IOSCHED_RQ_FUA)) != 0;
}

/* --- Tags: the scheduler's own, or a shared set ---------------------------------- */
/** The lowest free tag, or -1. */
static inline int32_t iosched__tag_get(struct iosched *s, int sync)
{
    unsigned i, words = (s->ntags + 4095) / 4096;

    if (IOSCHED_UNLIKELY(s->tags != NULL))
        return iosched_tags_get(s->tags, s->seat, sync ? IOSCHED_TAG_SYNC : 0u);
    for (i = 0; i < words; i++)
        if (s->tag_words[i] != 0) {
            unsigned w = i * 64 + iosched__low_bit(s->tag_words[i]);
            uint64_t left = s->tag_free[w];
            unsigned bit = iosched__low_bit(left);

            left &= left - 1;
            s->tag_free[w] = left;
            if (left == 0)
                s->tag_words[i] &= ~((uint64_t)1 << (w % 64));
            return (int32_t)(w * 64 + bit);
        }
    return -1;
}

static inline void iosched__tag_put(struct iosched *s, int32_t tag)
{
    uint32_t w = (uint32_t)tag / 64;

    if (IOSCHED_UNLIKELY(s->tags != NULL)) {
        (void)iosched_tags_put(s->tags, tag);
        return;
    }
    s->tag_free[w] |= (uint64_t)1 << ((uint32_t)tag % 64);
    s->tag_words[w / 64] |= (uint64_t)1 << (w % 64);
}

/* --- clock.c ------------------------------------------------------------------- */
void iosched__set_clock(struct iosched *s, iosched_time now);
iosched_time iosched__caller_time(const struct iosched *s, iosched_time at);

/** Begin a public call that takes `now`; iosched__leave() ends it.  Not called
 *  after an error. */
static inline int iosched__enter(struct iosched *s, iosched_time now)
{
    if (IOSCHED_UNLIKELY(s == NULL || now == IOSCHED_NEVER))
        return IOSCHED_ERR_INVAL;
    if (IOSCHED_UNLIKELY(s->inside))
        return IOSCHED_ERR_REENTRANT;
    s->inside = 1;
    if (now != s->caller_now)
        iosched__set_clock(s, now);
    return IOSCHED_OK;
}

static inline void iosched__leave(struct iosched *s)
{
    s->inside = 0;
}

/* --- trace.c ------------------------------------------------------------------- */
void iosched__trace_out(struct iosched *s, unsigned action,
                        const struct iosched_req *rq,
                        const struct iosched_stream *st,
                        const struct iosched_group *g, const char *note,
                        int64_t arg);
/** An event about a request. */
static inline void iosched__event(struct iosched *s, unsigned action,
                                  const struct iosched_req *rq, int64_t arg)
{
    if (IOSCHED_UNLIKELY(s->cfg.trace != NULL))
        iosched__trace_out(s, action, rq, NULL, NULL, NULL, arg);
}
/** Any other event. */
static inline void iosched__event_note(struct iosched *s, unsigned action,
                                       const struct iosched_req *rq,
                                       const char *note, int64_t arg)
{
    if (IOSCHED_UNLIKELY(s->cfg.trace != NULL))
        iosched__trace_out(s, action, rq, NULL, NULL, note, arg);
}

/* --- stats.c ------------------------------------------------------------------- */
void iosched__count_done(struct iosched *s, const struct iosched_req *rq,
                         int status);

/* --- setup.c, policyname.c, tunable.c ------------------------------------------- */
/** A policy string, taken apart; parts that are not there are NULL. */
struct policy_choice {
    const struct iosched_policy *policy;
    const char                  *preset;    /* settings of the preset     */
    const char                  *settings;  /* what follows the first comma */
};
int iosched__parse_policy(const struct iosched_policy *const *list,
                          const char *text, struct policy_choice *out);
int iosched__policy_ok(const struct iosched_policy *p);
int iosched__core_build(struct iosched *s, struct iosched_core *c,
                        const struct policy_choice *choice);
size_t iosched__core_area(const struct iosched_cfg *cfg);
void iosched__core_open_all(struct iosched *s);
void iosched__core_close_all(struct iosched *s);
int  iosched__core_tune(struct iosched_core *c, const char *settings);
void iosched__core_tune_defaults(struct iosched_core *c);
void iosched__core_tuned(struct iosched_core *c);

/* --- stream.c, group.c ------------------------------------------------------------ */
int  iosched__prio_ok(uint16_t ioprio);
/** Is st a stream of s?  Reads nothing of what is not. */
static inline int iosched__stream_ours(const struct iosched *s,
                                       const struct iosched_stream *st)
{
    return (uintptr_t)st >= (uintptr_t)s->streams &&
           (uintptr_t)st < (uintptr_t)(s->streams + s->cfg.max_streams) &&
           &s->streams[st->slot] == st;
}
void iosched__stream_init_all(struct iosched *s);
void iosched__stream_settle(struct iosched_stream *st);
void iosched__group_init_all(struct iosched *s);
void iosched__group_settle(struct iosched_group *g);
int  iosched__group_ours(const struct iosched *s,
                         const struct iosched_group *g);
/** Copy an append-only struct the caller handed in: what he does not have is
 *  zero, what the library does not know must be. */
int  iosched__take_struct(void *to, size_t known, const void *from,
                          size_t given);

/* --- Merging: the hash ---------------------------------------------------------- */
/** Fibonacci hashing (Knuth 6.4): the top bits of lba * 2^64 / phi. */
static inline uint64_t iosched__spread(iosched_lba lba)
{
    return lba * UINT64_C(0x9e3779b97f4a7c15);
}

static inline struct iosched_req **iosched__bucket(struct iosched *s,
                                                   iosched_lba end)
{
    return &s->bucket[iosched__spread(end) >> s->bucket_shift];
}

static inline uint8_t *iosched__starts(struct iosched *s, iosched_lba lba)
{
    return &s->starts[iosched__spread(lba) >> (s->bucket_shift - 3)];
}

/** Enter rq as the newest that ends where it ends. */
static inline void iosched__hash(struct iosched *s, struct iosched_req *rq)
{
    struct iosched_req **at = iosched__bucket(s, iosched__end(rq));
    uint8_t *starts = iosched__starts(s, rq->xlba);

    rq->link_next_ = *at;
    rq->link_prev_ = at;
    if (*at != NULL)
        (*at)->link_prev_ = &rq->link_next_;
    *at = rq;
    *starts = (uint8_t)(*starts + (*starts < UINT8_MAX));
    rq->core_flags_ |= RQ_HASHED;
}

static inline void iosched__unhash(struct iosched *s, struct iosched_req *rq)
{
    uint8_t *starts;

    if (!(rq->core_flags_ & RQ_HASHED))
        return;
    *rq->link_prev_ = rq->link_next_;
    if (rq->link_next_ != NULL)
        rq->link_next_->link_prev_ = rq->link_prev_;
    starts = iosched__starts(s, rq->xlba);
    *starts = (uint8_t)(*starts - (*starts < UINT8_MAX));  /* many stay many */
    rq->core_flags_ &= ~RQ_HASHED;
}

static inline int iosched__mergeable(const struct iosched_req *rq)
{
    return !(rq->flags & RQ_NEVER_MERGES) && rq->op <= IOSCHED_ZEROES &&
           !(rq->core_flags_ & RQ_CLOSED);
}

/* --- merge.c, compat.c ------------------------------------------------------------- */
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
int  iosched__merge(struct iosched *s, struct iosched_req *rq);
int  iosched__compat_merge(struct iosched *s, struct iosched_req *rq);
void iosched__member_reset(struct iosched_req *rq);
struct iosched_req *iosched__carrier_of(const struct iosched_req *rq);

/* --- emit.c -------------------------------------------------------------------------- */
void iosched__unemit(struct iosched *s, struct iosched_req *rq);
/** rq is being issued: the sweep moves on.  A FLUSH moves nothing. */
static inline void iosched__swept(struct iosched *s,
                                  const struct iosched_req *rq)
{
    if ((s->sweep_owner == NULL || s->sweep_owner == rq) && rq->xnblk > 0) {
        s->sweep = iosched__end(rq);
        s->sweep_owner = NULL;
    }
}
void iosched__give_back(struct iosched *s, struct iosched_req *rq);

/* --- order.c -------------------------------------------------------------------------- */
uint32_t iosched__order_nodes(const struct iosched_cfg *cfg);
void iosched__order_init(struct iosched *s);
int  iosched__admit(struct iosched *s, struct iosched_req *rq);
void iosched__order_settled(struct iosched *s, struct iosched_req *rq);
/** rq is idle.  Once all that became idle with it is, the caller pumps. */
static inline void iosched__settled(struct iosched *s, struct iosched_req *rq)
{
    if (!(rq->core_flags_ & RQ_ADMITTED))
        return;
    rq->core_flags_ &= ~RQ_ADMITTED;
    s->admitted--;
    if (IOSCHED_UNLIKELY(s->fence == rq || rq->order_ != NULL))
        iosched__order_settled(s, rq);
}
void iosched__pump(struct iosched *s);
void iosched__order_cancel(struct iosched *s, struct iosched_req *rq);
const struct iosched_req *iosched__blocker(const struct iosched_req *rq);

/* --- phase.c --------------------------------------------------------------------------- */
static inline unsigned iosched__first_phase(const struct iosched *s,
                                            const struct iosched_req *rq)
{
    if (rq->op == IOSCHED_FLUSH)
        return IOSCHED_PHASE_PREFLUSH;
    if (rq->flags & IOSCHED_RQ_PREFLUSH &&
        !(s->cfg.flags & IOSCHED_F_NO_VOLATILE_CACHE))
        return IOSCHED_PHASE_PREFLUSH;
    return IOSCHED_PHASE_DATA;
}
/** After the present phase ended with status: 1 and the next one, or 0. */
int  iosched__next_phase(const struct iosched *s, const struct iosched_req *rq,
                         int status, unsigned *next);

/* --- depth.c ---------------------------------------------------------------------------- */
#define IOSCHED_RETRY_FIRST IOSCHED_MSEC(1)
void iosched__depth_refused(struct iosched *s);
void iosched__depth_given_back(struct iosched *s);
void iosched__depth_ramp(struct iosched *s);
/** A request completed: the device takes requests again. */
static inline void iosched__depth_completed(struct iosched *s)
{
    s->retry_at = IOSCHED_NEVER;
    s->retry_wait = IOSCHED_RETRY_FIRST;
    if (IOSCHED_UNLIKELY(s->depth_now < s->depth_set))
        iosched__depth_ramp(s);
}

/* --- sched.c ----------------------------------------------------------------------------- */
int  iosched__check_req(const struct iosched *s, const struct iosched_req *rq);
int  iosched__take_in(struct iosched *s, struct iosched_req *rq);
int  iosched__route(struct iosched *s, struct iosched_req *rq);
void iosched__own_prio(struct iosched *s, struct iosched_req *rq);
void iosched__to_policy(struct iosched *s, struct iosched_req *rq);
int  iosched__finish(struct iosched *s, struct iosched_req *rq, int status,
                     unsigned state);
void iosched__make_idle(struct iosched *s, struct iosched_req *rq,
                        unsigned state);
int  iosched__claim(struct iosched *s, struct iosched_req *rq);

/* --- device/tags.c ------------------------------------------------------------------------ */
int  iosched__tags_join_sched(struct iosched_tags *t, struct iosched *s,
                              void (*wake)(void *user), void *user);
uint32_t iosched__tags_depth(const struct iosched_tags *t);

#endif
