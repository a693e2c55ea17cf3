/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relations between the findings of programs that differ in one thing: an edge more never adds a hazard, an edge less
 * never removes one, a copy in two halves and streams of other names change nothing, two programs that share nothing
 * have the hazards of both.  No oracle says what is right here, so a rule that both the judge and the oracle of
 * test_chain have wrong can still show.  RELATION_SEED, RELATION_PROGRAMS: others than the usual ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "detect/judge.h"

enum { PROGRAMS = 2000, OPS = 24, MOST = 2 * OPS + 8, STREAMS = 4, EVENTS = 4, MOST_HAZARDS = 4 * OPS * OPS };

enum kind { COPY, UPLOAD, SET, RECORD, STREAM_WAIT, SYNC_STREAM, SYNC_EVENT };

struct op {
	enum kind kind;
	unsigned stream, event;
	uint64_t dst, src, bytes; /* device addresses */
	unsigned place;		  /* where in the program it stands: halves of one copy share it */
};

struct program {
	size_t n;
	struct op op[MOST];
};

/* (finding << 32 | earlier place << 16 | later place), sorted, each once. */
struct hazards {
	size_t n;
	bool forgotten; /* conflicts are missed, and counted: too many accesses overlap each other */
	uint64_t at[MOST_HAZARDS];
};

static uint64_t state;

static uint64_t below(uint64_t n)
{
	return sw_hash_u64(++state) % n;
}

static struct op random_op(unsigned place, unsigned first_stream, unsigned streams, uint64_t memory)
{
	static const enum kind kinds[] = {COPY,	  COPY,	  COPY,	       UPLOAD,	    SET,	 SET,
					  RECORD, RECORD, STREAM_WAIT, STREAM_WAIT, SYNC_STREAM, SYNC_EVENT};
	return (struct op){
		.kind = kinds[below(sizeof kinds / sizeof *kinds)],
		.stream = first_stream + (unsigned)below(streams),
		.event = first_stream + (unsigned)below(streams),
		.dst = memory + 64 * below(24),
		.src = memory + 64 * below(24),
		.bytes = 128 * (1 + below(4)),
		.place = place,
	};
}

static void random_program(struct program *p, size_t n, unsigned first_place, unsigned first_stream, unsigned streams,
			   uint64_t memory)
{
	p->n = n;
	for (size_t i = 0; i < n; i++)
		p->op[i] = random_op(first_place + (unsigned)i, first_stream, streams, memory);
}

static void insert(struct program *p, size_t at, const struct op *op)
{
	memmove(&p->op[at + 1], &p->op[at], (p->n++ - at) * sizeof *op);
	p->op[at] = *op;
}

static void take_out(struct program *p, size_t at)
{
	memmove(&p->op[at], &p->op[at + 1], (--p->n - at) * sizeof *p->op);
}

