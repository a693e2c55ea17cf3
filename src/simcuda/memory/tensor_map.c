/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensor maps.  The real encoding is opaque; here the words hold the arguments one after the other, so that maps of
 * equal arguments are equal and others are not.  Requirements: CUDA driver API, cuTensorMapEncodeTiled and -Im2col.
 */
#include "simcuda/sim.h"

#include <string.h>

#define RANK_MOST    5u
#define EXTENT_MOST  (1ull << 32)
#define STRIDE_BELOW (1ull << 40)

struct map {
	uint64_t address, extent[RANK_MOST], stride[RANK_MOST - 1];
	uint8_t type, rank, interleave, swizzle, promotion, fill, im2col, mode;
	uint16_t box[RANK_MOST], step[RANK_MOST];
	int16_t corner[2 * (RANK_MOST - 2)];
};
_Static_assert(sizeof(struct map) <= sizeof(CUtensorMap), "it fits");

/* Fills the fields that all kinds of maps have; false: a requirement is not met. */
static bool fill_common(struct map *m, CUtensorMapDataType type, cuuint32_t rank, const void *address,
			const cuuint64_t *extent, const cuuint64_t *stride, const cuuint32_t *step,
			CUtensorMapInterleave interleave)
{
	unsigned align = interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;
	if (!rank || rank > RANK_MOST || (interleave && rank < 3) || (uintptr_t)address % align || !extent || !step ||
	    (rank > 1 && !stride) || (unsigned)type > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B)
		return false;
	*m = (struct map){.address = (uintptr_t)address,
			  .type = (uint8_t)type,
			  .rank = (uint8_t)rank,
			  .interleave = (uint8_t)interleave};
	for (unsigned i = 0; i < rank; i++) {
		if (!extent[i] || extent[i] > EXTENT_MOST || !step[i] || step[i] > 8)
			return false;
		if (i && (stride[i - 1] % align || stride[i - 1] >= STRIDE_BELOW))
			return false;
		m->extent[i] = extent[i];
		m->step[i] = (uint16_t)step[i];
		if (i)
			m->stride[i - 1] = stride[i - 1];
	}
	return true;
}

/* Writes the map, which must be aligned to 64 bytes. */
static CUresult encode_map(CUtensorMap *out, struct map *m, CUtensorMapSwizzle swizzle,
			   CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
	if (!out || (uintptr_t)out % 64)
		return CUDA_ERROR_INVALID_VALUE;
	m->swizzle = (uint8_t)swizzle;
	m->promotion = (uint8_t)promotion;
	m->fill = (uint8_t)fill;
	memset(out, 0, sizeof *out);
	memcpy(out, m, sizeof *m);
	return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank, void *address,
				const cuuint64_t *extent, const cuuint64_t *stride, const cuuint32_t *box,
				const cuuint32_t *step, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
				CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct map m;
	if (!box || !fill_common(&m, type, rank, address, extent, stride, step, interleave))
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < rank; i++) {
		if (!box[i] || box[i] > 256)
			return CUDA_ERROR_INVALID_VALUE;
		m.box[i] = (uint16_t)box[i];
	}
	return encode_map(out, &m, swizzle, promotion, fill);
}

/* Checks im2col maps: "rank must be 3, 4, or 5", channels at most 256, pixels at most 1024; corners for rank - 2. */
static bool check_im2col(struct map *m, const int *lower, const int *upper, unsigned corners, cuuint32_t channels,
			 cuuint32_t pixels)
{
	if (m->rank < 3 || !lower || !upper || channels > 256 || pixels > 1024)
		return false;
	m->im2col = 1;
	m->box[0] = (uint16_t)channels;
	m->box[1] = (uint16_t)pixels;
	for (unsigned i = 0; i < corners; i++) {
		m->corner[2 * i] = (int16_t)lower[i];
		m->corner[2 * i + 1] = (int16_t)upper[i];
	}
	return true;
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank, void *address,
				 const cuuint64_t *extent, const cuuint64_t *stride, const int *lower, const int *upper,
				 cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *step,
				 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
				 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct map m;
	if (!fill_common(&m, type, rank, address, extent, stride, step, interleave) ||
	    !check_im2col(&m, lower, upper, rank - 2, channels, pixels))
		return CUDA_ERROR_INVALID_VALUE;
	return encode_map(out, &m, swizzle, promotion, fill);
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank, void *address,
				     const cuuint64_t *extent, const cuuint64_t *stride, int lower, int upper,
				     cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *step,
				     CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
				     CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
				     CUtensorMapFloatOOBfill fill)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct map m;
	if (!fill_common(&m, type, rank, address, extent, stride, step, interleave) ||
	    !check_im2col(&m, &lower, &upper, 1, channels, pixels))
		return CUDA_ERROR_INVALID_VALUE;
	m.mode = (uint8_t)(1 + mode);
	return encode_map(out, &m, swizzle, promotion, fill);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct map m;
	if (!map || (uintptr_t)map % 64)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&m, map, sizeof m);
	if ((uintptr_t)address % (m.interleave == CU_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16))
		return CUDA_ERROR_INVALID_VALUE;
	m.address = (uintptr_t)address;
	memcpy(map, &m, sizeof m);
	return CUDA_SUCCESS;
}

/* Since 13.5.  Of the architecture simulated, where "all three requests succeed without changing" it. */
CUresult cuTensorMapSetAllocationClass(CUtensorMap *map, CUtensorMapAllocClass class, CUtensorMapAllocClass *out);
CUresult cuTensorMapSetAllocationClass(CUtensorMap *map, CUtensorMapAllocClass class, CUtensorMapAllocClass *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (out)
		*out = 1; /* CU_TENSOR_MAP_ALLOC_CLASS_SMALL */
	return map && class <= 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
