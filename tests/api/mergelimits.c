/* SPDX-License-Identifier: BSD-2-Clause */
/* mergelimits.c - merging stays within cfg, the tunables and what the caller
 * allows. */
#include "api.h"

#define N 64u

static struct iosched_req rq[N];

static void setup(void)
{
    memset(rq, 0, sizeof rq);
}

/* --- Limits --------------------------------------------------------------- */
START_TEST(no_merged_extent_is_larger_than_max_merge_kib)
{
    static const uint32_t block[] = { 512, 4096 };
    unsigned i;

    for (i = 0; i < 2; i++) {
        struct iosched_cfg cfg = config();
        uint32_t limit = 64u * 1024u / block[i];
        struct iosched *s;

        cfg.block_size = block[i];
        cfg.max_merge_kib = 64;
        s = start(&cfg);
        rq[0] = READ(1000, limit - 2);
        rq[1] = READ(1000 + limit - 2, 2);
        rq[2] = READ(1000 + limit, 1);
        rq[3] = READ(999, 1);
        insert_ok(s, &rq[0], 0);
        ck_assert_int_eq(iosched_insert(s, &rq[1], 0), IOSCHED_MERGED_BACK);
        ck_assert_int_eq(iosched_insert(s, &rq[2], 0), IOSCHED_QUEUED);
        ck_assert_int_eq(iosched_insert(s, &rq[3], 0), IOSCHED_QUEUED);
        stop(s, 0);
        setup();
    }
}
END_TEST

START_TEST(no_merge_has_more_than_max_merge_segs_and_nseg_0_counts_as_1)
{
    struct iosched_cfg cfg = config();
    struct iosched *s;
    unsigned i;

    cfg.max_merge_segs = 5;
    s = start(&cfg);
    for (i = 0; i < 4; i++)
        rq[i] = READ(10 * i, 10);
    rq[0].nseg = 3;
    rq[1].nseg = 0;
    rq[2].nseg = 1;
    insert_ok(s, &rq[0], 0);
    ck_assert_int_eq(iosched_insert(s, &rq[1], 0), IOSCHED_MERGED_BACK);
    ck_assert_int_eq(iosched_insert(s, &rq[2], 0), IOSCHED_MERGED_BACK);
    ck_assert_int_eq(iosched_insert(s, &rq[3], 0), IOSCHED_QUEUED);
    stop(s, 0);
}
END_TEST

START_TEST(two_carriers_that_are_too_much_together_stay_apart)
{
    struct iosched_cfg cfg = config();
    struct iosched *s;

    cfg.max_merge_kib = 8;              /* 16 blocks */
    s = start(&cfg);
    rq[0] = READ(0, 8);
    rq[1] = READ(12, 8);
    rq[2] = READ(8, 4);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    ck_assert_int_gt(iosched_insert(s, &rq[2], 0), 0);
    ck_assert_ptr_ne(iosched_carrier(&rq[0]), iosched_carrier(&rq[1]));
    stop(s, 0);
}
END_TEST

START_TEST(the_tunable_max_sectors_kb_is_the_limit_from_then_on)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);
    int64_t v;

    ck_assert_int_eq(iosched_tunable_get(s, "max_sectors_kb", &v), 0);
    ck_assert_int_eq(v, 512);
    ck_assert_int_eq(iosched_tunable_set(s, "max_sectors_kb", 8, 0), 0);
    rq[0] = READ(0, 8);
    rq[1] = READ(8, 8);
    rq[2] = READ(16, 1);
    insert_ok(s, &rq[0], 0);
    ck_assert_int_eq(iosched_insert(s, &rq[1], 0), IOSCHED_MERGED_BACK);
    ck_assert_int_eq(iosched_insert(s, &rq[2], 0), IOSCHED_QUEUED);
    stop(s, 0);
}
END_TEST

