/* SPDX-License-Identifier: BSD-2-Clause */
/* policy-sstf.h - a policy of your own is one symbol: list it in cfg.policies,
 * behind the built-in ones if you like, and open it as "sstf". */
#ifndef POLICY_SSTF_H
#define POLICY_SSTF_H
#include <iosched/policy.h>

extern const struct iosched_policy policy_sstf;

#endif
