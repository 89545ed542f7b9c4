/* SPDX-License-Identifier: BSD-2-Clause */
/* model_control.c - the referee's twins for time, settings, streams, groups and
 * the inbox, and the check of a dump. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "model_inside.h"

/* --- Time ----------------------------------------------------------------- */
void model_clock(struct model *m, iosched_time now)
{
    m->now = now;
}

void model_enter(struct model *m)
{
    if (m->now == m->entered)
        return;
    if (m->now < m->entered) {
        m->offset += m->entered - m->now;
        m->stats.clock_backwards++;
    } else {
        m->core = m->now + m->offset;
    }
    m->entered = m->now;
}

int model_expire(struct model *m)
{
    int rc, due;

    model_enter(m);
    due = m->retry_at <= m->core;
    rc = iosched_expire(m->s, m->now);
    model_note(m, CALL_EXPIRE, rc);
    if (rc < due || rc > 1 || (m->conserving && rc != due))
        model_fail(m, "expire answers %d, and %s is due", rc,
                   due ? "the retry" : "nothing");
    if (due)
        m->retry_at = IOSCHED_NEVER;
    model_learn(m, 0);
    return rc;
}

int model_freeze(struct model *m)
{
    model_enter(m);
    m->frozen++;
    return model_expect(m, CALL_FREEZE, iosched_freeze(m->s, m->now),
                        IOSCHED_OK);
}

int model_thaw(struct model *m)
{
    model_enter(m);
    if (m->frozen == 0)
        return model_expect(m, CALL_THAW, iosched_thaw(m->s, m->now),
                            IOSCHED_ERR_STATE);
    m->frozen--;
    return model_expect(m, CALL_THAW, iosched_thaw(m->s, m->now), IOSCHED_OK);
}

/* --- Settings ------------------------------------------------------------- */
struct text {
    char  *at;
    size_t len, room;
};

static int keep_text(void *user, const char *text, size_t len)
{
    struct text *t = user;

    if (t->len + len + 1 > t->room) {
        t->room = 2 * (t->len + len + 1);
        t->at = realloc(t->at, t->room);
        if (t->at == NULL)
            return 1;
    }
    memcpy(t->at + t->len, text, len);
    t->len += len;
    t->at[t->len] = '\0';
    return 0;
}

static struct text dump_of(struct model *m)
{
    struct text t = { NULL, 0, 0 };

    keep_text(&t, "", 0);
    model_expect(m, CALL_DUMP, iosched_dump(m->s, keep_text, &t, m->now),
                 IOSCHED_OK);
    return t;
}

/** The name that the policy of this string will go by. */
static const char *name_of(const struct model *m, const char *policy)
{
    const struct iosched_policy *const *p = m->setup.policies;
    size_t n = strcspn(policy, ":,");

    if (p == NULL)
        p = iosched_builtin_policies();
    for (; *p != NULL; p++)
        if ((strlen((*p)->name) == n &&
             memcmp((*p)->name, policy, n) == 0) ||
            ((*p)->alias != NULL && strlen((*p)->alias) == n &&
             memcmp((*p)->alias, policy, n) == 0))
            return (*p)->name;
    return "?";
}

int model_switch(struct model *m, const char *policy, int want)
{
    struct text before = { NULL, 0, 0 }, after = { NULL, 0, 0 };
    int rc;

    model_enter(m);
    if (m->cfg.flags & IOSCHED_F_NO_SWITCH)
        want = IOSCHED_ERR_NOTSUP;
    if (want < 0) {
        model_may_queue(m, 0, IOSCHED_READ, 0);     /* the clock is set */
        before = dump_of(m);
    }
    rc = model_expect(m, CALL_SWITCH, iosched_switch(m->s, policy, m->now),
                      want);
    if (want < 0 && model_ok(m)) {
        after = dump_of(m);
        if (strcmp(before.at, after.at) != 0)
            model_fail(m, "a refused switch has changed something");
    } else if (model_ok(m)) {
        m->stats.switches++;
        model_policy_is(m);
        if (strcmp(m->policy, name_of(m, policy)) != 0)
            model_fail(m, "%s runs after a switch to %s", m->policy, policy);
        model_learn(m, 0);
    }
    free(before.at);
    free(after.at);
    return rc;
}

