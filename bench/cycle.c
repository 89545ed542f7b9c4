/* SPDX-License-Identifier: BSD-2-Clause */
/* cycle.c - what one request costs, from insert to complete.
 *
 * N requests are queued all the time and one is in flight.  One cycle is
 *
 *     dispatch, complete, insert of another request by the same stream
 *
 * with addresses uniform in 2^32 blocks, 8 blocks each; 70% are reads, the rest
 * writes that nobody waits for.  Time goes on by 1 ms a cycle.  When dispatch
 * gives nothing the clock moves to the next timer, and that work counts.
 *
 * The loop's own work is a random number, a few stores and one slot of a ring
 * of idle requests, the same for every policy; --empty measures just that, with
 * a plain array as the queue.
 */
#include <iosched/iosched.h>
#include "bench.h"

#define SPARE 16u               /* idle requests; a power of two          */

struct bench {
    struct iosched      *s;             /* NULL: the loop alone           */
    struct iosched_req  *pool;          /* queued + SPARE of them         */
    struct iosched_req **fifo;          /* the queue of --empty           */
    struct iosched_req  *idle[SPARE];   /* ring: oldest idle goes next    */
    uint32_t             oldest;
    uint32_t             queued;
    iosched_time         now;
    uint64_t             x;             /* random                         */
    uint64_t             waits;         /* times the clock had to move    */
};

struct options {
    const char *policy;
    uint32_t    queued, streams, flags;
    uint64_t    cycles;
    int         json, empty;
};

/** Make rq a new request of stream st. */
static inline void fill_in(struct iosched_req *rq, struct iosched_stream *st,
                           uint64_t x)
{
    rq->lba = x >> 32;
    rq->nblk = 8;
    rq->op = (x >> 16 & 0xffff) < 45875 ? IOSCHED_READ : IOSCHED_WRITE;
    rq->stream = st;
}

/** Nothing to issue now: move the clock to the timer. */
BENCH_LOOP static iosched_time wait_for_timer(struct bench *b,
                                              iosched_time now)
{
    iosched_time at = iosched_next_expiry(b->s);

    if (at == IOSCHED_NEVER)
        bench_die("nothing to dispatch and no timer");
    if (at > now)
        now = at;
    if (iosched_expire(b->s, now) < 0)
        bench_die("expire failed");
    b->waits++;
    return now;
}

/** Run some cycles.  Inlined into each of its callers with a constant `empty`,
 *  so that choosing costs nothing. */
static inline __attribute__((always_inline))
void turn(struct bench *b, uint64_t cycles, const int empty)
{
    struct iosched *s = b->s;
    iosched_time now = b->now;
    uint64_t x = b->x;
    uint32_t oldest = b->oldest, at = 0;

    while (cycles-- > 0) {
        struct iosched_req *rq, *m, *next;

        if (empty)
            rq = b->fifo[at];
        else
            while (iosched_dispatch(s, &rq, 0, now) != IOSCHED_GOT)
                now = wait_for_timer(b, now);
        now += IOSCHED_MSEC(1);
        if (!empty && iosched_complete(s, rq, 0, now) != IOSCHED_OK)
            bench_die("complete failed");
        m = empty ? rq : rq->first_member;
        do {                                    /* once, if it was alone */
            struct iosched_req **slot = &b->idle[oldest++ & (SPARE - 1)];
            struct iosched_req *fresh = *slot;

            *slot = m;
            next = empty ? NULL : m->next_member;
            x = bench_random(x);
            fill_in(fresh, m->stream, x);
            if (empty)
                b->fifo[at] = fresh;
            else if (iosched_insert(s, fresh, now) < 0)
                bench_die("insert failed");
        } while ((m = next) != NULL);
        if (empty && ++at == b->queued)
            at = 0;
    }
    b->now = now;
    b->x = x;
    b->oldest = oldest;
}

/* Three of them, because profilers count by name.  The first has to differ
 * from the second by something, or a compiler makes one of the two. */
BENCH_LOOP static void settle(struct bench *b, uint64_t cycles)
{
    turn(b, cycles, 0);
    b->waits = 0;
}

BENCH_LOOP static void cycle_loop(struct bench *b, uint64_t cycles)
{
    turn(b, cycles, 0);
}

BENCH_LOOP static void cycle_loop_empty(struct bench *b, uint64_t cycles)
{
    turn(b, cycles, 1);
}

static void usage(void)
{
    bench_die("usage: cycle [--policy P] [--queued N] [--streams S] "
              "[--cycles C]\n       [--nomerge-lookup] [--empty] [--json]");
}

