/* SPDX-License-Identifier: BSD-2-Clause */
/* rbtree.c - the red-black tree: what its header promises, one case a sentence.
 * rbtree-model.c has the random calls.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <iosched/rbtree.h>
#include "port.h"
#include "rbitem.h"
#include "rng.h"

static struct iosched_rbtree t;
static struct item item[CAP];

static unsigned depth(const struct iosched_rbnode *n)
{
    unsigned l, r;

    if (n == NULL)
        return 0;
    l = depth(iosched_rb_left(n));
    r = depth(iosched_rb_right(n));
    return 1 + (l > r ? l : r);
}

static unsigned count(const struct iosched_rbnode *n)
{
    return n == NULL ? 0 : 1 + count(iosched_rb_left(n)) +
                           count(iosched_rb_right(n));
}

/* --- One sentence each ---------------------------------------------------- */

static void setup(void)
{
    memset(&t, 0, sizeof(t));
    memset(item, 0, sizeof(item));
    calls = 0;
}

static void add(unsigned i, uint64_t key)
{
    iosched_rb_insert(&t, &item[i].n, key);
}

/** The items in the order of the tree have to be those whose numbers follow,
 *  up to a negative one. */
static void expect(const int *which)
{
    struct iosched_rbnode *n = iosched_rb_first(&t);

    ck_assert_int_eq(iosched_rb_check(&t), 0);
    for (; *which >= 0; which++) {
        ck_assert_ptr_eq(n, &item[*which].n);
        n = iosched_rb_next(n);
    }
    ck_assert_ptr_null(n);
}

START_TEST(all_zero_bytes_are_an_empty_tree_and_an_unlinked_node)
{
    ck_assert_int_eq(iosched_rb_check(&t), 0);
    ck_assert_ptr_null(iosched_rb_first(&t));
    ck_assert_ptr_null(iosched_rb_last(&t));
    ck_assert_ptr_null(iosched_rb_root(&t));
    ck_assert_ptr_null(iosched_rb_ceil(&t, 0));
    ck_assert_ptr_null(iosched_rb_floor(&t, UINT64_MAX));
    ck_assert_int_eq(iosched_rb_linked(&item[0].n), 0);
    add(0, 0);                          /* and are fit for use */
    expect((int[]){ 0, -1 });
}
END_TEST

START_TEST(equal_keys_keep_insertion_order)
{
    add(0, 5);
    add(1, 5);
    add(2, 4);
    add(3, 5);
    add(4, 6);
    add(5, 5);
    add(6, 4);
    expect((int[]){ 2, 6, 0, 1, 3, 5, 4, -1 });
}
END_TEST

START_TEST(insert_first_goes_before_its_equals_and_not_before_smaller_keys)
{
    add(0, 5);
    add(1, 5);
    iosched_rb_insert_first(&t, &item[2].n, 5);
    add(3, 4);
    iosched_rb_insert_first(&t, &item[4].n, 5);
    iosched_rb_insert_first(&t, &item[5].n, 4);
    iosched_rb_insert_first(&t, &item[6].n, 9);
    expect((int[]){ 5, 3, 4, 2, 0, 1, 6, -1 });
    ck_assert_uint_eq(item[4].n.key, 5);
}
END_TEST

START_TEST(first_is_the_smallest_and_last_the_largest)
{
    unsigned i;

    for (i = 0; i < 100; i++) {
        add(i, i % 2 ? 1000 - i : 1000 + i);
        ck_assert_ptr_eq(iosched_rb_first(&t),
                         &item[i % 2 ? i : i ? i - 1 : 0].n);
        ck_assert_ptr_eq(iosched_rb_last(&t), &item[i % 2 ? i - 1 : i].n);
    }
    for (i = 99; i > 1; i -= 2) {       /* the smallest goes each time */
        iosched_rb_remove(&t, &item[i].n);
        ck_assert_ptr_eq(iosched_rb_first(&t), &item[i - 2].n);
    }
}
END_TEST

