/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous copies, tensor maps, matrices, textures and surfaces: accesses larger than a register. A copy into
 * shared memory stores unknown values there, so the write is emitted as well.
 */
#include <string.h>

#include "footprint/instructions/ptx/ptx_reader.h"

/* The address of a place as one value. */
static struct sw_operand place_address(struct sw_ptx_reader *r, const struct sw_ptx_place *place)
{
	if (place->block)
		return sw_ptx_temp(
			r, (struct sw_ptx_insn){.op = SW_OP_PARAM_ADDRESS, .width = 64, .imm = place->displacement});
	if (!place->displacement)
		return place->address;
	return sw_ptx_temp(r, sw_ptx_op2(SW_OP_ADD, 64, place->address, sw_operand_imm(place->displacement)));
}

/* Emits an access of `size` bytes (NULL: unknown) at a memory operand.  flags: SW_READS, SW_WRITES, SW_ATOMICS. */
static void access_bulk(struct sw_ptx_reader *r, const struct sw_ptx_node *memory, unsigned space, unsigned flags,
			const struct sw_operand *size)
{
	struct sw_ptx_place place = sw_ptx_place(r, memory, space);
	struct sw_ptx_insn insn = sw_ptx_op1(SW_OP_BULK, 64, place_address(r, &place));
	insn.space = place.space;
	insn.flags = (uint8_t)flags;
	if (size)
		insn.src[insn.n++] = *size;
	sw_ptx_do(r, insn);
}

/* Operand i as a number of bytes: 32 bits in the instruction, 64 in the neutral form. */
static struct sw_operand size_at(struct sw_ptx_reader *r, uint32_t i)
{
	struct sw_operand size = sw_ptx_value(r, i);
	return size.reg == SW_NO_REG ? size : sw_ptx_temp(r, sw_ptx_extend(64, size, 32, false));
}

/* A number of bytes from 0 to `size`. */
static struct sw_operand up_to(struct sw_ptx_reader *r, struct sw_operand size)
{
	return sw_ptx_temp(r, sw_ptx_op2(SW_OP_MIN, 64, size, sw_ptx_temp(r, sw_ptx_between(64, 0, UINT32_MAX))));
}

/* ---- cp ---- */

/* The state space that an opcode names first (which 0: the destination's) or second (1: the source's). */
static unsigned space_named(const struct sw_ptx_opcode *op, unsigned which)
{
	for (unsigned i = 1; i < op->parts; i++) {
		bool shared = op->part[i].n >= 6 && !memcmp(op->part[i].at, "shared", 6);
		bool global = op->part[i].n == 6 && !memcmp(op->part[i].at, "global", 6);
		if ((shared || global) && !which--)
			return shared ? SW_SHARED : SW_GLOBAL;
	}
	return SW_GENERIC;
}

/* cp.async.ca.shared.global [to], [from], size {, bytes to read} {, predicate: read nothing} {, cache policy} */
static void cp_async(struct sw_ptx_reader *r)
{
	struct sw_operand size = size_at(r, 2), read = size;
	const struct sw_ptx_node *more = r->operands > 3 ? sw_ptx_at(r, 3) : NULL;
	bool policy = sw_ptx_has(r->op, "L2::cache_hint");
	if (more && !(policy && r->operands == 4)) {
		if (more->kind == SW_PTX_VALUE && more->thing.bits == 1)
			read = sw_ptx_temp(r,
					   sw_ptx_op3(SW_OP_SELECT, 64, sw_ptx_use(r, more), sw_operand_imm(0), size));
		else
			read = size_at(r, 3);
	}
	access_bulk(r, sw_ptx_at(r, 1), SW_GLOBAL, SW_READS, &read);
	access_bulk(r, sw_ptx_at(r, 0), SW_SHARED, SW_WRITES, &size);
}

