/* SPDX-License-Identifier: BSD-2-Clause */
/* cancel.c - take a request out of a merge; then lose a completion.
 *
 * Writes meet: 0-7, 8-15, 16-23.  One of them is cancelled, and the others go
 * on, together if they still touch.  Then one never comes back from the device,
 * and does so at last, too late.
 */
#include <iosched/iosched.h>
#include <iosched/stats.h>
#include "check.h"

struct rig {
    struct iosched *s;
    struct iosched_req w[3];            /* w[0] carries w[1] and w[2] */
    iosched_time now;
};

static void set_up(struct rig *r, const char *policy)
{
    *r = (struct rig){ 0 };
    CHECK_EQ(iosched_create(policy, NULL, &r->s, r->now), IOSCHED_OK);
    for (unsigned i = 0; i < 3; i++) {
        r->w[i].op = IOSCHED_WRITE;
        r->w[i].lba = 8u * i;
        r->w[i].nblk = 8;
        r->now = IOSCHED_MSEC(i);
        CHECK_EQ(iosched_insert(r->s, &r->w[i], r->now),
                 i == 0 ? IOSCHED_QUEUED : IOSCHED_MERGED_BACK);
    }
    CHECK(iosched_carrier(&r->w[1]) == &r->w[0]);
    CHECK(iosched_carrier(&r->w[2]) == &r->w[0]);
    CHECK_EQ(r->w[0].nmembers, 3);
    CHECK_EQ(r->w[0].xnblk, 24);
    CHECK_EQ(iosched_queued(r->s), 3);
    r->now = IOSCHED_MSEC(10);
}

/** w[i] was cancelled: it is the caller's, at once and untouched. */
static void ours_again(struct rig *r, unsigned i)
{
    CHECK_EQ(r->w[i].state, IOSCHED_STATE_IDLE);
    CHECK_EQ(r->w[i].lba, 8 * i);
    CHECK_EQ(r->w[i].nblk, 8);
    CHECK(iosched_carrier(&r->w[i]) == NULL);
    CHECK_EQ(iosched_cancel(r->s, &r->w[i], r->now), IOSCHED_ERR_STATE);
}

/** Next come w[first] and nmembers - 1 after it; all go back, done. */
static void goes_next(struct rig *r, unsigned first, unsigned nmembers)
{
    struct iosched_req *rq, *m;
    unsigned n = 0;

    CHECK_EQ(iosched_dispatch(r->s, &rq, 0, r->now), IOSCHED_GOT);
    CHECK(rq == &r->w[first]);
    CHECK_EQ(rq->nmembers, nmembers);
    CHECK_EQ(rq->xlba, 8 * first);
    CHECK_EQ(rq->xnblk, 8 * nmembers);
    for (m = rq->first_member; m != NULL; m = m->next_member, n++) {
        CHECK(m == &r->w[first + n]);
        CHECK_EQ(m->t_insert, IOSCHED_MSEC(first + n));
    }
    CHECK_EQ(n, nmembers);
    r->now += IOSCHED_MSEC(1);
    CHECK_EQ(iosched_complete(r->s, rq, -5, r->now), IOSCHED_OK);
    for (n = 0; n < nmembers; n++) {
        CHECK_EQ(r->w[first + n].state, IOSCHED_STATE_IDLE);
        CHECK_EQ(r->w[first + n].status, -5);
    }
}

static void tear_down(struct rig *r)
{
    struct iosched_req *rq;

    CHECK_EQ(iosched_dispatch(r->s, &rq, 0, r->now), IOSCHED_EMPTY);
    CHECK_EQ(iosched_queued(r->s), 0);
    CHECK_EQ(iosched_destroy(r->s), IOSCHED_OK);
}

