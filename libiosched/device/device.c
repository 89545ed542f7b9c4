/* SPDX-License-Identifier: BSD-2-Clause */
/* device.c - the device model: tags, order, selection, accounting.
 *
 * Time moves in steps from one internal event to the next, up to the `now` of
 * a call and before anything else that the call does:
 *
 *   1. the commands that complete at this instant complete;
 *   2. while the medium is free, the best of those that may go is chosen.
 *
 * So a command that is submitted at the instant of a completion comes too late
 * for the selection which that completion causes.  What an access takes is the
 * model's to say, at its selection and once for all.
 *
 * A slot is FREE, then HELD from submit, SERVED from its selection, DONE from
 * its completion, FREE again when it is reaped; its tag is in use until then.
 */
#include "device_internal.h"

static const struct iosched__model *const models[] = {
    &iosched__device_null,
    &iosched__device_linear,
};
#define NMODELS (sizeof models / sizeof *models)

enum { SLOT_FREE, SLOT_HELD, SLOT_SERVED, SLOT_DONE };

#define CMD_FLAGS (IOSCHED_CMD_FUA | IOSCHED_CMD_ORDERED | IOSCHED_CMD_HEAD | \
                   IOSCHED_CMD_PRIO | IOSCHED_CMD_NONQUEUED)

/* The greater part of the memory, so kept small: 88 bytes.  The transfer of a
 * served one is what the other parts leave of completed - selected. */
struct slot {
    uint64_t     cookie;
    uint64_t     seq;               /* of arrival; breaks ties            */
    iosched_time submitted;
    uint32_t     nblk;
    uint8_t      op, flags, state, verdict;
    union {
        struct iosched_cmd cmd;     /* HELD                               */
        struct {                    /* SERVED, DONE                       */
            iosched_time selected, media, completed;
            iosched_dur  link, stall;
            uint32_t     overhead, seek, settle, rotation;
        } done;
    } u;
};

struct iosched_device {
    const struct iosched__model *model;
    void        *state;             /* the model's                        */
    struct slot *slots;             /* depth_max of them, by tag          */
    void        *user;
    void       (*trace)(void *, const struct iosched_device *, uint64_t,
                        iosched_time);
    uint64_t     capacity;
    iosched_time clock;             /* latest now; counters are up to here*/
    iosched_time free_at;           /* nothing may be chosen before       */
    iosched_time event_at;          /* first completion or selection to   */
                                    /* come, or NEVER                     */
    uint64_t     seq;               /* of the next arrival                */
    uint32_t     depth, depth_max;
    uint32_t     top;               /* slots from here on are FREE        */
    uint32_t     nheld, nserved, ndone;
    uint32_t     withheld;          /* by the host                        */
    uint8_t      nonqueued;         /* a NONQUEUED has its tag            */
    uint8_t      inside;            /* a callback runs                    */
    struct iosched_device_counters count;
};

/* --- What it is made of --------------------------------------------------- */
static size_t name_length(const char *s)
{
    size_t n = 0;

    while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= '0' && s[n] <= '9') ||
           s[n] == '_' || s[n] == '-' || s[n] == '.')
        n++;
    return n;
}

static const struct iosched__model *find_model(const char *name, size_t len)
{
    size_t i;

    for (i = 0; i < NMODELS; i++)
        if (iosched__text_is(name, len, models[i]->name))
            return models[i];
    return NULL;
}

static int find_param(const struct iosched__model *m, const char *name,
                      size_t len, size_t *out)
{
    for (*out = 0; *out < m->nparams; ++*out)
        if (iosched__text_is(name, len, m->params[*out].t.name))
            return IOSCHED_OK;
    return IOSCHED_ERR_NOENT;
}

/* A number, or one of the words of a parameter that has them. */
static int parse_param(const struct iosched__param *p, const char *text,
                       size_t len, int64_t *out)
{
    size_t i;
    int err;

    if (p->words != NULL && *text >= 'a' && *text <= 'z') {
        for (i = 0; p->words[i] != NULL; i++)
            if (iosched__text_is(text, len, p->words[i])) {
                *out = p->t.min + (int64_t)i;
                return IOSCHED_OK;
            }
        return IOSCHED_ERR_RANGE;
    }
    err = iosched__parse_value(text, len, p->t.unit, out);
    if (err < 0)
        return err;
    return *out < p->t.min || *out > p->t.max ? IOSCHED_ERR_RANGE : IOSCHED_OK;
}

