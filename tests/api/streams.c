/* SPDX-License-Identifier: BSD-2-Clause */
/* streams.c - streams and groups: options, bounds, closing under load, and
 * when a slot is used again. */
#include "api.h"

#define N 24u
static struct iosched_req rq[N];

static struct iosched *start_small(uint32_t streams, uint32_t groups)
{
    struct iosched_cfg cfg = config();

    memset(rq, 0, sizeof rq);
    cfg.max_streams = streams;
    cfg.max_groups = groups;
    cfg.depth = 4;
    return start(&cfg);
}

static struct iosched_stream *open_stream(struct iosched *s,
                                          struct iosched_group *g)
{
    struct iosched_stream_opts o = { sizeof o, 0, 0, g, NULL };
    struct iosched_stream *st = NULL;

    ck_assert_int_eq(iosched_stream_open(s, &o, &st, 0), IOSCHED_OK);
    ck_assert_ptr_nonnull(st);
    return st;
}

static struct iosched_group *open_group(struct iosched *s,
                                        struct iosched_group *parent)
{
    struct iosched_group_opts o = { sizeof o, 100, 0, 0, parent, NULL };
    struct iosched_group *g = NULL;

    ck_assert_int_eq(iosched_group_open(s, &o, &g, 0), IOSCHED_OK);
    ck_assert_ptr_nonnull(g);
    return g;
}

static void insert_of(struct iosched *s, struct iosched_req *r,
                      struct iosched_stream *st)
{
    *r = READ(100 * (iosched_lba)(r - rq), 8);
    r->stream = st;
    insert_ok(s, r, 0);
}

/* --- Streams -------------------------------------------------------------- */
START_TEST(a_stream_has_the_options_it_was_opened_with)
{
    struct iosched *s = start_small(4, 4);
    struct iosched_group *g = open_group(s, NULL);
    struct iosched_stream_opts o = {
        sizeof o, IOSCHED_PRIO(IOSCHED_PRIO_RT, 2), 0, g, rq
    };
    struct iosched_stream *a, *b;

    ck_assert_int_eq(iosched_stream_open(s, &o, &a, 0), IOSCHED_OK);
    ck_assert_uint_eq(iosched_stream_ioprio(a),
                      IOSCHED_PRIO(IOSCHED_PRIO_RT, 2));
    ck_assert_ptr_eq(iosched_stream_user(a), rq);
    ck_assert_int_eq(iosched_stream_open(s, NULL, &b, 0), IOSCHED_OK);
    ck_assert_uint_eq(iosched_stream_ioprio(b), 0);
    ck_assert_ptr_null(iosched_stream_user(b));
    ck_assert_int_eq(iosched_stream_set_ioprio(b,
                         IOSCHED_PRIO(IOSCHED_PRIO_IDLE, 0), 0), IOSCHED_OK);
    ck_assert_uint_eq(iosched_stream_ioprio(b),
                      IOSCHED_PRIO(IOSCHED_PRIO_IDLE, 0));
    stop(s, 0);
}
END_TEST

START_TEST(options_of_another_size_are_taken_if_nothing_unknown_is_set)
{
    struct iosched *s = start_small(8, 2);
    struct { struct iosched_stream_opts o; uint64_t more; } longer;
    struct iosched_stream_opts shorter;
    struct iosched_stream *st;

    memset(&longer, 0, sizeof longer);
    longer.o.struct_size = sizeof longer;
    ck_assert_int_eq(iosched_stream_open(s, &longer.o, &st, 0), IOSCHED_OK);
    longer.more = 1;
    ck_assert_int_eq(iosched_stream_open(s, &longer.o, &st, 0),
                     IOSCHED_ERR_NOTSUP);
    ck_assert_ptr_null(st);
    memset(&shorter, 0, sizeof shorter);
    shorter.struct_size = offsetof(struct iosched_stream_opts, user);
    shorter.ioprio = IOSCHED_PRIO(IOSCHED_PRIO_BE, 1);
    shorter.user = rq;                  /* beyond what it says it has */
    ck_assert_int_eq(iosched_stream_open(s, &shorter, &st, 0), IOSCHED_OK);
    ck_assert_ptr_null(iosched_stream_user(st));
    shorter.struct_size = 0;
    ck_assert_int_lt(iosched_stream_open(s, &shorter, &st, 0), 0);
    stop(s, 0);
}
END_TEST

