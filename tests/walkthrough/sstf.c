/* SPDX-License-Identifier: BSD-2-Clause */
/* sstf.c - somebody else's policy is a full citizen.
 *
 * policy-sstf.c lies in examples/, knows installed headers only, and stands in
 * cfg.policies behind the built-in ones.  Its choices are compared with what
 * the sentence "the nearest, of two as near the older" means when it is taken
 * literally: a look at every request.
 */
#include <string.h>
#include <iosched/policy.h>
#include <iosched/stats.h>
#include "check.h"
#include "policy-sstf.h"

#define MANY     10000
#define SPAN     4000u          /* blocks; so a good deal merges          */
#define LISTED   8              /* most policies in the list              */

static const struct iosched_policy *listed[LISTED];

/** segs: most segments of a merge; 0: the default. */
static struct iosched *open_with(const char *policy, uint32_t flags,
                                 uint32_t depth, uint32_t segs,
                                 iosched_time now)
{
    const struct iosched_policy *const *built_in = iosched_builtin_policies();
    struct iosched_cfg cfg;
    struct iosched *s;
    unsigned n = 0;

    for (; built_in[n] != NULL; n++) {
        CHECK(n + 2 < LISTED);
        listed[n] = built_in[n];
    }
    listed[n] = &policy_sstf;
    iosched_cfg_init(&cfg);
    cfg.policies = listed;
    cfg.flags = flags;
    cfg.depth = depth;
    cfg.max_merge_segs = segs;
    CHECK_EQ(iosched_create(policy, &cfg, &s, now), IOSCHED_OK);
    return s;
}

/* --- The sentence, taken literally ---------------------------------------- */
static iosched_time age_of(const struct iosched_req *rq)
{
    const struct iosched_req *m;
    iosched_time since = rq->t_insert;

    for (m = rq->first_member; m != NULL; m = m->next_member)
        if (m->t_insert < since)
            since = m->t_insert;
    return since;
}

static int older(const struct iosched_req *a, const struct iosched_req *b)
{
    if (age_of(a) != age_of(b))
        return age_of(a) < age_of(b);
    return iosched_req_seq(a) < iosched_req_seq(b);
}

static struct iosched_req *naive(struct iosched_req *io, unsigned n,
                                 iosched_lba arm, iosched_dur max_wait,
                                 iosched_time now)
{
    struct iosched_req *best = NULL, *oldest = NULL;
    iosched_lba way, least = 0;

    for (unsigned i = 0; i < n; i++) {
        if (io[i].state != IOSCHED_STATE_QUEUED)
            continue;                           /* idle, or it rides */
        way = io[i].xlba > arm ? io[i].xlba - arm : arm - io[i].xlba;
        if (best == NULL || way < least ||
            (way == least && older(&io[i], best))) {
            best = &io[i];
            least = way;
        }
        if (oldest == NULL || older(&io[i], oldest))
            oldest = &io[i];
    }
    if (oldest != NULL && now - age_of(oldest) >= max_wait)
        return oldest;
    return best;
}

/** MANY random requests, some of them cancelled, in a queue that grows and
 *  shrinks; every choice is compared. */
