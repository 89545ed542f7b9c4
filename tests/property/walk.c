/* SPDX-License-Identifier: BSD-2-Clause */
/* walk.c - one step of the walk after the other. */
#include "walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../unit/rng.h"

/* --- Choices -------------------------------------------------------------- */
uint32_t walk_pick(struct walk_source *from, uint32_t below)
{
    uint32_t v;

    if (from->data == NULL)
        return rng_below(&from->seed, below);
    v = from->at < from->len ? from->data[from->at++] : 0;
    if (below > 256 && from->at < from->len)
        v = v << 8 | from->data[from->at++];
    return v % below;
}

int walk_over(const struct walk_source *from)
{
    return from->data != NULL && from->at >= from->len;
}

static uint32_t pick(struct walk *w, uint32_t below)
{
    return walk_pick(w->from, below);
}

/** One that is in this state: its carrier (1), a rider (2), either (3). */
static uint32_t pick_item(struct walk *w, unsigned state, unsigned which)
{
    uint32_t n = w->m.nitems, start = pick(w, n), k, i;

    for (k = 0; k < n; k++) {
        i = (start + k) % n;
        if (w->m.items[i].state == state &&
            which >> (w->m.items[i].carrier != i) & 1u)
            return i;
    }
    return MODEL_NONE;
}

static iosched_dur pick_interval(struct walk *w)
{
    static const iosched_dur d[] = {
        0, 0, 1, 1000, 40000, 1000000, 1000000, 3000000, 10000000, 110000000,
        700000000, 6000000000u
    };

    return d[pick(w, sizeof d / sizeof d[0])];
}

static int32_t pick_valid_value(struct walk *w, const struct iosched_tunable *t)
{
    static const int32_t ns[] = { 0, 1, 1000, 1000000, 500000000 };
    int64_t low = t->min < -1 ? -1 : t->min, high = t->max, v;

    if (t->unit == IOSCHED_UNIT_NS) {
        v = ns[pick(w, 5)];
    } else {
        if (high > low + 20)
            high = low + 20;
        v = low + (int64_t)pick(w, (uint32_t)(high - low) + 1);
    }
    if (v < t->min)
        v = t->min;
    return (int32_t)(v > t->max ? t->max : v);
}

/** A tunable of p: settings are a part of the string. */
static void add_setting(struct walk *w, const struct iosched_policy *p,
                        char *text, size_t size)
{
    const char *at = (const char *)p->tunables;
    const struct iosched_tunable_def *def;
    uint32_t n = 0;
    size_t len = strlen(text);

    if (at == NULL)
        return;
    for (;; n++) {
        def = (const struct iosched_tunable_def *)(const void *)
              (at + n * p->tunable_stride);
        if (def->info.name == NULL)
            break;
    }
    def = (const struct iosched_tunable_def *)(const void *)
          (at + pick(w, n) * p->tunable_stride);
    if (def->info.flags & IOSCHED_TUNABLE_RO)
        return;
    snprintf(text + len, size - len, ",%s=%d", def->info.name,
             pick_valid_value(w, &def->info));
}

void walk_policy(struct walk *w, char *text, size_t size)
{
    const struct iosched_policy *const *all = iosched_builtin_policies();
    const struct iosched_policy *p;
    uint32_t n = 0, presets = 0, k;
    size_t len;

    while (all[n] != NULL)
        n++;
    p = all[pick(w, n)];
    snprintf(text, size, "%s",
             p->alias != NULL && pick(w, 2) ? p->alias : p->name);
    while (p->presets != NULL && p->presets[presets].version != NULL)
        presets++;
    k = pick(w, presets + 1);
    len = strlen(text);
    if (k < presets)
        snprintf(text + len, size - len, ":%s", p->presets[k].version);
    for (k = pick(w, 4); k > 2; k--)
        add_setting(w, p, text, size);
}

/* --- Requests ------------------------------------------------------------- */
static unsigned pick_flags(struct walk *w, unsigned op)
{
    static const unsigned rare[] = {
        IOSCHED_RQ_NOMERGE, IOSCHED_RQ_BARRIER, IOSCHED_RQ_HEAD,
        IOSCHED_RQ_PREFLUSH, IOSCHED_RQ_FUA,
        IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA,
        IOSCHED_RQ_HEAD | IOSCHED_RQ_BARRIER, IOSCHED_RQ_PRIO,
        IOSCHED_RQ_IDLEHINT, IOSCHED_RQ_META, IOSCHED_RQ_RAHEAD,
        IOSCHED_RQ_BARRIER | IOSCHED_RQ_PREFLUSH
    };
    unsigned flags = pick(w, 2) ? IOSCHED_RQ_SYNC : 0;

    if (pick(w, 6) == 0)
        flags |= rare[pick(w, sizeof rare / sizeof rare[0])];
    if (op != IOSCHED_WRITE && op != IOSCHED_ZEROES && pick(w, 16) != 0)
        flags &= ~(IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA);
    return flags;
}

