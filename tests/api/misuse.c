/* SPDX-License-Identifier: BSD-2-Clause */
/* misuse.c - every misuse is an error, in every build, and changes nothing. */
#include "misuse.h"

/* --- One row of the table each -------------------------------------------- */
START_TEST(insert_of_what_is_not_idle_is_busy)
{
    static const int busy[] = { QUEUED, ABSORBED, FLYING, RIDING, GIVEN_BACK,
                                BEHIND, POSTED, DONE };
    unsigned i;

    remember();
    for (i = 0; i < COUNT(busy) - (inbox ? 0 : 2); i++) {
        REFUSED(BUSY, iosched_insert(s, &rq[busy[i]], NOW));
        if (inbox)
            REFUSED(BUSY, iosched_post(s, &rq[busy[i]], NOW));
    }
    REFUSED(BUSY, iosched_insert(s, &foreign[0], NOW));
    REFUSED(BUSY, iosched_insert(s, &foreign[1], NOW));
}
END_TEST

START_TEST(finishing_what_is_not_in_flight_is_a_wrong_state)
{
    static const int not_flying[] = { IDLE, QUEUED, ABSORBED, RIDING, BEHIND,
                                      GIVEN_BACK, ABORTED, POSTED, DONE };
    unsigned i;

    remember();
    for (i = 0; i < COUNT(not_flying); i++) {
        struct iosched_req *r = &rq[not_flying[i]];

        REFUSED(STATE, iosched_complete(s, r, 0, NOW));
        REFUSED(STATE, iosched_requeue(s, r, NOW));
        REFUSED(STATE, iosched_queue_full(s, r, NOW));
        REFUSED(STATE, iosched_abort(s, r, NOW));
    }
}
END_TEST

START_TEST(cancel_of_what_is_not_queued_is_a_wrong_state)
{
    static const int not_queued[] = { IDLE, FLYING, RIDING, ABORTED, POSTED,
                                      DONE };
    unsigned i;

    remember();
    for (i = 0; i < COUNT(not_queued); i++)
        REFUSED(STATE, iosched_cancel(s, &rq[not_queued[i]], NOW));
}
END_TEST

START_TEST(what_is_closed_released_or_thawed_already_is_a_wrong_state)
{
    struct iosched_stream_opts so = { sizeof so, 0, 0, dead_group, NULL };
    struct iosched_group_opts go = { sizeof go, 5, 0, 0, dead_group, NULL };
    struct iosched_stream *st;
    struct iosched_group *g;

    rq[IDLE].stream = dead;
    remember();
    REFUSED(STATE, iosched_insert(s, &rq[IDLE], NOW));
    REFUSED(STATE, iosched_may_queue(s, dead, IOSCHED_READ, 0, NOW));
    REFUSED(STATE, iosched_stream_close(dead, NOW));
    REFUSED(STATE, iosched_stream_set_ioprio(dead, 0, NOW));
    REFUSED(STATE, iosched_stream_set_group(dead, NULL, NOW));
    REFUSED(STATE, iosched_stream_set_group(mine, dead_group, NOW));
    REFUSED(STATE, iosched_stream_yield(dead, NULL, NOW));
    REFUSED(STATE, iosched_stream_yield(mine, dead, NOW));
    REFUSED(STATE, iosched_stream_open(s, &so, &st, NOW));
    REFUSED(STATE, iosched_group_open(s, &go, &g, NOW));
    REFUSED(STATE, iosched_group_close(dead_group, NOW));
    REFUSED(STATE, iosched_group_set_weight(dead_group, 5, NOW));
    REFUSED(STATE, iosched_group_set_leaf_weight(s, dead_group, 5, NOW));
    REFUSED(STATE, iosched_tag_release(s, rq[FLYING].tag, NOW));
    REFUSED(STATE, iosched_thaw(s, NOW));
}
END_TEST

START_TEST(a_late_completion_after_abort_is_a_wrong_state)
{
    uint64_t cookie = (uint64_t)rq[ABORTED].generation << 32 |
                      (uint32_t)rq[ABORTED].tag;

    remember();
    REFUSED(STATE, iosched_complete(s, &rq[ABORTED], 0, NOW));
    if (inbox)
        REFUSED(STATE, iosched_post_complete(s, cookie, 0, NOW));
    ck_assert_ptr_null(iosched_find(s, cookie));
}
END_TEST

