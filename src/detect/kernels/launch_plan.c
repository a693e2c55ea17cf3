/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/kernels/launch_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "detect/detect.h"
#include "detect/hazards/deferred.h"
#include "detect/hazards/stored_values.h"
#include "detect/kernels/deferrable.h"
#include "detect/kernels/kernels.h"
#include "detect/kernels/kernel_objects.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/model/call.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "footprint/footprint.h"
#include "footprint/launch_memo.h"
#include "footprint/rules.h"

/* ---- flags that no other launch can see */

/*
 * A cooperative launch finds the workspace of its barriers by %envreg, "driver-defined read-only registers" (PTX ISA,
 * "Special Registers"): this_grid().sync() orders its own blocks and nothing else.  Memory of malloc() in kernels is
 * the driver's own as well, but its pointers may be given to other launches.
 */

/* Is the term a read of one of the driver's 32-bit registers (%envreg)? */
static bool is_register(const struct sw_term *t)
{
	return t->op == SW_OP_ENVIRONMENT && t->width == 32;
}

/* Is the term computed from such a register?  Not through one of several values. */
static bool leads_to_register(const struct sw_footprint *f, uint32_t term)
{
	bool *leads = sw_calloc(term + 1u, sizeof *leads);
	for (uint32_t i = 0; i <= term; i++) {
		const struct sw_term *t = &f->term[i];
		const uint32_t operand[3] = {t->a, t->b, t->c};
		leads[i] = is_register(t);
		for (uint32_t k = 0; k < sw_term_operands(t) && !leads[i]; k++)
			leads[i] = operand[k] != SW_NO_TERM && leads[operand[k]];
	}
	bool found = leads[term];
	free(leads);
	return found;
}

/* Does the site start from memory that the driver made, such as the workspace of cooperative launches? */
static bool has_private_root(const struct sw_footprint *f, const struct sw_access_site *site)
{
	for (uint32_t i = 0; i < site->roots; i++) {
		if (f->root[site->root + i].kind == SW_ROOT_ENVIRONMENT)
			return true;
	}
	return false;
}

/* Does the reach lie in the workspace that the driver gives a cooperative launch for its barriers? */
static bool is_private_flag(const struct sw_footprint *f, const struct sw_reach *reach)
{
	if (SW_RULE_IS_OFF(private_flags))
		return false;
	/* A reach may stand for several sites. */
	for (uint32_t i = 0; i < f->sites && reach->root.kind == SW_ROOT_ENVIRONMENT; i++) {
		const struct sw_access_site *site = &f->site[i];
		if (site->polls && has_private_root(f, site) &&
		    (site->roots > 1 || site->address == SW_NO_TERM || !leads_to_register(f, site->address)))
			return false;
	}
	return reach->root.kind == SW_ROOT_ENVIRONMENT;
}

/* ---- module variables */

/* Stands for the variable while a kernel is evaluated: what is remembered of that serves each module with this code
   (cuFFT loads one a plan), wherever the driver put its variables.  For struct sw_geometry. */
static uint64_t variable_stand_in(void *arg, const char *name)
{
	(void)arg;
	/* One of 2048 places by the name, 64 GiB apart: no offset leads from one to the next. */
	return SW_NOWHERE + ((sw_hash_bytes(0, name, strlen(name)) & 0x7ff) << 36);
}

/* Where the variable of the current launch lies; 0: not known, as of constants without names, which are all of bank
   3. */
static uint64_t variable_address(struct sw_model *m, const struct sw_trace_function *function, const char *name,
				 uint64_t bytes)
{
	uint8_t ctx = m->record->rec->ctx, whole = m->context[ctx].whole;
	struct sw_variable_key key = {function->image, whole ? whole : ctx, name, strlen(name)};
	struct sw_block *made;
	if (!strncmp(name, ".nv.", 4))
		return 0;
	uint64_t address = sw_variables_find(m->variables, &m->space, &key, bytes, &made);
	if (made) {
		made->ctx = key.ctx;
		made->device = m->context[key.ctx].device;
		made->name = sw_model_name(m, name, key.bytes);
	}
	return address;
}