int model_set_depth(struct model *m, uint32_t depth)
{
    int ok = depth > 0 && depth <= m->setup.depth;

    model_enter(m);
    if (ok)
        m->depth = m->depth_set = depth;
    return model_expect(m, CALL_SET_DEPTH,
                        iosched_set_depth(m->s, depth, m->now),
                        ok ? IOSCHED_OK : IOSCHED_ERR_RANGE);
}

int model_may_queue(struct model *m, uint32_t stream, unsigned op,
                    unsigned flags)
{
    const struct mstream *st = &m->streams[stream];
    int rc;

    model_enter(m);
    rc = iosched_may_queue(m->s, st->h, op, flags, m->now);
    model_note(m, CALL_MAY_QUEUE, rc);
    if (op > IOSCHED_PASS)
        return model_expect(m, CALL_MAY_QUEUE, rc, IOSCHED_ERR_NOTSUP);
    if (!st->open && (stream == 0 || st->h != NULL))
        return model_expect(m, CALL_MAY_QUEUE, rc, IOSCHED_ERR_STATE);
    if (rc < 0 || rc > IOSCHED_MUST)
        model_fail(m, "may_queue answers %d", rc);
    return rc;
}

int model_tunable_set(struct model *m, const char *name, int64_t value,
                      int want)
{
    int64_t v = 0;
    int rc;

    model_enter(m);
    rc = model_expect(m, CALL_TUNABLE_SET,
                      iosched_tunable_set(m->s, name, value, m->now), want);
    if (want < 0)
        return rc;
    model_expect(m, CALL_TUNABLE_GET, iosched_tunable_get(m->s, name, &v),
                 IOSCHED_OK);
    if (v != value)
        model_fail(m, "%s was set to %" PRId64 " and is %" PRId64, name,
                   value, v);
    m->bounded = 0;
    model_merge_limit(m);
    model_learn(m, 0);
    return rc;
}

/* --- Streams and groups --------------------------------------------------- */
/** Closed ones whose last request is gone are free again. */
void model_objects_settle(struct model *m)
{
    uint32_t i, j;
    int again = 1;

    for (i = 1; i < MODEL_STREAMS; i++)
        if (m->streams[i].used && !m->streams[i].open &&
            m->streams[i].requests == 0)
            m->streams[i].used = 0;
    while (again) {
        again = 0;
        for (i = 1; i < MODEL_GROUPS; i++) {
            struct mgroup *g = &m->groups[i];
            int kids = 0;

            if (!g->used || g->open || g->requests > 0)
                continue;
            for (j = 0; j < MODEL_STREAMS; j++)
                kids |= m->streams[j].used && m->streams[j].group == i;
            for (j = 1; j < MODEL_GROUPS; j++)
                kids |= m->groups[j].used && m->groups[j].parent == i;
            if (kids)
                continue;
            g->used = 0;
            again = 1;
        }
    }
}

void model_settle(struct model *m, uint32_t i, unsigned state)
{
    struct item *it = &m->items[i];

    it->state = state;
    it->requeued = it->posted = 0;
    if (state == IOSCHED_STATE_IDLE)
        it->carrier = i;
    m->streams[it->stream].requests--;
    m->groups[it->group].requests--;
    model_objects_settle(m);
}

static int prio_ok(unsigned prio)
{
    int cls = (int)IOSCHED_PRIO_CLASS(prio);

    return cls == IOSCHED_PRIO_IDLE ||
           iosched_prio(cls, (int)IOSCHED_PRIO_LEVEL(prio)) >= 0;
}

static uint32_t streams_used(const struct model *m)
{
    uint32_t n = 0, i;

    for (i = 0; i < MODEL_STREAMS; i++)
        n += (uint32_t)m->streams[i].used;
    return n;
}

static uint32_t groups_used(const struct model *m)
{
    uint32_t n = 0, i;

    for (i = 0; i < MODEL_GROUPS; i++)
        n += (uint32_t)m->groups[i].used;
    return n;
}

/** NULL, which a slot never used holds, is the root. */
static uint32_t or_root(const struct model *m, uint32_t group)
{
    return m->groups[group].h != NULL ? group : 0;
}

