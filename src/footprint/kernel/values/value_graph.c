/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/kernel/values/value_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "footprint/kernel/values/simplify.h"

/* ---- operations on constants */

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

/* The quotient or remainder of two constants; false: of a division by 0. */
static bool fold_division(const struct sw_making *m, int64_t a, int64_t b, int64_t *result)
{
	uint64_t ua = sw_fold_unsigned(a, m->width), ub = sw_fold_unsigned(b, m->width);
	bool rem = m->op == SW_OP_REM;
	if (!b)
		return false;
	if (!(m->flags & SW_SIGNED))
		*result = (int64_t)(rem ? ua % ub : ua / ub);
	else if (b == -1) /* INT64_MIN / -1 traps */
		*result = rem ? 0 : (int64_t)(0 - (uint64_t)a);
	else
		*result = rem ? a % b : a / b;
	return true;
}

/* A shift of a constant; by the width or more it gives 0, or the sign (PTX ISA, shl and shr). */
static int64_t fold_shift(const struct sw_making *m, int64_t a, int64_t count)
{
	uint64_t n = sw_fold_unsigned(count, 32);
	uint32_t w = m->width;
	if (m->op == SW_OP_SHL)
		return n >= w ? 0 : (int64_t)((uint64_t)a << n);
	if (m->flags & SW_SIGNED)
		return a >> (n >= w ? 63 : n);
	return n >= w ? 0 : (int64_t)(sw_fold_unsigned(a, w) >> n);
}

/* The upper half of the product of two constants. */
static int64_t fold_mulhi(const struct sw_making *m, int64_t a, int64_t b)
{
	if (m->flags & SW_SIGNED)
		return (int64_t)(((signed_wide)a * b) >> m->width);
	return (int64_t)(((wide)sw_fold_unsigned(a, m->width) * sw_fold_unsigned(b, m->width)) >> m->width);
}

/* Does the comparison hold for these two constants? */
static bool fold_compare(const struct sw_making *m, int64_t a, int64_t b)
{
	uint64_t ua = sw_fold_unsigned(a, (uint32_t)m->imm2), ub = sw_fold_unsigned(b, (uint32_t)m->imm2);
	bool less = m->flags & SW_SIGNED ? a < b : ua < ub, equal = ua == ub;
	switch (m->imm) {
	case SW_EQ:
		return equal;
	case SW_NE:
		return !equal;
	case SW_LT:
		return less;
	case SW_LE:
		return less || equal;
	case SW_GT:
		return !less && !equal;
	default:
		return !less;
	}
}

/* The smaller (MIN) or larger (MAX) of two constants. */
static int64_t fold_extreme(const struct sw_making *m, int64_t a, int64_t b)
{
	bool less = m->flags & SW_SIGNED ? a < b : sw_fold_unsigned(a, m->width) < sw_fold_unsigned(b, m->width);
	return less == (m->op == SW_OP_MIN) ? a : b;
}

/* The low imm bits of a constant, extended with its sign or with zeros. */
static int64_t fold_extend(const struct sw_making *m, int64_t a)
{
	uint32_t bits = (uint32_t)m->imm;
	if (m->flags & SW_SIGNED && bits > 1)
		return sw_fold_canonical(a, bits);
	if (m->flags & SW_SIGNED)
		return a & 1 ? -1 : 0;
	return (int64_t)sw_fold_unsigned(a, bits);
}

/* The sum of operands of 32 bits, of which the last one of an ADDX is a carry of one bit. */
static uint64_t fold_sum(const struct sw_making *m, const int64_t *imm)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < m->n; i++)
		total += (uint32_t)imm[i];
	return total;
}

