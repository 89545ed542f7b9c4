/* SPDX-License-Identifier: BSD-2-Clause */
/* ring64.c - 64 requests in flight on an io_uring.
 *
 * An entry goes in with a 64-bit user_data, and comes out, in any order, with
 * just that: iosched_cookie() and iosched_find() are made for it.  The file
 * holds a pattern that tells for every 8 bytes where on the disk they belong,
 * so any mix-up shows.  Once the ring is smaller than the depth, so the device
 * says no.  The clock is a real one, but nothing depends on it.
 */
#include <errno.h>
#include <liburing.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <iosched/iosched.h>
#include <iosched/stats.h>
#include "check.h"

#define BLOCK  512u
#define BLOCKS 16384u
#define DEPTH  64u
#define BATCH  16u
#define SEGS   8u
#define MANY   2048u
#define NBLK   8u               /* blocks a request has                   */

struct my_io {
    struct iosched_req rq;
    uint64_t           data[NBLK * BLOCK / sizeof(uint64_t)];
    int                status;  /* 1: not yet                             */
};

struct rig {
    struct iosched *s;
    struct io_uring ring;
    struct iovec    vec[DEPTH][SEGS];   /* by tag: until it completes     */
    int             fd;
    int             backwards;  /* tell of the full ring last             */
    uint64_t        lost;       /* cookie of what was aborted, or 0       */
    uint32_t        most;       /* in flight                              */
    unsigned        full;       /* times the ring would not take one      */
    unsigned        late;       /* completions of nobody                  */
    unsigned        calls;      /* completions                            */
};

static struct my_io io[MANY];

static iosched_time now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return IOSCHED_SEC(t.tv_sec) + (iosched_dur)t.tv_nsec;
}

static uint64_t pattern(uint64_t word)  /* word: its place on the disk */
{
    return (word + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

/** A file of BLOCKS blocks in the current folder that is gone when closed. */
static int make_file(void)
{
    static uint64_t all[BLOCKS * BLOCK / sizeof(uint64_t)];
    char name[] = "ring64-XXXXXX";
    int fd = mkstemp(name);

    CHECK(fd >= 0);
    unlink(name);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        all[i] = pattern(i);
    CHECK_EQ(write(fd, all, sizeof all), sizeof all);
    return fd;
}

/** Prepare one entry.  @return 0, or -1: the ring has no free one. */
static int ring_submit(struct rig *r, const struct iosched_req *carrier)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&r->ring);
    struct iovec *v = r->vec[carrier->tag];
    const struct iosched_req *m;
    unsigned n = 0;

    if (sqe == NULL)
        return -1;
    for (m = carrier->first_member; m != NULL; m = m->next_member) {
        struct my_io *of = &io[(const struct my_io *)(const void *)m - io];

        CHECK(n < SEGS);                        /* cfg.max_merge_segs */
        v[n++] = (struct iovec){ of->data, sizeof of->data };
    }
    io_uring_prep_readv(sqe, r->fd, v, n, carrier->xlba * BLOCK);
    sqe->user_data = iosched_cookie(carrier);
    return 0;
}

static void fill_ring(struct rig *r)
{
    struct iosched_req *batch[BATCH];
    iosched_time now = now_ns();
    uint32_t n, i, taken;
    int why;

    if (now >= iosched_next_expiry(r->s))
        iosched_expire(r->s, now);
    do {
        taken = iosched_inflight(r->s);
        why = iosched_dispatch_many(r->s, batch, BATCH, &n, 0, now);
        CHECK(why >= 0);
        CHECK(n <= BATCH && (why != IOSCHED_GOT || n == BATCH));
        for (i = 0; i < n && ring_submit(r, batch[i]) == 0; i++)
            ;
        if (i < n) {                            /* fewer slots than we said */
            if (!r->backwards)
                CHECK_EQ(iosched_queue_full(r->s, batch[i], now), IOSCHED_OK);
            for (uint32_t k = n; --k > i;)      /* not tried: just back */
                CHECK_EQ(iosched_requeue(r->s, batch[k], now), IOSCHED_OK);
            if (r->backwards)                   /* whichever comes first */
                CHECK_EQ(iosched_queue_full(r->s, batch[i], now), IOSCHED_OK);
            CHECK_EQ(iosched_inflight(r->s), taken + i);
            CHECK_EQ(iosched_depth(r->s), taken + i);   /* what it took */
            r->full++;
            why = IOSCHED_FULL;
        }
        if (iosched_inflight(r->s) > r->most)
            r->most = iosched_inflight(r->s);
    } while (why == IOSCHED_GOT);
    CHECK(io_uring_submit(&r->ring) >= 0);
}

static void check_data(const struct my_io *of)
{
    uint64_t word = of->rq.lba * (BLOCK / sizeof(uint64_t));

    for (size_t i = 0; i < sizeof of->data / sizeof of->data[0]; i++)
        CHECK(of->data[i] == pattern(word + i));
}

