/* SPDX-License-Identifier: BSD-2-Clause */
/* builtin.c - the policies of this build; the only file that names them all. */
#ifdef HAVE_CONFIG_H
#  include <config.h>
#endif
#include <iosched/policy.h>

#ifdef HAVE_POLICY_NOOP
extern const struct iosched_policy iosched__noop;
#endif
#ifdef HAVE_POLICY_DEADLINE
extern const struct iosched_policy iosched__deadline;
#endif

static const struct iosched_policy *const builtin[] = {
#ifdef HAVE_POLICY_NOOP
    &iosched__noop,
#endif
#ifdef HAVE_POLICY_DEADLINE
    &iosched__deadline,
#endif
    NULL
};

const struct iosched_policy *const *iosched_builtin_policies(void)
{
    return builtin;
}
