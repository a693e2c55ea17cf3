/* SPDX-License-Identifier: Apache-2.0 */
/* Textures, surfaces and tensor maps as OBJECT records: which memory kernels reach through them. */
#ifndef SW_PRELOAD_CALLS_TEXTURE_OBJECTS_H
#define SW_PRELOAD_CALLS_TEXTURE_OBJECTS_H

#include "preload/intercept/cuda_types.h"
#include "preload/recorder/recorder.h"

void sw_object_texture(struct sw_rec_object *r, uint64_t handle, const CUDA_RESOURCE_DESC *from);
void sw_object_surface(struct sw_rec_object *r, uint64_t handle, const CUDA_RESOURCE_DESC *from);
void sw_object_tensor_map(struct sw_rec_object *r, const CUtensorMap *map, CUtensorMapDataType type, uint32_t rank,
			  const void *address, const cuuint64_t *size, const cuuint64_t *stride);

/* The name of a variable whose address the program asked for, after its ALLOC record. */
void sw_symbol_named(uint64_t address, const char *name);

#endif
