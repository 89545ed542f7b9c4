/* SPDX-License-Identifier: BSD-2-Clause */
/* deadline.c - one-way elevator in batches, with a soft limit on waiting.
 *
 * For devices with an arm and loads without dependent reads: high throughput
 * and a bound on how long a read waits.
 *
 * State:    for each direction (reads; all that writes) a tree by lba and a
 *           FIFO by age; a cursor at the request after the last one chosen; how
 *           many the batch has had; how often reads were preferred.
 * Decision: go on with the batch while it has a cursor and is not too long.
 *           Else choose reads, unless writes have stood back writes_starved
 *           times; start at the oldest of the direction if its deadline has
 *           passed or there is no cursor, else at the cursor.
 * Timer:    none: deadlines are looked at when a batch ends.
 * Per-stream state: none.
 * Tunables: read_expire, write_expire, writes_starved, fifo_batch,
 *           front_merges; quirks that presets turn on, see
 *           doc/policies/deadline.md.
 *
 * Source: doc/PROVENANCE.md.
 */
#include <iosched/policy.h>

enum dir { READS, WRITES, DIRS };

/** What is queued in one direction. */
struct side {
    struct iosched_rbtree tree;         /* by xlba, equals by arrival     */
    struct iosched_fifo   fifo;         /* the same requests, by age      */
    iosched_dur           lifetime;     /* its expire in ticks            */
    iosched_time          youngest;     /* latest arrival queued so far   */
};

struct deadline {
    /* Tunables. */
    int64_t expire[DIRS];               /* ns a request may wait          */
    int64_t writes_starved;             /* decisions; negative: no limit  */
    int64_t fifo_batch;                 /* requests                       */
    int64_t front_merges;
    int64_t quirk_gap;                  /* a batch ends at a gap          */
    int64_t quirk_restart;              /* at the lowest; counter goes on */
    int64_t quirk_alias;                /* equal lba: the older goes      */
    int64_t quirk_strict;               /* a deadline of now has not passed */

    struct iosched_core *core;
    struct side           side[DIRS];
    struct iosched_req   *cursor;       /* in its tree, or NULL           */
    iosched_lba           head;         /* where the last one ended       */
    uint64_t              batch;        /* requests in this batch         */
    uint64_t              starved;      /* times reads were preferred     */
};

#define rq_of(link) iosched_container_of((link), struct iosched_req, fifo)
#define rq_at(node) iosched_container_of((node), struct iosched_req, sort)

static enum dir dir_of(const struct iosched_req *rq)
{
    return rq->op == IOSCHED_READ ? READS : WRITES;
}

static struct side *side_of(struct deadline *dl, const struct iosched_req *rq)
{
    return &dl->side[dir_of(rq)];
}

static struct iosched_req *rq_or_null(struct iosched_rbnode *n)
{
    return n != NULL ? rq_at(n) : NULL;
}

static struct iosched_req *oldest(const struct deadline *dl, enum dir dir)
{
    struct iosched_fifolink *l = iosched_fifo_head(&dl->side[dir].fifo);

    return l != NULL ? rq_of(l) : NULL;
}

static void dl_tuned(void *state)
{
    struct deadline *dl = state;
    int dir;

    for (dir = 0; dir < DIRS; dir++)
        dl->side[dir].lifetime = iosched_core_ticks(dl->core,
                                               (iosched_dur)dl->expire[dir]);
}

static int dl_init(void *state, struct iosched_core *core)
{
    struct deadline *dl = state;

    dl->core = core;
    dl_tuned(dl);
    return IOSCHED_OK;
}

/* --- Queueing ------------------------------------------------------------- */
/** rq leaves tree and FIFO; a cursor on it moves on. */
static void unlink_rq(struct deadline *dl, struct iosched_req *rq)
{
    struct side *side = side_of(dl, rq);

    if (dl->cursor == rq)
        dl->cursor = rq_or_null(iosched_rb_next(&rq->sort));
    iosched_rb_remove(&side->tree, &rq->sort);
    iosched_fifo_remove(&side->fifo, &rq->fifo);
}