/* Where the byte really lies that is evaluated at this address in place of a variable's; 0: not known. */
static uint64_t variable_byte(struct sw_model *m, const struct sw_trace_function *function,
			      const struct sw_footprint *footprint, uint64_t address)
{
	uint64_t found = 0;
	for (uint32_t i = 0; i < footprint->symbols; i++) {
		const struct sw_footprint_symbol *symbol = &footprint->symbol[i];
		const char *name = footprint->string + symbol->name;
		uint64_t offset = address - variable_stand_in(NULL, name);
		if (offset >= symbol->bytes)
			continue;
		uint64_t at = variable_address(m, function, name, symbol->bytes);
		if (!at || found) /* or two have one address */
			return 0;
		found = at + offset;
	}
	return found;
}

/* ---- pointer tables in device memory */

/*
 * A launch may follow pointers that lie in memory. It finds what the host uploaded there, if the copy is ordered before
 * the launch and nothing wrote there since, the launch itself included.
 */

struct table_range {
	uint64_t lo, hi;
};

/* The memory that the evaluation of one launch read. */
struct table_reads {
	struct sw_model *m;
	SW_VEC(struct table_range) read;
	bool variables; /* some of them are module variables */
};

/* Parts that one launch looks at, beyond which nothing is known. */
#define MOST_READS 4096u

/* May the kernel follow pointers in memory, and is anything known of memory, now?  A launch that is evaluated late
   would find what came after it; a graph is judged once for all its launches. */
static bool table_reads_wanted(const struct sw_model *m, const struct sw_kernel *kernel)
{
	return kernel->follows && kernel->ran && !m->listing && !(m->scope && m->scope->late) &&
	       sw_contents_any(m->contents);
}

/* Begins to note what the launch reads in memory; false: no content of memory is known. */
static bool table_reads_begin(struct table_reads *reads, struct sw_model *m)
{
	*reads = (struct table_reads){.m = m};
	return sw_uploads_known(m);
}

/* Frees the list of what the evaluation read. */
static void table_reads_end(struct table_reads *reads)
{
	free(reads->read.at);
	reads->read.at = NULL;
}

/* Call-back of struct sw_geometry: the content of memory that an evaluation asks for, from what was uploaded; notes
   what was read. */
static enum sw_memory_content read_table(struct table_reads *reads, uint64_t address, uint32_t bytes, void *out)
{
	const struct sw_content_part *part = sw_upload_find(reads->m, reads->m->wait->what.point, address, bytes);
	uint64_t offset;
	if (!part || reads->read.n == MOST_READS)
		return SW_CONTENT_UNKNOWN;
	const struct sw_block *block = sw_space_find(&reads->m->space, address, &offset);
	reads->variables |= block && block->memory == SW_MEM_SYMBOL;
	memcpy(out, part->data + (address - part->address), bytes);
	const struct table_range *last = reads->read.n ? &reads->read.at[reads->read.n - 1] : NULL;
	if (!last || last->lo != part->address)
		*sw_vec_push(&reads->read) = (struct table_range){part->address, part->address + part->bytes};
	return part->may_change ? SW_CONTENT_MAY_CHANGE : SW_CONTENT_KNOWN;
}

/* Did the evaluation read anything in [lo, hi)? */
static bool looked_at(const struct table_reads *reads, uint64_t lo, uint64_t hi)
{
	for (size_t i = 0; i < reads->read.n; i++)
		if (reads->read.at[i].lo < hi && lo < reads->read.at[i].hi)
			return true;
	return false;
}

/* May the launch write to memory that its own evaluation has read?  Then what was read is not what it will find. */
static bool may_overwrite(const struct table_reads *reads, const struct sw_reach *reach)
{
	uint64_t offset;
	if (reach->root.kind == SW_ROOT_ENVIRONMENT)
		return false; /* memory of another kind */
	if (reach->root.kind == SW_ROOT_SYMBOL)
		return reads->variables;
	if (reach->extent != SW_EXTENT_OPEN) {
		uint64_t bytes = reach->slice * (reach->slices - 1) + reach->pitch * (reach->rows - 1) + reach->width;
		return looked_at(reads, reach->address, reach->address + bytes);
	}
	bool followed = reach->root.kind == SW_ROOT_INDIRECT && reach->pointer;
	if (!followed && (reach->root.kind != SW_ROOT_PARAM || reach->root.span > 8))
		return true;
	const struct sw_block *block = sw_space_find_outer(&reads->m->space, reach->address, &offset);
	if (followed && !block)
		return true;
	return block && looked_at(reads, block->address, block->address + block->bytes);
}

