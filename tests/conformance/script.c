/* SPDX-License-Identifier: BSD-2-Clause */
/* script.c - the parser: one function for each kind of command. */
#include "script.h"

#include <stdlib.h>
#include <string.h>

#include <iosched/request.h>
#include <iosched/stream.h>

#include "complain.h"
#include "text.h"

#define MAX_GROUP 4095u

/* What has been said so far about an ID; 0: nothing. */
enum known { KNOWN_LIVE = 1, KNOWN_OVER = 2 };  /* exited, completed      */

struct parser {
    struct text    text;
    struct script *script;
    size_t         room;
    int            started;     /* something was added or asked for       */
    int            automatic, ended;
    uint32_t       nonrot;
    uint64_t       now;
    uint64_t       bits;        /* of all sectors and lengths             */
    unsigned char *requests, *streams, *groups;     /* enum known, by ID  */
};

/* --- Words ---------------------------------------------------------------- */

static const char *word(const struct parser *p, unsigned i)
{
    return p->text.words[i];
}

static int word_is(const struct parser *p, unsigned i, const char *what)
{
    return strcmp(word(p, i), what) == 0;
}

static uint32_t number(const struct parser *p, unsigned i, uint32_t min,
                       uint32_t max, const char *what)
{
    uint64_t v;

    if (!text_uint(word(p, i), max, &v) || v < min)
        complain(p->text.path, p->text.line, "%s is no %s", word(p, i), what);
    return (uint32_t)v;
}

/* An ID that has to be in the state given. */
static uint32_t id_of(const struct parser *p, unsigned i,
                      const unsigned char *table, uint32_t max, int state,
                      const char *what)
{
    uint32_t id = number(p, i, 1, max, what);

    if (table[id] != state)
        complain(p->text.path, p->text.line, "%s %u is %s", what, id,
                 table[id] == 0 ? "unknown"
                 : table[id] == KNOWN_OVER ? "over" : "already there");
    return id;
}

static uint32_t request_of(const struct parser *p, unsigned i)
{
    return id_of(p, i, p->requests, SCRIPT_MAX_ID, KNOWN_LIVE, "request");
}

static uint32_t stream_of(const struct parser *p, unsigned i)
{
    return id_of(p, i, p->streams, SCRIPT_MAX_ID, KNOWN_LIVE, "stream");
}

/* A group that exists; 0 is the root, which always does. */
static uint32_t group_of(const struct parser *p, unsigned i)
{
    return word_is(p, i, "0")
        ? 0 : id_of(p, i, p->groups, MAX_GROUP, KNOWN_LIVE, "group");
}

static uint32_t weight_of(const struct parser *p, unsigned i)
{
    return number(p, i, IOSCHED_WEIGHT_MIN, IOSCHED_WEIGHT_MAX, "weight");
}

/* CLASS LEVEL */
static uint16_t ioprio_of(const struct parser *p, unsigned i)
{
    static const char *const classes[4] = { "none", "rt", "be", "idle" };
    unsigned cls;
    uint32_t level = number(p, i + 1, 0, IOSCHED_PRIO_LEVELS - 1, "level");

    for (cls = 0; cls < 4 && !word_is(p, i, classes[cls]); cls++)
        ;
    if (cls == 4)
        complain(p->text.path, p->text.line, "%s is no class", word(p, i));
    return cls == IOSCHED_PRIO_NONE ? 0 : (uint16_t)(cls << 13 | level);
}

/* --- Commands ------------------------------------------------------------- */

static void header(const struct parser *p, char *out)
{
    const char *w = word(p, 1);

    if (out[0] != '\0')
        complain(p->text.path, p->text.line, "second %s", word(p, 0));
    if (strlen(w) >= SCRIPT_NAME)
        complain(p->text.path, p->text.line, "%s is too long", w);
    strcpy(out, w);
}

static void parse_version(struct parser *p, struct command *c)
{
    (void)c;
    header(p, p->script->version);
}

static void parse_policy(struct parser *p, struct command *c)
{
    (void)c;
    header(p, p->script->policy);
}

static void parse_tunable(struct parser *p, struct command *c)
{
    if (strlen(word(p, 1)) >= sizeof c->name)
        complain(p->text.path, p->text.line, "%s is too long", word(p, 1));
    strcpy(c->name, word(p, 1));
    if (!text_milli(word(p, 2), 1, &c->value))
        complain(p->text.path, p->text.line, "%s is no value", word(p, 2));
}

static void parse_queue(struct parser *p, struct command *c)
{
    if (!word_is(p, 1, "nonrot"))
        complain(p->text.path, p->text.line, "queue %s?", word(p, 1));
    c->count = number(p, 2, 0, 1, "switch");
    if (p->started)
        c->id = c->count != p->nonrot;
    else
        p->script->nonrot = (int)c->count;
    p->nonrot = c->count;
}

