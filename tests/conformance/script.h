/* SPDX-License-Identifier: BSD-2-Clause */
/* script.h - a script: what processes, the driver and the clock do.
 *
 * The grammar is in doc/CONFORMANCE-FORMAT.md.  What can be seen from the text
 * alone is checked here: words, bounds, and that requests, streams and groups
 * are declared before they are used and only once. */
#ifndef REPLAY_SCRIPT_H
#define REPLAY_SCRIPT_H
#include <stddef.h>
#include <stdint.h>

#define SCRIPT_MAX_ID 1000000u  /* of requests, streams and groups        */
#define SCRIPT_NAME   32u       /* bytes of a version, policy or tunable  */

enum verb {
    VERB_TUNABLE, VERB_QUEUE, VERB_MAX_SECTORS, VERB_MERGE, VERB_STREAM,
    VERB_IOPRIO, VERB_EXIT, VERB_MOVE, VERB_GROUP, VERB_WEIGHT, VERB_TIME,
    VERB_ADD, VERB_DISPATCH, VERB_COMPLETE, VERB_REQUEUE, VERB_DRAIN,
    VERB_AUTO, VERB_END
};

struct command {
    enum verb verb;
    unsigned  line;
    uint32_t  id;               /* request, stream or group it is about;  */
                                /* QUEUE: 1 if it changes in the middle   */
    uint32_t  stream;           /* ADD: who submits                       */
    uint32_t  group;            /* STREAM, MOVE: where to; GROUP: parent  */
    uint32_t  weight, leaf;     /* GROUP, WEIGHT; leaf 0: not given       */
    uint32_t  count;            /* DISPATCH, AUTO, MAX_SECTORS; on or off */
    uint32_t  nsect;            /* ADD                                    */
    uint64_t  sector;           /* ADD                                    */
    uint64_t  time;             /* TIME: ns                               */
    int64_t   value;            /* TUNABLE: thousandths                   */
    uint16_t  op, flags;        /* ADD: as the library has them           */
    uint16_t  ioprio;           /* STREAM, IOPRIO                         */
    char      name[SCRIPT_NAME];/* TUNABLE                                */
};

struct script {
    char            version[SCRIPT_NAME], policy[SCRIPT_NAME];
    struct command *commands;
    size_t          count;
    uint32_t        max_request, max_stream, max_group;     /* largest ID */
    uint32_t        nstreams, ngroups;      /* declared, the root not     */
    int             nonrot;     /* as the first request finds it          */
    uint32_t        grain;      /* every sector and length is a multiple  */
};

/** Parse a whole script; complains about what is wrong with it. */
void script_parse(struct script *s, const char *path, const char *data,
                  size_t len);
void script_free(struct script *s);

#endif