/* May the launch write to memory whose content its own evaluation has read?  Then what it read may not have been there
   any more. */
static bool table_reads_overwritten(const struct table_reads *reads, const struct sw_reaches *reaches)
{
	for (size_t i = 0; i < reaches->n; i++)
		if (reaches->at[i].role & (SW_TOUCH_WRITE | SW_TOUCH_ATOMIC) && may_overwrite(reads, &reaches->at[i]))
			return reads->read.n != 0;
	return false;
}

/* ---- plans */

/* Most bytes of evaluations, which serve launches with tensors elsewhere too. */
#define SW_MAX_MEMO_BYTES (32u << 20)

struct sw_plans {
	struct sw_launch_memo *memo; /* of what launches of one shape touch */
	struct sw_reaches reaches;   /* of the current launch */
	SW_VEC(struct sw_plan_touch) touches;
	SW_VEC(unsigned char) block; /* parameters as the code has them, where that is not as the driver has them */
};

/* Room for the plan of the current launch, and the memory of evaluated launches that serves those of one shape. */
struct sw_plans *sw_plans_new(void)
{
	struct sw_plans *plans = sw_calloc(1, sizeof *plans);
	plans->memo = sw_launch_memo_open(SW_MAX_MEMO_BYTES);
	return plans;
}

void sw_plans_free(struct sw_plans *plans)
{
	sw_launch_memo_close(plans->memo);
	free(plans->reaches.at);
	free(plans->touches.at);
	free(plans->block.at);
	free(plans);
}

/* ---- from reaches to ranges ---------------------------------------------------------------------------------------
 */

struct making {
	struct sw_model *m;
	const struct sw_trace_function *function;
	struct sw_kernel *kernel;
	const unsigned char *block; /* parameters as the code has them */
	uint32_t bytes;
	struct sw_plan plan;
	bool polls, own_flags; /* as in struct sw_range */
	struct sw_grid_state grid;
	struct table_reads tables;
};

/* Does the reach include a write or an atomic update? */
static bool may_write(const struct sw_reach *reach)
{
	return reach->role & (SW_TOUCH_WRITE | SW_TOUCH_ATOMIC);
}

/* The eight bytes at an offset of the parameter block, as the analysed code lays it out; false: beyond its end. */
static bool word_at(const struct making *k, uint32_t offset, uint64_t *word)
{
	if (offset > k->bytes || k->bytes - offset < sizeof *word)
		return false;
	memcpy(word, k->block + offset, sizeof *word);
	return true;
}

/* The number of the parameter that holds this offset; -1: none. */
static int32_t param_of(const struct making *k, uint32_t offset)
{
	for (uint32_t i = 0; i < k->kernel->footprint->params; i++) {
		const struct sw_param *p = &k->kernel->footprint->param[i];
		if (offset >= p->offset && offset - p->offset < p->bytes)
			return (int32_t)i;
	}
	return -1;
}

/* Splits what an access does (SW_TOUCH_* bits) into one or two roles.  Reading what others update at once is not an
   update: it stays a role of its own.  Writing to it makes all of it writing. */
static uint32_t roles_of(uint32_t touched, enum sw_role role[2])
{
	static const struct {
		uint8_t n;
		enum sw_role role[2];
	} roles[8] = {
		[SW_TOUCH_READ] = {1, {SW_READ}},
		[SW_TOUCH_WRITE] = {1, {SW_WRITE}},
		[SW_TOUCH_READ | SW_TOUCH_WRITE] = {1, {SW_READ_WRITE}},
		[SW_TOUCH_ATOMIC] = {1, {SW_ATOMIC}},
		[SW_TOUCH_ATOMIC | SW_TOUCH_READ] = {2, {SW_ATOMIC, SW_READ}},
		[SW_TOUCH_ATOMIC | SW_TOUCH_WRITE] = {1, {SW_READ_WRITE}},
		[SW_TOUCH_ATOMIC | SW_TOUCH_READ | SW_TOUCH_WRITE] = {1, {SW_READ_WRITE}},
	};
	memcpy(role, roles[touched & 7].role, sizeof roles->role);
	return roles[touched & 7].n;
}

