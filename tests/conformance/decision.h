/* SPDX-License-Identifier: BSD-2-Clause */
/* decision.h - one line of an .expected file: what was decided, and when. */
#ifndef REPLAY_DECISION_H
#define REPLAY_DECISION_H
#include <stddef.h>
#include <stdint.h>

enum outcome {
    DECISION_QUEUE,             /* the I/O became a request of its own    */
    DECISION_BACK,              /* it was appended to another             */
    DECISION_FRONT,             /* it was prepended to another            */
    DECISION_DISP,              /* a request was given to the driver      */
    DECISION_NONE,              /* nothing was given                      */
    DECISION_END
};

struct decision {
    enum outcome outcome;
    unsigned     line;          /* in the file it comes from; 0: ours     */
    uint64_t     time;          /* ns                                     */
    uint32_t     id;            /* the request                            */
    uint32_t     into;          /* BACK, FRONT                            */
    uint32_t     gone, survivor;/* of a join; 0: no join                  */
    uint64_t     sector, nsect; /* DISP                                   */
    int          write;         /* DISP                                   */
    uint32_t     queued, driver;/* END                                    */
};

struct decisions {
    struct decision *list;
    size_t           count, room;
};

/** Parse an .expected file; `kick` lines, which are hints, are left out. */
void decisions_parse(struct decisions *d, const char *path, const char *data,
                     size_t len);
void decisions_add(struct decisions *d, const struct decision *one);
void decisions_free(struct decisions *d);

/** 1 if they say the same at the same time. */
int decision_equal(const struct decision *a, const struct decision *b);
/** As a line of the file.  @return buf. */
const char *decision_format(char *buf, size_t size, const struct decision *d);
/** 1 if it is about an I/O's merging. */
int decision_is_add(const struct decision *d);

#endif
