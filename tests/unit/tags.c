/* SPDX-License-Identifier: BSD-2-Clause */
/* tags.c - what <iosched/tags.h> promises, sentence by sentence, from one
 * thread.  Random runs are in tags-model.c, threads in tags-threads.c and
 * tags-interleave.c. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <iosched/tags.h>
#include "device/tags_internal.h"

#define GUARD 64                        /* bytes of 0xA5 on either side   */

/* As ck_assert_int_eq(), which tells its parent about each call: too slow for
 * millions. */
static void same(int64_t got, int64_t want)
{
    if (got != want)
        ck_abort_msg("got %lld, not %lld", (long long)got, (long long)want);
}

/* --- A set between two fences --------------------------------------------- */
struct fenced {
    unsigned char *block;               /* what malloc gave               */
    unsigned char *mem;                 /* GUARD bytes into it            */
    size_t size;
    struct iosched_tags *t;
};

static void fence_in(struct fenced *f, size_t size)
{
    f->block = malloc(size + 2 * GUARD);
    ck_assert_ptr_nonnull(f->block);
    memset(f->block, 0xA5, size + 2 * GUARD);
    f->mem = f->block + GUARD;
    f->size = size;
    f->t = NULL;
}

static void fences_stand(const struct fenced *f)
{
    size_t i;

    for (i = 0; i < GUARD; i++) {
        ck_assert_uint_eq(f->block[i], 0xA5);
        ck_assert_uint_eq(f->mem[f->size + i], 0xA5);
    }
}

static void free_fenced(struct fenced *f)
{
    fences_stand(f);
    free(f->block);
}

static struct iosched_tags *make(struct fenced *f, uint32_t depth,
                                 uint32_t reserved, uint32_t seats)
{
    struct iosched_tags_cfg cfg = {
        .struct_size = sizeof cfg, .depth = depth, .reserved = reserved,
        .seats = seats
    };

    fence_in(f, iosched_tags_size(&cfg));
    ck_assert_int_eq(iosched_tags_init(f->mem, f->size, &cfg, &f->t), 0);
    ck_assert_ptr_nonnull(f->t);
    return f->t;
}

/* --- Wakers that write down who was woken --------------------------------- */
static int woken[256];                  /* in order                       */
static int n_woken;

static void wake(void *user)
{
    same(n_woken < 256, 1);
    woken[n_woken++] = *(const int *)user;
}

static int names[200];

static void join_all(struct iosched_tags *t, int n)
{
    int i;

    n_woken = 0;
    for (i = 0; i < n; i++) {
        names[i] = i;
        ck_assert_int_eq(iosched_tags_join(t, wake, &names[i]), i);
    }
}

static void take_all(struct iosched_tags *t, int seat)
{
    uint32_t i;

    for (i = iosched_tags_in_use(t); i < iosched__tags_depth(t); i++)
        same(iosched_tags_get(t, seat, IOSCHED_TAG_SYNC) >= 0, 1);
}

/* --- Configuration and memory --------------------------------------------- */
START_TEST(defaults_are_32_tags_none_reserved_8_seats)
{
    struct iosched_tags_cfg zero = { .struct_size = sizeof zero };
    struct iosched_tags_cfg same = { .struct_size = sizeof same, .depth = 32,
                                     .seats = 8 };
    struct fenced f;
    int i;

    ck_assert_uint_ne(iosched_tags_size(NULL), 0);
    ck_assert_uint_eq(iosched_tags_size(NULL), iosched_tags_size(&same));
    ck_assert_uint_eq(iosched_tags_size(&zero), iosched_tags_size(&same));
    fence_in(&f, iosched_tags_size(NULL));
    ck_assert_int_eq(iosched_tags_init(f.mem, f.size, NULL, &f.t), 0);
    for (i = 0; i < 8; i++)
        ck_assert_int_eq(iosched_tags_join(f.t, NULL, NULL), i);
    ck_assert_int_eq(iosched_tags_join(f.t, NULL, NULL), IOSCHED_ERR_NOSPC);
    for (i = 0; i < 32; i++)
        ck_assert_int_eq(iosched_tags_get(f.t, 0, 0), i);
    ck_assert_int_eq(iosched_tags_get(f.t, 0, IOSCHED_TAG_SYNC), -1);
    free_fenced(&f);
}
END_TEST

