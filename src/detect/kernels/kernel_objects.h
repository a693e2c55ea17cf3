/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Textures, surfaces and tensor maps: which memory kernels access through them, if their creation was recorded or, of
 * tensor maps, if they say so themselves. Not thread-safe.
 *
 * sw_tensor_map_read() reads from a tensor map (CUtensorMap) the memory that it was made over.
 * NVIDIA documents no layout.  This one was read off 6,000 maps of sm_90 that cuTensorMapEncodeTiled and
 * cuTensorMapEncodeIm2col made from random arguments (driver 580.159.04, H200); it holds for all of them, and for the
 * maps of 64 bytes that cuBLAS 13 makes itself.
 */
#ifndef SW_DETECT_KERNELS_KERNEL_OBJECTS_H
#define SW_DETECT_KERNELS_KERNEL_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "detect/memory/access.h"
#include "syncwatch/format.h"

struct sw_handles;

/* arch: of the device, 90 for sm_90.  Fills the address, element type, rank, sizes and strides (bytes) of *object as
   its creation would have recorded them; false: the bytes at `map` (`bytes` may be read) are no tensor map of this
   layout, or the layout of this device's maps is not known.  Thread-safe. */
bool sw_tensor_map_read(uint32_t arch, const void *map, size_t bytes, struct sw_rec_object *object);

struct sw_handles *sw_handles_new(void);
void sw_handles_free(struct sw_handles *handles);
void sw_handles_add(struct sw_handles *handles, const struct sw_rec_object *record);

/* All memory of the object, as a loose range (READ; the caller sets the role); *array: handle of the array that it
   is an offset in, 0: none.  False: not known.  A surface object may be made of the same array as a texture object:
   they then have the same *array, so a kernel that writes one and another that reads the other meet there. */
bool sw_handles_find(struct sw_handles *handles, enum sw_object_kind kind, uint64_t handle, struct sw_range *range,
		     uint64_t *array);
/* As sw_handles_find(), for a tensor map by its content, at most `bytes` of it: as it was made, else as it
   says itself.  False: neither is known. */
bool sw_handles_find_map(struct sw_handles *handles, uint32_t arch, const void *map, size_t bytes,
			 struct sw_range *range);
/* Does a tensor map with this content stand for the same addresses [*lo, *hi) at any time, also when its record is
   forgotten, since the map itself says the same?  None if it was never made (null). */
bool sw_handles_lasting_map(struct sw_handles *handles, uint32_t arch, const void *map, size_t bytes, uint64_t *lo,
			    uint64_t *hi);

#endif
