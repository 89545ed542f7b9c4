/* SPDX-License-Identifier: BSD-2-Clause */
/* misuse.h - a scheduler with a request in every state there is, another one,
 * and the check that a refused call has changed nothing: the dump, the
 * counters, the tunables and the requests are what they were.
 */
#ifndef MISUSE_H
#define MISUSE_H
#include "api.h"

#define NOW 50u
#define NEVER IOSCHED_NEVER

enum {                                  /* requests by the state they are in */
    IDLE, QUEUED, ABSORBED, FLYING, RIDING, GIVEN_BACK, BEHIND, ABORTED,
    POSTED, DONE, FRESH, NRQ
};

static struct iosched *s, *t;           /* t is another scheduler         */
static struct iosched_req rq[NRQ], foreign[2];
static struct iosched_stream *mine, *dead, *others;
static struct iosched_group *group, *dead_group, *others_group;
static struct iosched_req rq_before[NRQ], foreign_before[2];
static struct picture s_before, t_before;
static int inbox;

/** A scheduler with a request in every state there is. */
static inline void setup(void)
{
    struct iosched_cfg cfg = config();

    memset(rq, 0, sizeof rq);
    memset(foreign, 0, sizeof foreign);
    cfg.depth = 4;
    cfg.max_streams = 4;
    cfg.max_groups = 4;
    cfg.capacity_nblk = 10000;
    s = start(&cfg);
    t = start(&cfg);
    inbox = iosched_inbox_pending(s) != IOSCHED_ERR_NOTSUP;
    ck_assert_int_eq(iosched_stream_open(s, NULL, &mine, 0), 0);
    ck_assert_int_eq(iosched_stream_open(s, NULL, &dead, 0), 0);
    ck_assert_int_eq(iosched_stream_open(t, NULL, &others, 0), 0);
    ck_assert_int_eq(iosched_group_open(s, NULL, &group, 0), 0);
    ck_assert_int_eq(iosched_group_open(s, NULL, &dead_group, 0), 0);
    ck_assert_int_eq(iosched_group_open(t, NULL, &others_group, 0), 0);
    ck_assert_int_eq(iosched_stream_close(dead, 0), 0);
    ck_assert_int_eq(iosched_group_close(dead_group, 0), 0);
    rq[ABORTED] = READ(700, 8);
    insert_ok(s, &rq[ABORTED], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[ABORTED]);
    ck_assert_int_eq(iosched_abort(s, &rq[ABORTED], 0), 0);
    if (inbox) {
        rq[DONE] = READ(800, 8);
        insert_ok(s, &rq[DONE], 0);
        ck_assert_ptr_eq(next(s, 0), &rq[DONE]);
        ck_assert_int_ge(iosched_post_complete(s, iosched_cookie(&rq[DONE]), 0,
                                               0), 0);
        ck_assert_int_ge(iosched_intake(s, 0), 0);
    }
    rq[FLYING] = READ(0, 8);
    rq[RIDING] = READ(8, 8);
    insert_ok(s, &rq[FLYING], 0);
    insert_ok(s, &rq[RIDING], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[FLYING]);
    rq[GIVEN_BACK] = READ(200, 8);
    insert_ok(s, &rq[GIVEN_BACK], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[GIVEN_BACK]);
    ck_assert_int_eq(iosched_requeue(s, &rq[GIVEN_BACK], 0), 0);
    rq[QUEUED] = WRITE(300, 8);
    rq[ABSORBED] = WRITE(308, 8);
    rq[BEHIND] = request(IOSCHED_READ, 500, 8, IOSCHED_RQ_BARRIER);
    insert_ok(s, &rq[QUEUED], 0);
    insert_ok(s, &rq[ABSORBED], 0);
    insert_ok(s, &rq[BEHIND], 0);
    ck_assert_int_eq(iosched_expire(s, NOW), 0);
    if (inbox) {
        rq[POSTED] = READ(900, 8);
        ck_assert_int_ge(iosched_post(s, &rq[POSTED], 0), 0);
    }
    foreign[0] = READ(0, 8);
    foreign[1] = READ(100, 8);
    insert_ok(t, &foreign[0], 0);
    insert_ok(t, &foreign[1], NOW);
    ck_assert_ptr_eq(next(t, NOW), &foreign[0]);
    rq[IDLE] = READ(0, 8);
    rq[FRESH] = READ(600, 8);
}

static inline void remember(void)
{
    memcpy(rq_before, rq, sizeof rq);
    memcpy(foreign_before, foreign, sizeof foreign);
    look(s, &s_before, NOW);
    look(t, &t_before, NOW);
}

static inline void refused(int got, int want, const char *call)
{
    ck_assert_msg(got == want, "%s is %d, not %d", call, got, want);
    ck_assert_msg(memcmp(rq_before, rq, sizeof rq) == 0 &&
                  memcmp(foreign_before, foreign, sizeof foreign) == 0,
                  "%s wrote to a request", call);
    same(s, &s_before, NOW);
    same(t, &t_before, NOW);
}
#define REFUSED(err, call) refused((call), IOSCHED_ERR_##err, #call)

static inline void teardown(void)
{
    struct iosched_req *r;

    if (inbox) {
        ck_assert_int_ge(iosched_intake(s, NOW), 0);
        while (iosched_reap(s, &r) == IOSCHED_GOT)
            ;
    }
    complete_ok(s, &rq[FLYING], NOW);
    complete_ok(t, &foreign[0], NOW);
    ck_assert_int_eq(iosched_tag_release(s, rq[ABORTED].tag, NOW), 0);
    stop(s, NOW);
    stop(t, NOW);
}

#endif
