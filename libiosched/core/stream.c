/* SPDX-License-Identifier: BSD-2-Clause */
/* stream.c - I/O contexts and their priority.
 *
 * A slot is FREE, OPEN or CLOSED; closed, it stays until the last request of it
 * is idle.  Free slots are used again longest unused first, so that a handle
 * kept by mistake is found out late rather than soon mistaken for another.
 */
#include "hot.h"

int iosched__prio_ok(uint16_t ioprio)
{
    unsigned cls = IOSCHED_PRIO_CLASS((unsigned)ioprio);
    unsigned level = IOSCHED_PRIO_LEVEL((unsigned)ioprio);

    switch (cls) {
    case IOSCHED_PRIO_NONE: return level == 0;
    case IOSCHED_PRIO_RT:
    case IOSCHED_PRIO_BE:   return level < IOSCHED_PRIO_LEVELS;
    case IOSCHED_PRIO_IDLE: return 1;
    default:                return 0;
    }
}

int iosched_prio(int cls, int level)
{
    if (cls < IOSCHED_PRIO_NONE || cls > IOSCHED_PRIO_IDLE || level < 0 ||
        level > 0x1fff ||
        !iosched__prio_ok((uint16_t)(cls << 13 | level)))
        return IOSCHED_ERR_RANGE;
    return cls << 13 | level;
}

static void stream_event(struct iosched_stream *st, const char *note)
{
    struct iosched *s = st->s;

    if (s->cfg.trace != NULL)
        iosched__trace_out(s, IOSCHED_EV_STREAM, NULL, st, st->group, note,
                           (int64_t)st->ioprio);
}

static void start(struct iosched_stream *st, struct iosched_group *g)
{
    st->state = HANDLE_OPEN;
    st->group = g;
    st->ioprio = 0;
    st->user = NULL;
    st->requests = st->inflight = 0;
    g->open_kids++;
    g->kids++;
}

void iosched__stream_init_all(struct iosched *s)
{
    uint32_t i;

    s->free_stream_tail = &s->free_stream;
    for (i = 0; i < s->cfg.max_streams; i++) {
        s->streams[i].s = s;
        s->streams[i].slot = i;
        if (i > 0) {
            *s->free_stream_tail = &s->streams[i];
            s->free_stream_tail = &s->streams[i].next_free;
        }
    }
    start(&s->streams[0], &s->groups[0]);
}

/** A closed stream: free it if nothing of it is left. */
void iosched__stream_settle(struct iosched_stream *st)
{
    struct iosched *s = st->s;
    struct iosched_group *g = st->group;

    if (st->state != HANDLE_CLOSED || st->requests > 0)
        return;
    if (s->run->ops.stream_freed != NULL)
        s->run->ops.stream_freed(s->run->state, st, iosched_stream_data(st));
    st->state = HANDLE_FREE;
    st->next_free = NULL;
    *s->free_stream_tail = st;
    s->free_stream_tail = &st->next_free;
    g->kids--;
    iosched__group_settle(g);
}

int iosched_stream_open(struct iosched *s,
                        const struct iosched_stream_opts *opts,
                        struct iosched_stream **out, iosched_time now)
{
    struct iosched_stream_opts o = { sizeof o, 0, 0, NULL, NULL };
    struct iosched_stream *st;
    struct iosched_group *g;
    int err;

    if (out == NULL)
        return IOSCHED_ERR_INVAL;
    *out = NULL;
    err = iosched__enter(s, now);
    if (err < 0)
        return err;
    if (opts != NULL)
        err = iosched__take_struct(&o, sizeof o, opts, opts->struct_size);
    g = o.group != NULL ? o.group : &s->groups[0];
    if (err < 0)
        goto leave;
    if (o.pad_ != 0)
        err = IOSCHED_ERR_NOTSUP;
    else if (!iosched__group_ours(s, g))
        err = IOSCHED_ERR_INVAL;
    else if (g->state != HANDLE_OPEN)
        err = IOSCHED_ERR_STATE;
    else if (!iosched__prio_ok(o.ioprio))
        err = IOSCHED_ERR_RANGE;
    else if (s->free_stream == NULL)
        err = IOSCHED_ERR_NOSPC;
    if (err < 0)
        goto leave;
    st = s->free_stream;
    s->free_stream = st->next_free;
    if (s->free_stream == NULL)
        s->free_stream_tail = &s->free_stream;
    start(st, g);
    st->ioprio = o.ioprio;
    st->user = o.user;
    if (s->run->stream_stride > 0)
        IOSCHED_PORT_SET(iosched_stream_data(st), 0, s->run->stream_stride);
    if (s->run->ops.stream_opened != NULL)
        s->run->ops.stream_opened(s->run->state, st, iosched_stream_data(st));
    stream_event(st, "opened");
    *out = st;
leave:
    iosched__leave(s);
    return err;
}

