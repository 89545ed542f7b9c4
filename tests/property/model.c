/* SPDX-License-Identifier: BSD-2-Clause */
/* model.c - the referee's life, what it holds against the library after each
 * call, and the driver that lets everything out at the end. */
#include "model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Policies that never hold anything back on purpose: with a free slot and a
 * request that may go, they give one.  Others may wait for a timer. */
static const char *const conserving[] = { "noop", "deadline", NULL };

int model_ok(const struct model *m)
{
    return m->wrong[0] == '\0';
}

void model_fail(struct model *m, const char *fmt, ...)
{
    va_list ap;

    if (!model_ok(m))
        return;
    va_start(ap, fmt);
    vsnprintf(m->wrong, sizeof m->wrong, fmt, ap);
    va_end(ap);
}

/* --- Counting calls and answers ------------------------------------------- */
static const int errors[] = {
    IOSCHED_ERR_NOENT, IOSCHED_ERR_BUSY, IOSCHED_ERR_INVAL, IOSCHED_ERR_NOSPC,
    IOSCHED_ERR_RANGE, IOSCHED_ERR_REENTRANT, IOSCHED_ERR_STATE,
    IOSCHED_ERR_NOTSUP
};
#define NERRORS (sizeof errors / sizeof errors[0])

const char *tally_call(unsigned call)
{
    static const char *const name[CALL_COUNT] = {
        "insert", "dispatch", "dispatch_many", "complete", "requeue",
        "queue_full", "cancel", "abort", "tag_release", "expire", "freeze",
        "thaw", "switch", "set_depth", "may_queue", "tunable_set",
        "tunable_get", "tunable_at", "stream_open", "stream_close",
        "stream_set_ioprio", "stream_set_group", "stream_yield",
        "group_open", "group_close", "group_set_weight",
        "group_set_leaf_weight", "post", "post_complete", "intake", "reap",
        "destroy", "get_stats", "dump"
    };

    return name[call];
}

const char *tally_answer(unsigned answer)
{
    static const char *const name[MODEL_ANSWERS] = {
        "0", "1", "2", "3", "4+", "NOENT", "BUSY", "INVAL", "NOSPC", "RANGE",
        "REENTRANT", "STATE", "NOTSUP"
    };

    return name[answer];
}

unsigned tally_column(int rc)
{
    unsigned i;

    if (rc >= 0)
        return rc < 4 ? (unsigned)rc : 4;
    for (i = 0; i < NERRORS && errors[i] != rc; i++)
        ;
    return i < NERRORS ? 5 + i : MODEL_ANSWERS;
}

void model_note(struct model *m, unsigned call, int rc)
{
    unsigned column = tally_column(rc);

    if (column == MODEL_ANSWERS)
        model_fail(m, "%s answers %d", tally_call(call), rc);
    else if (m->tally != NULL)
        m->tally->n[call][column]++;
}

int model_expect(struct model *m, unsigned call, int rc, int want)
{
    model_note(m, call, rc);
    if (rc != want)
        model_fail(m, "%s answers %d, not %d", tally_call(call), rc, want);
    return rc;
}

/* --- Callbacks ------------------------------------------------------------ */
/* Inside a callback nothing but what is marked [cb] may be called. */
static void on_trace(void *user, const struct iosched_event *ev)
{
    struct model *m = user;
    struct iosched_req spare;
    int rc;

    if (m->s == NULL || !model_ok(m))
        return;
    if (ev->queued != iosched_queued(m->s) ||
        ev->inflight != iosched_inflight(m->s))
        model_fail(m, "an event '%c' counts %u queued and %u in flight",
                   (int)ev->action, ev->queued, ev->inflight);
    if (++m->trace_calls % 16 != 0)
        return;
    memset(&spare, 0, sizeof spare);
    spare.nblk = 1;
    rc = iosched_insert(m->s, &spare, m->now);
    model_expect(m, CALL_INSERT, rc, IOSCHED_ERR_REENTRANT);
    rc = iosched_destroy(m->s);
    model_expect(m, CALL_DESTROY, rc, IOSCHED_ERR_REENTRANT);
}

static int on_merge(void *user, const struct iosched_req *into,
                    const struct iosched_req *rq, int where)
{
    (void)user;
    (void)where;
    return (into->xlba ^ rq->xlba) % 13 != 5;
}

static void on_wake(void *user)
{
    struct model *m = user;

    m->wakes++;
}

