/* SPDX-License-Identifier: BSD-2-Clause */
/* inbox.c - posts and their intake, as one thread sees it: order, refusals,
 * late and double completions, and from when the age counts. */
#include "api.h"

#define N 16u
static struct iosched_req rq[N];

static struct iosched *start_deep(uint32_t depth)
{
    struct iosched_cfg cfg = config();

    memset(rq, 0, sizeof rq);
    cfg.depth = depth;
    return start(&cfg);
}

static struct iosched_req *reaped(struct iosched *s)
{
    struct iosched_req *r = (void *)s;
    int a = iosched_reap(s, &r);

    ck_assert(a == IOSCHED_GOT || a == IOSCHED_EMPTY);
    ck_assert_int_eq(a == IOSCHED_GOT, r != NULL);
    return r;
}

/* --- Requests ------------------------------------------------------------- */
START_TEST(what_is_posted_has_no_effect_before_intake)
{
    struct iosched *s = start_deep(1);

    ck_assert_int_eq(iosched_inbox_pending(s), 0);
    rq[0] = READ(0, 8);
    ck_assert_int_eq(iosched_post(s, &rq[0], 5), 1);
    ck_assert_int_eq(rq[0].state, IOSCHED_STATE_POSTED);
    ck_assert_int_eq(iosched_inbox_pending(s), 1);
    ck_assert_uint_eq(iosched_queued(s), 0);
    ck_assert_int_eq(answer(s, 5), IOSCHED_EMPTY);
    ck_assert_int_eq(iosched_intake(s, 6), 1);
    ck_assert_int_eq(iosched_inbox_pending(s), 0);
    ck_assert_uint_eq(iosched_queued(s), 1);
    ck_assert_ptr_eq(next(s, 6), &rq[0]);
    complete_ok(s, &rq[0], 6);
    ck_assert_int_eq(iosched_intake(s, 7), 0);
    stop(s, 7);
}
END_TEST

START_TEST(only_the_first_post_since_an_intake_asks_for_a_wake)
{
    struct iosched *s = start_deep(4);
    unsigned i;

    for (i = 0; i < 4; i++) {
        rq[i] = READ(100 * i, 8);
        ck_assert_int_eq(iosched_post(s, &rq[i], 0), i == 0);
    }
    ck_assert_int_eq(iosched_intake(s, 0), 4);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_post_complete(s, iosched_cookie(&rq[0]), 0, 0), 1);
    rq[4] = READ(0, 8);
    ck_assert_int_eq(iosched_post(s, &rq[4], 0), 0);
    ck_assert_int_eq(iosched_intake(s, 0), 2);
    ck_assert_ptr_eq(reaped(s), &rq[0]);
    stop(s, 0);
}
END_TEST

START_TEST(posts_of_one_poster_are_taken_in_in_order)
{
    struct iosched *s = start_deep(1);
    unsigned i;

    for (i = 0; i < N; i++) {
        rq[i] = READ(1000 - 20 * i, 8);
        ck_assert_int_ge(iosched_post(s, &rq[i], i), 0);
    }
    ck_assert_int_eq(iosched_intake(s, N), N);
    for (i = 0; i < N; i++) {
        ck_assert_ptr_eq(next(s, N), &rq[i]);
        complete_ok(s, &rq[i], N);
    }
    stop(s, N);
}
END_TEST

START_TEST(age_counts_from_the_post_but_not_from_before_an_earlier_call)
{
    struct iosched *s = start_deep(1);

    rq[0] = READ(0, 8);
    rq[1] = READ(100, 8);
    rq[2] = READ(200, 8);
    ck_assert_int_ge(iosched_post(s, &rq[0], 100), 0);
    ck_assert_int_eq(iosched_expire(s, 400), 0);
    ck_assert_int_ge(iosched_post(s, &rq[1], 500), 0);
    ck_assert_int_ge(iosched_post(s, &rq[2], 450), 0);
    ck_assert_int_eq(iosched_intake(s, 1000), 3);
    ck_assert_uint_eq(rq[0].t_insert, 400);
    ck_assert_uint_eq(rq[1].t_insert, 500);
    ck_assert_uint_eq(rq[2].t_insert, 450);     /* its own, not before 400 */
    ck_assert_ptr_eq(next(s, 1000), &rq[0]);
    ck_assert_uint_eq(rq[0].t_dispatch, 1000);
    complete_ok(s, &rq[0], 1000);
    stop(s, 1000);
}
END_TEST

