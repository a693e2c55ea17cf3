/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/kernels/tensor_maps.h"

#include <stdint.h>
#include <string.h>

enum { ARCH = 90, MAX_RANK = 5, ADDRESS_ALIGN = 16, STRIDE_UNIT = 16, INTERLEAVES = 3 };

/* The half that holds all that is known of: the other one is empty, or says how much a copy brings. */
struct map {
	uint64_t address;
	uint32_t flags;
	uint32_t stride[MAX_RANK - 1]; /* in STRIDE_UNIT, without the bits in stride_high */
	uint32_t stride_high;	       /* 4 bits each */
	uint32_t last[MAX_RANK];       /* size less one, in elements */
	uint32_t box[3];
};
_Static_assert(sizeof(struct map) == 64, "half of a tensor map");

/* Bits of flags; 0: im2col; 1: set in the maps of cuBLAS; 13, 14: swizzle; 15: fill; 16: TF32; 17, 18: L2 promotion. */
enum {
	RANK_AT = 4, /* less one, 3 bits */
	TYPE_AT = 7, /* 4 bits */
	INTERLEAVE_AT = 11,
};
#define UNUSED_FLAGS UINT32_C(0xfff8000c)

/* CUtensorMapDataType by the number in flags, for one of the types that have it. */
static const uint8_t types[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9};

bool sw_tensor_map_read(uint32_t arch, const void *map, size_t bytes, struct sw_rec_object *object)
{
	struct map m;
	if (arch != ARCH || bytes < sizeof m)
		return false;
	memcpy(&m, map, sizeof m);
	uint32_t rank = (m.flags >> RANK_AT & 7) + 1, type = m.flags >> TYPE_AT & 15;
	/* Flags are never all 0 in practice: that would be a row of bytes without any promotion, or no map at all. */
	if (!m.flags || m.flags & UNUSED_FLAGS || rank > MAX_RANK || type >= sizeof types ||
	    (m.flags >> INTERLEAVE_AT & 3) >= INTERLEAVES || !m.address || m.address % ADDRESS_ALIGN ||
	    m.stride_high >> 4 * (MAX_RANK - 1))
		return false;
	for (uint32_t i = rank; i < MAX_RANK; i++)
		if (m.last[i])
			return false;
	object->kind = SW_OBJECT_TENSOR_MAP;
	object->side = SW_SIDE_DEVICE;
	object->address = m.address;
	object->type = types[type];
	object->rank = (uint8_t)rank;
	for (uint32_t i = 0; i < rank; i++)
		object->size[i] = (uint64_t)m.last[i] + 1;
	for (uint32_t i = 0; i + 1 < rank; i++)
		object->stride[i] = STRIDE_UNIT * (m.stride[i] | (uint64_t)(m.stride_high >> 4 * i & 15) << 32);
	return true;
}
