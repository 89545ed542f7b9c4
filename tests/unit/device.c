/* SPDX-License-Identifier: BSD-2-Clause */
/* device.c - the device model, sentence by sentence of its header: what it
 * is made of, commands, tags, order.  device_run.c has time.
 */
#include <stdio.h>
#include <stdlib.h>
#include "device_box.h"
#include "rng.h"

/* --- What it is made of --------------------------------------------------- */
START_TEST(each_listed_profile_can_be_built)
{
    static struct box b;
    const char *name, *help;
    size_t i, flat = 0;

    for (i = 0; iosched_device_profile_at(i, &name, &help) == IOSCHED_OK; i++) {
        build(&b, name);
        ck_assert_uint_gt(iosched_device_capacity(b.d), 0);
        ck_assert_uint_gt(strlen(help), 0);
        flat += strcmp(name, "linear:flat") == 0;
    }
    ck_assert_uint_eq(i, 3);
    ck_assert_uint_eq(flat, 1);
    ck_assert_int_eq(iosched_device_profile_at(i, &name, &help),
                     IOSCHED_ERR_NOENT);
    ck_assert_int_eq(iosched_device_profile_at(0, NULL, &help),
                     IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_device_profile_at(0, &name, NULL),
                     IOSCHED_ERR_INVAL);
}
END_TEST

static int init_with(const char *name, int64_t value)
{
    static struct box b;
    static char text[96];
    struct iosched_device_cfg cfg = cfg_of(text);

    snprintf(text, sizeof text, "linear,%s=%lld", name, (long long)value);
    cfg.model = text;
    if (strcmp(name, "tag_depth") == 0 && value > 600)
        return iosched_device_size(&cfg) > 0 ? IOSCHED_OK : IOSCHED_ERR_RANGE;
    return iosched_device_init(b.mem, sizeof b.mem, &cfg, &b.d, 0);
}

START_TEST(each_listed_parameter_keeps_its_bounds)
{
    struct { struct iosched_tunable t; char more[4]; } big;
    struct iosched_tunable t;
    size_t i;

    for (i = 0; iosched_device_param_at("linear", i, &t, sizeof t) == 0; i++) {
        ck_assert(t.min <= t.def && t.def <= t.max && t.help[0] != '\0');
        ck_assert_int_eq(init_with(t.name, t.min), IOSCHED_OK);
        ck_assert_int_eq(init_with(t.name, t.max), IOSCHED_OK);
        ck_assert_int_eq(init_with(t.name, t.max + 1), IOSCHED_ERR_RANGE);
        if (t.min > 0)
            ck_assert_int_eq(init_with(t.name, t.min - 1), IOSCHED_ERR_RANGE);
    }
    ck_assert_uint_eq(i, 9);
    ck_assert_int_eq(iosched_device_param_at("null", 0, &t, sizeof t), 0);
    ck_assert_str_eq(t.name, "tag_depth");
    ck_assert_int_eq(iosched_device_param_at("null", 1, &t, sizeof t),
                     IOSCHED_ERR_NOENT);
    ck_assert_int_eq(iosched_device_param_at("hdd", 0, &t, sizeof t),
                     IOSCHED_ERR_NOENT);
    ck_assert_int_eq(iosched_device_param_at("null:", 0, &t, sizeof t),
                     IOSCHED_ERR_NOENT);
    ck_assert_int_eq(iosched_device_param_at(NULL, 0, &t, sizeof t),
                     IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_device_param_at("null", 0, NULL, sizeof t),
                     IOSCHED_ERR_INVAL);
    memset(&big, 0xA5, sizeof big);
    ck_assert_int_eq(iosched_device_param_at("null", 0, &big.t, sizeof big), 0);
    ck_assert_int_eq(big.more[0] | big.more[3], 0);
    memset(&big, 0xA5, sizeof big);
    ck_assert_int_eq(iosched_device_param_at("null", 0, &big.t, 3), 0);
    ck_assert_int_eq(((unsigned char *)&big)[3], 0xA5);
}
END_TEST

