/* SPDX-License-Identifier: BSD-2-Clause */
/* walk.h - a walk over every call of a scheduler, led by numbers that come from
 * a seed or from a string of bytes, with a referee who checks each step. */
#ifndef PROPERTY_WALK_H
#define PROPERTY_WALK_H
#include <stddef.h>
#include <stdint.h>

#include "model.h"

/** Where choices come from: bytes until they end, or a seed for ever. */
struct walk_source {
    const unsigned char *data;          /* NULL: use the seed             */
    size_t               len, at;
    uint64_t             seed;
};
/** 0 .. below - 1; below is at least 1. */
uint32_t walk_pick(struct walk_source *from, uint32_t below);
/** 1 if bytes were given and there are no more. */
int walk_over(const struct walk_source *from);

#define WALK_BLOCK_4096 0x01u
#define WALK_COMPAT     0x02u
#define WALK_OVERLAPS   0x04u
#define WALK_SHARED     0x08u

struct walk_options {
    uint32_t    steps;
    const char *policy;                 /* to begin with; NULL: any       */
    unsigned    kind;                   /* WALK_*                         */
};

struct walk {
    struct model        m;
    struct walk_source *from;
};

/** @return 1 if all was well; else 0 and why, one line. */
int walk_run(struct walk_source *from, const struct walk_options *options,
             struct tally *tally, char *why, size_t size);

/* --- For the parts of the walk -------------------------------------------- */
/** Any policy string that is valid. */
void walk_policy(struct walk *w, char *text, size_t size);
/** Calls that have to be refused; nothing changes. */
void walk_misuse(struct walk *w);
#endif
