/* SPDX-License-Identifier: BSD-2-Clause */
/* rawdisk.c - a disk, io_uring and any policy: who waits how long?
 *
 * Streams with a queue depth of their own want more than the device is given
 * at once; the library picks what goes next.  run() is the loop drawn in
 * <iosched/iosched.h>; issue() and finish() are all there is between the
 * library and the kernel.
 */
#define _GNU_SOURCE             /* O_DIRECT, statx */
#include <liburing.h>
#include <iosched/iosched.h>
#include <iosched/stats.h>
#include "rawdisk-options.h"

#define MAX_SEGS 64u            /* most buffers in a merged request       */

struct stream {
    const char *name;
    int         op, random;
    uint32_t    queue;          /* most that it has outstanding           */
    uint16_t    ioprio;
    struct iosched_stream *handle;
    uint64_t    first, count;   /* its region, in requests                */
    uint64_t    asked;          /* requests; those done: times.count      */
    iosched_time last;          /* when the latest was done               */
    struct times times;         /* from insert to completion              */
};

struct slot {                   /* one request and its buffer             */
    struct iosched_req rq;
    struct stream *owner;       /* NULL: the flush at the end             */
    struct slot   *next_free;
    void          *buf;
};

struct disk {
    struct options  opt;
    struct target   target;
    struct iosched *sched;
    struct io_uring ring;
    struct iovec   *iov;        /* MAX_SEGS for each tag                  */
    struct slot    *slots, *free, flush;
    void           *bufs;
    iosched_time    start, stop, looked;
    double          depth_ns;   /* requests at the device, times ns       */
    double          mean_depth; /* without the flush at the end           */
    uint64_t        seed;       /* of the data that is written            */
    uint64_t        errors;
};

static struct stream streams[] = {
    { "random-reader",     IOSCHED_READ,  1, 32, IOSCHED_PRIO_DEFAULT },
    { "sequential-reader", IOSCHED_READ,  0, 16, IOSCHED_PRIO_DEFAULT },
    { "sequential-writer", IOSCHED_WRITE, 0, 16,
      IOSCHED_PRIO(IOSCHED_PRIO_BE, 6) },       /* with --write only */
};

/* --- Setting up ----------------------------------------------------------- */
static void open_streams(struct disk *d, size_t nstreams)
{
    size_t block = d->opt.block, stride = (block + 4095) & ~(size_t)4095;
    uint64_t all = d->target.capacity, quarter = d->opt.write ? all / 4 : 0;
    size_t nslots = 0;

    for (struct stream *st = streams; st < streams + nstreams; st++) {
        struct iosched_stream_opts so = { sizeof so, .ioprio = st->ioprio };

        must(iosched_stream_open(d->sched, &so, &st->handle, d->start));
        st->first = st->op == IOSCHED_WRITE ? all - quarter : 0;
        st->count = st->op == IOSCHED_WRITE ? quarter : all - quarter;
        nslots += st->queue;
    }
    d->slots = calloc(nslots, sizeof *d->slots);
    d->iov = calloc((size_t)d->opt.depth * MAX_SEGS, sizeof *d->iov);
    d->bufs = alloc_aligned(&d->target, nslots * stride);
    if (d->slots == NULL || d->iov == NULL)
        die(EXIT_IO, "out of memory");
    for (size_t i = 0; i < nslots; i++) {
        d->slots[i].buf = (char *)d->bufs + i * stride;
        d->slots[i].next_free = d->free;
        d->free = &d->slots[i];
    }
}

static void set_up(struct disk *d, size_t nstreams)
{
    struct iosched_cfg cfg;
    int err;

    open_target(&d->target, &d->opt);
    err = io_uring_queue_init(d->opt.depth + 1, &d->ring, 0);
    if (err < 0)
        die(EXIT_IO, "the kernel refuses io_uring: %s", strerror(-err));
    d->start = d->looked = clock_now();
    d->stop = d->opt.runtime ? d->start + d->opt.runtime : IOSCHED_NEVER;
    d->seed = mix(d->start);            /* stale data cannot pass for ours */
    iosched_cfg_init(&cfg);
    cfg.block_size = d->target.bsize;
    cfg.capacity_nblk = d->target.capacity * (d->opt.block / cfg.block_size);
    cfg.depth = d->opt.depth;
    cfg.max_merge_segs = MAX_SEGS;
    err = iosched_create(d->opt.policy, &cfg, &d->sched, d->start);
    if (err < 0)
        die(EXIT_USAGE, "--policy %s: %s", d->opt.policy,
            iosched_strerror(err));
    open_streams(d, nstreams);
}

