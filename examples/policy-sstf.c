/* SPDX-License-Identifier: BSD-2-Clause */
/* policy-sstf.c - shortest seek first, with patience: a policy of your own.
 *
 * Made to be read: a complete policy that is not part of the library and uses
 * installed headers only.  It optimises the way of one disk arm.  Two things
 * keep that from being foolish: nobody waits longer than max_wait, for the arm
 * may be busy in one corner for ever; and when somebody who reads a block at a
 * time has got one, the arm stays for a moment, for his next one is likely to
 * be near, and going away and coming back costs more.
 *
 * State:      all requests held, by xlba in a tree, and by age in a FIFO.
 * Decision:   the oldest if it is older than max_wait; else, the nearest to
 *             the end of the last one emitted, the elder of two as near.
 * Timer 0:    the end of the wait for a stream's next request.
 * Per stream: requests held; when its last sync request completed; how long it
 *             takes, on average, until it asks again.
 * Tunables:   wait, near, max_wait.  Preset: "patient".
 *
 * Hooks of groups are NULL, as shares do not matter here; so are issued,
 * requeued and dropped: nothing is kept of a request that was emitted.
 */
#include "policy-sstf.h"

#define WAIT_TIMER  0u
#define THINK_SHARE 8u          /* a new sample counts for one part in 8  */

struct sstf_stream {
    iosched_time done_at;       /* of its last sync request; if thinking  */
    iosched_dur  think;         /* mean from there to its next            */
    uint32_t     held;          /* carriers of it in tree and FIFO        */
    uint32_t     thinking;      /* 1: done_at is set, nothing came since  */
};

struct sstf {
    int64_t wait;                       /* tunables: ns, blocks, ns       */
    int64_t near;
    int64_t max_wait;
    struct iosched_core   *core;
    struct iosched_rbtree  tree;        /* every one held, by xlba        */
    struct iosched_fifo    fifo;        /* the same, by (age, arrival);   */
                                        /* its "expires" is the age       */
    iosched_lba            arm;         /* end of the last one emitted    */
    struct iosched_stream *awaited;     /* or NULL; open, holds nothing   */
    iosched_time           until;       /* how long, if awaited           */
};

#define rq_of_link(l) iosched_container_of((l), struct iosched_req, fifo)
#define rq_of_node(n) iosched_container_of((n), struct iosched_req, sort)

static iosched_time sstf_later(iosched_time t, iosched_dur d)
{
    return d > IOSCHED_NEVER - t ? IOSCHED_NEVER : t + d;
}

static iosched_dur sstf_ticks(const struct sstf *sp, int64_t tunable)
{
    return iosched_core_ticks(sp->core, (iosched_dur)tunable);
}

static iosched_lba sstf_way(const struct sstf *sp, const struct iosched_req *rq)
{
    return rq->xlba > sp->arm ? rq->xlba - sp->arm : sp->arm - rq->xlba;
}

/** Is a older than b?  Arrival breaks the tie, so never both. */
static int sstf_older(const struct iosched_req *a, const struct iosched_req *b)
{
    if (a->fifo.expires != b->fifo.expires)
        return a->fifo.expires < b->fifo.expires;
    return iosched_req_seq(a) < iosched_req_seq(b);
}

static int sstf_init(void *state, struct iosched_core *core)
{
    ((struct sstf *)state)->core = core;
    return IOSCHED_OK;
}

/* --- Waiting for a stream ------------------------------------------------- */
static void sstf_stop_waiting(struct sstf *sp)
{
    sp->awaited = NULL;
    iosched_core_arm(sp->core, WAIT_TIMER, IOSCHED_NEVER);
}

/** A new request of st has come, by itself or into a merge. */
static void sstf_arrived(struct sstf *sp, struct iosched_stream *st)
{
    struct sstf_stream *ss = iosched_stream_data(st);
    iosched_dur think = iosched_core_now(sp->core) - ss->done_at;
    iosched_dur most = 2 * sstf_ticks(sp, sp->wait);

    if (sp->awaited == st)
        sstf_stop_waiting(sp);
    if (!ss->thinking)
        return;                         /* the second of a burst: no thought */
    ss->thinking = 0;
    think = think < most ? think : most;    /* a break is one sample, too */
    ss->think = (ss->think * (THINK_SHARE - 1) + think) / THINK_SHARE;
}

/** rq is done.  Is its stream worth a wait, whatever else is queued? */
static void sstf_completed(void *state, struct iosched_req *rq)
{
    struct sstf *sp = state;
    struct iosched_stream *st = iosched_req_stream(rq);
    struct sstf_stream *ss = iosched_stream_data(st);
    iosched_dur wait = sstf_ticks(sp, sp->wait);

    if (ss->held > 0 || !iosched_req_sync(rq) || !iosched_stream_is_open(st))
        return;
    ss->done_at = iosched_core_now(sp->core);
    ss->thinking = 1;
    if (wait == 0 || ss->think > wait)
        return;                         /* it would come too late */
    sstf_stop_waiting(sp);              /* for another one, if so */
    sp->awaited = st;
    sp->until = sstf_later(ss->done_at, wait);
}

