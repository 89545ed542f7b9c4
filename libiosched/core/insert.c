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

/* What needs more than a look: all but plain reads, writes and their like. */
#define PLAIN_RQ_FLAGS                                                       \
    (IOSCHED_RQ_SYNC | IOSCHED_RQ_META | IOSCHED_RQ_RAHEAD |                 \
     IOSCHED_RQ_NOMERGE | IOSCHED_RQ_PRIO | IOSCHED_RQ_IDLEHINT)

/** 1 if rq goes the short way: it has an address, takes one trip, and passes
 *  through the policy like any other. */
IOSCHED_HOT int is_plain(const struct iosched_req *rq)
{
    return rq->op <= IOSCHED_ZEROES && !(rq->flags & ~PLAIN_RQ_FLAGS);
}

/* --- Checking ------------------------------------------------------------- */
IOSCHED_HOT int extent_ok(const struct iosched *s,
                          const struct iosched_req *rq)
{
    iosched_lba end = rq->lba + rq->nblk;

    return end > rq->lba && end <= s->cfg.capacity_nblk;    /* so nblk > 0 */
}

/** What of a request that is not plain is wrong. */
IOSCHED_COLD static int check_special(const struct iosched *s,
                                      const struct iosched_req *rq)
{
    if (rq->op > IOSCHED_PASS || rq->flags & ~KNOWN_RQ_FLAGS)
        return IOSCHED_ERR_NOTSUP;
    if (iosched__has_extent(rq) && !extent_ok(s, rq))
        return IOSCHED_ERR_INVAL;
    if (rq->flags & (IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA) &&
        rq->op != IOSCHED_WRITE && rq->op != IOSCHED_ZEROES)
        return IOSCHED_ERR_INVAL;
    return IOSCHED_OK;
}

IOSCHED_HOT int check_req(const struct iosched *s,
                          const struct iosched_req *rq, int plain)
{
    const struct iosched_stream *st = rq->stream;
    int err = IOSCHED_OK;

    if (IOSCHED_UNLIKELY(!plain))
        err = check_special(s, rq);
    else if (IOSCHED_UNLIKELY(!extent_ok(s, rq)))
        err = IOSCHED_ERR_INVAL;
    if (IOSCHED_UNLIKELY(err < 0))
        return err;
    if (st != NULL) {
        if (IOSCHED_UNLIKELY(!iosched__stream_ours(s, st)))
            return IOSCHED_ERR_INVAL;
        if (IOSCHED_UNLIKELY(st->state != HANDLE_OPEN))
            return IOSCHED_ERR_STATE;
    }
    return rq->ioprio == 0 || iosched__prio_ok(rq->ioprio)
               ? IOSCHED_OK
               : IOSCHED_ERR_RANGE;
}

/** What iosched_insert() has to refuse. */
int iosched__check_req(const struct iosched *s, const struct iosched_req *rq)
{
    return check_req(s, rq, is_plain(rq));
}

/* --- Routing -------------------------------------------------------------- */
static void to_direct(struct iosched *s, struct iosched_req *rq)
{
    iosched__set_place(rq, PLACE_DIRECT);
    iosched__list_append(&s->direct, rq);
}

/** A request's two addresses, spread for the hash. */
struct spread { uint64_t start, end; };

IOSCHED_HOT struct spread spread_of(const struct iosched_req *rq)
{
    struct spread h = { iosched__spread(rq->xlba),
                        iosched__spread(iosched__end(rq)) };

    return h;
}

IOSCHED_HOT void give(struct iosched *s, struct iosched_req *rq)
{
    struct iosched_core *c = s->run;

    iosched__set_place(rq, PLACE_POLICY);
    c->held++;
    iosched__event(s, IOSCHED_EV_ADD, rq, 0);
    c->ops.insert(c->state, rq);
}

/** Hand rq, which rides on none, to the policy. */
void iosched__to_policy(struct iosched *s, struct iosched_req *rq)
{
    if (s->run->hashes != HASH_NONE && iosched__mergeable(rq)) {
        iosched__hash(s, rq);
        if (s->last_merge == NULL && s->run->hashes == HASH_COMPAT)
            s->last_merge = rq;
    }
    give(s, rq);
}

/** Where may anything queued touch rq?  (enum touch.)  A yes is wrong now and
 *  then, a no never. */
IOSCHED_HOT unsigned may_touch(struct iosched *s, const struct iosched_req *rq,
                               struct spread h)
{
    const struct iosched_req *c = s->bucket[h.start >> s->bucket_shift];
    unsigned touch = 0;

    if ((s->starts[h.end >> (s->bucket_shift - 4)] | s->starts_unsure) != 0)
        touch = TOUCH_END;
    for (; c != NULL; c = c->link_next_)
        if (iosched__end(c) == rq->xlba)
            return touch | TOUCH_START;
    return touch;
}

/** As it was done before. */
IOSCHED_COLD static int sort_in_compat(struct iosched *s,
                                       struct iosched_req *rq)
{
    struct iosched_core *c = s->run;
    int where = 0;

