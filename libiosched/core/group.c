/* SPDX-License-Identifier: BSD-2-Clause */
/* group.c - groups: weights, nesting, and when a closed one may go.
 *
 * A closed group stays until no stream and no group is in it and no request
 * that was inserted through it is left, wherever its stream has moved since.
 */
#include "hot.h"

int iosched__group_ours(const struct iosched *s, const struct iosched_group *g)
{
    uintptr_t at = (uintptr_t)g, from = (uintptr_t)s->groups;

    return at >= from && at < (uintptr_t)(s->groups + s->cfg.max_groups) &&
           (at - from) % sizeof *g == 0;
}

static void group_event(struct iosched_group *g, const char *note, int64_t arg)
{
    struct iosched *s = g->s;

    if (s->cfg.trace != NULL)
        iosched__trace_out(s, IOSCHED_EV_GROUP, NULL, NULL, g, note, arg);
}

static void start(struct iosched_group *g, struct iosched_group *parent)
{
    g->state = HANDLE_OPEN;
    g->parent = parent;
    g->user = NULL;
    g->weight = g->leaf_weight = IOSCHED_WEIGHT_DEFAULT;
    g->open_kids = g->kids = g->requests = 0;
    g->next = NULL;
    g->prev = g->s->live_group_tail;
    *g->prev = g;
    g->s->live_group_tail = &g->next;
    if (parent != NULL) {
        parent->open_kids++;
        parent->kids++;
    }
}

void iosched__group_init_all(struct iosched *s)
{
    uint32_t i;

    s->live_group_tail = &s->live_group;
    s->free_group_tail = &s->free_group;
    for (i = 0; i < s->cfg.max_groups; i++) {
        s->groups[i].s = s;
        s->groups[i].slot = i;
        if (i > 0) {
            *s->free_group_tail = &s->groups[i];
            s->free_group_tail = &s->groups[i].next_free;
        }
    }
    start(&s->groups[0], NULL);
}

/** A closed group: free it if nothing of it is left, and then perhaps its
 *  parent. */
void iosched__group_settle(struct iosched_group *g)
{
    struct iosched *s = g->s;

    for (; g != NULL && g->state == HANDLE_CLOSED && g->kids == 0 &&
           g->requests == 0; g = g->parent) {
        if (s->run->ops.group_freed != NULL)
            s->run->ops.group_freed(s->run->state, g, iosched_group_data(g));
        g->state = HANDLE_FREE;
        *g->prev = g->next;
        *(g->next != NULL ? &g->next->prev : &s->live_group_tail) = g->prev;
        g->next_free = NULL;
        *s->free_group_tail = g;
        s->free_group_tail = &g->next_free;
        g->parent->kids--;
    }
}

static int weight_ok(uint32_t weight)
{
    return weight >= IOSCHED_WEIGHT_MIN && weight <= IOSCHED_WEIGHT_MAX;
}

int iosched_group_open(struct iosched *s, const struct iosched_group_opts *opts,
                       struct iosched_group **out, iosched_time now)
{
    struct iosched_group_opts o = { sizeof o, IOSCHED_WEIGHT_DEFAULT, 0, 0,
                                    NULL, NULL };
    struct iosched_group *g, *parent;
    int err;

    if (out == NULL)
        return IOSCHED_ERR_INVAL;
    *out = NULL;
    err = iosched__enter(s, now);
    if (err < 0)
        return err;
    if (opts != NULL)
        err = iosched__take_struct(&o, sizeof o, opts, opts->struct_size);
    if (err < 0)
        goto leave;
    parent = o.parent != NULL ? o.parent : &s->groups[0];
    if (o.pad_ != 0)
        err = IOSCHED_ERR_NOTSUP;
    else if (!iosched__group_ours(s, parent))
        err = IOSCHED_ERR_INVAL;
    else if (parent->state != HANDLE_OPEN)
        err = IOSCHED_ERR_STATE;
    else if (!weight_ok(o.weight) ||
             (o.leaf_weight != 0 && !weight_ok(o.leaf_weight)))
        err = IOSCHED_ERR_RANGE;
    else if (s->free_group == NULL)
        err = IOSCHED_ERR_NOSPC;
    if (err < 0)
        goto leave;
    g = s->free_group;
    s->free_group = g->next_free;
    if (s->free_group == NULL)
        s->free_group_tail = &s->free_group;
    start(g, parent);
    g->weight = o.weight;
    g->leaf_weight = o.leaf_weight != 0 ? o.leaf_weight : o.weight;
    g->user = o.user;
    if (s->run->group_stride > 0)
        IOSCHED_PORT_SET(iosched_group_data(g), 0, s->run->group_stride);
    if (s->run->ops.group_opened != NULL)
        s->run->ops.group_opened(s->run->state, g, iosched_group_data(g));
    group_event(g, "opened", (int64_t)g->weight);
    *out = g;
leave:
    iosched__leave(s);
    return err;
}

