/* SPDX-License-Identifier: BSD-2-Clause */
/** @file iosched/fifo.h
 *  Intrusive doubly linked FIFO whose links carry an expiry.  The caller owns
 *  list and links; nothing allocates; every call but iosched_fifo_check() is
 *  O(1).  All-zero bytes are an empty list and an unlinked link.
 *
 *  Misuse that would need a walk to see (a link of another list) is not seen.
 */
#ifndef IOSCHED_FIFO_H
#define IOSCHED_FIFO_H
#include <iosched/types.h>
IOSCHED_BEGIN_DECLS

/** Embedded in what is listed.  Frozen: 24 bytes on LP64, 16 on ILP32. */
struct iosched_fifolink {
    struct iosched_fifolink *next_;     /* younger; an end: itself        */
    struct iosched_fifolink *prev_;     /* older; an end: itself          */
    iosched_time             expires;   /* kept after removal             */
};

/** A list, oldest first.  Frozen. */
struct iosched_fifo {
    struct iosched_fifolink *head_;     /* oldest, or NULL: empty         */
    struct iosched_fifolink *tail_;     /* youngest, or NULL              */
    uint32_t                 len;       /* links in the list              */
};

/** Append l, to expire at `expires` (IOSCHED_NEVER: it does not).  l must not
 *  be linked anywhere. */
IOSCHED_API void iosched_fifo_push(struct iosched_fifo *f,
                                   struct iosched_fifolink *l,
                                   iosched_time expires);
/** The same, at the head. */
IOSCHED_API void iosched_fifo_push_head(struct iosched_fifo *f,
                                        struct iosched_fifolink *l,
                                        iosched_time expires);
/** The same, just before `pos`, which is in f. */
IOSCHED_API void iosched_fifo_insert_before(struct iosched_fifo *f,
                                            struct iosched_fifolink *pos,
                                            struct iosched_fifolink *l,
                                            iosched_time expires);
/** `l` takes the place and the expiry of `old`, which leaves the list: for the
 *  survivor of a merge that has to keep the older one's age. */
IOSCHED_API void iosched_fifo_replace(struct iosched_fifo *f,
                                      struct iosched_fifolink *old,
                                      struct iosched_fifolink *l);
/** Unlink l, which must be in f. */
IOSCHED_API void iosched_fifo_remove(struct iosched_fifo *f,
                                     struct iosched_fifolink *l);

/** Oldest link, or NULL. */
IOSCHED_API struct iosched_fifolink *
iosched_fifo_head(const struct iosched_fifo *f);
/** Youngest link, or NULL. */
IOSCHED_API struct iosched_fifolink *
iosched_fifo_tail(const struct iosched_fifo *f);
/** The link after l, or NULL if l is the last. */
IOSCHED_API struct iosched_fifolink *
iosched_fifo_next(const struct iosched_fifolink *l);
/** The link before l, or NULL if l is the head. */
IOSCHED_API struct iosched_fifolink *
iosched_fifo_prev(const struct iosched_fifolink *l);
/** The head if now >= its expiry, else NULL.  Looks at the head alone: lists
 *  with one common lifetime are sorted by themselves. */
IOSCHED_API struct iosched_fifolink *
iosched_fifo_expired(const struct iosched_fifo *f, iosched_time now);
/** 1 if l is in some list, else 0. */
IOSCHED_API int iosched_fifo_linked(const struct iosched_fifolink *l);
/** 0 if every invariant holds, else which one broke.  O(n); for tests. */
IOSCHED_API int iosched_fifo_check(const struct iosched_fifo *f);

IOSCHED_END_DECLS
#endif
