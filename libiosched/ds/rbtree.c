/* SPDX-License-Identifier: BSD-2-Clause */
/* rbtree.c - the red-black tree.
 *
 * Balance is that of Guibas and Sedgewick, "A dichromatic framework for
 * balanced trees" (FOCS 1978), in the bottom-up form of Cormen, Leiserson,
 * Rivest and Stein, "Introduction to Algorithms", chapter 13:
 *
 *   the root is black; a red node has no red child; every way from the root
 *   down to a missing child passes the same number of black nodes.
 *
 * Two things differ from the textbook.  A side is a number, so each pair of
 * mirrored cases is one piece of code, and which side it was costs no branch:
 * with random keys that branch would be mispredicted half the time.  And a
 * rotation swaps the colours of the two nodes it turns, as if they belonged to
 * the links, which is how the paper of 1978 has it: then no case needs more
 * than one recolouring besides.
 *
 * Summaries are up to date after every single step: after the leaf is hung in
 * or taken out, and again after each rotation.  What the callback answers about
 * a node that stands somewhere new means nothing, since its old summary was
 * that of another set of nodes: the way up goes on past it in any case.
 */
#include <iosched/rbtree.h>
#include "util.h"

/* The low bits of up_, which no address of a node uses. */
#define RED    ((uintptr_t)1)
#define LINKED ((uintptr_t)2)
#define BITS   (RED | LINKED)

enum { LEFT, RIGHT };

/* What iosched_rb_check() answers. */
enum {
    BAD_ROOT = 1,                       /* red                            */
    BAD_LINK,                           /* not its parent's, not linked   */
    BAD_RED,                            /* red below red                  */
    BAD_BLACK,                          /* ways down of unequal length    */
    BAD_ORDER,                          /* a key below the one before     */
    BAD_FIRST,                          /* first_ is not the leftmost     */
    BAD_SUMMARY                         /* the callback had to change it  */
};

static inline struct iosched_rbnode *parent(const struct iosched_rbnode *n)
{
    return (struct iosched_rbnode *)(n->up_ & ~BITS);
}

static inline void set_parent(struct iosched_rbnode *n,
                              const struct iosched_rbnode *p)
{
    n->up_ = (uintptr_t)p | (n->up_ & BITS);
}

static inline int is_red(const struct iosched_rbnode *n)
{
    return n != NULL && (n->up_ & RED) != 0;
}

/** Where n keeps its child of that side. */
static inline struct iosched_rbnode **kid(struct iosched_rbnode *n,
                                          unsigned side)
{
    return (struct iosched_rbnode **)(void *)
           ((char *)n + offsetof(struct iosched_rbnode, left_) +
            side * (offsetof(struct iosched_rbnode, right_) -
                    offsetof(struct iosched_rbnode, left_)));
}

/** Which child of p, not NULL, n is. */
static inline unsigned side_of(const struct iosched_rbnode *p,
                               const struct iosched_rbnode *n)
{
    return p->right_ == n;
}

/** Where the pointer to n is kept, whose parent is p. */
static inline struct iosched_rbnode **place(struct iosched_rbtree *t,
                                            struct iosched_rbnode *p,
                                            const struct iosched_rbnode *n)
{
    return p != NULL ? kid(p, side_of(p, n)) : &t->root_;
}

/* --- Summaries ------------------------------------------------------------ */

/** Bring n and what is above it up to date, as far as anything changes.  n may
 *  be NULL; there is a callback. */
static void climb(const struct iosched_rbtree *t, struct iosched_rbnode *n)
{
    while (n != NULL && t->augment(n))
        n = parent(n);
}

/** Bring everything up to date after `low` and then `top`, now its parent, have
 *  changed their children.  The node above is asked too, lest a summary that
 *  depends on the shape of the tree go stale. */
static void turned(const struct iosched_rbtree *t, struct iosched_rbnode *low,
                   struct iosched_rbnode *top)
{
    t->augment(low);
    t->augment(top);
    climb(t, parent(top));
}