static void read_options(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--policy") == 0 && i + 1 < argc)
            o->policy = argv[++i];
        else if (strcmp(argv[i], "--queued") == 0)
            o->queued = (uint32_t)bench_number(argc, argv, i++, 1);
        else if (strcmp(argv[i], "--streams") == 0)
            o->streams = (uint32_t)bench_number(argc, argv, i++, 1);
        else if (strcmp(argv[i], "--cycles") == 0)
            o->cycles = bench_number(argc, argv, i++, 1);
        else if (strcmp(argv[i], "--nomerge-lookup") == 0)
            o->flags |= IOSCHED_F_NOMERGE;
        else if (strcmp(argv[i], "--empty") == 0)
            o->empty = 1;
        else if (strcmp(argv[i], "--json") == 0)
            o->json = 1;
        else
            usage();
    }
    if (o->queued > 1u << 24 || o->streams > 1u << 15)
        bench_die("that many are not the point");
}

/** Open the scheduler and its streams, and queue what has to be queued. */
static void set_up(struct bench *b, const struct options *o)
{
    struct iosched_stream **st = (struct iosched_stream **)
        bench_alloc(o->streams, sizeof *st);
    struct iosched_cfg cfg;
    uint32_t hint = 1;
    int err;

    while (hint < o->queued)
        hint *= 2;
    if (!o->empty) {
        iosched_cfg_init(&cfg);
        cfg.flags = o->flags;
        cfg.max_streams = o->streams + 1;
        cfg.queued_hint = hint;
        err = iosched_create(o->policy, &cfg, &b->s, 0);
        if (err != IOSCHED_OK)
            bench_die(iosched_strerror(err));
        for (uint32_t i = 0; i < o->streams; i++)
            if (iosched_stream_open(b->s, NULL, &st[i], 0) != IOSCHED_OK)
                bench_die("cannot open a stream");
    }
    b->x = BENCH_SEED;
    b->queued = o->queued;
    b->pool = (struct iosched_req *)bench_alloc((size_t)o->queued + SPARE,
                                                sizeof *b->pool);
    b->fifo = (struct iosched_req **)bench_alloc(o->queued, sizeof *b->fifo);
    for (uint32_t i = 0; i < o->queued; i++) {
        b->x = bench_random(b->x);
        fill_in(&b->pool[i], st[i % o->streams], b->x);
        b->fifo[i] = &b->pool[i];
        if (!o->empty && iosched_insert(b->s, &b->pool[i], b->now) < 0)
            bench_die("insert failed");
    }
    for (uint32_t i = 0; i < SPARE; i++)
        b->idle[i] = &b->pool[o->queued + i];
    free(st);
}

static void tear_down(struct bench *b)
{
    struct iosched_req *rq;

    while (b->s != NULL &&
           iosched_dispatch(b->s, &rq, IOSCHED_DISPATCH_FORCE, b->now) ==
           IOSCHED_GOT)
        if (iosched_complete(b->s, rq, 0, b->now) != IOSCHED_OK)
            bench_die("complete failed at the end");
    if (iosched_destroy(b->s) != IOSCHED_OK)
        bench_die("requests were lost: destroy refuses");
    free(b->fifo);
    free(b->pool);
}

int main(int argc, char **argv)
{
    struct options o = { "deadline", 256, 16, 0, 200000, 0, 0 };
    static struct bench b;
    double start, ns;

    read_options(&o, argc, argv);
    set_up(&b, &o);
    if (!o.empty)
        settle(&b, o.queued);
    start = bench_ns();
    if (o.empty)
        cycle_loop_empty(&b, o.cycles);
    else
        cycle_loop(&b, o.cycles);
    ns = (bench_ns() - start) / (double)o.cycles;
    if (!o.empty && iosched_queued(b.s) != o.queued)
        bench_die("the number of queued requests has changed");
    tear_down(&b);
    if (o.json)
        printf("{\"policy\": \"%s\", \"queued\": %u, \"streams\": %u, "
               "\"cycles\": %llu, \"lookup\": %s, \"waits\": %llu, "
               "\"ns\": %.1f}\n", o.empty ? "empty" : o.policy,
               (unsigned)o.queued, (unsigned)o.streams,
               (unsigned long long)o.cycles,
               o.flags & IOSCHED_F_NOMERGE ? "false" : "true",
               (unsigned long long)b.waits, ns);
    else
        printf("%.1f\n", ns);
    return 0;
}
