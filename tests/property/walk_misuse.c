/* SPDX-License-Identifier: BSD-2-Clause */
/* walk_misuse.c - the part of the walk that does what one must not. */
#include <stdlib.h>
#include <string.h>

#include "walk.h"

/* Every call without a now, without a scheduler, without its object. */
static void nothing_given(struct model *m)
{
    const iosched_time never = IOSCHED_NEVER, now = m->entered;
    struct iosched_req rq, *out, *list[2];
    struct iosched_stream *st;
    struct iosched_group *g;
    const int inval = IOSCHED_ERR_INVAL;
    struct iosched *s = m->s;
    int64_t v;
    uint32_t n;

    memset(&rq, 0, sizeof rq);
    rq.nblk = 1;
#define REFUSED(call, expr) model_expect(m, call, expr, inval)
    REFUSED(CALL_INSERT, iosched_insert(s, NULL, now));
    REFUSED(CALL_INSERT, iosched_insert(NULL, &rq, now));
    REFUSED(CALL_INSERT, iosched_insert(s, &rq, never));
    REFUSED(CALL_DISPATCH, iosched_dispatch(s, NULL, 0, now));
    REFUSED(CALL_DISPATCH, iosched_dispatch(s, &out, 0, never));
    REFUSED(CALL_DISPATCH, iosched_dispatch(NULL, &out, 0, now));
    REFUSED(CALL_DISPATCH_MANY, iosched_dispatch_many(s, list, 0, &n, 0, now));
    REFUSED(CALL_DISPATCH_MANY, iosched_dispatch_many(s, NULL, 2, &n, 0, now));
    REFUSED(CALL_DISPATCH_MANY,
            iosched_dispatch_many(s, list, 2, NULL, 0, now));
    REFUSED(CALL_DISPATCH_MANY,
            iosched_dispatch_many(s, list, 2, &n, 0, never));
    REFUSED(CALL_COMPLETE, iosched_complete(s, NULL, 0, now));
    REFUSED(CALL_COMPLETE, iosched_complete(s, &rq, 0, never));
    REFUSED(CALL_REQUEUE, iosched_requeue(s, NULL, now));
    REFUSED(CALL_REQUEUE, iosched_requeue(s, &rq, never));
    REFUSED(CALL_QUEUE_FULL, iosched_queue_full(s, NULL, now));
    REFUSED(CALL_QUEUE_FULL, iosched_queue_full(s, &rq, never));
    REFUSED(CALL_CANCEL, iosched_cancel(s, NULL, now));
    REFUSED(CALL_CANCEL, iosched_cancel(s, &rq, never));
    REFUSED(CALL_ABORT, iosched_abort(s, NULL, now));
    REFUSED(CALL_ABORT, iosched_abort(s, &rq, never));
    REFUSED(CALL_TAG_RELEASE, iosched_tag_release(s, 0, never));
    REFUSED(CALL_EXPIRE, iosched_expire(s, never));
    REFUSED(CALL_EXPIRE, iosched_expire(NULL, now));
    REFUSED(CALL_FREEZE, iosched_freeze(s, never));
    REFUSED(CALL_THAW, iosched_thaw(s, never));
    REFUSED(CALL_SWITCH, iosched_switch(s, NULL, now));
    REFUSED(CALL_SWITCH, iosched_switch(s, m->policy, never));
    REFUSED(CALL_SET_DEPTH, iosched_set_depth(s, 1, never));
    REFUSED(CALL_MAY_QUEUE, iosched_may_queue(s, NULL, 0, 0, never));
    REFUSED(CALL_TUNABLE_SET, iosched_tunable_set(s, NULL, 0, now));
    REFUSED(CALL_TUNABLE_SET, iosched_tunable_set(s, "nomerges", 0, never));
    REFUSED(CALL_TUNABLE_GET, iosched_tunable_get(s, NULL, &v));
    REFUSED(CALL_TUNABLE_GET, iosched_tunable_get(s, "nomerges", NULL));
    REFUSED(CALL_TUNABLE_AT, iosched_tunable_at(s, 0, NULL, 8));
    REFUSED(CALL_STREAM_OPEN, iosched_stream_open(s, NULL, NULL, now));
    REFUSED(CALL_STREAM_OPEN, iosched_stream_open(s, NULL, &st, never));
    REFUSED(CALL_STREAM_YIELD, iosched_stream_yield(NULL, NULL, now));
    REFUSED(CALL_GROUP_OPEN, iosched_group_open(s, NULL, NULL, now));
    REFUSED(CALL_GROUP_OPEN, iosched_group_open(s, NULL, &g, never));
    REFUSED(CALL_GROUP_SET_WEIGHT, iosched_group_set_weight(NULL, 5, now));
    REFUSED(CALL_GROUP_SET_LEAF_WEIGHT,
            iosched_group_set_leaf_weight(s, NULL, 5, never));
    REFUSED(CALL_POST, iosched_post(s, NULL, now));
    REFUSED(CALL_POST, iosched_post(NULL, &rq, now));
    REFUSED(CALL_POST, iosched_post(s, &rq, never));
    REFUSED(CALL_POST_COMPLETE, iosched_post_complete(NULL, 0, 0, now));
    REFUSED(CALL_POST_COMPLETE, iosched_post_complete(s, 0, 0, never));
    REFUSED(CALL_INTAKE, iosched_intake(s, never));
    REFUSED(CALL_INTAKE, iosched_intake(NULL, now));
    REFUSED(CALL_REAP, iosched_reap(s, NULL));
    REFUSED(CALL_REAP, iosched_reap(NULL, &out));
    REFUSED(CALL_GET_STATS, iosched_get_stats(s, NULL, 8));
    REFUSED(CALL_DUMP, iosched_dump(s, NULL, NULL, now));
#undef REFUSED
    if (rq.state != IOSCHED_STATE_IDLE || rq.owner_ != NULL)
        model_fail(m, "a refused request was written to");
}

