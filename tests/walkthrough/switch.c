/* SPDX-License-Identifier: BSD-2-Clause */
/* switch.c - change policy under load: nothing is lost, drained or made
 * younger; a switch that fails has not happened.
 *
 * 100,000 requests with 32 in flight, and another policy after every 100.
 */
#include <string.h>
#include <iosched/policy.h>
#include <iosched/stats.h>
#include <iosched/tunable.h>
#include "check.h"
#include "policy-sstf.h"

#define DEPTH  32u
#define POOL   400u
#define TOTAL  100000u
#define PERIOD 100u
#define COMPLETE 3u             /* at most, of DEPTH, in a turn           */

struct my_io {
    struct iosched_req rq;
    iosched_time       born;    /* when it was inserted                   */
    uint64_t           seq;     /* its arrival number                     */
    unsigned           ends;    /* times it completed since               */
};

static struct my_io io[POOL];
static const struct iosched_policy *listed[8];

static struct iosched *open_with(const char *policy,
                                 void (*trace)(void *user,
                                               const struct iosched_event *ev),
                                 void *user)
{
    const struct iosched_policy *const *built_in = iosched_builtin_policies();
    struct iosched_cfg cfg;
    struct iosched *s;
    unsigned n = 0;

    for (; built_in[n] != NULL; n++) {
        CHECK(n < 6);
        listed[n] = built_in[n];
    }
    listed[n] = &policy_sstf;
    iosched_cfg_init(&cfg);
    cfg.policies = listed;
    cfg.depth = DEPTH;
    cfg.trace = trace;
    cfg.user = user;
    CHECK_EQ(iosched_create(policy, &cfg, &s, 0), IOSCHED_OK);
    return s;
}

static void put_in(struct iosched *s, struct my_io *of, uint64_t *seed,
                   iosched_time now)
{
    struct iosched_req *rq = &of->rq;

    rq->lba = check_random(seed, 20000);
    rq->nblk = 1 + check_random(seed, 16);
    rq->op = check_random(seed, 3) != 0 ? IOSCHED_READ : IOSCHED_WRITE;
    CHECK(iosched_insert(s, rq, now) >= 0);
    of->born = now;
    of->seq = iosched_req_seq(rq);
    of->ends = 0;
}

/** Every member is one that was queued, at its own age. */
static void look_at(const struct iosched_req *carrier)
{
    const struct iosched_req *m;
    unsigned n = 0;

    for (m = carrier->first_member; m != NULL; m = m->next_member, n++) {
        const struct my_io *of = &io[0];

        while (&of->rq != m)
            CHECK(++of < io + POOL);
        CHECK_EQ(m->t_insert, of->born);
        CHECK_EQ(iosched_req_seq(m), of->seq);
        CHECK_EQ(of->ends, 0);
    }
    CHECK_EQ(n, carrier->nmembers);
}

static unsigned take_out(struct iosched *s, struct iosched_req *carrier,
                         iosched_time now)
{
    struct iosched_req *m;
    unsigned n = 0;

    look_at(carrier);
    CHECK_EQ(iosched_complete(s, carrier, 0, now), IOSCHED_OK);
    for (m = carrier->first_member; m != NULL; m = m->next_member, n++)
        CHECK_EQ(++iosched_container_of(m, struct my_io, rq)->ends, 1);
    return n;
}

static void on_event(void *user, const struct iosched_event *ev)
{
    unsigned *switches = user;

    if (ev->action == IOSCHED_EV_SWITCH)
        (*switches)++;
}