static void compare(const char *policy, uint32_t flags, iosched_dur max_wait,
                    iosched_dur pace)
{
    enum { N = 512 };
    static struct iosched_req io[N];
    struct iosched *s = open_with(policy, flags, 1, 0, 0);
    struct iosched_req *rq, *want;
    struct iosched_stats stats;
    iosched_lba arm = 0, first = 0, last = 0;
    iosched_time now = 0;
    uint64_t seed = 42;
    unsigned inserted = 0, done = 0, cancelled = 0, by_age = 0;

    memset(io, 0, sizeof io);
    while (inserted < MANY || iosched_queued(s) > 0) {
        struct iosched_req *pick = &io[check_random(&seed, N)];
        unsigned dice = check_random(&seed, 100);
        unsigned grow = inserted % 1000 < 700 ? 60 : 30;    /* and shrink */

        now += check_random(&seed, 4) * pace;
        if (dice < grow && inserted < MANY) {
            if (pick->state != IOSCHED_STATE_IDLE)
                continue;
            pick->nblk = 1 + check_random(&seed, 8);
            switch (check_random(&seed, 4)) {
            case 0:                             /* goes on where one ended */
                pick->lba = last;
                break;
            case 1:                             /* or ends where one began */
                pick->lba = first > pick->nblk ? first - pick->nblk : 0;
                break;
            default:
                pick->lba = check_random(&seed, SPAN);
                break;
            }
            first = pick->lba;
            last = pick->lba + pick->nblk;
            pick->op = check_random(&seed, 8) ? IOSCHED_READ : IOSCHED_WRITE;
            CHECK(iosched_insert(s, pick, now) >= 0);
            inserted++;
        } else if (dice >= 98) {
            if (iosched_queued(s) == 0)
                continue;
            while (pick->state == IOSCHED_STATE_IDLE)
                pick = pick + 1 < io + N ? pick + 1 : io;
            CHECK_EQ(iosched_cancel(s, pick, now), IOSCHED_OK);
            cancelled++;
        } else {
            want = naive(io, N, arm, max_wait, now);
            if (want == NULL) {
                CHECK_EQ(iosched_dispatch(s, &rq, 0, now), IOSCHED_EMPTY);
                continue;
            }
            by_age += naive(io, N, arm, IOSCHED_NEVER, now) != want;
            CHECK_EQ(iosched_dispatch(s, &rq, 0, now), IOSCHED_GOT);
            CHECK(rq == want);
            arm = rq->xlba + rq->xnblk;
            done += rq->nmembers;
            CHECK_EQ(iosched_complete(s, rq, 0, now), IOSCHED_OK);
        }
    }
    CHECK_EQ(done + cancelled, inserted);
    CHECK_EQ(iosched_get_stats(s, &stats, sizeof stats), IOSCHED_OK);
    if (flags & IOSCHED_F_NOMERGE) {
        CHECK_EQ(stats.merged_front + stats.merged_back, 0);
    } else {
        CHECK(stats.merged_front > 500 && stats.merged_back > 500);
        CHECK(stats.dissolved > 50);
    }
    if (max_wait == IOSCHED_SEC(3600))
        CHECK_EQ(by_age, 0);
    else
        CHECK(by_age > 100);
    CHECK(stats.max_queued > 40);
    printf("    %u requests, %u merged, %u cancelled, %u by age\n", inserted,
           (unsigned)(stats.merged_front + stats.merged_back), cancelled,
           by_age);
    CHECK_EQ(iosched_destroy(s), IOSCHED_OK);
}

static void it_is_sstf(void)
{
    part("without a wait it chooses the nearest of all, the older of two");
    compare("sstf,wait=0,max_wait=3600s", IOSCHED_F_NOMERGE, IOSCHED_SEC(3600),
            IOSCHED_USEC(100));
    part("the same while requests merge and merges dissolve");
    compare("sstf,wait=0,max_wait=3600s", 0, IOSCHED_SEC(3600),
            IOSCHED_USEC(100));
    part("nobody waits longer than max_wait, merged or not");
    compare("sstf,wait=0,max_wait=20ms", IOSCHED_F_NOMERGE, IOSCHED_MSEC(20),
            IOSCHED_USEC(200));
    compare("sstf,wait=0,max_wait=20ms", 0, IOSCHED_MSEC(20),
            IOSCHED_USEC(200));
    part("the same with the merges that Linux made");
    compare("sstf,wait=0,max_wait=20ms", IOSCHED_F_COMPAT, IOSCHED_MSEC(20),
            IOSCHED_USEC(200));
    part("with a max_wait of 0 it is first come, first served");
    compare("sstf,wait=0,max_wait=0", 0, 0, IOSCHED_USEC(100));
}