START_TEST(a_wrong_string_gets_the_right_error)
{
    static const struct { const char *model; int err; } bad[] = {
        { "", IOSCHED_ERR_INVAL },          { ",", IOSCHED_ERR_INVAL },
        { ":flat", IOSCHED_ERR_INVAL },     { "linear:", IOSCHED_ERR_INVAL },
        { "linear,", IOSCHED_ERR_INVAL },   { "Linear", IOSCHED_ERR_INVAL },
        { "linear flat", IOSCHED_ERR_INVAL },
        { "linear:flat:flat", IOSCHED_ERR_INVAL },
        { "linear,,overhead=1", IOSCHED_ERR_INVAL },
        { "linear,overhead", IOSCHED_ERR_INVAL },
        { "linear,=1", IOSCHED_ERR_INVAL },
        { "linear,overhead=", IOSCHED_ERR_INVAL },
        { "linear,overhead=1,", IOSCHED_ERR_INVAL },
        { "linear,overhead=x", IOSCHED_ERR_INVAL },
        { "linear,overhead=1h", IOSCHED_ERR_INVAL },
        { "linear,tag_depth=8us", IOSCHED_ERR_INVAL },
        { "linear,policy=", IOSCHED_ERR_INVAL },
        { "hdd", IOSCHED_ERR_NOENT },       { "ssd", IOSCHED_ERR_NOENT },
        { "hdd:atlas10k", IOSCHED_ERR_NOENT },
        { "nul", IOSCHED_ERR_NOENT },       { "nullx", IOSCHED_ERR_NOENT },
        { "null:flat", IOSCHED_ERR_NOENT }, { "linear:fl", IOSCHED_ERR_NOENT },
        { "null,overhead=1", IOSCHED_ERR_NOENT },
        { "linear,over=1", IOSCHED_ERR_NOENT },
        { "linear,overhead=3s", IOSCHED_ERR_RANGE },
        { "linear,overhead=-1", IOSCHED_ERR_RANGE },
        { "linear,overhead=99999999999999999999", IOSCHED_ERR_RANGE },
        { "linear,tag_depth=0", IOSCHED_ERR_RANGE },
        { "linear,tag_depth=4097", IOSCHED_ERR_RANGE },
        { "linear,policy=sptf", IOSCHED_ERR_RANGE },
        { "linear,policy=fcf", IOSCHED_ERR_RANGE },
        { "linear,policy=3", IOSCHED_ERR_RANGE },
    };
    static const char *const good[] = {
        NULL, "null", "null,tag_depth=1", "linear:flat,policy=sstf",
        "linear,policy=2,overhead=1us,overhead=2ms", "linear,overhead=0",
    };
    static struct box b;
    size_t i;

    for (i = 0; i < LEN(bad); i++) {
        struct iosched_device_cfg cfg = cfg_of(bad[i].model);
        int err = iosched_device_init(b.mem, sizeof b.mem, &cfg, &b.d, 0);

        ck_assert_msg(err == bad[i].err, "\"%s\": %d, not %d", bad[i].model,
                      err, bad[i].err);
        ck_assert_uint_eq(iosched_device_size(&cfg), 0);
    }
    for (i = 0; i < LEN(good); i++)
        build(&b, good[i]);
}
END_TEST

