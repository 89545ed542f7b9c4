/* SPDX-License-Identifier: BSD-2-Clause */
/* linear.c - a time per command, per block, and per distance from the last.
 *
 *   access = overhead
 *          + seek      min(distance * per_distance / 2^20, max_seek)
 *          + transfer  nblk * per_block
 *
 * Distance is in blocks, from the end of the access before; the first starts
 * at lba 0.  FLUSH and DISCARD take their overhead and move nothing.  One
 * command at a time; the next is chosen when that one completes.
 *
 * The simplest device on which order matters, with an answer that anyone can
 * check by hand.  What it lacks is what makes a disk a disk: a rotation to
 * wait for and a cache.
 *
 * State:     the position, two streams of random numbers.
 * Selection: order of arrival, the next upwards (clook), the nearest (sstf).
 * Chance:    off; a jitter on each seek, and retries.
 */
#include "device_internal.h"

enum linear_param {
    LINEAR_DEPTH, LINEAR_OVERHEAD, LINEAR_PER_BLOCK, LINEAR_PER_DISTANCE,
    LINEAR_MAX_SEEK, LINEAR_POLICY, LINEAR_JITTER, LINEAR_RETRY_PPM,
    LINEAR_RETRY, LINEAR_PARAMS
};
enum linear_policy { LINEAR_FCFS, LINEAR_CLOOK, LINEAR_SSTF };

#define DISTANCE_SHIFT 20           /* per_distance is for 2^20 blocks    */
#define MAX_NS 2000000000           /* 2 s: seek + jitter fit in 32 bits, */
                                    /* 2^32 blocks of it in 63            */
struct linear {
    iosched_lba  pos;               /* the block after the last access    */
    uint64_t     overhead, per_block, per_distance, max_seek;   /* ns     */
    uint64_t     most_whole;        /* 2^20s of distance below max_seek   */
    uint64_t     jitter, retry;     /* ns                                 */
    uint32_t     retry_ppm;         /* of accesses                        */
    uint32_t     policy;            /* enum linear_policy                 */
    struct iosched__rng seek_rng, retry_rng;
};

/* --- Timing --------------------------------------------------------------- */
static uint64_t distance(iosched_lba a, iosched_lba b)
{
    return a > b ? a - b : b - a;
}

/* Rounded down.  Products stay below 2^20 * 2^31 and, by the test, MAX_NS; the
 * division that makes the test safe is done once, in linear_init(). */
static uint64_t seek_time(const struct linear *ln, uint64_t dist)
{
    uint64_t whole = dist >> DISTANCE_SHIFT;
    uint64_t rest = dist & ((UINT64_C(1) << DISTANCE_SHIFT) - 1);
    uint64_t ns;

    if (ln->per_distance == 0)
        return 0;
    if (whole > ln->most_whole)
        return ln->max_seek;
    ns = whole * ln->per_distance + (rest * ln->per_distance >> DISTANCE_SHIFT);
    return ns < ln->max_seek ? ns : ln->max_seek;
}

static void linear_time(const void *state, const struct iosched_cmd *cmd,
                        iosched_time start, struct iosched__service *sv)
{
    const struct linear *ln = state;
    iosched_dur all = ln->overhead;

    sv->parts.overhead = ln->overhead;
    if (iosched__cmd_moves(cmd)) {
        sv->access = 1;
        sv->parts.seek = seek_time(ln, distance(cmd->lba, ln->pos));
        sv->parts.transfer = cmd->nblk * ln->per_block;
        all += sv->parts.seek + sv->parts.transfer;
    }
    sv->media = sv->next = iosched__later(start, all);
}

/* Chance is asked only where its answer counts, so that what a policy decides
 * does not shift the numbers of accesses it has no part in. */
static void linear_serve(void *state, const struct iosched_cmd *cmd,
                         iosched_time start, struct iosched__service *sv)
{
    struct linear *ln = state;
    uint64_t more = 0;

    linear_time(ln, cmd, start, sv);
    if (!sv->access)
        return;
    if (ln->jitter > 0 && cmd->lba != ln->pos) {
        more = iosched__rng_below(&ln->seek_rng, ln->jitter + 1);
        sv->parts.seek += more;
    }
    if (ln->retry_ppm > 0 &&
        iosched__rng_below(&ln->retry_rng, 1000000) < ln->retry_ppm) {
        sv->retries = 1;
        sv->parts.stall = ln->retry;
        more += ln->retry;
    }
    sv->media = sv->next = iosched__later(sv->media, more);
    ln->pos = cmd->lba + cmd->nblk;
}

