/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lays what kernels were seen to touch over what their footprints say.
 *
 * usage: compare [--sass | --ptx] [--code FOLDER] TRACE ACCESSES [TABLE]
 *
 * TRACE was recorded by libsyncwatch.so while the recorder in this folder wrote ACCESSES: launches are joined by
 * thread, name and number.  A kernel passes when every byte that it was seen to touch lies in its footprint with that
 * role; a byte that lies nowhere is an escape, unless the footprint says that it does not know everything (counted
 * apart). TABLE gets a line a kernel: verdict, evidence, launches, bytes seen, bytes of the footprint, their ratio,
 * bytes beyond the footprint by pointers that it calls unknown (elsewhere) or by code it calls not understood (wild),
 * name.
 * --sass, --ptx: footprints of that code, where the judge would choose the other.  --code: what save_images made of
 * this trace.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accesses.h"
#include "base/hash.h"
#include "cover.h"
#include "detect/memory/address_space.h"
#include "footprints.h"
#include "reader/reader.h"

struct kernel {
	const char *name; /* the reader's */
	char evidence[160];
	uint64_t launches, watched;
	uint64_t footprint_bytes;
	struct cover_result sum;
	bool unread, escape_told;
};

struct compare {
	struct sw_reader *reader;
	struct footprints footprints;
	struct seen seen;
	struct sw_address_space space;
	struct sw_map numbers; /* hash of thread and name -> launches */
	struct sw_map by_name; /* hash of name -> kernel + 1 */
	SW_VEC(struct kernel) kernels;
	uint64_t joined, strays, dropped;
};

/* ---- memory that is alive ---------------------------------------------------------------------------------------- */

static void on_alloc(struct compare *c, const struct sw_rec_alloc *a)
{
	if (a->memory != SW_MEM_ARRAY)
		sw_space_add(&c->space, a->address, a->bytes, (enum sw_memory)a->memory, a->device_alias);
}

static void on_free(struct compare *c, const struct sw_rec_free *f)
{
	uint64_t offset;
	struct sw_block *block = sw_space_find(&c->space, f->address, &offset);
	if (block && !offset)
		sw_space_remove(&c->space, block, NULL);
}

static void on_name(struct compare *c, const struct sw_rec_name *n)
{
	if (n->of == SW_NAME_SYMBOL)
		footprints_symbol(&c->footprints, (const char *)(n + 1), n->name_bytes, n->handle);
}

static uint64_t end_of(void *arg, uint64_t address)
{
	struct compare *c = arg;
	uint64_t offset;
	const struct sw_block *block = sw_space_find(&c->space, address, &offset);
	return block ? address - offset + block->bytes : 0;
}

static uint64_t start_of(void *arg, uint64_t address)
{
	struct compare *c = arg;
	uint64_t offset;
	return sw_space_find(&c->space, address, &offset) ? address - offset : 0;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static struct kernel *kernel_of(struct compare *c, const struct sw_trace_function *f)
{
	uint64_t *at = sw_map_put(&c->by_name, sw_hash_bytes(SW_FNV_START, f->name, strlen(f->name)));
	if (!*at) {
		*sw_vec_push(&c->kernels) = (struct kernel){.name = f->name};
		*at = c->kernels.n;
	}
	return &c->kernels.at[*at - 1];
}

static void tell_escape(struct compare *c, struct kernel *k, const struct sw_reaches *reaches,
			const struct cover_result *one, const struct sw_rec_launch *l)
{
	static const char *const extents[] = {"box", "hull", "open"};
	uint64_t end = end_of(c, one->first.address);
	printf("ESCAPE %s\n  <<<%ux%ux%u, %ux%ux%u>>> %s\n  %" PRIu64 " of %" PRIu64 " bytes, first %s of %" PRIu64
	       " bytes at 0x%" PRIx64 "%s\n",
	       k->name, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], k->evidence,
	       one->escaped, one->observed,
	       one->first.role == SW_TOUCH_READ	   ? "read"
	       : one->first.role == SW_TOUCH_WRITE ? "write"
						   : "atomic",
	       one->first.width, one->first.address, end ? "" : " (in no allocation that the trace knows)");
	for (size_t i = 0; i < reaches->n; i++) {
		const struct sw_reach *r = &reaches->at[i];
		printf("  reach %c%c%c %s root %u param %u+%u 0x%" PRIx64 ": %" PRIu64 " wide, %" PRIu64
		       " rows of pitch %" PRIu64 ", %" PRIu64 " slices of %" PRIu64 " %s\n",
		       r->role & SW_TOUCH_READ ? 'r' : '-', r->role & SW_TOUCH_WRITE ? 'w' : '-',
		       r->role & SW_TOUCH_ATOMIC ? 'a' : '-', extents[r->extent % 3], r->root.kind, r->root.param,
		       r->root.span, r->address, r->width, r->rows, r->pitch, r->slices, r->slice,
		       sw_why_text((enum sw_why)r->why));
	}
	k->escape_told = true;
}

