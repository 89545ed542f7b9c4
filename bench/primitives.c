/* SPDX-License-Identifier: BSD-2-Clause */
/* primitives.c - what the data structures cost, beside BSD's red-black tree.
 *
 * One operation takes one of N objects out and puts it in again, elsewhere:
 *
 *     loop          nothing: the random number and the touch of the object,
 *                   which are in every other line too
 *     rb-random     a random node of a tree; a random 64-bit key
 *     rb-scan       the next node in ascending order, as an elevator takes
 *                   them; a random 64-bit key
 *     fifo-random   a random link of a list; back in at the tail
 *     fifo-head     the oldest link of a list; back in at the tail
 *     stree-random  a random node of seven service trees; a random tree and key
 *     stree-pick    the first node of the lowest busy tree; behind everyone in
 *                   a random tree
 *     tags-full     a random tag of N in use is freed, then got again
 *     tags-idle     a tag is got and freed; no other is in use
 */
#include <iosched/iosched.h>
#include <iosched/fifo.h>
#include <iosched/rbtree.h>
#include <iosched/stree.h>
#include <iosched/tags.h>
#ifdef BENCH_BSD_TREE
#  include <bsd/sys/tree.h>
#endif
#include "bench.h"

#define TREES 7u                        /* as many as CFQ keeps a group   */

struct snode {                          /* a service tree's node          */
    struct iosched_snode link;
    char                 pad[BENCH_NODE - sizeof(struct iosched_snode)];
};

struct world {
    struct iosched_rbtree     tree;
    struct iosched_fifo       fifo;
    struct iosched_stree      stree;
    struct iosched_stree_slot slots[TREES];
    struct iosched_tags      *tags;
    int                       seat;
    uint32_t                  mask;     /* one less than the objects      */
    uint64_t                  x;        /* random                         */
    void                     *mem;      /* what the objects are in        */
};

/** Bits 16..31 choose the object, the upper ones order the keys. */
#define which(w, x) ((uint32_t)((x) >> 16) & (w)->mask)

static struct world *new_world(uint32_t n, size_t size)
{
    struct world *w = (struct world *)bench_alloc(1, sizeof *w);

    w->mask = n - 1;
    w->x = BENCH_SEED;
    if (size != 0)
        w->mem = bench_alloc(n, size);
    return w;
}

static void drop_world(void *world)
{
    struct world *w = (struct world *)world;

    free(w->mem);
    free(w);
}

/* --- The loop alone ------------------------------------------------------- */
static void *loop_make(uint32_t n)
{
    struct world *w = new_world(n, sizeof(struct iosched_req));
    struct iosched_req *rqs = (struct iosched_req *)w->mem;

    for (uint32_t i = 0; i < n; i++)
        rqs[i].sort.key = i;            /* page in what is not paged in   */
    return w;
}

BENCH_LOOP static void op_loop_none(void *world, uint64_t ops)
{
    struct world *w = (struct world *)world;
    struct iosched_req *rqs = (struct iosched_req *)w->mem;
    uint64_t x = w->x;

    while (ops-- > 0) {
        x = bench_random(x);
        rqs[which(w, x)].sort.key = x;
    }
    w->x = x;
}

/* --- Red-black tree ------------------------------------------------------- */
static void *rb_make(uint32_t n)
{
    struct world *w = new_world(n, sizeof(struct iosched_req));
    struct iosched_req *rqs = (struct iosched_req *)w->mem;

    for (uint32_t i = 0; i < n; i++) {
        w->x = bench_random(w->x);
        iosched_rb_insert(&w->tree, &rqs[i].sort, w->x);
    }
    return w;
}

BENCH_LOOP static void op_loop_rb_random(void *world, uint64_t ops)
{
    struct world *w = (struct world *)world;
    struct iosched_req *rqs = (struct iosched_req *)w->mem;
    uint64_t x = w->x;

    while (ops-- > 0) {
        struct iosched_rbnode *n;

        x = bench_random(x);
        n = &rqs[which(w, x)].sort;
        iosched_rb_remove(&w->tree, n);
        iosched_rb_insert(&w->tree, n, x);
    }
    w->x = x;
}

BENCH_LOOP static void op_loop_rb_scan(void *world, uint64_t ops)
{
    struct world *w = (struct world *)world;
    struct iosched_rbnode *next = iosched_rb_first(&w->tree);
    uint64_t x = w->x;

    while (ops-- > 0) {
        struct iosched_rbnode *n = next;

        x = bench_random(x);
        next = iosched_rb_next(n);
        iosched_rb_remove(&w->tree, n);
        iosched_rb_insert(&w->tree, n, x);
        if (next == NULL)
            next = iosched_rb_first(&w->tree);
    }
    w->x = x;
}

