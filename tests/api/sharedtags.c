/* SPDX-License-Identifier: BSD-2-Clause */
/* sharedtags.c - two and three schedulers behind one set of tags: who waits is
 * woken, nobody starves, no tag is held twice. */
#include "api.h"

#define PER 40u
#define MOST 3u

static struct side {
    struct iosched    *s;
    struct iosched_req rq[PER];
    struct iosched_req *fly[16];
    unsigned           nfly, woken, served;
} side[MOST];

static struct iosched_tags *tags;
static void *tags_memory;

static void make_tags(uint32_t depth, uint32_t reserved, uint32_t seats)
{
    struct iosched_tags_cfg cfg = { sizeof cfg, depth, reserved, seats };
    size_t size = iosched_tags_size(&cfg);

    ck_assert_uint_gt(size, 0);
    tags_memory = malloc(size);
    ck_assert_ptr_nonnull(tags_memory);
    ck_assert_int_eq(iosched_tags_init(tags_memory, size, &cfg, &tags), 0);
}

static void wake(void *user)
{
    ((struct side *)user)->woken++;
}

static void start_sides(unsigned n, uint32_t depth)
{
    struct iosched_cfg cfg = config();
    unsigned i;

    memset(side, 0, sizeof side);
    cfg.depth = depth;
    cfg.tags = tags;
    cfg.wake = wake;
    for (i = 0; i < n; i++) {
        cfg.user = &side[i];
        side[i].s = start(&cfg);
    }
}

static void stop_sides(unsigned n)
{
    unsigned i;

    for (i = 0; i < n; i++)
        stop(side[i].s, 0);
    free(tags_memory);
}

static void put_in(struct side *d, unsigned flags)
{
    unsigned i;

    for (i = 0; i < PER; i++)
        if (d->rq[i].state == IOSCHED_STATE_IDLE) {
            d->rq[i] = request(flags & IOSCHED_RQ_SYNC ? IOSCHED_READ
                                                       : IOSCHED_WRITE,
                               100 * i, 8, flags);
            insert_ok(d->s, &d->rq[i], 0);
            return;
        }
    ck_abort_msg("none is idle");
}

/** Dispatch one.  @return enum iosched_picked. */
static int take(struct side *d)
{
    struct iosched_req *r;
    int a = iosched_dispatch(d->s, &r, 0, 0);

    if (a == IOSCHED_GOT) {
        ck_assert_int_eq(iosched_tags_owner(tags, r->tag),
                         iosched_tags_seat(tags, d->s));
        d->fly[d->nfly++] = r;
    }
    return a;
}

static void finish_one(struct side *d)
{
    complete_ok(d->s, d->fly[--d->nfly], 0);
    d->served++;
}

/* --- Two ------------------------------------------------------------------ */
START_TEST(a_seat_is_taken_at_init_and_given_up_at_destroy)
{
    make_tags(4, 0, 2);
    start_sides(2, 4);
    {
        struct iosched_cfg cfg = config();
        struct iosched *third = (void *)&cfg;

        cfg.tags = tags;
        ck_assert_int_eq(iosched_create("line", &cfg, &third, 0),
                         IOSCHED_ERR_NOSPC);
        ck_assert_ptr_null(third);
        ck_assert_int_ne(iosched_tags_seat(tags, side[0].s),
                         iosched_tags_seat(tags, side[1].s));
        ck_assert_ptr_eq(iosched_tags_sched(
                             tags, iosched_tags_seat(tags, side[1].s)),
                         side[1].s);
        stop(side[1].s, 0);
        ck_assert_int_eq(iosched_create("line", &cfg, &third, 0), IOSCHED_OK);
        stop(third, 0);
    }
    stop_sides(1);
}
END_TEST

