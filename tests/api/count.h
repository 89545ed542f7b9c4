/* SPDX-License-Identifier: BSD-2-Clause */
/* count.h - counting allocations while a flag is up; included by one unit.
 * Under AddressSanitizer by its hooks, else with glibc by taking the place of
 * malloc; the library resolves to the same.
 */
#ifndef COUNT_H
#define COUNT_H
#include <check.h>
/* Check notes every assertion that holds, and allocates for it: not where
 * allocations are counted. */
#define _mark_point(file, line) ((void)(file), (void)(line))
#include <stdlib.h>

static volatile int counting;
static volatile unsigned allocations;

#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif

#if defined(ADDRESS_SANITIZER)
#define CAN_COUNT 1
extern int __sanitizer_install_malloc_and_free_hooks(
    void (*on_malloc)(const volatile void *, size_t),
    void (*on_free)(const volatile void *));

static void on_malloc(const volatile void *p, size_t n)
{
    (void)p;
    (void)n;
    allocations += (unsigned)counting;
}

static void on_free(const volatile void *p)
{
    (void)p;
    allocations += (unsigned)counting;
}

static inline void begin_counting(void)
{
    static int installed;

    if (!installed)
        installed = __sanitizer_install_malloc_and_free_hooks(on_malloc,
                                                              on_free);
    ck_assert_int_ne(installed, 0);
    allocations = 0;
    counting = 1;
}
#elif defined(__GLIBC__)
#define CAN_COUNT 1
/* Seen by the library, whatever the default is. */
#define SEEN __attribute__((visibility("default")))
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t k, size_t n);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t align, size_t n);
extern void __libc_free(void *p);
extern void *aligned_alloc(size_t align, size_t n); /* not declared in C99 */

SEEN void *malloc(size_t n)
{
    allocations += (unsigned)counting;
    return __libc_malloc(n);
}

SEEN void *calloc(size_t k, size_t n)
{
    allocations += (unsigned)counting;
    return __libc_calloc(k, n);
}

SEEN void *realloc(void *p, size_t n)
{
    allocations += (unsigned)counting;
    return __libc_realloc(p, n);
}

SEEN void *aligned_alloc(size_t align, size_t n)
{
    allocations += (unsigned)counting;
    return __libc_memalign(align, n);
}

SEEN int posix_memalign(void **out, size_t align, size_t n)
{
    allocations += (unsigned)counting;
    *out = __libc_memalign(align, n);
    return *out != NULL ? 0 : 12;
}

SEEN void free(void *p)
{
    allocations += (unsigned)counting;
    __libc_free(p);
}

static inline void begin_counting(void)
{
    allocations = 0;
    counting = 1;
}
#else
#define CAN_COUNT 0
#endif

#endif
