/* SPDX-License-Identifier: BSD-2-Clause */
/* reentrant.c - inside a callback what is marked [cb] or [any] works, all else
 * is refused, and the call outside goes on as if nothing had happened. */
#include "api.h"

static struct iosched *s;
static struct iosched_req rq[8], more;
static struct iosched_stream *st;
static struct iosched_group *g;
static struct text text;
static unsigned entered, wrong;
static int active, inside, inbox;

static void refused(int got, const char *call)
{
    if (got == IOSCHED_ERR_REENTRANT)
        return;
    wrong++;
    fprintf(stderr, "%s is %d\n", call, got);
}
#define REFUSED(call) refused((call), #call)

/** Every call that may not be made inside a callback. */
static void call_all(void)
{
    struct iosched_stream *st2;
    struct iosched_group *g2;
    struct iosched_req *out;
    uint32_t n;

    REFUSED(iosched_insert(s, &more, 0));
    REFUSED(iosched_dispatch(s, &out, 0, 0));
    REFUSED(iosched_dispatch_many(s, &out, 1, &n, 0, 0));
    REFUSED(iosched_complete(s, &rq[0], 0, 0));
    REFUSED(iosched_requeue(s, &rq[0], 0));
    REFUSED(iosched_queue_full(s, &rq[0], 0));
    REFUSED(iosched_cancel(s, &rq[0], 0));
    REFUSED(iosched_abort(s, &rq[0], 0));
    REFUSED(iosched_tag_release(s, 0, 0));
    REFUSED(iosched_expire(s, 0));
    REFUSED(iosched_freeze(s, 0));
    REFUSED(iosched_thaw(s, 0));
    REFUSED(iosched_switch(s, "line", 0));
    REFUSED(iosched_set_depth(s, 1, 0));
    REFUSED(iosched_may_queue(s, NULL, IOSCHED_READ, 0, 0));
    REFUSED(iosched_destroy(s));
    REFUSED(iosched_tunable_set(s, "knob", 1, 0));
    REFUSED(iosched_stream_open(s, NULL, &st2, 0));
    REFUSED(iosched_group_open(s, NULL, &g2, 0));
    REFUSED(iosched_group_set_leaf_weight(s, NULL, 5, 0));
    if (st != NULL) {
        REFUSED(iosched_stream_close(st, 0));
        REFUSED(iosched_stream_set_ioprio(st, 0, 0));
        REFUSED(iosched_stream_set_group(st, NULL, 0));
        REFUSED(iosched_stream_yield(st, NULL, 0));
    }
    if (g != NULL) {
        REFUSED(iosched_group_close(g, 0));
        REFUSED(iosched_group_set_weight(g, 5, 0));
    }
    if (inbox) {
        REFUSED(iosched_intake(s, 0));
        REFUSED(iosched_reap(s, &out));
    }
}

/** Every call that may. */
static void call_harmless(void)
{
    struct iosched_stats stats;
    struct iosched_tunable tun;
    int64_t v;

    wrong += iosched_get_stats(s, &stats, sizeof stats) != 0;
    wrong += iosched_tunable_get(s, "knob", &v) != 0;
    wrong += iosched_tunable_at(s, 0, &tun, sizeof tun) != 0;
    text.len = 0;
    wrong += iosched_dump(s, text_write, &text, 0) != 0;
    wrong += strcmp(iosched_policy_name(s), "line") != 0;
    wrong += iosched_queued(s) > 8 || iosched_inflight(s) > 8;
    wrong += iosched_depth(s) == 0;
    wrong += iosched_find(s, UINT64_MAX) != NULL;
    (void)iosched_next_expiry(s);
    (void)iosched_cookie(&rq[0]);
    (void)iosched_carrier(&rq[0]);
    if (st != NULL)
        wrong += iosched_stream_user(st) != NULL ||
                 iosched_stream_ioprio(st) != 0;
    if (g != NULL)
        wrong += iosched_group_user(g) != NULL;
    wrong += iosched_size(NULL) == 0 || iosched_align() == 0;
    wrong += iosched_prio(IOSCHED_PRIO_BE, 4) < 0;
    if (inbox)
        wrong += iosched_inbox_pending(s) != 0 ||
                 iosched_post_complete(s, UINT64_MAX, 0, 0) !=
                     IOSCHED_ERR_STATE;
}

static void enter(void)
{
    if (!active || inside)
        return;
    inside = 1;
    entered++;
    call_all();
    call_harmless();
    inside = 0;
}

