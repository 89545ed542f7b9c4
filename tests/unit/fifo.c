/* SPDX-License-Identifier: BSD-2-Clause */
/* fifo.c - the list with expiries: what its header promises, one case a
 * sentence, and a million random calls against a plain array.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <iosched/fifo.h>
#include "port.h"
#include "rng.h"

#define CAP 512                         /* links there are                */

static struct iosched_fifo f;
static struct iosched_fifolink link_[CAP];

static void setup(void)
{
    memset(&f, 0, sizeof(f));
    memset(link_, 0, sizeof(link_));
}

static void push(unsigned i)
{
    iosched_fifo_push(&f, &link_[i], 100 + i);
}

/** The links in the list have to be those whose numbers follow, up to a
 *  negative one. */
static void expect(const int *which)
{
    struct iosched_fifolink *l = iosched_fifo_head(&f), *last = NULL;
    uint32_t len = 0;

    ck_assert_int_eq(iosched_fifo_check(&f), 0);
    for (; *which >= 0; which++, len++) {
        ck_assert_ptr_eq(l, &link_[*which]);
        ck_assert_int_eq(iosched_fifo_linked(l), 1);
        ck_assert_ptr_eq(iosched_fifo_prev(l), last);
        last = l;
        l = iosched_fifo_next(l);
    }
    ck_assert_ptr_null(l);
    ck_assert_ptr_eq(iosched_fifo_tail(&f), last);
    ck_assert_uint_eq(f.len, len);
}

/** Link i has to be unlinked and to show that expiry. */
static void expect_out(unsigned i, iosched_time expires)
{
    ck_assert_int_eq(iosched_fifo_linked(&link_[i]), 0);
    ck_assert_ptr_null(link_[i].next_);
    ck_assert_ptr_null(link_[i].prev_);
    ck_assert_uint_eq(link_[i].expires, expires);
}

/* --- One sentence each ---------------------------------------------------- */

START_TEST(all_zero_bytes_are_an_empty_list_and_an_unlinked_link)
{
    expect((int[]){ -1 });
    ck_assert_ptr_null(iosched_fifo_head(&f));
    ck_assert_ptr_null(iosched_fifo_expired(&f, IOSCHED_NEVER - 1));
    expect_out(0, 0);
    push(0);                            /* and are fit for use */
    expect((int[]){ 0, -1 });
}
END_TEST

START_TEST(push_appends)
{
    push(0);
    push(1);
    push(2);
    expect((int[]){ 0, 1, 2, -1 });
    ck_assert_uint_eq(link_[2].expires, 102);
}
END_TEST

START_TEST(push_head_puts_a_link_at_the_head)
{
    iosched_fifo_push_head(&f, &link_[0], 7);
    expect((int[]){ 0, -1 });
    iosched_fifo_push_head(&f, &link_[1], 8);
    push(2);
    iosched_fifo_push_head(&f, &link_[3], 9);
    expect((int[]){ 3, 1, 0, 2, -1 });
    ck_assert_uint_eq(link_[0].expires, 7);
    ck_assert_uint_eq(link_[3].expires, 9);
}
END_TEST

START_TEST(insert_before_puts_a_link_just_before_another)
{
    push(0);
    iosched_fifo_insert_before(&f, &link_[0], &link_[1], 5);
    expect((int[]){ 1, 0, -1 });
    iosched_fifo_insert_before(&f, &link_[0], &link_[2], 6);
    iosched_fifo_insert_before(&f, &link_[1], &link_[3], 7);
    expect((int[]){ 3, 1, 2, 0, -1 });
    ck_assert_uint_eq(link_[1].expires, 5);
    ck_assert_uint_eq(link_[2].expires, 6);
    ck_assert_uint_eq(link_[3].expires, 7);
}
END_TEST

START_TEST(replace_takes_the_place_and_the_expiry_of_the_old_link)
{
    push(0);
    link_[5].expires = 1;
    iosched_fifo_replace(&f, &link_[0], &link_[5]);     /* the only one */
    expect((int[]){ 5, -1 });
    ck_assert_uint_eq(link_[5].expires, 100);
    expect_out(0, 100);
    push(1);
    push(2);
    iosched_fifo_replace(&f, &link_[5], &link_[6]);     /* the head */
    expect((int[]){ 6, 1, 2, -1 });
    iosched_fifo_replace(&f, &link_[1], &link_[7]);     /* in the middle */
    expect((int[]){ 6, 7, 2, -1 });
    iosched_fifo_replace(&f, &link_[2], &link_[8]);     /* the tail */
    expect((int[]){ 6, 7, 8, -1 });
    ck_assert_uint_eq(link_[6].expires, 100);
    ck_assert_uint_eq(link_[7].expires, 101);
    ck_assert_uint_eq(link_[8].expires, 102);
    expect_out(5, 100);
    expect_out(1, 101);
    expect_out(2, 102);
}
END_TEST

