/* SPDX-License-Identifier: BSD-2-Clause */
/* model.h - a referee for one scheduler: it knows what is queued, in flight and
 * idle, who rides on whom, every age, the depth, the tags, the barriers and the
 * freezes, and nothing of any policy's choices.
 *
 * Each public call has its twin here, which makes the call, works out with
 * plain arrays what has to come of it, and compares.  Where the policy is free
 * the referee only checks that the choice was allowed.  The first thing that is
 * not so is kept as a sentence in model.wrong; after that nothing is called.
 */
#ifndef PROPERTY_MODEL_H
#define PROPERTY_MODEL_H
#include <stddef.h>
#include <stdint.h>

#include <iosched/inbox.h>
#include <iosched/iosched.h>
#include <iosched/policy.h>
#include <iosched/stats.h>
#include <iosched/tags.h>
#include <iosched/tunable.h>

#define MODEL_TAGS    128u
#define MODEL_STREAMS 40u
#define MODEL_GROUPS  40u
#define MODEL_COOKIES 32u               /* late ones that are remembered  */
#define MODEL_NONE    UINT32_MAX

/* --- Which calls were made, with which answers ---------------------------- */
enum call {
    CALL_INSERT, CALL_DISPATCH, CALL_DISPATCH_MANY, CALL_COMPLETE,
    CALL_REQUEUE, CALL_QUEUE_FULL, CALL_CANCEL, CALL_ABORT, CALL_TAG_RELEASE,
    CALL_EXPIRE, CALL_FREEZE, CALL_THAW, CALL_SWITCH, CALL_SET_DEPTH,
    CALL_MAY_QUEUE, CALL_TUNABLE_SET, CALL_TUNABLE_GET, CALL_TUNABLE_AT,
    CALL_STREAM_OPEN, CALL_STREAM_CLOSE, CALL_STREAM_SET_IOPRIO,
    CALL_STREAM_SET_GROUP, CALL_STREAM_YIELD, CALL_GROUP_OPEN,
    CALL_GROUP_CLOSE, CALL_GROUP_SET_WEIGHT, CALL_GROUP_SET_LEAF_WEIGHT,
    CALL_POST, CALL_POST_COMPLETE, CALL_INTAKE, CALL_REAP, CALL_DESTROY,
    CALL_GET_STATS, CALL_DUMP, CALL_COUNT
};
#define MODEL_ANSWERS 13u               /* 0 .. 4, and each error         */

/** Of each call, how often each answer came. */
struct tally {
    uint64_t n[CALL_COUNT][MODEL_ANSWERS];
};
const char *tally_call(unsigned call);
const char *tally_answer(unsigned answer);
/** The column of an answer; all positive ones above 4 share that of 4. */
unsigned tally_column(int rc);

/* --- What is known of each thing ------------------------------------------ */
struct item {                           /* a request                      */
    struct iosched_req rq;
    struct iosched_req mine;            /* the caller's fields, as set    */
    unsigned     state;                 /* enum iosched_state; riders have */
                                        /* that of their carrier          */
    uint32_t     carrier;               /* index; its own if alone        */
    uint64_t     seq;                   /* arrival                        */
    iosched_time age;                   /* core time of its insert        */
    unsigned     phase;
    int32_t      tag;                   /* while in flight                */
    int          posted;                /* its completion is in the inbox */
    int          requeued;              /* goes out before all others     */
    uint64_t     given_back;            /* when, counted                  */
    uint64_t     dispatched;            /* when last, counted             */
    uint32_t     stream, group;         /* whom it was inserted by        */
    uint32_t     passed;                /* see the bound of deadline      */
};

struct mstream {
    struct iosched_stream *h;
    int      used, open;
    uint32_t group, requests;
    uint16_t ioprio;
};

struct mgroup {
    struct iosched_group *h;
    int      used, open;
    uint32_t parent, requests;
};

enum tag_state { TAG_FREE, TAG_FLYING, TAG_QUARANTINED, TAG_FOREIGN };

struct posted_completion {
    uint32_t     item;
    int          status;
    iosched_time when;
};

struct model_setup {
    uint32_t    items;
    uint32_t    flags;                  /* IOSCHED_F_*                    */
    uint32_t    block_size, depth, streams, groups, queued_hint, head_burst;
    uint32_t    max_merge_kib, max_merge_segs;
    uint64_t    capacity;               /* blocks; 0: unbounded           */
    uint32_t    shared_tags;            /* how many; 0: its own           */
    uint32_t    reserved_tags;
    int         callbacks;              /* trace and may_merge            */
    const char *policy;
    const struct iosched_policy *const *policies;
};

struct model {
    struct iosched     *s;
    struct iosched_cfg  cfg;
    struct model_setup  setup;
    void               *mem;
    struct item        *items;
    uint32_t            nitems;
    struct mstream      streams[MODEL_STREAMS];     /* 0: the default     */
    struct mgroup       groups[MODEL_GROUPS];       /* 0: the root        */

    /* Time. */
    iosched_time now;                   /* of the next call               */
    iosched_time entered;               /* of the last call               */
    iosched_time core, offset;
    int          refused;               /* and nothing completed since    */
    uint64_t     refused_at;            /* dispatches made until then     */
    uint64_t     late_posts;            /* refused; counted at intake     */
    iosched_time retry_at;              /* core; NEVER: not armed         */
    iosched_dur  retry_wait;

    /* Counts. */
    uint32_t queued, inflight, quarantined, frozen, depth, depth_set;
    uint32_t head_run;                  /* direct ones in a row           */
    uint64_t last_seq;
    int      any_seq;
    uint64_t dispatches, give_backs;
    struct iosched_stats stats;         /* those the referee can tell     */

