/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/model/nvtx.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "detect/model/model.h"
#include "detect/model/forbidden.h"

/* Reads "OPERATOR, seq = N" from a range's name; sequence 0: it has another form. */
static struct sw_forward_name read_forward_name(const char *name)
{
	static const char before[] = ", seq = ";
	const char *at = strstr(name, before), *digits = at ? at + sizeof before - 1 : NULL;
	if (!at || *digits < '0' || *digits > '9')
		return (struct sw_forward_name){0};
	/* "MulBackward0", and Python's own functions: "MyFunctionBackward". */
	const char *backward = strstr(name, "Backward");
	return (struct sw_forward_name){strtoull(digits, NULL, 10) + 1, backward && backward < at};
}

/* Remembers the last call in the range with this sequence number.  Which one is meant where several threads use the
   number is not known, whichever of them calls later. */
static void remember_forward_call(struct sw_forward_call *call, uint64_t sequence, const struct sw_record *r)
{
	if (call->sequence != sequence) {
		*call = (struct sw_forward_call){sequence, r->stack, r->thread, false};
		return;
	}
	call->several |= call->thread != r->thread;
	call->stack = call->several ? 0 : r->stack;
}

/* For a call in a range of a forward pass: remembers its stack.  For one in a backward pass: the stack of the forward
   call with its sequence number; 0 also if unknown. */
static uint32_t forward_take(struct sw_model *m, struct sw_forward *forward, struct sw_forward_name name,
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
	remember_forward_call(&forward->call[name.sequence % SW_FORWARD_CALLS], name.sequence, r);
	return 0;
}

/* Ranges open on one thread: a program that pushes and never pops must not fill the memory. */
#define MAX_OPEN 4096u
/* Different ranges that are distinguished: where each one is numbered by its name, what comes later is taken to be in
   the range around it. */
#define MAX_KINDS 65536u

struct open_range {
	char *name, *domain_name; /* its own */
	uint64_t domain, id, t_ns;
	uint32_t nvtx;	       /* index in judgement.nvtx + 1 */
	uint64_t scope, holds; /* rules that forbid calls: of whose scopes it is one; those that hold in it */
	struct sw_forward_name forward;
};

struct sw_nvtx_stack {
	SW_VEC(struct open_range) open;
	uint64_t over;	   /* pushed beyond MAX_OPEN, and not popped yet */
	uint64_t *entered; /* by rule: how often the thread entered its scope; NULL: never */
	uint32_t thread;
};

struct sw_nvtx_state {
	struct sw_map threads; /* thread, or the kernel's id of one that has made no call -> struct sw_nvtx_stack */
	struct sw_map started; /* id -> struct sw_nvtx_stack */
	struct sw_forward forward;
	struct sw_map alike; /* name, domain and range around -> index in judgement.nvtx + 1 */
};

