/* SPDX-License-Identifier: BSD-2-Clause */
/** @file iosched/stree.h
 *  Service trees: who is served next.  Up to 64 trees, numbered by precedence
 *  (0 first), in an array the caller supplies; within a tree by signed key,
 *  equal keys in insertion order.  A bitmap tells in O(1) which trees hold
 *  anything.  CFQ keeps seven of these a group: RT and BE times three workload
 *  types, and IDLE.
 *
 *  Keys are signed because a preempting queue is put a second before the first
 *  key of its tree, and the clock may have started a moment ago.
 */
#ifndef IOSCHED_STREE_H
#define IOSCHED_STREE_H
#include <iosched/rbtree.h>
#include <iosched/types.h>
IOSCHED_BEGIN_DECLS

#define IOSCHED_STREE_MAX 64u           /* trees, for one bitmap          */

/** Embedded in what is served.  Frozen; all-zero: in no tree. */
struct iosched_snode {
    struct iosched_rbnode rb;           /* its key is ours: see _key()    */
    uint32_t              tree;         /* which one; read-only           */
    uint32_t              pad_;         /* 0                              */
};

/** One tree, in the caller's array.  Frozen. */
struct iosched_stree_slot {
    struct iosched_rbtree rb_;          /* by key                         */
    uint32_t              len;          /* nodes in it; read-only         */
    uint32_t              pad_;         /* 0                              */
};

/** All trees of one array.  Frozen. */
struct iosched_stree {
    struct iosched_stree_slot *slots_;  /* the caller's                   */
    uint64_t                   busy;    /* bit i: tree i is not empty     */
    uint32_t                   nslots_; /* how many                       */
    uint32_t                   len;     /* nodes in all trees             */
};

/** Make t of `n` empty trees in slots[0..n-1], which stay yours and must
 *  outlive t.  @retval IOSCHED_ERR_INVAL NULL, n == 0 or n > 64.  O(n). */
IOSCHED_API int iosched_stree_init(struct iosched_stree *t,
                                   struct iosched_stree_slot *slots,
                                   uint32_t n);
/** Put n into tree `tree` behind its equals.  O(log n). */
IOSCHED_API void iosched_stree_add(struct iosched_stree *t,
                                   struct iosched_snode *n, uint32_t tree,
                                   int64_t key);
/** The same with key = max(last key of the tree, floor) + offset, saturating:
 *  behind everyone.  @return the key.  O(log n). */
IOSCHED_API int64_t iosched_stree_add_last(struct iosched_stree *t,
                                           struct iosched_snode *n,
                                           uint32_t tree, int64_t floor,
                                           int64_t offset);
/** The same with key = (first key of the tree, or `floor` if it is empty) -
 *  lead, saturating: ahead of everyone.  @return the key.  O(log n). */
IOSCHED_API int64_t iosched_stree_add_first(struct iosched_stree *t,
                                            struct iosched_snode *n,
                                            uint32_t tree, int64_t floor,
                                            int64_t lead);
/** Take n out.  O(log n). */
IOSCHED_API void iosched_stree_remove(struct iosched_stree *t,
                                      struct iosched_snode *n);

/** First node of tree `tree`, or NULL.  O(1). */
IOSCHED_API struct iosched_snode *
iosched_stree_first(const struct iosched_stree *t, uint32_t tree);
/** First node of the lowest-numbered busy tree among those in `mask` (bit i:
 *  tree i), or NULL.  O(1). */
IOSCHED_API struct iosched_snode *
iosched_stree_pick(const struct iosched_stree *t, uint64_t mask);
/** Next node of the same tree, or NULL.  Amortised O(1). */
IOSCHED_API struct iosched_snode *
iosched_stree_next(const struct iosched_snode *n);
/** Nodes in tree `tree`.  O(1). */
IOSCHED_API uint32_t iosched_stree_len(const struct iosched_stree *t,
                                       uint32_t tree);
/** The key n was put in with.  O(1). */
IOSCHED_API int64_t iosched_stree_key(const struct iosched_snode *n);
/** 1 if n is in a tree, else 0.  O(1). */
IOSCHED_API int iosched_stree_linked(const struct iosched_snode *n);
/** 0 if every invariant holds, else which one broke.  O(n); for tests. */
IOSCHED_API int iosched_stree_check(const struct iosched_stree *t);

IOSCHED_END_DECLS
#endif
