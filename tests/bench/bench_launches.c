/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What evaluating the launches of a real program costs, whose trace holds the code of its kernels (syncwatch pack):
 *
 *     bench_launches [--each | --all | --memo | --check] TRACE [MOST]
 *
 * Launches that repeat one before with all its arguments are left out: the judge remembers those.  --each: a line a
 * kernel.  --all: all results, to compare versions with.  --memo: through a memo, all launches.  --check: the same, and
 * each result against an evaluation of its own.  MOST: so many launches.  Time is processor time of this thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "footprint/launch_memo.h"
#include "truth/footprints.h"

struct kernel {
	const char *name; /* the reader's */
	uint64_t launches;
	SW_VEC(double) us;
};

struct bench {
	struct sw_reader *reader;
	struct footprints footprints;
	struct sw_map by_name, seen;
	SW_VEC(struct kernel) kernels;
	SW_VEC(double) us;
	uint64_t launches, wrong;
	struct sw_launch_memo *memo;
	bool all, check;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static struct kernel *kernel_of(struct bench *b, const struct sw_trace_function *f)
{
	uint64_t *at = sw_map_put(&b->by_name, f->id);
	if (!*at) {
		*sw_vec_push(&b->kernels) = (struct kernel){.name = f->name};
		*at = b->kernels.n;
	}
	return &b->kernels.at[*at - 1];
}

static bool is_new(struct bench *b, const struct sw_record *r)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)r->rec;
	uint64_t hash = sw_hash_u64(l->function);
	hash = sw_hash_u64(hash ^ sw_hash_words(l->grid, sizeof l->grid));
	hash = sw_hash_u64(hash ^ sw_hash_words(l->block, sizeof l->block));
	if (r->params)
		hash = sw_hash_u64(hash ^ sw_hash_words(r->params, r->param_bytes));
	uint64_t *seen = sw_map_put(&b->seen, hash);
	bool first = !*seen;
	*seen = 1;
	return first;
}

static void print_reaches(const struct sw_reaches *reaches, const char *name)
{
	for (size_t i = 0; i < reaches->n; i++) {
		const struct sw_reach *r = &reaches->at[i];
		printf("%.60s %zu: role %u extent %u polls %u why %u site %u root %u/%u/%u+%u/%u at %" PRIx64
		       " width %" PRIu64 " rows %" PRIu64 "/%" PRIu64 " slices %" PRIu64 "/%" PRIu64 " below %d\n",
		       name, i, r->role, r->extent, r->polls, r->why, r->site, r->root.kind, r->root.weak,
		       r->root.param, r->root.span, r->root.symbol, r->address, r->width, r->rows, r->pitch, r->slices,
		       r->slice, r->below);
	}
}

/* Without the bytes between fields: compared field by field. */
static bool same(const struct sw_reaches *x, const struct sw_reaches *y)
{
	for (size_t i = 0; x->n == y->n && i < x->n; i++) {
		const struct sw_reach *a = &x->at[i], *b = &y->at[i];
		if (a->role != b->role || a->extent != b->extent || a->polls != b->polls || a->why != b->why ||
		    a->site != b->site || a->root.kind != b->root.kind || a->root.param != b->root.param ||
		    a->address != b->address || a->width != b->width || a->rows != b->rows || a->pitch != b->pitch ||
		    a->slices != b->slices || a->slice != b->slice || a->below != b->below)
			return false;
	}
	return x->n == y->n;
}

static void check(struct bench *b, const struct sw_footprint *f, const struct sw_record *r,
		  const struct sw_reaches *reaches, const char *name)
{
	struct sw_reaches own = {0};
	struct sw_launch_memo *memo = b->footprints.memo;
	b->footprints.memo = NULL;
	footprints_at(&b->footprints, f, r, &own);
	b->footprints.memo = memo;
	if (!same(reaches, &own) && b->wrong++ < 10)
		printf("not the same: %s\n", name);
	free(own.at);
}

