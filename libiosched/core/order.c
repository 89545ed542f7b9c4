/* SPDX-License-Identifier: BSD-2-Clause */
/* order.c - what may not pass what: barriers, and requests that overlap.
 *
 * Everything that comes in is *admitted* in order of arrival.  A barrier is
 * admitted when nothing admitted is left, and while it is under way nothing
 * else is: so whatever arrives after it waits in one list, HEAD and all.
 *
 * With IOSCHED_F_ORDER_OVERLAPS each admitted request has a node in one of two
 * interval trees, those that only read and those that write, keyed by lba and
 * augmented with the largest end and the range of arrivals.  One that conflicts
 * with earlier ones is blocked: it waits at the youngest of them, its blocker,
 * and looks again when that is idle.  Nodes come from a pool of fixed size;
 * without one left, arrivals wait as they do behind a barrier, which only costs
 * the policy some choice: as many as the pool holds are there to choose from.
 */
#include "hot.h"

#define PATIENCE 64     /* nodes to look at for the best one to wait for     */

#define node_of(rbn) iosched_container_of((rbn), struct order_node, rb)

/* --- The interval trees --------------------------------------------------- */
static uint64_t end_of(const struct order_node *n)
{
    return n->rq->lba + n->rq->nblk;
}

static void include(struct order_node *n, struct iosched_rbnode *kid)
{
    const struct order_node *k;

    if (kid == NULL)
        return;
    k = node_of(kid);
    if (k->max_end > n->max_end)
        n->max_end = k->max_end;
    if (k->min_seq < n->min_seq)
        n->min_seq = k->min_seq;
    if (k->max_seq > n->max_seq)
        n->max_seq = k->max_seq;
}

static int augment(struct iosched_rbnode *rb)
{
    struct order_node *n = node_of(rb);
    uint64_t end = n->max_end, min = n->min_seq, max = n->max_seq;

    n->max_end = end_of(n);
    n->min_seq = n->max_seq = n->rq->seq_;
    include(n, iosched_rb_left(rb));
    include(n, iosched_rb_right(rb));
    return n->max_end != end || n->min_seq != min || n->max_seq != max;
}

/** The youngest of `best` and the nodes below rb that overlap rq and arrived
 *  before it.  Subtrees that end too low, hold nothing older than rq or nothing
 *  younger than `best` are left out.  The youngest is only the best one to wait
 *  for, any will do: after *patience nodes whatever was found is taken.
 *  Recurses as deep as the tree, that is at most twice the logarithm of its
 *  size. */
static struct order_node *latest(struct iosched_rbnode *rb,
                                 const struct iosched_req *rq,
                                 struct order_node *best, unsigned *patience)
{
    while (rb != NULL) {
        struct order_node *n = node_of(rb);

        if (n->max_end <= rq->lba || n->min_seq >= rq->seq_ ||
            (best != NULL &&
             (n->max_seq <= best->rq->seq_ || *patience == 0)))
            return best;
        *patience -= *patience > 0;
        if (rb->key < rq->lba + rq->nblk) {
            best = latest(iosched_rb_right(rb), rq, best, patience);
            if (end_of(n) > rq->lba && n->rq->seq_ < rq->seq_ &&
                (best == NULL || n->rq->seq_ > best->rq->seq_))
                best = n;
        }
        rb = iosched_rb_left(rb);
    }
    return best;
}

static int writes(const struct iosched_req *rq)
{
    return rq->op != IOSCHED_READ;
}

static int ordered(const struct iosched *s, const struct iosched_req *rq)
{
    return s->cfg.flags & IOSCHED_F_ORDER_OVERLAPS && rq->xnblk > 0 &&
           !(rq->flags & IOSCHED_RQ_BARRIER);
}

uint32_t iosched__order_nodes(const struct iosched_cfg *cfg)
{
    if (!(cfg->flags & IOSCHED_F_ORDER_OVERLAPS))
        return 0;
    return iosched__pow2(cfg->queued_hint) + cfg->depth;
}

/** Look again whether arrivals may go straight on. */
static void set_orderly(struct iosched *s)
{
    s->orderly = s->order_size > 0 || s->fence != NULL ||
                 s->waiting.head != NULL;
}

void iosched__order_init(struct iosched *s)
{
    uint32_t i = s->order_size;

    s->readers.augment = s->writers.augment = augment;
    set_orderly(s);
    while (i-- > 0) {
        s->order_pool[i].wait_next = s->order_free;
        s->order_free = &s->order_pool[i];
    }
}

/** Wait for an earlier request that rq conflicts with: for the youngest, so
 *  that a chain of conflicts is a chain of waiters and each completion lets one
 *  of them go.  @return 0: there is none. */
