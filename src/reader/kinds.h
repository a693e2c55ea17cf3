/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of each record kind. */
#ifndef SW_READER_KINDS_H
#define SW_READER_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "syncwatch/format.h"

/* Is it an operation of the program? ACTIVITY only describes one, later. */
static inline bool sw_kind_is_operation(uint8_t kind)
{
	return kind >= SW_REC_LAUNCH && kind != SW_REC_ACTIVITY;
}

/* Is it a kind that `syncwatch pack` writes besides what was recorded? */
static inline bool sw_kind_is_packed(uint8_t kind)
{
	return kind >= SW_REC_PACK && kind <= SW_REC_PACK_TABLE && kind != SW_REC_PACK_LEFT_OUT;
}

/* Is it a LAUNCH in the short form, struct sw_rec_launch_again? */
static inline bool sw_launch_is_short(const struct sw_rec *rec)
{
	return rec->kind == SW_REC_LAUNCH && !(rec->flags & SW_RF_END) &&
	       rec->words * 8u < sizeof(struct sw_rec_launch);
}

/* The count in a record that stands for several calls; NULL: it stands for one. */
const struct sw_rec_calls *sw_record_calls(const struct sw_rec *rec);

/* Traits that kinds of records share; traits.def has a row for each kind. */
enum sw_kind_trait {
	SW_KIND_DEVICE = 1 << 0,   /* puts work of the device on a stream: a kernel, a copy, a set, a graph */
	SW_KIND_COPIES = 1 << 1,   /* copies bytes */
	SW_KIND_MOVABLE = 1 << 2,  /* work that `syncwatch confirm` can put on another stream */
	SW_KIND_BOUNDS = 1 << 3,   /* work whose end bounds the end of a wait for it */
	SW_KIND_REPORTED = 1 << 4, /* a call has one record of it, whatever library asks */
};
bool sw_kind_has(uint8_t kind, enum sw_kind_trait trait);
/* The handle of the stream on which the call puts work, or NULL: the kind has none. */
uint64_t *sw_record_stream(struct sw_rec *rec);
static inline bool sw_record_stream_of(const struct sw_rec *rec, uint64_t *stream)
{
	const uint64_t *at = sw_record_stream((struct sw_rec *)(uintptr_t)rec);
	*stream = at ? *at : 0;
	return at;
}
/* Bytes that a call copies, sets or allocates; 0: none. */
uint64_t sw_record_bytes(const struct sw_rec *rec);

/* Bytes that a record must have at least; 0: kind unknown. */
size_t sw_kind_bytes(const struct sw_rec *rec);

/* Is the status of a call an error after which nothing runs in its context any more?  cuda.h says of most that "any
   further CUDA work will return the same error", of 710 that the context "cannot be used anymore"; it says nothing
   of 214, 220 and 999, which are taken for such. */
bool sw_status_ends_context(uint16_t status);

#endif