START_TEST(depth_above_65536_is_out_of_range)
{
    struct iosched_tags_cfg cfg = { .struct_size = sizeof cfg,
                                    .depth = IOSCHED_TAGS_MAX };
    struct iosched_tags *t = NULL;
    uint64_t mem[8];
    size_t size = iosched_tags_size(&cfg);

    ck_assert_uint_gt(size, IOSCHED_TAGS_MAX / 8);
    cfg.depth++;
    ck_assert_uint_eq(iosched_tags_size(&cfg), 0);
    ck_assert_int_eq(iosched_tags_init(mem, size, &cfg, &t),
                     IOSCHED_ERR_RANGE);
    cfg.depth = UINT32_MAX;
    ck_assert_uint_eq(iosched_tags_size(&cfg), 0);
    ck_assert_ptr_null(t);
}
END_TEST

START_TEST(reserved_not_below_depth_is_out_of_range)
{
    struct iosched_tags_cfg cfg = { .struct_size = sizeof cfg, .depth = 4,
                                    .reserved = 4 };
    struct iosched_tags *t = NULL;
    uint64_t mem[8];

    ck_assert_uint_eq(iosched_tags_size(&cfg), 0);
    ck_assert_int_eq(iosched_tags_init(mem, 1u << 20, &cfg, &t),
                     IOSCHED_ERR_RANGE);
    cfg.reserved = 3;
    ck_assert_uint_ne(iosched_tags_size(&cfg), 0);
    cfg.depth = 0;                      /* 32 */
    cfg.reserved = 32;
    ck_assert_uint_eq(iosched_tags_size(&cfg), 0);
    cfg.reserved = 31;
    ck_assert_uint_ne(iosched_tags_size(&cfg), 0);
    ck_assert_ptr_null(t);
}
END_TEST

START_TEST(too_many_seats_are_out_of_range)
{
    struct iosched_tags_cfg cfg = { .struct_size = sizeof cfg,
                                    .seats = IOSCHED__SEATS_MAX };
    struct iosched_tags *t = NULL;
    uint64_t mem[8];

    ck_assert_uint_ne(iosched_tags_size(&cfg), 0);
    cfg.seats++;
    ck_assert_uint_eq(iosched_tags_size(&cfg), 0);
    ck_assert_int_eq(iosched_tags_init(mem, SIZE_MAX, &cfg, &t),
                     IOSCHED_ERR_RANGE);
    ck_assert_ptr_null(t);
}
END_TEST

START_TEST(one_byte_less_than_size_is_refused_and_untouched)
{
    struct fenced f;
    size_t i, size = iosched_tags_size(NULL);

    ck_assert_uint_eq(size % 8, 0);
    fence_in(&f, size);
    ck_assert_int_eq(iosched_tags_init(f.mem, size - 1, NULL, &f.t),
                     IOSCHED_ERR_NOSPC);
    ck_assert_int_eq(iosched_tags_init(f.mem, 0, NULL, &f.t),
                     IOSCHED_ERR_NOSPC);
    ck_assert_ptr_null(f.t);
    for (i = 0; i < size; i++)
        ck_assert_uint_eq(f.mem[i], 0xA5);
    ck_assert_int_eq(iosched_tags_init(f.mem, size, NULL, &f.t), 0);
    free_fenced(&f);
}
END_TEST

START_TEST(misaligned_memory_and_null_are_invalid)
{
    struct fenced f;
    size_t size = iosched_tags_size(NULL);
    unsigned i;

    fence_in(&f, size + 8);
    for (i = 1; i < 8; i++)
        ck_assert_int_eq(iosched_tags_init(f.mem + i, size, NULL, &f.t),
                         IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_init(NULL, size, NULL, &f.t),
                     IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_init(f.mem, size, NULL, NULL),
                     IOSCHED_ERR_INVAL);
    ck_assert_ptr_null(f.t);
    ck_assert_uint_eq(f.mem[0], 0xA5);
    ck_assert_int_eq(iosched_tags_init(f.mem + 8, size, NULL, &f.t), 0);
    free_fenced(&f);
}
END_TEST