START_TEST(no_tag_is_held_by_two_and_the_set_is_the_limit)
{
    int32_t seen[4];
    unsigned i, k;

    make_tags(4, 0, 2);
    start_sides(2, 4);
    for (i = 0; i < 4; i++) {
        put_in(&side[0], 0);
        put_in(&side[1], 0);
    }
    for (i = 0; i < 4; i++) {
        ck_assert_int_eq(take(&side[i & 1]), IOSCHED_GOT);
        seen[i] = side[i & 1].fly[i / 2]->tag;
        ck_assert_int_ge(seen[i], 0);
        ck_assert_int_lt(seen[i], 4);
        for (k = 0; k < i; k++)
            ck_assert_int_ne(seen[i], seen[k]);
    }
    ck_assert_uint_eq(iosched_tags_in_use(tags), 4);
    ck_assert_int_eq(take(&side[0]), IOSCHED_FULL);
    ck_assert_int_eq(take(&side[1]), IOSCHED_FULL);
    for (i = 0; i < 2; i++)
        while (side[i].nfly > 0)
            finish_one(&side[i]);
    ck_assert_uint_eq(iosched_tags_in_use(tags), 0);
    stop_sides(2);
}
END_TEST

START_TEST(who_was_told_full_is_woken_by_a_freed_tag_and_gets_it)
{
    make_tags(1, 0, 2);
    start_sides(2, 1);
    put_in(&side[0], 0);
    put_in(&side[1], 0);
    ck_assert_int_eq(take(&side[0]), IOSCHED_GOT);
    ck_assert_int_eq(take(&side[1]), IOSCHED_FULL);
    ck_assert_uint_eq(side[1].woken, 0);
    finish_one(&side[0]);
    ck_assert_uint_eq(side[1].woken, 1);
    ck_assert_uint_eq(side[0].woken, 0);        /* it was told nothing */
    ck_assert_int_eq(take(&side[1]), IOSCHED_GOT);
    finish_one(&side[1]);
    stop_sides(2);
}
END_TEST

START_TEST(all_who_were_told_full_are_woken)
{
    make_tags(1, 0, 3);
    start_sides(3, 1);
    put_in(&side[0], 0);
    put_in(&side[1], 0);
    put_in(&side[2], 0);
    ck_assert_int_eq(take(&side[0]), IOSCHED_GOT);
    ck_assert_int_eq(take(&side[1]), IOSCHED_FULL);
    ck_assert_int_eq(take(&side[2]), IOSCHED_FULL);
    finish_one(&side[0]);
    ck_assert_uint_eq(side[1].woken, 1);
    ck_assert_uint_eq(side[2].woken, 1);
    ck_assert_int_eq(take(&side[2]), IOSCHED_GOT);
    ck_assert_int_eq(take(&side[1]), IOSCHED_FULL);
    finish_one(&side[2]);
    ck_assert_uint_eq(side[1].woken, 2);
    ck_assert_int_eq(take(&side[1]), IOSCHED_GOT);
    finish_one(&side[1]);
    stop_sides(3);
}
END_TEST

START_TEST(requeue_queue_full_and_tag_release_free_a_tag_for_the_other)
{
    unsigned how;

    for (how = 0; how < 3; how++) {
        struct iosched_req *r;

        make_tags(1, 0, 2);
        start_sides(2, 1);
        put_in(&side[0], 0);
        put_in(&side[1], 0);
        ck_assert_int_eq(take(&side[0]), IOSCHED_GOT);
        r = side[0].fly[0];
        side[0].nfly = 0;
        ck_assert_int_eq(take(&side[1]), IOSCHED_FULL);
        if (how == 0) {
            ck_assert_int_eq(iosched_requeue(side[0].s, r, 0), 0);
        } else if (how == 1) {
            ck_assert_int_eq(iosched_queue_full(side[0].s, r, 0), 0);
        } else {
            ck_assert_int_eq(iosched_abort(side[0].s, r, 0), 0);
            ck_assert_uint_eq(side[1].woken, 0);
            ck_assert_int_eq(take(&side[1]), IOSCHED_FULL);
            ck_assert_int_eq(iosched_tag_release(side[0].s, r->tag, 0), 0);
        }
        ck_assert_uint_eq(side[1].woken, 1);
        ck_assert_int_eq(take(&side[1]), IOSCHED_GOT);
        finish_one(&side[1]);
        stop_sides(2);
    }
}
END_TEST

