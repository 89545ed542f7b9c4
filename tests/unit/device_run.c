/* SPDX-License-Identifier: BSD-2-Clause */
/* device_run.c - the device model in time: estimates, accounting, power cuts,
 * the trace, chance; long random runs, and a naive model as their referee.
 */
#include <stdio.h>
#include <stdlib.h>
#include "device_box.h"
#include "rng.h"

#define ALL_FLAGS 0x1fu

/* A command that is valid, of a device of at least 1 << 12 blocks. */
static struct iosched_cmd random_cmd(uint64_t *rng, unsigned flags)
{
    static const uint8_t ops[] = {
        IOSCHED_READ, IOSCHED_READ, IOSCHED_READ, IOSCHED_WRITE, IOSCHED_WRITE,
        IOSCHED_ZEROES, IOSCHED_DISCARD, IOSCHED_FLUSH,
    };
    struct iosched_cmd c = { .lba = rng_below(rng, 4000) };

    c.op = ops[rng_below(rng, LEN(ops))];
    c.nblk = c.op == IOSCHED_FLUSH ? 0 : 1 + rng_below(rng, 64);
    if (rng_below(rng, 4) == 0)
        c.flags = (uint16_t)(1u << rng_below(rng, 5));
    c.flags &= (uint16_t)flags;
    if (c.op != IOSCHED_WRITE && c.op != IOSCHED_ZEROES)
        c.flags &= (uint16_t)~IOSCHED_CMD_FUA;
    return c;
}

/* --- Estimates ------------------------------------------------------------ */
START_TEST(an_estimate_moves_nothing_and_comes_true)
{
    static const char *const models[] = {
        "null", "linear", "linear:flat", RULER ",policy=sstf",
    };
    static struct box b, before;
    size_t i;
    int k;

    for (i = 0; i < LEN(models); i++) {
        struct iosched_device *d = build(&b, models[i]);
        uint64_t rng = 7 + i;
        iosched_time now = 0;

        for (k = 0; k < 2000; k++) {
            struct iosched_cmd c = random_cmd(&rng, 0);
            struct iosched_access a;
            struct iosched_done e;
            iosched_dur ns;

            now += rng_below(&rng, 5000);
            memcpy(&before, &b, sizeof b);
            ns = iosched_device_estimate(d, &c, &a, now);
            ck_assert_uint_eq(iosched_device_estimate(d, &c, NULL, now), ns);
            ck_assert_mem_eq(&before, &b, sizeof b);
            ck_assert_int_eq(iosched_device_submit(d, &c, now), 0);
            now = iosched_device_next(d);
            ck_assert_int_eq(reap(d, &e, now), IOSCHED_GOT);
            ck_assert_uint_eq(e.completed - e.submitted, ns);
            ck_assert_mem_eq(&e.parts, &a, sizeof a);
        }
    }
}
END_TEST

START_TEST(an_estimate_starts_where_the_access_chosen_last_ends)
{
    static struct box b;
    struct iosched_device *d = build(&b, RULER);
    struct iosched_cmd next = cmd_of(IOSCHED_READ, 560, 10, 0, 'b');
    struct iosched_access a;

    ck_assert_uint_eq(iosched_device_estimate(d, &next, &a, 0), 670);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 500, 50, 0, 'a', 0), 0);
    ck_assert_uint_eq(iosched_device_estimate(d, &next, &a, 0), 120);
    ck_assert_uint_eq(a.queued, 0);
    ck_assert_uint_eq(a.overhead, 100);
    ck_assert_uint_eq(a.seek, 10);
    ck_assert_uint_eq(a.transfer, 10);
    ck_assert_int_eq(iosched_device_submit(d, &next, 0), 0);
    ck_assert_str_eq(drain(d), "ab");
    ck_assert_uint_eq(counters(d).busy, 650 + 120);
}
END_TEST

