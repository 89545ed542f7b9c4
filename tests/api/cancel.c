/* SPDX-License-Identifier: BSD-2-Clause */
/* cancel.c - taking back what is queued, giving up on what is in flight, and
 * completions that come too late. */
#include "api.h"

#define N 48u
static struct iosched_req rq[N];

static struct iosched *start_deep(uint32_t depth, unsigned flags)
{
    struct iosched_cfg cfg = config();

    memset(rq, 0, sizeof rq);
    cfg.depth = depth;
    cfg.flags = flags;
    return start(&cfg);
}

static void cancel_ok(struct iosched *s, struct iosched_req *r)
{
    uint32_t queued = iosched_queued(s);
    uint64_t cancelled = stats_of(s).cancelled;

    ck_assert_int_eq(iosched_cancel(s, r, 50), IOSCHED_OK);
    ck_assert_int_eq(r->state, IOSCHED_STATE_IDLE);
    ck_assert_uint_eq(iosched_queued(s), queued - 1);
    ck_assert_uint_eq(stats_of(s).cancelled, cancelled + 1);
    ck_assert_int_eq(iosched_cancel(s, r, 50), IOSCHED_ERR_STATE);
}

/* --- Wherever it is queued ------------------------------------------------ */
START_TEST(cancel_takes_it_from_the_policy)
{
    struct iosched *s = start_deep(1, 0);

    rq[0] = READ(0, 8);
    rq[1] = READ(100, 8);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    cancel_ok(s, &rq[0]);
    ck_assert_ptr_eq(next(s, 50), &rq[1]);
    complete_ok(s, &rq[1], 50);
    ck_assert_int_eq(answer(s, 50), IOSCHED_EMPTY);
    stop(s, 50);
}
END_TEST

START_TEST(cancel_takes_heads_flushes_and_pass_throughs)
{
    struct iosched *s = start_deep(1, 0);
    unsigned i;

    rq[0] = request(IOSCHED_READ, 0, 8, IOSCHED_RQ_HEAD);
    rq[1] = request(IOSCHED_FLUSH, 0, 0, 0);
    rq[2] = request(IOSCHED_PASS, 0, 0, 0);
    rq[3] = request(IOSCHED_READ, 8, 8, IOSCHED_RQ_HEAD);
    for (i = 0; i < 4; i++)
        insert_ok(s, &rq[i], 0);
    for (i = 0; i < 3; i++)
        cancel_ok(s, &rq[i]);
    ck_assert_ptr_eq(next(s, 50), &rq[3]);
    complete_ok(s, &rq[3], 50);
    stop(s, 50);
}
END_TEST

START_TEST(cancel_takes_what_was_given_back)
{
    struct iosched *s = start_deep(4, 0);
    unsigned i;

    for (i = 0; i < 3; i++) {
        rq[i] = READ(100 * i, 8);
        insert_ok(s, &rq[i], 0);
        ck_assert_ptr_eq(next(s, 0), &rq[i]);
    }
    for (i = 0; i < 3; i++)
        ck_assert_int_eq(iosched_requeue(s, &rq[i], 0), IOSCHED_OK);
    cancel_ok(s, &rq[1]);
    ck_assert_ptr_eq(next(s, 50), &rq[0]);
    ck_assert_ptr_eq(next(s, 50), &rq[2]);
    complete_ok(s, &rq[0], 50);
    complete_ok(s, &rq[2], 50);
    stop(s, 50);
}
END_TEST

START_TEST(cancel_takes_what_waits_behind_a_barrier_and_the_barrier)
{
    struct iosched *s = start_deep(4, 0);
    unsigned i;

    rq[0] = READ(0, 8);
    rq[1] = request(IOSCHED_WRITE, 8, 8, IOSCHED_RQ_BARRIER);
    rq[2] = READ(100, 8);
    rq[3] = READ(200, 8);
    for (i = 0; i < 4; i++)
        insert_ok(s, &rq[i], 0);
    cancel_ok(s, &rq[2]);
    ck_assert_ptr_eq(next(s, 50), &rq[0]);
    ck_assert_int_eq(answer(s, 50), IOSCHED_HOLD);
    cancel_ok(s, &rq[1]);
    ck_assert_ptr_eq(next(s, 50), &rq[3]);
    complete_ok(s, &rq[0], 50);
    complete_ok(s, &rq[3], 50);
    stop(s, 50);
}
END_TEST

