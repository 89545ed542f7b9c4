/* SPDX-License-Identifier: BSD-2-Clause */
/* overlap.c - IOSCHED_F_ORDER_OVERLAPS: what overlaps and writes keeps its
 * order, and nothing else is held. */
#include "api.h"

#define N 96u
static struct iosched_req rq[N];

static struct iosched *start_ordered(uint32_t depth, uint32_t hint)
{
    struct iosched_cfg cfg = config();

    memset(rq, 0, sizeof rq);
    cfg.flags = IOSCHED_F_ORDER_OVERLAPS;
    cfg.depth = depth;
    cfg.queued_hint = hint;
    return start(&cfg);
}

static int writes(unsigned op)
{
    return op != IOSCHED_READ;
}

/* --- Pairs ---------------------------------------------------------------- */
START_TEST(a_later_request_is_held_if_it_overlaps_and_either_writes)
{
    unsigned a, b;

    for (a = IOSCHED_READ; a <= IOSCHED_ZEROES; a++)
        for (b = IOSCHED_READ; b <= IOSCHED_ZEROES; b++) {
            struct iosched *s = start_ordered(4, 0);

            rq[0] = request(a, 100, 8, 0);
            rq[1] = request(b, 107, 8, 0);
            insert_ok(s, &rq[0], 0);
            insert_ok(s, &rq[1], 0);
            ck_assert_ptr_eq(next(s, 0), &rq[0]);
            if (writes(a) || writes(b)) {
                ck_assert_int_eq(answer(s, 0), IOSCHED_HOLD);
                ck_assert_uint_eq(stats_of(s).overlap_waits, 1);
                complete_ok(s, &rq[0], 0);
                ck_assert_ptr_eq(next(s, 0), &rq[1]);
                complete_ok(s, &rq[1], 0);
            } else {
                ck_assert_ptr_eq(next(s, 0), &rq[1]);
                ck_assert_uint_eq(stats_of(s).overlap_waits, 0);
                complete_ok(s, &rq[1], 0);
                complete_ok(s, &rq[0], 0);
            }
            stop(s, 0);
        }
}
END_TEST

START_TEST(requests_that_only_touch_are_not_held)
{
    struct iosched *s = start_ordered(4, 0);
    unsigned i;

    for (i = 0; i < 3; i++)
        rq[i] = request(IOSCHED_WRITE, 108 - 8 * i, 8, IOSCHED_RQ_NOMERGE);
    for (i = 0; i < 3; i++)
        insert_ok(s, &rq[i], 0);
    for (i = 0; i < 3; i++)
        ck_assert_ptr_eq(next(s, 0), &rq[i]);
    for (i = 0; i < 3; i++)
        complete_ok(s, &rq[i], 0);
    stop(s, 0);
}
END_TEST

START_TEST(without_the_flag_nothing_is_held)
{
    struct iosched_cfg cfg = config();
    struct iosched *s;

    cfg.depth = 2;
    s = start(&cfg);
    rq[0] = WRITE(0, 8);
    rq[1] = request(IOSCHED_READ, 0, 8, IOSCHED_RQ_HEAD);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[1]);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    complete_ok(s, &rq[0], 0);
    complete_ok(s, &rq[1], 0);
    stop(s, 0);
}
END_TEST

START_TEST(head_is_held_by_an_earlier_overlap_and_holds_a_later_one)
{
    struct iosched *s = start_ordered(4, 0);

    rq[0] = WRITE(0, 8);
    rq[1] = request(IOSCHED_WRITE, 4, 8, IOSCHED_RQ_HEAD);
    rq[2] = READ(10, 8);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    insert_ok(s, &rq[2], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(answer(s, 0), IOSCHED_HOLD);
    complete_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[1]);
    ck_assert_int_eq(answer(s, 0), IOSCHED_HOLD);
    complete_ok(s, &rq[1], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[2]);
    complete_ok(s, &rq[2], 0);
    stop(s, 0);
}
END_TEST

START_TEST(flush_and_pass_overlap_nothing)
{
    struct iosched *s = start_ordered(4, 0);

    rq[0] = WRITE(0, 8);
    rq[1] = request(IOSCHED_FLUSH, 0, 8, 0);
    rq[2] = request(IOSCHED_PASS, 0, 8, 0);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    insert_ok(s, &rq[2], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[1]);
    ck_assert_ptr_eq(next(s, 0), &rq[2]);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    complete_ok(s, &rq[0], 0);
    complete_ok(s, &rq[1], 0);
    complete_ok(s, &rq[2], 0);
    stop(s, 0);
}
END_TEST

