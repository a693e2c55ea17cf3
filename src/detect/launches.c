/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels: from the parameter block to ranges.  Today the mangled name tells what a pointer is for; what the code
 * itself tells will come as ranges of the same form.
 */
#include "detect/model.h"

#include <stdlib.h>
#include <string.h>

/* Ids are given out one by one by the recorder; a hostile trace must not make us allocate by them. */
#define SW_MAX_FUNCTIONS (1u << 20)

static struct sw_kernel *kernel_of(struct sw_model *m, const struct sw_trace_function *function)
{
	if (function->id >= SW_MAX_FUNCTIONS)
		return NULL;
	while (m->kernels.n <= function->id)
		*sw_vec_push(&m->kernels) = (struct sw_kernel){0};
	struct sw_kernel *kernel = &m->kernels.at[function->id];
	if (kernel->ready || !function->params)
		return kernel;
	kernel->ready = true;
	kernel->signature = sw_calloc(function->params, sizeof *kernel->signature);
	/* A name with another number of parameters than the code has is not the name of these parameters. */
	kernel->signed_ = sw_signature_of(function->name, kernel->signature, function->params) == function->params;
	return kernel;
}

struct walk {
	struct sw_model *m;
	struct sw_wait *w;
	const unsigned char *block;
	uint32_t bytes;
	enum sw_evidence weakest;
	uint32_t pointers;
};

static void touch_word(struct walk *walk, uint32_t offset, int32_t param, enum sw_role role, enum sw_evidence evidence)
{
	struct sw_model *m = walk->m;
	uint64_t address;
	if (offset > walk->bytes || walk->bytes - offset < sizeof address)
		return;
	memcpy(&address, walk->block + offset, sizeof address);
	if (address < m->space.lowest || address >= m->space.highest)
		return;
	struct sw_range range = sw_range_open(address, role, evidence, param);
	if (!sw_model_touch(m, &walk->w->what, &range, &(struct sw_touch){0}))
		return;
	if (evidence < walk->weakest)
		walk->weakest = evidence;
	walk->pointers++;
}

/* Every aligned word that points into memory that is alive: structures by value hold pointers nobody told us of. */
static void scan(struct walk *walk, uint32_t offset, uint32_t bytes, int32_t param)
{
	uint32_t first = (offset + 7) & ~7u;
	for (uint32_t at = first; at - offset + 8 <= bytes && at < walk->bytes; at += 8)
		touch_word(walk, at, param, SW_READ_WRITE, SW_EV_ASSUMED);
}

static void walk_parameters(struct walk *walk, const struct sw_trace_function *f, const struct sw_kernel *kernel)
{
	for (uint32_t i = 0; i < f->params; i++) {
		const struct sw_param *p = &f->param[i];
		enum sw_signature what = kernel->signed_ ? kernel->signature[i] : SW_SIG_UNKNOWN;
		if (p->bytes == 8 && what == SW_SIG_POINTER_CONST)
			touch_word(walk, p->offset, (int32_t)i, SW_READ, SW_EV_SIGNATURE);
		else if (p->bytes == 8 && what == SW_SIG_POINTER)
			touch_word(walk, p->offset, (int32_t)i, SW_WRITE, SW_EV_SIGNATURE);
		else if (p->bytes > 8 || what != SW_SIG_VALUE)
			scan(walk, p->offset, p->bytes, (int32_t)i);
	}
}

/*
 * Shorter first uses did not load anything.  Measured on H200, driver 580, CUDA 13.0: launches of kernels whose code is
 * there mostly take 2 to 12 us, attribute queries below 7 us; first uses that load take from 40 us to milliseconds
 * ("first launch of a kernel, on nb2 (lazy load)" 0.10 to 0.15 ms, "first cudaFuncGetAttributes of a kernel (lazy
 * load)" 0.06 ms).
 */
#define SW_LOAD_NS 30000u

/* The code of a kernel is loaded when it is first used, which may hold back other streams (CUDA programming guide,
   "Lazy loading": loading may need the context to be idle). */
static void first_use(struct sw_model *m, struct sw_wait *w, uint64_t handle, uint8_t ctx, uint32_t own_lane)
{
	uint64_t *seen = sw_map_put(&m->touched, handle);
	if (*seen)
		return;
	*seen = 1;
	if (m->record->dur_ns < SW_LOAD_NS)
		return;
	sw_wait_peek(m, w, sw_hb_wait_context(m->hb, ctx));
	size_t others = 0;
	for (size_t i = 0; i < w->covered.n; i++)
		others += w->covered.at[i].lane != own_lane;
	w->pending = others > 0;
	w->id = SW_FINDING_MODULE_LOAD;
	w->basis = SW_BASIS_MAY;
	w->fix = SW_FIX_PRELOAD;
	w->own_ns = sw_wait_own(SW_OWN_LOAD, 0);
}

/* Calls that need the code itself.  Handles of libraries, modules and their kernels are given out without it: whoever
   asks for one (every CUDA runtime does, unasked) loads nothing. */
static bool needs_code(const struct sw_trace_api *api)
{
	static const char *const families[] = {"cuFunc", "cuKernel", "cuOccupancy"};
	for (size_t i = 0; api && i < sizeof families / sizeof *families; i++)
		if (strncmp(api->driver, families[i], strlen(families[i])) == 0)
			return true;
	return false;
}

void sw_on_code_load(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_code *c = (const struct sw_rec_code *)(const void *)r->rec;
	if (r->rec->kind == SW_REC_CODE_TOUCH && needs_code(sw_reader_api(m->reader, r->rec->api)))
		first_use(m, w, c->handle, r->rec->ctx, UINT32_MAX);
}

void sw_on_launch(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)r->rec;
	const struct sw_trace_function *f = sw_reader_function(m->reader, l->function);
	struct sw_hb_at at = sw_model_at(m, r, l->stream);
	struct walk walk = {.m = m, .w = w, .block = r->params, .bytes = r->param_bytes, .weakest = SW_EV_EXACT};
	struct sw_kernel *kernel = f ? kernel_of(m, f) : NULL;
	uint32_t lane;
	w->what.function = l->function;
	if (f && !sw_model_captured(m, &at)) {
		sw_model_lane(m, &at, &lane);
		first_use(m, w, f->handle, r->rec->ctx, lane);
	}
	if (!sw_model_enqueue(m, r, l->stream))
		return;
	m->j->coverage.launches++;
	if (walk.block && kernel && f->params && !(f->flags & SW_FUNCTION_NO_LAYOUT))
		walk_parameters(&walk, f, kernel);
	else if (walk.block)
		scan(&walk, 0, walk.bytes, -1);
	if (walk.pointers)
		m->j->coverage.kernels_by_evidence[walk.weakest]++;
	if (!walk.pointers || walk.weakest == SW_EV_ASSUMED) {
		sw_model_books(m, w->what.point.lane)->unknown = w->what.point.tick;
		m->wide.poisoned = true;
	}
	if (l->flags & SW_LAUNCH_PROGRAMMATIC)
		m->j->coverage.edges_for_safety++;
}
