/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For how many launches of a trace does the code show what they touch, and how well?
 *
 * usage: share TRACE [FOLDER]
 *     FOLDER   of save_images, where the files that the trace names are not on this machine
 *
 * Prints the share of launches by evidence, the extents of their reaches, by name every kernel that is not read or not
 * understood, and those of which a launch follows pointers in memory.  Fails for each such kernel of the families
 * below, which PyTorch launches in every training step.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "footprints.h"

/* Parts of mangled names. */
static const char *const families[] = {
	"elementwise", "reduce_kernel", "copy",	  "Fill",	"CatArray",  "index",	  "gather",
	"scatter",     "oftmax",	"oftMax", "layer_norm", "LayerNorm", "GammaBeta", "multi_tensor_apply",
	"embedding"};

enum how { BY_PTX, BY_SASS, BY_OTHER_CODE, WILD, UNREAD, HOWS };
static const char *const hows[] = {"PTX", "SASS", "code that did not run", "not understood", "not read"};

struct kernel {
	const char *name; /* the reader's */
	char evidence[160];
	enum how how;
	uint64_t launches;
	uint64_t box, hull, open, elsewhere; /* launches whose loosest reach is so */
	bool may_follow;		     /* pointers in memory, in some launches */
	uint64_t follows;		     /* launches that do */
	uint32_t place;			     /* of an access that does */
};

struct share {
	struct sw_reader *reader;
	struct footprints footprints;
	struct sw_map by_name;
	SW_VEC(struct kernel) kernels;
};

static struct kernel *kernel_of(struct share *s, const struct sw_trace_function *f,
				const struct sw_footprint_entry *entry)
{
	uint64_t *at = sw_map_put(&s->by_name, sw_hash_bytes(SW_FNV_START, f->name, strlen(f->name)));
	if (*at)
		return &s->kernels.at[*at - 1];
	struct kernel *k = sw_vec_push(&s->kernels);
	*at = s->kernels.n;
	*k = (struct kernel){.name = f->name};
	footprints_evidence(entry, k->evidence, sizeof k->evidence);
	k->how = !entry->footprint			     ? UNREAD
		 : entry->footprint->wild		     ? WILD
		 : !entry->ran				     ? BY_OTHER_CODE
		 : entry->footprint->source == SW_SOURCE_PTX ? BY_PTX
							     : BY_SASS;
	for (uint32_t i = 0; entry->footprint && i < entry->footprint->roots; i++)
		k->may_follow |= entry->footprint->root[i].kind == SW_ROOT_INDIRECT;
	return k;
}

static void count_reaches(struct kernel *k, const struct sw_footprint *f, const struct sw_reaches *reaches)
{
	bool hull = false, open = false, elsewhere = false, follows = false;
	for (size_t i = 0; i < reaches->n; i++) {
		const struct sw_reach *r = &reaches->at[i];
		elsewhere |= r->root.kind != SW_ROOT_PARAM && r->root.kind != SW_ROOT_SYMBOL;
		follows |= r->root.kind == SW_ROOT_INDIRECT;
		if (r->root.kind == SW_ROOT_INDIRECT)
			k->place = f->site[r->site].place;
		hull |= r->extent == SW_EXTENT_HULL;
		open |= r->extent == SW_EXTENT_OPEN;
	}
	k->follows += follows;
	*(elsewhere ? &k->elsewhere : open ? &k->open : hull ? &k->hull : &k->box) += 1;
}

static void on_launch(struct share *s, const struct sw_record *r)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)r->rec;
	const struct sw_trace_function *f = sw_reader_function(s->reader, l->function);
	struct sw_reaches reaches = {0};
	if (!f || r->failed)
		return;
	const struct sw_footprint_entry *entry = footprints_of(&s->footprints, f);
	struct kernel *k = kernel_of(s, f, entry);
	k->launches++;
	if (!entry->footprint)
		return;
	footprints_at(&s->footprints, entry->footprint, r, &reaches);
	count_reaches(k, entry->footprint, &reaches);
	free(reaches.at);
}