/* --- Chains --------------------------------------------------------------- */
START_TEST(a_chain_of_overlapping_writes_goes_in_order_of_arrival)
{
    struct iosched *s = start_ordered(8, 0);
    unsigned i;

    for (i = 0; i < 20; i++) {
        rq[i] = WRITE(100 - 3 * i, 4);
        insert_ok(s, &rq[i], i);
    }
    for (i = 0; i < 20; i++) {
        ck_assert_ptr_eq(next(s, 20), &rq[i]);
        ck_assert_int_eq(answer(s, 20), i < 19 ? IOSCHED_HOLD : IOSCHED_EMPTY);
        complete_ok(s, &rq[i], 20);
    }
    stop(s, 20);
}
END_TEST

START_TEST(readers_between_two_writes_go_together)
{
    struct iosched *s = start_ordered(8, 0);
    unsigned i;

    rq[0] = WRITE(0, 100);
    for (i = 1; i < 5; i++)
        rq[i] = request(IOSCHED_READ, 10 * i, 10, IOSCHED_RQ_NOMERGE);
    rq[5] = WRITE(0, 100);
    rq[6] = READ(0, 1);
    for (i = 0; i < 7; i++)
        insert_ok(s, &rq[i], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(answer(s, 0), IOSCHED_HOLD);
    complete_ok(s, &rq[0], 0);
    for (i = 1; i < 5; i++)
        ck_assert_ptr_eq(next(s, 0), &rq[i]);
    ck_assert_int_eq(answer(s, 0), IOSCHED_HOLD);
    for (i = 4; i > 0; i--) {
        ck_assert_int_eq(answer(s, 0), IOSCHED_HOLD);
        complete_ok(s, &rq[i], 0);
    }
    ck_assert_ptr_eq(next(s, 0), &rq[5]);
    ck_assert_int_eq(answer(s, 0), IOSCHED_HOLD);
    complete_ok(s, &rq[5], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[6]);
    complete_ok(s, &rq[6], 0);
    stop(s, 0);
}
END_TEST

START_TEST(a_request_waits_for_all_phases_of_an_earlier_overlap)
{
    struct iosched *s = start_ordered(8, 0);
    unsigned i;

    rq[0] = request(IOSCHED_WRITE, 0, 8, IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA);
    rq[1] = READ(0, 8);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    for (i = 0; i < 3; i++) {
        ck_assert_ptr_eq(next(s, 0), &rq[0]);
        ck_assert_int_eq(answer(s, 0), IOSCHED_HOLD);
        ck_assert_int_ge(iosched_complete(s, &rq[0], 0, 0), 0);
    }
    ck_assert_ptr_eq(next(s, 0), &rq[1]);
    complete_ok(s, &rq[1], 0);
    stop(s, 0);
}
END_TEST

START_TEST(cancel_of_the_earlier_one_lets_the_later_go)
{
    struct iosched *s = start_ordered(2, 0);

    rq[0] = WRITE(0, 8);
    rq[1] = WRITE(4, 8);
    rq[2] = WRITE(8, 8);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    insert_ok(s, &rq[2], 0);            /* waits for 1, which waits for 0 */
    ck_assert_int_eq(iosched_cancel(s, &rq[1], 0), IOSCHED_OK);
    ck_assert_int_eq(rq[1].state, IOSCHED_STATE_IDLE);
    drain(s, 0);
    ck_assert_uint_eq(stats_of(s).completed[IOSCHED_WRITE], 2);
    stop(s, 0);
}
END_TEST

START_TEST(what_is_aborted_counts_as_complete)
{
    struct iosched *s = start_ordered(2, 0);

    rq[0] = WRITE(0, 8);
    rq[1] = READ(0, 8);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_abort(s, &rq[0], 0), IOSCHED_OK);
    ck_assert_ptr_eq(next(s, 0), &rq[1]);
    complete_ok(s, &rq[1], 0);
    ck_assert_int_eq(iosched_tag_release(s, rq[0].tag, 0), IOSCHED_OK);
    stop(s, 0);
}
END_TEST