bool sw_fold(const struct sw_making *m, const int64_t *imm, int64_t *result)
{
	int64_t a = m->n > 0 ? imm[0] : 0, b = m->n > 1 ? imm[1] : 0, r;
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
	switch (m->op) {
	case SW_OP_MOV:
		r = a;
		break;
	case SW_OP_ADD:
		r = (int64_t)(ua + ub);
		break;
	case SW_OP_SUB:
		r = (int64_t)(ua - ub);
		break;
	case SW_OP_MUL:
		r = (int64_t)(ua * ub);
		break;
	case SW_OP_MULHI:
		r = fold_mulhi(m, a, b);
		break;
	case SW_OP_NEG:
		r = (int64_t)(0 - ua);
		break;
	case SW_OP_ABS:
		r = a < 0 ? (int64_t)(0 - ua) : a;
		break;
	case SW_OP_AND:
		r = a & b;
		break;
	case SW_OP_OR:
		r = a | b;
		break;
	case SW_OP_XOR:
		r = a ^ b;
		break;
	case SW_OP_NOT:
		r = ~a;
		break;
	case SW_OP_MIN:
	case SW_OP_MAX:
		r = fold_extreme(m, a, b);
		break;
	case SW_OP_SHL:
	case SW_OP_SHR:
		r = fold_shift(m, a, b);
		break;
	case SW_OP_EXTEND:
		r = fold_extend(m, a);
		break;
	case SW_OP_SELECT:
		r = a & 1 ? b : imm[2];
		break;
	case SW_OP_COMPARE:
		r = fold_compare(m, a, b);
		break;
	case SW_OP_PAIR:
		r = (int64_t)((uint64_t)(uint32_t)a | ub << 32);
		break;
	case SW_OP_LOW:
		r = a;
		break;
	case SW_OP_HIGH:
		r = a >> 32;
		break;
	case SW_OP_CARRY:
		r = (int64_t)(fold_sum(m, imm) >> 32 != 0);
		break;
	case SW_OP_ADDX:
		r = (int64_t)fold_sum(m, imm);
		break;
	case SW_OP_DIV:
	case SW_OP_REM:
		if (!fold_division(m, a, b, &r))
			return false;
		break;
	default:
		return false;
	}
	*result = sw_fold_canonical(r, m->width);
	return true;
}

/* ---- known bits: which bits of a value may be set, looking a few nodes deep */

uint32_t sw_known_zeros(const struct sw_graph *g, sw_node node, uint32_t depth)
{
	const struct sw_value *v = sw_graph_at(g, node);
	uint32_t a, b;
	switch (v->op) {
	case SW_OP_CONST:
		return v->imm ? (uint32_t)__builtin_ctzll((uint64_t)v->imm) : v->width;
	case SW_OP_MUL:
		a = depth ? sw_known_zeros(g, v->operand[0], depth - 1) + sw_known_zeros(g, v->operand[1], depth - 1)
			  : 0;
		return a < v->width ? a : v->width;
	case SW_OP_ADD:
		a = depth ? sw_known_zeros(g, v->operand[0], depth - 1) : 0;
		b = depth ? sw_known_zeros(g, v->operand[1], depth - 1) : 0;
		return a < b ? a : b;
	default:
		return 0;
	}
}

uint32_t sw_known_bits(const struct sw_graph *g, sw_node node, uint32_t depth)
{
	const struct sw_value *v = sw_graph_at(g, node);
	int64_t c;
	uint32_t a, b;
	switch (v->op) {
	case SW_OP_CONST:
		return v->imm < 0 ? v->width : v->imm ? 64 - (uint32_t)__builtin_clzll((uint64_t)v->imm) : 0;
	case SW_OP_SPECIAL: /* a block has at most 1024 threads (numbers of 10 bits), 32 warps of 32 lanes (of 5 bits)
			     */
		return v->imm <= SW_TID_Z			    ? 10
		       : v->imm <= SW_NTID_Z			    ? 11
		       : v->imm == SW_LANEID || v->imm == SW_WARPID ? 5
								    : v->width;
	case SW_OP_EXTEND:
		return v->flags & SW_SIGNED ? v->width : (uint32_t)v->imm < v->width ? (uint32_t)v->imm : v->width;
	case SW_OP_AND:
		a = depth ? sw_known_bits(g, v->operand[0], depth - 1) : v->width;
		b = depth ? sw_known_bits(g, v->operand[1], depth - 1) : v->width;
		return a < b ? a : b;
	case SW_OP_SHR:
		if (v->flags & SW_SIGNED || !sw_graph_is_const(g, v->operand[1], &c) || c < 0)
			return v->width;
		a = depth ? sw_known_bits(g, v->operand[0], depth - 1) : v->width;
		return c >= a ? 0 : a - (uint32_t)c;
	case SW_OP_MIX: /* of another thread: bits that are zero in all of them */
		return v->imm && depth ? sw_known_bits(g, v->operand[0], depth - 1) : v->width;
	case SW_VALUE_LOADED:
		return v->flags & SW_SIGNED || v->bytes * 8u > v->width ? v->width : v->bytes * 8u;
	default:
		return v->width;
	}
}

