/* SPDX-License-Identifier: BSD-2-Clause */
/* fifo.c - the doubly linked list with expiries.
 *
 * The first link is its own predecessor and the last its own successor, so that
 * a linked link never holds a NULL and an unlinked one holds nothing else:
 * whether it is linked needs no flag.
 */
#include <iosched/fifo.h>
#include "util.h"

/* What iosched_fifo_check() answers. */
enum {
    BAD_ENDS = 1,                       /* one end only, or not an end    */
    BAD_LINK,                           /* neighbours disagree            */
    BAD_LEN                             /* len is not the links there are */
};

/* --- Changing ------------------------------------------------------------- */

/** Hang l in between, either of which may be NULL: an end of the list. */
static inline void hang(struct iosched_fifo *f, struct iosched_fifolink *prev,
                        struct iosched_fifolink *l,
                        struct iosched_fifolink *next)
{
    l->prev_ = prev != NULL ? prev : l;
    l->next_ = next != NULL ? next : l;
    *(prev != NULL ? &prev->next_ : &f->head_) = l;
    *(next != NULL ? &next->prev_ : &f->tail_) = l;
}

static inline struct iosched_fifolink *before(const struct iosched_fifolink *l)
{
    return l->prev_ != l ? l->prev_ : NULL;
}

static inline struct iosched_fifolink *after(const struct iosched_fifolink *l)
{
    return l->next_ != l ? l->next_ : NULL;
}

void iosched_fifo_push(struct iosched_fifo *f, struct iosched_fifolink *l,
                       iosched_time expires)
{
    /* Usual causes: pushed twice, or memory that was never zeroed. */
    IOSCHED_ASSERT(l->next_ == NULL);
    l->expires = expires;
    hang(f, f->tail_, l, NULL);
    f->len++;
}

void iosched_fifo_push_head(struct iosched_fifo *f, struct iosched_fifolink *l,
                            iosched_time expires)
{
    IOSCHED_ASSERT(l->next_ == NULL);
    l->expires = expires;
    hang(f, NULL, l, f->head_);
    f->len++;
}

void iosched_fifo_insert_before(struct iosched_fifo *f,
                                struct iosched_fifolink *pos,
                                struct iosched_fifolink *l,
                                iosched_time expires)
{
    IOSCHED_ASSERT(l->next_ == NULL);
    IOSCHED_ASSERT(pos->next_ != NULL);
    IOSCHED_ASSERT(pos->prev_ != pos || f->head_ == pos);
    l->expires = expires;
    hang(f, before(pos), l, pos);
    f->len++;
}

void iosched_fifo_replace(struct iosched_fifo *f, struct iosched_fifolink *old,
                          struct iosched_fifolink *l)
{
    IOSCHED_ASSERT(l->next_ == NULL);
    IOSCHED_ASSERT(old->next_ != NULL);
    IOSCHED_ASSERT(old->prev_ != old || f->head_ == old);
    IOSCHED_ASSERT(old->next_ != old || f->tail_ == old);
    l->expires = old->expires;
    hang(f, before(old), l, after(old));
    old->next_ = NULL;
    old->prev_ = NULL;
}

void iosched_fifo_remove(struct iosched_fifo *f, struct iosched_fifolink *l)
{
    struct iosched_fifolink *prev = before(l), *next = after(l);

    /* Usual causes: removed twice, or it is in another list. */
    IOSCHED_ASSERT(l->next_ != NULL);
    IOSCHED_ASSERT(f->len > 0);
    IOSCHED_ASSERT(prev != NULL ? prev->next_ == l : f->head_ == l);
    IOSCHED_ASSERT(next != NULL ? next->prev_ == l : f->tail_ == l);
    if (prev != NULL)
        prev->next_ = next != NULL ? next : prev;
    else
        f->head_ = next;
    if (next != NULL)
        next->prev_ = prev != NULL ? prev : next;
    else
        f->tail_ = prev;
    l->next_ = NULL;
    l->prev_ = NULL;
    f->len--;
}

/* --- Looking -------------------------------------------------------------- */

struct iosched_fifolink *iosched_fifo_head(const struct iosched_fifo *f)
{
    return f->head_;
}

struct iosched_fifolink *iosched_fifo_tail(const struct iosched_fifo *f)
{
    return f->tail_;
}

struct iosched_fifolink *iosched_fifo_next(const struct iosched_fifolink *l)
{
    IOSCHED_ASSERT(l->next_ != NULL);
    return after(l);
}

struct iosched_fifolink *iosched_fifo_prev(const struct iosched_fifolink *l)
{
    IOSCHED_ASSERT(l->next_ != NULL);
    return before(l);
}

struct iosched_fifolink *iosched_fifo_expired(const struct iosched_fifo *f,
                                              iosched_time now)
{
    struct iosched_fifolink *l = f->head_;

    /* IOSCHED_NEVER stays never, even for a `now` that is no time. */
    if (l == NULL || now < l->expires || l->expires == IOSCHED_NEVER)
        return NULL;
    return l;
}

int iosched_fifo_linked(const struct iosched_fifolink *l)
{
    return l->next_ != NULL;
}

int iosched_fifo_check(const struct iosched_fifo *f)
{
    const struct iosched_fifolink *l = f->head_;
    uint32_t left = f->len;             /* bounds the walk: no circles */

    if (l == NULL || f->tail_ == NULL) {
        if (l != f->tail_)
            return BAD_ENDS;
        return left == 0 ? 0 : BAD_LEN;
    }
    if (l->prev_ != l || f->tail_->next_ != f->tail_)
        return BAD_ENDS;
    for (; left > 1 && l->next_ != l; l = l->next_, left--)
        if (l->next_ == NULL || l->next_->prev_ != l)
            return BAD_LINK;
    if (l->next_ != l || left != 1)
        return BAD_LEN;
    return l == f->tail_ ? 0 : BAD_ENDS;
}