START_TEST(a_requeued_request_still_holds_the_later_one)
{
    struct iosched *s = start_ordered(2, 0);

    rq[0] = WRITE(0, 8);
    rq[1] = request(IOSCHED_READ, 0, 8, IOSCHED_RQ_HEAD);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_requeue(s, &rq[0], 0), IOSCHED_OK);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(answer(s, 0), IOSCHED_HOLD);
    complete_ok(s, &rq[0], 0);
    stop(s, 0);
}
END_TEST

/* --- Beyond queued_hint --------------------------------------------------- */
START_TEST(beyond_queued_hint_all_are_accepted_and_go_in_order_of_arrival)
{
    struct iosched *s = start_ordered(1, 1);
    unsigned i;

    for (i = 0; i < N; i++) {
        rq[i] = request(IOSCHED_WRITE, 8 * (N - i), 8, IOSCHED_RQ_NOMERGE);
        insert_ok(s, &rq[i], 0);
    }
    ck_assert_uint_eq(iosched_queued(s), N);
    for (i = 0; i < N; i++) {
        ck_assert_ptr_eq(next(s, 0), &rq[i]);
        complete_ok(s, &rq[i], 0);
    }
    stop(s, 0);
}
END_TEST

START_TEST(with_the_pool_exhausted_a_free_slot_yields_a_dispatch_at_once)
{
    struct iosched *s = start_ordered(3, 1);
    unsigned i, n = 0;
    struct iosched_req *fly[3], *r;

    for (i = 0; i < 60; i++) {
        rq[i] = request(IOSCHED_READ, 8 * i, 8, IOSCHED_RQ_NOMERGE);
        insert_ok(s, &rq[i], 0);
    }
    while ((r = next(s, 0)) != NULL)
        fly[n++] = r;
    ck_assert_uint_eq(n, 3);
    for (i = 0; i < 57; i++) {
        complete_ok(s, fly[i % 3], 0);
        fly[i % 3] = next(s, 0);
        ck_assert_ptr_nonnull(fly[i % 3]);
    }
    for (i = 0; i < 3; i++)
        complete_ok(s, fly[i], 0);
    stop(s, 0);
}
END_TEST

START_TEST(cancel_of_one_that_waits_for_room_takes_it_and_nobody_else)
{
    struct iosched *s = start_ordered(1, 1);
    unsigned i, served = 0;
    struct iosched_req *r;

    for (i = 0; i < 20; i++) {
        rq[i] = WRITE(0, 8);
        insert_ok(s, &rq[i], 0);
    }
    for (i = 1; i < 20; i += 2)
        ck_assert_int_eq(iosched_cancel(s, &rq[i], 0), IOSCHED_OK);
    for (i = 0; (r = next(s, 0)) != NULL; i += 2) {
        ck_assert_ptr_eq(r, &rq[i]);
        complete_ok(s, r, 0);
        served++;
    }
    ck_assert_uint_eq(served, 10);
    stop(s, 0);
}
END_TEST

/* --- A naive referee ------------------------------------------------------ */
static unsigned arrival[N];

static int conflict(const struct iosched_req *a, const struct iosched_req *b)
{
    return a->op < IOSCHED_FLUSH && b->op < IOSCHED_FLUSH &&
           (writes(a->op) || writes(b->op)) && a->lba < b->lba + b->nblk &&
           b->lba < a->lba + a->nblk;
}

/** r is about to be issued: nothing earlier that conflicts is under way. */
static void referee(const struct iosched_req *r)
{
    const struct iosched_req *m;
    unsigned i;

    for (m = r->first_member; m != NULL; m = m->next_member)
        for (i = 0; i < N; i++)
            if (rq[i].state != IOSCHED_STATE_IDLE &&
                arrival[i] < arrival[m - rq] && conflict(&rq[i], m))
                ck_abort_msg("request %u passed request %u",
                             arrival[m - rq], arrival[i]);
}

/** Switch, cancel, abort and all: `what` 0 .. 99 chooses. */
static void random_step(struct iosched *s, unsigned what, uint64_t *seed,
                        struct iosched_req *r, iosched_time now)
{
    static unsigned arrivals;

