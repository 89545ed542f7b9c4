/* SPDX-License-Identifier: BSD-2-Clause */
/* loop.c - eight reads, one disk arm, virtual time: in what order? */
#include <stdio.h>
#include <iosched/iosched.h>

static const iosched_lba where[8] = { 700, 20, 640, 90, 310, 15, 900, 300 };

int main(void)
{
    static struct iosched_req reads[8];         /* zero: valid and idle */
    struct iosched_req *rq, *serving = NULL;
    struct iosched_cfg cfg;
    struct iosched *s;
    iosched_time now = 0, done = IOSCHED_NEVER; /* when the arm is free */
    iosched_lba arm = 0;

    iosched_cfg_init(&cfg);                     /* depth 1: one at a time */
    if (iosched_create("deadline", &cfg, &s, now) != IOSCHED_OK)
        return 1;
    for (int i = 0; i < 8; i++) {               /* arrivals */
        reads[i].lba = where[i];
        reads[i].nblk = 8;
        if (iosched_insert(s, &reads[i], now) < 0)
            return 1;
    }
    for (;;) {
        if (now >= done) {
            iosched_complete(s, serving, 0, now);
            done = IOSCHED_NEVER;
        }
        if (now >= iosched_next_expiry(s))
            iosched_expire(s, now);
        while (iosched_dispatch(s, &rq, 0, now) == IOSCHED_GOT) {
            iosched_lba way = rq->xlba > arm ? rq->xlba - arm : arm - rq->xlba;

            printf("%6.2f ms: block %u\n", (double)now / 1e6,
                   (unsigned)rq->xlba);
            serving = rq;                       /* 2 ms, and 10 us a block */
            done = now + IOSCHED_MSEC(2) + IOSCHED_USEC(10) * way;
            arm = rq->xlba + rq->xnblk;
        }
        now = iosched_next_expiry(s);           /* "sleep" until a timer ... */
        if (done < now)
            now = done;                         /* ... or the device */
        if (now == IOSCHED_NEVER)
            break;                              /* neither: all is done */
    }
    return iosched_destroy(s) == IOSCHED_OK ? 0 : 1;
}
