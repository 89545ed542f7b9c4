/* SPDX-License-Identifier: BSD-2-Clause */
/* trace.c - the trace tells everything: from its events alone every counter and
 * every histogram is computed again, and has to agree. */
#include "load.h"

#define SEQS 400000u

/* --- Computing it again --------------------------------------------------- */
static struct {
    struct iosched_stats st;
    iosched_time *inserted, *dispatched;        /* by seq                 */
    iosched_time  now, busy_since, hold_since;
    int           busy, holding;
} re;

static void forget_all(void)
{
    free(re.inserted);
    free(re.dispatched);
    memset(&re, 0, sizeof re);
    re.inserted = calloc(SEQS, sizeof *re.inserted);
    re.dispatched = calloc(SEQS, sizeof *re.dispatched);
    ck_assert(re.inserted != NULL && re.dispatched != NULL);
}

static int waited_for(const struct iosched_req *r)
{
    return (r->flags & (IOSCHED_RQ_SYNC | IOSCHED_RQ_PREFLUSH |
                        IOSCHED_RQ_FUA)) != 0;
}

static void retold_complete(const struct iosched_event *ev)
{
    const struct iosched_req *r = ev->rq;
    iosched_dur wait = re.dispatched[ev->seq] - re.inserted[ev->seq];
    iosched_dur service = ev->time - re.dispatched[ev->seq];
    int kind = r->op == IOSCHED_READ ? IOSCHED_KIND_READ
             : r->op != IOSCHED_WRITE ? IOSCHED_KIND_OTHER
             : waited_for(r) ? IOSCHED_KIND_SYNC : IOSCHED_KIND_ASYNC;

    re.st.completed[r->op]++;
    if (r->op != IOSCHED_FLUSH && r->op != IOSCHED_PASS)
        re.st.blocks[r->op] += r->nblk;
    re.st.failed += ev->arg < 0;
    re.st.wait_sum += wait;
    re.st.service_sum += service;
    re.st.wait[kind].n[iosched_hist_bucket(wait)]++;
    re.st.service[kind].n[iosched_hist_bucket(service)]++;
    re.st.response[kind].n[iosched_hist_bucket(wait + service)]++;
}

static void retold_dispatch(const struct iosched_event *ev)
{
    const struct iosched_req *m;

    re.st.dispatches++;
    for (m = ev->rq->first_member; m != NULL; m = m->next_member)
        re.dispatched[iosched_req_seq(m)] = ev->time;
    re.st.heads += ev->rq->flags & IOSCHED_RQ_HEAD ||
                   ev->rq->op == IOSCHED_PASS;
    re.st.barriers += ev->rq->flags & IOSCHED_RQ_BARRIER &&
                      (ev->rq->phase == IOSCHED_PHASE_DATA ||
                       ev->rq->op == IOSCHED_FLUSH);
}

static void retold_levels(const struct iosched_event *ev)
{
    if (ev->queued > re.st.max_queued)
        re.st.max_queued = ev->queued;
    if (ev->inflight > re.st.max_inflight)
        re.st.max_inflight = ev->inflight;
    if (!re.busy && ev->inflight > 0)
        re.busy_since = ev->time;
    if (re.busy && ev->inflight == 0)
        re.st.busy += ev->time - re.busy_since;
    re.busy = ev->inflight > 0;
}

