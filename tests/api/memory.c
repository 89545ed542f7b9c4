/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.c - exactly iosched_size() bytes, no more and no less; and once the
 * scheduler is open, nothing is allocated. */
#include "count.h"
#include "load.h"

#define FENCE 64u
#define MARK  0xA5

/* --- Memory between fences ------------------------------------------------ */
struct fenced { unsigned char *raw, *mem; size_t size; };

static struct fenced fenced(size_t size)
{
    struct fenced f;

    f.size = size;
    f.raw = malloc(size + 2 * FENCE);
    ck_assert_ptr_nonnull(f.raw);
    memset(f.raw, MARK, size + 2 * FENCE);
    f.mem = f.raw + FENCE;
    return f;
}

static int all_marked(const unsigned char *p, size_t n)
{
    while (n > 0 && *p == MARK) {
        p++;
        n--;
    }
    return n == 0;
}

static void check_fences(const struct fenced *f)
{
    ck_assert_int_eq(all_marked(f->raw, FENCE), 1);
    ck_assert_int_eq(all_marked(f->mem + f->size, FENCE), 1);
}

/* --- A policy that uses every byte it was given --------------------------- */
#define BIG_STATE  3001u
#define BIG_STREAM 701u
#define BIG_GROUP  333u

struct big {
    struct line   line;
    unsigned char rest[BIG_STATE - sizeof(struct line)];
};

static int big_init(void *state, struct iosched_core *core)
{
    struct big *b = state;
    size_t i;

    for (i = 0; i < sizeof b->rest; i++)
        ck_assert_uint_eq(b->rest[i], 0);       /* handed zeroed */
    memset(b->rest, 0x77, sizeof b->rest);
    return line_init(state, core);
}

static void use_all(void *data, size_t n)
{
    const unsigned char *p = data;
    size_t i;

    for (i = 0; i < n; i++)
        ck_assert_uint_eq(p[i], 0);
    memset(data, 0x66, n);
}

static void still(const void *data, size_t n, int value)
{
    const unsigned char *p = data;

    while (n-- > 0)
        ck_assert_uint_eq(*p++, (unsigned)value);
}

static void big_stream_opened(void *state, struct iosched_stream *st,
                              void *data)
{
    (void)state;
    (void)st;
    use_all(data, BIG_STREAM);
}

static void big_stream_freed(void *state, struct iosched_stream *st, void *data)
{
    (void)state;
    (void)st;
    still(data, BIG_STREAM, 0x66);
}

static void big_group_opened(void *state, struct iosched_group *g, void *data)
{
    (void)state;
    (void)g;
    use_all(data, BIG_GROUP);
}

static void big_group_freed(void *state, struct iosched_group *g, void *data)
{
    (void)state;
    (void)g;
    still(data, BIG_GROUP, 0x66);
}

static void big_exit(void *state)
{
    const struct big *b = state;

    still(b->rest, sizeof b->rest, 0x77);
}

static const struct iosched_policy big_policy = {
    .struct_size   = sizeof(struct iosched_policy),
    .api           = IOSCHED_POLICY_API,
    .name          = "big",
    .help          = "uses all the memory it may",
    .state_size    = sizeof(struct big),
    .stream_size   = BIG_STREAM,
    .group_size    = BIG_GROUP,
    .init          = big_init,
    .exit          = big_exit,
    .stream_opened = big_stream_opened,
    .stream_freed  = big_stream_freed,
    .group_opened  = big_group_opened,
    .group_freed   = big_group_freed,
    .insert        = line_insert,
    .dispatch      = line_dispatch,
    .removed       = line_removed,
    .evict         = line_evict,
    .find          = line_find,
    .dump          = line_dump,
};

/** A twin by another name, so that one can switch between two that are big. */
static struct iosched_policy big_twin;

static const struct iosched_policy *const only_big[] = {
    &big_policy, &big_twin, NULL
};

static void with_big(struct iosched_cfg *cfg)
{
    int n = list_policies();

    big_twin = big_policy;
    big_twin.name = "twin";
    all_policies[n++] = &big_policy;
    all_policies[n++] = &big_twin;
    all_policies[n] = NULL;
    cfg->policies = all_policies;
}

static struct iosched_cfg random_cfg(uint64_t *seed)
{
    struct iosched_cfg cfg = config();

    cfg.depth = rnd(seed, 20);
    cfg.max_streams = rnd(seed, 12);
    cfg.max_groups = rnd(seed, 6);
    cfg.queued_hint = rnd(seed, 50);
    cfg.block_size = 512u << rnd(seed, 4);
    cfg.max_merge_kib = rnd(seed, 64);
    cfg.flags = rnd(seed, 64);          /* any of them but COMPAT */
    if (rnd(seed, 2))
        with_big(&cfg);
    return cfg;
}

