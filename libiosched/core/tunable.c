/* SPDX-License-Identifier: BSD-2-Clause */
/* tunable.c - settings by name: the policy's, which live in its state, and the
 * core's own.  All start from their defaults, the preset and the string. */
#include "hot.h"

#define KIB_MAX INT64_C(0x7fffffff)

/* The order is enum core_tunable's. */
static const struct iosched_tunable core_tunables[TUN_COUNT] = {
    { "tick_ns", "clock of the policies counts in these; 0: ns",
      0, INT64_C(1000000000), 0, IOSCHED_UNIT_NS, 0, 0 },
    { "nomerges", "0 merge, 2 not; 1 under COMPAT only with the last",
      0, 2, 0, IOSCHED_UNIT_NONE, 0, 0 },
    { "max_sectors_kb", "largest merged request",
      1, KIB_MAX, 0, IOSCHED_UNIT_KIB, 0, 0 },
    { "sort_across_ops", "what is emitted sorted may pass other operations",
      0, 1, 0, IOSCHED_UNIT_BOOL, IOSCHED_TUNABLE_QUIRK, 0 },
    { "rotational", "seeks cost time",
      0, 1, 1, IOSCHED_UNIT_BOOL, 0, 0 },
};

static int64_t core_default(const struct iosched *s, unsigned i)
{
    switch (i) {
    case TUN_NOMERGES:
        return s->cfg.flags & IOSCHED_F_NOMERGE ? 2 : 0;
    case TUN_MAX_SECTORS_KB:
        return (int64_t)s->cfg.max_merge_kib;
    case TUN_ROTATIONAL:
        return !(s->cfg.flags & IOSCHED_F_NONROTATIONAL);
    default:
        return core_tunables[i].def;
    }
}

/** The i-th tunable of the policy in the library's own layout, or NULL. */
static const struct iosched_tunable_def *nth(const struct iosched_core *c,
                                             size_t i)
{
    const char *at = (const char *)c->ops.tunables;
    const struct iosched_tunable_def *def;

    if (at == NULL)
        return NULL;
    def = (const struct iosched_tunable_def *)(const void *)
          (at + i * c->ops.tunable_stride);
    return def->info.name != NULL ? def : NULL;
}

static int64_t *value_of(struct iosched_core *c,
                         const struct iosched_tunable_def *def)
{
    return (int64_t *)(void *)((char *)c->state + def->offset);
}

/** Where the tunable `name` of len bytes is kept, and what it is; NULL: there
 *  is none. */
static int64_t *lookup(struct iosched_core *c, const char *name, size_t len,
                       const struct iosched_tunable **info)
{
    const struct iosched_tunable_def *def;
    size_t i;

    for (i = 0; (def = nth(c, i)) != NULL; i++)
        if (iosched__text_is(name, len, def->info.name)) {
            *info = &def->info;
            return value_of(c, def);
        }
    for (i = 0; i < TUN_COUNT; i++)
        if (iosched__text_is(name, len, core_tunables[i].name)) {
            *info = &core_tunables[i];
            return &c->tun[i];
        }
    return NULL;
}

static int check(const struct iosched_tunable *info, int64_t value)
{
    if (info->flags & IOSCHED_TUNABLE_RO)
        return IOSCHED_ERR_NOTSUP;
    return value >= info->min && value <= info->max ? IOSCHED_OK
                                                    : IOSCHED_ERR_RANGE;
}

/** What the core derives from its own tunables. */
void iosched__core_tuned(struct iosched_core *c)
{
    uint64_t bytes = (uint64_t)c->tun[TUN_MAX_SECTORS_KB] * 1024u;
    uint64_t blocks = bytes / c->s->cfg.block_size;

    c->hashes = iosched__compat(c->s)        ? HASH_COMPAT
                : c->tun[TUN_NOMERGES] == 0 ? HASH_ALL
                                            : HASH_NONE;
    c->merge_nblk = blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX;
}