START_TEST(next_and_prev_walk_the_whole_order_and_end_in_null)
{
    struct iosched_rbnode *n;
    unsigned i;

    for (i = 0; i < 200; i++)
        add(i, i * 77 % 200);
    n = iosched_rb_first(&t);
    for (i = 0; i < 200; i++, n = iosched_rb_next(n))
        ck_assert_uint_eq(n->key, i);
    ck_assert_ptr_null(n);
    n = iosched_rb_last(&t);
    for (i = 200; i > 0; i--, n = iosched_rb_prev(n))
        ck_assert_uint_eq(n->key, i - 1);
    ck_assert_ptr_null(n);
}
END_TEST

START_TEST(ceil_is_the_first_node_whose_key_is_not_below)
{
    add(0, 10);
    add(1, 20);
    add(2, 20);
    add(3, 30);
    ck_assert_ptr_eq(iosched_rb_ceil(&t, 0), &item[0].n);
    ck_assert_ptr_eq(iosched_rb_ceil(&t, 10), &item[0].n);
    ck_assert_ptr_eq(iosched_rb_ceil(&t, 11), &item[1].n);
    ck_assert_ptr_eq(iosched_rb_ceil(&t, 20), &item[1].n);
    ck_assert_ptr_eq(iosched_rb_ceil(&t, 30), &item[3].n);
    ck_assert_ptr_null(iosched_rb_ceil(&t, 31));
    ck_assert_ptr_null(iosched_rb_ceil(&t, UINT64_MAX));
}
END_TEST

START_TEST(floor_is_the_last_node_whose_key_is_not_above)
{
    add(0, 10);
    add(1, 20);
    add(2, 20);
    add(3, 30);
    ck_assert_ptr_null(iosched_rb_floor(&t, 0));
    ck_assert_ptr_null(iosched_rb_floor(&t, 9));
    ck_assert_ptr_eq(iosched_rb_floor(&t, 10), &item[0].n);
    ck_assert_ptr_eq(iosched_rb_floor(&t, 20), &item[2].n);
    ck_assert_ptr_eq(iosched_rb_floor(&t, 29), &item[2].n);
    ck_assert_ptr_eq(iosched_rb_floor(&t, 30), &item[3].n);
    ck_assert_ptr_eq(iosched_rb_floor(&t, UINT64_MAX), &item[3].n);
}
END_TEST

START_TEST(the_smallest_and_the_largest_key_there_are_can_be_used)
{
    add(0, UINT64_MAX);
    add(1, 0);
    add(2, UINT64_MAX);
    iosched_rb_insert_first(&t, &item[3].n, 0);
    iosched_rb_insert_first(&t, &item[4].n, UINT64_MAX);
    expect((int[]){ 3, 1, 4, 0, 2, -1 });
    ck_assert_ptr_eq(iosched_rb_ceil(&t, UINT64_MAX), &item[4].n);
    ck_assert_ptr_eq(iosched_rb_floor(&t, 0), &item[1].n);
}
END_TEST

START_TEST(a_removed_node_is_all_zero_but_for_its_key)
{
    unsigned i;

    for (i = 0; i < 64; i++)
        add(i, 100 + i * 37 % 64);
    for (i = 0; i < 64; i++) {
        struct iosched_rbnode zero;

        memset(&zero, 0, sizeof(zero));
        zero.key = 100 + i * 37 % 64;
        iosched_rb_remove(&t, &item[i].n);
        ck_assert_int_eq(memcmp(&zero, &item[i].n, sizeof(zero)), 0);
        ck_assert_int_eq(iosched_rb_check(&t), 0);
    }
    ck_assert_ptr_null(iosched_rb_root(&t));
}
END_TEST

START_TEST(linked_tells_whether_a_node_is_in_a_tree)
{
    unsigned i;

    for (i = 0; i < 3; i++)             /* root, left and right */
        add(i, i == 1 ? 0 : i + 1);
    for (i = 0; i < 3; i++)
        ck_assert_int_eq(iosched_rb_linked(&item[i].n), 1);
    ck_assert_int_eq(iosched_rb_linked(&item[3].n), 0);
    for (i = 0; i < 3; i++) {
        iosched_rb_remove(&t, &item[i].n);
        ck_assert_int_eq(iosched_rb_linked(&item[i].n), 0);
    }
    add(1, 3);                          /* and can go in again */
    ck_assert_int_eq(iosched_rb_linked(&item[1].n), 1);
}
END_TEST

