/* SPDX-License-Identifier: BSD-2-Clause */
/* api.h - what the tests of the contract share: making requests, driving a
 * scheduler, looking at all of it, and a policy whose decisions are obvious.
 *
 * "line" serves in order of arrival, whatever is built in, finds front merges,
 * and never holds anything back: what a test of the core sees is the core's.
 */
#ifndef API_H
#define API_H
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <iosched/inbox.h>
#include <iosched/iosched.h>
#include <iosched/policy.h>
#include <iosched/stats.h>
#include <iosched/tags.h>
#include <iosched/tunable.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* --- Numbers -------------------------------------------------------------- */
/** Next number of a seeded generator (xorshift64*), 0 .. below - 1. */
static inline uint32_t rnd(uint64_t *state, uint32_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)((*state * UINT64_C(2685821657736338717)) >> 33) % below;
}

/* --- The policy "line" ---------------------------------------------------- */
struct line {
    struct iosched_core *core;
    struct iosched_fifo  queue;         /* by arrival, oldest first       */
    int64_t              knob, wide;    /* tunables that do nothing       */
};

#define line_rq(link) iosched_container_of((link), struct iosched_req, fifo)

static inline int line_init(void *state, struct iosched_core *core)
{
    struct line *ln = state;

    ln->core = core;
    return IOSCHED_OK;
}

static inline void line_insert(void *state, struct iosched_req *rq)
{
    struct line *ln = state;
    struct iosched_fifolink *pos = iosched_fifo_head(&ln->queue);

    while (pos != NULL &&
           iosched_req_seq(line_rq(pos)) < iosched_req_seq(rq))
        pos = iosched_fifo_next(pos);
    if (pos == NULL)
        iosched_fifo_push(&ln->queue, &rq->fifo, IOSCHED_NEVER);
    else
        iosched_fifo_insert_before(&ln->queue, pos, &rq->fifo, IOSCHED_NEVER);
}

static inline void line_removed(void *state, struct iosched_req *rq, int why)
{
    struct line *ln = state;

    (void)why;
    iosched_fifo_remove(&ln->queue, &rq->fifo);
}

static inline struct iosched_req *line_evict(void *state)
{
    struct line *ln = state;
    struct iosched_fifolink *head = iosched_fifo_head(&ln->queue);

    if (head == NULL)
        return NULL;
    iosched_fifo_remove(&ln->queue, head);
    return line_rq(head);
}

static inline int line_dispatch(void *state, unsigned flags)
{
    struct line *ln = state;
    struct iosched_req *rq = line_evict(state);

    (void)flags;
    if (rq == NULL)
        return IOSCHED_EMPTY;
    iosched_core_emit(ln->core, rq, IOSCHED_EMIT_TAIL);
    return IOSCHED_GOT;
}

static inline struct iosched_req *line_find(void *state,
                                            const struct iosched_req *rq,
                                            iosched_lba lba)
{
    struct line *ln = state;
    struct iosched_fifolink *l = iosched_fifo_head(&ln->queue);

    for (; l != NULL; l = iosched_fifo_next(l))
        if (line_rq(l)->xlba == lba && line_rq(l)->op == rq->op)
            return line_rq(l);
    return NULL;
}

static inline void line_dump(const void *state, struct iosched_dumper *d)
{
    const struct line *ln = state;
    struct iosched_fifolink *l = iosched_fifo_head(&ln->queue);

    for (; l != NULL; l = iosched_fifo_next(l))
        iosched_dump_rq(d, line_rq(l), "line", "its turn");
}

static const struct iosched_tunable_def line_tunables[] = {
    { { "knob", "does nothing", 0, 100, 7, IOSCHED_UNIT_NONE, 0, 0 },
      offsetof(struct line, knob) },
    { { "wide", "holds any number", INT64_MIN, INT64_MAX, 0,
        IOSCHED_UNIT_NONE, 0, 0 }, offsetof(struct line, wide) },
    { { NULL, NULL, 0, 0, 0, 0, 0, 0 }, 0 }
};

static const struct iosched_preset line_presets[] = {
    { "1.0", "knob=11,nomerges=2" },
    { NULL, NULL }
};