int model_stream_open(struct model *m, uint16_t ioprio, uint32_t group)
{
    struct iosched_stream_opts opts;
    struct iosched_stream *st = NULL;
    struct mstream *to = NULL;
    uint32_t i;
    int rc, want;

    group = or_root(m, group);
    memset(&opts, 0, sizeof opts);
    opts.struct_size = sizeof opts;
    opts.ioprio = ioprio;
    opts.group = m->groups[group].h;
    opts.user = m;
    want = !m->groups[group].open                   ? IOSCHED_ERR_STATE
           : !prio_ok(ioprio)                       ? IOSCHED_ERR_RANGE
           : streams_used(m) == m->setup.streams    ? IOSCHED_ERR_NOSPC
                                                    : IOSCHED_OK;
    model_enter(m);
    rc = model_expect(m, CALL_STREAM_OPEN,
                      iosched_stream_open(m->s, &opts, &st, m->now), want);
    if (want < 0)
        return rc;
    for (i = 1; i < MODEL_STREAMS; i++) {
        if (m->streams[i].h == st && m->streams[i].used)
            model_fail(m, "a stream in use was handed out again");
        else if (m->streams[i].h == st)
            m->streams[i].h = NULL;
    }
    for (i = 1; i < MODEL_STREAMS && to == NULL; i++)
        if (!m->streams[i].used && m->streams[i].h == NULL)
            to = &m->streams[i];
    for (i = 1; i < MODEL_STREAMS && to == NULL; i++)
        if (!m->streams[i].used)
            to = &m->streams[i];
    if (to == NULL || st == NULL) {
        model_fail(m, "a stream too many");
        return rc;
    }
    to->h = st;
    to->used = to->open = 1;
    to->group = group;
    to->requests = 0;
    to->ioprio = ioprio;
    if (iosched_stream_ioprio(st) != ioprio || iosched_stream_user(st) != m)
        model_fail(m, "a stream was opened with something else");
    return rc;
}

int model_stream_close(struct model *m, uint32_t stream)
{
    struct mstream *st = &m->streams[stream];
    int rc;

    if (st->h != NULL)
        model_enter(m);
    rc = iosched_stream_close(st->h, m->now);
    if (st->h == NULL)
        return model_expect(m, CALL_STREAM_CLOSE, rc, IOSCHED_OK);
    model_expect(m, CALL_STREAM_CLOSE, rc,
                 st->open ? IOSCHED_OK : IOSCHED_ERR_STATE);
    st->open = 0;
    model_objects_settle(m);
    return rc;
}

int model_stream_ioprio(struct model *m, uint32_t stream, uint16_t ioprio)
{
    struct mstream *st = &m->streams[stream];
    int rc, want = st->h == NULL      ? IOSCHED_ERR_INVAL
                   : !st->open        ? IOSCHED_ERR_STATE
                   : !prio_ok(ioprio) ? IOSCHED_ERR_RANGE
                                      : IOSCHED_OK;

    if (st->h != NULL)
        model_enter(m);
    rc = iosched_stream_set_ioprio(st->h, ioprio, m->now);
    model_expect(m, CALL_STREAM_SET_IOPRIO, rc, want);
    if (want == IOSCHED_OK)
        st->ioprio = ioprio;
    if (st->open && st->h != NULL &&
        iosched_stream_ioprio(st->h) != st->ioprio)
        model_fail(m, "a stream has another ioprio");
    return rc;
}

int model_stream_group(struct model *m, uint32_t stream, uint32_t group)
{
    struct mstream *st = &m->streams[stream];
    int rc, want;

    group = or_root(m, group);
    want = st->h == NULL                                ? IOSCHED_ERR_INVAL
           : !st->open || !m->groups[group].open        ? IOSCHED_ERR_STATE
                                                        : IOSCHED_OK;
    if (st->h != NULL)
        model_enter(m);
    rc = iosched_stream_set_group(st->h, m->groups[group].h, m->now);
    model_expect(m, CALL_STREAM_SET_GROUP, rc, want);
    if (want == IOSCHED_OK)
        st->group = group;
    return rc;
}

int model_stream_yield(struct model *m, uint32_t from, uint32_t to)
{
    const struct mstream *a = &m->streams[from], *b = &m->streams[to];
    int want = a->h == NULL                   ? IOSCHED_ERR_INVAL
               : !a->open                     ? IOSCHED_ERR_STATE
               : b->h != NULL && !b->open     ? IOSCHED_ERR_STATE
                                              : IOSCHED_OK;

    if (a->h != NULL)
        model_enter(m);
    return model_expect(m, CALL_STREAM_YIELD,
                        iosched_stream_yield(a->h, b->h, m->now), want);
}