/* --- BSD's ---------------------------------------------------------------- */
#ifdef BENCH_BSD_TREE
struct bsd_node {
    RB_ENTRY(bsd_node) link;
    uint64_t           key;
    char               pad[BENCH_NODE - 4 * sizeof(void *) - 8];
};

RB_HEAD(bsd_tree, bsd_node);

struct bsd_world {
    struct bsd_tree  tree;
    struct bsd_node *nodes;
    uint32_t         mask;
    uint64_t         x;
};

static int bsd_compare(const struct bsd_node *a, const struct bsd_node *b)
{
    return (a->key > b->key) - (a->key < b->key);
}

/* Not RB_GENERATE_STATIC, which wants a macro that only BSD's libc defines. */
RB_GENERATE_INTERNAL(bsd_tree, bsd_node, link, bsd_compare,
                     __attribute__((unused)) static)

static void *bsd_make(uint32_t n)
{
    struct bsd_world *w = (struct bsd_world *)bench_alloc(1, sizeof *w);

    w->mask = n - 1;
    w->x = BENCH_SEED;
    w->nodes = (struct bsd_node *)bench_alloc(n, sizeof *w->nodes);
    for (uint32_t i = 0; i < n; i++) {
        w->x = bench_random(w->x);
        w->nodes[i].key = w->x;
        RB_INSERT(bsd_tree, &w->tree, &w->nodes[i]);
    }
    return w;
}

static void bsd_drop(void *world)
{
    struct bsd_world *w = (struct bsd_world *)world;

    free(w->nodes);
    free(w);
}

BENCH_LOOP static void op_loop_bsd_random(void *world, uint64_t ops)
{
    struct bsd_world *w = (struct bsd_world *)world;
    uint64_t x = w->x;

    while (ops-- > 0) {
        struct bsd_node *n;

        x = bench_random(x);
        n = &w->nodes[which(w, x)];
        RB_REMOVE(bsd_tree, &w->tree, n);
        n->key = x;
        RB_INSERT(bsd_tree, &w->tree, n);
    }
    w->x = x;
}

BENCH_LOOP static void op_loop_bsd_scan(void *world, uint64_t ops)
{
    struct bsd_world *w = (struct bsd_world *)world;
    struct bsd_node *next = RB_MIN(bsd_tree, &w->tree);
    uint64_t x = w->x;

    while (ops-- > 0) {
        struct bsd_node *n = next;

        x = bench_random(x);
        next = RB_NEXT(bsd_tree, &w->tree, n);
        RB_REMOVE(bsd_tree, &w->tree, n);
        n->key = x;
        RB_INSERT(bsd_tree, &w->tree, n);
        if (next == NULL)
            next = RB_MIN(bsd_tree, &w->tree);
    }
    w->x = x;
}
#endif

/* --- FIFO ----------------------------------------------------------------- */
static void *fifo_make(uint32_t n)
{
    struct world *w = new_world(n, sizeof(struct iosched_req));
    struct iosched_req *rqs = (struct iosched_req *)w->mem;

    for (uint32_t i = 0; i < n; i++)
        iosched_fifo_push(&w->fifo, &rqs[i].fifo, i);
    return w;
}

BENCH_LOOP static void op_loop_fifo_random(void *world, uint64_t ops)
{
    struct world *w = (struct world *)world;
    struct iosched_req *rqs = (struct iosched_req *)w->mem;
    uint64_t x = w->x;

    while (ops-- > 0) {
        struct iosched_fifolink *l;

        x = bench_random(x);
        l = &rqs[which(w, x)].fifo;
        iosched_fifo_remove(&w->fifo, l);
        iosched_fifo_push(&w->fifo, l, ops);
    }
    w->x = x;
}

BENCH_LOOP static void op_loop_fifo_head(void *world, uint64_t ops)
{
    struct world *w = (struct world *)world;

    while (ops-- > 0) {
        struct iosched_fifolink *l = iosched_fifo_head(&w->fifo);

        iosched_fifo_remove(&w->fifo, l);
        iosched_fifo_push(&w->fifo, l, ops);
    }
}

/* --- Service trees -------------------------------------------------------- */
static void *stree_make(uint32_t n)
{
    struct world *w = new_world(n, sizeof(struct snode));
    struct snode *nodes = (struct snode *)w->mem;

    if (iosched_stree_init(&w->stree, w->slots, TREES) != IOSCHED_OK)
        bench_die("stree_init failed");
    for (uint32_t i = 0; i < n; i++) {
        w->x = bench_random(w->x);
        iosched_stree_add(&w->stree, &nodes[i].link, i % TREES,
                          (int64_t)(w->x >> 1));
    }
    return w;
}