/* --- Between streams, library and kernel ---------------------------------- */
static void feed(struct disk *d, struct stream *st, iosched_time now)
{
    uint32_t nblk = d->opt.block / d->target.bsize;

    while (st->asked < d->opt.requests &&
           st->asked - st->times.count < st->queue) {
        struct slot *sl = d->free;
        uint64_t n = st->random ? mix(st->asked) : st->asked;

        n = st->first + n % st->count;
        d->free = sl->next_free;
        sl->owner = st;
        sl->rq.lba = n * nblk;
        sl->rq.nblk = nblk;
        sl->rq.op = (uint16_t)st->op;
        sl->rq.stream = st->handle;
        if (st->op == IOSCHED_WRITE)
            fill_data(sl->buf, d->opt.block, n * d->opt.block, d->seed);
        must(iosched_insert(d->sched, &sl->rq, now));
        st->asked++;
    }
}

static void issue(struct disk *d, struct iosched_req *rq, iosched_time now)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&d->ring);
    struct iovec *iov = d->iov + (size_t)rq->tag * MAX_SEGS;
    uint64_t at = rq->xlba * d->target.bsize;
    unsigned n = 0;

    if (sqe == NULL) {                  /* the ring is full: later, then */
        must(iosched_queue_full(d->sched, rq, now));
        return;
    }
    for (struct iosched_req *m = rq->first_member; m; m = m->next_member) {
        iov[n].iov_base = iosched_container_of(m, struct slot, rq)->buf;
        iov[n++].iov_len = d->opt.block;
    }
    if (rq->phase != IOSCHED_PHASE_DATA)
        io_uring_prep_fsync(sqe, d->target.fd, IORING_FSYNC_DATASYNC);
    else if (rq->op == IOSCHED_WRITE)
        io_uring_prep_writev(sqe, d->target.fd, iov, n, at);
    else
        io_uring_prep_readv(sqe, d->target.fd, iov, n, at);
    sqe->user_data = iosched_cookie(rq);
}

static void complain(struct disk *d, const struct iosched_req *rq, int res)
{
    const char *what = rq->phase != IOSCHED_PHASE_DATA ? "flush" :
                       rq->op == IOSCHED_WRITE ? "write" : "read";

    if (res == -EINVAL && !d->opt.buffered)
        die(EXIT_IO, NO_DIRECT, d->opt.target);
    if (d->errors++ == 0)               /* the first says enough */
        fprintf(stderr, "rawdisk: %s: %s of %u blocks at %llu: %s\n",
                d->opt.target, what, rq->xnblk, (unsigned long long)rq->xlba,
                res < 0 ? strerror(-res) : "came out short");
}

static void finish(struct disk *d, uint64_t cookie, int res, iosched_time now)
{
    struct iosched_req *rq = iosched_find(d->sched, cookie), *m;
    int data = rq != NULL && rq->phase == IOSCHED_PHASE_DATA;

    if (rq == NULL)
        die(EXIT_IO, "a completion that nobody waits for");
    if (res < 0 || (data && (uint32_t)res != rq->xnblk * d->target.bsize)) {
        complain(d, rq, res);
        res = res < 0 ? res : -EIO;
    }
    must(iosched_complete(d->sched, rq, res < 0 ? res : 0, now));
    for (m = rq->first_member; m != NULL; m = m->next_member) {
        struct slot *sl = iosched_container_of(m, struct slot, rq);
        struct stream *st = sl->owner;

        if (st == NULL)
            continue;
        st->last = now;
        times_add(&st->times, now - m->t_insert);
        sl->next_free = d->free;
        d->free = sl;
    }
}