/** Bring everything up to date after `low` has lost a child and `heir`, who is
 *  low or above it, stands in another's place; heir may be NULL. */
static void shrunk(const struct iosched_rbtree *t, struct iosched_rbnode *low,
                   struct iosched_rbnode *heir)
{
    if (heir != NULL) {
        while (low != heir && t->augment(low))
            low = parent(low);
        t->augment(heir);
        low = parent(heir);
    }
    climb(t, low);
}

/* --- Balance -------------------------------------------------------------- */

/** Turn p down to `side`; its other child takes its place and its colour, and p
 *  takes that child's.  With side LEFT:
 *
 *        p               s
 *       / \             / \
 *      a   s    -->    p   c
 *         / \         / \
 *        b   c       a   b
 */
static inline void rotate(struct iosched_rbtree *t, struct iosched_rbnode *p,
                          unsigned side)
{
    struct iosched_rbnode *s = *kid(p, !side);
    struct iosched_rbnode *b = *kid(s, side);
    uintptr_t up = p->up_;

    *place(t, parent(p), p) = s;
    *kid(p, !side) = b;
    if (b != NULL)
        set_parent(b, p);
    *kid(s, side) = p;
    p->up_ = (uintptr_t)s | (s->up_ & BITS);
    s->up_ = up;
    if (IOSCHED_UNLIKELY(t->augment != NULL))
        turned(t, p, s);
}

/** n is red, and so is its parent p, which may not be. */
static void fix_red(struct iosched_rbtree *t, struct iosched_rbnode *n,
                    struct iosched_rbnode *p)
{
    do {
        /* Red, p is not the root. */
        struct iosched_rbnode *g = parent(p);
        unsigned side = side_of(g, p);
        struct iosched_rbnode *uncle = *kid(g, !side);

        if (!is_red(uncle)) {
            if (*kid(p, !side) == n)    /* bring the two reds into line */
                rotate(t, p, side);
            rotate(t, g, !side);
            return;
        }
        /* Both ways down lose their red, and g takes it. */
        p->up_ &= ~RED;
        uncle->up_ &= ~RED;
        n = g;
        p = parent(g);
        if (p == NULL)                  /* the root stays black */
            return;
        g->up_ |= RED;
    } while (p->up_ & RED);
}

/** The ways down through p's child of that side have one black node less than
 *  all others. */
static void fix_black(struct iosched_rbtree *t, struct iosched_rbnode *p,
                      unsigned side)
{
    for (;;) {
        struct iosched_rbnode *w = *kid(p, !side);
        struct iosched_rbnode *inner, *outer, *g;

        if (w->up_ & RED) {             /* get a black sibling, p red */
            rotate(t, p, side);
            w = *kid(p, !side);
        }
        inner = *kid(w, side);
        outer = *kid(w, !side);
        if (is_red(outer) || is_red(inner)) {
            if (!is_red(outer)) {
                rotate(t, w, !side);
                outer = w;
            }
            rotate(t, p, side);
            outer->up_ &= ~RED;
            return;
        }
        w->up_ |= RED;                  /* now p's other side lacks one too */
        if (p->up_ & RED) {
            p->up_ &= ~RED;
            return;
        }
        g = parent(p);
        if (g == NULL)
            return;
        side = side_of(g, p);
        p = g;
    }
}

/* --- Changing ------------------------------------------------------------- */