static void emit(struct tb *tb, const struct op *op, const uint64_t *stream)
{
	const uint64_t event = E1 + op->event;
	switch (op->kind) {
	case COPY:
		d2d(tb, op->dst, op->src, op->bytes, stream[op->stream]);
		break;
	case UPLOAD:
		h2d(tb, op->dst, PIN + (op->src & 0xffff), op->bytes, stream[op->stream]);
		break;
	case SET:
		tb_set(tb, op->dst, op->bytes, stream[op->stream]);
		break;
	case RECORD:
		tb_event_record(tb, event, stream[op->stream]);
		break;
	case STREAM_WAIT:
		tb_stream_wait(tb, stream[op->stream], event);
		break;
	case SYNC_STREAM:
		tb_sync(tb, SW_SYNC_STREAM, stream[op->stream]);
		break;
	case SYNC_EVENT:
		tb_sync(tb, SW_SYNC_EVENT, event);
		break;
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static unsigned place_of(const struct program *p, const uint64_t *seq, uint64_t of)
{
	size_t i = 0;
	while (i + 1 < p->n && seq[i + 1] < of)
		i++;
	return p->op[i].place;
}

static void hazards_of(const struct program *p, const uint64_t *stream, struct hazards *out)
{
	static const struct sw_judge_options all = {.keep_possible = true};
	uint64_t seq[MOST];
	struct tb *tb = empty();
	tb_alloc(tb, SW_MEM_DEVICE, DEV, 1 << 16);
	tb_alloc(tb, SW_MEM_DEVICE, DEV2, 1 << 16);
	tb_alloc(tb, SW_MEM_PINNED, PIN, 1 << 16);
	for (unsigned i = 0; i < STREAMS; i++)
		tb_stream_create(tb, stream[i], NONBLOCKING);
	for (unsigned i = 0; i <= EVENTS; i++)
		tb_event_create(tb, E1 + i);
	for (size_t i = 0; i < p->n; i++) {
		seq[i] = tb->seq;
		tb_stack(tb, 1, 0x401000 + 16ull * p->op[i].place);
		emit(tb, &p->op[i], stream);
	}
	struct sw_judgement *j = judged_with(tb, &all);
	out->forgotten = j->coverage.forgotten_accesses > 0;
	out->n = 0;
	for (size_t i = 0; i < j->findings.n; i++) {
		const struct sw_finding *f = &j->findings.at[i];
		if (!sw_finding_is(f->id, SW_FAMILY_HAZARD))
			continue;
		ck_assert_uint_lt(out->n, MOST_HAZARDS);
		out->at[out->n++] = (uint64_t)f->id << 32 | (uint64_t)place_of(p, seq, f->access[0]->seq) << 16 |
				    place_of(p, seq, f->access[1]->seq);
	}
	sw_judgement_free(j);
	qsort(out->at, out->n, sizeof *out->at, compare);
	size_t n = 0;
	for (size_t i = 0; i < out->n; i++)
		if (!n || out->at[n - 1] != out->at[i])
			out->at[n++] = out->at[i];
	out->n = n;
}

static void print(const struct program *p, const struct hazards *hazards)
{
	static const char *const kinds[] = {"copy", "upload", "set", "record", "wait", "sync stream", "sync event"};
	for (size_t i = 0; i < p->n; i++) {
		const struct op *op = &p->op[i];
		printf("%3u: %-11s stream %u", op->place, kinds[op->kind], op->stream);
		if (op->kind == COPY || op->kind == UPLOAD)
			printf(" [%x, %x) from %x", (unsigned)op->dst, (unsigned)(op->dst + op->bytes),
			       (unsigned)op->src);
		else if (op->kind == SET)
			printf(" [%x, %x)", (unsigned)op->dst, (unsigned)(op->dst + op->bytes));
		else if (op->kind != SYNC_STREAM)
			printf(" event %u", op->event);
		printf("\n");
	}
	for (size_t i = 0; i < hazards->n; i++)
		printf("  SW%u of %u and %u\n", (unsigned)(hazards->at[i] >> 32),
		       (unsigned)(hazards->at[i] >> 16 & 0xffff), (unsigned)(hazards->at[i] & 0xffff));
}

/* `before` are the hazards of `program`, `after` those of `changed`. */
static struct program program, changed;
static struct hazards before, after, other;
static size_t with_hazards, fewer, more, incomplete;

static const uint64_t usual[STREAMS] = {S1, S2, S3, S3 + 0x10};

/* Which calls come before call `of`, by the calls' own edges: one bit each. */
static uint64_t calls_before(const struct program *p, size_t of)
{
	uint64_t set = 0;
	size_t record = SIZE_MAX, previous = SIZE_MAX;
	const struct op *op = &p->op[of];
	for (size_t i = 0; i < of; i++) {
		const struct op *at = &p->op[i];
		if (at->kind == RECORD && at->event == op->event)
			record = i;
		if (at->kind < SYNC_STREAM && at->stream == op->stream)
			previous = i;
		if (at->kind >= SYNC_STREAM)
			set |= 1ull << i | calls_before(p, i);
	}
	if (op->kind != SYNC_EVENT && previous != SIZE_MAX)
		set |= 1ull << previous | calls_before(p, previous);
	if ((op->kind == STREAM_WAIT || op->kind == SYNC_EVENT) && record != SIZE_MAX)
		set |= 1ull << record | calls_before(p, record);
	return set;
}

/* The last of accesses that come one after the other stands for all against what comes later (doc/findings.md): is
   there a hazard of the same later side with a call that comes after the earlier side? */
static bool another_stands_for(const struct program *p, const struct hazards *hazards, uint64_t hazard)
{
	uint64_t earlier = 0;
	for (size_t i = 0; i < p->n; i++)
		if (p->op[i].place == (hazard >> 16 & 0xffff))
			earlier |= 1ull << i;
	for (size_t i = 0; i < p->n; i++)
		for (size_t h = 0; h < hazards->n && (calls_before(p, i) & earlier); h++)
			if ((hazards->at[h] & 0xffff) == (hazard & 0xffff) &&
			    (hazards->at[h] >> 16 & 0xffff) == p->op[i].place)
				return true;
	return false;
}

/* Every hazard of `some` is one of `all`, the hazards of program `p`. */
static void assert_subset(const struct hazards *some, const struct program *p, const struct hazards *all,
			  const char *relation, uint64_t seed)
{
	for (size_t i = 0; i < some->n && !all->forgotten; i++)
		if (!bsearch(&some->at[i], all->at, all->n, sizeof *all->at, compare) &&
		    !another_stands_for(p, all, some->at[i])) {
			print(&program, &before);
			print(&changed, &after);
			ck_abort_msg("%s, seed %llu: SW%u of %u and %u", relation, (unsigned long long)seed,
				     (unsigned)(some->at[i] >> 32), (unsigned)(some->at[i] >> 16 & 0xffff),
				     (unsigned)(some->at[i] & 0xffff));
		}
}

static void assert_same(const char *relation, uint64_t seed)
{
	assert_subset(&before, &changed, &after, relation, seed);
	assert_subset(&after, &program, &before, relation, seed);
}

static void an_edge_more(uint64_t seed)
{
	changed = program;
	const size_t at = below(program.n + 1);
	/* An event that nothing else uses. */
	const struct op record = {.kind = RECORD, .stream = (unsigned)below(STREAMS), .event = EVENTS, .place = 200},
			wait = {.kind = STREAM_WAIT, .stream = (unsigned)below(STREAMS), .event = EVENTS, .place = 201};
	insert(&changed, at, &wait);
	insert(&changed, at, &record);
	hazards_of(&changed, usual, &after);
	assert_subset(&after, &program, &before, "an edge more added a hazard", seed);
	fewer += after.n < before.n;
}

static void an_edge_less(uint64_t seed)
{
	changed = program;
	for (size_t i = changed.n; i-- > 0;)
		if (changed.op[i].kind >= STREAM_WAIT && below(2))
			take_out(&changed, i);
	hazards_of(&changed, usual, &after);
	assert_subset(&before, &changed, &after, "an edge less removed a hazard", seed);
	more += after.n > before.n;
}

static void copies_in_halves(uint64_t seed)
{
	changed = program;
	for (size_t i = changed.n; i-- > 0;) {
		struct op *op = &changed.op[i];
		/* A copy that overlaps itself reads what it has written. */
		const bool apart = op->dst + op->bytes <= op->src || op->src + op->bytes <= op->dst;
		if (op->kind > SET || (op->kind == COPY && !apart) || below(2))
			continue;
		struct op half = *op;
		op->bytes /= 2;
		half.dst += op->bytes;
		half.src += op->bytes;
		half.bytes = op->bytes;
		insert(&changed, i + 1, &half);
	}
	hazards_of(&changed, usual, &after);
	assert_same("a copy in two halves", seed);
}

static void streams_of_other_names(uint64_t seed)
{
	uint64_t names[STREAMS];
	memcpy(names, usual, sizeof names);
	for (unsigned i = STREAMS; i-- > 1;) {
		const unsigned with = (unsigned)below(i + 1);
		const uint64_t name = names[i];
		names[i] = names[with];
		names[with] = name;
	}
	changed = program;
	hazards_of(&changed, names, &after);
	assert_same("streams of other names", seed);
}

/* Two programs on streams, events and memory of their own, their calls mixed. */
static void disjoint_programs(uint64_t seed)
{
	static struct program a, b;
	random_program(&a, OPS / 2, 0, 0, 2, DEV);
	random_program(&b, OPS / 2, 100, 2, 2, DEV2);
	hazards_of(&a, usual, &before);
	hazards_of(&b, usual, &other);
	changed.n = 0;
	for (size_t i = 0, j = 0; i < a.n || j < b.n;)
		changed.op[changed.n++] = j == b.n || (i < a.n && below(2)) ? a.op[i++] : b.op[j++];
	hazards_of(&changed, usual, &after);
	memcpy(&before.at[before.n], other.at, other.n * sizeof *other.at);
	before.n += other.n;
	before.forgotten |= other.forgotten;
	qsort(before.at, before.n, sizeof *before.at, compare);
	program = changed;
	assert_same("disjoint programs", seed);
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);
	return value ? strtoull(value, NULL, 10) : otherwise;
}

START_TEST(relations_hold)
{
	const uint64_t first = from_environment("RELATION_SEED", 1),
		       programs = from_environment("RELATION_PROGRAMS", PROGRAMS);
	for (uint64_t seed = first; seed < first + programs; seed++) {
		state = seed << 20;
		random_program(&program, OPS, 0, 0, STREAMS, DEV);
		hazards_of(&program, usual, &before);
		with_hazards += before.n > 0;
		incomplete += before.forgotten;
		an_edge_more(seed);
		an_edge_less(seed);
		copies_in_halves(seed);
		streams_of_other_names(seed);
		disjoint_programs(seed);
	}
	printf("%llu programs, %zu with hazards, %zu have fewer with an edge more, %zu more with edges less\n",
	       (unsigned long long)programs, with_hazards, fewer, more);
	/* Else the relations would say nothing. */
	ck_assert_uint_gt(with_hazards, programs / 2);
	ck_assert_uint_gt(fewer, programs / 20);
	ck_assert_uint_gt(more, programs / 4);
	ck_assert_uint_lt(incomplete, programs / 10);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, relations_hold);
}

int main(void)
{
	return run_cases("relations", add);
}
