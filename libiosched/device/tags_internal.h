/* SPDX-License-Identifier: BSD-2-Clause */
/* tags_internal.h - a set of tags as the core sees it.
 *
 * A scheduler without cfg.tags has no such set, but a few words of its own.
 * Everything else is in <iosched/tags.h>; how it works is in tags.c and
 * doc/internals/tags.md.
 */
#ifndef IOSCHED_TAGS_INTERNAL_H
#define IOSCHED_TAGS_INTERNAL_H
#include <iosched/tags.h>
#include "port.h"

#define IOSCHED__TAGS_ALIGN 8u          /* of the memory; iosched_align() */
#define IOSCHED__SEATS_MAX  65536u      /* most seats in a set            */

/** One seat.  `state` is a phase in the two lowest bits and above them how
 *  often the seat was taken, so that a reader notices a change of hands. */
struct iosched__tags_seat {
    iosched__word state;
    iosched__word held;         /* tags it holds                          */
    iosched__word waking;       /* puts that are looking at the waker     */
    void (*wake)(void *user);   /* NULL: the seat polls                   */
    void *user;
    struct iosched *sched;      /* NULL: not a scheduler's                */
};

/** In the one block after this struct: the seats, then the words.  What points
 *  to words is written by every thread; the rest is constant after setup. */
struct iosched_tags {
    struct iosched__tags_seat *seat;    /* [seats]                        */
    iosched__word *leaf;        /* a bit per tag: in use; past depth: 1   */
    iosched__word *full;        /* a bit per leaf: no bit is 0; a hint    */
    iosched__word *waiting;     /* a bit per seat: refused, not yet woken */
    iosched__word *owner;       /* per tag: seat + 1, 0 if free           */
    uint32_t depth;
    uint32_t open;              /* depth - reserved: for everyone         */
    uint32_t seats;
    iosched__word in_use;       /* never above depth                      */
    iosched__word next;         /* seat to look at first when waking      */
};

/** Bytes of a set, a multiple of 8.  depth and seats are in range. */
size_t iosched__tags_bytes(uint32_t depth, uint32_t seats);

/** Build a set in iosched__tags_bytes(depth, seats) bytes, aligned to 8. */
void iosched__tags_setup(struct iosched_tags *t, uint32_t depth,
                         uint32_t reserved, uint32_t seats);

/** iosched_tags_join() for a scheduler, which sched and seat then report.
 *  @return the seat or IOSCHED_ERR_NOSPC. */
int iosched__tags_join_sched(struct iosched_tags *t, struct iosched *s,
                             void (*wake)(void *user), void *user);

/** Tags in the set, reserved ones included. */
uint32_t iosched__tags_depth(const struct iosched_tags *t);

#endif