START_TEST(root_left_and_right_lead_to_every_node)
{
    unsigned i;

    for (i = 0; i < CAP; i++) {
        const struct iosched_rbnode *root;

        add(i, i * 77 % 101);
        root = iosched_rb_root(&t);
        ck_assert_uint_eq(count(root), i + 1);
        if (iosched_rb_left(root) != NULL)
            ck_assert_uint_le(iosched_rb_left(root)->key, root->key);
        if (iosched_rb_right(root) != NULL)
            ck_assert_uint_ge(iosched_rb_right(root)->key, root->key);
    }
}
END_TEST

START_TEST(no_way_down_is_longer_than_twice_the_logarithm)
{
    unsigned order, i;
    uint64_t seed = 3;

    for (order = 0; order < 4; order++) {
        setup();
        for (i = 0; i < CAP; i++) {
            add(i, order == 0 ? i : order == 1 ? CAP - i :
                   order == 2 ? 7 : rng_next(&seed));
            /* Height is at most 2 log2(n + 1); bits() rounds that up. */
            ck_assert_uint_le(depth(iosched_rb_root(&t)), 2 * bits(i + 1));
        }
        for (i = 0; i < CAP; i++) {
            iosched_rb_remove(&t, iosched_rb_first(&t));
            ck_assert_uint_le(depth(iosched_rb_root(&t)),
                              2 * bits(CAP - i - 1));
        }
    }
}
END_TEST

START_TEST(a_removal_rotates_a_bounded_number_of_times)
{
    static struct item old[CAP];
    uint64_t seed = 4;
    unsigned i, k;

    for (i = 0; i < CAP; i++)
        add(i, rng_next(&seed));
    for (i = 0; i < CAP; i++) {
        unsigned changed = 0;

        memcpy(old, item, sizeof(old));
        iosched_rb_remove(&t, &item[i].n);
        for (k = 0; k < CAP; k++)
            changed += old[k].n.left_ != item[k].n.left_ ||
                       old[k].n.right_ != item[k].n.right_;
        /* Out come n and its heir; three rotations of three nodes each. */
        ck_assert_uint_le(changed, 4 + 3 * 3);
    }
}
END_TEST

/* --- Augmentation --------------------------------------------------------- */

START_TEST(the_root_summarises_the_whole_tree)
{
    unsigned i;
    uint64_t want = 0;

    t.augment = max_end;
    for (i = 0; i < 100; i++) {
        item[i].end = i * 77 % 101;
        if (item[i].end > want)
            want = item[i].end;
        add(i, i * 31 % 37);
        ck_assert_uint_eq(sum_of(iosched_rb_root(&t)), want);
    }
}
END_TEST

START_TEST(each_change_calls_the_augmentation_a_logarithmic_number_of_times)
{
    static struct item big[20000];
    const unsigned n = sizeof(big) / sizeof(big[0]);
    uint64_t seed = 5;
    unsigned i;

    memset(big, 0, sizeof(big));
    t.augment = max_end;
    for (i = 0; i < n; i++) {
        big[i].end = n - i;
        calls = 0;
        iosched_rb_insert(&t, &big[i].n, rng_next(&seed));
        ck_assert_uint_ge(calls, 1);
        ck_assert_uint_le(calls, 2 * bits(i + 1) + 12);
    }
    for (i = 0; i < n; i++) {           /* each time the largest end */
        calls = 0;
        iosched_rb_remove(&t, &big[i].n);
        ck_assert_uint_le(calls, 2 * bits(n - i) + 12);
        ck_assert_uint_eq(sum_of(iosched_rb_root(&t)), n - i - 1);
        if (i + 1 < n) {
            big[n - 1].end = 2 * n;     /* all the way up, and back */
            calls = 0;
            iosched_rb_refresh(&t, &big[n - 1].n);
            ck_assert_uint_le(calls, 2 * bits(n - i));
            ck_assert_uint_eq(sum_of(iosched_rb_root(&t)), 2 * n);
            big[n - 1].end = 1;
            calls = 0;
            iosched_rb_refresh(&t, &big[n - 1].n);
            ck_assert_uint_le(calls, 2 * bits(n - i));
        }
    }
}
END_TEST

