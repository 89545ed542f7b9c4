/* SPDX-License-Identifier: BSD-2-Clause */
/* flush.c - journal commits on a disk that forgets: PREFLUSH and FUA.
 *
 * The disk has a cache that a power cut empties.  A completed write is in the
 * cache; a FLUSH brings to the media what had completed when the FLUSH was
 * given to the disk, and no more; a FUA write goes to the media, if the disk
 * knows FUA.  Besides, the disk writes back a block of the cache whenever it
 * likes.  Commands are done in any order.
 *
 * The power is cut after every single step of the disk.  Two things have to
 * hold every time:
 *
 *   promise   what was said to be durable is on the media
 *   journal   if a commit record is on the media, so are its log blocks
 *
 * The caller looks at `phase`, sends what it says, and knows nothing more.
 * With phases left out that this disk needs, the same run loses data.
 */
#include <string.h>
#include <iosched/iosched.h>
#include <iosched/stats.h>
#include "check.h"

#define BLOCKS  512u
#define DEPTH   8u
#define POOL    64u
#define STEPS   20000u
#define LOG_MAX 6u              /* log writes before a commit record      */

enum { KNOWS_FUA = 1, NO_CACHE = 2 };           /* disk */

struct command {
    const struct iosched_req *rq;       /* NULL: free                     */
    uint32_t flushes;           /* writes completed when it was given     */
};

struct disk {
    unsigned       is;          /* KNOWS_FUA, NO_CACHE                    */
    uint32_t       media[BLOCKS], cache[BLOCKS];    /* stamps; 0: nothing */
    uint32_t       written[BLOCKS];     /* the cached one was so manieth  */
    uint32_t       writes;      /* completed                              */
    struct command queue[DEPTH];
};

struct my_io {
    struct iosched_req rq;
    uint32_t           stamp;   /* what it writes, to all of its blocks   */
    uint32_t           log_from, log_to;    /* a record: its log's stamps */
    uint32_t           ended;   /* writes ended before it was inserted    */
};

/** A write that has ended, or is behind a barrier: in order of ending. */
struct write { iosched_lba lba; uint32_t nblk, stamp; };

struct rig {
    struct iosched *s;
    struct disk     disk;
    struct my_io    io[POOL];
    struct write    ended[STEPS];       /* n_ended of them                */
    struct write    records[STEPS];     /* commit records, by number      */
    struct { uint32_t from, to; } logs[STEPS];
    struct write    by_stamp[STEPS];    /* every write, by stamp          */
    uint32_t        n_ended, n_records, stamp;
    uint32_t        promised[BLOCKS];   /* least stamp the media owes     */
    uint8_t         busy[BLOCKS];       /* a write of it is under way     */
    uint64_t        seed;
    iosched_time    now;
    unsigned long   cuts, broken_promises, broken_journals, commits;
};

/* --- The disk ------------------------------------------------------------- */
static void to_media(struct disk *d, iosched_lba b)
{
    if (d->cache[b] != 0)
        d->media[b] = d->cache[b];
    d->cache[b] = 0;
}

/** Is the cached block what a flush that was given has to bring? */
static int owed(const struct disk *d, iosched_lba b)
{
    for (const struct command *c = d->queue; c < d->queue + DEPTH; c++)
        if (c->rq != NULL && c->rq->phase != IOSCHED_PHASE_DATA &&
            d->written[b] <= c->flushes)
            return 1;
    return 0;
}

static void disk_write(struct disk *d, const struct iosched_req *carrier)
{
    const struct iosched_req *m;

    int through = (d->is & NO_CACHE) ||
                  ((carrier->flags & IOSCHED_RQ_FUA) && (d->is & KNOWS_FUA));

    for (m = carrier->first_member; m != NULL; m = m->next_member) {
        const struct my_io *of = (const void *)m;   /* rq comes first in it */

        for (iosched_lba b = m->lba; b < m->lba + m->nblk; b++) {
            if (owed(d, b))
                to_media(d, b);
            d->cache[b] = of->stamp;
            d->written[b] = d->writes + 1;
            if (through)
                to_media(d, b);
        }
    }
    d->writes++;
}

/** One step: some command is done.  @return its request, or NULL: it wrote
 *  back a block instead, or had nothing to do. */
