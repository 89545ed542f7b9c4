/* SPDX-License-Identifier: BSD-2-Clause */
/* dump.c - the state in lines of key=value, for people and for grep.
 *
 * One line each: the scheduler, the policy's numbers, timers, streams, groups,
 * queued requests, requests in flight, quarantined tags.  A line is built in a
 * small buffer, which goes out whenever it is full: nothing is allocated, and
 * no line has a longest length.
 */
#include "hot.h"

struct iosched_dumper {
    const struct iosched *s;
    iosched_writer        write;
    void                 *user;
    iosched_time          now;          /* core time                      */
    size_t                len;
    int                   err;          /* the writer's, or 0             */
    char                  text[96];
};

static void flush(struct iosched_dumper *d)
{
    if (d->len > 0 && d->err == 0)
        d->err = d->write(d->user, d->text, d->len);
    d->len = 0;
}

static void put(struct iosched_dumper *d, char ch)
{
    if (d->len == sizeof d->text)
        flush(d);
    d->text[d->len++] = ch;
}

static void puts_(struct iosched_dumper *d, const char *text)
{
    while (*text != '\0')
        put(d, *text++);
}

static void put_u64(struct iosched_dumper *d, uint64_t v)
{
    char digits[20];
    int n = 0;

    do {
        digits[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    while (n > 0)
        put(d, digits[--n]);
}

static void key_(struct iosched_dumper *d, const char *name)
{
    put(d, ' ');
    puts_(d, name);
    put(d, '=');
}

static void num(struct iosched_dumper *d, const char *name, uint64_t v)
{
    key_(d, name);
    put_u64(d, v);
}

static void str(struct iosched_dumper *d, const char *name, const char *v)
{
    key_(d, name);
    put(d, '"');
    puts_(d, v != NULL ? v : "");
    put(d, '"');
}

static void end_line(struct iosched_dumper *d)
{
    put(d, '\n');
    flush(d);
}

static const char *op_name(unsigned op)
{
    static const char *const name[] = { "read",   "write", "discard",
                                        "zeroes", "flush", "pass" };

    return op < sizeof name / sizeof name[0] ? name[op] : "?";
}

void iosched_dump_num(struct iosched_dumper *d, const char *key, int64_t value)
{
    key_(d, key);
    if (value < 0)
        put(d, '-');
    put_u64(d, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/** What is common to all lines about a request. */
static void about(struct iosched_dumper *d, const struct iosched_req *rq)
{
    num(d, "seq", rq->seq_);
    str(d, "op", op_name(rq->op));
    num(d, "lba", rq->lba);
    num(d, "nblk", rq->nblk);
    num(d, "stream", iosched__stream_of(d->s, rq)->slot);
    num(d, "age_ns", d->now > rq->t_insert ? d->now - rq->t_insert : 0);
}

void iosched_dump_rq(struct iosched_dumper *d, const struct iosched_req *rq,
                     const char *place, const char *why)
{
    const struct iosched_req *m;

    /* The policy's own numbers end where its first request begins. */
    if (d->len > 0)
        end_line(d);
    for (m = rq->first_member; m != NULL && d->err == 0; m = m->next_member) {
        puts_(d, "queued");
        about(d, m);
        if (m != rq)
            num(d, "rides_on", rq->seq_);
        str(d, "place", place);
        str(d, "why", why);
        end_line(d);
    }
}

static void dump_list(struct iosched_dumper *d, const struct rqlist *l,
                      const char *place, const char *why)
{
    const struct iosched_req *rq;

    for (rq = l->head; rq != NULL && d->err == 0; rq = rq->link_next_)
        iosched_dump_rq(d, rq, place, why);
}

static void dump_scheduler(struct iosched_dumper *d)
{
    const struct iosched *s = d->s;
    unsigned i;

    puts_(d, "scheduler");
    str(d, "policy", s->run->ops.name);
    num(d, "queued", s->queued);
    num(d, "inflight", s->inflight);
    num(d, "depth", s->depth_now);
    num(d, "depth_set", s->depth_set);
    num(d, "frozen", s->frozen);
    num(d, "quarantined", s->quarantined);
    end_line(d);
    for (i = 0; i < IOSCHED_TIMERS; i++)
        if (s->run->timer[i] != IOSCHED_NEVER) {
            puts_(d, "timer");
            num(d, "number", i);
            num(d, "in_ns", s->run->timer[i] > d->now
                                ? s->run->timer[i] - d->now : 0);
            end_line(d);
        }
    if (s->retry_at != IOSCHED_NEVER) {
        puts_(d, "timer");
        str(d, "retry", "device busy");
        num(d, "in_ns", s->retry_at > d->now ? s->retry_at - d->now : 0);
        end_line(d);
    }
}

static void dump_objects(struct iosched_dumper *d)
{
    const struct iosched *s = d->s;
    uint32_t i;

    for (i = 0; i < s->cfg.max_streams && d->err == 0; i++) {
        const struct iosched_stream *st = &s->streams[i];

        if (st->state == HANDLE_FREE)
            continue;
        puts_(d, "stream");
        num(d, "slot", i);
        str(d, "state", st->state == HANDLE_OPEN ? "open" : "closed");
        num(d, "group", st->group->slot);
        num(d, "class", IOSCHED_PRIO_CLASS((unsigned)st->ioprio));
        num(d, "level", IOSCHED_PRIO_LEVEL((unsigned)st->ioprio));
        num(d, "requests", st->requests);
        num(d, "inflight", st->inflight);
        end_line(d);
    }
    for (i = 0; i < s->cfg.max_groups && d->err == 0; i++) {
        const struct iosched_group *g = &s->groups[i];

        if (g->state == HANDLE_FREE)
            continue;
        puts_(d, "group");
        num(d, "slot", i);
        str(d, "state", g->state == HANDLE_OPEN ? "open" : "closed");
        if (g->parent != NULL)
            num(d, "parent", g->parent->slot);
        num(d, "weight", g->weight);
        num(d, "leaf_weight", g->leaf_weight);
        if (g->parent != NULL)
            num(d, "requests", g->requests);
        end_line(d);
    }
}

static void dump_queued(struct iosched_dumper *d)
{
    const struct iosched *s = d->s;
    uint32_t i;

    dump_list(d, &s->requeued, "requeued", "its turn");
    dump_list(d, &s->direct, "direct", "its turn");
    dump_list(d, &s->emitted, "emitted", "its turn");
    puts_(d, "policy");
    str(d, "name", s->run->ops.name);
    num(d, "holds", s->run->held);
    if (s->run->ops.dump != NULL)
        s->run->ops.dump(s->run->state, d);
    if (d->len > 0)
        end_line(d);
    for (i = 0; i < s->order_size && d->err == 0; i++) {
        const struct order_node *n = &s->order_pool[i];

        if (n->rq != NULL && n->blocker != NULL)
            iosched_dump_rq(d, n->rq, "blocked", "an earlier one overlaps it");
    }
    dump_list(d, &s->waiting, "waiting",
              s->cfg.flags & IOSCHED_F_ORDER_OVERLAPS
                  ? "a barrier, or room among what is ordered"
                  : "a barrier");
}

static void dump_slots(struct iosched_dumper *d)
{
    const struct iosched *s = d->s;
    const struct iosched_req *m;
    uint32_t i;

    for (i = 0; i < s->ntags && d->err == 0; i++) {
        const struct iosched_req *rq = s->slots[i].rq;

        for (m = rq != NULL ? rq->first_member : NULL; m != NULL;
             m = m->next_member) {
            puts_(d, "inflight");
            about(d, m);
            num(d, "tag", i);
            if (m != rq)
                num(d, "rides_on", rq->seq_);
            num(d, "phase", rq->phase);
            num(d, "for_ns",
                d->now > rq->t_dispatch ? d->now - rq->t_dispatch : 0);
            end_line(d);
        }
    }
    for (i = 0; i < s->ntags && d->err == 0; i++)
        if (s->slots[i].quarantined) {
            puts_(d, "quarantined");
            num(d, "tag", i);
            end_line(d);
        }
}

int iosched_dump(const struct iosched *s, iosched_writer write, void *user,
                 iosched_time now)
{
    struct iosched_dumper d;

    if (s == NULL || write == NULL || now == IOSCHED_NEVER)
        return IOSCHED_ERR_INVAL;
    d.s = s;
    d.write = write;
    d.user = user;
    d.now = iosched__later(now, s->offset);
    d.len = 0;
    d.err = 0;
    dump_scheduler(&d);
    dump_objects(&d);
    dump_queued(&d);
    dump_slots(&d);
    return d.err;
}