START_TEST(cfg_may_be_older_or_newer_than_the_library)
{
    struct {
        struct iosched_tags_cfg cfg;
        unsigned char later[24];
    } big;
    struct iosched_tags_cfg cfg = { .struct_size = sizeof cfg, .depth = 7,
                                    .seats = 3 };
    struct iosched_tags *t = NULL;
    uint64_t mem[1024];
    size_t i;

    memset(&big, 0, sizeof big);
    big.cfg = cfg;
    big.cfg.struct_size = sizeof big;
    ck_assert_uint_eq(iosched_tags_size(&big.cfg), iosched_tags_size(&cfg));
    for (i = 0; i < sizeof big.later; i++) {
        big.later[i] = 1;
        ck_assert_uint_eq(iosched_tags_size(&big.cfg), 0);
        ck_assert_int_eq(iosched_tags_init(mem, sizeof mem, &big.cfg, &t),
                         IOSCHED_ERR_NOTSUP);
        big.later[i] = 0;
    }
    ck_assert_ptr_null(t);

    /* One that ends after depth: what follows it is not looked at. */
    cfg.struct_size = offsetof(struct iosched_tags_cfg, reserved);
    cfg.reserved = 99;
    cfg.seats = 0;
    ck_assert_uint_eq(iosched_tags_size(&cfg), iosched__tags_bytes(7, 8));

    for (cfg.struct_size = 0; cfg.struct_size < 4; cfg.struct_size++) {
        ck_assert_uint_eq(iosched_tags_size(&cfg), 0);
        ck_assert_int_eq(iosched_tags_init(mem, sizeof mem, &cfg, &t),
                         IOSCHED_ERR_INVAL);
    }
    ck_assert_ptr_null(t);
}
END_TEST

/* --- Seats ---------------------------------------------------------------- */
START_TEST(seats_are_given_once_and_can_be_given_up)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 4, 0, 3);

    join_all(t, 3);
    ck_assert_int_eq(iosched_tags_join(t, wake, names), IOSCHED_ERR_NOSPC);
    ck_assert_int_eq(iosched_tags_leave(t, 1), 0);
    ck_assert_int_eq(iosched_tags_leave(t, 1), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_tags_join(t, wake, names), 1);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), 0);
    ck_assert_int_eq(iosched_tags_leave(t, -1), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_leave(t, 3), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_leave(NULL, 0), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_join(NULL, wake, names), IOSCHED_ERR_INVAL);
    free_fenced(&f);
}
END_TEST

START_TEST(a_seat_that_holds_tags_is_busy)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 4, 0, 2);

    join_all(t, 2);
    ck_assert_int_eq(iosched_tags_get(t, 0, 0), 0);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), 1);
    ck_assert_int_eq(iosched_tags_get(t, 0, 0), 2);
    ck_assert_int_eq(iosched_tags_leave(t, 0), IOSCHED_ERR_BUSY);
    ck_assert_int_eq(iosched_tags_put(t, 0), 0);
    ck_assert_int_eq(iosched_tags_leave(t, 0), IOSCHED_ERR_BUSY);
    ck_assert_int_eq(iosched_tags_owner(t, 2), 0);
    ck_assert_int_eq(iosched_tags_put(t, 2), 0);
    ck_assert_int_eq(iosched_tags_leave(t, 0), 0);
    ck_assert_int_eq(iosched_tags_owner(t, 1), 1);
    free_fenced(&f);
}
END_TEST

static int leave_answer;
static struct iosched_tags *leave_set;

/* Not allowed to a caller; here it stands for a thread that leaves while
 * another is inside the waker. */
static void wake_and_leave(void *user)
{
    leave_answer = iosched_tags_leave(leave_set, *(const int *)user);
}

START_TEST(a_seat_is_busy_while_it_is_being_woken)
{
    struct fenced f;
    struct iosched_tags *t = leave_set = make(&f, 1, 0, 2);
    int one = 1;

    leave_answer = 0;
    join_all(t, 1);
    ck_assert_int_eq(iosched_tags_join(t, wake_and_leave, &one), 1);
    take_all(t, 0);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), -1);
    ck_assert_int_eq(iosched_tags_put(t, 0), 0);
    ck_assert_int_eq(leave_answer, IOSCHED_ERR_BUSY);
    ck_assert_int_eq(iosched_tags_leave(t, 1), 0);
    free_fenced(&f);
}
END_TEST