static void trace(void *user, const struct iosched_event *ev)
{
    (void)user;
    (void)ev;
    enter();
}

static int may_merge(void *user, const struct iosched_req *into,
                     const struct iosched_req *r, int where)
{
    (void)user;
    (void)into;
    (void)r;
    (void)where;
    enter();
    return 1;
}

/* "line", whose hooks call. */
static void hook_insert(void *state, struct iosched_req *r)
{
    line_insert(state, r);
    enter();
}

static int hook_dispatch(void *state, unsigned flags)
{
    enter();
    return line_dispatch(state, flags);
}

static void hook_rq(void *state, struct iosched_req *r)
{
    (void)state;
    (void)r;
    enter();
}

static struct iosched_policy calling;
static const struct iosched_policy *const calling_list[] = { &calling, NULL };

/** A scheduler whose callbacks of the kind numbered `kind` call. */
static void open_calling(int kind)
{
    struct iosched_cfg cfg = config();

    s = NULL;
    st = NULL;
    g = NULL;
    active = 0;
    entered = wrong = 0;
    calling = line_policy;
    cfg.policies = calling_list;
    cfg.depth = 4;
    if (kind == 0)
        cfg.trace = trace;
    if (kind == 1)
        cfg.may_merge = may_merge;
    if (kind == 2) {
        calling.insert = hook_insert;
        calling.dispatch = hook_dispatch;
        calling.issued = calling.requeued = hook_rq;
        calling.completed = calling.dropped = hook_rq;
    }
    s = start(&cfg);
    inbox = iosched_inbox_pending(s) != IOSCHED_ERR_NOTSUP;
    ck_assert_int_eq(iosched_stream_open(s, NULL, &st, 0), 0);
    ck_assert_int_eq(iosched_group_open(s, NULL, &g, 0), 0);
    more = READ(5000, 8);
    active = 1;
}

START_TEST(inside_a_callback_only_what_is_marked_may_be_called)
{
    unsigned i;

    open_calling(_i);
    for (i = 0; i < 4; i++) {
        rq[i] = READ(i < 2 ? 8 * i : 100 * i, 8);
        ck_assert_int_eq(iosched_insert(s, &rq[i], 0),
                         i == 1 ? IOSCHED_MERGED_BACK : IOSCHED_QUEUED);
    }
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_ptr_eq(next(s, 0), &rq[2]);
    ck_assert_int_eq(iosched_requeue(s, &rq[2], 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_cancel(s, &rq[2], 0), IOSCHED_OK);
    complete_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[3]);
    ck_assert_int_eq(iosched_abort(s, &rq[3], 0), IOSCHED_OK);
    ck_assert_int_eq(iosched_tag_release(s, rq[3].tag, 0), IOSCHED_OK);
    active = 0;
    ck_assert_uint_gt(entered, 0);
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_eq(iosched_queued(s), 0);
    ck_assert_uint_eq(iosched_depth(s), 4);
    ck_assert_int_eq(more.state, IOSCHED_STATE_IDLE);
    ck_assert_uint_eq(stats_of(s).switches, 0);
    stop(s, 0);
}
END_TEST

static int write_and_call(void *user, const char *at, size_t len)
{
    (void)user;
    (void)at;
    (void)len;
    return 0;
}

START_TEST(after_a_call_that_failed_the_next_one_is_not_reentrant)
{
    struct iosched_cfg cfg = config();
    struct iosched_req *out;

    active = 0;
    s = start(&cfg);
    ck_assert_int_lt(iosched_complete(s, &more, 0, 0), 0);
    ck_assert_int_lt(iosched_switch(s, "nope", 0), 0);
    ck_assert_int_lt(iosched_thaw(s, 0), 0);
    ck_assert_int_lt(iosched_set_depth(s, 99, 0), 0);
    ck_assert_int_lt(iosched_tunable_set(s, "nope", 0, 0), 0);
    ck_assert_int_eq(iosched_dump(s, write_and_call, NULL, 0), 0);
    ck_assert_int_eq(iosched_dispatch(s, &out, 0, 0), IOSCHED_EMPTY);
    stop(s, 0);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("reentrant");

    tcase_add_loop_test(tc, inside_a_callback_only_what_is_marked_may_be_called,
                        0, 3);
    tcase_add_test(tc, after_a_call_that_failed_the_next_one_is_not_reentrant);
    return run_case(tc, "reentrant");
}