/* --- In and out under load ------------------------------------------------ */
static void thousand_switches(void)
{
    enum { N = 256, DEPTH = 8 };
    static struct iosched_req io[N];
    static const char *const specs[] = { "sstf", "deadline", "sstf:patient",
                                         "noop", "sstf,wait=0" };
    struct iosched *s = open_with("deadline", 0, DEPTH, 0, 0);
    struct iosched_req *rq, *flying[DEPTH] = { NULL };
    struct iosched_stats stats;
    iosched_time now = 0;
    uint64_t seed = 7;
    unsigned long inserted = 0, done = 0;
    unsigned switches = 0, slot;

    part("switched in and out 1000 times under load, it loses nothing");
    memset(io, 0, sizeof io);
    while (switches < 1000 || iosched_queued(s) + iosched_inflight(s) > 0) {
        now += IOSCHED_USEC(50);
        for (unsigned i = 0; i < 12 && switches < 1000; i++) {
            rq = &io[check_random(&seed, N)];
            if (rq->state != IOSCHED_STATE_IDLE)
                continue;
            rq->lba = check_random(&seed, SPAN);
            rq->nblk = 1 + check_random(&seed, 8);
            rq->op = check_random(&seed, 2) ? IOSCHED_READ : IOSCHED_WRITE;
            CHECK(iosched_insert(s, rq, now) >= 0);
            inserted++;
        }
        if (switches < 1000) {
            const char *to = specs[check_random(&seed, 5)];
            uint32_t queued = iosched_queued(s), busy = iosched_inflight(s);

            CHECK_EQ(iosched_switch(s, to, now), IOSCHED_OK);
            CHECK(strncmp(to, iosched_policy_name(s),
                          strlen(iosched_policy_name(s))) == 0);
            CHECK_EQ(iosched_queued(s), queued);
            CHECK_EQ(iosched_inflight(s), busy);
            switches++;
        }
        if (now >= iosched_next_expiry(s))
            iosched_expire(s, now);
        while (iosched_dispatch(s, &rq, 0, now) == IOSCHED_GOT) {
            for (slot = 0; flying[slot] != NULL; slot++)
                CHECK(slot + 1 < DEPTH);
            flying[slot] = rq;
        }
        CHECK(iosched_queued(s) == 0 || iosched_inflight(s) > 0 ||
              iosched_next_expiry(s) != IOSCHED_NEVER);
        slot = check_random(&seed, DEPTH);
        for (unsigned i = 0; i < 3; i++, slot = (slot + 1) % DEPTH) {
            if (flying[slot] == NULL)
                continue;
            done += flying[slot]->nmembers;
            CHECK_EQ(iosched_complete(s, flying[slot], 0, now), IOSCHED_OK);
            flying[slot] = NULL;
        }
    }
    CHECK_EQ(done, inserted);
    for (unsigned i = 0; i < N; i++)
        CHECK_EQ(io[i].state, IOSCHED_STATE_IDLE);
    CHECK_EQ(iosched_get_stats(s, &stats, sizeof stats), IOSCHED_OK);
    CHECK_EQ(stats.switches, 1000);
    CHECK_EQ(iosched_destroy(s), IOSCHED_OK);
    printf("    %lu requests\n", done);
}

/* --- Names ---------------------------------------------------------------- */
static void refusals(void)
{
    static const struct { const char *spec; int err; } bad[] = {
        { "sstf:none", IOSCHED_ERR_NOENT },
        { "sstf:", IOSCHED_ERR_INVAL },
        { "sstf,patience=1", IOSCHED_ERR_NOENT },
        { "sstf,wait", IOSCHED_ERR_INVAL },
        { "sstf,wait=", IOSCHED_ERR_INVAL },
        { "sstf,wait=soon", IOSCHED_ERR_INVAL },
        { "sstf,wait=-1", IOSCHED_ERR_RANGE },
        { "sstf,wait=1001ms", IOSCHED_ERR_RANGE },
        { "sstf,max_wait=3601s", IOSCHED_ERR_RANGE },
        { "sstf,near=-5", IOSCHED_ERR_RANGE },
        { "sst", IOSCHED_ERR_NOENT },
        { "sstf2", IOSCHED_ERR_NOENT }
    };
    static const char *const names[] = { "wait", "near", "max_wait" };
    struct iosched *s = open_with("sstf:patient,near=9", 0, 1, 0, 5);
    struct iosched *none;
    struct iosched_tunable t;
    int64_t value;

    part("its preset and its tunables are set by the string");
    CHECK_EQ(iosched_tunable_get(s, "wait", &value), IOSCHED_OK);
    CHECK_EQ(value, IOSCHED_MSEC(8));
    CHECK_EQ(iosched_tunable_get(s, "near", &value), IOSCHED_OK);
    CHECK_EQ(value, 9);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(iosched_tunable_at(s, i, &t, sizeof t), IOSCHED_OK);
        CHECK(strcmp(t.name, names[i]) == 0);
    }

    part("what it does not know is refused, and nothing has changed");
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_EQ(iosched_switch(s, bad[i].spec, 6), bad[i].err);
        CHECK(strcmp(iosched_policy_name(s), "sstf") == 0);
        CHECK_EQ(iosched_tunable_get(s, "wait", &value), IOSCHED_OK);
        CHECK_EQ(value, IOSCHED_MSEC(8));
    }
    CHECK_EQ(iosched_tunable_set(s, "patience", 1, 7), IOSCHED_ERR_NOENT);
    CHECK_EQ(iosched_tunable_set(s, "wait", -1, 7), IOSCHED_ERR_RANGE);
    CHECK_EQ(iosched_tunable_set(s, "wait", (int64_t)IOSCHED_SEC(1) + 1, 7),
             IOSCHED_ERR_RANGE);
    CHECK_EQ(iosched_tunable_get(s, "wait", &value), IOSCHED_OK);
    CHECK_EQ(value, IOSCHED_MSEC(8));
    CHECK_EQ(iosched_destroy(s), IOSCHED_OK);
    CHECK_EQ(iosched_create("sstf", NULL, &none, 0), IOSCHED_ERR_NOENT);
}

