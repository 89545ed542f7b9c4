/* SPDX-License-Identifier: BSD-2-Clause */
/* player.h - play a script against the library and compare what it decides. */
#ifndef REPLAY_PLAYER_H
#define REPLAY_PLAYER_H
#include <stddef.h>
#include <stdint.h>

#include "decision.h"
#include "script.h"

enum verdict {
    PLAYED_IDENTICAL,
    PLAYED_DIFFERS,
    PLAYED_UNAVAILABLE          /* the library lacks the policy           */
};

struct report {
    enum verdict verdict;
    size_t       decisions;     /* compared: `add` and `disp` lines       */
    unsigned     line;          /* of the script, where they differ; 0:   */
                                /* before or after it                     */
    char         wanted[160];   /* the decision expected there            */
    char         got[160];      /* the one taken, or what went wrong      */
};

/** Play it on blocks of `block_size` bytes; show: print every decision. */
void player_run(const struct script *script, const struct decisions *expected,
                uint32_t block_size, int show, struct report *report);

#endif
