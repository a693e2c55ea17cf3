/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that forbid calls in parts of a run (--forbid, --max-wait, --max-calls): SW601 to SW608.
 *
 *     KINDS@SCOPE[:SKIP]         a call of one of these kinds is an error
 *     TIME@SCOPE[:SKIP]          a call that makes the host wait for longer is
 *     KIND=N@SCOPE[:SKIP]        the N+1st call of that kind is: in each entry of a range, else in all
 *
 *     KINDS   names of SW_GATE_KINDS, or `any`, with commas between
 *     SCOPE   nvtx:NAME[@DOMAIN]   the thread is inside a range of that name (a pattern of fnmatch())
 *             python:[MODULE.]FUNC the call's Python stack holds that function
 *             thread:NAME          the thread has that name (a pattern)
 *             capture              the thread began a capture that has not ended
 *             program              everywhere
 *     SKIP    nvtx: the first SKIP entries of each thread are not checked
 *
 * A thread is inside a range from its push to its pop; a range within one of the same name is no further entry.
 * Thread-safety: a gate is read-only once it is made.
 */
#ifndef SW_DETECT_GATE_H
#define SW_DETECT_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Kinds of forbidden calls: X(NAME, "name", finding). */
#define SW_GATE_KINDS(X)                                                                                               \
	X(WAIT, "wait", FORBIDDEN_WAIT)                                                                                \
	X(DEVICE_WAIT, "device-wait", FORBIDDEN_DEVICE_WAIT)                                                           \
	X(ALLOC, "alloc", FORBIDDEN_ALLOC)                                                                             \
	X(FREE, "free", FORBIDDEN_FREE)                                                                                \
	X(PIN, "pin", FORBIDDEN_PIN)                                                                                   \
	X(LOAD, "load", FORBIDDEN_LOAD)                                                                                \
	X(PAGEABLE, "pageable", FORBIDDEN_PAGEABLE)
enum sw_gate_kind {
#define SW_GATE_KIND_NAME(name, text, finding) SW_GATE_##name,
	SW_GATE_KINDS(SW_GATE_KIND_NAME)
#undef SW_GATE_KIND_NAME
		SW_GATE_KINDS_N
};

enum sw_gate_op { SW_GATE_FORBID, SW_GATE_MAX_WAIT, SW_GATE_MAX_CALLS };
enum sw_gate_scope { SW_GATE_NVTX, SW_GATE_PYTHON, SW_GATE_THREAD, SW_GATE_CAPTURE, SW_GATE_PROGRAM };

#define SW_GATE_RULES 64u
struct sw_gate_rule {
	enum sw_gate_op op;
	uint32_t kinds; /* bits: 1 << enum sw_gate_kind */
	uint64_t bound; /* MAX_WAIT: nanoseconds; MAX_CALLS: calls */
	enum sw_gate_scope scope;
	char *name;	  /* NVTX, PYTHON, THREAD: owned; else NULL */
	char *domain;	  /* NVTX: of the range; NULL: any */
	uint64_t skip;	  /* NVTX: entries of each thread */
	const char *text; /* as it was given; not owned */
};
struct sw_gate {
	uint32_t n;
	struct sw_gate_rule rule[SW_GATE_RULES];
};

/* Adds a rule; the text must live as long as the gate.  0, or SW_E_USAGE with error filled, which says what is wrong.
 */
int sw_gate_add(struct sw_gate *gate, enum sw_gate_op op, const char *text, struct sw_error *error);
void sw_gate_free(struct sw_gate *gate);
/* The option that makes such a rule: "--forbid" and so on. */
const char *sw_gate_option(enum sw_gate_op op);

/* The outcome of a rule in a trace. */
struct sw_gate_result {
	const char *option, *text; /* as it was given */
	uint64_t entered;	   /* ranges: how often a thread entered its scope, without ... */
	uint64_t skipped;	   /* ... the first times */
	uint64_t calls;		   /* in its scope */
	uint64_t found;		   /* of them: against the rule */
};

#endif
