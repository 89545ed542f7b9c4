/* SPDX-License-Identifier: BSD-2-Clause */
/* device_box.h - what the tests of the device model share: a device in a box of
 * memory, short calls, and the identities that hold after each of them.
 */
#ifndef DEVICE_BOX_H
#define DEVICE_BOX_H
#include <check.h>
#include <string.h>
#include <iosched/device.h>

#define LEN(a) (sizeof (a) / sizeof *(a))

/* Round numbers: 100 ns a command, 1 a block, 1 per block of distance. */
#define RULER "linear,overhead=100,per_block=1,per_distance=1048576," \
              "max_seek=1s,tag_depth=16"

struct box {
    uint64_t mem[8192];
    struct iosched_device *d;
};

/* For what is asked a million times: ck_assert() is a system call each time. */
#define HOLDS(x) do { if (!(x)) ck_abort_msg("%s", #x); } while (0)

static inline struct iosched_device_cfg cfg_of(const char *model)
{
    struct iosched_device_cfg cfg = { .struct_size = sizeof cfg };

    cfg.model = model;
    return cfg;
}

static inline struct iosched_device *
build_cfg(struct box *b, const struct iosched_device_cfg *cfg)
{
    ck_assert_uint_le(iosched_device_size(cfg), sizeof b->mem);
    ck_assert_int_eq(iosched_device_init(b->mem, sizeof b->mem, cfg, &b->d, 0),
                     IOSCHED_OK);
    return b->d;
}

static inline struct iosched_device *build(struct box *b, const char *model)
{
    struct iosched_device_cfg cfg = cfg_of(model);

    return build_cfg(b, &cfg);
}

static inline struct iosched_cmd cmd_of(unsigned op, iosched_lba lba,
                                        uint32_t nblk, unsigned flags,
                                        uint64_t cookie)
{
    struct iosched_cmd c = { .lba = lba, .cookie = cookie, .nblk = nblk,
                             .op = (uint16_t)op, .flags = (uint16_t)flags,
                             .tag = -7 };
    return c;
}

static inline int submit(struct iosched_device *d, unsigned op,
                         iosched_lba lba, uint32_t nblk, unsigned flags,
                         uint64_t cookie, iosched_time now)
{
    struct iosched_cmd c = cmd_of(op, lba, nblk, flags, cookie);

    return iosched_device_submit(d, &c, now);
}

static inline struct iosched_device_counters
counters(const struct iosched_device *d)
{
    struct iosched_device_counters c;

    HOLDS(iosched_device_counters(d, &c, sizeof c) == IOSCHED_OK);
    return c;
}

/* What holds after each call. */
static inline void identities(const struct iosched_device *d,
                              iosched_time elapsed)
{
    struct iosched_device_counters c = counters(d);
    uint64_t accepted = 0, completed = 0;
    int i;

    for (i = 0; i < 8; i++) {
        accepted += c.accepted[i];
        completed += c.completed[i];
    }
    HOLDS(accepted == completed + c.dropped + c.in_use);
    HOLDS(c.elapsed == elapsed);
    HOLDS(c.busy + c.idle == c.elapsed);
    HOLDS(c.idle_pending <= c.idle);
    HOLDS(c.in_use <= c.in_use_max);
}

static inline void check_done(const struct iosched_done *e)
{
    const struct iosched_access *a = &e->parts;

    HOLDS(a->queued + a->overhead + a->seek + a->settle + a->rotation +
          a->transfer + a->link + a->stall == e->completed - e->submitted);
    HOLDS(a->queued == e->selected - e->submitted);
    HOLDS(e->submitted <= e->selected && e->selected <= e->media &&
          e->media <= e->completed);
    HOLDS(e->verdict == IOSCHED_CACHE_NONE);
    HOLDS(e->status == 0);
}

static inline int reap(struct iosched_device *d, struct iosched_done *e,
                       iosched_time now)
{
    int got = iosched_device_reap(d, e, sizeof *e, now);

    if (got == IOSCHED_GOT)
        check_done(e);
    else
        HOLDS(got == IOSCHED_EMPTY);
    return got;
}

/* Sleep until all is done; the cookies, one character each, as they come. */
static inline const char *drain(struct iosched_device *d)
{
    static char order[64];
    struct iosched_done e;
    iosched_time now, last = 0;
    size_t n = 0;

    while ((now = iosched_device_next(d)) != IOSCHED_NEVER)
        while (reap(d, &e, now) == IOSCHED_GOT) {
            ck_assert_uint_ge(e.completed, last);
            last = e.completed;
            order[n++] = (char)e.cookie;
        }
    order[n] = '\0';
    return order;
}

#endif