/** front: the policy looks for those that begin where another ends. */
static void cancel_each(const char *policy, int front)
{
    struct rig r;

    part("cancel of the middle leaves two that no longer touch");
    set_up(&r, policy);
    CHECK_EQ(iosched_cancel(r.s, &r.w[1], r.now), IOSCHED_OK);
    ours_again(&r, 1);
    CHECK_EQ(iosched_queued(r.s), 2);
    CHECK_EQ(r.w[0].nmembers, 1);
    CHECK_EQ(r.w[2].nmembers, 1);
    goes_next(&r, 0, 1);
    goes_next(&r, 2, 1);
    tear_down(&r);

    part("cancel of the carrier leaves two that still do");
    set_up(&r, policy);
    CHECK_EQ(iosched_cancel(r.s, &r.w[0], r.now), IOSCHED_OK);
    ours_again(&r, 0);
    CHECK_EQ(iosched_queued(r.s), 2);
    CHECK(iosched_carrier(&r.w[2]) == &r.w[1]);
    goes_next(&r, 1, 2);
    tear_down(&r);

    part("cancel of the last member leaves the first two merged");
    set_up(&r, policy);
    CHECK_EQ(iosched_cancel(r.s, &r.w[2], r.now), IOSCHED_OK);
    ours_again(&r, 2);
    CHECK(iosched_carrier(&r.w[1]) == &r.w[0]);
    goes_next(&r, 0, 2);
    tear_down(&r);

    part("what was cancelled may come again, younger, and merges again");
    set_up(&r, policy);
    CHECK_EQ(iosched_cancel(r.s, &r.w[1], r.now), IOSCHED_OK);
    CHECK_EQ(iosched_insert(r.s, &r.w[1], r.now), IOSCHED_MERGED_BACK);
    CHECK_EQ(r.w[0].nmembers, front ? 3 : 2);   /* w[2] meets their end */
    CHECK_EQ(r.w[0].xnblk, front ? 24 : 16);
    CHECK_EQ(r.w[1].t_insert, r.now);
    CHECK_EQ(iosched_cancel(r.s, &r.w[1], r.now), IOSCHED_OK);
    CHECK_EQ(iosched_cancel(r.s, &r.w[0], r.now), IOSCHED_OK);
    CHECK_EQ(iosched_cancel(r.s, &r.w[2], r.now), IOSCHED_OK);
    tear_down(&r);
}

static void first_is_not_the_carrier(const char *policy, int front)
{
    struct rig r = { 0 };

    part("cancel of the first member, which rides, leaves its carrier");
    CHECK_EQ(iosched_create(policy, NULL, &r.s, 0), IOSCHED_OK);
    for (unsigned i = 0; i < 3; i++) {
        r.w[i].op = IOSCHED_WRITE;
        r.w[i].lba = 8u * i;
        r.w[i].nblk = 8;
    }
    CHECK_EQ(iosched_insert(r.s, &r.w[1], IOSCHED_MSEC(1)), IOSCHED_QUEUED);
    CHECK_EQ(iosched_insert(r.s, &r.w[2], IOSCHED_MSEC(2)),
             IOSCHED_MERGED_BACK);
    r.now = IOSCHED_MSEC(10);
    CHECK_EQ(iosched_insert(r.s, &r.w[0], r.now),
             front ? IOSCHED_MERGED_FRONT : IOSCHED_QUEUED);
    if (front) {
        CHECK_EQ(r.w[1].xlba, 0);
        CHECK_EQ(r.w[1].nmembers, 3);
        CHECK(r.w[1].first_member == &r.w[0]);
        CHECK(r.w[0].first_member == NULL);
    }
    CHECK_EQ(iosched_cancel(r.s, &r.w[0], r.now), IOSCHED_OK);
    ours_again(&r, 0);
    CHECK(iosched_carrier(&r.w[2]) == &r.w[1]);
    goes_next(&r, 1, 2);
    tear_down(&r);
}

