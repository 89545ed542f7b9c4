/* SPDX-License-Identifier: BSD-2-Clause */
/* freeze.c - freeze and thaw, the forced drain, and that dispatch_many chooses
 * what as many dispatches would. */
#include "api.h"

#define N 40u
static struct iosched_req rq[N];

/* --- Freeze --------------------------------------------------------------- */
START_TEST(while_frozen_all_goes_on_but_dispatch)
{
    struct iosched_cfg cfg = config();
    struct iosched *s;
    unsigned i;

    cfg.depth = 4;
    s = start(&cfg);
    for (i = 0; i < 4; i++) {
        rq[i] = READ(100 * i, 8);
        insert_ok(s, &rq[i], 0);
    }
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_ptr_eq(next(s, 0), &rq[1]);
    ck_assert_int_eq(iosched_freeze(s, 1), IOSCHED_OK);
    ck_assert_int_eq(answer(s, 1), IOSCHED_FROZEN);
    complete_ok(s, &rq[0], 2);
    ck_assert_int_eq(answer(s, 2), IOSCHED_FROZEN);
    ck_assert_int_eq(iosched_requeue(s, &rq[1], 2), IOSCHED_OK);
    rq[4] = request(IOSCHED_READ, 8, 8, IOSCHED_RQ_HEAD);
    rq[5] = READ(308, 8);
    ck_assert_int_eq(iosched_insert(s, &rq[4], 3), IOSCHED_QUEUED);
    ck_assert_int_eq(iosched_insert(s, &rq[5], 3), IOSCHED_MERGED_BACK);
    ck_assert_int_eq(iosched_cancel(s, &rq[2], 3), IOSCHED_OK);
    ck_assert_int_eq(iosched_expire(s, 3), 0);
    ck_assert_int_eq(iosched_switch(s, "line", 3), IOSCHED_OK);
    ck_assert_int_eq(iosched_set_depth(s, 3, 3), IOSCHED_OK);
    ck_assert_int_eq(answer(s, 3), IOSCHED_FROZEN);
    ck_assert_uint_eq(iosched_queued(s), 4);
    ck_assert_int_eq(iosched_thaw(s, 4), IOSCHED_OK);
    ck_assert_ptr_eq(next(s, 4), &rq[1]);
    ck_assert_ptr_eq(next(s, 4), &rq[4]);
    ck_assert_ptr_eq(next(s, 4), &rq[3]);
    for (i = 1; i < 5; i++)
        if (i != 2)
            complete_ok(s, &rq[i], 4);
    stop(s, 4);
}
END_TEST

START_TEST(freeze_nests_and_the_last_thaw_counts)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);
    unsigned i;

    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], 0);
    for (i = 0; i < 5; i++)
        ck_assert_int_eq(iosched_freeze(s, 0), IOSCHED_OK);
    for (i = 0; i < 5; i++) {
        ck_assert_int_eq(answer(s, 0), IOSCHED_FROZEN);
        ck_assert_int_eq(iosched_thaw(s, 0), IOSCHED_OK);
    }
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    complete_ok(s, &rq[0], 0);
    stop(s, 0);
}
END_TEST

START_TEST(thaw_of_what_is_not_frozen_is_refused)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);

    ck_assert_int_eq(iosched_thaw(s, 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_freeze(s, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_thaw(s, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_thaw(s, 0), IOSCHED_ERR_STATE);
    stop(s, 0);
}
END_TEST

START_TEST(force_and_dispatch_many_respect_a_freeze)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);
    struct iosched_req *out[4];
    uint32_t n = 9;

    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_int_eq(iosched_freeze(s, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_dispatch(s, out, IOSCHED_DISPATCH_FORCE, 0),
                     IOSCHED_FROZEN);
    ck_assert_int_eq(iosched_dispatch_many(s, out, 4, &n, 0, 0),
                     IOSCHED_FROZEN);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(iosched_thaw(s, 0), IOSCHED_OK);
    stop(s, 0);
}
END_TEST

START_TEST(a_frozen_scheduler_can_be_destroyed_if_it_is_empty)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);

    ck_assert_int_eq(iosched_freeze(s, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_destroy(s), IOSCHED_OK);
}
END_TEST

/* --- A policy that likes to wait ------------------------------------------ */
/** "lazy" is "line", but answers HOLD for 5 ms after each it sends off. */
struct lazy {
    struct line  line;
    iosched_time until;
};

static int lazy_dispatch(void *state, unsigned flags)
{
    struct lazy *lz = state;
    iosched_time now = iosched_core_now(lz->line.core);

    if (now < lz->until && !(flags & IOSCHED_DISPATCH_FORCE)) {
        iosched_core_arm(lz->line.core, 2, lz->until);
        return IOSCHED_HOLD;
    }
    lz->until = now + IOSCHED_MSEC(5);
    return line_dispatch(&lz->line, flags);
}

