/* SPDX-License-Identifier: BSD-2-Clause */
/* interleave_port.h - a port whose atomics ask a scheduler who goes next.
 *
 * The five functions are the test's: each is a point where another actor may
 * run, and decides when a store is seen by the others.  Words have 32 bits, the
 * fewest that a port may choose.
 */
#ifndef INTERLEAVE_PORT_H
#define INTERLEAVE_PORT_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define IOSCHED_PORT_SET(p, c, n)  memset((p), (c), (n))
#define IOSCHED_PORT_COPY(d, s, n) memcpy((d), (s), (n))
#define IOSCHED_PORT_ASSERT(x)     ((x) ? (void)0 : il_failed(#x))

#define IOSCHED_ATOMICS 1
typedef uint32_t iosched__word;
#define IOSCHED_AO_LOAD(p)          il_load(p)
#define IOSCHED_AO_STORE(p, v)      il_store((p), (v))
#define IOSCHED_AO_CAS(p, old, new) il_cas((p), (old), (new))
#define IOSCHED_AO_ADD(p, n)        il_add((p), (n))
#define IOSCHED_AO_FENCE()          il_fence()

iosched__word il_load(const iosched__word *p);
void il_store(iosched__word *p, iosched__word v);
int il_cas(iosched__word *p, iosched__word was, iosched__word is);
iosched__word il_add(iosched__word *p, iosched__word n);
void il_fence(void);
void il_failed(const char *what);

#endif
