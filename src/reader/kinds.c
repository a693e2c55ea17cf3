/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/kinds.h"

#include "reader/reader.h"

static const uint16_t least[256] = {
#define SW_REC_LEAST(name, value, type, text) [value] = sizeof(struct type),
	SW_RECORDS(SW_REC_LEAST)
#undef SW_REC_LEAST
};

static const char *const names[256] = {
#define SW_REC_TEXT(name, value, type, text) [value] = #name,
	SW_RECORDS(SW_REC_TEXT)
#undef SW_REC_TEXT
};

size_t sw_kind_bytes(const struct sw_rec *rec)
{
	/* The END of a call has the kind of its BEGIN. */
	if (sw_kind_is_operation(rec->kind) && rec->flags & SW_RF_END && least[rec->kind])
		return sizeof(struct sw_rec_end);
	if (sw_launch_is_short(rec))
		return sizeof(struct sw_rec_launch_again);
	return least[rec->kind];
}

const char *sw_record_kind_name(uint8_t kind)
{
	return names[kind] ? names[kind] : "?";
}
