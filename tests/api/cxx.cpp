/* SPDX-License-Identifier: BSD-2-Clause */
/* Every installed header as C++: it compiles and links, requests can be made by
 * value, and every getter takes what it looks at as const. */
#include <iosched/types.h>
#include <iosched/fifo.h>
#include <iosched/rbtree.h>
#include <iosched/stree.h>
#include <iosched/request.h>
#include <iosched/stream.h>
#include <iosched/iosched.h>
#include <iosched/tunable.h>
#include <iosched/stats.h>
#include <iosched/policy.h>
#include <iosched/tags.h>
#include <iosched/inbox.h>
#include <iosched/device.h>

static int swallow(void *, const char *, size_t)
{
    return 0;
}

/** What can be asked of a scheduler that may only be looked at. */
static bool look(const struct iosched *s, const struct iosched_req *rq,
                 const struct iosched_stream *st,
                 const struct iosched_group *g)
{
    struct iosched_stats stats;
    struct iosched_tunable tunable;
    int64_t value;

    return iosched_get_stats(s, &stats, sizeof stats) == IOSCHED_OK &&
           iosched_tunable_get(s, "nomerges", &value) == IOSCHED_OK &&
           iosched_tunable_at(s, 0, &tunable, sizeof tunable) == IOSCHED_OK &&
           iosched_dump(s, swallow, NULL, 0) == 0 &&
           iosched_policy_name(s) != NULL && iosched_queued(s) == 1 &&
           iosched_inflight(s) == 0 && iosched_depth(s) == 1 &&
           iosched_next_expiry(s) == IOSCHED_NEVER &&
           iosched_find(s, UINT64_MAX) == NULL &&
           iosched_cookie(rq) == UINT64_MAX && iosched_carrier(rq) == rq &&
           iosched_inbox_pending(s) <= 0 &&
           iosched_stream_user(st) == NULL && iosched_stream_ioprio(st) == 0 &&
           iosched_stream_is_open(st) == 1 && iosched_group_user(g) == NULL &&
           iosched_group_weight(g) == IOSCHED_WEIGHT_DEFAULT &&
           iosched_req_sync(rq) == 1 &&
           iosched_hist_quantile(stats.wait, 0) == 0;
}

int main()
{
    const struct iosched_policy *const *built_in = iosched_builtin_policies();
    struct iosched *s = NULL;
    struct iosched_stream *st = NULL;
    struct iosched_group *g = NULL;
    struct iosched_req rq = iosched_req();
    struct iosched_req *out = NULL;
    struct iosched_cfg cfg;
    bool ok;

    if (iosched_cfg_init(&cfg) != IOSCHED_OK || iosched_size(&cfg) == 0 ||
        iosched_create(built_in[0]->name, &cfg, &s, 0) != IOSCHED_OK ||
        iosched_stream_open(s, NULL, &st, 0) != IOSCHED_OK ||
        iosched_group_open(s, NULL, &g, 0) != IOSCHED_OK)
        return 1;
    rq.nblk = 8;
    rq.stream = st;
    rq.ioprio = IOSCHED_PRIO(IOSCHED_PRIO_BE, 1);
    if (iosched_insert(s, &rq, 0) != IOSCHED_QUEUED)
        return 1;
    ok = look(s, &rq, st, g);
    if (iosched_dispatch(s, &out, 0, 0) != IOSCHED_GOT || out != &rq ||
        iosched_complete(s, &rq, 0, 0) != IOSCHED_OK ||
        iosched_destroy(s) != IOSCHED_OK)
        return 1;
    return ok ? 0 : 1;
}