START_TEST(cfg_is_checked_and_zero_means_the_default)
{
    struct { struct iosched_device_cfg cfg; char more[8]; } late;
    static struct box b;
    struct iosched_device_cfg cfg = cfg_of("linear");
    struct iosched_device *d = NULL;

    ck_assert_uint_eq(iosched_device_capacity(build_cfg(&b, &cfg)), 1u << 28);
    cfg.block_size = 4096;
    ck_assert_uint_eq(iosched_device_capacity(build_cfg(&b, &cfg)), 1u << 25);
    cfg.capacity_nblk = 77;
    ck_assert_uint_eq(iosched_device_capacity(build_cfg(&b, &cfg)), 77);
    ck_assert_uint_eq(iosched_device_depth(b.d), 32);
#define INIT(mem, size, cfgp, outp, now) \
    iosched_device_init((mem), (size), (cfgp), (outp), (now))
    cfg.block_size = 256;
    ck_assert_int_eq(INIT(b.mem, sizeof b.mem, &cfg, &d, 0), IOSCHED_ERR_RANGE);
    cfg.block_size = 1000;
    ck_assert_int_eq(INIT(b.mem, sizeof b.mem, &cfg, &d, 0), IOSCHED_ERR_RANGE);
    cfg = cfg_of("linear");
    ck_assert_int_eq(INIT(NULL, sizeof b.mem, &cfg, &d, 0), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(INIT(b.mem, sizeof b.mem, NULL, &d, 0), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(INIT(b.mem, sizeof b.mem, &cfg, NULL, 0),
                     IOSCHED_ERR_INVAL);
    ck_assert_int_eq(INIT(b.mem, sizeof b.mem, &cfg, &d, IOSCHED_NEVER),
                     IOSCHED_ERR_INVAL);
    ck_assert_int_eq(INIT((char *)b.mem + 2, sizeof b.mem - 2, &cfg, &d, 0),
                     IOSCHED_ERR_INVAL);
    cfg.struct_size--;
    ck_assert_int_eq(INIT(b.mem, sizeof b.mem, &cfg, &d, 0), IOSCHED_ERR_INVAL);
    ck_assert_uint_eq(iosched_device_size(NULL), 0);
    ck_assert_ptr_null(d);
    memset(&late, 0, sizeof late);
    late.cfg.struct_size = sizeof late;
    ck_assert_int_eq(INIT(b.mem, sizeof b.mem, &late.cfg, &d, 0), IOSCHED_OK);
    late.more[7] = 1;
    ck_assert_int_eq(INIT(b.mem, sizeof b.mem, &late.cfg, &d, 0),
                     IOSCHED_ERR_NOTSUP);
}
END_TEST

START_TEST(it_needs_exactly_its_size_and_writes_nowhere_else)
{
    static const char *const models[] = {
        "null,tag_depth=1", "null,tag_depth=33", "linear,tag_depth=1",
        "linear:flat,policy=sstf,tag_depth=64", "linear,tag_depth=500",
    };
    enum { FENCE = 64 };
    static uint64_t mem[8192];
    unsigned char *raw = (unsigned char *)mem;
    size_t i, k, size;

    for (i = 0; i < LEN(models); i++) {
        struct iosched_device_cfg cfg = cfg_of(models[i]);
        struct iosched_device *d;
        struct iosched_done e;
        uint64_t rng = i;
        iosched_time now = 0;

        size = iosched_device_size(&cfg);
        ck_assert_uint_gt(size, 0);
        ck_assert_uint_lt(size + 2 * FENCE, sizeof mem);
        memset(raw, 0xA5, sizeof mem);
        ck_assert_int_eq(iosched_device_init(raw + FENCE, size - 1, &cfg, &d,
                                             0), IOSCHED_ERR_NOSPC);
        for (k = 0; k < sizeof mem; k++)
            ck_assert_int_eq(raw[k], 0xA5);
        ck_assert_int_eq(iosched_device_init(raw + FENCE, size, &cfg, &d, 0),
                         IOSCHED_OK);
        for (k = 0; k < 4 * iosched_device_depth(d); k++) {
            while (submit(d, IOSCHED_WRITE, rng_below(&rng, 9999), 1, 0, k,
                          now) == IOSCHED_DEVICE_TAKEN)
                ;
            now = iosched_device_next(d);
            reap(d, &e, now);
        }
        for (k = 0; k < FENCE; k++) {
            ck_assert_int_eq(raw[k], 0xA5);
            ck_assert_int_eq(raw[FENCE + size + k], 0xA5);
        }
        if (strstr(models[i], "=64") != NULL)
            ck_assert_uint_lt(size, 8192);
    }
}
END_TEST

/* --- Commands ------------------------------------------------------------- */
START_TEST(a_wrong_command_is_refused_and_nothing_has_changed)
{
    static const struct { unsigned op, flags; iosched_lba lba; uint32_t nblk;
                          int err; } bad[] = {
        { IOSCHED_PASS, 0, 0, 1, IOSCHED_ERR_NOTSUP },
        { 77, 0, 0, 1, IOSCHED_ERR_NOTSUP },
        { IOSCHED_READ, 0x20, 0, 1, IOSCHED_ERR_NOTSUP },
        { IOSCHED_READ, 0x8000, 0, 1, IOSCHED_ERR_NOTSUP },
        { IOSCHED_READ, 0, 0, 0, IOSCHED_ERR_INVAL },
        { IOSCHED_DISCARD, 0, 0, 0, IOSCHED_ERR_INVAL },
        { IOSCHED_FLUSH, 0, 0, 1, IOSCHED_ERR_INVAL },
        { IOSCHED_READ, IOSCHED_CMD_FUA, 0, 1, IOSCHED_ERR_INVAL },
        { IOSCHED_FLUSH, IOSCHED_CMD_FUA, 0, 0, IOSCHED_ERR_INVAL },
        { IOSCHED_DISCARD, IOSCHED_CMD_FUA, 0, 1, IOSCHED_ERR_INVAL },
        { IOSCHED_READ, IOSCHED_CMD_HEAD | IOSCHED_CMD_ORDERED, 0, 1,
          IOSCHED_ERR_INVAL },
        { IOSCHED_READ, 0, 1000, 1, IOSCHED_ERR_RANGE },
        { IOSCHED_READ, 0, 999, 2, IOSCHED_ERR_RANGE },
        { IOSCHED_WRITE, 0, 0, 1001, IOSCHED_ERR_RANGE },
        { IOSCHED_WRITE, 0, UINT64_MAX, 2, IOSCHED_ERR_RANGE },
    };
    static struct box b;
    struct iosched_device_cfg cfg = cfg_of(RULER);
    struct iosched_device_counters was, is;
    iosched_time next;
    size_t i;

    cfg.capacity_nblk = 1000;
    build_cfg(&b, &cfg);
    ck_assert_int_eq(submit(b.d, IOSCHED_WRITE, 999, 1, IOSCHED_CMD_FUA, 1, 5),
                     IOSCHED_DEVICE_TAKEN);
    ck_assert_int_eq(submit(b.d, IOSCHED_ZEROES, 0, 1000, IOSCHED_CMD_FUA, 2,
                            5), IOSCHED_DEVICE_TAKEN);
    ck_assert_int_eq(submit(b.d, IOSCHED_FLUSH, UINT64_MAX, 0, 0, 3, 5),
                     IOSCHED_DEVICE_TAKEN);
    was = counters(b.d);
    next = iosched_device_next(b.d);
    for (i = 0; i < LEN(bad); i++) {
        struct iosched_cmd c = cmd_of(bad[i].op, bad[i].lba, bad[i].nblk,
                                      bad[i].flags, 9);

        ck_assert_int_eq(iosched_device_submit(b.d, &c, 9999), bad[i].err);
        ck_assert_int_eq(c.tag, -7);
        ck_assert_uint_eq(iosched_device_estimate(b.d, &c, NULL, 9999),
                          IOSCHED_NEVER);
        is = counters(b.d);
        ck_assert_mem_eq(&was, &is, sizeof is);
        ck_assert_uint_eq(iosched_device_next(b.d), next);
    }
}
END_TEST

START_TEST(null_pointers_and_times_gone_by_are_invalid)
{
    static struct box b;
    struct iosched_device *d = build(&b, RULER);
    struct iosched_cmd c = cmd_of(IOSCHED_READ, 0, 1, 0, 1);
    struct iosched_device_counters k;
    struct iosched_extent x;
    struct iosched_done e;
    iosched_time bad[] = { 49, IOSCHED_NEVER };
    uint32_t n = 9, i;

    ck_assert_int_eq(iosched_device_pending(d, 0, 50), IOSCHED_OK);
    for (i = 0; i < 4; i++) {
        struct iosched_device *dev = i < 2 ? d : NULL;
        iosched_time now = i < 2 ? bad[i] : 50;

        ck_assert_int_eq(iosched_device_submit(dev, &c, now), -22);
        ck_assert_int_eq(iosched_device_reap(dev, &e, sizeof e, now), -22);
        ck_assert_int_eq(iosched_device_pending(dev, 1, now), -22);
        ck_assert_int_eq(iosched_device_set_depth(dev, 1, now), -22);
        ck_assert_int_eq(iosched_device_power_cut(dev, &x, 1, &n, now), -22);
        ck_assert_uint_eq(iosched_device_estimate(dev, &c, NULL, now),
                          IOSCHED_NEVER);
    }
    ck_assert_int_eq(iosched_device_submit(d, NULL, 50), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_device_reap(d, NULL, 0, 50), IOSCHED_ERR_INVAL);
    ck_assert_int_eq(iosched_device_power_cut(d, &x, 1, NULL, 50), -22);
    ck_assert_int_eq(iosched_device_power_cut(d, NULL, 1, &n, 50), -22);
    ck_assert_int_eq(iosched_device_counters(NULL, &k, sizeof k), -22);
    ck_assert_int_eq(iosched_device_counters(d, NULL, 0), IOSCHED_ERR_INVAL);
    ck_assert_uint_eq(iosched_device_estimate(d, NULL, NULL, 50),
                      IOSCHED_NEVER);
    ck_assert_uint_eq(iosched_device_next(NULL), IOSCHED_NEVER);
    ck_assert_uint_eq(iosched_device_capacity(NULL), 0);
    ck_assert_uint_eq(iosched_device_depth(NULL), 0);
    ck_assert_uint_eq(n, 9);
    identities(d, 50);
    ck_assert_uint_eq(counters(d).in_use_max, 0);
}
END_TEST

START_TEST(null_completes_everything_at_once)
{
    static struct box b;
    struct iosched_device *d = build(&b, NULL);
    struct iosched_done e;
    unsigned op;

    ck_assert_uint_eq(iosched_device_next(d), IOSCHED_NEVER);
    for (op = IOSCHED_READ; op <= IOSCHED_FLUSH; op++)
        ck_assert_int_eq(submit(d, op, 8 * op, op == IOSCHED_FLUSH ? 0 : 8, 0,
                                'a' + op, 42), IOSCHED_DEVICE_TAKEN);
    ck_assert_uint_eq(iosched_device_next(d), 42);
    for (op = IOSCHED_READ; op <= IOSCHED_FLUSH; op++) {
        ck_assert_int_eq(reap(d, &e, 42), IOSCHED_GOT);
        ck_assert_uint_eq(e.cookie, 'a' + op);      /* ties by tag */
        ck_assert_int_eq(e.tag, (int)op);
        ck_assert_uint_eq(e.submitted, 42);
        ck_assert_uint_eq(e.completed, 42);
    }
    ck_assert_int_eq(reap(d, &e, 42), IOSCHED_EMPTY);
    ck_assert_uint_eq(iosched_device_next(d), IOSCHED_NEVER);
    ck_assert_uint_eq(counters(d).media_accesses, 3);
    ck_assert_uint_eq(counters(d).busy, 0);
    ck_assert_uint_eq(counters(d).blocks[IOSCHED_ZEROES], 8);
    ck_assert_uint_eq(counters(d).verdict[IOSCHED_CACHE_NONE], 5);
    identities(d, 42);
}
END_TEST

START_TEST(linear_takes_overhead_distance_and_blocks)
{
    static struct box b;
    struct iosched_device *d = build(&b, "linear,overhead=1us,per_block=10ns,"
                                     "per_distance=3ms,max_seek=5ms");
    static const struct { unsigned op; iosched_lba lba; uint32_t nblk;
                          iosched_dur seek, transfer; } step[] = {
        { IOSCHED_READ, 0, 8, 0, 80 },              /* it starts at lba 0   */
        { IOSCHED_WRITE, 8, 4, 0, 40 },             /* goes on: no distance */
        { IOSCHED_READ, 13, 1, 2, 10 },             /* 2.86 ns, cut down    */
        { IOSCHED_FLUSH, 0, 0, 0, 0 },              /* moves nothing        */
        { IOSCHED_DISCARD, 999, 9, 0, 0 },
        { IOSCHED_ZEROES, 14 + (1 << 20), 2, 3000000, 20 },
        { IOSCHED_READ, 16, 1, 3000000, 10 },       /* downwards the same   */
        { IOSCHED_READ, 17 + (7 << 18), 1, 5000000, 10 },   /* 5.25 ms: cut */
        { IOSCHED_READ, 1, 1, 5000000, 10 },
        { IOSCHED_READ, (1 << 28) - 1, 1, 5000000, 10 },
    };
    struct iosched_access sum = { 0, 0, 0, 0, 0, 0, 0, 0 };
    struct iosched_device_counters c;
    struct iosched_done e;
    iosched_time now = 0;
    size_t i;

    for (i = 0; i < LEN(step); i++) {
        ck_assert_int_eq(submit(d, step[i].op, step[i].lba, step[i].nblk, 0, i,
                                now), IOSCHED_DEVICE_TAKEN);
        now = iosched_device_next(d);
        ck_assert_int_eq(reap(d, &e, now - 1), IOSCHED_EMPTY);
        ck_assert_int_eq(reap(d, &e, now), IOSCHED_GOT);
        ck_assert_uint_eq(e.completed, now);
        ck_assert_uint_eq(e.parts.overhead, 1000);
        ck_assert_uint_eq(e.parts.seek, step[i].seek);
        ck_assert_uint_eq(e.parts.transfer, step[i].transfer);
        sum.seek += step[i].seek;
        sum.transfer += step[i].transfer;
        identities(d, now);
    }
    c = counters(d);
    ck_assert_uint_eq(c.seek, sum.seek);
    ck_assert_uint_eq(c.transfer, sum.transfer);
    ck_assert_uint_eq(c.overhead, 1000 * LEN(step));
    ck_assert_uint_eq(c.busy, c.overhead + c.seek + c.transfer);
    ck_assert_uint_eq(c.media_accesses, LEN(step) - 2);
    ck_assert_uint_eq(c.idle, 0);
}
END_TEST

START_TEST(the_largest_device_has_no_overflow)
{
    static struct box b;
    struct iosched_device_cfg cfg = cfg_of("linear,overhead=0,per_block=1,"
                                           "per_distance=2097152,max_seek=2s");
    struct iosched_cmd c = cmd_of(IOSCHED_READ, UINT64_C(1) << 63, 1, 0, 'a');
    struct iosched_device *d;

    cfg.capacity_nblk = UINT64_MAX;
    d = build_cfg(&b, &cfg);            /* 2^43 * 2^21 would be 0 */
    ck_assert_uint_eq(iosched_device_estimate(d, &c, NULL, 0), 2000000001);
    c.lba = 900 << 20;                  /* 900 of 953 until it is cut */
    ck_assert_uint_eq(iosched_device_estimate(d, &c, NULL, 0),
                      900u * 2097152 + 1);
    c.lba = UINT64_MAX - 9;
    c.nblk = 9;
    ck_assert_uint_eq(iosched_device_estimate(d, &c, NULL, 0), 2000000009);
    ck_assert_int_eq(iosched_device_submit(d, &c, 0), IOSCHED_DEVICE_TAKEN);
    c.nblk = 11;
    ck_assert_int_eq(iosched_device_submit(d, &c, 0), IOSCHED_ERR_RANGE);
}
END_TEST

/* --- Tags ----------------------------------------------------------------- */
START_TEST(tags_run_out_and_one_reap_frees_one)
{
    static struct box b;
    struct iosched_device *d = build(&b, RULER ",tag_depth=3");
    struct iosched_cmd c = cmd_of(IOSCHED_READ, 0, 1, 0, 'x');
    struct iosched_done e;
    int i;

    for (i = 0; i < 3; i++) {
        ck_assert_int_eq(iosched_device_submit(d, &c, 0), 0);
        ck_assert_int_eq(c.tag, i);
        c.lba++;
    }
    c.tag = -7;
    ck_assert_int_eq(iosched_device_submit(d, &c, 10), IOSCHED_DEVICE_BUSY);
    ck_assert_int_eq(c.tag, -7);
    /* Complete is not reaped: the tag is in use until then. */
    ck_assert_int_eq(iosched_device_submit(d, &c, 101), IOSCHED_DEVICE_BUSY);
    ck_assert_uint_eq(iosched_device_next(d), 101);
    ck_assert_uint_eq(counters(d).refused, 2);
    ck_assert_int_eq(reap(d, &e, 150), IOSCHED_GOT);
    ck_assert_uint_eq(e.completed, 101);
    ck_assert_int_eq(iosched_device_submit(d, &c, 150), IOSCHED_DEVICE_TAKEN);
    ck_assert_int_eq(c.tag, e.tag);
    ck_assert_str_eq(drain(d), "xxx");
    ck_assert_uint_eq(counters(d).in_use_max, 3);
    ck_assert_uint_eq(counters(d).in_use, 0);
    ck_assert_uint_eq(counters(d).refused, 2);
}
END_TEST

START_TEST(depth_can_be_lowered_while_commands_are_held)
{
    static struct box b;
    struct iosched_device *d = build(&b, RULER ",tag_depth=4");
    struct iosched_cmd c = cmd_of(IOSCHED_READ, 0, 1, 0, 'x');
    struct iosched_done e;
    int i;

    ck_assert_int_eq(iosched_device_set_depth(d, 0, 0), IOSCHED_ERR_RANGE);
    ck_assert_int_eq(iosched_device_set_depth(d, 5, 0), IOSCHED_ERR_RANGE);
    for (i = 0; i < 4; i++)
        ck_assert_int_eq(iosched_device_submit(d, &c, 0), 0);
    ck_assert_int_eq(iosched_device_set_depth(d, 2, 0), IOSCHED_OK);
    ck_assert_uint_eq(iosched_device_depth(d), 2);
    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(reap(d, &e, iosched_device_next(d)), IOSCHED_GOT);
        ck_assert_int_eq(iosched_device_submit(d, &c, e.completed),
                         IOSCHED_DEVICE_BUSY);
    }
    ck_assert_int_eq(reap(d, &e, iosched_device_next(d)), IOSCHED_GOT);
    ck_assert_int_eq(iosched_device_submit(d, &c, e.completed), 0);
    ck_assert_int_lt(c.tag, 2);
    ck_assert_str_eq(drain(d), "xx");
    ck_assert_int_eq(iosched_device_set_depth(d, 4, 99999), IOSCHED_OK);
    identities(d, 99999);
}
END_TEST

START_TEST(a_nonqueued_command_is_alone)
{
    static struct box b;
    struct iosched_device *d = build(&b, RULER);
    struct iosched_done e;

    ck_assert_int_eq(submit(d, IOSCHED_WRITE, 0, 1, 0, 'a', 0), 0);
    ck_assert_int_eq(submit(d, IOSCHED_FLUSH, 0, 0, IOSCHED_CMD_NONQUEUED, 'f',
                            0), IOSCHED_DEVICE_BUSY);
    ck_assert_str_eq(drain(d), "a");
    ck_assert_int_eq(submit(d, IOSCHED_FLUSH, 0, 0, IOSCHED_CMD_NONQUEUED, 'f',
                            101), IOSCHED_DEVICE_TAKEN);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 0, 1, 0, 'b', 101),
                     IOSCHED_DEVICE_BUSY);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 0, 1, 0, 'b', 201),
                     IOSCHED_DEVICE_BUSY);
    ck_assert_int_eq(reap(d, &e, 201), IOSCHED_GOT);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 0, 1, 0, 'b', 201),
                     IOSCHED_DEVICE_TAKEN);
    ck_assert_uint_eq(counters(d).refused, 3);
    ck_assert_str_eq(drain(d), "b");
}
END_TEST

