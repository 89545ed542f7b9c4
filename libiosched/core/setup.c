/* SPDX-License-Identifier: BSD-2-Clause */
/* setup.c - configuration, the layout of the one block of memory, life and end.
 *
 * The block holds, in this order: struct iosched, streams, groups, slots, merge
 * buckets and counters, order nodes, the inbox's ring, the scheduler's own tags
 * beyond 64, and one area for each policy instance: two, or one under
 * IOSCHED_F_NO_SWITCH.  Each is sized for the largest policy of the lists.
 */
#include "hot.h"

#define ALIGN 8u
#define KNOWN_CFG_FLAGS                                                      \
    (IOSCHED_F_NONROTATIONAL | IOSCHED_F_NOMERGE | IOSCHED_F_DEVICE_FUA |    \
     IOSCHED_F_NO_VOLATILE_CACHE | IOSCHED_F_ORDER_OVERLAPS |                \
     IOSCHED_F_NO_SWITCH | IOSCHED_F_COMPAT)

/* --- Configuration -------------------------------------------------------- */
int iosched_cfg_init_sized(struct iosched_cfg *cfg, size_t size)
{
    if (cfg == NULL || size < sizeof cfg->struct_size || size > UINT32_MAX)
        return IOSCHED_ERR_INVAL;
    IOSCHED_PORT_SET(cfg, 0, size);
    cfg->struct_size = (uint32_t)size;
    return IOSCHED_OK;
}

static void fill(uint32_t *field, uint32_t value)
{
    if (*field == 0)
        *field = value;
}

static int check_policies(const struct iosched_policy *const *list)
{
    for (; list != NULL && *list != NULL; list++)
        if (!iosched__policy_ok(*list))
            return IOSCHED_ERR_INVAL;
    return IOSCHED_OK;
}

/** The caller's cfg, checked and with every default filled in. */
static int complete_cfg(struct iosched_cfg *c, const struct iosched_cfg *from)
{
    int err = IOSCHED_OK;

    IOSCHED_PORT_SET(c, 0, sizeof *c);
    if (from != NULL)
        err = iosched__take_struct(c, sizeof *c, from, from->struct_size);
    if (err < 0)
        return err;
    c->struct_size = (uint32_t)sizeof *c;
    if (c->flags & ~(uint32_t)KNOWN_CFG_FLAGS)
        return IOSCHED_ERR_NOTSUP;
    fill(&c->block_size, 512);
    fill(&c->depth, 1);
    fill(&c->max_streams, 32);
    fill(&c->max_groups, 8);
    fill(&c->queued_hint, 128);
    fill(&c->max_merge_kib, 512);
    fill(&c->max_merge_segs, 128);
    fill(&c->head_burst, 16);
    if (c->capacity_nblk == 0)
        c->capacity_nblk = UINT64_MAX;
    if (c->policies == NULL)
        c->policies = iosched_builtin_policies();
    if (c->block_size < 512 || (c->block_size & (c->block_size - 1)) != 0)
        return IOSCHED_ERR_INVAL;
    if (c->depth > IOSCHED_TAGS_MAX || c->max_streams > 1u << 24 ||
        c->max_groups > 1u << 16 || c->queued_hint > 1u << 28 ||
        c->max_merge_kib > INT32_MAX)
        return IOSCHED_ERR_RANGE;
    if (c->policies[0] == NULL && c->extra_policies == NULL)
        return IOSCHED_ERR_INVAL;
    err = check_policies(c->policies);
    return err == IOSCHED_OK ? check_policies(c->extra_policies) : err;
}