    /* Tags. */
    struct iosched_tags *tags;          /* shared, or NULL                */
    void                *tags_mem;
    int                  foreign_seat;
    uint32_t             ntags;
    unsigned char        tag[MODEL_TAGS];           /* enum tag_state     */
    uint64_t             late[MODEL_COOKIES];
    uint32_t             nlate, landings;
    uint32_t             wakes;         /* heard                          */
    int                  owed_wake;     /* FULL for want of a tag         */

    /* Inbox. */
    struct posted_completion *completions;
    uint32_t                  ncompletions;
    uint32_t                 *posts, nposts;
    iosched_time             *post_when;
    uint32_t                 *done, ndone;          /* for reap           */

    /* Policy. */
    char     policy[32];
    int      conserving;                /* never holds back on purpose    */
    int      bounded;                   /* deadline with its defaults     */
    int64_t  merge_blocks;

    struct tally *tally;
    unsigned      trace_calls;
    unsigned      step;
    char          wrong[256];           /* empty: all is well             */
};

/* --- Life ----------------------------------------------------------------- */
void model_open(struct model *m, const struct model_setup *setup,
                struct tally *tally, iosched_time now);
/** Let everything out by a driver that only does what the answers say, and
 *  check that it all comes; then destroy. */
void model_drain(struct model *m);
void model_close(struct model *m);
/** Free what the referee has, whatever state it is in. */
void model_free(struct model *m);
/** Something is not so. */
void model_fail(struct model *m, const char *fmt, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* --- Calls; each returns the library's answer ----------------------------- */
/** The clock of the following calls; a step back is one. */
void model_clock(struct model *m, iosched_time now);

/** Fill in the caller's part of an idle request. */
void model_prepare(struct model *m, uint32_t i, unsigned op, unsigned flags,
                   iosched_lba lba, uint32_t nblk, uint32_t stream);
/** What insert has to answer about this request, but for its state. */
int model_verdict(const struct model *m, uint32_t i);
int model_insert(struct model *m, uint32_t i);
/** *out: the index of what came, or MODEL_NONE. */
int model_dispatch(struct model *m, unsigned flags, uint32_t *out);
int model_dispatch_many(struct model *m, uint32_t max, unsigned flags);
int model_complete(struct model *m, uint32_t i, int status);
int model_requeue(struct model *m, uint32_t i);
int model_queue_full(struct model *m, uint32_t i);
int model_cancel(struct model *m, uint32_t i);
int model_abort(struct model *m, uint32_t i);
int model_release(struct model *m, int32_t tag);
int model_expire(struct model *m);
int model_freeze(struct model *m);
int model_thaw(struct model *m);
/** want: IOSCHED_OK or the error it has to be refused with. */
int model_switch(struct model *m, const char *policy, int want);
int model_set_depth(struct model *m, uint32_t depth);
int model_may_queue(struct model *m, uint32_t stream, unsigned op,
                    unsigned flags);
int model_tunable_set(struct model *m, const char *name, int64_t value,
                      int want);

int model_stream_open(struct model *m, uint16_t ioprio, uint32_t group);
int model_stream_close(struct model *m, uint32_t stream);
int model_stream_ioprio(struct model *m, uint32_t stream, uint16_t ioprio);
int model_stream_group(struct model *m, uint32_t stream, uint32_t group);
int model_stream_yield(struct model *m, uint32_t from, uint32_t to);
int model_group_open(struct model *m, uint32_t parent, uint32_t weight);
int model_group_close(struct model *m, uint32_t group);
int model_group_weight(struct model *m, uint32_t group, uint32_t weight,
                       int leaf);

int model_post(struct model *m, uint32_t i, iosched_time when);
int model_post_complete(struct model *m, uint32_t i, int status,
                        iosched_time when);
/** A completion for a cookie that is not in flight any more. */
int model_post_late(struct model *m);
/** Take in at `now`, which may be later than the last call. */
int model_intake(struct model *m, iosched_time now);
int model_reap(struct model *m);

/** The foreigner on the shared set takes a tag, or gives one back. */
void model_foreign(struct model *m, int take);

/* --- Looking -------------------------------------------------------------- */
/** Compare all there is to compare. */
void model_check(struct model *m);
/** The dump, line by line. */
void model_check_dump(struct model *m);

/* --- For the twins -------------------------------------------------------- */
int  model_ok(const struct model *m);
void model_note(struct model *m, unsigned call, int rc);
/** rc has to be `want`. */
int  model_expect(struct model *m, unsigned call, int rc, int want);
uint32_t model_index(const struct model *m, const struct iosched_req *rq);
/** Takes the carriers from the library, after checking the lists.  moved: may
 *  they differ from what is on record? */
void model_learn(struct model *m, int moved);
/** It may go, as far as barriers and overlaps are concerned. */
int  model_eligible(const struct model *m, uint32_t i);
/** More than the pool of overlaps holds: arrivals may wait for a place in it
 *  although nothing forbids them to go. */
int  model_crowded(const struct model *m);
/** It bypasses the policy. */
int  model_direct(const struct item *it);
void model_policy_is(struct model *m);
void model_merge_limit(struct model *m);
/** The item is idle again, or DONE. */
void model_settle(struct model *m, uint32_t i, unsigned state);
void model_take_in(struct model *m, uint32_t i, iosched_time age);
void model_objects_settle(struct model *m);
/** Who has been passed over by the dispatch of x: the bound of deadline. */
void model_bound(struct model *m, uint32_t x);
#endif
