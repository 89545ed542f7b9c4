/* SPDX-License-Identifier: BSD-2-Clause */
/* depth.c - how many may be in flight, a device that says no, and that a free
 * slot never stays unused with work queued. */
#include "api.h"

#define N 32u
#define MS(n) IOSCHED_MSEC(n)
static struct iosched_req rq[N];

static struct iosched *start_deep(uint32_t depth)
{
    struct iosched_cfg cfg = config();
    struct iosched *s;
    unsigned i;

    cfg.depth = depth;
    s = start(&cfg);
    for (i = 0; i < N; i++) {
        rq[i] = READ(100 * i, 8);
        insert_ok(s, &rq[i], i);
    }
    return s;
}

/** Dispatch until it stops, which has to be after n with FULL. */
static void fill(struct iosched *s, struct iosched_req **fly, unsigned n,
                 iosched_time now)
{
    unsigned i;

    for (i = 0; i < n; i++) {
        fly[i] = next(s, now);
        ck_assert_ptr_nonnull(fly[i]);
    }
    ck_assert_int_eq(answer(s, now), IOSCHED_FULL);
}

/* --- Limits --------------------------------------------------------------- */
START_TEST(not_more_than_depth_are_in_flight_and_a_freed_slot_is_used_at_once)
{
    struct iosched *s = start_deep(5);
    struct iosched_req *fly[5];
    unsigned i;

    ck_assert_uint_eq(iosched_depth(s), 5);
    fill(s, fly, 5, 40);
    ck_assert_uint_eq(iosched_inflight(s), 5);
    for (i = 5; i < N; i++) {
        complete_ok(s, fly[i % 5], 40);
        fly[i % 5] = next(s, 40);
        ck_assert_ptr_eq(fly[i % 5], &rq[i]);
        ck_assert_int_eq(answer(s, 40), i < N - 1 ? IOSCHED_FULL
                                                  : IOSCHED_EMPTY);
    }
    for (i = 0; i < 5; i++)
        complete_ok(s, fly[i], 40);
    stop(s, 40);
}
END_TEST

START_TEST(the_default_depth_is_1)
{
    struct iosched *s = start_deep(0);
    struct iosched_req *fly[1];

    ck_assert_uint_eq(iosched_depth(s), 1);
    fill(s, fly, 1, 40);
    complete_ok(s, fly[0], 40);
    stop(s, 40);
}
END_TEST

START_TEST(under_set_depth_a_freed_slot_is_used_at_once)
{
    struct iosched *s = start_deep(8);
    struct iosched_req *fly[8];
    unsigned i;

    ck_assert_int_eq(iosched_set_depth(s, 3, 40), IOSCHED_OK);
    ck_assert_uint_eq(iosched_depth(s), 3);
    fill(s, fly, 3, 40);
    complete_ok(s, fly[1], 40);
    fly[1] = next(s, 40);
    ck_assert_ptr_nonnull(fly[1]);
    ck_assert_int_eq(iosched_set_depth(s, 5, 40), IOSCHED_OK);
    fill(s, fly + 3, 2, 40);            /* raised: at once too */
    ck_assert_int_eq(iosched_set_depth(s, 2, 40), IOSCHED_OK);
    for (i = 0; i < 4; i++) {           /* below what is in flight */
        ck_assert_int_eq(answer(s, 40), IOSCHED_FULL);
        complete_ok(s, fly[i], 40);
    }
    fill(s, fly, 1, 40);
    complete_ok(s, fly[0], 40);
    complete_ok(s, fly[4], 40);
    stop(s, 40);
}
END_TEST

START_TEST(set_depth_refuses_0_and_more_than_cfg_depth)
{
    struct iosched *s = start_deep(8);

    ck_assert_int_eq(iosched_set_depth(s, 0, 40), IOSCHED_ERR_RANGE);
    ck_assert_int_eq(iosched_set_depth(s, 9, 40), IOSCHED_ERR_RANGE);
    ck_assert_uint_eq(iosched_depth(s), 8);
    ck_assert_int_eq(iosched_set_depth(s, 8, 40), IOSCHED_OK);
    stop(s, 40);
}
END_TEST