/* Adds the accesses of a reach to the plan, one for each role, with their evidence; `like` has their range. */
static void push_touches(struct making *k, const struct sw_reach *reach, enum sw_via via,
			 const struct sw_plan_touch *like)
{
	enum sw_role role[2];
	uint32_t roles = roles_of(reach->role, role);
	const struct sw_evidence_detail *evidence_detail = sw_kernel_evidence(k->m, k->kernel, reach, via);
	for (uint32_t i = 0; i < roles; i++) {
		struct sw_plan_touch *touch = sw_vec_push(&k->m->plans->touches);
		*touch = *like;
		touch->range.role = role[i];
		touch->range.polls = k->polls;
		touch->range.own_flags = k->own_flags;
		touch->range.perhaps = reach->content == SW_CONTENT_MAY_CHANGE;
		touch->range.evidence_detail = evidence_detail;
		touch->range.phase = (uint8_t)sw_grid_phase(&k->grid, reach->order);
	}
}

/* Adds an access that begins at the pointer and has no known end; a null pointer leads nowhere.  param: the parameter
   that the pointer came from, -1 none; guess: it may be no pointer. */
static void push_open(struct making *k, const struct sw_reach *reach, enum sw_via via, uint64_t pointer, int32_t param,
		      bool guess)
{
	if (!pointer)
		return;
	/* SW_READ stands in: push_touches() makes an access of it for each role of the reach. */
	struct sw_plan_touch touch = {.range = sw_range_open(pointer, SW_READ, SW_EV_DIRECTION, param), .guess = guess};
	touch.range.below = reach->below;
	push_touches(k, reach, via, &touch);
}

/* Adds the access that a launch makes through a pointer in a word of its parameter block: open within its
   allocation, or where no more than [lo, hi) is touched through that word, so bounded. guess: the word may be no
   pointer. */
static void push_word(struct making *k, const struct sw_reach *reach, uint32_t at, uint64_t word, bool guess)
{
	size_t from = k->m->plans->touches.n;
	uint64_t lo, hi;
	push_open(k, reach, SW_VIA_PARAMETER, word, param_of(k, at), guess);
	if (from == k->m->plans->touches.n || !sw_deferrable_reach(k->m, k->kernel, at, &lo, &hi))
		return;
	if (lo == hi) /* no thread comes there */
		k->m->plans->touches.n = from;
	for (; from < k->m->plans->touches.n; from++) {
		k->m->plans->touches.at[from].lo = lo;
		k->m->plans->touches.at[from].hi = hi;
	}
}

/* Adds the accesses by the words of the parameter block that one reach starts from: only words that the code is
   known to use, as the others of a structure hold what lay there before. */
static void push_words(struct making *k, const struct sw_reach *reach)
{
	const struct sw_root *root = &reach->root;
	bool table = root->span > 8;
	/* Nothing but the code that ran proves that a word is a pointer. */
	bool guess = table || root->weak || !k->kernel->ran;
	uint32_t at = table ? (root->param + 7) & ~7u : root->param;
	uint64_t word;
	for (; at - root->param + 8 <= (table ? root->span : 8) && word_at(k, at, &word); at += 8)
		push_word(k, reach, at, word, guess);
}

/* Adds an access with bounds: each of its bytes, or some within them if it is a hull.  SW_READ stands for each role of
   the reach, as in push_open(). */
static void push_box(struct making *k, const struct sw_reach *reach, enum sw_via via)
{
	uint64_t size[3] = {reach->width, reach->rows, reach->slices}, pointer;
	struct sw_plan_touch touch = {0};
	if (!reach->width)
		return;
	touch.range = sw_range_box(reach->address, size, reach->pitch, reach->slice, SW_READ, SW_EV_FOOTPRINT);
	touch.range.loose = reach->extent == SW_EXTENT_HULL;
	if (via == SW_VIA_PARAMETER) {
		touch.range.param = param_of(k, reach->root.param);
		if (reach->root.span <= 8 && word_at(k, reach->root.param, &pointer))
			touch.range.base = pointer;
	}
	push_touches(k, reach, via, &touch);
}

/* Adds an access that starts from a parameter. */
static void push_pointer(struct making *k, const struct sw_reach *reach)
{
	/* The base of an address is a good guess in code of another architecture, how far it goes is not. */
	if (reach->extent == SW_EXTENT_OPEN || !k->kernel->ran)
		push_words(k, reach);
	else
		push_box(k, reach, SW_VIA_PARAMETER);
}

/* ---- module variables */

