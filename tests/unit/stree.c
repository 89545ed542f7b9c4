/* SPDX-License-Identifier: BSD-2-Clause */
/* stree.c - service trees: what their header promises, one case a sentence, and
 * a million random calls against plain sorted arrays.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <iosched/stree.h>
#include "port.h"
#include "rng.h"

#define CAP 512                         /* nodes there are                */

static struct iosched_stree t;
static struct iosched_stree_slot slots[IOSCHED_STREE_MAX];
static struct iosched_snode node[CAP];

static void setup_n(uint32_t n)
{
    memset(node, 0, sizeof(node));
    memset(slots, 0xa5, sizeof(slots)); /* init takes dirty memory */
    ck_assert_int_eq(iosched_stree_init(&t, slots, n), IOSCHED_OK);
}

static void setup(void)
{
    setup_n(7);
}

static void add(unsigned i, uint32_t tree, int64_t key)
{
    iosched_stree_add(&t, &node[i], tree, key);
}

static int64_t add_last(unsigned i, int64_t floor, int64_t offset)
{
    return iosched_stree_add_last(&t, &node[i], 2, floor, offset);
}

static int64_t add_first(unsigned i, int64_t floor, int64_t lead)
{
    return iosched_stree_add_first(&t, &node[i], 2, floor, lead);
}

/** The nodes of that tree have to be those whose numbers follow, up to a
 *  negative one. */
static void expect(uint32_t tree, const int *which)
{
    struct iosched_snode *n = iosched_stree_first(&t, tree);
    uint32_t len = 0;

    ck_assert_int_eq(iosched_stree_check(&t), 0);
    for (; *which >= 0; which++, len++) {
        ck_assert_ptr_eq(n, &node[*which]);
        ck_assert_uint_eq(n->tree, tree);
        n = iosched_stree_next(n);
    }
    ck_assert_ptr_null(n);
    ck_assert_uint_eq(iosched_stree_len(&t, tree), len);
}

/* --- One sentence each ---------------------------------------------------- */