/* ---- nodes */

void sw_graph_free(struct sw_graph *graph)
{
	free(graph->value.at);
	free(graph->list.at);
	free(graph->bucket);
	free(graph->inverse.at);
	free(graph->paired.at);
	sw_map_free(&graph->pairs);
	sw_map_free(&graph->joined);
	*graph = (struct sw_graph){0};
}

#define LEAST_BUCKETS 1024
/* ---- the table of equal nodes ---------------------------------------------------------------------------------- */

/* Hashes all that makes two nodes equal.  One product for each part: they do not wait for each other. */
static uint32_t hash_of(const struct sw_making *m, const sw_node *operands)
{
	static const uint64_t factor[3] = {0x9fb21c651e98df25ull, 0xd6e8feb86659fd93ull, 0xa0761d6478bd642full};
	uint64_t h = (uint64_t)m->op << 24 | (uint64_t)m->width << 16 | (uint64_t)m->flags << 8 | m->n;
	h = h * 0x9e3779b97f4a7c15ull + (uint64_t)m->imm * 0xff51afd7ed558ccdull +
	    (uint64_t)m->imm2 * 0xc4ceb9fe1a85ec53ull;
	for (uint32_t i = 0; i < m->n; i++)
		h += i < 3 ? operands[i] * factor[i] : sw_hash_u64(operands[i] + h);
	return (uint32_t)((h ^ h >> 32) * 0xe7037ed1a0b428dbull >> 32);
}

/* Is the node the same operation on the same operands as what is to be made? */
static bool is_equal_node(const struct sw_graph *graph, sw_node node, const struct sw_making *m,
			  const sw_node *operands)
{
	const struct sw_value *v = sw_graph_at(graph, node);
	return v->op == m->op && v->width == m->width && v->flags == m->flags && v->n == m->n && v->imm == m->imm &&
	       v->imm2 == m->imm2 && v->why == m->why && v->space == m->space && v->bytes == m->bytes &&
	       (!m->n || !memcmp(sw_graph_operands(graph, node), operands, m->n * sizeof *operands));
}

/* Two loads, or two unmodelled functions, of the same operands may differ. */
static bool is_unique(uint8_t op)
{
	return op == SW_OP_RANGE || op == SW_OP_MIX || op == SW_VALUE_LOADED || op == SW_TERM_LOADED;
}

/* Makes the table of equal nodes larger: `room` buckets, a power of two. */
static void grow_buckets(struct sw_graph *graph, size_t room)
{
	struct sw_graph_bucket *old = graph->bucket;
	size_t buckets = graph->buckets;
	graph->bucket = sw_calloc(room, sizeof *graph->bucket);
	graph->buckets = room;
	for (size_t k = 0; k < buckets; k++) {
		size_t i = old[k].hash & (room - 1);
		while (old[k].node && graph->bucket[i].node)
			i = (i + 1) & (room - 1);
		if (old[k].node)
			graph->bucket[i] = old[k];
	}
	free(old);
}

