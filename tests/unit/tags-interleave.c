/* SPDX-License-Identifier: BSD-2-Clause */
/* tags-interleave.c - every interleaving of two or three actors on a small
 * set, up to a number of preemptions.
 *
 * The actors are coroutines in this one thread.  Each atomic access of tags.c
 * is a point where another actor may be chosen; a path of choices is one
 * interleaving, and paths are enumerated depth first by running the scenario
 * anew for each.  Going on costs nothing; taking the turn from an actor that
 * could go on costs one preemption; when an actor waits or ends, choosing the
 * next is free.
 *
 * Two memories.  "strong": as the port promises, an access is seen at once.
 * "weak": what an actor writes, by STORE, CAS or ADD, lies in its own buffer
 * until a fence, and where it loses the turn any first part of the buffer may
 * have reached the others.  That is a read-modify-write whose store half is
 * overtaken by later loads, as C11 allows and ARMv8.1 does.  A word has one
 * order of writes: writing it first brings in what others wrote to it.
 *
 * Checked: no tag has two holders; its owner is who got it; everyone who was
 * refused is woken (who waits for ever is a deadlock, who gave up is checked
 * at the end); each waiting mark gives one wake; nobody is woken who has left;
 * at the end the set is as it was at the start.
 *
 * The weak memory has more paths, and gets one preemption less.
 *
 * usage: tags-interleave [preemptions in weak memory]
 */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define IOSCHED_PORT "../tests/unit/interleave_port.h"  /* seen from port.h */
#include "device/tags.c"

#define ACTORS   3
#define STACK    65536
#define PENDING  64
#define PATH     4096
#define SEATS    4                      /* the last one is the filler's   */
#define MAX_TAGS 40

enum op {
    END, GET, TRY, SYNC, PUT, LEAVE, JOIN
    /* GET waits until it has a tag; TRY takes a refusal for an answer; SYNC is
     * GET with the reserved tags; PUT frees the latest. */
};

struct scenario {
    const char *name;
    uint32_t depth, reserved;
    uint32_t filled;                    /* tags out of use throughout     */
    int more;                           /* preemptions, than asked        */
    int one_seat;                       /* actors 1 and 2 share seat 1    */
    struct {
        int holds;                      /* tags at the start              */
        enum op script[8];
    } actor[ACTORS];
};

/* --- The actors ----------------------------------------------------------- */
struct pending {
    uint32_t *p;
    uint32_t v;
};

struct actor {
    ucontext_t context;
    int seat, seated, done, waits, leaving;
    uint32_t awake;                     /* through the memory below       */
    long waits_since;                   /* LEAVE: others' steps so far    */
    int gave_up;                        /* TRY was refused                */
    long puts_then;                     /* puts begun by then             */
    int32_t tags[4];
    int n_tags;
    struct pending pending[PENDING];
    int n_pending;
};

static const struct scenario *scene;
static struct actor actors[ACTORS];
static char stacks[ACTORS][STACK];
static ucontext_t home;
static struct iosched_tags *set;
static uint64_t memory[512];
static int holder[MAX_TAGS];
static long marks[SEATS], wakes[SEATS], unmarked[SEATS];
static long puts_begun, steps, longest;
static int cur;                         /* whose turn it is; -1: nobody's */
static int weak;
static int left;                        /* preemptions                    */

/* --- Choices -------------------------------------------------------------- */
static struct choice {
    int chosen, of;
} path[PATH];
static int path_len, path_at;

void il_failed(const char *what)
{
    int i;

    printf("FAILED: %s (%s memory): actor %d: %s\npath:", scene->name,
           weak ? "weak" : "strong", cur, what);
    for (i = 0; i < path_at; i++)
        printf(" %d/%d", path[i].chosen, path[i].of);
    printf("\n");
    exit(EXIT_FAILURE);
}

static void must(int ok, const char *what)
{
    if (!ok)
        il_failed(what);
}

static int choose(int of)
{
    if (of == 1)
        return 0;
    if (path_at == path_len) {
        must(path_len < PATH, "the path is too long");
        path[path_len].chosen = 0;
        path[path_len++].of = of;
    }
    must(path[path_at].of == of, "the run is not reproducible");
    return path[path_at++].chosen;
}

/* To the next path; 0 if that was the last. */
static int advance(void)
{
    while (path_len > 0 && path[path_len - 1].chosen + 1 ==
           path[path_len - 1].of)
        path_len--;
    if (path_len == 0)
        return 0;
    path[path_len - 1].chosen++;
    return 1;
}

