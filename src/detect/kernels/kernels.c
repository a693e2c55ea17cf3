/* SPDX-License-Identifier: Apache-2.0 */
/* Knowledge of a kernel: its name, its code and its footprint. */
#include "detect/kernels/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "detect/kernels/deferrable.h"
#include "detect/kernels/kernel_code.h"
#include "detect/kernels/kernel_objects.h"
#include "detect/model/call.h"
#include "detect/model/lanes.h"
#include "detect/model/handlers.h"
#include "detect/model/model.h"
#include "footprint/launch_spans.h"

/* Ids are given out one by one by the recorder; a hostile trace must not make us allocate by them. */
#define SW_MAX_FUNCTIONS (1u << 20)
/* "32,764 bytes" (CUDA C++ Programming Guide, 12.1 and newer). */
#define SW_MAX_PARAM_BYTES (1u << 16)

struct sw_kernels {
	SW_VEC(struct sw_kernel) by_id; /* of the function */
	struct sw_map spans;		/* by footprint */
	struct sw_codes codes;
};

struct sw_geometry sw_launch_geometry(const struct sw_record *launch)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)launch->rec;
	return (struct sw_geometry){
		.grid = {l->grid[0], l->grid[1], l->grid[2]},
		.block = {l->block[0], l->block[1], l->block[2]},
		.cluster = l->cluster,
		.shared_bytes = l->shared_bytes,
		.params = launch->params,
		.param_bytes = launch->param_bytes,
	};
}

struct sw_kernels *sw_kernels_new(struct sw_reader *reader)
{
	struct sw_kernels *kernels = sw_calloc(1, sizeof *kernels);
	kernels->codes.reader = reader;
	return kernels;
}

void sw_kernels_list_unusable(struct sw_model *m)
{
	struct sw_map by_path = {0};
	struct sw_unusable_code lost;
	for (size_t i = 0; sw_codes_unusable(&m->kernels->codes, i, &lost); i++) {
		if (!lost.kernels)
			continue;
		uint64_t *at = sw_map_put(&by_path, sw_hash_bytes(SW_FNV_START, lost.path, strlen(lost.path)));
		if (*at) {
			m->j->unusable_code.at[*at - 1].kernels += lost.kernels;
			continue;
		}
		lost.path = sw_arena_strndup(m->arena, lost.path, strlen(lost.path));
		*sw_vec_push(&m->j->unusable_code) = lost;
		*at = m->j->unusable_code.n;
	}
	sw_map_free(&by_path);
}

struct sw_spans *sw_kernels_spans(struct sw_kernels *kernels, const struct sw_footprint *footprint)
{
	uint64_t *spans = sw_map_put(&kernels->spans, (uint64_t)(uintptr_t)footprint);
	if (!*spans)
		*spans = (uint64_t)(uintptr_t)sw_spans_new(footprint);
	return (struct sw_spans *)(uintptr_t)*spans;
}

void sw_kernels_free(struct sw_kernels *kernels)
{
	struct sw_map_slot slot;
	sw_codes_free(&kernels->codes);
	for (size_t i = 0; (i = sw_map_next(&kernels->spans, i, &slot));)
		sw_spans_free((struct sw_spans *)(uintptr_t)slot.value);
	sw_map_free(&kernels->spans);
	for (size_t i = 0; i < kernels->by_id.n; i++) {
		free(kernels->by_id.at[i].signature);
		sw_deferrable_free(kernels->by_id.at[i].deferrable);
		sw_map_free(&kernels->by_id.at[i].evidence_details);
	}
	free(kernels->by_id.at);
	free(kernels);
}

/* Reads the types of the parameters from the kernel's mangled name, once. */
static void read_name(struct sw_kernel *kernel, const struct sw_trace_function *function)
{
	if (kernel->ready || !function->params)
		return;
	kernel->ready = true;
	kernel->signature = sw_calloc(function->params, sizeof *kernel->signature);
	/* A name with another number of parameters than the code has is not the name of these parameters. */
	kernel->signed_ = sw_signature_of(function->name, kernel->signature, function->params) == function->params;
}

