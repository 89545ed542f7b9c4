/* SPDX-License-Identifier: BSD-2-Clause */
/* rng.h - the random numbers of the unit tests: splitmix64 (Steele, Lea and
 * Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).  The
 * seed is written in the test, so that each run is the same run.
 */
#ifndef RNG_H
#define RNG_H
#include <stdint.h>

static inline uint64_t rng_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/** Below n, which is not 0. */
static inline uint32_t rng_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((rng_next(state) >> 32) * n >> 32);
}

#endif
