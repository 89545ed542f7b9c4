/* SPDX-License-Identifier: BSD-2-Clause */
/* load.h - a long random load that uses all of the data path: merges, phases,
 * barriers, cancels, requeues, refusals by the device, aborts, switches,
 * streams, posts, freezes and a clock that steps back.  The same seed gives the
 * same calls.
 */
#ifndef LOAD_H
#define LOAD_H
#include "api.h"

#define LOAD_RQS     48u
#define LOAD_FLIGHT  64u
#define LOAD_STREAMS 4u

struct load {
    struct iosched        *s;
    struct iosched_req     rq[LOAD_RQS];
    struct iosched_req    *fly[LOAD_FLIGHT];
    struct iosched_stream *stream[LOAD_STREAMS];
    int32_t                lost[LOAD_FLIGHT];
    unsigned               nfly, nlost, frozen;
    int                    inbox, can_switch;
    uint32_t               depth;       /* as it was at the beginning     */
    uint64_t               seed;
    iosched_time           now;         /* the caller's                   */
};

static inline void load_begin(struct load *ld, struct iosched *s,
                              uint64_t seed, iosched_time now)
{
    memset(ld, 0, sizeof *ld);
    ld->s = s;
    ld->seed = seed;
    ld->now = now;
    ld->inbox = iosched_inbox_pending(s) != IOSCHED_ERR_NOTSUP;
    ld->can_switch = 1;
    ld->depth = iosched_depth(s);
}

static inline struct iosched_req load_request(struct load *ld)
{
    uint32_t ops = rnd(&ld->seed, 3) ? 2 : 6;
    struct iosched_req r = random_request(&ld->seed, ops, 60, 4, 2);

    maybe(&ld->seed, 12, &r, IOSCHED_RQ_HEAD);
    maybe(&ld->seed, 40, &r, IOSCHED_RQ_BARRIER);
    maybe(&ld->seed, 4, &r, IOSCHED_RQ_SYNC);
    if (r.op == IOSCHED_WRITE || r.op == IOSCHED_ZEROES) {
        maybe(&ld->seed, 9, &r, IOSCHED_RQ_PREFLUSH);
        maybe(&ld->seed, 9, &r, IOSCHED_RQ_FUA);
    }
    r.stream = ld->stream[rnd(&ld->seed, LOAD_STREAMS)];
    return r;
}

static inline void load_time(struct load *ld)
{
    iosched_dur d = rnd(&ld->seed, 1000);

    d <<= rnd(&ld->seed, 14);
    if (rnd(&ld->seed, 50) == 0 && d > 0 && d <= ld->now)
        ld->now -= d;
    else
        ld->now += d;
}

/** One of those in flight leaves it. */
static inline void load_land(struct load *ld, unsigned how)
{
    unsigned k = rnd(&ld->seed, ld->nfly);
    struct iosched_req *r = ld->fly[k];
    int status = rnd(&ld->seed, 20) == 0 ? -5 : 0;

    ld->fly[k] = ld->fly[--ld->nfly];
    if (how < 8) {
        ck_assert_int_eq(iosched_requeue(ld->s, r, ld->now), 0);
    } else if (how < 14) {
        ck_assert_int_eq(iosched_queue_full(ld->s, r, ld->now), 0);
    } else if (how < 16 && ld->nlost < LOAD_FLIGHT) {
        ck_assert_int_eq(iosched_abort(ld->s, r, ld->now), 0);
        ld->lost[ld->nlost++] = r->tag;
    } else if (how < 50 && ld->inbox) {
        ck_assert_int_ge(iosched_post_complete(ld->s, iosched_cookie(r),
                                               status, ld->now), 0);
    } else {
        ck_assert_int_ge(iosched_complete(ld->s, r, status, ld->now), 0);
    }
}