/* [map, {coordinates}]: one side is memory, the other shared. */
static void cp_tensor(struct sw_ptx_reader *r, bool reduce)
{
	bool load = space_named(r->op, 0) == SW_SHARED;
	const struct sw_ptx_node *map = sw_ptx_at(r, load ? 1 : 0);
	struct sw_ptx_place place = sw_ptx_place(r, map, SW_GENERIC);
	struct sw_ptx_insn insn = sw_ptx_op1(SW_OP_TENSOR, 64, place_address(r, &place));
	insn.flags = load ? SW_READS : reduce ? SW_READS | SW_WRITES | SW_ATOMICS : SW_WRITES;
	sw_ptx_do(r, insn);
	if (load)
		access_bulk(r, sw_ptx_at(r, 0), SW_SHARED, SW_WRITES, NULL);
}

/* cp.async.bulk, cp.reduce.async.bulk: [to], [from], size, ... */
static void cp_bulk(struct sw_ptx_reader *r, bool reduce)
{
	unsigned to = space_named(r->op, 0), from = space_named(r->op, 1);
	struct sw_operand size = size_at(r, 2);
	/* .cp_mask and .ignore_oob leave bytes out. */
	struct sw_operand some = size;
	if (sw_ptx_has(r->op, "cp_mask") || sw_ptx_has(r->op, "ignore_oob"))
		some = up_to(r, size);
	if (from != SW_SHARED)
		access_bulk(r, sw_ptx_at(r, 1), from, SW_READS, &some);
	access_bulk(r, sw_ptx_at(r, 0), to, reduce ? SW_READS | SW_WRITES | SW_ATOMICS : SW_WRITES, &some);
}

/* cp.async and its kinds, by what the opcode says; prefetches and waits touch nothing. */
void sw_ptx_cp(struct sw_ptx_reader *r, int arg)
{
	static const char *const silent[] = {"prefetch", "commit_group", "wait_group", "wait_all", "mbarrier"};
	bool reduce = sw_ptx_has(r->op, "reduce");
	(void)arg;
	for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
		if (sw_ptx_has(r->op, silent[i]))
			return;
	if (sw_ptx_has(r->op, "tensor"))
		cp_tensor(r, reduce);
	else if (sw_ptx_has(r->op, "bulk"))
		cp_bulk(r, reduce);
	else if (sw_ptx_has(r->op, "async"))
		cp_async(r);
	else
		sw_ptx_unknown(r, 0);
}

/* st.bulk.weak.shared::cta [a], size, 0 */
void sw_ptx_st_bulk(struct sw_ptx_reader *r, int arg)
{
	struct sw_operand size = sw_ptx_value(r, 1);
	(void)arg;
	access_bulk(r, sw_ptx_at(r, 0), r->op->space, SW_WRITES, &size);
}

/* discard.L2 [a], size: throws the lines away without writing them back, so the bytes are undefined afterwards. */
void sw_ptx_discard(struct sw_ptx_reader *r, int arg)
{
	struct sw_operand size = sw_ptx_value(r, 1);
	(void)arg;
	access_bulk(r, sw_ptx_at(r, 0), r->op->space, SW_WRITES, &size);
}

/* ---- tensor maps ---- */

/* tensormap.replace, .cp_fenceproxy: changes a map of 128 bytes in memory.  A map with another address gives access
   to memory that its encoding did not name: the address counts as read and written. */
void sw_ptx_tensormap(struct sw_ptx_reader *r, int arg)
{
	struct sw_operand size = sw_operand_imm(128);
	(void)arg;
	if (sw_ptx_has(r->op, "cp_fenceproxy")) {
		access_bulk(r, sw_ptx_at(r, 0), SW_GLOBAL, SW_WRITES, &size);
		return;
	}
	if (!sw_ptx_has(r->op, "replace")) {
		sw_ptx_unknown(r, 0);
		return;
	}
	access_bulk(r, sw_ptx_at(r, 0), r->op->space, SW_READS | SW_WRITES, &size);
	if (sw_ptx_has(r->op, "global_address"))
		sw_ptx_do(r, sw_ptx_op1(SW_OP_OPAQUE, 64, sw_ptx_value(r, 1)));
}

/* ---- matrices ---- */

