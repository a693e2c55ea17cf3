/* SPDX-License-Identifier: Apache-2.0 */
/* 2D and 3D copy descriptors of the driver as the boxes of a COPY_ND record. */
#ifndef SW_PRELOAD_CALLS_COPY_BOXES_H
#define SW_PRELOAD_CALLS_COPY_BOXES_H

#include "preload/intercept/cuda_types.h"
#include "preload/recorder/recorder.h"

/* One side of a descriptor in the driver's words. */
struct sw_box_side {
	CUmemorytype type;
	const void *host;
	CUdeviceptr device;
	CUarray array;
	uint64_t pitch, rows; /* bytes a row, rows a slice; 0: as wide, as high as the box */
	uint64_t x, y, z;     /* offset: bytes, rows, slices */
};
/* `width` in bytes and `height` are those of the box. */
struct sw_box sw_box_make(const struct sw_box_side *side, uint64_t width, uint64_t height, uint8_t ctx);

/* All versions of the descriptors name their fields alike; `which` is dst or src. */
#define SW_BOX_SIDE(box, p, which, slice_rows, slice, context)                                                         \
	(*(box) = sw_box_make(&(struct sw_box_side){(p)->which##MemoryType, (p)->which##Host, (p)->which##Device,      \
						    (p)->which##Array, (p)->which##Pitch, (slice_rows),                \
						    (p)->which##XInBytes, (p)->which##Y, (slice)},                     \
			      (p)->WidthInBytes, (p)->Height, (context)))

/* Bytes of an array by its descriptor. */
uint64_t sw_box_array_bytes(CUarray_format format, uint64_t channels, uint64_t width, uint64_t height, uint64_t depth);
#define SW_ARRAY_BYTES(p, depth_) sw_box_array_bytes((p)->Format, (p)->NumChannels, (p)->Width, (p)->Height, (depth_))

/* Bytes from a device address to the end of its allocation, as the driver knows it; 0: it does not. */
uint64_t sw_box_extent(uint64_t device);
/* Device address of registered host memory where it differs from the host's, else 0. */
uint64_t sw_box_device_alias(uint64_t host);

/* The first four bytes after a setting's value pointer, 0 for NULL. */
#define SW_WORD_AT(p) ((p) ? *(const uint32_t *)(p) : 0)

#endif