static void retell(void *user, const struct iosched_event *ev)
{
    (void)user;
    ck_assert_uint_eq(ev->struct_size, sizeof *ev);
    ck_assert_uint_lt(ev->seq, SEQS);
    ck_assert_uint_ge(ev->time, re.now);
    re.now = ev->time;
    retold_levels(ev);
    switch (ev->action) {
    case IOSCHED_EV_INSERT:
        re.st.inserted[ev->rq->op]++;
        re.inserted[ev->seq] = ev->rq->t_insert;
        break;
    case IOSCHED_EV_WAIT:
        re.st.overlap_waits += strcmp(ev->note, "overlap") == 0;
        break;
    case IOSCHED_EV_EMIT:
        re.st.fifo_expired += (ev->arg & IOSCHED_EMIT_EXPIRED) != 0;
        break;
    case IOSCHED_EV_DISPATCH: retold_dispatch(ev);      break;
    case IOSCHED_EV_COMPLETE: retold_complete(ev);      break;
    case IOSCHED_EV_BACK:     re.st.merged_back++;      break;
    case IOSCHED_EV_FRONT:    re.st.merged_front++;     break;
    case IOSCHED_EV_PHASE:    re.st.phases++;           break;
    case IOSCHED_EV_REQUEUE:  re.st.requeued++;         break;
    case IOSCHED_EV_FULL:     re.st.queue_full++;       break;
    case IOSCHED_EV_CANCEL:   re.st.cancelled++;        break;
    case IOSCHED_EV_ABORT:    re.st.aborted += ev->rq->nmembers;    break;
    case IOSCHED_EV_LATE:     re.st.late += (uint64_t)ev->arg; break;
    case IOSCHED_EV_REFUSE:   re.st.refused++;          break;
    case IOSCHED_EV_DISSOLVE: re.st.dissolved++;        break;
    case IOSCHED_EV_NOSLOT:   re.st.fulls++;            break;
    case IOSCHED_EV_TIMER:    re.st.timers++;           break;
    case IOSCHED_EV_SWITCH:   re.st.switches++;         break;
    case IOSCHED_EV_CLOCK:    re.st.clock_backwards++;  break;
    case IOSCHED_EV_HOLD:
        ck_assert_int_eq(re.holding, 0);
        ck_assert_ptr_nonnull(ev->note);
        re.st.holds++;
        re.holding = 1;
        re.hold_since = ev->time;
        break;
    case IOSCHED_EV_UNHOLD:
        ck_assert_int_eq(re.holding, 1);
        re.holding = 0;
        re.st.held += ev->time - re.hold_since;
        break;
    default:
        break;
    }
}

/* --- Comparing ------------------------------------------------------------ */
#define FIELD(f) { #f, offsetof(struct iosched_stats, f), \
                   sizeof ((struct iosched_stats *)0)->f }
static const struct { const char *name; size_t at, size; } fields[] = {
    FIELD(inserted), FIELD(completed), FIELD(blocks), FIELD(dispatches),
    FIELD(phases), FIELD(merged_back), FIELD(merged_front), FIELD(dissolved),
    FIELD(requeued), FIELD(queue_full), FIELD(cancelled), FIELD(aborted),
    FIELD(failed), FIELD(late), FIELD(refused), FIELD(heads), FIELD(barriers),
    FIELD(overlap_waits), FIELD(fifo_expired), FIELD(holds), FIELD(fulls),
    FIELD(switches), FIELD(timers), FIELD(clock_backwards), FIELD(held),
    FIELD(wait_sum), FIELD(service_sum), FIELD(busy), FIELD(max_queued),
    FIELD(max_inflight), FIELD(wait), FIELD(service), FIELD(response)
};

/** Every field by name, so that one that differs hides no other. */
static void agree(const struct iosched *s)
{
    struct iosched_stats is = stats_of(s), told = re.st;
    char differ[1024] = "";
    size_t i, covered = 0;

    if (re.busy)
        told.busy += re.now - re.busy_since;
    if (re.holding)
        told.held += re.now - re.hold_since;
    for (i = 0; i < COUNT(fields); i++) {
        covered += fields[i].size;
        if (memcmp((const char *)&is + fields[i].at,
                   (const char *)&told + fields[i].at, fields[i].size) != 0) {
            uint64_t a = 0, b = 0;
            size_t n = fields[i].size < sizeof a ? fields[i].size : sizeof a;

            memcpy(&a, (const char *)&is + fields[i].at, n);
            memcpy(&b, (const char *)&told + fields[i].at, n);
            snprintf(differ + strlen(differ), sizeof differ - strlen(differ),
                     " %s (%llu, by the trace %llu)", fields[i].name,
                     (unsigned long long)a, (unsigned long long)b);
        }
    }
    ck_assert_uint_eq(covered, sizeof is);      /* none was forgotten */
    ck_assert_msg(differ[0] == '\0', "differ:%s", differ);
}