/** Fill in an idle one, mostly so that it may merge or overlap. */
static void prepare(struct walk *w, uint32_t i)
{
    static const unsigned ops[] = { 0, 0, 0, 0, 1, 1, 1, 1, 2, 3, 4, 5 };
    struct item *it = &w->m.items[i];
    unsigned op = ops[pick(w, 12)];
    const struct item *other = &w->m.items[pick(w, w->m.nitems)];
    uint32_t nblk = 1 + pick(w, 8), stream = pick(w, 5);
    iosched_lba lba = pick(w, 96);

    switch (pick(w, 6)) {
    case 0: case 1:
        lba = other->mine.lba + other->mine.nblk;
        op = pick(w, 4) ? other->mine.op : op;
        break;
    case 2:
        lba = other->mine.lba > nblk ? other->mine.lba - nblk : 0;
        op = pick(w, 4) ? other->mine.op : op;
        break;
    default:
        break;
    }
    if (lba > 4096)
        lba = pick(w, 96);
    model_prepare(&w->m, i, op, pick_flags(w, op), lba, nblk,
                  w->m.streams[stream].open || pick(w, 8) == 0 ? stream : 0);
    it->rq.nseg = (uint16_t)pick(w, 4);
    if (pick(w, 8) == 0)
        it->rq.ioprio = (uint16_t)IOSCHED_PRIO(1 + pick(w, 3), pick(w, 8));
    it->mine = it->rq;
}

/** Make it one that has to be refused. */
static void spoil(struct walk *w, uint32_t i)
{
    struct item *it = &w->m.items[i];
    static const uint16_t bad_prio[] = {
        IOSCHED_PRIO(1, 8), IOSCHED_PRIO(0, 1), IOSCHED_PRIO(5, 0), 0xffff
    };

    switch (pick(w, 8)) {
    case 0: it->rq.op = (uint16_t)(6 + pick(w, 4)); break;
    case 1: it->rq.flags |= 0x0400; break;
    case 2: it->rq.nblk = 0; break;
    case 3: it->rq.lba = UINT64_MAX - pick(w, 4); break;
    case 4: it->rq.op = IOSCHED_READ; it->rq.flags = IOSCHED_RQ_FUA; break;
    case 5: it->rq.stream = (struct iosched_stream *)(void *)w; break;
    case 6: it->rq.ioprio = bad_prio[pick(w, 4)]; break;
    default: it->rq.lba = (UINT64_C(1) << 40) + 1; break;
    }
    it->mine = it->rq;
}

/* --- Steps ---------------------------------------------------------------- */
static void step_insert(struct walk *w)
{
    uint32_t i = pick_item(w, IOSCHED_STATE_IDLE, 3);

    if (i == MODEL_NONE)
        return;
    prepare(w, i);
    if (pick(w, 16) == 0)
        spoil(w, i);
    model_insert(&w->m, i);
}

/** Dispatch; asked again, before the next timer, the answer is the same. */
static void step_dispatch(struct walk *w)
{
    struct model *m = &w->m;
    unsigned flags = pick(w, 12) == 0 ? IOSCHED_DISPATCH_FORCE : 0;
    uint32_t out, again = pick(w, 4);
    int rc = model_dispatch(m, flags, &out), rc2;

    while (model_ok(m) && rc != IOSCHED_GOT && again-- > 0) {
        iosched_time due = iosched_next_expiry(m->s);
        iosched_dur d = pick_interval(w);

        if (m->now >= due || d >= due - m->now)
            d = 0;
        model_clock(m, m->now + d);
        rc2 = model_dispatch(m, flags, &out);
        if (rc2 != rc)
            model_fail(m, "asked again, dispatch answers %d, not %d", rc2, rc);
    }
}

static void step_many(struct walk *w)
{
    model_dispatch_many(&w->m, 1 + pick(w, 8),
                        pick(w, 8) == 0 ? IOSCHED_DISPATCH_FORCE : 0);
}