/* --- Order ---------------------------------------------------------------- */
struct line { char cookie; unsigned op, flags; iosched_lba lba; };

static const char *order_of(const char *model, const struct line *l, size_t n)
{
    static struct box b;
    struct iosched_device *d = build(&b, model);
    size_t i;

    for (i = 0; i < n; i++)
        ck_assert_int_eq(submit(d, l[i].op, l[i].lba,
                                l[i].op == IOSCHED_FLUSH ? 0 : 1, l[i].flags,
                                (uint64_t)l[i].cookie, 0), 0);
    return drain(d);
}

START_TEST(the_policy_orders_what_is_held)
{
    static const struct line l[] = {    /* a is on the medium at once: 101 */
        { 'a', IOSCHED_READ, 0, 100 }, { 'b', IOSCHED_READ, 0, 30 },
        { 'c', IOSCHED_READ, 0, 150 }, { 'd', IOSCHED_READ, 0, 180 },
        { 'e', IOSCHED_READ, 0, 90 },  { 'f', IOSCHED_READ, 0, 150 },
        { 'g', IOSCHED_READ, 0, 101 },
    };

    ck_assert_str_eq(order_of(RULER, l, LEN(l)), "abcdefg");
    ck_assert_str_eq(order_of(RULER ",policy=fcfs", l, LEN(l)), "abcdefg");
    ck_assert_str_eq(order_of(RULER ",policy=clook", l, LEN(l)), "agcdbef");
    ck_assert_str_eq(order_of(RULER ",policy=sstf", l, LEN(l)), "agecfdb");
}
END_TEST

