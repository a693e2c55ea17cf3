/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: which live, of what device, and which calls wait there.  Not thread-safe. */
#ifndef SW_DETECT_MODEL_CONTEXTS_H
#define SW_DETECT_MODEL_CONTEXTS_H

#include "detect/detect.h"

struct sw_model;

#define SW_CONTEXTS 256u

struct sw_context_state {
	uint64_t handle;
	int device;
	bool live, primary, green;
	bool released;	   /* a primary one that may have no user any more */
	uint8_t whole;	   /* of a green context: the primary one of its device, which owns what is allocated; else 0 */
	uint32_t arch;	   /* of the device, 0 not looked up */
	bool shared_event; /* an event that other processes may wait for covers some of its work: not known which */
	bool over;	   /* a sticky error ended judgement */
	uint64_t unclassified;		    /* first call that we do not model, 0: none */
	const struct sw_wait_rule_set *may; /* NULL: its creation was not seen, as built in */
};

/* Does a call in this context wait, by the rules for calls that no document decides? */
bool sw_model_wait_rule(const struct sw_model *m, uint8_t ctx, enum sw_wait_rule may);

#endif