/* --- Merges --------------------------------------------------------------- */
/** Four in one, of age 1, 2, 3, 4; the third is elsewhere. */
static struct iosched *four(void)
{
    struct iosched *s = start_deep(4, 0);
    static const unsigned lba[] = { 8, 16, 500, 0, 24 };
    unsigned i;

    for (i = 0; i < 5; i++) {
        rq[i] = READ(lba[i], 8);
        insert_ok(s, &rq[i], i + 1);
    }
    ck_assert_uint_eq(rq[0].nmembers, 4);
    return s;
}

START_TEST(cancel_of_a_member_lets_the_others_go_on_at_their_own_age)
{
    static const unsigned member[] = { 1, 3, 4 };
    unsigned k;

    for (k = 0; k < 3; k++) {
        struct iosched *s = four();
        struct iosched_req *r;
        unsigned i, seen = 0;

        cancel_ok(s, &rq[member[k]]);
        ck_assert_uint_eq(stats_of(s).dissolved, 1);
        for (i = 0; i < 5; i++)
            if (i != member[k]) {
                ck_assert_uint_eq(rq[i].t_insert, i + 1);
                ck_assert_int_ne(rq[i].state, IOSCHED_STATE_IDLE);
            }
        /* "line" serves by age: 0 first, with whom it still touches. */
        r = next(s, 50);
        ck_assert_ptr_eq(r, &rq[0]);
        for (; r != NULL; r = next(s, 50)) {
            seen += r->nmembers;
            complete_ok(s, r, 50);
        }
        ck_assert_uint_eq(seen, 4);
        stop(s, 50);
    }
}
END_TEST

START_TEST(cancel_of_a_carrier_lets_its_riders_go_on_at_their_own_age)
{
    struct iosched *s = four();
    static const unsigned order[] = { 1, 2, 3 };
    unsigned i;

    cancel_ok(s, &rq[0]);
    ck_assert_ptr_eq(iosched_carrier(&rq[1]), &rq[1]);
    ck_assert_ptr_eq(iosched_carrier(&rq[4]), &rq[1]);  /* they touch still */
    ck_assert_ptr_eq(iosched_carrier(&rq[3]), &rq[3]);
    for (i = 0; i < 3; i++)
        ck_assert_ptr_eq(next(s, 50), &rq[order[i]]);
    for (i = 0; i < 3; i++)
        complete_ok(s, &rq[order[i]], 50);
    stop(s, 50);
}
END_TEST

START_TEST(cancel_of_a_member_of_a_requeued_carrier_dissolves_it_too)
{
    struct iosched *s = four();
    unsigned seen = 0;
    struct iosched_req *r;

    ck_assert_ptr_eq(next(s, 40), &rq[0]);
    ck_assert_int_eq(iosched_cancel(s, &rq[1], 40), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_requeue(s, &rq[0], 40), IOSCHED_OK);
    cancel_ok(s, &rq[1]);
    while ((r = next(s, 50)) != NULL) {
        seen += r->nmembers;
        complete_ok(s, r, 50);
    }
    ck_assert_uint_eq(seen, 4);
    stop(s, 50);
}
END_TEST

/* --- Not queued ----------------------------------------------------------- */
START_TEST(cancel_of_what_is_idle_in_flight_or_in_the_inbox_is_refused)
{
    struct iosched *s = start_deep(1, 0);

    rq[0] = READ(0, 8);
    rq[1] = READ(8, 8);
    ck_assert_int_eq(iosched_cancel(s, &rq[0], 0), IOSCHED_ERR_STATE);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_cancel(s, &rq[0], 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_cancel(s, &rq[1], 0), IOSCHED_ERR_STATE);
    complete_ok(s, &rq[0], 0);
    ck_assert_int_eq(iosched_cancel(s, &rq[1], 0), IOSCHED_ERR_STATE);
    rq[2] = READ(0, 8);
    if (iosched_post(s, &rq[2], 0) != IOSCHED_ERR_NOTSUP) {
        ck_assert_int_eq(iosched_cancel(s, &rq[2], 0), IOSCHED_ERR_STATE);
        ck_assert_int_eq(iosched_intake(s, 0), 1);
        ck_assert_int_eq(iosched_cancel(s, &rq[2], 0), IOSCHED_OK);
    }
    stop(s, 0);
}
END_TEST

