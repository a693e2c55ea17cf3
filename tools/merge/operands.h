/* SPDX-License-Identifier: Apache-2.0 */
/* Operands of `syncwatch merge`: files, folders of traces, patterns. */
#ifndef SW_TOOLS_MERGE_OPERANDS_H
#define SW_TOOLS_MERGE_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "options.h"

struct sw_merge_operand {
	char *path;
	bool partial; /* JSON of an earlier merge, else a trace */
};

struct sw_merge_operands {
	SW_VEC(struct sw_merge_operand) at; /* sorted by name, each once */
};

/* Lists the traces of the command line and of folders (*.swt, *.swt.zst).  SW_EXIT_OK, or a status after one line. */
int sw_merge_operands_find(struct sw_merge_operands *operands, const struct sw_options *options);
/* Keeps every n-th trace, from the i-th on, for one of n processes that share the work. */
void sw_merge_operands_share(struct sw_merge_operands *operands, uint32_t i, uint32_t n);
void sw_merge_operands_free(struct sw_merge_operands *operands);

#endif