/* Adds an access to a module variable, moved from its stand-in address to where this module's variable lies. */
static void push_symbol(struct making *k, const struct sw_reach *reach)
{
	const struct sw_footprint *f = k->kernel->footprint;
	const struct sw_footprint_symbol *symbol =
		reach->root.symbol < f->symbols ? &f->symbol[reach->root.symbol] : NULL;
	const char *name = symbol ? f->string + symbol->name : "";
	uint64_t address = symbol && reach->address ? variable_address(k->m, k->function, name, symbol->bytes) : 0;
	struct sw_reach placed = *reach;
	if (!address) {
		/* Unnamed ones, or too many. No kernel writes constants, and the host only after taking the address. */
		k->plan.symbols |= !symbol || !symbol->constant;
		return;
	}
	placed.address += address - variable_stand_in(NULL, name);
	if (reach->extent == SW_EXTENT_OPEN || !k->kernel->ran)
		push_open(k, &placed, SW_VIA_SYMBOL, placed.address, -1, !k->kernel->ran);
	else
		push_box(k, &placed, SW_VIA_SYMBOL);
}

/* How the memory of textures and the like is found, by the instruction that accesses it. */
static enum sw_via via_of(const struct making *k, const struct sw_reach *reach)
{
	const struct sw_footprint *f = k->kernel->footprint;
	uint8_t op = reach->site < f->sites ? f->site[reach->site].op : SW_OP_TENSOR;
	return op == SW_OP_TEXTURE ? SW_VIA_TEXTURE : op == SW_OP_SURFACE ? SW_VIA_SURFACE : SW_VIA_TENSOR_MAP;
}

/* Does the instruction of this access have the number of a layer (texture or surface)? */
static bool is_layered(const struct making *k, const struct sw_reach *reach)
{
	const struct sw_footprint *f = k->kernel->footprint;
	return reach->site < f->sites && f->site[reach->site].address == SW_NO_TERM &&
	       f->site[reach->site].size != SW_NO_TERM;
}

/* Adds an access through a texture, a surface or a tensor map, whose memory is known from its creation.  An unknown one
   may be anywhere; for a tensor map in the parameters at least its first word, the address, is a guess. */
static void push_object(struct making *k, const struct sw_reach *reach)
{
	enum sw_via via = via_of(k, reach);
	struct sw_plan_touch touch = {0};
	uint64_t word;
	bool found = false, at_param = reach->root.kind == SW_ROOT_MAP && reach->root.span <= SW_TENSOR_MAP_BYTES;
	if (!word_at(k, reach->root.param, &word)) {
		k->plan.objects = true;
		k->plan.writes_anywhere |= may_write(reach);
		return;
	}
	/* A tensor map that lies in memory cannot be read: only its address is known. */
	if (via != SW_VIA_TENSOR_MAP)
		found = sw_handles_find(k->m->handles, via == SW_VIA_TEXTURE ? SW_OBJECT_TEXTURE : SW_OBJECT_SURFACE,
					word, &touch.range, &touch.array);
	else if (at_param && !word)
		return; /* never made: libraries leave out what a launch does not use */
	else if (at_param)
		found = sw_handles_find_map(k->m->handles, k->kernel->arch, k->block + reach->root.param,
					    k->bytes - reach->root.param, &touch.range);
	if (found) {
		touch.range.param = param_of(k, reach->root.param);
		touch.guess = !k->kernel->ran;
		touch.layer = reach->layer;
		touch.layers = k->kernel->ran ? reach->layers : 0;
		touch.range.unplaced = is_layered(k, reach) && !touch.layers;
		push_touches(k, reach, via, &touch);
		return;
	}
	k->plan.writes_anywhere |= may_write(reach);
	/* Made before anybody watched, in a layout that is not known but for its first word, the address. */
	k->plan.objects = true;
	size_t from = k->m->plans->touches.n;
	if (at_param)
		push_open(k, reach, via, word, param_of(k, reach->root.param), true);
	for (; from < k->m->plans->touches.n; from++)
		k->m->plans->touches.at[from].range.unplaced = true;
}

/* Adds an access through a pointer that was read from memory.  Known pointers that lead nowhere are as good as unknown
   ones: what is there was not seen. */