/* --- Life ----------------------------------------------------------------- */
static void *must_calloc(size_t n, size_t size)
{
    void *p = calloc(n > 0 ? n : 1, size);

    if (p == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(99);
    }
    return p;
}

static void make_tags(struct model *m)
{
    struct iosched_tags_cfg cfg;
    size_t size;

    memset(&cfg, 0, sizeof cfg);
    cfg.struct_size = sizeof cfg;
    cfg.depth = m->setup.shared_tags;
    cfg.reserved = m->setup.reserved_tags;
    cfg.seats = 2;
    size = iosched_tags_size(&cfg);
    m->tags_mem = must_calloc(1, size);
    if (iosched_tags_init(m->tags_mem, size, &cfg, &m->tags) < 0)
        model_fail(m, "iosched_tags_init refuses");
    m->foreign_seat = iosched_tags_join(m->tags, NULL, NULL);
}

static void make_cfg(struct model *m)
{
    const struct model_setup *from = &m->setup;
    struct iosched_cfg *c = &m->cfg;

    iosched_cfg_init(c);
    c->flags = from->flags;
    c->capacity_nblk = from->capacity;
    c->block_size = from->block_size;
    c->depth = from->depth;
    c->max_streams = from->streams;
    c->max_groups = from->groups;
    c->queued_hint = from->queued_hint;
    c->max_merge_kib = from->max_merge_kib;
    c->max_merge_segs = from->max_merge_segs;
    c->head_burst = from->head_burst;
    c->policies = from->policies;
    c->tags = m->tags;
    c->user = m;
    if (from->callbacks) {
        c->trace = on_trace;
        c->may_merge = on_merge;
    }
    c->wake = on_wake;
}

void model_open(struct model *m, const struct model_setup *setup,
                struct tally *tally, iosched_time now)
{
    uint32_t i;
    size_t size;
    int rc;

    memset(m, 0, sizeof *m);
    m->setup = *setup;
    m->tally = tally;
    m->nitems = setup->items;
    m->items = must_calloc(m->nitems, sizeof *m->items);
    m->completions = must_calloc(MODEL_TAGS, sizeof *m->completions);
    m->posts = must_calloc(m->nitems, sizeof *m->posts);
    m->post_when = must_calloc(m->nitems, sizeof *m->post_when);
    m->done = must_calloc(m->nitems, sizeof *m->done);
    for (i = 0; i < m->nitems; i++)
        m->items[i].carrier = i;
    if (setup->shared_tags > 0)
        make_tags(m);
    m->ntags = setup->shared_tags > 0 ? setup->shared_tags : setup->depth;
    make_cfg(m);
    m->now = m->entered = m->core = now;
    m->retry_at = IOSCHED_NEVER;
    m->retry_wait = IOSCHED_MSEC(1);
    m->depth = m->depth_set = setup->depth;
    m->streams[0].used = m->streams[0].open = 1;
    m->groups[0].used = m->groups[0].open = 1;
    size = iosched_size(&m->cfg);
    m->mem = must_calloc(1, size);
    rc = iosched_init(m->mem, size - 1, setup->policy, &m->cfg, &m->s, now);
    if (rc != IOSCHED_ERR_NOSPC || m->s != NULL)
        model_fail(m, "init with a byte too little answers %d", rc);
    rc = iosched_init(m->mem, size, setup->policy, &m->cfg, &m->s, now);
    if (rc < 0)
        model_fail(m, "cannot open %s: %s", setup->policy,
                   iosched_strerror(rc));
    else
        model_policy_is(m);
}

void model_free(struct model *m)
{
    free(m->items);
    free(m->completions);
    free(m->posts);
    free(m->post_when);
    free(m->done);
    free(m->mem);
    free(m->tags_mem);
    m->items = NULL;
    m->mem = NULL;
}

