/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/calls/copy_boxes.h"
#include "preload/intercept/contexts.h"
#include "preload/intercept/driver.h"

/* One side of a copy of several dimensions: where its box begins, as an address in linear memory, as coordinates in an
   array.  A pitch or height of 0 means that of the box. */
struct sw_box sw_box_make(const struct sw_box_side *side, uint64_t width, uint64_t height, uint8_t ctx)
{
	const uint64_t pitch = side->pitch ? side->pitch : width, rows = side->rows ? side->rows : height;
	struct sw_box box = {.pitch = pitch, .slice_rows = rows, .ctx = ctx};

	switch (side->type) {
	case CU_MEMORYTYPE_ARRAY:
		box.base = (uint64_t)(uintptr_t)side->array;
		box.side = SW_SIDE_ARRAY;
		box.x = side->x;
		box.y = side->y;
		box.z = side->z;
		return box;
	case CU_MEMORYTYPE_HOST:
		box.base = (uint64_t)(uintptr_t)side->host;
		box.side = SW_SIDE_HOST;
		break;
	case CU_MEMORYTYPE_DEVICE:
		box.base = side->device;
		box.side = SW_SIDE_DEVICE;
		break;
	default: /* unified: "dstDevice and dstPitch specify the (unified virtual address space) base address" */
		box.base = side->device;
		box.side = SW_SIDE_UNIFIED;
		break;
	}
	box.base += (side->z * rows + side->y) * pitch + side->x;
	return box;
}

/* All versions of the descriptors name their fields alike; `which` is dst or src. */
#define SIDE(which, slice_rows, slice, context)                                                                        \
	sw_box_make(&(struct sw_box_side){p->which##MemoryType, p->which##Host, p->which##Device, p->which##Array,     \
					  p->which##Pitch, (slice_rows), p->which##XInBytes, p->which##Y, (slice)},    \
		    p->WidthInBytes, p->Height, (context))
#define SIDE_2D(which)	    SIDE(which, 0, 0, 0)
#define SIDE_3D(which)	    SIDE(which, p->which##Height, p->which##Z, 0)
#define SIDE_3D_PEER(which) SIDE(which, p->which##Height, p->which##Z, sw_context_of(p->which##Context))
#define COPY(name, type, side, slices, bits)                                                                           \
	void sw_box_copy_##name(struct sw_rec_copy_nd *r, const type *p, uint64_t stream)                              \
	{                                                                                                              \
		if (!p)                                                                                                \
			return;                                                                                        \
		r->stream = stream;                                                                                    \
		r->width = p->WidthInBytes;                                                                            \
		r->height = p->Height;                                                                                 \
		r->depth = (slices);                                                                                   \
		r->flags = (bits);                                                                                     \
		r->dst = side(dst);                                                                                    \
		r->src = side(src);                                                                                    \
	}
COPY(2d_v1, CUDA_MEMCPY2D_v1, SIDE_2D, 1, 0)
COPY(2d, CUDA_MEMCPY2D, SIDE_2D, 1, 0)
COPY(3d_v1, CUDA_MEMCPY3D_v1, SIDE_3D, p->Depth, 0)
COPY(3d, CUDA_MEMCPY3D, SIDE_3D, p->Depth, 0)
COPY(3d_peer, CUDA_MEMCPY3D_PEER, SIDE_3D_PEER, p->Depth, SW_COPY_PEER)

/* Bytes of an array; 0: not known.  A height or depth of 0 is 1, as in descriptors of fewer dimensions. */
uint64_t sw_box_array_bytes(CUarray_format format, uint64_t channels, uint64_t width, uint64_t height, uint64_t depth)
{
	uint64_t each;

	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		each = 1;
		break;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		each = 2;
		break;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		each = 4;
		break;
	default: /* planar and block-compressed formats: no size a channel */
		return 0;
	}
	return each * channels * width * (height ? height : 1) * (depth ? depth : 1);
}

/* Bytes from this address to the end of its allocation: the most that a copy of unknown size can touch. */
uint64_t sw_box_extent(uint64_t device)
{
	__typeof__(&cuMemGetAddressRange_v2) ask = SW_REAL(cuMemGetAddressRange_v2);
	CUdeviceptr base = 0;
	size_t bytes = 0;

	if (!ask || ask(&base, &bytes, device) != CUDA_SUCCESS || device - base >= bytes)
		return 0;
	return bytes - (device - base);
}

/* The second address of registered host memory, which kernels use where it differs from the host's; 0: there is
   none. */
uint64_t sw_box_device_alias(uint64_t host)
{
	__typeof__(&cuMemHostGetDevicePointer_v2) ask = SW_REAL(cuMemHostGetDevicePointer_v2);
	CUdeviceptr device = 0;

	if (!ask || ask(&device, (void *)(uintptr_t)host, 0) != CUDA_SUCCESS || device == host)
		return 0;
	return device;
}
