/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches of the special rules, for tests/footprint/ablation alone: in a build with -DSW_ABLATION the environment
 * variable SW_WITHOUT names the rule that is off.  In all other builds every rule is on and nothing of this is
 * compiled.
 */
#ifndef SW_FOOTPRINT_RULES_H
#define SW_FOOTPRINT_RULES_H

#include <stdbool.h>

enum sw_rule {
#define SW_RULE(name, text) SW_RULE_##name,
#include "footprint/rules.def"
#undef SW_RULE
	SW_RULES
};

#ifdef SW_ABLATION
/* Is this the rule that SW_WITHOUT names? */
bool sw_rule_is_off(enum sw_rule rule);
#define SW_RULE_IS_OFF(name) sw_rule_is_off(SW_RULE_##name)
#else
#define SW_RULE_IS_OFF(name) false
#endif

#endif
