/* SPDX-License-Identifier: BSD-2-Clause */
/* insert.c - a request comes in.
 *
 * It is checked, taken in (from here on it is the library's), admitted past the
 * barriers (order.c), and routed: to the direct list if it bypasses the policy
 * or is in a flush phase, else into a merge or to the policy.
 */
#include "hot.h"

#define KNOWN_RQ_FLAGS                                                       \
    (IOSCHED_RQ_SYNC | IOSCHED_RQ_META | IOSCHED_RQ_RAHEAD |                 \
     IOSCHED_RQ_NOMERGE | IOSCHED_RQ_BARRIER | IOSCHED_RQ_HEAD |             \
     IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA | IOSCHED_RQ_PRIO |                \
     IOSCHED_RQ_IDLEHINT)

/* --- Checking ------------------------------------------------------------- */
static inline int check_extent(const struct iosched *s,
                               const struct iosched_req *rq)
{
    iosched_lba end = rq->lba + rq->nblk;

    return rq->nblk > 0 && end > rq->lba && end <= s->cfg.capacity_nblk;
}

static inline int check_req(const struct iosched *s,
                            const struct iosched_req *rq)
{
    if (rq->op > IOSCHED_PASS || rq->flags & ~KNOWN_RQ_FLAGS)
        return IOSCHED_ERR_NOTSUP;
    if (iosched__has_extent(rq) && !check_extent(s, rq))
        return IOSCHED_ERR_INVAL;
    if (rq->flags & (IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA) &&
        rq->op != IOSCHED_WRITE && rq->op != IOSCHED_ZEROES)
        return IOSCHED_ERR_INVAL;
    if (rq->stream != NULL) {
        if (!iosched__stream_ours(s, rq->stream))
            return IOSCHED_ERR_INVAL;
        if (rq->stream->state != HANDLE_OPEN)
            return IOSCHED_ERR_STATE;
    }
    return rq->ioprio == 0 || iosched__prio_ok(rq->ioprio)
               ? IOSCHED_OK
               : IOSCHED_ERR_RANGE;
}

/** What iosched_insert() has to refuse. */
int iosched__check_req(const struct iosched *s, const struct iosched_req *rq)
{
    return check_req(s, rq);
}

/* --- Routing -------------------------------------------------------------- */
static void to_direct(struct iosched *s, struct iosched_req *rq)
{
    iosched__set_place(rq, PLACE_DIRECT);
    iosched__list_add(&s->direct, s->direct.tail, rq);
}

static inline void to_policy(struct iosched *s, struct iosched_req *rq)
{
    struct iosched_core *c = s->run;

    iosched__set_place(rq, PLACE_POLICY);
    c->held++;
    if (c->hashes && iosched__mergeable(rq)) {
        iosched__hash(s, rq);
        if (s->last_merge == NULL)
            s->last_merge = rq;
    }
    iosched__event(s, IOSCHED_EV_ADD, rq, 0);
    c->ops.insert(c->state, rq);
}

/** Hand rq, which rides on none, to the policy. */
void iosched__to_policy(struct iosched *s, struct iosched_req *rq)
{
    to_policy(s, rq);
}

static inline int route(struct iosched *s, struct iosched_req *rq)
{
    struct iosched_core *c = s->run;
    int where = 0;

    if (rq->phase != IOSCHED_PHASE_DATA || rq->op == IOSCHED_PASS ||
        rq->flags & (IOSCHED_RQ_HEAD | IOSCHED_RQ_BARRIER)) {
        to_direct(s, rq);
        return IOSCHED_QUEUED;
    }
    if (c->held > 0 && c->tun[TUN_NOMERGES] < 2 && iosched__mergeable(rq))
        where = iosched__compat(s) ? iosched__compat_merge(s, rq)
                                   : iosched__merge(s, rq);
    if (where > 0)
        return where;
    if (where == 0)
        to_policy(s, rq);
    return IOSCHED_QUEUED;
}

