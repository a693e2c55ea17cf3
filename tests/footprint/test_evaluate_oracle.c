/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random kernels, executed thread by thread with the machine's arithmetic, against what evaluation says they touch.
 *
 *     test_evaluate_oracle [FIRST [COUNT]]     seeds; the default is what `make check` has time for
 *     test_evaluate_oracle digits [FIRST [COUNT]]    the kernels of oracle_make_digits() alone
 *     test_evaluate_oracle guarded [FIRST [COUNT]]   those of oracle_make_guarded()
 *     test_evaluate_oracle extreme [FIRST [COUNT]]   those of oracle_make_extreme()
 *     ORACLE_KERNELS: another count
 *
 * Soundness: every byte touched lies in a reach of its role.  Precision: every byte of a box is touched.  Boxes, hulls
 * and open reaches are counted; a floor on the boxes keeps the test from passing on an evaluation that says "anything".
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "oracle.h"

static int by_address(const void *x, const void *y)
{
	const struct oracle_touch *a = x, *b = y;
	return a->address < b->address ? -1 : a->address > b->address ? 1 : (a->role > b->role) - (a->role < b->role);
}

static bool was_touched(const struct oracle_touched *touched, uint64_t address, uint32_t role)
{
	struct oracle_touch key = {address, role};
	return bsearch(&key, touched->at, touched->n, sizeof key, by_address) != NULL;
}

static bool inside(const struct sw_reach *r, uint64_t address)
{
	if (r->extent == SW_EXTENT_OPEN)
		return true;
	for (uint64_t s = 0; s < r->slices; s++) {
		uint64_t from = address - r->address - s * r->slice;
		uint64_t row = r->rows > 1 ? from / r->pitch : 0;
		/* rows do not overlap, but the last may be longer than what a pitch covers */
		row = row >= r->rows ? r->rows - 1 : row;
		if (address >= r->address + s * r->slice && from - row * r->pitch < r->width)
			return true;
	}
	return false;
}

static const char *check_sound(const struct oracle_touched *touched, const struct sw_reaches *reaches)
{
	static char text[200];
	for (size_t i = 0; i < touched->n; i++) {
		bool found = false;
		if (i && !by_address(&touched->at[i], &touched->at[i - 1]))
			continue;
		for (size_t j = 0; j < reaches->n && !found; j++)
			found = reaches->at[j].role == touched->at[i].role &&
				inside(&reaches->at[j], touched->at[i].address);
		if (found)
			continue;
		snprintf(text, sizeof text, "escape: base%+" PRId64 " (role %u) is in no reach",
			 (int64_t)(touched->at[i].address - ORACLE_BASE), touched->at[i].role);
		return text;
	}
	return NULL;
}

static const char *check_precise(const struct oracle_touched *touched, const struct sw_reaches *reaches)
{
	static char text[200];
	for (size_t i = 0; i < reaches->n; i++) {
		const struct sw_reach *r = &reaches->at[i];
		if (r->extent != SW_EXTENT_BOX)
			continue;
		for (uint64_t s = 0; s < r->slices; s++) {
			for (uint64_t row = 0; row < r->rows; row++) {
				for (uint64_t x = 0; x < r->width; x++) {
					uint64_t at = r->address + s * r->slice + row * r->pitch + x;
					if (was_touched(touched, at, r->role))
						continue;
					snprintf(text, sizeof text,
						 "box %zu (%" PRIu64 " x %" PRIu64 " x %" PRIu64 ") has base%+" PRId64
						 ", which nothing touches",
						 i, r->slices, r->rows, r->width, (int64_t)(at - ORACLE_BASE));
					return text;
				}
			}
		}
	}
	return NULL;
}

