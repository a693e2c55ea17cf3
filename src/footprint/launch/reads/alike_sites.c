/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/launch/reads/alike_sites.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"

static uint64_t mix_hash(uint64_t hash, uint64_t more)
{
	return sw_hash_u64(hash + more * UINT64_C(0x9e3779b97f4a7c15));
}

/* Terms have the same shape if they differ in such numbers alone. */
static uint64_t shape_of(const struct sw_footprint *f, const struct sw_term *t, const uint64_t *shape)
{
	uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
	bool any_number = t->op == SW_OP_ADD || t->op == SW_OP_SUB || t->op == SW_OP_COMPARE;
	for (uint32_t k = 0; k < n && t->op != SW_OP_COMPARE && any_number; k++)
		if (f->term[operand[k]].op == SW_OP_CONST && (k || t->op == SW_OP_ADD))
			return shape[operand[!k]];
	uint64_t hash =
		mix_hash(t->op | (uint64_t)t->width << 8 | (uint64_t)t->flags << 16 | (uint64_t)t->bytes << 24, n);
	hash = mix_hash(mix_hash(hash, (uint64_t)t->imm), (uint64_t)t->imm2);
	for (uint32_t k = 0; k < n; k++) {
		bool number = operand[k] == SW_NO_TERM || (any_number && f->term[operand[k]].op == SW_OP_CONST);
		hash = mix_hash(hash, number ? 0 : shape[operand[k]]);
	}
	for (uint32_t k = 0; t->op == SW_TERM_ANY && k < (t->imm2 ? 2 : 1) * t->b; k++)
		hash = mix_hash(hash, shape[f->alternative[t->a + k]]);
	if (t->op == SW_TERM_STEP || t->op == SW_TERM_ELEMENT)
		hash = mix_hash(mix_hash(hash, t->op == SW_TERM_ELEMENT ? t->b : 0), t->c);
	return sw_term_is_unknown(t) ? mix_hash(mix_hash(hash, sw_term_why(t)), t->b) : hash;
}

static uint64_t key_of(const struct sw_footprint *f, const struct sw_access_site *site, const uint64_t *shape)
{
	uint64_t hash = mix_hash(site->role | (uint64_t)site->polls << 8 | (uint64_t)site->op << 16, site->bytes);
	hash = mix_hash(mix_hash(mix_hash(hash, site->size), site->loop), site->order);
	for (uint32_t i = 0; i < site->roots; i++) {
		const struct sw_root *root = &f->root[site->root + i];
		hash = mix_hash(hash, root->kind | (uint64_t)root->weak << 8 | (uint64_t)root->loader << 16);
		hash = mix_hash(hash, root->param | (uint64_t)root->span << 32) + root->symbol;
	}
	for (uint32_t i = 0; i < site->facts; i++)
		hash = mix_hash(hash, shape[f->fact[site->fact + i].term] + f->fact[site->fact + i].truth);
	return mix_hash(hash, site->address == SW_NO_TERM ? 0 : shape[site->address]);
}

uint32_t *sw_alike_sites_find(const struct sw_footprint *f)
{
	uint64_t *shape = sw_calloc(f->terms + 1u, sizeof *shape);
	uint32_t *first = sw_calloc(f->sites + 1u, sizeof *first);
	struct sw_map by_key = {0};
	for (uint32_t i = 0; i < f->terms; i++)
		shape[i] = shape_of(f, &f->term[i], shape);
	for (uint32_t i = 0; i < f->sites; i++) {
		uint64_t *number = sw_map_put(&by_key, key_of(f, &f->site[i], shape));
		*number = *number ? *number : i + 1u;
		first[i] = (uint32_t)*number - 1;
	}
	sw_map_free(&by_key);
	free(shape);
	return first;
}
