/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/code.h"
#include "footprint/footprint.h"

#include <pthread.h>
#include <stdlib.h>

/* Kept at most: as many as threads use at a time on most machines, each enough for all but the largest kernels. */
#define MAX_SPARES     8
#define MAX_SPARE_ROOM 32768

static struct {
	pthread_mutex_t lock;
	struct sw_insn *code[MAX_SPARES];
	size_t room[MAX_SPARES];
	uint32_t n;
} spare = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

struct sw_insn *sw_code_take(size_t *room)
{
	struct sw_insn *code = NULL;
	*room = 0;
	pthread_mutex_lock(&spare.lock);
	if (spare.n) {
		code = spare.code[--spare.n];
		*room = spare.room[spare.n];
	}
	pthread_mutex_unlock(&spare.lock);
	return code;
}

void sw_code_give(struct sw_insn *code, size_t room)
{
	pthread_mutex_lock(&spare.lock);
	if (code && room <= MAX_SPARE_ROOM && spare.n < MAX_SPARES) {
		spare.code[spare.n] = code;
		spare.room[spare.n++] = room;
		code = NULL;
	}
	pthread_mutex_unlock(&spare.lock);
	free(code);
}

void sw_code_drop(void)
{
	pthread_mutex_lock(&spare.lock);
	while (spare.n)
		free(spare.code[--spare.n]);
	pthread_mutex_unlock(&spare.lock);
}

void sw_program_free(struct sw_program *program)
{
	sw_arena_free(&program->arena);
	sw_code_give(program->code, program->code_room);
	*program = (struct sw_program){0};
}

void sw_footprint_free(struct sw_footprint *footprint)
{
	if (!footprint)
		return;
	sw_arena_free(&footprint->arena);
	free(footprint);
}