/* --- Exactly -------------------------------------------------------------- */
START_TEST(a_scheduler_stays_within_exactly_iosched_size_bytes)
{
    static struct load ld;
    uint64_t seed = 500 + (uint64_t)_i;
    unsigned round, i;

    for (round = 0; round < 12; round++) {
        struct iosched_cfg cfg = random_cfg(&seed);
        struct fenced f = fenced(iosched_size(&cfg));
        struct iosched *s;
        struct iosched_group *g;
        unsigned n = 0;

        ck_assert_uint_gt(f.size, 0);
        while (all_policies[n] != NULL)
            n++;
        ck_assert_int_eq(iosched_init(f.mem, f.size,
                                      all_policies[rnd(&seed, n)]->name, &cfg,
                                      &s, 0), IOSCHED_OK);
        while (iosched_group_open(s, NULL, &g, 0) == IOSCHED_OK)
            ;
        load_begin(&ld, s, seed, 0);
        ld.can_switch = !(cfg.flags & IOSCHED_F_NO_SWITCH);
        for (i = 0; i < 1500; i++)
            load_step(&ld);
        check_fences(&f);
        load_end(&ld);
        ck_assert_int_eq(iosched_destroy(s), IOSCHED_OK);
        check_fences(&f);
        free(f.raw);
    }
}
END_TEST

START_TEST(one_byte_less_is_refused_and_not_one_is_written)
{
    uint64_t seed = 9;
    unsigned i;

    for (i = 0; i < 200; i++) {
        struct iosched_cfg cfg = random_cfg(&seed);
        struct fenced f = fenced(iosched_size(&cfg));
        struct iosched *s = (void *)&cfg;

        ck_assert_int_eq(iosched_init(f.mem, f.size - 1, "line", &cfg, &s, 0),
                         IOSCHED_ERR_NOSPC);
        ck_assert_ptr_null(s);
        ck_assert_int_eq(all_marked(f.mem, f.size), 1);
        ck_assert_int_eq(iosched_init(f.mem, 0, "line", &cfg, &s, 0),
                         IOSCHED_ERR_NOSPC);
        ck_assert_int_eq(all_marked(f.mem, f.size), 1);
        free(f.raw);
    }
}
END_TEST

