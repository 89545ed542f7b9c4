/* SPDX-License-Identifier: BSD-2-Clause */
/* merge.c - merging: who rides on whom, and what is never written. */
#include "api.h"

#define N 64u

static struct iosched_req rq[N];

static void setup(void)
{
    memset(rq, 0, sizeof rq);
}

/** The members of carrier c have to be those numbered in `which`, up to a
 *  negative one. */
static void expect_members(const struct iosched_req *c, const int *which)
{
    const struct iosched_req *m = c->first_member;
    uint32_t n = 0, blocks = 0;

    for (; *which >= 0; which++, n++, m = m->next_member) {
        ck_assert_ptr_eq(m, &rq[*which]);
        blocks += m->nblk;
        if (m->next_member != NULL)
            ck_assert_uint_eq(m->next_member->lba, m->lba + m->nblk);
    }
    ck_assert_ptr_null(m);
    ck_assert_uint_eq(c->nmembers, n);
    ck_assert_uint_eq(c->xlba, c->first_member->lba);
    ck_assert_uint_eq(c->xnblk, blocks);
}

static void members_of_next(struct iosched *s,
                            const struct iosched_req *carrier,
                            const int *which, iosched_time now)
{
    struct iosched_req *c = next(s, now);

    ck_assert_ptr_eq(c, carrier);
    expect_members(c, which);
    complete_ok(s, c, now);
    expect_members(c, which);           /* the list outlives complete */
}

/* --- Joining -------------------------------------------------------------- */
START_TEST(a_request_that_merges_with_nobody_is_its_own_only_member)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);
    static const int alone[] = { 0, -1 };

    rq[0] = READ(100, 8);
    ck_assert_int_eq(iosched_insert(s, &rq[0], 1), IOSCHED_QUEUED);
    ck_assert_ptr_eq(iosched_carrier(&rq[0]), &rq[0]);
    members_of_next(s, &rq[0], alone, 2);
    ck_assert_ptr_null(iosched_carrier(&rq[0]));
    stop(s, 3);
}
END_TEST

START_TEST(members_are_listed_ascending_by_lba_and_the_carrier_is_among_them)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);
    static const int all[] = { 3, 1, 0, 2, 4, -1 };

    rq[0] = WRITE(100, 8);
    rq[1] = WRITE(90, 10);
    rq[2] = WRITE(108, 1);
    rq[3] = WRITE(80, 10);
    rq[4] = WRITE(109, 3);
    ck_assert_int_eq(iosched_insert(s, &rq[0], 1), IOSCHED_QUEUED);
    ck_assert_int_eq(iosched_insert(s, &rq[1], 2), IOSCHED_MERGED_FRONT);
    ck_assert_int_eq(iosched_insert(s, &rq[2], 3), IOSCHED_MERGED_BACK);
    ck_assert_int_eq(iosched_insert(s, &rq[3], 4), IOSCHED_MERGED_FRONT);
    ck_assert_int_eq(iosched_insert(s, &rq[4], 5), IOSCHED_MERGED_BACK);
    ck_assert_uint_eq(iosched_queued(s), 5);
    ck_assert_int_eq(rq[3].state, IOSCHED_STATE_ABSORBED);
    ck_assert_ptr_eq(iosched_carrier(&rq[3]), &rq[0]);
    ck_assert_ptr_null(rq[3].first_member);
    members_of_next(s, &rq[0], all, 6);
    ck_assert_int_eq(answer(s, 7), IOSCHED_EMPTY);
    stop(s, 7);
}
END_TEST