/* --- Abort ---------------------------------------------------------------- */
START_TEST(abort_gives_all_members_back_and_keeps_the_tag_out_of_use)
{
    struct iosched *s = start_deep(1, 0);
    uint64_t cookie;
    int32_t tag;
    unsigned i;

    for (i = 0; i < 3; i++) {
        rq[i] = READ(8 * i, 8);
        insert_ok(s, &rq[i], 0);
    }
    rq[3] = READ(100, 8);
    insert_ok(s, &rq[3], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    cookie = iosched_cookie(&rq[0]);
    tag = rq[0].tag;
    ck_assert_int_eq(iosched_abort(s, &rq[1], 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_abort(s, &rq[0], 0), IOSCHED_OK);
    ck_assert_int_eq(rq[0].tag, tag);
    for (i = 0; i < 3; i++)
        ck_assert_int_eq(rq[i].state, IOSCHED_STATE_IDLE);
    ck_assert_uint_eq(stats_of(s).aborted, 3);
    ck_assert_uint_eq(iosched_inflight(s), 0);
    ck_assert_ptr_null(iosched_find(s, cookie));
    ck_assert_int_eq(iosched_abort(s, &rq[0], 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_complete(s, &rq[0], 0, 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(answer(s, 0), IOSCHED_FULL);   /* its only slot */
    ck_assert_int_eq(iosched_tag_release(s, tag, 0), IOSCHED_OK);
    ck_assert_ptr_eq(next(s, 0), &rq[3]);
    complete_ok(s, &rq[3], 0);
    stop(s, 0);
}
END_TEST

START_TEST(an_aborted_request_can_go_again_while_its_old_tag_is_quarantined)
{
    struct iosched *s = start_deep(2, 0);
    uint64_t late;
    int32_t old;

    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    late = iosched_cookie(&rq[0]);
    old = rq[0].tag;
    ck_assert_int_eq(iosched_abort(s, &rq[0], 0), IOSCHED_OK);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_ne(rq[0].tag, old);
    ck_assert_ptr_null(iosched_find(s, late));
    ck_assert_ptr_eq(iosched_find(s, iosched_cookie(&rq[0])), &rq[0]);
    complete_ok(s, &rq[0], 0);
    ck_assert_int_eq(iosched_tag_release(s, old, 0), IOSCHED_OK);
    stop(s, 0);
}
END_TEST

START_TEST(after_release_the_same_tag_has_another_cookie)
{
    struct iosched *s = start_deep(1, 0);
    uint64_t late;
    int32_t tag;

    rq[0] = READ(0, 8);
    rq[1] = READ(100, 8);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    late = iosched_cookie(&rq[0]);
    tag = rq[0].tag;
    ck_assert_int_eq(iosched_abort(s, &rq[0], 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_tag_release(s, tag, 0), IOSCHED_OK);
    ck_assert_ptr_eq(next(s, 0), &rq[1]);
    ck_assert_int_eq(rq[1].tag, tag);
    ck_assert_uint_ne(iosched_cookie(&rq[1]), late);
    ck_assert_ptr_null(iosched_find(s, late));
    complete_ok(s, &rq[1], 0);
    stop(s, 0);
}
END_TEST

START_TEST(only_a_quarantined_tag_can_be_released_and_only_once)
{
    struct iosched *s = start_deep(2, 0);

    ck_assert_int_eq(iosched_tag_release(s, 0, 0), IOSCHED_ERR_STATE);
    ck_assert_int_lt(iosched_tag_release(s, -1, 0), 0);
    ck_assert_int_lt(iosched_tag_release(s, 2, 0), 0);
    ck_assert_int_lt(iosched_tag_release(s, INT32_MAX, 0), 0);
    rq[0] = READ(0, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_tag_release(s, rq[0].tag, 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_abort(s, &rq[0], 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_tag_release(s, rq[0].tag, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_tag_release(s, rq[0].tag, 0), IOSCHED_ERR_STATE);
    stop(s, 0);
}
END_TEST

START_TEST(abort_works_in_every_phase)
{
    unsigned done;

    for (done = 0; done < 3; done++) {
        struct iosched *s = start_deep(2, 0);
        unsigned i;

        rq[0] = request(IOSCHED_WRITE, 0, 8,
                        IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA);
        insert_ok(s, &rq[0], 0);
        for (i = 0; i < done; i++) {
            ck_assert_ptr_eq(next(s, 0), &rq[0]);
            ck_assert_int_eq(iosched_complete(s, &rq[0], 0, 0), IOSCHED_MORE);
        }
        ck_assert_ptr_eq(next(s, 0), &rq[0]);
        ck_assert_int_eq(iosched_abort(s, &rq[0], 0), IOSCHED_OK);
        ck_assert_int_eq(rq[0].state, IOSCHED_STATE_IDLE);
        ck_assert_int_eq(iosched_tag_release(s, rq[0].tag, 0), IOSCHED_OK);
        ck_assert_int_eq(answer(s, 0), IOSCHED_EMPTY);
        stop(s, 0);
    }
}
END_TEST

/* --- Any mix -------------------------------------------------------------- */
START_TEST(whatever_comes_cancel_works_on_all_that_is_queued_and_only_that)
{
    struct iosched_cfg cfg = config();
    const struct iosched_policy *p = all_policies[_i];
    struct iosched_req *fly[4], *r;
    unsigned step, n = 0, i, k, cancelled = 0;
    uint64_t seed = 31 + (uint64_t)_i, in = 0, out = 0;
    struct iosched *s;

    cfg.depth = 4;
    cfg.flags = _i & 1 ? IOSCHED_F_ORDER_OVERLAPS : 0;
    cfg.queued_hint = 4;
    s = start_at(p->name, &cfg, 0);
    for (step = 0; step < 40000; step++) {
        unsigned what = rnd(&seed, 100);

        r = &rq[rnd(&seed, N)];
        if (what < 45 && r->state == IOSCHED_STATE_IDLE) {
            *r = random_request(&seed, 6, 40, 4, 1);
            maybe(&seed, 9, r, IOSCHED_RQ_HEAD);
            maybe(&seed, 20, r, IOSCHED_RQ_BARRIER);
            if (r->op == IOSCHED_WRITE && rnd(&seed, 5) == 0)
                r->flags |= IOSCHED_RQ_FUA;
            insert_ok(s, r, step);
            in++;
        } else if (what < 60) {
            const struct iosched_req *c = iosched_carrier(r);
            int queued = c != NULL && c->state == IOSCHED_STATE_QUEUED;

            ck_assert_int_eq(iosched_cancel(s, r, step),
                             queued ? IOSCHED_OK : IOSCHED_ERR_STATE);
            cancelled += (unsigned)queued;
            out += (unsigned)queued;
        } else if (what < 75) {
            if ((r = next(s, step)) != NULL)
                fly[n++] = r;
        } else if (n > 0) {
            uint32_t members;

            k = rnd(&seed, n);
            r = fly[k];
            members = r->nmembers;
            fly[k] = fly[--n];
            if (what < 80) {
                ck_assert_int_eq(iosched_requeue(s, r, step), IOSCHED_OK);
            } else if (what < 83) {
                ck_assert_int_eq(iosched_abort(s, r, step), IOSCHED_OK);
                ck_assert_int_eq(iosched_tag_release(s, r->tag, step), 0);
                out += members;
            } else if (iosched_complete(s, r, 0, step) == IOSCHED_OK) {
                out += members;
            }
        }
        for (i = k = 0; i < n; i++)
            k += fly[i]->nmembers;
        ck_assert_uint_eq(iosched_queued(s), in - out - k);
    }
    ck_assert_uint_gt(cancelled, 500);
    while (n > 0)
        ck_assert_int_ge(iosched_complete(s, fly[--n], 0, step), 0);
    stop(s, step);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("cancel");

    tcase_add_test(tc, cancel_takes_it_from_the_policy);
    tcase_add_test(tc, cancel_takes_heads_flushes_and_pass_throughs);
    tcase_add_test(tc, cancel_takes_what_was_given_back);
    tcase_add_test(tc,
        cancel_takes_what_waits_behind_a_barrier_and_the_barrier);
    tcase_add_test(tc,
        cancel_of_a_member_lets_the_others_go_on_at_their_own_age);
    tcase_add_test(tc,
        cancel_of_a_carrier_lets_its_riders_go_on_at_their_own_age);
    tcase_add_test(tc,
        cancel_of_a_member_of_a_requeued_carrier_dissolves_it_too);
    tcase_add_test(tc,
        cancel_of_what_is_idle_in_flight_or_in_the_inbox_is_refused);
    tcase_add_test(tc,
        abort_gives_all_members_back_and_keeps_the_tag_out_of_use);
    tcase_add_test(tc,
        an_aborted_request_can_go_again_while_its_old_tag_is_quarantined);
    tcase_add_test(tc, after_release_the_same_tag_has_another_cookie);
    tcase_add_test(tc, only_a_quarantined_tag_can_be_released_and_only_once);
    tcase_add_test(tc, abort_works_in_every_phase);
    tcase_add_loop_test(tc,
        whatever_comes_cancel_works_on_all_that_is_queued_and_only_that, 0,
        list_policies());
    return run_case(tc, "cancel");
}
