/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/kernel/store/code_choice.h"

#include <stdlib.h>
#include <string.h>

/* Wild outcomes beyond the fourth bring nothing new: PTX of one source differs little from architecture to
 * architecture. */
#define SW_MAX_ATTEMPTS 4

enum origin {
	ORIGIN_SAME, /* PTX of the architecture that ran: its machine code was made from it */
	ORIGIN_RAN,  /* machine code that runs on the device */
	ORIGIN_JIT,  /* PTX that the driver compiles if there is no machine code */
	ORIGIN_OTHER /* PTX of another architecture */
};

struct choice {
	struct sw_sort *sort;
	enum origin origin;
	uint32_t distance; /* smaller is better */
};

/* CUDA C++ Programming Guide, "Binary Compatibility": within a major revision, from one minor to the same or later
 * ones. */
static bool runs_on(const struct sw_sort *s, uint32_t arch)
{
	return s->arch / 10 == arch / 10 && s->arch <= arch && (s->variant != SW_VARIANT_EXACT || s->arch == arch);
}

/* "PTX Compatibility": on any later one, but for the variants. */
static bool compiles_for(const struct sw_sort *s, uint32_t arch)
{
	return s->variant == SW_VARIANT_NONE ? s->arch <= arch : runs_on(s, arch);
}

static uint32_t newest_arch(const struct sw_units *u)
{
	uint32_t best[2] = {0};
	for (size_t i = 0; i < u->sort.n; i++) {
		uint32_t *b = &best[u->sort.at[i].kind == SW_IMAGE_PTX];
		*b = u->sort.at[i].arch > *b ? u->sort.at[i].arch : *b;
	}
	return best[0] ? best[0] : best[1];
}

/* Was the machine code that runs made from PTX of `arch`?  Not if it is that of an older architecture. */
static bool made_here(const struct sw_units *u, uint32_t arch)
{
	bool any = false;
	for (size_t i = 0; i < u->sort.n; i++) {
		const struct sw_sort *s = &u->sort.at[i];
		if (s->kind != SW_IMAGE_ELF || !runs_on(s, arch))
			continue;
		if (s->arch == arch)
			return true;
		any = true;
	}
	return !any;
}

static int by_preference(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;
	if (x->origin != y->origin)
		return x->origin < y->origin ? -1 : 1;
	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return (int)y->sort->variant - (int)x->sort->variant;
}

/* Returns the number of choices, best first; *out is malloc'ed. */
static size_t rank_choices(struct sw_units *u, uint32_t arch, struct choice **out)
{
	struct choice *choice = sw_calloc(u->sort.n + 1, sizeof *choice);
	bool same = made_here(u, arch);
	size_t n = 0;
	for (size_t i = 0; i < u->sort.n; i++) {
		struct sw_sort *s = &u->sort.at[i];
		bool ptx = s->kind == SW_IMAGE_PTX;
		if (!ptx && !runs_on(s, arch))
			continue;
		enum origin origin = !ptx		       ? ORIGIN_RAN
				     : !compiles_for(s, arch)  ? ORIGIN_OTHER
				     : same && s->arch == arch ? ORIGIN_SAME
							       : ORIGIN_JIT;
		/* Newer ones than the device's are farther away than all older ones. */
		uint32_t distance = s->arch <= arch ? arch - s->arch : s->arch - arch + 10000;
		choice[n++] = (struct choice){s, origin, distance};
	}
	if (n)
		qsort(choice, n, sizeof *choice, by_preference);
	*out = choice;
	return n;
}

/* ---- analysis ---------------------------------------------------------------------------------------------------- */

static int read_program(const struct sw_unit *unit, const struct sw_content *c, const char *kernel,
			struct sw_program *program, uint32_t *arch, struct sw_error *error)
{
	*arch = unit->entry.arch;
	if (unit->entry.kind == SW_IMAGE_PTX)
		return sw_ptx_read(c->module, kernel, program, error);
	return sw_sass_read(c->bytes, c->n, kernel, program, arch, error);
}

