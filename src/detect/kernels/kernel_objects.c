/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/kernels/kernel_objects.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/saturate.h"
#include "detect/memory/access.h"
#include "footprint/footprint.h"

/* ---- tensor maps ------------------------------------------------------------------------------------------------- */

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

/* ---- handles ----------------------------------------------------------------------------------------------------- */

/* Objects of each of two generations. Those that are used move to the new one; the old one is dropped when that is
   full, so that a program that makes an object for each launch does not use memory without bound. */
#define SW_MAX_OBJECTS 16384u

struct object {
	struct sw_range range;
	uint64_t array;
};

struct sw_handles {
	struct sw_map recent, older; /* kind and handle -> object; a tensor map's handle is a hash of its bytes */
};

struct sw_handles *sw_handles_new(void)
{
	return sw_calloc(1, sizeof(struct sw_handles));
}

/* Frees the objects of one generation. */
static void generation_free(struct sw_map *map)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(map, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	sw_map_free(map);
}

/* Enters an object in the newer generation; where that is full, the older one is dropped and it takes its place. */
static struct object *keep_object(struct sw_handles *handles, uint64_t key, const struct object *object)
{
	struct object *kept = sw_map_ptr(&handles->recent, key);
	if (!kept) {
		if (handles->recent.n >= SW_MAX_OBJECTS) {
			generation_free(&handles->older);
			handles->older = handles->recent;
			handles->recent = (struct sw_map){0};
		}
		kept = sw_alloc(sizeof *kept);
		sw_map_put_ptr(&handles->recent, key, kept);
	}
	*kept = *object;
	return kept;
}

/* Finds an object in either generation, and moves it to the newer one: it is in use.  NULL: it was never
   made, or forgotten after a long time without use. */
static const struct object *find_object(struct sw_handles *handles, uint64_t key)
{
	const struct object *object = sw_map_ptr(&handles->recent, key);
	if (object)
		return object;
	object = sw_map_ptr(&handles->older, key);
	if (!object)
		return NULL;
	struct object copy = *object;
	return keep_object(handles, key, &copy);
}

/* Bytes of an element by CUtensorMapDataType (cuda.h); the packed types of 4 and 6 bits take at most one byte. */
static const uint8_t element_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1};

/* Key of an object: textures and surfaces may have equal handles. */
static uint64_t key_of(uint32_t kind, uint64_t handle)
{
	return sw_hash_u64(handle) ^ kind;
}

/* All memory of a tensor or texture object: a box in up to three dimensions, beyond that the bytes from the first
   element to the last. */
static struct sw_range range_of(const struct sw_rec_object *o)
{
	bool map = o->kind == SW_OBJECT_TENSOR_MAP;
	uint64_t element = map && o->type < sizeof element_bytes ? element_bytes[o->type] : 1;
	uint64_t size[3] = {sw_saturate_mul(o->size[0], element), o->size[1], o->size[2]};
	if (o->rank < 3)
		size[2] = 1;
	if (o->rank < 2)
		size[1] = 1;
	if (o->rank > 3)
		for (uint32_t i = 1; i < o->rank && i < 5; i++)
			size[0] = sw_saturate_add(size[0],
						  sw_saturate_mul(o->size[i] - (o->size[i] > 0), o->stride[i - 1]));
	if (o->rank > 3)
		size[1] = size[2] = 1;
	return sw_range_box(o->address, size, o->stride[0], o->stride[1], SW_READ, SW_EV_FOOTPRINT);
}

/* Notes a texture, surface or tensor map that the program created.  A tensor map made from another one by replacing its
   address (`before`) keeps the other's size. */
void sw_handles_add(struct sw_handles *handles, const struct sw_rec_object *record)
{
	struct object object = {0};
	const struct object *before = NULL;
	if (record->before)
		before = find_object(handles, key_of(record->kind, record->before));
	if (record->side == SW_SIDE_ARRAY) {
		object.array = record->address;
		object.range = sw_range_bytes(0, 0, SW_READ, SW_EV_FOOTPRINT); /* as large as the array is */
	} else if (before) {
		object.range = before->range;
		if (record->address) /* else it is as it was */
			object.range.address = object.range.base = record->address;
	} else {
		object.range = range_of(record);
	}
	object.range.loose = true;
	keep_object(handles, key_of(record->kind, record->handle), &object);
}

/* Finds the memory of an object.  False: the object, or its size, is not known. */
static bool find_range(struct sw_handles *handles, uint64_t key, struct sw_range *range, uint64_t *array)
{
	const struct object *object = find_object(handles, key);
	if (!object || (!object->array && !object->range.width))
		return false;
	*range = object->range;
	*array = object->array;
	return true;
}

bool sw_handles_find(struct sw_handles *handles, enum sw_object_kind kind, uint64_t handle, struct sw_range *range,
		     uint64_t *array)
{
	return find_range(handles, key_of(kind, handle), range, array);
}

bool sw_handles_find_map(struct sw_handles *handles, uint32_t arch, const void *map, size_t bytes,
			 struct sw_range *range)
{
	uint64_t array, hash = bytes < SW_TENSOR_MAP_BYTES ? 0 : sw_hash_words(map, SW_TENSOR_MAP_BYTES);
	struct sw_rec_object object = {0};
	if (bytes >= SW_TENSOR_MAP_BYTES && find_range(handles, key_of(SW_OBJECT_TENSOR_MAP, hash), range, &array))
		return true;
	if (!sw_tensor_map_read(arch, map, bytes, &object))
		return false;
	*range = range_of(&object);
	range->loose = true;
	return range->width;
}

bool sw_handles_lasting_map(struct sw_handles *handles, uint32_t arch, const void *map, size_t bytes, uint64_t *lo,
			    uint64_t *hi)
{
	struct sw_rec_object object = {0};
	struct sw_range now, alone;
	uint64_t word;
	if (bytes < sizeof word)
		return false;
	memcpy(&word, map, sizeof word);
	*lo = *hi = word;
	if (!word)
		return true;
	if (!sw_tensor_map_read(arch, map, bytes, &object) || !sw_handles_find_map(handles, arch, map, bytes, &now))
		return false;
	alone = range_of(&object);
	*hi = sw_saturate_add(word, sw_range_span(&alone));
	return word < *hi && now.address == word && sw_saturate_add(word, sw_range_span(&now)) == *hi;
}

void sw_handles_free(struct sw_handles *handles)
{
	generation_free(&handles->recent);
	generation_free(&handles->older);
	free(handles);
}