static int block(struct iosched *s, struct order_node *n)
{
    struct iosched_req *rq = n->rq;
    unsigned patience = PATIENCE;
    struct order_node *after, *b;

    b = latest(iosched_rb_root(&s->writers), rq, NULL, &patience);
    if (writes(rq))
        b = latest(iosched_rb_root(&s->readers), rq, b, &patience);
    n->blocker = b;
    if (b == NULL)
        return 0;
    for (after = b->last_waiter;
         after != NULL && after->rq->seq_ > rq->seq_; after = after->wait_prev)
        ;
    n->wait_prev = after;
    n->wait_next = after != NULL ? after->wait_next : b->waiters;
    *(n->wait_next != NULL ? &n->wait_next->wait_prev : &b->last_waiter) = n;
    *(after != NULL ? &after->wait_next : &b->waiters) = n;
    return 1;
}

static void unblock(struct order_node *n)
{
    struct order_node *b = n->blocker, *prev = n->wait_prev,
                      *next = n->wait_next;

    *(prev != NULL ? &prev->wait_next : &b->waiters) = next;
    *(next != NULL ? &next->wait_prev : &b->last_waiter) = prev;
    n->blocker = NULL;
}

/** rq is idle: its node is free, and whoever waited at it looks again, in
 *  order of arrival. */
static void retire(struct iosched *s, struct iosched_req *rq)
{
    struct order_node *n = rq->order_, *w;

    rq->order_ = NULL;
    iosched_rb_remove(writes(rq) ? &s->writers : &s->readers, &n->rb);
    while ((w = n->waiters) != NULL) {
        unblock(w);
        if (!block(s, w)) {
            s->blocked--;
            iosched__route(s, w->rq);
        }
    }
    n->rq = NULL;
    n->wait_next = s->order_free;
    s->order_free = n;
}

/* --- Admission ------------------------------------------------------------ */
static int let_in(struct iosched *s, struct iosched_req *rq)
{
    struct order_node *n;

    s->admitted++;
    if (!ordered(s, rq))
        return iosched__route(s, rq);
    n = s->order_free;
    s->order_free = n->wait_next;
    n->rq = rq;
    n->waiters = n->last_waiter = NULL;
    rq->order_ = n;
    if (block(s, n)) {
        iosched__set_place(rq, PLACE_BLOCKED);
        s->blocked++;
        s->stats.overlap_waits++;
        iosched__event_note(s, IOSCHED_EV_WAIT, rq, "overlap", 0);
        iosched_rb_insert(writes(rq) ? &s->writers : &s->readers, &n->rb,
                          rq->lba);
        return IOSCHED_QUEUED;
    }
    iosched_rb_insert(writes(rq) ? &s->writers : &s->readers, &n->rb, rq->lba);
    return iosched__route(s, rq);
}

/** May the head of the waiting list go on? */
static int may_go(const struct iosched *s, const struct iosched_req *rq)
{
    if (s->fence != NULL)
        return 0;
    if (rq->flags & IOSCHED_RQ_BARRIER)
        return s->admitted == 0;
    return !ordered(s, rq) || s->order_free != NULL;
}

/** Admit from the waiting list what may be admitted by now. */
void iosched__pump(struct iosched *s)
{
    struct iosched_req *rq;

    while ((rq = s->waiting.head) != NULL && may_go(s, rq)) {
        iosched__list_remove(&s->waiting, rq);
        if (rq->flags & IOSCHED_RQ_BARRIER)
            s->fence = rq;
        let_in(s, rq);
    }
    set_orderly(s);
}

/** rq has just arrived.  @return enum iosched_inserted. */
int iosched__admit(struct iosched *s, struct iosched_req *rq)
{
    if (s->waiting.head == NULL && may_go(s, rq)) {
        if (rq->flags & IOSCHED_RQ_BARRIER) {
            s->fence = rq;
            s->orderly = 1;
        }
        return let_in(s, rq);
    }
    iosched__set_place(rq, PLACE_WAITING);
    iosched__list_append(&s->waiting, rq);
    s->orderly = 1;
    iosched__event_note(s, IOSCHED_EV_WAIT, rq,
                        s->fence != NULL || !ordered(s, rq) ? "barrier"
                                                            : "order", 0);
    return IOSCHED_QUEUED;
}

/** The barrier under way, or a request with a node, is idle. */
void iosched__order_settled(struct iosched *s, struct iosched_req *rq)
{
    if (s->fence == rq)
        s->fence = NULL;
    if (rq->order_ != NULL)
        retire(s, rq);
    set_orderly(s);
}

/** rq, waiting or blocked, is taken away. */
void iosched__order_cancel(struct iosched *s, struct iosched_req *rq)
{
    if (iosched__place(rq) == PLACE_WAITING) {
        iosched__list_remove(&s->waiting, rq);
        s->admitted++;                  /* for whoever takes it off again */
        set_orderly(s);
    } else {
        unblock(rq->order_);
        s->blocked--;
    }
}

/* --- Looking -------------------------------------------------------------- */
/** The request that a blocked one waits for. */
const struct iosched_req *iosched__blocker(const struct iosched_req *rq)
{
    const struct order_node *n = rq->order_;

    return n->blocker->rq;
}
