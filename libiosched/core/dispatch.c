/* SPDX-License-Identifier: BSD-2-Clause */
/* dispatch.c - a request goes out.
 *
 * Given back, direct, emitted: these lists in this order, and the policy is
 * asked when the last is empty.  Direct ones pass the policy at most head_burst
 * times in a row.
 */
#include "hot.h"

/** Let the policy fill the emitted list.  @return enum iosched_picked. */
IOSCHED_HOT int ask_policy(struct iosched *s, unsigned flags)
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
        IOSCHED_ASSERT(s->inflight > 0 || c->next != IOSCHED_NEVER);
        answer = c->ops.dispatch(c->state, flags | IOSCHED_DISPATCH_FORCE);
        return s->emitted.head != NULL ? IOSCHED_GOT : IOSCHED_HOLD;
    }
    return IOSCHED_HOLD;
}

/** The request to issue next, still in its list, or NULL and *answer. */
IOSCHED_HOT struct iosched_req *next_up(struct iosched *s, unsigned flags,
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

IOSCHED_COLD static void hold_begins(struct iosched *s)
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

/** The policy, or whatever it was, no longer holds anything back. */
IOSCHED_COLD void iosched__hold_ends(struct iosched *s)
{
    if (!s->holding)
        return;
    s->holding = 0;
    s->stats.held += s->now - s->hold_since;
    iosched__event(s, IOSCHED_EV_UNHOLD, NULL, 0);
}

/** Take rq, the head of its list, off it. */
IOSCHED_HOT void take_off(struct iosched *s, struct iosched_req *rq)
{
    enum place place = iosched__place(rq);

    if (IOSCHED_LIKELY(place == PLACE_EMITTED)) {
        iosched__list_pop(&s->emitted, rq);
        s->head_run = 0;
    } else {
        if (place == PLACE_REQUEUED) {
            iosched__list_pop(&s->requeued, rq);
        } else {
            iosched__list_pop(&s->direct, rq);
            s->head_run++;
        }
        if (rq->flags & IOSCHED_RQ_HEAD || rq->op == IOSCHED_PASS)
            s->stats.heads++;
        if (rq->flags & IOSCHED_RQ_BARRIER &&
            (rq->phase == IOSCHED_PHASE_DATA || rq->op == IOSCHED_FLUSH))
            s->stats.barriers++;
    }
}

/** Hand rq out in slot `tag`. */
IOSCHED_HOT void issue(struct iosched *s, struct iosched_req *rq, int32_t tag)
{
    struct slot *slot = &s->slots[tag];
    uint32_t generation = slot->generation + 1;

    take_off(s, rq);
    iosched__swept(s, rq);
    iosched__set_place(rq, PLACE_FLYING);
    if (IOSCHED_UNLIKELY(generation == 0))
        generation = 1;
    slot->generation = generation;
    slot->rq = rq;
    IOSCHED_AO_STORE(&slot->live, generation);
    rq->generation = generation;
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

/** The originals asked the policy even then, and one of them takes note. */
IOSCHED_COLD static int nothing_queued(struct iosched *s, unsigned flags)
{
    if (iosched__compat(s) && s->retry_at == IOSCHED_NEVER &&
        s->inflight < s->depth_now)
        (void)s->run->ops.dispatch(s->run->state, flags);
    return IOSCHED_EMPTY;
}

/** One decision.  @return enum iosched_picked. */
IOSCHED_HOT int pick(struct iosched *s, struct iosched_req **out,
                     unsigned flags)
{
    struct iosched_req *rq;
    int32_t tag;
    int answer;

    if (s->frozen > 0)
        return IOSCHED_FROZEN;
    if (s->queued == 0)
        return nothing_queued(s, flags);
    if (s->retry_at != IOSCHED_NEVER)
        return IOSCHED_HOLD;
    if (s->inflight >= s->depth_now)
        return IOSCHED_FULL;
    rq = next_up(s, flags, &answer);
    if (rq == NULL)
        return answer;
    tag = iosched__tag_get(s, rq);
    if (tag < 0)
        return IOSCHED_FULL;
    issue(s, rq, tag);
    *out = rq;
    return IOSCHED_GOT;
}

/** The same, with what is counted about the answer. */
IOSCHED_HOT int decide(struct iosched *s, struct iosched_req **out,
                       unsigned flags)
{
    int answer = pick(s, out, flags);

    if (IOSCHED_UNLIKELY(s->holding) && answer != IOSCHED_HOLD)
        iosched__hold_ends(s);
    if (answer == IOSCHED_HOLD) {
        hold_begins(s);
    } else if (answer == IOSCHED_FULL) {
        s->stats.fulls++;
        iosched__event(s, IOSCHED_EV_NOSLOT, NULL, 0);
    }
    return answer;
}

static int decide_one(struct iosched *s, struct iosched_req **out,
                      unsigned flags)
{
    return decide(s, out, flags);
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
        answer = decide_one(s, &out[*n], flags);
        if (answer == IOSCHED_GOT)
            ++*n;
    } while (answer == IOSCHED_GOT && *n < max);
    iosched__leave(s);
    return answer;
}
