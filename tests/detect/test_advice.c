/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What SW401 and SW402 advise never opens a race: random programs without a hazard are judged, all that is advised is
 * done to them at once, and they must still be without a hazard.  The host's own accesses, of which the judge that
 * gives the advice does not see, take part in that.  ADVICE_SEED, ADVICE_PROGRAMS: others than the usual ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "detect/judge.h"

enum { OPS = 10, ROUNDS = 3, PROGRAMS = 30000, CALLS = OPS * ROUNDS * 24, SLOT = 4096 };

enum kind {
	SET,
	D2D,
	D2H,
	H2D,
	RECORD,
	WAIT,
	SYNC_STREAM,
	SYNC_CONTEXT,
	SYNC_EVENT,
	HOST_READ,
	HOST_WRITE,
	UNKNOWN,
	KINDS
};

struct op {
	enum kind kind;
	uint64_t stream, other, event;
	unsigned dst, src;
};

struct program {
	size_t n;
	struct op op[OPS];
};

/* Waits of an operation after the advice. */
struct advice {
	bool given;
	uint32_t needs;
	struct {
		uint64_t stream, to;
	} need[SW_MAX_NEEDS];
};

static uint64_t state;

static uint64_t below(uint64_t n)
{
	return sw_hash_u64(++state) % n;
}

enum { LEGACY = 1, BLOCKING_STREAM = 0xa5 };

/* In half of the programs the last two as well, which the legacy stream orders. */
static const uint64_t streams[] = {S1, S2, S3, BLOCKING_STREAM, LEGACY};

static void random_program(struct program *p, uint64_t seed)
{
	static const enum kind often[] = {SYNC_STREAM, SYNC_CONTEXT, SYNC_CONTEXT, SET, D2D};
	state = seed * 1000;
	p->n = 3 + below(OPS - 2);
	uint64_t slots = 1 + below(3), used = seed % 2 ? 3 : 5;
	for (size_t i = 0; i < p->n; i++)
		p->op[i] = (struct op){.kind = below(2) ? often[below(5)] : (enum kind)below(KINDS),
				       .stream = streams[below(used)],
				       .other = streams[below(used)],
				       .event = below(2) ? E1 : E2,
				       .dst = (unsigned)below(slots),
				       .src = (unsigned)below(slots)};
}

static uint16_t op_at[CALLS]; /* which operation a record comes from */

static void sync(struct tb *tb, enum sw_sync_what what, uint64_t handle)
{
	tb->dur = 5000000;
	tb_sync(tb, what, handle);
	tb->dur = 100;
}

/* The wait as it is, or what the advice leaves of it. */
static void wait(struct tb *tb, const struct op *op, const struct advice *advice)
{
	if (!advice || !advice->given) {
		sync(tb,
		     op->kind == SYNC_STREAM  ? SW_SYNC_STREAM
		     : op->kind == SYNC_EVENT ? SW_SYNC_EVENT
					      : SW_SYNC_CONTEXT,
		     op->kind == SYNC_STREAM  ? op->stream
		     : op->kind == SYNC_EVENT ? op->event
					      : 0);
		return;
	}
	for (uint32_t i = 0; i < advice->needs; i++) {
		if (!advice->need[i].to) {
			sync(tb, SW_SYNC_STREAM, advice->need[i].stream);
			continue;
		}
		tb_event_record(tb, 0xe90, advice->need[i].stream);
		tb_stream_wait(tb, advice->need[i].to, 0xe90);
	}
}

static void emit(struct tb *tb, const struct op *op, const struct advice *advice, bool host, int round)
{
	uint64_t device = DEV + op->dst * SLOT, from = DEV2 + op->src * SLOT, pinned = PIN + op->src * SLOT;
	switch (op->kind) {
	case SET:
		tb_set(tb, op->src & 1 ? device : DEV2 + op->dst * SLOT, 64, op->stream);
		break;
	case D2D:
		d2d(tb, device, from, 64, op->stream);
		break;
	case D2H:
		d2h(tb, pinned, device, 64, op->stream);
		break;
	case H2D:
		h2d(tb, device, pinned, 64, op->stream);
		break;
	case RECORD:
		tb_event_record(tb, op->event, op->stream);
		break;
	case WAIT:
		tb_stream_wait(tb, op->other, op->event);
		break;
	case HOST_READ:
	case HOST_WRITE:
		if (host)
			tb_host_access(tb, pinned, 64, op->kind == HOST_WRITE ? SW_HOST_WRITES : 0);
		break;
	case UNKNOWN: /* once: waits before it get no advice and stay, also where it does not come again */
		if (!round)
			tb_other(tb, SW_REC_UNCLASSIFIED, "cuSomethingNew");
		break;
	default:
		wait(tb, op, advice);
	}
}

