/* SPDX-License-Identifier: BSD-2-Clause */
/* inject.c - in the middle of every recorded script something else happens.
 *
 *     inject [--min N] SET...
 *
 * Each designed script of each set whose policy the library has is played up to
 * each of its steps (a random one, where a set has no others, to 20 of them).
 * Then one thing is done that the script does not have: a cancel, a requeue, a
 * full device, a switch, another depth, a jump of the clock, a freeze or abort.
 * What the script still has to add is added, and a driver that only follows the
 * answers lets everything out, with the referee watching: nothing is lost, ages
 * stay, nobody sleeps for ever.  IOSCHED_LONG in the environment: every step of
 * every script, in four ways each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "script.h"
#include "source.h"

#define ENOUGH 50000u

enum injection {
    CANCEL_ALONE, CANCEL_MEMBER, CANCEL_CARRIER, REQUEUE, REQUEUE_ALL,
    QUEUE_FULL, QUEUE_FULL_ALL, SWITCH_ROUND, SWITCH_ONE, SWITCH_FORCED,
    DEPTH_LESS, DEPTH_MORE, CLOCK_FORWARD, CLOCK_BACKWARD, FREEZE, ABORT,
    ABORT_LATE, FORCED, INJECTIONS
};
static const char *const names[INJECTIONS] = {
    "cancel", "cancel of a member", "cancel of a carrier", "requeue",
    "requeue of all", "queue_full", "queue_full of all",
    "switch to each and back", "switch and stay", "switch between dispatches",
    "less depth", "more depth", "clock forward", "clock backward", "freeze",
    "abort and release", "abort, release at the end", "forced dispatch"
};

struct play {
    struct model         m;
    const struct script *script;
    uint32_t             nitems;
    uint32_t            *item_of;       /* by RQID                        */
    uint32_t            *stream_of;     /* by ID of the script            */
    uint32_t             scale;
    uint32_t             automatic;
};

static struct {
    unsigned long scripts, done, void_, per[INJECTIONS];
    unsigned long failed;
    int           long_;                /* everything everywhere          */
    const char   *path;
} total;

/* --- Playing -------------------------------------------------------------- */
static void add(struct play *p, const struct command *c)
{
    uint32_t i = p->item_of[c->id];

    model_prepare(&p->m, i, c->op, c->flags, c->sector / p->scale,
                  c->nsect / p->scale, p->stream_of[c->stream]);
    model_insert(&p->m, i);
}

static void dispatch(struct play *p, uint32_t count, unsigned flags)
{
    uint32_t out;

    while (count-- > 0 && model_ok(&p->m) &&
           model_dispatch(&p->m, flags, &out) == IOSCHED_GOT)
        ;
}

static void set_tunable(struct play *p, const char *name, int64_t thousandths)
{
    struct iosched_tunable t;
    int64_t v;
    size_t i;

    for (i = 0; iosched_tunable_at(p->m.s, i, &t, sizeof t) >= 0; i++) {
        if (strcmp(t.name, name) != 0)
            continue;
        v = t.unit == IOSCHED_UNIT_NS ? thousandths * 1000
                                      : thousandths / 1000;
        v = v < t.min ? t.min : v > t.max ? t.max : v;
        model_tunable_set(&p->m, name, v, IOSCHED_OK);
    }
}

/* Move on, and let timers fire on the way. */
static void move_on(struct play *p, iosched_time to)
{
    unsigned fired = 0;
    iosched_time due;

    while (model_ok(&p->m) && (due = iosched_next_expiry(p->m.s)) <= to &&
           fired++ < 10000) {
        if (due > p->m.now)
            model_clock(&p->m, due);
        model_expire(&p->m);
        if (p->automatic)
            dispatch(p, p->automatic, 0);
    }
    if (to > p->m.now)
        model_clock(&p->m, to);
}

static void stream(struct play *p, const struct command *c)
{
    uint32_t before;

    for (before = 1; p->m.streams[before].used; before++)
        ;
    model_stream_open(&p->m, c->ioprio, 0);
    p->stream_of[c->id] = before;
}

