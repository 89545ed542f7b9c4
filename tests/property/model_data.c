/* SPDX-License-Identifier: BSD-2-Clause */
/* model_data.c - the referee's twins of the data path. */
#include <inttypes.h>
#include <string.h>

#include "model.h"
#include "model_inside.h"

/* --- Coming in ------------------------------------------------------------ */
void model_prepare(struct model *m, uint32_t i, unsigned op, unsigned flags,
                   iosched_lba lba, uint32_t nblk, uint32_t stream)
{
    struct item *it = &m->items[i];

    it->rq.lba = lba;
    it->rq.nblk = nblk;
    it->rq.op = (uint16_t)op;
    it->rq.flags = (uint16_t)flags;
    it->rq.stream = m->streams[stream].h;
    it->rq.user = it;
    it->rq.ioprio = 0;
    it->rq.nseg = 0;
    it->mine = it->rq;
}

static uint32_t stream_of(const struct model *m, const struct item *it)
{
    uint32_t i;

    if (it->mine.stream == NULL)
        return 0;
    for (i = 1; i < MODEL_STREAMS; i++)
        if (m->streams[i].h == it->mine.stream)
            return i;
    return MODEL_NONE;
}

static int prio_ok(unsigned prio)
{
    int cls = (int)IOSCHED_PRIO_CLASS(prio);

    if (cls == IOSCHED_PRIO_IDLE)
        return 1;
    return iosched_prio(cls, (int)IOSCHED_PRIO_LEVEL(prio)) >= 0;
}

int model_verdict(const struct model *m, uint32_t i)
{
    const struct iosched_req *rq = &m->items[i].mine;
    int extent = rq->op != IOSCHED_FLUSH && rq->op != IOSCHED_PASS;
    uint32_t stream = stream_of(m, &m->items[i]);

    if (rq->op > IOSCHED_PASS || rq->flags >= IOSCHED_RQ_IDLEHINT * 2)
        return IOSCHED_ERR_NOTSUP;
    if (extent && (rq->nblk == 0 || rq->lba + rq->nblk < rq->lba ||
                   (m->cfg.capacity_nblk > 0 &&
                    rq->lba + rq->nblk > m->cfg.capacity_nblk)))
        return IOSCHED_ERR_INVAL;
    if (rq->flags & (IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA) &&
        rq->op != IOSCHED_WRITE && rq->op != IOSCHED_ZEROES)
        return IOSCHED_ERR_INVAL;
    if (stream == MODEL_NONE)
        return IOSCHED_ERR_INVAL;
    if (!m->streams[stream].open)
        return IOSCHED_ERR_STATE;
    return prio_ok(rq->ioprio) ? IOSCHED_OK : IOSCHED_ERR_RANGE;
}

static unsigned first_phase(const struct model *m,
                            const struct iosched_req *rq)
{
    if (rq->op == IOSCHED_FLUSH ||
        (rq->flags & IOSCHED_RQ_PREFLUSH &&
         !(m->cfg.flags & IOSCHED_F_NO_VOLATILE_CACHE)))
        return IOSCHED_PHASE_PREFLUSH;
    return IOSCHED_PHASE_DATA;
}

static int next_phase(const struct model *m, const struct item *it, int status,
                      unsigned *next)
{
    const struct iosched_req *rq = &it->mine;

    if (status < 0 || rq->op == IOSCHED_FLUSH ||
        it->phase == IOSCHED_PHASE_POSTFLUSH)
        return 0;
    if (it->phase == IOSCHED_PHASE_PREFLUSH) {
        *next = IOSCHED_PHASE_DATA;
        return 1;
    }
    *next = IOSCHED_PHASE_POSTFLUSH;
    return rq->flags & IOSCHED_RQ_FUA &&
           !(m->cfg.flags & (IOSCHED_F_NO_VOLATILE_CACHE |
                             IOSCHED_F_DEVICE_FUA));
}

static void most_queued(struct model *m)
{
    if (m->queued > m->stats.max_queued)
        m->stats.max_queued = m->queued;
}

/** It is the library's, at this age. */
void model_take_in(struct model *m, uint32_t i, iosched_time age)
{
    struct item *it = &m->items[i];

    it->state = IOSCHED_STATE_QUEUED;
    it->carrier = i;
    it->age = age;
    it->phase = first_phase(m, &it->mine);
    it->requeued = it->posted = 0;
    it->passed = 0;
    it->seq = iosched_req_seq(&it->rq);
    if (m->any_seq && it->seq <= m->last_seq)
        model_fail(m, "arrival number %" PRIu64 " after %" PRIu64, it->seq,
                   m->last_seq);
    m->any_seq = 1;
    m->last_seq = it->seq;
    it->stream = stream_of(m, it);
    it->group = m->streams[it->stream].group;
    m->streams[it->stream].requests++;
    m->groups[it->group].requests++;
    m->queued++;
    most_queued(m);
    m->stats.inserted[it->mine.op]++;
}