void sw_graph_expect(struct sw_graph *graph, size_t nodes)
{
	size_t room = LEAST_BUCKETS;
	while (room < nodes * 2)
		room *= 2;
	sw_vec_reserve(&graph->value, nodes);
	if (room > graph->buckets)
		grow_buckets(graph, room);
}

/* Stores a node's operands: up to three in the node, more in the graph's list. */
static void put_operands(struct sw_graph *graph, struct sw_value *v, const sw_node *operands, uint32_t n)
{
	v->n = n;
	if (n <= 3) {
		if (n)
			memcpy(v->operand, operands, n * sizeof *operands);
		return;
	}
	v->operand[0] = (uint32_t)graph->list.n;
	for (uint32_t i = 0; i < n; i++)
		*sw_vec_push(&graph->list) = operands[i];
}

/* Appends a node, without looking whether there is an equal one. */
static sw_node add_node(struct sw_graph *graph, const struct sw_making *m, const sw_node *operands)
{
	struct sw_value v = {.op = m->op,
			     .width = m->width,
			     .flags = m->flags,
			     .why = m->why,
			     .space = m->space,
			     .bytes = m->bytes,
			     .imm = m->imm,
			     .imm2 = m->imm2};
	put_operands(graph, &v, operands, m->n);
	v.chooses = m->op == SW_OP_SELECT;
	for (uint32_t i = 0; i < m->n && m->n <= 3 && m->op < SW_OPS && m->op != SW_OP_MIX; i++)
		v.chooses |= sw_graph_at(graph, operands[i])->chooses;
	*sw_vec_push(&graph->value) = v;
	return (sw_node)(graph->value.n - 1);
}

/* The node of this operation and these operands: an equal one if there is one, else a new one. */
static sw_node intern_node(struct sw_graph *graph, const struct sw_making *m, const sw_node *operands)
{
	if (graph->filled * 2 >= graph->buckets)
		grow_buckets(graph, graph->buckets ? graph->buckets * 2 : LEAST_BUCKETS);
	uint32_t hash = hash_of(m, operands);
	size_t i = hash & (graph->buckets - 1);
	for (; graph->bucket[i].node; i = (i + 1) & (graph->buckets - 1))
		if (graph->bucket[i].hash == hash && is_equal_node(graph, graph->bucket[i].node - 1, m, operands))
			return graph->bucket[i].node - 1;
	sw_node node = add_node(graph, m, operands);
	graph->bucket[i] = (struct sw_graph_bucket){node + 1, hash};
	graph->filled++;
	return node;
}

/* ---- making nodes ---------------------------------------------------------------------------------------------- */

/* The number of bits that operand i is wanted in; 0: as it comes. */
static uint32_t width_of_operand(const struct sw_making *m, uint32_t i)
{
	switch (m->op) {
	case SW_OP_EXTEND:
	case SW_OP_MIX:
	case SW_TERM_ANY:
	case SW_VALUE_LOADED:
		return 0;
	case SW_OP_MULWIDE:
		return m->width / 2u;
	case SW_OP_SHL:
	case SW_OP_SHR:
		return i ? 32 : m->width;
	case SW_OP_SELECT:
		return i ? m->width : 1;
	case SW_OP_COMPARE:
		return (uint32_t)m->imm2;
	case SW_OP_PAIR:
		return 32;
	case SW_OP_LOW:
	case SW_OP_HIGH:
	case SW_TERM_ELEMENT:
		return 64;
	case SW_OP_CARRY:
		return i >= 2 && i + 1u == m->n ? 0 : 32;
	case SW_OP_ADDX:
		return i + 1u == m->n ? 1 : 32;
	default:
		return m->width;
	}
}

/* The constant that the operation gives where all operands are constants; SW_NO_NODE: they are not. */
static sw_node fold_constants(struct sw_graph *graph, const struct sw_making *m, const sw_node *operands)
{
	int64_t imm[SW_MAX_SRC], result;
	if (!m->n || m->n > SW_MAX_SRC)
		return SW_NO_NODE;
	for (uint32_t i = 0; i < m->n; i++)
		if (!sw_graph_is_const(graph, operands[i], &imm[i]))
			return SW_NO_NODE;
	return sw_fold(m, imm, &result) ? sw_graph_const(graph, m->width, result) : SW_NO_NODE;
}