static void wake_refuse_and_leave(void *user)
{
    ck_assert_int_eq(iosched_tags_get(leave_set, *(const int *)user, 0), -1);
    wake_and_leave(user);
}

START_TEST(it_is_busy_then_even_if_it_is_refused_once_more)
{
    struct fenced f;
    struct iosched_tags *t = leave_set = make(&f, 2, 1, 2);
    int one = 1;

    leave_answer = 0;
    join_all(t, 1);
    ck_assert_int_eq(iosched_tags_join(t, wake_refuse_and_leave, &one), 1);
    take_all(t, 0);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), -1);
    ck_assert_int_eq(iosched_tags_put(t, 1), 0);    /* the reserved one */
    ck_assert_int_eq(leave_answer, IOSCHED_ERR_BUSY);
    ck_assert_int_eq(iosched_tags_leave(t, 1), 0);
    free_fenced(&f);
}
END_TEST

START_TEST(who_left_is_not_woken_nor_who_sits_there_next)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 1, 0, 2);

    join_all(t, 2);
    take_all(t, 0);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), -1);
    ck_assert_int_eq(iosched_tags_leave(t, 1), 0);
    ck_assert_int_eq(iosched_tags_join(t, wake, &names[1]), 1);
    ck_assert_int_eq(iosched_tags_put(t, 0), 0);
    ck_assert_int_eq(n_woken, 0);
    free_fenced(&f);
}
END_TEST

START_TEST(a_scheduler_and_its_seat_find_each_other)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 4, 0, 3);
    int a, b, c;
    struct iosched *sa = (struct iosched *)(void *)&a;
    struct iosched *sb = (struct iosched *)(void *)&b;
    struct iosched *sc = (struct iosched *)(void *)&c;

    ck_assert_int_eq(iosched__tags_join_sched(t, sa, NULL, NULL), 0);
    ck_assert_int_eq(iosched_tags_join(t, NULL, NULL), 1);
    ck_assert_int_eq(iosched__tags_join_sched(t, sb, NULL, NULL), 2);
    ck_assert_int_eq(iosched__tags_join_sched(t, sc, NULL, NULL),
                     IOSCHED_ERR_NOSPC);
    ck_assert_ptr_eq(iosched_tags_sched(t, 0), sa);
    ck_assert_ptr_null(iosched_tags_sched(t, 1));
    ck_assert_ptr_eq(iosched_tags_sched(t, 2), sb);
    ck_assert_ptr_null(iosched_tags_sched(t, -1));
    ck_assert_ptr_null(iosched_tags_sched(t, 3));
    ck_assert_ptr_null(iosched_tags_sched(NULL, 0));
    ck_assert_int_eq(iosched_tags_seat(t, sa), 0);
    ck_assert_int_eq(iosched_tags_seat(t, sb), 2);
    ck_assert_int_eq(iosched_tags_seat(t, sc), IOSCHED_ERR_NOENT);
    ck_assert_int_eq(iosched_tags_seat(t, NULL), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_seat(NULL, sa), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_leave(t, 0), 0);
    ck_assert_ptr_null(iosched_tags_sched(t, 0));
    ck_assert_int_eq(iosched_tags_seat(t, sa), IOSCHED_ERR_NOENT);
    ck_assert_int_eq(iosched_tags_join(t, NULL, NULL), 0);
    ck_assert_ptr_null(iosched_tags_sched(t, 0));
    free_fenced(&f);
}
END_TEST

/* --- Tags ----------------------------------------------------------------- */
static const uint32_t depths[] = {
    1, 2, 31, 32, 33, 63, 64, 65, 4096, IOSCHED_TAGS_MAX
};
#define N_DEPTHS (sizeof depths / sizeof depths[0])