static void sleep_till(struct disk *d, iosched_time expiry)
{
    iosched_time now = clock_now();
    iosched_dur left = expiry > now ? expiry - now : 0;
    struct __kernel_timespec ts = { (long long)(left / IOSCHED_SEC(1)),
                                    (long long)(left % IOSCHED_SEC(1)) };
    struct io_uring_cqe *cqe;
    int err;

    if (expiry == IOSCHED_NEVER && iosched_inflight(d->sched) == 0)
        die(EXIT_IO, "held back for ever: a bug in the policy");
    err = io_uring_wait_cqe_timeout(&d->ring, &cqe,
                                    expiry == IOSCHED_NEVER ? NULL : &ts);
    if (err < 0 && err != -ETIME && err != -EINTR)
        die(EXIT_IO, "io_uring: %s", strerror(-err));
}

/** Until all that was asked for is done.  Streams ask until time is up, and
 *  no more after an error. */
static void run(struct disk *d, size_t nstreams)
{
    struct io_uring_cqe *cqe;
    struct iosched_req *rq;

    for (;;) {
        iosched_time now = clock_now();

        d->depth_ns += iosched_inflight(d->sched) * (double)(now - d->looked);
        d->looked = now;
        while (io_uring_peek_cqe(&d->ring, &cqe) == 0) {
            finish(d, cqe->user_data, cqe->res, now);
            io_uring_cqe_seen(&d->ring, cqe);
        }
        if (now >= iosched_next_expiry(d->sched))
            must(iosched_expire(d->sched, now));
        for (size_t i = 0; i < nstreams && now < d->stop && !d->errors; i++)
            feed(d, &streams[i], now);
        while (must(iosched_dispatch(d->sched, &rq, 0, now)) == IOSCHED_GOT)
            issue(d, rq, now);
        if (iosched_queued(d->sched) + iosched_inflight(d->sched) == 0)
            return;
        while (io_uring_sq_ready(&d->ring) > 0) {
            int err = io_uring_submit(&d->ring);

            if (err < 0 && err != -EINTR)
                die(EXIT_IO, "io_uring: %s", strerror(-err));
        }
        sleep_till(d, iosched_next_expiry(d->sched));
    }
}

/* --- The answer ----------------------------------------------------------- */
static void report(const struct disk *d, size_t nstreams, int right)
{
    const char *verified = !d->opt.verify ? "-" : right ? "yes" : "no";
    struct iosched_stats stats;

    print_heading(&d->opt);
    for (struct stream *st = streams; st < streams + nstreams; st++)
        print_stream(&d->opt, st->name, &st->times,
                     st->times.count > 0 ? st->last - d->start : 0,
                     st->op == IOSCHED_WRITE ? verified : "-");
    must(iosched_get_stats(d->sched, &stats, sizeof stats));
    if (!d->opt.csv)
        printf("merges %llu, mean depth %.1f of %u, held %.3f ms\n",
               (unsigned long long)(stats.merged_back + stats.merged_front),
               d->mean_depth, d->opt.depth, (double)stats.held / 1e6);
}

int main(int argc, char **argv)
{
    static struct disk d;
    struct stream *writer = &streams[2];
    size_t nstreams;
    int right = 1;

    parse_options(&d.opt, argc, argv);
    nstreams = d.opt.write ? 3 : 2;
    set_up(&d, nstreams);
    run(&d, nstreams);
    d.mean_depth = d.depth_ns / (double)(d.looked - d.start);
    if (d.opt.write) {                  /* durable, before it is compared */
        d.stop = 0;
        d.flush.rq.op = IOSCHED_FLUSH;
        must(iosched_insert(d.sched, &d.flush.rq, clock_now()));
        run(&d, nstreams);
    }
    if (d.opt.verify) {
        uint64_t n = writer->times.count, at = writer->first;

        n = n < writer->count ? n : writer->count;
        right = d.errors == 0 &&
                data_is_right(&d.target, &d.opt, at * d.opt.block,
                              (at + n) * d.opt.block, d.seed);
    }
    report(&d, nstreams, right);
    must(iosched_destroy(d.sched));
    io_uring_queue_exit(&d.ring);
    close(d.target.fd);
    free(d.slots);
    free(d.iov);
    free(d.bufs);
    return right && d.errors == 0 ? EXIT_SUCCESS : EXIT_IO;
}
