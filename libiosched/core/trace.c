/* SPDX-License-Identifier: BSD-2-Clause */
/* trace.c - one event to the caller, once, in order. */
#include "hot.h"

void iosched__trace_out(struct iosched *s, unsigned action,
                        const struct iosched_req *rq,
                        const struct iosched_stream *st,
                        const struct iosched_group *g, const char *note,
                        int64_t arg)
{
    struct iosched_event ev;

    if (s->cfg.trace == NULL)
        return;
    ev.struct_size = (uint32_t)sizeof ev;
    ev.action = action;
    ev.time = s->now;
    ev.seq = rq != NULL ? rq->seq_ : 0;
    ev.rq = rq;
    ev.stream = st != NULL || rq == NULL ? st : iosched__stream_of(s, rq);
    ev.group = g;
    ev.note = note;
    ev.arg = arg;
    ev.queued = s->queued;
    ev.inflight = s->inflight;
    s->cfg.trace(s->cfg.user, &ev);
}