static int weight_ok(uint32_t weight)
{
    return weight >= IOSCHED_WEIGHT_MIN && weight <= IOSCHED_WEIGHT_MAX;
}

int model_group_open(struct model *m, uint32_t parent, uint32_t weight)
{
    struct iosched_group_opts opts;
    struct iosched_group *g = NULL;
    struct mgroup *to = NULL;
    uint32_t i;
    int rc, want;

    parent = or_root(m, parent);
    memset(&opts, 0, sizeof opts);
    opts.struct_size = sizeof opts;
    opts.weight = weight;
    opts.parent = m->groups[parent].h;
    opts.user = m;
    want = !m->groups[parent].open                 ? IOSCHED_ERR_STATE
           : !weight_ok(weight)                    ? IOSCHED_ERR_RANGE
           : groups_used(m) == m->setup.groups     ? IOSCHED_ERR_NOSPC
                                                   : IOSCHED_OK;
    model_enter(m);
    rc = model_expect(m, CALL_GROUP_OPEN,
                      iosched_group_open(m->s, &opts, &g, m->now), want);
    if (want < 0)
        return rc;
    for (i = 1; i < MODEL_GROUPS; i++) {
        if (m->groups[i].h == g && m->groups[i].used)
            model_fail(m, "a group in use was handed out again");
        else if (m->groups[i].h == g)
            m->groups[i].h = NULL;
    }
    for (i = 1; i < MODEL_GROUPS && to == NULL; i++)
        if (!m->groups[i].used)
            to = &m->groups[i];
    if (to == NULL || g == NULL) {
        model_fail(m, "a group too many");
        return rc;
    }
    memset(to, 0, sizeof *to);
    to->h = g;
    to->used = to->open = 1;
    to->parent = parent;
    if (iosched_group_user(g) != m)
        model_fail(m, "a group was opened with something else");
    return rc;
}

int model_group_close(struct model *m, uint32_t group)
{
    struct mgroup *g = &m->groups[group];
    uint32_t i;
    int rc, kids = 0, want;

    for (i = 0; i < MODEL_STREAMS; i++)
        kids |= m->streams[i].used && m->streams[i].open &&
                m->streams[i].group == group;
    for (i = 1; i < MODEL_GROUPS; i++)
        kids |= m->groups[i].used && m->groups[i].open &&
                m->groups[i].parent == group;
    want = g->h == NULL ? IOSCHED_OK
           : !g->open   ? IOSCHED_ERR_STATE
           : kids       ? IOSCHED_ERR_BUSY
                        : IOSCHED_OK;
    if (g->h != NULL)
        model_enter(m);
    rc = model_expect(m, CALL_GROUP_CLOSE, iosched_group_close(g->h, m->now),
                      want);
    if (want == IOSCHED_OK && g->h != NULL) {
        g->open = 0;
        model_objects_settle(m);
    }
    return rc;
}

int model_group_weight(struct model *m, uint32_t group, uint32_t weight,
                       int leaf)
{
    const struct mgroup *g = &m->groups[group];
    int want = g->h == NULL && (!leaf || group != 0) ? IOSCHED_ERR_INVAL
               : !g->open                            ? IOSCHED_ERR_STATE
               : !weight_ok(weight)                  ? IOSCHED_ERR_RANGE
                                                     : IOSCHED_OK;

    if (leaf && g->h == NULL)
        want = weight_ok(weight) ? IOSCHED_OK : IOSCHED_ERR_RANGE;
    if (leaf || g->h != NULL)
        model_enter(m);
    return leaf ? model_expect(m, CALL_GROUP_SET_LEAF_WEIGHT,
                               iosched_group_set_leaf_weight(m->s, g->h,
                                                             weight, m->now),
                               want)
                : model_expect(m, CALL_GROUP_SET_WEIGHT,
                               iosched_group_set_weight(g->h, weight, m->now),
                               want);
}

/* --- The inbox ------------------------------------------------------------ */
static int pending(const struct model *m)
{
    return m->nposts + m->ncompletions > 0;
}

int model_post(struct model *m, uint32_t i, iosched_time when)
{
    struct item *it = &m->items[i];
    int rc = iosched_post(m->s, &it->rq, when);

    if (it->state != IOSCHED_STATE_IDLE)
        return model_expect(m, CALL_POST, rc, IOSCHED_ERR_BUSY);
    model_expect(m, CALL_POST, rc, !pending(m));
    it->state = IOSCHED_STATE_POSTED;
    m->posts[m->nposts] = i;
    m->post_when[m->nposts++] = when;
    return rc;
}

