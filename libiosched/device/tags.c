/* SPDX-License-Identifier: BSD-2-Clause */
/* tags.c - sets of tags, shared by threads without a lock.
 *
 * A tag is in use from the moment its bit in a leaf word is set until the
 * moment it is cleared; whoever changes the bit by compare-and-swap has taken
 * or freed it.  Everything else (owner, counters, the summary of full leaves,
 * the waiting marks) is written before or after that moment and is ordered
 * against it as its comment says.
 *
 * Order.  The port promises that CAS and ADD are full barriers, but with a
 * back end of C11 atomics a later load may still overtake the store half of
 * either (as on ARMv8.1).  Where a store of one word must come before a load
 * of another there is therefore an explicit fence.  The two that matter most
 * are the halves of one argument:
 *
 *     get:  set the waiting mark   FENCE   look for a free bit, once more
 *     put:  clear the tag's bit    FENCE   look for waiting marks
 *
 * One fence comes first.  If it is get's, put sees the mark and wakes the
 * seat; if it is put's, get sees the bit and is not refused.  The same fence
 * of put, with one in claim(), does the like for the hints.
 *
 * What the holder of a tag wrote before put is seen by whoever gets the tag
 * next, for both touch its leaf by CAS.
 */
#include "tags_internal.h"
#include "util.h"

#define WORD_BITS ((uint32_t)(sizeof(iosched__word) * 8u))
#define ALL_ONES  ((iosched__word)~(iosched__word)0)
#define MINUS_ONE ALL_ONES              /* what to add to subtract one    */

/* Phases of a seat, and what to add for a change of hands. */
#define SEAT_EMPTY   0u
#define SEAT_JOINING 1u
#define SEAT_TAKEN   2u
#define SEAT_PHASE   3u
#define SEAT_TURN    4u

/* --- Words ---------------------------------------------------------------- */
static uint32_t words_for(uint32_t bits)
{
    return (bits + WORD_BITS - 1) / WORD_BITS;
}

static iosched__word bit_of(uint32_t i)
{
    return (iosched__word)1 << (i % WORD_BITS);
}

/* The bits below bit n of a word, n < WORD_BITS. */
static iosched__word bits_below(uint32_t n)
{
    return (iosched__word)(((iosched__word)1 << n) - 1);
}

/* Set bits of *p.  @return what *p was.  Like every loop around a
 * compare-and-swap here, another round is due only when someone else got
 * ahead. */
static iosched__word set_bits(iosched__word *p, iosched__word bits)
{
    iosched__word w;

    do {
        w = IOSCHED_AO_LOAD(p);
        if ((w & bits) == bits)
            break;
    } while (!IOSCHED_AO_CAS(p, w, w | bits));
    return w;
}

/* Clear bits of *p.  @return what *p was. */
static iosched__word clear_bits(iosched__word *p, iosched__word bits)
{
    iosched__word w;

    do {
        w = IOSCHED_AO_LOAD(p);
        if ((w & bits) == 0)
            break;
    } while (!IOSCHED_AO_CAS(p, w, w & ~bits));
    return w;
}

/* --- Memory --------------------------------------------------------------- */
static size_t round_up(size_t n)
{
    return (n + IOSCHED__TAGS_ALIGN - 1) & ~(size_t)(IOSCHED__TAGS_ALIGN - 1);
}

size_t iosched__tags_bytes(uint32_t depth, uint32_t seats)
{
    size_t words = (size_t)words_for(depth) + words_for(words_for(depth)) +
                   words_for(seats) + depth;

    return round_up(sizeof(struct iosched_tags)) +
           round_up(seats * sizeof(struct iosched__tags_seat)) +
           round_up(words * sizeof(iosched__word));
}