static void reap(struct rig *r, struct io_uring_cqe *cqe)
{
    uint64_t cookie = cqe->user_data;
    struct iosched_req *rq = iosched_find(r->s, cookie), *m;
    int res = cqe->res;

    io_uring_cqe_seen(&r->ring, cqe);
    r->calls++;
    if (rq == NULL) {                           /* late: it was aborted */
        CHECK(r->lost != 0 && cookie == r->lost);
        CHECK_EQ(iosched_tag_release(r->s, (int32_t)(uint32_t)cookie,
                                     now_ns()), IOSCHED_OK);
        r->lost = 0;
        r->late++;
        return;
    }
    CHECK(iosched_cookie(rq) == cookie);
    CHECK_EQ(res, rq->xnblk * BLOCK);
    CHECK_EQ(iosched_complete(r->s, rq, 0, now_ns()), IOSCHED_OK);
    CHECK(iosched_find(r->s, cookie) == NULL);
    for (m = rq->first_member; m != NULL; m = m->next_member) {
        struct my_io *of = iosched_container_of(m, struct my_io, rq);

        CHECK_EQ(of->status, 1);
        of->status = m->status;
        check_data(of);
    }
}

/** Give up on one that is in flight, and insert it once more: its late
 *  completion must not end the new one. */
static void lose_one(struct rig *r)
{
    struct iosched_req *rq = NULL, *m, *next;

    for (unsigned i = 0; i < MANY && rq == NULL; i++)
        if (io[i].rq.state == IOSCHED_STATE_INFLIGHT)
            rq = &io[i].rq;
    CHECK(rq != NULL);
    r->lost = iosched_cookie(rq);
    CHECK_EQ(iosched_abort(r->s, rq, now_ns()), IOSCHED_OK);
    for (m = rq->first_member; m != NULL; m = next) {
        next = m->next_member;                  /* insert writes to it */
        CHECK(iosched_insert(r->s, m, now_ns()) >= 0);
    }
}

static void run(const char *policy, unsigned entries, int fd, int backwards,
                int lose)
{
    static struct rig r;
    struct iosched_cfg cfg;
    struct iosched_stats stats;
    struct io_uring_cqe *cqe;
    uint64_t seed = 64;
    int err;

    memset(&r, 0, sizeof r);
    r.fd = fd;
    r.backwards = backwards;
    err = io_uring_queue_init(entries, &r.ring, 0);
    if (err == -ENOSYS || err == -EPERM) {
        printf("skipped: the kernel refuses an io_uring: %s\n",
               strerror(-err));
        exit(CHECK_SKIP);
    }
    CHECK_EQ(err, 0);
    iosched_cfg_init(&cfg);
    cfg.flags = IOSCHED_F_NONROTATIONAL;
    cfg.capacity_nblk = BLOCKS;
    cfg.depth = DEPTH;
    cfg.max_merge_segs = SEGS;
    CHECK_EQ(iosched_create(policy, &cfg, &r.s, now_ns()), IOSCHED_OK);
    for (unsigned i = 0; i < MANY; i++) {
        io[i] = (struct my_io){ .status = 1 };
        io[i].rq.lba = check_random(&seed, BLOCKS / NBLK) * NBLK;
        io[i].rq.nblk = NBLK;
        CHECK(iosched_insert(r.s, &io[i].rq, now_ns()) >= 0);
    }
    while (iosched_queued(r.s) + iosched_inflight(r.s) > 0 || r.lost != 0) {
        fill_ring(&r);
        CHECK(iosched_inflight(r.s) > 0 || r.lost != 0);
        if (lose && r.calls > 100) {
            lose_one(&r);
            lose = 0;
        }
        CHECK_EQ(io_uring_wait_cqe(&r.ring, &cqe), 0);
        do {
            reap(&r, cqe);
        } while (io_uring_peek_cqe(&r.ring, &cqe) == 0);
    }
    for (unsigned i = 0; i < MANY; i++)
        CHECK_EQ(io[i].status, 0);
    CHECK_EQ(iosched_get_stats(r.s, &stats, sizeof stats), IOSCHED_OK);
    CHECK_EQ(stats.completed[IOSCHED_READ], MANY);
    CHECK_EQ(stats.queue_full, r.full);
    CHECK_EQ(stats.aborted > 0, r.late > 0);
    CHECK(stats.merged_back + stats.merged_front > 0);
    if (entries >= DEPTH) {
        CHECK_EQ(r.most, DEPTH);
        CHECK_EQ(r.full, 0);
    } else {
        CHECK(r.full > 0);
    }
    CHECK_EQ(iosched_destroy(r.s), IOSCHED_OK);
    io_uring_queue_exit(&r.ring);
    printf("    %u reads in %u calls, %u in flight, %u times full, %u late\n",
           MANY, r.calls, (unsigned)r.most, r.full, r.late);
}

int main(void)
{
    int fd = make_file();

    part("64 are in flight, and each read gets its own bytes");
    run("deadline", DEPTH, fd, 0, 0);
    run("noop", DEPTH, fd, 0, 0);
    part("a ring of 32 says no, and nothing is lost or read twice");
    run("deadline", 32, fd, 0, 0);
    run("deadline", 32, fd, 1, 0);
    part("a completion that comes after abort ends nobody else's request");
    run("deadline", DEPTH, fd, 0, 1);
    close(fd);
    return 0;
}
