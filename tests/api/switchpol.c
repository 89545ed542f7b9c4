/* SPDX-License-Identifier: BSD-2-Clause */
/* switchpol.c - policy strings, and changing the policy under load: all of it
 * or nothing. */
#include "api.h"

#define N 40u
static struct iosched_req rq[N];
static struct picture was;

/** A policy whose init fails, and says so. */
static int sick_init(void *state, struct iosched_core *core)
{
    (void)state;
    iosched_core_arm(core, 0, iosched_core_now(core) + 1);
    return -5;
}

static const struct iosched_policy sick_policy = {
    .struct_size = sizeof(struct iosched_policy),
    .api         = IOSCHED_POLICY_API,
    .name        = "sick",
    .help        = "cannot start",
    .state_size  = sizeof(struct line),
    .init        = sick_init,
    .insert      = line_insert,
    .dispatch    = line_dispatch,
    .removed     = line_removed,
    .evict       = line_evict,
};

static const struct iosched_policy *const with_sick[] = {
    &line_policy, &sick_policy, NULL
};

static int64_t tunable(const struct iosched *s, const char *name)
{
    int64_t v = -1;

    ck_assert_int_eq(iosched_tunable_get(s, name, &v), IOSCHED_OK);
    return v;
}

/* --- Strings that are right ----------------------------------------------- */
static const struct right {
    const char *text, *name;
    int64_t     knob, nomerges, tick;
} right[] = {
    { "line", "line", 7, 0, 0 },
    { "queue", "line", 7, 0, 0 },
    { "line:1.0", "line", 11, 2, 0 },
    { "queue:1.0", "line", 11, 2, 0 },
    { "line,knob=3", "line", 3, 0, 0 },
    { "line,knob=0,nomerges=1,tick_ns=5", "line", 0, 1, 5 },
    { "line:1.0,knob=100", "line", 100, 2, 0 },
    { "line:1.0,nomerges=0", "line", 11, 0, 0 },
    { "line,tick_ns=7ns", "line", 7, 0, 7 },
    { "line,tick_ns=7us", "line", 7, 0, 7000 },
    { "line,tick_ns=7ms", "line", 7, 0, 7000000 },
    { "line,tick_ns=1s", "line", 7, 0, 1000000000 },
    { "line,tick_ns=0s,knob=9", "line", 9, 0, 0 },
};

static void expect_right(const struct iosched *s, const struct right *r)
{
    ck_assert_str_eq(iosched_policy_name(s), r->name);
    ck_assert_int_eq(tunable(s, "knob"), r->knob);
    ck_assert_int_eq(tunable(s, "nomerges"), r->nomerges);
    ck_assert_int_eq(tunable(s, "tick_ns"), r->tick);
}

START_TEST(a_string_names_policy_preset_and_tunables_and_opens_a_scheduler)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start_at(right[_i].text, &cfg, 0);

    expect_right(s, &right[_i]);
    stop(s, 0);
}
END_TEST

START_TEST(the_same_string_switches_and_tunables_start_from_it)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start_at("line,knob=77,nomerges=1,tick_ns=3", &cfg, 0);

    ck_assert_int_eq(iosched_tunable_set(s, "max_sectors_kb", 9, 0), 0);
    ck_assert_int_eq(iosched_switch(s, right[_i].text, 0), IOSCHED_OK);
    expect_right(s, &right[_i]);
    ck_assert_int_eq(tunable(s, "max_sectors_kb"), 512);
    ck_assert_uint_eq(stats_of(s).switches, 1);
    stop(s, 0);
}
END_TEST

START_TEST(the_string_is_not_kept)
{
    char text[] = "line,knob=3";
    struct iosched_cfg cfg = config();
    struct iosched *s = start_at(text, &cfg, 0);

    memset(text, 'x', sizeof text - 1);
    ck_assert_str_eq(iosched_policy_name(s), "line");
    ck_assert_int_eq(tunable(s, "knob"), 3);
    stop(s, 0);
}
END_TEST

START_TEST(a_number_may_be_as_large_and_as_small_as_64_bits_hold)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start_at("line,wide=9223372036854775807", &cfg, 0);

    ck_assert_int_eq(tunable(s, "wide"), INT64_MAX);
    ck_assert_int_eq(iosched_switch(s, "line,wide=-9223372036854775808", 0), 0);
    ck_assert_int_eq(tunable(s, "wide"), INT64_MIN);
    ck_assert_int_eq(iosched_switch(s, "line,wide=-1", 0), 0);
    ck_assert_int_eq(tunable(s, "wide"), -1);
    stop(s, 0);
}
END_TEST