/** Send rq off, and let the sweep stand behind it. */
static inline void move(struct deadline *dl, struct iosched_req *rq, int how)
{
    struct side *side = side_of(dl, rq);

    dl->cursor = rq_or_null(iosched_rb_next(&rq->sort));
    dl->head = rq->xlba + rq->xnblk;
    iosched_rb_remove(&side->tree, &rq->sort);
    iosched_fifo_remove(&side->fifo, &rq->fifo);
    iosched_core_emit(dl->core, rq, how);
}

/** Send off whatever starts at the same lba. */
static void send_aliases(struct deadline *dl, struct side *side,
                         iosched_lba lba)
{
    struct iosched_rbnode *n;

    while ((n = iosched_rb_ceil(&side->tree, lba)) != NULL && n->key == lba)
        move(dl, rq_at(n), IOSCHED_EMIT_TAIL);
}

/** Queue rq before all that are younger. */
static void add_by_age(struct iosched_fifo *fifo, struct iosched_req *rq,
                       iosched_time deadline)
{
    struct iosched_fifolink *pos = iosched_fifo_tail(fifo), *next = NULL;

    while (pos != NULL && iosched_req_seq(rq_of(pos)) > iosched_req_seq(rq)) {
        next = pos;
        pos = iosched_fifo_prev(pos);
    }
    if (next == NULL)
        iosched_fifo_push(fifo, &rq->fifo, deadline);
    else
        iosched_fifo_insert_before(fifo, next, &rq->fifo, deadline);
}

static void dl_insert(void *state, struct iosched_req *rq)
{
    struct deadline *dl = state;
    struct side *side = side_of(dl, rq);
    iosched_time deadline;

    if (dl->quirk_alias)
        send_aliases(dl, side, rq->xlba);
    deadline = iosched_core_since(dl->core, rq) + side->lifetime;
    if (deadline < side->lifetime)
        deadline = IOSCHED_NEVER;       /* past the end of time */
    iosched_rb_insert(&side->tree, &rq->sort, rq->xlba);
    /* To the tail, as a rule; only what comes late, after a switch or out of a
     * dissolved merge, is older than some. */
    if (rq->t_insert > side->youngest) {
        side->youngest = rq->t_insert;
        iosched_fifo_push(&side->fifo, &rq->fifo, deadline);
    } else {
        add_by_age(&side->fifo, rq, deadline);
    }
}

static void dl_removed(void *state, struct iosched_req *rq, int why)
{
    (void)why;
    unlink_rq(state, rq);
}

/* --- Merging -------------------------------------------------------------- */
static struct iosched_req *dl_find(void *state, const struct iosched_req *rq,
                                   iosched_lba lba)
{
    struct deadline *dl = state;
    struct iosched_rbnode *n;

    if (!dl->front_merges)
        return NULL;
    n = iosched_rb_ceil(&side_of(dl, rq)->tree, lba);
    while (n != NULL && n->key == lba && rq_at(n)->op != rq->op)
        n = iosched_rb_next(n);
    return n != NULL && n->key == lba ? rq_at(n) : NULL;
}

static struct iosched_req *dl_neighbour(void *state,
                                        const struct iosched_req *rq,
                                        int where)
{
    (void)state;
    return rq_or_null(where == IOSCHED_MERGED_BACK
                          ? iosched_rb_next(&rq->sort)
                          : iosched_rb_prev(&rq->sort));
}

/** `into` starts earlier now.  Its age, deadline and a cursor on it stay. */
static void dl_merged(void *state, struct iosched_req *into,
                      struct iosched_req *rq, int where)
{
    struct deadline *dl = state;
    struct side *side = side_of(dl, into);

    (void)rq;
    if (where != IOSCHED_MERGED_FRONT)
        return;
    iosched_rb_remove(&side->tree, &into->sort);
    if (dl->quirk_alias)
        send_aliases(dl, side, into->xlba);
    iosched_rb_insert(&side->tree, &into->sort, into->xlba);
}