/** Hang n, a leaf, below p on that side; NULL if the tree is empty. */
static void hang(struct iosched_rbtree *t, struct iosched_rbnode *p,
                 unsigned side, struct iosched_rbnode *n, uint64_t key)
{
    /* Usual causes: inserted twice, or memory that was never zeroed. */
    IOSCHED_ASSERT(n->up_ == 0);
    n->key = key;
    n->left_ = NULL;
    n->right_ = NULL;
    if (p == NULL) {
        n->up_ = LINKED;
        t->root_ = n;
        t->first_ = n;
    } else {
        n->up_ = (uintptr_t)p | LINKED | RED;
        *kid(p, side) = n;
        if (side == LEFT && p == t->first_)
            t->first_ = n;
    }
    if (IOSCHED_UNLIKELY(t->augment != NULL)) {
        t->augment(n);
        climb(t, p);
    }
    if (is_red(p))
        fix_red(t, n, p);
}

void iosched_rb_insert(struct iosched_rbtree *t, struct iosched_rbnode *n,
                       uint64_t key)
{
    struct iosched_rbnode *p = NULL, *c = t->root_;

    while (c != NULL) {                 /* both loads: no branch to guess */
        struct iosched_rbnode *l = c->left_, *r = c->right_;

        p = c;
        c = key < c->key ? l : r;
    }
    hang(t, p, p != NULL && key >= p->key, n, key);
}

void iosched_rb_insert_first(struct iosched_rbtree *t,
                             struct iosched_rbnode *n, uint64_t key)
{
    struct iosched_rbnode *p = NULL, *c = t->root_;

    while (c != NULL) {
        struct iosched_rbnode *l = c->left_, *r = c->right_;

        p = c;
        c = key <= c->key ? l : r;
    }
    hang(t, p, p != NULL && key > p->key, n, key);
}

void iosched_rb_remove(struct iosched_rbtree *t, struct iosched_rbnode *n)
{
    struct iosched_rbnode *p = parent(n), *l = n->left_, *r = n->right_;
    struct iosched_rbnode **at = place(t, p, n);
    struct iosched_rbnode *heir = NULL; /* takes the place of n, if two   */
                                        /* children want it               */
    struct iosched_rbnode *low;         /* the lowest one with less below */
    unsigned side;                      /* and on which side it has less  */
    struct iosched_rbnode *orphan;      /* what hangs there now           */
    uintptr_t lost = n->up_;            /* colour of what hung there      */

    /* Usual causes: removed twice, or it is in another tree. */
    IOSCHED_ASSERT(n->up_ & LINKED);
    IOSCHED_ASSERT(*at == n);

    /* Black height lets the leftmost have no child but one red leaf. */
    if (t->first_ == n)
        t->first_ = r != NULL ? r : p;

    if (l == NULL || r == NULL) {
        orphan = l != NULL ? l : r;
        low = p;
        side = p != NULL ? side_of(p, n) : LEFT;
        *at = orphan;
    } else {
        for (heir = r; heir->left_ != NULL; )
            heir = heir->left_;
        lost = heir->up_;
        orphan = heir->right_;
        if (heir == r) {
            low = heir;
            side = RIGHT;
        } else {
            low = parent(heir);
            side = LEFT;
            low->left_ = orphan;
            heir->right_ = r;
            set_parent(r, heir);
        }
        heir->left_ = l;
        set_parent(l, heir);
        heir->up_ = n->up_;
        *at = heir;
    }
    if (orphan != NULL)                 /* a red leaf, below a black node */
        orphan->up_ = (uintptr_t)low | LINKED;
    n->up_ = 0;
    n->left_ = NULL;
    n->right_ = NULL;

    if (IOSCHED_UNLIKELY(t->augment != NULL))
        shrunk(t, low, heir);
    if (orphan == NULL && !(lost & RED) && low != NULL)
        fix_black(t, low, side);
}

void iosched_rb_refresh(struct iosched_rbtree *t, struct iosched_rbnode *n)
{
    IOSCHED_ASSERT(n->up_ & LINKED);
    if (t->augment != NULL)
        climb(t, n);
}

/* --- Looking -------------------------------------------------------------- */

struct iosched_rbnode *iosched_rb_first(const struct iosched_rbtree *t)
{
    return t->first_;
}

struct iosched_rbnode *iosched_rb_last(const struct iosched_rbtree *t)
{
    struct iosched_rbnode *n = t->root_;