int model_post_complete(struct model *m, uint32_t i, int status,
                        iosched_time when)
{
    struct item *it = &m->items[i];
    uint64_t cookie = iosched_cookie(&it->rq);
    int rc = iosched_post_complete(m->s, cookie, status, when);

    if (it->state != IOSCHED_STATE_INFLIGHT || it->carrier != i ||
        it->posted) {
        m->late_posts++;
        return model_expect(m, CALL_POST_COMPLETE, rc, IOSCHED_ERR_STATE);
    }
    model_expect(m, CALL_POST_COMPLETE, rc, !pending(m));
    it->posted = 1;
    m->completions[m->ncompletions].item = i;
    m->completions[m->ncompletions].status = status;
    m->completions[m->ncompletions++].when = when;
    return rc;
}

int model_post_late(struct model *m)
{
    if (m->nlate == 0)
        return 0;
    m->late_posts++;
    return model_expect(m, CALL_POST_COMPLETE,
                        iosched_post_complete(m->s, m->late[0], 0, m->now),
                        IOSCHED_ERR_STATE);
}

/** Core time of something posted at `when`: not before the last call, not after
 *  this one.  The clock moves on to it, and never back. */
static iosched_time clock_of_post(struct model *m, iosched_time when,
                                  iosched_time from, iosched_time until)
{
    iosched_time t = when + m->offset;

    if (t > until)
        t = until;
    if (t < from)
        t = from;
    if (t > m->core)
        m->core = t;
    return t;
}

int model_intake(struct model *m, iosched_time now)
{
    iosched_time before = m->core, until;
    uint32_t k, wakes = m->wakes, n = m->ncompletions;
    uint64_t cookies[MODEL_TAGS];
    int rc, freed = n > 0;

    for (k = 0; k < n; k++)
        cookies[k] = iosched_cookie(&m->items[m->completions[k].item].rq);
    model_clock(m, now);
    model_enter(m);
    until = m->core;
    m->core = before;
    rc = iosched_intake(m->s, m->now);
    model_note(m, CALL_INTAKE, rc);
    if (rc != (int)(n + m->nposts))
        model_fail(m, "intake answers %d, not %u", rc, n + m->nposts);
    for (k = 0; k < n; k++) {
        const struct posted_completion *p = &m->completions[k];

        (void)clock_of_post(m, p->when, before, until);
        if (model_finish(m, p->item, cookies[k], p->status,
                         IOSCHED_STATE_DONE) == IOSCHED_OK)
            m->done[m->ndone++] = p->item;
    }
    m->ncompletions = 0;
    for (k = 0; k < m->nposts; k++) {
        uint32_t i = m->posts[k];
        struct item *it = &m->items[i];
        int want = model_verdict(m, i);
        iosched_time age = clock_of_post(m, m->post_when[k], before, until);

        if (it->rq.status != want)
            model_fail(m, "status of a post is %d, not %d", it->rq.status,
                       want);
        if (want == IOSCHED_OK) {
            model_take_in(m, i, age);
            continue;
        }
        it->state = IOSCHED_STATE_DONE;
        it->carrier = i;
        m->stats.refused++;
        m->done[m->ndone++] = i;
    }
    m->nposts = 0;
    m->stats.late += m->late_posts;
    m->late_posts = 0;
    m->core = until;
    if (freed)
        model_woken(m, wakes);
    model_depth_up(m, n);
    model_learn(m, 1);
    return rc;
}

int model_reap(struct model *m)
{
    struct iosched_req *rq = NULL;
    uint32_t c, i, n = 0;
    int rc = iosched_reap(m->s, &rq);
    const struct iosched_req *r;

    model_expect(m, CALL_REAP, rc, m->ndone > 0 ? IOSCHED_GOT : IOSCHED_EMPTY);
    if (m->ndone == 0 || !model_ok(m)) {
        if (m->ndone == 0 && rq != NULL)
            model_fail(m, "reap answers EMPTY with a request");
        return rc;
    }
    c = m->done[0];
    memmove(m->done, m->done + 1, --m->ndone * sizeof *m->done);
    if (model_index(m, rq) != c) {
        model_fail(m, "reap gives another one than the first that finished");
        return rc;
    }
    for (i = 0; i < m->nitems; i++)
        if (m->items[i].state == IOSCHED_STATE_DONE &&
            m->items[i].carrier == c) {
            m->items[i].state = IOSCHED_STATE_IDLE;
            m->items[i].carrier = i;
            n++;
        }
    for (r = rq->first_member; r != NULL && n > 0; r = r->next_member)
        n--;
    if (n != 0 || r != NULL)
        model_fail(m, "reap gives %u with other members", c);
    return rc;
}

