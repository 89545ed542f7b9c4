/* SPDX-License-Identifier: BSD-2-Clause */
/* sizes.c - bytes of the public structs, and of a scheduler as configured. */
#include <iosched/device.h>
#include <iosched/iosched.h>
#include <iosched/policy.h>
#include <iosched/stats.h>
#include <iosched/stree.h>
#include <iosched/tags.h>
#include "bench.h"

#define SIZE(name) { #name, sizeof(struct name) }

static const struct {
    const char *name;
    size_t      bytes;
} structs[] = {
    SIZE(iosched_req),
    SIZE(iosched_rbnode), SIZE(iosched_rbtree),
    SIZE(iosched_fifolink), SIZE(iosched_fifo),
    SIZE(iosched_snode), SIZE(iosched_stree_slot), SIZE(iosched_stree),
    SIZE(iosched_clock32),
    SIZE(iosched_cfg), SIZE(iosched_stream_opts), SIZE(iosched_group_opts),
    SIZE(iosched_tags_cfg),
    SIZE(iosched_hist), SIZE(iosched_stats), SIZE(iosched_event),
    SIZE(iosched_policy), SIZE(iosched_tunable), SIZE(iosched_tunable_def),
    SIZE(iosched_preset),
    SIZE(iosched_cmd), SIZE(iosched_access), SIZE(iosched_done),
    SIZE(iosched_extent), SIZE(iosched_device_cfg),
    SIZE(iosched_device_counters),
};

/* Fields that are 0 take their defaults. */
static const struct {
    const char *what;
    uint32_t    flags, depth, streams, groups, hint;
} cfgs[] = {
    { "firmware: depth 4, 1 stream, 1 group, hint 8, NO_SWITCH",
      IOSCHED_F_NO_SWITCH, 4, 1, 1, 8 },
    { "the same, NOMERGE too",
      IOSCHED_F_NO_SWITCH | IOSCHED_F_NOMERGE, 4, 1, 1, 8 },
    { "default", 0, 0, 0, 0, 0 },
    { "default, NO_SWITCH", IOSCHED_F_NO_SWITCH, 0, 0, 0, 0 },
    { "default, ORDER_OVERLAPS", IOSCHED_F_ORDER_OVERLAPS, 0, 0, 0, 0 },
    { "depth 256, 1024 streams", 0, 256, 1024, 0, 0 },
    { "depth 256, 1024 streams, hint 65536", 0, 256, 1024, 0, 65536 },
};

int main(void)
{
    const struct iosched_policy *one[2] = { NULL, NULL };
    const struct iosched_policy *const *all = iosched_builtin_policies();
    struct iosched_tags_cfg tags;
    struct iosched_cfg cfg;

    puts("sizeof");
    for (size_t i = 0; i < sizeof structs / sizeof structs[0]; i++)
        printf("  %-60s %8zu\n", structs[i].name, structs[i].bytes);

    puts("iosched_size(), every policy built in");
    for (size_t i = 0; i < sizeof cfgs / sizeof cfgs[0]; i++) {
        size_t bytes;

        iosched_cfg_init(&cfg);
        cfg.flags = cfgs[i].flags;
        cfg.depth = cfgs[i].depth;
        cfg.max_streams = cfgs[i].streams;
        cfg.max_groups = cfgs[i].groups;
        cfg.queued_hint = cfgs[i].hint;
        bytes = iosched_size(&cfg);
        if (bytes == 0)
            bench_die("iosched_size() refuses a configuration");
        printf("  %-60s %8zu\n", cfgs[i].what, bytes);
    }

    puts("iosched_size(), firmware as above, one policy");
    for (; *all != NULL; all++) {
        one[0] = *all;
        iosched_cfg_init(&cfg);
        cfg.flags = cfgs[0].flags;
        cfg.depth = cfgs[0].depth;
        cfg.max_streams = cfgs[0].streams;
        cfg.max_groups = cfgs[0].groups;
        cfg.queued_hint = cfgs[0].hint;
        cfg.policies = one;
        printf("  %-60s %8zu\n", (*all)->name, iosched_size(&cfg));
    }

    puts("iosched_tags_size()");
    memset(&tags, 0, sizeof tags);
    tags.struct_size = (uint32_t)sizeof tags;
    printf("  %-60s %8zu\n", "depth 32, 8 seats (default)",
           iosched_tags_size(&tags));
    tags.depth = 256;
    printf("  %-60s %8zu\n", "depth 256", iosched_tags_size(&tags));
    tags.depth = IOSCHED_TAGS_MAX;
    printf("  %-60s %8zu\n", "depth 65536", iosched_tags_size(&tags));
    return 0;
}
