/* SPDX-License-Identifier: BSD-2-Clause */
/* merge.c - who rides on whom.
 *
 * The policy's requests that may merge are hashed by the end of their extent,
 * newest first; that finds back merges in O(1).  Front merges are found by the
 * policy, which keeps its requests sorted anyway; it is only asked when a small
 * table of counters, by hash of the start, says that there may be one: also
 * O(1), but for one request in thirty or so.  Of two carriers that meet
 * the older absorbs, so that a carrier is always as old as its oldest member.
 *
 * Members form a list ascending by lba; a carrier's kin_ is its last member,
 * a rider's kin_ leads towards its carrier, in several steps if that was
 * absorbed itself: union-find with path compression.
 */
#include "hot.h"

/* --- May they? ------------------------------------------------------------ */
/** Do policy and caller agree that rq rides on `into`? */
int iosched__may_join(struct iosched *s, const struct iosched_req *into,
                      const struct iosched_req *rq, int where)
{
    struct iosched_core *c = s->run;

    if (into->op != rq->op || !iosched__mergeable(into))
        return 0;
    if (c->ops.allow_merge != NULL && !c->ops.allow_merge(c->state, into, rq))
        return 0;
    return s->cfg.may_merge == NULL ||
           s->cfg.may_merge(s->cfg.user, into, rq, where);
}

/** Are they within the limits together?  Both are queued. */
int iosched__fits(const struct iosched *s, const struct iosched_req *into,
                  const struct iosched_req *rq)
{
    return (uint64_t)into->xnblk + rq->xnblk <= s->run->merge_nblk &&
           (uint64_t)into->generation + rq->generation <=
               s->cfg.max_merge_segs;
}

/* --- Joining -------------------------------------------------------------- */
/** `into` is as urgent as its best member; what it is alone is kept aside. */
static void raise_prio(struct iosched_req *into, uint16_t prio)
{
    unsigned own = iosched__prio_of(into);

    if (!(into->core_flags_ & RQ_RAISED)) {
        own = IOSCHED_PRIO_CLASS(own) << 3 | (own & 7u);
        into->core_flags_ |= RQ_RAISED | own << RQ_OWN_SHIFT;
    }
    iosched__set_prio(into, prio);
}

/** A carrier whose merge falls apart is as urgent as it is alone. */
void iosched__lower_prio(struct iosched_req *rq)
{
    unsigned own = (rq->core_flags_ & RQ_OWN_MASK) >> RQ_OWN_SHIFT;

    if (!(rq->core_flags_ & RQ_RAISED))
        return;
    rq->core_flags_ &= ~(RQ_RAISED | RQ_OWN_MASK);
    iosched__set_prio(rq, IOSCHED_PRIO(own >> 3, own & 7u));
}

/** rq and its members become members of `into`; both are carriers. */
void iosched__link_member(struct iosched_req *into, struct iosched_req *rq,
                          int where)
{
    struct iosched_req *last = rq->kin_;
    uint16_t prio = iosched__prio_of(rq);

    if (where == IOSCHED_MERGED_BACK) {
        into->kin_->next_member = rq->first_member;
        into->kin_ = last;
    } else {
        last->next_member = into->first_member;
        into->first_member = rq->first_member;
        into->xlba = rq->xlba;
    }
    into->xnblk += rq->xnblk;
    into->nmembers += rq->nmembers;
    into->generation += rq->generation;     /* segments, while queued */
    if (prio < iosched__prio_of(into))
        raise_prio(into, prio);
    rq->kin_ = into;
    rq->first_member = NULL;
    rq->state = IOSCHED_STATE_ABSORBED;
    iosched__set_place(rq, PLACE_NONE);
}

/** Count and tell that rq, new, rides on `into`. */
void iosched__joined(struct iosched *s, struct iosched_req *into,
                     struct iosched_req *rq, int where)
{
    if (where == IOSCHED_MERGED_BACK)
        s->stats.merged_back++;
    else
        s->stats.merged_front++;
    iosched__event(s, where == IOSCHED_MERGED_BACK ? IOSCHED_EV_BACK
                                                   : IOSCHED_EV_FRONT,
                   rq, (int64_t)into->seq_);
}

/** `into` absorbs rq; the policy holds both. */
void iosched__absorb(struct iosched *s, struct iosched_req *into,
                     struct iosched_req *rq, int where)
{
    struct iosched_core *c = s->run;

    iosched__unhash(s, rq);
    iosched__unhash(s, into);
    iosched__link_member(into, rq, where);
    iosched__hash(s, into);
    c->held--;
    if (s->last_merge == rq)
        s->last_merge = NULL;
    if (c->ops.absorbed != NULL) {
        c->ops.absorbed(c->state, into, rq, where);
    } else {
        c->ops.removed(c->state, rq, IOSCHED_REMOVED_ABSORBED);
        if (c->ops.merged != NULL)
            c->ops.merged(c->state, into, rq, where);
    }
    iosched__joined(s, into, rq, where);
}

struct iosched_req *iosched__carrier_of(const struct iosched_req *rq)
{
    /* kin_ is the library's: shortening the way changes nothing that shows. */
    struct iosched_req *at = (struct iosched_req *)(uintptr_t)rq, *top, *next;