static const struct iosched_policy line_policy = {
    .struct_size    = sizeof(struct iosched_policy),
    .api            = IOSCHED_POLICY_API,
    .name           = "line",
    .alias          = "queue",
    .help           = "in order of arrival",
    .state_size     = sizeof(struct line),
    .tunables       = line_tunables,
    .tunable_stride = sizeof line_tunables[0],
    .presets        = line_presets,
    .init           = line_init,
    .insert         = line_insert,
    .dispatch       = line_dispatch,
    .removed        = line_removed,
    .evict          = line_evict,
    .find           = line_find,
    .dump           = line_dump,
};

/* --- Making --------------------------------------------------------------- */
#define MOST_POLICIES 16u
/** "line", then what is built in; NULL-terminated. */
static const struct iosched_policy *all_policies[MOST_POLICIES + 1] = {
    &line_policy
};

/** Fill all_policies.  @return how many there are. */
static inline int list_policies(void)
{
    const struct iosched_policy *const *p = iosched_builtin_policies();
    int n = 1;

    for (; *p != NULL && n < (int)MOST_POLICIES; p++)
        all_policies[n++] = *p;
    all_policies[n] = NULL;
    return n;
}

static inline struct iosched_cfg config(void)
{
    struct iosched_cfg cfg;

    (void)list_policies();
    ck_assert_int_eq(iosched_cfg_init(&cfg), IOSCHED_OK);
    cfg.policies = all_policies;
    return cfg;
}

static inline struct iosched *start_at(const char *policy,
                                       const struct iosched_cfg *cfg,
                                       iosched_time now)
{
    struct iosched *s = NULL;

    ck_assert_int_eq(iosched_create(policy, cfg, &s, now), IOSCHED_OK);
    ck_assert_ptr_nonnull(s);
    return s;
}

/** A scheduler that runs "line", from time 0. */
static inline struct iosched *start(const struct iosched_cfg *cfg)
{
    return start_at("line", cfg, 0);
}

static inline struct iosched_req request(unsigned op, iosched_lba lba,
                                         uint32_t nblk, unsigned flags)
{
    struct iosched_req rq;

    memset(&rq, 0, sizeof rq);
    rq.op = (uint16_t)op;
    rq.lba = lba;
    rq.nblk = nblk;
    rq.flags = (uint16_t)flags;
    return rq;
}

#define READ(lba, nblk)  request(IOSCHED_READ, (lba), (nblk), 0)
#define WRITE(lba, nblk) request(IOSCHED_WRITE, (lba), (nblk), 0)

/** A random request of the first `ops` ops, at one of `places`, 1 .. most units
 *  long.  One draw a statement: the same seed gives the same everywhere. */
static inline struct iosched_req random_request(uint64_t *seed, uint32_t ops,
                                                uint32_t places, uint32_t unit,
                                                uint32_t most)
{
    unsigned op = rnd(seed, ops);
    iosched_lba lba = (iosched_lba)unit * rnd(seed, places);
    uint32_t nblk = unit * (1 + rnd(seed, most));

    return request(op, lba, nblk, 0);
}

/** Give rq that flag, once in so many times. */
static inline void maybe(uint64_t *seed, uint32_t times, struct iosched_req *rq,
                         unsigned flag)
{
    if (rnd(seed, times) == 0)
        rq->flags = (uint16_t)(rq->flags | flag);
}

/* --- Driving -------------------------------------------------------------- */
static inline void insert_ok(struct iosched *s, struct iosched_req *rq,
                             iosched_time now)
{
    ck_assert_int_ge(iosched_insert(s, rq, now), 0);
}

/** The request dispatched next, or NULL if the answer is not GOT. */
static inline struct iosched_req *next(struct iosched *s, iosched_time now)
{
    struct iosched_req *rq = NULL;
    int answer = iosched_dispatch(s, &rq, 0, now);

    ck_assert_int_ge(answer, 0);
    ck_assert_int_eq(answer == IOSCHED_GOT, rq != NULL);
    return rq;
}

/** What dispatch answers when it is not to be GOT. */
static inline int answer(struct iosched *s, iosched_time now)
{
    struct iosched_req *rq = NULL;
    int a = iosched_dispatch(s, &rq, 0, now);

    ck_assert_int_ne(a, IOSCHED_GOT);
    ck_assert_ptr_null(rq);
    return a;
}

