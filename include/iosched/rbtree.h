/* SPDX-License-Identifier: BSD-2-Clause */
/** @file iosched/rbtree.h
 *  Intrusive red-black tree keyed by uint64_t, leftmost cached, with an
 *  optional augmentation.  Equal keys keep insertion order.  The caller owns
 *  tree and nodes; nothing allocates.  All-zero bytes are an empty tree without
 *  augmentation, and a node that is in no tree.
 */
#ifndef IOSCHED_RBTREE_H
#define IOSCHED_RBTREE_H
#include <iosched/types.h>
IOSCHED_BEGIN_DECLS

/** Embedded in what is sorted.  Frozen: 32 bytes on LP64, 24 on ILP32, 20 on
 *  i386. */
struct iosched_rbnode {
    uintptr_t              up_;        /* parent, colour and linked bits  */
    struct iosched_rbnode *left_;      /* lesser or earlier, or NULL      */
    struct iosched_rbnode *right_;     /* greater or later, or NULL       */
    uint64_t               key;        /* read-only while linked          */
};

/** Recompute the summary that the struct around n keeps of n's subtree, from
 *  n's own value and the summaries of iosched_rb_left(n) and
 *  iosched_rb_right(n).  @return 1 if it changed, 0 if not, which stops the
 *  way up.  Called O(log n) times for each insert, remove and refresh. */
typedef int (*iosched_rb_augment)(struct iosched_rbnode *n);

/** A tree.  Frozen. */
struct iosched_rbtree {
    struct iosched_rbnode *root_;      /* NULL: empty                     */
    struct iosched_rbnode *first_;     /* smallest key, or NULL           */
    iosched_rb_augment     augment;    /* NULL: none; set while empty     */
};

/** Link n after its equals.  O(log n). */
IOSCHED_API void iosched_rb_insert(struct iosched_rbtree *t,
                                   struct iosched_rbnode *n, uint64_t key);
/** Link n before its equals: for whoever has to be first.  O(log n). */
IOSCHED_API void iosched_rb_insert_first(struct iosched_rbtree *t,
                                         struct iosched_rbnode *n,
                                         uint64_t key);
/** Unlink n, which must be in t; n is all-zero but for its key after.
 *  O(log n), O(1) rotations. */
IOSCHED_API void iosched_rb_remove(struct iosched_rbtree *t,
                                   struct iosched_rbnode *n);
/** The value the augmentation reads from n has changed: bring the summaries on
 *  the way to the root up to date.  No-op without one.  O(log n). */
IOSCHED_API void iosched_rb_refresh(struct iosched_rbtree *t,
                                    struct iosched_rbnode *n);

/** Smallest key, or NULL.  O(1). */
IOSCHED_API struct iosched_rbnode *
iosched_rb_first(const struct iosched_rbtree *t);
/** Largest key, or NULL.  O(log n). */
IOSCHED_API struct iosched_rbnode *
iosched_rb_last(const struct iosched_rbtree *t);
/** In-order successor, or NULL.  Amortised O(1). */
IOSCHED_API struct iosched_rbnode *
iosched_rb_next(const struct iosched_rbnode *n);
/** In-order predecessor, or NULL.  Amortised O(1). */
IOSCHED_API struct iosched_rbnode *
iosched_rb_prev(const struct iosched_rbnode *n);
/** First node with key >= `key`, or NULL.  O(log n). */
IOSCHED_API struct iosched_rbnode *
iosched_rb_ceil(const struct iosched_rbtree *t, uint64_t key);
/** Last node with key <= `key`, or NULL.  O(log n). */
IOSCHED_API struct iosched_rbnode *
iosched_rb_floor(const struct iosched_rbtree *t, uint64_t key);

/* For augmented descents, which the caller writes: no search callback. */
/** The root, or NULL.  O(1). */
IOSCHED_API struct iosched_rbnode *
iosched_rb_root(const struct iosched_rbtree *t);
/** Left child, or NULL.  O(1). */
IOSCHED_API struct iosched_rbnode *
iosched_rb_left(const struct iosched_rbnode *n);
/** Right child, or NULL.  O(1). */
IOSCHED_API struct iosched_rbnode *
iosched_rb_right(const struct iosched_rbnode *n);

/** 1 if n is in some tree, else 0.  O(1). */
IOSCHED_API int iosched_rb_linked(const struct iosched_rbnode *n);
/** 0 if every invariant holds (the summaries included), else which one broke.
 *  O(n); for tests. */
IOSCHED_API int iosched_rb_check(const struct iosched_rbtree *t);

IOSCHED_END_DECLS
#endif
