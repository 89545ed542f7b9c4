/* SPDX-License-Identifier: BSD-2-Clause */
/* stats.c - histograms, and a copy of the counters for the caller. */
#include "hot.h"

int iosched_hist_bucket(iosched_dur d)
{
    return (int)iosched__hist_bucket(d);
}

iosched_dur iosched_hist_floor(int b)
{
    if (b <= 0)
        return 0;
    return b < IOSCHED_HIST_BUCKETS ? (iosched_dur)1 << (b + 9) : IOSCHED_NEVER;
}

iosched_dur iosched_hist_quantile(const struct iosched_hist *h, uint32_t ppm)
{
    uint64_t all = 0, rank, seen = 0;
    int b;

    if (h == NULL)
        return 0;
    for (b = 0; b < IOSCHED_HIST_BUCKETS; b++)
        all += h->n[b];
    if (all == 0)
        return 0;
    if (ppm > 1000000)
        ppm = 1000000;
    /* The rank-th smallest, from 1, rounded up; split so as not to overflow. */
    rank = all / 1000000 * ppm + (all % 1000000 * ppm + 999999) / 1000000;
    if (rank == 0)
        rank = 1;
    for (b = 0; b < IOSCHED_HIST_BUCKETS - 1; b++) {
        seen += h->n[b];
        if (seen >= rank)
            break;
    }
    return iosched_hist_floor(b);
}

int iosched_get_stats(const struct iosched *s, struct iosched_stats *out,
                      size_t size)
{
    if (s == NULL || out == NULL)
        return IOSCHED_ERR_INVAL;
    iosched__give_struct(out, size, &s->stats, sizeof s->stats);
    /* What is still going on, without a copy of it all on the stack. */
    if (s->inflight > 0 &&
        size >= offsetof(struct iosched_stats, busy) + sizeof out->busy)
        out->busy += s->now - s->busy_since;
    if (s->holding &&
        size >= offsetof(struct iosched_stats, held) + sizeof out->held)
        out->held += s->now - s->hold_since;
    return IOSCHED_OK;
}
