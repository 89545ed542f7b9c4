/* SPDX-License-Identifier: BSD-2-Clause */
/* player.c - the scheduler's caller: processes, driver and clock of a script.
 *
 * Each command is carried out and the decisions it brought about are compared
 * with as many of those expected.  The first difference ends the script: it is
 * open loop, and what follows would answer another course of events.
 *
 * A timer that is due fires when the clock moves, each at its own time.  In
 * the automatic mode the driver asks after each add and complete, and after a
 * timer that says there may be something.  The reference's driver may ask in
 * the middle of an add, so there its `disp` lines may come before the `add`
 * line; within one add of this mode, only the order of `disp` lines counts. */
#include "player.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <iosched/iosched.h>
#include <iosched/policy.h>
#include <iosched/tunable.h>

#include "complain.h"

#define SECTOR      512u
#define DEPTH       65536u      /* more than any script has in the driver */
#define SEGMENTS    65536u      /* the references were bound by size only */
#define LEAF        500u        /* default leaf weight of a group ...     */
#define ROOT_LEAF   1000u       /* ... and of the root                    */
#define MAX_FIRINGS 1000u       /* of timers at one moment                */

struct entry {                  /* one RQID                               */
    struct iosched_req rq;
    uint32_t           id;
    uint32_t           carrier; /* the RQID it rides on, or its own       */
    int                in_driver;
};

struct player {
    const struct script    *script;
    const struct decisions *expected;
    size_t                  cursor;     /* into expected                  */
    struct decisions        ours;       /* of the command being played    */
    struct report          *report;
    int                     failed, show;
    struct iosched         *s;
    iosched_time            now;
    uint32_t                scale;      /* sectors a block                */
    uint32_t                automatic;  /* depth, or 0: manual            */
    uint32_t                in_driver;
    struct entry           *entries;    /* by RQID                        */
    struct iosched_stream **streams;
    struct iosched_group  **groups;
};