static const struct iosched_req *disk_step(struct disk *d, uint64_t *seed)
{
    struct command *c = &d->queue[check_random(seed, DEPTH)];
    const struct iosched_req *rq;

    for (unsigned i = 0; i < DEPTH && c->rq == NULL; i++)
        c = c + 1 < d->queue + DEPTH ? c + 1 : d->queue;
    rq = c->rq;
    if (rq == NULL || check_random(seed, 4) == 0) {
        to_media(d, check_random(seed, BLOCKS));
        return NULL;
    }
    if (rq->phase == IOSCHED_PHASE_DATA) {
        disk_write(d, rq);
    } else {
        for (uint32_t b = 0; b < BLOCKS; b++)
            if (d->written[b] <= c->flushes)
                to_media(d, b);
    }
    c->rq = NULL;
    return rq;
}

static void disk_take(struct disk *d, const struct iosched_req *rq)
{
    struct command *c = d->queue;

    while (c->rq != NULL)
        CHECK(++c < d->queue + DEPTH);
    c->rq = rq;
    c->flushes = d->writes;
}

/* --- What a power cut would show ------------------------------------------ */
static void promise(struct rig *r, const struct write *w)
{
    for (iosched_lba b = w->lba; b < w->lba + w->nblk; b++)
        if (r->promised[b] < w->stamp)
            r->promised[b] = w->stamp;
}

static int on_media(const struct rig *r, const struct write *w)
{
    for (iosched_lba b = w->lba; b < w->lba + w->nblk; b++)
        if (r->disk.media[b] < w->stamp)        /* or a later write of it */
            return 0;
    return 1;
}

/** Has any block of it come to the media, and not been overwritten since? */
static int seen_on_media(const struct rig *r, const struct write *w)
{
    for (iosched_lba b = w->lba; b < w->lba + w->nblk; b++)
        if (r->disk.media[b] == w->stamp)
            return 1;
    return 0;
}

static void cut_power(struct rig *r)
{
    uint32_t i = r->n_records > POOL ? r->n_records - POOL : 0;

    r->cuts++;
    for (uint32_t b = 0; b < BLOCKS; b++)
        if (r->disk.media[b] < r->promised[b]) {
            r->broken_promises++;
            break;
        }
    for (; i < r->n_records; i++) {             /* those lately inserted */
        uint32_t k = r->logs[i].from;

        if (!seen_on_media(r, &r->records[i]))
            continue;
        while (k < r->logs[i].to && on_media(r, &r->by_stamp[k]))
            k++;
        if (k < r->logs[i].to) {
            r->broken_journals++;
            break;
        }
    }
}

/* --- The journal ---------------------------------------------------------- */
static struct my_io *idle_one(struct rig *r)
{
    for (unsigned i = 0; i < POOL; i++)
        if (r->io[i].rq.state == IOSCHED_STATE_IDLE)
            return &r->io[i];
    return NULL;
}

/** Insert a write, unless another of the same blocks is on the way. */
static struct my_io *put_write(struct rig *r, uint32_t lba, unsigned flags)
{
    struct my_io *of = idle_one(r);
    uint32_t nblk = 1 + check_random(&r->seed, 4);

    if (of == NULL)
        return NULL;
    for (uint32_t b = lba; b < lba + nblk; b++)
        if (r->busy[b])
            return NULL;
    memset(r->busy + lba, 1, nblk);
    *of = (struct my_io){ .stamp = ++r->stamp, .ended = r->n_ended };
    CHECK(r->stamp < STEPS);
    of->rq.op = IOSCHED_WRITE;
    of->rq.lba = lba;
    of->rq.nblk = nblk;
    of->rq.flags = (uint16_t)flags;
    r->by_stamp[of->stamp] = (struct write){ lba, nblk, of->stamp };
    CHECK(iosched_insert(r->s, &of->rq, r->now) >= 0);
    return of;
}

static void arrivals(struct rig *r)
{
    unsigned what = check_random(&r->seed, 12);
    uint32_t lba = check_random(&r->seed, BLOCKS - 8);
    struct my_io *of;

    if (what < 3) {                             /* a transaction */
        uint32_t from = r->stamp + 1;

        for (unsigned n = 1 + check_random(&r->seed, LOG_MAX); n > 0; n--) {
            of = put_write(r, lba, 0);          /* may merge; any order */
            lba = of != NULL && lba < BLOCKS - 16 ? lba + of->rq.nblk :
                  check_random(&r->seed, BLOCKS - 8);
        }
        of = put_write(r, lba, IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA |
                               IOSCHED_RQ_BARRIER);
        if (of == NULL)
            return;                             /* not committed, then */
        of->log_from = from;
        of->log_to = of->stamp;
        r->records[r->n_records] = r->by_stamp[of->stamp];
        r->logs[r->n_records].from = from;
        r->logs[r->n_records++].to = of->stamp;
    } else if (what < 5) {
        put_write(r, lba, IOSCHED_RQ_FUA);
    } else if (what < 6) {
        put_write(r, lba, IOSCHED_RQ_PREFLUSH);
    } else if (what < 7) {
        of = idle_one(r);
        if (of == NULL)
            return;
        *of = (struct my_io){ .ended = r->n_ended };
        of->rq.op = IOSCHED_FLUSH;
        CHECK(iosched_insert(r->s, &of->rq, r->now) >= 0);
    } else {
        put_write(r, lba, 0);
    }
}

