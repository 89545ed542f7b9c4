/* SPDX-License-Identifier: BSD-2-Clause */
/* bench.h - what the benchmarks share: random numbers, a clock, arguments.
 *
 * C and C++.  Random numbers cost two instructions, because they are part of
 * every loop that is measured.
 */
#ifndef IOSCHED_BENCH_H
#define IOSCHED_BENCH_H
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Kept as functions of their own, so that a profiler can be told to count
 * inside of them only. */
#define BENCH_LOOP __attribute__((noinline))

#define BENCH_SEED UINT64_C(0x9e3779b97f4a7c15)
#define BENCH_NODE 224u         /* bytes around every node: a request's   */

/** The next number of a 64-bit linear congruence (Knuth's MMIX constants).
 *  Its upper bits are the good ones: take what matters from there. */
static inline uint64_t bench_random(uint64_t x)
{
    return x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

static inline void bench_die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

/** CPU time of this process, in ns: being preempted does not count. */
static inline double bench_ns(void)
{
    struct timespec ts;

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) != 0)
        bench_die("no CPU clock");
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static inline void *bench_alloc(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (p == NULL)
        bench_die("out of memory");
    return p;
}

/** The number after option argv[i], at least `least`; dies if it is none. */
static inline uint64_t bench_number(int argc, char **argv, int i,
                                    uint64_t least)
{
    char *end;
    unsigned long long v;

    if (i + 1 >= argc)
        bench_die("an option lacks its number");
    errno = 0;
    v = strtoull(argv[i + 1], &end, 10);
    if (errno != 0 || end == argv[i + 1] || *end != '\0' || v < least)
        bench_die("an option's number makes no sense");
    return v;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* --- Measuring primitives ------------------------------------------------- */
#define BENCH_ROUNDS_MAX 64u

/** One thing to measure: an operation on one of `n` objects. */
struct bench_kind {
    const char *name;                   /* "operation/implementation"     */
    void     *(*make)(uint32_t n);      /* n objects, in place            */
    void      (*loop)(void *w, uint64_t ops);
    void      (*drop)(void *w);
};

struct bench_opts {
    const char *only;                   /* one kind, or NULL: all         */
    uint32_t    n;                      /* one size, or 0: all            */
    uint32_t    rounds;
    uint64_t    ops;
};

static inline void bench_options(struct bench_opts *o, int argc, char **argv,
                                 const struct bench_kind *kinds, size_t nkinds)
{
    o->only = NULL;
    o->n = 0;
    o->rounds = 5;
    o->ops = 200000;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            for (size_t k = 0; k < nkinds; k++)
                puts(kinds[k].name);
            exit(0);
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            o->only = argv[++i];
        } else if (strcmp(argv[i], "--n") == 0) {
            o->n = (uint32_t)bench_number(argc, argv, i++, 1);
            if (o->n > 65536 || (o->n & (o->n - 1)) != 0)
                bench_die("--n takes a power of two, at most 65536");
        } else if (strcmp(argv[i], "--ops") == 0) {
            o->ops = bench_number(argc, argv, i++, 1);
        } else if (strcmp(argv[i], "--rounds") == 0) {
            o->rounds = (uint32_t)bench_number(argc, argv, i++, 1);
            if (o->rounds > BENCH_ROUNDS_MAX)
                bench_die("--rounds is at most 64");
        } else {
            bench_die("[--list] [--only KIND] [--n N] [--ops K] [--rounds R]");
        }
    }
}

/** Measure every kind at every size, all of them once a round, and print
 *  "kind n median-ns min-ns" a line. */
static inline int bench_kinds(int argc, char **argv,
                              const struct bench_kind *kinds, size_t nkinds)
{
    static const uint32_t sizes[] = { 16, 256, 4096, 65536 };
    const size_t nsizes = sizeof sizes / sizeof sizes[0];
    struct bench_opts o;
    double *ns;
    int found = 0;

    bench_options(&o, argc, argv, kinds, nkinds);
    ns = (double *)bench_alloc(nkinds * nsizes * BENCH_ROUNDS_MAX, sizeof *ns);
    for (uint32_t r = 0; r < o.rounds; r++) {
        for (size_t i = 0; i < nkinds * nsizes; i++) {
            const struct bench_kind *k = &kinds[i / nsizes];
            uint32_t n = sizes[i % nsizes];
            double start;
            void *w;

            if ((o.only != NULL && strcmp(o.only, k->name) != 0) ||
                (o.n != 0 && o.n != n))
                continue;
            w = k->make(n);
            start = bench_ns();
            k->loop(w, o.ops);
            ns[i * BENCH_ROUNDS_MAX + r] = (bench_ns() - start) /
                                           (double)o.ops;
            k->drop(w);
            found = 1;
        }
    }
    if (!found)
        bench_die("no such kind or size: see --list; 16, 256, 4096, 65536");
    for (size_t i = 0; i < nkinds * nsizes; i++) {
        double *t = &ns[i * BENCH_ROUNDS_MAX];

        if (t[0] <= 0.0)
            continue;
        qsort(t, o.rounds, sizeof *t, bench_compare);
        printf("%-20s %6u %9.1f %9.1f\n", kinds[i / nsizes].name,
               (unsigned)sizes[i % nsizes], t[o.rounds / 2], t[0]);
    }
    free(ns);
    return 0;
}

#endif