static void cancel_requeued(const char *policy)
{
    struct rig r;
    struct iosched_req *rq;

    for (unsigned out = 0; out < 3; out++) {
        part("cancel of a member of a carrier that the device gave back");
        set_up(&r, policy);
        CHECK_EQ(iosched_dispatch(r.s, &rq, 0, r.now), IOSCHED_GOT);
        for (unsigned i = 0; i < 3; i++)        /* in flight: no way */
            CHECK_EQ(iosched_cancel(r.s, &r.w[i], r.now), IOSCHED_ERR_STATE);
        CHECK_EQ(iosched_requeue(r.s, rq, r.now), IOSCHED_OK);
        CHECK_EQ(iosched_inflight(r.s), 0);
        CHECK_EQ(iosched_queued(r.s), 3);
        CHECK_EQ(iosched_dispatch(r.s, &rq, 0, r.now), IOSCHED_GOT);
        CHECK(rq == &r.w[0] && rq->nmembers == 3);  /* it would be next */
        CHECK_EQ(iosched_requeue(r.s, rq, r.now), IOSCHED_OK);
        CHECK_EQ(iosched_cancel(r.s, &r.w[out], r.now), IOSCHED_OK);
        ours_again(&r, out);
        CHECK_EQ(iosched_queued(r.s), 2);
        if (out == 1) {
            goes_next(&r, 0, 1);
            goes_next(&r, 2, 1);
        } else {
            goes_next(&r, out == 0 ? 1 : 0, 2);
        }
        tear_down(&r);
    }

    part("cancel of all of a carrier that the device gave back");
    set_up(&r, policy);
    CHECK_EQ(iosched_dispatch(r.s, &rq, 0, r.now), IOSCHED_GOT);
    CHECK_EQ(iosched_requeue(r.s, rq, r.now), IOSCHED_OK);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQ(iosched_cancel(r.s, &r.w[i], r.now), IOSCHED_OK);
    tear_down(&r);
}

/* --- A lost completion ---------------------------------------------------- */
static void lost(const char *policy)
{
    struct rig r;
    struct iosched_req *rq;
    uint64_t cookie, again;
    int32_t tag;

    part("an aborted request is ours, its slot is not");
    set_up(&r, policy);
    CHECK_EQ(iosched_cancel(r.s, &r.w[1], r.now), IOSCHED_OK);
    CHECK_EQ(iosched_dispatch(r.s, &rq, 0, r.now), IOSCHED_GOT);
    CHECK(rq == &r.w[0]);
    cookie = iosched_cookie(rq);                /* what the device was told */
    tag = rq->tag;
    CHECK(iosched_find(r.s, cookie) == rq);
    r.now = IOSCHED_SEC(30);                    /* and not a word from it */
    CHECK_EQ(iosched_abort(r.s, rq, r.now), IOSCHED_OK);
    CHECK_EQ(r.w[0].state, IOSCHED_STATE_IDLE);
    CHECK_EQ(r.w[0].tag, tag);
    CHECK_EQ(iosched_dispatch(r.s, &rq, 0, r.now), IOSCHED_FULL);
    CHECK_EQ(iosched_destroy(r.s), IOSCHED_ERR_BUSY);

    part("the late completion is recognised, even with the memory gone");
    CHECK(iosched_find(r.s, cookie) == NULL);
    CHECK_EQ(iosched_complete(r.s, &r.w[0], 0, r.now), IOSCHED_ERR_STATE);
    CHECK_EQ(iosched_abort(r.s, &r.w[0], r.now), IOSCHED_ERR_STATE);
    CHECK_EQ(iosched_tag_release(r.s, tag, r.now), IOSCHED_OK);
    CHECK_EQ(iosched_tag_release(r.s, tag, r.now), IOSCHED_ERR_STATE);
    CHECK_EQ(iosched_dispatch(r.s, &rq, 0, r.now), IOSCHED_GOT);
    CHECK(rq == &r.w[2]);
    again = iosched_cookie(rq);
    CHECK_EQ(rq->tag, tag);                     /* the same slot ... */
    CHECK(again != cookie);                     /* ... but not the same time */
    CHECK(iosched_find(r.s, cookie) == NULL);
    CHECK(iosched_find(r.s, again) == rq);
    CHECK_EQ(iosched_complete(r.s, rq, 0, r.now), IOSCHED_OK);
    CHECK(iosched_find(r.s, again) == NULL);
    tear_down(&r);
}