static int pick_status(struct walk *w)
{
    return pick(w, 8) == 0 ? -5 : 0;
}

/** One in flight, or, now and then, one that may not be. */
static uint32_t pick_flying(struct walk *w)
{
    return pick(w, 16) == 0 ? pick(w, w->m.nitems)
                            : pick_item(w, IOSCHED_STATE_INFLIGHT, 1);
}

static void step_complete(struct walk *w)
{
    uint32_t i = pick_flying(w);

    if (i != MODEL_NONE)
        model_complete(&w->m, i, pick_status(w));
}

static void step_requeue(struct walk *w)
{
    uint32_t i = pick_flying(w);

    if (i != MODEL_NONE)
        model_requeue(&w->m, i);
}

/** The device refuses the last ones of what it was given. */
static void step_queue_full(struct walk *w)
{
    uint32_t i = pick_flying(w), n = pick(w, 4);

    if (i == MODEL_NONE)
        return;
    model_queue_full(&w->m, i);
    while (n-- > 0 && model_ok(&w->m)) {
        i = pick_item(w, IOSCHED_STATE_INFLIGHT, 1);
        if (i == MODEL_NONE)
            return;
        if (pick(w, 2))
            model_requeue(&w->m, i);
        else
            model_queue_full(&w->m, i);
    }
}

static void step_cancel(struct walk *w)
{
    uint32_t i = pick_item(w, IOSCHED_STATE_QUEUED, pick(w, 2) ? 2 : 3);

    if (i == MODEL_NONE || pick(w, 12) == 0)
        i = pick(w, w->m.nitems);
    model_cancel(&w->m, i);
}

static void step_abort(struct walk *w)
{
    uint32_t i = pick_flying(w);

    if (i != MODEL_NONE)
        model_abort(&w->m, i);
}

static void step_release(struct walk *w)
{
    uint32_t t = pick(w, w->m.ntags), k;

    for (k = 0; k < w->m.ntags && w->m.tag[t] != TAG_QUARANTINED; k++)
        t = (t + 1) % w->m.ntags;
    if (pick(w, 8) == 0)
        t = pick(w, w->m.ntags + 2);
    model_release(&w->m, pick(w, 16) == 0 ? -1 : (int32_t)t);
}

/** To the next timer, or not quite. */
static void step_expire(struct walk *w)
{
    iosched_time due = iosched_next_expiry(w->m.s);

    if (due != IOSCHED_NEVER && due > w->m.now)
        model_clock(&w->m, due - (pick(w, 3) == 0));
    model_expire(&w->m);
}

static void step_freeze(struct walk *w)
{
    if (w->m.frozen > 0 ? pick(w, 4) != 0 : pick(w, 3) == 0)
        model_thaw(&w->m);
    else
        model_freeze(&w->m);
}

static void step_thaw(struct walk *w)
{
    if (w->m.frozen > 0)
        model_thaw(&w->m);
}

static void step_switch(struct walk *w)
{
    static const struct { int first; const char *text; int want; } bad[] = {
        { 0, "", IOSCHED_ERR_INVAL }, { 0, "Noop", IOSCHED_ERR_INVAL },
        { 0, "nothing", IOSCHED_ERR_NOENT }, { 1, ":9", IOSCHED_ERR_NOENT },
        { 1, ",", IOSCHED_ERR_INVAL }, { 1, ",x=1", IOSCHED_ERR_NOENT },
        { 1, ",nomerges=3", IOSCHED_ERR_RANGE },
        { 1, ",nomerges=1x", IOSCHED_ERR_INVAL },
        { 1, ",rotational=1,", IOSCHED_ERR_INVAL }
    };
    char text[160];
    uint32_t k;

    if (pick(w, 4) == 0) {
        k = pick(w, sizeof bad / sizeof bad[0]);
        snprintf(text, sizeof text, "%s%s",
                 bad[k].first ? iosched_builtin_policies()[0]->name : "",
                 bad[k].text);
        model_switch(&w->m, text, bad[k].want);
        return;
    }
    walk_policy(w, text, sizeof text);
    model_switch(&w->m, text, IOSCHED_OK);
}

static void step_depth(struct walk *w)
{
    model_set_depth(&w->m, pick(w, w->m.setup.depth + 2));
}