START_TEST(a_released_tag_is_used_at_once)
{
    struct iosched *s = start_deep(2);
    struct iosched_req *fly[2];

    fill(s, fly, 2, 40);
    ck_assert_int_eq(iosched_abort(s, fly[0], 40), IOSCHED_OK);
    ck_assert_int_eq(iosched_abort(s, fly[1], 40), IOSCHED_OK);
    ck_assert_int_eq(answer(s, 40), IOSCHED_FULL);
    ck_assert_int_eq(iosched_tag_release(s, fly[0]->tag, 40), IOSCHED_OK);
    ck_assert_int_eq(iosched_tag_release(s, fly[1]->tag, 40), IOSCHED_OK);
    fill(s, fly, 2, 40);
    complete_ok(s, fly[0], 40);
    complete_ok(s, fly[1], 40);
    stop(s, 40);
}
END_TEST

/* --- The device says no --------------------------------------------------- */
START_TEST(queue_full_takes_it_back_at_its_age_and_it_goes_out_next)
{
    struct iosched *s = start_deep(4);
    struct iosched_req *fly[4];

    fill(s, fly, 4, 40);
    ck_assert_int_eq(iosched_queue_full(s, fly[3], 41), IOSCHED_OK);
    ck_assert_int_eq(rq[3].state, IOSCHED_STATE_QUEUED);
    ck_assert_uint_eq(rq[3].t_insert, 3);
    ck_assert_uint_eq(stats_of(s).queue_full, 1);
    ck_assert_uint_eq(iosched_depth(s), 3);     /* what it did take */
    ck_assert_int_eq(answer(s, 41), IOSCHED_FULL);
    complete_ok(s, fly[0], 42);
    ck_assert_ptr_eq(next(s, 42), fly[3]);
    ck_assert_int_eq(answer(s, 42), IOSCHED_FULL);
    complete_ok(s, fly[1], 42);
    complete_ok(s, fly[2], 42);
    complete_ok(s, fly[3], 42);
    stop(s, 42);
}
END_TEST

START_TEST(the_rest_of_a_refused_batch_goes_out_in_the_order_of_dispatch)
{
    struct iosched *s = start_deep(5);
    struct iosched_req *fly[5];
    unsigned i;

    fill(s, fly, 5, 40);
    ck_assert_int_eq(iosched_queue_full(s, fly[2], 40), IOSCHED_OK);
    ck_assert_int_eq(iosched_requeue(s, fly[4], 40), IOSCHED_OK);
    ck_assert_int_eq(iosched_requeue(s, fly[3], 40), IOSCHED_OK);
    ck_assert_uint_eq(iosched_inflight(s), 2);
    for (i = 2; i < 5; i++) {
        complete_ok(s, fly[i - 2], 40);
        ck_assert_ptr_eq(next(s, 40), fly[i]);
    }
    complete_ok(s, fly[3], 40);
    complete_ok(s, fly[4], 40);
    stop(s, 40);
}
END_TEST

START_TEST(after_queue_full_a_freed_slot_is_used_at_once)
{
    unsigned took;

    for (took = 1; took < 6; took++) {
        struct iosched *s = start_deep(6);
        struct iosched_req *fly[6];
        unsigned i;

        fill(s, fly, 6, 40);
        for (i = 6; i-- > took;)        /* it takes fewer and fewer */
            ck_assert_int_eq(iosched_queue_full(s, fly[i], 41 + i),
                             IOSCHED_OK);
        ck_assert_uint_eq(iosched_depth(s), took);
        for (i = 0; i < 12; i++) {
            ck_assert_int_eq(answer(s, 60), IOSCHED_FULL);
            complete_ok(s, fly[i % took], 60);
            fly[i % took] = next(s, 60);
            ck_assert_ptr_nonnull(fly[i % took]);
        }
        for (i = 0; i < took; i++)
            complete_ok(s, fly[i], 60);
        stop(s, 60);
    }
}
END_TEST

START_TEST(after_a_quiet_while_the_depth_creeps_up_again_but_not_before)
{
    struct iosched *s = start_deep(4);
    struct iosched_req *fly[4];
    uint32_t depth, was = 2;
    iosched_time now = 40;
    unsigned i;

    fill(s, fly, 4, now);
    ck_assert_int_eq(iosched_queue_full(s, fly[3], now), IOSCHED_OK);
    ck_assert_int_eq(iosched_queue_full(s, fly[2], now + 1), IOSCHED_OK);
    ck_assert_uint_eq(iosched_depth(s), 2);
    now += 2;
    complete_ok(s, fly[0], now);
    complete_ok(s, fly[1], now);
    ck_assert_uint_eq(iosched_depth(s), 2);
    for (i = 0; i < 20; i++) {
        struct iosched_req *r = next(s, now);

        ck_assert_ptr_nonnull(r);
        now += MS(250);
        complete_ok(s, r, now);
        depth = iosched_depth(s);
        ck_assert_uint_ge(depth, was);
        ck_assert_uint_le(depth, was + 1);
        ck_assert_uint_le(depth, 4);
        was = depth;
    }
    ck_assert_uint_eq(was, 4);
    stop(s, now);
}
END_TEST

