/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/model/forbidden.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/python_name.h"
#include "detect/model/call.h"
#include "detect/model/model.h"
#include "detect/model/nvtx.h"

struct gate_thread {
	const char *name;	       /* as the reader had it last */
	uint64_t named;		       /* rules that name the thread */
	uint64_t calls[SW_GATE_RULES]; /* of MAX_CALLS in ranges: in the entry with this number */
	uint64_t entry[SW_GATE_RULES];
	uint32_t captures;
};

struct sw_forbidden {
	const struct sw_gate *gate;
	struct sw_gate_result *result;	   /* of the judgement, one a rule */
	uint64_t program, capture, python; /* rules of these scopes */
	uint64_t calls[SW_GATE_RULES];	   /* of MAX_CALLS in other scopes, by all threads */
	struct sw_map threads;		   /* thread -> struct gate_thread */
	struct sw_map captures;		   /* capture that has not ended -> thread that began it */
	struct sw_map stacks;		   /* stack -> rules of scope python that it is in, + 1 */
};

struct sw_forbidden *sw_forbidden_new(struct sw_model *m)
{
	const struct sw_gate *gate = m->options->gate;
	if (!gate || !gate->n)
		return NULL;
	struct sw_forbidden *f = sw_calloc(1, sizeof *f);
	f->gate = gate;
	for (uint32_t i = 0; i < gate->n; i++) {
		const struct sw_gate_rule *rule = &gate->rule[i];
		*sw_vec_push(&m->j->gate) =
			(struct sw_gate_result){.option = sw_gate_option(rule->op), .text = rule->text};
		f->program |= (uint64_t)(rule->scope == SW_GATE_PROGRAM) << i;
		f->capture |= (uint64_t)(rule->scope == SW_GATE_CAPTURE) << i;
		f->python |= (uint64_t)(rule->scope == SW_GATE_PYTHON) << i;
	}
	f->result = m->j->gate.at;
	return f;
}