/** rq has ended, all phases of it: what does that promise? */
static void ended(struct rig *r, const struct iosched_req *carrier)
{
    const struct iosched_req *m;

    for (m = carrier->first_member; m != NULL; m = m->next_member) {
        const struct my_io *of = (const void *)m;

        if (m->op == IOSCHED_FLUSH || (m->flags & IOSCHED_RQ_PREFLUSH))
            for (uint32_t i = 0; i < of->ended; i++)
                promise(r, &r->ended[i]);
        for (uint32_t k = of->log_from; k < of->log_to; k++)
            promise(r, &r->by_stamp[k]);        /* before it: the BARRIER */
        if (m->flags & IOSCHED_RQ_FUA)
            promise(r, &r->by_stamp[of->stamp]);
        r->commits += of->log_to != 0;
        if (m->op != IOSCHED_WRITE)
            continue;
        r->ended[r->n_ended++] = r->by_stamp[of->stamp];
        memset(r->busy + m->lba, 0, m->nblk);
    }
}

static void run(struct rig *r, uint32_t flags, unsigned disk, uint64_t seed)
{
    struct iosched_cfg cfg;
    struct iosched_stats stats;
    struct iosched_req *rq;
    const struct iosched_req *done;
    int end;

    memset(r, 0, sizeof *r);
    r->seed = seed;
    r->disk.is = disk;
    iosched_cfg_init(&cfg);
    cfg.flags = flags;
    cfg.depth = DEPTH;
    CHECK_EQ(iosched_create("deadline", &cfg, &r->s, r->now), IOSCHED_OK);
    for (unsigned step = 0; step < STEPS ||
         iosched_queued(r->s) + iosched_inflight(r->s) > 0; step++) {
        r->now += IOSCHED_USEC(100);
        if (step < STEPS && check_random(&r->seed, 8) == 0)
            arrivals(r);
        if (r->now >= iosched_next_expiry(r->s))
            iosched_expire(r->s, r->now);
        while (iosched_dispatch(r->s, &rq, 0, r->now) == IOSCHED_GOT)
            disk_take(&r->disk, rq);
        done = disk_step(&r->disk, &r->seed);
        if (done != NULL) {
            rq = &r->io[(const struct my_io *)(const void *)done - r->io].rq;
            end = iosched_complete(r->s, rq, 0, r->now);
            CHECK(end == IOSCHED_OK || end == IOSCHED_MORE);
            if (end == IOSCHED_OK)
                ended(r, rq);
        }
        cut_power(r);
    }
    CHECK_EQ(iosched_get_stats(r->s, &stats, sizeof stats), IOSCHED_OK);
    printf("    %lu cuts, %lu commits, %u more phases, %u merged, promises "
           "broken in %lu, journals in %lu\n", r->cuts, r->commits,
           (unsigned)stats.phases, (unsigned)(stats.merged_back +
           stats.merged_front), r->broken_promises, r->broken_journals);
    CHECK(r->commits > 200);
    CHECK(stats.merged_back + stats.merged_front > 10);
    CHECK_EQ(stats.phases == 0, (flags & IOSCHED_F_NO_VOLATILE_CACHE) != 0);
    CHECK_EQ(iosched_destroy(r->s), IOSCHED_OK);
}

