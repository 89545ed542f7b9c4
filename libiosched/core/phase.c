/* SPDX-License-Identifier: BSD-2-Clause */
/* phase.c - which trips a request makes to the device.
 *
 *     cache            PREFLUSH write      FUA write           both
 *     volatile         flush, data         data, flush         all three
 *     and device FUA   flush, data         data                flush, data
 *     not volatile     data                data                data
 *
 * A FLUSH makes one, in phase PREFLUSH, whatever the cache.
 */
#include "hot.h"

/** After the present phase ended with status: 1 and the next one, or 0. */
int iosched__next_phase(const struct iosched *s, const struct iosched_req *rq,
                        int status, unsigned *next)
{
    if (status < 0 || rq->op == IOSCHED_FLUSH)
        return 0;
    if (rq->phase == IOSCHED_PHASE_PREFLUSH) {
        *next = IOSCHED_PHASE_DATA;
        return 1;
    }
    if (rq->phase == IOSCHED_PHASE_DATA && rq->flags & IOSCHED_RQ_FUA &&
        !(s->cfg.flags &
          (IOSCHED_F_NO_VOLATILE_CACHE | IOSCHED_F_DEVICE_FUA))) {
        *next = IOSCHED_PHASE_POSTFLUSH;
        return 1;
    }
    return 0;
}
