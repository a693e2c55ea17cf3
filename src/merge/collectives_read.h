/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SW_MERGE_COLLECTIVES_READ_H
#define SW_MERGE_COLLECTIVES_READ_H

#include <jansson.h>
#include <stdbool.h>

struct sw_merged;

/* Adds a communicator; processes are those of `merged` by index.  False: something in it is wrong. */
bool sw_merged_read_communicator(struct sw_merged *merged, const json_t *object);

#endif
