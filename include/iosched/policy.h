/* SPDX-License-Identifier: BSD-2-Clause */
/** @file iosched/policy.h
 *  Writing a policy.  The built-in ones include this header and the
 *  primitives', nothing else: what they can do, you can do.
 *
 *  A policy is constant data; list yours in cfg.policies to register it.  The
 *  core copies min(struct_size, its own) bytes and zero-fills the rest, so an
 *  old policy runs on a new library.  The core keeps everything that must
 *  survive a switch: merging, requeued, HEAD, barrier and phase lists, depth.
 *
 *  What happens to one request, in hooks ((*) = mandatory; emit is a call):
 *
 *    insert merged* emit [issued requeued]* issued completed
 *    insert merged* emit [issued requeued]* issued? dropped   cancel, abort
 *    insert merged* removed       cancelled
 *    insert merged* absorbed      it joined another one that you hold
 *    insert merged* evict         this policy is being switched out
 *
 *  A request emitted by one policy never reaches another's hooks; an emitted
 *  one stays with the core across a switch.  A dissolved merge is: removed
 *  (or dropped, if it was emitted) for the carrier, then each member left
 *  comes in again, oldest first, by insert or merged.  So insert may bring a
 *  request that is older than others you hold: iosched_core_since().
 *  What never gets here: FLUSH, PASS, HEAD, BARRIER and the flush phases of
 *  others; a PREFLUSH write comes to insert() when its data is due.
 *
 *  Hooks never fail but init, and never call the public API except what is
 *  marked [cb].  Exactly one time exists in a hook: iosched_core_now().
 */
#ifndef IOSCHED_POLICY_H
#define IOSCHED_POLICY_H
#include <iosched/iosched.h>
#include <iosched/tunable.h>
IOSCHED_BEGIN_DECLS

#define IOSCHED_POLICY_API 1      /* changes when old policies would not run */
#define IOSCHED_TIMERS     4u   /* per policy, numbered 0..3              */

struct iosched_core;            /* what the core lends a policy           */
struct iosched_dumper;          /* handed to the dump hook                */

/** A tunable of a policy.  Append-only: see tunable_stride. */
struct iosched_tunable_def {
    struct iosched_tunable info;        /* name NULL: end of the list     */
    size_t offset;                      /* of an int64_t in your state    */
};

/** What stands behind "cfq:2.6.32".  Frozen. */
struct iosched_preset {
    const char *version;                /* [a-z0-9.-]{1,31}; NULL: end    */
    const char *settings;               /* "quantum=4,tick_ns=1000000";   */
                                        /* "" or NULL: none               */
};

/** Why removed() comes. */
enum iosched_removed_why {
    IOSCHED_REMOVED_CANCELLED = 0,      /* its caller took it back        */
    IOSCHED_REMOVED_ABSORBED  = 1,      /* only if absorbed() is NULL     */
    IOSCHED_REMOVED_DISSOLVED = 2       /* inserts of its members follow  */
};

/** Constant data, append-only.  Hooks but the four (*) may be NULL. */
struct iosched_policy {
    uint32_t    struct_size;            /* sizeof(struct iosched_policy)  */
    uint32_t    api;                    /* IOSCHED_POLICY_API             */
    const char *name;                   /* [a-z0-9.-]{1,31}               */
    const char *alias;                  /* another such name, or NULL     */
    const char *help;                   /* one line                       */
    size_t      state_size;             /* per instance; handed zeroed    */
    size_t      stream_size;            /* per stream;   handed zeroed    */
    size_t      group_size;             /* per group;    handed zeroed    */
    const struct iosched_tunable_def *tunables; /* NULL info.name: end    */
    size_t      tunable_stride;         /* sizeof *tunables               */
    const struct iosched_preset *presets;       /* NULL version: end      */

    /* Life.  Tunables are in the state before init.  An error from init is
     * handed to the caller, and nothing has changed.  Before exit: evict until
     * NULL, then the streams and groups below.  Keep `core`. */
    int  (*init)(void *state, struct iosched_core *core);   /* OK or error */
    void (*exit)(void *state);          /* nothing is held any more       */
    void (*tuned)(void *state);         /* one or more tunables changed   */

    /* Streams and groups; `data` is yours, of the sizes above.  Before exit:
     * closed, then freed, for all there are. */
    /** There is one.  Comes for all there are after init, the root and the
     *  default stream first. */
    void (*stream_opened)(void *state, struct iosched_stream *st, void *data);
    /** Its ioprio or its group is another. */
    void (*stream_changed)(void *state, struct iosched_stream *st, void *data);
    /** Nobody asks for it again, but you may hold requests of it. */
    void (*stream_closed)(void *state, struct iosched_stream *st, void *data);
    /** You hold none of it, and `data` is about to go: unlink it. */
    void (*stream_freed)(void *state, struct iosched_stream *st, void *data);
    /** As stream_opened; a parent before its children. */
    void (*group_opened)(void *state, struct iosched_group *g, void *data);
    /** One of its weights is another. */
    void (*group_changed)(void *state, struct iosched_group *g, void *data);
    /** As stream_closed. */
    void (*group_closed)(void *state, struct iosched_group *g, void *data);
    /** As stream_freed. */
    void (*group_freed)(void *state, struct iosched_group *g, void *data);
    void (*yielded)(void *state, struct iosched_stream *from,
                    struct iosched_stream *to);     /* `to` may be NULL   */