START_TEST(from_the_trace_alone_every_counter_and_histogram_is_recomputed)
{
    static const unsigned flags[] = {
        0, IOSCHED_F_ORDER_OVERLAPS, IOSCHED_F_DEVICE_FUA,
        IOSCHED_F_NO_VOLATILE_CACHE | IOSCHED_F_ORDER_OVERLAPS
    };
    struct iosched_cfg cfg = config();
    static struct load ld;
    struct iosched_stats st;
    unsigned i;

    forget_all();
    cfg.depth = 6;
    cfg.flags = flags[_i];
    cfg.max_streams = 4;
    cfg.queued_hint = 16;
    cfg.trace = retell;
    load_begin(&ld, start(&cfg), 1000 + (uint64_t)_i, 0);
    for (i = 0; i < 60000; i++) {
        load_step(&ld);
        if (i % 1000 == 0) {
            /* Sets what it is, for an event that tells the time. */
            ck_assert_int_eq(iosched_tunable_set(ld.s, "sort_across_ops", 0,
                                                 ld.now), 0);
            agree(ld.s);
        }
    }
    load_end(&ld);
    st = stats_of(ld.s);
    /* The load did all of it. */
    ck_assert_uint_gt(st.merged_back + st.merged_front, 200);
    ck_assert_uint_gt(st.cancelled, 100);
    ck_assert_uint_gt(st.requeued, 100);
    ck_assert_uint_gt(st.queue_full, 50);
    ck_assert_uint_gt(st.aborted, 20);
    ck_assert_uint_gt(st.switches, 20);
    ck_assert_uint_gt(st.clock_backwards, 100);
    ck_assert_uint_gt(st.timers, 20);
    ck_assert_uint_gt(st.holds, 20);
    ck_assert_uint_gt(st.dissolved, 10);
    ck_assert(!ld.inbox || st.refused > 10);
    ck_assert(flags[_i] & IOSCHED_F_NO_VOLATILE_CACHE || st.phases > 100);
    ck_assert(!(flags[_i] & IOSCHED_F_ORDER_OVERLAPS) ||
              st.overlap_waits > 100);
    ck_assert_int_eq(iosched_destroy(ld.s), IOSCHED_OK);
    forget_all();
}
END_TEST

/* --- Counting rules one by one -------------------------------------------- */
static struct iosched_req rq[8];

static struct iosched *three_in_one(void)
{
    struct iosched_cfg cfg = config();
    struct iosched *s;
    unsigned i;

    cfg.depth = 4;
    s = start(&cfg);
    for (i = 0; i < 3; i++) {
        rq[i] = READ(8 * i, 8);
        insert_ok(s, &rq[i], 0);
    }
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    return s;
}

START_TEST(a_merge_given_back_counts_as_the_one_dispatch_it_was)
{
    struct iosched *s = three_in_one();

    ck_assert_int_eq(iosched_requeue(s, &rq[0], 0), 0);
    ck_assert_uint_eq(stats_of(s).requeued, 1);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_queue_full(s, &rq[0], 0), 0);
    ck_assert_uint_eq(stats_of(s).queue_full, 1);
    stop(s, 0);
}
END_TEST

START_TEST(max_queued_counts_what_is_given_back_too)
{
    struct iosched *s = three_in_one();

    rq[3] = READ(100, 8);
    insert_ok(s, &rq[3], 0);
    ck_assert_int_eq(iosched_requeue(s, &rq[0], 0), 0);
    ck_assert_uint_eq(iosched_queued(s), 4);
    ck_assert_uint_eq(stats_of(s).max_queued, 4);
    stop(s, 0);
}
END_TEST

