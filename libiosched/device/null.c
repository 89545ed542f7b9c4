/* SPDX-License-Identifier: BSD-2-Clause */
/* null.c - the device that takes no time.
 *
 * Every command completes at the instant at which it may be served: the one of
 * its submission, unless it has to wait for another.  What is left is the cost
 * of whoever drives it, and the smallest complete model: read it first.
 *
 * State: none.   Selection: order of arrival.   Parameters: tag_depth.
 */
#include "device_internal.h"

static int null_check(const struct iosched__setup *su, size_t *size)
{
    (void)su;
    *size = 0;
    return IOSCHED_OK;
}

static void null_init(void *state, const struct iosched__setup *su)
{
    (void)state;
    (void)su;
}

static void null_time(const void *state, const struct iosched_cmd *cmd,
                      iosched_time start, struct iosched__service *sv)
{
    (void)state;
    sv->access = iosched__cmd_moves(cmd) != 0;
    sv->media = sv->next = start;
}

static void null_serve(void *state, const struct iosched_cmd *cmd,
                       iosched_time start, struct iosched__service *sv)
{
    null_time(state, cmd, start, sv);
}

static int null_power_cut(void *state, struct iosched_extent *out,
                          uint32_t max, uint32_t *n, iosched_time now)
{
    (void)state;
    (void)out;
    (void)max;
    (void)now;
    *n = 0;                             /* there is no cache to lose      */
    return IOSCHED_OK;
}

/* --- The model ------------------------------------------------------------ */
static const struct iosched__param null_params[] = { IOSCHED__PARAM_DEPTH };

static const struct iosched__profile null_profiles[] = {
    { "null", "takes no time; 1 EiB", UINT64_C(1) << 60, NULL, 0 },
};

const struct iosched__model iosched__device_null = {
    .name      = "null",
    .params    = null_params,
    .nparams   = sizeof null_params / sizeof *null_params,
    .profiles  = null_profiles,
    .nprofiles = sizeof null_profiles / sizeof *null_profiles,
    .check     = null_check,
    .init      = null_init,
    .time      = null_time,
    .serve     = null_serve,
    .power_cut = null_power_cut,
};