    if (c->held > 0 && c->tun[TUN_NOMERGES] < 2 && iosched__mergeable(rq))
        where = iosched__compat_merge(s, rq);
    if (where == 0)
        iosched__to_policy(s, rq);
    return where;
}

/** Into a merge or to the policy.  @return enum iosched_inserted. */
IOSCHED_HOT int sort_in(struct iosched *s, struct iosched_req *rq)
{
    struct spread h;
    unsigned touch;
    int where = 0;

    if (s->run->hashes != HASH_ALL || rq->flags & RQ_NEVER_MERGES) {
        if (IOSCHED_UNLIKELY(s->run->hashes == HASH_COMPAT))
            return sort_in_compat(s, rq);
        give(s, rq);
        return IOSCHED_QUEUED;
    }
    h = spread_of(rq);
    touch = may_touch(s, rq, h);
    if (IOSCHED_UNLIKELY(touch != 0))
        where = iosched__merge(s, rq, touch);
    if (IOSCHED_LIKELY(where == 0)) {
        iosched__hash_at(s, rq, h.start, h.end);
        give(s, rq);
    }
    return where > 0 ? where : IOSCHED_QUEUED;
}

/** Nothing holds rq back any more: where does it go?
 *  @return enum iosched_inserted. */
int iosched__route(struct iosched *s, struct iosched_req *rq)
{
    if (rq->phase != IOSCHED_PHASE_DATA || rq->op == IOSCHED_PASS ||
        rq->flags & (IOSCHED_RQ_HEAD | IOSCHED_RQ_BARRIER)) {
        to_direct(s, rq);
        return IOSCHED_QUEUED;
    }
    return sort_in(s, rq);
}

/* --- Taking in ------------------------------------------------------------ */
/** The library's part of rq, as if it had just come; its age stays. */
IOSCHED_HOT void reset(struct iosched_req *rq, int extent)
{
    const size_t from = offsetof(struct iosched_req, sort),
                 to = offsetof(struct iosched_req, seq_);

    IOSCHED_PORT_SET((char *)rq + from, 0, to - from);  /* sort, fifo, own */
    rq->tag = -1;
    rq->generation = rq->nseg > 0 ? rq->nseg : 1;
    rq->nmembers = 1;
    rq->xlba = extent ? rq->lba : 0;
    rq->xnblk = extent ? rq->nblk : 0;
    rq->first_member = rq;
    rq->next_member = NULL;
    rq->kin_ = rq;
    rq->state = IOSCHED_STATE_QUEUED;
}

void iosched__member_reset(struct iosched_req *rq)
{
    reset(rq, iosched__has_extent(rq));
    rq->core_flags_ &= ~(PLACE_MASK | RQ_KNOWN | RQ_HASHED | RQ_CLOSED);
}

IOSCHED_HOT uint32_t prio_bits(const struct iosched_req *rq,
                                 const struct iosched_stream *st)
{
    uint32_t prio = rq->ioprio != 0 ? rq->ioprio : st->ioprio;

    return (prio != 0 ? prio : IOSCHED_PRIO_DEFAULT) << RQ_PRIO_SHIFT;
}

IOSCHED_HOT int take_in(struct iosched *s, struct iosched_req *rq, int plain)
{
    struct iosched_stream *st = iosched__stream_of(s, rq);
    struct iosched_group *g = st->group;

    reset(rq, plain || iosched__has_extent(rq));
    rq->core_flags_ = prio_bits(rq, st);
    rq->owner_ = s;
    rq->seq_ = s->next_seq++;
    rq->order_ = NULL;
    rq->phase = plain ? (uint8_t)IOSCHED_PHASE_DATA
                      : (uint8_t)iosched__first_phase(s, rq);
    rq->group_ = (uint16_t)g->slot;
    st->requests++;
    if (g->slot != 0)                   /* nobody waits for the root to go */
        g->requests++;
    s->stats.inserted[rq->op]++;
    iosched__count_queued(s, 1);
    iosched__event(s, IOSCHED_EV_INSERT, rq, IOSCHED_STATE_QUEUED);
    if (IOSCHED_UNLIKELY(!plain || s->orderly))
        return iosched__admit(s, rq);
    s->admitted++;
    return sort_in(s, rq);
}

/** Make rq, which is checked, one of ours; its t_insert is set.
 *  @return enum iosched_inserted. */
int iosched__take_in(struct iosched *s, struct iosched_req *rq)
{
    return take_in(s, rq, is_plain(rq));
}

int iosched_insert(struct iosched *s, struct iosched_req *rq, iosched_time now)
{
    int result, plain;

    if (rq == NULL)
        return IOSCHED_ERR_INVAL;
    result = iosched__enter(s, now);
    if (result < 0)
        return result;
    plain = is_plain(rq);
    if (IOSCHED_UNLIKELY(rq->state != IOSCHED_STATE_IDLE))
        result = IOSCHED_ERR_BUSY;
    else
        result = check_req(s, rq, plain);
    if (IOSCHED_LIKELY(result == IOSCHED_OK)) {
        rq->t_insert = s->now;
        rq->status = 0;
        result = take_in(s, rq, plain);
    }
    iosched__leave(s);
    return result;
}
