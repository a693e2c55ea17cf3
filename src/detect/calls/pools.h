/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a pool that is allocated again at an old address. */
#ifndef SW_DETECT_CALLS_POOLS_H
#define SW_DETECT_CALLS_POOLS_H

#include "hb/hb.h"

struct sw_model;
struct sw_block;

void sw_pool_init(struct sw_model *m);
/* The block was freed by the last step of the stream. */
void sw_pool_freed(struct sw_model *m, const struct sw_hb_at *at, const struct sw_block *block);
/* An allocation is about to be made in a stream, where other memory was freed. */
void sw_pool_reuse(struct sw_model *m, const struct sw_hb_at *at, uint64_t address, uint64_t bytes);

#endif