void iosched__tags_setup(struct iosched_tags *t, uint32_t depth,
                         uint32_t reserved, uint32_t seats)
{
    char *mem = (char *)t;
    uint32_t leaves = words_for(depth);
    iosched__word *word;

    IOSCHED_ASSERT(depth > 0 && depth <= IOSCHED_TAGS_MAX && reserved < depth);
    IOSCHED_ASSERT(seats > 0 && seats <= IOSCHED__SEATS_MAX);
    IOSCHED_PORT_SET(mem, 0, iosched__tags_bytes(depth, seats));
    mem += round_up(sizeof *t);
    t->seat = (struct iosched__tags_seat *)(void *)mem;
    mem += round_up(seats * sizeof *t->seat);
    word = (iosched__word *)(void *)mem;
    t->leaf = word;
    t->full = t->leaf + leaves;
    t->waiting = t->full + words_for(leaves);
    t->owner = t->waiting + words_for(seats);
    t->depth = depth;
    t->open = depth - reserved;
    t->seats = seats;
    if (depth % WORD_BITS != 0)         /* tags that do not exist are taken */
        t->leaf[leaves - 1] = ~bits_below(depth % WORD_BITS);
}

uint32_t iosched__tags_depth(const struct iosched_tags *t)
{
    return t->depth;
}

/* The caller's cfg, whatever version of it, as one of ours with the defaults
 * filled in. */
static int read_cfg(struct iosched_tags_cfg *c,
                    const struct iosched_tags_cfg *cfg)
{
    int err = IOSCHED_OK;

    IOSCHED_PORT_SET(c, 0, sizeof *c);
    if (cfg != NULL)
        err = iosched__take_struct(c, sizeof *c, cfg, cfg->struct_size);
    if (err < 0)
        return err;
    if (c->depth == 0)
        c->depth = 32;
    if (c->seats == 0)
        c->seats = 8;
    if (c->depth > IOSCHED_TAGS_MAX || c->reserved >= c->depth ||
        c->seats > IOSCHED__SEATS_MAX)
        return IOSCHED_ERR_RANGE;
    return IOSCHED_OK;
}

size_t iosched_tags_size(const struct iosched_tags_cfg *cfg)
{
    struct iosched_tags_cfg c;

    if (read_cfg(&c, cfg) != IOSCHED_OK)
        return 0;
    return iosched__tags_bytes(c.depth, c.seats);
}

int iosched_tags_init(void *mem, size_t size,
                      const struct iosched_tags_cfg *cfg,
                      struct iosched_tags **out)
{
    struct iosched_tags_cfg c;
    int err;

    if (mem == NULL || out == NULL)
        return IOSCHED_ERR_INVAL;
    if ((uintptr_t)mem % IOSCHED__TAGS_ALIGN != 0)
        return IOSCHED_ERR_INVAL;
    err = read_cfg(&c, cfg);
    if (err != IOSCHED_OK)
        return err;
    if (size < iosched__tags_bytes(c.depth, c.seats))
        return IOSCHED_ERR_NOSPC;
    iosched__tags_setup(mem, c.depth, c.reserved, c.seats);
    *out = mem;
    return IOSCHED_OK;
}

/* --- Seats ---------------------------------------------------------------- */
static struct iosched__tags_seat *seat_at(const struct iosched_tags *t,
                                          int seat)
{
    if (t == NULL || seat < 0 || (uint32_t)seat >= t->seats)
        return NULL;
    return &t->seat[seat];
}

int iosched__tags_join_sched(struct iosched_tags *t, struct iosched *s,
                             void (*wake)(void *user), void *user)
{
    uint32_t i;

    for (i = 0; i < t->seats; i++) {
        struct iosched__tags_seat *st = &t->seat[i];
        iosched__word w = IOSCHED_AO_LOAD(&st->state);

        if ((w & SEAT_PHASE) != SEAT_EMPTY ||
            !IOSCHED_AO_CAS(&st->state, w, w + SEAT_TURN + SEAT_JOINING))
            continue;
        /* Readers see these after TAKEN, and look again at the state when
         * they have read. */
        st->wake = wake;
        st->user = user;
        st->sched = s;
        IOSCHED_AO_STORE(&st->state, w + SEAT_TURN + SEAT_TAKEN);
        return (int)i;
    }
    return IOSCHED_ERR_NOSPC;
}

