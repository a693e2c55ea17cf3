/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs judged from their traces, and by brute force: every pair of call sites that must be reported is
 * reported, nothing else is, and each as strong as the matrix says.  CHAIN_SEED, CHAIN_PROGRAMS: others than the usual
 * ones.
 */
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "detect/judge.h"

enum { PROGRAMS = 20000, ENOUGH = 5000 };

static struct truth truth;
static struct chain chain;
static size_t owed, dropped, owed_of[SW_FINDING_GRAPH_BRANCH_RACE + 1];

static int op_of(uint64_t seq)
{
	int op = -1;
	while (op + 1 < (int)chain.n && truth.seq[op + 1] < seq)
		op++;
	return op;
}

/* Nodes are reported by the calls that made them, whichever launch was in hand. */
static int call_of(const struct sw_access *access)
{
	return op_of(access->node ? access->node : access->seq);
}

static bool is_pair(const struct pair *pair, const struct sw_finding *f)
{
	return pair->id == f->id && pair->a == call_of(f->access[0]) && pair->b == call_of(f->access[1]);
}

static bool same(const struct pair *pair, const struct sw_finding *f)
{
	int strength = (int)f->severity * 3 + (int)f->confidence;
	return is_pair(pair, f) && (strength == pair->strength || (pair->unsure && !strength)) &&
	       pair->measured == f->measured_order && pair->measured == (f->basis != SW_BASIS_DOCUMENTED);
}

static const struct sw_finding *finding_of(const struct sw_judgement *j, const struct pair *pair)
{
	for (size_t i = 0; i < j->findings.n; i++)
		if (is_pair(pair, &j->findings.at[i]))
			return &j->findings.at[i];
	return NULL;
}

/* Nothing that is not true, and nothing stronger than it is. */
static unsigned untrue(const struct sw_judgement *j, FILE *out)
{
	unsigned wrong = 0;
	for (size_t i = 0; i < j->findings.n; i++) {
		const struct sw_finding *f = &j->findings.at[i];
		bool found = !sw_finding_is(f->id, SW_FAMILY_HAZARD);
		for (size_t p = 0; p < truth.pairs; p++)
			found |= same(&truth.pair[p], f);
		wrong += !found;
		if (!found && out)
			fprintf(out, "SW%d of %d and %d, severity %d confidence %d%s: is not so\n", f->id,
				call_of(f->access[0]), call_of(f->access[1]), f->severity, f->confidence,
				f->measured_order ? " measured" : "");
	}
	return wrong;
}

/* All that must be reported, and nothing weaker than it is. */
static unsigned missing(const struct sw_judgement *j, FILE *out)
{
	unsigned wrong = 0;
	for (size_t p = 0; p < truth.pairs; p++) {
		const struct pair *pair = &truth.pair[p];
		const struct sw_finding *f = finding_of(j, pair);
		bool there = f && (int)f->severity * 3 + (int)f->confidence >= (pair->unsure ? 0 : pair->strength);
		owed += !pair->droppable;
		owed_of[pair->id] += !pair->droppable;
		dropped += !there;
		wrong += !there && !pair->droppable;
		if (!there && !pair->droppable && out)
			fprintf(out, "SW%d of %d and %d, severity %d confidence %d%s: %s\n", pair->id, pair->a, pair->b,
				pair->strength / 3, pair->strength % 3, pair->measured ? " measured" : "",
				f ? "reported weaker" : "missing");
	}
	return wrong;
}

static unsigned judge_chain(FILE *out)
{
	static const struct sw_judge_options all = {.keep_possible = true};
	struct tb *tb = empty();
	chain_run(&chain, tb, &truth);
	struct sw_judgement *j = judged_with(tb, &all);
	unsigned wrong = untrue(j, out) + missing(j, out);
	sw_judgement_free(j);
	return wrong;
}

/* Takes out calls for as long as something is wrong without them. */
static void minimise(void)
{
	for (size_t i = chain.n; i-- > 0;) {
		struct chain whole = chain;
		memmove(&chain.op[i], &chain.op[i + 1], (--chain.n - i) * sizeof *chain.op);
		if (judge_chain(NULL))
			i = chain.n;
		else
			chain = whole;
	}
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);
	return value ? strtoull(value, NULL, 10) : otherwise;
}

static void judge_seed(uint64_t seed)
{
	chain_random(&chain, seed);
	if (!judge_chain(NULL))
		return;
	minimise();
	chain_print(&chain, stderr);
	judge_chain(stderr);
	ck_abort_msg("seed %llu", (unsigned long long)seed);
}

/* 62285: branches of a graph on memory that nobody allocated and on a module variable, which both have no number. */
START_TEST(programs_that_were_judged_wrongly)
{
	static const uint64_t seeds[] = {62285};
	judge_seed(seeds[_i]);
}
END_TEST

START_TEST(random_programs_are_judged_as_by_brute_force)
{
	uint64_t seed = from_environment("CHAIN_SEED", 1), programs = from_environment("CHAIN_PROGRAMS", PROGRAMS),
		 last = seed + programs;
	for (; seed < last; seed++)
		judge_seed(seed);
	printf("%zu pairs expected, %zu not reported since later accesses stand for them\n", owed, dropped);
	for (int id = SW_FINDING_RACE_RAW; id <= SW_FINDING_GRAPH_BRANCH_RACE; id++) {
		printf("SW%d: %zu\n", id, owed_of[id]);
		/* A few programs that are run again need not have each of them. */
		if (programs >= ENOUGH)
			ck_assert_uint_gt(owed_of[id], programs / 200);
	}
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, programs_that_were_judged_wrongly, 0, 1);
	tcase_add_test(tc, random_programs_are_judged_as_by_brute_force);
}

int main(void)
{
	return run_cases("chain", add);
}