static void play(struct play *p, const struct command *c)
{
    struct model *m = &p->m;
    uint32_t i;

    switch (c->verb) {
    case VERB_TUNABLE:
        set_tunable(p, c->name, c->value);
        break;
    case VERB_QUEUE:
        set_tunable(p, "rotational", c->count ? 0 : 1000);
        break;
    case VERB_MAX_SECTORS:
        set_tunable(p, "max_sectors_kb", (int64_t)(c->count / 2) * 1000);
        break;
    case VERB_MERGE:
        set_tunable(p, "nomerges", c->count ? 0 : 2000);
        break;
    case VERB_STREAM:
        stream(p, c);
        break;
    case VERB_IOPRIO:
        model_stream_ioprio(m, p->stream_of[c->id], c->ioprio);
        break;
    case VERB_EXIT:
        model_stream_close(m, p->stream_of[c->id]);
        break;
    case VERB_TIME:
        move_on(p, c->time);
        break;
    case VERB_ADD:
        add(p, c);
        break;
    case VERB_DISPATCH:
        dispatch(p, c->count, 0);
        break;
    case VERB_COMPLETE:
    case VERB_REQUEUE:
        i = p->item_of[c->id];
        if (m->items[i].state != IOSCHED_STATE_INFLIGHT ||
            m->items[i].carrier != i)
            break;              /* after an injection it may be elsewhere */
        if (c->verb == VERB_COMPLETE)
            model_complete(m, i, 0);
        else
            model_requeue(m, i);
        break;
    case VERB_DRAIN:
        dispatch(p, UINT32_MAX, IOSCHED_DISPATCH_FORCE);
        break;
    case VERB_AUTO:
        p->automatic = c->count;
        break;
    default:
        break;
    }
    if (p->automatic && (c->verb == VERB_ADD || c->verb == VERB_COMPLETE) &&
        m->inflight < p->automatic)
        dispatch(p, p->automatic - m->inflight, 0);
}

/* --- Injecting ------------------------------------------------------------ */
static uint32_t find(const struct model *m, unsigned state, int members)
{
    uint32_t i;

    for (i = 0; i < m->nitems; i++) {
        const struct item *it = &m->items[i];

        if (it->state != state)
            continue;
        if (members == 2 ? it->carrier != i
            : members == 1 ? it->carrier == i && it->rq.nmembers > 1
                           : it->carrier == i)
            return i;
    }
    return MODEL_NONE;
}

static void back_all(struct model *m, int full)
{
    uint32_t i, n = 0;

    while (model_ok(m) &&
           (i = find(m, IOSCHED_STATE_INFLIGHT, 0)) != MODEL_NONE) {
        if (full && n++ == 0)
            model_queue_full(m, i);
        else
            model_requeue(m, i);
    }
}

/* Through every policy and preset, and back; `between`: the driver asks for a
 * request each time. */
static void switch_round(struct play *p, int between, int stay)
{
    const struct iosched_policy *const *all = iosched_builtin_policies();
    char text[80];
    uint32_t out;

    for (; *all != NULL && model_ok(&p->m); all++) {
        const struct iosched_preset *preset = (*all)->presets;

        model_switch(&p->m, (*all)->name, IOSCHED_OK);
        for (; preset != NULL && preset->version != NULL && model_ok(&p->m);
             preset++) {
            snprintf(text, sizeof text, "%s:%s", (*all)->name,
                     preset->version);
            model_switch(&p->m, text, IOSCHED_OK);
            if (between)
                model_dispatch(&p->m, 0, &out);
        }
        if (between && model_ok(&p->m))
            model_dispatch(&p->m, IOSCHED_DISPATCH_FORCE, &out);
        model_check(&p->m);
    }
    if (!stay && model_ok(&p->m))
        model_switch(&p->m, p->m.setup.policy, IOSCHED_OK);
}