START_TEST(queue_full_lowers_the_depth_of_one_scheduler_only)
{
    unsigned i;

    make_tags(8, 0, 2);
    start_sides(2, 4);
    for (i = 0; i < 4; i++) {
        put_in(&side[0], 0);
        ck_assert_int_eq(take(&side[0]), IOSCHED_GOT);
    }
    ck_assert_int_eq(iosched_queue_full(side[0].s, side[0].fly[3], 0), 0);
    side[0].nfly = 3;
    ck_assert_uint_eq(iosched_depth(side[0].s), 3);
    ck_assert_uint_eq(iosched_depth(side[1].s), 4);
    while (side[0].nfly > 0)
        finish_one(&side[0]);
    stop_sides(2);
}
END_TEST

START_TEST(reserved_tags_are_for_those_who_wait)
{
    unsigned i;

    make_tags(4, 2, 2);
    start_sides(2, 4);
    for (i = 0; i < 3; i++)
        put_in(&side[0], 0);            /* writes nobody waits for */
    for (i = 0; i < 2; i++)
        put_in(&side[1], IOSCHED_RQ_SYNC);
    ck_assert_int_eq(take(&side[0]), IOSCHED_GOT);
    ck_assert_int_eq(take(&side[0]), IOSCHED_GOT);
    ck_assert_int_eq(take(&side[0]), IOSCHED_FULL);
    ck_assert_int_eq(take(&side[1]), IOSCHED_GOT);
    ck_assert_int_eq(take(&side[1]), IOSCHED_GOT);
    ck_assert_uint_eq(iosched_tags_in_use(tags), 4);
    finish_one(&side[0]);
    ck_assert_int_eq(take(&side[0]), IOSCHED_GOT);
    for (i = 0; i < 2; i++)
        while (side[i].nfly > 0)
            finish_one(&side[i]);
    stop_sides(2);
}
END_TEST

START_TEST(others_may_take_seats_and_hold_tags_too)
{
    int seat;
    int32_t tag;

    make_tags(1, 0, 2);
    start_sides(1, 1);
    seat = iosched_tags_join(tags, NULL, NULL);
    ck_assert_int_ge(seat, 0);
    ck_assert_ptr_null(iosched_tags_sched(tags, seat));
    tag = iosched_tags_get(tags, seat, 0);
    ck_assert_int_eq(tag, 0);
    put_in(&side[0], 0);
    ck_assert_int_eq(take(&side[0]), IOSCHED_FULL);
    ck_assert_int_eq(iosched_tags_leave(tags, seat), IOSCHED_ERR_BUSY);
    ck_assert_int_eq(iosched_tags_put(tags, tag), IOSCHED_OK);
    ck_assert_uint_eq(side[0].woken, 1);
    ck_assert_int_eq(take(&side[0]), IOSCHED_GOT);
    finish_one(&side[0]);
    ck_assert_int_eq(iosched_tags_leave(tags, seat), IOSCHED_OK);
    stop_sides(1);
}
END_TEST

/* --- Fair ----------------------------------------------------------------- */
/** Each side always has work, and dispatches only when a wake or a completion
 *  of its own says so. */
static void run_loaded(unsigned n, uint32_t depth, unsigned rounds)
{
    uint64_t seed = depth;
    unsigned i, k;

    for (i = 0; i < n; i++) {
        while (iosched_queued(side[i].s) < 20)
            put_in(&side[i], 0);
        side[i].woken = 1;
    }
    for (k = 0; k < rounds; k++) {
        unsigned fly = 0, pick;

        for (i = 0; i < n; i++) {
            if (side[i].woken == 0)
                continue;
            side[i].woken = 0;
            while (take(&side[i]) == IOSCHED_GOT)
                put_in(&side[i], 0);
        }
        for (i = 0; i < n; i++)
            fly += side[i].nfly;
        ck_assert_uint_eq(fly, depth);  /* the set is never left idle */
        pick = rnd(&seed, fly);
        for (i = 0; pick >= side[i].nfly; i++)
            pick -= side[i].nfly;
        finish_one(&side[i]);
        side[i].woken++;                /* it looks after its completion */
    }
    for (i = 0; i < n; i++)
        while (side[i].nfly > 0)
            finish_one(&side[i]);
}

START_TEST(a_loaded_set_is_never_left_idle)
{
    make_tags((uint32_t)_i, 0, 3);
    start_sides(3, 16);
    run_loaded(3, (uint32_t)_i, 3000);
    stop_sides(3);
}
END_TEST

