/* SPDX-License-Identifier: BSD-2-Clause */
/* board_bare.h - two bare boards, as board.h describes them: a Cortex-M3 (MPS2
 * with the AN385 image) and an RV32 (the "virt" machine of qemu).
 *
 * Counter and timer are the machine's own, at fixed addresses.  The disk has no
 * counterpart there: it is a mask of busy tags, of which one is done every
 * 200 us, and the timer's interrupt is its interrupt.  Console and exit status
 * go out by semihosting.  Includes the start-up code, so one file of a program
 * may include this.
 */
#ifndef WALKTHROUGH_BOARD_BARE_H
#define WALKTHROUGH_BOARD_BARE_H
#include <stddef.h>
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define DISK_NS 200000u                 /* between two completions        */

int main(void);
void disk_isr(void);
void board_reset(void);
void board_timer_isr(void);
void *memset(void *to, int byte, size_t n);
void *memcpy(void *restrict to, const void *restrict from, size_t n);

/* --- Cortex-M3 ------------------------------------------------------------ */
#if defined(__arm__)
#define FPGA_COUNTER  REGISTER(0x40028018u)
#define FPGA_PRESCALE REGISTER(0x4002801cu)
#define SYSTICK_CTRL  REGISTER(0xe000e010u)
#define SYSTICK_LOAD  REGISTER(0xe000e014u)
#define SYSTICK_VALUE REGISTER(0xe000e018u)
#define MHZ           25u               /* of the core, and the counter's */
#define BOARD_TICK_NS 1000u

extern uint32_t board_stack_top;        /* linker script */

__attribute__((section(".start"), used))
static const uintptr_t vectors[16] = {
    [0] = (uintptr_t)&board_stack_top,
    [1] = (uintptr_t)board_reset,
    [15] = (uintptr_t)board_timer_isr   /* SysTick */
};