static void parse_max_sectors(struct parser *p, struct command *c)
{
    c->count = number(p, 1, 2, UINT32_MAX, "size");
    if (c->count % 2 != 0)
        complain(p->text.path, p->text.line, "%u sectors are no whole KiB",
                 c->count);
    p->bits |= c->count;
}

static void parse_merge(struct parser *p, struct command *c)
{
    c->count = word_is(p, 1, "on") ? 1 : 0;
    if (c->count == 0 && !word_is(p, 1, "off"))
        complain(p->text.path, p->text.line, "merge %s?", word(p, 1));
}

static void parse_stream(struct parser *p, struct command *c)
{
    c->id = number(p, 1, 1, SCRIPT_MAX_ID, "stream");
    if (p->streams[c->id] != 0)
        complain(p->text.path, p->text.line, "stream %u is already there",
                 c->id);
    c->ioprio = ioprio_of(p, 2);
    c->group = p->text.nwords > 4 ? group_of(p, 4) : 0;
    p->streams[c->id] = KNOWN_LIVE;
    p->script->nstreams++;
    if (c->id > p->script->max_stream)
        p->script->max_stream = c->id;
}

static void parse_ioprio(struct parser *p, struct command *c)
{
    c->id = stream_of(p, 1);
    c->ioprio = ioprio_of(p, 2);
}

static void parse_exit(struct parser *p, struct command *c)
{
    c->id = stream_of(p, 1);
    p->streams[c->id] = KNOWN_OVER;
}

static void parse_move(struct parser *p, struct command *c)
{
    c->id = stream_of(p, 1);
    c->group = group_of(p, 2);
}

static void parse_group(struct parser *p, struct command *c)
{
    c->id = id_of(p, 1, p->groups, MAX_GROUP, 0, "group");
    c->group = group_of(p, 2);
    c->weight = weight_of(p, 3);
    c->leaf = p->text.nwords > 4 ? weight_of(p, 4) : 0;
    p->groups[c->id] = KNOWN_LIVE;
    p->script->ngroups++;
    if (c->id > p->script->max_group)
        p->script->max_group = c->id;
}

static void parse_weight(struct parser *p, struct command *c)
{
    c->id = group_of(p, 1);
    c->weight = weight_of(p, 2);
    c->leaf = p->text.nwords > 3 ? weight_of(p, 3) : 0;
}

static void parse_time(struct parser *p, struct command *c)
{
    if (!text_time(word(p, 1), &c->time))
        complain(p->text.path, p->text.line, "%s is no time", word(p, 1));
    if (c->time < p->now)
        complain(p->text.path, p->text.line, "time goes back");
    p->now = c->time;
}

/* sync or async, and what else there is, comma-joined. */
static void parse_flags(struct parser *p, struct command *c)
{
    const char *w = word(p, 4);
    int sync = -1, noidle = 0;

    for (;;) {
        size_t n = strcspn(w, ",");

        if (n == 4 && memcmp(w, "sync", n) == 0 && sync < 0)
            sync = 1;
        else if (n == 5 && memcmp(w, "async", n) == 0 && sync < 0)
            sync = 0;
        else if (n == 4 && memcmp(w, "meta", n) == 0)
            c->flags |= IOSCHED_RQ_META | IOSCHED_RQ_PRIO;
        else if (n == 6 && memcmp(w, "noidle", n) == 0)
            noidle = 1;
        else if (n == 7 && memcmp(w, "nomerge", n) == 0)
            c->flags |= IOSCHED_RQ_NOMERGE;
        else
            complain(p->text.path, p->text.line, "flags %s?", word(p, 4));
        if (w[n] == '\0')
            break;
        w += n + 1;
    }
    if (sync < 0)
        complain(p->text.path, p->text.line, "neither sync nor async");
    if (sync == 0 && c->op == IOSCHED_READ)
        complain(p->text.path, p->text.line, "a read is sync");
    if (sync)
        c->flags |= IOSCHED_RQ_SYNC;
    if (sync && !noidle && c->op == IOSCHED_WRITE)
        c->flags |= IOSCHED_RQ_IDLEHINT;
}

static void parse_add(struct parser *p, struct command *c)
{
    c->id = id_of(p, 1, p->requests, SCRIPT_MAX_ID, 0, "request");
    c->stream = stream_of(p, 2);
    if (!word_is(p, 3, "R") && !word_is(p, 3, "W"))
        complain(p->text.path, p->text.line, "%s is neither R nor W",
                 word(p, 3));
    c->op = word_is(p, 3, "R") ? IOSCHED_READ : IOSCHED_WRITE;
    parse_flags(p, c);
    if (!text_uint(word(p, 5), INT64_MAX, &c->sector))
        complain(p->text.path, p->text.line, "%s is no sector", word(p, 5));
    c->nsect = number(p, 6, 1, INT32_MAX, "length");
    p->bits |= c->sector | c->nsect;
    p->requests[c->id] = KNOWN_LIVE;
    p->started = 1;
    if (c->id > p->script->max_request)
        p->script->max_request = c->id;
}

