/* SPDX-License-Identifier: BSD-2-Clause */
/* lend.c - what the core lends a policy: time, timers, emit, and answers. */
#include "hot.h"

/** t rounded down to a tick. */
static iosched_time tick_floor(const struct iosched_core *c, iosched_time t)
{
    uint64_t tick = (uint64_t)c->tun[TUN_TICK_NS];

    return tick > 1 ? t - t % tick : t;
}

iosched_time iosched_core_now(const struct iosched_core *c)
{
    return tick_floor(c, c->s->now);
}

iosched_dur iosched_core_ticks(const struct iosched_core *c, iosched_dur d)
{
    uint64_t tick = (uint64_t)c->tun[TUN_TICK_NS];

    if (tick <= 1 || d % tick == 0)
        return d;
    return iosched__later(d - d % tick, tick);
}

iosched_time iosched_core_since(const struct iosched_core *c,
                                const struct iosched_req *rq)
{
    const struct iosched_req *m;
    iosched_time t = rq->t_insert;

    if (rq->nmembers > 1)
        for (m = rq->first_member; m != NULL; m = m->next_member)
            if (m->t_insert < t)
                t = m->t_insert;
    return tick_floor(c, t);
}

void iosched_core_arm(struct iosched_core *c, unsigned timer, iosched_time at)
{
    unsigned i;

    if (timer >= IOSCHED_TIMERS)
        return;
    c->timer[timer] = at;
    c->next = IOSCHED_NEVER;
    for (i = 0; i < IOSCHED_TIMERS; i++)
        if (c->timer[i] < c->next)
            c->next = c->timer[i];
}

iosched_time iosched_core_armed(const struct iosched_core *c, unsigned timer)
{
    return timer < IOSCHED_TIMERS ? c->timer[timer] : IOSCHED_NEVER;
}

uint32_t iosched_core_inflight(const struct iosched_core *c)
{
    return c->s->inflight;
}

uint32_t iosched_core_inflight_of(const struct iosched_core *c,
                                  const struct iosched_stream *st)
{
    return st != NULL ? st->inflight : c->s->streams[0].inflight;
}

uint32_t iosched_core_depth(const struct iosched_core *c)
{
    return c->s->depth_now;
}

uint32_t iosched_core_flags(const struct iosched_core *c)
{
    return c->tun[TUN_ROTATIONAL]
               ? c->s->cfg.flags & ~(uint32_t)IOSCHED_F_NONROTATIONAL
               : c->s->cfg.flags | IOSCHED_F_NONROTATIONAL;
}

iosched_lba iosched_core_blocks(const struct iosched_core *c, uint64_t sectors)
{
    uint64_t each = c->s->cfg.block_size / 512;

    return sectors / each + (sectors % each != 0);
}

void iosched_core_note(struct iosched_core *c, const char *note,
                       const struct iosched_req *rq, int64_t arg)
{
    iosched__event_note(c->s, IOSCHED_EV_NOTE, rq, note, arg);
}

/* --- Requests ------------------------------------------------------------- */
struct iosched_stream *iosched_req_stream(const struct iosched_req *rq)
{
    return iosched__stream_of(rq->owner_, rq);
}

uint16_t iosched_req_ioprio(const struct iosched_req *rq)
{
    return iosched__prio_of(rq);
}

int iosched_req_sync(const struct iosched_req *rq)
{
    return iosched__sync(rq);
}

uint64_t iosched_req_seq(const struct iosched_req *rq)
{
    return rq->seq_;
}

struct iosched_group *iosched_req_group(const struct iosched_req *rq)
{
    return &rq->owner_->groups[rq->group_];
}

size_t iosched_req_size(void)
{
    return sizeof(struct iosched_req);
}

/* --- Timers of the caller ------------------------------------------------- */
iosched_time iosched_next_expiry(const struct iosched *s)
{
    if (s == NULL)
        return IOSCHED_NEVER;
    return iosched__caller_time(s, s->retry_at < s->run->next ? s->retry_at
                                                              : s->run->next);
}

/** The policy's timer that is due first among those in `due`, or -1. */
static int first_due(const struct iosched_core *c, unsigned due)
{
    int best = -1;
    unsigned i;

    for (i = 0; i < IOSCHED_TIMERS; i++)
        if (due >> i & 1u &&
            (best < 0 || c->timer[i] < c->timer[(unsigned)best]))
            best = (int)i;
    return best;
}

int iosched_expire(struct iosched *s, iosched_time now)
{
    struct iosched_core *c;
    unsigned due = 0, i;
    int fired = 0, t;

    t = iosched__enter(s, now);
    if (t < 0)
        return t;
    c = s->run;
    if (s->retry_at <= s->now) {
        s->retry_at = IOSCHED_NEVER;
        s->stats.timers++;
        iosched__event_note(s, IOSCHED_EV_TIMER, NULL, "retry",
                            IOSCHED_TIMERS);
        fired = 1;
    }
    for (i = 0; i < IOSCHED_TIMERS; i++)
        if (c->timer[i] <= s->now)
            due |= 1u << i;
    /* Those due at entry, in order; what a hook arms anew waits for the next
     * call, so that a timer in the past cannot keep us here. */
    while ((t = first_due(c, due)) >= 0) {
        due &= ~(1u << t);
        if (c->timer[t] > s->now)
            continue;                   /* a hook moved it */
        iosched_core_arm(c, (unsigned)t, IOSCHED_NEVER);
        s->stats.timers++;
        iosched__event(s, IOSCHED_EV_TIMER, NULL, t);
        if (c->ops.expired != NULL)
            c->ops.expired(c->state, (unsigned)t);
        fired = 1;
    }
    iosched__leave(s);
    return fired;
}
