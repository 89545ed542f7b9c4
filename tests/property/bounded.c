/* SPDX-License-Identifier: BSD-2-Clause */
/* bounded.c - the invariants of deadline over random loads, for the default and
 * each preset; numbers in brackets are those of the specification.
 *
 *  1 nothing is lost or comes twice      7 writes stand back just so often
 *  2 each is in one FIFO                 8 the oldest, past its deadline, comes
 *  3 one cursor at most                  9 a batch has its length, and no gap
 *  4 one request a dispatch, no idling  10 what has expired is served soon
 *  5 a FIFO is in order of arrival      11 same calls, same order
 *  6 a batch ascends                    12 forced or not, same order
 *
 *     bounded [--seeds N]
 *
 * A literal referee keeps each direction in plain arrays: who is queued, in
 * order of arrival, and what was chosen when.  It knows which choices are
 * decisions (a batch is over) only from the policy's own counters in the dump;
 * everything else is seen from outside. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <iosched/iosched.h>
#include <iosched/policy.h>
#include <iosched/stats.h>
#include <iosched/tunable.h>

#include "../unit/rng.h"

#define MOST  64u               /* requests at a time                     */
#define TICK  UINT64_C(1000000)

enum { READS, WRITES };

struct one {
    struct iosched_req rq;
    int                queued;
    uint64_t           arrival;
    iosched_time       deadline;
    uint32_t           passed;          /* once expired and the oldest    */
};

/** The rules of a preset. */
struct rules {
    const char *policy;
    int gap;                    /* a batch ends at a gap                  */
    int alias;                  /* an equal start sends the older one off */
    int strict;                 /* a deadline of exactly now is not past  */
    int ticks;
};
static const struct rules all_rules[] = {
    { "deadline",        0, 0, 0, 0 },
    { "deadline:2.6.20", 1, 1, 1, 1 },
    { "deadline:2.6.32", 0, 1, 1, 1 },
    { "deadline:4.20",   0, 0, 0, 1 }
};

struct bench {
    const struct rules *r;
    struct iosched     *s;
    struct one          one[MOST];
    uint64_t            seed, arrivals;
    iosched_time        now;
    int64_t             batch_limit, starved_limit, expire[2];
    /* What came last. */
    int                 last_dir, any;
    iosched_lba         last_start, last_end;
    uint64_t            batch, starved;         /* from the dump          */
    /* Runs. */
    uint64_t            reads_in_a_row;         /* contested decisions    */
    uint64_t            hash;                   /* of the order           */
    unsigned            flags;                  /* of each dispatch       */
    char                wrong[200];
};

static struct {
    unsigned long dispatched, decisions, contested, expired, aliases;
} seen;

static uint32_t below(struct bench *b, uint32_t n)
{
    return rng_below(&b->seed, n);
}

static void wrong(struct bench *b, const char *invariant)
{
    if (b->wrong[0] == '\0')
        snprintf(b->wrong, sizeof b->wrong,
                 "%s: at %" PRIu64 ": not so: %s", b->r->policy, b->now,
                 invariant);
}

static int dir_of(const struct one *o)
{
    return o->rq.op == IOSCHED_READ ? READS : WRITES;
}

static unsigned queued(const struct bench *b, int dir)
{
    unsigned n = 0, i;

    for (i = 0; i < MOST; i++)
        n += b->one[i].queued && dir_of(&b->one[i]) == dir;
    return n;
}

static struct one *oldest(struct bench *b, int dir)
{
    struct one *best = NULL;
    unsigned i;

    for (i = 0; i < MOST; i++) {
        struct one *o = &b->one[i];

        if (o->queued && dir_of(o) == dir &&
            (best == NULL || o->arrival < best->arrival))
            best = o;
    }
    return best;
}

static iosched_time tick(const struct bench *b, iosched_time t)
{
    return b->r->ticks ? t - t % TICK : t;
}

