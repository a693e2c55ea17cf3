/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/model/forward.h"

#include <stdlib.h>
#include <string.h>

#include "detect/model/model.h"

struct sw_forward_name sw_forward_name(const char *name)
{
	static const char before[] = ", seq = ";
	const char *at = strstr(name, before), *digits = at ? at + sizeof before - 1 : NULL;
	if (!at || *digits < '0' || *digits > '9')
		return (struct sw_forward_name){0};
	/* "MulBackward0", and Python's own functions: "MyFunctionBackward". */
	const char *backward = strstr(name, "Backward");
	return (struct sw_forward_name){strtoull(digits, NULL, 10) + 1, backward && backward < at};
}

static void note(struct sw_forward_call *call, uint64_t sequence, const struct sw_record *r)
{
	if (call->sequence != sequence)
		*call = (struct sw_forward_call){sequence, r->stack, r->thread};
	else
		call->stack = call->thread == r->thread ? r->stack : 0;
}

uint32_t sw_forward_take(struct sw_model *m, struct sw_forward *forward, struct sw_forward_name name,
			 const struct sw_record *r)
{
	if (name.backward) {
		const struct sw_forward_call *call =
			forward->call ? &forward->call[name.sequence % SW_FORWARD_CALLS] : NULL;
		return call && call->sequence == name.sequence ? call->stack : 0;
	}
	const struct sw_trace_stack *stack = sw_reader_stack(m->reader, r->stack);
	if (!stack || !stack->python_depth || stack->python_waiting)
		return 0;
	if (!forward->call)
		forward->call = sw_calloc(SW_FORWARD_CALLS, sizeof *forward->call);
	note(&forward->call[name.sequence % SW_FORWARD_CALLS], name.sequence, r);
	return 0;
}