static void step_tunable(struct walk *w)
{
    struct model *m = &w->m;
    struct iosched_tunable t;
    size_t n = 0, i;
    int rc;

    do {
        rc = iosched_tunable_at(m->s, n, &t, sizeof t);
        model_note(m, CALL_TUNABLE_AT, rc);
    } while (rc >= 0 && ++n > 0);
    i = pick(w, (uint32_t)n);
    if (iosched_tunable_at(m->s, i, &t, sizeof t) < 0) {
        model_fail(m, "a tunable is gone");
        return;
    }
    /* The tick comes with the policy, or core time might step back. */
    if (t.flags & IOSCHED_TUNABLE_RO || strcmp(t.name, "tick_ns") == 0) {
        model_tunable_set(m, t.name, t.min, IOSCHED_ERR_NOTSUP);
        return;
    }
    switch (pick(w, 8)) {
    case 0:
        model_tunable_set(m, "nothing", 0, IOSCHED_ERR_NOENT);
        return;
    case 1:
        if (t.max < INT64_MAX)
            model_tunable_set(m, t.name, t.max + 1, IOSCHED_ERR_RANGE);
        return;
    default:
        model_tunable_set(m, t.name, pick_valid_value(w, &t), IOSCHED_OK);
    }
}

static uint16_t pick_prio(struct walk *w)
{
    return pick(w, 6) == 0
               ? (uint16_t)IOSCHED_PRIO(pick(w, 5), pick(w, 10))
               : (uint16_t)IOSCHED_PRIO(1 + pick(w, 3), pick(w, 8));
}

static void step_stream(struct walk *w)
{
    struct model *m = &w->m;
    uint32_t a = pick(w, 6), b = pick(w, 6);

    switch (pick(w, 5)) {
    case 0: model_stream_open(m, pick_prio(w), pick(w, 4)); break;
    case 1: model_stream_close(m, a); break;
    case 2: model_stream_ioprio(m, a, pick_prio(w)); break;
    case 3: model_stream_group(m, a, pick(w, 4)); break;
    default: model_stream_yield(m, a, b); break;
    }
}

static void step_group(struct walk *w)
{
    struct model *m = &w->m;
    uint32_t weight = pick(w, 8) == 0 ? 10001 * pick(w, 2)
                                      : 1 + pick(w, 10000);

    switch (pick(w, 4)) {
    case 0: model_group_open(m, pick(w, 4), weight); break;
    case 1: model_group_close(m, pick(w, 4)); break;
    default: model_group_weight(m, pick(w, 4), weight, (int)pick(w, 2));
    }
}

static iosched_time pick_when(struct walk *w)
{
    iosched_dur d = pick_interval(w) % 20000000u;

    return pick(w, 2) || d > w->m.now ? w->m.now + d : w->m.now - d;
}

static void step_post(struct walk *w)
{
    uint32_t i = pick_item(w, IOSCHED_STATE_IDLE, 3);

    if (i == MODEL_NONE || pick(w, 16) == 0)
        i = pick(w, w->m.nitems);
    if (w->m.items[i].state == IOSCHED_STATE_IDLE) {
        prepare(w, i);
        if (pick(w, 8) == 0)
            spoil(w, i);
    }
    model_post(&w->m, i, pick_when(w));
}

static void step_post_complete(struct walk *w)
{
    uint32_t i = pick_flying(w);

    if (pick(w, 8) == 0)
        model_post_late(&w->m);
    else if (i != MODEL_NONE)
        model_post_complete(&w->m, i, pick_status(w), pick_when(w));
}

static void step_intake(struct walk *w)
{
    model_intake(&w->m, w->m.now + pick_interval(w));
}

static void step_reap(struct walk *w)
{
    model_reap(&w->m);
}

static void step_foreign(struct walk *w)
{
    model_foreign(&w->m, pick(w, 2) == 0);
}

static void step_back(struct walk *w)
{
    iosched_dur d = pick_interval(w);

    model_clock(&w->m, d < w->m.now ? w->m.now - d : 0);
    model_expire(&w->m);
}

static void step_far(struct walk *w)
{
    model_clock(&w->m, w->m.now + ((iosched_dur)pick(w, 256) << 32));
    model_expire(&w->m);
}

static void step_look(struct walk *w)
{
    uint32_t stream = pick(w, 5);

    model_may_queue(&w->m, stream, pick(w, 7), 0);
    model_check_dump(&w->m);
}

static void step_misuse(struct walk *w)
{
    walk_misuse(w);
}

