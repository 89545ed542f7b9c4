/* SPDX-License-Identifier: BSD-2-Clause */
/* replay.c - replay recorded decisions against the library.
 *
 *     replay [OPTION]... PATH...
 *
 * Exit status: 0 all is as it must be, 1 it is not, 2 the input is at fault
 * and nothing can be said.  See README in this folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "decision.h"
#include "player.h"
#include "script.h"
#include "source.h"
#include "text.h"

#define MAX_MISSING 16u         /* policies the library may lack          */

static const char usage[] =
    "usage: replay [OPTION]... PATH...\n"
    "PATH is a NAME.script with its NAME.expected, a packed set (.tar.xz), or\n"
    "a folder of these.\n"
    "  --min PERCENT       how many of the random scripts (r*, a*), taken\n"
    "                      together, must be identical; 100.  All others\n"
    "                      always must\n"
    "  --skip-unavailable  leave out policies that the library does not have\n"
    "  --block-size BYTES  a power of two from 512 on; 512.  Scripts that do\n"
    "                      not fit are left out\n"
    "  --show              print every decision\n"
    "  --parse             only check the grammar and count commands\n";

struct missing {                /* a policy the library lacks             */
    char   name[SCRIPT_NAME];
    size_t count;
};

struct replay {
    /* options */
    uint32_t       floor;       /* hundredths of a percent                */
    uint32_t       block_size;
    int            skip, show, parse;
    /* totals */
    size_t         scripts, identical, decisions, commands;
    size_t         pool, pool_identical;    /* r* and a*                  */
    size_t         failures;                /* of all the others          */
    size_t         left_out;                /* sectors not on blocks      */
    struct missing missing[MAX_MISSING];
};

/* r or a and a number, as r001. */
static int is_random(const char *path)
{
    const char *slash = strrchr(path, '/'), *colon;
    const char *name = slash != NULL ? slash + 1 : path;

    colon = strrchr(name, ':');
    if (colon != NULL)
        name = colon + 1;
    return (*name == 'r' || *name == 'a') && name[1] >= '0' && name[1] <= '9';
}

static void note_missing(struct replay *r, const char *policy)
{
    size_t i = 0;

    while (i < MAX_MISSING && r->missing[i].count > 0 &&
           strcmp(r->missing[i].name, policy) != 0)
        i++;
    if (i == MAX_MISSING)
        complain("replay", 0, "too many policies");
    strcpy(r->missing[i].name, policy);
    r->missing[i].count++;
}

static void one_report(struct replay *r, const char *path,
                       const struct script *script,
                       const struct report *report)
{
    int random = is_random(path), same = report->verdict == PLAYED_IDENTICAL;

    if (report->verdict == PLAYED_UNAVAILABLE) {
        note_missing(r, script->policy);
        if (r->skip)
            return;
    }
    r->scripts++;
    r->decisions += report->decisions;
    r->identical += (size_t)same;
    if (random) {
        r->pool++;
        r->pool_identical += (size_t)same;
    } else if (!same) {
        r->failures++;
    }
    if (report->verdict == PLAYED_DIFFERS)
        printf("%s:%u: differs\n    expected: %s\n    got:      %s\n", path,
               report->line, report->wanted, report->got);
}

static void one_script(void *user, const struct blob *source,
                       const struct blob *expected)
{
    struct replay *r = user;
    struct script script;
    struct decisions decisions;
    struct report report;

    script_parse(&script, source->path, source->data, source->len);
    if (expected->data == NULL)
        complain(expected->path, 0, "no such file");
    decisions_parse(&decisions, expected->path, expected->data, expected->len);
    if (r->parse) {
        r->scripts++;
        r->commands += script.count;
    } else if (script.grain != 0 && script.grain % (r->block_size / 512) != 0) {
        r->left_out++;
    } else {
        player_run(&script, &decisions, r->block_size, r->show, &report);
        one_report(r, source->path, &script, &report);
    }
    script_free(&script);
    decisions_free(&decisions);
}

/* Print the totals.  Return the exit status. */
static int conclude(const struct replay *r)
{
    size_t i;
    int bad = r->failures > 0 || r->decisions == 0;

    for (i = 0; i < MAX_MISSING && r->missing[i].count > 0; i++)
        printf("%s %zu scripts: this library has no policy %s\n",
               r->skip ? "skipped" : "failed", r->missing[i].count,
               r->missing[i].name);
    if (r->left_out > 0)
        printf("left out %zu scripts: a sector or length is no multiple of %u "
               "bytes\n", r->left_out, r->block_size);
    if (r->pool_identical * 10000u < r->pool * r->floor) {
        printf("random scripts: %zu of %zu identical, %u.%02u %% wanted\n",
               r->pool_identical, r->pool, r->floor / 100, r->floor % 100);
        bad = 1;
    }
    if (r->decisions == 0)
        printf("nothing was compared\n");
    printf("scripts %zu, identical %zu, decisions %zu\n", r->scripts,
           r->identical, r->decisions);
    return bad;
}

static const char *value_of(int argc, char **argv, int *i)
{
    if (*i + 1 == argc)
        complain("replay", 0, "%s: a value is missing", argv[*i]);
    return argv[++*i];
}

static void set_floor(struct replay *r, const char *text)
{
    int64_t v;

    if (!text_milli(text, 0, &v) || v > 100000 || v % 10 != 0)
        complain("replay", 0, "--min %s: no percentage", text);
    r->floor = (uint32_t)(v / 10);
}

static void set_block_size(struct replay *r, const char *text)
{
    uint64_t v;

    if (!text_uint(text, 1u << 20, &v) || v < 512 || (v & (v - 1)) != 0)
        complain("replay", 0, "--block-size %s: no power of two from 512 on",
                 text);
    r->block_size = (uint32_t)v;
}

/* Return the index of the first path. */
static int options(struct replay *r, int argc, char **argv)
{
    int i;

    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i + 1;
        if (strcmp(argv[i], "--min") == 0)
            set_floor(r, value_of(argc, argv, &i));
        else if (strcmp(argv[i], "--block-size") == 0)
            set_block_size(r, value_of(argc, argv, &i));
        else if (strcmp(argv[i], "--skip-unavailable") == 0)
            r->skip = 1;
        else if (strcmp(argv[i], "--show") == 0)
            r->show = 1;
        else if (strcmp(argv[i], "--parse") == 0)
            r->parse = 1;
        else
            complain("replay", 0, "unknown option %s", argv[i]);
    }
    return i;
}

int main(int argc, char **argv)
{
    struct replay r;
    int i;

    memset(&r, 0, sizeof r);
    r.floor = 10000;
    r.block_size = 512;
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    i = options(&r, argc, argv);
    if (i >= argc)
        complain("replay", 0, "no scripts given (--help for help)");
    for (; i < argc; i++)
        source_each(argv[i], one_script, &r);
    if (!r.parse)
        return conclude(&r);
    printf("scripts %zu, commands %zu\n", r.scripts, r.commands);
    return r.scripts == 0;
}
