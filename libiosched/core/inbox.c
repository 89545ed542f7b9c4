/* SPDX-License-Identifier: BSD-2-Clause */
/* inbox.c - posts from other threads and from interrupt handlers.
 *
 * Requests: a stack, pushed by compare-and-swap, taken whole and reversed by
 * the owner.  Completions: a ring.  The poster first claims the slot's `live`
 * word, so that each dispatch is posted at most once; then a fetch-and-add
 * gives him a place in the ring, which is as large as there are tags: an entry
 * is taken in before its tag can be used again, so the ring never runs over.
 *
 * `pending`: a poster sets it after his post is visible; the owner clears it
 * before he looks.  Whoever sets it from 0 has to wake the owner.  A poster
 * who was overtaken between place and entry leaves a gap, at which the owner
 * stops; the flag is clear then, so that poster wakes him again.
 */
#include "hot.h"

#if IOSCHED_ATOMICS

static int announce(struct iosched *s)
{
    IOSCHED_AO_FENCE();                 /* the post first, then the flag */
    return IOSCHED_AO_CAS(&s->post_pending, 0, 1) ? 1 : 0;
}

int iosched_post(struct iosched *s, struct iosched_req *rq, iosched_time now)
{
    iosched__word head;

    if (s == NULL || rq == NULL || now == IOSCHED_NEVER)
        return IOSCHED_ERR_INVAL;
    if (rq->state != IOSCHED_STATE_IDLE)
        return IOSCHED_ERR_BUSY;
    rq->state = IOSCHED_STATE_POSTED;
    rq->owner_ = s;
    rq->t_insert = now;
    do {
        head = IOSCHED_AO_LOAD(&s->post_head);
        rq->link_next_ = (struct iosched_req *)(uintptr_t)head;
    } while (!IOSCHED_AO_CAS(&s->post_head, head,
                             (iosched__word)(uintptr_t)rq));
    return announce(s);
}

int iosched_post_complete(struct iosched *s, uint64_t cookie, int status,
                          iosched_time now)
{
    uint32_t tag = (uint32_t)cookie, generation = (uint32_t)(cookie >> 32);
    iosched__word ticket;
    struct posting *p;

    if (s == NULL || now == IOSCHED_NEVER)
        return IOSCHED_ERR_INVAL;
    if (tag >= s->ntags || generation == 0 ||
        !IOSCHED_AO_CAS(&s->slots[tag].live, (iosched__word)generation, 0)) {
        (void)IOSCHED_AO_ADD(&s->post_late, 1);
        return IOSCHED_ERR_STATE;
    }
    ticket = IOSCHED_AO_ADD(&s->post_tail, 1);
    p = &s->ring[ticket & s->ring_mask];
    p->cookie = cookie;
    p->status = status;
    p->when = now;
    IOSCHED_AO_STORE(&p->ready, ticket + 1);
    return announce(s);
}

/** Move core time on to when something was posted, but not past `until`.
 *  @return that time itself, if not before `from`. */
static iosched_time clock_of_post(struct iosched *s, iosched_time when,
                                  iosched_time from, iosched_time until)
{
    iosched_time t = iosched__later(when, s->offset);

    if (t > until)
        t = until;
    if (t < from)
        t = from;
    if (t > s->now)
        s->now = t;
    return t;
}

static void append_done(struct iosched *s, struct iosched_req *rq)
{
    iosched__list_append(&s->done, rq);
}

static int take_completions(struct iosched *s, iosched_time until)
{
    int n = 0;

    for (;; n++) {
        iosched__word place = s->ring_head;
        struct posting *p = &s->ring[place & s->ring_mask];
        struct iosched_req *rq;

        if (IOSCHED_AO_LOAD(&p->ready) != place + 1)
            return n;
        s->ring_head = place + 1;
        rq = iosched_find(s, p->cookie);
        IOSCHED_ASSERT(rq != NULL);     /* the claim keeps it in flight */
        (void)clock_of_post(s, p->when, s->now, until);
        if (iosched__finish(s, rq, p->status, IOSCHED_STATE_DONE) ==
            IOSCHED_OK)
            append_done(s, rq);
    }
}

