/* SPDX-License-Identifier: BSD-2-Clause */
/* policylife.c - what policies are told: tunables, streams, groups, yields, the
 * switch; and policies of another age. */
#include "rec.h"

/* --- Life, streams, groups, yields ---------------------------------------- */
START_TEST(tunables_are_set_before_init_and_tuned_tells_of_changes)
{
    struct iosched *s = start_rec("rec,knob=33");

    ck_assert_int_eq((int)rec.knob_at_init, 33);
    rec.log[0] = '\0';
    ck_assert_int_eq(iosched_tunable_set(s, "knob", 44, 0), 0);
    logged("tuned44 ");
    ck_assert_int_eq(iosched_tunable_set(s, "knob", 101, 0), IOSCHED_ERR_RANGE);
    logged("");
    stop(s, 0);
}
END_TEST

static const struct iosched_tunable_def two_tunables[] = {
    { { "knob", "does nothing", 0, 100, 7, IOSCHED_UNIT_NONE, 0, 0 },
      offsetof(struct line, knob) },
    { { "seen", "an estimate", 0, 9, 5, IOSCHED_UNIT_PPM, IOSCHED_TUNABLE_RO,
        0 }, offsetof(struct line, knob) + sizeof(int64_t) },
    { { NULL, NULL, 0, 0, 0, 0, 0, 0 }, 0 }
};

START_TEST(tunables_are_listed_the_policys_first_and_what_is_read_only_stays)
{
    static struct iosched_policy p;
    const struct iosched_policy *list[] = { &p, NULL };
    struct { struct iosched_tunable t; uint64_t more; } big;
    struct iosched_cfg cfg = rec_cfg();
    struct iosched *s;
    int64_t v;
    size_t i;

    p = line_policy;
    p.state_size = sizeof(struct line) + sizeof(int64_t);
    p.tunables = two_tunables;
    cfg.policies = list;
    s = start_at("line", &cfg, 0);
    memset(&big, 0xff, sizeof big);
    ck_assert_int_eq(iosched_tunable_at(s, 0, &big.t, sizeof big), IOSCHED_OK);
    ck_assert_str_eq(big.t.name, "knob");
    ck_assert_int_eq(big.t.max, 100);
    ck_assert_int_eq(big.t.def, 7);
    ck_assert_uint_eq(big.more, 0);
    memset(&big, 0, sizeof big);
    ck_assert_int_eq(iosched_tunable_at(s, 1, &big.t, sizeof big.t.name),
                     IOSCHED_OK);
    ck_assert_str_eq(big.t.name, "seen");
    ck_assert_ptr_null(big.t.help);     /* did not fit */
    for (i = 2; iosched_tunable_at(s, i, &big.t, sizeof big.t) == 0; i++) {
        ck_assert_int_eq(iosched_tunable_get(s, big.t.name, &v), IOSCHED_OK);
        ck_assert_int_eq(v, big.t.def);
        ck_assert_int_ge(v, big.t.min);
        ck_assert_int_le(v, big.t.max);
    }
    ck_assert_uint_gt(i, 2);
    ck_assert_int_eq(iosched_tunable_set(s, "seen", 6, 0), IOSCHED_ERR_NOTSUP);
    ck_assert_int_eq(iosched_tunable_get(s, "seen", &v), IOSCHED_OK);
    ck_assert_int_eq(v, 5);
    ck_assert_int_lt(iosched_switch(s, "line,seen=6", 0), 0);
    stop(s, 0);
}
END_TEST

START_TEST(stream_and_group_hooks_come_in_order_with_data_of_their_own)
{
    struct iosched *s = start_rec("rec");
    struct iosched_group *g;
    struct iosched_stream *st;
    struct iosched_stream_opts o = { sizeof o, 0, 0, NULL, NULL };

    logged("init0 gopened1 sopened2 ");         /* the root, the default */
    ck_assert_int_eq(iosched_group_open(s, NULL, &g, 0), 0);
    o.group = g;
    ck_assert_int_eq(iosched_stream_open(s, &o, &st, 0), 0);
    logged("gopened3 sopened4 ");
    ck_assert_int_eq(iosched_stream_set_ioprio(
                         st, IOSCHED_PRIO(IOSCHED_PRIO_RT, 1), 0), 0);
    ck_assert_int_eq(iosched_group_set_weight(g, 7, 0), 0);
    ck_assert_int_eq(iosched_group_set_leaf_weight(s, NULL, 7, 0), 0);
    logged("schanged4 gchanged3 gchanged1 ");
    ck_assert_int_eq(iosched_stream_yield(st, NULL, 0), 0);
    ck_assert_int_eq(iosched_may_queue(s, NULL, IOSCHED_READ, 0, 0),
                     IOSCHED_MAY);
    ck_assert_int_eq(iosched_may_queue(s, st, IOSCHED_WRITE, 0, 0),
                     IOSCHED_MUST);
    ck_assert_int_eq(iosched_may_queue(s, st, IOSCHED_READ, IOSCHED_RQ_SYNC, 0),
                     IOSCHED_MAY_WAIT);
    logged("yield4 to0 may2 may4 may4 ");
    rq[0] = READ(0, 8);
    rq[0].stream = st;
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(iosched_req_group(&rq[0]), g);
    ck_assert_int_eq(iosched_stream_set_group(st, NULL, 0), 0);
    ck_assert_int_eq(iosched_group_close(g, 0), 0);
    ck_assert_int_eq(iosched_stream_close(st, 0), 0);
    logged("schanged4 gclosed3 sclosed4 ");     /* rq[0] is left */
    ck_assert_ptr_eq(iosched_req_group(&rq[0]), g);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    complete_ok(s, &rq[0], 0);
    logged("sfreed4 gfreed3 ");
    stop(s, 0);
    logged("sclosed2 sfreed2 gclosed1 gfreed1 exit0 ");
}
END_TEST