START_TEST(lba_nblk_and_all_else_that_is_the_callers_are_never_written)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);
    struct iosched_req before[4], *c;
    unsigned i;

    rq[0] = WRITE(100, 8);
    rq[1] = WRITE(108, 8);
    rq[2] = WRITE(92, 8);
    rq[3] = WRITE(116, 8);
    for (i = 0; i < 4; i++) {
        rq[i].user = &before[i];
        rq[i].nseg = (uint16_t)i;
        rq[i].ioprio = i & 1 ? IOSCHED_PRIO(IOSCHED_PRIO_RT, 1) : 0;
        before[i] = rq[i];
        insert_ok(s, &rq[i], i);
    }
    ck_assert_int_eq(iosched_cancel(s, &rq[0], 9), IOSCHED_OK);
    for (c = next(s, 10); c != NULL; c = next(s, 10))
        complete_ok(s, c, 10);
    for (i = 0; i < 4; i++) {
        ck_assert_uint_eq(rq[i].lba, before[i].lba);
        ck_assert_uint_eq(rq[i].nblk, before[i].nblk);
        ck_assert_uint_eq(rq[i].op, before[i].op);
        ck_assert_uint_eq(rq[i].flags, before[i].flags);
        ck_assert_uint_eq(rq[i].ioprio, before[i].ioprio);
        ck_assert_uint_eq(rq[i].nseg, before[i].nseg);
        ck_assert_ptr_eq(rq[i].user, before[i].user);
        ck_assert_ptr_eq(rq[i].stream, before[i].stream);
        ck_assert_int_eq(rq[i].state, IOSCHED_STATE_IDLE);
    }
    stop(s, 10);
}
END_TEST

START_TEST(the_older_carrier_absorbs_the_younger_above_it)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);
    static const int all[] = { 0, 2, 1, -1 };

    rq[0] = READ(0, 8);
    rq[1] = READ(16, 8);
    rq[2] = READ(8, 8);
    insert_ok(s, &rq[0], 1);
    insert_ok(s, &rq[1], 2);
    ck_assert_int_gt(iosched_insert(s, &rq[2], 3), 0);
    ck_assert_ptr_eq(iosched_carrier(&rq[1]), &rq[0]);
    ck_assert_ptr_eq(iosched_carrier(&rq[2]), &rq[0]);
    ck_assert_uint_eq(rq[0].t_insert, 1);
    members_of_next(s, &rq[0], all, 4);
    stop(s, 4);
}
END_TEST

START_TEST(the_older_carrier_absorbs_the_younger_below_it)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);
    static const int all[] = { 1, 2, 0, -1 };

    rq[0] = READ(16, 8);
    rq[1] = READ(0, 8);
    rq[2] = READ(8, 8);
    insert_ok(s, &rq[0], 1);
    insert_ok(s, &rq[1], 2);
    ck_assert_int_gt(iosched_insert(s, &rq[2], 3), 0);
    ck_assert_ptr_eq(iosched_carrier(&rq[1]), &rq[0]);
    ck_assert_ptr_eq(iosched_carrier(&rq[2]), &rq[0]);
    members_of_next(s, &rq[0], all, 4);
    stop(s, 4);
}
END_TEST

START_TEST(the_status_of_the_carrier_reaches_every_member)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);
    unsigned i;

    for (i = 0; i < 5; i++) {
        rq[i] = READ(8 * i, 8);
        insert_ok(s, &rq[i], i);
    }
    ck_assert_ptr_eq(next(s, 9), &rq[0]);
    ck_assert_uint_eq(iosched_inflight(s), 1);
    ck_assert_int_eq(iosched_complete(s, &rq[3], 0, 9), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_complete(s, &rq[0], -5, 9), IOSCHED_OK);
    for (i = 0; i < 5; i++) {
        ck_assert_int_eq(rq[i].status, -5);
        ck_assert_int_eq(rq[i].state, IOSCHED_STATE_IDLE);
    }
    stop(s, 9);
}
END_TEST

/* --- Who does not --------------------------------------------------------- */
START_TEST(requests_of_different_ops_do_not_merge)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);
    unsigned i;

    for (i = 0; i < 4; i++) {           /* READ, WRITE, DISCARD, ZEROES */
        rq[i] = request(i, 8 * i, 8, 0);
        ck_assert_int_eq(iosched_insert(s, &rq[i], 0), IOSCHED_QUEUED);
    }
    for (i = 0; i < 4; i++) {
        rq[4 + i] = request(i, 8 * (i + 1), 8, 0);
        ck_assert_int_eq(iosched_insert(s, &rq[4 + i], 0),
                         IOSCHED_MERGED_BACK);
        ck_assert_ptr_eq(iosched_carrier(&rq[4 + i]), &rq[i]);
    }
    stop(s, 0);
}
END_TEST

