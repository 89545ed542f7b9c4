/* SPDX-License-Identifier: BSD-2-Clause */
/* misuseargs.c - NULL and IOSCHED_NEVER are refused by every call, and nothing
 * has changed. */
#include "misuse.h"

START_TEST(never_is_no_time_for_any_call)
{
    struct iosched_req *out;
    struct iosched_stream *st;
    struct iosched_group *g;
    struct iosched *another;
    static struct text text;
    uint32_t n;

    remember();
    REFUSED(INVAL, iosched_insert(s, &rq[IDLE], NEVER));
    REFUSED(INVAL, iosched_dispatch(s, &out, 0, NEVER));
    REFUSED(INVAL, iosched_dispatch_many(s, &out, 1, &n, 0, NEVER));
    REFUSED(INVAL, iosched_complete(s, &rq[FLYING], 0, NEVER));
    REFUSED(INVAL, iosched_requeue(s, &rq[FLYING], NEVER));
    REFUSED(INVAL, iosched_queue_full(s, &rq[FLYING], NEVER));
    REFUSED(INVAL, iosched_cancel(s, &rq[QUEUED], NEVER));
    REFUSED(INVAL, iosched_abort(s, &rq[FLYING], NEVER));
    REFUSED(INVAL, iosched_tag_release(s, rq[ABORTED].tag, NEVER));
    REFUSED(INVAL, iosched_expire(s, NEVER));
    REFUSED(INVAL, iosched_freeze(s, NEVER));
    REFUSED(INVAL, iosched_thaw(s, NEVER));
    REFUSED(INVAL, iosched_switch(s, "line", NEVER));
    REFUSED(INVAL, iosched_set_depth(s, 1, NEVER));
    REFUSED(INVAL, iosched_may_queue(s, NULL, IOSCHED_READ, 0, NEVER));
    REFUSED(INVAL, iosched_tunable_set(s, "knob", 1, NEVER));
    REFUSED(INVAL, iosched_stream_open(s, NULL, &st, NEVER));
    REFUSED(INVAL, iosched_stream_close(mine, NEVER));
    REFUSED(INVAL, iosched_stream_set_ioprio(mine, 0, NEVER));
    REFUSED(INVAL, iosched_stream_set_group(mine, group, NEVER));
    REFUSED(INVAL, iosched_stream_yield(mine, NULL, NEVER));
    REFUSED(INVAL, iosched_group_open(s, NULL, &g, NEVER));
    REFUSED(INVAL, iosched_group_close(group, NEVER));
    REFUSED(INVAL, iosched_group_set_weight(group, 5, NEVER));
    REFUSED(INVAL, iosched_group_set_leaf_weight(s, group, 5, NEVER));
    REFUSED(INVAL, iosched_create("line", NULL, &another, NEVER));
    REFUSED(INVAL, iosched_dump(s, text_write, &text, NEVER));
    if (inbox) {
        REFUSED(INVAL, iosched_post(s, &rq[IDLE], NEVER));
        REFUSED(INVAL, iosched_post_complete(s, iosched_cookie(&rq[FLYING]), 0,
                                             NEVER));
        REFUSED(INVAL, iosched_intake(s, NEVER));
    }
}
END_TEST

START_TEST(null_for_the_scheduler_is_invalid)
{
    struct iosched_req *out;
    struct iosched_stream *st;
    struct iosched_group *g;
    struct iosched_tunable tun;
    struct iosched_stats stats;
    static struct text text;
    int64_t v;
    uint32_t n;

    remember();
    REFUSED(INVAL, iosched_insert(NULL, &rq[IDLE], NOW));
    REFUSED(INVAL, iosched_dispatch(NULL, &out, 0, NOW));
    REFUSED(INVAL, iosched_dispatch_many(NULL, &out, 1, &n, 0, NOW));
    REFUSED(INVAL, iosched_complete(NULL, &rq[FLYING], 0, NOW));
    REFUSED(INVAL, iosched_requeue(NULL, &rq[FLYING], NOW));
    REFUSED(INVAL, iosched_queue_full(NULL, &rq[FLYING], NOW));
    REFUSED(INVAL, iosched_cancel(NULL, &rq[QUEUED], NOW));
    REFUSED(INVAL, iosched_abort(NULL, &rq[FLYING], NOW));
    REFUSED(INVAL, iosched_tag_release(NULL, 0, NOW));
    REFUSED(INVAL, iosched_expire(NULL, NOW));
    REFUSED(INVAL, iosched_freeze(NULL, NOW));
    REFUSED(INVAL, iosched_thaw(NULL, NOW));
    REFUSED(INVAL, iosched_switch(NULL, "line", NOW));
    REFUSED(INVAL, iosched_set_depth(NULL, 1, NOW));
    REFUSED(INVAL, iosched_may_queue(NULL, NULL, IOSCHED_READ, 0, NOW));
    REFUSED(INVAL, iosched_tunable_get(NULL, "knob", &v));
    REFUSED(INVAL, iosched_tunable_set(NULL, "knob", 1, NOW));
    REFUSED(INVAL, iosched_tunable_at(NULL, 0, &tun, sizeof tun));
    REFUSED(INVAL, iosched_get_stats(NULL, &stats, sizeof stats));
    REFUSED(INVAL, iosched_dump(NULL, text_write, &text, NOW));
    REFUSED(INVAL, iosched_stream_open(NULL, NULL, &st, NOW));
    REFUSED(INVAL, iosched_group_open(NULL, NULL, &g, NOW));
    REFUSED(INVAL, iosched_group_set_leaf_weight(NULL, group, 5, NOW));
    if (inbox) {
        REFUSED(INVAL, iosched_post(NULL, &rq[IDLE], NOW));
        REFUSED(INVAL, iosched_post_complete(NULL, 0, 0, NOW));
        REFUSED(INVAL, iosched_intake(NULL, NOW));
        REFUSED(INVAL, iosched_reap(NULL, &out));
        REFUSED(INVAL, iosched_inbox_pending(NULL));
    }
    ck_assert_ptr_null(iosched_find(NULL, 0));
    ck_assert_uint_eq(iosched_cookie(NULL), UINT64_MAX);
    ck_assert_ptr_null(iosched_carrier(NULL));
}
END_TEST