START_TEST(remove_takes_out_head_middle_tail_and_the_only_link)
{
    unsigned i;

    for (i = 0; i < 5; i++)
        push(i);
    iosched_fifo_remove(&f, &link_[0]);
    expect((int[]){ 1, 2, 3, 4, -1 });
    iosched_fifo_remove(&f, &link_[4]);
    expect((int[]){ 1, 2, 3, -1 });
    iosched_fifo_remove(&f, &link_[2]);
    expect((int[]){ 1, 3, -1 });
    iosched_fifo_remove(&f, &link_[1]);
    expect((int[]){ 3, -1 });
    iosched_fifo_remove(&f, &link_[3]);
    expect((int[]){ -1 });
    ck_assert_ptr_null(iosched_fifo_head(&f));
}
END_TEST

START_TEST(a_removed_link_keeps_its_expiry_and_can_go_in_again)
{
    push(0);
    push(1);
    iosched_fifo_remove(&f, &link_[0]);
    expect_out(0, 100);
    iosched_fifo_push(&f, &link_[0], 3);
    expect((int[]){ 1, 0, -1 });
    ck_assert_uint_eq(link_[0].expires, 3);
}
END_TEST

START_TEST(next_and_prev_end_in_null)
{
    push(0);
    ck_assert_ptr_null(iosched_fifo_next(&link_[0]));
    ck_assert_ptr_null(iosched_fifo_prev(&link_[0]));
    push(1);
    ck_assert_ptr_eq(iosched_fifo_next(&link_[0]), &link_[1]);
    ck_assert_ptr_null(iosched_fifo_next(&link_[1]));
    ck_assert_ptr_eq(iosched_fifo_prev(&link_[1]), &link_[0]);
    ck_assert_ptr_null(iosched_fifo_prev(&link_[0]));
}
END_TEST

START_TEST(expired_is_the_head_from_its_expiry_on)
{
    push(0);
    push(1);
    ck_assert_ptr_null(iosched_fifo_expired(&f, 0));
    ck_assert_ptr_null(iosched_fifo_expired(&f, 99));
    ck_assert_ptr_eq(iosched_fifo_expired(&f, 100), &link_[0]);
    ck_assert_ptr_eq(iosched_fifo_expired(&f, 101), &link_[0]);
    iosched_fifo_remove(&f, &link_[0]);
    ck_assert_ptr_null(iosched_fifo_expired(&f, 100));
    ck_assert_ptr_eq(iosched_fifo_expired(&f, 101), &link_[1]);
}
END_TEST

START_TEST(expired_looks_at_the_head_alone)
{
    iosched_fifo_push(&f, &link_[0], 100);
    iosched_fifo_push(&f, &link_[1], 1);
    ck_assert_ptr_null(iosched_fifo_expired(&f, 99));
}
END_TEST

START_TEST(a_link_can_expire_at_time_zero)
{
    iosched_fifo_push(&f, &link_[0], 0);
    ck_assert_ptr_eq(iosched_fifo_expired(&f, 0), &link_[0]);
}
END_TEST

START_TEST(a_link_that_never_expires_does_not)
{
    iosched_fifo_push(&f, &link_[0], IOSCHED_NEVER);
    ck_assert_ptr_null(iosched_fifo_expired(&f, IOSCHED_NEVER - 1));
    ck_assert_ptr_null(iosched_fifo_expired(&f, IOSCHED_NEVER));
}
END_TEST

/* --- The check itself ----------------------------------------------------- */

static void five(void)
{
    unsigned i;

    setup();
    for (i = 0; i < 5; i++)
        push(i);
    ck_assert_int_eq(iosched_fifo_check(&f), 0);
}

START_TEST(the_check_sees_ends_that_are_none)
{
    five();
    f.head_ = NULL;
    ck_assert_int_ne(iosched_fifo_check(&f), 0);
    five();
    f.tail_ = NULL;
    ck_assert_int_ne(iosched_fifo_check(&f), 0);
    five();
    f.head_ = &link_[1];
    f.len = 4;
    ck_assert_int_ne(iosched_fifo_check(&f), 0);
    five();
    f.tail_ = &link_[3];
    ck_assert_int_ne(iosched_fifo_check(&f), 0);
    five();
    f.tail_ = &link_[5];                /* alone, elsewhere */
    link_[5].next_ = &link_[5];
    ck_assert_int_ne(iosched_fifo_check(&f), 0);
}
END_TEST

START_TEST(the_check_sees_neighbours_that_disagree)
{
    unsigned i;

    for (i = 0; i < 5; i++) {
        five();
        link_[i].prev_ = &link_[(i + 2) % 5];
        ck_assert_int_ne(iosched_fifo_check(&f), 0);
        five();
        link_[i].next_ = &link_[(i + 2) % 5];
        ck_assert_int_ne(iosched_fifo_check(&f), 0);
        five();
        link_[i].next_ = NULL;
        ck_assert_int_ne(iosched_fifo_check(&f), 0);
    }
}
END_TEST