START_TEST(one_stream_more_than_max_streams_is_refused_the_default_counting)
{
    struct iosched *s = start_small(3, 1);
    struct iosched_stream *a = open_stream(s, NULL), *b = a;

    (void)open_stream(s, NULL);
    ck_assert_int_eq(iosched_stream_open(s, NULL, &b, 0), IOSCHED_ERR_NOSPC);
    ck_assert_ptr_null(b);
    ck_assert_int_eq(iosched_stream_close(a, 0), IOSCHED_OK);
    (void)open_stream(s, NULL);
    stop(s, 0);
    s = start_small(1, 1);
    ck_assert_int_eq(iosched_stream_open(s, NULL, &b, 0), IOSCHED_ERR_NOSPC);
    insert_of(s, &rq[0], NULL);
    stop(s, 0);
}
END_TEST

START_TEST(a_closed_handle_is_dead_at_once_and_what_was_inserted_completes)
{
    struct iosched *s = start_small(2, 1);
    struct iosched_stream *st = open_stream(s, NULL), *other;
    unsigned i;

    for (i = 0; i < 3; i++)
        insert_of(s, &rq[i], st);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_stream_close(st, 0), IOSCHED_OK);
    rq[5] = READ(0, 8);
    rq[5].stream = st;
    ck_assert_int_eq(iosched_insert(s, &rq[5], 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_stream_close(st, 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_stream_set_ioprio(st, 0, 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_stream_set_group(st, NULL, 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_stream_yield(st, NULL, 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_may_queue(s, st, IOSCHED_READ, 0, 0),
                     IOSCHED_ERR_STATE);
    ck_assert_ptr_eq(next(s, 0), &rq[1]);
    ck_assert_int_eq(iosched_cancel(s, &rq[2], 0), IOSCHED_OK);
    complete_ok(s, &rq[0], 0);
    ck_assert_int_eq(iosched_stream_open(s, NULL, &other, 0),
                     IOSCHED_ERR_NOSPC);        /* one is still in flight */
    complete_ok(s, &rq[1], 0);
    ck_assert_int_eq(iosched_stream_open(s, NULL, &other, 0), IOSCHED_OK);
    stop(s, 0);
}
END_TEST

START_TEST(free_slots_are_used_again_longest_unused_first)
{
    struct iosched *s = start_small(4, 1);
    struct iosched_stream *a = open_stream(s, NULL), *b = open_stream(s, NULL),
                          *c = open_stream(s, NULL);

    ck_assert_int_eq(iosched_stream_close(b, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_stream_close(c, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_stream_close(a, 0), IOSCHED_OK);
    ck_assert_ptr_eq(open_stream(s, NULL), b);
    ck_assert_ptr_eq(open_stream(s, NULL), c);
    ck_assert_ptr_eq(open_stream(s, NULL), a);
    stop(s, 0);
}
END_TEST

START_TEST(close_of_null_is_a_no_op)
{
    ck_assert_int_eq(iosched_stream_close(NULL, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_group_close(NULL, 0), IOSCHED_OK);
}
END_TEST

START_TEST(the_default_stream_is_always_there_whatever_is_done_to_its_handle)
{
    struct iosched *s = start_small(2, 1);
    struct iosched_stream *st, *mine;

    insert_of(s, &rq[0], NULL);
    st = iosched_req_stream(&rq[0]);
    ck_assert_ptr_nonnull(st);
    (void)iosched_stream_close(st, 0);
    complete_ok(s, next(s, 0), 0);
    insert_of(s, &rq[1], NULL);
    ck_assert_int_eq(iosched_stream_is_open(iosched_req_stream(&rq[1])), 1);
    mine = open_stream(s, NULL);
    ck_assert_ptr_ne(mine, iosched_req_stream(&rq[1]));
    stop(s, 0);
}
END_TEST

START_TEST(yield_takes_open_streams_of_this_scheduler_and_null)
{
    struct iosched *s = start_small(4, 1), *t = start_small(4, 1);
    struct iosched_stream *a = open_stream(s, NULL), *b = open_stream(s, NULL),
                          *foreign = open_stream(t, NULL);

    ck_assert_int_eq(iosched_stream_yield(a, b, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_stream_yield(a, NULL, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_stream_yield(NULL, b, 0), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_stream_yield(a, foreign, 0), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_stream_close(b, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_stream_yield(a, b, 0), IOSCHED_ERR_STATE);
    stop(s, 0);
    stop(t, 0);
}
END_TEST

/* --- Groups --------------------------------------------------------------- */
START_TEST(groups_nest_and_hold_their_weights)
{
    struct iosched *s = start_small(4, 4);
    struct iosched_group_opts o = { sizeof o, 10000, 1, 0, NULL, rq };
    struct iosched_group *g, *kid;
    struct iosched_stream *st;

    ck_assert_int_eq(iosched_group_open(s, &o, &g, 0), IOSCHED_OK);
    ck_assert_ptr_eq(iosched_group_user(g), rq);
    ck_assert_uint_eq(iosched_group_weight(g), 10000);
    ck_assert_uint_eq(iosched_group_leaf_weight(g), 1);
    o.parent = g;
    o.weight = 7;
    o.leaf_weight = 0;
    ck_assert_int_eq(iosched_group_open(s, &o, &kid, 0), IOSCHED_OK);
    ck_assert_ptr_eq(iosched_group_parent(kid), g);
    ck_assert_uint_eq(iosched_group_leaf_weight(kid), 7);   /* 0: the same */
    st = open_stream(s, kid);
    ck_assert_ptr_eq(iosched_stream_group(st), kid);
    ck_assert_int_eq(iosched_stream_set_group(st, g, 0), IOSCHED_OK);
    ck_assert_ptr_eq(iosched_stream_group(st), g);
    ck_assert_int_eq(iosched_stream_set_group(st, NULL, 0), IOSCHED_OK);
    ck_assert_ptr_eq(iosched_stream_group(st), iosched_group_parent(g));
    ck_assert_ptr_null(iosched_group_parent(iosched_stream_group(st)));
    ck_assert_uint_eq(iosched_group_weight(iosched_stream_group(st)), 100);
    stop(s, 0);
}
END_TEST

START_TEST(the_root_is_always_there_whatever_is_done_to_its_handle)
{
    struct iosched *s = start_small(4, 4);
    struct iosched_group *g = open_group(s, NULL),
                         *root = iosched_group_parent(g);

    insert_of(s, &rq[0], NULL);
    /* The default stream moves out, so that the root looks empty. */
    (void)iosched_stream_set_group(iosched_req_stream(&rq[0]), g, 0);
    complete_ok(s, next(s, 0), 0);
    ck_assert_int_lt(iosched_group_close(root, 0), 0);
    ck_assert_int_lt(iosched_group_close(g, 0), 0);
    ck_assert_ptr_eq(iosched_group_parent(open_group(s, NULL)), root);
    stop(s, 0);
}
END_TEST

START_TEST(weights_are_1_to_10000_and_nothing_else)
{
    static const uint32_t bad[] = { 0, 10001, UINT32_MAX };
    struct iosched *s = start_small(2, 3);
    struct iosched_group *g = open_group(s, NULL), *no = g;
    unsigned i;

    for (i = 0; i < COUNT(bad); i++) {
        struct iosched_group_opts o = { sizeof o, bad[i], 0, 0, NULL, NULL };

        ck_assert_int_eq(iosched_group_open(s, &o, &no, 0), IOSCHED_ERR_RANGE);
        ck_assert_ptr_null(no);
        o.weight = 5;
        o.leaf_weight = bad[i];
        if (bad[i] != 0)
            ck_assert_int_eq(iosched_group_open(s, &o, &no, 0),
                             IOSCHED_ERR_RANGE);
        ck_assert_int_eq(iosched_group_set_weight(g, bad[i], 0),
                         IOSCHED_ERR_RANGE);
        ck_assert_int_eq(iosched_group_set_leaf_weight(s, g, bad[i], 0),
                         IOSCHED_ERR_RANGE);
        ck_assert_int_eq(iosched_group_set_leaf_weight(s, NULL, bad[i], 0),
                         IOSCHED_ERR_RANGE);
    }
    ck_assert_int_eq(iosched_group_set_weight(g, 1, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_group_set_weight(g, 10000, 0), IOSCHED_OK);
    ck_assert_uint_eq(iosched_group_weight(g), 10000);
    ck_assert_uint_eq(iosched_group_leaf_weight(g), 100);
    stop(s, 0);
}
END_TEST

START_TEST(the_leaf_weight_of_the_root_is_set_by_null)
{
    struct iosched *s = start_small(2, 3);
    struct iosched_group *g = open_group(s, NULL);

    ck_assert_int_eq(iosched_group_set_leaf_weight(s, NULL, 42, 0), IOSCHED_OK);
    ck_assert_uint_eq(iosched_group_leaf_weight(iosched_group_parent(g)), 42);
    ck_assert_int_eq(iosched_group_set_leaf_weight(s, g, 43, 0), IOSCHED_OK);
    ck_assert_uint_eq(iosched_group_leaf_weight(g), 43);
    ck_assert_int_eq(iosched_group_set_weight(NULL, 42, 0), IOSCHED_ERR_INVAL);
    stop(s, 0);
}
END_TEST

START_TEST(a_group_with_open_streams_or_children_is_not_closed)
{
    struct iosched *s = start_small(4, 4);
    struct iosched_group *g = open_group(s, NULL), *kid = open_group(s, g);
    struct iosched_stream *st = open_stream(s, kid);

    ck_assert_int_eq(iosched_group_close(g, 0), IOSCHED_ERR_BUSY);
    ck_assert_int_eq(iosched_group_close(kid, 0), IOSCHED_ERR_BUSY);
    ck_assert_int_eq(iosched_stream_close(st, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_group_close(kid, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_group_close(kid, 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_group_close(g, 0), IOSCHED_OK);
    stop(s, 0);
}
END_TEST

START_TEST(a_closed_group_is_used_again_after_its_last_request)
{
    struct iosched *s = start_small(4, 2);
    struct iosched_group *g = open_group(s, NULL), *other = NULL;
    struct iosched_stream *st = open_stream(s, g), *dead;

    insert_of(s, &rq[0], st);
    ck_assert_int_eq(iosched_stream_set_group(st, NULL, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_group_close(g, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_group_open(s, NULL, &other, 0),
                     IOSCHED_ERR_NOSPC);
    ck_assert_ptr_eq(iosched_req_group(&rq[0]), g);     /* it stays */
    ck_assert_int_eq(iosched_stream_set_group(st, g, 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_group_set_weight(g, 5, 0), IOSCHED_ERR_STATE);
    {
        struct iosched_stream_opts o = { sizeof o, 0, 0, g, NULL };

        ck_assert_int_eq(iosched_stream_open(s, &o, &dead, 0),
                         IOSCHED_ERR_STATE);
    }
    complete_ok(s, next(s, 0), 0);
    ck_assert_int_eq(iosched_group_open(s, NULL, &other, 0), IOSCHED_OK);
    ck_assert_uint_eq(iosched_group_weight(other), 100);
    stop(s, 0);
}
END_TEST

START_TEST(one_group_more_than_max_groups_is_refused_the_root_counting)
{
    struct iosched *s = start_small(2, 2);
    struct iosched_group *g = open_group(s, NULL), *no = g;

    ck_assert_int_eq(iosched_group_open(s, NULL, &no, 0), IOSCHED_ERR_NOSPC);
    ck_assert_ptr_null(no);
    ck_assert_int_eq(iosched_group_close(g, 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_group_open(s, NULL, &no, 0), IOSCHED_OK);
    stop(s, 0);
}
END_TEST

START_TEST(open_streams_and_groups_go_with_the_scheduler)
{
    struct iosched *s = start_small(4, 4);

    (void)open_stream(s, open_group(s, open_group(s, NULL)));
    ck_assert_int_eq(iosched_destroy(s), IOSCHED_OK);
}
END_TEST

START_TEST(prio_encodes_and_checks)
{
    int cls, level;

    for (cls = -1; cls < 6; cls++)
        for (level = -1; level < 10; level++) {
            int ok = cls == 0 ? level == 0
                   : cls == 1 || cls == 2 ? level >= 0 && level < 8
                   : cls == 3 && level >= 0;

            ck_assert_int_eq(iosched_prio(cls, level),
                             ok ? cls << 13 | level : IOSCHED_ERR_RANGE);
        }
}
END_TEST

/* --- Any mix -------------------------------------------------------------- */
START_TEST(whatever_comes_and_goes_every_slot_comes_back)
{
    struct iosched *s = start_small(8, 4);
    struct iosched_stream *open[7];
    unsigned step, n = 0, i, opened = 0;
    uint64_t seed = 4;

    for (step = 0; step < 20000; step++) {
        unsigned what = rnd(&seed, 10);
        struct iosched_req *r = &rq[rnd(&seed, N)];

        if (what < 2 && n < 7) {
            int err = iosched_stream_open(s, NULL, &open[n], 0);

            ck_assert(err == IOSCHED_OK || err == IOSCHED_ERR_NOSPC);
            n += err == IOSCHED_OK;
            opened += err == IOSCHED_OK;
        } else if (what == 2 && n > 0) {
            i = rnd(&seed, n);
            ck_assert_int_eq(iosched_stream_close(open[i], 0), IOSCHED_OK);
            open[i] = open[--n];
        } else if (what < 6 && r->state == IOSCHED_STATE_IDLE) {
            insert_of(s, r, n > 0 ? open[rnd(&seed, n)] : NULL);
        } else if (what < 9) {
            if ((r = next(s, 0)) != NULL)
                complete_ok(s, r, 0);
        } else if (what == 9) {
            ck_assert_int_eq(iosched_switch(s, all_policies[0]->name, 0), 0);
        }
    }
    ck_assert_uint_gt(opened, 500);
    while (n > 0)
        ck_assert_int_eq(iosched_stream_close(open[--n], 0), IOSCHED_OK);
    drain(s, 0);
    for (i = 0; i < 7; i++)
        (void)open_stream(s, NULL);
    stop(s, 0);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("streams");

    tcase_add_test(tc, a_stream_has_the_options_it_was_opened_with);
    tcase_add_test(tc,
        options_of_another_size_are_taken_if_nothing_unknown_is_set);
    tcase_add_test(tc,
        one_stream_more_than_max_streams_is_refused_the_default_counting);
    tcase_add_test(tc,
        a_closed_handle_is_dead_at_once_and_what_was_inserted_completes);
    tcase_add_test(tc, free_slots_are_used_again_longest_unused_first);
    tcase_add_test(tc, close_of_null_is_a_no_op);
    tcase_add_test(tc,
        the_default_stream_is_always_there_whatever_is_done_to_its_handle);
    tcase_add_test(tc, yield_takes_open_streams_of_this_scheduler_and_null);
    tcase_add_test(tc, groups_nest_and_hold_their_weights);
    tcase_add_test(tc,
        the_root_is_always_there_whatever_is_done_to_its_handle);
    tcase_add_test(tc, weights_are_1_to_10000_and_nothing_else);
    tcase_add_test(tc, the_leaf_weight_of_the_root_is_set_by_null);
    tcase_add_test(tc, a_group_with_open_streams_or_children_is_not_closed);
    tcase_add_test(tc, a_closed_group_is_used_again_after_its_last_request);
    tcase_add_test(tc,
        one_group_more_than_max_groups_is_refused_the_root_counting);
    tcase_add_test(tc, open_streams_and_groups_go_with_the_scheduler);
    tcase_add_test(tc, prio_encodes_and_checks);
    tcase_add_test(tc, whatever_comes_and_goes_every_slot_comes_back);
    return run_case(tc, "streams");
}