/* --- Memory --------------------------------------------------------------- */
static void drain(struct actor *a, int n)
{
    int i;

    for (i = 0; i < n; i++)
        *a->pending[i].p = a->pending[i].v;
    a->n_pending -= n;
    memmove(a->pending, a->pending + n,
            (size_t)a->n_pending * sizeof a->pending[0]);
}

static uint32_t see(const uint32_t *p)
{
    int i;

    if (cur >= 0)
        for (i = actors[cur].n_pending; i > 0; i--)
            if (actors[cur].pending[i - 1].p == p)
                return actors[cur].pending[i - 1].v;
    return *p;
}

static void bring_in(const uint32_t *p)
{
    int k, i;

    for (k = 0; k < ACTORS; k++)
        for (i = actors[k].n_pending; k != cur && i > 0; i--)
            if (actors[k].pending[i - 1].p == p) {
                drain(&actors[k], i);
                break;
            }
}

static void put_word(uint32_t *p, uint32_t v)
{
    struct actor *a = &actors[cur < 0 ? 0 : cur];

    if (cur < 0 || !weak) {
        *p = v;
        return;
    }
    must(a->n_pending < PENDING, "too many writes without a fence");
    a->pending[a->n_pending].p = p;
    a->pending[a->n_pending++].v = v;
}

/* --- Turns ---------------------------------------------------------------- */
static int can_run(const struct actor *a)
{
    if (a->done || a->context.uc_stack.ss_sp == NULL)
        return 0;
    if (a->waits)
        return a->awake != 0;
    return !a->leaving || steps > a->waits_since;
}

static void give_turn(int to)
{
    int from = cur;

    cur = to;
    if (swapcontext(from < 0 ? &home : &actors[from].context,
                    to < 0 ? &home : &actors[to].context) != 0)
        il_failed("swapcontext");
}

/* An actor has come to an access.  Others may go first, if a preemption is
 * left, with the first `part` of its writes in their sight. */
static void point(void)
{
    int who[ACTORS], n = 0, i, parts, c;

    if (cur < 0)
        return;
    steps++;
    if (left == 0)
        return;
    for (i = 0; i < ACTORS; i++)
        if (i != cur && can_run(&actors[i]))
            who[n++] = i;
    parts = actors[cur].n_pending + 1;
    c = choose(1 + n * parts);
    if (c == 0)
        return;
    left--;
    drain(&actors[cur], (c - 1) % parts);
    give_turn(who[(c - 1) / parts]);
}

/* An actor cannot go on, or has ended: the next is chosen at home. */
static void pass_turn(void)
{
    drain(&actors[cur], choose(actors[cur].n_pending + 1));
    give_turn(-1);
}

uint32_t il_load(const uint32_t *p)
{
    point();
    return see(p);
}

void il_store(uint32_t *p, uint32_t v)
{
    point();
    bring_in(p);
    put_word(p, v);
}

/* Marks are counted where they are made and taken. */
static void count_mark(const uint32_t *p, uint32_t was, uint32_t is)
{
    uint32_t i;

    if (p != set->waiting)
        return;
    for (i = 0; i < SEATS; i++) {
        if (!(was & 1u << i) && (is & 1u << i))
            marks[i]++;
        if ((was & 1u << i) && !(is & 1u << i) && cur >= 0 &&
            actors[cur].leaving)
            unmarked[i]++;
    }
}

int il_cas(uint32_t *p, uint32_t was, uint32_t is)
{
    point();
    bring_in(p);
    if (see(p) != was)
        return 0;
    count_mark(p, was, is);
    put_word(p, is);
    return 1;
}

uint32_t il_add(uint32_t *p, uint32_t n)
{
    uint32_t was;

    point();
    bring_in(p);
    was = see(p);
    put_word(p, was + n);
    return was;
}

void il_fence(void)
{
    point();
    if (cur >= 0)
        drain(&actors[cur], actors[cur].n_pending);
}

/* --- What actors do ------------------------------------------------------- */
/* The flag is written in the order of the waker's other writes, as any means
 * to wake a thread does. */
static void wake_up(void *user)
{
    int seat = (int)(((struct actor *)user)->seat), i;

    wakes[seat]++;
    must(((struct actor *)user)->seated, "it wakes one who has left");
    for (i = 0; i < ACTORS; i++)
        if (actors[i].seat == seat)
            il_store(&actors[i].awake, 1);
}

static void took(struct actor *a, int32_t tag)
{
    must(tag >= 0 && tag < (int32_t)scene->depth, "no such tag");
    must(holder[tag] < 0, "a tag has two holders");
    must(iosched_tags_owner(set, tag) == a->seat, "the owner is wrong");
    holder[tag] = a->seat;
    a->tags[a->n_tags++] = tag;
}

