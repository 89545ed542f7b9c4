/* SPDX-License-Identifier: BSD-2-Clause */
/* depth.c - how many may be in flight, and what to do when the device says no.
 *
 * queue_full lowers the depth in use to what the device did take; after a quiet
 * while each completion may raise it by one.  When a refusal leaves nothing in
 * flight, no completion will come to wake the caller: a retry timer does, after
 * 1 ms, then 2, 4 ... 100 ms, until something completes.
 */
#include "hot.h"

#define RAMP_UP_AFTER IOSCHED_MSEC(100) /* without a refusal, each step   */
#define RETRY_LONGEST IOSCHED_MSEC(100)

static void arm_retry(struct iosched *s)
{
    if (s->inflight > 0 || s->retry_at != IOSCHED_NEVER)
        return;
    s->retry_at = iosched__later(s->now, s->retry_wait);
    s->retry_wait = s->retry_wait * 2 < RETRY_LONGEST ? s->retry_wait * 2
                                                      : RETRY_LONGEST;
}

static void lower(struct iosched *s)
{
    uint32_t took = s->inflight > 0 ? s->inflight : 1;

    if (took < s->depth_now)
        s->depth_now = took;
    s->depth_changed = s->now;
}

/** The device refused a request, which is no longer counted as in flight. */
void iosched__depth_refused(struct iosched *s)
{
    s->refused = 1;
    s->refused_before = s->next_dispatch;
    lower(s);
    arm_retry(s);
}

/** rq was given back, too.  If it had been dispatched before a refusal and
 *  nothing completed since, it is part of that: the rest of a batch that the
 *  device did not get to see. */
void iosched__depth_given_back(struct iosched *s, const struct iosched_req *rq)
{
    if (!s->refused || rq->sort.key >= s->refused_before)
        return;
    lower(s);
    arm_retry(s);
}

/** A request completed while the depth in use is lowered. */
void iosched__depth_ramp(struct iosched *s)
{
    if (s->now - s->depth_changed < RAMP_UP_AFTER)
        return;
    s->depth_now++;
    s->depth_changed = s->now;
    iosched__event(s, IOSCHED_EV_DEPTH, NULL, (int64_t)s->depth_now);
}

int iosched_set_depth(struct iosched *s, uint32_t depth, iosched_time now)
{
    int err = iosched__enter(s, now);

    if (err < 0)
        return err;
    if (depth == 0 || depth > s->cfg.depth) {
        err = IOSCHED_ERR_RANGE;
    } else {
        s->depth_set = s->depth_now = depth;
        iosched__event(s, IOSCHED_EV_DEPTH, NULL, (int64_t)depth);
    }
    iosched__leave(s);
    return err;
}

uint32_t iosched_depth(const struct iosched *s)
{
    return s != NULL ? s->depth_now : 0;
}
