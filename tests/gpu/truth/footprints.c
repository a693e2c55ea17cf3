/* SPDX-License-Identifier: Apache-2.0 */
#include "footprints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "image/image.h"

struct footprints_image {
	struct footprints *of;
	uint32_t id;	  /* of the image, */
	const char *path; /* or the saved file */
};

int footprints_open(struct footprints *f, const struct sw_reader *reader, enum footprints_from from, const char *folder)
{
	*f = (struct footprints){.reader = reader, .from = from, .contents = {.reader = reader}};
	if (from == FROM_CHOICE)
		f->library = sw_footprint_library_open(NULL, 1);
	return folder ? contents_saved(&f->contents, folder, from == FROM_MACHINE_CODE) : 0;
}

void footprints_close(struct footprints *f)
{
	struct sw_map_slot slot;
	if (f->library)
		sw_footprint_library_close(f->library);
	for (size_t i = 0; (i = sw_map_next(&f->entries, i, &slot));) {
		const struct sw_footprint_entry *entry = (const struct sw_footprint_entry *)(uintptr_t)slot.value;
		sw_footprint_free((struct sw_footprint *)entry->footprint);
	}
	sw_map_free(&f->images);
	sw_map_free(&f->entries);
	sw_map_free(&f->symbols);
	free(f->params);
	contents_free(&f->contents);
	sw_arena_free(&f->arena);
}

static uint32_t arch_of(const struct footprints *f)
{
	const struct sw_trace_device *device = sw_reader_device(f->reader, 0);
	return device ? device->major * 10 + device->minor : 0;
}

/* ---- by the library, as the judge does it ------------------------------------------------------------------------ */

static const void *image_bytes(void *arg, size_t *size, struct sw_error *error)
{
	const struct footprints_image *image = arg;
	struct contents *contents = &image->of->contents;
	return image->path ? contents_file(contents, image->path, size, error)
			   : contents_of(contents, image->id, size, error);
}

/* Where the kernel's code comes from. */
static struct footprints_image *image_of(struct footprints *f, const struct sw_trace_function *function, uint64_t *id)
{
	uint32_t saved = contents_find(&f->contents, function->name);
	*id = saved ? UINT64_C(1) << 32 | saved : function->image;
	struct footprints_image *image = sw_map_ptr(&f->images, *id);
	if (!image) {
		image = sw_arena_alloc(&f->arena, sizeof *image);
		*image = (struct footprints_image){f, function->image,
						   saved ? f->contents.saved.at[saved - 1].path : NULL};
		sw_map_put_ptr(&f->images, *id, image);
	}
	return image;
}

static const struct sw_footprint_entry *by_library(struct footprints *f, const struct sw_trace_function *function)
{
	uint64_t id;
	struct footprints_image *image = image_of(f, function, &id);
	/* Nothing is kept on disk: the hash of the content is not wanted. */
	struct sw_footprint_image named = {.id = id, .bytes = image_bytes, .arg = image};
	return sw_footprint_library_get(f->library, &named, arch_of(f), function->name);
}

/* ---- from one kind of code alone --------------------------------------------------------------------------------- */

struct search {
	struct footprints *of;
	const char *kernel;
	uint32_t arch;
	struct sw_footprint_entry *entry;
};

static int read_ptx(const char *text, size_t bytes, const char *kernel, struct sw_program *program, uint32_t *arch,
		    struct sw_error *error)
{
	struct sw_ptx_module *module;
	int rc = sw_ptx_module_open(text, bytes, &module, error);
	if (rc)
		return rc;
	*arch = sw_ptx_module_arch(module);
	rc = sw_ptx_read(module, kernel, program, error);
	sw_ptx_module_close(module);
	return rc;
}

static void try_code(struct search *s, const void *code, size_t bytes)
{
	struct sw_program program = {0};
	struct sw_error error;
	bool ptx = s->of->from == FROM_PTX;
	uint32_t arch;
	if (ptx ? read_ptx(code, bytes, s->kernel, &program, &arch, &error)
		: sw_sass_read(code, bytes, s->kernel, &program, &arch, &error)) {
		s->entry->why = sw_arena_strndup(&s->of->arena, error.text, strlen(error.text));
		return;
	}
	*s->entry = (struct sw_footprint_entry){
		.footprint = sw_footprint_build(&program, ptx ? SW_SOURCE_PTX : SW_SOURCE_SASS, arch),
		.ran = true,
		.arch = arch};
	sw_program_free(&program);
}

/* The first entry that the GPU can run, or what it runs was made from, and that holds the kernel: fatbins of one
   program have one of a generation. */
static int on_entry(void *arg, const struct sw_fatbin_entry *entry)
{
	struct search *s = arg;
	struct sw_error error;
	void *content;
	size_t bytes;
	bool wanted = s->of->from == FROM_PTX ? entry->kind == SW_IMAGE_PTX && entry->arch <= s->arch
					      : entry->kind == SW_IMAGE_ELF && entry->arch / 10 == s->arch / 10 &&
							entry->arch <= s->arch;
	if (!wanted || sw_fatbin_extract(entry, &content, &bytes, &error))
		return 0;
	try_code(s, content, bytes);
	free(content);
	return s->entry->footprint != NULL;
}

