/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every launch of the table, from the PTX and from the machine code of each architecture.
 *
 * usage: test_corpus [--why | --arch N] TABLE IMAGES [KERNEL]   KERNEL: a name or a line of the table
 *        test_corpus --arch N TABLE IMAGES [KERNEL]  from the PTX and the machine code of sm_N alone
 *        test_corpus --ptx IMAGE                     prints the PTX in a fatbin
 *    --why: lists every over-approximation of the table with its reason
 *        test_corpus --cubin N IMAGE                 the machine code of sm_N
 *    --arch: files without an image are left out, and tests/footprint/architectures reads the counts at the end
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare.h"
#include "image/image.h"

enum { PTX, MACHINE, CODES = 5 };
static struct {
	char name[8];
	uint32_t arch;
} codes[CODES] = {{"PTX", 0}, {"sm_80", 80}, {"sm_90", 90}, {"sm_100", 100}, {"sm_120", 120}};
static int n_codes = CODES; /* 2: --arch */

/* The code of one file. */
struct images {
	char file[CORPUS_NAME];
	void *code[CODES];
	size_t bytes[CODES];
	struct sw_ptx_module *module;
	uint32_t ptx_arch;
};

struct totals {
	unsigned passed, failed, missed, false_certain, unnoticed;
	unsigned known_as[SW_EXTENT_OPEN + 1];
	unsigned agree[CORPUS_CONTRADICT + 1]; /* launches, with the PTX */
	unsigned kernels, unreadable;
};

static int take_entry(void *arg, const struct sw_fatbin_entry *entry)
{
	struct images *images = arg;
	struct sw_error error = {0};
	int code;

	for (code = entry->kind == SW_IMAGE_PTX ? PTX : MACHINE; code < n_codes; code++)
		if (entry->kind == SW_IMAGE_PTX || (entry->kind == SW_IMAGE_ELF && codes[code].arch == entry->arch))
			break;
	if (code == n_codes || images->code[code])
		return 0;
	if (sw_fatbin_extract(entry, &images->code[code], &images->bytes[code], &error) < 0) {
		printf("%s: %s\n", images->file, error.text);
		return 1;
	}
	if (code == PTX)
		images->bytes[PTX] = strnlen(images->code[PTX], images->bytes[PTX]);
	return 0;
}

static void forget(struct images *images)
{
	sw_ptx_module_close(images->module);
	for (int i = 0; i < CODES; i++)
		free(images->code[i]);
	*images = (struct images){0};
}

/* false: said why. */
static bool read_fatbin(struct images *images, const char *path)
{
	struct sw_error error = {0};
	size_t bytes = 0;
	char *content = NULL;
	FILE *in = fopen(path, "rb");

	if (!in) {
		perror(path);
		return false;
	}
	for (size_t got = 1; got; bytes += got) {
		content = sw_realloc(content, bytes + 65536, 1);
		got = fread(content + bytes, 1, 65536, in);
	}
	fclose(in);
	if (sw_fatbin_walk(content, bytes, take_entry, images, &error) < 0)
		printf("%s: %s\n", path, error.text);
	free(content);
	return images->code[PTX];
}

static bool open_images(struct images *images, const char *folder, const char *file)
{
	struct sw_error error = {0};
	char *path;
	bool there;

	if (!strcmp(images->file, file))
		return images->code[PTX];
	forget(images);
	snprintf(images->file, sizeof images->file, "%s", file);
	path = sw_format("%s/%s.fatbin", folder, file);
	there = read_fatbin(images, path);
	free(path);
	if (there && sw_ptx_module_open(images->code[PTX], images->bytes[PTX], &images->module, &error) < 0)
		printf("%s: PTX: %s\n", file, error.text);
	return there;
}

/* NULL: said why in *verdict. */
static struct sw_footprint *footprint_of(const struct images *images, int code, const char *kernel,
					 struct corpus_verdict *verdict)
{
	struct sw_program program = {0};
	struct sw_footprint *footprint;
	struct sw_error error = {0};
	uint32_t arch = 0;
	int status;

	if (code == PTX) {
		status = images->module ? sw_ptx_read(images->module, kernel, &program, &error) : -1;
		arch = images->module ? sw_ptx_module_arch(images->module) : 0;
	} else {
		status = sw_sass_read(images->code[code], images->bytes[code], kernel, &program, &arch, &error);
	}
	if (status < 0) {
		verdict->used = (size_t)snprintf(verdict->text, sizeof verdict->text, "\tunreadable: %s\n", error.text);
		return NULL;
	}
	footprint = sw_footprint_build(&program, code == PTX ? SW_SOURCE_PTX : SW_SOURCE_SASS, arch);
	sw_program_free(&program);
	return footprint;
}

/* ---- does the test notice? --------------------------------------------------------------------------------------- */

