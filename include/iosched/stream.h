/* SPDX-License-Identifier: BSD-2-Clause */
/** @file iosched/stream.h
 *  Streams and groups: who is asking, and what share he gets.
 *
 *  A stream is one I/O context: a process, a client connection, a background
 *  job.  Whoever names none uses the default stream, which is always there.
 *  Groups share the device by weight, nest, and hold streams; whoever names
 *  none is in the root.  Both live in the scheduler's memory: cfg.max_streams
 *  and cfg.max_groups bound them, the default stream and the root included.
 *
 *  Errors, besides those named: INVAL (NULL, a foreign object, a bad now),
 *  STATE (the handle is closed) and REENTRANT.  A handle is dead after close:
 *  once its slot is used again, the library cannot tell a stale one.
 */
#ifndef IOSCHED_STREAM_H
#define IOSCHED_STREAM_H
#include <iosched/types.h>
IOSCHED_BEGIN_DECLS

struct iosched;                 /* <iosched/iosched.h>                    */
struct iosched_stream;          /* one I/O context: who is asking         */
struct iosched_group;           /* streams and groups sharing a weight    */

/* --- Streams -------------------------------------------------------------- */
/** Append-only.  Set struct_size, zero the rest. */
struct iosched_stream_opts {
    uint32_t struct_size;           /* sizeof(struct iosched_stream_opts) */
    uint16_t ioprio;                /* IOSCHED_PRIO(); 0: BE 4            */
    uint16_t pad_;                  /* 0                                  */
    struct iosched_group *group;    /* NULL: the root                     */
    void    *user;                  /* yours, never read                  */
};
/** Open a stream; opts NULL: all defaults.  *out stays valid until close, and
 *  is NULL on error.  O(1) + P.
 *  @retval IOSCHED_ERR_NOSPC cfg.max_streams are in use
 *  @retval IOSCHED_ERR_RANGE its ioprio, as iosched_prio() */
IOSCHED_API int iosched_stream_open(struct iosched *s,
                                    const struct iosched_stream_opts *opts,
                                    struct iosched_stream **out,
                                    iosched_time now);
/** The handle is dead to insert at once; what was inserted still completes,
 *  then the slot is reused, longest unused first: drop the handle.  Succeeds
 *  for every open stream; NULL is a no-op.  O(1) + P. */
IOSCHED_API int iosched_stream_close(struct iosched_stream *st,
                                     iosched_time now);
/** For requests inserted from now on.  @retval IOSCHED_ERR_RANGE  O(1) + P. */
IOSCHED_API int iosched_stream_set_ioprio(struct iosched_stream *st,
                                          uint16_t ioprio, iosched_time now);
/** Move to group g, NULL for the root; queued requests stay.  O(1) + P. */
IOSCHED_API int iosched_stream_set_group(struct iosched_stream *st,
                                         struct iosched_group *g,
                                         iosched_time now);
/** `from` has nothing more to say for a while and waits for `to` (NULL: for
 *  nobody in particular): do not idle for it.  A hint.  O(1) + P. */
IOSCHED_API int iosched_stream_yield(struct iosched_stream *from,
                                     struct iosched_stream *to,
                                     iosched_time now);
/** Its priority; 0 if it was opened with 0.  [cb]  O(1). */
IOSCHED_API uint16_t iosched_stream_ioprio(const struct iosched_stream *st);
/** The pointer it was opened with; NULL for NULL.  [cb]  O(1). */
IOSCHED_API void *iosched_stream_user(const struct iosched_stream *st);

/* --- Groups --------------------------------------------------------------- */
#define IOSCHED_WEIGHT_MIN     1u       /* only ratios count              */
#define IOSCHED_WEIGHT_MAX     10000u   /* inclusive                      */
#define IOSCHED_WEIGHT_DEFAULT 100u     /* also of the root               */

/** Append-only.  Set struct_size and weight, zero the rest. */
struct iosched_group_opts {
    uint32_t struct_size;           /* sizeof(struct iosched_group_opts)  */
    uint32_t weight;                /* against its siblings; 1..10000     */
    uint32_t leaf_weight;           /* of its own streams against its     */
    uint32_t pad_;                  /* child groups; 0: the same          */
    struct iosched_group *parent;   /* NULL: the root                     */
    void    *user;                  /* yours, never read                  */
};
/** Open a group, in another if you like; opts NULL: weight 100, in the root.
 *  *out stays valid until close, and is NULL on error.
 *  @retval IOSCHED_ERR_NOSPC cfg.max_groups are in use  O(1) + P.
 *  @retval IOSCHED_ERR_RANGE a weight outside its bounds, so 0 too */
IOSCHED_API int iosched_group_open(struct iosched *s,
                                   const struct iosched_group_opts *opts,
                                   struct iosched_group **out,
                                   iosched_time now);
/** Close it; reused after its last request.  NULL is a no-op.  O(1) + P.
 *  @retval IOSCHED_ERR_BUSY it has open streams or child groups */
IOSCHED_API int iosched_group_close(struct iosched_group *g, iosched_time now);
/** Against its siblings, from the next charge on.  NULL is not the root but
 *  INVAL.  @retval IOSCHED_ERR_RANGE  O(1) + P. */
IOSCHED_API int iosched_group_set_weight(struct iosched_group *g,
                                         uint32_t weight, iosched_time now);
/** Weight of the group's own streams against its child groups, from the next
 *  charge on; g NULL: the root's.
 *  @retval IOSCHED_ERR_RANGE  O(1) + P. */
IOSCHED_API int iosched_group_set_leaf_weight(struct iosched *s,
                                              struct iosched_group *g,
                                              uint32_t weight,
                                              iosched_time now);
/** The pointer it was opened with.  [cb]  O(1). */
IOSCHED_API void *iosched_group_user(const struct iosched_group *g);

IOSCHED_END_DECLS
#endif