/* --- Patience ------------------------------------------------------------- */
struct rig {
    struct iosched *s;
    struct iosched_stream *reader;
    struct iosched_req near, far, other;
};

/** The reader's request at 1000 has just completed, at `now`; `far` is queued.
 *  Its earlier ones took `think` until they came. */
static void set_up(struct rig *r, const char *policy, iosched_dur think,
                   iosched_time *now)
{
    struct iosched_req *rq;

    *r = (struct rig){ 0 };
    r->s = open_with(policy, 0, 2, 0, *now);
    CHECK_EQ(iosched_stream_open(r->s, NULL, &r->reader, *now), IOSCHED_OK);
    r->near.stream = r->reader;
    r->near.nblk = r->far.nblk = r->other.nblk = 8;
    r->far.lba = 900000;
    for (unsigned i = 0; i < 20; i++) {
        r->near.lba = 1000 - 40u * i;
        *now += think;
        CHECK_EQ(iosched_insert(r->s, &r->near, *now), IOSCHED_QUEUED);
        CHECK_EQ(iosched_dispatch(r->s, &rq, 0, *now), IOSCHED_GOT);
        *now += IOSCHED_MSEC(1);
        if (i == 19)
            CHECK_EQ(iosched_insert(r->s, &r->far, *now), IOSCHED_QUEUED);
        CHECK_EQ(iosched_complete(r->s, rq, 0, *now), IOSCHED_OK);
    }
}

static void tear_down(struct rig *r, iosched_time now)
{
    struct iosched_req *rq;

    while (iosched_dispatch(r->s, &rq, IOSCHED_DISPATCH_FORCE, now) ==
           IOSCHED_GOT)
        CHECK_EQ(iosched_complete(r->s, rq, 0, now), IOSCHED_OK);
    CHECK_EQ(iosched_queued(r->s), 0);
    CHECK_EQ(iosched_destroy(r->s), IOSCHED_OK);
}

/** The next to go is `want`; NULL: a HOLD that will end. */
static void expect(struct rig *r, unsigned flags,
                   const struct iosched_req *want, iosched_time now)
{
    struct iosched_req *rq;

    CHECK_EQ(iosched_dispatch(r->s, &rq, flags, now),
             want != NULL ? IOSCHED_GOT : IOSCHED_HOLD);
    CHECK(rq == want);
    if (want != NULL)
        CHECK_EQ(iosched_complete(r->s, rq, 0, now), IOSCHED_OK);
    else
        CHECK(iosched_next_expiry(r->s) != IOSCHED_NEVER ||
              iosched_inflight(r->s) > 0);
}

