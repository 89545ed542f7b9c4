/* SPDX-License-Identifier: BSD-2-Clause */
/* policyapi.c - what policies are lent: emission, timers, time, priorities, and
 * who is in flight. */
#include "rec.h"

/* --- Emission ------------------------------------------------------------- */
START_TEST(one_dispatch_may_emit_several_which_go_out_before_it_is_asked_again)
{
    struct iosched *s = start_rec("rec");
    unsigned i;

    rec.batch = 3;
    for (i = 0; i < 7; i++) {
        rq[i] = READ(1000 - 100 * i, 8);
        insert_ok(s, &rq[i], 0);
    }
    for (i = 0; i < 7; i++) {
        ck_assert_ptr_eq(next(s, 0), &rq[i]);
        ck_assert_uint_eq(rec.dispatches, i / 3 + 1);
    }
    for (i = 0; i < 7; i++)
        complete_ok(s, &rq[i], 0);
    stop(s, 0);
}
END_TEST

START_TEST(emitted_from_insert_it_goes_out_without_dispatch_being_asked)
{
    struct iosched *s = start_rec("rec");

    rec.at_once = rec.no_more = 1;
    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(answer(s, 0), IOSCHED_EMPTY);
    complete_ok(s, &rq[0], 0);
    stop(s, 0);
}
END_TEST

START_TEST(emitted_sorted_they_are_one_ascending_sweep_from_the_last_position)
{
    static const iosched_lba lba[] = { 500, 100, 900, 300, 700, 50 };
    static const unsigned order[] = { 0, 4, 2, 5, 1, 3 };
    struct iosched *s = start_rec("rec");
    unsigned i;

    rq[9] = READ(400, 8);
    insert_ok(s, &rq[9], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[9]);       /* the sweep stands at 408 */
    rec.batch = 6;
    rec.how = IOSCHED_EMIT_SORTED;
    for (i = 0; i < 6; i++) {
        rq[i] = READ(lba[i], 8);
        insert_ok(s, &rq[i], 0);
    }
    for (i = 0; i < 6; i++)
        ck_assert_ptr_eq(next(s, 0), &rq[order[i]]);
    for (i = 0; i < 6; i++)
        complete_ok(s, &rq[i], 0);
    complete_ok(s, &rq[9], 0);
    stop(s, 0);
}
END_TEST

START_TEST(emitted_requests_stay_with_the_core_across_a_switch_and_a_cancel)
{
    struct iosched *s = start_rec("rec");
    unsigned i;

    rec.batch = 4;
    for (i = 0; i < 4; i++) {
        rq[i] = READ(1000 - 100 * i, 8);
        insert_ok(s, &rq[i], 0);
    }
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_cancel(s, &rq[2], 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_switch(s, "line", 0), IOSCHED_OK);
    ck_assert_uint_eq(rec.exits, 1);
    ck_assert_uint_eq(rec.evicts, 1);           /* only to hear NULL */
    ck_assert_ptr_eq(next(s, 0), &rq[1]);
    ck_assert_ptr_eq(next(s, 0), &rq[3]);
    complete_ok(s, &rq[0], 0);
    complete_ok(s, &rq[1], 0);
    complete_ok(s, &rq[3], 0);
    stop(s, 0);
}
END_TEST

/** Let the policy arm a timer, from a hook. */
static void arm(struct iosched *s, unsigned timer, iosched_time at,
                iosched_time now)
{
    rec.arm = timer;
    rec.arm_at = at;
    ck_assert_int_eq(iosched_tunable_set(s, "knob", 7, now), IOSCHED_OK);
}