static void push_indirect(struct making *k, const struct sw_reach *reach)
{
	const struct sw_address_space *space = &k->m->space;
	uint64_t size[3] = {reach->width, reach->rows, reach->slices}, offset;
	struct sw_plan_touch touch = {.guess = reach->extent != SW_EXTENT_BOX};
	bool open = reach->extent == SW_EXTENT_OPEN;
	if (!reach->content || (open ? !reach->pointer : !reach->width) ||
	    (!sw_space_find(space, reach->address, &offset) && !sw_space_find_freed(space, reach->address, &offset))) {
		k->plan.indirect = true;
		k->plan.writes_anywhere |= may_write(reach);
		return;
	}
	k->plan.followed = true;
	if (open) {
		push_open(k, reach, SW_VIA_MEMORY, reach->pointer,
			  reach->root.span ? param_of(k, reach->root.param) : -1, true);
		return;
	}
	touch.range = sw_range_box(reach->address, size, reach->pitch, reach->slice, SW_READ, SW_EV_FOOTPRINT);
	touch.range.base = reach->pointer ? reach->pointer : reach->address;
	touch.range.loose = reach->extent == SW_EXTENT_HULL;
	touch.range.param = reach->root.span ? param_of(k, reach->root.param) : -1;
	push_touches(k, reach, SW_VIA_MEMORY, &touch);
}

/* Notes that the reach may be anywhere, so that the plan is not complete. */
static void push_unknown(struct making *k, const struct sw_reach *reach)
{
	k->plan.unknown = true;
	k->plan.writes_anywhere |= may_write(reach);
}

/* For accesses to memory that the driver allocated: adds nothing.  Of the workspace of a cooperative launch no other
   launch has the address; of malloc() in kernels another one may have it, a miss that doc/footprints.md names. */
static void drop_driver_memory(struct making *k, const struct sw_reach *reach)
{
	(void)k;
	(void)reach;
}

/* Adds a reach, which is what one site of the kernel touches in this launch, by the kind of pointer that it starts
   from. */
static void add_reach(struct making *k, const struct sw_reach *reach)
{
	static void (*const by_root[])(struct making *, const struct sw_reach *) = {
		[SW_ROOT_PARAM] = push_pointer,	    [SW_ROOT_SYMBOL] = push_symbol,
		[SW_ROOT_INDIRECT] = push_indirect, [SW_ROOT_OBJECT] = push_object,
		[SW_ROOT_MAP] = push_object,	    [SW_ROOT_ENVIRONMENT] = drop_driver_memory,
		[SW_ROOT_UNKNOWN] = push_unknown,
	};
	bool known = reach->root.kind < sizeof by_root / sizeof *by_root;
	(known ? by_root[reach->root.kind] : push_unknown)(k, reach);
}

/* Lays the launch's parameter block out as the analysed code has it: PTX may place a parameter elsewhere than machine
   code. */
static void place_params(struct making *k)
{
	const struct sw_footprint *f = k->kernel->footprint;
	const struct sw_record *r = k->m->record;
	k->block = r->params;
	k->bytes = r->params ? r->param_bytes : 0;
	k->plan.whole = k->bytes >= f->param_bytes;
	if (!k->kernel->moved)
		return;
	k->m->plans->block.n = 0;
	sw_vec_reserve(&k->m->plans->block, f->param_bytes + 1);
	k->block = k->m->plans->block.at;
	k->plan.whole = sw_footprint_place_params(f, k->function->param, r->params, k->bytes, k->m->plans->block.at);
	k->bytes = f->param_bytes;
}

/* Does the reach start from a null pointer?  Then it is never made: libraries leave out flags and workspaces so, in the
   same kernel (split-k sums of cuBLAS). */
static bool is_null(const struct making *k, const struct sw_reach *reach)
{
	uint64_t word;
	return reach->extent == SW_EXTENT_OPEN && reach->root.kind == SW_ROOT_PARAM && reach->root.span <= 8 &&
	       word_at(k, reach->root.param, &word) && !word;
}

/* Do both start from the same word of the parameters, or the same variable? */
static bool same_root(const struct sw_reach *a, const struct sw_reach *b)
{
	return a->root.kind == b->root.kind && a->root.param == b->root.param && a->root.span == b->root.span &&
	       a->root.symbol == b->root.symbol;
}