static void under_load(void)
{
    static const char *const specs[] = { "noop", "deadline", "sstf",
                                         "deadline,read_expire=20ms",
                                         "sstf:patient" };
    struct iosched_req *flying[DEPTH] = { NULL }, *rq;
    struct iosched_stats stats;
    unsigned inserted = 0, done = 0, switches = 0, full = 0, seen = 0, slot;
    unsigned deepest = 0;
    iosched_time now = 0;
    uint64_t seed = 12;
    struct iosched *s = open_with("noop", on_event, &seen);

    part("switched after every 100 of 100000 requests, it loses none");
    while (inserted < TOTAL || iosched_queued(s) + iosched_inflight(s) > 0) {
        now += IOSCHED_USEC(100);
        for (unsigned i = 0; i < 8 && inserted < TOTAL; i++) {
            struct my_io *of = &io[check_random(&seed, POOL)];

            if (of->rq.state != IOSCHED_STATE_IDLE)
                continue;
            put_in(s, of, &seed, now);
            if (++inserted % PERIOD == 0) {
                uint32_t queued = iosched_queued(s);
                uint32_t busy = iosched_inflight(s);

                switches++;
                CHECK_EQ(iosched_switch(s, specs[switches % 5], now),
                         IOSCHED_OK);
                CHECK_EQ(iosched_queued(s), queued);
                CHECK_EQ(iosched_inflight(s), busy);
                full += busy + COMPLETE >= DEPTH;
                deepest = queued > deepest ? queued : deepest;
            }
        }
        if (now >= iosched_next_expiry(s))
            iosched_expire(s, now);
        while (iosched_dispatch(s, &rq, 0, now) == IOSCHED_GOT) {
            look_at(rq);
            for (slot = 0; flying[slot] != NULL; slot++)
                CHECK(slot + 1 < DEPTH);
            flying[slot] = rq;
        }
        CHECK(iosched_queued(s) == 0 || iosched_inflight(s) > 0 ||
              iosched_next_expiry(s) != IOSCHED_NEVER);
        for (unsigned i = 0; i < COMPLETE; i++) {   /* in any order */
            slot = check_random(&seed, DEPTH);
            if (flying[slot] == NULL)
                continue;
            if (check_random(&seed, 50) == 0) {
                CHECK_EQ(iosched_requeue(s, flying[slot], now), IOSCHED_OK);
            } else {
                done += take_out(s, flying[slot], now);
            }
            flying[slot] = NULL;
        }
    }
    CHECK_EQ(done, TOTAL);
    CHECK_EQ(switches, TOTAL / PERIOD);
    CHECK_EQ(seen, switches);
    CHECK(full > 500);                          /* it was under load */
    CHECK(deepest > 50);
    for (unsigned i = 0; i < POOL; i++)
        CHECK_EQ(io[i].rq.state, IOSCHED_STATE_IDLE);
    CHECK_EQ(iosched_get_stats(s, &stats, sizeof stats), IOSCHED_OK);
    CHECK_EQ(stats.switches, switches);
    CHECK_EQ(stats.completed[IOSCHED_READ] + stats.completed[IOSCHED_WRITE],
             TOTAL);
    CHECK(stats.merged_back > 0 && stats.merged_front > 0);
    CHECK(stats.requeued > 100);
    CHECK_EQ(iosched_destroy(s), IOSCHED_OK);
    printf("    %u switches, %u of them with %u or more in flight, up to %u "
           "queued\n", switches, full, DEPTH - COMPLETE, deepest);
}

