/* SPDX-License-Identifier: BSD-2-Clause */
/* policygrammar.c - what happens to one request, in hooks: two policies that
 * follow each request of a long random load as an automaton, and are switched
 * back and forth.
 *
 *     OUT --insert--> HELD --emit--> EMITTED --issued--> ISSUED
 *      ^               |               ^  |                |  |
 *      |<--removed, ---+               |  |<---requeued----+  |
 *      |   absorbed, evict             |  +--dropped--> OUT   |
 *      +<------------------completed, dropped-----------------+
 */
#include "load.h"

enum where { OUT, HELD, EMITTED, ISSUED };

static struct load ld;
static struct follow {
    enum where  where;
    const void *whose;                  /* the policy instance            */
} follow[LOAD_RQS];
static unsigned calls[16];              /* by hook: each has to happen    */
enum { C_INSERT, C_MERGED, C_ABSORBED, C_REMOVED, C_EVICT, C_ISSUED,
       C_REQUEUED, C_COMPLETED, C_DROPPED, C_EXPIRED, C_HOLD, C_COUNT };
static unsigned why_seen[3];

/** "spy" is "line" that follows; it holds back now and then, emits several at
 *  a time, and now and then from insert. */
struct spy {
    struct line line;
    uint64_t    seed;
    int         over;                   /* exit was called                */
};

static void step(const void *state, const struct iosched_req *rq,
                 enum where from, enum where to)
{
    size_t i = (size_t)(rq - ld.rq);

    ck_assert_uint_lt(i, LOAD_RQS);
    ck_assert_msg(follow[i].where == from, "%u is in %d, not %d", (unsigned)i,
                  (int)follow[i].where, (int)from);
    if (from != OUT)
        ck_assert_ptr_eq(follow[i].whose, state);
    follow[i].where = to;
    follow[i].whose = state;
}

static enum where where_is(const struct iosched_req *rq)
{
    return follow[rq - ld.rq].where;
}

static int spy_init(void *state, struct iosched_core *core)
{
    struct spy *sp = state;

    sp->seed = 99;
    return line_init(state, core);
}

static void spy_exit(void *state)
{
    struct spy *sp = state;
    unsigned i;

    ck_assert_int_eq(sp->over, 0);
    ck_assert_uint_eq(sp->line.queue.len, 0);   /* evicted before */
    for (i = 0; i < LOAD_RQS; i++)
        if (follow[i].whose == state) {
            ck_assert_int_ne(follow[i].where, HELD);
            follow[i].where = OUT;      /* it will not be heard of again */
        }
    sp->over = 1;
}

static void emit(struct spy *sp, struct iosched_req *rq)
{
    step(sp, rq, HELD, EMITTED);
    iosched_fifo_remove(&sp->line.queue, &rq->fifo);
    iosched_core_emit(sp->line.core, rq, rnd(&sp->seed, 2)
                                             ? IOSCHED_EMIT_TAIL
                                             : IOSCHED_EMIT_SORTED);
}

static void spy_insert(void *state, struct iosched_req *rq)
{
    struct spy *sp = state;
    const struct iosched_req *m;

    calls[C_INSERT]++;
    ck_assert_int_eq(rq->phase, IOSCHED_PHASE_DATA);
    ck_assert(rq->op != IOSCHED_FLUSH && rq->op != IOSCHED_PASS);
    ck_assert_uint_eq(rq->flags & (IOSCHED_RQ_HEAD | IOSCHED_RQ_BARRIER), 0);
    ck_assert_ptr_null(rq->own[0]);
    ck_assert_ptr_null(rq->own[1]);
    ck_assert_int_eq(iosched_fifo_linked(&rq->fifo), 0);
    ck_assert_int_eq(iosched_rb_linked(&rq->sort), 0);
    for (m = rq->first_member; m != NULL; m = m->next_member)
        ck_assert_int_eq(where_is(m), OUT);
    step(sp, rq, OUT, HELD);
    rq->own[0] = state;
    line_insert(&sp->line, rq);
    if (rnd(&sp->seed, 16) == 0)
        emit(sp, line_rq(iosched_fifo_head(&sp->line.queue)));
}