struct sw_nvtx_state *sw_nvtx_new(void)
{
	return sw_calloc(1, sizeof(struct sw_nvtx_state));
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

/* Key of a thread that has made no CUDA call yet, by its id of the kernel's. */
static uint64_t waiting_key(uint32_t tid)
{
	return UINT64_C(1) << 32 | tid;
}

/* The open ranges of a thread; NULL: none, unless `make`.  A thread whose ranges were reported before its first call
   brings them with it. */
static struct sw_nvtx_stack *stack_of(struct sw_model *m, uint32_t thread, bool make)
{
	struct sw_nvtx_stack *stack = sw_map_ptr(&m->nvtx->threads, thread);
	if (stack)
		return stack;
	const struct sw_trace_thread *info = sw_reader_thread(m->reader, thread);
	stack = info ? sw_map_ptr(&m->nvtx->threads, waiting_key(info->tid)) : NULL;
	if (!stack && !make)
		return NULL;
	if (stack)
		sw_map_delete(&m->nvtx->threads, waiting_key(info->tid));
	else
		stack = sw_calloc(1, sizeof *stack);
	stack->thread = thread;
	sw_map_put_ptr(&m->nvtx->threads, thread, stack);
	return stack;
}

/* The open ranges of a thread that has made no CUDA call yet, made if it has none. */
static struct sw_nvtx_stack *stack_of_tid(struct sw_model *m, uint32_t tid)
{
	struct sw_nvtx_stack *stack = sw_map_ptr(&m->nvtx->threads, waiting_key(tid));
	if (!stack) {
		stack = sw_calloc(1, sizeof *stack);
		sw_map_put_ptr(&m->nvtx->threads, waiting_key(tid), stack);
	}
	return stack;
}

uint32_t sw_nvtx_of(struct sw_model *m, uint32_t thread)
{
	if (!m->nvtx->threads.n)
		return 0;
	const struct sw_nvtx_stack *stack = stack_of(m, thread, false);
	return stack && stack->open.n ? stack->open.at[stack->open.n - 1].nvtx : 0;
}

uint64_t sw_nvtx_rules(struct sw_model *m, uint32_t thread)
{
	const struct sw_nvtx_stack *stack = m->nvtx->threads.n ? stack_of(m, thread, false) : NULL;
	uint64_t rules = 0;
	for (size_t i = 0; stack && stack->entered && i < stack->open.n; i++)
		rules |= stack->open.at[i].holds;
	return rules;
}

uint64_t sw_nvtx_entries(struct sw_model *m, uint32_t thread, uint32_t rule)
{
	const struct sw_nvtx_stack *stack = stack_of(m, thread, false);
	return stack && stack->entered ? stack->entered[rule] : 0;
}

/* The stack of the forward call whose backward pass this call is part of; 0: unknown.  In a backward pass ranges of
   single operators lie within the one that counts. */
uint32_t sw_nvtx_forward(struct sw_model *m, const struct sw_record *r)
{
	const struct sw_nvtx_stack *stack = m->nvtx->threads.n ? stack_of(m, r->thread, false) : NULL;
	struct sw_forward_name innermost = {0};
	for (size_t i = stack ? stack->open.n : 0; i-- > 0 && !innermost.backward;)
		if (stack->open.at[i].forward.sequence && (!innermost.sequence || stack->open.at[i].forward.backward))
			innermost = stack->open.at[i].forward;
	return innermost.sequence ? forward_take(m, &m->nvtx->forward, innermost, r) : 0;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* The number of the range in the judgement's list, which ranges of one name within the same range share.  within: that
   of the range around it. */
static uint32_t describe_range(struct sw_model *m, const struct open_range *range, uint32_t within)
{
	const size_t n = strlen(range->name), d = strlen(range->domain_name);
	uint64_t key = sw_hash_bytes(sw_hash_u64(within), range->name, n + 1);
	key = sw_hash_bytes(key, range->domain_name, d);
	const uint64_t *index = sw_map_find(&m->nvtx->alike, key);
	if (index)
		return (uint32_t)*index;
	if (m->j->nvtx.n >= MAX_KINDS)
		return within;
	*sw_vec_push(&m->j->nvtx) =
		(struct sw_nvtx){sw_model_name(m, range->name, n), sw_model_name(m, range->domain_name, d), within};
	*sw_map_put(&m->nvtx->alike, key) = m->j->nvtx.n;
	return (uint32_t)m->j->nvtx.n;
}

/* Notes the rules in whose scope the range is.  A range within one of the same scope continues that entry. */
static void enter_scopes(struct sw_model *m, struct sw_nvtx_stack *stack, struct open_range *range)
{
	uint64_t inside = 0;
	range->scope = sw_forbidden_range(m, range->name, range->domain_name);
	if (!range->scope)
		return;
	if (!stack->entered)
		stack->entered = sw_calloc(SW_GATE_RULES, sizeof *stack->entered);
	for (size_t i = 0; i < stack->open.n; i++) {
		inside |= stack->open.at[i].scope;
		range->holds |= stack->open.at[i].holds & range->scope;
	}
	range->holds |= sw_forbidden_enter(m, range->scope & ~inside, stack->entered);
}

/* Opens a range on the thread that has this stack of ranges; too many are only counted. */
static void begin_range(struct sw_model *m, struct sw_nvtx_stack *stack, const struct sw_record *r,
			const struct sw_rec_range *range)
{
	const char *text = (const char *)(range + 1);
	const uint64_t room = range->h.words * 8u - sizeof *range;
	if ((uint64_t)range->name_bytes + range->domain_bytes > room)
		return; /* a damaged record: its end will find nothing */
	if (stack->open.n >= MAX_OPEN || m->nvtx->started.n >= MAX_KINDS) {
		stack->over += range->op == SW_RANGE_PUSH;
		return;
	}
	struct open_range open = {.domain = range->domain, .id = range->id, .t_ns = r->t_ns};
	open.name = sw_strndup(text, range->name_bytes);
	open.domain_name = sw_strndup(text + range->name_bytes, range->domain_bytes);
	open.forward = read_forward_name(open.name);
	enter_scopes(m, stack, &open);
	open.nvtx = describe_range(m, &open, stack->open.n ? stack->open.at[stack->open.n - 1].nvtx : 0);
	*sw_vec_push(&stack->open) = open;
	if (range->op == SW_RANGE_START)
		sw_map_put_ptr(&m->nvtx->started, range->id, stack);
}

/* Passes a range to the observer; open: its end was not recorded. */
static void report_range(struct sw_model *m, const struct sw_nvtx_stack *stack, const struct open_range *range,
			 uint64_t end_ns, bool open)
{
	if (m->observer->nvtx)
		m->observer->nvtx(m->observer->arg, &(struct sw_nvtx_span){.name = range->name,
									   .domain = range->domain_name,
									   .domain_id = range->domain,
									   .id = range->id,
									   .thread = stack->thread,
									   .start_ns = range->t_ns,
									   .end_ns = end_ns,
									   .open = open});
}

/* Frees the names of a range. */
static void drop_range(struct open_range *range)
{
	free(range->name);
	free(range->domain_name);
}

/* Ends the innermost range with this domain and id.  Ranges of other domains, and started ones, may lie above it: they
   continue. */
static void end_range(struct sw_model *m, struct sw_nvtx_stack *stack, uint64_t domain, uint64_t id, uint64_t t_ns)
{
	size_t i = stack->open.n;
	while (i && (stack->open.at[i - 1].domain != domain || stack->open.at[i - 1].id != id))
		i--;
	if (!i)
		return; /* it began before recording did */
	report_range(m, stack, &stack->open.at[i - 1], t_ns, false);
	drop_range(&stack->open.at[i - 1]);
	stack->open.n--;
	for (i--; i < stack->open.n; i++) {
		stack->open.at[i] = stack->open.at[i + 1];
		stack->open.at[i].nvtx = describe_range(m, &stack->open.at[i], i ? stack->open.at[i - 1].nvtx : 0);
	}
}

/* Handles a record of an NVTX range: pushed, popped, started or ended. */
void sw_nvtx_take(struct sw_model *m, const struct sw_record *r)
{
	const struct sw_rec_range *range = (const struct sw_rec_range *)(const void *)r->rec;
	struct sw_nvtx_stack *stack;
	switch (range->op) {
	case SW_RANGE_PUSH:
	case SW_RANGE_START:
		begin_range(m, range->tid ? stack_of_tid(m, range->tid) : stack_of(m, r->thread, true), r, range);
		break;
	case SW_RANGE_POP:
		stack = stack_of(m, r->thread, false);
		if (stack && stack->over)
			stack->over--;
		else if (stack)
			end_range(m, stack, range->domain, 0, r->t_ns);
		break;
	case SW_RANGE_END:
		stack = sw_map_ptr(&m->nvtx->started, range->id);
		if (stack)
			end_range(m, stack, range->domain, range->id, r->t_ns);
		sw_map_delete(&m->nvtx->started, range->id);
		break;
	default: /* of a newer recorder */
		break;
	}
}

/* ---- end --------------------------------------------------------------------------------------------------------- */

/* The later of two times. */
static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* At the end: reports the ranges that have not ended. */
void sw_nvtx_finish(struct sw_model *m)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&m->nvtx->threads, i, &slot));) {
		const struct sw_nvtx_stack *stack = (void *)(uintptr_t)slot.value;
		for (size_t k = stack->open.n; k--;)
			report_range(m, stack, &stack->open.at[k], later_of(m->last_ns, stack->open.at[k].t_ns), true);
	}
}

void sw_nvtx_forget(struct sw_model *m)
{
	struct sw_map_slot slot;
	sw_nvtx_finish(m);
	for (size_t i = 0; (i = sw_map_next(&m->nvtx->threads, i, &slot));) {
		struct sw_nvtx_stack *stack = (void *)(uintptr_t)slot.value;
		for (size_t k = 0; k < stack->open.n; k++)
			drop_range(&stack->open.at[k]);
		stack->open.n = 0;
		stack->over = 0;
	}
	sw_map_free(&m->nvtx->started);
	m->nvtx->started = (struct sw_map){0};
}

void sw_nvtx_free(struct sw_nvtx_state *nvtx)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&nvtx->threads, i, &slot));) {
		struct sw_nvtx_stack *stack = (void *)(uintptr_t)slot.value;
		for (size_t k = 0; k < stack->open.n; k++)
			drop_range(&stack->open.at[k]);
		free(stack->open.at);
		free(stack->entered);
		free(stack);
	}
	sw_map_free(&nvtx->threads);
	sw_map_free(&nvtx->started);
	sw_map_free(&nvtx->alike);
	free(nvtx->forward.call);
	free(nvtx);
}
