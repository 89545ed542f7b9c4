/* SPDX-License-Identifier: BSD-2-Clause */
/* inbox2.c - two threads post, a third owns the scheduler.
 *
 *     client --- iosched_post() ------------> owner --- cookies ---> device
 *        ^                                    |   ^                    |
 *        +--------- slots that are free ------+   +-- post_complete() -+
 *
 * The client has an array of requests of its own and posts each slot again as
 * soon as it is told that it is free.  The device gets cookies, never a
 * request, and posts each completion once, now and then twice, which is
 * harmless.  Every request has to come out of iosched_reap() exactly once.
 *
 * Meant to be run under a thread sanitizer, too.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <iosched/inbox.h>
#include <iosched/stats.h>
#include "check.h"

#define TOTAL 200000u
#define POOL  512u              /* the client's requests                  */
#define DEPTH 32u
#define STOP  UINT64_MAX        /* no cookie, no slot                     */

/* --- A queue of numbers between two threads ------------------------------- */
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t  more;
    unsigned        head, len;
    uint64_t        at[POOL + 1];
};

static void queue_init(struct queue *q)
{
    memset(q, 0, sizeof *q);
    CHECK_EQ(pthread_mutex_init(&q->lock, NULL), 0);
    CHECK_EQ(pthread_cond_init(&q->more, NULL), 0);
}

static void queue_put(struct queue *q, uint64_t number)
{
    pthread_mutex_lock(&q->lock);
    CHECK(q->len < POOL + 1);
    q->at[(q->head + q->len++) % (POOL + 1)] = number;
    pthread_cond_signal(&q->more);
    pthread_mutex_unlock(&q->lock);
}

/** Up to max of them; waits for the first.  @return how many. */
static unsigned queue_get(struct queue *q, uint64_t *out, unsigned max)
{
    unsigned n = 0;

    pthread_mutex_lock(&q->lock);
    while (q->len == 0)
        pthread_cond_wait(&q->more, &q->lock);
    for (; n < max && q->len > 0; n++) {
        out[n] = q->at[q->head];
        q->head = (q->head + 1) % (POOL + 1);
        q->len--;
    }
    pthread_mutex_unlock(&q->lock);
    return n;
}

/* --- What wakes the owner ------------------------------------------------- */
struct bell {
    pthread_mutex_t lock;
    pthread_cond_t  rings;
    int             rung;
};

static void bell_ring(struct bell *b)
{
    pthread_mutex_lock(&b->lock);
    b->rung = 1;
    pthread_cond_signal(&b->rings);
    pthread_mutex_unlock(&b->lock);
}

static void bell_wait(struct bell *b)
{
    pthread_mutex_lock(&b->lock);
    while (!b->rung)
        pthread_cond_wait(&b->rings, &b->lock);
    b->rung = 0;
    pthread_mutex_unlock(&b->lock);
}

/* --- The three ------------------------------------------------------------ */
static struct iosched    *sched;
static struct bell        bell;
static struct queue       to_device, to_client;
static struct iosched_req io[POOL];
static unsigned           given[POOL];  /* client: how often posted       */
static unsigned           taken[POOL];  /* owner: how often reaped        */
static unsigned           twice;        /* device: completions posted twice */

static iosched_time now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return IOSCHED_SEC(t.tv_sec) + (iosched_dur)t.tv_nsec;
}

static void *client(void *unused)
{
    uint64_t seed = 1, slots[16];
    unsigned posted = 0;

    (void)unused;
    while (posted < TOTAL) {
        unsigned n = queue_get(&to_client, slots, 16);

        for (unsigned i = 0; i < n && posted < TOTAL; i++, posted++) {
            struct iosched_req *rq = &io[slots[i]];
            int woke;

            rq->lba = check_random(&seed, 100000);
            rq->nblk = 1 + check_random(&seed, 8);
            rq->op = (uint16_t)check_random(&seed, 2);
            if (check_random(&seed, 64) == 0)
                rq->nblk = 0;                   /* intake will refuse it */
            given[slots[i]]++;
            woke = iosched_post(sched, rq, now_ns());
            CHECK(woke == 0 || woke == 1);
            if (woke == 1)
                bell_ring(&bell);
        }
    }
    return NULL;
}