START_TEST(what_belongs_to_another_scheduler_is_invalid)
{
    struct iosched_stream_opts so = { sizeof so, 0, 0, others_group, NULL };
    struct iosched_group_opts go = { sizeof go, 5, 0, 0, others_group, NULL };
    struct iosched_stream *st;
    struct iosched_group *g;
    unsigned i;

    rq[IDLE].stream = others;
    remember();
    for (i = 0; i < 2; i++) {
        REFUSED(INVAL, iosched_complete(s, &foreign[i], 0, NOW));
        REFUSED(INVAL, iosched_requeue(s, &foreign[i], NOW));
        REFUSED(INVAL, iosched_queue_full(s, &foreign[i], NOW));
        REFUSED(INVAL, iosched_abort(s, &foreign[i], NOW));
        REFUSED(INVAL, iosched_cancel(s, &foreign[i], NOW));
    }
    REFUSED(INVAL, iosched_insert(s, &rq[IDLE], NOW));
    REFUSED(INVAL, iosched_may_queue(s, others, IOSCHED_READ, 0, NOW));
    REFUSED(INVAL, iosched_stream_yield(mine, others, NOW));
    REFUSED(INVAL, iosched_stream_set_group(mine, others_group, NOW));
    REFUSED(INVAL, iosched_stream_open(s, &so, &st, NOW));
    REFUSED(INVAL, iosched_group_open(s, &go, &g, NOW));
    REFUSED(INVAL, iosched_group_set_leaf_weight(s, others_group, 5, NOW));
}
END_TEST

START_TEST(an_extent_that_is_empty_overflows_or_passes_the_end_is_invalid)
{
    static const struct { uint64_t lba; uint32_t nblk; } bad[] = {
        { 0, 0 }, { 9999, 2 }, { 10000, 1 }, { UINT64_MAX, 1 },
        { UINT64_MAX - 6, 8 }, { UINT64_MAX - 7, 8 }, { 1, UINT32_MAX }
    };
    unsigned i, op;

    for (op = IOSCHED_READ; op <= IOSCHED_ZEROES; op++)
        for (i = 0; i < COUNT(bad); i++) {
            rq[IDLE] = request(op, bad[i].lba, bad[i].nblk, 0);
            remember();
            REFUSED(INVAL, iosched_insert(s, &rq[IDLE], NOW));
        }
    rq[IDLE] = READ(9999, 1);           /* the last block is not past it */
    insert_ok(s, &rq[IDLE], NOW);
}
END_TEST

START_TEST(preflush_and_fua_on_other_than_write_and_zeroes_are_invalid)
{
    static const unsigned flag[] = { IOSCHED_RQ_PREFLUSH, IOSCHED_RQ_FUA };
    static const unsigned op[] = { IOSCHED_READ, IOSCHED_DISCARD, IOSCHED_FLUSH,
                                   IOSCHED_PASS };
    unsigned i, k;

    for (i = 0; i < COUNT(flag); i++)
        for (k = 0; k < COUNT(op); k++) {
            rq[IDLE] = request(op[k], 0, 8, flag[i]);
            remember();
            REFUSED(INVAL, iosched_insert(s, &rq[IDLE], NOW));
        }
}
END_TEST

START_TEST(unknown_ops_and_flags_are_not_supported)
{
    struct iosched_cfg cfg = config();
    struct iosched_req *out;
    struct iosched *another;
    unsigned i;
    uint32_t n;

    for (i = 6; i < 0x10000; i = i * 2 + 1) {
        rq[IDLE] = request(i, 0, 8, 0);
        remember();
        REFUSED(NOTSUP, iosched_insert(s, &rq[IDLE], NOW));
        REFUSED(NOTSUP, iosched_may_queue(s, NULL, i, 0, NOW));
    }
    for (i = 0x400; i < 0x10000; i *= 2) {
        rq[IDLE] = request(IOSCHED_READ, 0, 8, i);
        remember();
        REFUSED(NOTSUP, iosched_insert(s, &rq[IDLE], NOW));
        REFUSED(NOTSUP, iosched_may_queue(s, NULL, IOSCHED_READ, i, NOW));
    }
    for (i = 1; i < 32; i++) {
        REFUSED(NOTSUP, iosched_dispatch(s, &out, 1u << i, NOW));
        REFUSED(NOTSUP, iosched_dispatch_many(s, &out, 1, &n, 1u << i, NOW));
    }
    for (i = 7; i < 32; i++) {
        cfg.flags = 1u << i;
        REFUSED(NOTSUP, iosched_create("line", &cfg, &another, NOW));
    }
}
END_TEST