/* The number after a letter in "m16n16k8"; 0: none. */
static unsigned tile_extent(const struct sw_ptx_opcode *op, char letter)
{
	for (unsigned i = 1; i < op->parts; i++) {
		const char *at = op->part[i].at, *end = at + op->part[i].n;
		if (op->part[i].n < 6 || *at != 'm' || at[1] < '0' || at[1] > '9')
			continue;
		unsigned number = 0;
		for (at = memchr(at, letter, op->part[i].n);
		     at && ++at < end && *at >= '0' && *at <= '9' && number < 100;)
			number = number * 10 + (unsigned)(*at - '0');
		return number;
	}
	return 0;
}

/* The bits of a matrix element.  Types of less than a byte are wmma's own. */
static unsigned element_bits(const struct sw_ptx_opcode *op)
{
	if (op->types)
		return op->type[0].bits;
	return sw_ptx_has(op, "b1") ? 1 : sw_ptx_has(op, "s4") || sw_ptx_has(op, "u4") ? 4 : 0;
}

/* Finds how a matrix fragment lies in memory (PTX ISA 9.0, "wmma.load"): lines `stride` elements apart.  False: not
   known. */
static bool fragment_lines(const struct sw_ptx_opcode *op, unsigned *lines, unsigned *line_bytes)
{
	bool a = sw_ptx_has(op, "a"), b = sw_ptx_has(op, "b");
	unsigned rows = tile_extent(op, b ? 'k' : 'm'), columns = tile_extent(op, a ? 'k' : 'n');
	bool by_row = sw_ptx_has(op, "row");
	*lines = by_row ? rows : columns;
	*line_bytes = (by_row ? columns : rows) * element_bits(op) / 8;
	return *lines && *line_bytes && (by_row || sw_ptx_has(op, "col"));
}

/* Emits an access to each line of a fragment at operand `at`; the stride is operand `stride_at`, without it lines
   follow each other. */
static void wmma_lines(struct sw_ptx_reader *r, uint32_t at, uint32_t stride_at, unsigned flags)
{
	const struct sw_ptx_node *memory = sw_ptx_at(r, at);
	unsigned lines, line_bytes, bits = element_bits(r->op);
	if (!memory || !fragment_lines(r->op, &lines, &line_bytes)) {
		access_bulk(r, memory, r->op->space, flags, NULL);
		return;
	}
	struct sw_operand size = sw_operand_imm(line_bytes), stride = {SW_NO_REG, line_bytes * 8 / bits};
	if (stride_at < r->operands)
		stride = sw_ptx_value(r, stride_at);
	if (stride.reg != SW_NO_REG)
		stride = sw_ptx_temp(r, sw_ptx_extend(64, stride, 32, false));
	struct sw_ptx_place place = sw_ptx_place(r, memory, r->op->space);
	struct sw_operand line = place_address(r, &place),
			  step = {SW_NO_REG, (int64_t)((uint64_t)stride.imm * bits / 8)};
	if (stride.reg != SW_NO_REG) {
		step = sw_ptx_temp(r, sw_ptx_op2(SW_OP_MUL, 64, stride, sw_operand_imm(bits < 8 ? bits : bits / 8)));
		if (bits < 8)
			step = sw_ptx_temp(r, sw_ptx_op2(SW_OP_SHR, 64, step, sw_operand_imm(3)));
	}
	for (unsigned i = 0; i < lines && !r->failed; i++) {
		struct sw_ptx_insn insn = sw_ptx_op2(SW_OP_BULK, 64, line, size);
		insn.space = place.space;
		insn.flags = (uint8_t)flags;
		sw_ptx_do(r, insn);
		if (i + 1 < lines)
			line = sw_ptx_temp(r, sw_ptx_op2(SW_OP_ADD, 64, line, step));
	}
}

/* wmma.load, .store and .mma: only the first two touch memory; registers hold no addresses. */
void sw_ptx_wmma(struct sw_ptx_reader *r, int arg)
{
	(void)arg;
	if (sw_ptx_has(r->op, "store")) {
		wmma_lines(r, 0, 2, SW_WRITES);
		return;
	}
	if (sw_ptx_has(r->op, "load"))
		wmma_lines(r, 1, 2, SW_READS);
	sw_ptx_set_range(r, sw_ptx_at(r, 0));
}