static int spy_dispatch(void *state, unsigned flags)
{
    struct spy *sp = state;
    iosched_time now = iosched_core_now(sp->line.core);
    unsigned n = 1 + rnd(&sp->seed, 3);

    if (sp->line.queue.len == 0)
        return IOSCHED_EMPTY;
    if (!(flags & IOSCHED_DISPATCH_FORCE) && rnd(&sp->seed, 8) == 0) {
        iosched_core_arm(sp->line.core, rnd(&sp->seed, IOSCHED_TIMERS),
                         now + 1 + rnd(&sp->seed, 1000000));
        calls[C_HOLD]++;
        return IOSCHED_HOLD;
    }
    while (n-- > 0 && sp->line.queue.len > 0)
        emit(sp, line_rq(iosched_fifo_head(&sp->line.queue)));
    return IOSCHED_GOT;
}

static void spy_issued(void *state, struct iosched_req *rq)
{
    calls[C_ISSUED]++;
    step(state, rq, EMITTED, ISSUED);
    ck_assert_ptr_eq(rq->own[0], state);
    ck_assert_int_eq(rq->state, IOSCHED_STATE_INFLIGHT);
}

static void spy_requeued(void *state, struct iosched_req *rq)
{
    calls[C_REQUEUED]++;
    step(state, rq, ISSUED, EMITTED);
    ck_assert_ptr_eq(rq->own[0], state);
}

static void spy_completed(void *state, struct iosched_req *rq)
{
    calls[C_COMPLETED]++;
    step(state, rq, ISSUED, OUT);
    ck_assert_ptr_eq(rq->own[0], state);
    ck_assert_int_eq(rq->phase, IOSCHED_PHASE_DATA);
}

static void spy_dropped(void *state, struct iosched_req *rq)
{
    calls[C_DROPPED]++;
    step(state, rq, where_is(rq) == ISSUED ? ISSUED : EMITTED, OUT);
    ck_assert_ptr_eq(rq->own[0], state);
}

static void spy_removed(void *state, struct iosched_req *rq, int why)
{
    calls[C_REMOVED]++;
    ck_assert_int_ge(why, 0);
    ck_assert_int_le(why, 2);
    why_seen[why]++;
    step(state, rq, HELD, OUT);
    line_removed(state, rq, why);
}

static struct iosched_req *spy_evict(void *state)
{
    struct iosched_req *rq = line_evict(state);

    calls[C_EVICT]++;
    if (rq != NULL)
        step(state, rq, HELD, OUT);
    return rq;
}

static void spy_expired(void *state, unsigned timer)
{
    struct spy *sp = state;

    calls[C_EXPIRED]++;
    ck_assert_uint_lt(timer, IOSCHED_TIMERS);
    ck_assert_uint_eq(iosched_core_armed(sp->line.core, timer), IOSCHED_NEVER);
}

static struct iosched_req *spy_find(void *state, const struct iosched_req *rq,
                                    iosched_lba lba)
{
    struct iosched_req *found = line_find(state, rq, lba);

    ck_assert(found == NULL || where_is(found) == HELD);
    return found;
}

static void spy_merged(void *state, struct iosched_req *into,
                       struct iosched_req *rq, int where)
{
    calls[C_MERGED]++;
    ck_assert(where == IOSCHED_MERGED_BACK || where == IOSCHED_MERGED_FRONT);
    step(state, into, HELD, HELD);
    ck_assert_int_eq(where_is(rq), OUT);
    ck_assert_ptr_eq(iosched_carrier(rq), into);
}

static void spy_absorbed(void *state, struct iosched_req *into,
                         struct iosched_req *rq, int where)
{
    calls[C_ABSORBED]++;
    (void)where;
    step(state, into, HELD, HELD);
    step(state, rq, HELD, OUT);
    ck_assert_uint_lt(iosched_req_seq(into), iosched_req_seq(rq));
    line_removed(state, rq, IOSCHED_REMOVED_ABSORBED);
}