START_TEST(init_refuses_null_no_trees_and_more_than_64)
{
    struct iosched_stree old = t;

    ck_assert_int_eq(iosched_stree_init(NULL, slots, 7), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_stree_init(&t, NULL, 7), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_stree_init(&t, slots, 0), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_stree_init(&t, slots, 65), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(memcmp(&old, &t, sizeof(t)), 0);   /* nothing changed */
    ck_assert_int_eq(iosched_stree_init(&t, slots, 1), IOSCHED_OK);
    ck_assert_int_eq(iosched_stree_init(&t, slots, 64), IOSCHED_OK);
}
END_TEST

START_TEST(init_makes_empty_trees_whatever_was_in_the_slots)
{
    uint32_t i;

    for (i = 0; i < 7; i++)
        expect(i, (int[]){ -1 });
    ck_assert_uint_eq(t.len, 0);
    ck_assert_uint_eq(t.busy, 0);
    ck_assert_ptr_null(iosched_stree_pick(&t, UINT64_MAX));
}
END_TEST

START_TEST(within_a_tree_keys_are_signed_and_equals_keep_insertion_order)
{
    add(0, 2, 0);
    add(1, 2, -1);
    add(2, 2, INT64_MAX);
    add(3, 2, INT64_MIN);
    add(4, 2, 1);
    add(5, 2, 0);
    add(6, 2, -1);
    add(7, 2, INT64_MIN);
    expect(2, (int[]){ 3, 7, 1, 6, 0, 5, 4, 2, -1 });
}
END_TEST

START_TEST(the_key_is_the_one_a_node_was_put_in_with)
{
    static const int64_t key[] = { 0, 1, -1, 5, -5, INT64_MAX, INT64_MIN,
                                   INT64_MAX - 1, INT64_MIN + 1 };
    unsigned i;

    for (i = 0; i < sizeof(key) / sizeof(key[0]); i++) {
        add(i, 0, key[i]);
        ck_assert_int_eq(iosched_stree_key(&node[i]), key[i]);
        iosched_stree_remove(&t, &node[i]);
        ck_assert_int_eq(iosched_stree_key(&node[i]), key[i]);
    }
}
END_TEST

START_TEST(add_last_to_an_empty_tree_starts_from_the_floor)
{
    ck_assert_int_eq(add_last(0, -100, 30), -70);
    ck_assert_int_eq(iosched_stree_key(&node[0]), -70);
}
END_TEST

START_TEST(add_last_starts_from_the_last_key_or_the_floor_if_that_is_larger)
{
    add(0, 2, 10);
    add(1, 2, 50);
    add(2, 1, 1000);                    /* another tree does not matter */
    ck_assert_int_eq(add_last(3, 20, 5), 55);
    ck_assert_int_eq(add_last(4, 55, 5), 60);
    ck_assert_int_eq(add_last(5, 200, 5), 205);
    ck_assert_int_eq(add_last(6, INT64_MIN, 0), 205);
    expect(2, (int[]){ 0, 1, 3, 4, 5, 6, -1 });
}
END_TEST

START_TEST(add_last_saturates_and_goes_behind_its_equals)
{
    ck_assert_int_eq(add_last(0, INT64_MAX - 3, 5), INT64_MAX);
    ck_assert_int_eq(add_last(1, 0, 1), INT64_MAX);
    ck_assert_int_eq(add_last(2, INT64_MAX, INT64_MAX), INT64_MAX);
    expect(2, (int[]){ 0, 1, 2, -1 });
    setup();
    ck_assert_int_eq(add_last(0, INT64_MIN + 2, -3), INT64_MIN);
    ck_assert_int_eq(add_last(1, INT64_MIN, INT64_MIN), INT64_MIN);
    ck_assert_int_eq(add_last(2, INT64_MIN, INT64_MAX), -1);
    ck_assert_int_eq(add_last(3, 0, INT64_MIN), INT64_MIN);
    expect(2, (int[]){ 0, 1, 3, 2, -1 });
    setup();
    ck_assert_int_eq(add_last(0, INT64_MAX - 3, 3), INT64_MAX);
    setup();
    ck_assert_int_eq(add_last(0, INT64_MAX - 3, 2), INT64_MAX - 1);
}
END_TEST

START_TEST(add_first_to_an_empty_tree_starts_from_the_floor)
{
    ck_assert_int_eq(add_first(0, 5, 1000), -995);
    ck_assert_int_eq(iosched_stree_key(&node[0]), -995);
}
END_TEST

START_TEST(add_first_starts_from_the_first_key_whatever_the_floor)
{
    add(0, 2, 10);
    add(1, 2, 50);
    add(2, 1, -1000);                   /* another tree does not matter */
    ck_assert_int_eq(add_first(3, -500, 30), -20);
    ck_assert_int_eq(add_first(4, 500, 1), -21);
    expect(2, (int[]){ 4, 3, 0, 1, -1 });
}
END_TEST

START_TEST(add_first_goes_ahead_of_its_equals)
{
    add(0, 2, 10);
    ck_assert_int_eq(add_first(1, 0, 0), 10);
    ck_assert_int_eq(add_first(2, 0, 0), 10);
    expect(2, (int[]){ 2, 1, 0, -1 });
}
END_TEST

START_TEST(add_first_saturates_and_is_ahead_even_so)
{
    ck_assert_int_eq(add_first(0, INT64_MIN + 3, 5), INT64_MIN);
    ck_assert_int_eq(add_first(1, 0, 5), INT64_MIN);
    ck_assert_int_eq(add_first(2, 0, INT64_MAX), INT64_MIN);
    expect(2, (int[]){ 2, 1, 0, -1 });
    setup();
    ck_assert_int_eq(add_first(0, INT64_MAX - 1, -2), INT64_MAX);
    ck_assert_int_eq(add_first(1, 0, INT64_MIN), INT64_MAX);
    setup();
    ck_assert_int_eq(add_first(0, -1, INT64_MIN), INT64_MAX);
    setup();
    ck_assert_int_eq(add_first(0, INT64_MIN + 3, 3), INT64_MIN);
    setup();
    ck_assert_int_eq(add_first(0, INT64_MIN + 3, 2), INT64_MIN + 1);
}
END_TEST

START_TEST(busy_has_a_bit_for_each_tree_that_is_not_empty)
{
    uint32_t i;

    setup_n(64);
    for (i = 0; i < 64; i++) {
        add(i, i, 0);
        ck_assert_uint_eq(t.busy, UINT64_MAX >> (63 - i));
    }
    add(64, 63, 1);
    iosched_stree_remove(&t, &node[63]);
    ck_assert_uint_eq(t.busy, UINT64_MAX);      /* one is left in it */
    iosched_stree_remove(&t, &node[64]);
    ck_assert_uint_eq(t.busy, UINT64_MAX >> 1);
    iosched_stree_remove(&t, &node[0]);
    ck_assert_uint_eq(t.busy, UINT64_MAX >> 1 & ~(uint64_t)1);
    iosched_stree_add_last(&t, &node[0], 0, 0, 0);
    iosched_stree_add_first(&t, &node[63], 63, 0, 0);
    ck_assert_uint_eq(t.busy, UINT64_MAX);
    ck_assert_int_eq(iosched_stree_check(&t), 0);
}
END_TEST

START_TEST(pick_is_the_first_of_the_lowest_busy_tree_in_the_mask)
{
    setup_n(64);
    add(0, 63, 0);
    add(1, 5, 10);
    add(2, 5, 9);
    add(3, 40, -1000);
    ck_assert_ptr_eq(iosched_stree_pick(&t, UINT64_MAX), &node[2]);
    ck_assert_ptr_eq(iosched_stree_pick(&t, ~(uint64_t)(1 << 5)), &node[3]);
    ck_assert_ptr_eq(iosched_stree_pick(&t, (uint64_t)1 << 63), &node[0]);
    ck_assert_ptr_eq(iosched_stree_pick(&t, (uint64_t)1 << 63 | 1), &node[0]);
    ck_assert_ptr_null(iosched_stree_pick(&t, 0));
    ck_assert_ptr_null(iosched_stree_pick(&t, 1));      /* that is empty */
    iosched_stree_remove(&t, &node[2]);
    ck_assert_ptr_eq(iosched_stree_pick(&t, UINT64_MAX), &node[1]);
    iosched_stree_remove(&t, &node[1]);
    ck_assert_ptr_eq(iosched_stree_pick(&t, UINT64_MAX), &node[3]);
}
END_TEST

START_TEST(next_stays_in_the_tree)
{
    add(0, 1, 1);
    add(1, 2, 2);
    add(2, 1, 3);
    ck_assert_ptr_eq(iosched_stree_next(&node[0]), &node[2]);
    ck_assert_ptr_null(iosched_stree_next(&node[1]));
    ck_assert_ptr_null(iosched_stree_next(&node[2]));
}
END_TEST

START_TEST(len_counts_each_tree_and_all_of_them)
{
    add(0, 0, 0);
    add_last(1, 0, 0);
    add_first(2, 0, 0);
    add(3, 6, 0);
    ck_assert_uint_eq(iosched_stree_len(&t, 0), 1);
    ck_assert_uint_eq(iosched_stree_len(&t, 1), 0);
    ck_assert_uint_eq(iosched_stree_len(&t, 2), 2);
    ck_assert_uint_eq(iosched_stree_len(&t, 6), 1);
    ck_assert_uint_eq(t.len, 4);
    iosched_stree_remove(&t, &node[1]);
    ck_assert_uint_eq(iosched_stree_len(&t, 2), 1);
    ck_assert_uint_eq(t.len, 3);
}
END_TEST

START_TEST(linked_tells_whether_a_node_is_in_a_tree)
{
    ck_assert_int_eq(iosched_stree_linked(&node[0]), 0);
    add(0, 3, 0);
    ck_assert_int_eq(iosched_stree_linked(&node[0]), 1);
    ck_assert_uint_eq(node[0].tree, 3);
    iosched_stree_remove(&t, &node[0]);
    ck_assert_int_eq(iosched_stree_linked(&node[0]), 0);
    add(0, 4, 1);                       /* and can go into another one */
    ck_assert_int_eq(iosched_stree_linked(&node[0]), 1);
    expect(4, (int[]){ 0, -1 });
}
END_TEST

/* --- The check itself ----------------------------------------------------- */

START_TEST(the_check_sees_a_bitmap_that_lies)
{
    add(0, 1, 0);
    t.busy = 0;
    ck_assert_int_ne(iosched_stree_check(&t), 0);
    t.busy = 3;
    ck_assert_int_ne(iosched_stree_check(&t), 0);
    t.busy = 2 | 1 << 7;                /* there is no tree 7 */
    ck_assert_int_ne(iosched_stree_check(&t), 0);
    t.busy = 2;
    ck_assert_int_eq(iosched_stree_check(&t), 0);
}
END_TEST

START_TEST(the_check_sees_wrong_lengths)
{
    add(0, 1, 0);
    t.len = 2;
    ck_assert_int_ne(iosched_stree_check(&t), 0);
    slots[1].len = 2;
    ck_assert_int_ne(iosched_stree_check(&t), 0);
    t.len = slots[1].len = 1;
    ck_assert_int_eq(iosched_stree_check(&t), 0);
}
END_TEST

START_TEST(the_check_sees_a_node_that_says_another_tree)
{
    add(0, 1, 0);
    node[0].tree = 2;
    ck_assert_int_ne(iosched_stree_check(&t), 0);
}
END_TEST

START_TEST(the_check_sees_a_broken_tree)
{
    add(0, 6, 0);
    add(1, 6, 1);
    node[0].rb.key = UINT64_MAX;
    ck_assert_int_ne(iosched_stree_check(&t), 0);
}
END_TEST

START_TEST(the_check_sees_that_there_are_no_slots)
{
    memset(&t, 0, sizeof(t));
    ck_assert_int_ne(iosched_stree_check(&t), 0);
    setup();
    t.nslots_ = 65;
    ck_assert_int_ne(iosched_stree_check(&t), 0);
}
END_TEST

/* --- Against sorted arrays ------------------------------------------------ */

static struct {
    struct iosched_snode *in[IOSCHED_STREE_MAX][CAP];
    int64_t key[IOSCHED_STREE_MAX][CAP];
    unsigned nin[IOSCHED_STREE_MAX];
    struct iosched_snode *out[CAP];     /* in no tree                     */
    unsigned nout, n;                   /* n: in all trees                */
} m;

static void model_insert(uint32_t tree, unsigned at, struct iosched_snode *n,
                         int64_t key)
{
    unsigned after = m.nin[tree] - at;

    memmove(&m.in[tree][at + 1], &m.in[tree][at], after * sizeof(m.in[0][0]));
    memmove(&m.key[tree][at + 1], &m.key[tree][at],
            after * sizeof(m.key[0][0]));
    m.in[tree][at] = n;
    m.key[tree][at] = key;
    m.nin[tree]++;
    m.n++;
}

static void model_remove(uint32_t tree, unsigned at)
{
    unsigned after = m.nin[tree] - at - 1;

    m.out[m.nout++] = m.in[tree][at];
    memmove(&m.in[tree][at], &m.in[tree][at + 1], after * sizeof(m.in[0][0]));
    memmove(&m.key[tree][at], &m.key[tree][at + 1],
            after * sizeof(m.key[0][0]));
    m.nin[tree]--;
    m.n--;
}

/** The first place whose key is not below `key`; with after, is above it. */
static unsigned lower(uint32_t tree, int64_t key, int after)
{
    unsigned i = 0;

    while (i < m.nin[tree] &&
           (m.key[tree][i] < key || (after && m.key[tree][i] == key)))
        i++;
    return i;
}

/** a + b where the sum has room, else the end of the range it has passed. */
static int64_t sum(int64_t a, int64_t b)
{
    uint64_t s = (uint64_t)a + (uint64_t)b;

    if ((((uint64_t)a ^ s) & ((uint64_t)b ^ s)) >> 63)
        return a < 0 ? INT64_MIN : INT64_MAX;
    return (int64_t)s;
}

/** a - b the same way. */
static int64_t difference(int64_t a, int64_t b)
{
    if (b == INT64_MIN)                 /* whose opposite is one too large */
        return a >= 0 ? INT64_MAX : a + INT64_MAX + 1;
    return sum(a, -b);
}

/** NULL, or what differs. */
static const char *compare(uint32_t ntrees, uint64_t mask)
{
    const struct iosched_snode *want = NULL;
    uint32_t tree;

    if (iosched_stree_check(&t) != 0)
        return "check";
    if (t.len != m.n)
        return "len of all";
    for (tree = 0; tree < ntrees; tree++) {
        struct iosched_snode *n = iosched_stree_first(&t, tree);
        unsigned i;

        for (i = 0; i < m.nin[tree]; i++, n = iosched_stree_next(n)) {
            if (n != m.in[tree][i])
                return "order";
            if (iosched_stree_key(n) != m.key[tree][i])
                return "key";
            if (n->tree != tree || !iosched_stree_linked(n))
                return "tree";
        }
        if (n != NULL)
            return "end";
        if (iosched_stree_len(&t, tree) != m.nin[tree])
            return "len";
        if ((t.busy >> tree & 1) != (m.nin[tree] > 0))
            return "busy";
        if (want == NULL && (mask >> tree & 1) && m.nin[tree] > 0)
            want = m.in[tree][0];
    }
    return iosched_stree_pick(&t, mask) == want ? NULL : "pick";
}

static int64_t random_key(uint64_t *seed, unsigned kind)
{
    switch (kind) {
    case 0:
        return (int64_t)rng_below(seed, 5) - 2;
    case 1:
        return (int64_t)rng_below(seed, 2000) - 1000;
    case 2:
        return rng_below(seed, 2) ? INT64_MAX - rng_below(seed, 3)
                                  : INT64_MIN + rng_below(seed, 3);
    default:
        return (int64_t)rng_next(seed);
    }
}

/** NULL, or what is wrong about the key of one random insertion. */
static const char *insert(uint64_t *seed, unsigned kind, uint32_t tree)
{
    struct iosched_snode *n = m.out[--m.nout];
    int64_t a = random_key(seed, kind), b = random_key(seed, kind), key = a;
    unsigned len = m.nin[tree];

    switch (rng_below(seed, 4)) {
    case 0:
        if (len > 0 && m.key[tree][len - 1] > a)
            key = m.key[tree][len - 1];
        key = sum(key, b);
        if (iosched_stree_add_last(&t, n, tree, a, b) != key)
            return "key of add_last";
        model_insert(tree, lower(tree, key, 1), n, key);
        break;
    case 1:
        if (len > 0)
            key = m.key[tree][0];
        key = difference(key, b);
        if (iosched_stree_add_first(&t, n, tree, a, b) != key)
            return "key of add_first";
        model_insert(tree, lower(tree, key, 0), n, key);
        break;
    default:
        iosched_stree_add(&t, n, tree, key);
        model_insert(tree, lower(tree, key, 1), n, key);
        break;
    }
    return NULL;
}

static void run_model(uint32_t ntrees)
{
    uint64_t seed = 2026;
    unsigned i, kind = 0, target = 0, most = 0, empty = 0;

    setup_n(ntrees);
    memset(&m, 0, sizeof(m));
    for (i = 0; i < CAP; i++)
        m.out[m.nout++] = &node[i];
    for (i = 0; i < 1000000; i++) {
        uint32_t tree = rng_below(&seed, ntrees);
        unsigned r = rng_below(&seed, 16);
        const char *bad = NULL;

        if (i % 1024 == 0) {
            kind = rng_below(&seed, 4);
            target = rng_below(&seed, 24) == 0 ? 400 : rng_below(&seed, 64);
        }
        if (r < (m.n < target ? 12u : 4u) && m.nout > 0) {
            bad = insert(&seed, kind, tree);
        } else if (m.n > 0) {
            unsigned at;

            while (m.nin[tree] == 0)
                tree = (tree + 1) % ntrees;
            at = rng_below(&seed, m.nin[tree]);
            iosched_stree_remove(&t, m.in[tree][at]);
            model_remove(tree, at);
            if (iosched_stree_linked(m.out[m.nout - 1]))
                bad = "linked when out";
        }
        if (bad == NULL)
            bad = compare(ntrees, rng_next(&seed) | rng_next(&seed));
        if (bad != NULL)
            ck_abort_msg("step %u: %s", i, bad);
        if (m.n > most)
            most = m.n;
        empty += m.n == 0;
    }
    ck_assert_uint_ge(most, 300);       /* it was not all about small trees */
    ck_assert_uint_ge(empty, 100);
}

START_TEST(a_million_random_calls_on_seven_trees_agree_with_sorted_arrays)
{
    run_model(7);
}
END_TEST

START_TEST(a_million_random_calls_on_64_trees_agree_with_sorted_arrays)
{
    run_model(64);
}
END_TEST

/* --- Misuse, for builds with assertions ----------------------------------- */

#ifdef IOSCHED_ASSERT_ON
START_TEST(adding_a_linked_node_is_caught)
{
    add(0, 0, 1);
    add(0, 1, 1);
}
END_TEST

START_TEST(adding_to_a_tree_there_is_not_is_caught)
{
    add(0, 7, 1);
}
END_TEST

START_TEST(removing_an_unlinked_node_is_caught)
{
    add(0, 0, 1);
    iosched_stree_remove(&t, &node[1]);
}
END_TEST
#endif

static void add_misuse(Suite *s, SRunner *sr)
{
#ifdef IOSCHED_ASSERT_ON
    TCase *tc;

    if (srunner_fork_status(sr) != CK_FORK) {
        printf("CK_FORK=no: the cases of misuse, which abort, are left out\n");
        return;
    }
    tc = tcase_create("misuse");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test_raise_signal(tc, adding_a_linked_node_is_caught, SIGABRT);
    tcase_add_test_raise_signal(tc, adding_to_a_tree_there_is_not_is_caught,
                                SIGABRT);
    tcase_add_test_raise_signal(tc, removing_an_unlinked_node_is_caught,
                                SIGABRT);
    suite_add_tcase(s, tc);
#else
    (void)s;
    (void)sr;
    printf("no assertions in this build: the cases of misuse are left out\n");
#endif
}

int main(void)
{
    Suite *s = suite_create("stree");
    TCase *tc = tcase_create("sentences");
    TCase *model = tcase_create("model");
    SRunner *sr = srunner_create(s);
    int failed;

    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, init_refuses_null_no_trees_and_more_than_64);
    tcase_add_test(tc, init_makes_empty_trees_whatever_was_in_the_slots);
    tcase_add_test(tc,
        within_a_tree_keys_are_signed_and_equals_keep_insertion_order);
    tcase_add_test(tc, the_key_is_the_one_a_node_was_put_in_with);
    tcase_add_test(tc, add_last_to_an_empty_tree_starts_from_the_floor);
    tcase_add_test(tc,
        add_last_starts_from_the_last_key_or_the_floor_if_that_is_larger);
    tcase_add_test(tc, add_last_saturates_and_goes_behind_its_equals);
    tcase_add_test(tc, add_first_to_an_empty_tree_starts_from_the_floor);
    tcase_add_test(tc, add_first_starts_from_the_first_key_whatever_the_floor);
    tcase_add_test(tc, add_first_goes_ahead_of_its_equals);
    tcase_add_test(tc, add_first_saturates_and_is_ahead_even_so);
    tcase_add_test(tc, busy_has_a_bit_for_each_tree_that_is_not_empty);
    tcase_add_test(tc, pick_is_the_first_of_the_lowest_busy_tree_in_the_mask);
    tcase_add_test(tc, next_stays_in_the_tree);
    tcase_add_test(tc, len_counts_each_tree_and_all_of_them);
    tcase_add_test(tc, linked_tells_whether_a_node_is_in_a_tree);
    tcase_add_test(tc, the_check_sees_a_bitmap_that_lies);
    tcase_add_test(tc, the_check_sees_wrong_lengths);
    tcase_add_test(tc, the_check_sees_a_node_that_says_another_tree);
    tcase_add_test(tc, the_check_sees_a_broken_tree);
    tcase_add_test(tc, the_check_sees_that_there_are_no_slots);
    suite_add_tcase(s, tc);

    tcase_set_timeout(model, 0);
    tcase_add_test(model,
        a_million_random_calls_on_seven_trees_agree_with_sorted_arrays);
    tcase_add_test(model,
        a_million_random_calls_on_64_trees_agree_with_sorted_arrays);
    suite_add_tcase(s, model);
    add_misuse(s, sr);

    srunner_run_all(sr, CK_ENV);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