    if (what < 40 && r->state == IOSCHED_STATE_IDLE) {
        *r = random_request(seed, 6, 80, 1, 12);
        maybe(seed, 8, r, IOSCHED_RQ_HEAD);
        maybe(seed, 50, r, IOSCHED_RQ_BARRIER);
        if (r->op == IOSCHED_WRITE && rnd(seed, 6) == 0)
            r->flags |= IOSCHED_RQ_PREFLUSH;
        arrival[r - rq] = ++arrivals;
        insert_ok(s, r, now);
    } else if (what < 43 && (r->state == IOSCHED_STATE_QUEUED ||
                             r->state == IOSCHED_STATE_ABSORBED)) {
        int err = iosched_cancel(s, r, now);

        ck_assert(err == IOSCHED_OK || err == IOSCHED_ERR_STATE);
    } else if (what == 43) {
        ck_assert_int_eq(iosched_switch(s, all_policies[rnd(seed, 2) &&
                                        all_policies[1] ? 1 : 0]->name, now),
                         IOSCHED_OK);
    }
}

START_TEST(whatever_comes_nothing_passes_an_earlier_one_it_conflicts_with)
{
    static const uint32_t hints[] = { 1, 16, 256 };
    uint64_t seed = 77 + (uint64_t)_i;
    struct iosched *s = start_ordered(5, hints[_i]);
    struct iosched_req *fly[5], *r;
    unsigned step, n = 0, k, issued = 0;

    for (step = 0; step < 60000; step++) {
        unsigned what = rnd(&seed, 100);

        if (what < 44) {
            random_step(s, what, &seed, &rq[rnd(&seed, N)], step);
        } else if (what < 70) {
            if ((r = next(s, step)) != NULL) {
                referee(r);
                fly[n++] = r;
                issued++;
            }
        } else if (n > 0) {
            k = rnd(&seed, n);
            r = fly[k];
            fly[k] = fly[--n];
            if (what == 99) {
                ck_assert_int_eq(iosched_abort(s, r, step), IOSCHED_OK);
                ck_assert_int_eq(iosched_tag_release(s, r->tag, step), 0);
            } else {
                ck_assert_int_ge(what > 95 ? iosched_requeue(s, r, step)
                                           : iosched_complete(s, r, 0, step),
                                 0);
            }
        }
        /* Something queued and nothing in flight: it never stands still. */
        if (n == 0 && iosched_queued(s) > 0 && what == 50 &&
            (r = next(s, step)) != NULL) {
            referee(r);
            fly[n++] = r;
        } else if (n == 0 && what == 50) {
            ck_assert_uint_eq(iosched_queued(s), 0);
        }
    }
    ck_assert_uint_gt(issued, 5000);
    ck_assert_uint_gt(stats_of(s).overlap_waits, 100);
    while (n > 0)
        ck_assert_int_ge(iosched_complete(s, fly[--n], 0, step), 0);
    while ((r = next(s, step)) != NULL) {
        referee(r);
        ck_assert_int_ge(iosched_complete(s, r, 0, step), 0);
    }
    ck_assert_uint_eq(iosched_queued(s), 0);
    stop(s, step);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("overlap");

    tcase_add_test(tc,
        a_later_request_is_held_if_it_overlaps_and_either_writes);
    tcase_add_test(tc, requests_that_only_touch_are_not_held);
    tcase_add_test(tc, without_the_flag_nothing_is_held);
    tcase_add_test(tc,
        head_is_held_by_an_earlier_overlap_and_holds_a_later_one);
    tcase_add_test(tc, flush_and_pass_overlap_nothing);
    tcase_add_test(tc, a_chain_of_overlapping_writes_goes_in_order_of_arrival);
    tcase_add_test(tc, readers_between_two_writes_go_together);
    tcase_add_test(tc, a_request_waits_for_all_phases_of_an_earlier_overlap);
    tcase_add_test(tc, cancel_of_the_earlier_one_lets_the_later_go);
    tcase_add_test(tc, what_is_aborted_counts_as_complete);
    tcase_add_test(tc, a_requeued_request_still_holds_the_later_one);
    tcase_add_test(tc,
        beyond_queued_hint_all_are_accepted_and_go_in_order_of_arrival);
    tcase_add_test(tc,
        with_the_pool_exhausted_a_free_slot_yields_a_dispatch_at_once);
    tcase_add_test(tc,
        cancel_of_one_that_waits_for_room_takes_it_and_nobody_else);
    tcase_add_loop_test(tc,
        whatever_comes_nothing_passes_an_earlier_one_it_conflicts_with, 0, 3);
    return run_case(tc, "overlap");
}