START_TEST(the_check_sees_a_circle)
{
    five();
    link_[4].next_ = &link_[1];
    link_[1].prev_ = &link_[4];
    ck_assert_int_ne(iosched_fifo_check(&f), 0);
    five();
    link_[4].next_ = &link_[0];
    ck_assert_int_ne(iosched_fifo_check(&f), 0);
}
END_TEST

START_TEST(the_check_sees_a_wrong_length)
{
    five();
    f.len = 4;
    ck_assert_int_ne(iosched_fifo_check(&f), 0);
    f.len = 6;
    ck_assert_int_ne(iosched_fifo_check(&f), 0);
    f.len = 0;
    ck_assert_int_ne(iosched_fifo_check(&f), 0);
    setup();
    f.len = 1;
    ck_assert_int_ne(iosched_fifo_check(&f), 0);
}
END_TEST

/* --- Against a plain array ------------------------------------------------ */

static struct {
    struct iosched_fifolink *in[CAP];   /* from the head                  */
    iosched_time expires[CAP];          /* of those                       */
    struct iosched_fifolink *out[CAP];  /* not in the list                */
    unsigned nin, nout;
} m;

static void model_insert(unsigned at, struct iosched_fifolink *l,
                         iosched_time expires)
{
    memmove(&m.in[at + 1], &m.in[at], (m.nin - at) * sizeof(m.in[0]));
    memmove(&m.expires[at + 1], &m.expires[at],
            (m.nin - at) * sizeof(m.expires[0]));
    m.in[at] = l;
    m.expires[at] = expires;
    m.nin++;
}

static void model_remove(unsigned at)
{
    m.nin--;
    memmove(&m.in[at], &m.in[at + 1], (m.nin - at) * sizeof(m.in[0]));
    memmove(&m.expires[at], &m.expires[at + 1],
            (m.nin - at) * sizeof(m.expires[0]));
}

/** NULL, or what differs. */
static const char *compare(iosched_time now)
{
    struct iosched_fifolink *l = iosched_fifo_head(&f);
    unsigned i;

    if (iosched_fifo_check(&f) != 0)
        return "check";
    for (i = 0; i < m.nin; i++, l = iosched_fifo_next(l)) {
        if (l != m.in[i])
            return "order";
        if (l->expires != m.expires[i])
            return "expiry";
        if (!iosched_fifo_linked(l))
            return "linked";
    }
    if (l != NULL)
        return "end";
    l = iosched_fifo_tail(&f);
    for (i = m.nin; i > 0; i--, l = iosched_fifo_prev(l))
        if (l != m.in[i - 1])
            return "order by prev";
    if (l != NULL)
        return "end by prev";
    if (iosched_fifo_tail(&f) != (m.nin > 0 ? m.in[m.nin - 1] : NULL))
        return "tail";
    if (f.len != m.nin)
        return "len";
    l = m.nin > 0 && now >= m.expires[0] ? m.in[0] : NULL;
    if (iosched_fifo_expired(&f, now) != l)
        return "expired";
    return NULL;
}

/** One random change of list and model; grow: rather an insertion. */
static void step(uint64_t *seed, int grow)
{
    unsigned r = rng_below(seed, 16);
    unsigned at = m.nin > 0 ? rng_below(seed, m.nin) : 0;
    iosched_time expires = rng_below(seed, 100);
    struct iosched_fifolink *l;

    if ((grow ? r < 12 : r < 6) && m.nout > 0) {
        l = m.out[--m.nout];
        if (r % 3 == 0) {
            iosched_fifo_push(&f, l, expires);
            model_insert(m.nin, l, expires);
        } else if (r % 3 == 1) {
            iosched_fifo_push_head(&f, l, expires);
            model_insert(0, l, expires);
        } else if (m.nin > 0) {
            iosched_fifo_insert_before(&f, m.in[at], l, expires);
            model_insert(at, l, expires);
        } else {
            m.nout++;
        }
    } else if (r < 14 && m.nin > 0) {
        if (r == 13)
            at = 0;
        l = m.in[at];
        iosched_fifo_remove(&f, l);
        model_remove(at);
        m.out[m.nout++] = l;
    } else if (m.nin > 0 && m.nout > 0) {
        l = m.out[m.nout - 1];
        l->expires = expires;           /* which must not survive */
        iosched_fifo_replace(&f, m.in[at], l);
        m.out[m.nout - 1] = m.in[at];
        m.in[at] = l;
    }
}

