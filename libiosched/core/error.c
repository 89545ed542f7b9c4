/* SPDX-License-Identifier: BSD-2-Clause */
/* error.c - results in English; the version that runs. */
#include "hot.h"

const char *iosched_strerror(int err)
{
    switch (err) {
    case IOSCHED_OK:            return "success";
    case IOSCHED_ERR_NOENT:     return "no such policy, preset or tunable";
    case IOSCHED_ERR_NOMEM:     return "out of memory";
    case IOSCHED_ERR_BUSY:      return "still queued, in flight or populated";
    case IOSCHED_ERR_INVAL:     return "invalid argument";
    case IOSCHED_ERR_NOSPC:     return "memory or a bound is too small";
    case IOSCHED_ERR_RANGE:     return "value outside its bounds";
    case IOSCHED_ERR_REENTRANT: return "called from a callback that may not";
    case IOSCHED_ERR_STATE:     return "not in the state this call is for";
    case IOSCHED_ERR_NOTSUP:    return "not supported";
    default:                    return err > 0 && err <= IOSCHED_FROZEN
                                           ? "success" : "unknown error";
    }
}

uint32_t iosched_version_number(void)
{
    return IOSCHED_VERSION_NUMBER;
}

const char *iosched_version_string(void)
{
    return IOSCHED_VERSION_STRING;
}