START_TEST(what_insert_would_refuse_comes_back_from_reap_with_its_status)
{
    struct iosched *s = start_deep(1), *t = start_deep(1);
    struct iosched_stream *mine, *foreign;
    static const int status[] = {
        IOSCHED_ERR_INVAL, IOSCHED_ERR_NOTSUP, IOSCHED_ERR_NOTSUP,
        IOSCHED_ERR_RANGE, IOSCHED_ERR_INVAL, IOSCHED_ERR_INVAL,
        IOSCHED_ERR_STATE
    };
    unsigned i;

    ck_assert_int_eq(iosched_stream_open(s, NULL, &mine, 0), 0);
    ck_assert_int_eq(iosched_stream_open(t, NULL, &foreign, 0), 0);
    rq[0] = READ(0, 0);
    rq[1] = request(6, 0, 8, 0);
    rq[2] = request(IOSCHED_READ, 0, 8, 0x8000);
    rq[3] = READ(0, 8);
    rq[3].ioprio = IOSCHED_PRIO(IOSCHED_PRIO_RT, 8);
    rq[4] = request(IOSCHED_READ, 0, 8, IOSCHED_RQ_FUA);
    rq[5] = READ(0, 8);
    rq[5].stream = foreign;
    rq[6] = READ(0, 8);
    rq[6].stream = mine;
    rq[7] = READ(0, 8);                 /* this one is right */
    for (i = 0; i < 8; i++)
        ck_assert_int_ge(iosched_post(s, &rq[i], 0), 0);
    ck_assert_int_eq(iosched_stream_close(mine, 0), 0);
    ck_assert_int_eq(iosched_intake(s, 0), 8);
    ck_assert_uint_eq(iosched_queued(s), 1);
    ck_assert_int_eq(rq[0].state, IOSCHED_STATE_DONE);
    for (i = 0; i < 7; i++) {
        ck_assert_ptr_eq(reaped(s), &rq[i]);
        ck_assert_int_eq(rq[i].status, status[i]);
        ck_assert_int_eq(rq[i].state, IOSCHED_STATE_IDLE);
        ck_assert_ptr_eq(rq[i].first_member, &rq[i]);
        ck_assert_ptr_null(rq[i].next_member);
    }
    ck_assert_ptr_null(reaped(s));
    ck_assert_uint_eq(stats_of(s).refused, 7);
    rq[0] = READ(0, 8);                 /* and may go again */
    insert_ok(s, &rq[0], 0);
    stop(s, 0);
    stop(t, 0);
}
END_TEST

START_TEST(a_post_of_what_is_not_idle_is_refused_at_once)
{
    struct iosched *s = start_deep(1);

    rq[0] = READ(0, 8);
    ck_assert_int_ge(iosched_post(s, &rq[0], 0), 0);
    ck_assert_int_eq(iosched_post(s, &rq[0], 0), IOSCHED_ERR_BUSY);
    ck_assert_int_eq(iosched_insert(s, &rq[0], 0), IOSCHED_ERR_BUSY);
    ck_assert_int_eq(iosched_complete(s, &rq[0], 0, 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_destroy(s), IOSCHED_ERR_BUSY);
    ck_assert_int_eq(iosched_intake(s, 0), 1);
    ck_assert_int_eq(iosched_post(s, &rq[0], 0), IOSCHED_ERR_BUSY);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_post(s, &rq[0], 0), IOSCHED_ERR_BUSY);
    complete_ok(s, &rq[0], 0);
    stop(s, 0);
}
END_TEST