START_TEST(misaligned_memory_is_refused)
{
    struct iosched_cfg cfg = config();
    size_t align = iosched_align(), off;
    struct fenced f = fenced(iosched_size(&cfg) + align);
    struct iosched *s;

    ck_assert_uint_gt(align, 1);
    ck_assert_uint_eq(align & (align - 1), 0);
    for (off = 1; off < align; off++)
        ck_assert_int_eq(iosched_init(f.mem + off, f.size - off, "line", &cfg,
                                      &s, 0), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(all_marked(f.mem, f.size), 1);
    free(f.raw);
}
END_TEST

START_TEST(the_memory_is_the_callers_again_after_destroy)
{
    struct iosched_cfg cfg = config();
    struct fenced f = fenced(iosched_size(&cfg));
    struct iosched *s;
    unsigned i;

    for (i = 0; i < 3; i++) {
        memset(f.mem, (int)(0x11 * i), f.size);
        ck_assert_int_eq(iosched_init(f.mem, f.size, "line", &cfg, &s, i), 0);
        stop(s, i);
    }
    check_fences(&f);
    free(f.raw);
}
END_TEST

START_TEST(no_switch_takes_about_half)
{
    struct iosched_cfg cfg = config();
    size_t whole, half;

    big_twin = big_policy;
    big_twin.name = "twin";
    cfg.policies = only_big;
    whole = iosched_size(&cfg);
    cfg.flags = IOSCHED_F_NO_SWITCH;
    half = iosched_size(&cfg);
    ck_assert_uint_ge(half * 100, whole * 45);
    ck_assert_uint_le(half * 100, whole * 65);
}
END_TEST

START_TEST(an_invalid_cfg_has_no_size)
{
    struct iosched_cfg cfg = config();
    static const struct iosched_policy *const none[] = { NULL };
    struct iosched_policy bad = line_policy;
    const struct iosched_policy *list[] = { &bad, NULL };

    ck_assert_uint_gt(iosched_size(&cfg), 0);
    cfg.struct_size = 0;
    ck_assert_uint_eq(iosched_size(&cfg), 0);
    cfg = config();
    cfg.block_size = 500;
    ck_assert_uint_eq(iosched_size(&cfg), 0);
    cfg.block_size = 256;
    ck_assert_uint_eq(iosched_size(&cfg), 0);
    cfg = config();
    cfg.flags = 0x80000000u;
    ck_assert_uint_eq(iosched_size(&cfg), 0);
    cfg = config();
    cfg.policies = none;
    ck_assert_uint_eq(iosched_size(&cfg), 0);
    cfg.policies = list;
    ck_assert_uint_gt(iosched_size(&cfg), 0);
    bad.evict = NULL;                   /* one that is mandatory */
    ck_assert_uint_eq(iosched_size(&cfg), 0);
}
END_TEST

/* --- Allocation ----------------------------------------------------------- */
#if CAN_COUNT
START_TEST(nothing_is_allocated_once_it_is_open)
{
    struct iosched_cfg cfg = config();
    struct fenced f;
    static struct load ld;
    static struct text t;
    struct iosched *s;
    unsigned i;

    begin_counting();
    i = (unsigned)iosched_create("line", &cfg, &s, 0);
    counting = 0;
    ck_assert_uint_eq(i, IOSCHED_OK);
    ck_assert_uint_gt(allocations, 0);  /* what the library does is counted */
    stop(s, 0);
    cfg.depth = 6;
    cfg.flags = IOSCHED_F_ORDER_OVERLAPS;
    with_big(&cfg);
    f = fenced(iosched_size(&cfg));
    begin_counting();
    ck_assert_int_eq(iosched_init(f.mem, f.size, "line", &cfg, &s, 0), 0);
    counting = 0;
    load_begin(&ld, s, 12, 0);
    for (i = 0; i < 20000; i++) {
        counting = 1;
        load_step(&ld);
        counting = 0;
    }
    counting = 1;
    dump_text(s, &t, 0);
    counting = 0;
    load_end(&ld);
    counting = 1;
    ck_assert_int_eq(iosched_destroy(s), IOSCHED_OK);
    counting = 0;
    ck_assert_uint_eq(allocations, 0);
    free(f.raw);
}
END_TEST
#endif

static struct {
    size_t   size, align;
    unsigned given, taken;
    void    *p;
    int      fail;
} al;

static void *give(void *user, size_t size, size_t align)
{
    ck_assert_ptr_eq(user, &al);
    al.size = size;
    al.align = align;
    if (al.fail)
        return NULL;
    al.given++;
    return al.p = malloc(size);
}

static void take(void *user, void *p)
{
    ck_assert_ptr_eq(user, &al);
    ck_assert_ptr_eq(p, al.p);
    al.taken++;
    free(p);
}

static struct iosched_cfg own_alloc(void)
{
    struct iosched_cfg cfg = config();

    memset(&al, 0, sizeof al);
    cfg.alloc = give;
    cfg.dealloc = take;
    cfg.user = &al;
    return cfg;
}

START_TEST(create_asks_once_for_its_size_and_gives_it_back_at_destroy)
{
    struct iosched_cfg cfg = own_alloc();
    struct iosched *s = start(&cfg);

    ck_assert_uint_eq(al.given, 1);
    ck_assert_uint_eq(al.size, iosched_size(&cfg));
    ck_assert_uint_eq(al.align, iosched_align());
    ck_assert_uint_eq(al.taken, 0);
    stop(s, 0);
    ck_assert_uint_eq(al.given, 1);
    ck_assert_uint_eq(al.taken, 1);
}
END_TEST

START_TEST(create_answers_nomem_if_there_is_none_and_leaks_nothing)
{
    struct iosched_cfg cfg = own_alloc();
    struct iosched *s = (void *)&cfg;

    al.fail = 1;
    ck_assert_int_eq(iosched_create("line", &cfg, &s, 0), IOSCHED_ERR_NOMEM);
    ck_assert_ptr_null(s);
    ck_assert_uint_eq(al.taken, 0);
}
END_TEST

static int no_init(void *state, struct iosched_core *core)
{
    (void)state;
    (void)core;
    return -5;
}

START_TEST(create_that_fails_later_gives_back_what_it_got)
{
    struct iosched_cfg cfg = own_alloc();
    struct iosched_policy sick = line_policy;
    const struct iosched_policy *list[] = { &sick, NULL };
    struct iosched *s = (void *)&cfg;

    sick.init = no_init;
    cfg.policies = list;
    ck_assert_int_eq(iosched_create("line", &cfg, &s, 0), -5);
    ck_assert_ptr_null(s);
    ck_assert_uint_eq(al.given, al.taken);
    ck_assert_int_eq(iosched_create("nope", &cfg, &s, 0), IOSCHED_ERR_NOENT);
    ck_assert_uint_eq(al.given, al.taken);
    ck_assert_int_eq(iosched_create("line,nope=1", &cfg, &s, 0),
                     IOSCHED_ERR_NOENT);
    ck_assert_uint_eq(al.given, al.taken);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("memory");

    tcase_add_loop_test(tc,
        a_scheduler_stays_within_exactly_iosched_size_bytes, 0, 20);
    tcase_add_test(tc, one_byte_less_is_refused_and_not_one_is_written);
    tcase_add_test(tc, misaligned_memory_is_refused);
    tcase_add_test(tc, the_memory_is_the_callers_again_after_destroy);
    tcase_add_test(tc, no_switch_takes_about_half);
    tcase_add_test(tc, an_invalid_cfg_has_no_size);
#if CAN_COUNT
    tcase_add_test(tc, nothing_is_allocated_once_it_is_open);
#else
    printf("not tested: how to count allocations with this C library\n");
#endif
    tcase_add_test(tc,
        create_asks_once_for_its_size_and_gives_it_back_at_destroy);
    tcase_add_test(tc, create_answers_nomem_if_there_is_none_and_leaks_nothing);
    tcase_add_test(tc, create_that_fails_later_gives_back_what_it_got);
    return run_case(tc, "memory");
}
