/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.c - time that steps back, timers in the caller's clock, and a 64-bit
 * clock from a 32-bit counter. */
#include "api.h"

#define MS(n) IOSCHED_MSEC(n)
static struct iosched_req rq[8];

/* --- Steps back ----------------------------------------------------------- */
START_TEST(after_a_step_back_intervals_go_on)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start_at("line", &cfg, MS(100));

    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], MS(101));
    ck_assert_ptr_eq(next(s, MS(1)), &rq[0]);       /* 100 ms back */
    ck_assert_uint_eq(rq[0].t_dispatch - rq[0].t_insert, 0);
    complete_ok(s, &rq[0], MS(4));
    ck_assert_uint_eq(stats_of(s).wait_sum, 0);
    ck_assert_uint_eq(stats_of(s).service_sum, MS(3));
    ck_assert_uint_eq(stats_of(s).busy, MS(3));
    ck_assert_uint_eq(stats_of(s).clock_backwards, 1);
    stop(s, MS(4));
}
END_TEST

START_TEST(an_interval_with_a_step_in_it_is_the_sum_of_its_forward_parts)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);

    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], MS(10));
    ck_assert_int_eq(iosched_expire(s, MS(12)), 0);     /* + 2 */
    ck_assert_int_eq(iosched_expire(s, MS(5)), 0);      /* a step */
    ck_assert_int_eq(iosched_expire(s, MS(8)), 0);      /* + 3 */
    ck_assert_int_eq(iosched_expire(s, 0), 0);          /* a step */
    ck_assert_ptr_eq(next(s, MS(4)), &rq[0]);           /* + 4 */
    ck_assert_uint_eq(rq[0].t_dispatch - rq[0].t_insert, MS(9));
    ck_assert_uint_eq(stats_of(s).clock_backwards, 2);
    complete_ok(s, &rq[0], MS(4));
    stop(s, MS(4));
}
END_TEST

START_TEST(a_timer_keeps_its_distance_and_is_told_in_the_callers_clock)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start_at("line", &cfg, IOSCHED_SEC(50));
    iosched_time now = IOSCHED_SEC(50);

    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], now);
    ck_assert_ptr_eq(next(s, now), &rq[0]);
    ck_assert_int_eq(iosched_queue_full(s, &rq[0], now), IOSCHED_OK);
    ck_assert_uint_eq(iosched_next_expiry(s), now + MS(1));
    now = IOSCHED_SEC(7);                               /* 43 s back */
    ck_assert_int_eq(iosched_expire(s, now), 0);
    ck_assert_uint_eq(iosched_next_expiry(s), now + MS(1));
    ck_assert_int_eq(iosched_expire(s, now + MS(1) - 1), 0);
    ck_assert_int_eq(answer(s, now + MS(1) - 1), IOSCHED_HOLD);
    ck_assert_int_eq(iosched_expire(s, now + MS(1)), 1);
    ck_assert_ptr_eq(next(s, now + MS(1)), &rq[0]);
    complete_ok(s, &rq[0], now + MS(1));
    stop(s, now + MS(1));
}
END_TEST

START_TEST(a_step_forward_fires_what_is_due_and_a_huge_one_breaks_nothing)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);
    const iosched_time last = IOSCHED_NEVER - 1;

    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_queue_full(s, &rq[0], 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_expire(s, last), 1);
    ck_assert_ptr_eq(next(s, last), &rq[0]);
    complete_ok(s, &rq[0], 0);                  /* and all the way back */
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, last), &rq[0]);
    complete_ok(s, &rq[0], 5);
    ck_assert_uint_eq(stats_of(s).clock_backwards, 2);
    stop(s, 5);
}
END_TEST

static iosched_time told;
static unsigned steps_told;

static void watch(void *user, const struct iosched_event *ev)
{
    (void)user;
    ck_assert_uint_ge(ev->time, told);  /* core time never goes back */
    told = ev->time;
    steps_told += ev->action == IOSCHED_EV_CLOCK;
}

START_TEST(whatever_the_clock_does_core_time_is_the_sum_of_its_steps_forward)
{
    struct iosched_cfg cfg = config();
    struct iosched *s;
    iosched_time now = 1000000, core = 1000000;
    unsigned step, back = 0;
    uint64_t seed = 41;

    cfg.trace = watch;
    s = start_at("line", &cfg, now);
    for (step = 0; step < 20000; step++) {
        iosched_dur d = rnd(&seed, 2000000);

        if (rnd(&seed, 3) == 0 && d > 0 && now >= d) {
            now -= d;
            back++;
        } else {
            now += d;
            core += d;
        }
        rq[0] = READ(0, 8);
        insert_ok(s, &rq[0], now);
        ck_assert_uint_eq(rq[0].t_insert, core);
        ck_assert_int_eq(iosched_cancel(s, &rq[0], now), IOSCHED_OK);
    }
    ck_assert_uint_eq(stats_of(s).clock_backwards, back);
    ck_assert_uint_eq(steps_told, back);
    stop(s, now);
}
END_TEST

/* --- Tick counters -------------------------------------------------------- */
START_TEST(clock32_counts_ticks_from_where_it_was_zeroed)
{
    struct iosched_clock32 c = { 0, 0, 1000 };

    ck_assert_uint_eq(sizeof c, 16);
    ck_assert_uint_eq(iosched_clock32_extend(&c, 0), 0);
    ck_assert_uint_eq(iosched_clock32_extend(&c, 5), 5000);
    ck_assert_uint_eq(iosched_clock32_extend(&c, 5), 5000);
    ck_assert_uint_eq(iosched_clock32_extend(&c, UINT32_MAX),
                      (uint64_t)UINT32_MAX * 1000);
}
END_TEST