static const struct sw_footprint_entry *by_one_kind(struct footprints *f, const struct sw_trace_function *function)
{
	struct sw_footprint_entry *entry = sw_map_ptr(&f->entries, function->id);
	struct sw_error error;
	uint64_t id;
	size_t size;
	if (entry)
		return entry;
	entry = sw_arena_alloc(&f->arena, sizeof *entry);
	entry->why = "no code of this kind";
	sw_map_put_ptr(&f->entries, function->id, entry);
	struct search search = {f, function->name, arch_of(f), entry};
	const void *bytes = image_bytes(image_of(f, function, &id), &size, &error);
	enum sw_image_kind kind = bytes ? sw_image_kind_of(bytes, size) : SW_IMAGE_UNKNOWN;
	if (!bytes)
		entry->why = sw_arena_strndup(&f->arena, error.text, strlen(error.text));
	else if (kind == SW_IMAGE_FATBIN)
		sw_fatbin_walk(bytes, size, on_entry, &search, &error);
	else if (kind == (f->from == FROM_PTX ? SW_IMAGE_PTX : SW_IMAGE_ELF))
		try_code(&search, bytes, size);
	return entry;
}

const struct sw_footprint_entry *footprints_of(struct footprints *f, const struct sw_trace_function *function)
{
	return f->library ? by_library(f, function) : by_one_kind(f, function);
}

void footprints_evidence(const struct sw_footprint_entry *entry, char *out, size_t room)
{
	const struct sw_footprint *f = entry->footprint;
	if (!f)
		snprintf(out, room, "not read: %s", entry->why ? entry->why : "?");
	else
		snprintf(out, room, "%s sm_%u%s%s%s", f->source == SW_SOURCE_PTX ? "PTX" : "SASS", f->arch,
			 entry->ran ? "" : ", not the code that ran", f->wild ? ", wild: " : "",
			 f->wild ? f->string + f->wild : "");
}

/* ---- at a launch ------------------------------------------------------------------------------------------------- */

void footprints_symbol(struct footprints *f, const char *name, size_t bytes, uint64_t address)
{
	*sw_map_put(&f->symbols, sw_hash_bytes(SW_FNV_START, name, bytes)) = address;
}

static uint64_t symbol_at(void *arg, const char *name)
{
	const struct footprints *f = arg;
	return sw_map_get(&f->symbols, sw_hash_bytes(SW_FNV_START, name, strlen(name)));
}

const void *footprints_params(struct footprints *f, const struct sw_footprint *footprint,
			      const struct sw_record *launch, size_t *bytes)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)launch->rec;
	const struct sw_trace_function *function = sw_reader_function(f->reader, l->function);
	*bytes = launch->params ? launch->param_bytes : 0;
	if (!*bytes || !function || function->flags & SW_FUNCTION_NO_LAYOUT || function->params != footprint->params)
		return launch->params;
	f->params = sw_realloc(f->params, 1, (size_t)footprint->param_bytes + 1);
	if (!sw_footprint_place_params(footprint, function->param, launch->params, *bytes, f->params))
		return launch->params;
	*bytes = footprint->param_bytes;
	return f->params;
}

void footprints_at(struct footprints *f, const struct sw_footprint *footprint, const struct sw_record *launch,
		   struct sw_reaches *out)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)launch->rec;
	size_t bytes;
	const void *params = footprints_params(f, footprint, launch, &bytes);
	struct sw_geometry geometry = {.grid = {l->grid[0], l->grid[1], l->grid[2]},
				       .block = {l->block[0], l->block[1], l->block[2]},
				       .cluster = l->cluster,
				       .shared_bytes = l->shared_bytes,
				       .params = params,
				       .param_bytes = (uint32_t)bytes,
				       .symbol = symbol_at,
				       .arg = f};
	if (f->memo)
		sw_launch_memo_evaluate(f->memo, footprint, &geometry, out);
	else
		sw_footprint_evaluate(footprint, &geometry, out);
}

/* Is the site, under these of its facts, one that touches nothing? */
static bool touches_nothing(struct footprints *f, const struct sw_footprint *footprint, const struct sw_record *launch,
			    struct sw_access_site site, uint32_t fact, uint32_t facts)
{
	struct sw_footprint alone = *footprint;
	struct sw_reaches reaches = {0};
	site.fact = fact;
	site.facts = facts;
	alone.site = &site;
	alone.sites = 1;
	footprints_at(f, &alone, launch, &reaches);
	free(reaches.at);
	return !reaches.n;
}

void footprints_ruled_out(struct footprints *f, const struct sw_footprint *footprint, const struct sw_record *launch,
			  uint8_t role)
{
	char text[600];
	int told = 0;
	for (uint32_t i = 0; i < footprint->sites && told < 12; i++) {
		const struct sw_access_site *site = &footprint->site[i];
		if (!(site->role & role) || !touches_nothing(f, footprint, launch, *site, site->fact, site->facts))
			continue;
		told++;
		printf("  ruled out: %s at 0x%x", footprint->string + site->text, site->place);
		for (uint32_t k = 0; k < site->facts; k++) {
			struct sw_access_site one = *site;
			struct sw_footprint alone = *footprint;
			one.fact = site->fact + k;
			one.facts = 1;
			alone.site = &one;
			alone.sites = 1;
			if (!touches_nothing(f, footprint, launch, one, one.fact, 1))
				continue;
			sw_footprint_facts_text(&alone, 0, text, sizeof text);
			printf(", term %u is not %u: %s", footprint->fact[one.fact].term,
			       footprint->fact[one.fact].truth, text);
			break;
		}
		putchar('\n');
	}
}
