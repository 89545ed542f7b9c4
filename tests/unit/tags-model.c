/* SPDX-License-Identifier: BSD-2-Clause */
/* tags-model.c - random gets and puts on sets of many depths,
 * against a model that looks at one tag after the other: same tags, same
 * owners, same wakes in the same order. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <iosched/tags.h>
#include "device/tags_internal.h"

#define MANY  1000000u                  /* operations of a run            */

static const uint32_t depths[] = {
    1, 2, 31, 32, 33, 63, 64, 65, 4096, IOSCHED_TAGS_MAX
};

static int names[8];
static int woken[8];                    /* by the latest call, in order   */
static int n_woken;

static void same(int64_t got, int64_t want)
{
    if (got != want)
        ck_abort_msg("got %lld, not %lld", (long long)got, (long long)want);
}

static void wake(void *user)
{
    same(n_woken < 8, 1);
    woken[n_woken++] = *(const int *)user;
}

#define MODEL_SEATS 5

struct model {
    int owner[IOSCHED_TAGS_MAX];        /* -1: free                       */
    uint32_t depth, open, in_use;
    int waits[MODEL_SEATS];
    int held[MODEL_SEATS];
    int next;
};

static struct model model;

static int32_t model_get(int seat, unsigned flags)
{
    uint32_t limit = flags & IOSCHED_TAG_SYNC ? model.depth : model.open, i;

    for (i = 0; i < limit; i++)
        if (model.owner[i] < 0) {
            model.owner[i] = seat;
            model.held[seat]++;
            model.in_use++;
            return (int32_t)i;
        }
    model.waits[seat] = 1;
    return -1;
}

/* Frees the tag; checks who has been woken, in which order. */
static int model_put(int32_t tag)
{
    int first = model.next, n = 0, i;

    if (model.owner[tag] < 0) {
        same(n_woken, 0);
        return IOSCHED_ERR_STATE;
    }
    model.held[model.owner[tag]]--;
    model.owner[tag] = -1;
    model.in_use--;
    for (i = 0; i < MODEL_SEATS; i++) {
        int seat = (first + i) % MODEL_SEATS;

        if (!model.waits[seat])
            continue;
        model.waits[seat] = 0;
        same(n < n_woken, 1);
        same(woken[n], seat);
        if (n++ == 0)
            model.next = (seat + 1) % MODEL_SEATS;
    }
    same(n, n_woken);
    return 0;
}

static uint64_t rng;

static uint32_t draw(uint32_t n)
{
    rng = rng * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(rng >> 33) % n;
}

static void random_run(struct iosched_tags *t, uint32_t depth,
                       uint32_t reserved)
{
    uint32_t ops = depth > 4096 ? MANY / 100 : MANY, i, bias = 50;

    model.depth = depth;
    model.open = depth - reserved;
    model.in_use = 0;
    model.next = 0;
    memset(model.owner, -1, sizeof model.owner);
    memset(model.waits, 0, sizeof model.waits);
    memset(model.held, 0, sizeof model.held);
    for (i = 0; i < MODEL_SEATS; i++) {
        names[i] = (int)i;
        same(iosched_tags_join(t, wake, &names[i]), i);
    }
    for (i = 0; i < ops; i++) {
        n_woken = 0;
        if (i % (8 * depth + 64) == 0)          /* fill and drain in turn */
            bias = 25 + draw(51);
        if (draw(100) < bias) {
            int seat = (int)draw(MODEL_SEATS);
            unsigned flags = draw(3) == 0 ? IOSCHED_TAG_SYNC : 0;
            int32_t want = model_get(seat, flags);

            same(iosched_tags_get(t, seat, flags), want);
            same(n_woken, 0);
        } else {
            int32_t tag = (int32_t)draw(depth);
            int got = iosched_tags_put(t, tag);

            same(got, model_put(tag));
        }
        same(iosched_tags_in_use(t), model.in_use);
        if (i % 64 == 0) {
            int seat = (int)draw(MODEL_SEATS);
            int32_t tag = (int32_t)draw(depth);
            int owner = model.owner[tag];

            same(iosched_tags_owner(t, tag),
                 owner < 0 ? IOSCHED_ERR_NOENT : owner);
            if (model.held[seat] > 0)
                same(iosched_tags_leave(t, seat), IOSCHED_ERR_BUSY);
        }
    }
    for (i = 0; i < depth; i++)
        same(iosched_tags_put(t, (int32_t)i),
             model.owner[i] < 0 ? IOSCHED_ERR_STATE : 0);
    for (i = 0; i < MODEL_SEATS; i++)
        same(iosched_tags_leave(t, (int)i), 0);
}

static void run(uint32_t depth, uint32_t reserved)
{
    size_t size = iosched__tags_bytes(depth, MODEL_SEATS);
    struct iosched_tags *t = malloc(size);

    ck_assert_ptr_nonnull(t);
    rng = depth * 4 + reserved * 2 + 1;
    iosched__tags_setup(t, depth, reserved, MODEL_SEATS);
    random_run(t, depth, reserved);
    free(t);
}

START_TEST(a_set_agrees_with_the_model)
{
    run(depths[_i], 0);
}
END_TEST

START_TEST(a_set_with_reserved_tags_agrees_with_the_model)
{
    uint32_t depth = depths[_i];

    run(depth, depth > 3 ? depth / 4 : depth - 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tags-model");
    TCase *tc = tcase_create("tags-model");
    SRunner *sr = srunner_create(suite);
    int failed, n = (int)(sizeof depths / sizeof depths[0]);

    tcase_set_timeout(tc, 0);
    tcase_add_loop_test(tc, a_set_agrees_with_the_model, 0, n);
    tcase_add_loop_test(tc,
                        a_set_with_reserved_tags_agrees_with_the_model,
                        0, n);
    suite_add_tcase(suite, tc);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