static void sstf_expired(void *state, unsigned timer)
{
    (void)timer;                        /* there is but this one */
    sstf_stop_waiting(state);
}

static void sstf_tuned(void *state)
{
    sstf_stop_waiting(state);           /* it was by other numbers */
}

/* --- Streams -------------------------------------------------------------- */
/** Closed, then freed: nobody will ask any more. */
static void sstf_stream_gone(void *state, struct iosched_stream *st, void *data)
{
    struct sstf *sp = state;

    (void)data;
    if (sp->awaited == st)
        sstf_stop_waiting(sp);
}

static void sstf_yielded(void *state, struct iosched_stream *from,
                         struct iosched_stream *to)
{
    (void)to;
    sstf_stream_gone(state, from, NULL);
}

/* --- Queueing ------------------------------------------------------------- */
/** Into the FIFO at its age: last, but for one out of a dissolved merge or
 *  whose cache flush came first; those look for their place. */
static void sstf_enqueue(struct sstf *sp, struct iosched_req *rq)
{
    struct iosched_fifolink *l = iosched_fifo_tail(&sp->fifo);
    iosched_time since = iosched_core_since(sp->core, rq);

    rq->fifo.expires = since;           /* for sstf_older() */
    if (l == NULL || sstf_older(rq_of_link(l), rq)) {
        iosched_fifo_push(&sp->fifo, &rq->fifo, since);
        return;
    }
    for (l = iosched_fifo_head(&sp->fifo); sstf_older(rq_of_link(l), rq);)
        l = iosched_fifo_next(l);       /* ends at the tail, if not before */
    iosched_fifo_insert_before(&sp->fifo, l, &rq->fifo, since);
}

static void sstf_unlink(struct sstf *sp, struct iosched_req *rq)
{
    struct sstf_stream *ss = iosched_stream_data(iosched_req_stream(rq));

    iosched_rb_remove(&sp->tree, &rq->sort);
    iosched_fifo_remove(&sp->fifo, &rq->fifo);
    ss->held--;
}

static void sstf_insert(void *state, struct iosched_req *rq)
{
    struct sstf *sp = state;
    struct sstf_stream *ss = iosched_stream_data(iosched_req_stream(rq));

    iosched_rb_insert(&sp->tree, &rq->sort, rq->xlba);
    sstf_enqueue(sp, rq);
    ss->held++;
    sstf_arrived(sp, iosched_req_stream(rq));
}

static void sstf_grown(struct sstf *sp, struct iosched_req *rq)
{
    if (rq->sort.key != rq->xlba) {
        iosched_rb_remove(&sp->tree, &rq->sort);
        iosched_rb_insert(&sp->tree, &rq->sort, rq->xlba);
    }
    if (rq->fifo.expires != iosched_core_since(sp->core, rq)) { /* older */
        iosched_fifo_remove(&sp->fifo, &rq->fifo);
        sstf_enqueue(sp, rq);
    }
}

static void sstf_merged(void *state, struct iosched_req *into,
                        struct iosched_req *rq, int where)
{
    (void)where;
    sstf_grown(state, into);
    sstf_arrived(state, iosched_req_stream(rq));
}

static void sstf_absorbed(void *state, struct iosched_req *into,
                          struct iosched_req *rq, int where)
{
    (void)where;
    sstf_unlink(state, rq);
    sstf_grown(state, into);
}

static void sstf_removed(void *state, struct iosched_req *rq, int why)
{
    (void)why;                          /* gone is gone */
    sstf_unlink(state, rq);
}

static struct iosched_req *sstf_evict(void *state)
{
    struct sstf *sp = state;
    struct iosched_fifolink *head = iosched_fifo_head(&sp->fifo);

    if (head == NULL)
        return NULL;
    sstf_unlink(sp, rq_of_link(head));
    return rq_of_link(head);
}

/* --- Looking around ------------------------------------------------------- */
static struct iosched_req *sstf_find(void *state, const struct iosched_req *rq,
                                     iosched_lba lba)
{
    struct sstf *sp = state;
    struct iosched_rbnode *n = iosched_rb_ceil(&sp->tree, lba);

    for (; n != NULL && n->key == lba; n = iosched_rb_next(n))
        if (rq_of_node(n)->op == rq->op)
            return rq_of_node(n);       /* the rest the core looks at */
    return NULL;
}

