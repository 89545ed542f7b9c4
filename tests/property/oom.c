/* SPDX-License-Identifier: BSD-2-Clause */
/* oom.c - every allocation is refused in turn.
 *
 * Only iosched_create() allocates: through cfg.alloc, or malloc(), which this
 * program has its own of.  Refused, it answers NOMEM, leaves nothing behind and
 * works the next time; afterwards no call allocates. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <iosched/iosched.h>
#include <iosched/policy.h>
#include <iosched/stats.h>

static int failures;

static void check(int holds, const char *what, const char *policy)
{
    if (holds)
        return;
    printf("%s: not so: %s\n", policy, what);
    failures++;
}

/* --- malloc, ours --------------------------------------------------------- */
/* The library's malloc() and free() come here: the program is linked before it.
 * What the C library allocates for itself goes the same way, uncounted. */
static unsigned char heap[16u << 20];
static size_t heap_used;
static int counting, refuse_at, asked, living;

static void *take(size_t size)
{
    void *p;

    size = (size + 31) / 16 * 16;
    if (size > sizeof heap - heap_used)
        return NULL;
    p = heap + heap_used + 16;
    heap_used += size;
    return p;
}

void *malloc(size_t size)
{
    if (counting && asked++ == refuse_at)
        return NULL;
    living += counting;
    return take(size);
}

void free(void *p)
{
    if (p != NULL && counting)
        living--;
}

void *calloc(size_t n, size_t size)
{
    void *p = n > 0 && size > SIZE_MAX / n ? NULL : malloc(n * size);

    return p != NULL ? memset(p, 0, n * size) : NULL;
}

void *realloc(void *p, size_t size)
{
    unsigned char *to = malloc(size), *from = p;
    size_t i;

    for (i = 0; to != NULL && from != NULL && i < size &&
                from + i < heap + sizeof heap; i++)
        to[i] = from[i];
    free(p);
    return to;
}

/* --- cfg.alloc ------------------------------------------------------------ */
static int hook_asked, hook_refuse_at, hook_living;
static void *hook_at;

static void *hook_alloc(void *user, size_t size, size_t align)
{
    check(user == &hook_asked, "user is handed on", "alloc");
    check(align == iosched_align(), "the alignment is iosched_align()",
          "alloc");
    if (hook_asked++ == hook_refuse_at)
        return NULL;
    hook_living++;
    hook_at = take(size);
    if (hook_at != NULL)
        memset(hook_at, 0xa5, size);    /* dirty memory will do */
    return hook_at;
}

static void hook_dealloc(void *user, void *p)
{
    check(user == &hook_asked, "user is handed on", "dealloc");
    check(p == hook_at, "what was given is given back", "dealloc");
    hook_living--;
}

/* --- Use ------------------------------------------------------------------ */
static int count_text(void *user, const char *text, size_t len)
{
    (void)text;
    *(size_t *)user += len;
    return 0;
}

/* A little of everything; nothing in it may allocate. */
static void use(struct iosched *s, const char *policy)
{
    struct iosched_req rq[8], *out;
    struct iosched_stream *st = NULL;
    struct iosched_group *g = NULL;
    size_t text = 0;
    unsigned i, done = 0;

    memset(rq, 0, sizeof rq);
    check(iosched_stream_open(s, NULL, &st, 1) == 0, "a stream opens", policy);
    check(iosched_group_open(s, NULL, &g, 1) == 0, "a group opens", policy);
    for (i = 0; i < 8; i++) {
        rq[i].lba = i * 10 % 30;
        rq[i].nblk = 10;
        rq[i].stream = i % 2 ? st : NULL;
        check(iosched_insert(s, &rq[i], 2) >= 0, "insert works", policy);
    }
    check(iosched_cancel(s, &rq[3], 3) == 0, "cancel works", policy);
    check(iosched_switch(s, policy, 3) == 0, "switch works", policy);
    check(iosched_dump(s, count_text, &text, 3) == 0 && text > 0,
          "dump works", policy);
    while (done++ < 100 &&
           iosched_dispatch(s, &out, IOSCHED_DISPATCH_FORCE, 4) ==
               IOSCHED_GOT)
        check(iosched_complete(s, out, 0, 5) == 0, "complete works", policy);
    check(iosched_queued(s) + iosched_inflight(s) == 0, "all came out",
          policy);
}