static const struct {
    void (*step)(struct walk *w);
    uint32_t weight;
} steps[] = {
    { step_insert, 40 }, { step_dispatch, 30 }, { step_many, 5 },
    { step_complete, 18 }, { step_requeue, 4 }, { step_queue_full, 2 },
    { step_cancel, 6 }, { step_abort, 2 }, { step_release, 4 },
    { step_expire, 4 }, { step_freeze, 1 }, { step_thaw, 3 },
    { step_switch, 3 }, { step_depth, 2 }, { step_tunable, 1 },
    { step_stream, 3 }, { step_group, 2 }, { step_post, 6 },
    { step_post_complete, 6 }, { step_intake, 6 }, { step_reap, 8 },
    { step_foreign, 2 }, { step_back, 1 }, { step_far, 1 },
    { step_look, 2 }, { step_misuse, 1 }
};
#define NSTEPS (sizeof steps / sizeof steps[0])

static void one_step(struct walk *w)
{
    uint32_t sum = 0, k, at;

    for (k = 0; k < NSTEPS; k++)
        sum += steps[k].weight;
    at = pick(w, sum);
    for (k = 0; at >= steps[k].weight; k++)
        at -= steps[k].weight;
    if (pick(w, 2))
        model_clock(&w->m, w->m.now + pick_interval(w));
    steps[k].step(w);
}

/* --- The walk ------------------------------------------------------------- */
static void choose_setup(struct walk *w, struct model_setup *setup,
                         unsigned kind)
{
    memset(setup, 0, sizeof *setup);
    setup->items = 8 + pick(w, 33);
    setup->block_size = kind & WALK_BLOCK_4096 ? 4096 : 512;
    if (kind & WALK_COMPAT)
        setup->flags |= IOSCHED_F_COMPAT;
    if (kind & WALK_OVERLAPS)
        setup->flags |= IOSCHED_F_ORDER_OVERLAPS;
    if (pick(w, 8) == 0)
        setup->flags |= IOSCHED_F_NOMERGE;
    if (pick(w, 3) == 0)
        setup->flags |= IOSCHED_F_DEVICE_FUA;
    if (pick(w, 4) == 0)
        setup->flags |= IOSCHED_F_NO_VOLATILE_CACHE;
    if (pick(w, 2) == 0)
        setup->flags |= IOSCHED_F_NONROTATIONAL;
    if (pick(w, 10) == 0)
        setup->flags |= IOSCHED_F_NO_SWITCH;
    setup->depth = 1 + pick(w, 8);
    setup->streams = 2 + pick(w, 4);
    setup->groups = 1 + pick(w, 4);
    setup->queued_hint = 1u << pick(w, 7);
    setup->head_burst = 1 + pick(w, 16);
    setup->max_merge_kib = 4u << pick(w, 6);
    setup->max_merge_segs = 1 + pick(w, 32);
    setup->capacity = pick(w, 2) ? 5000 : 0;
    if (kind & WALK_SHARED) {
        setup->shared_tags = 2 + pick(w, 8);
        setup->reserved_tags = pick(w, 2);
    }
    setup->callbacks = (int)pick(w, 2);
}

int walk_run(struct walk_source *from, const struct walk_options *options,
             struct tally *tally, char *why, size_t size)
{
    struct walk w;
    struct model *m = &w.m;
    struct model_setup setup;
    char policy[160];
    uint32_t step, i;
    int ok;

    w.from = from;
    choose_setup(&w, &setup, options->kind);
    if (options->policy != NULL)
        snprintf(policy, sizeof policy, "%s", options->policy);
    else
        walk_policy(&w, policy, sizeof policy);
    setup.policy = policy;
    model_open(m, &setup, tally, pick(&w, 2) ? 0 : IOSCHED_SEC(1000));
    for (i = 0; i < m->nitems && model_ok(m); i++)
        model_prepare(m, i, IOSCHED_READ, 0, i * 2, 1, 0);
    for (step = 0; step < options->steps && model_ok(m) && !walk_over(from);
         step++) {
        m->step = step;
        one_step(&w);
        model_check(m);
    }
    if (model_ok(m) && m->queued + m->inflight + m->ndone > 0)
        model_expect(m, CALL_DESTROY, iosched_destroy(m->s), IOSCHED_ERR_BUSY);
    if (model_ok(m))
        model_drain(m);
    ok = model_ok(m);
    if (!ok)
        snprintf(why, size, "step %u of %s: %s", m->step, policy, m->wrong);
    if (ok) {
        model_close(m);
        ok = model_ok(m);
        if (!ok)
            snprintf(why, size, "at the end of %s: %s", policy, m->wrong);
    } else {
        model_free(m);
    }
    return ok;
}
