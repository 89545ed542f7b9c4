/* SPDX-License-Identifier: BSD-2-Clause */
/* dump.c - the dump shows each queued request once, with its age, its place and
 * why it waits, and everything else there is. */
#include "load.h"

static struct text text;

/** How many lines begin with `word` and hold "key=number ". */
static unsigned lines_with(const char *word, const char *key, uint64_t number)
{
    char pair[64];
    const char *line = text.at, *end;
    unsigned n = 0;

    snprintf(pair, sizeof pair, " %s=%llu", key, (unsigned long long)number);
    for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        const char *at = strstr(line, pair);

        if (strncmp(line, word, strlen(word)) != 0 || at == NULL || at >= end)
            continue;
        at += strlen(pair);
        n += *at == ' ' || *at == '\n';
    }
    return n;
}

static unsigned lines(const char *word)
{
    const char *line = text.at, *end;
    unsigned n = 0;

    for (; (end = strchr(line, '\n')) != NULL; line = end + 1)
        n += strncmp(line, word, strlen(word)) == 0;
    return n;
}

/** Each line of a queued request says where it is and why it waits. */
static void places_and_reasons(void)
{
    const char *line = text.at, *end;

    for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        const char *place = strstr(line, " place=\""),
                   *why = strstr(line, " why=\"");

        if (strncmp(line, "queued ", 7) != 0)
            continue;
        ck_assert(place != NULL && place < end && place[8] != '"');
        ck_assert(why != NULL && why < end && why[6] != '"');
    }
}

static void check_dump(const struct load *ld, iosched_time core)
{
    unsigned i, queued = 0, inflight = 0;

    dump_text(ld->s, &text, ld->now);
    for (i = 0; i < LOAD_RQS; i++) {
        const struct iosched_req *r = &ld->rq[i], *c = iosched_carrier(r);
        uint64_t seq;

        if (c == NULL)
            continue;
        seq = iosched_req_seq(r);
        if (c->state == IOSCHED_STATE_QUEUED) {
            char age[64];

            queued++;
            ck_assert_uint_eq(lines_with("queued ", "seq", seq), 1);
            ck_assert_uint_eq(lines_with("inflight ", "seq", seq), 0);
            snprintf(age, sizeof age, " age_ns=%llu ",
                     (unsigned long long)(core - r->t_insert));
            ck_assert_ptr_nonnull(strstr(text.at, age));
        } else {
            inflight++;
            ck_assert_uint_eq(lines_with("queued ", "seq", seq), 0);
            ck_assert_uint_eq(lines_with("inflight ", "seq", seq), 1);
        }
    }
    ck_assert_uint_eq(queued, iosched_queued(ld->s));
    ck_assert_uint_eq(lines("queued "), queued);
    ck_assert_uint_eq(lines("inflight "), inflight);
    ck_assert_uint_eq(lines("quarantined "), ld->nlost);
    ck_assert_uint_eq(lines("scheduler "), 1);
    ck_assert_uint_ge(lines("stream "), 1);
    ck_assert_uint_ge(lines("group "), 1);
    places_and_reasons();
}

static iosched_time told;

static void tell(void *user, const struct iosched_event *ev)
{
    (void)user;
    told = ev->time;
}

START_TEST(each_queued_request_is_shown_once_whatever_its_place)
{
    struct iosched_cfg cfg = config();
    static struct load ld;
    unsigned i;

    cfg.depth = 6;
    cfg.flags = _i ? IOSCHED_F_ORDER_OVERLAPS : 0;
    cfg.max_streams = 4;
    cfg.queued_hint = 4;
    cfg.trace = tell;
    load_begin(&ld, start(&cfg), 70 + (uint64_t)_i, 0);
    for (i = 0; i < 20000; i++) {
        load_step(&ld);
        if (i % 50 != 0)
            continue;
        /* Sets what it is, for an event that tells the time. */
        ck_assert_int_eq(iosched_tunable_set(ld.s, "sort_across_ops", 0,
                                             ld.now), 0);
        check_dump(&ld, told);
    }
    load_end(&ld);
    ck_assert_int_eq(iosched_destroy(ld.s), IOSCHED_OK);
}
END_TEST

static struct iosched_req rq[8];