/* Return 0: there is nothing it could be done to. */
static int inject(struct play *p, enum injection what)
{
    struct model *m = &p->m;
    uint32_t i, out;

    switch (what) {
    case CANCEL_ALONE: case CANCEL_MEMBER: case CANCEL_CARRIER:
        i = find(m, IOSCHED_STATE_QUEUED,
                 what == CANCEL_MEMBER ? 2 : what == CANCEL_CARRIER);
        if (i == MODEL_NONE)
            return 0;
        model_cancel(m, i);
        return 1;
    case REQUEUE: case QUEUE_FULL: case ABORT: case ABORT_LATE:
        i = find(m, IOSCHED_STATE_INFLIGHT, 0);
        if (i == MODEL_NONE)
            return 0;
        if (what == REQUEUE)
            model_requeue(m, i);
        else if (what == QUEUE_FULL)
            model_queue_full(m, i);
        else
            model_abort(m, i);
        if (what == ABORT && model_ok(m))
            model_release(m, m->items[i].tag);
        return 1;
    case REQUEUE_ALL: case QUEUE_FULL_ALL:
        if (m->inflight < 2)
            return 0;
        back_all(m, what == QUEUE_FULL_ALL);
        return 1;
    case SWITCH_ROUND:
        switch_round(p, 0, 0);
        return 1;
    case SWITCH_ONE:
        switch_round(p, 0, 1);
        return 1;
    case SWITCH_FORCED:
        switch_round(p, 1, 1);
        return 1;
    case DEPTH_LESS:
        model_set_depth(m, 1);
        return 1;
    case DEPTH_MORE:
        model_set_depth(m, 1);
        model_dispatch(m, 0, &out);
        model_set_depth(m, m->setup.depth);
        return 1;
    case CLOCK_FORWARD:
        model_clock(m, m->now + IOSCHED_SEC(20));
        model_expire(m);
        return 1;
    case CLOCK_BACKWARD:
        model_clock(m, m->now / 2);
        model_expire(m);
        return 1;
    case FREEZE:
        model_freeze(m);
        model_dispatch(m, 0, &out);
        model_freeze(m);
        model_thaw(m);
        model_dispatch(m, IOSCHED_DISPATCH_FORCE, &out);
        model_thaw(m);
        return 1;
    case FORCED:
        model_dispatch(m, IOSCHED_DISPATCH_FORCE, &out);
        return 1;
    default:
        return 0;
    }
}

/* --- One run -------------------------------------------------------------- */
static void start(struct play *p, const struct script *script, unsigned flags,
                  uint32_t block_size)
{
    struct model_setup setup;
    char policy[2 * SCRIPT_NAME + 2];
    size_t i;

    memset(p, 0, sizeof *p);
    p->script = script;
    p->scale = block_size / 512;
    p->item_of = calloc(script->max_request + 1, sizeof *p->item_of);
    p->stream_of = calloc(script->max_stream + 1, sizeof *p->stream_of);
    if (p->item_of == NULL || p->stream_of == NULL)
        exit(99);
    for (i = 0; i < script->count; i++)
        if (script->commands[i].verb == VERB_ADD)
            p->item_of[script->commands[i].id] = p->nitems++;
    snprintf(policy, sizeof policy, "%s:%s", script->policy,
             strcmp(script->version, "2.6.32.2") == 0 ? "2.6.32"
                                                      : script->version);
    memset(&setup, 0, sizeof setup);
    setup.items = p->nitems;
    setup.flags = flags;
    if (script->nonrot)
        setup.flags |= IOSCHED_F_NONROTATIONAL;
    setup.block_size = block_size;
    setup.depth = 64;
    setup.streams = script->nstreams + 1;
    setup.groups = 1;
    setup.queued_hint = 64;
    setup.head_burst = 16;
    setup.max_merge_kib = 512;
    setup.max_merge_segs = 65536;
    setup.policy = policy;
    model_open(&p->m, &setup, NULL, 0);
    p->m.setup.policy = NULL;
}

static void finish(struct play *p)
{
    if (model_ok(&p->m)) {
        model_drain(&p->m);
        model_close(&p->m);
    } else {
        model_free(&p->m);
    }
    free(p->item_of);
    free(p->stream_of);
}