static inline void complete_ok(struct iosched *s, struct iosched_req *rq,
                               iosched_time now)
{
    ck_assert_int_eq(iosched_complete(s, rq, 0, now), IOSCHED_OK);
}

/** Dispatch and complete all that is queued; nothing may be in flight.
 *  @return when it was done. */
static inline iosched_time drain(struct iosched *s, iosched_time now)
{
    struct iosched_req *rq;

    while (iosched_queued(s) > 0) {
        int a = iosched_dispatch(s, &rq, IOSCHED_DISPATCH_FORCE, now);

        if (a == IOSCHED_GOT) {
            ck_assert_int_ge(iosched_complete(s, rq, 0, now), 0);
            continue;
        }
        ck_assert_int_eq(a, IOSCHED_HOLD);
        ck_assert_uint_ne(iosched_next_expiry(s), IOSCHED_NEVER);
        if (iosched_next_expiry(s) > now)
            now = iosched_next_expiry(s);
        ck_assert_int_ge(iosched_expire(s, now), 0);
    }
    return now;
}

/** Drain and destroy. */
static inline void stop(struct iosched *s, iosched_time now)
{
    drain(s, now);
    ck_assert_int_eq(iosched_destroy(s), IOSCHED_OK);
}

/* --- Looking -------------------------------------------------------------- */
struct text {
    char   at[1u << 17];
    size_t len;
};

static inline int text_write(void *user, const char *text, size_t len)
{
    struct text *t = user;

    ck_assert_uint_lt(t->len + len, sizeof t->at);
    memcpy(t->at + t->len, text, len);
    t->len += len;
    t->at[t->len] = '\0';
    return 0;
}

static inline void dump_text(const struct iosched *s, struct text *t,
                             iosched_time now)
{
    t->len = 0;
    t->at[0] = '\0';
    ck_assert_int_eq(iosched_dump(s, text_write, t, now), 0);
}

static inline struct iosched_stats stats_of(const struct iosched *s)
{
    struct iosched_stats st;

    ck_assert_int_eq(iosched_get_stats(s, &st, sizeof st), IOSCHED_OK);
    return st;
}

/** Everything that shows from outside. */
struct picture {
    struct text          text;
    struct iosched_stats stats;
    const char          *policy;
    int64_t              tunable[32];
    size_t               ntunables;
    uint32_t             queued, inflight, depth;
    iosched_time         expiry;
};

static inline void look(const struct iosched *s, struct picture *p,
                        iosched_time now)
{
    struct iosched_tunable t;

    memset(p, 0, sizeof *p);
    dump_text(s, &p->text, now);
    p->stats = stats_of(s);
    p->policy = iosched_policy_name(s);
    p->queued = iosched_queued(s);
    p->inflight = iosched_inflight(s);
    p->depth = iosched_depth(s);
    p->expiry = iosched_next_expiry(s);
    while (iosched_tunable_at(s, p->ntunables, &t, sizeof t) == IOSCHED_OK) {
        ck_assert_uint_lt(p->ntunables, COUNT(p->tunable));
        ck_assert_int_eq(iosched_tunable_get(s, t.name,
                                             &p->tunable[p->ntunables++]), 0);
    }
}

/** Fails unless s looks as it did. */
static inline void same(const struct iosched *s, const struct picture *was,
                        iosched_time now)
{
    struct picture *is = malloc(sizeof *is);

    ck_assert_ptr_nonnull(is);
    look(s, is, now);
    ck_assert_str_eq(is->text.at, was->text.at);
    ck_assert_int_eq(memcmp(&is->stats, &was->stats, sizeof is->stats), 0);
    ck_assert_str_eq(is->policy, was->policy);
    ck_assert_uint_eq(is->ntunables, was->ntunables);
    ck_assert_int_eq(memcmp(is->tunable, was->tunable, sizeof is->tunable), 0);
    ck_assert_uint_eq(is->queued, was->queued);
    ck_assert_uint_eq(is->inflight, was->inflight);
    ck_assert_uint_eq(is->depth, was->depth);
    ck_assert_uint_eq(is->expiry, was->expiry);
    free(is);
}

/* --- Running -------------------------------------------------------------- */
static inline int run_case(TCase *tc, const char *name)
{
    Suite *suite = suite_create(name);
    SRunner *runner;
    int failed;

    tcase_set_timeout(tc, 0);           /* no test depends on speed */
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