/* --- Strings that are wrong ----------------------------------------------- */
static const struct wrong {
    int         err;
    const char *text;
} wrong[] = {
    { IOSCHED_ERR_INVAL, "" },
    { IOSCHED_ERR_INVAL, ":" },
    { IOSCHED_ERR_INVAL, "," },
    { IOSCHED_ERR_INVAL, " line" },
    { IOSCHED_ERR_INVAL, "line " },
    { IOSCHED_ERR_INVAL, "LINE" },
    { IOSCHED_ERR_INVAL, "line;knob=3" },
    { IOSCHED_ERR_INVAL, "line:" },
    { IOSCHED_ERR_INVAL, "line:,knob=3" },
    { IOSCHED_ERR_INVAL, "line:1.0:1.0" },
    { IOSCHED_ERR_INVAL, "line," },
    { IOSCHED_ERR_INVAL, "line,knob" },
    { IOSCHED_ERR_INVAL, "line,knob=" },
    { IOSCHED_ERR_INVAL, "line,=3" },
    { IOSCHED_ERR_INVAL, "line,knob=3," },
    { IOSCHED_ERR_INVAL, "line,,knob=3" },
    { IOSCHED_ERR_INVAL, "line,knob=3x" },
    { IOSCHED_ERR_INVAL, "line,knob=3ms" },
    { IOSCHED_ERR_INVAL, "line,knob= 3" },
    { IOSCHED_ERR_INVAL, "line,knob=-" },
    { IOSCHED_ERR_INVAL, "line,knob=--3" },
    { IOSCHED_ERR_INVAL, "line,tick_ns=5m" },
    { IOSCHED_ERR_INVAL, "line,tick_ns=ms" },
    { IOSCHED_ERR_INVAL, "line,knob=5,nomerges" },
    { IOSCHED_ERR_INVAL, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
    { IOSCHED_ERR_INVAL, "line:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
    { IOSCHED_ERR_NOENT, "lin" },
    { IOSCHED_ERR_NOENT, "linee" },
    { IOSCHED_ERR_NOENT, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
    { IOSCHED_ERR_NOENT, "line:1" },
    { IOSCHED_ERR_NOENT, "line:1.0.0" },
    { IOSCHED_ERR_NOENT, "sick:1.0" },
    { IOSCHED_ERR_NOENT, "line,kno=3" },
    { IOSCHED_ERR_NOENT, "line,knobb=3" },
    { IOSCHED_ERR_NOENT, "line,knob=3,nope=1" },
    { IOSCHED_ERR_RANGE, "line,knob=101" },
    { IOSCHED_ERR_RANGE, "line,knob=-1" },
    { IOSCHED_ERR_RANGE, "line,knob=18446744073709551617" },
    { IOSCHED_ERR_RANGE, "line,knob=99999999999999999999999999" },
    { IOSCHED_ERR_RANGE, "line,wide=9223372036854775808" },
    { IOSCHED_ERR_RANGE, "line,wide=-9223372036854775809" },
    { IOSCHED_ERR_RANGE, "line,wide=92233720368547758070" },
    { IOSCHED_ERR_RANGE, "line,wide=18446744073709551617" },
    { IOSCHED_ERR_RANGE, "line,tick_ns=2s" },
    { IOSCHED_ERR_RANGE, "line,tick_ns=9223372036854775807s" },
    { IOSCHED_ERR_RANGE, "line,nomerges=3" },
    { IOSCHED_ERR_RANGE, "line,max_sectors_kb=0" },
    { IOSCHED_ERR_RANGE, "line,knob=9,nomerges=2,tick_ns=-1" },
    { -5, "sick" },
    { -5, "sick,tick_ns=1ms" },
};

/** One with something in every place: in flight, given back, held by a barrier,
 *  behind it, at the policy in a merge, a HEAD. */
static struct iosched *busy(const struct iosched_policy *const *list,
                            unsigned flags)
{
    struct iosched_cfg cfg = config();
    struct iosched *s;
    unsigned i;

    memset(rq, 0, sizeof rq);
    if (list != NULL)
        cfg.policies = list;
    cfg.depth = 4;
    cfg.flags = flags;
    s = start_at("line,knob=42,tick_ns=9", &cfg, 0);
    for (i = 0; i < 2; i++) {
        rq[i] = READ(1000 * (i + 1), 8);
        insert_ok(s, &rq[i], i);
        ck_assert_ptr_eq(next(s, i), &rq[i]);
    }
    ck_assert_int_eq(iosched_requeue(s, &rq[1], 2), IOSCHED_OK);
    rq[2] = WRITE(500, 8);
    rq[3] = WRITE(508, 8);
    rq[4] = READ(10, 8);
    rq[5] = request(IOSCHED_READ, 90, 8, IOSCHED_RQ_HEAD);
    rq[6] = request(IOSCHED_WRITE, 0, 8, IOSCHED_RQ_BARRIER);
    rq[7] = READ(700, 8);
    for (i = 2; i < 8; i++)
        insert_ok(s, &rq[i], i);
    ck_assert_int_eq(iosched_tunable_set(s, "max_sectors_kb", 99, 8), 0);
    return s;
}

static void finish_busy(struct iosched *s)
{
    static const unsigned order[] = { 1, 5, 2, 4, 6, 7 };
    unsigned i;

    complete_ok(s, &rq[0], 20);
    for (i = 0; i < COUNT(order); i++) {
        ck_assert_ptr_eq(next(s, 20), &rq[order[i]]);
        complete_ok(s, &rq[order[i]], 20);
    }
    for (i = 0; i < 8; i++)
        ck_assert_uint_eq(rq[i].t_insert, i);
    ck_assert_int_eq(answer(s, 20), IOSCHED_EMPTY);
    stop(s, 20);
}

START_TEST(a_bad_string_is_refused_by_switch_and_nothing_has_changed)
{
    struct iosched *s = busy(with_sick, 0);

    look(s, &was, 10);
    ck_assert_int_eq(iosched_switch(s, wrong[_i].text, 8), wrong[_i].err);
    same(s, &was, 10);
    ck_assert_int_eq(iosched_switch(s, wrong[_i].text, 8), wrong[_i].err);
    same(s, &was, 10);
    finish_busy(s);
}
END_TEST

START_TEST(a_bad_string_opens_no_scheduler)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = (void *)&cfg;

    cfg.policies = with_sick;
    ck_assert_int_eq(iosched_create(wrong[_i].text, &cfg, &s, 0),
                     wrong[_i].err);
    ck_assert_ptr_null(s);
}
END_TEST

START_TEST(a_null_string_and_a_bad_time_are_refused)
{
    struct iosched *s = busy(NULL, 0);

    look(s, &was, 10);
    ck_assert_int_eq(iosched_switch(s, NULL, 8), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_switch(s, "line", IOSCHED_NEVER),
                     IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_switch(NULL, "line", 8), IOSCHED_ERR_INVAL);
    same(s, &was, 10);
    finish_busy(s);
}
END_TEST

START_TEST(no_switch_answers_notsup_and_nothing_has_changed)
{
    struct iosched *s = busy(NULL, IOSCHED_F_NO_SWITCH);

    look(s, &was, 10);
    ck_assert_int_eq(iosched_switch(s, "line", 8), IOSCHED_ERR_NOTSUP);
    ck_assert_int_eq(iosched_switch(s, "line,knob=1", 8), IOSCHED_ERR_NOTSUP);
    same(s, &was, 10);
    finish_busy(s);
}
END_TEST

/* --- Under load ----------------------------------------------------------- */
START_TEST(requeued_head_barrier_and_in_flight_stay_and_all_keep_their_age)
{
    struct iosched *s = busy(NULL, 0);
    unsigned i;

    for (i = 0; all_policies[i] != NULL; i++)
        ck_assert_int_eq(iosched_switch(s, all_policies[i]->name, 9),
                         IOSCHED_OK);
    ck_assert_int_eq(iosched_switch(s, "line", 9), IOSCHED_OK);
    ck_assert_uint_eq(rq[2].nmembers, 2);       /* merges move as they are */
    ck_assert_ptr_eq(iosched_carrier(&rq[3]), &rq[2]);
    ck_assert_uint_eq(iosched_inflight(s), 1);
    finish_busy(s);
}
END_TEST

START_TEST(queued_requests_move_in_order_of_arrival)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);
    unsigned i, k;

    for (i = 0; i < N; i++) {
        rq[i] = request(i & 1, 100 * (i * 7 % N), 8, 0);
        insert_ok(s, &rq[i], i);
    }
    for (i = 0; i < N; i++) {
        /* Through another policy, which sorts them its own way. */
        for (k = 0; all_policies[k] != NULL; k++)
            ck_assert_int_eq(iosched_switch(s, all_policies[k]->name, N), 0);
        ck_assert_int_eq(iosched_switch(s, "line", N), 0);
        ck_assert_ptr_eq(next(s, N), &rq[i]);
        complete_ok(s, &rq[i], N);
    }
    stop(s, N);
}
END_TEST

