/* SPDX-License-Identifier: BSD-2-Clause */
/* rbtree-model.c - a million random calls to the red-black tree, and as many to
 * each of two augmented ones, against a sorted array.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <iosched/rbtree.h>
#include "rbitem.h"
#include "rng.h"

static struct iosched_rbtree t;
static struct item item[CAP];

/** The height: unlike the other, it depends on the shape of the tree. */
static int height(struct iosched_rbnode *n)
{
    uint64_t l = sum_of(iosched_rb_left(n)), r = sum_of(iosched_rb_right(n));

    return keep(n, 1 + (l > r ? l : r));
}

struct model {
    struct item *in[CAP];               /* in order                       */
    struct item *out[CAP];              /* not in the tree                */
    unsigned nin, nout;
};

static struct model m;

/** The first place whose key is not below `key`; with after, is above it. */
static unsigned lower(uint64_t key, int after)
{
    unsigned i = 0;

    while (i < m.nin && (m.in[i]->n.key < key ||
                         (after && m.in[i]->n.key == key)))
        i++;
    return i;
}

static void model_insert(unsigned at, struct item *it)
{
    memmove(&m.in[at + 1], &m.in[at], (m.nin - at) * sizeof(m.in[0]));
    m.in[at] = it;
    m.nin++;
}

static struct item *model_remove(unsigned at)
{
    struct item *it = m.in[at];

    m.nin--;
    memmove(&m.in[at], &m.in[at + 1], (m.nin - at) * sizeof(m.in[0]));
    m.out[m.nout++] = it;
    return it;
}

/** What the summary of n has to be, from all nodes below it; adds to *wrong
 *  whenever one differs. */
static uint64_t true_sum(struct iosched_rbnode *n, unsigned *wrong)
{
    uint64_t l, r, sum;

    if (n == NULL)
        return 0;
    l = true_sum(n->left_, wrong);
    r = true_sum(n->right_, wrong);
    sum = l > r ? l : r;
    if (t.augment == height)
        sum++;
    else if (item_of(n)->end > sum)
        sum = item_of(n)->end;
    *wrong += sum != item_of(n)->sum;
    return sum;
}

/** NULL, or what differs. */
static const char *compare(uint64_t key)
{
    struct iosched_rbnode *n, *want;
    unsigned i, wrong = 0;

    if (iosched_rb_check(&t) != 0)
        return "check";
    n = iosched_rb_first(&t);
    for (i = 0; i < m.nin; i++, n = iosched_rb_next(n))
        if (n != &m.in[i]->n || !iosched_rb_linked(n))
            return "order by first and next";
    if (n != NULL)
        return "end by next";
    n = iosched_rb_last(&t);
    for (i = m.nin; i > 0; i--, n = iosched_rb_prev(n))
        if (n != &m.in[i - 1]->n)
            return "order by last and prev";
    if (n != NULL)
        return "end by prev";

    i = lower(key, 0);
    want = i < m.nin ? &m.in[i]->n : NULL;
    if (iosched_rb_ceil(&t, key) != want)
        return "ceil";
    i = lower(key, 1);
    want = i > 0 ? &m.in[i - 1]->n : NULL;
    if (iosched_rb_floor(&t, key) != want)
        return "floor";

    if (t.augment != NULL) {
        true_sum(t.root_, &wrong);
        if (wrong)
            return "summaries";
    }
    return NULL;
}

static uint64_t random_key(uint64_t *seed, unsigned kind)
{
    switch (kind) {
    case 0:
        return rng_below(seed, 4);
    case 1:
        return rng_below(seed, 40);
    case 2:
        return UINT64_MAX - rng_below(seed, 3);
    default:
        return rng_next(seed);
    }
}

/** One random change of tree and model; grow: rather an insertion. */
static void step(uint64_t *seed, unsigned kind, int grow)
{
    unsigned r = rng_below(seed, 16);
    uint64_t key = random_key(seed, kind);
    struct item *it;

    if (r < 2 && m.nin > 0) {
        it = m.in[rng_below(seed, m.nin)];
        it->end = rng_below(seed, 1000);
        iosched_rb_refresh(&t, &it->n);
    } else if ((grow ? r < 12 : r < 6) && m.nout > 0) {
        it = m.out[--m.nout];
        if (r % 4 != 0)                 /* else as last time */
            it->end = rng_below(seed, 1000);
        if (r % 2) {
            iosched_rb_insert_first(&t, &it->n, key);
            it->n.key = key;
            model_insert(lower(key, 0), it);
        } else {
            iosched_rb_insert(&t, &it->n, key);
            model_insert(lower(key, 1), it);
        }
    } else if (m.nin > 0) {
        it = model_remove(r == 15 ? 0 : rng_below(seed, m.nin));
        iosched_rb_remove(&t, &it->n);
    }
}

static void run_model(iosched_rb_augment augment, unsigned per_climb)
{
    uint64_t seed = 2026;
    unsigned i, kind = 0, target = 0, most = 0, empty = 0;

    memset(&t, 0, sizeof(t));
    memset(item, 0, sizeof(item));
    memset(&m, 0, sizeof(m));
    for (i = 0; i < CAP; i++)
        m.out[m.nout++] = &item[i];
    t.augment = augment;
    for (i = 0; i < 1000000; i++) {
        const char *bad;

        if (i % 1024 == 0) {
            kind = rng_below(&seed, 4);
            target = rng_below(&seed, 24) == 0 ? 400 : rng_below(&seed, 64);
        }
        calls = 0;
        step(&seed, kind, m.nin < target);
        if (calls > per_climb * 2 * bits(m.nin + 1) + 12)
            ck_abort_msg("step %u: %u calls for %u nodes", i, calls, m.nin);
        bad = compare(random_key(&seed, kind));
        if (bad != NULL)
            ck_abort_msg("step %u: %s", i, bad);
        if (m.nin > most)
            most = m.nin;
        empty += m.nin == 0;
    }
    ck_assert_uint_ge(most, 300);       /* it was not all about small trees */
    ck_assert_uint_ge(empty, 100);
}

START_TEST(a_million_random_calls_agree_with_a_sorted_array)
{
    run_model(NULL, 0);
}
END_TEST

START_TEST(a_million_random_calls_keep_the_largest_end_up_to_date)
{
    run_model(max_end, 1);
}
END_TEST

START_TEST(a_million_random_calls_keep_the_height_up_to_date)
{
    run_model(height, 4);               /* once more for each rotation */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("rbtree-model");
    TCase *tc = tcase_create("model");
    SRunner *sr = srunner_create(s);
    int failed;

    tcase_set_timeout(tc, 0);
    tcase_add_test(tc, a_million_random_calls_agree_with_a_sorted_array);
    tcase_add_test(tc, a_million_random_calls_keep_the_largest_end_up_to_date);
    tcase_add_test(tc, a_million_random_calls_keep_the_height_up_to_date);
    suite_add_tcase(s, tc);

    srunner_run_all(sr, CK_ENV);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
