/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/model/contexts.h"

#include "detect/behaviour/wait_rules.h"
#include "detect/model/model.h"

bool sw_model_wait_rule(const struct sw_model *m, uint8_t ctx, enum sw_wait_rule may)
{
	const struct sw_wait_rule_set *set = m->context[ctx].may;
	return (set ? set : sw_wait_rules_built_in())->waits[may];
}