static void weigh(struct compare *c, struct kernel *k, const struct seen_launch *seen, const struct sw_record *r,
		  const struct sw_footprint *footprint)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)r->rec;
	struct cover_memory memory = {end_of, start_of, c, NULL, 0};
	struct cover_result one = {0};
	struct sw_reaches reaches = {0};
	struct cover cover;
	footprints_at(&c->footprints, footprint, r, &reaches);
	memory.params = footprints_params(&c->footprints, footprint, r, &memory.param_bytes);
	cover_make(&cover, &reaches, footprint->wild != 0, &memory);
	cover.ptx = footprint->source == SW_SOURCE_PTX;
	cover_check(&cover, c->seen.row.at + seen->first, seen->rows, &one);
	k->watched++;
	k->footprint_bytes += cover_bytes(&cover);
	k->sum.observed += one.observed;
	k->sum.escaped += one.escaped;
	k->sum.elsewhere += one.elsewhere;
	k->sum.wild += one.wild;
	if (one.escaped && !k->escape_told) {
		tell_escape(c, k, &reaches, &one, l);
		footprints_ruled_out(&c->footprints, footprint, r, one.first.role);
	}
	cover_free(&cover);
	free(reaches.at);
}

static struct seen_launch *join(struct compare *c, const struct sw_record *r, const struct sw_trace_function *f)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)r->rec;
	const struct sw_trace_thread *thread = sw_reader_thread(c->reader, r->thread);
	uint32_t tid = thread ? thread->tid : 0;
	uint64_t key = sw_hash_bytes(SW_FNV_START, f->name, strlen(f->name));
	uint64_t number = ++*sw_map_put(&c->numbers, sw_hash_u64(key ^ tid));
	struct seen_launch *seen = seen_find(&c->seen, f->name, tid, (uint32_t)number);
	if (!seen)
		return NULL;
	for (int i = 0; i < 3; i++)
		if (seen->grid[i] != l->grid[i] || seen->block[i] != l->block[i])
			return NULL;
	seen->joined = true;
	return seen;
}

static void on_launch(struct compare *c, const struct sw_record *r)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)r->rec;
	const struct sw_trace_function *f = sw_reader_function(c->reader, l->function);
	if (!f || !f->name[0] || r->failed)
		return;
	struct kernel *k = kernel_of(c, f);
	const struct seen_launch *seen = join(c, r, f);
	k->launches++;
	if (!seen) {
		c->strays++;
		return;
	}
	c->joined++;
	c->dropped += seen->dropped;
	if (!seen->watched)
		return;
	const struct sw_footprint_entry *entry = footprints_of(&c->footprints, f);
	footprints_evidence(entry, k->evidence, sizeof k->evidence);
	k->unread = !entry->footprint;
	if (entry->footprint)
		weigh(c, k, seen, r, entry->footprint);
}

static int walk(struct compare *c)
{
	struct sw_error error;
	struct sw_record r;
	int rc;
	while ((rc = sw_reader_next(c->reader, &r, &error)) > 0) {
		const void *rec = r.rec;
		if (r.rec->kind == SW_REC_ALLOC && !r.failed)
			on_alloc(c, rec);
		else if (r.rec->kind == SW_REC_FREE && !r.failed)
			on_free(c, rec);
		else if (r.rec->kind == SW_REC_NAME)
			on_name(c, rec);
		else if (r.rec->kind == SW_REC_LAUNCH)
			on_launch(c, &r);
	}
	if (rc < 0)
		fprintf(stderr, "%s\n", error.text);
	return rc;
}

/* ---- what came out ----------------------------------------------------------------------------------------------- */

static int by_ratio(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return a < b ? -1 : a > b;
}

static const char *verdict_of(const struct kernel *k)
{
	return k->sum.escaped ? "ESCAPE" : k->unread ? "unread" : !k->watched ? "unwatched" : "ok";
}

