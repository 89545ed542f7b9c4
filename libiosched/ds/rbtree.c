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
 * Three things differ from the textbook.  A side is a number, so each pair of
 * mirrored cases is one piece of code, and which side it was costs no branch:
 * with random keys that branch would be mispredicted half the time.  In a
 * rotation the node that rises takes over the colour of the place it rises to,
 * as if colours belonged to the links, which is how the paper of 1978 has it:
 * then no case needs more than one recolouring besides.  And the lowest step of
 * each repair is compiled apart from those above it.  Most changes need no
 * other, and black height says so much about the children down there, which
 * are missing or red leaves, that little is left to look at.
 *
 * Summaries are brought up to date after the leaf is hung in or taken out, and
 * again after the rotations, which always end a change.  What the callback
 * answers about a node that stands somewhere new means nothing, since its old
 * summary was that of another set of nodes: the way up goes on past it in any
 * case.  All this is kept out of the way of trees that have no callback: they
 * pay a branch for each change, and one more if it rotates.
 */
#include <iosched/rbtree.h>
#include "util.h"

/* The low bits of up_, which no address of a node uses. */
#define RED    ((uintptr_t)1)
#define LINKED ((uintptr_t)2)
#define BITS   (RED | LINKED)

/* A side is where in a node that child is. */
enum {
    LEFT  = offsetof(struct iosched_rbnode, left_),
    RIGHT = offsetof(struct iosched_rbnode, right_)
};

/* Keeps the seldom steps from costing the usual ones registers. */
#if defined(__GNUC__)
#  define APART __attribute__((noinline))
#else
#  define APART
#endif

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

/** What a black node below p keeps of it; plus RED, what a red one keeps. */
static inline uintptr_t below(const struct iosched_rbnode *p)
{
    return (uintptr_t)p + LINKED;
}

/** n hung below `from` and hangs below `to` now.  Its colour need not be known:
 *  the difference of two addresses leaves the low bits alone. */
static inline void move(struct iosched_rbnode *n,
                        const struct iosched_rbnode *from,
                        const struct iosched_rbnode *to)
{
    n->up_ += (uintptr_t)to - (uintptr_t)from;
}

/** Whether n, not NULL, is red. */
static inline int is_red(const struct iosched_rbnode *n)
{
    return (n->up_ & RED) != 0;
}

/** Where n keeps its child of that side. */
static inline struct iosched_rbnode **kid(struct iosched_rbnode *n, size_t side)
{
    return (struct iosched_rbnode **)(void *)((char *)n + side);
}

/** RIGHT if right is 1, LEFT if it is 0, without a branch: with random keys it
 *  would be mispredicted half the time. */
static inline size_t side_if(int right)
{
    return LEFT + (size_t)right * (RIGHT - LEFT);
}

/** Which child of p, not NULL, n is. */
static inline size_t side_of(const struct iosched_rbnode *p,
                             const struct iosched_rbnode *n)
{
    return side_if(p->right_ == n);
}

