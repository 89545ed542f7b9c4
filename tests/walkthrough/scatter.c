/* SPDX-License-Identifier: BSD-2-Clause */
/* scatter.c - one pwritev or preadv for a merge: an iovec from its members.
 *
 * Each request keeps its own buffers.  The library promises that no merge has
 * more than cfg.max_merge_segs segments, so the array below cannot overflow,
 * and that members come in ascending order without gaps, so the vector covers
 * the extent xlba .. xlba + xnblk - 1 from end to end.  A file stands for the
 * disk; it is compared byte for byte.
 */
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <iosched/iosched.h>
#include <iosched/stats.h>
#include "check.h"

#define BLOCK    512u
#define BLOCKS   4096u
#define MAX_SEGS 32u
#define MAX_PART 3u             /* buffers a request has                  */
#define MANY     700u

struct my_io {
    struct iosched_req rq;
    struct iovec       part[MAX_PART];
    int                error;   /* as finish() found it; 1: not yet       */
};

static unsigned char image[BLOCKS * BLOCK];     /* what the file has to hold */
static unsigned char memory[BLOCKS * BLOCK];    /* where the buffers lie     */
static struct my_io  io[MANY];
static unsigned      largest;                   /* most segments in a call   */

/** The carrier's data in one call.  @return 0 or -5. */
static int issue(const struct iosched_req *carrier, int fd)
{
    struct iovec v[MAX_SEGS];
    struct iosched_req *m;
    size_t want = (size_t)carrier->xnblk * BLOCK;
    off_t where = (off_t)(carrier->xlba * BLOCK);
    iosched_lba next = carrier->xlba;
    ssize_t got;
    int n = 0;

    for (m = carrier->first_member; m != NULL; m = m->next_member) {
        struct my_io *of = iosched_container_of(m, struct my_io, rq);

        CHECK_EQ(m->lba, next);                 /* ascending, without gaps */
        CHECK_EQ(m->op, carrier->op);
        next += m->nblk;
        for (unsigned i = 0; i < m->nseg; i++) {
            CHECK(n < (int)MAX_SEGS);
            v[n++] = of->part[i];
        }
    }
    CHECK_EQ(next, carrier->xlba + carrier->xnblk);
    if ((unsigned)n > largest)
        largest = (unsigned)n;
    got = carrier->op == IOSCHED_WRITE ? pwritev(fd, v, n, where) :
                                         preadv(fd, v, n, where);
    return got >= 0 && (size_t)got == want ? 0 : -5;
}

static void finish(struct iosched_req *carrier)
{
    struct iosched_req *m, *next;

    for (m = carrier->first_member; m != NULL; m = next) {
        struct my_io *of = iosched_container_of(m, struct my_io, rq);

        next = m->next_member;                  /* before `of` is freed */
        CHECK_EQ(m->state, IOSCHED_STATE_IDLE);
        of->error = m->status;                  /* the carrier's, copied */
    }
}

/** All of io[], cut as they are, in an order of `seed`. */
static unsigned transfer(unsigned op, unsigned n, int fd, uint64_t seed)
{
    static unsigned order[MANY];
    struct iosched_cfg cfg;
    struct iosched_req *rq;
    struct iosched_stats stats;
    struct iosched *s;
    iosched_time now = 0;
    unsigned calls = 0, k = 0;

    iosched_cfg_init(&cfg);
    cfg.max_merge_segs = MAX_SEGS;
    cfg.capacity_nblk = BLOCKS;
    CHECK_EQ(iosched_create("deadline", &cfg, &s, now), IOSCHED_OK);
    for (unsigned i = 0; i < n; i++) {          /* shuffled */
        unsigned at = check_random(&seed, i + 1);

        order[i] = order[at];
        order[at] = i;
    }
    while (k < n || iosched_queued(s) > 0) {
        for (unsigned i = 0; i < 40 && k < n; i++) {
            struct my_io *next = &io[order[k++]];

            next->rq.op = (uint16_t)op;
            next->error = 1;
            CHECK(iosched_insert(s, &next->rq, now) >= 0);
        }
        for (unsigned i = 0; i < 8; i++) {
            int status;

            if (iosched_dispatch(s, &rq, 0, now) != IOSCHED_GOT)
                break;
            status = issue(rq, fd);
            calls++;
            now += IOSCHED_MSEC(5);
            CHECK_EQ(iosched_complete(s, rq, status, now), IOSCHED_OK);
            finish(rq);
        }
    }
    for (unsigned i = 0; i < n; i++)
        CHECK_EQ(io[i].error, 0);
    CHECK_EQ(iosched_get_stats(s, &stats, sizeof stats), IOSCHED_OK);
    CHECK_EQ(stats.dispatches, calls);
    CHECK_EQ(stats.merged_back + stats.merged_front + calls, n);
    CHECK_EQ(iosched_destroy(s), IOSCHED_OK);
    return calls;
}

