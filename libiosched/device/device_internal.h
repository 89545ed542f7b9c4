/* SPDX-License-Identifier: BSD-2-Clause */
/* device_internal.h - what device.c and the models know of each other.
 *
 * device.c has the tags, the order in which commands may be served, the
 * selection loop and the counters.  A model is one file and one constant of
 * struct iosched__model, listed in device.c: it says what an access takes and,
 * if it has a say in it, which candidate is the cheapest.
 *
 * A model keeps its state in the memory between the device and its slots; it
 * begins with nothing in it but what init() writes.
 */
#ifndef IOSCHED_DEVICE_INTERNAL_H
#define IOSCHED_DEVICE_INTERNAL_H
#include <iosched/device.h>
#include "util.h"

#define IOSCHED__MODEL_PARAMS 32u   /* most parameters of a model         */
#define IOSCHED__DEPTH_MAX  4096    /* in_use_ns then lasts for 52 days   */

/** In every model the first parameter is tag_depth. */
#define IOSCHED__PARAM_DEPTH { {                                         \
    "tag_depth", "commands it holds at once", 1, IOSCHED__DEPTH_MAX, 32, \
    IOSCHED_UNIT_NONE, 0, 0 }, NULL }

struct iosched__param {
    struct iosched_tunable t;
    const char *const *words;       /* NULL-terminated names of min, min+1, */
};                                  /* ...; NULL: only numbers            */

struct iosched__preset {            /* parameter `index` is not its default */
    uint32_t index, pad_;
    int64_t  value;
};

/** The first of a model's has the model's name and no presets. */
struct iosched__profile {
    const char *name, *help;        /* "linear:flat"                      */
    uint64_t    capacity;           /* bytes                              */
    const struct iosched__preset *presets;
    size_t      npresets;
};

/** What a device is built from: cfg checked and its string taken apart. */
struct iosched__setup {
    struct iosched_device_cfg cfg;  /* as this library knows it; no zeroes*/
    const struct iosched__model *model;     /* left but seed              */
    int64_t param[IOSCHED__MODEL_PARAMS];
};

/** How an access goes.  From parts.overhead to parts.rotation each must fit in
 *  32 bits; parts.queued is for device.c, and the sum of the others is how long
 *  the command takes from its selection to its completion. */
struct iosched__service {
    struct iosched_access parts;
    iosched_time media;             /* it leaves the medium               */
    iosched_time next;              /* when the next one may be chosen    */
    uint32_t     retries;
    uint8_t      verdict;           /* enum iosched_verdict               */
    uint8_t      access;            /* 1: it touches the medium           */
};

struct iosched__model {
    const char *name;
    const struct iosched__param *params;
    size_t nparams;
    const struct iosched__profile *profiles;
    size_t nprofiles;
    /** What no range of one parameter can say; sets *size to the bytes of
     *  state.  OK, or the error of iosched_device_init(). */
    int (*check)(const struct iosched__setup *su, size_t *size);
    /** Write the state, of a device that is idle. */
    void (*init)(void *state, const struct iosched__setup *su);
    /** The price of cmd at `now`; the lowest is served, ties in order of
     *  arrival.  NULL: always the order of arrival. */
    uint64_t (*cost)(const void *state, const struct iosched_cmd *cmd,
                     iosched_time now);
    /** How cmd would go from `start` on.  *sv is all zero before. */
    void (*time)(const void *state, const struct iosched_cmd *cmd,
                 iosched_time start, struct iosched__service *sv);
    /** It goes: as time(), plus what chance adds, and the state moves. */
    void (*serve)(void *state, const struct iosched_cmd *cmd,
                  iosched_time start, struct iosched__service *sv);
    /** Extents that are not on the medium, as iosched_device_power_cut(); on
     *  OK all that was volatile is forgotten. */
    int (*power_cut)(void *state, struct iosched_extent *out, uint32_t max,
                     uint32_t *n, iosched_time now);
};

extern const struct iosched__model iosched__device_null;
extern const struct iosched__model iosched__device_linear;

/** Does cmd go to the medium?  FLUSH and DISCARD are only noted. */
static inline int iosched__cmd_moves(const struct iosched_cmd *cmd)
{
    return cmd->op == IOSCHED_READ || cmd->op == IOSCHED_WRITE ||
           cmd->op == IOSCHED_ZEROES;
}

/* --- Chance ---------------------------------------------------------------
 * One stream of numbers (splitmix64) for each purpose, so that one purpose
 * more or less does not shift the numbers of another. */
enum iosched__chance { IOSCHED__CHANCE_SEEK = 1, IOSCHED__CHANCE_RETRY = 2 };

struct iosched__rng { uint64_t state; };

static inline uint64_t iosched__rng_next(struct iosched__rng *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline void iosched__rng_seed(struct iosched__rng *r, uint64_t seed,
                                     enum iosched__chance purpose)
{
    r->state = seed;
    r->state = iosched__rng_next(r) ^ (uint64_t)purpose;
    r->state = iosched__rng_next(r);
}

/** A number of 0 .. n-1, n at most 2^32; uneven by less than n / 2^32. */
static inline uint64_t iosched__rng_below(struct iosched__rng *r, uint64_t n)
{
    return (iosched__rng_next(r) >> 32) * n >> 32;
}

#endif