/* --- The foreigner -------------------------------------------------------- */
void model_foreign(struct model *m, int take)
{
    uint32_t i, wakes = m->wakes;
    int32_t tag;

    if (m->tags == NULL)
        return;
    if (take) {
        tag = iosched_tags_get(m->tags, m->foreign_seat, IOSCHED_TAG_SYNC);
        for (i = 0; i < m->ntags && m->tag[i] != TAG_FREE; i++)
            ;
        if ((tag < 0) != (i == m->ntags) ||
            (tag >= 0 && m->tag[tag] != TAG_FREE))
            model_fail(m, "the foreigner gets tag %d", tag);
        else if (tag >= 0)
            m->tag[tag] = TAG_FOREIGN;
        return;
    }
    for (i = 0; i < m->ntags && m->tag[i] != TAG_FOREIGN; i++)
        ;
    if (i == m->ntags)
        return;
    if (iosched_tags_put(m->tags, (int32_t)i) < 0)
        model_fail(m, "the foreigner cannot give tag %u back", i);
    m->tag[i] = TAG_FREE;
    model_woken(m, wakes);
}

/* --- The dump ------------------------------------------------------------- */
/** The seq and age of a line; 0: it has none. */
static int line_numbers(const char *line, uint64_t *seq, uint64_t *age)
{
    const char *a = strstr(line, " seq="), *b = strstr(line, " age_ns=");

    if (a == NULL || b == NULL)
        return 0;
    *seq = strtoull(a + 5, NULL, 10);
    *age = strtoull(b + 8, NULL, 10);
    return 1;
}

static void one_line(struct model *m, const char *line, unsigned *seen,
                     iosched_time core)
{
    int queued = strncmp(line, "queued ", 7) == 0;
    uint64_t seq, age;
    uint32_t i;

    if (!queued && strncmp(line, "inflight ", 9) != 0)
        return;
    if (!line_numbers(line, &seq, &age)) {
        model_fail(m, "a line of the dump without seq or age");
        return;
    }
    for (i = 0; i < m->nitems; i++) {
        const struct item *it = &m->items[i];

        if ((it->state != IOSCHED_STATE_QUEUED &&
             it->state != IOSCHED_STATE_INFLIGHT) || it->seq != seq)
            continue;
        if (queued != (it->state == IOSCHED_STATE_QUEUED))
            model_fail(m, "the dump has %u where it is not", i);
        if (age != core - it->age)
            model_fail(m, "the dump has %u at the age of %" PRIu64, i, age);
        if (seen[i]++ > 0)
            model_fail(m, "the dump has %u twice", i);
        return;
    }
    model_fail(m, "the dump has seq %" PRIu64 ", which nobody is", seq);
}

void model_check_dump(struct model *m)
{
    struct text t;
    unsigned *seen = calloc(m->nitems, sizeof *seen);
    char *line, *end;
    uint32_t i, n = 0;

    model_enter(m);
    model_may_queue(m, 0, IOSCHED_READ, 0);         /* the clock is set */
    t = dump_of(m);
    for (line = t.at; model_ok(m) && (end = strchr(line, '\n')) != NULL;
         line = end + 1) {
        *end = '\0';
        one_line(m, line, seen, m->core);
        n += strncmp(line, "quarantined ", 12) == 0;
    }
    for (i = 0; i < m->nitems && model_ok(m); i++)
        if ((m->items[i].state == IOSCHED_STATE_QUEUED ||
             m->items[i].state == IOSCHED_STATE_INFLIGHT) && seen[i] != 1)
            model_fail(m, "the dump lacks %u", i);
    if (n != m->quarantined)
        model_fail(m, "the dump has %u tags in quarantine, not %u", n,
                   m->quarantined);
    free(seen);
    free(t.at);
}