static const struct iosched_policy lazy_policy = {
    .struct_size = sizeof(struct iosched_policy),
    .api         = IOSCHED_POLICY_API,
    .name        = "lazy",
    .help        = "in order of arrival, slowly",
    .state_size  = sizeof(struct lazy),
    .init        = line_init,
    .insert      = line_insert,
    .dispatch    = lazy_dispatch,
    .removed     = line_removed,
    .evict       = line_evict,
    .dump        = line_dump,
};

static const struct iosched_policy *const lazy_list[] = { &lazy_policy, NULL };

static struct iosched *start_lazy(uint32_t depth)
{
    struct iosched_cfg cfg = config();
    struct iosched *s;
    unsigned i;

    cfg.depth = depth;
    cfg.policies = lazy_list;
    s = start_at("lazy", &cfg, 0);
    for (i = 0; i < 6; i++) {
        rq[i] = READ(100 * (6 - i), 8);
        insert_ok(s, &rq[i], 0);
    }
    return s;
}

START_TEST(a_hold_ends_when_the_time_it_named_has_come)
{
    struct iosched *s = start_lazy(8);

    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(answer(s, 0), IOSCHED_HOLD);
    ck_assert_uint_eq(iosched_next_expiry(s), IOSCHED_MSEC(5));
    ck_assert_int_eq(iosched_expire(s, IOSCHED_MSEC(5) - 1), 0);
    ck_assert_int_eq(answer(s, IOSCHED_MSEC(5) - 1), IOSCHED_HOLD);
    ck_assert_int_eq(iosched_expire(s, IOSCHED_MSEC(5)), 1);
    ck_assert_ptr_eq(next(s, IOSCHED_MSEC(5)), &rq[1]);
    complete_ok(s, &rq[0], IOSCHED_MSEC(5));
    complete_ok(s, &rq[1], IOSCHED_MSEC(5));
    stop(s, IOSCHED_MSEC(5));
}
END_TEST

START_TEST(a_forced_drain_does_not_wait_and_the_order_stays)
{
    struct iosched *s = start_lazy(8);
    struct iosched_req *r;
    unsigned i;

    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    for (i = 1; i < 6; i++) {
        ck_assert_int_eq(iosched_dispatch(s, &r, IOSCHED_DISPATCH_FORCE, 0),
                         IOSCHED_GOT);
        ck_assert_ptr_eq(r, &rq[i]);
    }
    ck_assert_int_eq(iosched_dispatch(s, &r, IOSCHED_DISPATCH_FORCE, 0),
                     IOSCHED_EMPTY);
    for (i = 0; i < 6; i++)
        complete_ok(s, &rq[i], 0);
    stop(s, 0);
}
END_TEST

START_TEST(a_forced_drain_keeps_to_the_depth)
{
    struct iosched *s = start_lazy(2);
    struct iosched_req *out[6];
    uint32_t n;

    ck_assert_int_eq(iosched_dispatch_many(s, out, 6, &n,
                                           IOSCHED_DISPATCH_FORCE, 0),
                     IOSCHED_FULL);
    ck_assert_uint_eq(n, 2);
    complete_ok(s, out[0], 0);
    complete_ok(s, out[1], 0);
    stop(s, 0);
}
END_TEST

/* --- Many at once --------------------------------------------------------- */
START_TEST(dispatch_many_says_why_it_stopped)
{
    struct iosched *s = start_lazy(8);
    struct iosched_req *out[8];
    uint32_t n;

    ck_assert_int_eq(iosched_dispatch_many(s, out, 1, &n, 0, 0), IOSCHED_GOT);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(iosched_dispatch_many(s, out, 8, &n, 0, 0), IOSCHED_HOLD);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(iosched_dispatch_many(s, out, 8, &n,
                                           IOSCHED_DISPATCH_FORCE, 0),
                     IOSCHED_EMPTY);
    ck_assert_uint_eq(n, 5);
    n = 7;
    ck_assert_int_lt(iosched_dispatch_many(s, out, 8, &n, 0, IOSCHED_NEVER), 0);
    ck_assert_uint_eq(n, 0);
    for (n = 0; n < 6; n++)
        complete_ok(s, &rq[n], 0);
    stop(s, 0);
}
END_TEST

/** Twins: one is asked for many, the other as often for one. */
static struct twin {
    struct iosched    *s;
    struct iosched_req rq[N];
    struct iosched_req *fly[8];
    unsigned           n;
} twin[2];