static void *device(void *unused)
{
    uint64_t seed = 2, cookies[DEPTH];

    (void)unused;
    for (;;) {
        unsigned n = queue_get(&to_device, cookies, DEPTH);

        while (n > 0) {                         /* in any order */
            unsigned i = check_random(&seed, n);
            int woke;

            if (cookies[i] == STOP)
                return NULL;
            woke = iosched_post_complete(sched, cookies[i],
                                         -(int)(cookies[i] % 3),
                                         now_ns());
            CHECK(woke == 0 || woke == 1);
            if (woke == 1)
                bell_ring(&bell);
            if (check_random(&seed, 32) == 0) {
                woke = iosched_post_complete(sched, cookies[i], -3,
                                             now_ns());
                CHECK(woke == 0 || woke == 1 || woke == IOSCHED_ERR_STATE);
                if (woke == 1)
                    bell_ring(&bell);
                twice++;
            }
            cookies[i] = cookies[--n];
        }
    }
}

static uint64_t cookie_of[POOL];        /* by carrier, while in flight    */

/** One turn of the owner.  @return requests reaped. */
static unsigned turn(iosched_time now, unsigned *refused)
{
    struct iosched_req *rq, *m, *next;
    unsigned reaped = 0;

    CHECK(iosched_intake(sched, now) >= 0);
    while (iosched_reap(sched, &rq) == IOSCHED_GOT) {
        int bad = rq->nblk == 0;
        int status = bad ? IOSCHED_ERR_INVAL : -(int)(cookie_of[rq - io] % 3);

        *refused += bad != 0;
        for (m = rq->first_member; m != NULL; m = next) {
            next = m->next_member;
            CHECK_EQ(m->state, IOSCHED_STATE_IDLE);
            CHECK_EQ(m->status, status);
            taken[m - io]++;
            reaped++;
            queue_put(&to_client, (uint64_t)(m - io));  /* no longer ours */
        }
    }
    CHECK(rq == NULL);
    if (now >= iosched_next_expiry(sched))
        iosched_expire(sched, now);
    while (iosched_dispatch(sched, &rq, 0, now) == IOSCHED_GOT) {
        cookie_of[rq - io] = iosched_cookie(rq);
        queue_put(&to_device, iosched_cookie(rq));
    }
    return reaped;
}

int main(void)
{
    struct iosched_cfg cfg;
    struct iosched_stats stats;
    pthread_t a, b;
    unsigned reaped = 0, refused = 0;

    part("posted by two threads, every request is reaped exactly once");
    alarm(600);                         /* one that is lost: no end otherwise */
    iosched_cfg_init(&cfg);
    cfg.depth = DEPTH;
    CHECK_EQ(iosched_create("deadline", &cfg, &sched, now_ns()), IOSCHED_OK);
    queue_init(&to_device);
    queue_init(&to_client);
    CHECK_EQ(pthread_mutex_init(&bell.lock, NULL), 0);
    CHECK_EQ(pthread_cond_init(&bell.rings, NULL), 0);
    for (unsigned i = 0; i < POOL; i++)
        queue_put(&to_client, i);
    CHECK_EQ(pthread_create(&a, NULL, client, NULL), 0);
    CHECK_EQ(pthread_create(&b, NULL, device, NULL), 0);
    for (;;) {
        reaped += turn(now_ns(), &refused);
        if (reaped == TOTAL)
            break;
        if (!iosched_inbox_pending(sched))      /* else no bell is rung */
            bell_wait(&bell);
    }
    queue_put(&to_device, STOP);
    CHECK_EQ(pthread_join(a, NULL), 0);
    CHECK_EQ(pthread_join(b, NULL), 0);
    for (unsigned i = 0; i < POOL; i++) {
        CHECK_EQ(taken[i], given[i]);
        CHECK_EQ(io[i].state, IOSCHED_STATE_IDLE);
    }
    turn(now_ns(), &refused);               /* the last of the twice */
    CHECK_EQ(iosched_inbox_pending(sched), 0);
    CHECK_EQ(iosched_queued(sched) + iosched_inflight(sched), 0);
    CHECK_EQ(iosched_get_stats(sched, &stats, sizeof stats), IOSCHED_OK);
    CHECK_EQ(stats.refused, refused);
    CHECK_EQ(stats.completed[IOSCHED_READ] + stats.completed[IOSCHED_WRITE],
             TOTAL - refused);
    CHECK_EQ(stats.inserted[IOSCHED_READ] + stats.inserted[IOSCHED_WRITE],
             TOTAL - refused);
    CHECK(refused > 1000 && twice > 1000);
    CHECK_EQ(iosched_destroy(sched), IOSCHED_OK);
    printf("    %u requests, %u refused, %u completions posted twice\n",
           reaped, refused, twice);
    return 0;
}
