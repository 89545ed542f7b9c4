/* SPDX-License-Identifier: BSD-2-Clause */
/* phase.c - flush and FUA: which phases a write makes, and that it is one and
 * the same request in all of them. */
#include "api.h"

#define PRE  IOSCHED_PHASE_PREFLUSH
#define DATA IOSCHED_PHASE_DATA
#define POST IOSCHED_PHASE_POSTFLUSH
#define VOLATILE_FUA IOSCHED_F_DEVICE_FUA
#define NO_CACHE     IOSCHED_F_NO_VOLATILE_CACHE

static const struct trip {
    unsigned cfg, flags;
    int      phase[4];                  /* ends with -1                   */
} trips[] = {
    { 0, 0, { DATA, -1 } },
    { 0, IOSCHED_RQ_PREFLUSH, { PRE, DATA, -1 } },
    { 0, IOSCHED_RQ_FUA, { DATA, POST, -1 } },
    { 0, IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA, { PRE, DATA, POST, -1 } },
    { VOLATILE_FUA, 0, { DATA, -1 } },
    { VOLATILE_FUA, IOSCHED_RQ_PREFLUSH, { PRE, DATA, -1 } },
    { VOLATILE_FUA, IOSCHED_RQ_FUA, { DATA, -1 } },
    { VOLATILE_FUA, IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA, { PRE, DATA, -1 } },
    { NO_CACHE, IOSCHED_RQ_PREFLUSH, { DATA, -1 } },
    { NO_CACHE, IOSCHED_RQ_FUA, { DATA, -1 } },
    { NO_CACHE, IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA, { DATA, -1 } },
    { NO_CACHE | VOLATILE_FUA, IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA,
      { DATA, -1 } },
};

static struct iosched_req rq;

static struct iosched *start_flags(unsigned flags)
{
    struct iosched_cfg cfg = config();

    cfg.flags = flags;
    return start(&cfg);
}

static void one_trip(const struct trip *t, unsigned op, unsigned more)
{
    struct iosched *s = start_flags(t->cfg);
    iosched_time now = 10;
    unsigned i, n = 0;

    while (t->phase[n] >= 0)
        n++;
    rq = request(op, 77, 5, t->flags | more);
    ck_assert_int_eq(iosched_insert(s, &rq, now), IOSCHED_QUEUED);
    for (i = 0; i < n; i++) {
        ck_assert_uint_eq(iosched_queued(s), 1);
        ck_assert_ptr_eq(next(s, ++now), &rq);
        ck_assert_int_eq(rq.phase, t->phase[i]);
        ck_assert_int_eq(rq.state, IOSCHED_STATE_INFLIGHT);
        ck_assert_ptr_eq(rq.first_member, &rq);
        ck_assert_ptr_null(rq.next_member);
        ck_assert_uint_eq(rq.xlba, 77);
        ck_assert_uint_eq(rq.xnblk, 5);
        ck_assert_uint_eq(rq.t_insert, 10);
        ck_assert_uint_eq(iosched_queued(s), 0);
        ck_assert_int_eq(iosched_complete(s, &rq, 0, ++now),
                         i + 1 < n ? IOSCHED_MORE : IOSCHED_OK);
    }
    ck_assert_int_eq(rq.state, IOSCHED_STATE_IDLE);
    ck_assert_uint_eq(rq.lba, 77);
    ck_assert_uint_eq(rq.nblk, 5);
    ck_assert_uint_eq(stats_of(s).dispatches, n);
    ck_assert_uint_eq(stats_of(s).phases, n - 1);
    ck_assert_uint_eq(stats_of(s).completed[op], 1);
    ck_assert_uint_eq(stats_of(s).blocks[op], 5);
    stop(s, now);
}

START_TEST(a_write_makes_the_phases_that_its_flags_and_the_device_need)
{
    one_trip(&trips[_i], IOSCHED_WRITE, 0);
}
END_TEST

START_TEST(a_write_of_zeroes_makes_the_same_phases)
{
    one_trip(&trips[_i], IOSCHED_ZEROES, 0);
}
END_TEST

START_TEST(head_and_barrier_writes_make_the_same_phases)
{
    one_trip(&trips[_i], IOSCHED_WRITE, IOSCHED_RQ_HEAD);
    one_trip(&trips[_i], IOSCHED_WRITE, IOSCHED_RQ_BARRIER);
}
END_TEST

