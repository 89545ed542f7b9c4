/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.c - a 32-bit counter wraps while the scheduler waits for a stream.
 *
 * 1 MHz, so it wraps every 71 minutes.  A reader's request completes 2 ms
 * before the wrap; the policy waits up to 6 ms for its next one, which comes
 * 1 ms after the wrap.  Then the reader stays away, and the sleep until the
 * wait is over goes across a wrap as well.
 */
#include <iosched/iosched.h>
#include "check.h"
#include "policy-sstf.h"

static const struct iosched_policy *const policies[] = { &policy_sstf, NULL };

static uint32_t counter;                        /* us */
static struct iosched_clock32 wall;

static iosched_time tick(uint32_t us)
{
    counter += us;                              /* wraps, as hardware does */
    return iosched_clock32_extend(&wall, counter);
}

struct rig {
    struct iosched_req near[2], far;
    struct iosched_stream *reader, *other;
    struct iosched *s;
};

/** A reader's first request is in flight at `us` before the wrap, and another
 *  stream's, far away, is queued.  The answer is now. */
static iosched_time set_up(struct rig *r, uint32_t us)
{
    struct iosched_cfg cfg;
    struct iosched_req *rq;
    iosched_time now;

    *r = (struct rig){ 0 };
    wall = (struct iosched_clock32){ 0, 0, 1000 };
    counter = UINT32_MAX - us + 1;
    now = tick(0);
    CHECK_EQ(iosched_cfg_init(&cfg), IOSCHED_OK);
    cfg.policies = policies;
    CHECK_EQ(iosched_create("sstf,wait=6ms", &cfg, &r->s, now), IOSCHED_OK);
    CHECK_EQ(iosched_stream_open(r->s, NULL, &r->reader, now), IOSCHED_OK);
    CHECK_EQ(iosched_stream_open(r->s, NULL, &r->other, now), IOSCHED_OK);
    for (unsigned i = 0; i < 2; i++) {
        r->near[i].stream = r->reader;
        r->near[i].lba = 1000 + 16u * i;
        r->near[i].nblk = 8;
    }
    r->far.stream = r->other;
    r->far.lba = 900000;
    r->far.nblk = 8;
    CHECK_EQ(iosched_insert(r->s, &r->near[0], now), IOSCHED_QUEUED);
    CHECK_EQ(iosched_dispatch(r->s, &rq, 0, now), IOSCHED_GOT);
    CHECK(rq == &r->near[0]);
    CHECK_EQ(iosched_insert(r->s, &r->far, now), IOSCHED_QUEUED);
    return now;
}

static void finish(struct rig *r, struct iosched_req *rq, iosched_time now)
{
    CHECK_EQ(iosched_complete(r->s, rq, 0, now), IOSCHED_OK);
    CHECK_EQ(iosched_destroy(r->s), IOSCHED_OK);
}