/* --- Order ---------------------------------------------------------------- */
static void in_order_of_arrival(void)
{
    struct iosched *s = open_with("sstf", NULL, NULL);
    struct iosched_req *rq, *back[2];
    iosched_time now = 0;
    uint64_t seed = 5, last = 0;

    part("after a switch to noop they come in the order they arrived in");
    memset(io, 0, sizeof io);
    for (unsigned i = 0; i < 200; i++) {
        io[i].rq.flags = IOSCHED_RQ_NOMERGE;
        put_in(s, &io[i], &seed, now += IOSCHED_USEC(10));
    }
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQ(iosched_dispatch(s, &back[i], 0, now), IOSCHED_GOT);
    CHECK_EQ(iosched_switch(s, "deadline", now), IOSCHED_OK);
    CHECK_EQ(iosched_switch(s, "noop", now), IOSCHED_OK);
    for (unsigned i = 2; i-- > 0;)
        CHECK_EQ(iosched_requeue(s, back[i], now), IOSCHED_OK);
    for (unsigned i = 0; i < 200; i++) {
        CHECK_EQ(iosched_dispatch(s, &rq, 0, now), IOSCHED_GOT);
        if (i < 2) {                            /* emitted before: still so */
            CHECK(rq == back[i]);
        } else {
            CHECK(iosched_req_seq(rq) > last || i == 2);
            last = iosched_req_seq(rq);
        }
        take_out(s, rq, now);
    }
    CHECK_EQ(iosched_destroy(s), IOSCHED_OK);

    part("after a switch a deadline counts from when the request came");
    s = open_with("noop", NULL, NULL);
    memset(io, 0, sizeof io);
    now = 0;
    io[0].rq.lba = 10;                          /* behind the sweep */
    io[0].rq.nblk = 8;
    CHECK_EQ(iosched_insert(s, &io[0].rq, now), IOSCHED_QUEUED);
    now = IOSCHED_MSEC(450);
    for (unsigned i = 1; i < 100; i++) {
        io[i].rq.lba = 1000u * i;
        io[i].rq.nblk = 8;
        CHECK_EQ(iosched_insert(s, &io[i].rq, now), IOSCHED_QUEUED);
    }
    CHECK_EQ(iosched_switch(s, "sstf,max_wait=500ms", now), IOSCHED_OK);
    CHECK_EQ(iosched_dispatch(s, &rq, 0, now), IOSCHED_GOT);
    CHECK(rq == &io[0].rq);                     /* nearest to 0 */
    CHECK_EQ(iosched_requeue(s, rq, now), IOSCHED_OK);
    CHECK_EQ(iosched_dispatch(s, &rq, 0, now), IOSCHED_GOT);
    CHECK(rq == &io[0].rq);
    CHECK_EQ(iosched_complete(s, rq, 0, now), IOSCHED_OK);
    io[0].rq.lba = 90000;                       /* the farthest, and oldest */
    io[0].rq.flags = 0;
    for (unsigned i = 1; i < 100; i++)
        CHECK_EQ(iosched_cancel(s, &io[i].rq, now), IOSCHED_OK);
    CHECK_EQ(iosched_insert(s, &io[0].rq, now), IOSCHED_QUEUED);
    now += IOSCHED_MSEC(499);
    for (unsigned i = 1; i < 89; i++)
        CHECK_EQ(iosched_insert(s, &io[i].rq, now), IOSCHED_QUEUED);
    CHECK_EQ(iosched_switch(s, "deadline", now), IOSCHED_OK);
    CHECK_EQ(iosched_switch(s, "sstf,max_wait=500ms", now), IOSCHED_OK);
    CHECK_EQ(iosched_dispatch(s, &rq, 0, now), IOSCHED_GOT);
    CHECK(rq == &io[1].rq);                     /* the nearest to 0: 1000 */
    CHECK_EQ(iosched_complete(s, rq, 0, now), IOSCHED_OK);
    now += IOSCHED_MSEC(1);
    CHECK_EQ(iosched_dispatch(s, &rq, 0, now), IOSCHED_GOT);
    CHECK(rq == &io[0].rq);                     /* 500 ms, two switches ago */
    CHECK_EQ(iosched_complete(s, rq, 0, now), IOSCHED_OK);
    while (iosched_dispatch(s, &rq, IOSCHED_DISPATCH_FORCE, now) ==
           IOSCHED_GOT)
        CHECK_EQ(iosched_complete(s, rq, 0, now), IOSCHED_OK);
    CHECK_EQ(iosched_destroy(s), IOSCHED_OK);
}

/* --- A switch that fails -------------------------------------------------- */
struct text { size_t len; char at[64 * 1024]; };

static int to_text(void *user, const char *text, size_t len)
{
    struct text *t = user;

    if (len > sizeof t->at - t->len)
        return -1;
    memcpy(t->at + t->len, text, len);
    t->len += len;
    return 0;
}