/* --- Choosing ------------------------------------------------------------- */
static uint64_t linear_cost(const void *state, const struct iosched_cmd *cmd,
                            iosched_time now)
{
    const struct linear *ln = state;

    (void)now;
    if (!iosched__cmd_moves(cmd))
        return 0;                       /* the position is all the same   */
    switch (ln->policy) {
    case LINEAR_CLOOK:
        return cmd->lba - ln->pos;      /* what lies below wraps to the end */
    case LINEAR_SSTF:
        return distance(cmd->lba, ln->pos);
    default:
        return 0;
    }
}

/* --- Life ----------------------------------------------------------------- */
static int linear_check(const struct iosched__setup *su, size_t *size)
{
    (void)su;
    *size = sizeof(struct linear);
    return IOSCHED_OK;
}

static void linear_init(void *state, const struct iosched__setup *su)
{
    struct linear *ln = state;
    const int64_t *p = su->param;

    ln->pos = 0;
    ln->overhead = (uint64_t)p[LINEAR_OVERHEAD];
    ln->per_block = (uint64_t)p[LINEAR_PER_BLOCK];
    ln->per_distance = (uint64_t)p[LINEAR_PER_DISTANCE];
    ln->max_seek = (uint64_t)p[LINEAR_MAX_SEEK];
    ln->most_whole = 0;
    if (ln->per_distance > 0)           /* both fit in 32 bits */
        ln->most_whole = (uint32_t)ln->max_seek / (uint32_t)ln->per_distance;
    ln->policy = (uint32_t)p[LINEAR_POLICY];
    ln->jitter = (uint64_t)p[LINEAR_JITTER];
    ln->retry_ppm = (uint32_t)p[LINEAR_RETRY_PPM];
    ln->retry = (uint64_t)p[LINEAR_RETRY];
    iosched__rng_seed(&ln->seek_rng, su->cfg.seed, IOSCHED__CHANCE_SEEK);
    iosched__rng_seed(&ln->retry_rng, su->cfg.seed, IOSCHED__CHANCE_RETRY);
}

static int linear_power_cut(void *state, struct iosched_extent *out,
                            uint32_t max, uint32_t *n, iosched_time now)
{
    struct linear *ln = state;

    (void)out;
    (void)max;
    (void)now;
    ln->pos = 0;
    *n = 0;                             /* there is no cache to lose      */
    return IOSCHED_OK;
}

/* --- The model ------------------------------------------------------------ */
static const char *const linear_policies[] = { "fcfs", "clook", "sstf", NULL };

#define NS IOSCHED_UNIT_NS
static const struct iosched__param linear_params[LINEAR_PARAMS] = {
    IOSCHED__PARAM_DEPTH,
    { { "overhead", "time per command", 0, MAX_NS, 500000, NS, 0, 0 }, NULL },
    { { "per_block", "time per block", 0, MAX_NS, 10000, NS, 0, 0 }, NULL },
    { { "per_distance", "time per 2^20 blocks of distance", 0, MAX_NS, 60000,
        NS, 0, 0 }, NULL },
    { { "max_seek", "most time for a distance", 0, MAX_NS, 15000000,
        NS, 0, 0 }, NULL },
    { { "policy", "fcfs (0), clook (1) or sstf (2)", 0, 2, 0,
        IOSCHED_UNIT_NONE, 0, 0 }, linear_policies },
    { { "jitter", "most time that chance adds to a seek", 0, MAX_NS, 0,
        NS, 0, 0 }, NULL },
    { { "retry_ppm", "share of accesses that need a retry", 0, 1000000, 0,
        IOSCHED_UNIT_PPM, 0, 0 }, NULL },
    { { "retry", "time of a retry", 0, MAX_NS, 6000000, NS, 0, 0 }, NULL },
};
#undef NS

static const struct iosched__preset linear_flat[] = {
    { LINEAR_OVERHEAD, 0, 100000 },
    { LINEAR_PER_BLOCK, 0, 1000 },
    { LINEAR_PER_DISTANCE, 0, 0 },
};

static const struct iosched__profile linear_profiles[] = {
    { "linear", "about what a disk of 128 GiB takes", UINT64_C(1) << 37,
      NULL, 0 },
    { "linear:flat", "distance is free, 128 GiB", UINT64_C(1) << 37,
      linear_flat, sizeof linear_flat / sizeof *linear_flat },
};

const struct iosched__model iosched__device_linear = {
    .name      = "linear",
    .params    = linear_params,
    .nparams   = sizeof linear_params / sizeof *linear_params,
    .profiles  = linear_profiles,
    .nprofiles = sizeof linear_profiles / sizeof *linear_profiles,
    .check     = linear_check,
    .init      = linear_init,
    .cost      = linear_cost,
    .time      = linear_time,
    .serve     = linear_serve,
    .power_cut = linear_power_cut,
};