/* --- Timers and time ------------------------------------------------------ */
START_TEST(four_timers_fire_when_due_in_order_and_are_disarmed_before)
{
    struct iosched *s = start_rec("rec");

    ck_assert_uint_eq(iosched_next_expiry(s), IOSCHED_NEVER);
    arm(s, 0, 400, 0);
    arm(s, 1, 100, 0);
    arm(s, 2, 300, 0);
    arm(s, 3, 200, 0);
    ck_assert_uint_eq(iosched_core_armed(rec.core, 2), 300);
    ck_assert_uint_eq(iosched_next_expiry(s), 100);
    arm(s, 1, 350, 0);         /* replaces */
    arm(s, 3, IOSCHED_NEVER, 0);
    ck_assert_uint_eq(iosched_next_expiry(s), 300);
    rec.log[0] = '\0';
    ck_assert_int_eq(iosched_expire(s, 299), 0);
    logged("");
    ck_assert_int_eq(iosched_expire(s, 500), 1);
    logged("t2 t1 t0 ");
    ck_assert_uint_eq(iosched_next_expiry(s), IOSCHED_NEVER);
    stop(s, 500);
}
END_TEST

START_TEST(a_timer_may_be_armed_again_in_expired_even_for_the_past)
{
    struct iosched *s = start_rec("rec");

    arm(s, 2, 10, 0);
    rec.rearm = 101;
    rec.log[0] = '\0';
    ck_assert_int_eq(iosched_expire(s, 10), 1);
    ck_assert_uint_eq(iosched_next_expiry(s), 110);
    rec.rearm = 1;                              /* for this very moment */
    ck_assert_int_eq(iosched_expire(s, 110), 1);
    ck_assert_uint_eq(iosched_next_expiry(s), 110);
    rec.rearm = 0;
    ck_assert_int_eq(iosched_expire(s, 110), 1);
    logged("t2 t2 t2 ");
    ck_assert_uint_eq(iosched_next_expiry(s), IOSCHED_NEVER);
    stop(s, 110);
}
END_TEST

START_TEST(a_timer_that_another_one_moved_meanwhile_fires_at_its_new_time)
{
    struct iosched *s = start_rec("rec");

    arm(s, 0, 100, 0);
    arm(s, 1, 200, 0);
    rec.move = 400;
    rec.log[0] = '\0';
    ck_assert_int_eq(iosched_expire(s, 300), 1);        /* both were due */
    logged("t0 ");
    ck_assert_uint_eq(iosched_next_expiry(s), 400);
    ck_assert_int_eq(iosched_expire(s, 400), 1);
    logged("t1 ");
    stop(s, 400);
}
END_TEST

START_TEST(time_is_rounded_down_and_durations_up_to_a_tick)
{
    struct iosched *s = start_rec("rec,tick_ns=100");

    ck_assert_int_eq(iosched_expire(s, 250), 0);
    ck_assert_uint_eq(iosched_core_now(rec.core), 200);
    ck_assert_uint_eq(iosched_core_ticks(rec.core, 0), 0);
    ck_assert_uint_eq(iosched_core_ticks(rec.core, 1), 100);
    ck_assert_uint_eq(iosched_core_ticks(rec.core, 100), 100);
    ck_assert_uint_eq(iosched_core_ticks(rec.core, 101), 200);
    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], 299);
    ck_assert_uint_eq(iosched_core_since(rec.core, &rq[0]), 200);
    ck_assert_int_eq(iosched_switch(s, "rec", 299), IOSCHED_OK);
    ck_assert_uint_eq(iosched_core_now(rec.core), 299);
    ck_assert_uint_eq(iosched_core_ticks(rec.core, 101), 101);
    ck_assert_uint_eq(iosched_core_since(rec.core, &rq[0]), 299);
    ck_assert_int_eq(iosched_tunable_set(s, "tick_ns", 5, 299),
                     IOSCHED_ERR_NOTSUP);       /* only by the string */
    stop(s, 299);
}
END_TEST

