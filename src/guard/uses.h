/* SPDX-License-Identifier: Apache-2.0 */
/* What a record says: which host memory its work uses, and the handles that order it. */
#ifndef SW_GUARD_USES_H
#define SW_GUARD_USES_H

#include <stdbool.h>
#include <stdint.h>

#include "syncwatch/format.h"

#define SW_USES 2u /* of one record, both sides of a copy; launches have as many as pointers */

/* Bytes from the first to the last that the work touches; whether they lie in host memory is not looked at. */
struct sw_guard_use {
	uint64_t at, bytes;
	bool writes;
};

/* Of copies and sets; 0 for all others. */
uint32_t sw_uses_of(const struct sw_rec *rec, struct sw_guard_use use[SW_USES]);
/* The stream that the record works on; 0 where it names none. */
uint64_t sw_use_stream(const struct sw_rec *rec);
/* Event of a record or wait, flags of a new stream, what a capture does; else 0. */
uint64_t sw_use_handle(const struct sw_rec *rec);

#endif