    /* Requests. */
    /** Queue rq.  You may emit, this or another. */
    void (*insert)(void *state, struct iosched_req *rq);            /* (*) */
    /** Emit at least one and answer IOSCHED_GOT; or EMPTY; or HOLD, with a
     *  timer armed or something in flight, and never under FORCE. */
    int  (*dispatch)(void *state, unsigned flags);                  /* (*) */
    void (*issued)(void *state, struct iosched_req *rq);    /* handed out */
    void (*requeued)(void *state, struct iosched_req *rq);  /* given back */
    /** Its data are done; it no longer counts as in flight. */
    void (*completed)(void *state, struct iosched_req *rq);
    void (*dropped)(void *state, struct iosched_req *rq);   /* given up   */
    /** Unlink rq, which you hold.  why: enum iosched_removed_why. */
    void (*removed)(void *state, struct iosched_req *rq, int why);  /* (*) */
    /** Unlink any request you hold, in any order; NULL when none is left. */
    struct iosched_req *(*evict)(void *state);                      /* (*) */
    void (*expired)(void *state, unsigned timer);   /* may arm it again   */

    /* Merging: the core finds back merges itself. */
    /** The request you hold whose xlba is `lba` and that rq may join at the
     *  front, or NULL; NULL hook: no front merges.  Of several the oldest of
     *  rq's op; whether they may merge the core checks. */
    struct iosched_req *(*find)(void *state, const struct iosched_req *rq,
                                iosched_lba lba);
    /** Whom you would serve right after rq (where: MERGED_BACK) or before it.
     *  Asked only under IOSCHED_F_COMPAT, whose merges grow that way. */
    struct iosched_req *(*neighbour)(void *state, const struct iosched_req *rq,
                                     int where);
    /** May rq join `into`?  Beyond what cfg and limits allow.  One of the two
     *  may be new to you. */
    int  (*allow_merge)(void *state, const struct iosched_req *into,
                        const struct iosched_req *rq);
    /** rq, new to you, joined `into`, which you hold and which is older: it
     *  keeps its place in time.  At the front its xlba is new.  Under
     *  IOSCHED_F_COMPAT rq may be the older, after a merge was dissolved, and
     *  this is not called if absorbed() follows. */
    void (*merged)(void *state, struct iosched_req *into,
                   struct iosched_req *rq, int where);
    /** Two that you hold met: unlink rq, which now rides on `into`; at the
     *  front (where) the xlba of `into` is new.  The older absorbs, so `into`
     *  keeps its place in time; but under IOSCHED_F_COMPAT it is the lower on
     *  the device, and `into` may have to take the place of rq.  NULL: the
     *  core calls removed(ABSORBED), then merged(). */
    void (*absorbed)(void *state, struct iosched_req *into,
                     struct iosched_req *rq, int where);
    /** @return enum iosched_admit. */
    int  (*may_queue)(void *state, struct iosched_stream *st, unsigned op,
                      unsigned flags);

    /** iosched_dump_rq() for each request you hold, iosched_dump_num() for
     *  the numbers that explain you. */
    void (*dump)(const void *state, struct iosched_dumper *d);
};

/* --- What the core lends: O(1), callable from every hook ------------------ */
/** The time of this public call, in core time, never going back; rounded down
 *  to a tick if the core's tunable tick_ns is set. */
IOSCHED_API iosched_time iosched_core_now(const struct iosched_core *c);
/** A duration as a clock of tick_ns counts it: rounded up to whole ticks, so
 *  0 stays 0; unchanged if tick_ns is 0.  With iosched_core_now() and _since(),
 *  which round down, the only tick arithmetic there is. */
IOSCHED_API iosched_dur iosched_core_ticks(const struct iosched_core *c,
                                           iosched_dur d);
/** When the oldest member of rq was inserted, in core time, rounded down to a
 *  tick: its age, which no requeue, merge, cancel of another member, barrier or
 *  switch changes.  Deadlines count from here.  O(members), one as a rule. */
IOSCHED_API iosched_time iosched_core_since(const struct iosched_core *c,
                                            const struct iosched_req *rq);
/** Arm timer 0..3 for core time `at`, replacing what it was armed for; NEVER
 *  disarms it, a past time makes it due at once (so the caller is asked to
 *  dispatch again).  It is disarmed before expired() runs. */