static void twins_dispatch(uint32_t max, unsigned flags, iosched_time now)
{
    struct iosched_req *many[8];
    struct iosched_req *one = NULL;
    uint32_t n, i;
    int a, b = IOSCHED_GOT;

    a = iosched_dispatch_many(twin[0].s, many, max, &n, flags, now);
    for (i = 0; i < max && b == IOSCHED_GOT; i++) {
        b = iosched_dispatch(twin[1].s, &one, flags, now);
        if (b != IOSCHED_GOT)
            break;
        ck_assert_uint_lt(i, n);
        ck_assert_int_eq(many[i] - twin[0].rq, one - twin[1].rq);
        ck_assert_int_eq(many[i]->tag, one->tag);
        ck_assert_int_eq(many[i]->phase, one->phase);
        twin[0].fly[twin[0].n++] = many[i];
        twin[1].fly[twin[1].n++] = one;
    }
    ck_assert_uint_eq(i, n);
    ck_assert_int_eq(a, b);
}

static void twins_insert(unsigned k, uint64_t *seed, iosched_time now)
{
    struct iosched_req fresh = random_request(seed, 6, 60, 8, 1);
    unsigned t;

    maybe(seed, 9, &fresh, IOSCHED_RQ_HEAD);
    if (twin[0].rq[k].state != IOSCHED_STATE_IDLE)
        return;
    if (fresh.op == IOSCHED_WRITE && rnd(seed, 5) == 0)
        fresh.flags |= IOSCHED_RQ_FUA;
    for (t = 0; t < 2; t++) {
        twin[t].rq[k] = fresh;
        insert_ok(twin[t].s, &twin[t].rq[k], now);
    }
}

static void twins_finish(unsigned k, unsigned how, iosched_time now)
{
    unsigned t;

    for (t = 0; t < 2; t++) {
        struct iosched_req *r = twin[t].fly[k];

        twin[t].fly[k] = twin[t].fly[--twin[t].n];
        ck_assert_int_ge(how == 0   ? iosched_requeue(twin[t].s, r, now)
                         : how == 1 ? iosched_queue_full(twin[t].s, r, now)
                                    : iosched_complete(twin[t].s, r, 0, now),
                         0);
    }
}

START_TEST(dispatch_many_chooses_what_as_many_dispatches_would)
{
    struct iosched_cfg cfg = config();
    struct picture *p = malloc(sizeof *p);
    uint64_t seed = 11 + (uint64_t)_i;
    iosched_time now = 0;
    unsigned step, t;

    ck_assert_ptr_nonnull(p);
    cfg.depth = 8;
    memset(twin, 0, sizeof twin);
    for (t = 0; t < 2; t++)
        twin[t].s = start_at(all_policies[_i]->name, &cfg, 0);
    for (step = 0; step < 20000; step++) {
        unsigned what = rnd(&seed, 10);

        now += rnd(&seed, 1000000);
        if (what < 4)
            twins_insert(rnd(&seed, N), &seed, now);
        else if (what < 6)
            twins_dispatch(1 + step % 8,
                           rnd(&seed, 4) == 0 ? IOSCHED_DISPATCH_FORCE : 0,
                           now);
        else if (what == 6)
            for (t = 0; t < 2; t++)
                ck_assert_int_ge(iosched_expire(twin[t].s, now), 0);
        else if (twin[0].n > 0)
            twins_finish(step % twin[0].n, rnd(&seed, 16), now);
        if (step % 500 == 0) {
            look(twin[0].s, p, now);
            same(twin[1].s, p, now);
        }
    }
    while (twin[0].n > 0)
        twins_finish(0, 9, now);
    for (t = 0; t < 2; t++)
        stop(twin[t].s, now);
    free(p);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("freeze");

    tcase_add_test(tc, while_frozen_all_goes_on_but_dispatch);
    tcase_add_test(tc, freeze_nests_and_the_last_thaw_counts);
    tcase_add_test(tc, thaw_of_what_is_not_frozen_is_refused);
    tcase_add_test(tc, force_and_dispatch_many_respect_a_freeze);
    tcase_add_test(tc, a_frozen_scheduler_can_be_destroyed_if_it_is_empty);
    tcase_add_test(tc, a_hold_ends_when_the_time_it_named_has_come);
    tcase_add_test(tc, a_forced_drain_does_not_wait_and_the_order_stays);
    tcase_add_test(tc, a_forced_drain_keeps_to_the_depth);
    tcase_add_test(tc, dispatch_many_says_why_it_stopped);
    tcase_add_loop_test(tc,
        dispatch_many_chooses_what_as_many_dispatches_would, 0,
        list_policies());
    return run_case(tc, "freeze");
}
