/* SPDX-License-Identifier: BSD-2-Clause */
/* policystring.c - fuzz target: the bytes are a string that names a policy.
 *
 * Opening and switching agree about it; what is refused has changed nothing;
 * what is taken runs under a name that the string begins with, with every
 * tunable within its bounds; and tunables set by it have the value in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <iosched/iosched.h>
#include <iosched/policy.h>
#include <iosched/tunable.h>

#include "target.h"

#define MUST(x) must((x) != 0, #x)

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "not so: %s\n", what);
    abort();
}

static int may_be_answered(int rc)
{
    return rc == IOSCHED_OK || rc == IOSCHED_ERR_INVAL ||
           rc == IOSCHED_ERR_NOENT || rc == IOSCHED_ERR_RANGE ||
           rc == IOSCHED_ERR_NOTSUP;
}

/* The sum of all values, with every one in its bounds. */
static uint64_t tunables(const struct iosched *s)
{
    struct iosched_tunable t;
    uint64_t sum = 0;
    int64_t v = 0;
    size_t i;

    for (i = 0; iosched_tunable_at(s, i, &t, sizeof t) == IOSCHED_OK; i++) {
        MUST(iosched_tunable_get(s, t.name, &v) == IOSCHED_OK);
        MUST(v >= t.min && v <= t.max);
        sum = sum * 31 + (uint64_t)v;
    }
    MUST(i > 0);
    return sum;
}

/* The string begins with the name or the alias of the policy that runs. */
static int named_by(const struct iosched *s, const char *text)
{
    const struct iosched_policy *const *p = iosched_builtin_policies();
    size_t n = strcspn(text, ":,");

    for (; *p != NULL; p++)
        if (strcmp((*p)->name, iosched_policy_name(s)) == 0)
            return (strlen((*p)->name) == n &&
                    memcmp((*p)->name, text, n) == 0) ||
                   ((*p)->alias != NULL && strlen((*p)->alias) == n &&
                    memcmp((*p)->alias, text, n) == 0);
    return 0;
}

/* The last NAME=VALUE of the string, if VALUE is a plain number that does not
 * depend on a unit, is the value now. */
static void check_last(const struct iosched *s, const char *text)
{
    const char *comma = strrchr(text, ','), *equals;
    char name[64];
    char *end;
    long long want;
    int64_t v = 0;

    if (comma == NULL)
        return;
    equals = strchr(comma, '=');
    MUST(equals != NULL);
    if ((size_t)(equals - comma) > sizeof name)
        return;
    memcpy(name, comma + 1, (size_t)(equals - comma) - 1);
    name[equals - comma - 1] = '\0';
    MUST(iosched_tunable_get(s, name, &v) == IOSCHED_OK);
    want = strtoll(equals + 1, &end, 10);
    MUST(end != equals + 1);
    if (*end == '\0')
        MUST(v == want);
    else
        MUST(strcmp(end, "ns") == 0   ? v == want
             : strcmp(end, "us") == 0 ? v == want * 1000
             : strcmp(end, "ms") == 0 ? v == want * 1000000
                                      : strcmp(end, "s") == 0 &&
                                            v == want * 1000000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *first = iosched_builtin_policies()[0]->name;
    char text[300];
    struct iosched *a = NULL, *b = NULL;
    uint64_t before;
    int opened, switched;

    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    opened = iosched_create(text, NULL, &a, 0);
    MUST(may_be_answered(opened) && (opened == IOSCHED_OK) == (a != NULL));
    MUST(iosched_create(first, NULL, &b, 0) == IOSCHED_OK);
    before = tunables(b);
    switched = iosched_switch(b, text, 0);
    MUST(opened == switched);
    if (switched == IOSCHED_OK) {
        MUST(named_by(a, text) && named_by(b, text));
        MUST(tunables(a) == tunables(b));
        check_last(a, text);
    } else {
        MUST(strcmp(iosched_policy_name(b), first) == 0);
        MUST(tunables(b) == before);
    }
    MUST(iosched_destroy(a) == IOSCHED_OK);
    MUST(iosched_destroy(b) == IOSCHED_OK);
    return 0;
}