/** The policy that runs and its merge limit are as they are now. */
void model_policy_is(struct model *m)
{
    const char *name = iosched_policy_name(m->s);
    struct iosched_tunable t;
    int64_t v;
    size_t i;

    snprintf(m->policy, sizeof m->policy, "%s", name);
    m->conserving = 0;
    for (i = 0; conserving[i] != NULL; i++)
        m->conserving |= strcmp(name, conserving[i]) == 0;
    m->bounded = strcmp(name, "deadline") == 0 &&
                 !(m->cfg.flags & IOSCHED_F_COMPAT);
    for (i = 0; iosched_tunable_at(m->s, i, &t, sizeof t) >= 0; i++) {
        if (iosched_tunable_get(m->s, t.name, &v) < 0)
            model_fail(m, "%s is listed and cannot be got", t.name);
        if ((t.flags & IOSCHED_TUNABLE_QUIRK && v != 0) ||
            (strcmp(t.name, "tick_ns") == 0 && v != 0) ||
            (strcmp(t.name, "writes_starved") == 0 && v < 1))
            m->bounded = 0;
    }
    for (i = 0; i < m->nitems; i++)
        m->items[i].passed = 0;
    model_merge_limit(m);
}

void model_merge_limit(struct model *m)
{
    int64_t kib = 0;

    if (iosched_tunable_get(m->s, "max_sectors_kb", &kib) < 0)
        model_fail(m, "there is no max_sectors_kb");
    m->merge_blocks = kib * 1024 / (int64_t)m->cfg.block_size;
}

/* --- Order ---------------------------------------------------------------- */
static int live(const struct item *it)
{
    return it->state == IOSCHED_STATE_QUEUED ||
           it->state == IOSCHED_STATE_INFLIGHT;
}

static int has_extent(const struct item *it)
{
    return it->mine.op != IOSCHED_FLUSH && it->mine.op != IOSCHED_PASS;
}

/* Must x wait for y, which came earlier and is live? */
static int conflict(const struct model *m, const struct item *x,
                    const struct item *y)
{
    if ((x->mine.flags | y->mine.flags) & IOSCHED_RQ_BARRIER)
        return 1;
    if (!(m->cfg.flags & IOSCHED_F_ORDER_OVERLAPS) || !has_extent(x) ||
        !has_extent(y))
        return 0;
    if (x->mine.op == IOSCHED_READ && y->mine.op == IOSCHED_READ)
        return 0;
    return x->mine.lba < y->mine.lba + y->mine.nblk &&
           y->mine.lba < x->mine.lba + x->mine.nblk;
}

int model_eligible(const struct model *m, uint32_t i)
{
    uint32_t a, b;

    for (a = 0; a < m->nitems; a++) {
        const struct item *x = &m->items[a];

        if (!live(x) || x->carrier != i)
            continue;
        for (b = 0; b < m->nitems; b++) {
            const struct item *y = &m->items[b];

            if (live(y) && y->carrier != i && y->seq < x->seq &&
                conflict(m, x, y))
                return 0;
        }
    }
    return 1;
}

/** With more requests than the pool of overlaps holds, arrivals may wait for a
 *  place in it although nothing forbids them to go. */
int model_crowded(const struct model *m)
{
    uint32_t pool = 1, all = 0, i;

    if (!(m->cfg.flags & IOSCHED_F_ORDER_OVERLAPS))
        return 0;
    while (pool < m->setup.queued_hint)
        pool *= 2;
    pool += m->setup.depth;
    for (i = 0; i < m->nitems; i++)
        all += m->items[i].state == IOSCHED_STATE_QUEUED ||
               m->items[i].state == IOSCHED_STATE_INFLIGHT;
    return all > pool;
}

int model_direct(const struct item *it)
{
    return it->phase != IOSCHED_PHASE_DATA || it->mine.op == IOSCHED_PASS ||
           (it->mine.flags & (IOSCHED_RQ_HEAD | IOSCHED_RQ_BARRIER)) != 0;
}

/* --- The bound of deadline ------------------------------------------------
 * A request that is the oldest of its direction and past its deadline is passed
 * by the rest of a batch and one batch of writes, if it reads; by the rest of a
 * batch and writes_starved batches of reads, if it writes. */
