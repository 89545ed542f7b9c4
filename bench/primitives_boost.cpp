// SPDX-License-Identifier: BSD-2-Clause
// primitives_boost.cpp - the tree lines of primitives.c on Boost.Intrusive.
//
// boost::intrusive::multiset with a plain member hook: the usual intrusive tree
// in C++.  Same node size, same random numbers, same lines of output.
#include <boost/intrusive/set.hpp>
#include "bench.h"

namespace bi = boost::intrusive;

namespace {

struct node {
    bi::set_member_hook<bi::link_mode<bi::normal_link> > link;
    uint64_t key;
    char     pad[BENCH_NODE - 4 * sizeof(void *) - 8];
};

struct by_key {
    bool operator()(const node &a, const node &b) const
    {
        return a.key < b.key;
    }
};

typedef bi::member_hook<node,
        bi::set_member_hook<bi::link_mode<bi::normal_link> >,
        &node::link> hook;
typedef bi::multiset<node, hook, bi::compare<by_key>,
                     bi::constant_time_size<false> > tree;

struct world {
    tree      nodes_by_key;
    node     *nodes;
    uint32_t  mask;
    uint64_t  x;
};

uint32_t which(const world *w, uint64_t x)
{
    return static_cast<uint32_t>(x >> 16) & w->mask;
}

} // namespace

// Plain names, so that a profiler finds them as it finds those in C.
extern "C" {

static void *boost_make(uint32_t n)
{
    world *w = new world();

    w->mask = n - 1;
    w->x = BENCH_SEED;
    w->nodes = new node[n]();
    for (uint32_t i = 0; i < n; i++) {
        w->x = bench_random(w->x);
        w->nodes[i].key = w->x;
        w->nodes_by_key.insert(w->nodes[i]);
    }
    return w;
}

static void boost_drop(void *p)
{
    world *w = static_cast<world *>(p);

    w->nodes_by_key.clear();
    delete[] w->nodes;
    delete w;
}

BENCH_LOOP static void op_loop_boost_random(void *p, uint64_t ops)
{
    world *w = static_cast<world *>(p);
    uint64_t x = w->x;

    while (ops-- > 0) {
        x = bench_random(x);
        node &n = w->nodes[which(w, x)];
        w->nodes_by_key.erase(w->nodes_by_key.iterator_to(n));
        n.key = x;
        w->nodes_by_key.insert(n);
    }
    w->x = x;
}

BENCH_LOOP static void op_loop_boost_scan(void *p, uint64_t ops)
{
    world *w = static_cast<world *>(p);
    tree::iterator next = w->nodes_by_key.begin();
    uint64_t x = w->x;

    while (ops-- > 0) {
        x = bench_random(x);
        node &n = *next;
        next = w->nodes_by_key.erase(next);
        n.key = x;
        bool at_end = next == w->nodes_by_key.end();
        w->nodes_by_key.insert(n);
        if (at_end)
            next = w->nodes_by_key.begin();
    }
    w->x = x;
}

} // extern "C"

static const bench_kind kinds[] = {
    { "rb-random/boost", boost_make, op_loop_boost_random, boost_drop },
    { "rb-scan/boost", boost_make, op_loop_boost_scan, boost_drop },
};

int main(int argc, char **argv)
{
    return bench_kinds(argc, argv, kinds, sizeof kinds / sizeof kinds[0]);
}