START_TEST(whatever_comes_a_switch_loses_nobody)
{
    struct iosched_cfg cfg = config();
    int n = list_policies();
    struct iosched_req *fly[4], *r;
    unsigned step, inflight = 0, k, switches = 0;
    uint64_t seed = 23, in = 0, out = 0;
    struct iosched *s;

    memset(rq, 0, sizeof rq);
    cfg.depth = 4;
    cfg.flags = IOSCHED_F_ORDER_OVERLAPS;
    s = start(&cfg);
    for (step = 0; step < 40000; step++) {
        unsigned what = rnd(&seed, 100);

        r = &rq[rnd(&seed, N)];
        if (what < 40 && r->state == IOSCHED_STATE_IDLE) {
            *r = random_request(&seed, 6, 50, 8, 1);
            maybe(&seed, 12, r, IOSCHED_RQ_HEAD);
            if (r->op == IOSCHED_WRITE && rnd(&seed, 4) == 0)
                r->flags |= IOSCHED_RQ_FUA;
            insert_ok(s, r, step);
            in++;
        } else if (what < 45) {
            ck_assert_int_eq(iosched_switch(
                s, all_policies[rnd(&seed, (uint32_t)n)]->name, step), 0);
            switches++;
        } else if (what < 70) {
            if ((r = next(s, step)) != NULL)
                fly[inflight++] = r;
        } else if (inflight > 0) {
            k = rnd(&seed, inflight);
            r = fly[k];
            fly[k] = fly[--inflight];
            if (what < 78)
                ck_assert_int_eq(iosched_requeue(s, r, step), 0);
            else if (iosched_complete(s, r, 0, step) == IOSCHED_OK)
                out += r->nmembers;
        }
    }
    while (inflight > 0) {
        r = fly[--inflight];
        if (iosched_complete(s, r, 0, step) == IOSCHED_OK)
            out += r->nmembers;
    }
    ck_assert_uint_eq(stats_of(s).switches, switches);
    while ((r = next(s, step)) != NULL)
        if (iosched_complete(s, r, 0, step) == IOSCHED_OK)
            out += r->nmembers;
    ck_assert_uint_eq(in, out);
    for (k = 0; k < N; k++)
        ck_assert_int_eq(rq[k].state, IOSCHED_STATE_IDLE);
    stop(s, step);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("switchpol");

    tcase_add_loop_test(tc,
        a_string_names_policy_preset_and_tunables_and_opens_a_scheduler, 0,
        (int)COUNT(right));
    tcase_add_loop_test(tc, the_same_string_switches_and_tunables_start_from_it,
                        0, (int)COUNT(right));
    tcase_add_test(tc, the_string_is_not_kept);
    tcase_add_test(tc, a_number_may_be_as_large_and_as_small_as_64_bits_hold);
    tcase_add_loop_test(tc,
        a_bad_string_is_refused_by_switch_and_nothing_has_changed, 0,
        (int)COUNT(wrong));
    tcase_add_loop_test(tc, a_bad_string_opens_no_scheduler, 0,
                        (int)COUNT(wrong));
    tcase_add_test(tc, a_null_string_and_a_bad_time_are_refused);
    tcase_add_test(tc, no_switch_answers_notsup_and_nothing_has_changed);
    tcase_add_test(tc,
        requeued_head_barrier_and_in_flight_stay_and_all_keep_their_age);
    tcase_add_test(tc, queued_requests_move_in_order_of_arrival);
    tcase_add_test(tc, whatever_comes_a_switch_loses_nobody);
    return run_case(tc, "switchpol");
}