static void drop_all(struct sw_reaches *reaches)
{
	reaches->n = 0;
}

static void shrink(struct sw_reaches *reaches)
{
	for (size_t i = 0; i < reaches->n; i++)
		if (reaches->at[i].extent != SW_EXTENT_OPEN)
			reaches->at[i].width--;
		else
			reaches->at[i].address++;
}

static void widen(struct sw_reaches *reaches)
{
	for (size_t i = 0; i < reaches->n; i++)
		if (reaches->at[i].extent != SW_EXTENT_OPEN)
			reaches->at[i].width++;
		else
			reaches->at[i].address--;
}

/* All reads or, where there is nothing else, all writes. */
static void swap_roles(struct sw_reaches *reaches)
{
	uint8_t all = 0;

	for (size_t i = 0; i < reaches->n; i++)
		all |= reaches->at[i].role;
	for (size_t i = 0; i < reaches->n; i++)
		reaches->at[i].role = all == SW_TOUCH_READ ? SW_TOUCH_WRITE : SW_TOUCH_READ;
}

static void make_certain(struct sw_reaches *reaches)
{
	for (size_t i = 0; i < reaches->n; i++)
		reaches->at[i].extent = reaches->at[i].extent == SW_EXTENT_BOX ? SW_EXTENT_HULL : SW_EXTENT_BOX;
}

static const struct {
	const char *name;
	void (*spoil)(struct sw_reaches *reaches);
} spoils[] = {{"nothing touched", drop_all},
	      {"one byte less", shrink},
	      {"one byte more", widen},
	      {"other roles", swap_roles},
	      {"other extents", make_certain}};

/* A launch is right: is it still, if the footprint says something else?  Only where bytes are known. */
static unsigned count_unnoticed(const struct corpus_launch *launch, const struct sw_footprint *footprint)
{
	unsigned unnoticed = 0;

	for (size_t i = 0; i < launch->lines.n; i++)
		if (launch->lines.at[i].is.extent != CORPUS_BOX)
			return 0;
	for (size_t i = 0; i < sizeof spoils / sizeof *spoils && launch->lines.n; i++) {
		struct corpus_verdict verdict;

		corpus_compare(launch, footprint, false, spoils[i].spoil, &verdict);
		free(verdict.byte);
		if (verdict.used)
			continue;
		printf("FAIL %d %s: not noticed: %s\n", launch->line, launch->kernel, spoils[i].name);
		unnoticed++;
	}
	return unnoticed;
}

/* Counted once for each kernel: the launches of a kernel follow each other in the table. */
static void count_kernel(const struct corpus_launch *launch, const struct sw_footprint *footprint, int code,
			 const char *why, struct totals *totals)
{
	totals->kernels++;
	for (uint32_t i = 0; footprint && i < footprint->sites && !why; i++)
		if (footprint->site[i].op == SW_OP_OPAQUE)
			why = footprint->string + footprint->site[i].text;
	if (!why)
		return;
	totals->unreadable++;
	printf("unreadable %s %s: %s\n", codes[code].name, launch->kernel, why);
}

static bool test_launch(const struct corpus_launch *launch, const struct images *images, int code, bool again,
			struct corpus_verdict *verdict, struct totals *totals)
{
	struct sw_footprint *footprint = footprint_of(images, code, launch->kernel, verdict);

	if (!again)
		count_kernel(launch, footprint, code, footprint ? NULL : verdict->text, totals);
	if (footprint) {
		corpus_compare(launch, footprint, code != PTX, NULL, verdict);
		/* PTX of another compiler or architecture may unroll loops as machine code does. */
		if (code == PTX && n_codes < CODES && verdict->used) {
			free(verdict->byte);
			corpus_compare(launch, footprint, true, NULL, verdict);
		}
		if (code == PTX && !verdict->used)
			totals->unnoticed += count_unnoticed(launch, footprint);
		sw_footprint_free(footprint);
	}
	printf("%s %s:%d %s\n%s", verdict->used ? "FAIL" : "ok  ", codes[code].name, launch->line, launch->kernel,
	       verdict->text);
	totals->missed += verdict->missed;
	totals->false_certain += verdict->false_certain;
	for (int extent = 0; extent <= SW_EXTENT_OPEN; extent++)
		totals->known_as[extent] += verdict->known_as[extent];
	return !verdict->used;
}

/* again: another launch of this kernel came before. */
static void test_all_codes(const struct corpus_launch *launch, struct images *images, const char *folder, bool again,
			   struct totals *totals)
{
	bool there = open_images(images, folder, launch->file);
	struct corpus_verdict verdict[CODES] = {0};