START_TEST(the_ramp_never_exceeds_what_set_depth_said)
{
    struct iosched *s = start_deep(8);
    struct iosched_req *fly[3];
    iosched_time now = 40;
    unsigned i;

    ck_assert_int_eq(iosched_set_depth(s, 3, now), IOSCHED_OK);
    fill(s, fly, 3, now);
    ck_assert_int_eq(iosched_queue_full(s, fly[2], now), IOSCHED_OK);
    complete_ok(s, fly[0], now);
    complete_ok(s, fly[1], now);
    for (i = 0; i < 20; i++) {
        struct iosched_req *r = next(s, now);

        now += IOSCHED_SEC(1);
        complete_ok(s, r, now);
        ck_assert_uint_le(iosched_depth(s), 3);
    }
    ck_assert_uint_eq(iosched_depth(s), 3);
    stop(s, now);
}
END_TEST

/* --- Retry ---------------------------------------------------------------- */
START_TEST(with_nothing_in_flight_a_timer_is_armed_1_ms_doubling_to_100_ms)
{
    static const unsigned wait[] = { 1, 2, 4, 8, 16, 32, 64, 100, 100, 100 };
    struct iosched *s = start_deep(2);
    iosched_time now = 40;
    unsigned i, round;

    for (round = 0; round < 2; round++) {
        for (i = 0; i < COUNT(wait); i++) {
            ck_assert_ptr_eq(next(s, now), &rq[round]);
            ck_assert_uint_eq(iosched_next_expiry(s), IOSCHED_NEVER);
            ck_assert_int_eq(iosched_queue_full(s, &rq[round], now),
                             IOSCHED_OK);
            ck_assert_int_eq(answer(s, now), IOSCHED_HOLD);
            ck_assert_uint_eq(iosched_next_expiry(s), now + MS(wait[i]));
            ck_assert_int_eq(iosched_expire(s, now), 0);    /* early */
            ck_assert_int_eq(answer(s, now + MS(wait[i]) - 1), IOSCHED_HOLD);
            now += MS(wait[i]);
            ck_assert_int_eq(iosched_expire(s, now), 1);
            ck_assert_uint_eq(iosched_depth(s), 1);
        }
        ck_assert_ptr_eq(next(s, now), &rq[round]);
        complete_ok(s, &rq[round], now);    /* it takes them: 1 ms again */
    }
    ck_assert_uint_eq(stats_of(s).timers, 2 * COUNT(wait));
    stop(s, now);
}
END_TEST

START_TEST(with_something_in_flight_no_timer_is_armed)
{
    struct iosched *s = start_deep(2);
    struct iosched_req *fly[2];

    fill(s, fly, 2, 40);
    ck_assert_int_eq(iosched_queue_full(s, fly[1], 40), IOSCHED_OK);
    ck_assert_uint_eq(iosched_next_expiry(s), IOSCHED_NEVER);
    complete_ok(s, fly[0], 41);
    ck_assert_ptr_eq(next(s, 41), fly[1]);
    complete_ok(s, fly[1], 41);
    stop(s, 41);
}
END_TEST

START_TEST(it_never_stands_still_when_the_last_one_in_flight_is_aborted)
{
    struct iosched *s = start_deep(2);
    struct iosched_req *fly[2];
    iosched_time now = 40;

    fill(s, fly, 2, now);
    ck_assert_int_eq(iosched_queue_full(s, fly[1], now), IOSCHED_OK);
    ck_assert_int_eq(iosched_abort(s, fly[0], now), IOSCHED_OK);
    if (iosched_next_expiry(s) != IOSCHED_NEVER) {
        now = iosched_next_expiry(s);
        ck_assert_int_ge(iosched_expire(s, now), 0);
    }
    ck_assert_ptr_eq(next(s, now), fly[1]);
    complete_ok(s, fly[1], now);
    ck_assert_int_eq(iosched_tag_release(s, fly[0]->tag, now), IOSCHED_OK);
    stop(s, now);
}
END_TEST