static int is_expired(const struct bench *b, const struct one *o)
{
    iosched_time now = tick(b, b->now);

    return b->r->strict ? now > o->deadline : now >= o->deadline;
}

/* --- What the policy says of itself --------------------------------------- */
struct numbers { char text[8192]; size_t len; };

static int keep(void *user, const char *text, size_t len)
{
    struct numbers *n = user;

    if (n->len + len >= sizeof n->text)
        len = sizeof n->text - 1 - n->len;
    memcpy(n->text + n->len, text, len);
    n->len += len;
    n->text[n->len] = '\0';
    return 0;
}

static uint64_t number_after(const struct numbers *n, const char *key)
{
    const char *at = strstr(n->text, key);

    return at != NULL ? strtoull(at + strlen(key), NULL, 10) : UINT64_MAX;
}

static unsigned lines(const struct numbers *n, const char *what)
{
    const char *at = n->text;
    unsigned count = 0;

    while ((at = strstr(at, what)) != NULL) {
        count++;
        at += strlen(what);
    }
    return count;
}

/* Invariant 2 (FIFO and tree hold the same) as far as it shows, and the
 * counters. */
static void look(struct bench *b)
{
    static struct numbers n;

    n.len = 0;
    iosched_dump(b->s, keep, &n, b->now);
    b->batch = number_after(&n, " batch=");
    b->starved = number_after(&n, " starved=");
    if (b->batch == UINT64_MAX || b->starved == UINT64_MAX)
        wrong(b, "the dump has batch and starved");
    if (lines(&n, "place=\"read fifo\"") > queued(b, READS) ||
        lines(&n, "place=\"write fifo\"") > queued(b, WRITES) ||
        iosched_queued(b->s) != queued(b, READS) + queued(b, WRITES))
        wrong(b, "what is queued is in one FIFO (1, 2)");
    if (lines(&n, "why=\"next of the sweep\"") > 1)
        wrong(b, "at most one cursor is set (3)");
}

/* --- Arrivals ------------------------------------------------------------- */
static void insert(struct bench *b, unsigned i, unsigned op, iosched_lba lba,
                   uint32_t nblk)
{
    struct one *o = &b->one[i];

    o->rq.op = (uint16_t)op;
    o->rq.flags = IOSCHED_RQ_NOMERGE;
    o->rq.lba = lba;
    o->rq.nblk = nblk;
    if (iosched_insert(b->s, &o->rq, b->now) != IOSCHED_QUEUED)
        wrong(b, "insert queues");
    o->queued = 1;
    o->passed = 0;
    o->arrival = b->arrivals++;
    o->deadline = tick(b, b->now) + (iosched_time)b->expire[dir_of(o)];
}

static void arrive(struct bench *b)
{
    unsigned i = 0, op = below(b, 5) < 3 ? IOSCHED_READ : IOSCHED_WRITE;
    uint32_t nblk = 1 + below(b, 8);
    iosched_lba lba = below(b, 2) ? below(b, 400) : b->last_end;

    while (i < MOST && b->one[i].rq.state != IOSCHED_STATE_IDLE)
        i++;
    if (i < MOST)
        insert(b, i, op, lba, nblk);
}

/* --- Dispatches ----------------------------------------------------------- */
/* An alias quirk may have chosen some at an insert; such a one is no choice. */
static void find_emitted(struct bench *b, int *emitted)
{
    static struct numbers n;
    const char *at;
    uint64_t seq;
    unsigned i;

    memset(emitted, 0, MOST * sizeof *emitted);
    if (!b->r->alias)
        return;
    n.len = 0;
    iosched_dump(b->s, keep, &n, b->now);
    for (at = n.text; (at = strstr(at, "queued seq=")) != NULL; at++) {
        const char *place = strstr(at, "place=\"");

        if (place == NULL || strncmp(place, "place=\"emitted\"", 15) != 0)
            continue;
        seq = strtoull(at + strlen("queued seq="), NULL, 10);
        for (i = 0; i < MOST; i++)
            emitted[i] |= b->one[i].queued &&
                          iosched_req_seq(&b->one[i].rq) == seq;
    }
}