/* Does the launch itself write the flags that it polls (semaphores between the blocks of one kernel)? */
static bool is_own_flag(const struct sw_reaches *reaches, const struct sw_reach *polled)
{
	bool reads = false, writes = false;
	for (size_t i = 0; i < reaches->n; i++) {
		const struct sw_reach *r = &reaches->at[i];
		if (!same_root(r, polled))
			continue;
		reads |= r->polls && r->role & (SW_TOUCH_READ | SW_TOUCH_ATOMIC);
		writes |= (r->role & (SW_TOUCH_WRITE | SW_TOUCH_ATOMIC)) != 0;
	}
	return reads && writes;
}

/* Notes whether the launch polls flags that others may write: blocks that wait for others inside the kernel are ordered
   by what they read there, which is not seen here. */
static void look_for_flags(struct making *k, const struct sw_reaches *reaches)
{
	k->own_flags = true;
	for (size_t i = 0; i < reaches->n; i++) {
		const struct sw_reach *r = &reaches->at[i];
		if (!r->polls || is_null(k, r) || is_private_flag(k->kernel->footprint, r))
			continue;
		k->polls = true;
		k->own_flags = k->own_flags && is_own_flag(reaches, r);
	}
	k->own_flags = k->own_flags && k->polls;
}

/* Call-back of struct sw_geometry: the content of memory at an address, or at a variable's stand-in. */
static enum sw_memory_content content_at(void *arg, uint64_t address, uint32_t bytes, void *out)
{
	struct making *k = arg;
	if (sw_is_nowhere(address))
		address = variable_byte(k->m, k->function, k->kernel->footprint, address);
	return address ? read_table(&k->tables, address, bytes, out) : SW_CONTENT_UNKNOWN;
}

/* Evaluates the kernel's footprint for this launch. With `follow`, pointers are read from tables that were uploaded; if
   the kernel overwrites one of those tables, it is evaluated again without. */
static void evaluate_launch(struct making *k, bool follow)
{
	struct sw_reaches *reaches = &k->m->plans->reaches;
	struct sw_geometry geometry = sw_launch_geometry(k->m->record);
	geometry.params = k->block;
	geometry.param_bytes = k->bytes;
	geometry.symbol = variable_stand_in;
	geometry.content = follow ? content_at : NULL;
	geometry.arg = k;
	sw_footprint_grid(k->kernel->footprint, &geometry, &k->grid);
	reaches->n = 0;
	k->m->plans->touches.n = 0;
	k->plan.memory = sw_launch_memo_evaluate(k->m->plans->memo, k->kernel->footprint, &geometry, reaches);
	if (follow && table_reads_overwritten(&k->tables, reaches)) {
		geometry.content = NULL;
		reaches->n = 0;
		sw_launch_memo_evaluate(k->m->plans->memo, k->kernel->footprint, &geometry, reaches);
	}
	look_for_flags(k, reaches);
	for (size_t i = 0; i < reaches->n; i++)
		add_reach(k, &reaches->at[i]);
}

/* Makes the plan of a launch.  tables: notes what its evaluation reads in memory; NULL: no content of memory is
   known. */
static struct sw_plan *make_plan(struct sw_model *m, const struct sw_trace_function *function, struct sw_kernel *kernel,
				 struct table_reads *tables)
{
	struct making k = {.m = m, .function = function, .kernel = kernel};
	place_params(&k);
	if (tables)
		k.tables = *tables;
	evaluate_launch(&k, tables != NULL);
	if (tables)
		*tables = k.tables;
	k.plan.writes_anywhere |= kernel->wild || !k.plan.whole;
	const size_t n = m->plans->touches.n;
	struct sw_plan *plan = sw_alloc(sizeof *plan + n * sizeof *plan->touch);
	struct sw_plan_touch *touch = (struct sw_plan_touch *)(plan + 1);
	if (n)
		memcpy(touch, m->plans->touches.at, n * sizeof *touch);
	*plan = k.plan;
	plan->touches = (uint32_t)n;
	plan->touch = touch;
	return plan;
}

struct sw_plan *sw_plan_make(struct sw_model *m, const struct sw_trace_function *function, struct sw_kernel *kernel)
{
	struct table_reads tables;
	struct sw_plan *plan = make_plan(m, function, kernel, NULL);
	if (!plan->memory || !table_reads_wanted(m, kernel))
		return plan;
	/* Evaluates others first: what was found is perhaps no longer kept. */
	bool known = table_reads_begin(&tables, m);
	free(plan);
	plan = make_plan(m, function, kernel, known ? &tables : NULL);
	table_reads_end(&tables);
	return plan;
}