/* --- Accounting ----------------------------------------------------------- */
START_TEST(time_is_accounted_by_what_goes_on)
{
    static struct box b;
    struct iosched_device *d = build(&b, RULER);
    struct iosched_device_counters c;
    struct iosched_done e;

    ck_assert_int_eq(iosched_device_pending(d, 3, 40), IOSCHED_OK);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 0, 1, 0, 'a', 60), 0);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 1, 1, 0, 'b', 70), 0);
    ck_assert_int_eq(reap(d, &e, 161), IOSCHED_GOT);    /* 60 + 101 */
    ck_assert_int_eq(reap(d, &e, 200), IOSCHED_EMPTY);
    ck_assert_int_eq(reap(d, &e, 270), IOSCHED_GOT);    /* complete at 262 */
    ck_assert_uint_eq(e.completed, 262);
    ck_assert_uint_eq(e.parts.queued, 91);
    ck_assert_int_eq(iosched_device_pending(d, 0, 300), IOSCHED_OK);
    ck_assert_int_eq(iosched_device_pending(d, 1, 350), IOSCHED_OK);
    ck_assert_int_eq(iosched_device_set_depth(d, 1, 357), IOSCHED_OK);
    c = counters(d);
    ck_assert_uint_eq(c.elapsed, 357);
    ck_assert_uint_eq(c.busy, 202);
    ck_assert_uint_eq(c.idle, 155);
    ck_assert_uint_eq(c.idle_pending, 20 + 38 + 7);
    ck_assert_uint_eq(c.in_use_ns, 101 + 200);
    ck_assert_uint_eq(c.in_use_max, 2);
    identities(d, 357);
}
END_TEST

START_TEST(reports_are_cut_to_size_or_filled_with_zeroes)
{
    struct { struct iosched_device_counters c; uint64_t more; } big;
    struct { struct iosched_done e; uint64_t more; } far;
    static struct box b;
    struct iosched_device *d = build(&b, RULER);

    memset(&big, 0xA5, sizeof big);
    memset(&far, 0xA5, sizeof far);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 0, 1, 0, 'a', 0), 0);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 0, 1, 0, 'b', 0), 0);
    ck_assert_int_eq(iosched_device_reap(d, &far.e, sizeof far, 300),
                     IOSCHED_GOT);
    ck_assert_uint_eq(far.e.cookie, 'a');
    ck_assert_uint_eq(far.more, 0);
    ck_assert_int_eq(iosched_device_reap(d, &far.e, sizeof far.e.cookie, 300),
                     IOSCHED_GOT);
    ck_assert_uint_eq(far.e.cookie, 'b');
    ck_assert_uint_eq(far.e.completed, 101);        /* still the first's */
    ck_assert_int_eq(iosched_device_counters(d, &big.c, sizeof big), 0);
    ck_assert_uint_eq(big.more, 0);
    ck_assert_uint_eq(big.c.accepted[IOSCHED_READ], 2);
    memset(&big, 0xA5, sizeof big);
    ck_assert_int_eq(iosched_device_counters(d, &big.c, 8), 0);
    ck_assert_uint_eq(big.c.accepted[0], 2);
    ck_assert_uint_eq(big.c.accepted[1], UINT64_C(0xA5A5A5A5A5A5A5A5));
}
END_TEST

START_TEST(what_would_end_after_the_end_of_time_never_ends)
{
    static struct box b;
    struct iosched_device_cfg cfg = cfg_of("linear,per_block=2s");
    struct iosched_device *d;
    struct iosched_done e;

    cfg.capacity_nblk = UINT64_MAX;
    d = build_cfg(&b, &cfg);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 0, UINT32_MAX, 0, 'a', 0), 0);
    ck_assert_uint_eq(iosched_device_next(d),
                      500000 + UINT64_C(2000000000) * UINT32_MAX);
    ck_assert_int_eq(reap(d, &e, iosched_device_next(d)), IOSCHED_GOT);
    ck_assert_int_eq(submit(d, IOSCHED_READ, UINT64_MAX - 9, 9, 0, 'b',
                            IOSCHED_NEVER - 9), 0);
    ck_assert_uint_eq(iosched_device_next(d), IOSCHED_NEVER);
    ck_assert_int_eq(reap(d, &e, IOSCHED_NEVER - 1), IOSCHED_EMPTY);
    identities(d, IOSCHED_NEVER - 1);
}
END_TEST

