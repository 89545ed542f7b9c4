/* SPDX-License-Identifier: BSD-2-Clause */
/* util.h - the few helpers that everything below the policies shares. */
#ifndef IOSCHED_UTIL_H
#define IOSCHED_UTIL_H
#include <stddef.h>
#include <stdint.h>
#include <iosched/types.h>
#include "port.h"

#define IOSCHED_ASSERT(x) IOSCHED_PORT_ASSERT(x)

#if defined(__GNUC__)
#  define IOSCHED_LIKELY(x)   __builtin_expect(!!(x), 1)
#  define IOSCHED_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#  define IOSCHED_LIKELY(x)   (x)
#  define IOSCHED_UNLIKELY(x) (x)
#endif

/* For the few functions a request passes once, in one place: worth the bytes,
 * unless bytes are what is saved. */
#if defined(__GNUC__) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#  define IOSCHED_HOT static inline __attribute__((always_inline))
#  define IOSCHED_COLD __attribute__((noinline, cold))
#else
#  define IOSCHED_HOT static inline
#  define IOSCHED_COLD
#endif

/** t + d, or IOSCHED_NEVER if that is past the end of time. */
static inline iosched_time iosched__later(iosched_time t, iosched_dur d)
{
    return d > IOSCHED_NEVER - t ? IOSCHED_NEVER : t + d;
}

/** Index of the highest bit set in x, which is not 0. */
static inline unsigned iosched__high_bit(uint64_t x)
{
#if defined(__GNUC__)
    return 63u ^ (unsigned)__builtin_clzll(x);     /* one instruction on x86 */
#else
    unsigned n = 0;

    while (x >>= 1)
        n++;
    return n;
#endif
}

/** Index of the lowest bit set in x, which is not 0. */
static inline unsigned iosched__low_bit(uint64_t x)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(x);
#else
    unsigned n = 0;

    while (!(x & 1)) {
        x >>= 1;
        n++;
    }
    return n;
#endif
}

/** The next power of two at or above x, 1 for 0; x at most 2^31. */
static inline uint32_t iosched__pow2(uint32_t x)
{
    uint32_t p = 1;

    while (p < x)
        p <<= 1;
    return p;
}

/* --- Append-only structs across the interface ----------------------------- */
/** Copy one that the caller handed in, of `given` bytes.  Bytes he does not
 *  have are zero; bytes the library does not know have to be.
 *  @retval IOSCHED_ERR_INVAL   not even its struct_size is there
 *  @retval IOSCHED_ERR_NOTSUP  something that is not known is set */
static inline int iosched__take_struct(void *to, size_t known,
                                       const void *from, size_t given)
{
    const unsigned char *byte = from;
    size_t i;

    if (given < sizeof(uint32_t))
        return IOSCHED_ERR_INVAL;
    for (i = known; i < given; i++)
        if (byte[i] != 0)
            return IOSCHED_ERR_NOTSUP;
    IOSCHED_PORT_SET(to, 0, known);
    IOSCHED_PORT_COPY(to, from, given < known ? given : known);
    return IOSCHED_OK;
}

/** Fill the caller's, of `size` bytes: what he has room for, and zero what is
 *  not known. */
static inline void iosched__give_struct(void *to, size_t size,
                                        const void *from, size_t known)
{
    IOSCHED_PORT_COPY(to, from, size < known ? size : known);
    if (size > known)
        IOSCHED_PORT_SET((char *)to + known, 0, size - known);
}

/* --- Text of settings: core/policyname.c ---------------------------------- */
/** text[0..len-1] as a value of a tunable of `unit` (enum iosched_unit): a
 *  decimal integer, with ns, us, ms or s behind it if that is a time.
 *  @retval IOSCHED_ERR_INVAL  that is not one
 *  @retval IOSCHED_ERR_RANGE  it does not fit */
int iosched__parse_value(const char *text, size_t len, unsigned unit,
                         int64_t *out);
/** 1 if the len bytes at `text` are the string `word`, else 0. */
int iosched__text_is(const char *text, size_t len, const char *word);

#endif