static void on_launch(struct bench *b, const struct sw_record *r)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)r->rec;
	const struct sw_trace_function *f = sw_reader_function(b->reader, l->function);
	struct sw_reaches reaches = {0};
	if (!f || r->failed)
		return;
	const struct sw_footprint_entry *entry = footprints_of(&b->footprints, f);
	if (!entry->footprint)
		return;
	struct kernel *k = kernel_of(b, f);
	b->launches++;
	k->launches++;
	if (!b->memo && !is_new(b, r))
		return;
	double start = now();
	footprints_at(&b->footprints, entry->footprint, r, &reaches);
	double took = now() - start;
	*sw_vec_push(&k->us) = took;
	*sw_vec_push(&b->us) = took;
	if (b->all)
		print_reaches(&reaches, f->name);
	if (b->check)
		check(b, entry->footprint, r, &reaches, f->name);
	free(reaches.at);
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

static double sum_of(const double *us, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += us[i];
	return sum;
}

static int by_time(const void *x, const void *y)
{
	const struct kernel *a = x, *b = y;
	double left = sum_of(a->us.at, a->us.n), right = sum_of(b->us.at, b->us.n);
	return (left < right) - (left > right);
}

static void print_times(double *us, size_t n, uint64_t launches, const char *name)
{
	double sum = sum_of(us, n);
	qsort(us, n, sizeof *us, by_value);
	printf("%9.3f s, %6" PRIu64
	       " launches, %6zu new: mean %8.1f us, p50 %8.1f, p90 %8.1f, p99 %8.1f, most %8.1f %.90s\n",
	       sum / 1e6, launches, n, sum / (double)n, us[n / 2], us[n * 9 / 10], us[n * 99 / 100], us[n - 1], name);
}

static void print(struct bench *b, bool each)
{
	if (!b->us.n)
		return;
	qsort(b->kernels.at, b->kernels.n, sizeof *b->kernels.at, by_time);
	for (size_t i = 0; each && i < b->kernels.n; i++)
		if (b->kernels.at[i].us.n)
			print_times(b->kernels.at[i].us.at, b->kernels.at[i].us.n, b->kernels.at[i].launches,
				    b->kernels.at[i].name);
	print_times(b->us.at, b->us.n, b->launches, "all");
}

static bool take(int *argc, char ***argv, const char *option)
{
	bool there = *argc > 1 && !strcmp((*argv)[1], option);
	*argc -= there;
	*argv += there;
	return there;
}

static void print_memo(const struct bench *b)
{
	struct sw_launch_memo_totals t = sw_launch_memo_totals(b->memo);
	printf("%" PRIu64 " launches, %" PRIu64 " evaluated, %zu kB kept", t.asked, t.evaluated, t.bytes / 1024);
	if (b->check)
		printf(", %" PRIu64 " not the same", b->wrong);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct bench b = {0};
	struct sw_error error;
	struct sw_record r;
	int rc;
	bool each = take(&argc, &argv, "--each");
	b.all = take(&argc, &argv, "--all");
	b.check = take(&argc, &argv, "--check");
	if (b.check || take(&argc, &argv, "--memo"))
		b.memo = sw_launch_memo_open(64 << 20);
	if (argc < 2) {
		fprintf(stderr, "usage: bench_launches [--each] [--all | --memo | --check] TRACE [MOST]\n");
		return 2;
	}
	uint64_t most = argc > 2 ? strtoull(argv[2], NULL, 10) : UINT64_MAX;
	if (sw_reader_open(argv[1], &b.reader, &error)) {
		fprintf(stderr, "bench_launches: %s\n", error.text);
		return 1;
	}
	footprints_open(&b.footprints, b.reader, FROM_CHOICE, NULL);
	b.footprints.memo = b.memo;
	while ((rc = sw_reader_next(b.reader, &r, &error)) > 0 && b.us.n < most)
		if (r.rec->kind == SW_REC_LAUNCH)
			on_launch(&b, &r);
	print(&b, each);
	if (b.memo)
		print_memo(&b);
	sw_launch_memo_close(b.memo);
	footprints_close(&b.footprints);
	sw_reader_close(b.reader);
	for (size_t i = 0; i < b.kernels.n; i++)
		free(b.kernels.at[i].us.at);
	free(b.kernels.at);
	free(b.us.at);
	sw_map_free(&b.by_name);
	sw_map_free(&b.seen);
	return rc < 0 || b.wrong;
}