START_TEST(served_in_the_order_of_their_wakes_none_starves)
{
    enum { ROUNDS = 3000 };
    unsigned i, n, queue[MOST * 2], len = 0;

    for (n = 2; n <= MOST; n++) {
        make_tags(1, 0, MOST);
        start_sides(n, 1);
        for (i = 0; i < n; i++)
            put_in(&side[i], 0);
        ck_assert_int_eq(take(&side[0]), IOSCHED_GOT);
        for (i = 1; i < n; i++)
            ck_assert_int_eq(take(&side[i]), IOSCHED_FULL);
        for (i = 0; i < ROUNDS; i++) {
            unsigned owner = 0, k;

            while (side[owner].nfly == 0)
                owner++;
            put_in(&side[owner], 0);
            finish_one(&side[owner]);
            /* Those woken answer first, then he who completed. */
            len = 0;
            for (k = 1; k <= n; k++)
                if (side[(owner + k) % n].woken > 0 || k == n)
                    queue[len++] = (owner + k) % n;
            for (k = 0; k < len; k++) {
                side[queue[k]].woken = 0;
                (void)take(&side[queue[k]]);
            }
        }
        for (i = 0; i < n; i++) {
            ck_assert_uint_ge(side[i].served, ROUNDS / n - 2);
            ck_assert_uint_le(side[i].served, ROUNDS / n + 2);
            while (side[i].nfly > 0)
                finish_one(&side[i]);
        }
        stop_sides(n);
    }
}
END_TEST

static int first_woken = -1;

static void note_first(void *user)
{
    if (first_woken < 0)
        first_woken = (int)((struct side *)user - side);
}

START_TEST(wakes_go_round_robin_from_the_seat_after_the_one_woken_first_last)
{
    struct iosched_cfg cfg = config();
    unsigned firsts[MOST] = { 0 }, i, round;
    int seat, before = -1;
    int32_t tag;

    make_tags(1, 0, 4);
    memset(side, 0, sizeof side);
    cfg.tags = tags;
    cfg.wake = note_first;
    for (i = 0; i < MOST; i++) {
        cfg.user = &side[i];
        side[i].s = start(&cfg);
        put_in(&side[i], 0);
    }
    seat = iosched_tags_join(tags, NULL, NULL);
    for (round = 0; round < 30; round++) {
        tag = iosched_tags_get(tags, seat, 0);
        ck_assert_int_eq(tag, 0);
        for (i = 0; i < MOST; i++)
            ck_assert_int_eq(take(&side[i]), IOSCHED_FULL);
        first_woken = -1;
        ck_assert_int_eq(iosched_tags_put(tags, tag), IOSCHED_OK);
        ck_assert_int_ge(first_woken, 0);
        ck_assert_int_ne(first_woken, before);
        before = first_woken;
        firsts[first_woken]++;
    }
    for (i = 0; i < MOST; i++)
        ck_assert_uint_eq(firsts[i], 10);
    stop_sides(MOST);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("sharedtags");

    tcase_add_test(tc, a_seat_is_taken_at_init_and_given_up_at_destroy);
    tcase_add_test(tc, no_tag_is_held_by_two_and_the_set_is_the_limit);
    tcase_add_test(tc, who_was_told_full_is_woken_by_a_freed_tag_and_gets_it);
    tcase_add_test(tc, all_who_were_told_full_are_woken);
    tcase_add_test(tc,
        requeue_queue_full_and_tag_release_free_a_tag_for_the_other);
    tcase_add_test(tc, queue_full_lowers_the_depth_of_one_scheduler_only);
    tcase_add_test(tc, reserved_tags_are_for_those_who_wait);
    tcase_add_test(tc, others_may_take_seats_and_hold_tags_too);
    tcase_add_loop_test(tc, a_loaded_set_is_never_left_idle, 1, 9);
    tcase_add_test(tc, served_in_the_order_of_their_wakes_none_starves);
    tcase_add_test(tc,
        wakes_go_round_robin_from_the_seat_after_the_one_woken_first_last);
    return run_case(tc, "sharedtags");
}
