/* SPDX-License-Identifier: BSD-2-Clause */
/* rbitem.h - what the two tests of the red-black tree put into it: items with
 * a value, and an augmentation that counts how often it is called.
 */
#ifndef RBITEM_H
#define RBITEM_H
#include <iosched/rbtree.h>

#define CAP 512                         /* items there are                 */

struct item {
    struct iosched_rbnode n;
    uint64_t end;                       /* the value an augmentation reads */
    uint64_t sum;                       /* the summary it keeps            */
};

#define item_of(ptr) iosched_container_of((ptr), struct item, n)

static unsigned calls;                  /* of any augmentation             */

static uint64_t sum_of(const struct iosched_rbnode *n)
{
    return n == NULL ? 0 : ((const struct item *)(const void *)n)->sum;
}

/** Store the summary of n; the answer of an augmentation. */
static int keep(struct iosched_rbnode *n, uint64_t sum)
{
    struct item *it = item_of(n);

    calls++;
    if (it->sum == sum)
        return 0;
    it->sum = sum;
    return 1;
}

/** The largest end in the subtree: the interval tree. */
static int max_end(struct iosched_rbnode *n)
{
    uint64_t l = sum_of(iosched_rb_left(n)), r = sum_of(iosched_rb_right(n));
    uint64_t max = item_of(n)->end;

    if (l > max)
        max = l;
    if (r > max)
        max = r;
    return keep(n, max);
}

/** The bits it takes to write n. */
static unsigned bits(unsigned n)
{
    unsigned b = 0;

    for (; n != 0; n >>= 1)
        b++;
    return b;
}

#endif
