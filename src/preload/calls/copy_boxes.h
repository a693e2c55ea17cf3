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

/* The fields of a record from a descriptor; NULL is the driver's to refuse.  Functions, one for each version of each
   descriptor: as code of each of the wrappers this was 6 KB of the object. */
void sw_box_copy_2d_v1(struct sw_rec_copy_nd *r, const CUDA_MEMCPY2D_v1 *p, uint64_t stream);
void sw_box_copy_2d(struct sw_rec_copy_nd *r, const CUDA_MEMCPY2D *p, uint64_t stream);
void sw_box_copy_3d_v1(struct sw_rec_copy_nd *r, const CUDA_MEMCPY3D_v1 *p, uint64_t stream);
void sw_box_copy_3d(struct sw_rec_copy_nd *r, const CUDA_MEMCPY3D *p, uint64_t stream);
void sw_box_copy_3d_peer(struct sw_rec_copy_nd *r, const CUDA_MEMCPY3D_PEER *p, uint64_t stream);

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
