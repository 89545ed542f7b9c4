/* SPDX-License-Identifier: BSD-2-Clause */
/* clock.c - core time, and 32-bit counters.
 *
 * Core time is the caller's `now` plus an offset.  When the caller's clock
 * steps back the offset grows by the step, so that core time stands still for
 * a moment and then goes on: no interval is lost, no deadline jumps.
 */
#include "hot.h"

/** Move core time to the caller's `now`, which is another than before. */
void iosched__set_clock(struct iosched *s, iosched_time now)
{
    if (IOSCHED_UNLIKELY(now < s->caller_now)) {
        iosched_dur back = s->caller_now - now;

        s->offset = iosched__later(s->offset, back);
        s->caller_now = now;
        s->stats.clock_backwards++;
        iosched__event(s, IOSCHED_EV_CLOCK, NULL, (int64_t)back);
        return;
    }
    s->caller_now = now;
    now = iosched__later(now, s->offset);
    s->now = now == IOSCHED_NEVER ? now - 1 : now;
}

/** Core time `at` in the caller's clock. */
iosched_time iosched__caller_time(const struct iosched *s, iosched_time at)
{
    if (at == IOSCHED_NEVER)
        return at;
    return at > s->offset ? at - s->offset : 0;
}

iosched_time iosched_clock32_extend(struct iosched_clock32 *c,
                                    uint32_t counter)
{
    if (c == NULL || c->tick_ns == 0)
        return IOSCHED_NEVER;
    c->ticks_ += (uint32_t)(counter - c->last_);
    c->last_ = counter;
    return c->ticks_ * c->tick_ns;
}

uint32_t iosched_clock32_alarm(const struct iosched_clock32 *c,
                               iosched_time at)
{
    const uint64_t half = UINT64_C(1) << 31;
    uint64_t ticks;

    if (c == NULL || c->tick_ns == 0)
        return 0;
    ticks = at / c->tick_ns + (at % c->tick_ns != 0);
    if (ticks <= c->ticks_)
        return c->last_ + 1;
    ticks -= c->ticks_;
    return c->last_ + (uint32_t)(ticks < half ? ticks : half);
}