/* --- Power ---------------------------------------------------------------- */
START_TEST(a_power_cut_drops_what_is_held_and_loses_nothing)
{
    static const char *const models[] = { RULER, "null" };
    static struct box b;
    struct iosched_extent x[2];
    struct iosched_done e;
    uint32_t n;
    size_t i;

    for (i = 0; i < LEN(models); i++) {
        struct iosched_device *d = build(&b, models[i]);
        unsigned dropped = i == 0 ? 2 : 0;

        n = 9;
        ck_assert_int_eq(submit(d, IOSCHED_WRITE, 40, 1, 0, 'a', 0), 0);
        ck_assert_int_eq(submit(d, IOSCHED_WRITE, 41, 1, 0, 'b', 0), 0);
        ck_assert_int_eq(submit(d, IOSCHED_READ, 42, 1, 0, 'c', 0), 0);
        ck_assert_int_eq(iosched_device_power_cut(d, i == 0 ? x : NULL,
                                                  i == 0 ? 2 : 0, &n, 150), 0);
        ck_assert_uint_eq(n, 0);
        ck_assert_uint_eq(counters(d).dropped, dropped);
        ck_assert_uint_eq(counters(d).in_use, 3 - dropped);
        identities(d, 150);
        ck_assert_uint_eq(iosched_device_next(d), 150);
        ck_assert_int_eq(reap(d, &e, 150), IOSCHED_GOT);
        ck_assert_uint_eq(e.cookie, 'a');
        ck_assert_str_eq(drain(d), i == 0 ? "" : "bc");
        ck_assert_int_eq(submit(d, IOSCHED_READ, 0, 1, 0, 'd', 150), 0);
        ck_assert_uint_eq(iosched_device_next(d), i == 0 ? 150 + 101 : 150);
        ck_assert_str_eq(drain(d), "d");
    }
    build(&b, RULER);
    ck_assert_int_eq(submit(b.d, IOSCHED_FLUSH, 0, 0, IOSCHED_CMD_NONQUEUED,
                            'f', 0), 0);
    ck_assert_int_eq(iosched_device_power_cut(b.d, NULL, 0, &n, 1), 0);
    ck_assert_uint_eq(iosched_device_next(b.d), IOSCHED_NEVER);
    ck_assert_int_eq(submit(b.d, IOSCHED_READ, 0, 1, 0, 'a', 1), 0);
}
END_TEST

/* --- The trace ------------------------------------------------------------ */
struct seen {
    const struct iosched_device *d;
    struct iosched_device *again;
    uint64_t n, cookies;
    iosched_time last;
};

static void see(void *user, const struct iosched_device *d, uint64_t cookie,
                iosched_time start)
{
    struct seen *seen = user;
    struct iosched_cmd c = cmd_of(IOSCHED_READ, 0, 1, 0, 0);
    struct iosched_done e;
    uint32_t n;

    seen->d = d;
    ck_assert_uint_ge(start, seen->last);
    seen->last = start;
    seen->cookies = seen->cookies * 10 + cookie;
    ck_assert_uint_eq(counters(d).media_accesses, ++seen->n);
    ck_assert_uint_ne(iosched_device_estimate(d, &c, NULL, start),
                      IOSCHED_NEVER);
    d = seen->again;
#define AGAIN(call) ck_assert_int_eq(iosched_device_##call, \
                                     IOSCHED_ERR_REENTRANT)
    AGAIN(submit(seen->again, &c, start));
    AGAIN(reap(seen->again, &e, sizeof e, start));
    AGAIN(pending(seen->again, 1, start));
    AGAIN(set_depth(seen->again, 1, start));
    AGAIN(power_cut(seen->again, NULL, 0, &n, start));
}