START_TEST(heads_and_barriers_count_by_dispatch_those_after_a_requeue_too)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);

    rq[0] = request(IOSCHED_WRITE, 0, 8, IOSCHED_RQ_HEAD |
                    IOSCHED_RQ_PREFLUSH | IOSCHED_RQ_FUA);
    insert_ok(s, &rq[0], 0);
    drain(s, 0);
    ck_assert_uint_eq(stats_of(s).dispatches, 3);
    ck_assert_uint_eq(stats_of(s).heads, 3);
    rq[0] = request(IOSCHED_WRITE, 0, 8, IOSCHED_RQ_HEAD | IOSCHED_RQ_BARRIER);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_requeue(s, &rq[0], 0), 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_uint_eq(stats_of(s).dispatches, 5);
    ck_assert_uint_eq(stats_of(s).heads, 5);
    ck_assert_uint_eq(stats_of(s).barriers, 2);
    complete_ok(s, &rq[0], 0);
    stop(s, 0);
}
END_TEST

/* --- Events one by one ---------------------------------------------------- */
static struct { char action[256]; int64_t arg[256]; unsigned n; } seen;

static void spell(void *user, const struct iosched_event *ev)
{
    (void)user;
    ck_assert_uint_lt(seen.n, COUNT(seen.action) - 1);
    seen.arg[seen.n] = ev->arg;
    seen.action[seen.n++] = (char)ev->action;
    seen.action[seen.n] = '\0';
}

static void spelt(const char *actions)
{
    ck_assert_str_eq(seen.action, actions);
    memset(&seen, 0, sizeof seen);
}

START_TEST(the_life_of_a_request_is_told_in_order)
{
    struct iosched_cfg cfg = config();
    struct iosched_stream *st;
    struct iosched_group *g;
    struct iosched *s;

    cfg.trace = spell;
    cfg.depth = 2;
    s = start(&cfg);
    spelt("");
    rq[0] = WRITE(0, 8);
    rq[1] = WRITE(8, 8);
    insert_ok(s, &rq[0], 0);
    insert_ok(s, &rq[1], 0);
    ck_assert_int_eq(seen.arg[3], (int64_t)iosched_req_seq(&rq[0]));
    spelt("QIQM");
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(seen.arg[1], rq[0].tag);
    spelt("ED");
    ck_assert_int_eq(iosched_complete(s, &rq[0], -5, 0), 0);
    ck_assert_int_eq(seen.arg[0], -5);
    ck_assert_int_eq(seen.arg[1], -5);
    spelt("CC");
    rq[0] = request(IOSCHED_WRITE, 0, 8, IOSCHED_RQ_PREFLUSH);
    insert_ok(s, &rq[0], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_complete(s, &rq[0], 0, 0), IOSCHED_MORE);
    ck_assert_int_eq(seen.arg[2], IOSCHED_PHASE_DATA);
    spelt("QDpI");
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_requeue(s, &rq[0], 0), 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_abort(s, &rq[0], 0), 0);
    ck_assert_int_eq(seen.arg[4], rq[0].tag);
    ck_assert_int_eq(iosched_tag_release(s, rq[0].tag, 0), 0);
    ck_assert_int_eq(seen.arg[5], rq[0].tag);
    spelt("EDRDar");
    ck_assert_int_eq(iosched_freeze(s, 0), 0);
    ck_assert_int_eq(iosched_thaw(s, 0), 0);
    ck_assert_int_eq(seen.arg[0], 1);
    ck_assert_int_eq(seen.arg[1], 0);
    spelt("ff");
    ck_assert_int_eq(iosched_set_depth(s, 1, 5), 0);
    ck_assert_int_eq(iosched_tunable_set(s, "knob", 9, 5), 0);
    ck_assert_int_eq(iosched_switch(s, "line", 2), 0);
    ck_assert_int_eq(seen.arg[0], 1);
    ck_assert_int_eq(seen.arg[1], 9);
    ck_assert_int_eq(seen.arg[2], 3);
    spelt("dvks");
    ck_assert_int_eq(iosched_stream_open(s, NULL, &st, 2), 0);
    ck_assert_int_eq(iosched_group_open(s, NULL, &g, 2), 0);
    ck_assert_int_eq(iosched_stream_set_group(st, g, 2), 0);
    ck_assert_int_eq(iosched_stream_yield(st, NULL, 2), 0);
    ck_assert_int_eq(iosched_group_set_weight(g, 9, 2), 0);
    ck_assert_int_eq(iosched_stream_close(st, 2), 0);
    ck_assert_int_eq(iosched_group_close(g, 2), 0);
    spelt("owoowow");
    stop(s, 2);
    spelt("");
}
END_TEST