static void do_get(struct actor *a, enum op op)
{
    unsigned flags = op == SYNC ? IOSCHED_TAG_SYNC : 0;
    int32_t tag;

    for (;;) {
        drain(a, a->n_pending);         /* an older wake does not count */
        bring_in(&a->awake);
        a->awake = 0;
        a->gave_up = 0;
        tag = iosched_tags_get(set, a->seat, flags);
        if (tag >= 0) {
            took(a, tag);
            return;
        }
        must(tag == -1, "an error from get");
        if (op == TRY) {
            a->gave_up = 1;
            a->puts_then = puts_begun;
            return;
        }
        a->waits = 1;
        if (!can_run(a))
            pass_turn();
        a->waits = 0;
    }
}

static void do_put(struct actor *a)
{
    int32_t tag;

    if (a->n_tags == 0)                 /* after a TRY that was refused */
        return;
    tag = a->tags[--a->n_tags];
    must(holder[tag] == a->seat, "the holder is wrong");
    holder[tag] = -1;
    puts_begun++;
    must(iosched_tags_put(set, tag) == 0, "an error from put");
}

static void do_leave(struct actor *a)
{
    int err;

    a->leaving = 1;
    a->waits_since = -1;
    while ((err = iosched_tags_leave(set, a->seat)) == IOSCHED_ERR_BUSY) {
        a->waits_since = steps;
        pass_turn();
        a->waits_since = -1;
    }
    must(err == 0, "an error from leave");
    a->leaving = a->seated = a->gave_up = 0;
}

static void do_join(struct actor *a)
{
    a->seated = 1;
    must(iosched_tags_join(set, wake_up, a) == a->seat, "another seat");
}

static void act(int i)
{
    struct actor *a = &actors[i];
    const enum op *op;

    for (op = scene->actor[i].script; *op != END; op++) {
        if (*op == PUT)
            do_put(a);
        else if (*op == LEAVE)
            do_leave(a);
        else if (*op == JOIN)
            do_join(a);
        else
            do_get(a, *op);
    }
    a->done = 1;
    drain(a, a->n_pending);
    give_turn(-1);
}

/* --- One interleaving ----------------------------------------------------- */
static void set_up(void)
{
    struct iosched_tags_cfg cfg = {
        .struct_size = sizeof cfg, .depth = scene->depth,
        .reserved = scene->reserved, .seats = SEATS
    };
    uint32_t i, k;

    cur = -1;
    must(iosched_tags_init(memory, sizeof memory, &cfg, &set) == 0, "no set");
    memset(marks, 0, sizeof marks);
    memset(wakes, 0, sizeof wakes);
    memset(unmarked, 0, sizeof unmarked);
    memset(holder, -1, sizeof holder);
    puts_begun = steps = 0;
    for (i = 0; i < ACTORS; i++) {
        struct actor *a = &actors[i];

        a->n_pending = a->n_tags = a->waits = a->leaving = a->gave_up = 0;
        a->awake = 0;
        a->seat = scene->one_seat && i == 2 ? 1 : (int)i;
        a->done = scene->actor[i].script[0] == END;
        a->seated = 1;
        must(iosched_tags_join(set, wake_up, a) == (int)i, "no seat");
        getcontext(&a->context);
        a->context.uc_stack.ss_sp = stacks[i];
        a->context.uc_stack.ss_size = STACK;
        a->context.uc_link = NULL;
        makecontext(&a->context, (void (*)(void))act, 1, (int)i);
    }
    must(iosched_tags_join(set, NULL, NULL) == SEATS - 1, "no seat");
    for (i = 0; i < scene->filled; i++)
        holder[iosched_tags_get(set, SEATS - 1, 0)] = SEATS - 1;
    for (i = 0; i < ACTORS; i++)
        for (k = 0; (int)k < scene->actor[i].holds; k++)
            took(&actors[i], iosched_tags_get(set, actors[i].seat,
                                              IOSCHED_TAG_SYNC));
}

static void check_end(void)
{
    uint32_t i;

    cur = -1;
    for (i = 0; i < ACTORS; i++) {
        struct actor *a = &actors[i];

        must(a->done, "it waits for ever");
        must(!a->gave_up || a->awake || puts_begun == a->puts_then,
             "one who was refused has not been woken");
    }
    for (i = 0; i < ACTORS; i++)        /* what was kept to the end */
        while (actors[i].n_tags > 0)
            do_put(&actors[i]);
    for (i = 0; i < ACTORS; i++) {
        must(set->seat[i].held == 0, "a seat still holds tags");
        must(set->seat[i].waking == 0, "a seat is still being woken");
    }
    for (i = 0; i < SEATS; i++)
        must(marks[i] == wakes[i] + unmarked[i] +
             (set->waiting[0] >> i & 1), "marks and wakes differ");
    must(set->in_use == scene->filled, "the count in use is wrong");
    for (i = 0; i < scene->depth; i++) {
        int used = set->leaf[i / 32] >> i % 32 & 1;

        must(used == (i < scene->filled), "a tag was lost");
        must(set->owner[i] == (used ? SEATS : 0u), "an owner was left");
        must(set->leaf[i / 32] == UINT32_MAX ||
             !(set->full[0] >> i / 32 & 1), "a hint hides a free tag");
    }
}

