/* SPDX-License-Identifier: BSD-2-Clause */
/** @file iosched/request.h
 *  The request: the one struct you embed, and the only one whose layout is
 *  frozen (224 bytes on LP64, 168 on ILP32, for the life of the SONAME).
 */
#ifndef IOSCHED_REQUEST_H
#define IOSCHED_REQUEST_H
#include <iosched/fifo.h>
#include <iosched/rbtree.h>
#include <iosched/types.h>
IOSCHED_BEGIN_DECLS

struct iosched;
struct iosched_stream;

/** What to do. */
enum iosched_op {
    IOSCHED_READ    = 0,
    IOSCHED_WRITE   = 1,
    IOSCHED_DISCARD = 2,        /* the blocks are not needed any more     */
    IOSCHED_ZEROES  = 3,        /* write zeroes; no data to carry         */
    IOSCHED_FLUSH   = 4,        /* the device's cache; lba, nblk ignored  */
    IOSCHED_PASS    = 5         /* opaque command: HEAD and NOMERGE are   */
};                              /* implied; lba, nblk ignored             */

#define IOSCHED_RQ_SYNC     0x0001u  /* somebody waits; reads imply it    */
#define IOSCHED_RQ_META     0x0002u  /* metadata: a hint                  */
#define IOSCHED_RQ_RAHEAD   0x0004u  /* speculative: a hint               */
#define IOSCHED_RQ_NOMERGE  0x0008u  /* neither joins nor is joined       */
#define IOSCHED_RQ_BARRIER  0x0010u  /* order only: nothing passes it,    */
                                     /* either way, not even HEAD         */
#define IOSCHED_RQ_HEAD     0x0020u  /* bypass the policy: issue next     */
#define IOSCHED_RQ_PREFLUSH 0x0040u  /* a write: flush the cache first    */
#define IOSCHED_RQ_FUA      0x0080u  /* a write: durable when it completes*/
#define IOSCHED_RQ_PRIO     0x0100u  /* others wait behind its submitter  */
#define IOSCHED_RQ_IDLEHINT 0x0200u  /* sync write that will be followed  */
                                     /* by another of this stream: a hint */
/** Where a request is: drawing in <iosched/iosched.h>. */
enum iosched_state {
    IOSCHED_STATE_IDLE     = 0, /* yours                                  */
    IOSCHED_STATE_POSTED   = 1, /* in the inbox, not yet taken in         */
    IOSCHED_STATE_QUEUED   = 2, /* may be dispatched; cancel works        */
    IOSCHED_STATE_ABSORBED = 3, /* rides on a carrier, queued or in flight*/
    IOSCHED_STATE_INFLIGHT = 4, /* dispatched: yours to issue             */
    IOSCHED_STATE_DONE     = 5  /* taken in; waits for iosched_reap()     */
};

/** What a dispatched request asks of the device.  A PREFLUSH or FUA write is
 *  dispatched once for each phase it needs; a FLUSH once, with PREFLUSH. */
enum iosched_phase {
    IOSCHED_PHASE_DATA      = 0, /* its op, on xlba .. xlba + xnblk - 1   */
    IOSCHED_PHASE_PREFLUSH  = 1, /* flush the device's cache              */
    IOSCHED_PHASE_POSTFLUSH = 2  /* flush it again: FUA without hardware  */
};

/**
 * A request.  All-zero bytes are a valid idle request.
 *
 * Merging: requests that touch on the device may be dispatched as one.  The
 * one that is dispatched is the *carrier*; it and all who ride on it are its
 * *members*.  Nobody's lba or nblk is written.  What to send is the carrier's
 * xlba, xnblk; whose buffers, in ascending order of lba, its member list:
 *
 *     for (m = rq->first_member; m != NULL; m = m->next_member) ...
 *
 * A request that merged with nobody is its own only member, so this loop is
 * right for every request.  The list stays as it is after complete, until a
 * member is inserted again; read next_member before you free a member.
 */
struct iosched_req {
    /* Yours: set before insert, leave alone until idle.  Never written. */
    iosched_lba            lba;         /* its first block                */
    uint32_t               nblk;        /* > 0, but for FLUSH and PASS    */
    uint16_t               op;          /* enum iosched_op                */
    uint16_t               flags;       /* IOSCHED_RQ_*                   */
    struct iosched_stream *stream;      /* NULL: the default stream       */
    void                  *user;        /* never read                     */
    uint16_t               ioprio;      /* IOSCHED_PRIO(); 0: its stream's*/
    uint16_t               nseg;        /* buffer segments; 0 counts as 1 */