/* --- Completions ---------------------------------------------------------- */
START_TEST(completions_are_taken_in_before_requests)
{
    struct iosched *s = start_deep(1);

    rq[0] = request(IOSCHED_WRITE, 0, 8, IOSCHED_RQ_BARRIER);
    rq[1] = READ(8, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_ge(iosched_post(s, &rq[1], 1), 0);
    ck_assert_int_ge(iosched_post_complete(s, iosched_cookie(&rq[0]), 0, 2), 0);
    ck_assert_int_eq(iosched_intake(s, 3), 2);
    ck_assert_uint_eq(rq[1].t_insert, 1);       /* its own all the same */
    ck_assert_ptr_eq(next(s, 3), &rq[1]);
    ck_assert_ptr_eq(reaped(s), &rq[0]);
    complete_ok(s, &rq[1], 3);
    stop(s, 3);
}
END_TEST

START_TEST(finished_carriers_are_reaped_in_order_of_finishing_with_members)
{
    struct iosched *s = start_deep(4);
    static const unsigned order[] = { 2, 0, 3 };
    unsigned i;

    for (i = 0; i < 4; i++) {
        rq[i] = READ(i == 1 ? 8 : 100 * i, 8);  /* 1 rides on 0 */
        insert_ok(s, &rq[i], 0);
    }
    for (i = 0; i < 3; i++)
        ck_assert_ptr_nonnull(next(s, 0));
    for (i = 0; i < 3; i++)
        ck_assert_int_ge(iosched_post_complete(s, iosched_cookie(
                             &rq[order[i]]), -(int)i, 5), 0);
    ck_assert_uint_eq(iosched_inflight(s), 3);
    ck_assert_int_eq(iosched_intake(s, 9), 3);
    ck_assert_uint_eq(iosched_inflight(s), 0);
    ck_assert_int_eq(rq[1].state, IOSCHED_STATE_DONE);
    ck_assert_int_eq(iosched_insert(s, &rq[1], 9), IOSCHED_ERR_BUSY);
    ck_assert_int_eq(iosched_destroy(s), IOSCHED_ERR_BUSY);
    for (i = 0; i < 3; i++) {
        struct iosched_req *r = reaped(s);

        ck_assert_ptr_eq(r, &rq[order[i]]);
        ck_assert_int_eq(r->status, -(int)i);
        ck_assert_int_eq(r->state, IOSCHED_STATE_IDLE);
    }
    ck_assert_ptr_eq(rq[0].first_member, &rq[0]);
    ck_assert_ptr_eq(rq[0].next_member, &rq[1]);
    ck_assert_int_eq(rq[1].state, IOSCHED_STATE_IDLE);
    ck_assert_int_eq(rq[1].status, -1);
    ck_assert_ptr_null(reaped(s));
    stop(s, 9);
}
END_TEST

START_TEST(a_completion_happened_when_it_was_posted)
{
    struct iosched *s = start_deep(1);

    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], 1000);
    ck_assert_ptr_eq(next(s, 2000), &rq[0]);
    ck_assert_int_ge(iosched_post_complete(s, iosched_cookie(&rq[0]), 0, 5000),
                     0);
    ck_assert_int_eq(iosched_intake(s, 90000), 1);
    ck_assert_uint_eq(stats_of(s).service_sum, 3000);
    ck_assert_uint_eq(stats_of(s).busy, 3000);
    ck_assert_ptr_eq(reaped(s), &rq[0]);
    stop(s, 90000);
}
END_TEST

START_TEST(one_that_needs_another_phase_shows_up_after_its_last)
{
    struct iosched *s = start_deep(1);
    unsigned i;

    rq[0] = request(IOSCHED_WRITE, 0, 8, IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA);
    insert_ok(s, &rq[0], 0);
    for (i = 0; i < 3; i++) {
        ck_assert_ptr_null(reaped(s));
        ck_assert_ptr_eq(next(s, 0), &rq[0]);
        ck_assert_int_eq(rq[0].phase, i == 0   ? IOSCHED_PHASE_PREFLUSH
                                      : i == 1 ? IOSCHED_PHASE_DATA
                                               : IOSCHED_PHASE_POSTFLUSH);
        ck_assert_int_ge(iosched_post_complete(s, iosched_cookie(&rq[0]), 0,
                                               0), 0);
        ck_assert_int_eq(iosched_intake(s, 0), 1);
    }
    ck_assert_ptr_eq(reaped(s), &rq[0]);
    stop(s, 0);
}
END_TEST

