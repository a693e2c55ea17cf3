/* SPDX-License-Identifier: Apache-2.0 */
/* How findings are gathered: what they share, and which occurrence describes them. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "detect/judge.h"
#include "detect/model/collect.h"

static const struct sw_access *stored(struct sw_collect *collect, const struct sw_access *access, uint32_t stack)
{
	const struct sw_access later = {.seq = 1000 + stack, .stack = stack};
	const struct sw_finding *finding = sw_collect_add(
		collect,
		&(struct sw_finding){.id = 101, .confidence = SW_CERTAIN, .accesses = 2, .access = {access, &later}},
		NULL);
	ck_assert_uint_eq(finding->access[1]->stack, stack);
	return finding->access[0];
}

/* The members of an access: a flipped bit of any makes another access. */
static const size_t members[] = {
#define AT(member) offsetof(struct sw_access, member)
	AT(role),     AT(kind),	      AT(ranged),     AT(extent_known), AT(signals),
	AT(evidence), AT(api),	      AT(flags),      AT(launch_api),	AT(launch_stack),
	AT(forward),  AT(nvtx),	      AT(library),    AT(operands),	AT(library_call),
	AT(thread),   AT(stack),      AT(stream),     AT(device),	AT(function),
	AT(param),    AT(allocation), AT(seq),	      AT(t_ns),		AT(dur_ns),
	AT(node),     AT(point.lane), AT(point.tick), AT(address),	AT(bytes),
	AT(place),    AT(used_at),    AT(width),      AT(pitch),	AT(evidence_detail),
#undef AT
};

/* A call that meets others is stored once; one that differs from it in a single member is not taken for it. */
START_TEST(findings_share_what_is_equal)
{
	struct sw_judgement judgement = {0};
	struct sw_arena arena = {0};
	struct sw_collect collect;
	struct sw_access access = {.role = SW_WRITE, .seq = 7, .address = 4096, .bytes = 64, .allocation = 3};
	uint32_t stack = 1;
	sw_collect_init(&collect, &judgement, &arena, false);
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		struct sw_access other = access;
		const struct sw_access *first = stored(&collect, &access, stack++);
		ck_assert_ptr_eq(first, stored(&collect, &access, stack++));
		((unsigned char *)&other)[members[i]] ^= 1;
		const struct sw_access *changed = stored(&collect, &other, stack++);
		ck_assert_ptr_ne(changed, first);
		ck_assert_mem_eq((const char *)changed + members[i], (const char *)&other + members[i], 1);
		ck_assert_mem_eq((const char *)first + members[i], (const char *)&access + members[i], 1);
		ck_assert_uint_eq(first->seq, 7);
		ck_assert_uint_eq(first->address, 4096);
	}
	sw_collect_free(&collect);
	free(judgement.findings.at);
	sw_arena_free(&arena);
}
END_TEST

/* One buffer of each place that allocates, whichever occurrence describes the finding. */
START_TEST(a_hazard_keeps_the_buffers_that_it_is_about)
{
	struct sw_judgement judgement = {0};
	struct sw_arena arena = {0};
	struct sw_collect collect;
	const struct {
		uint32_t allocation;
		enum sw_severity severity;
		bool wanted; /* beforehand */
	} steps[] = {{1, SW_WARNING, false}, {2, SW_WARNING, true},  {3, SW_WARNING, false}, {1, SW_WARNING, false},
		     {4, SW_ERROR, true},    {2, SW_WARNING, false}, {1, SW_WARNING, false}};
	const struct sw_finding *finding = NULL;
	for (uint32_t i = 0; i < 4; i++) /* 2 and 3 by one call */
		*sw_vec_push(&judgement.allocations) = (struct sw_allocation){.stack = 10 + (i + 1) / 2 + (i == 3)};
	sw_collect_init(&collect, &judgement, &arena, false);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		const struct sw_access access = {.allocation = steps[i].allocation};
		const struct sw_finding seen = {.id = 101,
						.severity = steps[i].severity,
						.confidence = SW_CERTAIN,
						.accesses = 2,
						.access = {&access, &access}};
		const uint32_t stack = judgement.allocations.at[steps[i].allocation - 1].stack;
		ck_assert_int_eq(sw_collect_wants_buffer(&collect, &seen, stack), steps[i].wanted);
		finding = sw_collect_add(&collect, &seen, NULL);
	}
	const struct sw_other_buffers *others = &sw_finding_details(finding)->others;
	ck_assert_uint_eq(finding->access[0]->allocation, 4);
	ck_assert_uint_eq(others->n, 2);
	ck_assert_uint_eq(others->allocation[0], 2);
	ck_assert_uint_eq(others->allocation[1], 1);
	sw_collect_free(&collect);
	free(judgement.findings.at);
	free(judgement.allocations.at);
	sw_arena_free(&arena);
}
END_TEST

/* An occurrence describes its finding if it is the first, or stronger than all before. */
START_TEST(what_describes_a_finding_is_known_before)
{
	struct sw_judgement judgement = {0};
	struct sw_arena arena = {0};
	struct sw_collect collect;
	static const struct {
		enum sw_severity severity;
		enum sw_confidence confidence;
		bool describes;
	} steps[] = {{SW_NOTE, SW_POSSIBLE, false}, {SW_NOTE, SW_LIKELY, true},	    {SW_NOTE, SW_LIKELY, false},
		     {SW_NOTE, SW_CERTAIN, true},   {SW_WARNING, SW_LIKELY, true},  {SW_NOTE, SW_CERTAIN, false},
		     {SW_ERROR, SW_CERTAIN, true},  {SW_ERROR, SW_POSSIBLE, false}, {SW_ERROR, SW_CERTAIN, false}};
	sw_collect_init(&collect, &judgement, &arena, false);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		const struct sw_access access = {.seq = i + 1};
		const struct sw_finding seen = {.id = 101,
						.severity = steps[i].severity,
						.confidence = steps[i].confidence,
						.accesses = 1,
						.access = {&access}};
		bool described;
		ck_assert_int_eq(sw_collect_describes(&collect, &seen), steps[i].describes);
		sw_collect_add(&collect, &seen, &described);
		ck_assert_int_eq(described, steps[i].describes);
	}
	ck_assert_uint_eq(judgement.findings.n, 1);
	ck_assert_uint_eq(judgement.findings.at[0].access[0]->seq, 7);
	ck_assert_ptr_eq(judgement.findings.at[0].access[1], &sw_no_access);
	ck_assert_uint_eq(judgement.findings.at[0].count, 7);
	sw_collect_free(&collect);
	free(judgement.findings.at);
	sw_arena_free(&arena);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, a_hazard_keeps_the_buffers_that_it_is_about);
	tcase_add_test(tc, findings_share_what_is_equal);
	tcase_add_test(tc, what_describes_a_finding_is_known_before);
}

int main(void)
{
	return run_cases("collect", add);
}
