/* SPDX-License-Identifier: BSD-2-Clause */
/* policyname.c - strings that choose a policy: NAME[:PRESET][,TUNABLE=VALUE]...
 * Parsed wholly before anything moves. */
#include "hot.h"

int iosched__text_is(const char *text, size_t len, const char *word)
{
    size_t i;

    for (i = 0; i < len; i++)
        if (word[i] == '\0' || word[i] != text[i])
            return 0;
    return word[len] == '\0';
}

static int name_char(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') || ch == '.' ||
           ch == '-';
}

static int is_name(const char *text)
{
    size_t n = 0;

    if (text == NULL)
        return 0;
    while (text[n] != '\0' && n < 32 && name_char(text[n]))
        n++;
    return n > 0 && n < 32 && text[n] == '\0';
}

/** Can the library run this one? */
int iosched__policy_ok(const struct iosched_policy *p)
{
    const size_t least = offsetof(struct iosched_policy, find);

    return p != NULL && p->struct_size >= least &&
           p->api == IOSCHED_POLICY_API && is_name(p->name) &&
           (p->alias == NULL || is_name(p->alias)) && p->state_size > 0 &&
           (p->tunables == NULL ||
            p->tunable_stride >= sizeof(struct iosched_tunable_def)) &&
           p->insert != NULL && p->dispatch != NULL && p->removed != NULL &&
           p->evict != NULL;
}

/** The policy of that name or alias in a list, or NULL. */
static const struct iosched_policy *
named(const struct iosched_policy *const *list, const char *text, size_t n)
{
    for (; list != NULL && *list != NULL; list++)
        if (iosched__text_is(text, n, (*list)->name) ||
            ((*list)->alias != NULL &&
             iosched__text_is(text, n, (*list)->alias)))
            return *list;
    return NULL;
}

int iosched__parse_policy(const struct iosched_cfg *cfg, const char *text,
                          struct policy_choice *out)
{
    const struct iosched_preset *preset;
    size_t n = 0, from;

    if (text == NULL)
        return IOSCHED_ERR_INVAL;
    while (name_char(text[n]))
        n++;
    if (n == 0 || n > 31 ||
        (text[n] != '\0' && text[n] != ':' && text[n] != ','))
        return IOSCHED_ERR_INVAL;
    out->policy = named(cfg->policies, text, n);
    if (out->policy == NULL)
        out->policy = named(cfg->extra_policies, text, n);
    if (out->policy == NULL)
        return IOSCHED_ERR_NOENT;
    out->preset = out->settings = NULL;
    if (text[n] == ':') {
        from = ++n;
        while (name_char(text[n]))
            n++;
        if (n == from || n - from > 31 || (text[n] != '\0' && text[n] != ','))
            return IOSCHED_ERR_INVAL;
        preset = out->policy->presets;
        if (preset == NULL)
            return IOSCHED_ERR_NOENT;
        while (preset->version != NULL &&
               !iosched__text_is(text + from, n - from, preset->version))
            preset++;
        if (preset->version == NULL)
            return IOSCHED_ERR_NOENT;
        out->preset = preset->settings;
    }
    if (text[n] == ',')
        out->settings = text + n + 1;
    return IOSCHED_OK;
}

/** ns in one of the unit that text names; 0: it names none. */
static int64_t ns_of_suffix(const char *text, size_t len)
{
    if (len == 0 || iosched__text_is(text, len, "ns"))
        return 1;
    if (iosched__text_is(text, len, "us"))
        return 1000;
    if (iosched__text_is(text, len, "ms"))
        return 1000000;
    if (iosched__text_is(text, len, "s"))
        return 1000000000;
    return 0;
}

int iosched__parse_value(const char *text, size_t len, unsigned unit,
                         int64_t *out)
{
    uint64_t v = 0, limit;
    int64_t scale = 1;
    size_t i = 0, from;
    int negative = 0, too_big = 0;

    if (len > 0 && (text[0] == '-' || text[0] == '+')) {
        negative = text[0] == '-';
        i++;
    }
    limit = (uint64_t)INT64_MAX + (unsigned)negative;
    for (from = i; i < len && text[i] >= '0' && text[i] <= '9'; i++) {
        unsigned digit = (unsigned)(text[i] - '0');

        if (v > (limit - digit) / 10)
            too_big = 1;
        else
            v = v * 10 + digit;
    }
    if (i == from)
        return IOSCHED_ERR_INVAL;
    if (unit == IOSCHED_UNIT_NS)
        scale = ns_of_suffix(text + i, len - i);
    else if (i < len)
        return IOSCHED_ERR_INVAL;
    if (scale == 0)
        return IOSCHED_ERR_INVAL;
    if (too_big || v > limit / (uint64_t)scale)
        return IOSCHED_ERR_RANGE;
    v *= (uint64_t)scale;
    if (negative)
        *out = v > (uint64_t)INT64_MAX ? INT64_MIN : -(int64_t)v;
    else
        *out = (int64_t)v;
    return IOSCHED_OK;
}