void model_bound(struct model *m, uint32_t x)
{
    int64_t batch = 0, starved = 0, expire[2] = { 0, 0 };
    uint32_t i, head[2] = { MODEL_NONE, MODEL_NONE };
    int dir;

    if (!m->bounded || model_crowded(m))
        return;
    iosched_tunable_get(m->s, "fifo_batch", &batch);
    iosched_tunable_get(m->s, "writes_starved", &starved);
    iosched_tunable_get(m->s, "read_expire", &expire[0]);
    iosched_tunable_get(m->s, "write_expire", &expire[1]);
    if (batch < 1)
        batch = 1;
    for (i = 0; i < m->nitems; i++) {
        struct item *it = &m->items[i];

        if (it->state != IOSCHED_STATE_QUEUED || it->carrier != i ||
            it->requeued || model_direct(it) || !model_eligible(m, i))
            continue;
        dir = it->mine.op != IOSCHED_READ;
        if (head[dir] == MODEL_NONE || it->seq < m->items[head[dir]].seq)
            head[dir] = i;
    }
    for (i = 0; i < m->nitems; i++)
        if (i != head[0] && i != head[1])
            m->items[i].passed = 0;
    for (dir = 0; dir < 2; dir++) {
        struct item *it = head[dir] != MODEL_NONE ? &m->items[head[dir]]
                                                  : NULL;
        int64_t limit = dir == 0 ? 2 * batch : (starved + 1) * batch;

        if (it == NULL || head[dir] == x ||
            m->core < it->age + (uint64_t)expire[dir])
            continue;
        if (++it->passed > limit)
            model_fail(m, "an expired %s is passed %u times",
                       dir == 0 ? "read" : "write", it->passed);
    }
}

/* --- Who rides on whom ---------------------------------------------------- */
uint32_t model_index(const struct model *m, const struct iosched_req *rq)
{
    uintptr_t at = (uintptr_t)rq, from = (uintptr_t)m->items;

    if (at < from || (at - from) % sizeof *m->items != 0 ||
        (at - from) / sizeof *m->items >= m->nitems)
        return MODEL_NONE;
    return (uint32_t)((at - from) / sizeof *m->items);
}

/* Members ascend and touch; together they are what the carrier says. */
static void check_list(struct model *m, uint32_t c)
{
    struct item *head = &m->items[c];
    const struct iosched_req *rq = &head->rq, *r;
    uint32_t n = 0, blocks = 0, segs = 0, i;
    iosched_lba at = rq->xlba;
    uint64_t oldest = UINT64_MAX;

    for (r = rq->first_member; r != NULL && n <= m->nitems;
         r = r->next_member, n++) {
        i = model_index(m, r);
        if (i == MODEL_NONE || m->items[i].carrier != c ||
            m->items[i].state != head->state) {
            model_fail(m, "a stranger is among the members of %u", c);
            return;
        }
        if (rq->nmembers > 1 && r->lba != at)
            model_fail(m, "the members of %u do not touch at %" PRIu64, c, at);
        at = r->lba + r->nblk;
        blocks += r->nblk;
        segs += r->nseg > 0 ? r->nseg : 1;
        if (m->items[i].seq < oldest)
            oldest = m->items[i].seq;
        if (rq->nmembers > 1 && r->op != rq->op)
            model_fail(m, "%u carries another operation", c);
    }
    if (n != rq->nmembers)
        model_fail(m, "%u has %u members and counts %u", c, n, rq->nmembers);
    if (has_extent(head) && rq->xnblk != blocks)
        model_fail(m, "%u has %u blocks and says %u", c, blocks, rq->xnblk);
    if (has_extent(head) && rq->first_member != NULL &&
        rq->xlba != rq->first_member->lba)
        model_fail(m, "%u starts at %" PRIu64 " and says %" PRIu64, c,
                   rq->first_member->lba, rq->xlba);
    if (n > 1 && segs > m->setup.max_merge_segs)
        model_fail(m, "%u has %u segments", c, segs);
    if (!(m->cfg.flags & IOSCHED_F_COMPAT) && oldest != head->seq)
        model_fail(m, "%u carries one that is older", c);
}

/* it has come to ride on another: was that allowed? */
static void check_join(struct model *m, const struct item *it)
{
    const struct item *c = &m->items[it->carrier];
    const unsigned never = IOSCHED_RQ_NOMERGE | IOSCHED_RQ_BARRIER |
                           IOSCHED_RQ_HEAD | IOSCHED_RQ_PREFLUSH |
                           IOSCHED_RQ_FUA;

    if (it == c)
        return;
    if ((it->mine.flags | c->mine.flags) & never)
        model_fail(m, "one that may not merge did");
    if (it->state != IOSCHED_STATE_QUEUED || c->requeued)
        model_fail(m, "a join with what is no longer in the policy");
    if ((int64_t)c->rq.xnblk > m->merge_blocks)
        model_fail(m, "a merge of %u blocks", c->rq.xnblk);
}