START_TEST(what_is_marked_neither_joins_nor_is_joined)
{
    static const unsigned mark[] = {
        IOSCHED_RQ_NOMERGE, IOSCHED_RQ_HEAD, IOSCHED_RQ_BARRIER,
        IOSCHED_RQ_PREFLUSH, IOSCHED_RQ_FUA
    };
    struct iosched_cfg cfg = config();
    unsigned i;

    for (i = 0; i < COUNT(mark); i++) {
        struct iosched *s = start(&cfg);

        rq[0] = WRITE(8, 8);
        rq[1] = request(IOSCHED_WRITE, 16, 8, mark[i]);
        rq[2] = WRITE(24, 8);
        rq[3] = request(IOSCHED_WRITE, 0, 8, mark[i]);
        insert_ok(s, &rq[0], 1);
        ck_assert_int_eq(iosched_insert(s, &rq[1], 1), IOSCHED_QUEUED);
        ck_assert_int_eq(iosched_insert(s, &rq[2], 1), IOSCHED_QUEUED);
        ck_assert_int_eq(iosched_insert(s, &rq[3], 1), IOSCHED_QUEUED);
        ck_assert_uint_eq(stats_of(s).merged_back, 0);
        ck_assert_uint_eq(stats_of(s).merged_front, 0);
        stop(s, 1);
    }
}
END_TEST

START_TEST(pass_and_flush_do_not_merge)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);
    unsigned i;

    for (i = 0; i < 4; i++) {
        rq[i] = request(i & 1 ? IOSCHED_PASS : IOSCHED_FLUSH, 8 * i, 8, 0);
        ck_assert_int_eq(iosched_insert(s, &rq[i], 0), IOSCHED_QUEUED);
    }
    stop(s, 0);
}
END_TEST

START_TEST(what_is_in_flight_is_not_joined)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);

    rq[0] = READ(0, 8);
    rq[1] = READ(8, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_insert(s, &rq[1], 0), IOSCHED_QUEUED);
    ck_assert_uint_eq(rq[0].xnblk, 8);
    complete_ok(s, &rq[0], 0);
    stop(s, 0);
}
END_TEST