	for (int code = PTX; code < n_codes && (there || n_codes == CODES); code++) {
		if (!there || (code == PTX ? false : !images->code[code])) {
			if (code == PTX || codes[code].arch >= launch->arch) {
				printf("FAIL %s:%d %s\n\tno such code in the image\n", codes[code].name, launch->line,
				       launch->kernel);
				totals[code].failed++;
			}
			continue;
		}
		if (test_launch(launch, images, code, again, &verdict[code], &totals[code]))
			totals[code].passed++;
		else
			totals[code].failed++;
		if (verdict[PTX].byte && verdict[code].byte) {
			enum corpus_agreement agreement = corpus_agree(&verdict[PTX], &verdict[code]);

			totals[code].agree[agreement]++;
			if (agreement == CORPUS_CONTRADICT)
				printf("contradict %s:%d %s\n", codes[code].name, launch->line, launch->kernel);
		}
	}
	for (int code = PTX; code < n_codes; code++)
		free(verdict[code].byte);
}

/* Each hull and open line, with why it is not a box. */
static unsigned list_loose(const struct corpus_launch *launch)
{
	unsigned loose = 0;

	for (size_t i = 0; i < launch->lines.n; i++) {
		const struct corpus_line *line = &launch->lines.at[i];

		if (line->why < 0 && line->sass.extent == CORPUS_NONE)
			continue;
		loose += line->why >= 0;
		printf("%s %s:%d %s, %s: %s%s%s\n", line->why >= 0 ? "loose" : "loose in machine code", launch->file,
		       line->line, launch->kernel, line->buffer < 0 ? "unknown" : launch->buffers.at[line->buffer].name,
		       line->why >= 0 ? sw_why_text((enum sw_why)line->why) : "", line->note[0] ? " " : "", line->note);
	}
	return loose;
}

static int print_code(const char *path, int code)
{
	struct images images = {0};
	bool there = read_fatbin(&images, path) && images.code[code];

	if (there)
		fwrite(images.code[code], 1, images.bytes[code], stdout);
	forget(&images);
	return there ? 0 : 1;
}

/* The only machine code that is looked at is that of sm_N. */
static void choose_arch(const char *number)
{
	n_codes = MACHINE + 1;
	codes[MACHINE].arch = (uint32_t)strtoul(number, NULL, 10);
	snprintf(codes[MACHINE].name, sizeof codes[MACHINE].name, "sm_%s", number);
}

static int print_totals(const struct totals *totals)
{
	struct totals all = {0};

	for (int code = PTX; code < n_codes; code++) {
		const struct totals *t = &totals[code];

		printf("%s: %u right, %u wrong; %u runs of bytes missed, %u boxes beyond the truth\n", codes[code].name,
		       t->passed, t->failed, t->missed, t->false_certain);
		if (n_codes < CODES)
			printf("%s:\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\n", codes[code].name, t->kernels, t->unreadable,
			       t->known_as[SW_EXTENT_BOX], t->known_as[SW_EXTENT_HULL], t->known_as[SW_EXTENT_OPEN],
			       t->agree[CORPUS_EQUAL], t->agree[CORPUS_OTHER_EXTENT], t->agree[CORPUS_CONTRADICT],
			       t->failed);
		all.passed += t->passed;
		all.failed += t->failed + t->unnoticed;
	}
	printf("%u passed, %u failed, 0 skipped\n", all.passed, all.failed);
	return all.failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	bool why = argc > 1 && !strcmp(argv[1], "--why");
	struct totals totals[CODES] = {0};
	struct corpus_table table = {0};
	struct images images = {0};
	const char *last = "";
	unsigned kernels = 0, loose = 0;

	if (argc == 3 && !strcmp(argv[1], "--ptx"))
		return print_code(argv[2], PTX);
	if (argc == 4 && !strcmp(argv[1], "--cubin")) {
		choose_arch(argv[2]);
		return print_code(argv[3], MACHINE);
	}
	argv += why;
	argc -= why;
	if (argc > 2 && !strcmp(argv[1], "--arch")) {
		choose_arch(argv[2]);
		argv += 2;
		argc -= 2;
	}
	if (argc < 3) {
		fprintf(stderr, "usage: test_corpus [--why | --arch N] TABLE IMAGES [KERNEL] | --ptx IMAGE | --cubin N "
				"IMAGE\n");
		return 2;
	}
	corpus_read(argv[1], &table);
	for (size_t i = 0; i < table.n; i++) {
		const struct corpus_launch *launch = table.at[i];

		if (argc > 3 && strcmp(launch->kernel, argv[3]) != 0 && atoi(argv[3]) != launch->line)
			continue;
		bool again = !strcmp(last, launch->kernel);
		kernels += !again;
		last = launch->kernel;
		test_all_codes(launch, &images, argv[2], again, totals);
		if (why)
			loose += list_loose(launch);
	}
	if (why)
		printf("%u over-approximations\n", loose);
	printf("%u kernels, %zu launches\n", kernels, table.n);
	forget(&images);
	corpus_free(&table);
	return print_totals(totals);
}