/** Count the completions that were refused when they were posted. */
static void take_late(struct iosched *s)
{
    iosched__word n = IOSCHED_AO_LOAD(&s->post_late) - s->late_seen;

    if (n == 0)
        return;
    s->late_seen += n;
    s->stats.late += n;
    iosched__event(s, IOSCHED_EV_LATE, NULL, (int64_t)n);
}

static int take_requests(struct iosched *s, iosched_time from,
                         iosched_time until)
{
    struct iosched_req *rq, *next, *oldest = NULL;
    iosched__word head;
    int n = 0;

    do
        head = IOSCHED_AO_LOAD(&s->post_head);
    while (head != 0 && !IOSCHED_AO_CAS(&s->post_head, head, 0));
    for (rq = (struct iosched_req *)(uintptr_t)head; rq != NULL; rq = next) {
        next = rq->link_next_;
        rq->link_next_ = oldest;
        oldest = rq;
    }
    for (rq = oldest; rq != NULL; rq = next, n++) {
        int err = iosched__check_req(s, rq);

        next = rq->link_next_;
        rq->t_insert = clock_of_post(s, rq->t_insert, from, until);
        rq->status = err;
        if (err == IOSCHED_OK) {
            iosched__take_in(s, rq);
            continue;
        }
        rq->state = IOSCHED_STATE_DONE;
        rq->nmembers = 1;
        rq->first_member = rq;
        rq->next_member = NULL;
        s->stats.refused++;
        iosched__event(s, IOSCHED_EV_REFUSE, rq, err);
        append_done(s, rq);
    }
    return n;
}

/** 1 if nothing is posted that was not taken in. */
int iosched__inbox_empty(const struct iosched *s)
{
    return IOSCHED_AO_LOAD(&s->post_head) == 0 &&
           IOSCHED_AO_LOAD(&s->post_tail) == s->ring_head;
}

int iosched_intake(struct iosched *s, iosched_time now)
{
    iosched_time before, until;
    int n;

    if (s == NULL)
        return IOSCHED_ERR_INVAL;
    before = s->now;
    n = iosched__enter(s, now);
    if (n < 0)
        return n;
    until = s->now;
    s->now = before;            /* each post has its own time up to now */
    IOSCHED_AO_STORE(&s->post_pending, 0);
    IOSCHED_AO_FENCE();
    n = take_completions(s, until);
    n += take_requests(s, before, until);
    take_late(s);
    s->now = until;
    iosched__leave(s);
    return n;
}

int iosched_reap(struct iosched *s, struct iosched_req **out)
{
    struct iosched_req *rq, *m, *next;

    if (out == NULL)
        return IOSCHED_ERR_INVAL;
    *out = NULL;
    if (s == NULL)
        return IOSCHED_ERR_INVAL;
    if (s->inside)
        return IOSCHED_ERR_REENTRANT;
    rq = s->done.head;
    if (rq == NULL)
        return IOSCHED_EMPTY;
    iosched__list_remove(&s->done, rq);
    for (m = rq->first_member; m != NULL; m = next) {
        next = m->next_member;
        m->state = IOSCHED_STATE_IDLE;
    }
    *out = rq;
    return IOSCHED_GOT;
}

int iosched_inbox_pending(const struct iosched *s)
{
    if (s == NULL)
        return IOSCHED_ERR_INVAL;
    return IOSCHED_AO_LOAD(&s->post_pending) != 0;
}

#else /* no atomics */

int iosched__inbox_empty(const struct iosched *s)
{
    (void)s;
    return 1;
}

int iosched_post(struct iosched *s, struct iosched_req *rq, iosched_time now)
{
    (void)s;
    (void)rq;
    (void)now;
    return IOSCHED_ERR_NOTSUP;
}

int iosched_post_complete(struct iosched *s, uint64_t cookie, int status,
                          iosched_time now)
{
    (void)s;
    (void)cookie;
    (void)status;
    (void)now;
    return IOSCHED_ERR_NOTSUP;
}

int iosched_intake(struct iosched *s, iosched_time now)
{
    (void)s;
    (void)now;
    return IOSCHED_ERR_NOTSUP;
}

int iosched_reap(struct iosched *s, struct iosched_req **out)
{
    (void)s;
    (void)out;
    return IOSCHED_ERR_NOTSUP;
}

int iosched_inbox_pending(const struct iosched *s)
{
    (void)s;
    return IOSCHED_ERR_NOTSUP;
}

#endif