    /* The library's: read as you like. */
    int32_t                status;      /* as given to complete; or why   */
                                        /* the inbox refused it           */
    int32_t                tag;         /* slot, from dispatch until it is*/
                                        /* queued again; -1: none         */
    uint32_t               generation;  /* of this dispatch, see cookie;  */
                                        /* while queued: the library's    */
    uint8_t                state;       /* enum iosched_state             */
    uint8_t                phase;       /* enum iosched_phase             */
    uint16_t               group_;      /* slot of its group at insert    */
    uint32_t               nmembers;    /* 1 if alone                     */
    iosched_lba            xlba;        /* extent of all members          */
    uint32_t               xnblk;       /* blocks; 0: FLUSH and PASS      */
    uint32_t               core_flags_; /* its place; effective ioprio    */
    struct iosched_req    *first_member;/* lowest lba; NULL if rq rides   */
    struct iosched_req    *next_member; /* next higher lba, or NULL       */
    iosched_time           t_insert;    /* core time: its age             */
    iosched_time           t_dispatch;  /* core time, of the last dispatch*/

    /* For the policy that holds it: the first two from insert to emit, own[]
     * until it is completed or dropped.  Zero when handed to insert(). */
    struct iosched_rbnode   sort;       /* by address, as a rule          */
    struct iosched_fifolink fifo;       /* by age, as a rule              */
    void                   *own[2];     /* anything                       */

    /* For the core. */
    uint64_t               seq_;        /* arrival; breaks every tie      */
    struct iosched        *owner_;      /* who has it, or had it last     */
    struct iosched_req    *link_next_;  /* list or hash, by its place     */
    struct iosched_req   **link_prev_;  /* what points to it there        */
    struct iosched_req    *kin_;        /* member: towards the carrier;   */
                                        /* carrier: its last member       */
    void                  *order_;      /* its place among overlaps       */
};

/** sizeof(struct iosched_req) as the library has it: bindings compare.  [any]
 *  O(1). */
IOSCHED_API size_t iosched_req_size(void);

/** The number to give the device along with rq (io_uring's user_data, an
 *  index of your own): generation << 32 | tag.  Of a request in flight it is
 *  unique among the last 2^32 dispatches of its tag.  UINT64_MAX for NULL and
 *  for a request that is not in flight.  [cb]  O(1). */
IOSCHED_API uint64_t iosched_cookie(const struct iosched_req *rq);

/** The tag in a cookie, unchecked: for iosched_tag_release(), when a late
 *  completion shows that the device is done with it.  [any]  O(1). */
IOSCHED_API int32_t iosched_cookie_tag(uint64_t cookie);

/** Whose completion is this?  Its carrier; NULL if it is late: aborted,
 *  or completed, or never ours.  Reads the scheduler's table, not the request,
 *  so it is safe when that memory is gone.  [cb]  O(1). */
IOSCHED_API struct iosched_req *iosched_find(const struct iosched *s,
                                             uint64_t cookie);

/** The carrier rq rides on, rq itself if it rides on none, NULL if it is not
 *  queued or in flight.  Shortens the way for the next look.  [cb]  Amortised
 *  O(log members), one step as a rule. */
IOSCHED_API const struct iosched_req *
iosched_carrier(const struct iosched_req *rq);

/* --- I/O priority: 16 bits as for ioprio_set(2) --------------------------- */
/** Encode, unchecked: a constant expression.  iosched_prio() checks. */
#define IOSCHED_PRIO(cls, level) ((uint16_t)((cls) << 13 | (level)))
#define IOSCHED_PRIO_CLASS(p)    ((p) >> 13)        /* iosched_prio_class */
#define IOSCHED_PRIO_LEVEL(p)    ((p) & 0x1fff)     /* 0 is served best   */
/** Who is served first.  noop and deadline ignore it. */
enum iosched_prio_class {
    IOSCHED_PRIO_NONE = 0,      /* a request: its stream's; else BE 4     */
    IOSCHED_PRIO_RT   = 1,      /* real time: before all others           */
    IOSCHED_PRIO_BE   = 2,      /* best effort: the usual one             */
    IOSCHED_PRIO_IDLE = 3       /* its level is ignored                   */
};
#define IOSCHED_PRIO_LEVELS  8          /* of RT and of BE: 0..7          */
#define IOSCHED_PRIO_DEFAULT IOSCHED_PRIO(IOSCHED_PRIO_BE, 4) /* nobody said */

/** Encode and check.  @return the value, or IOSCHED_ERR_RANGE: no such class,
 *  a level above 7 of RT or BE, a level with NONE.  [any]  O(1). */
IOSCHED_API int iosched_prio(int cls, int level);

IOSCHED_END_DECLS
#endif
