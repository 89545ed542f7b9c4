/* SPDX-License-Identifier: BSD-2-Clause */
/* cancel.c - taking back what is queued; dissolving a merge. */
#include "hot.h"

/** Take the carrier rq out of wherever it is queued. */
static void pull(struct iosched *s, struct iosched_req *rq, int why)
{
    struct iosched_core *c = s->run;

    switch (iosched__place(rq)) {
    case PLACE_POLICY:
        iosched__unhash(s, rq);
        if (s->last_merge == rq)
            s->last_merge = NULL;
        c->held--;
        c->ops.removed(c->state, rq, why);
        return;
    case PLACE_WAITING:
    case PLACE_BLOCKED:
        iosched__order_cancel(s, rq);
        return;
    case PLACE_EMITTED:
        iosched__unemit(s, rq);
        break;
    case PLACE_REQUEUED:
        iosched__list_remove(&s->requeued, rq);
        break;
    default:
        iosched__list_remove(&s->direct, rq);
        break;
    }
    if (rq->core_flags_ & RQ_KNOWN && c->ops.dropped != NULL)
        c->ops.dropped(c->state, rq);
}

/** Send the members of rq, which is pulled, but for `gone`, on their own way:
 *  the oldest first. */
static void scatter(struct iosched *s, struct iosched_req *rq,
                    struct iosched_req *gone)
{
    struct iosched_rbtree by_age = { NULL, NULL, NULL };
    struct iosched_rbnode *n;
    struct iosched_req *m, *next;

    for (m = rq->first_member; m != NULL; m = next) {
        next = m->next_member;
        iosched__member_reset(m);
        iosched__lower_prio(m);
        if (m != gone)
            iosched_rb_insert(&by_age, &m->sort, m->seq_);
    }
    while ((n = iosched_rb_first(&by_age)) != NULL) {
        iosched_rb_remove(&by_age, n);
        m = iosched_container_of(n, struct iosched_req, sort);
        m->sort.key = 0;
        iosched__route(s, m);
    }
}

int iosched_cancel(struct iosched *s, struct iosched_req *rq, iosched_time now)
{
    struct iosched_req *carrier;
    int err;

    if (rq == NULL)
        return IOSCHED_ERR_INVAL;
    err = iosched__enter(s, now);
    if (err < 0)
        return err;
    if (rq->state != IOSCHED_STATE_IDLE && rq->owner_ != s &&
        rq->state != IOSCHED_STATE_POSTED) {
        err = IOSCHED_ERR_INVAL;
    } else if (rq->state != IOSCHED_STATE_QUEUED &&
               rq->state != IOSCHED_STATE_ABSORBED) {
        err = IOSCHED_ERR_STATE;
    } else {
        carrier = iosched__carrier_of(rq);
        if (carrier->state != IOSCHED_STATE_QUEUED)
            err = IOSCHED_ERR_STATE;
    }
    if (err == IOSCHED_OK) {
        int merged = carrier->nmembers > 1;

        s->queued--;
        s->stats.cancelled++;
        pull(s, carrier, merged ? IOSCHED_REMOVED_DISSOLVED
                                : IOSCHED_REMOVED_CANCELLED);
        if (merged) {
            s->stats.dissolved++;
            iosched__event(s, IOSCHED_EV_DISSOLVE, carrier,
                           (int64_t)carrier->nmembers);
            scatter(s, carrier, rq);
        }
        iosched__event(s, IOSCHED_EV_CANCEL, rq, 0);
        iosched__make_idle(s, rq, IOSCHED_STATE_IDLE);
        if (s->waiting.head != NULL)
            iosched__pump(s);
        if (s->queued == 0)
            iosched__hold_ends(s);
    }
    iosched__leave(s);
    return err;
}