int model_insert(struct model *m, uint32_t i)
{
    struct item *it = &m->items[i];
    int rc, want;

    model_enter(m);
    want = it->state != IOSCHED_STATE_IDLE ? IOSCHED_ERR_BUSY
                                           : model_verdict(m, i);
    rc = iosched_insert(m->s, &it->rq, m->now);
    if (want < 0)
        return model_expect(m, CALL_INSERT, rc, want);
    model_note(m, CALL_INSERT, rc);
    if (rc < 0 || rc > IOSCHED_MERGED_FRONT) {
        model_fail(m, "insert answers %d", rc);
        return rc;
    }
    model_take_in(m, i, m->core);
    model_learn(m, 1);
    if ((rc == IOSCHED_QUEUED) != (it->carrier == i))
        model_fail(m, "insert answers %d, and it rides on %u", rc,
                   it->carrier);
    if (rc == IOSCHED_MERGED_BACK &&
        m->items[it->carrier].rq.first_member == &it->rq)
        model_fail(m, "merged at the back, and it comes first");
    if (rc == IOSCHED_MERGED_FRONT && it->rq.next_member == NULL)
        model_fail(m, "merged at the front, and it comes last");
    return rc;
}

/* --- Going out ------------------------------------------------------------ */
static int is_queued_carrier(const struct model *m, uint32_t i)
{
    return m->items[i].state == IOSCHED_STATE_QUEUED &&
           m->items[i].carrier == i;
}

/** Whom the caller gave back and has to be issued next. */
static uint32_t next_requeued(const struct model *m)
{
    uint32_t best = MODEL_NONE, i;

    for (i = 0; i < m->nitems; i++) {
        const struct item *it = &m->items[i];

        if (!is_queued_carrier(m, i) || !it->requeued)
            continue;
        if (best == MODEL_NONE ||
            (m->cfg.flags & IOSCHED_F_COMPAT
                 ? it->given_back > m->items[best].given_back
                 : it->dispatched < m->items[best].dispatched))
            best = i;
    }
    return best;
}

/** A queued one that may go and does (not) bypass the policy. */
static uint32_t some_eligible(const struct model *m, int direct)
{
    uint32_t i;

    for (i = 0; i < m->nitems; i++)
        if (is_queued_carrier(m, i) && !m->items[i].requeued &&
            model_direct(&m->items[i]) == direct && model_eligible(m, i))
            return i;
    return MODEL_NONE;
}

/** Is i, which came, one that had to come before others or after them? */
static void check_turn(struct model *m, uint32_t i)
{
    struct item *it = &m->items[i];
    uint32_t first = next_requeued(m);
    int direct = model_direct(it);

    if (first != MODEL_NONE && first != i)
        model_fail(m, "%u comes, and %u was given back", i, first);
    if (!model_eligible(m, i))
        model_fail(m, "%u passes one that it has to wait for", i);
    if (it->mine.flags & IOSCHED_RQ_HEAD || it->mine.op == IOSCHED_PASS)
        m->stats.heads++;
    if (it->mine.flags & IOSCHED_RQ_BARRIER &&
        (it->phase == IOSCHED_PHASE_DATA || it->mine.op == IOSCHED_FLUSH))
        m->stats.barriers++;
    if (it->requeued)
        return;
    if (!direct && m->head_run < m->setup.head_burst && !model_crowded(m) &&
        some_eligible(m, 1) != MODEL_NONE)
        model_fail(m, "%u comes before HEAD", i);
    if (direct && m->head_run >= m->setup.head_burst && m->conserving &&
        !model_crowded(m) && some_eligible(m, 0) != MODEL_NONE)
        model_fail(m, "HEAD %u is one too many in a row", i);
    m->head_run = direct ? m->head_run + 1 : 0;
    if (!direct)
        model_bound(m, i);
}

static void check_tag(struct model *m, struct item *it)
{
    const struct iosched_req *rq = &it->rq;
    uint64_t cookie = iosched_cookie(rq);
    uint32_t i;

    it->tag = rq->tag;
    if (rq->tag < 0 || (uint32_t)rq->tag >= m->ntags ||
        m->tag[rq->tag] != TAG_FREE) {
        model_fail(m, "tag %d is not free", rq->tag);
        return;
    }
    m->tag[rq->tag] = TAG_FLYING;
    if ((uint32_t)cookie != (uint32_t)rq->tag ||
        iosched_find(m->s, cookie) != rq)
        model_fail(m, "the cookie of tag %d does not lead back", rq->tag);
    for (i = 0; i < m->nlate; i++)
        if (m->late[i] == cookie)
            model_fail(m, "a cookie comes again");
}