/* wgmma: operands are registers and descriptors of shared memory. */
void sw_ptx_wgmma(struct sw_ptx_reader *r, int arg)
{
	(void)arg;
	if (sw_ptx_has(r->op, "mma_async"))
		sw_ptx_set_range(r, sw_ptx_at(r, 0));
}

/* tcgen05: shared and tensor memory only; alloc leaves a tensor memory address in shared memory. */
void sw_ptx_tcgen05(struct sw_ptx_reader *r, int arg)
{
	struct sw_operand four = sw_operand_imm(4);
	(void)arg;
	if (sw_ptx_has(r->op, "ld"))
		sw_ptx_set_range(r, sw_ptx_at(r, 0));
	else if (sw_ptx_has(r->op, "alloc"))
		access_bulk(r, sw_ptx_at(r, 0), SW_SHARED, SW_WRITES, &four);
}

/* clusterlaunchcontrol: try_cancel writes 16 bytes of shared memory, query_cancel gives numbers of blocks. */
void sw_ptx_cluster_launch(struct sw_ptx_reader *r, int arg)
{
	struct sw_operand sixteen = sw_operand_imm(16);
	(void)arg;
	if (sw_ptx_has(r->op, "try_cancel"))
		access_bulk(r, sw_ptx_at(r, 0), SW_SHARED, SW_WRITES, &sixteen);
	else
		sw_ptx_any_result(r, 0);
}

/* ---- textures and surfaces ---- */

/* Finds the coordinate that is the number of a layer; false: the object has none.  PTX ISA, "Texture instructions"
   and "Surface instructions": of .a1d and .a2d the first one "is the index into the array"; of .3d the third one is
   the slice, of textures as a float. */
static bool layer_coordinate(struct sw_ptx_reader *r, const struct sw_ptx_node *memory, bool surface,
			     struct sw_operand *out)
{
	bool array = sw_ptx_has(r->op, "a1d") || sw_ptx_has(r->op, "a2d");
	uint32_t at = array ? 0 : 2;
	if ((!array && (!surface || !sw_ptx_has(r->op, "3d"))) || sw_ptx_children(r, memory) < 2)
		return false;
	const struct sw_ptx_node *coordinates = sw_ptx_child(r, memory, sw_ptx_children(r, memory) - 1);
	if (coordinates->kind != SW_PTX_VECTOR || sw_ptx_children(r, coordinates) <= at)
		return false;
	*out = sw_ptx_use(r, sw_ptx_child(r, coordinates, at));
	return true;
}

/* Emits an access through a texture or surface handle, in memory operand i, with its layer if there is one. */
static void access_object(struct sw_ptx_reader *r, enum sw_op op, unsigned flags, uint32_t i)
{
	const struct sw_ptx_node *memory = sw_ptx_at(r, i);
	struct sw_ptx_place place = sw_ptx_place(r, memory, SW_GENERIC);
	struct sw_ptx_insn insn = sw_ptx_op1(op, 64, place.address);
	if (place.block) /* a .texref or .surfref as a parameter is its handle */
		insn.src[0] =
			sw_ptx_temp(r, (struct sw_ptx_insn){.op = SW_OP_PARAM, .width = 64, .imm = place.displacement});
	insn.flags = (uint8_t)flags;
	if (layer_coordinate(r, memory, op == SW_OP_SURFACE, &insn.src[1]))
		insn.n = 2;
	sw_ptx_do(r, insn);
}

/* tex d, [texture, coordinates]: reads a texture; the texels hold no addresses. */
void sw_ptx_texture(struct sw_ptx_reader *r, int arg)
{
	(void)arg;
	access_object(r, SW_OP_TEXTURE, SW_READS, 1);
	sw_ptx_set_range(r, sw_ptx_at(r, 0));
}

/* suld, sust, sured: reads or writes a surface.  arg: SW_READS, SW_WRITES, SW_ATOMICS. */
void sw_ptx_surface(struct sw_ptx_reader *r, int arg)
{
	access_object(r, SW_OP_SURFACE, (unsigned)arg, arg == SW_READS ? 1 : 0);
	if (arg == SW_READS)
		sw_ptx_set_range(r, sw_ptx_at(r, 0));
}
