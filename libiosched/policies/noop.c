/* SPDX-License-Identifier: BSD-2-Clause */
/* noop.c - first come, first served.
 *
 * The baseline: what the device would see if nobody reordered anything.  Also
 * the smallest complete policy, so read it first.
 *
 * State:    one FIFO of everything queued, oldest first.
 * Decision: the head of the FIFO.
 * Timer:    none.   Per-stream state: none.   Tunables: none of its own.
 *
 * Source: doc/PROVENANCE.md.  A forced drain under IOSCHED_F_COMPAT puts all of
 * it on the core's list at once, where it is sorted: hence EMIT_SORTED.
 */
#include <iosched/policy.h>

struct noop {
    struct iosched_core *core;
    struct iosched_fifo  queue;         /* by age, oldest first           */
};

#define rq_of(link) iosched_container_of((link), struct iosched_req, fifo)

static int noop_init(void *state, struct iosched_core *core)
{
    struct noop *np = state;

    np->core = core;
    return IOSCHED_OK;
}

/* --- Queueing ------------------------------------------------------------- */
/** At the tail, as a rule; further ahead what comes late but is older. */
static void noop_insert(void *state, struct iosched_req *rq)
{
    struct noop *np = state;
    struct iosched_fifolink *pos = iosched_fifo_tail(&np->queue), *next = NULL;

    if (pos != NULL && rq_of(pos)->t_insert >= rq->t_insert)
        while (pos != NULL &&
               iosched_req_seq(rq_of(pos)) > iosched_req_seq(rq)) {
            next = pos;
            pos = iosched_fifo_prev(pos);
        }
    if (next == NULL)
        iosched_fifo_push(&np->queue, &rq->fifo, IOSCHED_NEVER);
    else
        iosched_fifo_insert_before(&np->queue, next, &rq->fifo, IOSCHED_NEVER);
}

static void noop_removed(void *state, struct iosched_req *rq, int why)
{
    struct noop *np = state;

    (void)why;                          /* gone is gone */
    iosched_fifo_remove(&np->queue, &rq->fifo);
}

/** Only the neighbours in the queue, whom the originals' core asks for. */
static struct iosched_req *noop_neighbour(void *state,
                                          const struct iosched_req *rq,
                                          int where)
{
    struct iosched_fifolink *l = where == IOSCHED_MERGED_BACK
                                     ? iosched_fifo_next(&rq->fifo)
                                     : iosched_fifo_prev(&rq->fifo);

    (void)state;
    return l != NULL ? rq_of(l) : NULL;
}

/* --- Choosing ------------------------------------------------------------- */
static struct iosched_req *noop_evict(void *state)
{
    struct noop *np = state;
    struct iosched_fifolink *head = iosched_fifo_head(&np->queue);

    if (head == NULL)
        return NULL;
    iosched_fifo_remove(&np->queue, head);
    return rq_of(head);
}

static int noop_dispatch(void *state, unsigned flags)
{
    struct noop *np = state;
    struct iosched_req *rq = noop_evict(np);

    (void)flags;                        /* never a HOLD, so FORCE is moot */
    if (rq == NULL)
        return IOSCHED_EMPTY;
    iosched_core_emit(np->core, rq, IOSCHED_EMIT_SORTED);
    return IOSCHED_GOT;
}

/* --- Looking -------------------------------------------------------------- */
static void noop_dump(const void *state, struct iosched_dumper *d)
{
    const struct noop *np = state;
    struct iosched_fifolink *l = iosched_fifo_head(&np->queue);

    for (; l != NULL; l = iosched_fifo_next(l))
        iosched_dump_rq(d, rq_of(l), "fifo", "its turn");
}

/* --- The policy ----------------------------------------------------------- */
static const struct iosched_preset presets[] = {
    { "2.6.20", "tick_ns=1ms,sort_across_ops=1" },
    { "2.6.32", "tick_ns=1ms" },
    { "4.20",   "tick_ns=1ms" },
    { NULL, NULL }
};

extern const struct iosched_policy iosched__noop;
const struct iosched_policy iosched__noop = {
    .struct_size = sizeof(struct iosched_policy),
    .api         = IOSCHED_POLICY_API,
    .name        = "noop",
    .help        = "first come, first served",
    .state_size  = sizeof(struct noop),
    .presets     = presets,
    .init        = noop_init,
    .insert      = noop_insert,
    .dispatch    = noop_dispatch,
    .removed     = noop_removed,
    .evict       = noop_evict,
    .neighbour   = noop_neighbour,
    .dump        = noop_dump,
};