static void fail(struct player *p, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static void fail(struct player *p, const char *fmt, ...)
{
    va_list ap;

    if (p->failed)
        return;
    p->failed = 1;
    va_start(ap, fmt);
    vsnprintf(p->report->got, sizeof p->report->got, fmt, ap);
    va_end(ap);
}

static int check(struct player *p, int rc, const char *call)
{
    if (rc < 0)
        fail(p, "%s: %s", call, iosched_strerror(rc));
    return rc >= 0;
}

/* --- Decisions ------------------------------------------------------------ */

static struct decision *decide(struct player *p, enum outcome outcome)
{
    struct decision d;

    memset(&d, 0, sizeof d);
    d.outcome = outcome;
    d.time = p->now;
    decisions_add(&p->ours, &d);
    return &p->ours.list[p->ours.count - 1];
}

/* In the automatic mode, move the add line to where the reference has it among
 * the lines of this command; it is the first of ours. */
static void align_add(struct player *p)
{
    struct decision *ours = p->ours.list, add = ours[0];
    size_t n = p->ours.count, left = p->expected->count - p->cursor, i;

    for (i = 0; i < n && i < left; i++) {
        const struct decision *e = &p->expected->list[p->cursor + i];

        if (decision_is_add(e) && e->id == add.id) {
            memmove(ours, ours + 1, i * sizeof *ours);
            ours[i] = add;
            return;
        }
    }
}

static void settle(struct player *p)
{
    size_t i;
    char line[160];

    if (p->automatic && p->ours.count > 0 && decision_is_add(p->ours.list))
        align_add(p);
    for (i = 0; i < p->ours.count; i++) {
        const struct decision *d = &p->ours.list[i];

        decision_format(line, sizeof line, d);
        if (p->show)
            puts(line);
        if (p->cursor == p->expected->count ||
            !decision_equal(d, &p->expected->list[p->cursor])) {
            p->failed = 0;      /* this difference came first */
            fail(p, "%s", line);
            break;
        }
        p->cursor++;
        p->report->decisions += d->outcome != DECISION_END;
    }
    p->ours.count = 0;
}

/* --- The driver ----------------------------------------------------------- */

/* Ask for a request.  Return 1 if there was one. */
static int ask(struct player *p, unsigned flags)
{
    struct iosched_req *rq = NULL;
    int rc = iosched_dispatch(p->s, &rq, flags, p->now);
    struct decision *d;
    struct entry *e;

    if (rc == IOSCHED_FULL || rc == IOSCHED_FROZEN)
        fail(p, "iosched_dispatch answers %d", rc);
    if (!check(p, rc, "iosched_dispatch") || rc != IOSCHED_GOT)
        return 0;
    e = rq->user;
    if (e->in_driver || rq->state != IOSCHED_STATE_INFLIGHT) {
        fail(p, "request %u is dispatched in state %d", e->id, rq->state);
        return 0;
    }
    e->in_driver = 1;
    p->in_driver++;
    d = decide(p, DECISION_DISP);
    d->id = e->id;
    d->sector = rq->xlba * p->scale;
    d->nsect = (uint64_t)rq->xnblk * p->scale;
    d->write = rq->op == IOSCHED_WRITE;
    return 1;
}

static void run_automatic(struct player *p)
{
    while (!p->failed && p->in_driver < p->automatic && ask(p, 0))
        ;
}

static void do_dispatch(struct player *p, const struct command *c)
{
    uint32_t i;

    for (i = 0; i < c->count && !p->failed; i++) {
        if (!ask(p, 0)) {
            decide(p, DECISION_NONE);
            return;
        }
    }
}

/* Forced as long as anything is queued; then the driver asks once in vain, as
 * the reference's does, for policies that take note of being asked. */
static void do_drain(struct player *p)
{
    while (!p->failed && ask(p, IOSCHED_DISPATCH_FORCE) &&
           iosched_queued(p->s) > 0)
        ;
    while (!p->failed && ask(p, 0))
        ;
}

/* The request of a complete or requeue; NULL if the driver has not got it. */
static struct entry *take_back(struct player *p, const struct command *c)
{
    struct entry *e = &p->entries[c->id];

    if (!e->in_driver) {
        fail(p, "request %u is not in the driver", c->id);
        return NULL;
    }
    e->in_driver = 0;
    p->in_driver--;
    return e;
}

static void do_complete(struct player *p, const struct command *c)
{
    struct entry *e = take_back(p, c);

    if (e == NULL)
        return;
    check(p, iosched_complete(p->s, &e->rq, 0, p->now), "iosched_complete");
    run_automatic(p);
}

static void do_requeue(struct player *p, const struct command *c)
{
    struct entry *e = take_back(p, c);

    if (e != NULL)
        check(p, iosched_requeue(p->s, &e->rq, p->now), "iosched_requeue");
}

/* --- Processes ------------------------------------------------------------ */

/* Who joined whom: everybody's carrier before the insert is on record, so one
 * among the members who had another carrier than the present one, and is not
 * the newcomer, was absorbed just now. */
static void name_merge(struct player *p, struct entry *e, struct decision *d)
{
    const struct iosched_req *carrier = iosched_carrier(&e->rq), *m, *prev;
    const struct entry *survivor, *neighbour = NULL;

    if (carrier == NULL || carrier == &e->rq) {
        fail(p, "request %u merged, but with nobody", e->id);
        return;
    }
    survivor = carrier->user;
    d->survivor = survivor->id;
    for (m = carrier->first_member, prev = NULL; m != NULL;
         prev = m, m = m->next_member) {
        if (m == &e->rq)
            neighbour = d->outcome == DECISION_FRONT
                ? (m->next_member != NULL ? m->next_member->user : NULL)
                : (prev != NULL ? prev->user : NULL);
    }
    if (neighbour == NULL) {
        fail(p, "request %u touches no member of its carrier", e->id);
        return;
    }
    d->into = neighbour->carrier;
    for (m = carrier->first_member; m != NULL; m = m->next_member) {
        struct entry *member = m->user;

        if (member != e && member->carrier != survivor->id)
            d->gone = member->carrier;
        member->carrier = survivor->id;
    }
    if (d->gone == 0)
        d->survivor = 0;
}

static void do_add(struct player *p, const struct command *c)
{
    static const enum outcome outcomes[] = {
        DECISION_QUEUE, DECISION_BACK, DECISION_FRONT
    };
    struct entry *e = &p->entries[c->id];
    struct decision *d;
    int rc;

    e->id = c->id;
    e->carrier = c->id;
    e->rq.user = e;
    e->rq.lba = c->sector / p->scale;
    e->rq.nblk = c->nsect / p->scale;
    e->rq.op = c->op;
    e->rq.flags = c->flags;
    e->rq.stream = p->streams[c->stream];
    rc = iosched_insert(p->s, &e->rq, p->now);
    if (!check(p, rc, "iosched_insert"))
        return;
    if (rc > IOSCHED_MERGED_FRONT) {
        fail(p, "iosched_insert answers %d", rc);
        return;
    }
    d = decide(p, outcomes[rc]);
    d->id = c->id;
    if (rc != IOSCHED_QUEUED)
        name_merge(p, e, d);
    run_automatic(p);
}

static void do_stream(struct player *p, const struct command *c)
{
    struct iosched_stream_opts opts;

    memset(&opts, 0, sizeof opts);
    opts.struct_size = sizeof opts;
    opts.ioprio = c->ioprio;
    opts.group = p->groups[c->group];
    check(p, iosched_stream_open(p->s, &opts, &p->streams[c->id], p->now),
          "iosched_stream_open");
}

static void do_exit(struct player *p, const struct command *c)
{
    check(p, iosched_stream_close(p->streams[c->id], p->now),
          "iosched_stream_close");
    p->streams[c->id] = NULL;
}

static void do_group(struct player *p, const struct command *c)
{
    struct iosched_group_opts opts;

    memset(&opts, 0, sizeof opts);
    opts.struct_size = sizeof opts;
    opts.weight = c->weight;
    opts.leaf_weight = c->leaf > 0 ? c->leaf : LEAF;
    opts.parent = p->groups[c->group];
    check(p, iosched_group_open(p->s, &opts, &p->groups[c->id], p->now),
          "iosched_group_open");
}

/* The root has no weight of its own: either number is its leaf weight. */
static void do_weight(struct player *p, const struct command *c)
{
    uint32_t leaf = c->id == 0 && c->leaf == 0 ? c->weight : c->leaf;

    if (c->id != 0)
        check(p, iosched_group_set_weight(p->groups[c->id], c->weight, p->now),
              "iosched_group_set_weight");
    if (leaf > 0)
        check(p, iosched_group_set_leaf_weight(p->s, p->groups[c->id], leaf,
                                               p->now),
              "iosched_group_set_leaf_weight");
}

/* --- Settings and the clock ----------------------------------------------- */

static int find_tunable(const struct player *p, const char *name,
                        struct iosched_tunable *t)
{
    size_t i;

    for (i = 0; iosched_tunable_at(p->s, i, t, sizeof *t) >= 0; i++)
        if (strcmp(t->name, name) == 0)
            return 1;
    return 0;
}

/* Thousandths of what the original counts in, which is ms where it is ns here;
 * the originals store the nearest value they take. */
static void set_tunable(struct player *p, const char *name, int64_t value)
{
    struct iosched_tunable t;

    if (!find_tunable(p, name, &t)) {
        fail(p, "no tunable %s", name);
        return;
    }
    if (t.unit == IOSCHED_UNIT_NS) {
        value *= 1000;
    } else if (value % 1000 != 0) {
        fail(p, "tunable %s takes whole numbers", name);
        return;
    } else {
        value /= 1000;
    }
    if (value < t.min)
        value = t.min;
    if (value > t.max)
        value = t.max;
    check(p, iosched_tunable_set(p->s, name, value, p->now), name);
}

static void do_time(struct player *p, const struct command *c)
{
    unsigned firings = 0;
    iosched_time due;

    while (!p->failed && (due = iosched_next_expiry(p->s)) <= c->time) {
        int rc;

        if (due > p->now) {
            p->now = due;
            firings = 0;
        } else if (++firings == MAX_FIRINGS) {
            fail(p, "a timer fires for ever");
        }
        rc = iosched_expire(p->s, p->now);
        if (check(p, rc, "iosched_expire") && rc > 0)
            run_automatic(p);
    }
    p->now = c->time;
}

static void do_end(struct player *p)
{
    struct decision *d = decide(p, DECISION_END);
    uint32_t id;

    for (id = 1; id <= p->script->max_request; id++)
        d->queued += p->entries[id].rq.state == IOSCHED_STATE_QUEUED;
    d->driver = p->in_driver;
}

/* Long, for it has a case for every command. */
static void do_command(struct player *p, const struct command *c)
{
    switch (c->verb) {
    case VERB_TUNABLE:
        set_tunable(p, c->name, c->value);
        break;
    case VERB_QUEUE:
        if (c->id)
            set_tunable(p, "rotational", c->count ? 0 : 1000);
        break;
    case VERB_MAX_SECTORS:
        set_tunable(p, "max_sectors_kb", (int64_t)(c->count / 2) * 1000);
        break;
    case VERB_MERGE:
        set_tunable(p, "nomerges", c->count ? 0 : 2000);
        break;
    case VERB_STREAM:
        do_stream(p, c);
        break;
    case VERB_IOPRIO:
        check(p, iosched_stream_set_ioprio(p->streams[c->id], c->ioprio,
                                           p->now),
              "iosched_stream_set_ioprio");
        break;
    case VERB_EXIT:
        do_exit(p, c);
        break;
    case VERB_MOVE:
        check(p, iosched_stream_set_group(p->streams[c->id],
                                          p->groups[c->group], p->now),
              "iosched_stream_set_group");
        break;
    case VERB_GROUP:
        do_group(p, c);
        break;
    case VERB_WEIGHT:
        do_weight(p, c);
        break;
    case VERB_TIME:
        do_time(p, c);
        break;
    case VERB_ADD:
        do_add(p, c);
        break;
    case VERB_DISPATCH:
        do_dispatch(p, c);
        break;
    case VERB_COMPLETE:
        do_complete(p, c);
        break;
    case VERB_REQUEUE:
        do_requeue(p, c);
        break;
    case VERB_DRAIN:
        do_drain(p);
        break;
    case VERB_AUTO:
        p->automatic = c->count;
        break;
    case VERB_END:
        do_end(p);
        break;
    }
}

/* --- The whole ------------------------------------------------------------ */

static int have_policy(const char *name)
{
    const struct iosched_policy *const *all = iosched_builtin_policies();

    for (; *all != NULL; all++)
        if (strcmp((*all)->name, name) == 0 ||
            ((*all)->alias != NULL && strcmp((*all)->alias, name) == 0))
            return 1;
    return 0;
}

/* The policy with the preset of the script's version.  A fourth number tells
 * apart references that the library does not. */
static void start(struct player *p, uint32_t block_size)
{
    const struct script *script = p->script;
    char policy[2 * SCRIPT_NAME + 2];
    struct iosched_cfg cfg;
    int rc;

    snprintf(policy, sizeof policy, "%s:%s", script->policy,
             strcmp(script->version, "2.6.32.2") == 0 ? "2.6.32"
                                                      : script->version);
    iosched_cfg_init(&cfg);
    cfg.flags = IOSCHED_F_COMPAT;
    if (script->nonrot)
        cfg.flags |= IOSCHED_F_NONROTATIONAL;
    cfg.block_size = block_size;
    cfg.depth = DEPTH;
    cfg.max_streams = script->nstreams + 1;
    cfg.max_groups = script->ngroups + 1;
    cfg.queued_hint = 1024;
    cfg.max_merge_segs = SEGMENTS;
    rc = iosched_create(policy, &cfg, &p->s, 0);
    if (rc < 0)
        fail(p, "cannot open %s: %s", policy, iosched_strerror(rc));
    else if (script->ngroups > 0)
        check(p, iosched_group_set_leaf_weight(p->s, NULL, ROOT_LEAF, 0),
              "iosched_group_set_leaf_weight");
}

static void complete_all(struct player *p)
{
    uint32_t id;

    for (id = 1; id <= p->script->max_request && p->in_driver > 0; id++) {
        struct command c = { VERB_COMPLETE };

        c.id = id;
        if (p->entries[id].in_driver)
            do_complete(p, &c);
    }
}

/* Whatever the script leaves comes back, and the scheduler ends: if not, that
 * is a failure too. */
static void stop(struct player *p)
{
    p->automatic = 0;
    do {
        complete_all(p);
        p->ours.count = 0;
        do_drain(p);
    } while (p->ours.count > 0 && !p->failed);
    check(p, iosched_destroy(p->s), "iosched_destroy");
    decisions_free(&p->ours);
}

void player_run(const struct script *script, const struct decisions *expected,
                uint32_t block_size, int show, struct report *report)
{
    struct player p;
    size_t i;
    unsigned line = 0;

    memset(report, 0, sizeof *report);
    if (!have_policy(script->policy)) {
        report->verdict = PLAYED_UNAVAILABLE;
        return;
    }
    memset(&p, 0, sizeof p);
    p.script = script;
    p.expected = expected;
    p.report = report;
    p.show = show;
    p.scale = block_size / SECTOR;
    p.entries = must_alloc((script->max_request + 1) * sizeof *p.entries);
    p.streams = must_alloc((script->max_stream + 1) * sizeof(void *));
    p.groups = must_alloc((script->max_group + 1) * sizeof(void *));
    start(&p, block_size);
    for (i = 0; i < script->count && !p.failed; i++) {
        line = script->commands[i].line;
        do_command(&p, &script->commands[i]);
        settle(&p);
    }
    if (!p.failed && p.cursor < expected->count)
        fail(&p, "nothing more");
    if (p.failed) {
        report->verdict = PLAYED_DIFFERS;
        report->line = line;
        if (p.cursor < expected->count)
            decision_format(report->wanted, sizeof report->wanted,
                            &expected->list[p.cursor]);
        else
            snprintf(report->wanted, sizeof report->wanted, "nothing more");
    }
    if (p.s != NULL) {
        int differed = p.failed;

        p.failed = 0;
        p.report = &(struct report){ PLAYED_DIFFERS };
        stop(&p);
        if (p.failed && !differed) {
            snprintf(report->wanted, sizeof report->wanted,
                     "every request comes back at the end");
            memcpy(report->got, p.report->got, sizeof report->got);
            report->verdict = PLAYED_DIFFERS;
        }
    }
    free(p.entries);
    free(p.streams);
    free(p.groups);
}
