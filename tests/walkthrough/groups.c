/* SPDX-License-Identifier: BSD-2-Clause */
/* groups.c - tenants share a disk by weight, and one splits its part again.
 *
 *      root (its own streams: 200) -+- alpha (300) -+- interactive (80)
 *                                   |               +- batch       (20)
 *                                   |               +- its own     (60)
 *                                   +- beta  (100)
 *
 * The policy here is as small as a group-aware one can be: in each group a
 * service tree of its child groups and of its own requests, served in order of
 * virtual time, which goes the slower the more weight one has.  It notes every
 * hook, so that these are checked along with the shares.
 */
#include <string.h>
#include <iosched/fifo.h>
#include <iosched/policy.h>
#include <iosched/stree.h>
#include "check.h"

/* --- A policy that shares by weight --------------------------------------- */
#define SCALE 1000000           /* virtual time of a block at weight 1    */
#define NOTES 512u

enum hook { G_OPENED, G_CHANGED, G_CLOSED, G_FREED,
            S_OPENED, S_CHANGED, S_CLOSED, S_FREED };

static struct { enum hook hook; const void *what; } notes[NOTES];
static unsigned n_notes;
static int ending;                      /* the policy goes, not a stream  */

struct share {                          /* per group                      */
    struct iosched_stree_slot slot;
    struct iosched_stree      tree;     /* who has something to serve     */
    struct iosched_snode      node;     /* this group, in its parent's    */
    struct iosched_snode      leaf;     /* its own requests, in `tree`    */
    struct iosched_fifo       own;      /* the requests of its streams    */
    int64_t                   past;     /* virtual time of the last served */
};

struct shares {
    struct iosched_core  *core;
    struct iosched_group *root;
};

static void note(enum hook hook, const void *what)
{
    CHECK(n_notes < NOTES);
    notes[n_notes].hook = hook;
    notes[n_notes++].what = what;
}

static unsigned noted(enum hook hook, const void *what)
{
    unsigned n = 0;

    for (unsigned i = 0; i < n_notes; i++)
        n += notes[i].hook == hook && (what == NULL || notes[i].what == what);
    return n;
}

static int shares_init(void *state, struct iosched_core *core)
{
    struct shares *sh = state;

    sh->core = core;
    return IOSCHED_OK;
}

static void group_opened(void *state, struct iosched_group *g, void *data)
{
    struct shares *sh = state;
    struct share *of = data;

    note(G_OPENED, g);
    CHECK(of == iosched_group_data(g));
    CHECK_EQ(of->tree.len, 0);
    CHECK_EQ(iosched_stree_init(&of->tree, &of->slot, 1), IOSCHED_OK);
    if (iosched_group_parent(g) == NULL)
        sh->root = g;
}

static void group_changed(void *state, struct iosched_group *g, void *data)
{
    (void)state;
    note(G_CHANGED, g);
    CHECK(data == iosched_group_data(g));
}

static void group_closed(void *state, struct iosched_group *g, void *data)
{
    (void)state;
    note(G_CLOSED, g);
    CHECK(data == iosched_group_data(g));
}

static void group_freed(void *state, struct iosched_group *g, void *data)
{
    struct share *of = data;

    (void)state;
    note(G_FREED, g);
    CHECK_EQ(of->own.len, 0);
    CHECK_EQ(of->tree.len, 0);
    CHECK(!iosched_stree_linked(&of->node));
}

static void stream_opened(void *state, struct iosched_stream *st, void *data)
{
    (void)state;
    (void)data;
    note(S_OPENED, st);
}

static void stream_changed(void *state, struct iosched_stream *st, void *data)
{
    (void)state;
    (void)data;
    note(S_CHANGED, st);
}

static void stream_closed(void *state, struct iosched_stream *st, void *data)
{
    (void)state;
    (void)data;
    note(S_CLOSED, st);
    CHECK(ending || !iosched_stream_is_open(st));
}

static void stream_freed(void *state, struct iosched_stream *st, void *data)
{
    (void)state;
    (void)data;
    note(S_FREED, st);
}

/** n has something to serve: it comes in at the present of its tree. */
static void join(struct share *in, struct iosched_snode *n, int64_t key)
{
    iosched_stree_add(&in->tree, n, 0, key > in->past ? key : in->past);
}

