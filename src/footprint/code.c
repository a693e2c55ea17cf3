/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/code.h"
#include "footprint/footprint.h"

#include <stdlib.h>

const char *sw_op_text(enum sw_op op)
{
	static const char *const text[] = {
#define SW_OP(name, operands, text) [SW_OP_##name] = text,
#include "footprint/ops.def"
	};
	return (unsigned)op < SW_OPS ? text[op] : "?";
}

const char *sw_why_text(enum sw_why why)
{
	static const char *const text[] = {
#define SW_WHY(name, text) [SW_WHY_##name] = text,
#include "footprint/whys.def"
	};
	return (unsigned)why < SW_WHYS ? text[why] : "?";
}

const char *sw_special_text(int64_t special)
{
	static const char *const text[SW_SPECIALS] = {
		[SW_TID_X] = "tid.x",
		[SW_TID_Y] = "tid.y",
		[SW_TID_Z] = "tid.z",
		[SW_NTID_X] = "ntid.x",
		[SW_NTID_Y] = "ntid.y",
		[SW_NTID_Z] = "ntid.z",
		[SW_CTAID_X] = "ctaid.x",
		[SW_CTAID_Y] = "ctaid.y",
		[SW_CTAID_Z] = "ctaid.z",
		[SW_NCTAID_X] = "nctaid.x",
		[SW_NCTAID_Y] = "nctaid.y",
		[SW_NCTAID_Z] = "nctaid.z",
		[SW_LANEID] = "laneid",
		[SW_WARPID] = "warpid",
		[SW_CLUSTER_BLOCKS] = "cluster_nctarank",
		[SW_CLUSTER_RANK] = "cluster_ctarank",
		[SW_SHARED_BYTES] = "dynamic_smem_size",
	};
	return special >= 0 && special < SW_SPECIALS ? text[special] : "?";
}

void sw_program_free(struct sw_program *program)
{
	sw_arena_free(&program->arena);
	free(program->code);
	*program = (struct sw_program){0};
}

void sw_footprint_free(struct sw_footprint *footprint)
{
	if (!footprint)
		return;
	sw_arena_free(&footprint->arena);
	free(footprint);
}

uint32_t sw_term_operands(const struct sw_term *t)
{
	static const uint8_t operands[] = {
#define SW_OP(name, n, text) [SW_OP_##name] = (n) <= 3 ? (n) : 0,
#include "footprint/ops.def"
		[SW_TERM_STEP] = 2,
		[SW_TERM_ANY] = 0,
		[SW_TERM_ELEMENT] = 1,
	};
	return t->op < sizeof operands ? operands[t->op] : 0;
}