static struct sw_judgement *judge_program(const struct program *p, const struct advice *advice, bool host)
{
	static const struct sw_judge_options all = {.keep_possible = true};
	struct tb *tb = two_streams();
	tb_stream_create(tb, S3, NONBLOCKING);
	tb_stream_create(tb, BLOCKING_STREAM, 0);
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < p->n; i++) {
			uint64_t first = tb->seq;
			tb_stack(tb, 1, 0x1000 + 16 * (uint64_t)i);
			emit(tb, &p->op[i], advice ? &advice[i] : NULL, host, round);
			for (uint64_t seq = first; seq <= tb->seq + 1 && seq < CALLS; seq++)
				op_at[seq] = (uint16_t)i;
		}
	tb_stack(tb, 1, 0xe000ull);
	sync(tb, SW_SYNC_CONTEXT, 0);
	tb_free_sync(tb, SW_MEM_UNKNOWN, DEV);
	return judged_with(tb, &all);
}

static size_t hazards(const struct sw_judgement *j)
{
	size_t n = 0;
	for (size_t i = 0; i < j->findings.n; i++)
		n += sw_finding_is(j->findings.at[i].id, SW_FAMILY_HAZARD);
	return n;
}

static uint64_t handle_of(const struct sw_judgement *j, uint32_t stream)
{
	return j->streams.at[stream].kind == SW_LANE_LEGACY ? LEGACY : j->streams.at[stream].handle;
}

static size_t collect_advice(const struct sw_judgement *j, struct advice advice[OPS])
{
	size_t n = 0;
	memset(advice, 0, OPS * sizeof *advice);
	for (size_t i = 0; i < j->findings.n; i++) {
		const struct sw_finding *f = &j->findings.at[i];
		if ((f->id != 401 && f->id != 402) || f->access[0]->stack == 0 || f->access[0]->seq >= CALLS)
			continue;
		struct advice *a = &advice[op_at[f->access[0]->seq]];
		a->given = true;
		a->needs = sw_finding_details(f)->needs;
		for (uint32_t k = 0; k < sw_finding_details(f)->needs; k++) {
			const struct sw_need *need = &sw_finding_details(f)->need[k];
			a->need[k].stream = handle_of(j, need->stream);
			a->need[k].to = need->to ? handle_of(j, need->to) : 0;
		}
		n++;
	}
	return n;
}

static void print_program(const struct program *p, const struct advice *advice)
{
	static const char *const names[] = {"set",	  "d2d",       "d2h",	      "h2d",
					    "record",	  "wait",      "sync stream", "sync context",
					    "sync event", "host read", "host write",  "unknown call"};
	for (size_t i = 0; i < p->n; i++) {
		const struct op *op = &p->op[i];
		fprintf(stderr, "%zu %s stream %llx other %llx event %llx dst %u src %u", i, names[op->kind],
			(unsigned long long)op->stream, (unsigned long long)op->other, (unsigned long long)op->event,
			op->dst, op->src);
		for (uint32_t k = 0; advice[i].given && k <= advice[i].needs; k++)
			if (k < advice[i].needs)
				fprintf(stderr, " [%llx -> %llx]", (unsigned long long)advice[i].need[k].stream,
					(unsigned long long)advice[i].need[k].to);
			else
				fprintf(stderr, " advised");
		fputc('\n', stderr);
	}
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);
	return value ? strtoull(value, NULL, 10) : otherwise;
}

START_TEST(advice_opens_no_race)
{
	uint64_t seed = from_environment("ADVICE_SEED", 1), n = from_environment("ADVICE_PROGRAMS", PROGRAMS);
	size_t clean = 0, advised = 0;
	for (uint64_t last = seed + n; seed < last; seed++) {
		struct program p;
		struct advice advice[OPS];
		random_program(&p, seed);
		struct sw_judgement *j = judge_program(&p, NULL, true);
		size_t there = hazards(j);
		sw_judgement_free(j);
		if (there)
			continue;
		j = judge_program(&p, NULL, false);
		size_t given = collect_advice(j, advice);
		sw_judgement_free(j);
		clean++;
		if (!given)
			continue;
		advised += given;
		j = judge_program(&p, advice, true);
		if (hazards(j)) {
			print_program(&p, advice);
			ck_abort_msg("seed %llu: the advice opens a race", (unsigned long long)seed);
		}
		sw_judgement_free(j);
	}
	printf("%zu programs without hazards, %zu advices\n", clean, advised);
	ck_assert_uint_gt(clean, n / 10);
	ck_assert_uint_gt(advised, n / 20);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, advice_opens_no_race);
}

int main(void)
{
	return run_cases("advice", add);
}