START_TEST(the_parts_come_in_the_order_the_header_names)
{
    static const char *const part[] = {
        "scheduler ", "timer ", "stream ", "group ", "queued ", "inflight ",
        "quarantined "
    };
    struct iosched_cfg cfg = config();
    struct iosched *s;
    const char *at, *before;
    unsigned i;

    cfg.depth = 4;
    s = start(&cfg);
    rq[0] = READ(0, 8);
    rq[1] = READ(100, 8);
    rq[2] = READ(200, 8);
    for (i = 0; i < 3; i++)
        insert_ok(s, &rq[i], 0);
    ck_assert_ptr_eq(next(s, 0), &rq[0]);
    ck_assert_int_eq(iosched_abort(s, &rq[0], 0), 0);
    ck_assert_ptr_eq(next(s, 0), &rq[1]);
    ck_assert_int_eq(iosched_queue_full(s, &rq[1], 0), 0);  /* arms a timer */
    dump_text(s, &text, 0);
    before = text.at;
    for (i = 0; i < COUNT(part); i++) {
        if (strcmp(part[i], "inflight ") == 0)
            continue;                   /* not while a timer is armed */
        at = strstr(before, part[i]);
        ck_assert_msg(at != NULL, "no %s", part[i]);
        ck_assert(at == text.at || at[-1] == '\n');
        before = at;
    }
    ck_assert_int_eq(iosched_expire(s, IOSCHED_MSEC(1)), 1);
    ck_assert_ptr_eq(next(s, IOSCHED_MSEC(1)), &rq[1]);
    dump_text(s, &text, IOSCHED_MSEC(1));
    ck_assert_uint_eq(lines("timer "), 0);
    ck_assert_ptr_nonnull(strstr(strstr(text.at, "\nqueued "), "\ninflight "));
    ck_assert_ptr_nonnull(strstr(strstr(text.at, "\ninflight "),
                                 "\nquarantined "));
    complete_ok(s, &rq[1], IOSCHED_MSEC(1));
    ck_assert_int_eq(iosched_tag_release(s, rq[0].tag, IOSCHED_MSEC(1)), 0);
    stop(s, IOSCHED_MSEC(1));
}
END_TEST

START_TEST(what_waits_says_whether_for_an_overlap_a_barrier_or_its_turn)
{
    struct iosched_cfg cfg = config();
    struct iosched *s;
    char why[4][64] = { "", "", "", "" };
    unsigned i, k;

    cfg.flags = IOSCHED_F_ORDER_OVERLAPS;
    s = start(&cfg);
    rq[0] = WRITE(0, 8);
    rq[1] = WRITE(0, 8);                /* overlaps 0 */
    rq[2] = request(IOSCHED_WRITE, 100, 8, IOSCHED_RQ_BARRIER);
    for (i = 0; i < 3; i++)
        insert_ok(s, &rq[i], 0);
    dump_text(s, &text, 0);
    for (i = 0; i < 3; i++) {
        char key[64];
        const char *line;

        snprintf(key, sizeof key, "queued seq=%llu ",
                 (unsigned long long)iosched_req_seq(&rq[i]));
        line = strstr(text.at, key);
        ck_assert_ptr_nonnull(line);
        line = strstr(line, "why=\"") + 5;
        for (k = 0; k + 1 < sizeof why[i] && line[k] != '"'; k++)
            why[i][k] = line[k];
        for (k = 0; k < i; k++)
            ck_assert_str_ne(why[i], why[k]);
    }
    stop(s, 0);
}
END_TEST

static int stingy(void *user, const char *at, size_t len)
{
    int *left = user;

    (void)at;
    ck_assert_uint_gt(len, 0);
    return --*left < 0 ? 42 : 0;
}

START_TEST(a_writer_that_has_enough_stops_the_dump_with_its_answer)
{
    struct iosched_cfg cfg = config();
    struct iosched *s = start(&cfg);
    int left, n;

    for (n = 0; n < 3; n++) {
        left = n;
        ck_assert_int_eq(iosched_dump(s, stingy, &left, 0), 42);
        ck_assert_int_eq(left, -1);     /* it is not asked again */
    }
    stop(s, 0);
}
END_TEST

static struct iosched *watched;

static void dump_inside(void *user, const struct iosched_event *ev)
{
    (void)user;
    if (watched != NULL && ev->action == IOSCHED_EV_DISPATCH)
        dump_text(watched, &text, 0);
}

START_TEST(it_may_be_called_inside_a_callback_and_changes_nothing)
{
    struct iosched_cfg cfg = config();
    struct iosched_stats before;
    struct iosched_stats after;

    cfg.trace = dump_inside;
    watched = start(&cfg);
    rq[0] = READ(0, 8);
    insert_ok(watched, &rq[0], 0);
    ck_assert_ptr_eq(next(watched, 0), &rq[0]);
    ck_assert_uint_eq(lines("inflight "), 1);
    before = stats_of(watched);
    dump_text(watched, &text, 5);
    dump_text(watched, &text, 0);
    after = stats_of(watched);
    ck_assert_int_eq(memcmp(&before, &after, sizeof after), 0);
    complete_ok(watched, &rq[0], 0);
    stop(watched, 0);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("dump");

    tcase_add_loop_test(tc,
        each_queued_request_is_shown_once_whatever_its_place,
                        0, 2);
    tcase_add_test(tc, the_parts_come_in_the_order_the_header_names);
    tcase_add_test(tc,
        what_waits_says_whether_for_an_overlap_a_barrier_or_its_turn);
    tcase_add_test(tc, a_writer_that_has_enough_stops_the_dump_with_its_answer);
    tcase_add_test(tc, it_may_be_called_inside_a_callback_and_changes_nothing);
    return run_case(tc, "dump");
}