/* --- Layout --------------------------------------------------------------- */
/** Sizes are added up in 64 bits, so that none overflows on the way. */
static uint64_t rounded(uint64_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/** The data of one policy instance: state, then streams, then groups. */
static uint64_t area_of(const struct iosched_policy *p,
                        const struct iosched_cfg *cfg)
{
    return rounded(p->state_size) +
           rounded(p->stream_size) * cfg->max_streams +
           rounded(p->group_size) * cfg->max_groups;
}

static uint64_t largest(const struct iosched_policy *const *list,
                        const struct iosched_cfg *cfg)
{
    uint64_t most = 0;

    for (; list != NULL && *list != NULL; list++)
        if (area_of(*list, cfg) > most)
            most = area_of(*list, cfg);
    return most;
}

/** The most that any listed policy needs. */
static uint64_t core_area(const struct iosched_cfg *cfg)
{
    uint64_t a = largest(cfg->policies, cfg);
    uint64_t b = largest(cfg->extra_policies, cfg);

    return a > b ? a : b;
}

/** Tags that a request may come to have. */
static uint32_t tags_of(const struct iosched_cfg *cfg)
{
    return cfg->tags != NULL ? iosched__tags_depth(cfg->tags) : cfg->depth;
}

/** Do its tags fit in one word, and nobody else has any of them? */
static int has_few(const struct iosched_cfg *cfg)
{
    return cfg->tags == NULL && cfg->depth <= 64;
}

/** Where everything is, in bytes from the start of the block. */
struct layout {
    size_t streams, groups, slots, bucket, starts, order_pool, ring;
    size_t tag_free, tag_words, area[2];
    size_t total;
    uint32_t buckets, ring_size, order_size;
};

/** Room for n things of `size` bytes at *at, which moves on. */
static size_t carve(uint64_t *at, uint64_t n, uint64_t size)
{
    uint64_t here = *at;

    *at += rounded(n * size);
    return (size_t)here;
}

/** @retval IOSCHED_ERR_RANGE more than this machine can address. */
static int lay_out(struct layout *l, const struct iosched_cfg *cfg)
{
    uint32_t ntags = tags_of(cfg);
    uint32_t tag_words = has_few(cfg) || cfg->tags != NULL ? 0
                                                           : (ntags + 63) / 64;
    uint64_t at = 0, area = core_area(cfg);

    l->buckets = 2 * iosched__pow2(cfg->queued_hint);   /* half full */
    l->ring_size = IOSCHED_ATOMICS ? iosched__pow2(ntags) : 0;
    l->order_size = iosched__order_nodes(cfg);
    (void)carve(&at, 1, sizeof(struct iosched));
    l->streams = carve(&at, cfg->max_streams, sizeof(struct iosched_stream));
    l->groups = carve(&at, cfg->max_groups, sizeof(struct iosched_group));
    l->slots = carve(&at, ntags, sizeof(struct slot));
    l->bucket = carve(&at, l->buckets, sizeof(struct iosched_req *));
    l->starts = carve(&at, l->buckets, 16);
    l->order_pool = carve(&at, l->order_size, sizeof(struct order_node));
    l->ring = carve(&at, l->ring_size, sizeof(struct posting));
    l->tag_free = carve(&at, tag_words, 8);
    l->tag_words = carve(&at, (tag_words + 63) / 64, 8);
    l->area[0] = carve(&at, 1, area);
    l->area[1] = carve(&at, cfg->flags & IOSCHED_F_NO_SWITCH ? 0 : 1, area);
    l->total = (size_t)at;
    return at <= SIZE_MAX / 2 ? IOSCHED_OK : IOSCHED_ERR_RANGE;
}

static void apply(const struct layout *l, const struct iosched_cfg *cfg,
                  struct iosched *s)
{
    char *base = (char *)s;

    s->streams = (void *)(base + l->streams);
    s->streams_end = s->streams + cfg->max_streams;
    s->groups = (void *)(base + l->groups);
    s->slots = (void *)(base + l->slots);
    s->bucket = (void *)(base + l->bucket);
    s->starts = (void *)(base + l->starts);
    s->order_pool = (void *)(base + l->order_pool);
    s->ring = (void *)(base + l->ring);
    s->tags = cfg->tags;
    s->few = (uint8_t)has_few(cfg);
    s->tag_free = (void *)(base + l->tag_free);
    s->tag_words = (void *)(base + l->tag_words);
    s->core[0].area = base + l->area[0];
    s->core[1].area = base + l->area[1];
    s->ntags = tags_of(cfg);
    s->ring_mask = l->ring_size - 1;
    s->order_size = l->order_size;
    s->bucket_shift = 64 - iosched__high_bit(l->buckets);
}

size_t iosched_size(const struct iosched_cfg *cfg)
{
    struct iosched_cfg c;
    struct layout l;

    return complete_cfg(&c, cfg) < 0 || lay_out(&l, &c) < 0 ? 0 : l.total;
}

size_t iosched_align(void)
{
    return ALIGN;
}

/* --- Policy instances ----------------------------------------------------- */
/** Make instance c, which does not run, one of `choice`: tunables set, state
 *  zeroed, init called.  After an error nothing that shows has changed. */
int iosched__core_build(struct iosched *s, struct iosched_core *c,
                        const struct policy_choice *choice)
{
    const struct iosched_policy *p = choice->policy;
    size_t known = sizeof c->ops;
    uint64_t at = 0;
    char *area = c->area;
    int err, i;

    IOSCHED_PORT_SET(area, 0, (size_t)area_of(p, &s->cfg));
    IOSCHED_PORT_SET(&c->ops, 0, known);
    IOSCHED_PORT_COPY(&c->ops, p,
                      p->struct_size < known ? p->struct_size : known);
    c->s = s;
    c->held = 0;
    c->state = area + carve(&at, 1, p->state_size);
    c->stream_stride = (size_t)rounded(p->stream_size);
    c->group_stride = (size_t)rounded(p->group_size);
    c->stream_data = area + carve(&at, s->cfg.max_streams, c->stream_stride);
    c->group_data = area + carve(&at, s->cfg.max_groups, c->group_stride);
    for (i = 0; i < (int)IOSCHED_TIMERS; i++)
        c->timer[i] = IOSCHED_NEVER;
    c->next = IOSCHED_NEVER;
    iosched__core_tune_defaults(c);
    err = choice->preset != NULL && *choice->preset != '\0'
              ? iosched__core_tune(c, choice->preset)
              : IOSCHED_OK;
    if (err == IOSCHED_OK)
        err = iosched__core_tune(c, choice->settings);
    if (err < 0)
        return err;
    iosched__core_tuned(c);
    c->fronts = c->ops.find != NULL && !iosched__compat(s);
    return c->ops.init != NULL ? c->ops.init(c->state, c) : IOSCHED_OK;
}

/** Tell the running policy of every group and stream there is, parents before
 *  their children, which is the order they were opened in. */
void iosched__core_open_all(struct iosched *s)
{
    struct iosched_core *c = s->run;
    struct iosched_group *g;
    uint32_t i;

    for (g = s->live_group; g != NULL; g = g->next) {
        if (c->ops.group_opened != NULL)
            c->ops.group_opened(c->state, g, iosched_group_data(g));
        if (g->state == HANDLE_CLOSED && c->ops.group_closed != NULL)
            c->ops.group_closed(c->state, g, iosched_group_data(g));
    }
    for (i = 0; i < s->cfg.max_streams; i++) {
        struct iosched_stream *st = &s->streams[i];

        if (st->state == HANDLE_FREE)
            continue;
        if (c->ops.stream_opened != NULL)
            c->ops.stream_opened(c->state, st, iosched_stream_data(st));
        if (st->state == HANDLE_CLOSED && c->ops.stream_closed != NULL)
            c->ops.stream_closed(c->state, st, iosched_stream_data(st));
    }
}

/** The reverse, before exit: closed (unless it was told so), then freed. */
void iosched__core_close_all(struct iosched *s)
{
    struct iosched_core *c = s->run;
    struct iosched_group *g, **at;
    uint32_t i;

    for (i = s->cfg.max_streams; i-- > 0;) {
        struct iosched_stream *st = &s->streams[i];

        if (st->state == HANDLE_OPEN && c->ops.stream_closed != NULL)
            c->ops.stream_closed(c->state, st, iosched_stream_data(st));
        if (st->state != HANDLE_FREE && c->ops.stream_freed != NULL)
            c->ops.stream_freed(c->state, st, iosched_stream_data(st));
    }
    for (g = s->live_group; g != NULL; g = g->next)
        if (g->state == HANDLE_OPEN && c->ops.group_closed != NULL)
            c->ops.group_closed(c->state, g, iosched_group_data(g));
    for (at = s->live_group_tail; at != &s->live_group; at = g->prev) {
        g = iosched_container_of(at, struct iosched_group, next);
        if (c->ops.group_freed != NULL)
            c->ops.group_freed(c->state, g, iosched_group_data(g));
    }
}

/* --- Life ----------------------------------------------------------------- */
static int build(struct iosched *s, const struct iosched_cfg *cfg,
                 const struct policy_choice *choice, iosched_time now)
{
    int32_t tag;
    int err;

    s->cfg = *cfg;
    s->caller_now = s->now = now;
    s->depth_set = s->depth_now = cfg->depth;
    s->retry_at = IOSCHED_NEVER;
    s->retry_wait = IOSCHED_MSEC(1);
    iosched__list_init(&s->emitted);
    iosched__list_init(&s->direct);
    iosched__list_init(&s->requeued);
    iosched__list_init(&s->waiting);
    iosched__list_init(&s->done);
    iosched__group_init_all(s);
    iosched__stream_init_all(s);
    iosched__order_init(s);
    s->run = &s->core[0];
    s->inside = 1;
    if (s->tags == NULL) {
        for (tag = 0; (uint32_t)tag < s->ntags; tag++)
            iosched__tag_put(s, tag);
    } else {
        s->seat = iosched__tags_join_sched(s->tags, s, cfg->wake, cfg->user);
        if (s->seat < 0)
            return s->seat;
    }
    err = iosched__core_build(s, s->run, choice);
    if (err < 0) {
        if (s->tags != NULL)
            (void)iosched_tags_leave(s->tags, s->seat);
        return err;
    }
    iosched__core_open_all(s);
    s->inside = 0;
    return IOSCHED_OK;
}

int iosched_init(void *mem, size_t size, const char *policy,
                 const struct iosched_cfg *cfg, struct iosched **out,
                 iosched_time now)
{
    struct policy_choice choice;
    struct iosched_cfg c;
    struct layout l;
    int err;

    if (out == NULL)
        return IOSCHED_ERR_INVAL;
    *out = NULL;
    if (mem == NULL || policy == NULL || now == IOSCHED_NEVER ||
        (uintptr_t)mem % ALIGN != 0)
        return IOSCHED_ERR_INVAL;
    err = complete_cfg(&c, cfg);
    if (err == IOSCHED_OK)
        err = iosched__parse_policy(&c, policy, &choice);
    if (err == IOSCHED_OK)
        err = lay_out(&l, &c);
    if (err < 0)
        return err;
    if (size < l.total)
        return IOSCHED_ERR_NOSPC;
    IOSCHED_PORT_SET(mem, 0, l.total);
    apply(&l, &c, mem);
    err = build(mem, &c, &choice, now);
    if (err == IOSCHED_OK)
        *out = mem;
    return err;
}

int iosched_create(const char *policy, const struct iosched_cfg *cfg,
                   struct iosched **out, iosched_time now)
{
    struct iosched_cfg c;       /* only to see what is wrong with *cfg */
    size_t need;
    void *mem;
    int err;

    if (out == NULL || policy == NULL || now == IOSCHED_NEVER)
        return IOSCHED_ERR_INVAL;
    *out = NULL;
    err = complete_cfg(&c, cfg);
    if (err < 0)
        return err;
    if ((c.alloc == NULL) != (c.dealloc == NULL))
        return IOSCHED_ERR_INVAL;
    need = iosched_size(cfg);
    if (need == 0)
        return IOSCHED_ERR_RANGE;
    if (c.alloc != NULL)
        mem = c.alloc(c.user, need, ALIGN);
    else
#ifdef IOSCHED_PORT_MALLOC
        mem = IOSCHED_PORT_MALLOC(need);
#else
        return IOSCHED_ERR_NOTSUP;
#endif
    if (mem == NULL)
        return IOSCHED_ERR_NOMEM;
    err = iosched_init(mem, need, policy, cfg, out, now);
    if (err == IOSCHED_OK) {
        (*out)->allocated = mem;
        return IOSCHED_OK;
    }
    if (c.dealloc != NULL)
        c.dealloc(c.user, mem);
#ifdef IOSCHED_PORT_FREE
    else
        IOSCHED_PORT_FREE(mem);
#endif
    return err;
}

int iosched_destroy(struct iosched *s)
{
    void (*dealloc)(void *user, void *ptr);
    void *user, *mem;

    if (s == NULL)
        return IOSCHED_OK;
    if (s->inside)
        return IOSCHED_ERR_REENTRANT;
    if (s->queued > 0 || s->inflight > 0 || s->done.head != NULL ||
        !iosched__inbox_empty(s) ||
        (s->quarantined > 0 && s->tags != NULL))
        return IOSCHED_ERR_BUSY;
    if (s->tags != NULL && iosched_tags_leave(s->tags, s->seat) < 0)
        return IOSCHED_ERR_BUSY;        /* a wake is on its way */
    s->inside = 1;
    iosched__core_close_all(s);
    if (s->run->ops.exit != NULL)
        s->run->ops.exit(s->run->state);
    dealloc = s->cfg.dealloc;
    user = s->cfg.user;
    mem = s->allocated;
    if (mem == NULL)
        return IOSCHED_OK;
    if (dealloc != NULL)
        dealloc(user, mem);
#ifdef IOSCHED_PORT_FREE
    else
        IOSCHED_PORT_FREE(mem);
#endif
    return IOSCHED_OK;
}

/* --- Control -------------------------------------------------------------- */
int iosched_freeze(struct iosched *s, iosched_time now)
{
    int err = iosched__enter(s, now);

    if (err < 0)
        return err;
    if (s->frozen == UINT32_MAX) {
        err = IOSCHED_ERR_RANGE;
    } else {
        s->frozen++;
        iosched__event(s, IOSCHED_EV_FREEZE, NULL, (int64_t)s->frozen);
    }
    iosched__leave(s);
    return err;
}

int iosched_thaw(struct iosched *s, iosched_time now)
{
    int err = iosched__enter(s, now);

    if (err < 0)
        return err;
    if (s->frozen == 0) {
        err = IOSCHED_ERR_STATE;
    } else {
        s->frozen--;
        iosched__event(s, IOSCHED_EV_FREEZE, NULL, (int64_t)s->frozen);
    }
    iosched__leave(s);
    return err;
}

int iosched_may_queue(struct iosched *s, struct iosched_stream *st,
                      unsigned op, unsigned flags, iosched_time now)
{
    struct iosched_req probe = { 0 };
    int answer;

    if (op > UINT16_MAX || flags > UINT16_MAX)
        return IOSCHED_ERR_NOTSUP;
    answer = iosched__enter(s, now);
    if (answer < 0)
        return answer;
    probe.op = (uint16_t)op;
    probe.flags = (uint16_t)flags;
    probe.stream = st;
    probe.nblk = 1;
    answer = iosched__check_req(s, &probe);
    if (answer == IOSCHED_OK) {
        if (st == NULL)
            st = &s->streams[0];
        answer = s->run->ops.may_queue != NULL
                     ? s->run->ops.may_queue(s->run->state, st, op, flags)
                     : IOSCHED_MAY;
    }
    iosched__leave(s);
    return answer;
}

const char *iosched_policy_name(const struct iosched *s)
{
    return s != NULL ? s->run->ops.name : NULL;
}

uint32_t iosched_queued(const struct iosched *s)
{
    return s != NULL ? s->queued : 0;
}

uint32_t iosched_inflight(const struct iosched *s)
{
    return s != NULL ? s->inflight : 0;
}
