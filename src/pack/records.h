/* SPDX-License-Identifier: Apache-2.0 */
/* What was gathered, as records. */
#ifndef SW_PACK_RECORDS_H
#define SW_PACK_RECORDS_H

#include "pack/chunks.h"
#include "pack/gather.h"
#include "pack/pack.h"

void sw_pack_put_head(struct sw_pack_chunks *chunks, const char *version);
/* The tables of calibrate that a report would use here. */
void sw_pack_put_tables(struct sw_pack_chunks *chunks, const struct sw_reader *reader);
void sw_pack_put_code(struct sw_pack_chunks *chunks, struct sw_gather *gather, struct sw_pack_sums *sums);
void sw_pack_put_frames(struct sw_pack_chunks *chunks, struct sw_gather *gather, struct sw_pack_sums *sums);

#endif
