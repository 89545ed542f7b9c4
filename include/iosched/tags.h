/* SPDX-License-Identifier: BSD-2-Clause */
/** @file iosched/tags.h
 *  Tags: the slot numbers of a device queue.  0 .. depth-1, usable as they are
 *  for an NCQ tag, an NVMe command identifier or a ring index.
 *
 *  One set may serve several schedulers behind one controller: give the same
 *  set as cfg.tags to each.  Each takes a *seat* in it (at iosched_init) and
 *  brings a waker (cfg.wake).  A freed tag wakes everyone who was refused one,
 *  round robin from the seat after the one woken first the last time, so none
 *  starves.  Others who issue commands, as an admin queue, may take seats too.
 *
 *  Everything here is [any], lock-free and safe in interrupt handlers where
 *  the build has atomics; without them a set may be used from one thread.
 */
#ifndef IOSCHED_TAGS_H
#define IOSCHED_TAGS_H
#include <iosched/iosched.h>
IOSCHED_BEGIN_DECLS

#define IOSCHED_TAGS_MAX  65536u    /* most tags in a set                 */
#define IOSCHED_TAG_SYNC  0x1u      /* may use the reserved tags          */

/** Append-only.  Set struct_size, zero the rest for the defaults. */
struct iosched_tags_cfg {
    uint32_t struct_size;       /* sizeof(struct iosched_tags_cfg)        */
    uint32_t depth;             /* tags in the set; 32                    */
    uint32_t reserved;          /* kept for sync requests, < depth; 0     */
    uint32_t seats;             /* schedulers and others; 8; most 65536   */
};

/** Bytes iosched_tags_init() needs, aligned as iosched_align(); 0 if cfg is
 *  invalid.  cfg NULL: the defaults.  O(1). */
IOSCHED_API size_t iosched_tags_size(const struct iosched_tags_cfg *cfg);
/** Build a set in your memory, which must outlive its schedulers; there is
 *  nothing to destroy.  O(depth + seats).
 *  @retval IOSCHED_ERR_NOSPC  size is too small
 *  @retval IOSCHED_ERR_INVAL  NULL, or mem is not aligned
 *  @retval IOSCHED_ERR_NOTSUP non-zero bytes beyond what the library knows
 *  @retval IOSCHED_ERR_RANGE  depth above 65536, reserved not below depth, or
 *                             too many seats */
IOSCHED_API int iosched_tags_init(void *mem, size_t size,
                                  const struct iosched_tags_cfg *cfg,
                                  struct iosched_tags **out);

/** Take a seat.  wake(user) comes when a tag is free after a refusal, from
 *  whichever thread freed it; it must not call the library.  Forget old wakes
 *  before you try again, not after.  Now and then one comes too many.  NULL
 *  wake: you poll.  O(seats).
 *  @return the seat, 0..seats-1, or IOSCHED_ERR_NOSPC: all are taken */
IOSCHED_API int iosched_tags_join(struct iosched_tags *t,
                                  void (*wake)(void *user), void *user);
/** Give the seat up; no wake comes after OK.
 *  @retval IOSCHED_ERR_BUSY it holds tags, or a wake is on its way: try again
 *  @retval IOSCHED_ERR_STATE nobody sits there  O(1). */
IOSCHED_API int iosched_tags_leave(struct iosched_tags *t, int seat);

/** Lowest free tag for this seat, or -1: none, and the seat will be woken.
 *  flags: IOSCHED_TAG_SYNC.  O(depth / word).
 *  @retval IOSCHED_ERR_INVAL  no such seat
 *  @retval IOSCHED_ERR_NOTSUP unknown flag
 *  @retval IOSCHED_ERR_STATE  nobody sits there */
IOSCHED_API int32_t iosched_tags_get(struct iosched_tags *t, int seat,
                                     unsigned flags);
/** Free a tag; wakes every waiting seat, round robin.
 *  @retval IOSCHED_ERR_STATE it is free already  O(seats). */
IOSCHED_API int iosched_tags_put(struct iosched_tags *t, int32_t tag);

/** Who has this tag?  @return the seat, or IOSCHED_ERR_NOENT: nobody.  O(1). */
IOSCHED_API int iosched_tags_owner(const struct iosched_tags *t, int32_t tag);
/** The scheduler in a seat, or NULL: for an interrupt that knows but the tag.
 *  O(1). */
IOSCHED_API struct iosched *iosched_tags_sched(const struct iosched_tags *t,
                                               int seat);
/** The seat of a scheduler, or IOSCHED_ERR_NOENT.  O(seats). */
IOSCHED_API int iosched_tags_seat(const struct iosched_tags *t,
                                  const struct iosched *s);
/** Tags in use now, reserved ones included; a momentary value.  O(1). */
IOSCHED_API uint32_t iosched_tags_in_use(const struct iosched_tags *t);

IOSCHED_END_DECLS
#endif