static inline void load_control(struct load *ld, unsigned what)
{
    unsigned n = 0;
    struct iosched_stream **st = &ld->stream[rnd(&ld->seed, LOAD_STREAMS)];

    while (all_policies[n] != NULL)
        n++;
    switch (what) {
    case 0:
        if (ld->can_switch)
            ck_assert_int_eq(iosched_switch(
                ld->s, all_policies[rnd(&ld->seed, n)]->name, ld->now), 0);
        return;
    case 1:
        if (*st != NULL) {
            ck_assert_int_eq(iosched_stream_close(*st, ld->now), 0);
            *st = NULL;
        } else {
            int err = iosched_stream_open(ld->s, NULL, st, ld->now);

            ck_assert(err == IOSCHED_OK || err == IOSCHED_ERR_NOSPC);
        }
        return;
    case 2:
        if (ld->nlost > 0)
            ck_assert_int_eq(iosched_tag_release(
                ld->s, ld->lost[--ld->nlost], ld->now), 0);
        return;
    case 3:
        if (!ld->frozen && rnd(&ld->seed, 4) > 0)
            return;                     /* mostly it runs */
        ck_assert_int_eq(ld->frozen ? iosched_thaw(ld->s, ld->now)
                                    : iosched_freeze(ld->s, ld->now), 0);
        ld->frozen = !ld->frozen;
        return;
    case 4:
        ck_assert_int_eq(iosched_tunable_set(ld->s, "nomerges",
                                             rnd(&ld->seed, 4) ? 0 : 2,
                                             ld->now), 0);
        return;
    case 5:
        ck_assert_int_eq(iosched_set_depth(ld->s, 1 + rnd(&ld->seed,
                                                          ld->depth),
                                           ld->now), 0);
        return;
    default:
        return;
    }
}

static inline void load_reap(struct load *ld)
{
    struct iosched_req *r;

    ck_assert_int_ge(iosched_intake(ld->s, ld->now), 0);
    while (iosched_reap(ld->s, &r) == IOSCHED_GOT)
        ck_assert_int_eq(r->state, IOSCHED_STATE_IDLE);
}

/** One random call, of which the scheduler allows. */
static inline void load_step(struct load *ld)
{
    struct iosched_req *r = &ld->rq[rnd(&ld->seed, LOAD_RQS)];
    unsigned what = rnd(&ld->seed, 1000);

    load_time(ld);
    if (what < 350) {
        if (r->state != IOSCHED_STATE_IDLE)
            return;
        *r = load_request(ld);
        if (ld->inbox && what < 80) {
            if (what < 5)
                r->nblk = 0;            /* most of these are refused */
            ck_assert_int_ge(iosched_post(ld->s, r, ld->now), 0);
        } else {
            insert_ok(ld->s, r, ld->now);
        }
    } else if (what < 650) {
        if (ld->nfly < LOAD_FLIGHT && (r = next(ld->s, ld->now)) != NULL)
            ld->fly[ld->nfly++] = r;
    } else if (what < 690) {
        if (r->state == IOSCHED_STATE_QUEUED)
            ck_assert_int_eq(iosched_cancel(ld->s, r, ld->now), 0);
    } else if (what < 750) {
        ck_assert_int_ge(iosched_expire(ld->s, ld->now), 0);
        if (ld->nlost > 1)
            load_control(ld, 2);
    } else if (what < 760) {
        load_control(ld, rnd(&ld->seed, 6));
    } else if (what < 850) {
        if (ld->inbox)
            load_reap(ld);
    } else if (ld->nfly > 0) {
        load_land(ld, what - 850);
    }
}

/** Finish everything; s is empty then. */
static inline void load_end(struct load *ld)
{
    if (ld->frozen)
        ck_assert_int_eq(iosched_thaw(ld->s, ld->now), 0);
    if (ld->inbox)
        load_reap(ld);
    while (ld->nfly > 0)
        ck_assert_int_ge(iosched_complete(ld->s, ld->fly[--ld->nfly], 0,
                                          ld->now), 0);
    while (ld->nlost > 0)
        ck_assert_int_eq(iosched_tag_release(ld->s, ld->lost[--ld->nlost],
                                             ld->now), 0);
    drain(ld->s, ld->now);
    if (ld->inbox)
        load_reap(ld);
}

#endif