START_TEST(a_failed_phase_ends_the_request_and_skips_the_rest)
{
    unsigned fail;

    for (fail = 0; fail < 3; fail++) {
        struct iosched *s = start_flags(0);
        unsigned i;

        rq = request(IOSCHED_WRITE, 0, 8,
                     IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA);
        insert_ok(s, &rq, 0);
        for (i = 0; i < fail; i++) {
            ck_assert_ptr_eq(next(s, 0), &rq);
            ck_assert_int_eq(iosched_complete(s, &rq, 0, 0), IOSCHED_MORE);
        }
        ck_assert_ptr_eq(next(s, 0), &rq);
        ck_assert_int_eq(iosched_complete(s, &rq, -5, 0), IOSCHED_OK);
        ck_assert_int_eq(rq.state, IOSCHED_STATE_IDLE);
        ck_assert_int_eq(rq.status, -5);
        ck_assert_int_eq(answer(s, 0), IOSCHED_EMPTY);
        ck_assert_uint_eq(stats_of(s).failed, 1);
        stop(s, 0);
    }
}
END_TEST

START_TEST(each_phase_has_a_cookie_of_its_own)
{
    struct iosched *s = start_flags(0);
    uint64_t cookie[3];
    unsigned i;

    rq = request(IOSCHED_WRITE, 0, 8, IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA);
    insert_ok(s, &rq, 0);
    for (i = 0; i < 3; i++) {
        ck_assert_ptr_eq(next(s, 0), &rq);
        cookie[i] = iosched_cookie(&rq);
        ck_assert_ptr_eq(iosched_find(s, cookie[i]), &rq);
        if (i > 0)
            ck_assert_ptr_null(iosched_find(s, cookie[i - 1]));
        ck_assert_int_ge(iosched_complete(s, &rq, 0, 0), 0);
    }
    ck_assert_ptr_null(iosched_find(s, cookie[2]));
    stop(s, 0);
}
END_TEST

START_TEST(a_requeued_phase_is_the_one_dispatched_again)
{
    struct iosched *s = start_flags(0);
    unsigned i;
    static const int phase[] = { PRE, DATA, POST };

    rq = request(IOSCHED_WRITE, 0, 8, IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA);
    insert_ok(s, &rq, 0);
    for (i = 0; i < 3; i++) {
        ck_assert_ptr_eq(next(s, 0), &rq);
        ck_assert_int_eq(iosched_requeue(s, &rq, 0), IOSCHED_OK);
        ck_assert_ptr_eq(next(s, 0), &rq);
        ck_assert_int_eq(rq.phase, phase[i]);
        ck_assert_int_ge(iosched_complete(s, &rq, 0, 0), 0);
    }
    stop(s, 0);
}
END_TEST

START_TEST(between_two_phases_it_is_queued_and_can_be_cancelled)
{
    unsigned done;

    for (done = 1; done < 3; done++) {
        struct iosched *s = start_flags(0);
        unsigned i;

        rq = request(IOSCHED_WRITE, 0, 8,
                     IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA);
        insert_ok(s, &rq, 0);
        for (i = 0; i < done; i++) {
            ck_assert_ptr_eq(next(s, 0), &rq);
            ck_assert_int_eq(iosched_complete(s, &rq, 0, 0), IOSCHED_MORE);
        }
        ck_assert_int_eq(rq.state, IOSCHED_STATE_QUEUED);
        ck_assert_int_eq(iosched_cancel(s, &rq, 0), IOSCHED_OK);
        ck_assert_int_eq(rq.state, IOSCHED_STATE_IDLE);
        ck_assert_int_eq(answer(s, 0), IOSCHED_EMPTY);
        stop(s, 0);
    }
}
END_TEST

