/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of each record kind. */
#ifndef SW_READER_KINDS_H
#define SW_READER_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "syncwatch/format.h"

/* Is it an operation of the program? ACTIVITY only describes one, later. */
static inline bool sw_kind_is_operation(uint8_t kind)
{
	return kind >= SW_REC_LAUNCH && kind != SW_REC_ACTIVITY;
}

/* Written by `syncwatch pack` besides what was recorded. */
static inline bool sw_kind_is_packed(uint8_t kind)
{
	return kind >= SW_REC_PACK && kind <= SW_REC_PACK_TABLE && kind != SW_REC_PACK_LEFT_OUT;
}

/* A LAUNCH that is struct sw_rec_launch_again. */
static inline bool sw_launch_is_short(const struct sw_rec *rec)
{
	return rec->kind == SW_REC_LAUNCH && !(rec->flags & SW_RF_END) &&
	       rec->words * 8u < sizeof(struct sw_rec_launch);
}

/* Bytes that a record must have at least; 0: kind unknown. */
size_t sw_kind_bytes(const struct sw_rec *rec);

#endif