/** The other side. */
static inline size_t other(size_t side)
{
    return LEFT + RIGHT - side;
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

/** Bring everything up to date after rotations.  New children have: `beside`,
 *  unless it is NULL; `low`; and all that are above both up to `top`.  The node
 *  above top is asked too, lest a summary that depends on the shape of the tree
 *  go stale. */
static IOSCHED_COLD void turned(const struct iosched_rbtree *t,
                                struct iosched_rbnode *beside,
                                struct iosched_rbnode *low,
                                struct iosched_rbnode *top)
{
    if (beside != NULL)
        t->augment(beside);
    for (; low != top; low = parent(low))
        t->augment(low);
    t->augment(top);
    climb(t, parent(top));
}

/* --- Balance -------------------------------------------------------------- */

/** Turn p down to `side`: s, its other child, takes its place and its colour,
 *  and p becomes `colour`.  With side LEFT, where b may be NULL:
 *
 *        p               s
 *       / \             / \
 *      a   s    -->    p   c
 *         / \         / \
 *        b   c       a   b
 */
IOSCHED_HOT void turn(struct iosched_rbtree *t, struct iosched_rbnode *p,
                      struct iosched_rbnode *s, struct iosched_rbnode *b,
                      size_t side, uintptr_t colour)
{
    *kid(p, other(side)) = b;
    if (b != NULL)
        move(b, s, p);
    *kid(s, side) = p;
    *place(t, parent(p), p) = s;
    s->up_ = p->up_;
    p->up_ = below(s) + colour;
}

/** Turn s down to the other side and then p down to `side`: m, which is in
 *  between, takes p's place and its colour, and p and s become `colour`.  With
 *  side LEFT, where b and c may be NULL:
 *
 *        p                m
 *       / \             /   \
 *      a   s           p     s
 *         / \   -->   / \   / \
 *        m   d       a   b c   d
 *       / \
 *      b   c
 */
IOSCHED_HOT void turn_twice(struct iosched_rbtree *t, struct iosched_rbnode *p,
                            struct iosched_rbnode *s, struct iosched_rbnode *m,
                            struct iosched_rbnode *b, struct iosched_rbnode *c,
                            size_t side, uintptr_t colour)
{
    *kid(p, other(side)) = b;
    if (b != NULL)
        move(b, m, p);
    *kid(s, side) = c;
    if (c != NULL)
        move(c, m, s);
    *kid(m, side) = p;
    *kid(m, other(side)) = s;
    *place(t, parent(p), p) = m;
    m->up_ = p->up_;
    p->up_ = below(m) + colour;
    s->up_ = below(m) + colour;
}

/** n is red, and so is its parent p, which may not be.  Mend that, or move it
 *  up: the answer is who is in n's place now, or NULL.
 *
 *  leaf, known when this is compiled, says that n has just been hung in.  Then
 *  black height lets its uncle be red or missing, and nothing else be there;
 *  further up no child is missing. */
IOSCHED_HOT struct iosched_rbnode *mend_red(struct iosched_rbtree *t,
                                            struct iosched_rbnode *n,
                                            struct iosched_rbnode *p, int leaf)
{
    /* Red, p is not the root. */
    struct iosched_rbnode *g = parent(p);
    size_t side = other(side_of(g, p));
    struct iosched_rbnode *uncle = *kid(g, side);
    struct iosched_rbnode *inner = *kid(p, side);

    if (leaf ? uncle != NULL : is_red(uncle)) {
        /* Both ways down lose their red, and g takes it. */
        p->up_ -= RED;
        uncle->up_ -= RED;
        p = parent(g);
        if (p == NULL)                  /* the root stays black */
            return NULL;
        g->up_ += RED;
        return is_red(p) ? g : NULL;
    }
    if (inner != n) {
        turn(t, g, p, leaf ? NULL : inner, side, RED);
        n = p;
        p = NULL;
    } else {
        turn_twice(t, g, p, n, leaf ? NULL : *kid(n, side),
                   leaf ? NULL : *kid(n, other(side)), side, RED);
    }
    if (IOSCHED_UNLIKELY(t->augment != NULL))
        turned(t, p, g, n);
    return NULL;
}

/** n is red, and so is its parent. */
static APART void fix_red_above(struct iosched_rbtree *t,
                                struct iosched_rbnode *n)
{
    do
        n = mend_red(t, n, parent(n), 0);
    while (n != NULL);
}

/** n, a new leaf, is red, and so is its parent p. */
static void fix_red(struct iosched_rbtree *t, struct iosched_rbnode *n,
                    struct iosched_rbnode *p)
{
    n = mend_red(t, n, p, 1);
    if (n != NULL)
        fix_red_above(t, n);
}

/** The ways down through p's child of that side have one black node less than
 *  all others.  Mend that, or move it up: the answer is the node to which it
 *  applies now, or NULL.
 *
 *  leaf, known when this is compiled, says that this child is missing.  Then
 *  its sibling is not, and if that is black, it has no children but red leaves;
 *  further up no child is missing. */
IOSCHED_HOT struct iosched_rbnode *mend_black(struct iosched_rbtree *t,
                                              struct iosched_rbnode *p,
                                              size_t side, int leaf)
{
    struct iosched_rbnode *w = *kid(p, other(side));
    struct iosched_rbnode *top = NULL, *beside = NULL;
    struct iosched_rbnode *inner, *outer;

    if (is_red(w)) {                    /* get a black sibling, p red */
        top = w;
        w = *kid(w, side);
        turn(t, p, top, w, side, RED);
    }
    inner = *kid(w, side);
    outer = *kid(w, other(side));
    if (leaf ? outer != NULL : is_red(outer)) {
        turn(t, p, w, inner, side, 0);
        outer->up_ -= RED;
        inner = w;
    } else if (leaf ? inner != NULL : is_red(inner)) {
        turn_twice(t, p, w, inner, leaf ? NULL : *kid(inner, side),
                   leaf ? NULL : *kid(inner, other(side)), side, 0);
        beside = w;
    } else {
        w->up_ += RED;                  /* now p's other side lacks one too */
        if (!is_red(p))
            return p;
        p->up_ -= RED;
        if (top == NULL)
            return NULL;
    }
    if (IOSCHED_UNLIKELY(t->augment != NULL))
        turned(t, beside, p, top != NULL ? top : inner);
    return NULL;
}

/** The ways down through n have one black node less than all others. */
static APART void fix_black_above(struct iosched_rbtree *t,
                                  struct iosched_rbnode *n)
{
    struct iosched_rbnode *p;

    while (n != NULL && (p = parent(n)) != NULL)
        n = mend_black(t, p, side_of(p, n), 0);
}

/** A black leaf is gone from that side of p. */
static void fix_black(struct iosched_rbtree *t, struct iosched_rbnode *p,
                      size_t side)
{
    p = mend_black(t, p, side, 1);
    if (p != NULL)
        fix_black_above(t, p);
}

/* --- Changing ------------------------------------------------------------- */

/** The end of a removal if there is a callback: `low` has lost a child, a black
 *  leaf if `black`, on that side, and `heir`, who is low or above it, stands in
 *  another's place; low or heir or both may be NULL. */
static IOSCHED_COLD void shrunk(struct iosched_rbtree *t,
                                struct iosched_rbnode *low, size_t side,
                                int black, struct iosched_rbnode *heir)
{
    struct iosched_rbnode *n = low;

    if (heir != NULL) {
        while (n != heir && t->augment(n))
            n = parent(n);
        t->augment(heir);
        n = parent(heir);
    }
    climb(t, n);
    if (black && low != NULL)
        fix_black(t, low, side);
}

/** The end of an insertion if there is a callback: n is below p. */
static IOSCHED_COLD void grown(struct iosched_rbtree *t,
                               struct iosched_rbnode *p,
                               struct iosched_rbnode *n)
{
    t->augment(n);
    climb(t, p);
    if (is_red(p))
        fix_red(t, n, p);
}

/** Make n a leaf; where it hangs is still to be said. */
static inline void make_leaf(struct iosched_rbnode *n, uint64_t key)
{
    /* Usual causes: inserted twice, or memory that was never zeroed. */
    IOSCHED_ASSERT(n->up_ == 0);
    n->key = key;
    n->left_ = NULL;
    n->right_ = NULL;
}

/** Make n the root of an empty tree. */
static IOSCHED_COLD void plant(struct iosched_rbtree *t,
                               struct iosched_rbnode *n, uint64_t key)
{
    make_leaf(n, key);
    n->up_ = LINKED;
    t->root_ = n;
    t->first_ = n;
    if (t->augment != NULL)
        t->augment(n);
}

/** Hang n, a leaf, below p on that side. */
IOSCHED_HOT void hang(struct iosched_rbtree *t, struct iosched_rbnode *p,
                      size_t side, struct iosched_rbnode *n, uint64_t key)
{
    make_leaf(n, key);
    n->up_ = below(p) + RED;
    *kid(p, side) = n;
    if (p == t->first_ && p->left_ == n)
        t->first_ = n;
    if (IOSCHED_UNLIKELY(t->augment != NULL))
        grown(t, p, n);
    else if (is_red(p))
        fix_red(t, n, p);
}

/** The child of p on the side where key goes, after its equals.  Both are
 *  loaded: that leaves no branch to guess. */
static inline struct iosched_rbnode *toward(const struct iosched_rbnode *p,
                                            uint64_t key)
{
    struct iosched_rbnode *l = p->left_, *r = p->right_;

    return key < p->key ? l : r;
}

/** Likewise, before its equals. */
static inline struct iosched_rbnode *before(const struct iosched_rbnode *p,
                                            uint64_t key)
{
    struct iosched_rbnode *l = p->left_, *r = p->right_;

    return key <= p->key ? l : r;
}

void iosched_rb_insert(struct iosched_rbtree *t, struct iosched_rbnode *n,
                       uint64_t key)
{
    struct iosched_rbnode *p = t->root_, *c;

    if (IOSCHED_UNLIKELY(p == NULL)) {
        plant(t, n, key);
        return;
    }
    while ((c = toward(p, key)) != NULL) {
        /* Two steps a round, so that none has to copy c to p. */
        p = toward(c, key);
        if (p == NULL) {
            p = c;
            break;
        }
    }
    hang(t, p, side_if(key >= p->key), n, key);
}

void iosched_rb_insert_first(struct iosched_rbtree *t,
                             struct iosched_rbnode *n, uint64_t key)
{
    struct iosched_rbnode *p = t->root_, *c;

    if (IOSCHED_UNLIKELY(p == NULL)) {
        plant(t, n, key);
        return;
    }
    while ((c = before(p, key)) != NULL)
        p = c;
    hang(t, p, side_if(key > p->key), n, key);
}

/** Close up: there is one node less on that side of `low`, and `orphan`, which
 *  may be NULL, hangs there now; low is NULL if that was the root.  `lost` has
 *  the colour of what hung there.  If the removed node was another, what hung
 *  there is `heir`, else heir is NULL. */
IOSCHED_HOT void close_up(struct iosched_rbtree *t, struct iosched_rbnode *low,
                          size_t side, struct iosched_rbnode *orphan,
                          uintptr_t lost, struct iosched_rbnode *heir)
{
    int black = orphan == NULL && !(lost & RED);

    if (orphan != NULL)                 /* a red leaf, below a black node */
        orphan->up_ = below(low);
    if (IOSCHED_UNLIKELY(t->augment != NULL))
        shrunk(t, low, side, black, heir);
    else if (black && low != NULL)
        fix_black(t, low, side);
}

void iosched_rb_remove(struct iosched_rbtree *t, struct iosched_rbnode *n)
{
    struct iosched_rbnode *p = parent(n), *l = n->left_, *r = n->right_;
    uintptr_t up = n->up_;

    /* Usual causes: removed twice, or it is in another tree. */
    IOSCHED_ASSERT(n->up_ & LINKED);
    IOSCHED_ASSERT(*place(t, p, n) == n);

    n->up_ = 0;
    n->left_ = NULL;
    n->right_ = NULL;
    if (l == NULL || r == NULL) {
        struct iosched_rbnode *orphan = r;
        size_t side = LEFT;

        if (l != NULL)
            orphan = l;
        else if (t->first_ == n)        /* r is a leaf: black height */
            t->first_ = r != NULL ? r : p;
        if (p != NULL) {
            side = side_of(p, n);
            *kid(p, side) = orphan;
        } else {
            t->root_ = orphan;
        }
        close_up(t, p, side, orphan, up, NULL);
    } else {
        struct iosched_rbnode *heir = r, *low = r, *orphan;
        uintptr_t lost;
        size_t side = RIGHT;

        if (r->left_ == NULL) {         /* takes the place of n with all */
            lost = heir->up_;           /* that is right of it           */
            orphan = heir->right_;
        } else {
            do
                heir = heir->left_;
            while (heir->left_ != NULL);
            lost = heir->up_;
            orphan = heir->right_;
            low = parent(heir);
            side = LEFT;
            low->left_ = orphan;
            heir->right_ = r;
            move(r, n, heir);
        }
        heir->left_ = l;
        move(l, n, heir);
        *place(t, p, n) = heir;
        heir->up_ = up;
        close_up(t, low, side, orphan, lost, heir);
    }
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
    if (p != NULL && is_red(n) && is_red(p))
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