START_TEST(the_cfg_flag_switches_merging_off)
{
    struct iosched_cfg cfg = config();
    struct iosched *s;
    int64_t v;

    cfg.flags = IOSCHED_F_NOMERGE;
    s = start(&cfg);
    rq[0] = READ(0, 8);
    rq[1] = READ(8, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_int_eq(iosched_insert(s, &rq[1], 0), IOSCHED_QUEUED);
    ck_assert_int_eq(iosched_tunable_get(s, "nomerges", &v), 0);
    ck_assert_int_eq(v, 2);             /* the tunable starts from cfg */
    stop(s, 0);
}
END_TEST

/* --- All of it ------------------------------------------------------------ */
START_TEST(beyond_queued_hint_every_merge_is_still_found)
{
    enum { MANY = 4000 };
    struct iosched_cfg cfg = config();
    struct iosched_req *many = calloc(MANY, sizeof *many);
    struct iosched *s;
    unsigned i;

    ck_assert_ptr_nonnull(many);
    cfg.queued_hint = 1;
    cfg.max_merge_kib = 1u << 20;
    cfg.max_merge_segs = MANY;
    s = start(&cfg);
    for (i = 0; i < MANY; i += 2) {
        many[i] = READ(i, 1);
        ck_assert_int_eq(iosched_insert(s, &many[i], 0), IOSCHED_QUEUED);
    }
    for (i = 1; i < MANY; i += 2) {
        many[i] = READ(i, 1);
        ck_assert_int_gt(iosched_insert(s, &many[i], 0), 0);
    }
    ck_assert_ptr_eq(next(s, 0), &many[0]);
    ck_assert_uint_eq(many[0].nmembers, MANY);
    ck_assert_uint_eq(many[0].xnblk, MANY);
    complete_ok(s, &many[0], 0);
    stop(s, 0);
    free(many);
}
END_TEST

/** c and its members, whoever they are, keep the rules. */
static void check_carrier(const struct iosched_req *c)
{
    const struct iosched_req *m;
    uint32_t n = 0, blocks = 0;
    iosched_lba at = c->xlba;

    for (m = c->first_member; m != NULL; m = m->next_member) {
        ck_assert_uint_eq(m->lba, at);
        at += m->nblk;
        blocks += m->nblk;
        n++;
        ck_assert_uint_eq(m->op, c->op);
        ck_assert_uint_ge(iosched_req_seq(m), iosched_req_seq(c));
        if (m != c)
            ck_assert_int_eq(m->state, IOSCHED_STATE_ABSORBED);
        ck_assert_ptr_eq(iosched_carrier(m), c);
    }
    ck_assert_uint_eq(n, c->nmembers);
    ck_assert_uint_eq(blocks, c->xnblk);
    ck_assert_uint_le(blocks, 40);
    ck_assert_uint_le(n, 12);
}

START_TEST(whatever_comes_carriers_keep_the_rules_and_nobody_is_lost)
{
    const struct iosched_policy *const *p;
    struct iosched_cfg cfg = config();
    uint64_t seed = 5;

    cfg.max_merge_kib = 20;
    cfg.max_merge_segs = 12;
    cfg.queued_hint = 8;
    for (p = cfg.policies; *p != NULL; p++) {
        struct iosched *s = start_at((*p)->name, &cfg, 0);
        unsigned step, served = 0, inserted = 0, cancelled = 0;

        setup();
        for (step = 0; step < 20000; step++) {
            struct iosched_req *r = &rq[rnd(&seed, N)];

            if (r->state == IOSCHED_STATE_IDLE && rnd(&seed, 8) > 0) {
                *r = random_request(&seed, 2, 200, 1, 6);
                insert_ok(s, r, step);
                inserted++;
            } else if (r->state != IOSCHED_STATE_IDLE && rnd(&seed, 9) == 0) {
                ck_assert_int_eq(iosched_cancel(s, r, step), IOSCHED_OK);
                cancelled++;
            } else if ((r = next(s, step)) != NULL) {
                check_carrier(r);
                served += r->nmembers;
                complete_ok(s, r, step);
            }
            ck_assert_uint_eq(iosched_queued(s),
                              inserted - served - cancelled);
        }
        ck_assert_uint_gt(stats_of(s).merged_back, 100);
        stop(s, step);
    }
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("merge");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc,
        a_request_that_merges_with_nobody_is_its_own_only_member);
    tcase_add_test(tc,
        members_are_listed_ascending_by_lba_and_the_carrier_is_among_them);
    tcase_add_test(tc,
        lba_nblk_and_all_else_that_is_the_callers_are_never_written);
    tcase_add_test(tc, the_older_carrier_absorbs_the_younger_above_it);
    tcase_add_test(tc, the_older_carrier_absorbs_the_younger_below_it);
    tcase_add_test(tc, the_status_of_the_carrier_reaches_every_member);
    tcase_add_test(tc, requests_of_different_ops_do_not_merge);
    tcase_add_test(tc, what_is_marked_neither_joins_nor_is_joined);
    tcase_add_test(tc, pass_and_flush_do_not_merge);
    tcase_add_test(tc, what_is_in_flight_is_not_joined);
    tcase_add_test(tc, the_cfg_flag_switches_merging_off);
    tcase_add_test(tc, beyond_queued_hint_every_merge_is_still_found);
    tcase_add_test(tc,
        whatever_comes_carriers_keep_the_rules_and_nobody_is_lost);
    return run_case(tc, "merge");
}