/** Nothing holds rq back any more: where does it go?
 *  @return enum iosched_inserted. */
int iosched__route(struct iosched *s, struct iosched_req *rq)
{
    return route(s, rq);
}

/* --- Taking in ------------------------------------------------------------ */
/** The library's part of rq, as if it had just come; its age stays. */
static inline void reset(struct iosched_req *rq)
{
    const size_t from = offsetof(struct iosched_req, sort),
                 to = offsetof(struct iosched_req, seq_);

    IOSCHED_PORT_SET((char *)rq + from, 0, to - from);  /* sort, fifo, own */
    rq->tag = -1;
    rq->generation = rq->nseg > 0 ? rq->nseg : 1;
    rq->nmembers = 1;
    rq->xlba = iosched__has_extent(rq) ? rq->lba : 0;
    rq->xnblk = iosched__has_extent(rq) ? rq->nblk : 0;
    rq->first_member = rq;
    rq->next_member = NULL;
    rq->kin_ = rq;
    rq->state = IOSCHED_STATE_QUEUED;
}

void iosched__member_reset(struct iosched_req *rq)
{
    reset(rq);
    rq->core_flags_ &= ~(PLACE_MASK | RQ_KNOWN | RQ_HASHED | RQ_CLOSED);
}

static inline uint32_t prio_bits(const struct iosched_req *rq,
                                 const struct iosched_stream *st)
{
    uint32_t prio = rq->ioprio != 0 ? rq->ioprio : st->ioprio;

    return (prio != 0 ? prio : IOSCHED_PRIO_DEFAULT) << RQ_PRIO_SHIFT;
}

/** The ioprio of rq alone: its own, else its stream's, else BE 4. */
void iosched__own_prio(struct iosched *s, struct iosched_req *rq)
{
    rq->core_flags_ = (rq->core_flags_ & ((1u << RQ_PRIO_SHIFT) - 1u)) |
                      prio_bits(rq, iosched__stream_of(s, rq));
}

static inline int take_in(struct iosched *s, struct iosched_req *rq)
{
    struct iosched_stream *st = iosched__stream_of(s, rq);
    struct iosched_group *g = st->group;

    reset(rq);
    rq->core_flags_ = prio_bits(rq, st);
    rq->owner_ = s;
    rq->seq_ = s->next_seq++;
    rq->order_ = NULL;
    rq->phase = (uint8_t)iosched__first_phase(s, rq);
    rq->group_ = (uint16_t)g->slot;
    st->requests++;
    g->requests++;
    s->stats.inserted[rq->op]++;
    iosched__count_queued(s, 1);
    iosched__event(s, IOSCHED_EV_INSERT, rq, IOSCHED_STATE_QUEUED);
    if (IOSCHED_UNLIKELY(s->fence != NULL || s->waiting.head != NULL ||
                         rq->flags & IOSCHED_RQ_BARRIER ||
                         s->cfg.flags & IOSCHED_F_ORDER_OVERLAPS))
        return iosched__admit(s, rq);
    s->admitted++;
    rq->core_flags_ |= RQ_ADMITTED;
    return route(s, rq);
}

/** Make rq, which is checked, one of ours; its t_insert is set.
 *  @return enum iosched_inserted. */
int iosched__take_in(struct iosched *s, struct iosched_req *rq)
{
    return take_in(s, rq);
}

int iosched_insert(struct iosched *s, struct iosched_req *rq, iosched_time now)
{
    int result;

    if (rq == NULL)
        return IOSCHED_ERR_INVAL;
    result = iosched__enter(s, now);
    if (result < 0)
        return result;
    if (rq->state != IOSCHED_STATE_IDLE)
        result = IOSCHED_ERR_BUSY;
    else
        result = check_req(s, rq);
    if (result == IOSCHED_OK) {
        rq->t_insert = s->now;
        rq->status = 0;
        result = take_in(s, rq);
    }
    iosched__leave(s);
    return result;
}
