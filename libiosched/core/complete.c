/* SPDX-License-Identifier: BSD-2-Clause */
/* complete.c - a request comes back: done, given back, or given up. */
#include "hot.h"

/** May the owner take rq out of flight?  Not while it is elsewhere, and not
 *  when its completion was posted, for that has then happened: one of the two
 *  wins, even at the same moment. */
IOSCHED_HOT int claim(struct iosched *s, struct iosched_req *rq)
{
    if (IOSCHED_UNLIKELY(rq->state != IOSCHED_STATE_INFLIGHT ||
                         rq->owner_ != s))
        return rq->state == IOSCHED_STATE_IDLE || rq->owner_ == s
                   ? IOSCHED_ERR_STATE
                   : IOSCHED_ERR_INVAL;
    return IOSCHED_AO_CAS(&s->slots[rq->tag].live,
                          (iosched__word)rq->generation, 0)
               ? IOSCHED_OK
               : IOSCHED_ERR_STATE;
}

/** rq has landed: no longer in flight, not yet anywhere else. */
IOSCHED_HOT void land(struct iosched *s, struct iosched_req *rq)
{
    s->slots[rq->tag].rq = NULL;
    iosched__stream_of(s, rq)->inflight--;
    if (--s->inflight == 0)
        s->stats.busy += s->now - s->busy_since;
}

IOSCHED_HOT void make_idle(struct iosched *s, struct iosched_req *rq,
                             unsigned state)
{
    struct iosched_stream *st = iosched__stream_of(s, rq);

    rq->state = (uint8_t)state;
    iosched__settled(s, rq);
    if (IOSCHED_UNLIKELY(rq->group_ != 0))
        s->groups[rq->group_].requests--;
    if (IOSCHED_UNLIKELY(--st->requests == 0 && st->state == HANDLE_CLOSED))
        iosched__stream_settle(st);
    if (IOSCHED_UNLIKELY(rq->group_ != 0))
        iosched__group_settle(&s->groups[rq->group_]);
}

/** One request, alone or a member, is the caller's again. */
void iosched__make_idle(struct iosched *s, struct iosched_req *rq,
                        unsigned state)
{
    make_idle(s, rq, state);
}

/** One member of the landed rq is done.  All are told before the first becomes
 *  idle, so that each still knows its carrier. */
IOSCHED_HOT void count_member(struct iosched *s, struct iosched_req *m,
                              iosched_time t_dispatch, int status)
{
    m->status = status;
    m->t_dispatch = t_dispatch;
    iosched__count_done(s, m, status);
    iosched__event(s, IOSCHED_EV_COMPLETE, m, status);
}

/** All members of the landed rq are idle (or DONE: `state`). */
IOSCHED_COLD static void finish_merge(struct iosched *s,
                                      struct iosched_req *rq, int status,
                                      unsigned state)
{
    iosched_time dispatched = rq->t_dispatch;
    struct iosched_req *m, *next;

    for (m = rq->first_member; m != NULL; m = m->next_member)
        count_member(s, m, dispatched, status);
    for (m = rq->first_member; m != NULL; m = next) {
        next = m->next_member;
        make_idle(s, m, state);
    }
}

/** What waited for rq and its members, now idle, may go on. */
IOSCHED_HOT void let_others(struct iosched *s)
{
    if (IOSCHED_UNLIKELY(s->waiting.head != NULL))
        iosched__pump(s);
}

IOSCHED_HOT int finish(struct iosched *s, struct iosched_req *rq, int status,
                         unsigned state)
{
    struct iosched_core *c = s->run;
    unsigned next = 0;
    int more = 0;

    if (IOSCHED_UNLIKELY(rq->phase != IOSCHED_PHASE_DATA ||
                         rq->flags & IOSCHED_RQ_FUA))
        more = iosched__next_phase(s, rq, status, &next);
    land(s, rq);
    iosched__tag_put(s, rq->tag);
    iosched__depth_completed(s);
    rq->status = status;
    if (rq->core_flags_ & RQ_KNOWN && c->ops.completed != NULL)
        c->ops.completed(c->state, rq);
    if (IOSCHED_UNLIKELY(more)) {
        iosched__member_reset(rq);      /* such a request rides alone */
        rq->phase = (uint8_t)next;
        iosched__count_queued(s, 1);
        s->stats.phases++;
        iosched__event(s, IOSCHED_EV_PHASE, rq, (int64_t)next);
        iosched__route(s, rq);
        return IOSCHED_MORE;
    }
    if (IOSCHED_LIKELY(rq->nmembers == 1)) {
        count_member(s, rq, rq->t_dispatch, status);
        make_idle(s, rq, state);
    } else {
        finish_merge(s, rq, status, state);
    }
    let_others(s);
    return IOSCHED_OK;
}

/** The device finished rq, which is claimed.  state is what its members are
 *  after the last phase: IDLE, or DONE for the inbox. */
int iosched__finish(struct iosched *s, struct iosched_req *rq, int status,
                    unsigned state)
{
    return finish(s, rq, status, state);
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
    result = claim(s, rq);
    if (result == IOSCHED_OK)
        result = finish(s, rq, status, IOSCHED_STATE_IDLE);
    iosched__leave(s);
    return result;
}

/** Put rq, in flight, back at the head of what is queued. */
static int take_back(struct iosched *s, struct iosched_req *rq)
{
    int err = claim(s, rq);

    if (err < 0)
        return err;
    land(s, rq);
    iosched__tag_put(s, rq->tag);
    rq->tag = -1;
    rq->state = IOSCHED_STATE_QUEUED;
    iosched__count_queued(s, rq->nmembers);
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
        iosched__depth_given_back(s, rq);
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
    struct iosched_req *m, *next;
    int err;

    if (rq == NULL)
        return IOSCHED_ERR_INVAL;
    err = iosched__enter(s, now);
    if (err < 0)
        return err;
    err = claim(s, rq);
    if (err == IOSCHED_OK) {
        s->slots[rq->tag].quarantined = 1;
        s->quarantined++;
        land(s, rq);
        s->stats.aborted += rq->nmembers;
        if (rq->core_flags_ & RQ_KNOWN && s->run->ops.dropped != NULL)
            s->run->ops.dropped(s->run->state, rq);
        iosched__event(s, IOSCHED_EV_ABORT, rq, rq->tag);
        for (m = rq->first_member; m != NULL; m = next) {
            next = m->next_member;
            m->status = 0;
            make_idle(s, m, IOSCHED_STATE_IDLE);
        }
        let_others(s);
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

int32_t iosched_cookie_tag(uint64_t cookie)
{
    return (int32_t)(uint32_t)cookie;
}

struct iosched_req *iosched_find(const struct iosched *s, uint64_t cookie)
{
    uint32_t tag = (uint32_t)cookie;

    if (s == NULL || tag >= s->ntags ||
        s->slots[tag].generation != (uint32_t)(cookie >> 32))
        return NULL;
    return s->slots[tag].rq;
}
