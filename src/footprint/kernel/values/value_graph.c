/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/kernel/values/value_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "footprint/kernel/values/simplify.h"

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

/* Products that do not wait for each other. */
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

/* Bits that operand i is wanted in; 0: as it comes. */
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

/* Each condition of a path is asked for its inverse for each access that it holds for. */
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
