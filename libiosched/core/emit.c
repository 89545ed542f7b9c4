/* SPDX-License-Identifier: BSD-2-Clause */
/* emit.c - the list of what is issued next: chosen by the policy, not taken by
 * the caller; and the list of what the caller gave back.
 *
 * SORTED keeps one ascending sweep from `sweep`: what lies at or above it in
 * ascending order, then the rest in ascending order.  The sweep stands at the
 * end of the last request issued, or, from a TAIL emit until that request is
 * issued, at its end.
 */
#include "hot.h"

/** Has the walk from the tail come far enough?  rq goes right after pos. */
static int stays_behind(const struct iosched *s, const struct iosched_req *rq,
                        const struct iosched_req *pos)
{
    if (pos->op != rq->op && !s->run->tun[TUN_SORT_ACROSS_OPS])
        return 1;
    if (rq->xlba >= s->sweep) {
        if (pos->xlba < s->sweep)
            return 0;
    } else if (pos->xlba >= s->sweep) {
        return 1;
    }
    return rq->xlba >= pos->xlba;
}

void iosched_core_emit(struct iosched_core *c, struct iosched_req *rq, int how)
{
    struct iosched *s = c->s;
    struct rqlist *l = &s->emitted;
    struct iosched_req **at, *pos;

    IOSCHED_ASSERT(iosched__place(rq) == PLACE_POLICY);
    iosched__unhash(s, rq);
    if (s->last_merge == rq)
        s->last_merge = NULL;
    c->held--;
    rq->core_flags_ = (rq->core_flags_ & ~PLACE_MASK) | PLACE_EMITTED |
                      RQ_KNOWN;
    if (how & IOSCHED_EMIT_EXPIRED)
        s->stats.fifo_expired++;
    if (!(how & IOSCHED_EMIT_SORTED)) {
        s->sweep = iosched__end(rq);
        s->sweep_owner = rq;
        iosched__list_append(l, rq);
    } else if (IOSCHED_LIKELY(l->head == NULL)) {
        iosched__list_append(l, rq);
    } else {
        for (at = l->tail; (pos = iosched__list_prev(l, at)) != NULL &&
                           !stays_behind(s, rq, pos); at = pos->link_prev_)
            ;
        iosched__list_add(l, at, rq);
    }
    iosched__event(s, IOSCHED_EV_EMIT, rq, how);
}

/** Take rq off again: it was cancelled. */
void iosched__unemit(struct iosched *s, struct iosched_req *rq)
{
    iosched__list_remove(&s->emitted, rq);
    if (s->sweep_owner == rq)
        s->sweep_owner = NULL;
}

/** rq comes back from the caller: issued before all others, and of several in
 *  the order they were dispatched in.  The originals put the last one first. */
void iosched__give_back(struct iosched *s, struct iosched_req *rq)
{
    struct rqlist *l = &s->requeued;
    struct iosched_req **at = l->tail, *pos;

    iosched__set_place(rq, PLACE_REQUEUED);
    if (iosched__compat(s))
        at = &l->head;
    else
        while ((pos = iosched__list_prev(l, at)) != NULL &&
               pos->sort.key > rq->sort.key)
            at = pos->link_prev_;
    iosched__list_add(l, at, rq);
}