void sw_forbidden_free(struct sw_forbidden *f)
{
	struct sw_map_slot slot;
	if (!f)
		return;
	for (size_t i = 0; (i = sw_map_next(&f->threads, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	sw_map_free(&f->threads);
	sw_map_free(&f->captures);
	sw_map_free(&f->stacks);
	free(f);
}

/* ---- scopes ------------------------------------------------------------------------------------------------------ */

uint64_t sw_forbidden_range(const struct sw_model *m, const char *name, const char *domain)
{
	uint64_t rules = 0;
	const struct sw_gate *gate = m->forbidden ? m->forbidden->gate : NULL;
	for (uint32_t i = 0; gate && i < gate->n; i++) {
		const struct sw_gate_rule *rule = &gate->rule[i];
		const bool named = rule->scope == SW_GATE_NVTX && fnmatch(rule->name, name, 0) == 0;
		if (named && (!rule->domain || fnmatch(rule->domain, domain, 0) == 0))
			rules |= UINT64_C(1) << i;
	}
	return rules;
}

uint64_t sw_forbidden_enter(struct sw_model *m, uint64_t rules, uint64_t *entered)
{
	uint64_t hold = 0;
	for (uint32_t i = 0; i < SW_GATE_RULES && rules >> i; i++) {
		if (!(rules >> i & 1))
			continue;
		struct sw_gate_result *result = &m->forbidden->result[i];
		if (++entered[i] > m->forbidden->gate->rule[i].skip) {
			hold |= UINT64_C(1) << i;
			result->entered++;
		} else {
			result->skipped++;
		}
	}
	return hold;
}

/* The state of a thread for the rules; added if it is new. */
static struct gate_thread *thread_of(struct sw_model *m, uint32_t thread)
{
	struct gate_thread *t = sw_map_ptr(&m->forbidden->threads, thread);
	if (!t) {
		t = sw_calloc(1, sizeof *t);
		sw_map_put_ptr(&m->forbidden->threads, thread, t);
	}
	return t;
}

/* Rules whose scope is threads of this thread's name.  Asked again at each call, as threads get their names, and
   others, after their first calls. */
static uint64_t named_rules(struct sw_model *m, struct gate_thread *t, uint32_t thread)
{
	const struct sw_gate *gate = m->forbidden->gate;
	const struct sw_trace_thread *info = sw_reader_thread(m->reader, thread);
	if (!info || t->name == info->name)
		return t->named;
	t->name = info->name;
	t->named = 0;
	for (uint32_t i = 0; i < gate->n; i++)
		if (gate->rule[i].scope == SW_GATE_THREAD && fnmatch(gate->rule[i].name, info->name, 0) == 0)
			t->named |= UINT64_C(1) << i;
	return t->named;
}

void sw_forbidden_capture_begun(struct sw_model *m, uint64_t capture, uint32_t thread)
{
	if (!m->forbidden)
		return;
	*sw_map_put(&m->forbidden->captures, capture) = thread;
	thread_of(m, thread)->captures++;
}

/* Ends a capture: its thread leaves the scope of rules about captures. */
void sw_forbidden_capture_ended(struct sw_model *m, uint64_t capture)
{
	const uint64_t *thread = m->forbidden ? sw_map_find(&m->forbidden->captures, capture) : NULL;
	if (!thread)
		return;
	thread_of(m, (uint32_t)*thread)->captures--;
	sw_map_delete(&m->forbidden->captures, capture);
}

/* Rules whose scope is a Python function that is in this stack. */
static uint64_t python_rules(struct sw_model *m, uint32_t stack)
{
	struct sw_forbidden *f = m->forbidden;
	if (!f->python || !stack)
		return 0;
	uint64_t *known = sw_map_put(&f->stacks, stack), rules = 0;
	if (*known)
		return *known - 1;
	const struct sw_trace_stack *s = sw_reader_stack(m->reader, stack);
	for (uint32_t i = 0; s && i < f->gate->n; i++)
		for (uint32_t k = 0; f->python >> i & 1 && k < s->python_depth; k++)
			if (sw_python_is_named(s->python[k].file, s->python[k].function, f->gate->rule[i].name))
				rules |= UINT64_C(1) << i;
	*known = rules + 1;
	return rules;
}

/* All rules, one bit each, in whose scope the call is. */
static uint64_t rules_of(struct sw_model *m, const struct sw_access *call)
{
	struct gate_thread *t = thread_of(m, call->thread);
	return m->forbidden->program | named_rules(m, t, call->thread) | (t->captures ? m->forbidden->capture : 0) |
	       sw_nvtx_rules(m, call->thread) | python_rules(m, call->stack);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* The most telling kind first: it is the one that a finding is of. */
static const struct {
	enum sw_gate_kind kind;
	int id;
} findings[] = {
	{SW_GATE_LOAD, SW_FINDING_FORBIDDEN_LOAD},
	{SW_GATE_PIN, SW_FINDING_FORBIDDEN_PIN},
	{SW_GATE_ALLOC, SW_FINDING_FORBIDDEN_ALLOC},
	{SW_GATE_FREE, SW_FINDING_FORBIDDEN_FREE},
	{SW_GATE_PAGEABLE, SW_FINDING_FORBIDDEN_PAGEABLE},
	{SW_GATE_WAIT, SW_FINDING_FORBIDDEN_WAIT},
	{SW_GATE_DEVICE_WAIT, SW_FINDING_FORBIDDEN_DEVICE_WAIT},
};

/* The bit of a kind of calls in a rule's set of kinds. */
static uint32_t gate_bit(enum sw_gate_kind kind)
{
	return 1u << kind;
}

/* The kinds of forbidden calls that an allocation or a release belongs to.  Stream-ordered memory (cudaMallocAsync) is
   made for loops: it counts as neither here. */
static uint32_t memory_kinds(const struct sw_wait *w)
{
	const struct sw_rec_alloc *a = (const void *)w->record.rec;
	if (w->id == SW_FINDING_HOST_PIN)
		return gate_bit(SW_GATE_PIN);
	if (w->what.kind == SW_REC_ALLOC)
		return a->memory == SW_MEM_DEVICE || a->memory == SW_MEM_MANAGED || a->memory == SW_MEM_ARRAY ||
				       a->memory == SW_MEM_MAPPED
			       ? gate_bit(SW_GATE_ALLOC)
			       : 0;
	const struct sw_rec_free *f = (const void *)w->record.rec;
	return w->id == SW_FINDING_DEVICE_FREE || f->memory == SW_MEM_MAPPED ? gate_bit(SW_GATE_FREE) : 0;
}

/* Did the call load code? */
static bool is_load(const struct sw_wait *w)
{
	return w->what.kind == SW_REC_CODE_LOAD || w->id == SW_FINDING_MODULE_LOAD;
}

/* The kinds of calls, one bit each, that this call belongs to and that a rule may forbid.  blocks: it makes the host
   wait, whether anything was pending or not. */
static uint32_t kinds_of(const struct sw_wait *w, const struct sw_wait_cost *cost, bool blocks)
{
	const struct sw_rec_sync *sync = (const void *)w->record.rec;
	const bool elapsed = w->what.kind == SW_REC_SYNC && sync->what == SW_SYNC_ELAPSED;
	const bool question = w->what.kind == SW_REC_QUERY || w->what.kind == SW_REC_HOST_FUNC_RUN || elapsed;
	/* An asynchronous copy from pageable memory may return before anything of it, or after (CUDA driver API, "API
	   synchronization behavior"): it waits if it did. */
	const bool perhaps = w->staged && w->moves == SW_MOVES_UP && !(w->what.flags & SW_RF_SYNCHRONOUS);
	const bool released = w->what.kind == SW_REC_FREE && blocks;
	uint32_t kinds = 0;
	if (!question && ((blocks && !perhaps) || cost->waited || w->what.kind == SW_REC_SYNC))
		kinds |= gate_bit(SW_GATE_WAIT);
	if (w->what.kind == SW_REC_ALLOC || w->what.kind == SW_REC_FREE)
		kinds |= memory_kinds(w);
	if (is_load(w))
		kinds |= gate_bit(SW_GATE_LOAD);
	if (w->staged)
		kinds |= gate_bit(SW_GATE_PAGEABLE);
	if (released || w->id == SW_FINDING_DEVICE_CONFIG || (w->id == SW_FINDING_MODULE_LOAD && w->pending))
		kinds |= gate_bit(SW_GATE_DEVICE_WAIT);
	return kinds;
}

/* Adds the finding that a rule forbids the call; other: a second call that takes part, NULL: none. */
static struct sw_finding *report_forbidden(struct sw_model *m, int id, uint32_t rule, enum sw_fix fix,
					   const struct sw_access *call, const struct sw_access *other)
{
	const struct sw_finding seen = {
		.id = id,
		.severity = SW_ERROR,
		.confidence = SW_CERTAIN,
		.accesses = other ? 2 : 1,
		.access = {call, other},
		.fix = fix,
		.rule = rule,
	};
	m->forbidden->result[rule].found++;
	return sw_collect_add(&m->collect, &seen, NULL);
}

/* Adds the finding that a rule forbids the call, with its cost and what it waited for. */
static void report_wait(struct sw_model *m, int id, uint32_t rule, const struct sw_wait *w,
			const struct sw_wait_cost *cost)
{
	struct sw_finding *f = report_forbidden(m, id, rule, w->fix, &w->what, NULL);
	if (!f)
		return;
	if (w->basis != SW_BASIS_DOCUMENTED && cost->waited)
		f->basis = SW_BASIS_MEASURED;
	sw_collect_cost(&m->collect, f, cost);
	if (cost->waited && cost->ns >= f->cost->worst_ns)
		sw_collect_more(&m->collect, f)->waited_for = w->waited_for;
}

/* Counts a call for rule i ("no more than so many calls"), in an NVTX range anew for each entry; true: there are too
   many now. */
static bool over_calls(struct sw_model *m, uint32_t thread, uint32_t i)
{
	const struct sw_gate_rule *rule = &m->forbidden->gate->rule[i];
	if (rule->scope != SW_GATE_NVTX)
		return ++m->forbidden->calls[i] > rule->bound;
	struct gate_thread *t = thread_of(m, thread);
	const uint64_t entry = sw_nvtx_entries(m, thread, i);
	if (t->entry[i] != entry)
		t->calls[i] = 0;
	t->entry[i] = entry;
	return ++t->calls[i] > rule->bound;
}

void sw_forbidden_call(struct sw_model *m, const struct sw_wait *w, const struct sw_wait_cost *cost, bool blocks)
{
	if (!m->forbidden)
		return;
	const uint64_t rules = rules_of(m, &w->what);
	const uint32_t kinds = rules ? kinds_of(w, cost, blocks) : 0;
	uint32_t told = 0;
	for (uint32_t i = 0; i < m->forbidden->gate->n && rules >> i; i++) {
		const struct sw_gate_rule *rule = &m->forbidden->gate->rule[i];
		if (!(rules >> i & 1))
			continue;
		m->forbidden->result[i].calls += w->record.calls;
		if (!(kinds & rule->kinds))
			continue;
		if (rule->op == SW_GATE_MAX_WAIT && cost->ns <= rule->bound)
			continue;
		if (rule->op == SW_GATE_MAX_CALLS && !over_calls(m, w->what.thread, i))
			continue;
		if (rule->op != SW_GATE_FORBID) {
			report_wait(m, SW_FINDING_BUDGET_EXCEEDED, i, w, cost);
			continue;
		}
		size_t k = 0;
		while (!(kinds & rule->kinds & gate_bit(findings[k].kind)))
			k++;
		if (told & gate_bit(findings[k].kind))
			m->forbidden->result[i].found++;
		else
			report_wait(m, findings[k].id, i, w, cost);
		told |= gate_bit(findings[k].kind);
	}
}

/* ---- streams that the legacy stream holds back ------------------------------------------------------------------- */

uint64_t sw_forbidden_holds(struct sw_model *m, const struct sw_access *call)
{
	uint64_t rules = m->forbidden ? rules_of(m, call) : 0;
	for (uint32_t i = 0; m->forbidden && i < m->forbidden->gate->n; i++)
		if (!(m->forbidden->gate->rule[i].kinds & gate_bit(SW_GATE_DEVICE_WAIT)) ||
		    m->forbidden->gate->rule[i].op != SW_GATE_FORBID)
			rules &= ~(UINT64_C(1) << i);
	return rules;
}

void sw_forbidden_held(struct sw_model *m, uint64_t rules, const struct sw_access *legacy, const struct sw_access *held)
{
	rules |= sw_forbidden_holds(m, held);
	if (rules)
		report_forbidden(m, SW_FINDING_FORBIDDEN_DEVICE_WAIT, (uint32_t)__builtin_ctzll(rules),
				 SW_FIX_NONBLOCKING, legacy, held);
}
