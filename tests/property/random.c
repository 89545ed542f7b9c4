/* SPDX-License-Identifier: BSD-2-Clause */
/* random.c - many seeded walks; every call is made and every answer seen.
 *
 *     random [--seeds N] [--from SEED] [--steps N] [--policy P]
 *
 * The kind of a walk (block size, compat, overlaps, shared tags) is the low
 * bits of its seed.  IOSCHED_LONG in the environment makes 20 times as many.
 * Exit status 1: something is not so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "walk.h"

/* What has to have been seen, as a column of the tally each.  Policies decide
 * how often; but with every policy each of these comes. */
#define SEEN(rc) (1u << tally_column(rc))

static unsigned wanted(unsigned call)
{
    const unsigned ok = SEEN(0), inval = SEEN(IOSCHED_ERR_INVAL);
    const unsigned state = SEEN(IOSCHED_ERR_STATE);
    const unsigned range = SEEN(IOSCHED_ERR_RANGE);
    const unsigned noent = SEEN(IOSCHED_ERR_NOENT);
    const unsigned notsup = SEEN(IOSCHED_ERR_NOTSUP);
    const unsigned nospc = SEEN(IOSCHED_ERR_NOSPC);
    const unsigned busy = SEEN(IOSCHED_ERR_BUSY);
    const unsigned again = SEEN(IOSCHED_ERR_REENTRANT);
    const unsigned back = ok | inval | state;

    switch (call) {
    case CALL_INSERT:
        return ok | SEEN(1) | SEEN(2) | busy | state | inval | notsup | range |
               again;
    case CALL_DISPATCH:
    case CALL_DISPATCH_MANY:
        return ok | SEEN(1) | SEEN(2) | SEEN(3) | SEEN(4) | inval | notsup;
    case CALL_COMPLETE:
        return back | SEEN(IOSCHED_MORE);
    case CALL_REQUEUE: case CALL_QUEUE_FULL: case CALL_CANCEL:
    case CALL_ABORT: case CALL_TAG_RELEASE: case CALL_THAW:
        return back;
    case CALL_EXPIRE:
        return ok | SEEN(1) | inval;
    case CALL_FREEZE: case CALL_GET_STATS: case CALL_DUMP:
        return ok | inval;
    case CALL_SWITCH:
        return ok | inval | noent | range | notsup;
    case CALL_SET_DEPTH:
        return ok | range | inval;
    case CALL_MAY_QUEUE:
        return SEEN(IOSCHED_MAY) | state | inval | notsup;
    case CALL_TUNABLE_SET:
        return ok | noent | range | inval | notsup;
    case CALL_TUNABLE_GET: case CALL_TUNABLE_AT:
        return ok | noent | inval;
    case CALL_STREAM_OPEN: case CALL_GROUP_OPEN:
        return ok | state | range | nospc | inval | notsup;
    case CALL_STREAM_CLOSE:
        return ok | state;
    case CALL_STREAM_SET_IOPRIO: case CALL_GROUP_SET_WEIGHT:
    case CALL_GROUP_SET_LEAF_WEIGHT:
        return ok | state | range | inval;
    case CALL_STREAM_SET_GROUP: case CALL_STREAM_YIELD:
        return ok | state | inval;
    case CALL_GROUP_CLOSE:
        return ok | state | busy;
    case CALL_POST:
        return ok | SEEN(1) | busy | inval;
    case CALL_POST_COMPLETE:
        return ok | SEEN(1) | state | inval;
    case CALL_INTAKE:
        return ok | SEEN(1) | SEEN(2) | inval;
    case CALL_REAP:
        return ok | SEEN(1) | inval;
    case CALL_DESTROY:
        return ok | busy | again;
    default:
        return 0;
    }
}

/* Print what was seen.  Return how many are missing. */
static unsigned conclude(const struct tally *tally)
{
    unsigned call, answer, missing = 0;

    for (call = 0; call < CALL_COUNT; call++) {
        printf("%s", tally_call(call));
        for (answer = 0; answer < MODEL_ANSWERS; answer++) {
            unsigned long long n = tally->n[call][answer];

            if (n > 0)
                printf(" %s %llu", tally_answer(answer), n);
            else if (wanted(call) >> answer & 1u && ++missing > 0)
                printf(" %s NEVER", tally_answer(answer));
        }
        putchar('\n');
    }
    return missing;
}

static unsigned long number(int argc, char **argv, int *i)
{
    char *end;
    unsigned long v;

    if (*i + 1 == argc) {
        fprintf(stderr, "%s: a number is missing\n", argv[*i]);
        exit(99);
    }
    v = strtoul(argv[++*i], &end, 10);
    if (*end != '\0') {
        fprintf(stderr, "%s is no number\n", argv[*i]);
        exit(99);
    }
    return v;
}

int main(int argc, char **argv)
{
    static struct tally tally;
    struct walk_options options = { 400, NULL, 0 };
    unsigned long seeds = 24000, first = 1, seed, failed = 0;
    const char *lengthen = getenv("IOSCHED_LONG");
    unsigned missing;
    int i, counted = 1;

    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seeds") == 0) {
            seeds = number(argc, argv, &i);
            counted = 0;
        } else if (strcmp(argv[i], "--from") == 0) {
            first = number(argc, argv, &i);
        } else if (strcmp(argv[i], "--steps") == 0) {
            options.steps = (uint32_t)number(argc, argv, &i);
        } else if (strcmp(argv[i], "--policy") == 0 && i + 1 < argc) {
            options.policy = argv[++i];
            counted = 0;
        } else {
            fprintf(stderr, "unknown option %s\n", argv[i]);
            return 99;
        }
    }
    if (counted && lengthen != NULL && strcmp(lengthen, "0") != 0)
        seeds *= 20;
    for (seed = first; seed < first + seeds && failed < 10; seed++) {
        struct walk_source from = { NULL, 0, 0, seed };
        char why[400];

        options.kind = (unsigned)seed & 15u;
        if (!walk_run(&from, &options, &tally, why, sizeof why)) {
            printf("seed %lu: %s\n", seed, why);
            fflush(stdout);
            failed++;
        }
    }
    missing = conclude(&tally);
    printf("seeds %lu, steps %u each, failed %lu, never seen %u\n",
           seed - first, options.steps, failed, missing);
    if (seed == first)
        return 1;
    return failed > 0 || (counted && missing > 0);
}