/* Play up to `step`, inject, and let it end.  Return 0: nothing to inject. */
static int run(const struct script *script, size_t step, enum injection what,
               unsigned flags, uint32_t block_size)
{
    struct play p;
    char policy[2 * SCRIPT_NAME + 2];
    size_t i;
    int done;

    start(&p, script, flags, block_size);
    snprintf(policy, sizeof policy, "%s:%s", script->policy,
             strcmp(script->version, "2.6.32.2") == 0 ? "2.6.32"
                                                      : script->version);
    p.m.setup.policy = policy;
    for (i = 0; i < step && model_ok(&p.m); i++)
        play(&p, &script->commands[i]);
    done = inject(&p, what);
    model_check(&p.m);
    if (done)
        model_check_dump(&p.m);
    for (; i < script->count && done && model_ok(&p.m); i++) {
        enum verb verb = script->commands[i].verb;

        /* The driver is ours from here on; the rest is the script's. */
        if (verb != VERB_DISPATCH && verb != VERB_DRAIN &&
            verb != VERB_AUTO && verb != VERB_REQUEUE)
            play(&p, &script->commands[i]);
        if (what == DEPTH_LESS && verb == VERB_DISPATCH)
            dispatch(&p, 1, 0);
    }
    finish(&p);
    if (p.m.wrong[0] != '\0') {
        printf("%s: after command %zu, %s, flags %#x, blocks of %u: %s\n",
               total.path, step, names[what], flags, block_size, p.m.wrong);
        fflush(stdout);
        total.failed++;
    }
    return done;
}

static int have_policy(const char *name)
{
    const struct iosched_policy *const *all = iosched_builtin_policies();

    for (; *all != NULL; all++)
        if (strcmp((*all)->name, name) == 0 ||
            ((*all)->alias != NULL && strcmp((*all)->alias, name) == 0))
            return 1;
    return 0;
}

/** 1 if the script was written by hand to show one rule: h_*. */
static int is_handmade(const char *path)
{
    const char *name = strrchr(path, ':');

    if (name == NULL)
        name = strrchr(path, '/');
    return name != NULL && name[1] == 'h' && name[2] == '_';
}

/* h_*; of a set without designed ones, all. */
static int is_designed(const struct script *script, const char *path)
{
    return strcmp(script->policy, "noop") == 0 || is_handmade(path);
}

static void one_script(void *user, const struct blob *source,
                       const struct blob *expected)
{
    static const struct { unsigned flags; uint32_t block_size; } ways[] = {
        { IOSCHED_F_COMPAT, 512 }, { 0, 512 },
        { IOSCHED_F_ORDER_OVERLAPS, 4096 }, { IOSCHED_F_COMPAT, 4096 }
    };
    const int all_ways = total.long_;
    struct script script;
    size_t way, step, stride = 1;
    int what;

    (void)user;
    (void)expected;
    script_parse(&script, source->path, source->data, source->len);
    if (!have_policy(script.policy) || !is_designed(&script, source->path) ||
        script.ngroups > 0) {
        script_free(&script);
        return;
    }
    total.scripts++;
    total.path = source->path;
    /* The random ones are long, and much the same everywhere. */
    if (!all_ways && script.count > 200 && !is_handmade(source->path))
        stride = script.count / 20;
    for (way = 0; way < sizeof ways / sizeof ways[0]; way++) {
        if (!all_ways && way > 0 && way != 1 + total.scripts % 3)
            continue;
        if (script.grain != 0 && script.grain % (ways[way].block_size / 512))
            continue;
        for (step = 0; step <= script.count && total.failed < 20;
             step += stride)
            for (what = 0; what < INJECTIONS; what++) {
                if (!run(&script, step, (enum injection)what, ways[way].flags,
                         ways[way].block_size)) {
                    total.void_++;
                    continue;
                }
                total.done++;
                total.per[what]++;
            }
    }
    script_free(&script);
}

int main(int argc, char **argv)
{
    const char *lengthen = getenv("IOSCHED_LONG");
    unsigned long least = ENOUGH;
    int i = 1, what, bad = 0;

    if (argc > 2 && strcmp(argv[1], "--min") == 0) {
        least = strtoul(argv[2], NULL, 10);
        i = 3;
    }
    total.long_ = lengthen != NULL && strcmp(lengthen, "0") != 0;
    for (; i < argc; i++)
        source_each(argv[i], one_script, NULL);
    for (what = 0; what < INJECTIONS; what++) {
        printf("%s %lu\n", names[what], total.per[what]);
        bad |= total.per[what] == 0;
    }
    printf("scripts %lu, injections %lu, nothing to inject %lu, failed %lu\n",
           total.scripts, total.done, total.void_, total.failed);
    return bad || total.failed > 0 || total.done < least;
}