/* The node of an operation over these operands: a simpler one that has the same value, an equal one that is there
   already, or a new one.  Operands of another width than wanted are cut or extended with zeros. */
sw_node sw_graph_make(struct sw_graph *graph, struct sw_making making, const sw_node *operands)
{
	sw_node o[SW_MAX_SRC];
	if (making.op == SW_OP_CONST)
		making.imm = sw_fold_canonical(making.imm, making.width);
	if (is_unique(making.op))
		return add_node(graph, &making, operands);
	if (!making.n || making.n > SW_MAX_SRC)
		return intern_node(graph, &making, operands);
	for (uint32_t i = 0; i < making.n; i++) {
		uint32_t width = width_of_operand(&making, i);
		o[i] = width ? sw_graph_fit(graph, operands[i], (uint8_t)width) : operands[i];
	}
	sw_node simple = fold_constants(graph, &making, o);
	if (simple == SW_NO_NODE)
		simple = sw_simplify(graph, &making, o);
	if (simple == SW_NO_NODE)
		simple = sw_register_pairs_simplify(graph, &making, o);
	if (simple == SW_NO_NODE && graph->whole)
		simple = sw_register_pairs_whole(graph, &making, o);
	return simple == SW_NO_NODE ? intern_node(graph, &making, o) : simple;
}

sw_node sw_graph_const(struct sw_graph *graph, uint8_t width, int64_t imm)
{
	imm = sw_fold_canonical(imm, width);
	uint64_t hash = ((uint64_t)imm + width) * 0x9e3779b97f4a7c15ull;
	struct sw_graph_constant *c = &graph->constant[(hash >> 32) % SW_GRAPH_CONSTANTS];
	if (!c->node || c->imm != imm || c->width != width) {
		struct sw_making m = {.op = SW_OP_CONST, .width = width, .imm = imm};
		*c = (struct sw_graph_constant){imm, intern_node(graph, &m, NULL) + 1, width};
	}
	return c->node - 1;
}

/* NOT of a condition, remembered: each condition of a path is asked for its inverse for each access it holds for. */
static sw_node inverse_of(struct sw_graph *graph, sw_node a)
{
	if (a < graph->inverse.n && graph->inverse.at[a])
		return graph->inverse.at[a] - 1;
	sw_node inverse = sw_graph_make(graph, (struct sw_making){.op = SW_OP_NOT, .width = 1, .n = 1}, &a);
	size_t known = graph->inverse.n;
	if (known <= a) {
		sw_vec_reserve(&graph->inverse, a + 1);
		memset(graph->inverse.at + known, 0, (graph->inverse.room - known) * sizeof *graph->inverse.at);
		graph->inverse.n = graph->inverse.room;
	}
	graph->inverse.at[a] = inverse + 1;
	return inverse;
}

sw_node sw_graph_unary(struct sw_graph *graph, enum sw_op op, uint8_t width, sw_node a)
{
	if (op == SW_OP_NOT && width == 1)
		return inverse_of(graph, a);
	return sw_graph_make(graph, (struct sw_making){.op = (uint8_t)op, .width = width, .n = 1}, &a);
}

sw_node sw_graph_binary(struct sw_graph *graph, enum sw_op op, uint8_t width, uint8_t flags, sw_node a, sw_node b)
{
	sw_node o[2] = {a, b};
	return sw_graph_make(graph, (struct sw_making){.op = (uint8_t)op, .width = width, .flags = flags, .n = 2}, o);
}

sw_node sw_graph_select(struct sw_graph *graph, uint8_t width, sw_node condition, sw_node yes, sw_node no)
{
	sw_node o[3] = {condition, yes, no};
	return sw_graph_make(graph, (struct sw_making){.op = SW_OP_SELECT, .width = width, .n = 3}, o);
}

