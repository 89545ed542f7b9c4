/* SPDX-License-Identifier: BSD-2-Clause */
/* compat.c - merging as the originals' block layer did it, for the recorded
 * decisions: under IOSCHED_F_COMPAT only.
 *
 * Source: the project's behaviour specification, sections "Merging a bio" and
 * "Replaying the decision vectors" of its elevator core.  What differs from
 * merge.c: a one-hit cache of the request merged into last is tried first; of
 * the hash only the newest entry with the right end counts, even if it cannot
 * merge; a refusal for size closes a request for good and ends the search; a
 * request joins its neighbour in the policy's order, as that was before the
 * request moved, and the lower of the two survives.  Sorting of what a drain
 * emits is in emit.c, the order of requeues too.
 */
#include "hot.h"

/** rq joins `into`, and `into` its neighbour if they touch now. */
static void join(struct iosched *s, struct iosched_req *into,
                 struct iosched_req *rq, int where)
{
    struct iosched_core *c = s->run;
    struct iosched_req *other = NULL, *low, *high;

    /* At the front the hash keeps `into` in its place: its end is the same. */
    iosched__link_member(into, rq, where);
    if (where == IOSCHED_MERGED_BACK) {         /* a new end: newest again */
        iosched__unhash(s, into);
        iosched__hash(s, into);
    }
    if (c->ops.neighbour != NULL)
        other = c->ops.neighbour(c->state, into, where);
    low = where == IOSCHED_MERGED_BACK ? into : other;
    high = where == IOSCHED_MERGED_BACK ? other : into;
    if (other != NULL && iosched__end(low) == high->xlba &&
        iosched__mergeable(high) && iosched__fits(s, low, high) &&
        iosched__may_join(s, low, high, IOSCHED_MERGED_BACK)) {
        iosched__joined(s, into, rq, where);
        iosched__absorb(s, low, high, IOSCHED_MERGED_BACK);
        s->last_merge = iosched__place(low) == PLACE_POLICY ? low : NULL;
        return;
    }
    s->last_merge = into;               /* emit forgets it again */
    if (c->ops.merged != NULL)
        c->ops.merged(c->state, into, rq, where);
    iosched__joined(s, into, rq, where);
}

/** The newest hashed request that ends at `end`; closed ones drop out. */
static struct iosched_req *newest_at(struct iosched *s, iosched_lba end)
{
    struct iosched_req *c = *iosched__bucket(s, end), *next;

    for (; c != NULL; c = next) {
        next = c->link_next_;
        if (!iosched__mergeable(c))
            iosched__unhash(s, c);
        else if (iosched__end(c) == end)
            return c;
    }
    return NULL;
}

/** Whom rq would join, and where; NULL: nobody. */
static struct iosched_req *candidate(struct iosched *s, struct iosched_req *rq,
                                     int *where)
{
    struct iosched_core *c = s->run;
    struct iosched_req *into = s->last_merge;

    if (into != NULL && iosched__end(into) == rq->xlba &&
        iosched__may_join(s, into, rq, IOSCHED_MERGED_BACK)) {
        *where = IOSCHED_MERGED_BACK;
        return into;
    }
    if (into != NULL && into->xlba == iosched__end(rq) &&
        iosched__may_join(s, into, rq, IOSCHED_MERGED_FRONT)) {
        *where = IOSCHED_MERGED_FRONT;
        return into;
    }
    if (c->tun[TUN_NOMERGES] == 1)
        return NULL;
    into = newest_at(s, rq->xlba);
    *where = IOSCHED_MERGED_BACK;
    if (into != NULL && iosched__may_join(s, into, rq, *where))
        return into;
    if (c->ops.find == NULL)
        return NULL;
    into = c->ops.find(c->state, rq, iosched__end(rq));
    *where = IOSCHED_MERGED_FRONT;
    return into != NULL && iosched__may_join(s, into, rq, *where) ? into : NULL;
}

/** As iosched__merge(). */
int iosched__compat_merge(struct iosched *s, struct iosched_req *rq)
{
    struct iosched_req *into;
    int where;

    into = candidate(s, rq, &where);
    if (into == NULL)
        return 0;
    if (!iosched__fits(s, into, rq)) {
        into->core_flags_ |= RQ_CLOSED;
        if (s->last_merge == into)
            s->last_merge = NULL;
        return 0;
    }
    join(s, into, rq, where);
    return where;
}
