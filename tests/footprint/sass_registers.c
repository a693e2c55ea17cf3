/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_registers CUBIN ...: what the reader makes of each instruction of each kernel, one a line, for
 * tests/gpu/sass_check:
 *
 *     CUBIN KERNEL OFFSET NAME writes=R1,P0 reads=R2,UR4 memory=load:8:16
 *
 * memory: operation, bytes touched, displacement.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "footprint/instructions/sass/sass.h"
#include "image/image.h"

struct names {
	SW_VEC(char *) list;
};

static int take(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct names *names = arg;
	*sw_vec_push(&names->list) = sw_strdup(kernel->name);
	return 0;
}

static void print_set(const char *title, const uint8_t *set)
{
	static const struct {
		unsigned first, n;
		const char *name;
	} files[] = {{SW_SASS_R, 255, "R"}, {SW_SASS_UR, 255, "UR"}, {SW_SASS_P, 7, "P"}, {SW_SASS_UP, 7, "UP"}};
	const char *comma = "";
	printf(" %s=", title);
	for (size_t f = 0; f < sizeof files / sizeof *files; f++)
		for (unsigned k = 0; k < files[f].n; k++)
			if (set[files[f].first + k]) {
				printf("%s%s%u", comma, files[f].name, k);
				comma = ",";
			}
}

static void print_memory(const struct sw_insn *i)
{
	if (i->op == SW_OP_LOAD || i->op == SW_OP_STORE || i->op == SW_OP_ATOMIC || i->op == SW_OP_BULK)
		printf(" memory=%s:%u:%" PRId64 "%s", sw_op_text((enum sw_op)i->op), i->bytes * i->count, i->imm,
		       i->flags & SW_VOLATILE ? ":volatile" : "");
}

static void print_kernel(const char *path, const struct sw_program_function *f)
{
	for (uint32_t at = 0, end; at < f->insns; at = end) {
		uint8_t writes[SW_SASS_REGS] = {0}, reads[SW_SASS_REGS] = {0};
		for (end = at; end < f->insns && f->insn[end].place == f->insn[at].place; end++) {
			const struct sw_insn *i = &f->insn[end];
			for (unsigned k = 0; k < i->n; k++)
				if (i->src[k].reg < SW_SASS_TEMP)
					reads[i->src[k].reg] = 1;
			if (i->guard < SW_SASS_TEMP)
				reads[i->guard] = 1;
			if (i->dst < SW_SASS_TEMP)
				writes[i->dst] = 1;
		}
		printf("%s %s %" PRIx32 " %s", path, f->name, f->insn[at].place, f->insn[at].text);
		print_set("writes", writes);
		print_set("reads", reads);
		for (uint32_t k = at; k < end; k++)
			print_memory(&f->insn[k]);
		putchar('\n');
	}
}

static void *contents(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END))
		return NULL;
	long size = ftell(file);
	void *out = size > 0 ? sw_alloc((size_t)size) : NULL;
	rewind(file);
	*bytes = out ? fread(out, 1, (size_t)size, file) : 0;
	fclose(file);
	return out;
}

int main(int argc, char **argv)
{
	int status = argc > 1 ? 0 : 2;
	for (int n = 1; n < argc; n++) {
		struct names names = {0};
		struct sw_error error;
		size_t bytes = 0;
		void *cubin = contents(argv[n], &bytes);
		if (!cubin || sw_cubin_walk(cubin, bytes, NULL, take, &names, &error) < 0) {
			fprintf(stderr, "%s: %s\n", argv[n], cubin ? error.text : "can't be read");
			status = 1;
		}
		for (size_t k = 0; k < names.list.n; k++) {
			struct sw_program program;
			if (sw_sass_read(cubin, bytes, names.list.at[k], &program, NULL, &error)) {
				fprintf(stderr, "%s: %s\n", argv[n], error.text);
				status = 1;
			} else {
				print_kernel(argv[n], &program.function[0]);
			}
			sw_program_free(&program);
			free(names.list.at[k]);
		}
		free(names.list.at);
		free(cubin);
	}
	return status;
}