/* Architecture of the context's device, 90 for sm_90; 0: the trace does not describe the device. */
static uint32_t arch_of(struct sw_model *m, uint8_t ctx)
{
	struct sw_context_state *context = &m->context[ctx];
	const struct sw_trace_device *device;
	for (size_t i = 0; !context->arch && (device = sw_reader_device(m->reader, i)); i++)
		if (device->ordinal == context->device)
			context->arch = device->major * 10 + device->minor;
	return context->arch;
}

/* Are number and sizes of the parameters of the analysed code those that the driver said at the launch?  Else it is
   another kernel of that name.  *moved: they lie elsewhere (a tensor map is aligned to 128 bytes in PTX, and in the
   machine code to what makes it so in its bank). */
static bool same_params(const struct sw_footprint *footprint, const struct sw_trace_function *function, bool *moved)
{
	*moved = false;
	if (footprint->param_bytes > SW_MAX_PARAM_BYTES)
		return false;
	if (function->flags & SW_FUNCTION_NO_LAYOUT)
		return true;
	if (footprint->params != function->params)
		return false;
	for (uint32_t i = 0; i < footprint->params; i++) {
		if (footprint->param[i].bytes != function->param[i].bytes)
			return false;
		*moved |= footprint->param[i].offset != function->param[i].offset;
	}
	return true;
}

/* Takes the footprint of a kernel from the library, unless the code has other parameters than the kernel that ran. */
static void take_entry(struct sw_kernel *kernel, const struct sw_trace_function *function,
		       const struct sw_footprint_entry *entry)
{
	const struct sw_footprint *footprint = entry->footprint;
	kernel->unreadable = !footprint;
	kernel->unread = entry->why;
	if (!footprint)
		return;
	if (!same_params(footprint, function, &kernel->moved)) {
		kernel->unreadable = true;
		kernel->unread = "the code has other parameters than the kernel that ran";
		return;
	}
	kernel->footprint = footprint;
	kernel->ran = entry->ran;
	kernel->wild = footprint->wild != 0;
	kernel->follows = false;
	for (uint32_t i = 0; i < footprint->roots; i++)
		kernel->follows |= footprint->root[i].kind == SW_ROOT_INDIRECT;
	kernel->signals = false;
	for (uint32_t i = 0; i < footprint->sites; i++)
		kernel->signals |=
			footprint->site[i].polls && footprint->site[i].role & (SW_TOUCH_WRITE | SW_TOUCH_ATOMIC);
	if (kernel->wild)
		kernel->unread = footprint->string + footprint->wild;
}

/* Finds the code of a kernel for this architecture and its footprint, once; kernel->unread says why there is none. */
static void read_code(struct sw_model *m, struct sw_kernel *kernel, const struct sw_trace_function *function,
		      uint32_t arch)
{
	if (kernel->arch == arch || !m->library)
		return;
	kernel->arch = arch;
	kernel->footprint = NULL;
	kernel->unreadable = false;
	if (!function->name[0]) {
		kernel->unread = "the name of the kernel is not known";
		return;
	}
	const struct sw_footprint_image *image =
		sw_codes_find(&m->kernels->codes, function->image, m->record->t_ns, &kernel->unread);
	if (!image)
		return;
	take_entry(kernel, function, sw_footprint_library_get(m->library, image, arch, function->name));
	if (kernel->unreadable)
		sw_codes_lost_kernel(image);
}

struct sw_kernel *sw_kernel_of(struct sw_model *m, const struct sw_trace_function *function)
{
	if (function->id >= SW_MAX_FUNCTIONS)
		return NULL;
	while (m->kernels->by_id.n <= function->id)
		*sw_vec_push(&m->kernels->by_id) = (struct sw_kernel){0};
	struct sw_kernel *kernel = &m->kernels->by_id.at[function->id];
	read_name(kernel, function);
	read_code(m, kernel, function, arch_of(m, m->record->rec->ctx));
	return kernel;
}

/* Handles the description of a kernel, which comes before its first launch: lets its footprint be made in other threads
   already. */
void sw_on_function(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_function *f = (const struct sw_rec_function *)(const void *)r->rec;
	const struct sw_trace_function *function = sw_reader_function(m->reader, f->id);
	uint32_t arch = arch_of(m, r->rec->ctx);
	const char *why;
	(void)w;
	if (!m->library || !function || !function->name[0] || !arch)
		return;
	const struct sw_footprint_image *image = sw_codes_find(&m->kernels->codes, function->image, r->t_ns, &why);
	if (image)
		sw_footprint_library_expect(m->library, image, arch, function->name);
}