void model_learn(struct model *m, int moved)
{
    uint32_t i, c;

    for (i = 0; i < m->nitems; i++) {
        struct item *it = &m->items[i];
        const struct iosched_req *rq;

        if (!live(it))
            continue;
        rq = iosched_carrier(&it->rq);
        c = model_index(m, rq);
        if (c == MODEL_NONE || !live(&m->items[c])) {
            model_fail(m, "%u is live and rides on nobody", i);
            return;
        }
        if (c == it->carrier)
            continue;
        if (!moved || it->state == IOSCHED_STATE_INFLIGHT)
            model_fail(m, "%u rides on %u, not on %u", i, c, it->carrier);
        it->carrier = c;
        check_join(m, it);
    }
    for (i = 0; i < m->nitems && model_ok(m); i++)
        if (live(&m->items[i]) && m->items[i].carrier == i)
            check_list(m, i);
}

/* --- Looking -------------------------------------------------------------- */
static unsigned shown_state(const struct item *it, uint32_t i)
{
    return live(it) && it->carrier != i ? IOSCHED_STATE_ABSORBED : it->state;
}

static void check_item(struct model *m, uint32_t i)
{
    const struct item *it = &m->items[i];
    const struct iosched_req *a = &it->rq, *b = &it->mine;

    if (a->lba != b->lba || a->nblk != b->nblk || a->op != b->op ||
        a->flags != b->flags || a->stream != b->stream ||
        a->user != b->user || a->ioprio != b->ioprio || a->nseg != b->nseg)
        model_fail(m, "the caller's part of %u was written", i);
    if (a->state != shown_state(it, i))
        model_fail(m, "%u is in state %u, not %u", i, a->state,
                   shown_state(it, i));
    if (!live(it))
        return;
    if (a->t_insert != it->age)
        model_fail(m, "%u was inserted at %" PRIu64 ", not %" PRIu64, i,
                   it->age, a->t_insert);
    if (iosched_req_seq(a) != it->seq)
        model_fail(m, "%u has lost its place in time", i);
    if (it->carrier != i)
        return;
    if (a->phase != it->phase)
        model_fail(m, "%u is in phase %u, not %u", i, a->phase, it->phase);
    if (it->state == IOSCHED_STATE_INFLIGHT && a->tag != it->tag)
        model_fail(m, "%u has tag %d, not %d", i, a->tag, it->tag);
}

/* next_expiry is known where policies arm no timer. */
static void check_expiry(struct model *m)
{
    iosched_time want = m->retry_at, got = iosched_next_expiry(m->s);

    if (want != IOSCHED_NEVER)
        want = want > m->offset ? want - m->offset : 0;
    if (m->conserving ? got != want : got > want)
        model_fail(m, "next_expiry is %" PRIu64 ", not %" PRIu64, got, want);
}

#define SAME(field)                                                          \
    do {                                                                     \
        if (got.field != want->field)                                        \
            model_fail(m, "stats: " #field " is %llu, not %llu",             \
                       (unsigned long long)got.field,                        \
                       (unsigned long long)want->field);                     \
    } while (0)

static void check_stats(struct model *m)
{
    const struct iosched_stats *want = &m->stats;
    struct iosched_stats got;
    unsigned op;

    model_expect(m, CALL_GET_STATS, iosched_get_stats(m->s, &got, sizeof got),
                 IOSCHED_OK);
    for (op = 0; op < 8; op++) {
        SAME(inserted[op]);
        SAME(completed[op]);
        SAME(blocks[op]);
    }
    SAME(dispatches);
    SAME(phases);
    SAME(dissolved);
    SAME(requeued);
    SAME(queue_full);
    SAME(cancelled);
    SAME(aborted);
    SAME(failed);
    SAME(refused);
    SAME(late);
    SAME(heads);
    SAME(barriers);
    SAME(fulls);
    SAME(switches);
    SAME(clock_backwards);
    SAME(max_queued);
    SAME(max_inflight);
}

static void check_tags(struct model *m)
{
    uint32_t i, used = 0;
    int seat;

    if (m->tags == NULL)
        return;
    seat = iosched_tags_seat(m->tags, m->s);
    if (seat < 0 || iosched_tags_sched(m->tags, seat) != m->s)
        model_fail(m, "the scheduler has lost its seat");
    for (i = 0; i < m->ntags; i++) {
        int want = m->tag[i] == TAG_FREE      ? IOSCHED_ERR_NOENT
                   : m->tag[i] == TAG_FOREIGN ? m->foreign_seat
                                              : seat;

        used += m->tag[i] != TAG_FREE;
        if (iosched_tags_owner(m->tags, (int32_t)i) != want)
            model_fail(m, "tag %u is owned by %d, not %d", i,
                       iosched_tags_owner(m->tags, (int32_t)i), want);
    }
    if (iosched_tags_in_use(m->tags) != used)
        model_fail(m, "%u tags are in use, not %u",
                   iosched_tags_in_use(m->tags), used);
}