/* --- Histograms ----------------------------------------------------------- */
START_TEST(buckets_are_powers_of_two_and_their_floors_their_least_durations)
{
    int b;

    ck_assert_int_eq(iosched_hist_bucket(0), 0);
    ck_assert_int_eq(iosched_hist_bucket(1023), 0);
    ck_assert_int_eq(iosched_hist_bucket(UINT64_MAX), 31);
    ck_assert_uint_eq(iosched_hist_floor(0), 0);
    for (b = 1; b < IOSCHED_HIST_BUCKETS; b++) {
        iosched_dur floor = UINT64_C(1) << (b + 9);

        ck_assert_uint_eq(iosched_hist_floor(b), floor);
        ck_assert_int_eq(iosched_hist_bucket(floor), b);
        ck_assert_int_eq(iosched_hist_bucket(floor - 1), b - 1);
    }
    ck_assert_uint_eq(iosched_hist_floor(32), IOSCHED_NEVER);
}
END_TEST

START_TEST(a_quantile_is_the_floor_of_its_bucket_and_0_without_samples)
{
    struct iosched_hist h;

    memset(&h, 0, sizeof h);
    ck_assert_uint_eq(iosched_hist_quantile(&h, 500000), 0);
    h.n[0] = 50;
    h.n[3] = 49;
    h.n[9] = 1;
    ck_assert_uint_eq(iosched_hist_quantile(&h, 500000), 0);
    ck_assert_uint_eq(iosched_hist_quantile(&h, 510000), iosched_hist_floor(3));
    ck_assert_uint_eq(iosched_hist_quantile(&h, 990000), iosched_hist_floor(3));
    ck_assert_uint_eq(iosched_hist_quantile(&h, 1000000),
                      iosched_hist_floor(9));
}
END_TEST

START_TEST(get_stats_fills_what_fits_and_zeroes_what_it_does_not_know)
{
    struct { struct iosched_stats st; uint64_t more[4]; } big;
    struct iosched *s = three_in_one();
    uint64_t small[2];

    memset(&big, 0xff, sizeof big);
    ck_assert_int_eq(iosched_get_stats(s, &big.st, sizeof big), IOSCHED_OK);
    ck_assert_uint_eq(big.more[0] | big.more[1] | big.more[2] | big.more[3], 0);
    ck_assert_uint_eq(big.st.inserted[IOSCHED_READ], 3);
    small[1] = 99;
    ck_assert_int_eq(iosched_get_stats(s, (void *)small, sizeof small[0]), 0);
    ck_assert_uint_eq(small[0], 3);
    ck_assert_uint_eq(small[1], 99);
    complete_ok(s, &rq[0], 0);
    stop(s, 0);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("trace");

    tcase_add_loop_test(tc,
        from_the_trace_alone_every_counter_and_histogram_is_recomputed, 0, 4);
    tcase_add_test(tc, a_merge_given_back_counts_as_the_one_dispatch_it_was);
    tcase_add_test(tc, max_queued_counts_what_is_given_back_too);
    tcase_add_test(tc,
        heads_and_barriers_count_by_dispatch_those_after_a_requeue_too);
    tcase_add_test(tc, the_life_of_a_request_is_told_in_order);
    tcase_add_test(tc,
        buckets_are_powers_of_two_and_their_floors_their_least_durations);
    tcase_add_test(tc,
        a_quantile_is_the_floor_of_its_bucket_and_0_without_samples);
    tcase_add_test(tc,
        get_stats_fills_what_fits_and_zeroes_what_it_does_not_know);
    return run_case(tc, "trace");
}
