/* SPDX-License-Identifier: Apache-2.0 */
/* Empty but in a build for ablation. */
#include "footprint/rules.h"

#ifdef SW_ABLATION

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const rule_names[] = {
#define SW_RULE(name, text) #name,
#include "footprint/rules.def"
};

static enum sw_rule rule_off = SW_RULES;

/* At the start of the process: finds the rule that SW_WITHOUT names; an unknown name ends the process. */
__attribute__((constructor)) static void read_environment(void)
{
	const char *name = getenv("SW_WITHOUT");
	for (int i = 0; name && i < SW_RULES; i++) {
		if (!strcmp(name, rule_names[i]))
			rule_off = (enum sw_rule)i;
	}
	if (name && rule_off == SW_RULES) {
		fprintf(stderr, "SW_WITHOUT: no rule %s\n", name);
		exit(99);
	}
}

bool sw_rule_is_off(enum sw_rule rule)
{
	return rule == rule_off;
}

#endif