START_TEST(the_trace_sees_each_media_access_in_order_of_time)
{
    static struct box b;
    struct seen seen = { NULL, NULL, 0, 0, 0 };
    struct iosched_device_cfg cfg = cfg_of(RULER ",policy=sstf");
    struct iosched_device *d;

    cfg.user = &seen;
    cfg.trace = see;
    d = seen.again = build_cfg(&b, &cfg);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 0, 1, 0, 1, 10), 0);
    ck_assert_uint_eq(seen.n, 1);
    ck_assert_int_eq(submit(d, IOSCHED_WRITE, 900, 1, 0, 2, 10), 0);
    ck_assert_int_eq(submit(d, IOSCHED_FLUSH, 0, 0, 0, 3, 10), 0);
    ck_assert_int_eq(submit(d, IOSCHED_DISCARD, 7, 1, 0, 4, 10), 0);
    ck_assert_int_eq(submit(d, IOSCHED_ZEROES, 1, 1, 0, 5, 10), 0);
    ck_assert_int_eq(iosched_device_pending(d, 0, 9999), IOSCHED_OK);
    ck_assert_ptr_eq(seen.d, d);
    ck_assert_uint_eq(seen.cookies, 152);
    ck_assert_uint_eq(counters(d).media_accesses, 3);
    ck_assert_uint_eq(seen.last, 10 + 101 + 100 + 101);
}
END_TEST

/* --- Chance --------------------------------------------------------------- */
START_TEST(chance_adds_what_it_may_and_the_estimate_leaves_it_out)
{
    static struct box b;
    struct iosched_device *d = build(&b, RULER ",jitter=50,retry_ppm=250000,"
                                     "retry=7us");
    struct iosched_cmd c = cmd_of(IOSCHED_READ, 0, 1, 0, 'a');
    struct iosched_access a;
    struct iosched_done e;
    uint64_t low = 0, high = 0, retried = 0, stall = 0;
    iosched_time now = 0;
    int i;

    for (i = 0; i < 4000; i++) {
        c.lba = i % 4 == 0 ? c.lba + c.nblk : c.lba + 500;
        iosched_device_estimate(d, &c, &a, now);
        ck_assert_int_eq(iosched_device_submit(d, &c, now), 0);
        now = iosched_device_next(d);
        ck_assert_int_eq(reap(d, &e, now), IOSCHED_GOT);
        ck_assert_uint_ge(e.parts.seek, a.seek);
        ck_assert_uint_le(e.parts.seek, a.seek + (a.seek > 0 ? 50 : 0));
        low += a.seek > 0 && e.parts.seek == a.seek;
        high += a.seek > 0 && e.parts.seek == a.seek + 50;
        ck_assert(e.parts.stall == 0 || e.parts.stall == 7000);
        retried += e.parts.stall > 0;
        stall += e.parts.stall;
    }
    ck_assert(low > 20 && low < 120 && high > 20 && high < 120);  /* of 3000: */
    ck_assert(retried > 800 && retried < 1200);                   /* 59; 1000 */
    ck_assert_uint_eq(counters(d).retries, retried);
    ck_assert_uint_eq(counters(d).stall, stall);
}
END_TEST

/* --- Long runs ------------------------------------------------------------ */
/* The hash of all completions of a random run.  Eager: it is asked at each
 * event; else only as often as there is something to say. */
static uint64_t run(const char *model, uint64_t seed, int n, int eager)
{
    static struct box b;
    struct iosched_device_cfg cfg = cfg_of(model);
    struct iosched_device *d;
    struct iosched_done e, skip;
    uint64_t rng = 99, hash = 0xcbf29ce484222325u, i;
    iosched_time now = 0, next;

    cfg.seed = seed;
    d = build_cfg(&b, &cfg);
    while (n-- > 0) {
        struct iosched_cmd c = random_cmd(&rng, ALL_FLAGS);
        iosched_time then = now + rng_below(&rng, 300);
        unsigned reaps = rng_below(&rng, 4);

        while (eager && (next = iosched_device_next(d)) <= then) {
            if (next == now)
                break;                  /* something waits to be reaped */
            now = next;
            HOLDS(iosched_device_pending(d, 1, now) == IOSCHED_OK);
        }
        now = then;
        iosched_device_submit(d, &c, now);
        identities(d, now);
        while (reaps-- > 0 && reap(d, &e, now) == IOSCHED_GOT) {
            identities(d, now);
            for (i = 0; i < sizeof e / 8; i++) {
                memcpy(&skip.cookie, (char *)&e + 8 * i, 8);
                hash = (hash ^ skip.cookie) * 0x100000001b3u;
            }
        }
    }
    return hash;
}