START_TEST(clock32_takes_a_smaller_value_for_a_wrap)
{
    struct iosched_clock32 c = { 0, 0, 7 };
    uint64_t ticks = 0, seed = 3;
    unsigned i;

    for (i = 0; i < 100000; i++) {
        ticks += 1 + rnd(&seed, 1000);
        if (rnd(&seed, 2))
            ticks += rnd(&seed, UINT32_MAX);
        /* Never a whole wrap between two readings: that is the promise. */
        ticks -= ticks - c.ticks_ > UINT32_MAX
                     ? ticks - c.ticks_ - UINT32_MAX : 0;
        ck_assert_uint_eq(iosched_clock32_extend(&c, (uint32_t)ticks),
                          ticks * 7);
    }
    ck_assert_uint_gt(ticks, UINT64_C(1000) << 32);
}
END_TEST

START_TEST(clock32_without_a_tick_or_a_struct_answers_never)
{
    struct iosched_clock32 c = { 0, 0, 0 };

    ck_assert_uint_eq(iosched_clock32_extend(&c, 5), IOSCHED_NEVER);
    ck_assert_uint_eq(iosched_clock32_extend(NULL, 5), IOSCHED_NEVER);
}
END_TEST

START_TEST(an_alarm_is_rounded_up_to_a_tick_and_wraps_with_the_counter)
{
    struct iosched_clock32 c = { 0, 0, 1000 };

    (void)iosched_clock32_extend(&c, 100);
    ck_assert_uint_eq(iosched_clock32_alarm(&c, 200000), 200);
    ck_assert_uint_eq(iosched_clock32_alarm(&c, 200001), 201);
    ck_assert_uint_eq(iosched_clock32_alarm(&c, 200999), 201);
    (void)iosched_clock32_extend(&c, 0xfffffff0u);
    ck_assert_uint_eq(iosched_clock32_alarm(&c, UINT64_C(0x100000010) * 1000),
                      0x10);
}
END_TEST

START_TEST(an_alarm_in_the_past_is_the_last_reading_plus_one_tick)
{
    struct iosched_clock32 c = { 0, 0, 1000 };

    (void)iosched_clock32_extend(&c, UINT32_MAX);
    ck_assert_uint_eq(iosched_clock32_alarm(&c, 0), 0);
    ck_assert_uint_eq(iosched_clock32_alarm(&c, (uint64_t)UINT32_MAX * 1000),
                      0);
    (void)iosched_clock32_extend(&c, 50);
    ck_assert_uint_eq(iosched_clock32_alarm(&c, 1), 51);
}
END_TEST

START_TEST(an_alarm_too_far_off_and_never_come_half_a_wrap_after_the_reading)
{
    struct iosched_clock32 c = { 0, 0, 1 };
    const uint32_t half = UINT32_C(1) << 31;

    (void)iosched_clock32_extend(&c, 10);
    ck_assert_uint_eq(iosched_clock32_alarm(&c, IOSCHED_NEVER), 10 + half);
    ck_assert_uint_eq(iosched_clock32_alarm(&c, 10 + (uint64_t)half),
                      10 + half);
    ck_assert_uint_eq(iosched_clock32_alarm(&c, 9 + (uint64_t)half), 9 + half);
    ck_assert_uint_eq(iosched_clock32_alarm(&c, IOSCHED_NEVER - 1), 10 + half);
}
END_TEST

START_TEST(a_loop_that_sleeps_by_alarms_never_loses_a_wrap_or_wakes_late)
{
    struct iosched_clock32 c = { 0, 0, 250 };
    uint64_t ticks = 0, seed = 8;
    unsigned i, woke = 0;

    for (i = 0; i < 20000; i++) {
        /* Mostly short waits, some of hours. */
        uint64_t wait = rnd(&seed, 1u << 30);
        iosched_time want = ticks * 250 + (wait << rnd(&seed, 12));

        while (c.ticks_ * 250 < want) {
            uint32_t compare = iosched_clock32_alarm(&c, want);
            uint32_t sleep = compare - (uint32_t)ticks;

            ck_assert_uint_gt(sleep, 0);
            ck_assert_uint_le(sleep, UINT32_C(1) << 31);
            ticks += sleep;             /* the counter reaches compare */
            ck_assert_uint_eq(iosched_clock32_extend(&c, (uint32_t)ticks),
                              ticks * 250);
            woke++;
        }
        ck_assert_uint_lt(c.ticks_ * 250 - want, 250);
    }
    ck_assert_uint_gt(woke, i);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("clock");

    tcase_add_test(tc, after_a_step_back_intervals_go_on);
    tcase_add_test(tc,
        an_interval_with_a_step_in_it_is_the_sum_of_its_forward_parts);
    tcase_add_test(tc,
        a_timer_keeps_its_distance_and_is_told_in_the_callers_clock);
    tcase_add_test(tc,
        a_step_forward_fires_what_is_due_and_a_huge_one_breaks_nothing);
    tcase_add_test(tc,
        whatever_the_clock_does_core_time_is_the_sum_of_its_steps_forward);
    tcase_add_test(tc, clock32_counts_ticks_from_where_it_was_zeroed);
    tcase_add_test(tc, clock32_takes_a_smaller_value_for_a_wrap);
    tcase_add_test(tc, clock32_without_a_tick_or_a_struct_answers_never);
    tcase_add_test(tc,
        an_alarm_is_rounded_up_to_a_tick_and_wraps_with_the_counter);
    tcase_add_test(tc, an_alarm_in_the_past_is_the_last_reading_plus_one_tick);
    tcase_add_test(tc,
        an_alarm_too_far_off_and_never_come_half_a_wrap_after_the_reading);
    tcase_add_test(tc,
        a_loop_that_sleeps_by_alarms_never_loses_a_wrap_or_wakes_late);
    return run_case(tc, "clock");
}
