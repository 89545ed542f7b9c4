/* SPDX-License-Identifier: BSD-2-Clause */
/** @file iosched/inbox.h
 *  The inbox: requests and completions from other threads and from interrupt
 *  handlers.  They post; the one thread that owns the scheduler takes in:
 *
 *      any thread:  iosched_post(), iosched_post_complete()
 *                       1: wake the owner
 *      the owner:   iosched_intake(s, now)
 *                   while (iosched_reap(s, &rq) == IOSCHED_GOT)
 *                       rq->status says how it ended; its members are yours
 *                   iosched_expire(), iosched_dispatch(), sleep
 *
 *  What was posted has no effect before intake, which takes each in at the time
 *  it was posted with, but never before the time of an earlier call.  One
 *  poster's posts are taken in in order; of several, as they landed.  Without
 *  atomics (a build option) every call here answers IOSCHED_ERR_NOTSUP.
 */
#ifndef IOSCHED_INBOX_H
#define IOSCHED_INBOX_H
#include <iosched/iosched.h>
IOSCHED_BEGIN_DECLS

/** Hand rq over: the library's from here on.  `now` is when it arrived: its
 *  age starts there, or at the latest time the owner has passed to any call if
 *  that is later.  What iosched_insert() would refuse comes back from reap.
 *  [any]  Wait-free but for one compare-and-swap loop, which repeats only when
 *  another post won: at most as often as there are other posters.
 *  @return 1: the inbox was empty, wake the owner; 0: it will look anyway.
 *  @retval IOSCHED_ERR_BUSY rq is not idle */
IOSCHED_API int iosched_post(struct iosched *s, struct iosched_req *rq,
                             iosched_time now);

/** The device finished what was dispatched with this iosched_cookie(): works
 *  by number, so a late one, after abort, touches no request; it is refused
 *  here and counted at intake.  Posting one twice is harmless.  One that is
 *  posted has happened: complete, requeue and abort answer STATE for it.
 *  [any]  Wait-free: O(1), no loop.
 *  @return 1: wake the owner; 0: it will look anyway.
 *  @retval IOSCHED_ERR_STATE nothing in flight has this cookie */
IOSCHED_API int iosched_post_complete(struct iosched *s, uint64_t cookie,
                                      int status, iosched_time now);

/** Take in what has been posted so far: completions first, then requests.
 *  Owner only.  @return how many, or an error.  O(posted * (1 + P)). */
IOSCHED_API int iosched_intake(struct iosched *s, iosched_time now);

/** The next carrier that intake finished, with its members, or the next
 *  request it refused: idle and yours, rq->status set.  One that needs another
 *  phase does not show up before its last.  Owner only; in order of finishing.
 *  @return IOSCHED_GOT, or IOSCHED_EMPTY and *out NULL.  O(members). */
IOSCHED_API int iosched_reap(struct iosched *s, struct iosched_req **out);

/** 1 if something is posted and not taken in, else 0; look after arming your
 *  sleep and before sleeping.  [any]  O(1). */
IOSCHED_API int iosched_inbox_pending(const struct iosched *s);

IOSCHED_END_DECLS
#endif