START_TEST(null_where_it_is_not_allowed_is_invalid)
{
    struct iosched_cfg cfg = config();
    struct iosched *another;
    struct iosched_req *out;
    static uint64_t memory[8192];
    static struct text text;
    int64_t v;
    uint32_t n;

    remember();
    REFUSED(INVAL, iosched_insert(s, NULL, NOW));
    REFUSED(INVAL, iosched_dispatch(s, NULL, 0, NOW));
    REFUSED(INVAL, iosched_dispatch_many(s, NULL, 1, &n, 0, NOW));
    REFUSED(INVAL, iosched_dispatch_many(s, &out, 1, NULL, 0, NOW));
    REFUSED(INVAL, iosched_complete(s, NULL, 0, NOW));
    REFUSED(INVAL, iosched_requeue(s, NULL, NOW));
    REFUSED(INVAL, iosched_queue_full(s, NULL, NOW));
    REFUSED(INVAL, iosched_cancel(s, NULL, NOW));
    REFUSED(INVAL, iosched_abort(s, NULL, NOW));
    REFUSED(INVAL, iosched_switch(s, NULL, NOW));
    REFUSED(INVAL, iosched_tunable_get(s, NULL, &v));
    REFUSED(INVAL, iosched_tunable_get(s, "knob", NULL));
    REFUSED(INVAL, iosched_tunable_set(s, NULL, 1, NOW));
    REFUSED(INVAL, iosched_tunable_at(s, 0, NULL, 8));
    REFUSED(INVAL, iosched_get_stats(s, NULL, 8));
    REFUSED(INVAL, iosched_dump(s, NULL, &text, NOW));
    REFUSED(INVAL, iosched_stream_open(s, NULL, NULL, NOW));
    REFUSED(INVAL, iosched_stream_set_ioprio(NULL, 0, NOW));
    REFUSED(INVAL, iosched_stream_set_group(NULL, group, NOW));
    REFUSED(INVAL, iosched_stream_yield(NULL, mine, NOW));
    REFUSED(INVAL, iosched_group_open(s, NULL, NULL, NOW));
    REFUSED(INVAL, iosched_group_set_weight(NULL, 5, NOW));
    REFUSED(INVAL, iosched_cfg_init_sized(NULL, sizeof cfg));
    REFUSED(INVAL, iosched_cfg_init_sized(&cfg, 0));
    REFUSED(INVAL, iosched_create(NULL, NULL, &another, NOW));
    REFUSED(INVAL, iosched_create("line", NULL, NULL, NOW));
    REFUSED(INVAL, iosched_init(NULL, 9999, "line", &cfg, &another, NOW));
    REFUSED(INVAL, iosched_init(memory, sizeof memory, NULL, &cfg, &another,
                                NOW));
    REFUSED(INVAL, iosched_init(memory, sizeof memory, "line", &cfg, NULL,
                                NOW));
    if (inbox) {
        REFUSED(INVAL, iosched_post(s, NULL, NOW));
        REFUSED(INVAL, iosched_reap(s, NULL));
    }
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("misuseargs");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, never_is_no_time_for_any_call);
    tcase_add_test(tc, null_for_the_scheduler_is_invalid);
    tcase_add_test(tc, null_where_it_is_not_allowed_is_invalid);
    return run_case(tc, "misuseargs");
}