static void got(struct model *m, struct iosched_req *rq)
{
    uint32_t i = model_index(m, rq), j;
    struct item *it;

    if (i == MODEL_NONE || !is_queued_carrier(m, i)) {
        model_fail(m, "what comes is not queued");
        return;
    }
    it = &m->items[i];
    if (m->frozen > 0 || m->retry_at != IOSCHED_NEVER ||
        m->inflight >= m->depth)
        model_fail(m, "%u comes: frozen %u, retry %d, %u in flight of %u", i,
                   m->frozen, m->retry_at != IOSCHED_NEVER, m->inflight,
                   m->depth);
    check_turn(m, i);
    check_tag(m, it);
    if (rq->t_dispatch != m->core)
        model_fail(m, "%u is dispatched at another time", i);
    for (j = 0; j < m->nitems; j++)
        if (m->items[j].state == IOSCHED_STATE_QUEUED &&
            m->items[j].carrier == i) {
            m->items[j].state = IOSCHED_STATE_INFLIGHT;
            m->queued--;
        }
    it->requeued = 0;
    it->dispatched = ++m->dispatches;
    m->stats.dispatches++;
    if (++m->inflight > m->stats.max_inflight)
        m->stats.max_inflight = m->inflight;
}

static uint32_t free_tags(const struct model *m)
{
    uint32_t n = 0, i;

    for (i = 0; i < m->ntags; i++)
        n += m->tag[i] == TAG_FREE;
    return n;
}

/** Nothing came; is that right? */
static void none(struct model *m, int rc, unsigned flags)
{
    if (m->frozen > 0 || m->queued == 0) {
        int want = m->frozen > 0 ? IOSCHED_FROZEN : IOSCHED_EMPTY;

        if (rc != want)
            model_fail(m, "dispatch answers %d, not %d", rc, want);
        return;
    }
    if (m->retry_at != IOSCHED_NEVER && rc != IOSCHED_HOLD)
        model_fail(m, "dispatch answers %d while the device is busy", rc);
    else if (m->retry_at != IOSCHED_NEVER)
        return;
    switch (rc) {
    case IOSCHED_FULL:
        m->stats.fulls++;
        if (m->inflight >= m->depth)
            return;
        if (free_tags(m) > m->setup.reserved_tags)
            model_fail(m, "FULL with a free slot");
        m->owed_wake = m->tags != NULL;
        return;
    case IOSCHED_HOLD:
        if (m->inflight == 0 && iosched_next_expiry(m->s) == IOSCHED_NEVER)
            model_fail(m, "HOLD without a timer or anything in flight");
        if (m->inflight >= m->depth)
            model_fail(m, "HOLD without a free slot");
        if (!model_crowded(m) &&
            (m->conserving || flags & IOSCHED_DISPATCH_FORCE) &&
            (some_eligible(m, 0) != MODEL_NONE ||
             some_eligible(m, 1) != MODEL_NONE ||
             next_requeued(m) != MODEL_NONE))
            model_fail(m, "HOLD, and one may go");
        return;
    default:
        model_fail(m, "dispatch answers %d with %u queued", rc, m->queued);
    }
}

int model_dispatch(struct model *m, unsigned flags, uint32_t *out)
{
    struct iosched_req *rq = NULL;
    int rc;

    *out = MODEL_NONE;
    model_enter(m);
    rc = iosched_dispatch(m->s, &rq, flags, m->now);
    model_note(m, CALL_DISPATCH, rc);
    if (rc == IOSCHED_GOT) {
        got(m, rq);
        *out = model_index(m, rq);
    } else {
        if (rq != NULL)
            model_fail(m, "dispatch answers %d with a request", rc);
        none(m, rc, flags);
    }
    model_learn(m, 0);
    return rc;
}

int model_dispatch_many(struct model *m, uint32_t max, unsigned flags)
{
    struct iosched_req *list[16];
    uint32_t n = 0, i;
    int rc;

    if (max > 16)
        max = 16;
    model_enter(m);
    rc = iosched_dispatch_many(m->s, list, max, &n, flags, m->now);
    model_note(m, CALL_DISPATCH_MANY, rc);
    if (n > max || (rc == IOSCHED_GOT) != (n == max)) {
        model_fail(m, "dispatch_many answers %d with %u of %u", rc, n, max);
        return rc;
    }
    for (i = 0; i < n && model_ok(m); i++)
        got(m, list[i]);
    if (n < max)
        none(m, rc, flags);
    model_learn(m, 0);
    return rc;
}