static void parse_dispatch(struct parser *p, struct command *c)
{
    if (p->automatic)
        complain(p->text.path, p->text.line, "dispatch after auto");
    c->count = p->text.nwords > 1 ? number(p, 1, 1, INT32_MAX, "count") : 1;
    p->started = 1;
}

static void parse_complete(struct parser *p, struct command *c)
{
    c->id = request_of(p, 1);
    p->requests[c->id] = KNOWN_OVER;
}

static void parse_requeue(struct parser *p, struct command *c)
{
    c->id = request_of(p, 1);
}

static void parse_drain(struct parser *p, struct command *c)
{
    (void)c;
    p->started = 1;
}

static void parse_auto(struct parser *p, struct command *c)
{
    c->count = number(p, 1, 1, INT32_MAX, "depth");
    p->automatic = 1;
}

static void parse_end(struct parser *p, struct command *c)
{
    (void)c;
    p->ended = 1;
}

/* --- The whole ------------------------------------------------------------ */

#define NOT_A_COMMAND (-1)      /* a line of the header                   */

static const struct rule {
    const char *name;
    int         verb;
    unsigned    min, max;       /* words, the command's own included      */
    void      (*parse)(struct parser *p, struct command *c);
} rules[] = {
    { "add",         VERB_ADD,         7, 7, parse_add },
    { "auto",        VERB_AUTO,        2, 2, parse_auto },
    { "complete",    VERB_COMPLETE,    2, 2, parse_complete },
    { "dispatch",    VERB_DISPATCH,    1, 2, parse_dispatch },
    { "drain",       VERB_DRAIN,       1, 1, parse_drain },
    { "end",         VERB_END,         1, 1, parse_end },
    { "exit",        VERB_EXIT,        2, 2, parse_exit },
    { "group",       VERB_GROUP,       4, 5, parse_group },
    { "ioprio",      VERB_IOPRIO,      4, 4, parse_ioprio },
    { "max_sectors", VERB_MAX_SECTORS, 2, 2, parse_max_sectors },
    { "merge",       VERB_MERGE,       2, 2, parse_merge },
    { "move",        VERB_MOVE,        3, 3, parse_move },
    { "policy",      NOT_A_COMMAND,    2, 2, parse_policy },
    { "queue",       VERB_QUEUE,       3, 3, parse_queue },
    { "requeue",     VERB_REQUEUE,     2, 2, parse_requeue },
    { "stream",      VERB_STREAM,      4, 5, parse_stream },
    { "t",           VERB_TIME,        2, 2, parse_time },
    { "tunable",     VERB_TUNABLE,     3, 3, parse_tunable },
    { "version",     NOT_A_COMMAND,    2, 2, parse_version },
    { "weight",      VERB_WEIGHT,      3, 4, parse_weight }
};

static const struct rule *find_rule(const struct parser *p)
{
    size_t i;

    for (i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const struct rule *r = &rules[i];

        if (!word_is(p, 0, r->name))
            continue;
        if (p->text.nwords < r->min || p->text.nwords > r->max)
            complain(p->text.path, p->text.line, "%s takes %u to %u words, "
                     "not %u", r->name, r->min - 1, r->max - 1,
                     p->text.nwords - 1);
        return r;
    }
    complain(p->text.path, p->text.line, "unknown command %s", word(p, 0));
}

static void parse_line(struct parser *p)
{
    struct script *s = p->script;
    const struct rule *r = find_rule(p);
    struct command c;

    if (p->ended)
        complain(p->text.path, p->text.line, "%s after end", word(p, 0));
    if (r->verb != NOT_A_COMMAND &&
        (s->version[0] == '\0' || s->policy[0] == '\0'))
        complain(p->text.path, p->text.line, "%s before version and policy",
                 word(p, 0));
    memset(&c, 0, sizeof c);
    c.line = p->text.line;
    r->parse(p, &c);
    if (r->verb == NOT_A_COMMAND)
        return;
    c.verb = (enum verb)r->verb;
    if (s->count == p->room) {
        p->room = p->room > 0 ? 2 * p->room : 256;
        s->commands = must_grow(s->commands, p->room, sizeof *s->commands);
    }
    s->commands[s->count++] = c;
}

void script_parse(struct script *s, const char *path, const char *data,
                  size_t len)
{
    struct parser p;

    memset(s, 0, sizeof *s);
    memset(&p, 0, sizeof p);
    p.script = s;
    p.requests = must_alloc(SCRIPT_MAX_ID + 1);
    p.streams = must_alloc(SCRIPT_MAX_ID + 1);
    p.groups = must_alloc(MAX_GROUP + 1);
    text_open(&p.text, path, data, len);
    while (text_line(&p.text))
        parse_line(&p);
    if (!p.ended)
        complain(path, p.text.line, "no end");
    s->grain = (uint32_t)(p.bits & (~p.bits + 1) & UINT32_MAX);
    free(p.requests);
    free(p.streams);
    free(p.groups);
}

void script_free(struct script *s)
{
    free(s->commands);
    memset(s, 0, sizeof *s);
}