    for (top = at; top->state == IOSCHED_STATE_ABSORBED; top = top->kin_)
        ;
    for (; at->state == IOSCHED_STATE_ABSORBED; at = next) {
        next = at->kin_;
        at->kin_ = top;
    }
    return top;
}

const struct iosched_req *iosched_carrier(const struct iosched_req *rq)
{
    if (rq == NULL || (rq->state != IOSCHED_STATE_QUEUED &&
                       rq->state != IOSCHED_STATE_ABSORBED &&
                       rq->state != IOSCHED_STATE_INFLIGHT))
        return NULL;
    return iosched__carrier_of(rq);
}

/* --- Looking for a carrier ------------------------------------------------ */
/** May `low` and `high`, which follows it on the device, become one?  The older
 *  would absorb, so that is what is asked. */
static int may_meet(struct iosched *s, struct iosched_req *low,
                    struct iosched_req *high)
{
    if (!iosched__fits(s, low, high) || !iosched__mergeable(low) ||
        !iosched__mergeable(high))
        return 0;
    return low->seq_ < high->seq_
               ? iosched__may_join(s, low, high, IOSCHED_MERGED_BACK)
               : iosched__may_join(s, high, low, IOSCHED_MERGED_FRONT);
}

/** A carrier that ends where rq starts and may become one with it, or NULL. */
static struct iosched_req *ends_at(struct iosched *s, struct iosched_req *rq)
{
    struct iosched_req *c = *iosched__bucket(s, rq->xlba);
    unsigned tries = HASH_TRIES;

    for (; c != NULL; c = c->link_next_) {
        if (iosched__end(c) != rq->xlba || c == rq)
            continue;
        if (may_meet(s, c, rq))
            return c;
        if (--tries == 0)
            break;
    }
    return NULL;
}

/** A carrier that starts where rq ends and may become one with it, or NULL. */
static struct iosched_req *starts_at(struct iosched *s, struct iosched_req *rq)
{
    struct iosched_core *core = s->run;
    struct iosched_req *c;

    if (!core->fronts ||
        (*iosched__starts(s, iosched__end(rq)) | s->starts_unsure) == 0)
        return NULL;
    c = core->ops.find(core->state, rq, iosched__end(rq));
    return c != NULL && c != rq && c->xlba == iosched__end(rq) &&
                   may_meet(s, rq, c)
               ? c
               : NULL;
}

/** The older of two carriers absorbs the other; b follows a on the device. */
static void meet(struct iosched *s, struct iosched_req *a,
                 struct iosched_req *b)
{
    if (a->seq_ < b->seq_)
        iosched__absorb(s, a, b, IOSCHED_MERGED_BACK);
    else
        iosched__absorb(s, b, a, IOSCHED_MERGED_FRONT);
}

/** Does `rq`, if the policy still holds it, touch another at this end? */
static void look_further(struct iosched *s, struct iosched_req *rq, int where)
{
    struct iosched_req *other;

    if (iosched__place(rq) != PLACE_POLICY)
        return;
    if (where == IOSCHED_MERGED_BACK) {
        other = starts_at(s, rq);
        if (other != NULL)
            meet(s, rq, other);
    } else {
        other = ends_at(s, rq);
        if (other != NULL)
            meet(s, other, rq);
    }
}

/** Hand rq to the policy although it touches `other`, for it is the older of
 *  the two (a dissolved merge or an order kept it back): it absorbs. */
static void overtake(struct iosched *s, struct iosched_req *rq,
                     struct iosched_req *other, int where)
{
    iosched__to_policy(s, rq);
    if (iosched__place(rq) != PLACE_POLICY ||
        iosched__place(other) != PLACE_POLICY)
        return;                         /* the policy sent one of them off */
    if (where == IOSCHED_MERGED_BACK)
        meet(s, other, rq);
    else
        meet(s, rq, other);
    look_further(s, rq, where);         /* at the end that is still free */
}

/** Let rq, which is mergeable, ride on a queued request.  touch: enum touch.
 *  @return MERGED_BACK or MERGED_FRONT; 0: it rides on none and the policy has
 *  still to get it; -1: the policy has it. */
int iosched__merge(struct iosched *s, struct iosched_req *rq, unsigned touch)
{
    struct iosched_core *c = s->run;
    struct iosched_req *into = NULL;
    int where = IOSCHED_MERGED_BACK;

    if (touch & TOUCH_START)
        into = ends_at(s, rq);
    if (into == NULL && touch & TOUCH_END) {
        into = starts_at(s, rq);
        where = IOSCHED_MERGED_FRONT;
    }
    if (into == NULL)
        return 0;
    if (rq->seq_ < into->seq_) {
        overtake(s, rq, into, where);
        return -1;
    }
    iosched__unhash(s, into);
    iosched__link_member(into, rq, where);
    iosched__hash(s, into);
    if (c->ops.merged != NULL)
        c->ops.merged(c->state, into, rq, where);
    iosched__joined(s, into, rq, where);
    look_further(s, into, where);
    return where;
}