/** Begin a call about g, which has to be open. */
static int enter_open(struct iosched_group *g, iosched_time now)
{
    int err;

    if (g == NULL)
        return IOSCHED_ERR_INVAL;
    err = iosched__enter(g->s, now);
    if (err == IOSCHED_OK && g->state != HANDLE_OPEN) {
        iosched__leave(g->s);
        err = IOSCHED_ERR_STATE;
    }
    return err;
}

int iosched_group_close(struct iosched_group *g, iosched_time now)
{
    struct iosched *s;
    int err;

    if (g == NULL)
        return IOSCHED_OK;
    err = enter_open(g, now);
    if (err < 0)
        return err;
    s = g->s;
    if (g->parent == NULL) {
        err = IOSCHED_ERR_INVAL;        /* the root is nobody's to close */
    } else if (g->open_kids > 0) {
        err = IOSCHED_ERR_BUSY;
    } else {
        g->state = HANDLE_CLOSED;
        g->parent->open_kids--;
        if (s->run->ops.group_closed != NULL)
            s->run->ops.group_closed(s->run->state, g, iosched_group_data(g));
        group_event(g, "closed", 0);
        iosched__group_settle(g);
    }
    iosched__leave(s);
    return err;
}

static int set_weight(struct iosched_group *g, uint32_t *which,
                      uint32_t weight, const char *note)
{
    struct iosched_core *c = g->s->run;

    if (!weight_ok(weight))
        return IOSCHED_ERR_RANGE;
    *which = weight;
    if (c->ops.group_changed != NULL)
        c->ops.group_changed(c->state, g, iosched_group_data(g));
    group_event(g, note, (int64_t)weight);
    return IOSCHED_OK;
}

int iosched_group_set_weight(struct iosched_group *g, uint32_t weight,
                             iosched_time now)
{
    int err = enter_open(g, now);

    if (err < 0)
        return err;
    err = g->parent != NULL ? set_weight(g, &g->weight, weight, "weight")
                            : IOSCHED_ERR_INVAL;
    iosched__leave(g->s);
    return err;
}

int iosched_group_set_leaf_weight(struct iosched *s, struct iosched_group *g,
                                  uint32_t weight, iosched_time now)
{
    int err = iosched__enter(s, now);

    if (err < 0)
        return err;
    if (g == NULL)
        g = &s->groups[0];
    if (!iosched__group_ours(s, g))
        err = IOSCHED_ERR_INVAL;
    else if (g->state != HANDLE_OPEN)
        err = IOSCHED_ERR_STATE;
    else
        err = set_weight(g, &g->leaf_weight, weight, "leaf weight");
    iosched__leave(s);
    return err;
}

void *iosched_group_user(const struct iosched_group *g)
{
    return g != NULL ? g->user : NULL;
}

void *iosched_group_data(const struct iosched_group *g)
{
    const struct iosched_core *c = g->s->run;

    return c->group_data + g->slot * c->group_stride;
}

struct iosched_group *iosched_group_parent(const struct iosched_group *g)
{
    return g->parent;
}

uint32_t iosched_group_weight(const struct iosched_group *g)
{
    return g->weight;
}

uint32_t iosched_group_leaf_weight(const struct iosched_group *g)
{
    return g->leaf_weight;
}
