/* SPDX-License-Identifier: BSD-2-Clause */
/* sched.c - the data path: insert, dispatch, complete, and back.
 *
 * A request comes in by take_in(), passes the barriers (order.c) and is routed:
 * to the direct list if it bypasses the policy or is in a flush phase, else
 * into a merge or to the policy.  dispatch picks from the requeued, the direct
 * and the emitted list, in this order, and asks the policy when these are
 * empty.
 */
#include "internal.h"

#define KNOWN_RQ_FLAGS                                                       \
    (IOSCHED_RQ_SYNC | IOSCHED_RQ_META | IOSCHED_RQ_RAHEAD |                 \
     IOSCHED_RQ_NOMERGE | IOSCHED_RQ_BARRIER | IOSCHED_RQ_HEAD |             \
     IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA | IOSCHED_RQ_PRIO |                \
     IOSCHED_RQ_IDLEHINT)

/* --- Coming in ------------------------------------------------------------ */
/** What iosched_insert() has to refuse. */
int iosched__check_req(const struct iosched *s, const struct iosched_req *rq)
{
    if (rq->op > IOSCHED_PASS || rq->flags & ~KNOWN_RQ_FLAGS)
        return IOSCHED_ERR_NOTSUP;
    if (iosched__has_extent(rq) &&
        (rq->nblk == 0 || rq->nblk > IOSCHED_NEVER - rq->lba ||
         rq->lba + rq->nblk > s->cfg.capacity_nblk))
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

/** The library's part of rq, as if it had just come; its age stays. */
void iosched__member_reset(struct iosched_req *rq)
{
    static const struct iosched_rbnode no_node;
    static const struct iosched_fifolink no_link;

    rq->sort = no_node;
    rq->fifo = no_link;
    rq->own[0] = rq->own[1] = NULL;
    rq->tag = -1;
    rq->generation = rq->nseg > 0 ? rq->nseg : 1;
    rq->nmembers = 1;
    rq->xlba = iosched__has_extent(rq) ? rq->lba : 0;
    rq->xnblk = iosched__has_extent(rq) ? rq->nblk : 0;
    rq->first_member = rq;
    rq->next_member = NULL;
    rq->kin_ = rq;
    rq->state = IOSCHED_STATE_QUEUED;
    rq->core_flags_ &= ~(PLACE_MASK | RQ_KNOWN | RQ_HASHED | RQ_CLOSED);
}

/** The ioprio of rq alone: its own, else its stream's, else BE 4. */
void iosched__own_prio(struct iosched *s, struct iosched_req *rq)
{
    uint16_t prio = rq->ioprio != 0 ? rq->ioprio
                                    : iosched__stream_of(s, rq)->ioprio;

    iosched__set_prio(rq, prio != 0 ? prio : (uint16_t)IOSCHED_PRIO_DEFAULT);
}

/** Make rq, which is checked, one of ours; its t_insert is set.
 *  @return enum iosched_inserted. */
int iosched__take_in(struct iosched *s, struct iosched_req *rq)
{
    struct iosched_stream *st = iosched__stream_of(s, rq);

    rq->core_flags_ = 0;
    iosched__member_reset(rq);
    iosched__own_prio(s, rq);
    rq->owner_ = s;
    rq->seq_ = s->next_seq++;
    rq->order_ = NULL;
    rq->t_dispatch = 0;
    rq->phase = (uint8_t)iosched__first_phase(s, rq);
    rq->group_ = (uint16_t)st->group->slot;
    st->requests++;
    st->group->requests++;
    s->stats.inserted[rq->op]++;
    if (++s->queued > s->stats.max_queued)
        s->stats.max_queued = s->queued;
    iosched__event(s, IOSCHED_EV_INSERT, rq, IOSCHED_STATE_QUEUED);
    return iosched__admit(s, rq);
}

static void to_direct(struct iosched *s, struct iosched_req *rq)
{
    iosched__set_place(rq, PLACE_DIRECT);
    iosched__list_add(&s->direct, s->direct.tail, rq);
}

/** Hand rq, which rides on none, to the policy. */
void iosched__to_policy(struct iosched *s, struct iosched_req *rq)
{
    struct iosched_core *c = s->run;

    iosched__set_place(rq, PLACE_POLICY);
    c->held++;
    if (iosched__mergeable(rq)) {
        iosched__hash(s, rq);
        if (s->last_merge == NULL)
            s->last_merge = rq;
    }
    iosched__event(s, IOSCHED_EV_ADD, rq, 0);
    c->ops.insert(c->state, rq);
}

/** Nothing holds rq back any more: where does it go?
 *  @return enum iosched_inserted. */
int iosched__route(struct iosched *s, struct iosched_req *rq)
{
    int where;

    if (rq->phase != IOSCHED_PHASE_DATA || rq->op == IOSCHED_PASS ||
        rq->flags & (IOSCHED_RQ_HEAD | IOSCHED_RQ_BARRIER)) {
        to_direct(s, rq);
        return IOSCHED_QUEUED;
    }
    where = iosched__compat(s) ? iosched__compat_merge(s, rq)
                               : iosched__merge(s, rq);
    if (where > 0)
        return where;
    if (where == 0)
        iosched__to_policy(s, rq);
    return IOSCHED_QUEUED;
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
        result = iosched__check_req(s, rq);
    if (result == IOSCHED_OK) {
        rq->t_insert = s->now;
        rq->status = 0;
        result = iosched__take_in(s, rq);
    }
    iosched__leave(s);
    return result;
}

/* --- Going out ------------------------------------------------------------ */
/** Let the policy fill the emitted list.  @return enum iosched_picked. */
static int ask_policy(struct iosched *s, unsigned flags)
{
    struct iosched_core *c = s->run;
    int answer;

    if (s->emitted.head != NULL)
        return IOSCHED_GOT;
    if (c->held == 0 && !iosched__compat(s))
        return IOSCHED_EMPTY;
    answer = c->ops.dispatch(c->state, flags);
    /* The originals drained wholly before the first request went out. */
    if (flags & IOSCHED_DISPATCH_FORCE && iosched__compat(s))
        while (answer == IOSCHED_GOT && c->held > 0)
            answer = c->ops.dispatch(c->state, flags);
    if (s->emitted.head != NULL)
        return IOSCHED_GOT;
    if (c->held == 0)
        return IOSCHED_EMPTY;
    if (s->inflight == 0 && c->next == IOSCHED_NEVER &&
        !(flags & IOSCHED_DISPATCH_FORCE)) {
        /* A policy that waits for nothing would wait for ever. */
        IOSCHED_ASSERT(!"HOLD without a timer or anything in flight");
        return ask_policy(s, flags | IOSCHED_DISPATCH_FORCE);
    }
    return IOSCHED_HOLD;
}

/** The request to issue next, still in its list, or NULL and *answer. */
static struct iosched_req *next_up(struct iosched *s, unsigned flags,
                                   int *answer)
{
    /* The originals' drain emptied the policy before anything was fetched, so
     * that what is given back moves the sweep only after the sort. */
    if (flags & IOSCHED_DISPATCH_FORCE && iosched__compat(s))
        (void)ask_policy(s, flags);
    *answer = IOSCHED_GOT;
    if (s->requeued.head != NULL)
        return s->requeued.head;
    if (s->direct.head != NULL && s->head_run < s->cfg.head_burst)
        return s->direct.head;
    *answer = ask_policy(s, flags);
    if (*answer == IOSCHED_GOT)
        return s->emitted.head;
    if (s->direct.head != NULL) {
        *answer = IOSCHED_GOT;
        return s->direct.head;
    }
    if (*answer == IOSCHED_EMPTY && s->queued > 0)
        *answer = IOSCHED_HOLD;         /* a barrier or an overlap */
    return NULL;
}

static void hold_begins(struct iosched *s)
{
    if (s->holding)
        return;
    s->holding = 1;
    s->hold_since = s->now;
    s->stats.holds++;
    iosched__event_note(s, IOSCHED_EV_HOLD, NULL,
                        s->retry_at != IOSCHED_NEVER ? "device busy"
                        : s->run->held > 0           ? "policy"
                        : s->blocked > 0             ? "overlap"
                                                     : "barrier", 0);
}

static void hold_ends(struct iosched *s)
{
    if (!s->holding)
        return;
    s->holding = 0;
    s->stats.held += s->now - s->hold_since;
    iosched__event(s, IOSCHED_EV_UNHOLD, NULL, 0);
}

/** Take rq off its list and give it slot `tag`. */
static void issue(struct iosched *s, struct iosched_req *rq, int32_t tag)
{
    struct slot *slot = &s->slots[tag];

    switch (iosched__place(rq)) {
    case PLACE_REQUEUED:
        iosched__list_remove(&s->requeued, rq);
        break;
    case PLACE_DIRECT:
        iosched__list_remove(&s->direct, rq);
        s->head_run++;
        if (rq->flags & IOSCHED_RQ_HEAD || rq->op == IOSCHED_PASS)
            s->stats.heads++;
        if (rq->flags & IOSCHED_RQ_BARRIER && rq->phase == IOSCHED_PHASE_DATA)
            s->stats.barriers++;
        break;
    default:
        iosched__list_remove(&s->emitted, rq);
        s->head_run = 0;
        break;
    }
    iosched__swept(s, rq);
    iosched__set_place(rq, PLACE_FLYING);
    if (++slot->generation == 0)
        slot->generation = 1;
    slot->rq = rq;
    IOSCHED_AO_STORE(&slot->live, slot->generation);
    rq->generation = slot->generation;
    rq->tag = tag;
    rq->state = IOSCHED_STATE_INFLIGHT;
    rq->t_dispatch = s->now;
    rq->sort.key = s->next_dispatch++;
    s->queued -= rq->nmembers;
    if (s->inflight++ == 0)
        s->busy_since = s->now;
    if (s->inflight > s->stats.max_inflight)
        s->stats.max_inflight = s->inflight;
    iosched__stream_of(s, rq)->inflight++;
    s->stats.dispatches++;
    iosched__event(s, IOSCHED_EV_DISPATCH, rq, tag);
    if (rq->core_flags_ & RQ_KNOWN && s->run->ops.issued != NULL)
        s->run->ops.issued(s->run->state, rq);
}

/** One decision.  @return enum iosched_picked. */
static int pick(struct iosched *s, struct iosched_req **out, unsigned flags)
{
    struct iosched_req *rq;
    int32_t tag;
    int answer;

    *out = NULL;
    if (s->frozen > 0)
        return IOSCHED_FROZEN;
    if (s->queued == 0 && !iosched__compat(s))
        return IOSCHED_EMPTY;
    if (s->retry_at != IOSCHED_NEVER)
        return IOSCHED_HOLD;
    if (s->inflight >= s->depth_now)
        return s->queued > 0 ? IOSCHED_FULL : IOSCHED_EMPTY;
    rq = next_up(s, flags, &answer);
    if (rq == NULL)
        return answer;
    tag = iosched__tag_get(s, iosched__sync(rq));
    if (tag < 0)
        return IOSCHED_FULL;
    issue(s, rq, tag);
    *out = rq;
    return IOSCHED_GOT;
}

/** The same, with what is counted about the answer. */
static int decide(struct iosched *s, struct iosched_req **out, unsigned flags)
{
    int answer = pick(s, out, flags);

    if (IOSCHED_UNLIKELY(s->holding) && answer != IOSCHED_HOLD)
        hold_ends(s);
    if (answer == IOSCHED_HOLD) {
        hold_begins(s);
    } else if (answer == IOSCHED_FULL) {
        s->stats.fulls++;
        iosched__event(s, IOSCHED_EV_NOSLOT, NULL, 0);
    }
    return answer;
}

int iosched_dispatch(struct iosched *s, struct iosched_req **out,
                     unsigned flags, iosched_time now)
{
    int answer;

    if (out == NULL)
        return IOSCHED_ERR_INVAL;
    *out = NULL;
    if (flags & ~IOSCHED_DISPATCH_FORCE)
        return IOSCHED_ERR_NOTSUP;
    answer = iosched__enter(s, now);
    if (answer < 0)
        return answer;
    answer = decide(s, out, flags);
    iosched__leave(s);
    return answer;
}

int iosched_dispatch_many(struct iosched *s, struct iosched_req **out,
                          uint32_t max, uint32_t *n, unsigned flags,
                          iosched_time now)
{
    int answer;

    if (n != NULL)
        *n = 0;
    if (n == NULL || out == NULL || max == 0)
        return IOSCHED_ERR_INVAL;
    if (flags & ~IOSCHED_DISPATCH_FORCE)
        return IOSCHED_ERR_NOTSUP;
    answer = iosched__enter(s, now);
    if (answer < 0)
        return answer;
    do {
        answer = decide(s, &out[*n], flags);
        if (answer == IOSCHED_GOT)
            ++*n;
    } while (answer == IOSCHED_GOT && *n < max);
    iosched__leave(s);
    return answer;
}

/* --- Coming back ---------------------------------------------------------- */
/** May the owner take rq out of flight?  Not while it is elsewhere, and not
 *  when its completion was posted, for that has then happened. */
int iosched__claim(struct iosched *s, struct iosched_req *rq)
{
    struct slot *slot;

    if (rq->state != IOSCHED_STATE_INFLIGHT)
        return rq->state == IOSCHED_STATE_IDLE || rq->owner_ == s
                   ? IOSCHED_ERR_STATE
                   : IOSCHED_ERR_INVAL;
    if (rq->owner_ != s)
        return IOSCHED_ERR_INVAL;
    slot = &s->slots[rq->tag];
    return IOSCHED_AO_CAS(&slot->live, (iosched__word)rq->generation, 0)
               ? IOSCHED_OK
               : IOSCHED_ERR_STATE;
}

/** rq has landed: no longer in flight, not yet anywhere else. */
static void land(struct iosched *s, struct iosched_req *rq)
{
    s->slots[rq->tag].rq = NULL;
    iosched__stream_of(s, rq)->inflight--;
    if (--s->inflight == 0)
        s->stats.busy += s->now - s->busy_since;
    iosched__set_place(rq, PLACE_NONE);
}

/** One request, alone or a member, is the caller's again. */
void iosched__make_idle(struct iosched *s, struct iosched_req *rq,
                        unsigned state)
{
    struct iosched_stream *st = iosched__stream_of(s, rq);
    struct iosched_group *g = &s->groups[rq->group_];

    rq->state = (uint8_t)state;
    rq->core_flags_ &= ~PLACE_MASK;
    iosched__settled(s, rq);
    st->requests--;
    g->requests--;
    if (IOSCHED_UNLIKELY(st->state == HANDLE_CLOSED))
        iosched__stream_settle(st);
    if (IOSCHED_UNLIKELY(g->state == HANDLE_CLOSED))
        iosched__group_settle(g);
}

/** All members of the landed rq are idle (or DONE: `state`). */
static void release_members(struct iosched *s, struct iosched_req *rq,
                            int status, int counted, unsigned state)
{
    struct iosched_req *m, *next;

    for (m = rq->first_member; m != NULL; m = next) {
        next = m->next_member;
        m->status = status;
        m->t_dispatch = rq->t_dispatch;
        if (counted) {
            iosched__count_done(s, m, status);
            iosched__event(s, IOSCHED_EV_COMPLETE, m, status);
        }
        iosched__make_idle(s, m, state);
    }
}

/** The device finished rq, which is claimed.  state is what its members are
 *  after the last phase: IDLE, or DONE for the inbox. */
int iosched__finish(struct iosched *s, struct iosched_req *rq, int status,
                    unsigned state)
{
    struct iosched_core *c = s->run;
    unsigned next;
    int more = iosched__next_phase(s, rq, status, &next);

    land(s, rq);
    iosched__tag_put(s, rq->tag);
    iosched__depth_completed(s);
    rq->status = status;
    if (rq->core_flags_ & RQ_KNOWN) {
        rq->core_flags_ &= ~RQ_KNOWN;
        if (c->ops.completed != NULL)
            c->ops.completed(c->state, rq);
    }
    if (!more) {
        release_members(s, rq, status, 1, state);
        if (s->waiting.head != NULL)
            iosched__pump(s);
        return IOSCHED_OK;
    }
    iosched__member_reset(rq);          /* such a request rides alone */
    rq->phase = (uint8_t)next;
    s->queued++;
    s->stats.phases++;
    iosched__event(s, IOSCHED_EV_PHASE, rq, (int64_t)next);
    iosched__route(s, rq);
    return IOSCHED_MORE;
}

int iosched_complete(struct iosched *s, struct iosched_req *rq, int status,
                     iosched_time now)
{
    int result;

    if (rq == NULL)
        return IOSCHED_ERR_INVAL;
    result = iosched__enter(s, now);
    if (result < 0)
        return result;
    result = iosched__claim(s, rq);
    if (result == IOSCHED_OK)
        result = iosched__finish(s, rq, status, IOSCHED_STATE_IDLE);
    iosched__leave(s);
    return result;
}

/** Put rq, in flight, back at the head of what is queued. */
static int take_back(struct iosched *s, struct iosched_req *rq)
{
    int err = iosched__claim(s, rq);

    if (err < 0)
        return err;
    land(s, rq);
    iosched__tag_put(s, rq->tag);
    rq->tag = -1;
    rq->state = IOSCHED_STATE_QUEUED;
    s->queued += rq->nmembers;
    iosched__give_back(s, rq);
    if (rq->core_flags_ & RQ_KNOWN && s->run->ops.requeued != NULL)
        s->run->ops.requeued(s->run->state, rq);
    return IOSCHED_OK;
}

int iosched_requeue(struct iosched *s, struct iosched_req *rq,
                    iosched_time now)
{
    int err;

    if (rq == NULL)
        return IOSCHED_ERR_INVAL;
    err = iosched__enter(s, now);
    if (err < 0)
        return err;
    err = take_back(s, rq);
    if (err == IOSCHED_OK) {
        s->stats.requeued++;
        iosched__depth_given_back(s);
        iosched__event(s, IOSCHED_EV_REQUEUE, rq, 0);
    }
    iosched__leave(s);
    return err;
}

int iosched_queue_full(struct iosched *s, struct iosched_req *rq,
                       iosched_time now)
{
    int err;

    if (rq == NULL)
        return IOSCHED_ERR_INVAL;
    err = iosched__enter(s, now);
    if (err < 0)
        return err;
    err = take_back(s, rq);
    if (err == IOSCHED_OK) {
        s->stats.queue_full++;
        iosched__depth_refused(s);
        iosched__event(s, IOSCHED_EV_FULL, rq, (int64_t)s->depth_now);
    }
    iosched__leave(s);
    return err;
}

int iosched_abort(struct iosched *s, struct iosched_req *rq, iosched_time now)
{
    int err;

    if (rq == NULL)
        return IOSCHED_ERR_INVAL;
    err = iosched__enter(s, now);
    if (err < 0)
        return err;
    err = iosched__claim(s, rq);
    if (err == IOSCHED_OK) {
        s->slots[rq->tag].quarantined = 1;
        s->quarantined++;
        land(s, rq);
        s->stats.aborted += rq->nmembers;
        if (rq->core_flags_ & RQ_KNOWN && s->run->ops.dropped != NULL)
            s->run->ops.dropped(s->run->state, rq);
        iosched__event(s, IOSCHED_EV_ABORT, rq, rq->tag);
        release_members(s, rq, 0, 0, IOSCHED_STATE_IDLE);
        if (s->waiting.head != NULL)
            iosched__pump(s);
    }
    iosched__leave(s);
    return err;
}

int iosched_tag_release(struct iosched *s, int32_t tag, iosched_time now)
{
    int err = iosched__enter(s, now);

    if (err < 0)
        return err;
    if (tag < 0 || (uint32_t)tag >= s->ntags) {
        err = IOSCHED_ERR_INVAL;
    } else if (!s->slots[tag].quarantined) {
        err = IOSCHED_ERR_STATE;
    } else {
        s->slots[tag].quarantined = 0;
        s->quarantined--;
        iosched__tag_put(s, tag);
        iosched__event(s, IOSCHED_EV_RELEASE, NULL, tag);
    }
    iosched__leave(s);
    return err;
}

uint64_t iosched_cookie(const struct iosched_req *rq)
{
    if (rq == NULL || rq->tag < 0 || rq->state != IOSCHED_STATE_INFLIGHT)
        return UINT64_MAX;
    return (uint64_t)rq->generation << 32 | (uint32_t)rq->tag;
}

struct iosched_req *iosched_find(const struct iosched *s, uint64_t cookie)
{
    uint32_t tag = (uint32_t)cookie;

    if (s == NULL || tag >= s->ntags ||
        s->slots[tag].generation != (uint32_t)(cookie >> 32))
        return NULL;
    return s->slots[tag].rq;
}