START_TEST(bytes_of_a_struct_that_the_library_does_not_know_are_not_supported)
{
    struct { struct iosched_cfg cfg; uint64_t more; } cfg;
    struct { struct iosched_stream_opts o; uint64_t more; } so;
    struct { struct iosched_group_opts o; uint64_t more; } go;
    struct { struct iosched_tags_cfg cfg; uint64_t more; } tc;
    struct iosched *another = NULL;
    struct iosched_stream *st;
    struct iosched_group *g;
    struct iosched_tags *tags;
    static uint64_t memory[8192];

    memset(&cfg, 0, sizeof cfg);
    cfg.cfg = config();
    cfg.cfg.struct_size = sizeof cfg;
    memset(&so, 0, sizeof so);
    so.o.struct_size = sizeof so;
    memset(&go, 0, sizeof go);
    go.o.struct_size = sizeof go;
    go.o.weight = 5;
    memset(&tc, 0, sizeof tc);
    tc.cfg.struct_size = sizeof tc;
    ck_assert_int_eq(iosched_create("line", &cfg.cfg, &another, NOW), 0);
    ck_assert_int_eq(iosched_destroy(another), 0);
    ck_assert_int_eq(iosched_tags_init(memory, sizeof memory, &tc.cfg, &tags),
                     0);
    cfg.more = so.more = go.more = tc.more = 1;
    remember();
    REFUSED(NOTSUP, iosched_create("line", &cfg.cfg, &another, NOW));
    REFUSED(NOTSUP, iosched_init(memory, sizeof memory, "line", &cfg.cfg,
                                 &another, NOW));
    REFUSED(NOTSUP, iosched_stream_open(s, &so.o, &st, NOW));
    REFUSED(NOTSUP, iosched_group_open(s, &go.o, &g, NOW));
    REFUSED(NOTSUP, iosched_tags_init(memory, sizeof memory, &tc.cfg, &tags));
    ck_assert_uint_eq(iosched_size(&cfg.cfg), 0);
    ck_assert_uint_eq(iosched_tags_size(&tc.cfg), 0);
}
END_TEST

START_TEST(unknown_names_are_not_there)
{
    struct iosched_tunable tun;
    struct iosched *another;
    int64_t v;
    size_t i = 0;

    remember();
    REFUSED(NOENT, iosched_switch(s, "nope", NOW));
    REFUSED(NOENT, iosched_switch(s, "line:9", NOW));
    REFUSED(NOENT, iosched_switch(s, "line,nope=1", NOW));
    REFUSED(NOENT, iosched_create("nope", NULL, &another, NOW));
    REFUSED(NOENT, iosched_tunable_get(s, "nope", &v));
    REFUSED(NOENT, iosched_tunable_get(s, "", &v));
    REFUSED(NOENT, iosched_tunable_set(s, "nope", 1, NOW));
    while (iosched_tunable_at(s, i, &tun, sizeof tun) == IOSCHED_OK)
        i++;
    ck_assert_uint_ge(i, 5);            /* knob and the core's */
    REFUSED(NOENT, iosched_tunable_at(s, i, &tun, sizeof tun));
    REFUSED(NOENT, iosched_tunable_at(s, SIZE_MAX, &tun, sizeof tun));
}
END_TEST