START_TEST(a_switch_tells_the_old_of_the_end_and_the_new_of_all_there_are)
{
    struct iosched *s = start_rec("rec");
    struct iosched_stream *a, *b;

    ck_assert_int_eq(iosched_stream_open(s, NULL, &a, 0), 0);
    ck_assert_int_eq(iosched_stream_open(s, NULL, &b, 0), 0);
    ck_assert_int_eq(iosched_switch(s, "line", 0), 0);
    ck_assert_ptr_nonnull(strstr(rec.log, "exit0"));
    rec.log[0] = '\0';
    next_slot = 10;
    ck_assert_int_eq(iosched_switch(s, "rec", 0), 0);
    logged("init0 gopened11 sopened12 sopened13 sopened14 ");
    ck_assert_int_eq(iosched_stream_yield(a, b, 0), 0);
    logged("yield13 to14 ");
    stop(s, 0);
}
END_TEST

/* --- Old and foreign policies --------------------------------------------- */
START_TEST(a_policy_with_a_smaller_struct_runs_and_what_it_lacks_is_null)
{
    static struct { struct iosched_policy p; } old;
    const struct iosched_policy *list[] = { &old.p, NULL };
    struct iosched_cfg cfg = rec_cfg();
    struct iosched *s;
    unsigned i;

    old.p = line_policy;
    old.p.struct_size = offsetof(struct iosched_policy, find);
    old.p.name = "old";
    /* What lies beyond its size is not its own: it must not be called. */
    memset((char *)&old.p + old.p.struct_size, 0xEE,
           sizeof old.p - old.p.struct_size);
    cfg.policies = list;
    s = start_at("old", &cfg, 0);
    rq[0] = READ(8, 8);
    rq[1] = READ(16, 8);
    rq[2] = READ(0, 8);
    ck_assert_int_eq(iosched_insert(s, &rq[0], 0), IOSCHED_QUEUED);
    ck_assert_int_eq(iosched_insert(s, &rq[1], 0), IOSCHED_MERGED_BACK);
    ck_assert_int_eq(iosched_insert(s, &rq[2], 0), IOSCHED_QUEUED);
    ck_assert_int_eq(iosched_may_queue(s, NULL, IOSCHED_READ, 0, 0),
                     IOSCHED_MAY);
    for (i = 0; i < 3; i += 2)
        ck_assert_ptr_eq(next(s, 0), &rq[i]);
    complete_ok(s, &rq[0], 0);
    complete_ok(s, &rq[2], 0);
    stop(s, 0);
}
END_TEST

START_TEST(a_policy_of_another_api_or_without_a_mandatory_hook_is_invalid)
{
    struct iosched_policy p;
    const struct iosched_policy *list[] = { &p, NULL };
    struct iosched_cfg cfg = rec_cfg();
    struct iosched *s;
    unsigned i;

    cfg.policies = list;
    for (i = 0; i < 7; i++) {
        p = line_policy;
        switch (i) {
        case 0: p.api = IOSCHED_POLICY_API + 1; break;
        case 1: p.insert = NULL;                break;
        case 2: p.dispatch = NULL;              break;
        case 3: p.removed = NULL;               break;
        case 4: p.evict = NULL;                 break;
        case 5: p.name = "No Such Name";        break;
        default: p.struct_size = 8;             break;
        }
        ck_assert_int_eq(iosched_create("line", &cfg, &s, 0),
                         IOSCHED_ERR_INVAL);
    }
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("policylife");

    tcase_add_test(tc, tunables_are_set_before_init_and_tuned_tells_of_changes);
    tcase_add_test(tc,
        tunables_are_listed_the_policys_first_and_what_is_read_only_stays);
    tcase_add_test(tc,
        stream_and_group_hooks_come_in_order_with_data_of_their_own);
    tcase_add_test(tc,
        a_switch_tells_the_old_of_the_end_and_the_new_of_all_there_are);
    tcase_add_test(tc,
        a_policy_with_a_smaller_struct_runs_and_what_it_lacks_is_null);
    tcase_add_test(tc,
        a_policy_of_another_api_or_without_a_mandatory_hook_is_invalid);
    return run_case(tc, "policylife");
}
