/* SPDX-License-Identifier: BSD-2-Clause */
/* decision.c - reading, writing and comparing decisions. */
#include "decision.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"
#include "script.h"
#include "text.h"

static uint32_t get_id(const struct text *t, unsigned word)
{
    uint64_t v;

    if (!text_uint(t->words[word], SCRIPT_MAX_ID, &v) || v == 0)
        complain(t->path, t->line, "%s is no RQID", t->words[word]);
    return (uint32_t)v;
}

static uint64_t get_number(const struct text *t, unsigned word, uint64_t max)
{
    uint64_t v;

    if (!text_uint(t->words[word], max, &v))
        complain(t->path, t->line, "%s is no number here", t->words[word]);
    return v;
}

static int word_is(const struct text *t, unsigned word, const char *what)
{
    return word < t->nwords && strcmp(t->words[word], what) == 0;
}

/* T add RQID queue | back INTO [join GONE SURVIVOR] | front ... */
static void parse_add(const struct text *t, struct decision *d)
{
    d->id = get_id(t, 2);
    if (word_is(t, 3, "queue") && t->nwords == 4) {
        d->outcome = DECISION_QUEUE;
        return;
    }
    if (word_is(t, 3, "back"))
        d->outcome = DECISION_BACK;
    else if (word_is(t, 3, "front"))
        d->outcome = DECISION_FRONT;
    else
        complain(t->path, t->line, "queue, back or front?");
    if (t->nwords != 5 && !(t->nwords == 8 && word_is(t, 5, "join")))
        complain(t->path, t->line, "malformed add line");
    d->into = get_id(t, 4);
    if (t->nwords == 8) {
        d->gone = get_id(t, 6);
        d->survivor = get_id(t, 7);
    }
}

/* T disp RQID SECTOR NSECT R/W | T disp - wait T2 */
static void parse_disp(const struct text *t, struct decision *d)
{
    uint64_t hint;

    if (word_is(t, 2, "-")) {
        if (t->nwords != 5 || !word_is(t, 3, "wait") ||
            !(word_is(t, 4, "-") || text_time(t->words[4], &hint)))
            complain(t->path, t->line, "malformed disp line");
        d->outcome = DECISION_NONE;
        return;
    }
    if (t->nwords != 6 || !(word_is(t, 5, "R") || word_is(t, 5, "W")))
        complain(t->path, t->line, "malformed disp line");
    d->outcome = DECISION_DISP;
    d->id = get_id(t, 2);
    d->sector = get_number(t, 3, INT64_MAX);
    d->nsect = get_number(t, 4, UINT32_MAX);
    d->write = word_is(t, 5, "W");
}

void decisions_parse(struct decisions *d, const char *path, const char *data,
                     size_t len)
{
    struct text t;

    memset(d, 0, sizeof *d);
    text_open(&t, path, data, len);
    while (text_line(&t)) {
        struct decision one;

        memset(&one, 0, sizeof one);
        one.line = t.line;
        if (!text_time(t.words[0], &one.time))
            complain(path, t.line, "%s is no time", t.words[0]);
        if (word_is(&t, 1, "kick") && t.nwords == 2)
            continue;
        if (word_is(&t, 1, "add") && t.nwords >= 4) {
            parse_add(&t, &one);
        } else if (word_is(&t, 1, "disp") && t.nwords >= 3) {
            parse_disp(&t, &one);
        } else if (word_is(&t, 1, "end") && t.nwords == 6 &&
                   word_is(&t, 2, "queued") && word_is(&t, 4, "driver")) {
            one.outcome = DECISION_END;
            one.queued = (uint32_t)get_number(&t, 3, UINT32_MAX);
            one.driver = (uint32_t)get_number(&t, 5, UINT32_MAX);
        } else {
            complain(path, t.line, "no decision: %s",
                     t.nwords > 1 ? t.words[1] : t.words[0]);
        }
        decisions_add(d, &one);
    }
    if (d->count == 0)
        complain(path, 0, "no decisions in it");
}

void decisions_add(struct decisions *d, const struct decision *one)
{
    if (d->count == d->room) {
        d->room = d->room > 0 ? 2 * d->room : 64;
        d->list = must_grow(d->list, d->room, sizeof *d->list);
    }
    d->list[d->count++] = *one;
}

void decisions_free(struct decisions *d)
{
    free(d->list);
    memset(d, 0, sizeof *d);
}

int decision_equal(const struct decision *a, const struct decision *b)
{
    return a->outcome == b->outcome && a->time == b->time && a->id == b->id &&
           a->into == b->into && a->gone == b->gone &&
           a->survivor == b->survivor && a->sector == b->sector &&
           a->nsect == b->nsect && a->write == b->write &&
           a->queued == b->queued && a->driver == b->driver;
}

int decision_is_add(const struct decision *d)
{
    return d->outcome == DECISION_QUEUE || d->outcome == DECISION_BACK ||
           d->outcome == DECISION_FRONT;
}

const char *decision_format(char *buf, size_t size, const struct decision *d)
{
    char when[48];

    text_format_time(when, sizeof when, d->time);
    switch (d->outcome) {
    case DECISION_QUEUE:
        snprintf(buf, size, "%s add %u queue", when, d->id);
        break;
    case DECISION_BACK:
    case DECISION_FRONT:
        snprintf(buf, size, "%s add %u %s %u", when, d->id,
                 d->outcome == DECISION_BACK ? "back" : "front", d->into);
        if (d->gone != 0)
            snprintf(buf + strlen(buf), size - strlen(buf), " join %u %u",
                     d->gone, d->survivor);
        break;
    case DECISION_DISP:
        snprintf(buf, size, "%s disp %u %" PRIu64 " %" PRIu64 " %c", when,
                 d->id, d->sector, d->nsect, d->write ? 'W' : 'R');
        break;
    case DECISION_NONE:
        snprintf(buf, size, "%s disp -", when);
        break;
    case DECISION_END:
        snprintf(buf, size, "%s end queued %u driver %u", when, d->queued,
                 d->driver);
        break;
    }
    return buf;
}