static void shares_insert(void *state, struct iosched_req *rq)
{
    struct iosched_group *g = iosched_req_group(rq), *up;
    struct share *of = iosched_group_data(g);

    (void)state;
    iosched_fifo_push(&of->own, &rq->fifo, IOSCHED_NEVER);
    if (!iosched_stree_linked(&of->leaf))
        join(of, &of->leaf, 0);
    for (; (up = iosched_group_parent(g)) != NULL; g = up) {
        struct share *in = iosched_group_data(up);

        of = iosched_group_data(g);
        if (iosched_stree_linked(&of->node))
            break;
        join(in, &of->node, 0);
    }
}

/** rq leaves: charge everyone on its way up, and take out who has no more. */
static void take(struct iosched_req *rq, uint32_t nblk)
{
    struct iosched_group *g = iosched_req_group(rq), *up;
    struct share *of = iosched_group_data(g), *in;
    struct iosched_snode *n = &of->leaf;
    uint32_t weight = iosched_group_leaf_weight(g);
    int more;

    iosched_fifo_remove(&of->own, &rq->fifo);
    more = of->own.len > 0;
    for (in = of;; n = &of->node) {
        int64_t key = iosched_stree_key(n);

        if (nblk > 0)
            in->past = key;
        iosched_stree_remove(&in->tree, n);
        if (more)
            join(in, n, key + (int64_t)nblk * SCALE / weight);
        more = in->tree.len > 0;
        up = iosched_group_parent(g);
        if (up == NULL)
            return;
        weight = iosched_group_weight(g);
        of = in;
        in = iosched_group_data(up);
        g = up;
    }
}

/** Whose turn it is: down from the root, the least virtual time; or NULL. */
static struct iosched_req *next_one(const struct shares *sh)
{
    struct share *of = iosched_group_data(sh->root);
    struct iosched_snode *n;

    while ((n = iosched_stree_first(&of->tree, 0)) != &of->leaf) {
        if (n == NULL)
            return NULL;
        of = iosched_container_of(n, struct share, node);
    }
    return iosched_container_of(iosched_fifo_head(&of->own),
                                struct iosched_req, fifo);
}

static int shares_dispatch(void *state, unsigned flags)
{
    struct shares *sh = state;
    struct iosched_req *rq = next_one(sh);

    (void)flags;
    if (rq == NULL)
        return IOSCHED_EMPTY;
    take(rq, rq->xnblk);
    iosched_core_emit(sh->core, rq, IOSCHED_EMIT_TAIL);
    return IOSCHED_GOT;
}

static void shares_removed(void *state, struct iosched_req *rq, int why)
{
    (void)state;
    (void)why;
    take(rq, 0);
}

static struct iosched_req *shares_evict(void *state)
{
    struct iosched_req *rq = next_one(state);

    if (rq != NULL)
        take(rq, 0);
    return rq;
}

static const struct iosched_policy shares_policy = {
    .struct_size    = sizeof(struct iosched_policy),
    .api            = IOSCHED_POLICY_API,
    .name           = "shares",
    .help           = "by weight of nested groups",
    .state_size     = sizeof(struct shares),
    .group_size     = sizeof(struct share),
    .init           = shares_init,
    .stream_opened  = stream_opened,
    .stream_changed = stream_changed,
    .stream_closed  = stream_closed,
    .stream_freed   = stream_freed,
    .group_opened   = group_opened,
    .group_changed  = group_changed,
    .group_closed   = group_closed,
    .group_freed    = group_freed,
    .insert         = shares_insert,
    .dispatch       = shares_dispatch,
    .removed        = shares_removed,
    .evict          = shares_evict
};

/* --- The tenants ---------------------------------------------------------- */
#define EACH 40u                /* requests a stream keeps queued         */

enum who { ROOT, USER, SCAN, MISC, BACKUP, TENANTS };

struct rig {
    struct iosched        *s;
    struct iosched_group  *alpha, *beta, *interactive, *batch;
    struct iosched_stream *st[TENANTS];         /* ROOT: NULL, the default */
    struct iosched_req     io[TENANTS][EACH];
    uint64_t               served[TENANTS];     /* blocks */
    iosched_time           now;
};

static int open_group(struct rig *r, struct iosched_group *parent,
                      uint32_t weight, uint32_t leaf,
                      struct iosched_group **out)
{
    struct iosched_group_opts opts = { sizeof opts, weight, leaf, 0, parent,
                                       r };