/** The whole of the device, cut into requests, each into 1..3 segments whose
 *  buffers lie in memory[] in another order than on the disk. */
static unsigned cut(uint64_t seed)
{
    unsigned n = 0;
    uint32_t lba = 0;

    while (lba < BLOCKS) {
        struct iosched_req *rq = &io[n].rq;
        uint32_t nblk = 1 + check_random(&seed, 12);
        size_t from, len, first;

        CHECK(n < MANY);
        if (nblk > BLOCKS - lba)
            nblk = BLOCKS - lba;
        io[n] = (struct my_io){ .error = 1 };
        rq->lba = lba;
        rq->nblk = nblk;
        rq->nseg = (uint16_t)(1 + check_random(&seed, MAX_PART));
        from = (size_t)(BLOCKS - lba - nblk) * BLOCK;   /* from the end */
        len = (size_t)nblk * BLOCK;
        for (unsigned i = 0; i < rq->nseg; i++) {       /* of odd lengths */
            first = i + 1u == rq->nseg ? len :
                    1 + check_random(&seed, (uint32_t)len / 2);
            io[n].part[i] = (struct iovec){ memory + from, first };
            from += first;
            len -= first;
        }
        lba += nblk;
        n++;
    }
    return n;
}

/** Copy between image[] (by place on the disk) and the buffers. */
static void fill(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const unsigned char *p = image + io[i].rq.lba * BLOCK;

        for (unsigned k = 0; k < io[i].rq.nseg; k++) {
            memcpy(io[i].part[k].iov_base, p, io[i].part[k].iov_len);
            p += io[i].part[k].iov_len;
        }
    }
}

static void compare(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const unsigned char *p = image + io[i].rq.lba * BLOCK;

        for (unsigned k = 0; k < io[i].rq.nseg; k++) {
            CHECK(memcmp(io[i].part[k].iov_base, p,
                         io[i].part[k].iov_len) == 0);
            p += io[i].part[k].iov_len;
        }
    }
}

int main(void)
{
    static unsigned char whole[BLOCKS * BLOCK];
    char name[] = "scatter-XXXXXX";
    uint64_t seed = 2026;
    unsigned n, calls;
    int fd = mkstemp(name);

    part("a file in the current folder can be made");
    CHECK(fd >= 0);
    unlink(name);
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (unsigned char)check_random(&seed, 256);

    for (unsigned round = 0; round < 8; round++) {
        part("writes that merged land where each of them belongs");
        n = cut(seed + round);
        fill(n);
        CHECK_EQ(ftruncate(fd, 0), 0);
        largest = 0;
        calls = transfer(IOSCHED_WRITE, n, fd, seed * 3 + round);
        printf("    %u requests, %u calls of up to %u segments\n", n, calls,
               largest);
        CHECK(calls < n && largest > MAX_PART);
        CHECK_EQ(pread(fd, whole, sizeof whole, 0), sizeof whole);
        CHECK(memcmp(whole, image, sizeof image) == 0);

        part("reads that merged bring each of them its own bytes");
        n = cut(seed * 7 + round);              /* cut otherwise */
        memset(memory, 0, sizeof memory);
        calls = transfer(IOSCHED_READ, n, fd, seed * 5 + round);
        CHECK(calls < n);
        compare(n);
    }
    close(fd);
    return 0;
}