START_TEST(a_million_random_calls_agree_with_a_plain_array)
{
    uint64_t seed = 2026;
    unsigned i, target = 0, most = 0, empty = 0;

    memset(&m, 0, sizeof(m));
    for (i = 0; i < CAP; i++)
        m.out[m.nout++] = &link_[i];
    for (i = 0; i < 1000000; i++) {
        const char *bad;

        if (i % 1024 == 0)
            target = rng_below(&seed, 24) == 0 ? 400 : rng_below(&seed, 64);
        step(&seed, m.nin < target);
        bad = compare(rng_below(&seed, 100));
        if (bad == NULL && m.nout > 0 && iosched_fifo_linked(m.out[m.nout - 1]))
            bad = "linked when out";
        if (bad != NULL)
            ck_abort_msg("step %u: %s", i, bad);
        if (m.nin > most)
            most = m.nin;
        empty += m.nin == 0;
    }
    ck_assert_uint_ge(most, 300);       /* it was not all about short lists */
    ck_assert_uint_ge(empty, 100);
}
END_TEST

/* --- Misuse, for builds with assertions ----------------------------------- */

#ifdef IOSCHED_ASSERT_ON
START_TEST(pushing_a_linked_link_is_caught)
{
    push(0);
    push(0);
}
END_TEST

START_TEST(pushing_a_linked_link_at_the_head_is_caught)
{
    push(0);
    push(1);
    iosched_fifo_push_head(&f, &link_[1], 0);
}
END_TEST

START_TEST(inserting_before_an_unlinked_link_is_caught)
{
    push(0);
    iosched_fifo_insert_before(&f, &link_[1], &link_[2], 0);
}
END_TEST

START_TEST(replacing_by_a_linked_link_is_caught)
{
    push(0);
    push(1);
    iosched_fifo_replace(&f, &link_[0], &link_[1]);
}
END_TEST

START_TEST(removing_an_unlinked_link_is_caught)
{
    push(0);
    iosched_fifo_remove(&f, &link_[1]);
}
END_TEST

START_TEST(removing_the_head_of_another_list_is_caught)
{
    struct iosched_fifo other;

    memset(&other, 0, sizeof(other));
    iosched_fifo_push(&other, &link_[1], 0);
    push(0);
    iosched_fifo_remove(&other, &link_[0]);
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
    tcase_add_test_raise_signal(tc, pushing_a_linked_link_is_caught, SIGABRT);
    tcase_add_test_raise_signal(tc,
        pushing_a_linked_link_at_the_head_is_caught, SIGABRT);
    tcase_add_test_raise_signal(tc,
        inserting_before_an_unlinked_link_is_caught, SIGABRT);
    tcase_add_test_raise_signal(tc, replacing_by_a_linked_link_is_caught,
                                SIGABRT);
    tcase_add_test_raise_signal(tc, removing_an_unlinked_link_is_caught,
                                SIGABRT);
    tcase_add_test_raise_signal(tc,
        removing_the_head_of_another_list_is_caught, SIGABRT);
    suite_add_tcase(s, tc);
#else
    (void)s;
    (void)sr;
    printf("no assertions in this build: the cases of misuse are left out\n");
#endif
}

int main(void)
{
    Suite *s = suite_create("fifo");
    TCase *tc = tcase_create("sentences");
    TCase *model = tcase_create("model");
    SRunner *sr = srunner_create(s);
    int failed;

    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, all_zero_bytes_are_an_empty_list_and_an_unlinked_link);
    tcase_add_test(tc, push_appends);
    tcase_add_test(tc, push_head_puts_a_link_at_the_head);
    tcase_add_test(tc, insert_before_puts_a_link_just_before_another);
    tcase_add_test(tc, replace_takes_the_place_and_the_expiry_of_the_old_link);
    tcase_add_test(tc, remove_takes_out_head_middle_tail_and_the_only_link);
    tcase_add_test(tc, a_removed_link_keeps_its_expiry_and_can_go_in_again);
    tcase_add_test(tc, next_and_prev_end_in_null);
    tcase_add_test(tc, expired_is_the_head_from_its_expiry_on);
    tcase_add_test(tc, expired_looks_at_the_head_alone);
    tcase_add_test(tc, a_link_can_expire_at_time_zero);
    tcase_add_test(tc, a_link_that_never_expires_does_not);
    tcase_add_test(tc, the_check_sees_ends_that_are_none);
    tcase_add_test(tc, the_check_sees_neighbours_that_disagree);
    tcase_add_test(tc, the_check_sees_a_circle);
    tcase_add_test(tc, the_check_sees_a_wrong_length);
    suite_add_tcase(s, tc);

    tcase_set_timeout(model, 0);
    tcase_add_checked_fixture(model, setup, NULL);
    tcase_add_test(model, a_million_random_calls_agree_with_a_plain_array);
    suite_add_tcase(s, model);
    add_misuse(s, sr);

    srunner_run_all(sr, CK_ENV);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
