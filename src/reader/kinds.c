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

#define SW_HAS_STREAM(type) offsetof(struct type, stream)
#define SW_NO_STREAM(type)  0
static const struct {
	uint16_t stream; /* offset in the record, 0: none */
	uint16_t traits;
} traits[256] = {
#define SW_TRAIT(kind, type, where, what) [SW_REC_##kind] = {where(type), what},
#include "reader/traits.def"
#undef SW_TRAIT
};

/* Has the kind of record this trait (traits.def)? */
bool sw_kind_has(uint8_t kind, enum sw_kind_trait trait)
{
	return traits[kind].traits & trait;
}

uint64_t *sw_record_stream(struct sw_rec *rec)
{
	const uint16_t at = traits[rec->kind].stream;
	return at ? (uint64_t *)(void *)((char *)rec + at) : NULL;
}

uint64_t sw_record_bytes(const struct sw_rec *rec)
{
	const void *r = rec;
	const struct sw_rec_copy_nd *box = r;
	const struct sw_rec_set *set = r;
	switch (rec->kind) {
	case SW_REC_COPY:
		return ((const struct sw_rec_copy *)r)->bytes;
	case SW_REC_COPY_ND:
		return box->width * box->height * box->depth;
	case SW_REC_SET:
		return set->width * set->height;
	case SW_REC_ALLOC:
		return ((const struct sw_rec_alloc *)r)->bytes;
	default:
		return 0;
	}
}

size_t sw_kind_bytes(const struct sw_rec *rec)
{
	/* The END of a call has the kind of its BEGIN. */
	if (sw_kind_is_operation(rec->kind) && rec->flags & SW_RF_END && least[rec->kind])
		return sizeof(struct sw_rec_end);
	if (sw_launch_is_short(rec))
		return sizeof(struct sw_rec_launch_again);
	return least[rec->kind];
}

const struct sw_rec_calls *sw_record_calls(const struct sw_rec *rec)
{
	const bool counts = rec->kind == SW_REC_QUERY || rec->kind == SW_REC_CODE_TOUCH;
	if (!counts || rec->flags & (SW_RF_END | SW_RF_PENDING) ||
	    rec->words * 8u < least[rec->kind] + sizeof(struct sw_rec_calls))
		return NULL;
	return (const struct sw_rec_calls *)(const void *)((const char *)rec + least[rec->kind]);
}

const char *sw_record_kind_name(uint8_t kind)
{
	return names[kind] ? names[kind] : "?";
}

bool sw_status_ends_context(uint16_t status)
{
	static const uint16_t ending[] = {
		214 /* ECC */,		 220 /* NVLink */,	  226 /* contained */,	700 /* illegal address */,
		702 /* time-out */,	 710 /* assert */,	  714 /* stack */,	715 /* illegal instruction */,
		716 /* misaligned */,	 717 /* address space */, 718 /* invalid pc */, 719 /* launch failed */,
		721 /* tensor memory */, 999 /* unknown */,
	};
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		if (ending[i] == status)
			return true;
	return false;
}
