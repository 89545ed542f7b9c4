/* SPDX-License-Identifier: BSD-2-Clause */
/* hash.c - the back-merge hash and the counters of starts, against a naive
 * model: 10^6 random changes with up to 65,536 requests in it.
 *
 * The model keeps, for each end, the requests that end there as a list, newest
 * first.  After each change the bucket it touched is walked: links, places and
 * order have to be right, and every request the model has at that end has to be
 * met in the model's order.  Chains are counted: with twice as many buckets
 * as requests they stay short, which is what O(1) means here.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include "core/hot.h"
#include "rng.h"

#define QUEUED 65536u
#define ENDS   49152u                   /* so that many share an end      */
#define STEPS  1000000u

struct entry {
    struct iosched_req rq;
    int                in;
    uint32_t           end;             /* index into ends[]              */
    struct entry      *newer, *older;
};

static struct entry *entries;
static struct entry *newest[ENDS];
static struct iosched *s;

static void model_add(struct entry *e)
{
    e->newer = NULL;
    e->older = newest[e->end];
    if (e->older != NULL)
        e->older->newer = e;
    newest[e->end] = e;
}

static void model_remove(struct entry *e)
{
    if (e->newer != NULL)
        e->newer->older = e->older;
    else
        newest[e->end] = e->older;
    if (e->older != NULL)
        e->older->newer = e->newer;
}

/** Walk the bucket of this end.  @return how many are in it. */
static unsigned check_bucket(uint32_t end_index, iosched_lba end)
{
    struct iosched_req **head = iosched__bucket(s, end), **at = head, *rq;
    struct entry *expect = newest[end_index];
    unsigned n = 0;

    for (rq = *head; rq != NULL; at = &rq->link_next_, rq = rq->link_next_) {
        ck_assert_ptr_eq(rq->link_prev_, at);
        ck_assert_ptr_eq(iosched__bucket(s, iosched__end(rq)), head);
        ck_assert(rq->core_flags_ & RQ_HASHED);
        if (iosched__end(rq) == end) {
            ck_assert_ptr_nonnull(expect);
            ck_assert_ptr_eq(rq, &expect->rq);
            expect = expect->older;
        }
        n++;
    }
    ck_assert_ptr_null(expect);
    return n;
}

static void setup(void)
{
    struct iosched_cfg cfg;

    iosched_cfg_init(&cfg);
    cfg.queued_hint = QUEUED;
    ck_assert_int_eq(iosched_create("deadline", &cfg, &s, 0), IOSCHED_OK);
    entries = calloc(QUEUED, sizeof *entries);
    ck_assert_ptr_nonnull(entries);
}

static void teardown(void)
{
    free(entries);
    ck_assert_int_eq(iosched_destroy(s), IOSCHED_OK);
}

START_TEST(a_million_changes_agree_with_the_model_and_chains_stay_short)
{
    uint64_t r = 20261201;
    uint64_t walked = 0, walks = 0;
    unsigned longest = 0;
    uint32_t i, in = 0, most = 0;

    for (i = 0; i < STEPS; i++) {
        struct entry *e = &entries[rng_below(&r, QUEUED)];
        iosched_lba end;
        unsigned n;

        /* Fill up first: look for one that is not in it. */
        while (e->in && in < QUEUED * 3 / 4 && rng_below(&r, 8) != 0)
            e = &entries[rng_below(&r, QUEUED)];
        if (!e->in) {
            e->end = rng_below(&r, ENDS);
            e->rq.xnblk = 1 + rng_below(&r, 256);
            e->rq.xlba = (iosched_lba)(e->end + 1) * 4096 - e->rq.xnblk;
            iosched__hash(s, &e->rq);
            model_add(e);
            in++;
        } else {
            iosched__unhash(s, &e->rq);
            ck_assert(!(e->rq.core_flags_ & RQ_HASHED));
            model_remove(e);
            in--;
        }
        e->in = !e->in;
        if (in > most)
            most = in;
        end = (iosched_lba)(e->end + 1) * 4096;
        n = check_bucket(e->end, end);
        longest = n > longest ? n : longest;
        walked += n;
        walks++;
    }
    printf("hash: %u changes, %u in it at most, %.2f in a chain as a rule, "
           "%u in the longest\n", (unsigned)STEPS, (unsigned)most,
           (double)walked / (double)walks, longest);
    ck_assert_uint_gt(most, QUEUED * 2 / 3);
    ck_assert_uint_lt(walked, 2 * walks);
    ck_assert_uint_lt(longest, 32);
    for (i = 0; i < QUEUED; i++)
        if (entries[i].in)
            iosched__unhash(s, &entries[i].rq);
    for (i = 0; i < 2 * QUEUED; i++)
        ck_assert_ptr_null(s->bucket[i]);
}
END_TEST

START_TEST(a_counter_of_starts_is_zero_only_if_nothing_starts_there)
{
    uint64_t r = 7;
    uint32_t i;

    for (i = 0; i < 4096; i++) {
        struct entry *e = &entries[i];

        e->rq.xlba = (iosched_lba)rng_below(&r, 512) * 8;
        e->rq.xnblk = 8;
        iosched__hash(s, &e->rq);
        ck_assert_uint_gt(*iosched__starts(s, e->rq.xlba), 0);
    }
    for (i = 0; i < 4096; i++) {
        ck_assert_uint_gt(*iosched__starts(s, entries[i].rq.xlba), 0);
        iosched__unhash(s, &entries[i].rq);
    }
    for (i = 0; i < 2 * QUEUED * 16; i++)
        ck_assert_uint_eq(s->starts[i], 0);
}
END_TEST

START_TEST(more_than_a_counter_can_hold_come_out_even)
{
    uint32_t i;

    for (i = 0; i < 300; i++) {
        entries[i].rq.xlba = 4096;
        entries[i].rq.xnblk = 8;
        iosched__hash(s, &entries[i].rq);
    }
    ck_assert_uint_eq(*iosched__starts(s, 4096), 300 % 256);
    ck_assert_uint_eq(s->starts_unsure, 1);
    for (i = 0; i < 300; i++)
        iosched__unhash(s, &entries[i].rq);
    ck_assert_uint_eq(*iosched__starts(s, 4096), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hash");
    TCase *tc = tcase_create("hash");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tc, 300);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(
        tc, a_million_changes_agree_with_the_model_and_chains_stay_short);
    tcase_add_test(tc,
                   a_counter_of_starts_is_zero_only_if_nothing_starts_there);
    tcase_add_test(tc, more_than_a_counter_can_hold_come_out_even);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
