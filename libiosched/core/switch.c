/* SPDX-License-Identifier: BSD-2-Clause */
/* switch.c - changing policy with requests queued and in flight.
 *
 * The new policy is built in the instance that does not run, and nothing has
 * happened until that has worked.  Then everything the old one holds is evicted
 * and handed to the new one in order of arrival.  What was emitted, given back,
 * held by an order or in flight is the core's and stays where it is; neither
 * policy hears of it again.
 */
#include "hot.h"

static void forget(struct iosched_req *rq)
{
    for (; rq != NULL; rq = rq->link_next_) {
        rq->core_flags_ &= ~RQ_KNOWN;
        rq->own[0] = rq->own[1] = NULL;
    }
}

/** The seq of the oldest member: the carrier's own, but under COMPAT. */
static uint64_t oldest(const struct iosched_req *rq)
{
    const struct iosched_req *m;
    uint64_t seq = rq->seq_;

    for (m = rq->first_member; m != NULL; m = m->next_member)
        if (m->seq_ < seq)
            seq = m->seq_;
    return seq;
}

/** Everything the running policy holds, by age, into `by_age`. */
static void evict_all(struct iosched *s, struct iosched_rbtree *by_age)
{
    static const struct iosched_rbnode no_node;
    struct iosched_core *c = s->run;
    struct iosched_req *rq;

    while ((rq = c->ops.evict(c->state)) != NULL) {
        iosched__unhash(s, rq);
        iosched__set_place(rq, PLACE_NONE);
        c->held--;
        rq->sort = no_node;
        iosched_rb_insert(by_age, &rq->sort, oldest(rq));
    }
    IOSCHED_ASSERT(c->held == 0);
    s->last_merge = NULL;
}

/** Hand them to the policy that runs now, merges and all. */
static void insert_all(struct iosched *s, struct iosched_rbtree *by_age)
{
    static const struct iosched_fifolink no_link;
    struct iosched_rbnode *n;

    while ((n = iosched_rb_first(by_age)) != NULL) {
        struct iosched_req *rq = iosched_container_of(n, struct iosched_req,
                                                      sort);

        iosched_rb_remove(by_age, n);
        rq->sort.key = 0;
        rq->fifo = no_link;
        rq->own[0] = rq->own[1] = NULL;
        iosched__to_policy(s, rq);
    }
}

int iosched_switch(struct iosched *s, const char *policy, iosched_time now)
{
    struct iosched_rbtree by_age = { NULL, NULL, NULL };
    struct iosched_core *fresh;
    struct policy_choice choice;
    uint32_t i;
    int err;

    if (policy == NULL)
        return IOSCHED_ERR_INVAL;
    err = iosched__enter(s, now);
    if (err < 0)
        return err;
    fresh = s->run == &s->core[0] ? &s->core[1] : &s->core[0];
    err = s->cfg.flags & IOSCHED_F_NO_SWITCH
              ? IOSCHED_ERR_NOTSUP
              : iosched__parse_policy(&s->cfg, policy, &choice);
    if (err == IOSCHED_OK)
        err = iosched__core_build(s, fresh, &choice);
    if (err < 0) {
        iosched__leave(s);
        return err;
    }
    evict_all(s, &by_age);
    iosched__core_close_all(s);
    if (s->run->ops.exit != NULL)
        s->run->ops.exit(s->run->state);
    forget(s->emitted.head);
    forget(s->requeued.head);
    for (i = 0; i < s->ntags; i++)
        if (s->slots[i].rq != NULL) {
            s->slots[i].rq->core_flags_ &= ~RQ_KNOWN;
            s->slots[i].rq->own[0] = s->slots[i].rq->own[1] = NULL;
        }
    s->run = fresh;
    s->starts_unsure = 0;               /* nothing is hashed now */
    s->stats.switches++;
    iosched__event_note(s, IOSCHED_EV_SWITCH, NULL, fresh->ops.name, 0);
    iosched__core_open_all(s);
    insert_all(s, &by_age);
    iosched__leave(s);
    return IOSCHED_OK;
}
