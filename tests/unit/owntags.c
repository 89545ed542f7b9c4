/* SPDX-License-Identifier: BSD-2-Clause */
/* owntags.c - the tags of a scheduler that shares them with nobody: one word up
 * to 64 of them, two levels of words above.  10^6 random gets and puts in all
 * against an array of flags. */
#include <check.h>
#include <stdlib.h>
#include "core/hot.h"
#include "rng.h"

static const uint32_t depths[] = {
    1, 2, 31, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097, 65536
};
#define STEPS 80000u

static int32_t lowest_free(const unsigned char *taken, uint32_t depth)
{
    uint32_t i;

    for (i = 0; i < depth; i++)
        if (!taken[i])
            return (int32_t)i;
    return -1;
}

START_TEST(the_lowest_free_tag_is_given_whatever_the_depth)
{
    uint32_t depth = depths[_i], taken_now = 0, i;
    unsigned char *taken = calloc(depth, 1);
    uint64_t r = depth;
    const struct iosched_req read = { 0 };
    struct iosched_cfg cfg;
    struct iosched *s;
    int filling = 1;

    ck_assert_ptr_nonnull(taken);
    iosched_cfg_init(&cfg);
    cfg.depth = depth;
    ck_assert_int_eq(iosched_create(iosched_builtin_policies()[0]->name, &cfg,
                                    &s, 0), IOSCHED_OK);
    for (i = 0; i < STEPS; i++) {
        /* Up to the brim and down to nothing, with steps back on the way. */
        if (taken_now == depth)
            filling = 0;
        else if (taken_now == 0)
            filling = 1;
        if ((rng_below(&r, 4) != 0) == filling) {
            /* The search of the model is long: look where it is short. */
            int32_t tag = iosched__tag_get(s, &read);

            if (taken_now < 512 || taken_now == depth || i % 512 == 0)
                ck_assert_int_eq(tag, lowest_free(taken, depth));
            if (tag >= 0) {
                ck_assert_uint_lt((uint32_t)tag, depth);
                ck_assert_uint_eq(taken[tag], 0);
                taken[tag] = 1;
                taken_now++;
            } else {
                ck_assert_uint_eq(taken_now, depth);
            }
        } else if (taken_now > 0) {
            uint32_t tag = rng_below(&r, depth);

            while (!taken[tag])
                tag = (tag + 1) % depth;
            iosched__tag_put(s, (int32_t)tag);
            taken[tag] = 0;
            taken_now--;
        }
    }
    for (i = 0; i < depth; i++)
        if (taken[i])
            iosched__tag_put(s, (int32_t)i);
    for (i = 0; i < depth; i++)
        ck_assert_int_eq(iosched__tag_get(s, &read), (int32_t)i);
    ck_assert_int_eq(iosched__tag_get(s, &read), -1);
    ck_assert_int_eq(iosched_destroy(s), IOSCHED_OK);
    free(taken);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("owntags");
    TCase *tc = tcase_create("owntags");
    SRunner *runner;
    int failed;

    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, the_lowest_free_tag_is_given_whatever_the_depth, 0,
                        (int)(sizeof depths / sizeof depths[0]));
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
