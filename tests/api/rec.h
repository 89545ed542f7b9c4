/* SPDX-License-Identifier: BSD-2-Clause */
/* rec.h - a policy that does what a test says and writes down what it hears. */
#ifndef REC_H
#define REC_H
#include "api.h"

#define N 16u
static struct iosched_req rq[N];

/** "rec" is "line", does as the test says and writes down what it hears. */
static struct {
    struct iosched_core *core;
    unsigned    batch;                  /* emitted by one dispatch        */
    int         how;                    /* enum iosched_emit              */
    int         at_once;                /* emit from insert               */
    int         no_more;                /* dispatch is not to be called   */
    iosched_time rearm;                 /* in expired(), from now; 0: no  */
    unsigned    arm;                    /* a timer, in tuned()            */
    iosched_time arm_at;                /* ... for this time; 0: none     */
    iosched_time move;                  /* timer 1, in expired(0); 0: no  */
    unsigned    dispatches, tuned, evicts, exits;
    int64_t     knob_at_init;
    char        log[512];               /* a letter and a number a call   */
} rec;

static inline void note(const char *what, unsigned number)
{
    size_t len = strlen(rec.log);

    snprintf(rec.log + len, sizeof rec.log - len, "%s%u ", what, number);
}

static inline void logged(const char *want)
{
    ck_assert_str_eq(rec.log, want);
    rec.log[0] = '\0';
}

static inline int rec_init(void *state, struct iosched_core *core)
{
    rec.core = core;
    rec.knob_at_init = ((struct line *)state)->knob;
    note("init", 0);
    return line_init(state, core);
}

static inline void rec_exit(void *state)
{
    (void)state;
    rec.exits++;
    note("exit", 0);
}

static inline void rec_tuned(void *state)
{
    rec.tuned++;
    if (rec.arm_at != 0)
        iosched_core_arm(rec.core, rec.arm, rec.arm_at);
    else
        note("tuned", (unsigned)((struct line *)state)->knob);
    rec.arm_at = 0;
}

static inline void rec_insert(void *state, struct iosched_req *r)
{
    line_insert(state, r);
    if (!rec.at_once)
        return;
    line_removed(state, r, 0);
    iosched_core_emit(rec.core, r, rec.how);
}

static inline int rec_dispatch(void *state, unsigned flags)
{
    struct line *ln = state;
    unsigned n;

    (void)flags;
    ck_assert_int_eq(rec.no_more, 0);
    rec.dispatches++;
    for (n = 0; n < rec.batch && ln->queue.len > 0; n++)
        iosched_core_emit(rec.core, line_evict(state), rec.how);
    return n > 0 ? IOSCHED_GOT : IOSCHED_EMPTY;
}

static inline struct iosched_req *rec_evict(void *state)
{
    rec.evicts++;
    return line_evict(state);
}

static inline void rec_expired(void *state, unsigned timer)
{
    (void)state;
    ck_assert_uint_eq(iosched_core_armed(rec.core, timer), IOSCHED_NEVER);
    note("t", timer);
    if (timer == 0 && rec.move != 0)
        iosched_core_arm(rec.core, 1, rec.move);
    if (rec.rearm != 0)
        iosched_core_arm(rec.core, timer, iosched_core_now(rec.core) +
                                          rec.rearm - 1);
}

static inline unsigned slot_of(const void *data)
{
    return *(const unsigned char *)data;
}

static unsigned next_slot;

static inline void mark(void *data)
{
    ck_assert_uint_eq(slot_of(data), 0);        /* handed zeroed */
    *(unsigned char *)data = (unsigned char)++next_slot;
}

#define STREAM_HOOK(name)                                                    \
    static inline void rec_stream_##name(void *state,                        \
                                         struct iosched_stream *st,          \
                                         void *data)                         \
    {                                                                        \
        (void)state;                                                         \
        ck_assert_ptr_eq(iosched_stream_data(st), data);                     \
        note("s" #name, slot_of(data));                                      \
    }
#define GROUP_HOOK(name)                                                     \
    static inline void rec_group_##name(void *state,                         \
                                        struct iosched_group *g, void *data) \
    {                                                                        \
        (void)state;                                                         \
        ck_assert_ptr_eq(iosched_group_data(g), data);                       \
        note("g" #name, slot_of(data));                                      \
    }
STREAM_HOOK(changed)
STREAM_HOOK(closed)
STREAM_HOOK(freed)
GROUP_HOOK(changed)
GROUP_HOOK(closed)
GROUP_HOOK(freed)

static inline void rec_stream_opened(void *state, struct iosched_stream *st,
                                     void *data)
{
    (void)state;
    ck_assert_ptr_eq(iosched_stream_data(st), data);
    mark(data);
    note("sopened", slot_of(data));
}

static inline void rec_group_opened(void *state, struct iosched_group *g,
                                    void *data)
{
    (void)state;
    ck_assert_ptr_eq(iosched_group_data(g), data);
    mark(data);
    note("gopened", slot_of(data));
}

static inline void rec_yielded(void *state, struct iosched_stream *from,
                               struct iosched_stream *to)
{
    (void)state;
    note("yield", slot_of(iosched_stream_data(from)));
    note("to", to != NULL ? slot_of(iosched_stream_data(to)) : 0);
}

static inline int rec_may_queue(void *state, struct iosched_stream *st,
                                unsigned op, unsigned flags)
{
    (void)state;
    note("may", slot_of(iosched_stream_data(st)));
    return op == IOSCHED_WRITE ? IOSCHED_MUST
         : flags & IOSCHED_RQ_SYNC ? IOSCHED_MAY_WAIT : IOSCHED_MAY;
}

static const struct iosched_policy rec_policy = {
    .struct_size    = sizeof(struct iosched_policy),
    .api            = IOSCHED_POLICY_API,
    .name           = "rec",
    .help           = "writes down what it hears",
    .state_size     = sizeof(struct line),
    .stream_size    = 1,
    .group_size     = 1,
    .tunables       = line_tunables,
    .tunable_stride = sizeof line_tunables[0],
    .init           = rec_init,
    .exit           = rec_exit,
    .tuned          = rec_tuned,
    .stream_opened  = rec_stream_opened,
    .stream_changed = rec_stream_changed,
    .stream_closed  = rec_stream_closed,
    .stream_freed   = rec_stream_freed,
    .group_opened   = rec_group_opened,
    .group_changed  = rec_group_changed,
    .group_closed   = rec_group_closed,
    .group_freed    = rec_group_freed,
    .yielded        = rec_yielded,
    .insert         = rec_insert,
    .dispatch       = rec_dispatch,
    .removed        = line_removed,
    .evict          = rec_evict,
    .expired        = rec_expired,
    .find           = line_find,
    .may_queue      = rec_may_queue,
    .dump           = line_dump,
};

static const struct iosched_policy *const rec_list[] = {
    &rec_policy, &line_policy, NULL
};

static inline struct iosched_cfg rec_cfg(void)
{
    struct iosched_cfg cfg = config();

    memset(&rec, 0, sizeof rec);
    memset(rq, 0, sizeof rq);
    next_slot = 0;
    rec.batch = 1;
    cfg.policies = rec_list;
    cfg.depth = 8;
    return cfg;
}

static inline struct iosched *start_rec(const char *policy)
{
    struct iosched_cfg cfg = rec_cfg();

    return start_at(policy, &cfg, 0);
}

#endif