/* NULL with error filled. */
static struct sw_footprint *analyse_kernel(struct sw_units *u, const struct sw_found *found, const char *kernel,
					   struct sw_error *error)
{
	struct sw_program program = {0};
	struct sw_footprint *footprint = NULL;
	const struct sw_content *c = sw_contents_take(u->contents, found->unit, true);
	uint32_t arch;
	if (!c) {
		sw_fail(error, SW_E_FORMAT, "%s", found->unit->why);
		return NULL;
	}
	if (!read_program(found->unit, c, kernel, &program, &arch, error)) {
		bool ptx = found->unit->entry.kind == SW_IMAGE_PTX;
		footprint = sw_footprint_build(&program, ptx ? SW_SOURCE_PTX : SW_SOURCE_SASS, arch);
		sw_program_free(&program);
	}
	sw_contents_give(u->contents, found->unit);
	return footprint;
}

/* 0: not wild; else the greater, the less is known. */
static uint32_t unknown_roots(const struct sw_footprint *f)
{
	uint32_t unknown = f->wild != 0;
	for (uint32_t i = 0; f->wild && i < f->sites; i++)
		for (uint32_t r = 0; r < f->site[i].roots; r++)
			unknown += f->root[f->site[i].root + r].kind == SW_ROOT_UNKNOWN;
	return unknown;
}

struct attempt {
	struct sw_units *units;
	const char *kernel;
	struct sw_code_choice *out;
	uint32_t wildness, attempts;
	bool found;	   /* in this container */
	bool machine_code; /* was found for the device */
	char *why;	   /* the first thing that could not be read */
};

static const char *kind_name(enum sw_image_kind kind)
{
	return kind == SW_IMAGE_PTX ? "PTX " : "";
}

static void note_unreadable(struct attempt *a, const struct sw_sort *s, const char *why)
{
	if (!a->why)
		a->why = sw_format("unreadable: %ssm_%u: %s", kind_name(s->kind), s->arch, why);
}

static void try_choice(struct attempt *a, const struct choice *choice)
{
	struct sw_found found;
	struct sw_error error;
	bool elf = choice->sort->kind == SW_IMAGE_ELF;
	/* The driver has one machine code of a kernel: the best. */
	if (elf && a->machine_code)
		return;
	if (!sw_units_find(a->units, choice->sort, a->kernel, &found)) {
		if (choice->sort->why)
			note_unreadable(a, choice->sort, choice->sort->why);
		return;
	}
	a->found = true;
	a->machine_code |= elf;
	struct sw_footprint *footprint = analyse_kernel(a->units, &found, a->kernel, &error);
	if (!footprint) {
		note_unreadable(a, choice->sort, error.text);
		return;
	}
	a->attempts++;
	a->out->code_bytes += found.code_bytes;
	uint32_t wild = unknown_roots(footprint);
	if (a->out->footprint && wild >= a->wildness) {
		sw_footprint_free(footprint);
		return;
	}
	sw_footprint_free(a->out->footprint);
	a->wildness = wild;
	a->out->footprint = footprint;
	a->out->arch = footprint->arch;
	a->out->ran = choice->origin == ORIGIN_JIT ? !a->machine_code : choice->origin != ORIGIN_OTHER;
}

/* Returns the number of choices that the container offers. */
static size_t choose_in(struct attempt *a, struct sw_units *u, uint32_t arch)
{
	struct choice *choice;
	size_t n = rank_choices(u, arch ? arch : newest_arch(u), &choice);
	a->units = u;
	for (size_t i = 0; i < n && a->attempts < SW_MAX_ATTEMPTS; i++) {
		try_choice(a, &choice[i]);
		if (a->out->footprint && !a->wildness)
			break;
	}
	free(choice);
	return n;
}

void sw_code_choose(struct sw_containers *containers, uint32_t arch, const char *kernel, struct sw_code_choice *out)
{
	struct attempt a = {.kernel = kernel, .out = out};
	const char *unusable = NULL;
	struct sw_units *u;
	size_t choices = 0;
	*out = (struct sw_code_choice){0};
	for (size_t i = 0; !a.found && (u = sw_containers_get(containers, i)); i++) {
		choices += choose_in(&a, u, arch);
		unusable = unusable ? unusable : u->why;
	}
	if (out->footprint)
		free(a.why);
	else if (a.why)
		out->why = a.why;
	else if (unusable)
		out->why = sw_format("unreadable: %s", unusable);
	else if (choices)
		out->why = sw_strdup("no kernel of this name in the image");
	else
		out->why = sw_format("no code for sm_%u in the image", arch);
}