sw_node sw_graph_compare(struct sw_graph *graph, enum sw_condition condition, uint8_t bits, uint8_t flags, sw_node a,
			 sw_node b)
{
	sw_node o[2] = {a, b};
	struct sw_making m = {.op = SW_OP_COMPARE, .width = 1, .flags = flags, .n = 2, .imm = condition, .imm2 = bits};
	return sw_graph_make(graph, m, o);
}

sw_node sw_graph_extend(struct sw_graph *graph, uint8_t width, uint8_t bits, uint8_t flags, sw_node a)
{
	struct sw_making m = {.op = SW_OP_EXTEND, .width = width, .flags = flags, .n = 1, .imm = bits};
	return sw_graph_make(graph, m, &a);
}

sw_node sw_graph_fit(struct sw_graph *graph, sw_node a, uint8_t width)
{
	uint8_t has = sw_graph_at(graph, a)->width;
	return has == width ? a : sw_graph_extend(graph, width, has < width ? has : width, 0, a);
}

sw_node sw_graph_range(struct sw_graph *graph, uint8_t width, enum sw_why why)
{
	struct sw_making m = {.op = SW_OP_RANGE, .width = width, .why = (uint8_t)why};
	m.imm2 = width >= 64 ? -1 : (int64_t)((1ull << width) - 1); /* 64 bits: unsigned, all of them */
	return sw_graph_make(graph, m, NULL);
}

bool sw_graph_is_const(const struct sw_graph *graph, sw_node node, int64_t *imm)
{
	const struct sw_value *v = sw_graph_at(graph, node);
	if (v->op != SW_OP_CONST)
		return false;
	*imm = v->imm;
	return true;
}

/* ---- PHIs ------------------------------------------------------------------------------------------------------ */

sw_node sw_graph_phi(struct sw_graph *graph, uint8_t width, uint32_t block)
{
	struct sw_making m = {.op = SW_VALUE_PHI, .width = width, .imm = block};
	return add_node(graph, &m, NULL);
}

void sw_graph_phi_set(struct sw_graph *graph, sw_node phi, const sw_node *operands, uint32_t n)
{
	struct sw_value v = graph->value.at[phi];
	put_operands(graph, &v, operands, n);
	graph->value.at[phi] = v;
}

/* Keys of the map of pairs: (low, high) of two PHIs; a PHI of 64 bits alone leads back to its halves. */
static uint64_t key_of(sw_node low, sw_node high)
{
	return (uint64_t)(high + 1) << 32 | low;
}

sw_node sw_graph_phi_pair_known(const struct sw_graph *graph, sw_node low, sw_node high)
{
	const uint64_t *found = sw_map_find(&graph->pairs, key_of(low, high));
	return found ? (sw_node)*found : SW_NO_NODE;
}

sw_node sw_graph_phi_pair(struct sw_graph *graph, sw_node low, sw_node high)
{
	sw_node known = sw_graph_phi_pair_known(graph, low, high);
	if (known != SW_NO_NODE)
		return known;
	if (graph->paired.n == SW_GRAPH_MAX_PAIRED)
		return SW_NO_NODE;
	sw_node phi = sw_graph_phi(graph, 64, (uint32_t)sw_graph_at(graph, low)->imm);
	*sw_map_put(&graph->pairs, key_of(low, high)) = phi;
	*sw_map_put(&graph->pairs, phi) = key_of(low, high);
	*sw_vec_push(&graph->paired) = phi;
	return phi;
}

bool sw_graph_phi_halves(const struct sw_graph *graph, sw_node phi, sw_node *low, sw_node *high)
{
	const uint64_t *found = sw_map_find(&graph->pairs, phi);
	if (!found)
		return false;
	*low = (sw_node)*found;
	*high = (sw_node)(*found >> 32) - 1;
	return true;
}
