/* SPDX-License-Identifier: BSD-2-Clause */
/* ops.c - the six ops, and what goes past the policy: HEAD, PASS, FLUSH and
 * BARRIER. */
#include "api.h"

#define N 128u
static struct iosched_req rq[N];

static struct iosched *start_deep(uint32_t depth, uint32_t head_burst)
{
    struct iosched_cfg cfg = config();

    cfg.depth = depth;
    cfg.head_burst = head_burst;
    return start(&cfg);
}

START_TEST(every_op_goes_in_comes_out_and_is_counted)
{
    struct iosched *s = start_deep(1, 0);
    unsigned op;

    for (op = IOSCHED_READ; op <= IOSCHED_PASS; op++) {
        uint64_t blocks = op < IOSCHED_FLUSH ? 3 : 0;

        rq[0] = request(op, 1000 * op, 3, 0);
        ck_assert_int_eq(iosched_insert(s, &rq[0], 0), IOSCHED_QUEUED);
        ck_assert_ptr_eq(next(s, 0), &rq[0]);
        ck_assert_uint_eq(rq[0].op, op);
        ck_assert_int_eq(rq[0].phase, op == IOSCHED_FLUSH
                                          ? IOSCHED_PHASE_PREFLUSH
                                          : IOSCHED_PHASE_DATA);
        complete_ok(s, &rq[0], 0);
        ck_assert_uint_eq(stats_of(s).inserted[op], 1);
        ck_assert_uint_eq(stats_of(s).completed[op], 1);
        ck_assert_uint_eq(stats_of(s).blocks[op], blocks);
    }
    stop(s, 0);
}
END_TEST

START_TEST(pass_needs_no_length_and_its_lba_is_ignored)
{
    struct iosched_cfg cfg = config();
    struct iosched *s;

    cfg.capacity_nblk = 10;
    s = start(&cfg);
    rq[0] = request(IOSCHED_PASS, UINT64_MAX, 0, 0);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    complete_ok(s, &rq[0], 0);
    stop(s, 0);
}
END_TEST

START_TEST(head_and_pass_pass_what_the_policy_holds_in_order_of_arrival)
{
    struct iosched *s = start_deep(1, 0);
    static const unsigned order[] = { 2, 3, 4, 0, 1 };
    unsigned i;

    rq[0] = WRITE(0, 8);
    rq[1] = READ(100, 8);
    rq[2] = request(IOSCHED_READ, 900, 8, IOSCHED_RQ_HEAD);
    rq[3] = request(IOSCHED_PASS, 0, 0, 0);
    rq[4] = request(IOSCHED_WRITE, 50, 8, IOSCHED_RQ_HEAD);
    for (i = 0; i < 5; i++)
        insert_ok(s, &rq[i], i);
    for (i = 0; i < 5; i++) {
        ck_assert_ptr_eq(next(s, 9), &rq[order[i]]);
        complete_ok(s, &rq[order[i]], 9);
    }
    ck_assert_uint_eq(stats_of(s).heads, 3);
    stop(s, 9);
}
END_TEST

/** head_burst HEADs in a row, then one of the policy's, and so on. */
static void bursts(struct iosched *s, unsigned burst)
{
    unsigned i, heads = 0, n;
    struct iosched_req *r;

    for (i = 0; i < 4; i++) {
        rq[i] = READ(1000 + 100 * i, 8);
        insert_ok(s, &rq[i], 0);
    }
    for (i = 4; i < 4 + 3 * burst + 1; i++) {
        rq[i] = request(IOSCHED_WRITE, 8 * i, 8, IOSCHED_RQ_HEAD);
        insert_ok(s, &rq[i], 0);
    }
    for (n = 0; (r = next(s, 0)) != NULL; n++) {
        if (n % (burst + 1) == burst || heads == 3 * burst + 1)
            ck_assert_uint_eq(r->flags & IOSCHED_RQ_HEAD, 0);
        else
            ck_assert_uint_ne(r->flags & IOSCHED_RQ_HEAD, 0);
        heads += (r->flags & IOSCHED_RQ_HEAD) != 0;
        complete_ok(s, r, 0);
    }
    ck_assert_uint_eq(n, 4 + 3 * burst + 1);
    stop(s, 0);
}

START_TEST(at_most_16_heads_in_a_row_pass_the_policy)
{
    bursts(start_deep(1, 0), 16);
}
END_TEST

START_TEST(head_burst_sets_how_many_heads_pass_in_a_row)
{
    bursts(start_deep(1, 1), 1);
    bursts(start_deep(1, 5), 5);
}
END_TEST

START_TEST(with_nothing_else_queued_heads_go_on_beyond_the_burst)
{
    struct iosched *s = start_deep(1, 2);
    unsigned i;

    for (i = 0; i < 20; i++) {
        rq[i] = request(IOSCHED_READ, 8 * i, 8, IOSCHED_RQ_HEAD);
        insert_ok(s, &rq[i], 0);
    }
    for (i = 0; i < 20; i++) {
        ck_assert_ptr_eq(next(s, 0), &rq[i]);
        complete_ok(s, &rq[i], 0);
    }
    stop(s, 0);
}
END_TEST