START_TEST(the_same_calls_give_the_same_answers)
{
    static const char *const models[] = {
        "null", RULER, RULER ",policy=clook", RULER ",policy=sstf,jitter=80",
        RULER ",retry_ppm=20000,retry=1us",
    };
    size_t i;

    for (i = 0; i < LEN(models); i++) {
        uint64_t hash = run(models[i], 5, 100000, 0);

        ck_assert_uint_eq(run(models[i], 5, 100000, 0), hash);
        ck_assert_uint_eq(run(models[i], 5, 100000, 1), hash);
        ck_assert_int_eq(run(models[i], 6, 100000, 0) == hash, i < 3);
    }
}
END_TEST

/* The referee: the rules as the header has them, in the most obvious way, on an
 * array in order of arrival. */
struct plain {
    struct iosched_cmd c;
    iosched_time submitted, selected, completed;
    int state;                          /* 0 held, 1 served, 2 complete   */
};
struct referee {
    struct plain at[16];
    int n, policy;                      /* 0 fcfs, 1 clook, 2 sstf        */
    iosched_lba pos;
    iosched_time clock;
};

static int no_move(const struct plain *p)
{
    return p->c.op == IOSCHED_FLUSH || p->c.op == IOSCHED_DISCARD;
}

static uint64_t gap(const struct referee *r, const struct plain *p)
{
    return p->c.lba > r->pos ? p->c.lba - r->pos : r->pos - p->c.lba;
}

static int blocked(const struct referee *r, int i)
{
    const struct plain *p = &r->at[i];
    int k;

    for (k = 0; k < i; k++) {
        const struct plain *q = &r->at[k];

        if (q->state == 2)
            continue;
        if (p->c.op == IOSCHED_FLUSH && q->c.op != IOSCHED_READ &&
            q->c.op != IOSCHED_FLUSH)
            return 1;
        if (!(p->c.flags & IOSCHED_CMD_HEAD) &&
            ((p->c.flags & IOSCHED_CMD_ORDERED) ||
             (q->c.flags & IOSCHED_CMD_ORDERED)))
            return 1;
    }
    return 0;
}

/* Is a better than b, which came earlier? */
static int better(const struct referee *r, const struct plain *a,
                  const struct plain *b)
{
    unsigned ah = a->c.flags & IOSCHED_CMD_HEAD;
    unsigned bh = b->c.flags & IOSCHED_CMD_HEAD;
    unsigned ap = a->c.flags & IOSCHED_CMD_PRIO;
    unsigned bp = b->c.flags & IOSCHED_CMD_PRIO;

    if (ah != bh)
        return ah != 0;
    if (ah)
        return 0;
    if (ap != bp)
        return ap != 0;
    if (r->policy == 0 || no_move(b))
        return 0;
    if (no_move(a))
        return b->c.lba != r->pos;
    if (r->policy == 2)
        return gap(r, a) < gap(r, b);
    if ((a->c.lba >= r->pos) != (b->c.lba >= r->pos))
        return a->c.lba >= r->pos;
    return a->c.lba < b->c.lba;
}

static void referee_run(struct referee *r, iosched_time now)
{
    for (;;) {
        struct plain *best = NULL, *served = NULL;
        int i;

        for (i = 0; i < r->n; i++)
            if (r->at[i].state == 1)
                served = &r->at[i];
        if (served != NULL) {
            if (served->completed > now)
                return;
            served->state = 2;
            r->clock = served->completed;
        }
        for (i = 0; i < r->n; i++)
            if (r->at[i].state == 0 && !blocked(r, i) &&
                (best == NULL || better(r, &r->at[i], best)))
                best = &r->at[i];
        if (best == NULL)
            return;
        best->state = 1;
        best->selected = r->clock;
        best->completed = r->clock + 100;
        if (!no_move(best)) {
            best->completed += gap(r, best) + best->c.nblk;
            r->pos = best->c.lba + best->c.nblk;
        }
    }
}

static int referee_submit(struct referee *r, const struct iosched_cmd *c,
                          iosched_time now)
{
    int i, alone = (c->flags & IOSCHED_CMD_NONQUEUED) != 0;

    referee_run(r, now);
    r->clock = now;
    if (r->n == 16 || (alone && r->n > 0))
        return IOSCHED_DEVICE_BUSY;
    for (i = 0; i < r->n; i++)
        if (r->at[i].c.flags & IOSCHED_CMD_NONQUEUED)
            return IOSCHED_DEVICE_BUSY;
    r->at[r->n].c = *c;
    r->at[r->n].submitted = now;
    r->at[r->n++].state = 0;
    referee_run(r, now);
    return IOSCHED_DEVICE_TAKEN;
}