/* A copy that lives as long as the judgement; NULL of NULL. */
static const char *keep_text(struct sw_model *m, const char *text)
{
	return text ? sw_arena_strndup(m->arena, text, strlen(text)) : NULL;
}

/* Key of a detail of evidence of this kernel, which may run on devices of several architectures: `what` about the
   instruction `site`. */
static uint64_t ground_key(const struct sw_kernel *kernel, uint32_t site, uint32_t what)
{
	return (uint64_t)kernel->arch << 48 | (uint64_t)site << 24 | what;
}

const struct sw_evidence_detail *sw_kernel_evidence(struct sw_model *m, struct sw_kernel *kernel,
						    const struct sw_reach *reach, enum sw_via via)
{
	const struct sw_footprint *footprint = kernel->footprint;
	uint64_t key = ground_key(kernel, reach->site,
				  (uint32_t)reach->extent << 16 | (uint32_t)reach->why << 8 | (uint32_t)via);
	struct sw_evidence_detail *evidence_detail = sw_map_ptr(&kernel->evidence_details, key);
	if (evidence_detail)
		return evidence_detail;
	const struct sw_access_site *site = reach->site < footprint->sites ? &footprint->site[reach->site] : NULL;
	evidence_detail = sw_arena_alloc(m->arena, sizeof *evidence_detail);
	*evidence_detail = (struct sw_evidence_detail){
		.source = footprint->source,
		.arch = footprint->arch,
		.other_code = !kernel->ran,
		.via = via,
		.extent = reach->extent,
		.why = reach->why,
		.polls = reach->polls,
		.place = site ? site->place : 0,
		.mnemonic = site ? keep_text(m, footprint->string + site->text) : "",
		.unread = keep_text(m, kernel->unread),
	};
	if (reach->root.kind == SW_ROOT_SYMBOL && reach->root.symbol < footprint->symbols)
		evidence_detail->symbol = keep_text(m, footprint->string + footprint->symbol[reach->root.symbol].name);
	sw_map_put_ptr(&kernel->evidence_details, key, evidence_detail);
	return evidence_detail;
}

const struct sw_evidence_detail *sw_kernel_no_evidence(struct sw_model *m, struct sw_kernel *kernel)
{
	if (!kernel->unread)
		return NULL;
	uint64_t key = ground_key(kernel, SW_FOOTPRINT_MAX_SITES, 0);
	struct sw_evidence_detail *evidence_detail = sw_map_ptr(&kernel->evidence_details, key);
	if (!evidence_detail) {
		evidence_detail = sw_arena_alloc(m->arena, sizeof *evidence_detail);
		evidence_detail->mnemonic = "";
		evidence_detail->unread = keep_text(m, kernel->unread);
		sw_map_put_ptr(&kernel->evidence_details, key, evidence_detail);
	}
	return evidence_detail;
}

/* The offset in the analysed code's parameter block of the parameter that the driver has at `offset`: tensor maps may
   be aligned differently. */
static uint32_t place_in_code(const struct sw_kernel *kernel, const struct sw_trace_function *function, uint32_t offset)
{
	for (uint32_t i = 0; kernel->moved && i < function->params; i++) {
		const struct sw_param *p = &function->param[i];
		if (offset >= p->offset && offset - p->offset < p->bytes)
			return kernel->footprint->param[i].offset + (offset - p->offset);
	}
	return offset;
}

bool sw_kernel_mentions(const struct sw_kernel *kernel, const struct sw_trace_function *function, uint32_t offset)
{
	const struct sw_footprint *f = kernel->footprint;
	offset = place_in_code(kernel, function, offset);
	for (uint32_t i = 0; i < f->roots; i++) {
		const struct sw_root *root = &f->root[i];
		uint32_t span = root->kind == SW_ROOT_MAP ? SW_TENSOR_MAP_BYTES : root->span ? root->span : 8;
		bool param = root->kind == SW_ROOT_PARAM || root->kind == SW_ROOT_OBJECT || root->kind == SW_ROOT_MAP;
		if (param && offset < (uint64_t)root->param + span && root->param < (uint64_t)offset + 8)
			return true;
	}
	return false;
}
