/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of what others refer to: the program, its threads, modules, streams, kernels, call stacks. */
#ifndef SW_QUERY_DESCRIPTION_ROWS_H
#define SW_QUERY_DESCRIPTION_ROWS_H

#include "base/map.h"
#include "query/rows.h"
#include "report/symbols/names.h"

/* `launches`: of each kernel. */
void sw_description_rows(struct sw_rows *rows, struct sw_names *names, const struct sw_map *launches);

#endif