    return iosched_group_open(r->s, &opts, out, r->now);
}

static int open_stream(struct rig *r, struct iosched_group *g, int prio,
                       struct iosched_stream **out)
{
    struct iosched_stream_opts opts = { sizeof opts, 0, 0, g, r };

    CHECK(prio >= 0);
    opts.ioprio = (uint16_t)prio;
    return iosched_stream_open(r->s, &opts, out, r->now);
}

static void set_up(struct rig *r)
{
    static const struct iosched_policy *const policies[] = { &shares_policy,
                                                             NULL };
    struct iosched_cfg cfg;

    memset(r, 0, sizeof *r);
    n_notes = 0;
    iosched_cfg_init(&cfg);
    cfg.policies = policies;
    cfg.flags = IOSCHED_F_NOMERGE;
    cfg.max_groups = 6;
    cfg.max_streams = 8;
    CHECK_EQ(iosched_create("shares", &cfg, &r->s, r->now), IOSCHED_OK);
    CHECK_EQ(n_notes, 2);
    CHECK_EQ(notes[0].hook, G_OPENED);          /* the root comes first */
    CHECK_EQ(notes[1].hook, S_OPENED);          /* the default stream next */
    CHECK_EQ(open_group(r, NULL, 300, 60, &r->alpha), IOSCHED_OK);
    CHECK_EQ(open_group(r, NULL, 100, 0, &r->beta), IOSCHED_OK);
    CHECK_EQ(open_group(r, r->alpha, 80, 0, &r->interactive), IOSCHED_OK);
    CHECK_EQ(open_group(r, r->alpha, 20, 0, &r->batch), IOSCHED_OK);
    CHECK_EQ(iosched_group_set_leaf_weight(r->s, NULL, 200, r->now),
             IOSCHED_OK);
    CHECK_EQ(noted(G_OPENED, NULL), 5);
    CHECK_EQ(noted(G_CHANGED, notes[0].what), 1);
    CHECK(iosched_group_parent(r->batch) == r->alpha);
    CHECK_EQ(iosched_group_leaf_weight(r->alpha), 60);
    CHECK_EQ(iosched_group_leaf_weight(r->beta), 100);  /* 0: as its weight */
    CHECK(iosched_group_user(r->beta) == r);
    CHECK_EQ(open_stream(r, r->interactive, iosched_prio(IOSCHED_PRIO_RT, 0),
                         &r->st[USER]), IOSCHED_OK);
    CHECK_EQ(open_stream(r, r->batch, IOSCHED_PRIO_DEFAULT, &r->st[SCAN]),
             IOSCHED_OK);
    CHECK_EQ(open_stream(r, r->alpha, 0, &r->st[MISC]), IOSCHED_OK);
    CHECK_EQ(open_stream(r, r->beta, iosched_prio(IOSCHED_PRIO_IDLE, 0),
                         &r->st[BACKUP]), IOSCHED_OK);
    CHECK_EQ(noted(S_OPENED, NULL), 5);
    CHECK(iosched_stream_group(r->st[SCAN]) == r->batch);
}

static void put_in(struct rig *r, enum who who, unsigned i)
{
    struct iosched_req *rq = &r->io[who][i];

    rq->stream = r->st[who];
    rq->lba = 1000u * i;
    rq->nblk = 8u << (who % 3);         /* shares are of blocks, not requests */
    CHECK_EQ(iosched_insert(r->s, rq, r->now), IOSCHED_QUEUED);
}

/** The next request, whose turn it is; done at once. */
static struct iosched_req *serve(struct rig *r)
{
    struct iosched_req *rq;

    CHECK_EQ(iosched_dispatch(r->s, &rq, 0, r->now), IOSCHED_GOT);
    r->now += IOSCHED_MSEC(1);
    CHECK_EQ(iosched_complete(r->s, rq, 0, r->now), IOSCHED_OK);
    return rq;
}

/** Serve blocks of all who are always asking, and compare their parts, which
 *  are given out of 10,000, to half a percent of all. */