/* --- Coming back ---------------------------------------------------------- */
static int in_flight(const struct model *m, uint32_t i)
{
    return m->items[i].state == IOSCHED_STATE_INFLIGHT &&
           m->items[i].carrier == i && !m->items[i].posted;
}

static void landed(struct model *m, uint32_t i, uint64_t cookie,
                   unsigned tag_state)
{
    struct item *it = &m->items[i];

    m->late[m->landings++ % MODEL_COOKIES] = cookie;
    if (m->nlate < MODEL_COOKIES)
        m->nlate++;
    m->tag[it->tag] = (unsigned char)tag_state;
    m->inflight--;
    it->posted = 0;
}

/** A tag came free: whoever was refused one has been woken. */
void model_woken(struct model *m, uint32_t before)
{
    if (m->owed_wake && m->wakes == before)
        model_fail(m, "a tag came free, and no wake");
    m->owed_wake = 0;
}

/** The carrier i, whose cookie was that, has finished; status, and the state of
 *  its members after the last phase.  @return the answer it should give. */
int model_finish(struct model *m, uint32_t i, uint64_t cookie, int status,
                 unsigned state)
{
    struct item *it = &m->items[i];
    unsigned next;
    uint32_t j;

    landed(m, i, cookie, TAG_FREE);
    m->refused = 0;
    m->retry_at = IOSCHED_NEVER;
    m->retry_wait = IOSCHED_MSEC(1);
    if (next_phase(m, it, status, &next)) {
        it->state = IOSCHED_STATE_QUEUED;
        it->phase = next;
        m->queued++;
        most_queued(m);
        m->stats.phases++;
        return IOSCHED_MORE;
    }
    for (j = 0; j < m->nitems; j++) {
        struct item *member = &m->items[j];

        if (member->state != IOSCHED_STATE_INFLIGHT || member->carrier != i)
            continue;
        if (member->rq.status != status)
            model_fail(m, "the status of %u is %d, not %d", j,
                       member->rq.status, status);
        m->stats.completed[member->mine.op]++;
        if (member->mine.op != IOSCHED_FLUSH &&
            member->mine.op != IOSCHED_PASS)
            m->stats.blocks[member->mine.op] += member->mine.nblk;
        m->stats.failed += status < 0;
        model_settle(m, j, state);
    }
    return IOSCHED_OK;
}

/** The depth creeps up by completions, n of them. */
void model_depth_up(struct model *m, uint32_t n)
{
    uint32_t d = iosched_depth(m->s);

    if (d < m->depth || d > m->depth_set || d - m->depth > n)
        model_fail(m, "depth goes from %u to %u", m->depth, d);
    m->depth = d;
}

int model_complete(struct model *m, uint32_t i, int status)
{
    struct item *it = &m->items[i];
    uint64_t cookie = iosched_cookie(&it->rq);
    uint32_t wakes = m->wakes, j = 0;
    const struct iosched_req *r;
    int rc, ours = in_flight(m, i), want;

    model_enter(m);
    rc = iosched_complete(m->s, &it->rq, status, m->now);
    if (!ours)
        return model_expect(m, CALL_COMPLETE, rc, IOSCHED_ERR_STATE);
    want = model_finish(m, i, cookie, status, IOSCHED_STATE_IDLE);
    model_expect(m, CALL_COMPLETE, rc, want);
    if (want == IOSCHED_OK)
        for (r = it->rq.first_member; r != NULL; r = r->next_member, j++)
            if (model_index(m, r) == MODEL_NONE || j > m->nitems ||
                r->state != IOSCHED_STATE_IDLE) {
                model_fail(m, "the members of %u are not all idle", i);
                break;
            }
    if (want == IOSCHED_OK && j != it->rq.nmembers)
        model_fail(m, "%u had %u members and lists %u", i, it->rq.nmembers, j);
    model_woken(m, wakes);
    model_depth_up(m, 1);
    model_learn(m, 1);
    return rc;
}

static void arm_retry(struct model *m)
{
    uint32_t took = m->inflight > 0 ? m->inflight : 1;

    if (took < m->depth)
        m->depth = took;
    if (m->inflight > 0 || m->retry_at != IOSCHED_NEVER)
        return;
    m->retry_at = m->core + m->retry_wait;
    m->retry_wait = m->retry_wait * 2 < IOSCHED_MSEC(100) ? m->retry_wait * 2
                                                          : IOSCHED_MSEC(100);
}