/** The nearest to the arm, of two as near the older; something is held. */
static struct iosched_req *sstf_nearest(const struct sstf *sp)
{
    struct iosched_rbnode *n = iosched_rb_floor(&sp->tree, sp->arm);
    struct iosched_req *rq, *best;

    /* From the first of those next below, upwards as long as it gets better:
     * so through all that share the place below, and all above. */
    n = n != NULL ? iosched_rb_ceil(&sp->tree, n->key) :
                    iosched_rb_first(&sp->tree);
    best = rq_of_node(n);
    while ((n = iosched_rb_next(n)) != NULL) {
        rq = rq_of_node(n);
        if (sstf_way(sp, rq) > sstf_way(sp, best))
            break;
        if (sstf_way(sp, rq) < sstf_way(sp, best) || sstf_older(rq, best))
            best = rq;
    }
    return best;
}

/* --- Choosing ------------------------------------------------------------- */
static int sstf_emit(struct sstf *sp, struct iosched_req *rq, int how)
{
    sstf_unlink(sp, rq);
    sstf_stop_waiting(sp);              /* the arm goes elsewhere, or stays */
    sp->arm = rq->xlba + rq->xnblk;
    iosched_core_emit(sp->core, rq, how);
    return IOSCHED_GOT;
}

static int sstf_dispatch(void *state, unsigned flags)
{
    struct sstf *sp = state;
    struct iosched_fifolink *head = iosched_fifo_head(&sp->fifo);
    iosched_time now = iosched_core_now(sp->core), bound;
    struct iosched_req *rq;

    if (head == NULL)
        return IOSCHED_EMPTY;           /* a wait, if any, just goes on */
    bound = sstf_later(head->expires, sstf_ticks(sp, sp->max_wait));
    if (now >= bound)
        return sstf_emit(sp, rq_of_link(head),
                         IOSCHED_EMIT_TAIL | IOSCHED_EMIT_EXPIRED);
    rq = sstf_nearest(sp);
    if (sp->awaited == NULL || (flags & IOSCHED_DISPATCH_FORCE) ||
        now >= sp->until || sstf_way(sp, rq) <= (iosched_lba)sp->near ||
        iosched_core_inflight_of(sp->core, sp->awaited) > 0)
        return sstf_emit(sp, rq, IOSCHED_EMIT_TAIL);

    iosched_core_arm(sp->core, WAIT_TIMER,
                     bound < sp->until ? bound : sp->until);
    return IOSCHED_HOLD;
}

static void sstf_dump(const void *state, struct iosched_dumper *d)
{
    const struct sstf *sp = state;
    struct iosched_fifolink *l = iosched_fifo_head(&sp->fifo);

    iosched_dump_num(d, "arm", (int64_t)sp->arm);
    for (; l != NULL; l = iosched_fifo_next(l))
        iosched_dump_rq(d, rq_of_link(l), "sorted", sp->awaited != NULL ?
                        "a stream's next is awaited" : "others are nearer");
}

/* --- The policy ----------------------------------------------------------- */
static const struct iosched_tunable_def sstf_tunables[] = {
    { { "wait", "longest wait for a stream's next request; 0: none",
        0, IOSCHED_SEC(1), IOSCHED_MSEC(2), IOSCHED_UNIT_NS },
      offsetof(struct sstf, wait) },
    { { "near", "do not wait if something is within so many blocks",
        0, INT64_MAX, 64, IOSCHED_UNIT_NONE }, offsetof(struct sstf, near) },
    { { "max_wait", "age from which the oldest goes first; 0: always",
        0, IOSCHED_SEC(3600), IOSCHED_MSEC(500), IOSCHED_UNIT_NS },
      offsetof(struct sstf, max_wait) },
    { { NULL }, 0 }
};

static const struct iosched_preset sstf_presets[] = {
    { "patient", "wait=8ms" },
    { NULL }
};

const struct iosched_policy policy_sstf = {
    .struct_size    = sizeof(struct iosched_policy),
    .api            = IOSCHED_POLICY_API,
    .name           = "sstf",
    .help           = "shortest seek first, waiting for who reads on",
    .state_size     = sizeof(struct sstf),
    .stream_size    = sizeof(struct sstf_stream),
    .tunables       = sstf_tunables,
    .tunable_stride = sizeof sstf_tunables[0],
    .presets        = sstf_presets,
    .init           = sstf_init,
    .tuned          = sstf_tuned,
    .stream_closed  = sstf_stream_gone, .stream_freed   = sstf_stream_gone,
    .yielded        = sstf_yielded,     .expired        = sstf_expired,
    .insert         = sstf_insert,      .dispatch       = sstf_dispatch,
    .completed      = sstf_completed,   .removed        = sstf_removed,
    .evict          = sstf_evict,       .find           = sstf_find,
    .merged         = sstf_merged,      .absorbed       = sstf_absorbed,
    .dump           = sstf_dump
};