START_TEST(an_unchanged_summary_stops_the_way_up)
{
    unsigned i;

    t.augment = max_end;
    for (i = 0; i < 100; i++) {
        item[i].end = 1000;
        add(i, i);
    }
    calls = 0;
    iosched_rb_refresh(&t, &item[0].n);
    ck_assert_uint_eq(calls, 1);        /* nothing has changed */
    item[0].end = 999;                  /* a leaf: its parent has 1000 too */
    ck_assert_ptr_null(iosched_rb_left(&item[0].n));
    ck_assert_ptr_null(iosched_rb_right(&item[0].n));
    calls = 0;
    iosched_rb_refresh(&t, &item[0].n);
    ck_assert_uint_eq(calls, 2);
}
END_TEST

START_TEST(refresh_brings_a_changed_value_up_to_the_root)
{
    unsigned i;

    t.augment = max_end;
    for (i = 0; i < 100; i++)
        add(i, i);
    for (i = 0; i < 100; i++) {
        item[i].end = 1000 + i;
        ck_assert_int_ne(iosched_rb_check(&t), 0);
        item[i].sum = 0;                /* undo what the check has mended */
        iosched_rb_refresh(&t, &item[i].n);
        ck_assert_uint_eq(sum_of(iosched_rb_root(&t)), 1000 + i);
        ck_assert_int_eq(iosched_rb_check(&t), 0);
        item[i].end = 0;
        iosched_rb_refresh(&t, &item[i].n);
        ck_assert_uint_eq(sum_of(iosched_rb_root(&t)), 0);
    }
}
END_TEST

START_TEST(refresh_without_an_augmentation_does_nothing)
{
    struct iosched_rbtree old;
    struct item was;

    add(0, 1);
    add(1, 2);
    item[1].end = 7;
    old = t;
    was = item[1];
    iosched_rb_refresh(&t, &item[1].n);
    ck_assert_int_eq(memcmp(&old, &t, sizeof(t)), 0);
    ck_assert_int_eq(memcmp(&was, &item[1], sizeof(was)), 0);
}
END_TEST

START_TEST(a_summary_left_over_from_last_time_does_not_stop_the_way_up)
{
    t.augment = max_end;
    item[0].end = 1;
    item[1].end = 2;
    add(0, 1);
    add(1, 2);
    iosched_rb_remove(&t, &item[1].n);
    ck_assert_uint_eq(sum_of(iosched_rb_root(&t)), 1);
    ck_assert_uint_eq(item[1].sum, 2);  /* as it will be again */
    add(1, 2);
    ck_assert_uint_eq(sum_of(iosched_rb_root(&t)), 2);
}
END_TEST

START_TEST(an_heir_whose_summary_stays_does_not_stop_the_way_up)
{
    unsigned i;

    /* 3 is the root; 1 has two children, and 2 inherits its place with the
     * very summary that it had before. */
    t.augment = max_end;
    for (i = 0; i < 4; i++) {
        static const uint64_t key[] = { 3, 1, 4, 0 }, end[] = { 0, 9, 0, 0 };

        item[i].end = end[i];
        add(i, key[i]);
    }
    item[4].end = 5;
    add(4, 2);
    ck_assert_ptr_eq(iosched_rb_root(&t), &item[0].n);
    ck_assert_ptr_eq(iosched_rb_left(&item[0].n), &item[1].n);
    ck_assert_ptr_eq(iosched_rb_right(&item[1].n), &item[4].n);
    iosched_rb_remove(&t, &item[1].n);
    ck_assert_uint_eq(item[4].sum, 5);
    ck_assert_uint_eq(item[0].sum, 5);
    ck_assert_int_eq(iosched_rb_check(&t), 0);
}
END_TEST