START_TEST(a_flush_does_not_wait_behind_what_the_policy_holds)
{
    struct iosched *s = start_deep(1, 0);

    rq[0] = READ(0, 8);
    rq[1] = request(IOSCHED_FLUSH, 0, 0, 0);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[1]);
    complete_ok(s, &rq[1], 0);
    stop(s, 0);
}
END_TEST

/* --- Barriers ------------------------------------------------------------- */
START_TEST(nothing_passes_a_barrier_either_way_not_even_head)
{
    struct iosched *s = start_deep(8, 0);
    struct iosched_req *r;
    unsigned i;

    rq[0] = READ(500, 8);
    rq[1] = request(IOSCHED_WRITE, 300, 8, IOSCHED_RQ_HEAD);
    rq[2] = request(IOSCHED_WRITE, 400, 8, IOSCHED_RQ_BARRIER);
    rq[3] = READ(0, 8);
    rq[4] = request(IOSCHED_READ, 100, 8, IOSCHED_RQ_HEAD);
    rq[5] = request(IOSCHED_PASS, 0, 0, 0);
    rq[6] = request(IOSCHED_FLUSH, 0, 0, 0);
    for (i = 0; i < 7; i++)
        insert_ok(s, &rq[i], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[1]);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(answer(s, 0), IOSCHED_HOLD);
    complete_ok(s, &rq[0], 0);
    ck_assert_int_eq(answer(s, 0), IOSCHED_HOLD);
    complete_ok(s, &rq[1], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[2]);
    ck_assert_int_eq(answer(s, 0), IOSCHED_HOLD);
    complete_ok(s, &rq[2], 0);
    for (i = 0; i < 4; i++) {
        r = next(s, 0);
        ck_assert_ptr_nonnull(r);
        ck_assert_uint_ge((unsigned)(r - rq), 3);
    }
    for (i = 3; i < 7; i++)
        complete_ok(s, &rq[i], 0);
    ck_assert_uint_eq(stats_of(s).barriers, 1);
    stop(s, 0);
}
END_TEST

