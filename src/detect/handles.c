/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/handles.h"

#include "base/hash.h"

struct object {
	struct sw_range range;
	uint64_t array;
};

/* Bytes of an element by CUtensorMapDataType (cuda.h); the packed types of 4 and 6 bits take at most one byte. */
static const uint8_t element_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1};

static uint64_t key_of(uint32_t kind, uint64_t handle)
{
	return sw_hash_u64(handle) ^ kind;
}

static uint64_t mul(uint64_t a, uint64_t b)
{
	uint64_t product;
	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* All of the tensor: a box in up to three dimensions, beyond that the bytes from the first element to the last. */
static struct sw_range range_of(const struct sw_rec_object *o)
{
	bool map = o->kind == SW_OBJECT_TENSOR_MAP;
	uint64_t element = map && o->type < sizeof element_bytes ? element_bytes[o->type] : 1;
	uint64_t size[3] = {mul(o->size[0], element), o->size[1], o->size[2]};
	if (o->rank < 3)
		size[2] = 1;
	if (o->rank < 2)
		size[1] = 1;
	if (o->rank > 3)
		for (uint32_t i = 1; i < o->rank && i < 5; i++)
			size[0] = add(size[0], mul(o->size[i] - (o->size[i] > 0), o->stride[i - 1]));
	if (o->rank > 3)
		size[1] = size[2] = 1;
	return sw_range_box(o->address, size, o->stride[0], o->stride[1], SW_READ, SW_EV_FOOTPRINT);
}

void sw_handles_add(struct sw_handles *handles, const struct sw_rec_object *record)
{
	struct object *object = sw_arena_alloc(&handles->arena, sizeof *object);
	uint64_t *slot = sw_map_put(&handles->by_handle, key_of(record->kind, record->handle));
	const struct object *before = NULL;
	if (record->before)
		before = sw_map_ptr(&handles->by_handle, key_of(record->kind, record->before));
	if (record->side == SW_SIDE_ARRAY) {
		object->array = record->address;
		object->range = sw_range_bytes(0, 0, SW_READ, SW_EV_FOOTPRINT); /* as large as the array is */
	} else if (before) {
		object->range = before->range;
		object->range.address = object->range.base = record->address;
	} else {
		object->range = range_of(record);
	}
	object->range.loose = true;
	*slot = (uint64_t)(uintptr_t)object;
	handles->epoch++;
}

static bool find(const struct sw_handles *handles, uint64_t key, struct sw_range *range, uint64_t *array)
{
	const struct object *object = sw_map_ptr(&handles->by_handle, key);
	if (!object || (!object->array && !object->range.width))
		return false;
	*range = object->range;
	*array = object->array;
	return true;
}

bool sw_handles_find(const struct sw_handles *handles, enum sw_object_kind kind, uint64_t handle,
		     struct sw_range *range, uint64_t *array)
{
	return find(handles, key_of(kind, handle), range, array);
}

bool sw_handles_find_map(const struct sw_handles *handles, const void *map, struct sw_range *range)
{
	uint64_t array;
	uint64_t hash = sw_hash_words(map, SW_TENSOR_MAP_BYTES);
	return find(handles, key_of(SW_OBJECT_TENSOR_MAP, hash), range, &array);
}

void sw_handles_free(struct sw_handles *handles)
{
	sw_map_free(&handles->by_handle);
	sw_arena_free(&handles->arena);
}
