/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch kernels: what the code of kernels says that they touch. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code_files.h"
#include "command.h"
#include "detect/kernels/kernel_code.h"
#include "image/image.h"
#include "output.h"
#include "reader/packed.h"
#include "report/symbols/names.h"
#include "report/listing/listing.h"

/* A kernel that is to be reported. */
struct kernel {
	const struct sw_trace_function *function; /* NULL: of a file */
	char *name, *where;
	uint64_t launches;
	uint32_t arch;
	const struct sw_footprint_image *image; /* NULL: missing */
	const char *missing;
};

struct kernels {
	const struct sw_options *options;
	const char *wanted; /* part of a name; NULL: all */
	struct sw_footprint_library *library;
	SW_VEC(struct kernel) kernel;
	/* of a trace */
	struct sw_reader *reader;
	struct sw_codes codes;
	struct sw_map functions; /* id -> index in kernel + 1 */
	SW_VEC(uint64_t) launched_ns;
	/* of a file */
	struct sw_code_file file;
	const struct sw_code_image *at;
	uint32_t arch;
};

/* Is the kernel one that the user asked for, by a part of its name? */
static bool is_wanted(const struct kernels *k, const char *name)
{
	if (!k->wanted || strstr(name, k->wanted))
		return true;
	char *demangled = sw_demangle(name);
	bool found = strstr(demangled, k->wanted) != NULL;
	free(demangled);
	return found;
}

/* ---- of a trace -------------------------------------------------------------------------------------------------- */

/* The architecture of a context's device, 90 for sm_90; 0: unknown. */
static uint32_t arch_of(const struct sw_reader *reader, uint8_t ctx)
{
	const struct sw_trace_context *context = sw_reader_context(reader, ctx);
	const struct sw_trace_device *device;
	for (size_t i = 0; context && (device = sw_reader_device(reader, i)); i++)
		if (device->ordinal == context->device)
			return device->major * 10 + device->minor;
	return 0;
}

/* Counts a launch of a kernel, which is added if it is new. */
static void count_launch(struct kernels *k, const struct sw_record *record)
{
	uint32_t id = ((const struct sw_rec_launch *)(const void *)record->rec)->function;
	const struct sw_trace_function *function = sw_reader_function(k->reader, id);
	uint64_t *index = sw_map_put(&k->functions, id);
	if (!*index) {
		*sw_vec_push(&k->kernel) =
			(struct kernel){.function = function, .arch = arch_of(k->reader, record->rec->ctx)};
		*sw_vec_push(&k->launched_ns) = record->t_ns;
		*index = k->kernel.n;
	}
	k->kernel.at[*index - 1].launches++;
}

/* Where the image comes from, malloc'ed. */
static char *image_text(const struct sw_trace_image *image)
{
	static const char *const kinds[] = {[SW_IMAGE_UNKNOWN] = "unknown kind",
					    [SW_IMAGE_FATBIN] = "fatbin",
					    [SW_IMAGE_ELF] = "cubin",
					    [SW_IMAGE_PTX] = "PTX",
					    [SW_IMAGE_LTOIR] = "LTO-IR",
					    [SW_IMAGE_TILEIR] = "Tile IR"};
	if (!image)
		return sw_strdup("none was seen");
	const char *kind = image->kind < sizeof kinds / sizeof kinds[0] ? kinds[image->kind] : kinds[0];
	if (image->path[0])
		return sw_format("%s at offset %" PRIu64 ", %s", image->path, image->file_offset, kind);
	return sw_format("image %u, loaded from memory, %s of %" PRIu64 " bytes", image->id, kind, image->bytes);
}

/* Finds the code of the trace's kernels, at its end: contents of images are complete only there. */
static void find_images(struct kernels *k)
{
	size_t n = 0;
	for (size_t i = 0; i < k->kernel.n; i++) {
		struct kernel kernel = k->kernel.at[i];
		const struct sw_trace_function *f = kernel.function;
		if (!f || !f->name[0] || !is_wanted(k, f->name))
			continue;
		kernel.name = sw_strdup(f->name);
		kernel.where = image_text(f->image ? sw_reader_image(k->reader, f->image) : NULL);
		kernel.image = sw_codes_find(&k->codes, f->image, k->launched_ns.at[i], &kernel.missing);
		k->kernel.at[n++] = kernel;
	}
	k->kernel.n = n;
}

/* Finds the kernels that a trace launched. */
static int read_trace(struct kernels *k, const char *path, struct sw_error *error)
{
	struct sw_record record;
	int rc = sw_reader_open(path, &k->reader, error);
	if (rc)
		return rc;
	k->codes.reader = k->reader;
	while ((rc = sw_reader_next(k->reader, &record, error)) == 1)
		if (record.rec->kind == SW_REC_LAUNCH)
			count_launch(k, &record);
	/* A damaged trace is shown of as far as it goes. */
	find_images(k);
	return rc;
}

/* ---- of a file --------------------------------------------------------------------------------------------------- */

/* Adds a kernel of a file if it is wanted. */
static int add_kernel(void *arg, const struct sw_cubin_kernel *found)
{
	struct kernels *k = arg;
	if (!is_wanted(k, found->name))
		return 0;
	*sw_vec_push(&k->kernel) = (struct kernel){.name = sw_strdup(found->name),
						   .where = sw_format("offset %zu", k->at->offset),
						   .arch = k->arch,
						   .image = &k->at->image};
	return 0;
}

/* Adds the kernels in the images of a file.  One that can't be read does not hide the others: the first reason is
   reported at the end. */