static void comes_after_the_wrap(void)
{
    struct rig r;
    struct iosched_req *rq;
    iosched_time now, until;
    uint32_t alarm;

    part("a wait that is under way goes on across the wrap of the counter");
    set_up(&r, 10000);
    now = tick(8000);                           /* 2 ms before the wrap */
    CHECK_EQ(iosched_complete(r.s, &r.near[0], 0, now), IOSCHED_OK);
    CHECK_EQ(iosched_dispatch(r.s, &rq, 0, now), IOSCHED_HOLD);
    until = iosched_next_expiry(r.s);           /* 64 bits: no wrap in sight */
    CHECK_EQ(until - now, IOSCHED_MSEC(6));
    alarm = iosched_clock32_alarm(&wall, until);
    CHECK(alarm < counter);                     /* it is after the wrap */
    CHECK_EQ((uint32_t)(alarm - counter), 6000);

    now = tick(3000);                           /* 1 ms after the wrap */
    CHECK(counter < 10000);
    CHECK(now < until);
    CHECK_EQ(iosched_dispatch(r.s, &rq, 0, now), IOSCHED_HOLD);
    CHECK_EQ(iosched_next_expiry(r.s), until);
    CHECK_EQ(iosched_insert(r.s, &r.near[1], now), IOSCHED_QUEUED);
    CHECK_EQ(iosched_dispatch(r.s, &rq, 0, now), IOSCHED_GOT);
    CHECK(rq == &r.near[1]);
    now = tick(500);
    CHECK_EQ(iosched_complete(r.s, rq, 0, now), IOSCHED_OK);

    part("a second wait, after the wrap, ends when its alarm goes off");
    CHECK_EQ(iosched_dispatch(r.s, &rq, 0, now), IOSCHED_HOLD);
    until = iosched_next_expiry(r.s);
    now = tick(iosched_clock32_alarm(&wall, until) - counter);
    CHECK_EQ(now, until);
    CHECK_EQ(iosched_expire(r.s, now), 1);
    CHECK_EQ(iosched_dispatch(r.s, &rq, 0, now), IOSCHED_GOT);
    CHECK(rq == &r.far);
    finish(&r, rq, tick(9000));
}

static void sleeps_across_the_wrap(void)
{
    struct rig r;
    struct iosched_req *rq;
    iosched_time now, until;
    unsigned naps = 0;
    int got;

    part("a sleep across the wrap ends on time, whatever wakes it in between");
    set_up(&r, 6000);
    now = tick(4000);
    CHECK_EQ(iosched_complete(r.s, &r.near[0], 0, now), IOSCHED_OK);
    until = now + IOSCHED_MSEC(6);
    while ((got = iosched_dispatch(r.s, &rq, 0, now)) == IOSCHED_HOLD) {
        uint32_t left = iosched_clock32_alarm(&wall, iosched_next_expiry(r.s)) -
                        counter;

        CHECK(left > 0 && left <= 6000);
        now = tick(left > 700 ? 700 : left);    /* something else, early */
        CHECK_EQ(iosched_expire(r.s, now), now >= until);
        naps++;
    }
    CHECK_EQ(got, IOSCHED_GOT);
    CHECK(rq == &r.far);
    CHECK_EQ(now, until);
    CHECK_EQ(naps, 9);                          /* 8 of 700 us, one of 400 */
    CHECK(counter == 4000);                     /* past the wrap */
    finish(&r, rq, tick(9000));
}

static void long_idle(void)
{
    struct rig r;
    struct iosched_req *rq;
    iosched_time now, start;
    unsigned naps = 0;

    part("with no timer armed the alarm is half a wrap away: none is missed");
    start = set_up(&r, 1000);
    now = tick(100);
    CHECK_EQ(iosched_complete(r.s, &r.near[0], 0, now), IOSCHED_OK);
    CHECK_EQ(iosched_dispatch(r.s, &rq, IOSCHED_DISPATCH_FORCE, now),
             IOSCHED_GOT);
    CHECK_EQ(iosched_complete(r.s, rq, 0, now), IOSCHED_OK);
    CHECK_EQ(iosched_next_expiry(r.s), IOSCHED_NEVER);
    while (now - start < IOSCHED_SEC(4 * 3600)) {
        uint32_t nap = iosched_clock32_alarm(&wall, IOSCHED_NEVER) - counter;

        CHECK_EQ(nap, UINT32_C(1) << 31);
        now = tick(nap);
        naps++;
    }
    CHECK_EQ(now - start, IOSCHED_USEC(100) +
             (uint64_t)naps * IOSCHED_USEC(UINT32_C(1) << 31));
    CHECK_EQ(iosched_insert(r.s, &r.near[1], now), IOSCHED_QUEUED);
    CHECK_EQ(iosched_dispatch(r.s, &rq, 0, now), IOSCHED_GOT);
    finish(&r, rq, tick(500));
}

int main(void)
{
    comes_after_the_wrap();
    sleeps_across_the_wrap();
    long_idle();
    return 0;
}