START_TEST(phases_of_several_requests_interleave_without_mixing)
{
    enum { MANY = 24 };
    struct iosched_req many[MANY], *fly[4];
    struct iosched_cfg cfg = config();
    struct iosched *s;
    unsigned made[MANY] = { 0 }, i, n = 0, done = 0;
    uint64_t seed = 3;

    cfg.depth = 4;
    s = start(&cfg);
    for (i = 0; i < MANY; i++) {
        many[i] = request(IOSCHED_WRITE, 8 * i, 8, trips[i % 4].flags);
        insert_ok(s, &many[i], 0);
    }
    while (done < MANY) {
        struct iosched_req *r;
        unsigned k, which;
        const struct trip *t;

        while (n < 4 && (r = next(s, 0)) != NULL)
            fly[n++] = r;
        ck_assert_uint_gt(n, 0);
        k = rnd(&seed, n);
        r = fly[k];
        which = (unsigned)(r - many);
        t = &trips[which % 4];
        ck_assert_int_eq(r->phase, t->phase[made[which]++]);
        fly[k] = fly[--n];
        if (r->nmembers > 1)            /* only plain writes merge */
            ck_assert_uint_eq(which % 4, 0);
        done += r->nmembers * (iosched_complete(s, r, 0, 0) == IOSCHED_OK);
    }
    stop(s, 0);
}
END_TEST

START_TEST(a_flush_needs_no_length_and_goes_once_whatever_the_cache)
{
    static const unsigned cfgs[] = { 0, VOLATILE_FUA, NO_CACHE };
    unsigned i;

    for (i = 0; i < COUNT(cfgs); i++) {
        struct iosched *s = start_flags(cfgs[i]);

        rq = request(IOSCHED_FLUSH, 0, 0, 0);
        insert_ok(s, &rq, 0);
        ck_assert_ptr_eq(next(s, 0), &rq);
        ck_assert_int_eq(rq.phase, PRE);
        complete_ok(s, &rq, 0);
        ck_assert_uint_eq(stats_of(s).completed[IOSCHED_FLUSH], 1);
        ck_assert_uint_eq(stats_of(s).blocks[IOSCHED_FLUSH], 0);
        stop(s, 0);
    }
}
END_TEST

START_TEST(a_flush_ignores_lba_and_nblk_even_past_the_end)
{
    struct iosched_cfg cfg = config();
    struct iosched *s;

    cfg.capacity_nblk = 100;
    s = start(&cfg);
    rq = request(IOSCHED_FLUSH, UINT64_MAX, 99, 0);
    insert_ok(s, &rq, 0);
    ck_assert_ptr_eq(next(s, 0), &rq);
    ck_assert_uint_eq(rq.xnblk, 0);
    complete_ok(s, &rq, 0);
    stop(s, 0);
}
END_TEST

START_TEST(wait_ends_and_service_begins_with_the_dispatch_of_the_last_phase)
{
    struct iosched *s = start_flags(0);

    rq = request(IOSCHED_WRITE, 0, 8, IOSCHED_RQ_PREFLUSH);
    insert_ok(s, &rq, 5);
    ck_assert_ptr_eq(next(s, 6), &rq);
    ck_assert_int_eq(iosched_complete(s, &rq, 0, 2000), IOSCHED_MORE);
    ck_assert_uint_eq(stats_of(s).phases, 1);
    ck_assert_uint_eq(stats_of(s).wait_sum, 0);     /* not complete yet */
    ck_assert_ptr_eq(next(s, 3000), &rq);
    complete_ok(s, &rq, 4000);
    ck_assert_uint_eq(stats_of(s).wait_sum, 2995);  /* to the last dispatch */
    ck_assert_uint_eq(stats_of(s).service_sum, 1000);
    stop(s, 4000);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("phase");
    const int n = (int)COUNT(trips);

    tcase_add_loop_test(tc,
        a_write_makes_the_phases_that_its_flags_and_the_device_need, 0, n);
    tcase_add_loop_test(tc, a_write_of_zeroes_makes_the_same_phases, 0, n);
    tcase_add_loop_test(tc, head_and_barrier_writes_make_the_same_phases, 0, n);
    tcase_add_test(tc, a_failed_phase_ends_the_request_and_skips_the_rest);
    tcase_add_test(tc, each_phase_has_a_cookie_of_its_own);
    tcase_add_test(tc, a_requeued_phase_is_the_one_dispatched_again);
    tcase_add_test(tc, between_two_phases_it_is_queued_and_can_be_cancelled);
    tcase_add_test(tc, phases_of_several_requests_interleave_without_mixing);
    tcase_add_test(tc,
        a_flush_needs_no_length_and_goes_once_whatever_the_cache);
    tcase_add_test(tc, a_flush_ignores_lba_and_nblk_even_past_the_end);
    tcase_add_test(tc,
        wait_ends_and_service_begins_with_the_dispatch_of_the_last_phase);
    return run_case(tc, "phase");
}
