/* SPDX-License-Identifier: BSD-2-Clause */
/* port.h - everything a port may replace, and nothing else.
 *
 * Build with -DIOSCHED_PORT='"my_port.h"' to use a file of your own, which then
 * has to define what this one does:
 *
 *   IOSCHED_PORT_ASSERT(x)       an invariant of ours; no side effects in x
 *   IOSCHED_PORT_SET(p, c, n)    memset
 *   IOSCHED_PORT_COPY(d, s, n)   memcpy
 *   IOSCHED_PORT_MALLOC(n), IOSCHED_PORT_FREE(p)    leave out: no heap
 *   IOSCHED_ATOMICS              1: the rest is there; 0: one thread only
 *   iosched__word                an unsigned integer that is read and written
 *                                whole, of 32 bits or more, wide enough for a
 *                                pointer
 *   IOSCHED_AO_LOAD(p)           read, acquire
 *   IOSCHED_AO_STORE(p, v)       write, release
 *   IOSCHED_AO_CAS(p, old, new)  full barrier; 1 if *p was old and is new now
 *   IOSCHED_AO_ADD(p, n)         full barrier; *p += n, answers what it was
 *   IOSCHED_AO_FENCE()           full barrier
 *
 * Without atomics the inbox answers ERR_NOTSUP and a set of tags belongs to one
 * thread; the five macros are then plain reads and writes.
 */
#ifndef IOSCHED_PORT_H
#define IOSCHED_PORT_H

#ifdef HAVE_CONFIG_H
#  include <config.h>
#endif

#ifdef IOSCHED_PORT
#  include IOSCHED_PORT
#else

#include <stddef.h>
#include <stdint.h>

#ifdef IOSCHED_ASSERT_ON
#  include <assert.h>
#  undef NDEBUG
#  define IOSCHED_PORT_ASSERT(x) assert(x)
#else
#  define IOSCHED_PORT_ASSERT(x) ((void)0)
#endif

#if __STDC_HOSTED__
#  include <stdlib.h>
#  include <string.h>
#  define IOSCHED_PORT_MALLOC(n)     malloc(n)
#  define IOSCHED_PORT_FREE(p)       free(p)
#  define IOSCHED_PORT_SET(p, c, n)  memset((p), (c), (n))
#  define IOSCHED_PORT_COPY(d, s, n) memcpy((d), (s), (n))
#else
#  define IOSCHED_PORT_SET(p, c, n)  __builtin_memset((p), (c), (n))
#  define IOSCHED_PORT_COPY(d, s, n) __builtin_memcpy((d), (s), (n))
#endif

#if defined(HAVE_ATOMIC_OPS) && !defined(IOSCHED_BUILTIN_ATOMICS)
#  include <atomic_ops.h>
#  define IOSCHED_ATOMICS 1
typedef AO_t iosched__word;
#  define IOSCHED_AO_LOAD(p)          AO_load_acquire(p)
#  define IOSCHED_AO_STORE(p, v)      AO_store_release((p), (v))
#  define IOSCHED_AO_CAS(p, old, new) \
       AO_compare_and_swap_full((p), (old), (new))
#  define IOSCHED_AO_ADD(p, n)        AO_fetch_and_add_full((p), (n))
#  define IOSCHED_AO_FENCE()          AO_nop_full()
#elif defined(IOSCHED_BUILTIN_ATOMICS)  /* GCC and Clang, without a library */
#  define IOSCHED_ATOMICS 1
typedef size_t iosched__word;
#  define IOSCHED_AO_LOAD(p)          __atomic_load_n((p), __ATOMIC_ACQUIRE)
#  define IOSCHED_AO_STORE(p, v) \
       __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#  define IOSCHED_AO_CAS(p, old, new) \
       __sync_bool_compare_and_swap((p), (old), (new))
#  define IOSCHED_AO_ADD(p, n) \
       __atomic_fetch_add((p), (n), __ATOMIC_SEQ_CST)
#  define IOSCHED_AO_FENCE()          __sync_synchronize()
#else
#  define IOSCHED_ATOMICS 0
typedef size_t iosched__word;
#  define IOSCHED_AO_LOAD(p)          (*(p))
#  define IOSCHED_AO_STORE(p, v)      ((void)(*(p) = (v)))
#  define IOSCHED_AO_CAS(p, old, new) (*(p) == (old) ? (*(p) = (new), 1) : 0)
#  define IOSCHED_AO_ADD(p, n)        ((*(p) += (n)) - (n))
#  define IOSCHED_AO_FENCE()          ((void)0)
#endif

#endif /* IOSCHED_PORT */
#endif