START_TEST(a_barrier_waits_for_every_phase_of_what_came_before)
{
    struct iosched *s = start_deep(4, 0);
    unsigned i;

    rq[0] = request(IOSCHED_WRITE, 0, 8, IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA);
    rq[1] = request(IOSCHED_WRITE, 100, 8, IOSCHED_RQ_BARRIER);
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

START_TEST(what_follows_waits_for_every_phase_of_a_barrier)
{
    struct iosched *s = start_deep(4, 0);
    unsigned i;

    rq[0] = request(IOSCHED_WRITE, 0, 8,
                    IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA | IOSCHED_RQ_BARRIER);
    rq[1] = request(IOSCHED_READ, 100, 8, IOSCHED_RQ_HEAD);
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

START_TEST(barriers_in_a_row_go_one_at_a_time_in_order)
{
    struct iosched *s = start_deep(4, 0);
    unsigned i;

    for (i = 0; i < 4; i++) {
        rq[i] = request(i & 1 ? IOSCHED_WRITE : IOSCHED_READ, 80 - 8 * i, 8,
                        IOSCHED_RQ_BARRIER);
        insert_ok(s, &rq[i], 0);
    }
    for (i = 0; i < 4; i++) {
        ck_assert_ptr_eq(next(s, 0), &rq[i]);
        ck_assert_int_eq(answer(s, 0), i < 3 ? IOSCHED_HOLD : IOSCHED_EMPTY);
        complete_ok(s, &rq[i], 0);
    }
    ck_assert_uint_eq(stats_of(s).barriers, 4);
    stop(s, 0);
}
END_TEST

START_TEST(every_op_can_be_a_barrier_and_is_counted_as_one)
{
    struct iosched *s = start_deep(4, 0);
    unsigned op;

    for (op = IOSCHED_READ; op <= IOSCHED_PASS; op++) {
        rq[0] = request(op, 0, 8, IOSCHED_RQ_BARRIER);
        rq[1] = READ(8, 8);
        insert_ok(s, &rq[0], 0);
        insert_ok(s, &rq[1], 0);
        ck_assert_ptr_eq(next(s, 0), &rq[0]);
        ck_assert_int_eq(answer(s, 0), IOSCHED_HOLD);
        complete_ok(s, &rq[0], 0);
        ck_assert_ptr_eq(next(s, 0), &rq[1]);
        complete_ok(s, &rq[1], 0);
        ck_assert_uint_eq(stats_of(s).barriers, op + 1);
    }
    stop(s, 0);
}
END_TEST

START_TEST(a_requeued_barrier_is_still_one)
{
    struct iosched *s = start_deep(4, 0);

    rq[0] = request(IOSCHED_WRITE, 0, 8, IOSCHED_RQ_BARRIER);
    rq[1] = READ(8, 8);
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

START_TEST(a_cancelled_or_aborted_barrier_holds_nobody_back_any_more)
{
    unsigned kind;

    for (kind = 0; kind < 3; kind++) {
        struct iosched *s = start_deep(4, 0);

        rq[0] = READ(100, 8);
        rq[1] = request(IOSCHED_WRITE, 0, 8, IOSCHED_RQ_BARRIER);
        rq[2] = READ(200, 8);
        if (kind == 0)                  /* behind what came before it */
            insert_ok(s, &rq[0], 0);
        insert_ok(s, &rq[1], 0);
        insert_ok(s, &rq[2], 0);
        if (kind == 2) {
            ck_assert_ptr_eq(next(s, 0), &rq[1]);
            ck_assert_int_eq(iosched_abort(s, &rq[1], 0), IOSCHED_OK);
            ck_assert_ptr_eq(next(s, 0), &rq[2]);
            complete_ok(s, &rq[2], 0);
        } else {
            ck_assert_int_eq(iosched_cancel(s, &rq[1], 0), IOSCHED_OK);
        }
        drain(s, 0);
        ck_assert_int_eq(rq[2].state, IOSCHED_STATE_IDLE);
        if (kind == 2)
            ck_assert_int_eq(iosched_tag_release(s, rq[1].tag, 0), 0);
        stop(s, 0);
    }
}
END_TEST

/** Any mix: no request may be dispatched while an earlier barrier is not done,
 *  no barrier while anything earlier is not. */
START_TEST(whatever_comes_nothing_ever_passes_a_barrier)
{
    struct iosched_req *fly[6];
    struct iosched *s = start_deep(6, 3);
    unsigned seq[N] = { 0 }, step, arrivals = 0, n = 0, i, seen = 0;
    uint64_t seed = 17;

    memset(rq, 0, sizeof rq);
    for (step = 0; step < 40000; step++) {
        struct iosched_req *r = &rq[rnd(&seed, 40)];
        const struct iosched_req *m;
        unsigned what = rnd(&seed, 10);

        if (what < 4 && r->state == IOSCHED_STATE_IDLE) {
            *r = random_request(&seed, 6, 64, 8, 1);
            maybe(&seed, 8, r, IOSCHED_RQ_BARRIER);
            maybe(&seed, 5, r, IOSCHED_RQ_HEAD);
            if (r->op == IOSCHED_WRITE && rnd(&seed, 4) == 0)
                r->flags |= IOSCHED_RQ_FUA;
            seq[r - rq] = ++arrivals;
            insert_ok(s, r, step);
        } else if (what < 7 && (r = next(s, step)) != NULL) {
            for (m = r->first_member; m != NULL; m = m->next_member)
                for (i = 0; i < 40; i++) {
                    const struct iosched_req *e = &rq[i];

                    if (e->state == IOSCHED_STATE_IDLE ||
                        seq[i] >= seq[m - rq])
                        continue;
                    ck_assert_uint_eq(e->flags & IOSCHED_RQ_BARRIER, 0);
                    ck_assert_uint_eq(m->flags & IOSCHED_RQ_BARRIER, 0);
                }
            seen += (r->flags & IOSCHED_RQ_BARRIER) != 0;
            fly[n++] = r;
        } else if (what >= 7 && n > 0) {
            i = rnd(&seed, n);
            r = fly[i];
            fly[i] = fly[--n];
            ck_assert_int_ge(what == 9 && rnd(&seed, 3) == 0
                                 ? iosched_requeue(s, r, step)
                                 : iosched_complete(s, r, 0, step), 0);
        }
    }
    ck_assert_uint_gt(seen, 200);
    while (n > 0)
        ck_assert_int_ge(iosched_complete(s, fly[--n], 0, step), 0);
    stop(s, step);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("ops");

    tcase_add_test(tc, every_op_goes_in_comes_out_and_is_counted);
    tcase_add_test(tc, pass_needs_no_length_and_its_lba_is_ignored);
    tcase_add_test(tc,
        head_and_pass_pass_what_the_policy_holds_in_order_of_arrival);
    tcase_add_test(tc, at_most_16_heads_in_a_row_pass_the_policy);
    tcase_add_test(tc, head_burst_sets_how_many_heads_pass_in_a_row);
    tcase_add_test(tc, with_nothing_else_queued_heads_go_on_beyond_the_burst);
    tcase_add_test(tc, a_flush_does_not_wait_behind_what_the_policy_holds);
    tcase_add_test(tc, nothing_passes_a_barrier_either_way_not_even_head);
    tcase_add_test(tc, a_barrier_waits_for_every_phase_of_what_came_before);
    tcase_add_test(tc, what_follows_waits_for_every_phase_of_a_barrier);
    tcase_add_test(tc, barriers_in_a_row_go_one_at_a_time_in_order);
    tcase_add_test(tc, every_op_can_be_a_barrier_and_is_counted_as_one);
    tcase_add_test(tc, a_requeued_barrier_is_still_one);
    tcase_add_test(tc,
        a_cancelled_or_aborted_barrier_holds_nobody_back_any_more);
    tcase_add_test(tc, whatever_comes_nothing_ever_passes_a_barrier);
    return run_case(tc, "ops");
}