static void run_once(int preemptions)
{
    int who[ACTORS], n, i, drained;

    path_at = 0;
    set_up();
    left = preemptions;
    for (;;) {
        for (n = 0, drained = 0; n == 0 && !drained; ) {
            for (i = 0; i < ACTORS; i++)
                if (can_run(&actors[i]))
                    who[n++] = i;
            if (n == 0)                 /* in the end all writes are seen */
                for (i = 0, drained = 1; i < ACTORS; i++)
                    if (actors[i].n_pending > 0) {
                        drain(&actors[i], actors[i].n_pending);
                        drained = 0;
                    }
        }
        if (n == 0)
            break;
        give_turn(who[choose(n)]);
    }
    check_end();
    if (steps > longest)
        longest = steps;
}

static long explore(const struct scenario *s, int with_weak, int preemptions)
{
    long n = 0;

    scene = s;
    weak = with_weak;
    longest = path_len = 0;
    do {
        run_once(preemptions);
        n++;
    } while (advance());
    printf("%-44s %-6s %d preemptions, up to %3ld accesses: %9ld\n", s->name,
           weak ? "weak" : "strong", preemptions, longest, n);
    return n;
}

static const struct scenario scenarios[] = {
    { "one tag, one frees it and one wants it", 1, 0, 0, 1, 0, {
        { 1, { PUT } }, { 0, { GET, PUT } } } },
    { "one tag, two take turns", 1, 0, 0, 0, 0, {
        { 0, { GET, PUT, GET, PUT } }, { 0, { GET, PUT, GET, PUT } } } },
    { "one tag, three take it once", 1, 0, 0, 0, 0, {
        { 0, { GET, PUT } }, { 0, { GET, PUT } }, { 0, { GET, PUT } } } },
    { "one tag, two are refused and give up", 1, 0, 0, 0, 0, {
        { 1, { PUT } }, { 0, { TRY, PUT } }, { 0, { TRY, PUT } } } },
    { "two tags, three take one", 2, 0, 0, 0, 0, {
        { 0, { GET, PUT } }, { 0, { GET, PUT } }, { 0, { GET, PUT } } } },
    { "two tags, two free, one wants both", 2, 0, 0, 0, 0, {
        { 1, { PUT } }, { 1, { PUT } }, { 0, { GET, GET, PUT, PUT } } } },
    { "two tags, one reserved", 2, 1, 0, 0, 0, {
        { 2, { PUT, PUT } }, { 0, { GET, PUT } }, { 0, { SYNC, PUT } } } },
    { "one tag, two use one seat", 1, 0, 0, 0, 1, {
        { 1, { PUT } }, { 0, { GET, PUT } }, { 0, { GET, PUT } } } },
    { "one tag, one is refused and leaves, twice", 1, 0, 0, 0, 0, {
        { 1, { PUT, GET, PUT } },
        { 0, { TRY, PUT, LEAVE, JOIN, TRY, PUT, LEAVE } } } },
    { "two words, a tag of the lower is freed", 33, 0, 31, 0, 0, {
        { 1, { PUT } }, { 1, { PUT } }, { 0, { GET, PUT } } } },
    { "two words, three take one", 33, 0, 31, 0, 0, {
        { 0, { GET, PUT } }, { 0, { GET, PUT } }, { 0, { GET, PUT } } } },
    { "two words, one keeps a tag it was given", 34, 0, 32, 0, 0, {
        { 1, { PUT } }, { 0, { GET } }, { 0, { GET, PUT } } } },
    { "two words but one tag, three take it", 33, 0, 32, 0, 0, {
        { 1, { PUT } }, { 0, { GET, PUT } }, { 0, { GET, PUT } } } }
};

int main(int argc, char **argv)
{
    int preemptions = argc > 1 ? atoi(argv[1]) : 2;
    long total = 0;
    size_t i;

    for (i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        int p = preemptions + scenarios[i].more;

        total += explore(&scenarios[i], 0, p + 1);
        total += explore(&scenarios[i], 1, p);
    }
    printf("%ld interleavings were run\n", total);
    return EXIT_SUCCESS;
}