START_TEST(since_is_the_insert_of_the_oldest_member_whatever_happened_since)
{
    struct iosched *s = start_rec("rec");
    unsigned i;

    for (i = 0; i < 3; i++) {
        rq[i] = READ(100 - 8 * i, 8);
        insert_ok(s, &rq[i], 10 + i);
    }
    ck_assert_uint_eq(iosched_core_since(rec.core, &rq[0]), 10);
    ck_assert_ptr_eq(next(s, 50), &rq[0]);
    ck_assert_int_eq(iosched_requeue(s, &rq[0], 60), 0);
    ck_assert_uint_eq(iosched_core_since(rec.core, &rq[0]), 10);
    ck_assert_int_eq(iosched_cancel(s, &rq[0], 70), 0);
    ck_assert_uint_eq(iosched_core_since(rec.core, iosched_carrier(&rq[1])),
                      11);
    ck_assert_int_eq(iosched_switch(s, "rec", 80), 0);
    ck_assert_uint_eq(iosched_core_since(rec.core, iosched_carrier(&rq[2])),
                      11);
    stop(s, 80);
}
END_TEST

/* --- Requests ------------------------------------------------------------- */
#define RT(n) IOSCHED_PRIO(IOSCHED_PRIO_RT, (n))
#define BE(n) IOSCHED_PRIO(IOSCHED_PRIO_BE, (n))

START_TEST(effective_ioprio_is_its_own_else_its_streams_at_insert_else_be_4)
{
    struct iosched *s = start_rec("rec");
    struct iosched_stream_opts o = { sizeof o, BE(2), 0, NULL, NULL };
    struct iosched_stream *st;
    unsigned i;

    ck_assert_int_eq(iosched_stream_open(s, &o, &st, 0), 0);
    for (i = 0; i < 4; i++)
        rq[i] = READ(100 * i, 8);
    rq[1].stream = rq[2].stream = rq[3].stream = st;
    rq[2].ioprio = RT(6);
    for (i = 0; i < 3; i++)
        insert_ok(s, &rq[i], 0);
    ck_assert_int_eq(iosched_stream_set_ioprio(st, BE(7), 0), 0);
    insert_ok(s, &rq[3], 0);
    ck_assert_uint_eq(iosched_req_ioprio(&rq[0]), BE(4));
    ck_assert_uint_eq(iosched_req_ioprio(&rq[1]), BE(2));
    ck_assert_uint_eq(iosched_req_ioprio(&rq[2]), RT(6));
    ck_assert_uint_eq(iosched_req_ioprio(&rq[3]), BE(7));
    ck_assert_ptr_eq(iosched_req_stream(&rq[1]), st);
    ck_assert_ptr_nonnull(iosched_req_stream(&rq[0]));
    stop(s, 0);
}
END_TEST

START_TEST(of_a_carrier_it_is_the_best_among_its_members)
{
    struct iosched *s = start_rec("rec");

    rq[0] = READ(0, 8);
    rq[1] = READ(8, 8);
    rq[2] = READ(16, 8);
    rq[0].ioprio = IOSCHED_PRIO(IOSCHED_PRIO_IDLE, 0);
    rq[1].ioprio = RT(3);
    rq[2].ioprio = BE(0);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    insert_ok(s, &rq[2], 0);
    ck_assert_uint_eq(rq[0].nmembers, 3);
    ck_assert_uint_eq(iosched_req_ioprio(&rq[0]), RT(3));
    ck_assert_int_eq(iosched_cancel(s, &rq[1], 0), 0);
    ck_assert_uint_eq(iosched_req_ioprio(&rq[0]),
                      IOSCHED_PRIO(IOSCHED_PRIO_IDLE, 0));
    stop(s, 0);
}
END_TEST

START_TEST(sync_is_a_read_or_sync_preflush_or_fua)
{
    static const unsigned flag[] = { 0, IOSCHED_RQ_SYNC, IOSCHED_RQ_PREFLUSH,
                                     IOSCHED_RQ_FUA, IOSCHED_RQ_META };
    struct iosched *s = start_rec("rec");
    unsigned i;

    for (i = 0; i < COUNT(flag); i++) {
        rq[i] = request(IOSCHED_WRITE, 100 * i, 8, flag[i]);
        insert_ok(s, &rq[i], 0);
        ck_assert_int_eq(iosched_req_sync(&rq[i]), i > 0 && i < 4);
    }
    rq[i] = READ(900, 8);
    insert_ok(s, &rq[i], 0);
    ck_assert_int_eq(iosched_req_sync(&rq[i]), 1);
    stop(s, 0);
}
END_TEST

