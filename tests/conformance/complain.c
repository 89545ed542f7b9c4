/* SPDX-License-Identifier: BSD-2-Clause */
/* complain.c - the one way out for input that cannot be replayed. */
#include "complain.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void complain(const char *path, unsigned line, const char *fmt, ...)
{
    va_list ap;

    fflush(stdout);
    if (line > 0)
        fprintf(stderr, "%s:%u: ", path, line);
    else
        fprintf(stderr, "%s: ", path);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(2);
}

void *must_grow(void *ptr, size_t count, size_t size)
{
    void *p = count > 0 && size > SIZE_MAX / count ? NULL
                                                   : realloc(ptr, count * size);

    if (p == NULL)
        complain("replay", 0, "out of memory");
    return p;
}

void *must_alloc(size_t size)
{
    void *p = calloc(1, size > 0 ? size : 1);

    if (p == NULL)
        complain("replay", 0, "out of memory");
    return p;
}

char *must_copy(const char *text)
{
    size_t len = strlen(text) + 1;

    return memcpy(must_alloc(len), text, len);
}