/** i goes back, unserved. */
static int give_back(struct model *m, uint32_t i, int refused)
{
    struct item *it = &m->items[i];
    uint64_t cookie = iosched_cookie(&it->rq);
    unsigned call = refused ? CALL_QUEUE_FULL : CALL_REQUEUE;
    uint32_t j, wakes = m->wakes;
    int rc, ours = in_flight(m, i);

    model_enter(m);
    rc = refused ? iosched_queue_full(m->s, &it->rq, m->now)
                 : iosched_requeue(m->s, &it->rq, m->now);
    if (!ours)
        return model_expect(m, call, rc, IOSCHED_ERR_STATE);
    model_expect(m, call, rc, IOSCHED_OK);
    landed(m, i, cookie, TAG_FREE);
    for (j = 0; j < m->nitems; j++)
        if (m->items[j].state == IOSCHED_STATE_INFLIGHT &&
            m->items[j].carrier == i) {
            m->items[j].state = IOSCHED_STATE_QUEUED;
            m->queued++;
        }
    most_queued(m);
    it->requeued = 1;
    it->given_back = ++m->give_backs;
    if (refused)
        m->stats.queue_full++;
    else
        m->stats.requeued++;
    if (refused) {
        m->refused = 1;
        m->refused_at = m->dispatches;
    }
    if (m->refused && it->dispatched <= m->refused_at)
        arm_retry(m);
    model_woken(m, wakes);
    model_learn(m, 0);
    return rc;
}

int model_requeue(struct model *m, uint32_t i)
{
    return give_back(m, i, 0);
}

int model_queue_full(struct model *m, uint32_t i)
{
    return give_back(m, i, 1);
}

int model_cancel(struct model *m, uint32_t i)
{
    struct item *it = &m->items[i];
    uint32_t c = it->carrier, j, n = 0;
    int rc, ours = it->state == IOSCHED_STATE_QUEUED;

    model_enter(m);
    rc = iosched_cancel(m->s, &it->rq, m->now);
    if (!ours)
        return model_expect(m, CALL_CANCEL, rc, IOSCHED_ERR_STATE);
    model_expect(m, CALL_CANCEL, rc, IOSCHED_OK);
    for (j = 0; j < m->nitems; j++)
        if (m->items[j].state == IOSCHED_STATE_QUEUED &&
            m->items[j].carrier == c)
            n++;
    if (n > 1)
        m->stats.dissolved++;
    for (j = 0; n > 1 && j < m->nitems; j++)
        if (m->items[j].state == IOSCHED_STATE_QUEUED &&
            m->items[j].carrier == c) {
            m->items[j].carrier = j;
            m->items[j].requeued = 0;
        }
    m->queued--;
    m->stats.cancelled++;
    model_settle(m, i, IOSCHED_STATE_IDLE);
    model_learn(m, 1);
    return rc;
}

int model_abort(struct model *m, uint32_t i)
{
    struct item *it = &m->items[i];
    uint64_t cookie = iosched_cookie(&it->rq);
    uint32_t j;
    int rc, ours = in_flight(m, i);

    model_enter(m);
    rc = iosched_abort(m->s, &it->rq, m->now);
    if (!ours)
        return model_expect(m, CALL_ABORT, rc, IOSCHED_ERR_STATE);
    model_expect(m, CALL_ABORT, rc, IOSCHED_OK);
    if (it->rq.tag != it->tag)
        model_fail(m, "an aborted request has lost its tag");
    landed(m, i, cookie, TAG_QUARANTINED);
    m->quarantined++;
    for (j = 0; j < m->nitems; j++)
        if (m->items[j].state == IOSCHED_STATE_INFLIGHT &&
            m->items[j].carrier == i) {
            m->stats.aborted++;
            model_settle(m, j, IOSCHED_STATE_IDLE);
        }
    model_learn(m, 1);
    return rc;
}

int model_release(struct model *m, int32_t tag)
{
    uint32_t wakes = m->wakes;
    int rc, known = tag >= 0 && (uint32_t)tag < m->ntags;

    model_enter(m);
    rc = iosched_tag_release(m->s, tag, m->now);
    if (!known || m->tag[tag] != TAG_QUARANTINED)
        return model_expect(m, CALL_TAG_RELEASE, rc,
                            known ? IOSCHED_ERR_STATE : IOSCHED_ERR_INVAL);
    model_expect(m, CALL_TAG_RELEASE, rc, IOSCHED_OK);
    m->tag[tag] = TAG_FREE;
    m->quarantined--;
    model_woken(m, wakes);
    model_learn(m, 0);
    return rc;
}