/* --- The check itself ----------------------------------------------------- */

static struct iosched_rbnode *root, *left, *right;

/** 0..14 in a tree, of at least three levels. */
static void fifteen(void)
{
    unsigned i;

    setup();
    for (i = 0; i < 15; i++)
        add(i, i);
    root = iosched_rb_root(&t);
    left = iosched_rb_left(root);
    right = iosched_rb_right(root);
    ck_assert_int_eq(iosched_rb_check(&t), 0);
}

START_TEST(the_check_sees_keys_out_of_order)
{
    fifteen();
    root->key = 14;
    ck_assert_int_ne(iosched_rb_check(&t), 0);
    fifteen();
    item[14].n.key = 0;
    ck_assert_int_ne(iosched_rb_check(&t), 0);
    fifteen();
    item[0].n.key = 2;
    ck_assert_int_ne(iosched_rb_check(&t), 0);
}
END_TEST

START_TEST(the_check_sees_colours_that_are_wrong)
{
    unsigned i;

    fifteen();
    for (i = 0; i < 15; i++) {          /* there is no other legal colour */
        item[i].n.up_ ^= 1;             /* for any one node alone         */
        ck_assert_int_ne(iosched_rb_check(&t), 0);
        item[i].n.up_ ^= 1;
    }
    ck_assert_int_eq(iosched_rb_check(&t), 0);

    setup();                            /* a red root */
    add(0, 0);
    item[0].n.up_ |= 1;
    ck_assert_int_ne(iosched_rb_check(&t), 0);

    setup();                            /* black, red, and red below that */
    add(0, 0);
    add(1, 1);
    item[1].n.right_ = &item[2].n;
    item[2].n.up_ = (uintptr_t)&item[1].n | (item[1].n.up_ & 3);
    item[2].n.key = 2;
    ck_assert_int_ne(iosched_rb_check(&t), 0);
}
END_TEST

START_TEST(the_check_sees_a_wrong_parent)
{
    fifteen();
    left->up_ = (uintptr_t)right | (left->up_ & 3);
    ck_assert_int_ne(iosched_rb_check(&t), 0);
    fifteen();
    root->up_ = (uintptr_t)right | (root->up_ & 3);
    ck_assert_int_ne(iosched_rb_check(&t), 0);
}
END_TEST

START_TEST(the_check_sees_a_circle_and_a_node_that_hangs_twice)
{
    fifteen();
    item[14].n.right_ = root;
    ck_assert_int_ne(iosched_rb_check(&t), 0);
    setup();
    add(0, 7);
    add(1, 7);
    add(2, 7);
    item[0].n.right_ = iosched_rb_right(iosched_rb_root(&t));
    root = iosched_rb_root(&t);
    root->left_ = root->right_;
    t.first_ = root->left_;
    ck_assert_int_ne(iosched_rb_check(&t), 0);
}
END_TEST

START_TEST(the_check_sees_a_node_that_is_marked_unlinked)
{
    fifteen();
    right->up_ &= ~(uintptr_t)2;
    ck_assert_int_eq(iosched_rb_linked(right), 0);
    ck_assert_int_ne(iosched_rb_check(&t), 0);
}
END_TEST

START_TEST(the_check_sees_a_first_that_is_not_leftmost)
{
    fifteen();
    t.first_ = &item[1].n;
    ck_assert_int_ne(iosched_rb_check(&t), 0);
    t.first_ = NULL;
    ck_assert_int_ne(iosched_rb_check(&t), 0);
    setup();
    t.first_ = &item[0].n;
    ck_assert_int_ne(iosched_rb_check(&t), 0);
}
END_TEST

START_TEST(the_check_sees_a_stale_summary_anywhere)
{
    unsigned i;

    for (i = 0; i < 15; i++) {
        unsigned k;

        setup();
        t.augment = max_end;
        for (k = 0; k < 15; k++) {
            item[k].end = k;
            add(k, k);
        }
        ck_assert_int_eq(iosched_rb_check(&t), 0);
        item[i].sum += 1;
        ck_assert_int_ne(iosched_rb_check(&t), 0);
    }
}
END_TEST

