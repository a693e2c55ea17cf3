/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that write and read partial results share. */
#ifndef SW_MERGE_MERGED_JSON_H
#define SW_MERGE_MERGED_JSON_H

#include "report/json/json_out.h"

struct sw_merged;

void sw_merged_json_collectives(struct sw_json *json, const struct sw_merged *merged);
void sw_merged_json_shared(struct sw_json *json, const struct sw_merged *merged);

#endif