int iosched_tags_join(struct iosched_tags *t, void (*wake)(void *user),
                      void *user)
{
    if (t == NULL)
        return IOSCHED_ERR_INVAL;
    return iosched__tags_join_sched(t, NULL, wake, user);
}

/* After this no wake comes, though a put may be on its way to this seat.  Such
 * a put raises `waking`, takes the mark, calls, and lowers it again.  So:
 *
 *  - waking raised at the first look: a call may be under way.
 *  - Otherwise, if the mark is still there to be taken here, the puts that
 *    raise waking from now on find none and call nobody.  (The seat has no get
 *    running, so the mark was not set again meanwhile.)
 *  - If it is gone, or never was, whoever took it had raised waking before,
 *    and the second look tells whether the call is over.
 *
 * Either way BUSY is the answer only where no mark has been taken. */
int iosched_tags_leave(struct iosched_tags *t, int seat)
{
    struct iosched__tags_seat *st = seat_at(t, seat);
    iosched__word *mark;
    iosched__word w;

    if (st == NULL)
        return IOSCHED_ERR_INVAL;
    w = IOSCHED_AO_LOAD(&st->state);
    if ((w & SEAT_PHASE) != SEAT_TAKEN)
        return IOSCHED_ERR_STATE;
    if (IOSCHED_AO_LOAD(&st->held) != 0 || IOSCHED_AO_LOAD(&st->waking) != 0)
        return IOSCHED_ERR_BUSY;
    mark = &t->waiting[(uint32_t)seat / WORD_BITS];
    if ((clear_bits(mark, bit_of((uint32_t)seat)) &
         bit_of((uint32_t)seat)) == 0 && IOSCHED_AO_LOAD(&st->waking) != 0)
        return IOSCHED_ERR_BUSY;
    if (!IOSCHED_AO_CAS(&st->state, w,
                        (w & ~(iosched__word)SEAT_PHASE) | SEAT_EMPTY))
        return IOSCHED_ERR_STATE;       /* somebody else gave it up */
    return IOSCHED_OK;
}

/* The scheduler in a seat.  A seat that changes hands during the look is none
 * of the caller's, who holds no tag in it: NULL. */
static struct iosched *sched_of(const struct iosched__tags_seat *st)
{
    iosched__word w = IOSCHED_AO_LOAD(&st->state);
    struct iosched *s;

    if ((w & SEAT_PHASE) != SEAT_TAKEN)
        return NULL;
    s = st->sched;
    IOSCHED_AO_FENCE();
    return IOSCHED_AO_LOAD(&st->state) == w ? s : NULL;
}

struct iosched *iosched_tags_sched(const struct iosched_tags *t, int seat)
{
    const struct iosched__tags_seat *st = seat_at(t, seat);

    return st == NULL ? NULL : sched_of(st);
}

int iosched_tags_seat(const struct iosched_tags *t, const struct iosched *s)
{
    uint32_t i;

    if (t == NULL || s == NULL)
        return IOSCHED_ERR_INVAL;
    for (i = 0; i < t->seats; i++)
        if (sched_of(&t->seat[i]) == s)
            return (int)i;
    return IOSCHED_ERR_NOENT;
}

/* --- Waking --------------------------------------------------------------- */
/* Wake a seat if its mark is still set.  The mark goes first, so a refusal
 * gives one wake; a get that is refused from here on sets it anew.
 * @return 1 if this call took the mark. */