START_TEST(values_outside_their_bounds_are_out_of_range)
{
    static const uint16_t prio[] = {
        IOSCHED_PRIO(IOSCHED_PRIO_RT, 8), IOSCHED_PRIO(IOSCHED_PRIO_BE, 8),
        IOSCHED_PRIO(IOSCHED_PRIO_NONE, 1), IOSCHED_PRIO(4, 0),
        IOSCHED_PRIO(7, 0)
    };
    struct iosched_group_opts go = { sizeof go, 0, 0, 0, NULL, NULL };
    struct iosched_cfg cfg = config();
    struct iosched_tags_cfg tc = { sizeof tc, 65537, 0, 0 };
    struct iosched_tags *tags;
    static uint64_t memory[8192];
    struct iosched_stream *st;
    struct iosched_group *g;
    struct iosched *another;
    unsigned i;

    for (i = 0; i < COUNT(prio); i++) {
        struct iosched_stream_opts so = { sizeof so, prio[i], 0, NULL, NULL };

        rq[IDLE].ioprio = prio[i];
        remember();
        REFUSED(RANGE, iosched_insert(s, &rq[IDLE], NOW));
        REFUSED(RANGE, iosched_stream_open(s, &so, &st, NOW));
        REFUSED(RANGE, iosched_stream_set_ioprio(mine, prio[i], NOW));
    }
    REFUSED(RANGE, iosched_group_open(s, &go, &g, NOW));
    go.weight = 10001;
    REFUSED(RANGE, iosched_group_open(s, &go, &g, NOW));
    REFUSED(RANGE, iosched_group_set_weight(group, 0, NOW));
    REFUSED(RANGE, iosched_group_set_weight(group, 10001, NOW));
    REFUSED(RANGE, iosched_group_set_leaf_weight(s, group, 0, NOW));
    REFUSED(RANGE, iosched_group_set_leaf_weight(s, NULL, 10001, NOW));
    REFUSED(RANGE, iosched_set_depth(s, 0, NOW));
    REFUSED(RANGE, iosched_set_depth(s, 5, NOW));
    REFUSED(RANGE, iosched_tunable_set(s, "knob", 101, NOW));
    REFUSED(RANGE, iosched_tunable_set(s, "knob", -1, NOW));
    REFUSED(RANGE, iosched_tunable_set(s, "nomerges", 3, NOW));
    REFUSED(RANGE, iosched_tunable_set(s, "sort_across_ops", -1, NOW));
    REFUSED(RANGE, iosched_switch(s, "line,knob=101", NOW));
    REFUSED(RANGE, iosched_tags_init(memory, sizeof memory, &tc, &tags));
    tc.depth = 4;
    tc.reserved = 4;
    REFUSED(RANGE, iosched_tags_init(memory, sizeof memory, &tc, &tags));
    cfg.depth = 65537;
    REFUSED(RANGE, iosched_create("line", &cfg, &another, NOW));
}
END_TEST

START_TEST(one_too_many_of_what_is_bounded_has_no_space)
{
    struct iosched_tags_cfg tc = { sizeof tc, 4, 0, 1 };
    struct iosched_cfg cfg = config();
    struct iosched_stream *st;
    struct iosched_group *g;
    struct iosched_tags *tags;
    struct iosched *another;
    static uint64_t memory[8192], tags_memory[1024];

    while (iosched_stream_open(s, NULL, &st, NOW) == IOSCHED_OK)
        ;
    while (iosched_group_open(s, NULL, &g, NOW) == IOSCHED_OK)
        ;
    ck_assert_int_eq(iosched_tags_init(tags_memory, iosched_tags_size(&tc), &tc,
                                       &tags), 0);
    ck_assert_int_eq(iosched_tags_join(tags, NULL, NULL), 0);
    remember();
    REFUSED(NOSPC, iosched_stream_open(s, NULL, &st, NOW));
    REFUSED(NOSPC, iosched_group_open(s, NULL, &g, NOW));
    REFUSED(NOSPC, iosched_tags_join(tags, NULL, NULL));
    REFUSED(NOSPC, iosched_init(memory, iosched_size(&cfg) - 1, "line", &cfg,
                                &another, NOW));
    cfg.tags = tags;
    REFUSED(NOSPC, iosched_create("line", &cfg, &another, NOW));
    REFUSED(NOSPC, iosched_tags_init(memory, iosched_tags_size(&tc) - 1, &tc,
                                     &tags));
}
END_TEST

