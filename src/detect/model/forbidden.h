/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that a rule of the gate forbids (detect/gate.h): SW601 to SW608.
 *
 * Which rules hold where is kept in bits, one a rule.  Not thread-safe.
 */
#ifndef SW_DETECT_MODEL_FORBIDDEN_H
#define SW_DETECT_MODEL_FORBIDDEN_H

#include "detect/model/collect.h"

struct sw_model;
struct sw_wait;
struct sw_forbidden;

/* NULL where there is no rule. */
struct sw_forbidden *sw_forbidden_new(struct sw_model *m);
void sw_forbidden_free(struct sw_forbidden *forbidden);

/* Rules whose scope is a range of this name; 0 also without a gate. */
uint64_t sw_forbidden_range(const struct sw_model *m, const char *name, const char *domain);
/* A thread entered the scopes of these rules; `entered` counts its entries by rule (SW_GATE_RULES).  Returns those that
   hold: whose first entries are past. */
uint64_t sw_forbidden_enter(struct sw_model *m, uint64_t rules, uint64_t *entered);
/* A thread begins a capture; it ends, on whichever thread. */
void sw_forbidden_capture_begun(struct sw_model *m, uint64_t capture, uint32_t thread);
void sw_forbidden_capture_ended(struct sw_model *m, uint64_t capture);

/* Rules against device-wait that hold for the call in hand. */
uint64_t sw_forbidden_holds(struct sw_model *m, const struct sw_access *call);
/* The legacy stream's call held back another stream's work, and these rules held for one of the two. */
void sw_forbidden_held(struct sw_model *m, uint64_t rules, const struct sw_access *legacy,
		       const struct sw_access *held);

/* A call has ended.  blocks: it makes the host wait, whether anything was pending or not. */
void sw_forbidden_call(struct sw_model *m, const struct sw_wait *w, const struct sw_wait_cost *cost, bool blocks);

#endif