static void shares_are(struct rig *r, const unsigned *want)
{
    uint64_t all = 0;

    for (unsigned w = 0; w < TENANTS; w++) {
        r->served[w] = 0;
        for (unsigned i = 0; i < EACH; i++)
            if (r->io[w][i].state == IOSCHED_STATE_IDLE && want[w] > 0)
                put_in(r, (enum who)w, i);
    }
    for (unsigned n = 0; n < 20000; n++) {
        struct iosched_req *rq = serve(r);
        unsigned at = (unsigned)(rq - &r->io[0][0]);

        r->served[at / EACH] += rq->nblk;
        all += rq->nblk;
        put_in(r, (enum who)(at / EACH), at % EACH);
    }
    for (unsigned w = 0; w < TENANTS; w++) {
        int64_t part_of = (int64_t)(r->served[w] * 10000 / all);

        printf("    %5" PRId64 " of 10000, wanted %u\n", part_of, want[w]);
        CHECK(part_of >= (int64_t)want[w] - 50);
        CHECK(part_of <= (int64_t)want[w] + 50);
    }
}

static void drain(struct rig *r)
{
    while (iosched_queued(r->s) > 0)
        serve(r);
}

static void weights(struct rig *r)
{
    /* root's own 200 : alpha 300 : beta 100; alpha's 80 : 20 : 60. */
    static const unsigned day[] = { 3333, 2500, 625, 1875, 1667 };
    static const unsigned night[] = { 1429, 1071, 268, 803, 6429 };
    static const unsigned alone[] = { 0, 0, 2500, 7500, 0 };
    static const unsigned leaf[] = { 7692, 615, 154, 462, 1077 };

    part("each group and each group's own streams get their share");
    shares_are(r, day);
    part("a new weight counts from the next charge on");
    CHECK_EQ(iosched_group_set_weight(r->beta, 900, r->now), IOSCHED_OK);
    CHECK_EQ(noted(G_CHANGED, r->beta), 1);
    CHECK_EQ(iosched_group_weight(r->beta), 900);
    shares_are(r, night);
    part("who does not ask leaves his share to the others of his level");
    drain(r);
    shares_are(r, alone);
    drain(r);
    part("the root's own streams have a weight, too");
    CHECK_EQ(iosched_group_set_weight(r->beta, 420, r->now), IOSCHED_OK);
    CHECK_EQ(iosched_group_set_weight(r->alpha, 480, r->now), IOSCHED_OK);
    CHECK_EQ(iosched_group_set_leaf_weight(r->s, NULL, 3000, r->now),
             IOSCHED_OK);
    CHECK_EQ(iosched_group_leaf_weight(iosched_group_parent(r->beta)), 3000);
    shares_are(r, leaf);
    drain(r);

    part("weights outside 1..10000 are refused, and NULL is not the root");
    CHECK_EQ(iosched_group_set_weight(r->beta, 0, r->now), IOSCHED_ERR_RANGE);
    CHECK_EQ(iosched_group_set_weight(r->beta, IOSCHED_WEIGHT_MAX + 1, r->now),
             IOSCHED_ERR_RANGE);
    CHECK_EQ(iosched_group_set_leaf_weight(r->s, NULL, 0, r->now),
             IOSCHED_ERR_RANGE);
    CHECK_EQ(iosched_group_set_weight(NULL, 100, r->now), IOSCHED_ERR_INVAL);
    CHECK_EQ(iosched_group_weight(r->beta), 420);
}

