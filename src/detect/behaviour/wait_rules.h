/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits that no document decides: the built-in rules (measured on H200, driver 580), and what `syncwatch calibrate`
 * measured on the GPU and driver of a trace.
 *
 * Such a wait is order in the as-measured clock alone.  A table in which a call waits adds that order, so that a hazard
 * becomes a note; a table in which it never waits removes the order.  Where the repetitions or the rows of a rule
 * disagree, the built-in rule stays.
 */
#ifndef SW_DETECT_BEHAVIOUR_WAIT_RULES_H
#define SW_DETECT_BEHAVIOUR_WAIT_RULES_H

#include "detect/behaviour/behaviour.h"

/* The rules, with the rows that decide each: SW_WAIT_RULE in src/detect/behaviour/behaviour.def. */
enum sw_wait_rule {
#define SW_WAIT_RULE(name, built_in, kernels, text, first, second) SW_WAIT_RULE_##name,
#include "detect/behaviour/behaviour.def"
	SW_WAIT_RULES
};

/* The rules for one kind of GPU and driver. */
struct sw_wait_rule_set {
	char gpu[sizeof((struct sw_behaviour *)0)->gpu];
	bool waits[SW_WAIT_RULES];
};

/* The tables in a packed trace; find() is false where it has none for a GPU. */
struct sw_packed_rules {
	bool (*find)(void *arg, const char *gpu, const char **path, const char **text,
		     size_t *bytes); /* NULL: not packed */
	void *arg;
};

/* The sets of a judgement; zero-initialise it. */
struct sw_wait_rules {
	const char *source; /* NULL: built in only; "": the folder of sw_behaviour_folder(); else one table */
	struct sw_packed_rules packed; /* in place of the folder */
	SW_VEC(struct sw_wait_rule_set *) sets;
	/* For the report. */
	SW_VEC(char *) used;	   /* tables */
	SW_VEC(char *) complaints; /* tables that cannot be used, and why */
	uint32_t differs;	   /* bit i: some table differs from built-in rule i */
};

/* The set of a GPU and driver; its table is read at the first call. */
const struct sw_wait_rule_set *sw_wait_rules_of(struct sw_wait_rules *mays, const char *gpu, uint32_t driver);
/* The built-in rules. */
const struct sw_wait_rule_set *sw_wait_rules_built_in(void);
void sw_wait_rules_free(struct sw_wait_rules *mays);

/* "cudaFree waits for the device", and whether that is built in as true. */
const char *sw_wait_rule_text(enum sw_wait_rule may, bool *built_in);

#endif
