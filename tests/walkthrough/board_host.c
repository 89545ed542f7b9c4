/* SPDX-License-Identifier: BSD-2-Clause */
/* board_host.c - a board made of a thread and two signals.
 *
 * The disk is a thread: it gets tags through a pipe and raises SIGUSR1 in the
 * main thread, where the handler is the interrupt handler: it comes between any
 * two instructions.  The compare register is an interval timer, SIGALRM.
 * Interrupts off means that both are blocked.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "board.h"

static pthread_t main_thread, disk_thread;
static int       doorbell[2];   /* a pipe: one byte, the tag              */
static uint32_t  finished;      /* bit per tag; atomic                    */
static uint32_t  offset;        /* counter = microseconds + offset ...    */
static int       counting;      /* ... from the first reading on          */
static unsigned  refusals = BOARD_REFUSALS;
static sigset_t  interrupts;
static int       alarms;        /* compare register: times it matched     */

static uint32_t microseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint32_t)((uint64_t)t.tv_sec * 1000000u +
                      (uint64_t)t.tv_nsec / 1000u);
}

uint32_t board_counter(void)
{
    uint32_t now = microseconds();

    if (!counting) {                    /* however long the start has taken */
        counting = 1;
        offset = UINT32_MAX - BOARD_EARLY_NS / BOARD_TICK_NS - now;
    }
    return now + offset;
}

static void on_signal(int number)
{
    int saved = errno;

    if (number == SIGUSR1)
        disk_isr();
    else
        alarms++;
    errno = saved;
}

static void *disk(void *unused)
{
    unsigned char tag;

    while (read(doorbell[0], &tag, 1) == 1) {
        __atomic_fetch_or(&finished, UINT32_C(1) << tag, __ATOMIC_RELEASE);
        pthread_kill(main_thread, SIGUSR1);
    }
    return unused;
}

int board_init(void)
{
    struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

    main_thread = pthread_self();
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGUSR1);
    sigaddset(&interrupts, SIGALRM);
    act.sa_mask = interrupts;
    if (pipe(doorbell) != 0 || sigaction(SIGUSR1, &act, NULL) != 0 ||
        sigaction(SIGALRM, &act, NULL) != 0)
        return -1;
    board_irq_off();                    /* the thread inherits it for good */
    if (pthread_create(&disk_thread, NULL, disk, NULL) != 0)
        return -1;
    board_irq_on();
    return 0;
}

void board_irq_off(void)
{
    pthread_sigmask(SIG_BLOCK, &interrupts, NULL);
}

void board_irq_on(void)
{
    pthread_sigmask(SIG_UNBLOCK, &interrupts, NULL);
}

void board_wait(void)
{
    sigset_t open;

    pthread_sigmask(SIG_BLOCK, NULL, &open);
    sigdelset(&open, SIGUSR1);
    sigdelset(&open, SIGALRM);
    sigsuspend(&open);
}

void board_alarm(uint32_t counter)
{
    uint32_t left = counter - board_counter();
    struct itimerval t = { { 0, 0 }, { 0, 0 } };

    if (left > UINT32_MAX / 2 + 1)      /* it has just gone by */
        left = 1;
    t.it_value.tv_sec = left / 1000000u;
    t.it_value.tv_usec = left % 1000000u;
    if (left == 0)
        t.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &t, NULL);
}

int board_start(unsigned tag)
{
    unsigned char byte = (unsigned char)tag;

    if (refusals > 0) {
        refusals--;
        return -1;
    }
    return write(doorbell[1], &byte, 1) == 1 ? 0 : -1;
}

uint32_t board_finished(void)
{
    return __atomic_exchange_n(&finished, 0, __ATOMIC_ACQUIRE);
}

void board_say(const char *text)
{
    fputs(text, stdout);
    fflush(stdout);
}