void model_check(struct model *m)
{
    uint32_t i;
    int pending;

    if (!model_ok(m))
        return;
    for (i = 0; i < m->nitems; i++)
        check_item(m, i);
    if (iosched_queued(m->s) != m->queued)
        model_fail(m, "%u are queued, not %u", iosched_queued(m->s),
                   m->queued);
    if (iosched_inflight(m->s) != m->inflight)
        model_fail(m, "%u are in flight, not %u", iosched_inflight(m->s),
                   m->inflight);
    if (iosched_depth(m->s) != m->depth)
        model_fail(m, "depth is %u, not %u", iosched_depth(m->s), m->depth);
    if (strcmp(iosched_policy_name(m->s), m->policy) != 0)
        model_fail(m, "the policy is %s, not %s", iosched_policy_name(m->s),
                   m->policy);
    pending = iosched_inbox_pending(m->s);
    if (pending != (m->nposts + m->ncompletions > 0) &&
        (pending != IOSCHED_ERR_NOTSUP || m->nposts + m->ncompletions > 0))
        model_fail(m, "inbox_pending is %d", pending);
    for (i = 0; i < m->nlate; i++)
        if (iosched_find(m->s, m->late[i]) != NULL)
            model_fail(m, "a late cookie finds a request");
    check_expiry(m);
    check_stats(m);
    check_tags(m);
}

/* --- The end -------------------------------------------------------------- */
static uint32_t first_in_flight(const struct model *m)
{
    uint32_t i;

    for (i = 0; i < m->nitems; i++)
        if (m->items[i].state == IOSCHED_STATE_INFLIGHT &&
            m->items[i].carrier == i)
            return i;
    return MODEL_NONE;
}

/* Give back one tag that is not in flight. */
static int free_a_tag(struct model *m)
{
    uint32_t t;

    for (t = 0; t < m->ntags; t++)
        if (m->tag[t] == TAG_QUARANTINED) {
            model_release(m, (int32_t)t);
            return 1;
        }
    for (t = 0; t < m->ntags; t++)
        if (m->tag[t] == TAG_FOREIGN) {
            model_foreign(m, 0);
            return 1;
        }
    return 0;
}

void model_drain(struct model *m)
{
    uint32_t got, i, turns = 40 * m->nitems + 400;
    iosched_time due;
    int rc;

    while (model_ok(m) && m->frozen > 0)
        model_thaw(m);
    while (model_ok(m) && turns-- > 0) {
        if (m->nposts + m->ncompletions > 0)
            model_intake(m, m->now);
        while (model_ok(m) && m->ndone > 0)
            model_reap(m);
        rc = model_dispatch(m, 0, &got);
        if (rc == IOSCHED_GOT)
            continue;
        i = first_in_flight(m);
        if (i != MODEL_NONE) {
            model_complete(m, i, 0);
        } else if (rc == IOSCHED_EMPTY) {
            break;
        } else if (rc == IOSCHED_FULL) {
            if (!free_a_tag(m))
                model_fail(m, "FULL, and nothing that could free a slot");
        } else {
            due = iosched_next_expiry(m->s);
            if (due == IOSCHED_NEVER) {
                model_fail(m, "%d, with no timer and nothing in flight", rc);
                break;
            }
            if (due > m->now)
                model_clock(m, due);
            model_expire(m);
        }
        model_check(m);
    }
    while (model_ok(m) && free_a_tag(m))
        ;
    for (i = 0; i < m->nitems && model_ok(m); i++)
        if (m->items[i].state != IOSCHED_STATE_IDLE)
            model_fail(m, "%u does not come out", i);
    model_check(m);
}

void model_close(struct model *m)
{
    if (model_ok(m) && m->s != NULL) {
        model_expect(m, CALL_DESTROY, iosched_destroy(m->s), IOSCHED_OK);
        if (m->tags != NULL &&
            iosched_tags_leave(m->tags, m->foreign_seat) < 0)
            model_fail(m, "the foreigner cannot leave");
    }
    model_free(m);
}