START_TEST(the_tunable_nomerges_2_merges_nothing_and_0_merges_again)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);

    ck_assert_int_eq(iosched_tunable_set(s, "nomerges", 2, 0), 0);
    rq[0] = READ(0, 8);
    rq[1] = READ(8, 8);
    rq[2] = READ(16, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_int_eq(iosched_insert(s, &rq[1], 0), IOSCHED_QUEUED);
    ck_assert_int_eq(iosched_tunable_set(s, "nomerges", 0, 0), 0);
    /* What is inserted from now on merges. */
    rq[2] = READ(100, 8);
    rq[3] = READ(108, 8);
    insert_ok(s, &rq[2], 0);
    ck_assert_int_eq(iosched_insert(s, &rq[3], 0), IOSCHED_MERGED_BACK);
    ck_assert_ptr_eq(iosched_carrier(&rq[3]), &rq[2]);
    stop(s, 0);
}
END_TEST

START_TEST(without_compat_the_tunable_nomerges_1_is_as_2)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);

    rq[0] = READ(0, 8);
    rq[1] = READ(100, 8);
    rq[2] = READ(108, 8);
    rq[3] = READ(8, 8);
    rq[4] = READ(116, 8);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    ck_assert_int_eq(iosched_insert(s, &rq[2], 0), IOSCHED_MERGED_BACK);
    ck_assert_int_eq(iosched_tunable_set(s, "nomerges", 1, 0), 0);
    ck_assert_int_eq(iosched_insert(s, &rq[3], 0), IOSCHED_QUEUED);
    ck_assert_int_eq(iosched_insert(s, &rq[4], 0), IOSCHED_QUEUED);
    stop(s, 0);
}
END_TEST

/* --- The caller's say ----------------------------------------------------- */
static struct {
    const struct iosched_req *into, *rq;
    int where, times, yes;
} asked;

static int may_merge(void *user, const struct iosched_req *into,
                     const struct iosched_req *r, int where)
{
    ck_assert_ptr_eq(user, &asked);
    asked.into = into;
    asked.rq = r;
    asked.where = where;
    asked.times++;
    return asked.yes;
}

START_TEST(may_merge_is_asked_and_its_no_is_final)
{
    struct iosched_cfg cfg = config();
    struct iosched *s;

    cfg.may_merge = may_merge;
    cfg.user = &asked;
    s = start(&cfg);
    rq[0] = WRITE(8, 8);
    rq[1] = WRITE(16, 8);
    rq[2] = WRITE(0, 8);
    rq[3] = WRITE(40, 8);
    insert_ok(s, &rq[0], 0);
    ck_assert_int_eq(asked.times, 0);
    ck_assert_int_eq(iosched_insert(s, &rq[1], 0), IOSCHED_QUEUED);
    ck_assert_int_eq(asked.times, 1);
    ck_assert_ptr_eq(asked.into, &rq[0]);
    ck_assert_ptr_eq(asked.rq, &rq[1]);
    ck_assert_int_eq(asked.where, IOSCHED_MERGED_BACK);
    asked.yes = 1;
    ck_assert_int_eq(iosched_insert(s, &rq[2], 0), IOSCHED_MERGED_FRONT);
    ck_assert_int_eq(asked.where, IOSCHED_MERGED_FRONT);
    asked.times = 0;
    ck_assert_int_eq(iosched_insert(s, &rq[3], 0), IOSCHED_QUEUED);
    ck_assert_int_eq(asked.times, 0);   /* it touches nobody */
    stop(s, 0);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("mergelimits");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, no_merged_extent_is_larger_than_max_merge_kib);
    tcase_add_test(tc,
        no_merge_has_more_than_max_merge_segs_and_nseg_0_counts_as_1);
    tcase_add_test(tc, two_carriers_that_are_too_much_together_stay_apart);
    tcase_add_test(tc, the_tunable_max_sectors_kb_is_the_limit_from_then_on);
    tcase_add_test(tc,
        the_tunable_nomerges_2_merges_nothing_and_0_merges_again);
    tcase_add_test(tc,
        without_compat_the_tunable_nomerges_1_is_as_2);
    tcase_add_test(tc, may_merge_is_asked_and_its_no_is_final);
    return run_case(tc, "mergelimits");
}
