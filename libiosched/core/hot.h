/* SPDX-License-Identifier: BSD-2-Clause */
/* hot.h - the inline pieces of the data path.  A request passes each of them
 * once or twice; as calls they would cost more than what they do. */
#ifndef IOSCHED_CORE_HOT_H
#define IOSCHED_CORE_HOT_H
#include "internal.h"

/* --- Requests ------------------------------------------------------------- */
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
}

/** Link rq at the end. */
static inline void iosched__list_append(struct rqlist *l,
                                        struct iosched_req *rq)
{
    rq->link_next_ = NULL;
    rq->link_prev_ = l->tail;
    *l->tail = rq;
    l->tail = &rq->link_next_;
}

static inline void iosched__list_remove(struct rqlist *l,
                                        struct iosched_req *rq)
{
    *rq->link_prev_ = rq->link_next_;
    if (rq->link_next_ != NULL)
        rq->link_next_->link_prev_ = rq->link_prev_;
    else
        l->tail = rq->link_prev_;
}

/** Unlink rq, which is the head. */
static inline void iosched__list_pop(struct rqlist *l, struct iosched_req *rq)
{
    l->head = rq->link_next_;
    if (l->head != NULL)
        l->head->link_prev_ = &l->head;
    else
        l->tail = &l->head;
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

/* --- Tags: the scheduler's own, or a shared set --------------------------- */
/** The lowest free tag for rq, or -1. */
static inline int32_t iosched__tag_get(struct iosched *s,
                                       const struct iosched_req *rq)
{
    uint64_t left = s->tags_few;

    if (IOSCHED_LIKELY(left != 0)) {    /* 64 or less of its own: one word */
        s->tags_few = left & (left - 1);
        return (int32_t)iosched__low_bit(left);
    }
    return s->few ? -1 : iosched__tag_get_many(s, iosched__sync(rq));
}

static inline void iosched__tag_put(struct iosched *s, int32_t tag)
{
    if (IOSCHED_LIKELY(s->few))
        s->tags_few |= (uint64_t)1 << ((uint32_t)tag & 63u);
    else
        iosched__tag_put_many(s, tag);
}

/* --- The way into a public call, and out ---------------------------------- */
/** Begin a public call that takes `now`; iosched__leave() ends it.  Not called
 *  after an error. */
static inline int iosched__enter(struct iosched *s, iosched_time now)
{
    if (IOSCHED_UNLIKELY(s == NULL || now == IOSCHED_NEVER))
        return IOSCHED_ERR_INVAL;
    if (IOSCHED_UNLIKELY(s->inside))
        return IOSCHED_ERR_REENTRANT;
    s->inside = 1;
    if (IOSCHED_LIKELY(now > s->caller_now && s->offset == 0)) {
        s->caller_now = s->now = now;
    } else if (now != s->caller_now) {
        iosched__set_clock(s, now);
    }
    return IOSCHED_OK;
}

static inline void iosched__leave(struct iosched *s)
{
    s->inside = 0;
}

/* --- Events --------------------------------------------------------------- */
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

/* --- Streams -------------------------------------------------------------- */
/** Is st a stream of s?  Looks at nothing that is not in its array. */
static inline int iosched__stream_ours(const struct iosched *s,
                                       const struct iosched_stream *st)
{
    return st >= s->streams && st < s->streams_end &&
           (uintptr_t)st % sizeof(void *) == 0 && st->s == s;
}

/* --- Merging: the hash ---------------------------------------------------- */
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
    return &s->starts[iosched__spread(lba) >> (s->bucket_shift - 4)];
}

/** Enter rq as the newest that ends where it ends; start and end: where it does
 *  so, spread. */
static inline void iosched__hash_at(struct iosched *s, struct iosched_req *rq,
                                    uint64_t start, uint64_t end)
{
    struct iosched_req **at = &s->bucket[end >> s->bucket_shift];

    rq->link_next_ = *at;
    rq->link_prev_ = at;
    if (*at != NULL)
        (*at)->link_prev_ = &rq->link_next_;
    *at = rq;
    if (s->run->fronts &&
        IOSCHED_UNLIKELY(++s->starts[start >> (s->bucket_shift - 4)] == 0))
        s->starts_unsure = 1;
    rq->core_flags_ |= RQ_HASHED;
}