static inline uintptr_t semihost(uintptr_t call, const void *arg)
{
    register uintptr_t r0 __asm__("r0") = call;
    register const void *r1 __asm__("r1") = arg;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static inline void board_irq_off(void)
{
    __asm__ volatile("cpsid i" ::: "memory");
}

static inline void board_irq_on(void)
{
    __asm__ volatile("cpsie i\n\tisb" ::: "memory");
}

static inline void timer_start(void)
{
    FPGA_PRESCALE = MHZ - 1;            /* one count a microsecond */
}

static inline uint32_t timer_count(void)
{
    return FPGA_COUNTER;
}

/** An interrupt in `ticks`, or sooner: it counts 24 bits of the core clock. */
static inline void timer_set(uint32_t ticks)
{
    SYSTICK_CTRL = 0;
    SYSTICK_LOAD = ticks < 0xffffffu / MHZ ? ticks * MHZ : 0xffffffu;
    SYSTICK_VALUE = 0;
    SYSTICK_CTRL = 7;                   /* core clock, interrupt, go */
}

#define BOARD_ISR

/* --- RV32 ----------------------------------------------------------------- */
#elif defined(__riscv)
#define MTIME_LOW     REGISTER(0x0200bff8u)
#define MTIME_HIGH    REGISTER(0x0200bffcu)
#define MTIMECMP_LOW  REGISTER(0x02004000u)
#define MTIMECMP_HIGH REGISTER(0x02004004u)
#define BOARD_TICK_NS 100u              /* 10 MHz */

__asm__(".option arch, +zicsr\n"        /* for the rest of the file, too */
        ".pushsection .start, \"ax\"\n"
        ".globl board_start_here\n"
        "board_start_here:\n"
        "    la sp, board_stack_top\n"
        "    la t0, board_timer_isr\n"
        "    csrw mtvec, t0\n"
        "    j board_reset\n"
        ".popsection\n");

static inline uintptr_t semihost(uintptr_t call, const void *arg)
{
    register uintptr_t a0 __asm__("a0") = call;
    register const void *a1 __asm__("a1") = arg;

    __asm__ volatile(".balign 16\n\t"   /* all three on one page */
                     ".option push\n\t.option norvc\n\t"
                     "slli x0, x0, 0x1f\n\tebreak\n\tsrai x0, x0, 7\n\t"
                     ".option pop" : "+r"(a0) : "r"(a1) : "memory");
    return a0;
}

static inline void board_irq_off(void)
{
    __asm__ volatile("csrci mstatus, 8" ::: "memory");
}

static inline void board_irq_on(void)
{
    __asm__ volatile("csrsi mstatus, 8" ::: "memory");
}

static inline uint32_t timer_count(void)
{
    return MTIME_LOW;
}

static inline void timer_set(uint32_t ticks)
{
    uint32_t high, low, at;

    do {                                /* it may carry in between */
        high = MTIME_HIGH;
        low = MTIME_LOW;
    } while (high != MTIME_HIGH);
    at = low + ticks;
    MTIMECMP_HIGH = UINT32_MAX;         /* none while half is written */
    MTIMECMP_LOW = at;
    MTIMECMP_HIGH = high + (at < low);
}

static inline void timer_start(void)
{
    timer_set(UINT32_MAX);
    __asm__ volatile("csrs mie, %0" :: "r"(1u << 7));   /* machine timer */
}

#define BOARD_ISR __attribute__((interrupt("machine"), aligned(4)))
#else
#error "a board for this processor, please"
#endif

/* --- The board ------------------------------------------------------------ */
static volatile uint32_t disk_busy, disk_done;  /* bit n: tag n           */
static volatile uint32_t disk_due;      /* counter at the next completion */
static volatile uint32_t alarm_at, alarm_set;   /* compare register       */
static uint32_t counter_offset, counting;
static unsigned disk_refusals = BOARD_REFUSALS;

static inline uint32_t board_counter(void)
{
    uint32_t now = timer_count();

    if (!counting) {                    /* the first reading */
        counting = 1;
        counter_offset = UINT32_MAX - BOARD_EARLY_NS / BOARD_TICK_NS - now;
    }
    return now + counter_offset;
}

/** Ticks until `at`, at least 1. */
static inline uint32_t ticks_to(uint32_t at)
{
    uint32_t left = at - board_counter();

    return left == 0 || left > UINT32_C(1) << 31 ? 1 : left;
}

/** Interrupts are off: set the timer to whatever is due first. */
static inline void board_set_timer(void)
{
    uint32_t ticks = UINT32_MAX / 2, left;

    if (alarm_set)
        ticks = ticks_to(alarm_at);
    if (disk_busy != 0) {
        left = ticks_to(disk_due);
        ticks = left < ticks ? left : ticks;
    }
    timer_set(ticks);
}

BOARD_ISR void board_timer_isr(void)
{
    uint32_t now = board_counter(), next = disk_busy & -disk_busy;

    if (next != 0 && now - disk_due < UINT32_C(1) << 31) {
        disk_busy &= ~next;             /* the lowest */
        disk_done |= next;
        disk_due = now + DISK_NS / BOARD_TICK_NS;
        disk_isr();
    }
    if (alarm_set && now - alarm_at < UINT32_C(1) << 31)
        alarm_set = 0;
    board_set_timer();
}

static inline int board_init(void)
{
    timer_start();
    board_irq_on();
    return 0;
}

static inline void board_wait(void)
{
    __asm__ volatile("wfi" ::: "memory");   /* one that is off ends it, too */
    board_irq_on();                     /* here it runs */
    board_irq_off();
}

static inline void board_alarm(uint32_t counter)
{
    alarm_at = counter;
    alarm_set = 1;
    board_set_timer();
}

static inline int board_start(unsigned tag)
{
    if (disk_refusals > 0) {
        disk_refusals--;
        return -1;
    }
    board_irq_off();
    if (disk_busy == 0)
        disk_due = board_counter() + DISK_NS / BOARD_TICK_NS;
    disk_busy |= UINT32_C(1) << tag;
    board_set_timer();
    board_irq_on();
    return 0;
}

static inline uint32_t board_finished(void)
{
    uint32_t mask = disk_done;

    disk_done = 0;
    return mask;
}

static inline void board_say(const char *text)
{
    semihost(4, text);                  /* SYS_WRITE0 */
}

/* --- Start and end -------------------------------------------------------- */
extern uint8_t board_bss[], board_bss_end[];    /* linker script */

void *memset(void *to, int byte, size_t n)
{
    volatile uint8_t *p = to;           /* so that this is not made a memset */

    while (n-- > 0)
        *p++ = (uint8_t)byte;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    volatile uint8_t *p = to;
    const uint8_t *q = from;

    while (n-- > 0)
        *p++ = *q++;
    return to;
}

void board_reset(void)
{
    uintptr_t end[2];

    board_irq_off();
    memset(board_bss, 0, (size_t)(board_bss_end - board_bss));
    end[1] = (uintptr_t)main();
    end[0] = 0x20026;                   /* ADP_Stopped_ApplicationExit */
    semihost(0x20, end);                /* SYS_EXIT_EXTENDED */
    for (;;)
        ;
}

#endif
