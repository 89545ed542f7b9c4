/* SPDX-License-Identifier: BSD-2-Clause */
/* source.h - where scripts come from: files, folders, packed sets. */
#ifndef REPLAY_SOURCE_H
#define REPLAY_SOURCE_H
#include <stddef.h>

/** A file in memory. */
struct blob {
    char  *path;                /* as to be shown                         */
    char  *data;                /* NULL: there is no such file            */
    size_t len;
};

/** A script and what is expected of it; both end with the call. */
typedef void (*source_fn)(void *user, const struct blob *script,
                          const struct blob *expected);

/** Call fn for each script at `path`: a .script with the .expected beside it,
 *  a .tar.xz of such pairs, or a folder of all these, searched to the bottom
 *  in order of names.  Complains about what cannot be read. */
void source_each(const char *path, source_fn fn, void *user);

/** The same for a .tar.xz; scripts in it show as "SET:NAME". */
void packed_each(const char *path, source_fn fn, void *user);

/** 1 if `name` ends in `ending`. */
int source_ends_in(const char *name, const char *ending);
/** `path` with ".script" replaced by ".expected"; free it. */
char *source_expected_path(const char *path);

#endif