/** A stream moves, and the group it has left is closed under its requests. */
static void moves(struct rig *r)
{
    struct iosched_group *gone = r->batch, *tmp = NULL;
    struct iosched_req *rq;
    unsigned old = 0;

    part("a stream moves; what it has queued stays in its old group");
    for (unsigned i = 0; i < 10; i++)
        put_in(r, SCAN, i);
    CHECK_EQ(iosched_group_close(gone, r->now), IOSCHED_ERR_BUSY);
    CHECK_EQ(noted(G_CLOSED, NULL), 0);
    CHECK_EQ(iosched_stream_set_group(r->st[SCAN], r->beta, r->now),
             IOSCHED_OK);
    CHECK_EQ(noted(S_CHANGED, r->st[SCAN]), 1);
    CHECK(iosched_stream_group(r->st[SCAN]) == r->beta);
    for (unsigned i = 10; i < 20; i++)
        put_in(r, SCAN, i);
    for (unsigned i = 0; i < 20; i++)
        CHECK(iosched_req_group(&r->io[SCAN][i]) == (i < 10 ? gone : r->beta));

    part("a group closes with requests queued, and is freed after the last");
    CHECK_EQ(iosched_group_close(gone, r->now), IOSCHED_OK);
    CHECK_EQ(noted(G_CLOSED, gone), 1);
    CHECK_EQ(noted(G_FREED, NULL), 0);
    CHECK_EQ(iosched_group_close(gone, r->now), IOSCHED_ERR_STATE);
    CHECK_EQ(iosched_group_set_weight(gone, 5, r->now), IOSCHED_ERR_STATE);
    CHECK_EQ(iosched_stream_set_group(r->st[SCAN], gone, r->now),
             IOSCHED_ERR_STATE);
    CHECK_EQ(open_group(r, gone, 10, 0, &tmp), IOSCHED_ERR_STATE);
    CHECK_EQ(open_group(r, NULL, 10, 0, &tmp), IOSCHED_OK);     /* the sixth */
    CHECK_EQ(iosched_group_close(tmp, r->now), IOSCHED_OK);
    CHECK_EQ(noted(G_FREED, tmp), 1);           /* it held nothing */
    CHECK_EQ(open_group(r, NULL, 10, 0, &tmp), IOSCHED_OK);
    CHECK_EQ(open_group(r, NULL, 10, 0, &r->batch), IOSCHED_ERR_NOSPC);
    CHECK_EQ(iosched_cancel(r->s, &r->io[SCAN][3], r->now), IOSCHED_OK);
    while (old < 8) {
        CHECK_EQ(noted(G_FREED, gone), 0);
        rq = serve(r);
        old += rq < &r->io[SCAN][10];
    }
    do {                                        /* the last: look closely */
        CHECK_EQ(iosched_dispatch(r->s, &rq, 0, r->now), IOSCHED_GOT);
        CHECK_EQ(noted(G_FREED, gone), 0);      /* in flight is not over */
        CHECK_EQ(iosched_complete(r->s, rq, 0, r->now), IOSCHED_OK);
    } while (rq >= &r->io[SCAN][10]);
    CHECK_EQ(noted(G_FREED, gone), 1);
    drain(r);
    CHECK_EQ(noted(G_FREED, gone), 1);
    CHECK_EQ(open_group(r, NULL, 10, 0, &r->batch), IOSCHED_OK);
    CHECK_EQ(noted(G_OPENED, NULL), 8);

    part("a stream closes with requests queued, and they still complete");
    for (unsigned i = 0; i < 5; i++)
        put_in(r, SCAN, i);
    CHECK_EQ(iosched_stream_set_ioprio(r->st[SCAN],
                                       IOSCHED_PRIO(IOSCHED_PRIO_BE, 7),
                                       r->now), IOSCHED_OK);
    CHECK_EQ(noted(S_CHANGED, r->st[SCAN]), 2);
    CHECK_EQ(iosched_stream_close(r->st[SCAN], r->now), IOSCHED_OK);
    CHECK_EQ(noted(S_CLOSED, r->st[SCAN]), 1);
    r->io[SCAN][9].stream = r->st[SCAN];
    CHECK_EQ(iosched_insert(r->s, &r->io[SCAN][9], r->now), IOSCHED_ERR_STATE);
    CHECK_EQ(noted(S_FREED, r->st[SCAN]), 0);
    drain(r);
    CHECK_EQ(noted(S_FREED, r->st[SCAN]), 1);
    CHECK_EQ(iosched_group_close(r->alpha, r->now), IOSCHED_ERR_BUSY);
}

int main(void)
{
    static struct rig r;

    part("groups nest, and the policy hears of each");
    set_up(&r);
    weights(&r);
    moves(&r);

    part("destroy takes the rest along, and the policy hears of that, too");
    ending = 1;
    CHECK_EQ(iosched_destroy(r.s), IOSCHED_OK);
    CHECK_EQ(noted(G_OPENED, NULL), noted(G_CLOSED, NULL));
    CHECK_EQ(noted(G_OPENED, NULL), noted(G_FREED, NULL));
    CHECK_EQ(noted(S_OPENED, NULL), noted(S_CLOSED, NULL));
    CHECK_EQ(noted(S_OPENED, NULL), noted(S_FREED, NULL));
    return 0;
}