START_TEST(flags_go_before_the_policy)
{
    static const struct line prio[] = {
        { 'a', IOSCHED_READ, 0, 100 }, { 'b', IOSCHED_READ, 0, 101 },
        { 'c', IOSCHED_READ, IOSCHED_CMD_PRIO, 900 },
        { 'd', IOSCHED_READ, IOSCHED_CMD_PRIO, 500 },
        { 'e', IOSCHED_READ, IOSCHED_CMD_HEAD, 9000 },
        { 'f', IOSCHED_READ, IOSCHED_CMD_HEAD | IOSCHED_CMD_PRIO, 501 },
    };
    static const struct line ordered[] = {
        { 'a', IOSCHED_READ, 0, 100 }, { 'b', IOSCHED_READ, 0, 9000 },
        { 'o', IOSCHED_WRITE, IOSCHED_CMD_ORDERED, 102 },
        { 'c', IOSCHED_READ, 0, 103 },
        { 'p', IOSCHED_READ, IOSCHED_CMD_PRIO, 104 },
        { 'q', IOSCHED_READ, IOSCHED_CMD_ORDERED, 1 },
        { 'd', IOSCHED_READ, 0, 2 },
        { 'h', IOSCHED_READ, IOSCHED_CMD_HEAD, 5000 },
    };
    static const struct line flush[] = {
        { 'a', IOSCHED_READ, 0, 100 }, { 'w', IOSCHED_WRITE, 0, 9000 },
        { 'f', IOSCHED_FLUSH, IOSCHED_CMD_PRIO, 0 },
        { 'g', IOSCHED_FLUSH, IOSCHED_CMD_HEAD, 0 },
        { 'v', IOSCHED_WRITE, 0, 101 }, { 'r', IOSCHED_READ, 0, 8000 },
        { 'z', IOSCHED_FLUSH, 0, 0 },
    };
    static struct box b;
    struct iosched_device *d;

    ck_assert_str_eq(order_of(RULER ",policy=sstf", prio, LEN(prio)), "aefdcb");
    ck_assert_str_eq(order_of(RULER ",policy=sstf", ordered, LEN(ordered)),
                     "ahbopcqd");
    ck_assert_str_eq(order_of(RULER ",policy=sstf", flush, LEN(flush)),
                     "avrwgfz");
    d = build(&b, NULL);
    ck_assert_int_eq(submit(d, IOSCHED_WRITE, 0, 1, 0, 'w', 5), 0);
    ck_assert_int_eq(submit(d, IOSCHED_FLUSH, 0, 0, 0, 'f', 5), 0);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 0, 1, IOSCHED_CMD_ORDERED, 'o', 5),
                     0);
    ck_assert_str_eq(drain(d), "wfo");
    ck_assert_uint_eq(counters(d).ordered, 1);
}
END_TEST

