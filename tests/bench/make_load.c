/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one of the loads as a trace, for timing the command itself:
 *
 *     make_load generation|slices|rivals|moved-rivals LAUNCHES TRACE
 *     make_load hazards FINDINGS TRACE
 *     make_load libraries|kernels LAUNCHES TRACE LIBRARY...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/loads.h"

static const struct {
	const char *name;
	void (*build)(struct tb *tb, uint64_t count);
} loads[] = {
	{"generation", load_generation},     {"slices", load_slices},	{"rivals", load_rivals},
	{"moved-rivals", load_moved_rivals}, {"hazards", load_hazards},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 4 && i < sizeof loads / sizeof *loads; i++)
		if (!strcmp(argv[1], loads[i].name)) {
			struct tb *tb = tb_new(argv[3], &(struct tb_options){.chunk_bytes = 1 << 20});
			loads[i].build(tb, strtoull(argv[2], NULL, 10));
			tb_close(tb, true);
			return 0;
		}
	if (argc > 4 && (!strcmp(argv[1], "libraries") || !strcmp(argv[1], "kernels"))) {
		struct tb *tb = tb_new(argv[3], &(struct tb_options){.chunk_bytes = 1 << 20});
		(argv[1][0] == 'k' ? load_kernels : load_libraries)(tb, strtoull(argv[2], NULL, 10), argv + 4,
								    (unsigned)argc - 4);
		tb_close(tb, true);
		return 0;
	}
	fprintf(stderr, "usage: make_load generation|slices|rivals|moved-rivals LAUNCHES TRACE\n"
			"       make_load hazards FINDINGS TRACE\n"
			"       make_load libraries|kernels LAUNCHES TRACE LIBRARY...\n");
	return 2;
}