START_TEST(tags_are_0_to_depth_minus_1_lowest_free_first)
{
    struct fenced f;
    int32_t depth = (int32_t)depths[_i];
    struct iosched_tags *t = make(&f, depths[_i], 0, 1);
    int32_t i;

    same(iosched__tags_depth(t), depths[_i]);
    join_all(t, 1);
    for (i = 0; i < depth; i++) {
        same(iosched_tags_get(t, 0, 0), i);
        same(iosched_tags_in_use(t), (uint32_t)i + 1);
    }
    same(iosched_tags_get(t, 0, 0), -1);
    for (i = depth - 1; i >= 0; i--) {
        same(iosched_tags_put(t, i), 0);
        same(iosched_tags_get(t, 0, 0), i);
        same(iosched_tags_put(t, i), 0);
    }
    same(iosched_tags_in_use(t), 0);
    same(iosched_tags_get(t, 0, 0), 0);
    free_fenced(&f);
}
END_TEST

START_TEST(reserved_tags_are_the_highest_and_for_sync_only)
{
    struct fenced f;
    uint32_t depth = depths[_i], reserved = depth / 3 + (depth > 1), i;
    struct iosched_tags *t;

    if (depth == 1)
        reserved = 0;
    t = make(&f, depth, reserved, 1);
    join_all(t, 1);
    for (i = 0; i < depth - reserved; i++)
        same(iosched_tags_get(t, 0, 0), (int32_t)i);
    same(iosched_tags_get(t, 0, 0), -1);
    for (; i < depth; i++)
        same(iosched_tags_get(t, 0, IOSCHED_TAG_SYNC), (int32_t)i);
    same(iosched_tags_get(t, 0, IOSCHED_TAG_SYNC), -1);
    same(iosched_tags_in_use(t), depth);
    same(iosched_tags_put(t, (int32_t)depth - 1), 0);
    if (reserved > 0)
        same(iosched_tags_get(t, 0, 0), -1);
    same(iosched_tags_get(t, 0, IOSCHED_TAG_SYNC),
                     (int32_t)depth - 1);
    free_fenced(&f);
}
END_TEST

START_TEST(sync_takes_the_lowest_free_tag_too)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 8, 2, 1);

    join_all(t, 1);
    ck_assert_int_eq(iosched_tags_get(t, 0, IOSCHED_TAG_SYNC), 0);
    ck_assert_int_eq(iosched_tags_get(t, 0, 0), 1);
    free_fenced(&f);
}
END_TEST

START_TEST(a_tag_knows_its_owner)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 70, 0, 3);
    int32_t i;

    join_all(t, 3);
    for (i = 0; i < 70; i++) {
        ck_assert_int_eq(iosched_tags_owner(t, i), IOSCHED_ERR_NOENT);
        ck_assert_int_eq(iosched_tags_get(t, i % 3, 0), i);
        ck_assert_int_eq(iosched_tags_owner(t, i), i % 3);
    }
    ck_assert_int_eq(iosched_tags_put(t, 68), 0);
    ck_assert_int_eq(iosched_tags_owner(t, 68), IOSCHED_ERR_NOENT);
    ck_assert_int_eq(iosched_tags_get(t, 0, 0), 68);
    ck_assert_int_eq(iosched_tags_owner(t, 68), 0);
    ck_assert_int_eq(iosched_tags_owner(t, -1), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_owner(t, 70), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_owner(NULL, 0), IOSCHED_ERR_INVAL);
    free_fenced(&f);
}
END_TEST

START_TEST(misuse_of_get_and_put_is_an_error_and_changes_nothing)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 4, 0, 2);

    ck_assert_int_eq(iosched_tags_get(t, 0, 0), IOSCHED_ERR_STATE);
    join_all(t, 1);
    ck_assert_int_eq(iosched_tags_get(NULL, 0, 0), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_get(t, -1, 0), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_get(t, 2, 0), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_tags_get(t, 0, 2), IOSCHED_ERR_NOTSUP);
    ck_assert_int_eq(iosched_tags_put(NULL, 0), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_put(t, -1), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_put(t, 4), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_put(t, INT32_MAX), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_tags_put(t, 0), IOSCHED_ERR_STATE);
    ck_assert_uint_eq(iosched_tags_in_use(t), 0);
    ck_assert_uint_eq(iosched_tags_in_use(NULL), 0);
    ck_assert_int_eq(iosched_tags_get(t, 0, 0), 0);
    ck_assert_int_eq(iosched_tags_put(t, 0), 0);
    ck_assert_int_eq(iosched_tags_put(t, 0), IOSCHED_ERR_STATE);
    ck_assert_int_eq(iosched_tags_leave(t, 0), 0);
    ck_assert_int_eq(n_woken, 0);
    free_fenced(&f);
}
END_TEST