void iosched__core_tune_defaults(struct iosched_core *c)
{
    const struct iosched_tunable_def *def;
    size_t i;

    for (i = 0; (def = nth(c, i)) != NULL; i++)
        *value_of(c, def) = def->info.def;
    for (i = 0; i < TUN_COUNT; i++)
        c->tun[i] = core_default(c->s, (unsigned)i);
}

/** Apply "NAME=VALUE,NAME=VALUE"; NULL: nothing to do. */
int iosched__core_tune(struct iosched_core *c, const char *settings)
{
    const char *at = settings, *name, *text;

    if (settings == NULL || *settings == '\0')
        return settings == NULL ? IOSCHED_OK : IOSCHED_ERR_INVAL;
    for (;;) {
        const struct iosched_tunable *info;
        int64_t *where, value;
        size_t len;
        int err;

        for (name = at; *at != '\0' && *at != '=' && *at != ','; at++)
            ;
        len = (size_t)(at - name);
        if (*at != '=' || len == 0)
            return IOSCHED_ERR_INVAL;
        for (text = ++at; *at != '\0' && *at != ','; at++)
            ;
        where = lookup(c, name, len, &info);
        if (where == NULL)
            return IOSCHED_ERR_NOENT;
        err = iosched__parse_value(text, (size_t)(at - text), info->unit,
                                   &value);
        if (err == IOSCHED_OK)
            err = check(info, value);
        if (err < 0)
            return err;
        *where = value;
        if (*at == '\0')
            return IOSCHED_OK;
        at++;
    }
}

static size_t length(const char *text)
{
    size_t n = 0;

    while (text[n] != '\0')
        n++;
    return n;
}

int iosched_tunable_get(const struct iosched *s, const char *name,
                        int64_t *value)
{
    const struct iosched_tunable *info;
    const int64_t *where;

    if (s == NULL || name == NULL || value == NULL)
        return IOSCHED_ERR_INVAL;
    where = lookup(s->run, name, length(name), &info);
    if (where == NULL)
        return IOSCHED_ERR_NOENT;
    *value = *where;
    return IOSCHED_OK;
}

int iosched_tunable_set(struct iosched *s, const char *name, int64_t value,
                        iosched_time now)
{
    const struct iosched_tunable *info;
    int64_t *where;
    int err;

    if (name == NULL)
        return IOSCHED_ERR_INVAL;
    err = iosched__enter(s, now);
    if (err < 0)
        return err;
    where = lookup(s->run, name, length(name), &info);
    if (where == NULL)
        err = IOSCHED_ERR_NOENT;
    else if (where == &s->run->tun[TUN_TICK_NS])
        err = IOSCHED_ERR_NOTSUP;       /* core time would step back */
    else
        err = check(info, value);
    if (err == IOSCHED_OK) {
        *where = value;
        iosched__core_tuned(s->run);
        if (s->run->ops.tuned != NULL)
            s->run->ops.tuned(s->run->state);
        iosched__event_note(s, IOSCHED_EV_TUNE, NULL, info->name, value);
    }
    iosched__leave(s);
    return err;
}

int iosched_tunable_at(const struct iosched *s, size_t i,
                       struct iosched_tunable *out, size_t size)
{
    const struct iosched_tunable_def *def;
    struct iosched_tunable t;
    size_t n = 0, known = sizeof t;

    if (s == NULL || out == NULL)
        return IOSCHED_ERR_INVAL;
    while (nth(s->run, n) != NULL && n < i)
        n++;
    def = nth(s->run, n);
    if (def != NULL) {
        IOSCHED_PORT_SET(&t, 0, known);
        IOSCHED_PORT_COPY(&t, &def->info, known);
    } else if (i - n < TUN_COUNT) {
        t = core_tunables[i - n];
        t.def = core_default(s, (unsigned)(i - n));
    } else {
        return IOSCHED_ERR_NOENT;
    }
    iosched__give_struct(out, size, &t, known);
    return IOSCHED_OK;
}