static bool tell_total(const struct compare *c, size_t passed, size_t failed, size_t skipped, double *ratio,
		       size_t ratios)
{
	uint64_t escaped = 0, elsewhere = 0, wild = 0, unseen = 0;
	for (size_t i = 0; i < c->kernels.n; i++) {
		escaped += c->kernels.at[i].sum.escaped;
		elsewhere += c->kernels.at[i].sum.elsewhere;
		wild += c->kernels.at[i].sum.wild;
	}
	for (size_t i = 0; i < c->seen.launch.n; i++)
		unseen += !c->seen.launch.at[i].joined;
	if (ratios)
		qsort(ratio, ratios, sizeof *ratio, by_ratio);
	printf("%zu kernels, %" PRIu64 " launches joined, %" PRIu64 " of the trace and %" PRIu64
	       " of the accesses not; "
	       "%" PRIu64 " launches not whole (hash set full)\n",
	       c->kernels.n, c->joined, c->strays, unseen, c->dropped);
	printf("bytes that escaped: %" PRIu64 "; by pointers that the footprint calls unknown: %" PRIu64
	       "; by code that it calls not understood: %" PRIu64 "\n",
	       escaped, elsewhere, wild);
	printf("footprint bytes / bytes seen: median %.3f over %zu kernels, 90%% below %.3f, largest %.1f\n",
	       ratios ? ratio[ratios / 2] : 0.0, ratios, ratios ? ratio[ratios * 9 / 10] : 0.0,
	       ratios ? ratio[ratios - 1] : 0.0);
	/* Nothing joined, or a recorder that met errors, is no pass. */
	failed += !c->joined || c->seen.errors || !c->seen.ended;
	printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, skipped);
	return !failed;
}

static bool tell(const struct compare *c, const char *path)
{
	FILE *table = path ? fopen(path, "w") : NULL;
	double *ratio = sw_calloc(c->kernels.n + 1, sizeof *ratio);
	size_t passed = 0, failed = 0, skipped = 0, ratios = 0;
	for (size_t i = 0; i < c->kernels.n; i++) {
		const struct kernel *k = &c->kernels.at[i];
		const char *verdict = verdict_of(k);
		double times = k->sum.observed ? (double)k->footprint_bytes / (double)k->sum.observed : 0;
		failed += k->sum.escaped != 0;
		passed += strcmp(verdict, "ok") == 0;
		skipped += k->unread || !k->watched;
		/* Where the footprint does not know all, its size says nothing. */
		if (k->sum.observed && !k->unread && !k->sum.elsewhere && !k->sum.wild)
			ratio[ratios++] = times;
		if (table)
			fprintf(table,
				"%s\t%s\t%" PRIu64 "/%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.3f\t%" PRIu64 "\t%" PRIu64
				"\t%" PRIu64 "\t%s\n",
				verdict, k->evidence, k->watched, k->launches, k->sum.observed, k->footprint_bytes,
				times, k->sum.escaped, k->sum.elsewhere, k->sum.wild, k->name);
	}
	if (table)
		fclose(table);
	bool good = tell_total(c, passed, failed, skipped, ratio, ratios);
	free(ratio);
	return good;
}

static const char usage[] = "usage: compare [--sass | --ptx] [--code FOLDER] TRACE ACCESSES [TABLE]";

int main(int argc, char **argv)
{
	static const struct option options[] = {{"sass", no_argument, NULL, 's'},
						{"ptx", no_argument, NULL, 'p'},
						{"code", required_argument, NULL, 'c'},
						{0}};
	struct compare c = {0};
	struct sw_error error;
	const char *folder = NULL;
	enum footprints_from from = FROM_CHOICE;
	int option;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		from = option == 's' ? FROM_MACHINE_CODE : option == 'p' ? FROM_PTX : from;
		folder = option == 'c' ? optarg : folder;
		if (option == '?')
			argc = 0;
	}
	argv += optind - 1;
	argc -= optind - 1;
	if (argc < 3) {
		fprintf(stderr, "%s\n", usage);
		return 2;
	}
	int rc = seen_read(argv[2], &c.seen);
	if (rc) {
		fprintf(stderr, "%s: %s\n", argv[2], strerror(-rc));
		return 2;
	}
	if (sw_reader_open(argv[1], &c.reader, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 2;
	}
	if (footprints_open(&c.footprints, c.reader, from, folder)) {
		fprintf(stderr, "%s/kernels.tsv can't be read\n", folder);
		return 2;
	}
	sw_space_init(&c.space);
	rc = walk(&c);
	bool good = tell(&c, argc > 3 ? argv[3] : NULL) && !rc;
	footprints_close(&c.footprints);
	sw_space_free(&c.space);
	sw_reader_close(c.reader);
	seen_free(&c.seen);
	sw_map_free(&c.numbers);
	sw_map_free(&c.by_name);
	free(c.kernels.at);
	return good ? 0 : 1;
}