IOSCHED_API void iosched_core_arm(struct iosched_core *c, unsigned timer,
                                  iosched_time at);
/** What it is armed for, or IOSCHED_NEVER. */
IOSCHED_API iosched_time iosched_core_armed(const struct iosched_core *c,
                                            unsigned timer);

/** Where a request is emitted to, and why. */
enum iosched_emit {
    IOSCHED_EMIT_TAIL   = 0,    /* after everything emitted               */
    IOSCHED_EMIT_SORTED = 1,    /* among what is emitted and not issued:  */
                                /* one ascending sweep from the last      */
                                /* position, past no other op (the core's */
                                /* tunable sort_across_ops), no requeue   */
    IOSCHED_EMIT_EXPIRED = 2    /* or'ed to it: its deadline made you     */
};
/** rq, which you have unlinked, goes to the core's list of what is issued
 *  next.  From any hook but removed, find, neighbour, allow_merge, may_queue,
 *  evict, exit and dump.  SORTED is O(emitted and not issued), usually one. */
IOSCHED_API void iosched_core_emit(struct iosched_core *c,
                                   struct iosched_req *rq, int how);
/** Requests issued and not complete, whoever emitted them. */
IOSCHED_API uint32_t iosched_core_inflight(const struct iosched_core *c);
/** Those whose carrier is of one stream.  st NULL: the default stream. */
IOSCHED_API uint32_t iosched_core_inflight_of(const struct iosched_core *c,
                                              const struct iosched_stream *st);
/** Depth in use now: what may be in flight. */
IOSCHED_API uint32_t iosched_core_depth(const struct iosched_core *c);
/** cfg.flags; NONROTATIONAL as the core's tunable `rotational` has it now. */
IOSCHED_API uint32_t iosched_core_flags(const struct iosched_core *c);
/** 512-byte sectors as blocks of this device, rounded up: for the originals'
 *  constants, once, in init. */
IOSCHED_API iosched_lba iosched_core_blocks(const struct iosched_core *c,
                                            uint64_t sectors);
/** Trace one line: static text, rq or NULL, a number. */
IOSCHED_API void iosched_core_note(struct iosched_core *c, const char *note,
                                   const struct iosched_req *rq, int64_t arg);

/* Requests. */
/** The stream, never NULL: the default one where rq->stream is. */
IOSCHED_API struct iosched_stream *
iosched_req_stream(const struct iosched_req *rq);
/** Effective ioprio: its own, else its stream's at insert, else BE 4; of a
 *  carrier, the best among its members. */
IOSCHED_API uint16_t iosched_req_ioprio(const struct iosched_req *rq);
/** 1 if somebody waits: a read, or SYNC, PREFLUSH or FUA; else 0.  What a
 *  carrier absorbs does not change it: refuse such joins in allow_merge() if it
 *  matters to you. */
IOSCHED_API int iosched_req_sync(const struct iosched_req *rq);
/** Arrival number; kept by requeue, merge and switch.  Breaks ties. */
IOSCHED_API uint64_t iosched_req_seq(const struct iosched_req *rq);
/** The group its stream was in when it was inserted, never NULL; of a carrier,
 *  its own. */
IOSCHED_API struct iosched_group *
iosched_req_group(const struct iosched_req *rq);

/* Streams and groups. */
/** Your per-stream data. */
IOSCHED_API void *iosched_stream_data(const struct iosched_stream *st);
/** Its group, never NULL. */
IOSCHED_API struct iosched_group *
iosched_stream_group(const struct iosched_stream *st);
/** 1 until its user closes it: whether anybody may still ask; else 0.  (So
 *  also in stream_closed() before exit.) */
IOSCHED_API int iosched_stream_is_open(const struct iosched_stream *st);
/** Your per-group data. */
IOSCHED_API void *iosched_group_data(const struct iosched_group *g);
/** Its parent; NULL for the root. */
IOSCHED_API struct iosched_group *
iosched_group_parent(const struct iosched_group *g);
/** Weight against its siblings; 100 for the root. */
IOSCHED_API uint32_t iosched_group_weight(const struct iosched_group *g);
/** Weight of its own streams against its child groups. */
IOSCHED_API uint32_t iosched_group_leaf_weight(const struct iosched_group *g);

/* For the dump hook. */
/** One queued request: where it is ("read fifo"), why it waits ("slice of
 *  another queue"); static strings.  O(members). */
IOSCHED_API void iosched_dump_rq(struct iosched_dumper *d,
                                 const struct iosched_req *rq,
                                 const char *place, const char *why);
/** One more pair on the policy's own line: "key=value". */
IOSCHED_API void iosched_dump_num(struct iosched_dumper *d, const char *key,
                                  int64_t value);

IOSCHED_END_DECLS
#endif