    if (n != NULL)
        while (n->right_ != NULL)
            n = n->right_;
    return n;
}

struct iosched_rbnode *iosched_rb_next(const struct iosched_rbnode *n)
{
    struct iosched_rbnode *m = n->right_;

    IOSCHED_ASSERT(n->up_ & LINKED);
    if (m != NULL) {
        while (m->left_ != NULL)
            m = m->left_;
        return m;
    }
    for (m = parent(n); m != NULL && m->right_ == n; m = parent(m))
        n = m;
    return m;
}

struct iosched_rbnode *iosched_rb_prev(const struct iosched_rbnode *n)
{
    struct iosched_rbnode *m = n->left_;

    IOSCHED_ASSERT(n->up_ & LINKED);
    if (m != NULL) {
        while (m->right_ != NULL)
            m = m->right_;
        return m;
    }
    for (m = parent(n); m != NULL && m->left_ == n; m = parent(m))
        n = m;
    return m;
}

struct iosched_rbnode *iosched_rb_ceil(const struct iosched_rbtree *t,
                                       uint64_t key)
{
    struct iosched_rbnode *n = t->root_, *best = NULL;

    while (n != NULL) {
        if (n->key >= key) {
            best = n;
            n = n->left_;
        } else {
            n = n->right_;
        }
    }
    return best;
}

struct iosched_rbnode *iosched_rb_floor(const struct iosched_rbtree *t,
                                        uint64_t key)
{
    struct iosched_rbnode *n = t->root_, *best = NULL;

    while (n != NULL) {
        if (n->key <= key) {
            best = n;
            n = n->right_;
        } else {
            n = n->left_;
        }
    }
    return best;
}

struct iosched_rbnode *iosched_rb_root(const struct iosched_rbtree *t)
{
    return t->root_;
}

struct iosched_rbnode *iosched_rb_left(const struct iosched_rbnode *n)
{
    return n->left_;
}

struct iosched_rbnode *iosched_rb_right(const struct iosched_rbnode *n)
{
    return n->right_;
}

int iosched_rb_linked(const struct iosched_rbnode *n)
{
    return (n->up_ & LINKED) != 0;
}

/* --- Checking ------------------------------------------------------------- */

/** The black nodes on every way down from n, whose parent has to be p, or minus
 *  what broke.  *last is the node before n's subtree and then the last one in
 *  it.  A node is entered from its own parent only, so broken links cannot
 *  lead in a circle. */
static int walk(const struct iosched_rbtree *t, struct iosched_rbnode *n,
                const struct iosched_rbnode *p,
                const struct iosched_rbnode **last)
{
    int left, right;

    if (n == NULL)
        return 0;
    if (parent(n) != p || !(n->up_ & LINKED))
        return -BAD_LINK;
    if (n->left_ != NULL && n->left_ == n->right_)
        return -BAD_LINK;
    if (is_red(n) && p == NULL)
        return -BAD_ROOT;
    if (is_red(n) && is_red(p))
        return -BAD_RED;

    left = walk(t, n->left_, n, last);
    if (left < 0)
        return left;
    if (*last == NULL && t->first_ != n)
        return -BAD_FIRST;
    if (*last != NULL && (*last)->key > n->key)
        return -BAD_ORDER;
    *last = n;
    right = walk(t, n->right_, n, last);
    if (right < 0)
        return right;
    if (left != right)
        return -BAD_BLACK;

    if (t->augment != NULL && t->augment(n))
        return -BAD_SUMMARY;
    return left + !is_red(n);
}

int iosched_rb_check(const struct iosched_rbtree *t)
{
    const struct iosched_rbnode *last = NULL;
    int black;

    if (t->root_ == NULL)
        return t->first_ == NULL ? 0 : BAD_FIRST;
    black = walk(t, t->root_, NULL, &last);
    return black < 0 ? -black : 0;
}