static int wake_seat(struct iosched_tags *t, uint32_t seat, int first)
{
    struct iosched__tags_seat *st = &t->seat[seat];
    iosched__word bit = bit_of(seat);
    int took;

    (void)IOSCHED_AO_ADD(&st->waking, 1);
    took = (clear_bits(&t->waiting[seat / WORD_BITS], bit) & bit) != 0;
    if (took) {
        /* Of two puts at once either may have the last word: that is about
         * fairness only. */
        if (first)
            IOSCHED_AO_STORE(&t->next, seat + 1 < t->seats ? seat + 1 : 0);
        st->wake(st->user);
    }
    (void)IOSCHED_AO_ADD(&st->waking, MINUS_ONE);
    return took;
}

/* Wake every seat that waits, from `next` upward and around.  The word `next`
 * is in is looked at twice: its upper part first, its lower part last. */
static void wake_waiting(struct iosched_tags *t)
{
    uint32_t words = words_for(t->seats);
    uint32_t start = (uint32_t)IOSCHED_AO_LOAD(&t->next);
    uint32_t k = start / WORD_BITS;
    iosched__word low = bits_below(start % WORD_BITS);
    int first = 1;
    uint32_t i;

    for (i = 0; i <= words; i++) {
        iosched__word w = IOSCHED_AO_LOAD(&t->waiting[k]);

        if (i == 0)
            w &= ~low;
        else if (i == words)
            w &= low;
        for (; w != 0; w &= w - 1)
            if (wake_seat(t, k * WORD_BITS + iosched__low_bit(w), first))
                first = 0;
        if (++k == words)
            k = 0;
    }
}

/* --- Tags ----------------------------------------------------------------- */
/* The bits of leaf i whose tags are below limit. */
static iosched__word below_limit(uint32_t i, uint32_t limit)
{
    uint32_t base = i * WORD_BITS;

    return limit - base >= WORD_BITS ? ALL_ONES : bits_below(limit - base);
}

/* Take the lowest free tag below limit in leaf i, which starts below limit;
 * -1 if there is none.
 *
 * The leaf's bit in `full` is only a hint, so that get need not look at a
 * thousand leaves.  A put may come between the two words; looking at the leaf
 * again after setting the hint, and at the hint after clearing the tag, make
 * a hint that hides a free tag pass by itself: between each pair of looks is a
 * fence, so one of the two threads sees the other.  A hint that is missing
 * costs a look. */
static int32_t claim(struct iosched_tags *t, uint32_t i, uint32_t limit)
{
    iosched__word mask = below_limit(i, limit);
    iosched__word *full = &t->full[i / WORD_BITS];
    iosched__word w, bit;

    do {
        w = IOSCHED_AO_LOAD(&t->leaf[i]);
        bit = ~w & mask;
        if (bit == 0)
            return -1;
        bit = bit_of(iosched__low_bit(bit));
    } while (!IOSCHED_AO_CAS(&t->leaf[i], w, w | bit));
    if ((w | bit) == ALL_ONES && t->depth > WORD_BITS) {
        (void)set_bits(full, bit_of(i));
        IOSCHED_AO_FENCE();
        if (IOSCHED_AO_LOAD(&t->leaf[i]) != ALL_ONES)
            (void)clear_bits(full, bit_of(i));
    }
    return (int32_t)(i * WORD_BITS + iosched__low_bit(bit));
}

/* Take the lowest free tag below limit, skipping leaves that seem full. */
static int32_t claim_hinted(struct iosched_tags *t, uint32_t limit)
{
    uint32_t leaves = words_for(limit);
    uint32_t base;

    if (leaves == 1)
        return claim(t, 0, limit);
    for (base = 0; base < leaves; base += WORD_BITS) {
        iosched__word w = ~IOSCHED_AO_LOAD(&t->full[base / WORD_BITS]);

        if (leaves - base < WORD_BITS)
            w &= bits_below(leaves - base);
        for (; w != 0; w &= w - 1) {
            int32_t tag = claim(t, base + iosched__low_bit(w), limit);

            if (tag >= 0)
                return tag;
        }
    }
    return -1;
}

