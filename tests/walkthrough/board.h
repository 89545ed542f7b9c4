/* SPDX-License-Identifier: BSD-2-Clause */
/* board.h - what isr.c knows of the machine it runs on.
 *
 * One free-running 32-bit counter, one compare register, one disk that takes a
 * few commands at a time, and an interrupt when it has done some of them.
 * board_host.c makes one of threads and signals; board_bare.h is a real one
 * (two of them) with registers at fixed addresses.
 *
 * The first reading of the counter is 2 ms before it wraps.  The disk refuses
 * the first few commands, as a disk does that is not awake.
 */
#ifndef WALKTHROUGH_BOARD_H
#define WALKTHROUGH_BOARD_H
#include <stdint.h>

#define BOARD_TAGS     4u       /* commands the disk takes                */
#define BOARD_REFUSALS 2u       /* ... after it has refused so many       */
#define BOARD_EARLY_NS 2000000u /* from the first reading to the wrap     */

#if !__STDC_HOSTED__
#  include "board_bare.h"
#else
#  define BOARD_TICK_NS 1000u   /* ns per tick of the counter             */

/** Start counter and disk.  @return 0, or -1: this machine cannot. */
int board_init(void);
uint32_t board_counter(void);
/** Interrupts off and on; they do not nest. */
void board_irq_off(void);
void board_irq_on(void);
/** With interrupts off: sleep until there is one.  It has run on return, and
 *  they are off again. */
void board_wait(void);
/** Wake board_wait() when the counter gets there. */
void board_alarm(uint32_t counter);
/** The doorbell.  @return 0, or -1: the disk does not take it now. */
int board_start(unsigned tag);
/** Interrupt only: bit n is set if tag n is done; reading clears it. */
uint32_t board_finished(void);
void board_say(const char *text);
#endif

/** isr.c has it; the disk calls it, with interrupts off. */
void disk_isr(void);

#endif