static void what_ends_a_wait(void)
{
    struct rig r;
    iosched_time now = 0;

    part("the wait ends with the stream's next request, wherever that is");
    set_up(&r, "sstf", IOSCHED_USEC(300), &now);
    expect(&r, 0, NULL, now);
    CHECK_EQ(iosched_may_queue(r.s, r.reader, IOSCHED_READ, 0, now),
             IOSCHED_MAY);
    r.near.lba = 700000;
    now += IOSCHED_USEC(300);
    CHECK_EQ(iosched_insert(r.s, &r.near, now), IOSCHED_QUEUED);
    expect(&r, 0, &r.near, now);                /* it is nearer than `far` */
    tear_down(&r, now);

    part("the wait ends when its time is over");
    set_up(&r, "sstf", IOSCHED_USEC(300), &now);
    expect(&r, 0, NULL, now);
    CHECK_EQ(iosched_next_expiry(r.s), now + IOSCHED_MSEC(2));
    now += IOSCHED_MSEC(2) - 1;
    CHECK_EQ(iosched_expire(r.s, now), 0);
    expect(&r, 0, NULL, now);
    now += 1;
    CHECK_EQ(iosched_expire(r.s, now), 1);
    expect(&r, 0, &r.far, now);
    tear_down(&r, now);

    part("something near is served in the meantime");
    set_up(&r, "sstf", IOSCHED_USEC(300), &now);
    expect(&r, 0, NULL, now);
    r.other.lba = r.near.lba + 8 + 64;          /* exactly `near` away */
    CHECK_EQ(iosched_insert(r.s, &r.other, now), IOSCHED_QUEUED);
    expect(&r, 0, &r.other, now);
    tear_down(&r, now);

    part("something that is just not near has to wait");
    set_up(&r, "sstf", IOSCHED_USEC(300), &now);
    r.other.lba = r.near.lba + 8 + 65;
    CHECK_EQ(iosched_insert(r.s, &r.other, now), IOSCHED_QUEUED);
    expect(&r, 0, NULL, now);
    tear_down(&r, now);

    part("a wait does not make anybody older than max_wait");
    set_up(&r, "sstf,max_wait=1500us", IOSCHED_USEC(300), &now);
    expect(&r, 0, NULL, now);
    CHECK_EQ(iosched_next_expiry(r.s), now + IOSCHED_USEC(1500));
    now += IOSCHED_USEC(1500);
    CHECK_EQ(iosched_expire(r.s, now), 1);
    expect(&r, 0, &r.far, now);
    tear_down(&r, now);

    part("FORCE does not wait");
    set_up(&r, "sstf", IOSCHED_USEC(300), &now);
    expect(&r, 0, NULL, now);
    expect(&r, IOSCHED_DISPATCH_FORCE, &r.far, now);
    tear_down(&r, now);

    part("a stream that is closed or has yielded is not waited for");
    set_up(&r, "sstf", IOSCHED_USEC(300), &now);
    expect(&r, 0, NULL, now);
    CHECK_EQ(iosched_stream_close(r.reader, now), IOSCHED_OK);
    CHECK_EQ(iosched_next_expiry(r.s), IOSCHED_NEVER);
    expect(&r, 0, &r.far, now);
    tear_down(&r, now);
    set_up(&r, "sstf", IOSCHED_USEC(300), &now);
    expect(&r, 0, NULL, now);
    CHECK_EQ(iosched_stream_yield(r.reader, NULL, now), IOSCHED_OK);
    expect(&r, 0, &r.far, now);
    tear_down(&r, now);

    part("a wait that is set to 0 is over at once");
    set_up(&r, "sstf", IOSCHED_USEC(300), &now);
    expect(&r, 0, NULL, now);
    CHECK_EQ(iosched_tunable_set(r.s, "wait", 0, now), IOSCHED_OK);
    expect(&r, 0, &r.far, now);
    tear_down(&r, now);

    part("a switch to another policy ends the wait, timer and all");
    set_up(&r, "sstf", IOSCHED_USEC(300), &now);
    expect(&r, 0, NULL, now);
    CHECK_EQ(iosched_switch(r.s, "noop", now), IOSCHED_OK);
    CHECK_EQ(iosched_next_expiry(r.s), IOSCHED_NEVER);
    expect(&r, 0, &r.far, now);
    tear_down(&r, now);

    part("who thinks longer than the wait is not waited for, but may learn");
    set_up(&r, "sstf", IOSCHED_MSEC(3), &now);
    expect(&r, 0, &r.far, now);
    tear_down(&r, now);
    set_up(&r, "sstf:patient", IOSCHED_MSEC(3), &now);
    expect(&r, 0, NULL, now);
    tear_down(&r, now);
    set_up(&r, "sstf", IOSCHED_MSEC(3), &now);
    for (unsigned i = 0; i < 20; i++) {
        now += IOSCHED_USEC(10);
        CHECK_EQ(iosched_insert(r.s, &r.near, now), IOSCHED_QUEUED);
        expect(&r, 0, &r.near, now);
    }
    expect(&r, 0, NULL, now);
    tear_down(&r, now);
}

