/* SPDX-License-Identifier: BSD-2-Clause */
/* calls.c - fuzz target: the bytes choose the calls of a walk, and the referee
 * of tests/property checks each.  The first byte is the kind of the walk. */
#include <stdio.h>
#include <stdlib.h>

#include "../property/walk.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct walk_source from = { data, size, 1, 0 };
    struct walk_options options = { 2000, NULL, 0 };
    char why[400];

    if (size < 16)
        return 0;
    options.kind = data[0] & 15u;
    if (!walk_run(&from, &options, NULL, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
    return 0;
}