static int read_file(struct kernels *k, const char *path, struct sw_error *error)
{
	int rc = sw_code_file_open(path, &k->file, error), first = 0;
	for (size_t i = 0; !rc && i < k->file.images.n; i++) {
		struct sw_error why;
		k->at = &k->file.images.at[i];
		if (sw_image_kernels(k->at->bytes, k->at->n, k->arch, add_kernel, k, &why) && !first)
			first = sw_fail(error, why.code, "%s: image at offset %zu: %s", path, k->at->offset, why.text);
	}
	return rc ? rc : first;
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

/* The analysis of a kernel, or why there is none. */
static struct sw_footprint_entry entry_of(struct kernels *k, const struct kernel *kernel)
{
	if (!kernel->image)
		return (struct sw_footprint_entry){.why = kernel->missing};
	return *sw_footprint_library_get(k->library, kernel->image, kernel->arch, kernel->name);
}

/* Prints or writes all kernels. */
static void print_kernels(struct kernels *k, FILE *out, bool as_json)
{
	struct sw_json json = {.out = out};
	if (as_json) {
		sw_json_open(&json, NULL, '{');
		sw_json_text(&json, "schema", "syncwatch-kernels/1");
		sw_json_text(&json, "file", k->options->operands[0]);
		sw_json_open(&json, "kernels", '[');
	}
	for (size_t i = 0; i < k->kernel.n; i++) {
		const struct kernel *kernel = &k->kernel.at[i];
		const struct sw_trace_function *f = kernel->function;
		struct sw_footprint_entry entry = entry_of(k, kernel);
		struct sw_kernel_view view = {.name = kernel->name,
					      .launches = kernel->launches,
					      .image = kernel->where,
					      .device = kernel->arch,
					      .entry = &entry,
					      .param = f && f->params ? f->param : NULL,
					      .params = f ? f->params : 0};
		if (as_json)
			sw_kernel_json(&json, &view);
		else
			sw_kernel_text(out, &view, k->wanted != NULL);
	}
	if (as_json) {
		sw_json_close(&json, ']');
		sw_json_close(&json, '}');
	}
}

/* Analyses all kernels and prints them, and writes --json. */
static int print_all(struct kernels *k, bool as_json)
{
	struct sw_output output;
	struct sw_error error;
	k->library = sw_footprint_library_open(k->options->no_cache ? NULL : "", 0);
	for (size_t i = 0; i < k->kernel.n; i++)
		if (k->kernel.at[i].image)
			sw_footprint_library_expect(k->library, k->kernel.at[i].image, k->kernel.at[i].arch,
						    k->kernel.at[i].name);
	if (k->options->json) {
		if (sw_output_open(&output, k->options->json, &error))
			return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
		print_kernels(k, output.file, true);
		if (sw_output_close(&output, &error))
			return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	}
	print_kernels(k, stdout, as_json);
	return sw_finish_stdout(SW_EXIT_OK);
}

/* Frees the kernels and what they refer to. */
static void free_all(struct kernels *k)
{
	for (size_t i = 0; i < k->kernel.n; i++) {
		free(k->kernel.at[i].name);
		free(k->kernel.at[i].where);
	}
	free(k->kernel.at);
	free(k->launched_ns.at);
	sw_map_free(&k->functions);
	/* The library works on contents that the others own: it closes first. */
	sw_footprint_library_close(k->library);
	sw_codes_free(&k->codes);
	if (k->reader)
		sw_reader_close(k->reader);
	sw_code_file_close(&k->file);
}

/* Does the file begin as a trace does? */
static bool is_trace(const char *path)
{
	char magic[sizeof SW_FORMAT_MAGIC - 1] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is = fd >= 0 && (sw_expand_wanted(fd) || (read(fd, magic, sizeof magic) == (ssize_t)sizeof magic &&
						       memcmp(magic, SW_FORMAT_MAGIC, sizeof magic) == 0));
	if (fd >= 0)
		close(fd);
	return is;
}

/* Reads an architecture: "90", "sm_90", "sm_90a"; 0: none of these. */
static uint32_t parse_arch(const char *text)
{
	const char *digits = strncmp(text, "sm_", 3) == 0 ? text + 3 : text;
	char *end;
	unsigned long arch = strtoul(digits, &end, 10);
	bool sound = *digits >= '1' && *digits <= '9' && (!*end || !strcmp(end, "a") || !strcmp(end, "f"));
	return sound && arch < 1000 ? (uint32_t)arch : 0;
}

/* `syncwatch kernels`: what the kernels of a trace or a file touch. */
int sw_cmd_kernels(const struct sw_options *options)
{
	struct kernels k = {.options = options};
	struct sw_error error;
	bool json = options->format && strcmp(options->format, "json") == 0;
	if (options->n_operands < 1 || options->n_operands > 2)
		return sw_complain_usage(options->n_operands ? "one file and one name at a time"
							     : "which trace or file?");
	if (options->format && !json && strcmp(options->format, "text") != 0)
		return sw_complain_usage("unknown format '%s': text or json", options->format);
	if (options->arch && !(k.arch = parse_arch(options->arch)))
		return sw_complain_usage("'%s' is not an architecture, such as 90", options->arch);
	if (options->json && sw_output_check(options->json, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	const char *path = options->operands[0];
	k.wanted = options->operands[1];
	int rc = is_trace(path) ? read_trace(&k, path, &error) : read_file(&k, path, &error);
	int status = rc ? sw_complain(SW_EXIT_INPUT, "%s", error.text) : SW_EXIT_OK;
	if (k.kernel.n) {
		int printed = print_all(&k, json);
		status = status ? status : printed;
	} else if (!status) {
		status = sw_complain(SW_EXIT_INPUT,
				     k.wanted ? "'%s' has no kernel whose name contains '%s'" : "'%s' has no kernel",
				     path, k.wanted);
	}
	free_all(&k);
	return status;
}