static int by_launches(const void *x, const void *y)
{
	const struct kernel *a = x, *b = y;
	return a->launches > b->launches ? -1 : a->launches < b->launches;
}

static bool in_family(const char *name)
{
	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		if (strstr(name, families[i]))
			return true;
	return false;
}

/* Kernels of many modes follow pointers in memory in one of them: in which launches is known without any content? */
static void tell_pointers(const struct share *s)
{
	uint64_t may = 0, follow = 0;
	for (size_t i = 0; i < s->kernels.n; i++) {
		const struct kernel *k = &s->kernels.at[i];
		may += k->may_follow ? k->launches : 0;
		follow += k->follows;
		if (k->follows)
			printf("pointers in memory: %6" PRIu64 " of %" PRIu64 " launches, at 0x%" PRIx32 " of %.200s\n",
			       k->follows, k->launches, k->place, k->name);
	}
	printf("launches of kernels that may follow pointers in memory: %" PRIu64 ", of which %" PRIu64
	       " (%.1f %%) follow none\n",
	       may, may - follow, may ? 100.0 * (double)(may - follow) / (double)may : 100.0);
}

static bool tell(struct share *s)
{
	uint64_t launches[HOWS] = {0}, kernels[HOWS] = {0}, all = 0, box = 0, hull = 0, open = 0, elsewhere = 0;
	size_t passed = 0, failed = 0, skipped = 0;
	if (s->kernels.n)
		qsort(s->kernels.at, s->kernels.n, sizeof *s->kernels.at, by_launches);
	for (size_t i = 0; i < s->kernels.n; i++) {
		const struct kernel *k = &s->kernels.at[i];
		bool good = k->how < WILD;
		launches[k->how] += k->launches;
		kernels[k->how]++;
		all += k->launches;
		box += k->box, hull += k->hull, open += k->open, elsewhere += k->elsewhere;
		passed += good;
		failed += !good && in_family(k->name);
		skipped += !good && !in_family(k->name);
		printf("%s%6" PRIu64 "  box %-5" PRIu64 " hull %-5" PRIu64 " open %-5" PRIu64 " elsewhere %-5" PRIu64
		       " %s  %.200s\n",
		       good		    ? "  "
		       : in_family(k->name) ? "F "
					    : "- ",
		       k->launches, k->box, k->hull, k->open, k->elsewhere, k->evidence, k->name);
	}
	for (int how = 0; how < HOWS; how++)
		printf("%-22s %6" PRIu64 " launches (%5.1f %%), %4" PRIu64 " kernels\n", hows[how], launches[how],
		       all ? 100.0 * (double)launches[how] / (double)all : 0.0, kernels[how]);
	printf("loosest reach of a launch: box %" PRIu64 ", hull %" PRIu64 ", open %" PRIu64
	       ", by pointers in memory, objects or unknown %" PRIu64 "\n",
	       box, hull, open, elsewhere);
	tell_pointers(s);
	failed += !s->kernels.n;
	printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, skipped);
	return !failed;
}

int main(int argc, char **argv)
{
	struct share s = {0};
	struct sw_error error;
	struct sw_record r;
	int rc;
	if (argc < 2) {
		fprintf(stderr, "usage: share TRACE [FOLDER]\n");
		return 2;
	}
	if (sw_reader_open(argv[1], &s.reader, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 2;
	}
	if (footprints_open(&s.footprints, s.reader, FROM_CHOICE, argc > 2 ? argv[2] : NULL)) {
		fprintf(stderr, "%s/kernels.tsv can't be read\n", argv[2]);
		return 2;
	}
	while ((rc = sw_reader_next(s.reader, &r, &error)) > 0)
		if (r.rec->kind == SW_REC_LAUNCH)
			on_launch(&s, &r);
	if (rc < 0)
		fprintf(stderr, "%s\n", error.text);
	bool good = tell(&s) && !rc;
	footprints_close(&s.footprints);
	sw_reader_close(s.reader);
	sw_map_free(&s.by_name);
	free(s.kernels.at);
	return good ? 0 : 1;
}