/** Begin a call about st, which has to be open. */
static int enter_open(struct iosched_stream *st, iosched_time now)
{
    int err;

    if (st == NULL)
        return IOSCHED_ERR_INVAL;
    err = iosched__enter(st->s, now);
    if (err == IOSCHED_OK && st->state != HANDLE_OPEN) {
        iosched__leave(st->s);
        err = IOSCHED_ERR_STATE;
    }
    return err;
}

static void changed(struct iosched_stream *st, const char *note)
{
    struct iosched_core *c = st->s->run;

    if (c->ops.stream_changed != NULL)
        c->ops.stream_changed(c->state, st, iosched_stream_data(st));
    stream_event(st, note);
}

int iosched_stream_close(struct iosched_stream *st, iosched_time now)
{
    struct iosched *s;
    int err;

    if (st == NULL)
        return IOSCHED_OK;
    err = enter_open(st, now);
    if (err < 0)
        return err;
    s = st->s;
    if (st->slot == 0) {                /* the default one is nobody's */
        iosched__leave(s);
        return IOSCHED_ERR_INVAL;
    }
    st->state = HANDLE_CLOSED;
    st->group->open_kids--;
    if (s->run->ops.stream_closed != NULL)
        s->run->ops.stream_closed(s->run->state, st, iosched_stream_data(st));
    stream_event(st, "closed");
    iosched__stream_settle(st);
    iosched__leave(s);
    return IOSCHED_OK;
}

int iosched_stream_set_ioprio(struct iosched_stream *st, uint16_t ioprio,
                              iosched_time now)
{
    int err = enter_open(st, now);

    if (err < 0)
        return err;
    if (!iosched__prio_ok(ioprio)) {
        err = IOSCHED_ERR_RANGE;
    } else {
        st->ioprio = ioprio;
        changed(st, "ioprio");
    }
    iosched__leave(st->s);
    return err;
}

int iosched_stream_set_group(struct iosched_stream *st,
                             struct iosched_group *g, iosched_time now)
{
    int err = enter_open(st, now);
    struct iosched *s;

    if (err < 0)
        return err;
    s = st->s;
    if (g == NULL)
        g = &s->groups[0];
    if (!iosched__group_ours(s, g)) {
        err = IOSCHED_ERR_INVAL;
    } else if (g->state != HANDLE_OPEN) {
        err = IOSCHED_ERR_STATE;
    } else {
        st->group->open_kids--;
        st->group->kids--;
        st->group = g;
        g->open_kids++;
        g->kids++;
        changed(st, "group");
    }
    iosched__leave(s);
    return err;
}

int iosched_stream_yield(struct iosched_stream *from,
                         struct iosched_stream *to, iosched_time now)
{
    int err = enter_open(from, now);
    struct iosched_core *c;

    if (err < 0)
        return err;
    c = from->s->run;
    if (to != NULL && !iosched__stream_ours(from->s, to)) {
        err = IOSCHED_ERR_INVAL;
    } else if (to != NULL && to->state != HANDLE_OPEN) {
        err = IOSCHED_ERR_STATE;
    } else {
        if (c->ops.yielded != NULL)
            c->ops.yielded(c->state, from, to);
        stream_event(from, "yielded");
    }
    iosched__leave(from->s);
    return err;
}

uint16_t iosched_stream_ioprio(const struct iosched_stream *st)
{
    return st != NULL ? st->ioprio : 0;
}

void *iosched_stream_user(const struct iosched_stream *st)
{
    return st != NULL ? st->user : NULL;
}

void *iosched_stream_data(const struct iosched_stream *st)
{
    const struct iosched_core *c = st->s->run;

    return c->stream_data + st->slot * c->stream_stride;
}

struct iosched_group *iosched_stream_group(const struct iosched_stream *st)
{
    return st->group;
}

int iosched_stream_is_open(const struct iosched_stream *st)
{
    return st->state == HANDLE_OPEN;
}