/* Take the lowest free tag below limit, looking at every leaf. */
static int32_t claim_any(struct iosched_tags *t, uint32_t limit)
{
    uint32_t leaves = words_for(limit);
    int32_t tag = -1;
    uint32_t i;

    for (i = 0; i < leaves && tag < 0; i++)
        tag = claim(t, i, limit);
    return tag;
}

/* The second look must not trust the hints: they are not part
 * of the argument at the top.  The mark stays when that look finds a tag, for
 * another thread that uses the same seat may rely on it; the price is a wake
 * too many. */
int32_t iosched_tags_get(struct iosched_tags *t, int seat, unsigned flags)
{
    struct iosched__tags_seat *st = seat_at(t, seat);
    uint32_t limit;
    int32_t tag;

    if (IOSCHED_UNLIKELY(st == NULL))
        return IOSCHED_ERR_INVAL;
    if (IOSCHED_UNLIKELY((flags & ~IOSCHED_TAG_SYNC) != 0))
        return IOSCHED_ERR_NOTSUP;
    if (IOSCHED_UNLIKELY((IOSCHED_AO_LOAD(&st->state) & SEAT_PHASE) !=
                         SEAT_TAKEN))
        return IOSCHED_ERR_STATE;
    limit = flags & IOSCHED_TAG_SYNC ? t->depth : t->open;
    tag = claim_hinted(t, limit);
    if (tag < 0) {
        if (st->wake != NULL)
            (void)set_bits(&t->waiting[(uint32_t)seat / WORD_BITS],
                           bit_of((uint32_t)seat));
        IOSCHED_AO_FENCE();
        tag = claim_any(t, limit);
        if (tag < 0)
            return -1;
    }
    /* Counted after the tag is taken and until it is freed, so that no count
     * is ever above what is taken.  A put of this tag before the owner is
     * there is refused. */
    (void)IOSCHED_AO_ADD(&st->held, 1);
    (void)IOSCHED_AO_ADD(&t->in_use, 1);
    IOSCHED_AO_STORE(&t->owner[tag], (iosched__word)seat + 1);
    return tag;
}

/* The owner's word decides between two puts of one tag: only one of them
 * changes it. */
int iosched_tags_put(struct iosched_tags *t, int32_t tag)
{
    uint32_t i;
    iosched__word owner, was;

    if (IOSCHED_UNLIKELY(t == NULL || tag < 0 || (uint32_t)tag >= t->depth))
        return IOSCHED_ERR_INVAL;
    owner = IOSCHED_AO_LOAD(&t->owner[tag]);
    if (IOSCHED_UNLIKELY(owner == 0 ||
                         !IOSCHED_AO_CAS(&t->owner[tag], owner, 0)))
        return IOSCHED_ERR_STATE;
    (void)IOSCHED_AO_ADD(&t->in_use, MINUS_ONE);
    (void)IOSCHED_AO_ADD(&t->seat[owner - 1].held, MINUS_ONE);
    i = (uint32_t)tag / WORD_BITS;
    was = clear_bits(&t->leaf[i], bit_of((uint32_t)tag));
    IOSCHED_ASSERT(was & bit_of((uint32_t)tag));
    IOSCHED_AO_FENCE();
    if (was == ALL_ONES && t->depth > WORD_BITS)
        (void)clear_bits(&t->full[i / WORD_BITS], bit_of(i));
    wake_waiting(t);
    return IOSCHED_OK;
}

int iosched_tags_owner(const struct iosched_tags *t, int32_t tag)
{
    iosched__word owner;

    if (t == NULL || tag < 0 || (uint32_t)tag >= t->depth)
        return IOSCHED_ERR_INVAL;
    owner = IOSCHED_AO_LOAD(&t->owner[tag]);
    return owner == 0 ? IOSCHED_ERR_NOENT : (int)(owner - 1);
}

uint32_t iosched_tags_in_use(const struct iosched_tags *t)
{
    return t == NULL ? 0 : (uint32_t)IOSCHED_AO_LOAD(&t->in_use);
}
