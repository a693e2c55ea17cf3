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

/* The state of the rules that forbid calls (--forbid, --max-wait ...); NULL where there is no rule. */
struct sw_forbidden *sw_forbidden_new(struct sw_model *m);
void sw_forbidden_free(struct sw_forbidden *forbidden);

/* Rules (one bit each) whose scope is an NVTX range of this name and domain; 0 also without a gate. */
uint64_t sw_forbidden_range(const struct sw_model *m, const char *name, const char *domain);
/* A thread entered the scopes of these rules; `entered` counts its entries by rule (SW_GATE_RULES).  Returns those that
   hold: whose first entries are past. */
uint64_t sw_forbidden_enter(struct sw_model *m, uint64_t rules, uint64_t *entered);
/* Begins a capture, which is in the scope of rules about captures until it ends, on whichever thread. */
void sw_forbidden_capture_begun(struct sw_model *m, uint64_t capture, uint32_t thread);
void sw_forbidden_capture_ended(struct sw_model *m, uint64_t capture);

/* Rules (one bit each) that forbid calls which make a stream wait for another one by the legacy stream, and in
   whose scope this call is. */
uint64_t sw_forbidden_holds(struct sw_model *m, const struct sw_access *call);
/* Reports a call on the legacy stream that held back work of another stream, if a rule forbids that for one of the
   two calls. rules: those that held for the earlier one (sw_forbidden_holds()). */
void sw_forbidden_held(struct sw_model *m, uint64_t rules, const struct sw_access *legacy,
		       const struct sw_access *held);

/* At the end of each call: counts it for the rules in whose scope it is, and reports it where one forbids it.
   blocks: it makes the host wait, whether anything was pending or not. */
void sw_forbidden_call(struct sw_model *m, const struct sw_wait *w, const struct sw_wait_cost *cost, bool blocks);

#endif