static int referee_reap(struct referee *r, struct plain *out, iosched_time now)
{
    int i, first = -1;

    referee_run(r, now);
    for (i = 0; i < r->n; i++)
        if (r->at[i].state == 2 && (first < 0 || r->at[i].completed <
                                                 r->at[first].completed))
            first = i;
    if (first < 0)
        return IOSCHED_EMPTY;
    *out = r->at[first];
    r->n--;
    for (i = first; i < r->n; i++)
        r->at[i] = r->at[i + 1];
    return IOSCHED_GOT;
}

static void play(const char *model, int policy, unsigned flags)
{
    static struct box b;
    struct iosched_device *d = build(&b, model);
    struct referee r = { .policy = policy };
    struct iosched_device_counters k;
    uint64_t rng = 4711 + (uint64_t)policy, taken = 0;
    iosched_time now = 0;
    int i;

    for (i = 0; i < 100000; i++) {
        struct iosched_cmd c = random_cmd(&rng, flags);
        struct iosched_done e;
        struct plain p;
        int answer;

        c.cookie = (uint64_t)i;
        now += rng_below(&rng, 3) == 0 ? rng_below(&rng, 6000) : 0;
        answer = iosched_device_submit(d, &c, now);
        HOLDS(answer == referee_submit(&r, &c, now));
        taken += answer == IOSCHED_DEVICE_TAKEN;
        if (rng_below(&rng, 2) == 0)
            continue;
        do {
            answer = reap(d, &e, now);
            HOLDS(answer == referee_reap(&r, &p, now));
            if (answer == IOSCHED_EMPTY)
                break;
            HOLDS(e.cookie == p.c.cookie);
            HOLDS(e.tag == p.c.tag);
            HOLDS(e.submitted == p.submitted);
            HOLDS(e.selected == p.selected);
            HOLDS(e.completed == p.completed);
        } while (rng_below(&rng, 4) > 0);
        identities(d, now);
    }
    ck_assert_uint_gt(taken, 30000);
    drain(d);
    k = counters(d);
    ck_assert_uint_eq(k.busy, k.overhead + k.seek + k.transfer);
}

START_TEST(a_naive_model_agrees_first_come_first_served)
{
    play(RULER, 0, 0);
    play(RULER, 0, ALL_FLAGS);
}
END_TEST

START_TEST(a_naive_model_agrees_with_clook)
{
    play(RULER ",policy=clook", 1, 0);
    play(RULER ",policy=clook", 1, ALL_FLAGS);
}
END_TEST

START_TEST(a_naive_model_agrees_with_sstf)
{
    play(RULER ",policy=sstf", 2, 0);
    play(RULER ",policy=sstf", 2, ALL_FLAGS);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("device_run");
    TCase *tc = tcase_create("device_run");
    SRunner *sr = srunner_create(s);
    int failed;

    suite_add_tcase(s, tc);
    tcase_set_timeout(tc, 0);
    tcase_add_test(tc, an_estimate_moves_nothing_and_comes_true);
    tcase_add_test(tc,
                   an_estimate_starts_where_the_access_chosen_last_ends);
    tcase_add_test(tc, time_is_accounted_by_what_goes_on);
    tcase_add_test(tc, reports_are_cut_to_size_or_filled_with_zeroes);
    tcase_add_test(tc, what_would_end_after_the_end_of_time_never_ends);
    tcase_add_test(tc, a_power_cut_drops_what_is_held_and_loses_nothing);
    tcase_add_test(tc, the_trace_sees_each_media_access_in_order_of_time);
    tcase_add_test(tc,
                   chance_adds_what_it_may_and_the_estimate_leaves_it_out);
    tcase_add_test(tc, the_same_calls_give_the_same_answers);
    tcase_add_test(tc, a_naive_model_agrees_first_come_first_served);
    tcase_add_test(tc, a_naive_model_agrees_with_clook);
    tcase_add_test(tc, a_naive_model_agrees_with_sstf);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
