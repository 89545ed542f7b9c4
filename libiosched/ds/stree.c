/* SPDX-License-Identifier: BSD-2-Clause */
/* stree.c - service trees.
 *
 * Each is a red-black tree whose unsigned key is the signed one with its sign
 * bit turned over, which keeps the order.
 */
#include <iosched/stree.h>
#include "util.h"

#define SIGN ((uint64_t)1 << 63)

/* What iosched_stree_check() answers besides what iosched_rb_check() does. */
enum {
    BAD_SLOTS = 16,                     /* more than 64, or none          */
    BAD_BUSY,                           /* the bitmap lies                */
    BAD_LEN,                            /* a tree's len does              */
    BAD_TOTAL,                          /* the sum of them does           */
    BAD_TREE                            /* a node says another tree       */
};

/* --- Keys ----------------------------------------------------------------- */

static inline uint64_t to_key(int64_t key)
{
    return (uint64_t)key ^ SIGN;
}

static inline int64_t from_key(uint64_t key)
{
    /* Without a conversion that C leaves to the implementation. */
    return key >= SIGN ? (int64_t)(key - SIGN)
                       : -(int64_t)(SIGN - 1 - key) - 1;
}

static inline int64_t plus(int64_t a, int64_t b)
{
    if (b > 0 && a > INT64_MAX - b)
        return INT64_MAX;
    if (b < 0 && a < INT64_MIN - b)
        return INT64_MIN;
    return a + b;
}

static inline int64_t minus(int64_t a, int64_t b)
{
    if (b < 0 && a > INT64_MAX + b)
        return INT64_MAX;
    if (b > 0 && a < INT64_MIN + b)
        return INT64_MIN;
    return a - b;
}

static inline struct iosched_snode *snode_of(struct iosched_rbnode *n)
{
    return n != NULL ? iosched_container_of(n, struct iosched_snode, rb)
                     : NULL;
}

/* --- Changing ------------------------------------------------------------- */

int iosched_stree_init(struct iosched_stree *t,
                       struct iosched_stree_slot *slots, uint32_t n)
{
    if (t == NULL || slots == NULL || n == 0 || n > IOSCHED_STREE_MAX)
        return IOSCHED_ERR_INVAL;
    IOSCHED_PORT_SET(slots, 0, n * sizeof(*slots));
    t->slots_ = slots;
    t->busy = 0;
    t->nslots_ = n;
    t->len = 0;
    return IOSCHED_OK;
}

/** Count n, which has just been put into that tree. */
static inline void added(struct iosched_stree *t, struct iosched_snode *n,
                         uint32_t tree)
{
    n->tree = tree;
    t->slots_[tree].len++;
    t->len++;
    t->busy |= (uint64_t)1 << tree;
}

void iosched_stree_add(struct iosched_stree *t, struct iosched_snode *n,
                       uint32_t tree, int64_t key)
{
    IOSCHED_ASSERT(tree < t->nslots_);
    iosched_rb_insert(&t->slots_[tree].rb_, &n->rb, to_key(key));
    added(t, n, tree);
}

int64_t iosched_stree_add_last(struct iosched_stree *t,
                               struct iosched_snode *n, uint32_t tree,
                               int64_t floor, int64_t offset)
{
    const struct iosched_rbnode *last;
    int64_t key = floor;

    IOSCHED_ASSERT(tree < t->nslots_);
    last = iosched_rb_last(&t->slots_[tree].rb_);
    if (last != NULL && from_key(last->key) > floor)
        key = from_key(last->key);
    key = plus(key, offset);
    iosched_stree_add(t, n, tree, key);
    return key;
}

int64_t iosched_stree_add_first(struct iosched_stree *t,
                                struct iosched_snode *n, uint32_t tree,
                                int64_t floor, int64_t lead)
{
    const struct iosched_rbnode *first;
    int64_t key = floor;

    IOSCHED_ASSERT(tree < t->nslots_);
    first = iosched_rb_first(&t->slots_[tree].rb_);
    if (first != NULL)
        key = from_key(first->key);
    key = minus(key, lead);
    /* Ahead of its equals too: the key may have met the end of the range. */
    iosched_rb_insert_first(&t->slots_[tree].rb_, &n->rb, to_key(key));
    added(t, n, tree);
    return key;
}

void iosched_stree_remove(struct iosched_stree *t, struct iosched_snode *n)
{
    struct iosched_stree_slot *s;

    IOSCHED_ASSERT(n->tree < t->nslots_);
    s = &t->slots_[n->tree];
    IOSCHED_ASSERT(s->len > 0);
    iosched_rb_remove(&s->rb_, &n->rb);
    t->len--;
    if (--s->len == 0)
        t->busy &= ~((uint64_t)1 << n->tree);
}

/* --- Looking -------------------------------------------------------------- */

struct iosched_snode *iosched_stree_first(const struct iosched_stree *t,
                                          uint32_t tree)
{
    IOSCHED_ASSERT(tree < t->nslots_);
    return snode_of(iosched_rb_first(&t->slots_[tree].rb_));
}

struct iosched_snode *iosched_stree_pick(const struct iosched_stree *t,
                                         uint64_t mask)
{
    mask &= t->busy;
    if (mask == 0)
        return NULL;
    return iosched_stree_first(t, iosched__low_bit(mask));
}

struct iosched_snode *iosched_stree_next(const struct iosched_snode *n)
{
    return snode_of(iosched_rb_next(&n->rb));
}

uint32_t iosched_stree_len(const struct iosched_stree *t, uint32_t tree)
{
    IOSCHED_ASSERT(tree < t->nslots_);
    return t->slots_[tree].len;
}

int64_t iosched_stree_key(const struct iosched_snode *n)
{
    return from_key(n->rb.key);
}

int iosched_stree_linked(const struct iosched_snode *n)
{
    return iosched_rb_linked(&n->rb);
}

/** 0, or what broke in one tree. */
static int check_slot(const struct iosched_stree *t, uint32_t i)
{
    const struct iosched_stree_slot *s = &t->slots_[i];
    struct iosched_rbnode *n;
    uint32_t len = 0;
    int bad = iosched_rb_check(&s->rb_);

    if (bad)
        return bad;
    for (n = iosched_rb_first(&s->rb_); n != NULL; n = iosched_rb_next(n)) {
        if (snode_of(n)->tree != i)
            return BAD_TREE;
        len++;
    }
    if (len != s->len)
        return BAD_LEN;
    return (t->busy >> i & 1) == (len != 0) ? 0 : BAD_BUSY;
}

int iosched_stree_check(const struct iosched_stree *t)
{
    uint32_t i, sum = 0;

    if (t->slots_ == NULL || t->nslots_ == 0 ||
        t->nslots_ > IOSCHED_STREE_MAX)
        return BAD_SLOTS;
    if (t->nslots_ < 64 && t->busy >> t->nslots_ != 0)
        return BAD_BUSY;
    for (i = 0; i < t->nslots_; i++) {
        int bad = check_slot(t, i);

        if (bad)
            return bad;
        sum += t->slots_[i].len;
    }
    return sum == t->len ? 0 : BAD_TOTAL;
}