/** rq rides on `into` from now on, which takes over the earlier deadline. */
static void dl_absorbed(void *state, struct iosched_req *into,
                        struct iosched_req *rq, int where)
{
    struct deadline *dl = state;
    struct iosched_fifo *fifo = &side_of(dl, rq)->fifo;

    if (rq->fifo.expires < into->fifo.expires) {
        iosched_fifo_remove(fifo, &into->fifo);
        iosched_fifo_replace(fifo, &rq->fifo, &into->fifo);
        if (dl->cursor == rq)
            dl->cursor = rq_or_null(iosched_rb_next(&rq->sort));
        iosched_rb_remove(&side_of(dl, rq)->tree, &rq->sort);
    } else {
        unlink_rq(dl, rq);
    }
    dl_merged(dl, into, rq, where);
}

/* --- Choosing ------------------------------------------------------------- */
static int expired(const struct deadline *dl, const struct iosched_req *rq)
{
    iosched_time now = iosched_core_now(dl->core);

    return dl->quirk_strict ? now > rq->fifo.expires : now >= rq->fifo.expires;
}

/** The next request of this batch, or NULL: the batch is over. */
static struct iosched_req *batch_goes_on(struct deadline *dl)
{
    struct iosched_req *rq = dl->cursor;

    if (rq == NULL)
        return NULL;
    if (dl->quirk_gap && dl->head != rq->xlba) {
        uint64_t sum = dl->batch + (uint64_t)dl->fifo_batch;

        dl->batch = sum > dl->batch ? sum : dl->batch;
    }
    return dl->batch < (uint64_t)dl->fifo_batch ? rq : NULL;
}

/** Whose turn is it?  One of them has something queued. */
static enum dir choose_direction(struct deadline *dl)
{
    int reads = dl->side[READS].fifo.len > 0;
    int writes = dl->side[WRITES].fifo.len > 0;

    if (!writes)
        return READS;
    if (reads && dl->starved < (uint64_t)dl->writes_starved) {
        dl->starved++;
        return READS;
    }
    dl->starved = 0;
    return WRITES;
}

/** The first request of a batch in this direction. */
static struct iosched_req *start_batch(struct deadline *dl, enum dir dir,
                                       int *how)
{
    struct iosched_req *rq = oldest(dl, dir);

    if (expired(dl, rq)) {
        *how |= IOSCHED_EMIT_EXPIRED;
        dl->batch = 0;
        return rq;
    }
    if (dl->cursor != NULL && dir_of(dl->cursor) == dir) {
        if (!dl->quirk_restart)
            dl->batch = 0;
        return dl->cursor;
    }
    dl->batch = 0;
    return dl->quirk_restart ? rq_at(iosched_rb_first(&dl->side[dir].tree))
                             : rq;
}

/** The batch is over: decide anew. */
static int new_batch(struct deadline *dl)
{
    struct iosched_req *rq;
    int how = IOSCHED_EMIT_TAIL;

    if (dl->side[READS].fifo.len + dl->side[WRITES].fifo.len == 0)
        return IOSCHED_EMPTY;
    rq = start_batch(dl, choose_direction(dl), &how);
    dl->batch++;
    move(dl, rq, how);
    return IOSCHED_GOT;
}

static int dl_dispatch(void *state, unsigned flags)
{
    struct deadline *dl = state;
    struct iosched_req *rq = batch_goes_on(dl);

    (void)flags;                        /* never a HOLD, so FORCE is moot */
    if (rq == NULL)
        return new_batch(dl);
    dl->batch++;
    move(dl, rq, IOSCHED_EMIT_TAIL);
    return IOSCHED_GOT;
}

/* --- Switching and looking ------------------------------------------------ */
static struct iosched_req *dl_evict(void *state)
{
    struct deadline *dl = state;
    struct iosched_req *rq = oldest(dl, READS);

    if (rq == NULL)
        rq = oldest(dl, WRITES);
    if (rq != NULL)
        unlink_rq(dl, rq);
    return rq;
}