/* --- Waking --------------------------------------------------------------- */
START_TEST(a_refusal_gives_exactly_one_wake)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 2, 0, 2);

    join_all(t, 2);
    take_all(t, 0);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), -1);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), -1);
    ck_assert_int_eq(n_woken, 0);
    ck_assert_int_eq(iosched_tags_put(t, 0), 0);
    ck_assert_int_eq(n_woken, 1);
    ck_assert_int_eq(woken[0], 1);
    ck_assert_int_eq(iosched_tags_put(t, 1), 0);
    ck_assert_int_eq(n_woken, 1);

    take_all(t, 0);                     /* and so it does the next time */
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), -1);
    ck_assert_int_eq(iosched_tags_put(t, 1), 0);
    ck_assert_int_eq(n_woken, 2);
    free_fenced(&f);
}
END_TEST

START_TEST(who_was_not_refused_is_not_woken)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 2, 0, 3);

    join_all(t, 3);
    ck_assert_int_eq(iosched_tags_get(t, 0, 0), 0);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), 1);
    ck_assert_int_eq(iosched_tags_put(t, 0), 0);
    ck_assert_int_eq(iosched_tags_put(t, 1), 0);
    ck_assert_int_eq(n_woken, 0);
    free_fenced(&f);
}
END_TEST

START_TEST(a_seat_without_a_waker_polls)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 1, 0, 2);

    join_all(t, 1);
    ck_assert_int_eq(iosched_tags_join(t, NULL, NULL), 1);
    take_all(t, 0);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), -1);
    ck_assert_int_eq(iosched_tags_put(t, 0), 0);
    ck_assert_int_eq(n_woken, 0);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), 0);
    free_fenced(&f);
}
END_TEST

START_TEST(a_freed_tag_wakes_everyone_who_was_refused)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 3, 0, 130);
    int i;

    join_all(t, 130);
    take_all(t, 0);
    for (i = 1; i < 130; i++)
        ck_assert_int_eq(iosched_tags_get(t, i, 0), -1);
    ck_assert_int_eq(iosched_tags_put(t, 2), 0);
    ck_assert_int_eq(n_woken, 129);
    for (i = 0; i < 129; i++)
        ck_assert_int_eq(woken[i], i + 1);
    free_fenced(&f);
}
END_TEST

START_TEST(wakes_start_after_the_seat_woken_first_the_last_time)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 1, 0, (uint32_t)_i);
    int n = _i, round, i, at;

    /* Everyone but the holder, seat 0, is refused in each round. */
    join_all(t, n);
    for (round = 0, at = 1; round < 3 * n; round++) {
        n_woken = 0;
        take_all(t, 0);
        for (i = n - 1; i > 0; i--)
            ck_assert_int_eq(iosched_tags_get(t, i, 0), -1);
        ck_assert_int_eq(iosched_tags_put(t, 0), 0);
        ck_assert_int_eq(n_woken, n - 1);
        for (i = 0; i < n - 1; i++)
            ck_assert_int_eq(woken[i], (at - 1 + i) % (n - 1) + 1);
        at = at % (n - 1) + 1;
    }
    free_fenced(&f);
}
END_TEST

START_TEST(the_turn_moves_only_with_a_wake)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 1, 0, 4);
    int i, round;

    join_all(t, 4);
    take_all(t, 0);
    ck_assert_int_eq(iosched_tags_get(t, 2, 0), -1);
    ck_assert_int_eq(iosched_tags_put(t, 0), 0);
    ck_assert_int_eq(woken[0], 2);
    for (round = 0; round < 3; round++) {       /* nobody waits */
        take_all(t, 0);
        ck_assert_int_eq(iosched_tags_put(t, 0), 0);
    }
    take_all(t, 0);
    for (i = 0; i < 4; i++)
        ck_assert_int_eq(iosched_tags_get(t, i, 0), -1);
    ck_assert_int_eq(iosched_tags_put(t, 0), 0);
    ck_assert_int_eq(n_woken, 5);
    ck_assert_int_eq(woken[1], 3);
    ck_assert_int_eq(woken[2], 0);
    ck_assert_int_eq(woken[3], 1);
    ck_assert_int_eq(woken[4], 2);
    free_fenced(&f);
}
END_TEST