static void no_wait_at_all(void)
{
    struct rig r;
    struct iosched_req *rq;
    iosched_time now = 0;

    part("who has asked for his next already is not waited for");
    set_up(&r, "sstf", IOSCHED_USEC(300), &now);
    expect(&r, 0, NULL, now);
    r.other.stream = r.reader;
    r.other.lba = 800000;
    CHECK_EQ(iosched_insert(r.s, &r.other, now), IOSCHED_QUEUED);
    CHECK_EQ(iosched_insert(r.s, &r.near, now), IOSCHED_QUEUED);
    expect(&r, 0, &r.near, now);
    expect(&r, 0, &r.other, now);
    tear_down(&r, now);

    part("nor is who has another one in flight");
    set_up(&r, "sstf", IOSCHED_USEC(300), &now);
    r.other.stream = r.reader;
    CHECK_EQ(iosched_insert(r.s, &r.near, now), IOSCHED_QUEUED);
    CHECK_EQ(iosched_insert(r.s, &r.other, now), IOSCHED_QUEUED);
    CHECK_EQ(iosched_dispatch(r.s, &rq, 0, now), IOSCHED_GOT);
    CHECK(rq == &r.near);
    CHECK_EQ(iosched_dispatch(r.s, &rq, 0, now), IOSCHED_GOT);
    CHECK(rq == &r.other);
    CHECK_EQ(iosched_complete(r.s, &r.near, 0, now), IOSCHED_OK);
    expect(&r, 0, &r.far, now);
    CHECK_EQ(iosched_complete(r.s, &r.other, 0, now), IOSCHED_OK);
    tear_down(&r, now);

    part("a long break is no reason not to wait the next time");
    set_up(&r, "sstf,max_wait=3600s", IOSCHED_USEC(300), &now);
    now += IOSCHED_SEC(1);
    CHECK_EQ(iosched_insert(r.s, &r.near, now), IOSCHED_QUEUED);
    expect(&r, 0, &r.near, now);
    expect(&r, 0, NULL, now);
    tear_down(&r, now);

    part("nobody waits for a write that nobody waits for");
    set_up(&r, "sstf", IOSCHED_USEC(300), &now);
    r.near.op = IOSCHED_WRITE;
    CHECK_EQ(iosched_insert(r.s, &r.near, now), IOSCHED_QUEUED);
    expect(&r, 0, &r.near, now);
    expect(&r, 0, &r.far, now);
    tear_down(&r, now);
}

/** w[0] and w[1] fill a merge; with w[0] gone w[1] meets w[2], and what they
 *  make is as old as w[1]. */
static void older_meets_younger(uint32_t flags)
{
    struct iosched *s = open_with("sstf,wait=0,max_wait=10ms", flags, 1, 2, 0);
    struct iosched_req w[3] = { { 0 }, { 0 }, { 0 } }, decoy = { 0 }, *rq;

    part("a merge is as old as its oldest member, whoever carries it");
    for (unsigned i = 0; i < 3; i++) {
        w[i].op = IOSCHED_WRITE;
        w[i].lba = 1000 + 8 * i;
        w[i].nblk = 8;
    }
    decoy.op = IOSCHED_WRITE;
    decoy.nblk = 8;
    CHECK_EQ(iosched_insert(s, &w[0], 0), IOSCHED_QUEUED);
    CHECK_EQ(iosched_insert(s, &w[1], IOSCHED_MSEC(1)), IOSCHED_MERGED_BACK);
    CHECK_EQ(iosched_insert(s, &decoy, IOSCHED_MSEC(4)), IOSCHED_QUEUED);
    CHECK_EQ(iosched_insert(s, &w[2], IOSCHED_MSEC(5)), IOSCHED_QUEUED);
    CHECK_EQ(iosched_cancel(s, &w[0], IOSCHED_MSEC(6)), IOSCHED_OK);
    CHECK(iosched_carrier(&w[1]) == iosched_carrier(&w[2]));
    CHECK_EQ(iosched_dispatch(s, &rq, 0, IOSCHED_MSEC(11)), IOSCHED_GOT);
    CHECK_EQ(rq->xlba, 1008);                   /* not the decoy, at 0 */
    CHECK_EQ(rq->nmembers, 2);
    CHECK_EQ(iosched_complete(s, rq, 0, IOSCHED_MSEC(11)), IOSCHED_OK);
    CHECK_EQ(iosched_dispatch(s, &rq, 0, IOSCHED_MSEC(11)), IOSCHED_GOT);
    CHECK_EQ(iosched_complete(s, rq, 0, IOSCHED_MSEC(11)), IOSCHED_OK);
    CHECK_EQ(iosched_destroy(s), IOSCHED_OK);
}

int main(void)
{
    it_is_sstf();
    older_meets_younger(0);
    older_meets_younger(IOSCHED_F_COMPAT);
    thousand_switches();
    refusals();
    what_ends_a_wait();
    no_wait_at_all();
    return 0;
}