static void dl_dump(const void *state, struct iosched_dumper *d)
{
    static const char *const place[DIRS] = { "read fifo", "write fifo" };
    const struct deadline *dl = state;
    struct iosched_fifolink *l;
    int dir;

    iosched_dump_num(d, "batch", (int64_t)dl->batch);
    iosched_dump_num(d, "starved", (int64_t)dl->starved);
    for (dir = 0; dir < DIRS; dir++)
        for (l = iosched_fifo_head(&dl->side[dir].fifo); l != NULL;
             l = iosched_fifo_next(l))
            iosched_dump_rq(d, rq_of(l), place[dir],
                            rq_of(l) == dl->cursor ? "next of the sweep"
                            : dl->cursor == NULL   ? "its turn"
                            : (int)dir_of(dl->cursor) == dir
                                ? "the sweep comes by"
                                : "a batch of the other direction");
}

/* --- The policy ----------------------------------------------------------- */
#define INT_TOP     INT64_C(2147483647)
#define MS_TOP      (INT_TOP * 1000000) /* the originals' bound, in ns    */
#define FIELD(name) offsetof(struct deadline, name)
#define QUIRK(name, help)                                                    \
    { { #name, help, 0, 1, 0, IOSCHED_UNIT_BOOL, IOSCHED_TUNABLE_QUIRK, 0 }, \
      FIELD(name) }

static const struct iosched_tunable_def tunables[] = {
    { { "read_expire", "a read may wait", 0, MS_TOP, 500000000,
        IOSCHED_UNIT_NS, 0, 0 }, FIELD(expire[READS]) },
    { { "write_expire", "a write may wait", 0, MS_TOP, 5000000000,
        IOSCHED_UNIT_NS, 0, 0 }, FIELD(expire[WRITES]) },
    { { "writes_starved", "times reads may go first; negative: always",
        -INT_TOP - 1, INT_TOP, 2, IOSCHED_UNIT_NONE, 0, 0 },
      FIELD(writes_starved) },
    { { "fifo_batch", "requests in a batch", 0, INT_TOP, 16,
        IOSCHED_UNIT_NONE, 0, 0 }, FIELD(fifo_batch) },
    { { "front_merges", "look for front merges", 0, 1, 1,
        IOSCHED_UNIT_BOOL, 0, 0 }, FIELD(front_merges) },
    QUIRK(quirk_gap, "a batch ends where the next is not contiguous"),
    QUIRK(quirk_restart, "start at the lowest lba; a cursor keeps the count"),
    QUIRK(quirk_alias, "an arrival at the same lba sends the older one off"),
    QUIRK(quirk_strict, "a deadline of exactly now has not passed"),
    { { NULL, NULL, 0, 0, 0, 0, 0, 0 }, 0 }
};

static const struct iosched_preset presets[] = {
    { "2.6.20", "tick_ns=1ms,sort_across_ops=1,quirk_gap=1,quirk_restart=1,"
                "quirk_alias=1,quirk_strict=1" },
    { "2.6.32", "tick_ns=1ms,quirk_alias=1,quirk_strict=1" },
    { "4.20",   "tick_ns=1ms" },
    { NULL, NULL }
};

extern const struct iosched_policy iosched__deadline;
const struct iosched_policy iosched__deadline = {
    .struct_size    = sizeof(struct iosched_policy),
    .api            = IOSCHED_POLICY_API,
    .name           = "deadline",
    .help           = "one-way elevator in batches, soft limit on waiting",
    .state_size     = sizeof(struct deadline),
    .tunables       = tunables,
    .tunable_stride = sizeof tunables[0],
    .presets        = presets,
    .init           = dl_init,
    .tuned          = dl_tuned,
    .insert         = dl_insert,
    .dispatch       = dl_dispatch,
    .removed        = dl_removed,
    .evict          = dl_evict,
    .find           = dl_find,
    .neighbour      = dl_neighbour,
    .merged         = dl_merged,
    .absorbed       = dl_absorbed,
    .dump           = dl_dump,
};