static void print_kernel(const struct oracle_kernel *k, const struct sw_reaches *reaches)
{
	const struct terms *t = k->t;
	char text[400];
	fprintf(stderr, "grid %u,%u block %u,%u params", t->geometry.grid[0], t->geometry.grid[1], t->geometry.block[0],
		t->geometry.block[1]);
	fprintf(stderr, " %" PRId64 " %" PRId64 "\n", (int64_t)t->value[1], (int64_t)t->value[2]);
	for (uint32_t i = 0; i < t->f.terms; i++) {
		const struct sw_term *x = &t->term[i];
		fprintf(stderr, "  %u: %s%s w%u %d %d %d imm %" PRId64 " %" PRId64 "\n", i,
			x->op < SW_OPS ? sw_op_text((enum sw_op)x->op) : "step", x->flags ? ".s" : "", x->width,
			(int)x->a, (int)x->b, (int)x->c, x->imm, x->imm2);
	}
	for (uint32_t i = 0; i < t->f.loops; i++) {
		const struct sw_loop *l = &t->loop[i];
		for (uint32_t j = 0; j < l->entries + l->backs; j++)
			fprintf(stderr, "  loop %u %s %s%u\n", i, j < l->entries ? "entry" : "back",
				t->fact[l->entry + j].truth ? "" : "not ", t->fact[l->entry + j].term);
	}
	for (uint32_t i = 0; i < t->f.sites; i++) {
		sw_footprint_address_text(&t->f, i, text, sizeof text);
		fprintf(stderr, "  site %u role %u term %u: %s, %u bytes; ", i, t->site[i].role, t->site[i].address,
			text, t->site[i].bytes);
		for (uint32_t j = 0; j < t->site[i].facts; j++)
			fprintf(stderr, " %s%u", t->fact[t->site[i].fact + j].truth ? "" : "not ",
				t->fact[t->site[i].fact + j].term);
		sw_footprint_facts_text(&t->f, i, text, sizeof text);
		fprintf(stderr, "  (%s)\n", text);
	}
	for (size_t i = 0; i < reaches->n; i++) {
		const struct sw_reach *r = &reaches->at[i];
		fprintf(stderr,
			"  reach role %u extent %u base%+" PRId64 " width %" PRIu64 " pitch %" PRIu64 " rows %" PRIu64
			" slice %" PRIu64 " slices %" PRIu64 " %s\n",
			r->role, r->extent, (int64_t)(r->address - ORACLE_BASE), r->width, r->pitch, r->rows, r->slice,
			r->slices, sw_why_text(r->why));
	}
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

struct totals {
	uint64_t kernels, failed, extents[2][3];
	double spent, longest;
};

static void check_kernel(void (*make)(struct oracle_kernel *, uint64_t), uint64_t seed, struct oracle_touched *touched,
			 struct totals *totals)
{
	static struct oracle_kernel k;
	make(&k, seed);
	if (oracle_run(&k, touched)) {
		struct sw_reaches reaches = {0};
		qsort(touched->at, touched->n, sizeof *touched->at, by_address);
		double start = now();
		sw_footprint_evaluate(&k.t->f, &k.t->geometry, &reaches);
		double took = now() - start;
		totals->spent += took;
		totals->longest = took > totals->longest ? took : totals->longest;
		const char *wrong = check_sound(touched, &reaches);
		if (!wrong && !k.data)
			wrong = check_precise(touched, &reaches);
		if (wrong && totals->failed++ < 10) {
			fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, wrong);
			if (totals->failed <= 2)
				print_kernel(&k, &reaches);
		}
		for (size_t i = 0; i < reaches.n; i++)
			totals->extents[k.plain][reaches.at[i].extent]++;
		totals->kernels++;
		free(reaches.at);
	}
	free(k.t);
}

/* Seeds beyond the default ones that an evaluation once got wrong. */
static const uint64_t once_wrong[] = {13826, 784753, 951602, 5022307, 31344180, 31381946};
static const uint64_t once_wrong_guarded[] = {99013456};

static void print_totals(const char *what, const struct totals *t)
{
	printf("%s: %" PRIu64 " kernels, %" PRIu64 " wrong; ordinary: %" PRIu64 " boxes, %" PRIu64 " hulls, %" PRIu64
	       " open; wild: %" PRIu64 " boxes, %" PRIu64 " hulls, %" PRIu64 " open; %.1f us each, at most %.0f us\n",
	       what, t->kernels, t->failed, t->extents[1][0], t->extents[1][1], t->extents[1][2], t->extents[0][0],
	       t->extents[0][1], t->extents[0][2], t->kernels ? t->spent / (double)t->kernels : 0, t->longest);
}

/* The seeds that the arguments, or the lack of any, ask for; what is asked for by another name is left out. */
static void check_kind(const char *kind, void (*make)(struct oracle_kernel *k, uint64_t seed), int argc, char **argv,
		       struct oracle_touched *touched, struct totals *t)
{
	bool named = argc > 1 && (argv[1][0] < '0' || argv[1][0] > '9');
	if (named ? strcmp(argv[1], kind) != 0 : argc > 1 && *kind)
		return;
	const char *kernels = getenv("ORACLE_KERNELS");
	uint64_t first = argc > 1 + named ? strtoull(argv[1 + named], NULL, 0) : 1,
		 count = strtoull(argc > 2 + named ? argv[2 + named]
				  : kernels	   ? kernels
						   : "4000",
				  NULL, 0);
	for (uint64_t seed = first; seed < first + count; seed++)
		check_kernel(make, seed, touched, t);
}

int main(int argc, char **argv)
{
	struct totals t = {0}, d = {0}, g = {0}, e = {0};
	struct oracle_touched touched = {.at = malloc(ORACLE_BYTES * sizeof *touched.at)};
	check_kind("", oracle_make, argc, argv, &touched, &t);
	for (size_t i = 0; argc < 2 && i < sizeof once_wrong / sizeof *once_wrong; i++)
		check_kernel(oracle_make, once_wrong[i], &touched, &t);
	check_kind("digits", oracle_make_digits, argc, argv, &touched, &d);
	check_kind("guarded", oracle_make_guarded, argc, argv, &touched, &g);
	for (size_t i = 0; argc < 2 && i < sizeof once_wrong_guarded / sizeof *once_wrong_guarded; i++)
		check_kernel(oracle_make_guarded, once_wrong_guarded[i], &touched, &g);
	check_kind("extreme", oracle_make_extreme, argc, argv, &touched, &e);
	free(touched.at);
	print_totals("any", &t);
	print_totals("digits", &d);
	print_totals("guarded", &g);
	print_totals("extreme", &e);
	if (argc < 2 && (t.extents[1][0] < t.extents[1][1] + t.extents[1][2] || d.extents[1][0] < d.extents[1][1])) {
		fprintf(stderr, "too few boxes among hulls and open reaches in ordinary kernels\n");
		return 1;
	}
	return t.failed || d.failed || g.failed || e.failed;
}