/* Refuse the n-th request for memory, until none is refused any more.  Return
 * how many were. */
static unsigned refuse_each(const char *policy, const struct iosched_cfg *cfg,
                            int *ask, int *refuse, const int *alive)
{
    struct iosched *s;
    unsigned refused = 0;
    int rc, n;

    for (n = 0;; n++) {
        s = (struct iosched *)(void *)heap;
        *ask = 0;
        *refuse = n;
        counting = 1;
        rc = iosched_create(policy, cfg, &s, 0);
        counting = 0;
        if (*ask <= n)
            break;                      /* none was refused */
        refused++;
        check(rc == IOSCHED_ERR_NOMEM, "create answers NOMEM", policy);
        check(s == NULL, "nothing is handed out", policy);
        check(*alive == 0, "nothing is left behind", policy);
    }
    check(rc == IOSCHED_OK, "create works then", policy);
    check(*ask > 0, "create asked for memory", policy);
    if (rc < 0)
        return refused;
    *ask = 0;
    *refuse = -1;
    counting = 1;
    use(s, policy);
    counting = 0;
    check(*ask == 0 && asked == 0, "only create allocates", policy);
    counting = 1;
    check(iosched_destroy(s) == IOSCHED_OK, "destroy works", policy);
    counting = 0;
    check(*alive == 0, "destroy gives all back", policy);
    return refused;
}

/* What fails for another reason gives its memory back too. */
static void fail_otherwise(const char *policy, struct iosched_cfg *cfg)
{
    struct iosched *s = NULL;
    char bad[80];
    int rc;

    snprintf(bad, sizeof bad, "%s,nomerges=7", policy);
    hook_living = living = 0;
    hook_refuse_at = refuse_at = -1;
    counting = 1;
    rc = iosched_create(bad, cfg, &s, 0);
    check(rc == IOSCHED_ERR_RANGE && s == NULL && hook_living == 0,
          "a bad value leaves nothing behind", "alloc");
    rc = iosched_create(bad, NULL, &s, 0);
    check(rc == IOSCHED_ERR_RANGE && s == NULL && living == 0,
          "a bad value leaves nothing behind", "malloc");
    counting = 0;
    cfg->dealloc = NULL;
    check(iosched_create(policy, cfg, &s, 0) == IOSCHED_ERR_INVAL,
          "alloc without dealloc is refused", "alloc");
    cfg->dealloc = hook_dealloc;
}

/* A tool that brings its own malloc() is asked instead of this program. */
static int malloc_is_ours(void)
{
    void *(*volatile ask)(size_t) = malloc;     /* so that it is called */
    void *p;

    asked = 0;
    refuse_at = -1;
    counting = 1;
    p = ask(1);
    counting = 0;
    free(p);
    return asked > 0;
}

int main(void)
{
    static const uint32_t flags[] = {
        0, IOSCHED_F_ORDER_OVERLAPS, IOSCHED_F_COMPAT
    };
    const struct iosched_policy *const *p = iosched_builtin_policies();
    unsigned refused = 0, created = 0, i;
    int ours = malloc_is_ours();

    if (!ours)
        printf("left out: malloc() is another's here, so only cfg.alloc\n");
    for (; *p != NULL; p++)
        for (i = 0; i < sizeof flags / sizeof flags[0]; i++) {
            struct iosched_cfg cfg;

            iosched_cfg_init(&cfg);
            cfg.flags = flags[i];
            hook_living = living = 0;
            if (ours)
                refused += refuse_each((*p)->name, &cfg, &asked, &refuse_at,
                                       &living);
            cfg.alloc = hook_alloc;
            cfg.dealloc = hook_dealloc;
            cfg.user = &hook_asked;
            refuse_at = -1;
            asked = 0;
            refused += refuse_each((*p)->name, &cfg, &hook_asked,
                                   &hook_refuse_at, &hook_living);
            fail_otherwise((*p)->name, &cfg);
            created += ours ? 2 : 1;
        }
    printf("schedulers %u, allocations refused %u\n", created, refused);
    return failures > 0 || refused < created;
}