static void check_decision(struct bench *b, struct one *o, uint64_t starved,
                           int both)
{
    int dir = dir_of(o);
    struct one *head = oldest(b, dir);

    seen.decisions++;
    if (is_expired(b, head)) {
        seen.expired++;
        if (head != o)
            wrong(b, "the oldest comes when its deadline has passed (5, 8)");
    }
    if (!both)
        return;
    seen.contested++;
    if ((dir == READS) !=
        (starved < (uint64_t)b->starved_limit))
        wrong(b, "writes stand back writes_starved times (7)");
    if (dir == READS) {
        if (++b->reads_in_a_row > (uint64_t)b->starved_limit)
            wrong(b, "reads do not win more often than that (7)");
    }
}

/* The oldest of a direction, past its deadline, is passed by at most this many
 * (10). */
static void check_bound(struct bench *b, const struct one *chosen)
{
    int64_t batch = b->batch_limit > 0 ? b->batch_limit : 1;
    unsigned dir;

    for (dir = READS; dir <= WRITES; dir++) {
        struct one *o = oldest(b, (int)dir);
        uint64_t limit = (uint64_t)(dir == READS
                                        ? 2 * batch
                                        : (b->starved_limit + 1) * batch);

        if (o == NULL || o == chosen || !is_expired(b, o))
            continue;
        if (++o->passed > limit)
            wrong(b, dir == READS ? "an expired read waits two batches (10)"
                                  : "an expired write waits its turn");
    }
}

static void chosen(struct bench *b, struct one *o, uint64_t batch,
                   uint64_t starved)
{
    int dir = dir_of(o), both = queued(b, READS) > 0 && queued(b, WRITES) > 0;
    int same = b->any && dir == b->last_dir;
    int goes_on = b->batch == batch + 1 && same && b->starved == starved &&
                  batch < (uint64_t)b->batch_limit;

    /* A full batch is followed by a decision.  Before the first one, only an
     * alias can have set a cursor: whether it is followed does not show. */
    if (batch == 0 && b->any)
        return;
    if (!goes_on) {
        check_decision(b, o, starved, both);
    } else {
        if (o->rq.lba < b->last_start)
            wrong(b, "a batch ascends (6)");
        if (b->r->gap && o->rq.lba != b->last_end)
            wrong(b, "a batch has no gap (9)");
    }
    if (dir == WRITES)
        b->reads_in_a_row = 0;
    if (!b->r->gap && b->batch > (uint64_t)(b->batch_limit > 0
                                                ? b->batch_limit : 1))
        wrong(b, "a batch is not longer than fifo_batch (9)");
    if (!b->r->gap)
        check_bound(b, o);
}

static void dispatch(struct bench *b)
{
    struct iosched_req *rq = NULL;
    unsigned reads = queued(b, READS), writes = queued(b, WRITES);
    int emitted[MOST], rc;
    uint64_t batch = b->batch, starved = b->starved;
    struct one *o;

    find_emitted(b, emitted);
    rc = iosched_dispatch(b->s, &rq, b->flags, b->now);
    if (rc != (reads + writes > 0 ? IOSCHED_GOT : IOSCHED_EMPTY))
        wrong(b, "it gives exactly one as long as it has one (4)");
    if (rc != IOSCHED_GOT)
        return;
    o = iosched_container_of(rq, struct one, rq);
    if (!o->queued)
        wrong(b, "nothing comes twice (1)");
    seen.dispatched++;
    b->hash = (b->hash ^ o->arrival) * UINT64_C(0x100000001b3);
    o->queued = 0;
    look(b);
    o->queued = 1;
    if (!emitted[o - b->one])
        chosen(b, o, batch, starved);
    else
        seen.aliases++;
    o->queued = 0;
    b->any = 1;
    b->last_dir = dir_of(o);
    b->last_start = o->rq.lba;
    b->last_end = o->rq.lba + o->rq.nblk;
    if (iosched_complete(b->s, rq, 0, b->now) != IOSCHED_OK)
        wrong(b, "it completes");
}