START_TEST(a_failed_phase_that_was_posted_ends_it)
{
    struct iosched *s = start_deep(1);

    rq[0] = request(IOSCHED_WRITE, 0, 8, IOSCHED_RQ_PREFLUSH);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_ge(iosched_post_complete(s, iosched_cookie(&rq[0]), -5, 0),
                     0);
    ck_assert_int_eq(iosched_intake(s, 0), 1);
    ck_assert_ptr_eq(reaped(s), &rq[0]);
    ck_assert_int_eq(rq[0].status, -5);
    stop(s, 0);
}
END_TEST

START_TEST(posting_a_completion_twice_is_harmless)
{
    struct iosched *s = start_deep(2);
    uint64_t cookie;

    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    cookie = iosched_cookie(&rq[0]);
    ck_assert_int_ge(iosched_post_complete(s, cookie, 0, 0), 0);
    ck_assert_int_eq(iosched_post_complete(s, cookie, -5, 0),
                     IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_complete(s, &rq[0], -5, 0), IOSCHED_ERR_STATE);
    ck_assert_int_ge(iosched_intake(s, 0), 1);
    ck_assert_ptr_eq(reaped(s), &rq[0]);
    ck_assert_int_eq(rq[0].status, 0);
    ck_assert_ptr_null(reaped(s));
    ck_assert_uint_eq(stats_of(s).completed[IOSCHED_READ], 1);
    ck_assert_int_eq(iosched_post_complete(s, cookie, 0, 0),
                     IOSCHED_ERR_STATE);
    stop(s, 0);
}
END_TEST

START_TEST(a_cookie_that_is_nobodys_is_refused)
{
    struct iosched *s = start_deep(2);

    ck_assert_int_eq(iosched_post_complete(s, 0, 0, 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_post_complete(s, UINT64_MAX, 0, 0),
                     IOSCHED_ERR_STATE);
    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_post_complete(s, iosched_cookie(&rq[0]) ^ 1, 0, 0),
                     IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_post_complete(
                         s, iosched_cookie(&rq[0]) + (UINT64_C(1) << 32), 0, 0),
                     IOSCHED_ERR_STATE);
    complete_ok(s, &rq[0], 0);
    stop(s, 0);
}
END_TEST

/** However it left flight, a completion that comes later touches nothing. */
START_TEST(a_late_completion_is_refused_and_touches_no_request)
{
    struct iosched *s = start_deep(2);
    struct iosched_req before;
    uint64_t cookie;

    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    cookie = iosched_cookie(&rq[0]);
    if (_i == 0)
        ck_assert_int_eq(iosched_abort(s, &rq[0], 0), 0);
    else if (_i == 1)
        ck_assert_int_eq(iosched_requeue(s, &rq[0], 0), 0);
    else
        complete_ok(s, &rq[0], 0);
    before = rq[0];
    ck_assert_int_eq(iosched_post_complete(s, cookie, -5, 0),
                     IOSCHED_ERR_STATE);
    (void)iosched_intake(s, 0);
    ck_assert_ptr_null(reaped(s));
    ck_assert_int_eq(memcmp(&before, &rq[0], sizeof before), 0);
    if (_i == 0)
        ck_assert_int_eq(iosched_tag_release(s, rq[0].tag, 0), 0);
    stop(s, 0);
}
END_TEST

START_TEST(a_late_completion_after_abort_is_counted_at_intake)
{
    struct iosched *s = start_deep(2);
    uint64_t cookie;

    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    cookie = iosched_cookie(&rq[0]);
    ck_assert_int_eq(iosched_abort(s, &rq[0], 0), 0);
    (void)iosched_post_complete(s, cookie, 0, 0);
    (void)iosched_intake(s, 0);
    ck_assert_uint_eq(stats_of(s).late, 1);
    (void)iosched_post_complete(s, cookie, 0, 0);
    (void)iosched_post_complete(s, cookie, 0, 0);
    ck_assert_uint_eq(stats_of(s).late, 1);     /* not before intake */
    (void)iosched_intake(s, 0);
    ck_assert_uint_eq(stats_of(s).late, 3);
    ck_assert_int_eq(iosched_tag_release(s, rq[0].tag, 0), 0);
    stop(s, 0);
}
END_TEST