/* What the library does not know of. */
static void unknown_given(struct model *m)
{
    const int notsup = IOSCHED_ERR_NOTSUP, noent = IOSCHED_ERR_NOENT;
    struct iosched_tunable t;
    struct iosched_req *out, *list[2];
    struct { struct iosched_stream_opts o; uint64_t more; } so;
    struct { struct iosched_group_opts o; uint64_t more; } go;
    struct iosched_stream *st;
    struct iosched_group *g;
    int64_t v;
    uint32_t n;

    memset(&so, 0, sizeof so);
    memset(&go, 0, sizeof go);
    so.o.struct_size = sizeof so;
    go.o.struct_size = sizeof go;
    go.o.weight = 100;
    so.more = go.more = 1;
    model_expect(m, CALL_DISPATCH, iosched_dispatch(m->s, &out, 8, m->entered),
                 notsup);
    model_expect(m, CALL_DISPATCH_MANY,
                 iosched_dispatch_many(m->s, list, 2, &n, 8, m->entered),
                 notsup);
    model_expect(m, CALL_STREAM_OPEN,
                 iosched_stream_open(m->s, &so.o, &st, m->entered), notsup);
    model_expect(m, CALL_GROUP_OPEN,
                 iosched_group_open(m->s, &go.o, &g, m->entered), notsup);
    model_expect(m, CALL_TUNABLE_GET, iosched_tunable_get(m->s, "none", &v),
                 noent);
    model_expect(m, CALL_TUNABLE_AT,
                 iosched_tunable_at(m->s, 1000, &t, sizeof t), noent);
}

/* A request and objects of another scheduler. */
static void stranger_given(struct model *m)
{
    const iosched_time now = m->entered;
    const int inval = IOSCHED_ERR_INVAL;
    struct iosched *other = NULL;
    struct iosched_stream_opts so = { sizeof so, 0, 0, NULL, NULL };
    struct iosched_stream *st = NULL;
    struct iosched_group *g = NULL;
    struct iosched_req rq, mine, *out = NULL;

    memset(&rq, 0, sizeof rq);
    rq.nblk = 1;
    mine = rq;
    if (iosched_create(iosched_builtin_policies()[0]->name, NULL, &other,
                       now) < 0 ||
        iosched_stream_open(other, NULL, &st, now) < 0 ||
        iosched_group_open(other, NULL, &g, now) < 0 ||
        iosched_insert(other, &rq, now) < 0) {
        model_fail(m, "another scheduler cannot be made");
        return;
    }
    model_expect(m, CALL_CANCEL, iosched_cancel(m->s, &rq, now), inval);
    model_expect(m, CALL_INSERT, iosched_insert(m->s, &rq, now),
                 IOSCHED_ERR_BUSY);
    if (iosched_dispatch(other, &out, 0, now) != IOSCHED_GOT || out != &rq)
        model_fail(m, "another scheduler does not dispatch");
    model_expect(m, CALL_COMPLETE, iosched_complete(m->s, &rq, 0, now), inval);
    model_expect(m, CALL_REQUEUE, iosched_requeue(m->s, &rq, now), inval);
    model_expect(m, CALL_QUEUE_FULL, iosched_queue_full(m->s, &rq, now),
                 inval);
    model_expect(m, CALL_ABORT, iosched_abort(m->s, &rq, now), inval);
    mine.stream = st;
    model_expect(m, CALL_INSERT, iosched_insert(m->s, &mine, now), inval);
    model_expect(m, CALL_MAY_QUEUE, iosched_may_queue(m->s, st, 0, 0, now),
                 inval);
    so.group = g;
    model_expect(m, CALL_STREAM_OPEN,
                 iosched_stream_open(m->s, &so, &st, now), inval);
    model_expect(m, CALL_GROUP_SET_LEAF_WEIGHT,
                 iosched_group_set_leaf_weight(m->s, g, 5, now), inval);
    if (iosched_complete(other, &rq, 0, now) != IOSCHED_OK)
        model_fail(m, "another scheduler does not complete");
    model_expect(m, CALL_DESTROY, iosched_destroy(other), IOSCHED_OK);
}

void walk_misuse(struct walk *w)
{
    struct model *m = &w->m;

    m->now = m->entered;                /* none of these moves the clock */
    nothing_given(m);
    unknown_given(m);
    stranger_given(m);
}