START_TEST(in_flight_is_counted_in_all_and_by_stream)
{
    struct iosched *s = start_rec("rec");
    struct iosched_stream *st;
    unsigned i;

    ck_assert_int_eq(iosched_stream_open(s, NULL, &st, 0), 0);
    for (i = 0; i < 5; i++) {
        rq[i] = READ(100 * i, 8);
        rq[i].stream = i < 3 ? st : NULL;
        insert_ok(s, &rq[i], 0);
        ck_assert_ptr_eq(next(s, 0), &rq[i]);
    }
    ck_assert_uint_eq(iosched_core_inflight(rec.core), 5);
    ck_assert_uint_eq(iosched_core_inflight_of(rec.core, st), 3);
    ck_assert_uint_eq(iosched_core_inflight_of(rec.core, NULL), 2);
    ck_assert_int_eq(iosched_requeue(s, &rq[0], 0), 0);
    ck_assert_int_eq(iosched_abort(s, &rq[1], 0), 0);
    complete_ok(s, &rq[3], 0);
    ck_assert_uint_eq(iosched_core_inflight(rec.core), 2);
    ck_assert_uint_eq(iosched_core_inflight_of(rec.core, st), 1);
    ck_assert_uint_eq(iosched_core_inflight_of(rec.core, NULL), 1);
    complete_ok(s, &rq[2], 0);
    complete_ok(s, &rq[4], 0);
    ck_assert_int_eq(iosched_tag_release(s, rq[1].tag, 0), 0);
    ck_assert_uint_eq(iosched_core_depth(rec.core), 8);
    stop(s, 0);
}
END_TEST

START_TEST(sectors_are_turned_into_blocks_rounded_up)
{
    struct iosched_cfg cfg = rec_cfg();
    struct iosched *s;

    cfg.block_size = 4096;
    cfg.flags = IOSCHED_F_NONROTATIONAL;
    s = start_at("rec", &cfg, 0);
    ck_assert_uint_eq(iosched_core_blocks(rec.core, 0), 0);
    ck_assert_uint_eq(iosched_core_blocks(rec.core, 1), 1);
    ck_assert_uint_eq(iosched_core_blocks(rec.core, 8), 1);
    ck_assert_uint_eq(iosched_core_blocks(rec.core, 9), 2);
    ck_assert_uint_eq(iosched_core_blocks(rec.core, UINT64_MAX),
                      (UINT64_C(1) << 61));
    ck_assert_uint_eq(iosched_core_flags(rec.core), IOSCHED_F_NONROTATIONAL);
    stop(s, 0);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("policyapi");

    tcase_add_test(tc,
        one_dispatch_may_emit_several_which_go_out_before_it_is_asked_again);
    tcase_add_test(tc,
        emitted_from_insert_it_goes_out_without_dispatch_being_asked);
    tcase_add_test(tc,
        emitted_sorted_they_are_one_ascending_sweep_from_the_last_position);
    tcase_add_test(tc,
        emitted_requests_stay_with_the_core_across_a_switch_and_a_cancel);
    tcase_add_test(tc,
        four_timers_fire_when_due_in_order_and_are_disarmed_before);
    tcase_add_test(tc, a_timer_may_be_armed_again_in_expired_even_for_the_past);
    tcase_add_test(tc,
        a_timer_that_another_one_moved_meanwhile_fires_at_its_new_time);
    tcase_add_test(tc, time_is_rounded_down_and_durations_up_to_a_tick);
    tcase_add_test(tc,
        since_is_the_insert_of_the_oldest_member_whatever_happened_since);
    tcase_add_test(tc,
        effective_ioprio_is_its_own_else_its_streams_at_insert_else_be_4);
    tcase_add_test(tc, of_a_carrier_it_is_the_best_among_its_members);
    tcase_add_test(tc, sync_is_a_read_or_sync_preflush_or_fua);
    tcase_add_test(tc, in_flight_is_counted_in_all_and_by_stream);
    tcase_add_test(tc, sectors_are_turned_into_blocks_rounded_up);
    return run_case(tc, "policyapi");
}