static int choose_profile(struct iosched__setup *su, const char *name,
                          size_t len)
{
    const struct iosched__model *m = su->model;
    const struct iosched__profile *p = m->profiles;
    size_t i;

    for (i = 0; !iosched__text_is(name, len, p->name); p++)
        if (++i == m->nprofiles)
            return IOSCHED_ERR_NOENT;
    for (i = 0; i < m->nparams; i++)
        su->param[i] = m->params[i].t.def;
    for (i = 0; i < p->npresets; i++)
        su->param[p->presets[i].index] = p->presets[i].value;
    if (su->cfg.capacity_nblk == 0)
        su->cfg.capacity_nblk = p->capacity >>
                                iosched__low_bit(su->cfg.block_size);
    return IOSCHED_OK;
}

/* MODEL[:PROFILE][,PARAMETER=VALUE]..., from left to right. */
static int parse_model(struct iosched__setup *su)
{
    const char *s = su->cfg.model != NULL ? su->cfg.model : "null";
    size_t name = name_length(s), len = name, i;
    int err;

    if (s[len] == ':')
        len += 1 + name_length(s + len + 1);
    if (name == 0 || s[len - 1] == ':' || (s[len] != ',' && s[len] != '\0'))
        return IOSCHED_ERR_INVAL;
    su->model = find_model(s, name);
    if (su->model == NULL)
        return IOSCHED_ERR_NOENT;
    err = choose_profile(su, s, len);
    if (err < 0)
        return err;
    for (s += len; *s == ','; s += len) {
        name = name_length(++s);
        if (name == 0 || s[name] != '=')
            return IOSCHED_ERR_INVAL;
        err = find_param(su->model, s, name, &i);
        if (err < 0)
            return err;
        s += name + 1;
        for (len = 0; s[len] != ',' && s[len] != '\0'; len++)
            ;
        if (len == 0)
            return IOSCHED_ERR_INVAL;
        err = parse_param(&su->model->params[i], s, len, &su->param[i]);
        if (err < 0)
            return err;
    }
    return IOSCHED_OK;
}

/* All of cfg; *state is the size of the model's. */
static int set_up(struct iosched__setup *su,
                  const struct iosched_device_cfg *cfg, size_t *state)
{
    const size_t known = sizeof su->cfg;
    int err;

    if (cfg == NULL || cfg->struct_size < known)
        return IOSCHED_ERR_INVAL;
    err = iosched__take_struct(&su->cfg, known, cfg, cfg->struct_size);
    if (err < 0)
        return err;
    if (su->cfg.block_size == 0)
        su->cfg.block_size = 512;
    if (su->cfg.block_size < 512 ||
        (su->cfg.block_size & (su->cfg.block_size - 1)) != 0)
        return IOSCHED_ERR_RANGE;
    err = parse_model(su);
    return err < 0 ? err : su->model->check(su, state);
}

