/* SPDX-License-Identifier: BSD-2-Clause */
/* isr.c - firmware: interrupts post completions, the main loop takes them in.
 *
 * Static memory, no libc, a 32-bit counter, one disk with 4 tags.  The same
 * source runs on a PC, where the interrupt is a signal, and on bare Cortex-M3
 * and RV32; see board.h.
 *
 * 8 requests go round 32 times.  The disk refuses two commands first, so the
 * loop has to sleep until an alarm; the counter wraps meanwhile.
 */
#include <iosched/inbox.h>
#include <iosched/iosched.h>
#include "board.h"

#define REQUESTS 8u
#define ROUNDS   32u
#define MEMORY   8192u          /* bytes; on a PC pointers are wider      */

static uint64_t memory[MEMORY / sizeof(uint64_t) * (sizeof(void *) / 4)];
static struct iosched *sched;
static struct iosched_clock32 wall = { 0, 0, BOARD_TICK_NS };
static volatile uint64_t cookie_of[BOARD_TAGS];     /* what the disk has */
static volatile uint32_t interrupts, wakes;

/* --- Interrupt: nothing here waits, loops on a lock, or touches a request - */
void disk_isr(void)
{
    iosched_time now = iosched_clock32_extend(&wall, board_counter());
    uint32_t mask = board_finished();

    interrupts++;
    for (unsigned tag = 0; tag < BOARD_TAGS; tag++)
        if ((mask >> tag & 1u) &&
            iosched_post_complete(sched, cookie_of[tag], 0, now) == 1)
            wakes++;            /* board_wait() ends by itself */
}

/* --- Main loop ------------------------------------------------------------ */
static iosched_time now_ns(void)
{
    iosched_time now;

    board_irq_off();                            /* `wall` is shared */
    now = iosched_clock32_extend(&wall, board_counter());
    board_irq_on();
    return now;
}

/** Dispatch what the disk takes.  @return 0, or -1: something was wrong. */
static int issue_all(iosched_time now)
{
    struct iosched_req *rq;
    int got;

    while ((got = iosched_dispatch(sched, &rq, 0, now)) == IOSCHED_GOT) {
        cookie_of[rq->tag] = iosched_cookie(rq);    /* before the doorbell */
        if (board_start((unsigned)rq->tag) != 0 &&
            iosched_queue_full(sched, rq, now) != IOSCHED_OK)
            return -1;
    }
    return got < 0 ? -1 : 0;
}

static void say_number(const char *text, uint32_t number)
{
    char digits[12];
    unsigned at = sizeof digits - 1;

    board_say(text);
    digits[at] = 0;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    board_say(digits + at);
    board_say("\n");
}

/** @return what is wrong, or NULL. */
static const char *run(void)
{
    static struct iosched_req reads[REQUESTS];
    static unsigned rounds[REQUESTS];
    struct iosched_cfg cfg;
    struct iosched_req *rq, *m, *next;
    unsigned left = REQUESTS * ROUNDS, retries = 0;

    iosched_cfg_init(&cfg);
    cfg.flags = IOSCHED_F_NO_SWITCH | IOSCHED_F_NOMERGE;
    cfg.depth = BOARD_TAGS;
    cfg.max_streams = cfg.max_groups = 1;       /* the default ones */
    cfg.queued_hint = REQUESTS;
    say_number("bytes needed: ", (uint32_t)iosched_size(&cfg));
    say_number("bytes given:  ", (uint32_t)sizeof memory);
    if (iosched_init(memory, sizeof memory, "deadline", &cfg, &sched,
                     now_ns()) != IOSCHED_OK)
        return "not enough memory";
    for (unsigned i = 0; i < REQUESTS; i++) {
        reads[i].lba = 1000u * (i * 5 % 8);
        reads[i].nblk = 8;
        if (iosched_post(sched, &reads[i], now_ns()) < 0)   /* as a task */
            return "a request was not taken";
    }
    while (left > 0) {
        iosched_time now = now_ns();

        if (iosched_intake(sched, now) < 0)
            return "intake failed";
        while (iosched_reap(sched, &rq) == IOSCHED_GOT)
            for (m = rq->first_member; m != NULL; m = next) {
                next = m->next_member;
                left--;
                if (m->status != 0 || m->state != IOSCHED_STATE_IDLE)
                    return "a request came back, but not well";
                if (++rounds[m - reads] < ROUNDS &&
                    iosched_post(sched, m, now) < 0)
                    return "a request was not taken again";
            }
        if (now >= iosched_next_expiry(sched) &&
            iosched_expire(sched, now) == 1)
            retries++;
        if (issue_all(now) != 0)
            return "dispatch failed";
        board_irq_off();
        board_alarm(iosched_clock32_alarm(&wall, iosched_next_expiry(sched)));
        if (left > 0 && !iosched_inbox_pending(sched))
            board_wait();                       /* else it would be lost */
        board_irq_on();
    }
    for (unsigned i = 0; i < REQUESTS; i++)
        if (rounds[i] != ROUNDS)
            return "a request did not go round";
    if (retries < BOARD_REFUSALS)
        return "no alarm woke the loop";
    if (interrupts == 0 || wakes == 0)
        return "nothing was interrupted";
    if (now_ns() / BOARD_TICK_NS <= UINT32_MAX)
        return "the counter did not wrap";
    say_number("interrupts:   ", interrupts);
    return iosched_destroy(sched) == IOSCHED_OK ? NULL : "something is left";
}

int main(void)
{
    const char *wrong = board_init() == 0 ? run() : "this board has no board";

    if (wrong == NULL)
        return 0;
    board_say("not so: ");
    board_say(wrong);
    board_say("\n");
    return 1;
}