/* --- Misuse, for builds with assertions ----------------------------------- */

#ifdef IOSCHED_ASSERT_ON
START_TEST(inserting_a_linked_node_is_caught)
{
    add(0, 1);
    add(0, 2);
}
END_TEST

START_TEST(removing_an_unlinked_node_is_caught)
{
    add(0, 1);
    iosched_rb_remove(&t, &item[1].n);
}
END_TEST

START_TEST(removing_the_root_of_another_tree_is_caught)
{
    struct iosched_rbtree other;

    memset(&other, 0, sizeof(other));
    add(0, 1);
    iosched_rb_remove(&other, &item[0].n);
}
END_TEST

START_TEST(refreshing_an_unlinked_node_is_caught)
{
    iosched_rb_refresh(&t, &item[0].n);
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
    tcase_add_test_raise_signal(tc, inserting_a_linked_node_is_caught, SIGABRT);
    tcase_add_test_raise_signal(tc, removing_an_unlinked_node_is_caught,
                                SIGABRT);
    tcase_add_test_raise_signal(tc, removing_the_root_of_another_tree_is_caught,
                                SIGABRT);
    tcase_add_test_raise_signal(tc, refreshing_an_unlinked_node_is_caught,
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
    Suite *s = suite_create("rbtree");
    TCase *tc = tcase_create("sentences");
    SRunner *sr = srunner_create(s);
    int failed;

    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc,
        all_zero_bytes_are_an_empty_tree_and_an_unlinked_node);
    tcase_add_test(tc, equal_keys_keep_insertion_order);
    tcase_add_test(tc,
        insert_first_goes_before_its_equals_and_not_before_smaller_keys);
    tcase_add_test(tc, first_is_the_smallest_and_last_the_largest);
    tcase_add_test(tc, next_and_prev_walk_the_whole_order_and_end_in_null);
    tcase_add_test(tc, ceil_is_the_first_node_whose_key_is_not_below);
    tcase_add_test(tc, floor_is_the_last_node_whose_key_is_not_above);
    tcase_add_test(tc, the_smallest_and_the_largest_key_there_are_can_be_used);
    tcase_add_test(tc, a_removed_node_is_all_zero_but_for_its_key);
    tcase_add_test(tc, linked_tells_whether_a_node_is_in_a_tree);
    tcase_add_test(tc, root_left_and_right_lead_to_every_node);
    tcase_add_test(tc, no_way_down_is_longer_than_twice_the_logarithm);
    tcase_add_test(tc, a_removal_rotates_a_bounded_number_of_times);
    tcase_add_test(tc, the_root_summarises_the_whole_tree);
    tcase_add_test(tc,
        each_change_calls_the_augmentation_a_logarithmic_number_of_times);
    tcase_add_test(tc, an_unchanged_summary_stops_the_way_up);
    tcase_add_test(tc, refresh_brings_a_changed_value_up_to_the_root);
    tcase_add_test(tc, refresh_without_an_augmentation_does_nothing);
    tcase_add_test(tc,
        a_summary_left_over_from_last_time_does_not_stop_the_way_up);
    tcase_add_test(tc, an_heir_whose_summary_stays_does_not_stop_the_way_up);
    tcase_add_test(tc, the_check_sees_keys_out_of_order);
    tcase_add_test(tc, the_check_sees_colours_that_are_wrong);
    tcase_add_test(tc, the_check_sees_a_wrong_parent);
    tcase_add_test(tc, the_check_sees_a_circle_and_a_node_that_hangs_twice);
    tcase_add_test(tc, the_check_sees_a_node_that_is_marked_unlinked);
    tcase_add_test(tc, the_check_sees_a_first_that_is_not_leftmost);
    tcase_add_test(tc, the_check_sees_a_stale_summary_anywhere);
    suite_add_tcase(s, tc);
    add_misuse(s, sr);

    srunner_run_all(sr, CK_ENV);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