/* Everything in it is aligned to 8 bytes at most. */
static size_t rounded(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

static size_t memory(const struct iosched__setup *su, size_t state)
{
    return rounded(sizeof(struct iosched_device)) + rounded(state) +
           (size_t)su->param[0] * sizeof(struct slot);
}

int iosched_device_profile_at(size_t i, const char **name, const char **help)
{
    size_t m;

    if (name == NULL || help == NULL)
        return IOSCHED_ERR_INVAL;
    for (m = 0; m < NMODELS; i -= models[m++]->nprofiles)
        if (i < models[m]->nprofiles) {
            *name = models[m]->profiles[i].name;
            *help = models[m]->profiles[i].help;
            return IOSCHED_OK;
        }
    return IOSCHED_ERR_NOENT;
}

int iosched_device_param_at(const char *model, size_t i,
                            struct iosched_tunable *out, size_t size)
{
    const struct iosched__model *m;
    size_t len;

    if (model == NULL || out == NULL)
        return IOSCHED_ERR_INVAL;
    len = name_length(model);
    m = model[len] == '\0' ? find_model(model, len) : NULL;
    if (m == NULL || i >= m->nparams)
        return IOSCHED_ERR_NOENT;
    iosched__give_struct(out, size, &m->params[i].t, sizeof m->params[i].t);
    return IOSCHED_OK;
}

size_t iosched_device_size(const struct iosched_device_cfg *cfg)
{
    struct iosched__setup su;
    size_t state;

    return set_up(&su, cfg, &state) < 0 ? 0 : memory(&su, state);
}

int iosched_device_init(void *mem, size_t size,
                        const struct iosched_device_cfg *cfg,
                        struct iosched_device **out, iosched_time now)
{
    struct probe { char c; struct iosched_device d; };
    struct iosched_device *d = mem;
    struct iosched__setup su;
    size_t state;
    int err;

    if (mem == NULL || out == NULL || now == IOSCHED_NEVER ||
        (uintptr_t)mem % offsetof(struct probe, d) != 0)
        return IOSCHED_ERR_INVAL;
    err = set_up(&su, cfg, &state);
    if (err < 0)
        return err;
    if (size < memory(&su, state))
        return IOSCHED_ERR_NOSPC;
    IOSCHED_PORT_SET(mem, 0, memory(&su, state));
    d->model = su.model;
    d->state = (char *)mem + rounded(sizeof *d);
    d->slots = (void *)((char *)d->state + rounded(state));
    d->user = su.cfg.user;
    d->trace = su.cfg.trace;
    d->capacity = su.cfg.capacity_nblk;
    d->clock = d->free_at = now;
    d->event_at = IOSCHED_NEVER;
    d->depth = d->depth_max = (uint32_t)su.param[0];
    d->model->init(d->state, &su);
    *out = d;
    return IOSCHED_OK;
}

uint64_t iosched_device_capacity(const struct iosched_device *d)
{
    return d != NULL ? d->capacity : 0;
}

uint32_t iosched_device_depth(const struct iosched_device *d)
{
    return d != NULL ? d->depth : 0;
}

/* --- Selection ------------------------------------------------------------ */
/* What has not completed and came first: of all, of those with ORDERED, and of
 * those a FLUSH waits for. */
struct fences { uint64_t all, ordered, write; };

static void find_fences(const struct iosched_device *d, struct fences *f)
{
    uint32_t i;

    f->all = f->ordered = f->write = UINT64_MAX;
    for (i = 0; i < d->top; i++) {
        const struct slot *s = &d->slots[i];

        if (s->state != SLOT_HELD && s->state != SLOT_SERVED)
            continue;
        if (s->seq < f->all)
            f->all = s->seq;
        if ((s->flags & IOSCHED_CMD_ORDERED) && s->seq < f->ordered)
            f->ordered = s->seq;
        if (s->op != IOSCHED_READ && s->op != IOSCHED_FLUSH &&
            s->seq < f->write)
            f->write = s->seq;
    }
}

static int may_go(const struct slot *s, const struct fences *f)
{
    if (s->op == IOSCHED_FLUSH && f->write < s->seq)
        return 0;
    if (s->flags & IOSCHED_CMD_HEAD)
        return 1;
    if (s->flags & IOSCHED_CMD_ORDERED)
        return f->all == s->seq;
    return s->seq < f->ordered;
}

/* HEAD, then PRIO, then the rest; in a class the cheapest, HEADs as they came;
 * then the oldest.  NULL: none may go before another has completed. */
static struct slot *pick(struct iosched_device *d)
{
    struct slot *best = NULL;
    uint64_t best_cost = 0;
    unsigned best_class = 0;
    struct fences f;
    uint32_t i;

    find_fences(d, &f);
    for (i = 0; i < d->top; i++) {
        struct slot *s = &d->slots[i];
        uint64_t cost = 0;
        unsigned cls;

        if (s->state != SLOT_HELD || !may_go(s, &f))
            continue;
        cls = s->flags & IOSCHED_CMD_HEAD ? 0 :
              s->flags & IOSCHED_CMD_PRIO ? 1 : 2;
        if (cls > 0 && d->model->cost != NULL)
            cost = d->model->cost(d->state, &s->u.cmd, d->clock);
        if (best != NULL &&
            (cls != best_class ? cls > best_class :
             cost != best_cost ? cost > best_cost : s->seq > best->seq))
            continue;
        best = s;
        best_class = cls;
        best_cost = cost;
    }
    return best;
}

/* The sum that is complete - select. */
static iosched_dur service_time(const struct iosched_access *a)
{
    return a->overhead + a->seek + a->settle + a->rotation + a->transfer +
           a->link + a->stall;
}

static void serve(struct iosched_device *d, struct slot *s)
{
    struct iosched_cmd cmd = s->u.cmd;  /* u becomes the completion */
    struct iosched__service sv;

    IOSCHED_PORT_SET(&sv, 0, sizeof sv);
    d->model->serve(d->state, &cmd, d->clock, &sv);
    s->state = SLOT_SERVED;
    s->verdict = sv.verdict;
    s->u.done.selected = d->clock;
    s->u.done.media = sv.media;
    s->u.done.completed = iosched__later(d->clock, service_time(&sv.parts));
    s->u.done.link = sv.parts.link;
    s->u.done.stall = sv.parts.stall;
    s->u.done.overhead = (uint32_t)sv.parts.overhead;
    s->u.done.seek = (uint32_t)sv.parts.seek;
    s->u.done.settle = (uint32_t)sv.parts.settle;
    s->u.done.rotation = (uint32_t)sv.parts.rotation;
    d->nheld--;
    d->nserved++;
    d->free_at = sv.next;
    d->count.retries += sv.retries;
    d->count.media_accesses += sv.access;
    if (sv.access && d->trace != NULL) {
        d->inside = 1;
        d->trace(d->user, d, s->cookie, d->clock);
        d->inside = 0;
    }
}

/* Choose while it can, then see when it can again.  A command that is held
 * while the medium is free waits for another to complete. */
static void choose(struct iosched_device *d)
{
    struct slot *s;
    uint32_t i;

    while (d->nheld > 0 && d->free_at <= d->clock && (s = pick(d)) != NULL)
        serve(d, s);
    d->event_at = IOSCHED_NEVER;
    if (d->nheld > 0 && d->free_at > d->clock)
        d->event_at = d->free_at;
    for (i = 0; d->nserved > 0 && i < d->top; i++)
        if (d->slots[i].state == SLOT_SERVED &&
            d->slots[i].u.done.completed < d->event_at)
            d->event_at = d->slots[i].u.done.completed;
}

/* --- Time ----------------------------------------------------------------- */
static void account(struct iosched_device *d, iosched_time t)
{
    iosched_dur dt = t - d->clock;

    d->clock = t;
    d->count.elapsed += dt;
    d->count.in_use_ns += dt * d->count.in_use;
    if (d->nheld + d->nserved > 0) {
        d->count.busy += dt;
        return;
    }
    d->count.idle += dt;
    if (d->withheld > 0)
        d->count.idle_pending += dt;
}

static void advance(struct iosched_device *d, iosched_time now)
{
    uint32_t i;

    while (d->event_at <= now) {
        account(d, d->event_at);
        for (i = 0; i < d->top; i++) {
            struct slot *s = &d->slots[i];

            if (s->state == SLOT_SERVED && s->u.done.completed <= d->clock) {
                s->state = SLOT_DONE;
                d->nserved--;
                d->ndone++;
            }
        }
        choose(d);
    }
    account(d, now);
}

static int check_call(const struct iosched_device *d, iosched_time now)
{
    if (d == NULL)
        return IOSCHED_ERR_INVAL;
    if (d->inside)
        return IOSCHED_ERR_REENTRANT;
    return now == IOSCHED_NEVER || now < d->clock ? IOSCHED_ERR_INVAL
                                                  : IOSCHED_OK;
}

int iosched_device_set_depth(struct iosched_device *d, uint32_t depth,
                             iosched_time now)
{
    int err = check_call(d, now);

    if (err < 0)
        return err;
    if (depth < 1 || depth > d->depth_max)
        return IOSCHED_ERR_RANGE;
    advance(d, now);
    d->depth = depth;
    return IOSCHED_OK;
}

int iosched_device_pending(struct iosched_device *d, uint32_t n,
                           iosched_time now)
{
    int err = check_call(d, now);

    if (err < 0)
        return err;
    advance(d, now);
    d->withheld = n;
    return IOSCHED_OK;
}

iosched_time iosched_device_next(const struct iosched_device *d)
{
    if (d == NULL)
        return IOSCHED_NEVER;
    return d->ndone > 0 ? d->clock : d->event_at;
}

/* --- Commands ------------------------------------------------------------- */
static int check_cmd(const struct iosched_device *d,
                     const struct iosched_cmd *cmd)
{
    if (cmd->op > IOSCHED_FLUSH || (cmd->flags & ~CMD_FLAGS) != 0)
        return IOSCHED_ERR_NOTSUP;
    if ((cmd->nblk == 0) != (cmd->op == IOSCHED_FLUSH))
        return IOSCHED_ERR_INVAL;
    if ((cmd->flags & IOSCHED_CMD_HEAD) && (cmd->flags & IOSCHED_CMD_ORDERED))
        return IOSCHED_ERR_INVAL;
    if ((cmd->flags & IOSCHED_CMD_FUA) && cmd->op != IOSCHED_WRITE &&
        cmd->op != IOSCHED_ZEROES)
        return IOSCHED_ERR_INVAL;
    if (cmd->op != IOSCHED_FLUSH &&
        (cmd->lba >= d->capacity || cmd->nblk > d->capacity - cmd->lba))
        return IOSCHED_ERR_RANGE;
    return IOSCHED_OK;
}

/* The lowest free tag: below depth, as fewer than that are in use. */
static void take(struct iosched_device *d, struct iosched_cmd *cmd)
{
    uint32_t tag = 0;
    struct slot *s;

    while (tag < d->top && d->slots[tag].state != SLOT_FREE)
        tag++;
    if (tag == d->top)
        d->top++;
    IOSCHED_ASSERT(tag < d->depth);
    cmd->tag = (int32_t)tag;
    s = &d->slots[tag];
    s->cookie = cmd->cookie;
    s->seq = d->seq++;
    s->submitted = d->clock;
    s->nblk = cmd->nblk;
    s->op = (uint8_t)cmd->op;
    s->flags = (uint8_t)cmd->flags;
    s->state = SLOT_HELD;
    s->u.cmd = *cmd;
    d->nheld++;
    d->nonqueued = (cmd->flags & IOSCHED_CMD_NONQUEUED) != 0;
    d->count.accepted[cmd->op]++;
    d->count.ordered += (cmd->flags & IOSCHED_CMD_ORDERED) != 0;
    if (++d->count.in_use > d->count.in_use_max)
        d->count.in_use_max = d->count.in_use;
}

static void release(struct iosched_device *d, struct slot *s)
{
    s->state = SLOT_FREE;
    d->count.in_use--;
    if (s->flags & IOSCHED_CMD_NONQUEUED)
        d->nonqueued = 0;
    while (d->top > 0 && d->slots[d->top - 1].state == SLOT_FREE)
        d->top--;
}

int iosched_device_submit(struct iosched_device *d, struct iosched_cmd *cmd,
                          iosched_time now)
{
    int err = check_call(d, now);

    if (err < 0)
        return err;
    if (cmd == NULL)
        return IOSCHED_ERR_INVAL;
    err = check_cmd(d, cmd);
    if (err < 0)
        return err;
    advance(d, now);
    if (d->count.in_use >= d->depth || d->nonqueued ||
        ((cmd->flags & IOSCHED_CMD_NONQUEUED) && d->count.in_use > 0)) {
        d->count.refused++;
        return IOSCHED_DEVICE_BUSY;
    }
    take(d, cmd);
    choose(d);
    return IOSCHED_DEVICE_TAKEN;
}

/* The completion of a slot that is DONE, with what it adds to the counters. */
static void fill_done(struct iosched_device *d, const struct slot *s,
                      struct iosched_done *done)
{
    struct iosched_device_counters *c = &d->count;
    struct iosched_access *a = &done->parts;

    IOSCHED_PORT_SET(done, 0, sizeof *done);
    done->cookie = s->cookie;
    done->tag = (int32_t)(s - d->slots);
    done->verdict = s->verdict;
    done->submitted = s->submitted;
    done->selected = s->u.done.selected;
    done->media = s->u.done.media;
    done->completed = s->u.done.completed;
    a->overhead = s->u.done.overhead;
    a->seek = s->u.done.seek;
    a->settle = s->u.done.settle;
    a->rotation = s->u.done.rotation;
    a->link = s->u.done.link;
    a->stall = s->u.done.stall;
    a->transfer = done->completed - done->selected - service_time(a);
    a->queued = done->selected - done->submitted;

    c->completed[s->op]++;
    c->blocks[s->op] += s->nblk;
    c->verdict[s->verdict]++;
    c->overhead += a->overhead;
    c->seek += a->seek;
    c->settle += a->settle;
    c->rotation += a->rotation;
    c->transfer += a->transfer;
    c->link += a->link;
    c->stall += a->stall;
}

int iosched_device_reap(struct iosched_device *d, struct iosched_done *out,
                        size_t size, iosched_time now)
{
    int err = check_call(d, now);
    struct iosched_done done;
    struct slot *first = NULL;
    uint32_t i;

    if (err < 0)
        return err;
    if (out == NULL)
        return IOSCHED_ERR_INVAL;
    advance(d, now);
    if (d->ndone == 0)
        return IOSCHED_EMPTY;
    for (i = 0; i < d->top; i++) {
        struct slot *s = &d->slots[i];

        if (s->state == SLOT_DONE &&
            (first == NULL || s->u.done.completed < first->u.done.completed))
            first = s;
    }
    fill_done(d, first, &done);
    d->ndone--;
    release(d, first);
    iosched__give_struct(out, size, &done, sizeof done);
    return IOSCHED_GOT;
}

iosched_dur iosched_device_estimate(const struct iosched_device *d,
                                    const struct iosched_cmd *cmd,
                                    struct iosched_access *parts,
                                    iosched_time now)
{
    struct iosched__service sv;

    if (d == NULL || cmd == NULL || now == IOSCHED_NEVER || now < d->clock ||
        check_cmd(d, cmd) < 0)
        return IOSCHED_NEVER;
    IOSCHED_PORT_SET(&sv, 0, sizeof sv);
    d->model->time(d->state, cmd, now, &sv);
    if (parts != NULL)
        *parts = sv.parts;
    return service_time(&sv.parts);
}

int iosched_device_power_cut(struct iosched_device *d,
                             struct iosched_extent *out, uint32_t max,
                             uint32_t *n, iosched_time now)
{
    int err = check_call(d, now);
    uint32_t i;

    if (err < 0)
        return err;
    if (n == NULL || (out == NULL && max > 0))
        return IOSCHED_ERR_INVAL;
    advance(d, now);
    err = d->model->power_cut(d->state, out, max, n, now);
    if (err < 0)
        return err;
    for (i = d->top; i-- > 0; )
        if (d->slots[i].state == SLOT_HELD ||
            d->slots[i].state == SLOT_SERVED) {
            release(d, &d->slots[i]);
            d->count.dropped++;
        }
    d->nheld = d->nserved = 0;
    d->free_at = d->clock;
    d->event_at = IOSCHED_NEVER;
    return IOSCHED_OK;
}

/* --- Counters ------------------------------------------------------------- */
int iosched_device_counters(const struct iosched_device *d,
                            struct iosched_device_counters *out, size_t size)
{
    if (d == NULL || out == NULL)
        return IOSCHED_ERR_INVAL;
    iosched__give_struct(out, size, &d->count, sizeof d->count);
    return IOSCHED_OK;
}