static int spy_allow(void *state, const struct iosched_req *into,
                     const struct iosched_req *rq)
{
    /* An older one that comes late absorbs one that is held. */
    const struct iosched_req *held = where_is(into) == HELD ? into : rq;

    ck_assert_int_eq(where_is(held), HELD);
    ck_assert_ptr_eq(follow[held - ld.rq].whose, state);
    ck_assert_uint_lt(iosched_req_seq(into), iosched_req_seq(rq));
    return (into->lba + rq->lba) % 5 != 0;
}

static const struct iosched_policy spy_policy = {
    .struct_size = sizeof(struct iosched_policy),
    .api         = IOSCHED_POLICY_API,
    .name        = "spy",
    .help        = "follows each request",
    .state_size  = sizeof(struct spy),
    .init        = spy_init,
    .exit        = spy_exit,
    .insert      = spy_insert,
    .dispatch    = spy_dispatch,
    .issued      = spy_issued,
    .requeued    = spy_requeued,
    .completed   = spy_completed,
    .dropped     = spy_dropped,
    .removed     = spy_removed,
    .evict       = spy_evict,
    .expired     = spy_expired,
    .find        = spy_find,
    .allow_merge = spy_allow,
    .merged      = spy_merged,
    .absorbed    = spy_absorbed,
    .dump        = line_dump,
};

/** The same without absorbed(): it gets removed(ABSORBED), then merged(). */
static struct iosched_policy plain_spy;

static void run_spies(unsigned flags, int many)
{
    struct iosched_cfg cfg = config();
    unsigned i;

    memset(follow, 0, sizeof follow);
    memset(calls, 0, sizeof calls);
    memset(why_seen, 0, sizeof why_seen);
    plain_spy = spy_policy;
    plain_spy.name = "plain";
    plain_spy.absorbed = NULL;
    all_policies[0] = &spy_policy;
    all_policies[1] = many ? &plain_spy : NULL;
    all_policies[2] = NULL;
    cfg.policies = all_policies;
    cfg.depth = 6;
    cfg.flags = flags;
    load_begin(&ld, start_at("spy", &cfg, 0), 321 + flags, 0);
    ld.can_switch = many;
    for (i = 0; i < 60000; i++)
        load_step(&ld);
    load_end(&ld);
    for (i = 0; i < LOAD_RQS; i++)
        ck_assert_int_eq(follow[i].where, OUT);
    ck_assert_int_eq(iosched_destroy(ld.s), IOSCHED_OK);
}

START_TEST(every_request_takes_the_way_that_the_grammar_names)
{
    unsigned i;

    run_spies(0, 1);
    for (i = 0; i < C_COUNT; i++)
        ck_assert_msg(calls[i] > 0, "hook %u was never called", i);
    ck_assert_uint_gt(why_seen[IOSCHED_REMOVED_CANCELLED], 0);
    ck_assert_uint_gt(why_seen[IOSCHED_REMOVED_DISSOLVED], 0);
    ck_assert_uint_gt(why_seen[IOSCHED_REMOVED_ABSORBED], 0);
}
END_TEST

START_TEST(it_does_so_with_overlaps_ordered)
{
    run_spies(IOSCHED_F_ORDER_OVERLAPS, 1);
}
END_TEST

START_TEST(it_does_so_with_a_device_that_knows_fua_and_without_a_cache)
{
    run_spies(IOSCHED_F_DEVICE_FUA, 1);
    run_spies(IOSCHED_F_NO_VOLATILE_CACHE, 1);
}
END_TEST

START_TEST(removed_says_absorbed_only_to_a_policy_without_absorbed)
{
    run_spies(0, 0);
    ck_assert_uint_gt(calls[C_ABSORBED], 0);
    ck_assert_uint_eq(why_seen[IOSCHED_REMOVED_ABSORBED], 0);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("policygrammar");

    tcase_add_test(tc, every_request_takes_the_way_that_the_grammar_names);
    tcase_add_test(tc, it_does_so_with_overlaps_ordered);
    tcase_add_test(tc,
        it_does_so_with_a_device_that_knows_fua_and_without_a_cache);
    tcase_add_test(tc, removed_says_absorbed_only_to_a_policy_without_absorbed);
    return run_case(tc, "policygrammar");
}
