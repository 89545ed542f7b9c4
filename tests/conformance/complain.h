/* SPDX-License-Identifier: BSD-2-Clause */
/* complain.h - what is wrong with the input: one line, exit status 2. */
#ifndef REPLAY_COMPLAIN_H
#define REPLAY_COMPLAIN_H
#include <stddef.h>

#if defined(__GNUC__)
#define REPLAY_PRINTF(f, a) __attribute__((format(printf, f, a), noreturn))
#else
#define REPLAY_PRINTF(f, a)
#endif

/** Print "PATH:LINE: what" (line 0: "PATH: what") and exit with 2. */
void complain(const char *path, unsigned line, const char *fmt, ...)
    REPLAY_PRINTF(3, 4);

/** malloc() and realloc() that complain instead of failing. */
void *must_alloc(size_t size);
void *must_grow(void *ptr, size_t count, size_t size);
/** A copy of text. */
char *must_copy(const char *text);

#endif