START_TEST(what_was_posted_as_complete_cannot_be_taken_back)
{
    struct iosched *s = start_deep(2);

    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_ge(iosched_post_complete(s, iosched_cookie(&rq[0]), 0, 0), 0);
    ck_assert_int_eq(iosched_requeue(s, &rq[0], 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_queue_full(s, &rq[0], 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_abort(s, &rq[0], 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_intake(s, 0), 1);
    ck_assert_ptr_eq(reaped(s), &rq[0]);
    stop(s, 0);
}
END_TEST

/* --- Any mix -------------------------------------------------------------- */
START_TEST(whatever_is_posted_everyone_comes_back_once)
{
    struct iosched *s = start_deep(4);
    struct iosched_req *r;
    unsigned step, got[N] = { 0 }, put[N] = { 0 }, i;
    uint64_t seed = 6;

    for (step = 0; step < 40000; step++) {
        r = &rq[rnd(&seed, N)];
        i = (unsigned)(r - rq);
        switch (rnd(&seed, 5)) {
        case 0:
            if (r->state != IOSCHED_STATE_IDLE)
                break;
            *r = random_request(&seed, 1, 40, 8, 1);
            if (rnd(&seed, 9) == 0)
                r->nblk = 0;            /* it is refused */
            put[i]++;
            ck_assert_int_ge(iosched_post(s, r, step), 0);
            break;
        case 1:
            (void)next(s, step);
            break;
        case 2:
            if (r->state == IOSCHED_STATE_INFLIGHT)
                (void)iosched_post_complete(s, iosched_cookie(r), 0, step);
            break;
        case 3:
            ck_assert_int_ge(iosched_intake(s, step), 0);
            break;
        default:
            if ((r = reaped(s)) != NULL)
                for (r = r->first_member; r != NULL; r = r->next_member) {
                    got[r - rq]++;
                    ck_assert_int_eq(r->state, IOSCHED_STATE_IDLE);
                }
            break;
        }
    }
    for (i = 0; i < N; i++) {
        ck_assert_uint_gt(put[i], 100);
        ck_assert_uint_eq(got[i] + (rq[i].state != IOSCHED_STATE_IDLE),
                          put[i]);
    }
    for (i = 0; i < N; i++)
        if (rq[i].state == IOSCHED_STATE_INFLIGHT)
            (void)iosched_post_complete(s, iosched_cookie(&rq[i]), 0, step);
    ck_assert_int_ge(iosched_intake(s, step), 0);
    drain(s, step);
    while (reaped(s) != NULL)
        ;
    stop(s, step);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("inbox");
    struct iosched_req probe;
    int err;

    memset(&probe, 0, sizeof probe);
    err = iosched_post(NULL, &probe, 0);
    if (err == IOSCHED_ERR_NOTSUP) {
        printf("skipped: this build has no atomics, so no inbox\n");
        return 77;
    }
    tcase_add_test(tc, what_is_posted_has_no_effect_before_intake);
    tcase_add_test(tc, only_the_first_post_since_an_intake_asks_for_a_wake);
    tcase_add_test(tc, posts_of_one_poster_are_taken_in_in_order);
    tcase_add_test(tc,
        age_counts_from_the_post_but_not_from_before_an_earlier_call);
    tcase_add_test(tc,
        what_insert_would_refuse_comes_back_from_reap_with_its_status);
    tcase_add_test(tc, a_post_of_what_is_not_idle_is_refused_at_once);
    tcase_add_test(tc, completions_are_taken_in_before_requests);
    tcase_add_test(tc,
        finished_carriers_are_reaped_in_order_of_finishing_with_members);
    tcase_add_test(tc, a_completion_happened_when_it_was_posted);
    tcase_add_test(tc, one_that_needs_another_phase_shows_up_after_its_last);
    tcase_add_test(tc, a_failed_phase_that_was_posted_ends_it);
    tcase_add_test(tc, posting_a_completion_twice_is_harmless);
    tcase_add_test(tc, a_cookie_that_is_nobodys_is_refused);
    tcase_add_loop_test(tc, a_late_completion_is_refused_and_touches_no_request,
                        0, 3);
    tcase_add_test(tc, a_late_completion_after_abort_is_counted_at_intake);
    tcase_add_test(tc, what_was_posted_as_complete_cannot_be_taken_back);
    tcase_add_test(tc, whatever_is_posted_everyone_comes_back_once);
    return run_case(tc, "inbox");
}