START_TEST(any_freed_tag_wakes_who_lacked_an_unreserved_one)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 4, 2, 2);

    join_all(t, 2);
    take_all(t, 0);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), -1);
    ck_assert_int_eq(iosched_tags_put(t, 3), 0);
    ck_assert_int_eq(n_woken, 1);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), -1);    /* still reserved */
    ck_assert_int_eq(iosched_tags_put(t, 2), 0);
    ck_assert_int_eq(n_woken, 2);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), -1);
    ck_assert_int_eq(iosched_tags_put(t, 1), 0);
    ck_assert_int_eq(n_woken, 3);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), 1);
    free_fenced(&f);
}
END_TEST

START_TEST(a_sync_get_does_not_forget_the_refusal_of_another)
{
    struct fenced f;
    struct iosched_tags *t = make(&f, 2, 1, 2);

    join_all(t, 2);
    ck_assert_int_eq(iosched_tags_get(t, 0, 0), 0);
    ck_assert_int_eq(iosched_tags_get(t, 1, 0), -1);
    ck_assert_int_eq(iosched_tags_get(t, 1, IOSCHED_TAG_SYNC), 1);
    ck_assert_int_eq(iosched_tags_put(t, 0), 0);
    ck_assert_int_eq(n_woken, 1);
    ck_assert_int_eq(woken[0], 1);
    free_fenced(&f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tags");
    TCase *tc = tcase_create("tags");
    SRunner *sr = srunner_create(suite);
    int failed, n = (int)N_DEPTHS;

    tcase_set_timeout(tc, 0);
    tcase_add_test(tc, defaults_are_32_tags_none_reserved_8_seats);
    tcase_add_test(tc, depth_above_65536_is_out_of_range);
    tcase_add_test(tc, reserved_not_below_depth_is_out_of_range);
    tcase_add_test(tc, too_many_seats_are_out_of_range);
    tcase_add_test(tc, one_byte_less_than_size_is_refused_and_untouched);
    tcase_add_test(tc, misaligned_memory_and_null_are_invalid);
    tcase_add_test(tc, cfg_may_be_older_or_newer_than_the_library);
    tcase_add_test(tc, seats_are_given_once_and_can_be_given_up);
    tcase_add_test(tc, a_seat_that_holds_tags_is_busy);
    tcase_add_test(tc, a_seat_is_busy_while_it_is_being_woken);
    tcase_add_test(tc, it_is_busy_then_even_if_it_is_refused_once_more);
    tcase_add_test(tc, who_left_is_not_woken_nor_who_sits_there_next);
    tcase_add_test(tc, a_scheduler_and_its_seat_find_each_other);
    tcase_add_loop_test(tc, tags_are_0_to_depth_minus_1_lowest_free_first,
                        0, n);
    tcase_add_loop_test(tc, reserved_tags_are_the_highest_and_for_sync_only,
                        0, n);
    tcase_add_test(tc, sync_takes_the_lowest_free_tag_too);
    tcase_add_test(tc, a_tag_knows_its_owner);
    tcase_add_test(tc, misuse_of_get_and_put_is_an_error_and_changes_nothing);
    tcase_add_test(tc, a_refusal_gives_exactly_one_wake);
    tcase_add_test(tc, who_was_not_refused_is_not_woken);
    tcase_add_test(tc, a_seat_without_a_waker_polls);
    tcase_add_test(tc, a_freed_tag_wakes_everyone_who_was_refused);
    tcase_add_loop_test(tc,
                        wakes_start_after_the_seat_woken_first_the_last_time,
                        2, 140);
    tcase_add_test(tc, the_turn_moves_only_with_a_wake);
    tcase_add_test(tc, any_freed_tag_wakes_who_lacked_an_unreserved_one);
    tcase_add_test(tc, a_sync_get_does_not_forget_the_refusal_of_another);
    suite_add_tcase(suite, tc);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