/* --- At random ------------------------------------------------------------ */
static void at_random(const char *policy)
{
    enum { N = 64, DEPTH = 4 };
    static struct iosched_req io[N];
    static iosched_time born[N];
    struct iosched_req *flying[DEPTH] = { NULL }, *m;
    struct iosched_stats stats;
    struct iosched_cfg cfg;
    struct iosched *s;
    uint64_t seed = 99;
    iosched_time now = 0;
    unsigned long inserted = 0, cancelled = 0, done = 0;

    part("with cancels and give-backs at random, nothing is lost");
    for (unsigned i = 0; i < N; i++)
        io[i] = (struct iosched_req){ 0 };
    iosched_cfg_init(&cfg);
    cfg.depth = DEPTH;
    CHECK_EQ(iosched_create(policy, &cfg, &s, now), IOSCHED_OK);
    for (unsigned long step = 0; step < 60000 || inserted > cancelled + done;
         step++) {
        unsigned i = check_random(&seed, N), slot = i % DEPTH;
        unsigned dice = check_random(&seed, 8);

        now += IOSCHED_USEC(10);
        if (now >= iosched_next_expiry(s))
            iosched_expire(s, now);
        if (dice < 3 && step < 60000) {
            if (io[i].state != IOSCHED_STATE_IDLE)
                continue;
            io[i].lba = check_random(&seed, 64);
            io[i].nblk = 1 + check_random(&seed, 4);
            io[i].op = (uint16_t)(check_random(&seed, 4) != 0);
            CHECK(iosched_insert(s, &io[i], now) >= 0);
            born[i] = now;
            inserted++;
        } else if (dice < 5) {
            int queued = io[i].state == IOSCHED_STATE_QUEUED ||
                         (io[i].state == IOSCHED_STATE_ABSORBED &&
                          iosched_carrier(&io[i])->state ==
                          IOSCHED_STATE_QUEUED);

            CHECK_EQ(iosched_cancel(s, &io[i], now),
                     queued ? IOSCHED_OK : IOSCHED_ERR_STATE);
            cancelled += queued != 0;
        } else if (flying[slot] == NULL) {
            if (iosched_dispatch(s, &flying[slot], 0, now) != IOSCHED_GOT)
                continue;
            for (m = flying[slot]->first_member; m != NULL; m = m->next_member)
                CHECK_EQ(m->t_insert, born[m - io]);
        } else if (dice == 7) {
            CHECK_EQ(iosched_requeue(s, flying[slot], now), IOSCHED_OK);
            flying[slot] = NULL;
        } else {
            done += flying[slot]->nmembers;
            CHECK_EQ(iosched_complete(s, flying[slot], 0, now), IOSCHED_OK);
            flying[slot] = NULL;
        }
    }
    CHECK_EQ(cancelled + done, inserted);
    CHECK_EQ(iosched_queued(s), 0);
    CHECK_EQ(iosched_get_stats(s, &stats, sizeof stats), IOSCHED_OK);
    CHECK_EQ(stats.cancelled, cancelled);
    CHECK(stats.dissolved > 100 && stats.requeued > 1000);
    CHECK_EQ(iosched_destroy(s), IOSCHED_OK);
    printf("    %lu requests, %lu cancelled, %u merges dissolved\n", inserted,
           cancelled, (unsigned)stats.dissolved);
}

int main(void)
{
    static const char *const policies[] = { "deadline", "noop" };

    for (unsigned i = 0; i < 2; i++) {
        printf("%s:\n", policies[i]);
        cancel_each(policies[i], i == 0);
        first_is_not_the_carrier(policies[i], i == 0);
        cancel_requeued(policies[i]);
        lost(policies[i]);
        at_random(policies[i]);
    }
    return 0;
}