BENCH_LOOP static void op_loop_stree_random(void *world, uint64_t ops)
{
    struct world *w = (struct world *)world;
    struct snode *nodes = (struct snode *)w->mem;
    uint64_t x = w->x;

    while (ops-- > 0) {
        struct iosched_snode *n;

        x = bench_random(x);
        n = &nodes[which(w, x)].link;
        iosched_stree_remove(&w->stree, n);
        iosched_stree_add(&w->stree, n, (uint32_t)((x >> 40 & 0xff) *
                          TREES >> 8), (int64_t)(x >> 1));
    }
    w->x = x;
}

BENCH_LOOP static void op_loop_stree_pick(void *world, uint64_t ops)
{
    struct world *w = (struct world *)world;
    uint64_t x = w->x;

    while (ops-- > 0) {
        struct iosched_snode *n = iosched_stree_pick(&w->stree, UINT64_MAX);

        x = bench_random(x);
        iosched_stree_remove(&w->stree, n);
        iosched_stree_add_last(&w->stree, n, (uint32_t)((x >> 40 & 0xff) *
                               TREES >> 8), 0, 1);
    }
    w->x = x;
}

/* --- Tags ----------------------------------------------------------------- */
static void *tags_make(uint32_t n)
{
    struct world *w = new_world(n, 0);
    struct iosched_tags_cfg cfg;
    size_t size;

    memset(&cfg, 0, sizeof cfg);
    cfg.struct_size = (uint32_t)sizeof cfg;
    cfg.depth = n;
    size = iosched_tags_size(&cfg);
    w->mem = bench_alloc(1, size);
    if (iosched_tags_init(w->mem, size, &cfg, &w->tags) != IOSCHED_OK)
        bench_die("tags_init failed");
    w->seat = iosched_tags_join(w->tags, NULL, NULL);
    if (w->seat < 0)
        bench_die("tags_join failed");
    return w;
}

static void *tags_make_full(uint32_t n)
{
    struct world *w = (struct world *)tags_make(n);

    for (uint32_t i = 0; i < n; i++)
        if (iosched_tags_get(w->tags, w->seat, 0) < 0)
            bench_die("fewer tags than asked for");
    return w;
}

BENCH_LOOP static void op_loop_tags_full(void *world, uint64_t ops)
{
    struct world *w = (struct world *)world;
    uint64_t x = w->x;

    while (ops-- > 0) {
        int32_t tag;

        x = bench_random(x);
        tag = (int32_t)which(w, x);
        if (iosched_tags_put(w->tags, tag) != IOSCHED_OK ||
            iosched_tags_get(w->tags, w->seat, 0) != tag)
            bench_die("a tag was lost");
    }
    w->x = x;
}

BENCH_LOOP static void op_loop_tags_idle(void *world, uint64_t ops)
{
    struct world *w = (struct world *)world;

    while (ops-- > 0) {
        int32_t tag = iosched_tags_get(w->tags, w->seat, 0);

        if (tag < 0 || iosched_tags_put(w->tags, tag) != IOSCHED_OK)
            bench_die("a tag was lost");
    }
}

static const struct bench_kind kinds[] = {
    { "loop/none", loop_make, op_loop_none, drop_world },
    { "rb-random/iosched", rb_make, op_loop_rb_random, drop_world },
    { "rb-scan/iosched", rb_make, op_loop_rb_scan, drop_world },
#ifdef BENCH_BSD_TREE
    { "rb-random/bsd", bsd_make, op_loop_bsd_random, bsd_drop },
    { "rb-scan/bsd", bsd_make, op_loop_bsd_scan, bsd_drop },
#endif
    { "fifo-random/iosched", fifo_make, op_loop_fifo_random, drop_world },
    { "fifo-head/iosched", fifo_make, op_loop_fifo_head, drop_world },
    { "stree-random/iosched", stree_make, op_loop_stree_random, drop_world },
    { "stree-pick/iosched", stree_make, op_loop_stree_pick, drop_world },
    { "tags-full/iosched", tags_make_full, op_loop_tags_full, drop_world },
    { "tags-idle/iosched", tags_make, op_loop_tags_idle, drop_world },
};

int main(int argc, char **argv)
{
    return bench_kinds(argc, argv, kinds, sizeof kinds / sizeof kinds[0]);
}