START_TEST(every_error_has_a_line_of_text_and_a_frozen_number)
{
    static const struct { int is, frozen; } err[] = {
        { IOSCHED_OK, 0 }, { IOSCHED_ERR_NOENT, -2 },
        { IOSCHED_ERR_NOMEM, -12 }, { IOSCHED_ERR_BUSY, -16 },
        { IOSCHED_ERR_INVAL, -22 }, { IOSCHED_ERR_NOSPC, -28 },
        { IOSCHED_ERR_RANGE, -34 }, { IOSCHED_ERR_REENTRANT, -35 },
        { IOSCHED_ERR_STATE, -77 }, { IOSCHED_ERR_NOTSUP, -95 }
    };
    unsigned i, k;

    for (i = 0; i < COUNT(err); i++) {
        ck_assert_int_eq(err[i].is, err[i].frozen);
        ck_assert_str_ne(iosched_strerror(err[i].is), "unknown error");
        for (k = 0; k < i; k++)
            ck_assert_str_ne(iosched_strerror(err[i].is),
                             iosched_strerror(err[k].is));
    }
    ck_assert_str_eq(iosched_strerror(-1), "unknown error");
    ck_assert_str_eq(iosched_strerror(INT32_MIN), "unknown error");
}
END_TEST

START_TEST(destroy_with_anything_queued_in_flight_posted_or_done_is_busy)
{
    struct iosched_req r, *out;
    struct iosched *d;
    struct iosched_cfg cfg = config();

    remember();
    REFUSED(BUSY, iosched_destroy(s));
    REFUSED(BUSY, iosched_destroy(t));
    d = start(&cfg);
    r = READ(0, 8);
    if (inbox) {
        ck_assert_int_ge(iosched_post(d, &r, 0), 0);
        ck_assert_int_eq(iosched_destroy(d), IOSCHED_ERR_BUSY);
        ck_assert_int_eq(iosched_intake(d, 0), 1);
    } else {
        insert_ok(d, &r, 0);
    }
    ck_assert_int_eq(iosched_destroy(d), IOSCHED_ERR_BUSY);
    ck_assert_ptr_eq(next(d, 0), &r);
    ck_assert_int_eq(iosched_destroy(d), IOSCHED_ERR_BUSY);
    if (inbox) {
        ck_assert_int_ge(iosched_post_complete(d, iosched_cookie(&r), 0, 0), 0);
        ck_assert_int_eq(iosched_intake(d, 0), 1);
        ck_assert_int_eq(iosched_destroy(d), IOSCHED_ERR_BUSY);
        ck_assert_int_eq(iosched_reap(d, &out), IOSCHED_GOT);
    } else {
        complete_ok(d, &r, 0);
    }
    ck_assert_int_eq(iosched_destroy(d), IOSCHED_OK);
    ck_assert_int_eq(iosched_destroy(NULL), IOSCHED_OK);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("misuse");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, insert_of_what_is_not_idle_is_busy);
    tcase_add_test(tc, finishing_what_is_not_in_flight_is_a_wrong_state);
    tcase_add_test(tc, cancel_of_what_is_not_queued_is_a_wrong_state);
    tcase_add_test(tc,
        what_is_closed_released_or_thawed_already_is_a_wrong_state);
    tcase_add_test(tc, a_late_completion_after_abort_is_a_wrong_state);
    tcase_add_test(tc, what_belongs_to_another_scheduler_is_invalid);
    tcase_add_test(tc,
        an_extent_that_is_empty_overflows_or_passes_the_end_is_invalid);
    tcase_add_test(tc,
        preflush_and_fua_on_other_than_write_and_zeroes_are_invalid);
    tcase_add_test(tc, unknown_ops_and_flags_are_not_supported);
    tcase_add_test(tc,
        bytes_of_a_struct_that_the_library_does_not_know_are_not_supported);
    tcase_add_test(tc, unknown_names_are_not_there);
    tcase_add_test(tc, values_outside_their_bounds_are_out_of_range);
    tcase_add_test(tc, one_too_many_of_what_is_bounded_has_no_space);
    tcase_add_test(tc, every_error_has_a_line_of_text_and_a_frozen_number);
    tcase_add_test(tc,
        destroy_with_anything_queued_in_flight_posted_or_done_is_busy);
    return run_case(tc, "misuse");
}
