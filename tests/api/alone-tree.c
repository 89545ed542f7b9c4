/* SPDX-License-Identifier: BSD-2-Clause */
/* The tree on its own: <iosched/rbtree.h> is the only header a program needs
 * to keep intervals and to ask which of them holds a point. */
#include <iosched/rbtree.h>

struct interval {                       /* [node.key, end)                */
    struct iosched_rbnode node;
    uint64_t end;
    uint64_t last;                      /* largest end in this subtree    */
};

static struct interval *of(struct iosched_rbnode *n)
{
    return iosched_container_of(n, struct interval, node);
}

static int augment(struct iosched_rbnode *n)
{
    struct iosched_rbnode *l = iosched_rb_left(n), *r = iosched_rb_right(n);
    uint64_t last = of(n)->end;

    if (l && of(l)->last > last)
        last = of(l)->last;
    if (r && of(r)->last > last)
        last = of(r)->last;
    if (last == of(n)->last)
        return 0;
    of(n)->last = last;
    return 1;
}

/** Some interval that holds x, or NULL.  If the left subtree reaches past x and
 *  none in it holds x, then all starts to the right are past x too. */
static struct interval *find(const struct iosched_rbtree *t, uint64_t x)
{
    struct iosched_rbnode *n = iosched_rb_root(t);

    while (n) {
        struct iosched_rbnode *l = iosched_rb_left(n);

        if (n->key <= x && x < of(n)->end)
            return of(n);
        n = l && of(l)->last > x ? l : iosched_rb_right(n);
    }
    return NULL;
}

/** 1 if the tree and a look at each interval agree on every point. */
static int agree(const struct iosched_rbtree *t, const struct interval *v,
                 unsigned n)
{
    uint64_t x;

    for (x = 0; x < 120; x++) {
        const struct interval *got = find(t, x);
        unsigned i, held = 0;

        for (i = 0; i < n; i++)
            held += iosched_rb_linked(&v[i].node) && v[i].node.key <= x &&
                    x < v[i].end;
        if (held != 0 ? got == NULL || got->node.key > x || got->end <= x
                      : got != NULL)
            return 0;
    }
    return 1;
}

int main(void)
{
    static const unsigned start[] = { 50, 10, 90, 12, 70, 10, 30, 95, 31 };
    static const unsigned length[] = { 5, 3, 9, 60, 1, 0, 20, 20, 2 };
    static struct interval v[sizeof(start) / sizeof(start[0])];
    static struct iosched_rbtree t;
    const unsigned n = sizeof(v) / sizeof(v[0]);
    struct iosched_rbnode *at;
    uint64_t last = 0;
    unsigned i, seen = 0;

    t.augment = augment;
    for (i = 0; i < n; i++) {
        v[i].end = start[i] + length[i];
        iosched_rb_insert(&t, &v[i].node, start[i]);
        if (!agree(&t, v, n))
            return 1;
    }
    for (at = iosched_rb_first(&t); at; at = iosched_rb_next(at), seen++) {
        if (at->key < last)
            return 1;
        last = at->key;
    }
    if (seen != n || iosched_rb_check(&t) != 0)
        return 1;
    v[3].end = 20;                      /* the longest one shrinks */
    iosched_rb_refresh(&t, &v[3].node);
    for (i = 0; i < n; i++) {
        if (!agree(&t, v, n))
            return 1;
        iosched_rb_remove(&t, &v[i].node);
    }
    return iosched_rb_root(&t) != NULL || find(&t, 12) != NULL;
}