static inline void iosched__hash(struct iosched *s, struct iosched_req *rq)
{
    iosched__hash_at(s, rq, iosched__spread(rq->xlba),
                     iosched__spread(iosched__end(rq)));
}

static inline void iosched__unhash(struct iosched *s, struct iosched_req *rq)
{
    if (!(rq->core_flags_ & RQ_HASHED))
        return;
    *rq->link_prev_ = rq->link_next_;
    if (rq->link_next_ != NULL)
        rq->link_next_->link_prev_ = rq->link_prev_;
    if (s->run->fronts)
        --*iosched__starts(s, rq->xlba);
    rq->core_flags_ &= ~RQ_HASHED;
}

static inline int iosched__mergeable(const struct iosched_req *rq)
{
    return !(rq->flags & RQ_NEVER_MERGES) && rq->op <= IOSCHED_ZEROES &&
           !(rq->core_flags_ & RQ_CLOSED);
}

/* --- Order, phases, depth ------------------------------------------------- */
/** rq is being issued: the sweep moves on.  A FLUSH moves nothing. */
static inline void iosched__swept(struct iosched *s,
                                  const struct iosched_req *rq)
{
    if ((s->sweep_owner == NULL || s->sweep_owner == rq) && rq->xnblk > 0) {
        s->sweep = iosched__end(rq);
        s->sweep_owner = NULL;
    }
}

/** rq, which was admitted, is idle.  Once all that became idle with it is, the
 *  caller pumps. */
static inline void iosched__settled(struct iosched *s, struct iosched_req *rq)
{
    s->admitted--;
    if (IOSCHED_UNLIKELY(s->fence == rq || rq->order_ != NULL))
        iosched__order_settled(s, rq);
}

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

/** A request completed: the device takes requests again. */
static inline void iosched__depth_completed(struct iosched *s)
{
    s->refused = 0;
    s->retry_at = IOSCHED_NEVER;
    s->retry_wait = IOSCHED_RETRY_FIRST;
    if (IOSCHED_UNLIKELY(s->depth_now < s->depth_set))
        iosched__depth_ramp(s);
}

/** n more requests are queued. */
static inline void iosched__count_queued(struct iosched *s, uint32_t n)
{
    s->queued += n;
    if (s->queued > s->stats.max_queued)
        s->stats.max_queued = s->queued;
}

/* --- Counting ------------------------------------------------------------- */
/** The bucket a duration falls into. */
static inline unsigned iosched__hist_bucket(iosched_dur d)
{
    unsigned b = iosched__high_bit(d | 512) - 9;

    return b < IOSCHED_HIST_BUCKETS ? b : IOSCHED_HIST_BUCKETS - 1;
}

static inline enum iosched_kind
iosched__kind_of(const struct iosched_req *rq)
{
    if (rq->op == IOSCHED_READ)
        return IOSCHED_KIND_READ;
    if (rq->op != IOSCHED_WRITE)
        return IOSCHED_KIND_OTHER;
    return iosched__sync(rq) ? IOSCHED_KIND_SYNC : IOSCHED_KIND_ASYNC;
}

/** Count one request, be it a member, whose carrier has just finished. */
static inline void iosched__count_done(struct iosched *s,
                                       const struct iosched_req *rq,
                                       int status)
{
    struct iosched_stats *st = &s->stats;
    enum iosched_kind k = iosched__kind_of(rq);
    iosched_dur wait = rq->t_dispatch - rq->t_insert;
    iosched_dur service = s->now - rq->t_dispatch;

    st->completed[rq->op]++;
    if (iosched__has_extent(rq))
        st->blocks[rq->op] += rq->nblk;
    if (status < 0)
        st->failed++;
    st->wait_sum += wait;
    st->service_sum += service;
    st->wait[k].n[iosched__hist_bucket(wait)]++;
    st->service[k].n[iosched__hist_bucket(service)]++;
    st->response[k].n[iosched__hist_bucket(wait + service)]++;
}

#endif
