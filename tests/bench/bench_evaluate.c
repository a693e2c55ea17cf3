/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What evaluating footprints costs, launch by launch: mean, median, p99 and longest in microseconds.
 *
 *     bench_evaluate IMAGE [LAUNCHES]              the kernels of ordinary.cu, with new arguments at each launch
 *     bench_evaluate --made-up FILE ARCH [EACH]    all kernels of any file, each with EACH made-up blocks of parameters
 *     bench_evaluate --digest ...                  a hash of all results as well: the same for every version
 *     bench_evaluate --all ...                     all results as well
 *
 * Made up: half of the words are pointers, half are small numbers, the grid has 1000 x 4 blocks: harsher than programs
 * are.  Time is processor time of this thread: other load does not count.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "code_files.h"
#include "image/image.h"
#include "ordinary.h"

struct times {
	SW_VEC(double) us;
};

struct bench {
	struct sw_code_file file;
	struct sw_footprint_library *library;
	uint32_t arch;
	bool digest;
	bool all; /* prints all results */
	uint64_t hash;
	struct sw_reaches reaches;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

static void print_times(const char *what, struct times *t)
{
	double sum = 0;
	if (!t->us.n)
		return;
	qsort(t->us.at, t->us.n, sizeof *t->us.at, by_value);
	for (size_t i = 0; i < t->us.n; i++)
		sum += t->us.at[i];
	printf("%-40s %8.1f us mean, p50 %8.1f, p99 %9.1f, at most %9.1f; %8.0f launches/s\n", what,
	       sum / (double)t->us.n, t->us.at[t->us.n / 2], t->us.at[t->us.n * 99 / 100], t->us.at[t->us.n - 1],
	       1e6 * (double)t->us.n / sum);
}

static void print_reaches(const struct bench *b, const char *kernel)
{
	for (size_t i = 0; i < b->reaches.n; i++) {
		const struct sw_reach *r = &b->reaches.at[i];
		printf("%s %zu: role %u extent %u polls %u why %u site %u root %u/%u/%u+%u/%u at %" PRIx64
		       " width %" PRIu64 " rows %" PRIu64 "/%" PRIu64 " slices %" PRIu64 "/%" PRIu64 " below %d\n",
		       kernel, i, r->role, r->extent, r->polls, r->why, r->site, r->root.kind, r->root.weak,
		       r->root.param, r->root.span, r->root.symbol, r->address, r->width, r->rows, r->pitch, r->slices,
		       r->slice, r->below);
	}
}

static void add_hash(struct bench *b)
{
	for (size_t i = 0; i < b->reaches.n; i++) {
		const struct sw_reach *r = &b->reaches.at[i];
		const uint64_t part[] = {r->role,      r->extent,    r->polls,	    r->why,	  r->site,
					 r->root.kind, r->root.weak, r->root.param, r->root.span, r->root.symbol,
					 r->address,   r->width,     r->pitch,	    r->rows,	  r->slice,
					 r->slices,    r->below};
		b->hash = sw_hash_u64(b->hash ^ sw_hash_words(part, sizeof part));
	}
}

static void evaluate(struct bench *b, const char *kernel, const struct sw_footprint *f, const struct sw_geometry *g,
		     struct times *t)
{
	b->reaches.n = 0;
	double start = now();
	sw_footprint_evaluate(f, g, &b->reaches);
	*sw_vec_push(&t->us) = now() - start;
	if (b->digest)
		add_hash(b);
	if (b->all)
		print_reaches(b, kernel);
}

/* ---- ordinary kernels */

static const struct sw_footprint *find(struct bench *b, const char *kernel)
{
	for (size_t i = 0; i < b->file.images.n; i++) {
		const struct sw_footprint_entry *e =
			sw_footprint_library_get(b->library, &b->file.images.at[i].image, b->arch, kernel);
		if (e->footprint)
			return e->footprint;
	}
	fprintf(stderr, "bench_evaluate: no code of %s\n", kernel);
	exit(1);
}

static void one_ordinary(struct bench *b, const struct ordinary_kernel *k, uint32_t launches, struct times *all)
{
	const struct sw_footprint *f = find(b, k->name);
	struct times t = {0};
	struct ordinary_launch l;
	unsigned kinds[3] = {0};
	for (uint32_t i = 0; i < launches; i++) {
		ordinary_launch(k, i + 1, i + 1, &l);
		struct sw_geometry g = {.grid = {l.grid[0], l.grid[1], l.grid[2]},
					.block = {l.block[0], l.block[1], l.block[2]},
					.params = l.params,
					.param_bytes = f->param_bytes};
		evaluate(b, k->name, f, &g, &t);
		for (size_t j = 0; j < b->reaches.n; j++)
			kinds[b->reaches.at[j].extent]++;
		*sw_vec_push(&all->us) = t.us.at[t.us.n - 1];
	}
	print_times(k->name, &t);
	printf("    %u terms, %u sites, %u facts, %u loops; boxes %u, hulls %u, open %u\n", f->terms, f->sites,
	       f->facts, f->loops, kinds[0], kinds[1], kinds[2]);
	free(t.us.at);
}

static void ordinary(struct bench *b, const char *only, uint32_t launches)
{
	struct times all = {0};
	for (size_t i = 0; i < n_ordinary_kernels; i++)
		if (!only || !strcmp(only, ordinary_kernels[i].name))
			one_ordinary(b, &ordinary_kernels[i], launches, &all);
	print_times("all", &all);
	free(all.us.at);
}

/* ---- any kernels */

struct made_up {
	struct bench *b;
	const struct sw_footprint_image *image;
	uint32_t each;
	struct times *times;
};

static void make_params(unsigned char *block, uint32_t bytes)
{
	for (uint32_t i = 0; i + 8 <= bytes; i += 8) {
		uint64_t word = ordinary_random(2) ? UINT64_C(0x7f0000000000) + ordinary_random(1u << 26) * 512
						   : ordinary_random(1u << 10) | ordinary_random(1u << 10) << 32;
		memcpy(block + i, &word, 8);
	}
}

static int one_made_up(void *arg, const struct sw_cubin_kernel *kernel)
{
	const struct made_up *m = arg;
	const struct sw_footprint_entry *e =
		sw_footprint_library_get(m->b->library, m->image, m->b->arch, kernel->name);
	if (!e->footprint)
		return 0;
	unsigned char *block = sw_calloc(1, e->footprint->param_bytes + 16u);
	for (uint32_t i = 0; i < m->each; i++) {
		make_params(block, e->footprint->param_bytes + 8);
		struct sw_geometry g = {.grid = {1000, 4, 1},
					.block = {256, 1, 1},
					.params = block,
					.param_bytes = e->footprint->param_bytes};
		evaluate(m->b, kernel->name, e->footprint, &g, m->times);
		if (m->b->all)
			printf("%10.1f us %s\n", m->times->us.at[m->times->us.n - 1], kernel->name);
	}
	free(block);
	return 0;
}

static void made_up(struct bench *b, const char *path, uint32_t each)
{
	struct times times = {0};
	ordinary_seed(1);
	for (size_t i = 0; i < b->file.images.n; i++) {
		struct made_up m = {b, &b->file.images.at[i].image, each, &times};
		sw_image_kernels(b->file.images.at[i].bytes, b->file.images.at[i].n, b->arch, one_made_up, &m, NULL);
	}
	print_times(path, &times);
	free(times.us.at);
}

static uint32_t number(char **argv, int at, int argc, uint32_t otherwise)
{
	return argc > at ? (uint32_t)strtoul(argv[at], NULL, 10) : otherwise;
}

static bool take(int *argc, char ***argv, const char *option)
{
	bool there = *argc > 1 && !strcmp((*argv)[1], option);
	*argc -= there;
	*argv += there;
	return there;
}

int main(int argc, char **argv)
{
	struct bench b = {.arch = 90};
	struct sw_error error;
	bool any;
	b.digest = take(&argc, &argv, "--digest");
	b.all = take(&argc, &argv, "--all");
	any = take(&argc, &argv, "--made-up");
	if (argc < 2) {
		fprintf(stderr, "usage: bench_evaluate [--digest] [--all] IMAGE [LAUNCHES [KERNEL]] | --made-up FILE "
				"[ARCH [EACH]]\n");
		return 2;
	}
	if (sw_code_file_open(argv[1], &b.file, &error)) {
		fprintf(stderr, "bench_evaluate: %s\n", error.text);
		return 1;
	}
	b.arch = any ? number(argv, 2, argc, 90) : 90;
	b.library = sw_footprint_library_open(getenv("BENCH_CACHE"), 1);
	if (any)
		made_up(&b, argv[1], number(argv, 3, argc, 1));
	else
		ordinary(&b, argc > 3 ? argv[3] : NULL, number(argv, 2, argc, 1000));
	if (b.digest)
		printf("digest %016" PRIx64 "\n", b.hash);
	sw_footprint_library_close(b.library);
	sw_code_file_close(&b.file);
	free(b.reaches.at);
	return 0;
}