START_TEST(who_comes_at_a_completion_is_too_late_for_its_selection)
{
    static struct box b;
    struct iosched_device *d = build(&b, RULER ",policy=sstf");

    ck_assert_int_eq(submit(d, IOSCHED_READ, 0, 1, 0, 'a', 0), 0);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 900, 1, 0, 'b', 0), 0);
    ck_assert_uint_eq(iosched_device_next(d), 101);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 1, 1, 0, 'c', 101), 0);
    ck_assert_str_eq(drain(d), "abc");
    build(&b, RULER ",policy=sstf");
    ck_assert_int_eq(submit(d, IOSCHED_READ, 0, 1, 0, 'a', 0), 0);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 900, 1, 0, 'b', 0), 0);
    ck_assert_int_eq(submit(d, IOSCHED_READ, 1, 1, 0, 'c', 100), 0);
    ck_assert_str_eq(drain(d), "acb");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("device");
    TCase *tc = tcase_create("device");
    SRunner *sr = srunner_create(s);
    int failed;

    suite_add_tcase(s, tc);
    tcase_add_test(tc, each_listed_profile_can_be_built);
    tcase_add_test(tc, each_listed_parameter_keeps_its_bounds);
    tcase_add_test(tc, a_wrong_string_gets_the_right_error);
    tcase_add_test(tc, cfg_is_checked_and_zero_means_the_default);
    tcase_add_test(tc, it_needs_exactly_its_size_and_writes_nowhere_else);
    tcase_add_test(tc, a_wrong_command_is_refused_and_nothing_has_changed);
    tcase_add_test(tc, null_pointers_and_times_gone_by_are_invalid);
    tcase_add_test(tc, null_completes_everything_at_once);
    tcase_add_test(tc, linear_takes_overhead_distance_and_blocks);
    tcase_add_test(tc, the_largest_device_has_no_overflow);
    tcase_add_test(tc, tags_run_out_and_one_reap_frees_one);
    tcase_add_test(tc, depth_can_be_lowered_while_commands_are_held);
    tcase_add_test(tc, a_nonqueued_command_is_alone);
    tcase_add_test(tc, the_policy_orders_what_is_held);
    tcase_add_test(tc, flags_go_before_the_policy);
    tcase_add_test(tc,
                   who_comes_at_a_completion_is_too_late_for_its_selection);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