static void failed_switches(void)
{
    static const struct { const char *spec; int err; } bad[] = {
        { "cfg", IOSCHED_ERR_NOENT },
        { "", IOSCHED_ERR_INVAL },
        { "deadline:1.0", IOSCHED_ERR_NOENT },
        { "deadline,", IOSCHED_ERR_INVAL },
        { "deadline,read_expire", IOSCHED_ERR_INVAL },
        { "deadline,read_expire=-1", IOSCHED_ERR_RANGE },
        { "deadline,read_expire=1x", IOSCHED_ERR_INVAL },
        { "deadline,writes_starved=2,foo=1", IOSCHED_ERR_NOENT },
        { "noop,read_expire=1ms", IOSCHED_ERR_NOENT },
        { "sstf,wait=1ms,max_wait=9999s", IOSCHED_ERR_RANGE },
        { NULL, IOSCHED_ERR_INVAL }
    };
    static struct text before, after;
    static struct iosched_stats was, is;
    struct iosched *s = open_with("sstf,near=5", NULL, NULL);
    struct iosched_req *flying[4], *rq;
    iosched_time now = 0;
    uint64_t seed = 3;
    int64_t near;

    part("a switch that fails has changed nothing");
    memset(io, 0, sizeof io);
    for (unsigned i = 0; i < 100; i++)
        put_in(s, &io[i], &seed, now += IOSCHED_USEC(10));
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQ(iosched_dispatch(s, &flying[i], 0, now), IOSCHED_GOT);
    CHECK_EQ(iosched_dump(s, to_text, &before, now), 0);
    CHECK(before.len > 1000);
    CHECK_EQ(iosched_get_stats(s, &was, sizeof was), IOSCHED_OK);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_EQ(iosched_switch(s, bad[i].spec, now), bad[i].err);
        CHECK(strcmp(iosched_policy_name(s), "sstf") == 0);
        CHECK_EQ(iosched_tunable_get(s, "near", &near), IOSCHED_OK);
        CHECK_EQ(near, 5);
        after.len = 0;
        CHECK_EQ(iosched_dump(s, to_text, &after, now), 0);
        CHECK_EQ(after.len, before.len);
        CHECK(memcmp(after.at, before.at, before.len) == 0);
        CHECK_EQ(iosched_get_stats(s, &is, sizeof is), IOSCHED_OK);
        CHECK(memcmp(&is, &was, sizeof is) == 0);
    }
    CHECK_EQ(iosched_switch(s, "deadline", IOSCHED_NEVER), IOSCHED_ERR_INVAL);
    CHECK_EQ(iosched_switch(NULL, "deadline", now), IOSCHED_ERR_INVAL);
    for (unsigned i = 0; i < 4; i++)
        take_out(s, flying[i], now);
    while (iosched_dispatch(s, &rq, IOSCHED_DISPATCH_FORCE, now) ==
           IOSCHED_GOT)
        take_out(s, rq, now += IOSCHED_MSEC(1));
    for (unsigned i = 0; i < 100; i++)
        CHECK_EQ(io[i].ends, 1);
    CHECK_EQ(iosched_destroy(s), IOSCHED_OK);

    part("NO_SWITCH answers NOTSUP and goes on");
    {
        struct iosched_cfg cfg;

        iosched_cfg_init(&cfg);
        cfg.flags = IOSCHED_F_NO_SWITCH;
        CHECK_EQ(iosched_create("deadline", &cfg, &s, now), IOSCHED_OK);
        CHECK_EQ(iosched_switch(s, "noop", now), IOSCHED_ERR_NOTSUP);
        CHECK(strcmp(iosched_policy_name(s), "deadline") == 0);
        CHECK_EQ(iosched_destroy(s), IOSCHED_OK);
    }
}

int main(void)
{
    under_load();
    in_order_of_arrival();
    failed_switches();
    return 0;
}