START_TEST(whatever_comes_an_answer_but_got_names_what_will_end_it)
{
    struct iosched *s = start_deep(4);
    struct iosched_req *fly[4], *r;
    int32_t lost[4];
    unsigned n = 0, nlost = 0, step, k;
    iosched_time now = 40;
    uint64_t seed = 9;

    for (step = 0; step < 30000; step++) {
        unsigned what = rnd(&seed, 100);

        now += rnd(&seed, 3) == 0 ? rnd(&seed, 5000000) : 0;
        r = &rq[rnd(&seed, N)];
        if (what < 20 && r->state == IOSCHED_STATE_IDLE) {
            *r = READ(100 * rnd(&seed, 50), 8);
            insert_ok(s, r, now);
        } else if (what < 60) {
            int a = iosched_dispatch(s, &r, 0, now);

            if (a == IOSCHED_GOT) {
                ck_assert_uint_lt(n, 4);
                fly[n++] = r;
            } else if (a == IOSCHED_HOLD) {
                ck_assert(iosched_next_expiry(s) != IOSCHED_NEVER || n > 0);
            } else if (a == IOSCHED_FULL) {
                ck_assert(iosched_next_expiry(s) != IOSCHED_NEVER || n > 0 ||
                          nlost > 0);
            } else {
                ck_assert_int_eq(a, IOSCHED_EMPTY);
                ck_assert_uint_eq(iosched_queued(s), 0);
            }
            ck_assert_uint_le(iosched_inflight(s), iosched_depth(s));
        } else if (what < 70) {
            ck_assert_int_ge(iosched_expire(s, now), 0);
        } else if (what < 71) {
            /* At or above what is in flight, so that the check above holds. */
            ck_assert_int_eq(iosched_set_depth(s, n > 1 ? n : 1 +
                                               rnd(&seed, 4), now), 0);
        } else if (what < 74 && nlost > 0) {
            ck_assert_int_eq(iosched_tag_release(s, lost[--nlost], now), 0);
        } else if (n > 0) {
            k = rnd(&seed, n);
            r = fly[k];
            fly[k] = fly[--n];
            if (what < 76) {
                ck_assert_int_eq(iosched_abort(s, r, now), IOSCHED_OK);
                lost[nlost++] = r->tag;
            } else if (what < 85) {
                ck_assert_int_eq(iosched_queue_full(s, r, now), IOSCHED_OK);
                ck_assert_uint_eq(iosched_depth(s) <= (n > 1 ? n : 1), 1);
            } else {
                complete_ok(s, r, now);
            }
        }
    }
    ck_assert_uint_gt(stats_of(s).timers, 20);
    while (n > 0)
        complete_ok(s, fly[--n], now);
    while (nlost > 0)
        ck_assert_int_eq(iosched_tag_release(s, lost[--nlost], now), 0);
    stop(s, now);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("depth");

    tcase_add_test(tc,
        not_more_than_depth_are_in_flight_and_a_freed_slot_is_used_at_once);
    tcase_add_test(tc, the_default_depth_is_1);
    tcase_add_test(tc, under_set_depth_a_freed_slot_is_used_at_once);
    tcase_add_test(tc, set_depth_refuses_0_and_more_than_cfg_depth);
    tcase_add_test(tc, a_released_tag_is_used_at_once);
    tcase_add_test(tc,
        queue_full_takes_it_back_at_its_age_and_it_goes_out_next);
    tcase_add_test(tc,
        the_rest_of_a_refused_batch_goes_out_in_the_order_of_dispatch);
    tcase_add_test(tc, after_queue_full_a_freed_slot_is_used_at_once);
    tcase_add_test(tc,
        after_a_quiet_while_the_depth_creeps_up_again_but_not_before);
    tcase_add_test(tc, the_ramp_never_exceeds_what_set_depth_said);
    tcase_add_test(tc,
        with_nothing_in_flight_a_timer_is_armed_1_ms_doubling_to_100_ms);
    tcase_add_test(tc, with_something_in_flight_no_timer_is_armed);
    tcase_add_test(tc,
        it_never_stands_still_when_the_last_one_in_flight_is_aborted);
    tcase_add_test(tc,
        whatever_comes_an_answer_but_got_names_what_will_end_it);
    return run_case(tc, "depth");
}