/* --- One commit, trip by trip --------------------------------------------- */
static void trips(uint32_t flags, const uint8_t *want, unsigned n)
{
    struct iosched_req log[2] = { { 0 }, { 0 } }, record = { 0 }, sync = { 0 };
    struct iosched_req *rq;
    struct iosched_cfg cfg;
    struct iosched *s;
    iosched_time now = 0;

    iosched_cfg_init(&cfg);
    cfg.flags = flags;
    cfg.depth = 4;
    CHECK_EQ(iosched_create("deadline", &cfg, &s, now), IOSCHED_OK);
    for (unsigned i = 0; i < 2; i++) {
        log[i].op = IOSCHED_WRITE;
        log[i].lba = 100 + 8 * i;
        log[i].nblk = 8;
        CHECK_EQ(iosched_insert(s, &log[i], now),
                 i == 0 ? IOSCHED_QUEUED : IOSCHED_MERGED_BACK);
    }
    record.op = IOSCHED_WRITE;                  /* after both, and durable */
    record.flags = IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA | IOSCHED_RQ_BARRIER;
    record.lba = 116;
    record.nblk = 1;
    CHECK_EQ(iosched_insert(s, &record, now), IOSCHED_QUEUED);
    sync.op = IOSCHED_FLUSH;                    /* and a plain one */
    CHECK_EQ(iosched_insert(s, &sync, now), IOSCHED_QUEUED);

    CHECK_EQ(iosched_dispatch(s, &rq, 0, now), IOSCHED_GOT);
    CHECK(rq == &log[0]);
    CHECK_EQ(rq->xnblk, 16);
    CHECK_EQ(iosched_dispatch(s, &rq, 0, now), IOSCHED_HOLD);
    CHECK_EQ(iosched_complete(s, &log[0], 0, now += 5), IOSCHED_OK);
    for (unsigned i = 0; i < n; i++) {
        CHECK_EQ(iosched_dispatch(s, &rq, 0, now), IOSCHED_GOT);
        CHECK(rq == &record);
        CHECK_EQ(rq->phase, want[i]);
        CHECK_EQ(iosched_dispatch(s, &rq, 0, now), IOSCHED_HOLD);
        CHECK_EQ(iosched_complete(s, &record, 0, now += 5),
                 i + 1 < n ? IOSCHED_MORE : IOSCHED_OK);
    }
    CHECK_EQ(record.state, IOSCHED_STATE_IDLE);
    CHECK_EQ(iosched_dispatch(s, &rq, 0, now), IOSCHED_GOT);
    CHECK(rq == &sync);
    CHECK_EQ(rq->phase, IOSCHED_PHASE_PREFLUSH);
    CHECK_EQ(iosched_complete(s, rq, 0, now), IOSCHED_OK);

    if (n > 1) {                                /* and one that fails */
        CHECK_EQ(iosched_insert(s, &record, now), IOSCHED_QUEUED);
        CHECK_EQ(iosched_dispatch(s, &rq, 0, now), IOSCHED_GOT);
        CHECK_EQ(rq->phase, IOSCHED_PHASE_PREFLUSH);
        CHECK_EQ(iosched_complete(s, rq, -5, now), IOSCHED_OK);
        CHECK_EQ(record.status, -5);
        CHECK_EQ(record.state, IOSCHED_STATE_IDLE);
        CHECK_EQ(iosched_dispatch(s, &rq, 0, now), IOSCHED_EMPTY);
    }
    CHECK_EQ(iosched_destroy(s), IOSCHED_OK);
}

int main(void)
{
    static const uint8_t all[] = { IOSCHED_PHASE_PREFLUSH, IOSCHED_PHASE_DATA,
                                   IOSCHED_PHASE_POSTFLUSH };
    static const uint8_t data = IOSCHED_PHASE_DATA;
    static const struct {
        const char *sentence;
        uint32_t    flags;
        unsigned    disk;
        int         loses;
    } runs[] = {
        { "with all phases a volatile cache keeps every promise",
          0, 0, 0 },
        { "the same if the disk knows FUA and is not asked",
          0, KNOWS_FUA, 0 },
        { "a disk that knows FUA needs no last flush",
          IOSCHED_F_DEVICE_FUA, KNOWS_FUA, 0 },
        { "a disk without a cache needs no flush at all",
          IOSCHED_F_NO_VOLATILE_CACHE, NO_CACHE, 0 },
        { "a disk that ignores FUA loses data without the last flush",
          IOSCHED_F_DEVICE_FUA, 0, 1 },
        { "a disk with a cache loses data without the phases",
          IOSCHED_F_NO_VOLATILE_CACHE, 0, 1 }
    };
    static struct rig r;

    part("a commit is a flush, a write and a flush, nothing beside it");
    trips(0, all, 3);
    part("with DEVICE_FUA it is a flush and a write");
    trips(IOSCHED_F_DEVICE_FUA, all, 2);
    part("with NO_VOLATILE_CACHE it is a write");
    trips(IOSCHED_F_NO_VOLATILE_CACHE, &data, 1);
    for (unsigned i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        part(runs[i].sentence);
        run(&r, runs[i].flags, runs[i].disk, 1000 + i);
        if (!runs[i].loses) {
            CHECK_EQ(r.broken_promises, 0);
            CHECK_EQ(r.broken_journals, 0);
        } else {
            CHECK(r.broken_promises > 10);
        }
        if (runs[i].flags & IOSCHED_F_NO_VOLATILE_CACHE)
            CHECK_EQ(r.broken_journals > 10, runs[i].loses);
    }
    return 0;
}