/* --- One load ------------------------------------------------------------- */
static void start(struct bench *b, const struct rules *r, uint64_t seed)
{
    static const int64_t batches[] = { 16, 16, 1, 4, 0, 2 };
    struct iosched_cfg cfg;
    unsigned kind = (unsigned)seed % 6;
    char text[160];

    memset(b, 0, sizeof *b);
    b->r = r;
    b->seed = seed;
    b->batch_limit = batches[kind];
    b->starved_limit = kind < 2 ? 2 : 1 + below(b, 4);
    b->expire[READS] = kind == 0 ? 500000000 : (int64_t)below(b, 60) * 1000000;
    b->expire[WRITES] = kind == 0 ? INT64_C(5000000000)
                                  : (int64_t)below(b, 400) * 1000000;
    iosched_cfg_init(&cfg);
    snprintf(text, sizeof text,
             "%s,read_expire=%" PRId64 ",write_expire=%" PRId64
             ",writes_starved=%" PRId64 ",fifo_batch=%" PRId64, r->policy,
             b->expire[READS], b->expire[WRITES], b->starved_limit,
             b->batch_limit);
    if (iosched_create(text, &cfg, &b->s, 0) < 0)
        wrong(b, "it opens");
}

/* Play a load; the hash of the order it came out in. */
static uint64_t run(const struct rules *r, uint64_t seed, unsigned flags,
                    char *why, size_t size)
{
    static struct bench b;
    unsigned step, busy = 1 + (unsigned)seed % 7;

    start(&b, r, seed);
    b.flags = flags;
    if (b.s != NULL)
        look(&b);
    for (step = 0; step < 300 && b.wrong[0] == '\0'; step++) {
        if (below(&b, 8) < busy)
            arrive(&b);
        else if (b.s != NULL)
            dispatch(&b);
        if (below(&b, 4) == 0)
            b.now += (iosched_time)below(&b, 9000) * 1000;
        look(&b);
    }
    while (b.wrong[0] == '\0' && queued(&b, READS) + queued(&b, WRITES) > 0)
        dispatch(&b);
    if (b.wrong[0] == '\0' && iosched_destroy(b.s) != IOSCHED_OK)
        wrong(&b, "nothing is left (1)");
    snprintf(why, size, "%s", b.wrong);
    return b.hash;
}

int main(int argc, char **argv)
{
    const char *lengthen = getenv("IOSCHED_LONG");
    unsigned long seeds = 150, seed, failed = 0;
    char why[200];
    size_t i;

    if (argc == 3 && strcmp(argv[1], "--seeds") == 0)
        seeds = strtoul(argv[2], NULL, 10);
    else if (lengthen != NULL && strcmp(lengthen, "0") != 0)
        seeds *= 20;
    for (i = 0; i < sizeof all_rules / sizeof all_rules[0]; i++)
        for (seed = 1; seed <= seeds && failed < 10; seed++) {
            uint64_t first = run(&all_rules[i], seed, 0, why, sizeof why);

            if (why[0] == '\0' &&
                run(&all_rules[i], seed, IOSCHED_DISPATCH_FORCE, why,
                    sizeof why) != first)
                snprintf(why, sizeof why,
                         "%s: not so: the same order, forced or not (11, 12)",
                         all_rules[i].policy);
            if (why[0] != '\0') {
                printf("seed %lu: %s\n", seed, why);
                failed++;
            }
        }
    printf("dispatched %lu, decisions %lu, contested %lu, expired %lu, "
           "aliases %lu, failed %lu\n", seen.dispatched, seen.decisions,
           seen.contested, seen.expired, seen.aliases, failed);
    return failed > 0 || seen.contested == 0 || seen.expired == 0 ||
           seen.aliases == 0;
}
