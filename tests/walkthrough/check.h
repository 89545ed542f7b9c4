/* SPDX-License-Identifier: BSD-2-Clause */
/* check.h - what the walk-through programs check with.
 *
 * A program is a row of parts; a part is a sentence that holds.  The first one
 * that does not ends the program with exit status 1 and one line saying what
 * was wrong, where, and in which part.
 */
#ifndef WALKTHROUGH_CHECK_H
#define WALKTHROUGH_CHECK_H
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(x) check_that((x) != 0, #x, __FILE__, __LINE__)
#define CHECK_EQ(got, want) \
    check_equal((int64_t)(got), (int64_t)(want), #got, __FILE__, __LINE__)

#define CHECK_SKIP 77           /* exit status: cannot be tested here     */

static const char *check_sentence = "it starts";

/** Begin a part. */
static inline void part(const char *sentence)
{
    check_sentence = sentence;
    printf("%s\n", sentence);
    fflush(stdout);
}

static inline void check_that(int holds, const char *what, const char *file,
                              int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: not so: %s\n    in: %s\n", file, line, what,
            check_sentence);
    exit(1);
}

static inline void check_equal(int64_t got, int64_t want, const char *what,
                               const char *file, int line)
{
    if (got == want)
        return;
    fprintf(stderr, "%s:%d: %s is %" PRId64 ", not %" PRId64 "\n    in: %s\n",
            file, line, what, got, want, check_sentence);
    exit(1);
}

/** Next number of a seeded generator (xorshift64*), 0 .. below - 1. */
static inline uint32_t check_random(uint64_t *state, uint32_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)((*state * UINT64_C(2685821657736338717)) >> 33) % below;
}

#endif
