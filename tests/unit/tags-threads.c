/* SPDX-License-Identifier: BSD-2-Clause */
/* tags-threads.c - several threads take and free tags of one set, each in a
 * seat of its own.
 *
 * Checked: no tag is ever held twice; who was refused is woken; no wake comes
 * to who has left; at the end no tag is in use.  A thread that was refused
 * yields until its waker has run, and counts: a wake that is lost is a count
 * that runs out, however fast the machine.
 *
 * usage: tags-threads [rounds]
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <iosched/tags.h>
#include "port.h"

#define THREADS   4
#define MAX_DEPTH 130
#define MAX_HELD  3
#define PATIENCE  20000000L             /* yields until a wake is lost    */
#define STAY      97                    /* rounds until a seat is given up */

struct actor {
    struct iosched_tags *t;
    pthread_t thread;
    int id, seat;
    int awake;                          /* set by the waker               */
    int seated;                         /* a wake may come                */
    long rounds, refused, wakes, busy;
    uint32_t rng;
};

static int held_by[MAX_DEPTH];          /* holders of a tag: 0 or 1       */
static int failures;

static void fail(const struct actor *a, const char *what)
{
    if (__atomic_fetch_add(&failures, 1, __ATOMIC_SEQ_CST) == 0)
        printf("thread %d: %s\n", a->id, what);
}

static int failed(void)
{
    return __atomic_load_n(&failures, __ATOMIC_SEQ_CST) != 0;
}

static void wake(void *user)
{
    struct actor *a = user;

    if (!__atomic_load_n(&a->seated, __ATOMIC_SEQ_CST))
        fail(a, "woken after it had left");
    (void)__atomic_fetch_add(&a->wakes, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&a->awake, 1, __ATOMIC_SEQ_CST);
}

static unsigned draw(struct actor *a, unsigned n)
{
    a->rng = a->rng * 1664525u + 1013904223u;
    return (a->rng >> 16) % n;
}

static void sit_down(struct actor *a)
{
    __atomic_store_n(&a->seated, 1, __ATOMIC_SEQ_CST);
    a->seat = iosched_tags_join(a->t, wake, a);
    if (a->seat < 0)
        fail(a, "no seat");
}

static void get_up(struct actor *a)
{
    long patience = PATIENCE;
    int err;

    while ((err = iosched_tags_leave(a->t, a->seat)) == IOSCHED_ERR_BUSY) {
        a->busy++;
        if (--patience == 0 || failed()) {
            fail(a, "busy for ever");
            return;
        }
        sched_yield();
    }
    if (err != IOSCHED_OK)
        fail(a, "could not leave");
    __atomic_store_n(&a->seated, 0, __ATOMIC_SEQ_CST);
}

/* A tag, however long it takes; -1 only after a failure.  With `wait` 0 a
 * refusal is taken for an answer, which leaves a mark behind. */
static int32_t take(struct actor *a, int wait)
{
    for (;;) {
        long patience = PATIENCE;
        unsigned flags = draw(a, 4) == 0 ? IOSCHED_TAG_SYNC : 0;
        int32_t tag;

        __atomic_store_n(&a->awake, 0, __ATOMIC_SEQ_CST);
        tag = iosched_tags_get(a->t, a->seat, flags);
        if (tag >= 0) {
            if (__atomic_fetch_add(&held_by[tag], 1, __ATOMIC_SEQ_CST) != 0)
                fail(a, "this tag is held twice");
            if (iosched_tags_owner(a->t, tag) != a->seat)
                fail(a, "this tag is somebody else's");
            return tag;
        }
        if (tag != -1) {
            fail(a, "an error from get");
            return -1;
        }
        a->refused++;
        if (!wait)
            return -1;
        while (!__atomic_load_n(&a->awake, __ATOMIC_SEQ_CST)) {
            if (failed())
                return -1;
            if (--patience == 0) {
                fail(a, "a wake was lost");
                return -1;
            }
            sched_yield();
        }
    }
}

static void give_back(struct actor *a, int32_t tag)
{
    (void)__atomic_fetch_sub(&held_by[tag], 1, __ATOMIC_SEQ_CST);
    if (iosched_tags_put(a->t, tag) != IOSCHED_OK)
        fail(a, "an error from put");
}

/* Waits only while it holds nothing: holding one tag and waiting for another
 * would be a deadlock of this test's own making. */
static void *act(void *arg)
{
    struct actor *a = arg;
    int32_t tags[MAX_HELD];
    long i;

    sit_down(a);
    for (i = 0; i < a->rounds && !failed(); i++) {
        unsigned want = 1 + draw(a, MAX_HELD), n = 0, pause;

        while (n < want) {
            int32_t tag = take(a, n == 0);

            if (tag < 0)
                break;
            tags[n++] = tag;
        }
        for (pause = draw(a, 4); pause > 0; pause--)
            sched_yield();
        while (n > 0)
            give_back(a, tags[--n]);
        if (i % STAY == STAY - 1) {
            get_up(a);
            sit_down(a);
        }
    }
    if (!failed())
        get_up(a);
    return NULL;
}

static void run(uint32_t depth, uint32_t reserved, long rounds)
{
    struct iosched_tags_cfg cfg = {
        .struct_size = sizeof cfg, .depth = depth, .reserved = reserved,
        .seats = THREADS
    };
    static struct actor actors[THREADS];
    size_t size = iosched_tags_size(&cfg);
    void *mem = malloc(size);
    struct iosched_tags *t = NULL;
    struct actor sum = { .id = -1 };
    int i;

    if (mem == NULL || iosched_tags_init(mem, size, &cfg, &t) != 0) {
        fail(&sum, "no set");
        free(mem);
        return;
    }
    for (i = 0; i < THREADS; i++) {
        actors[i] = (struct actor){ .t = t, .id = i, .rounds = rounds,
                                    .rng = depth * 8 + (uint32_t)i };
        if (pthread_create(&actors[i].thread, NULL, act, &actors[i]) != 0) {
            perror("pthread_create");
            exit(EXIT_FAILURE);
        }
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(actors[i].thread, NULL);
        sum.refused += actors[i].refused;
        sum.wakes += actors[i].wakes;
        sum.busy += actors[i].busy;
    }
    if (!failed() && iosched_tags_in_use(t) != 0)
        fail(&sum, "tags are in use at the end");
    for (i = 0; i < (int)depth; i++)
        if (!failed() && iosched_tags_owner(t, i) != IOSCHED_ERR_NOENT)
            fail(&sum, "a tag has an owner at the end");
    printf("depth %u, reserved %u: %ld rounds by %d threads, %ld refused, "
           "%ld wakes, %ld leaves busy\n", (unsigned)depth,
           (unsigned)reserved, rounds, THREADS, sum.refused, sum.wakes,
           sum.busy);
    free(mem);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 30000;

    if (rounds <= 0) {
        fprintf(stderr, "usage: tags-threads [rounds]\n");
        return EXIT_FAILURE;
    }
    if (!IOSCHED_ATOMICS) {
        printf("skipped: without atomics a set belongs to one thread\n");
        return 77;
    }
    run(1, 0, rounds);
    run(2, 1, rounds);
    run(3, 0, rounds);
    run(4, 2, rounds);
    run(MAX_DEPTH, 125, rounds);        /* over three words of 64 */
    return failed() ? EXIT_FAILURE : EXIT_SUCCESS;
}
