/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda.h as the wrappers need it: every ABI version declared under its exported name, and the types that headers of
 * CUDA 12.4 to 12.9 lack.  Those are binary interfaces of the driver and do not change.
 */
#ifndef SW_PRELOAD_INTERCEPT_CUDA_TYPES_H
#define SW_PRELOAD_INTERCEPT_CUDA_TYPES_H

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "api/newer_types.h"

#if CUDA_VERSION < 12040
#error "the headers of CUDA 12.4 or newer are needed"
#endif

#if CUDA_VERSION < 12050
typedef struct CUctxCreateParams_st CUctxCreateParams;
#endif

#if CUDA_VERSION < 12080
typedef enum CUmemcpyFlags_enum { CU_MEMCPY_FLAG_DEFAULT } CUmemcpyFlags;
typedef enum CUmemcpySrcAccessOrder_enum { CU_MEMCPY_SRC_ACCESS_ORDER_INVALID } CUmemcpySrcAccessOrder;
typedef enum CUmemcpy3DOperandType_enum {
	CU_MEMCPY_OPERAND_TYPE_POINTER = 1,
	CU_MEMCPY_OPERAND_TYPE_ARRAY = 2
} CUmemcpy3DOperandType;
typedef struct CUmemcpyAttributes_st CUmemcpyAttributes;
typedef struct CUoffset3D_st {
	size_t x, y, z;
} CUoffset3D;
typedef struct CUextent3D_st {
	size_t width, height, depth;
} CUextent3D;
typedef struct CUmemcpy3DOperand_st {
	CUmemcpy3DOperandType type;
	union {
		struct {
			CUdeviceptr ptr;
			size_t rowLength, layerHeight;
			CUmemLocation locHint;
		} ptr;
		struct {
			CUarray array;
			CUoffset3D offset;
		} array;
	} op;
} CUmemcpy3DOperand;
typedef struct CUDA_MEMCPY3D_BATCH_OP_st {
	CUmemcpy3DOperand src, dst;
	CUextent3D extent;
	CUmemcpySrcAccessOrder srcAccessOrder;
	unsigned int flags;
} CUDA_MEMCPY3D_BATCH_OP;
typedef struct CUmemDecompressParams_st CUmemDecompressParams;
typedef struct CUcheckpointLockArgs_st CUcheckpointLockArgs;
typedef struct CUcheckpointCheckpointArgs_st CUcheckpointCheckpointArgs;
typedef struct CUcheckpointRestoreArgs_st CUcheckpointRestoreArgs;
typedef struct CUcheckpointUnlockArgs_st CUcheckpointUnlockArgs;
#endif

#endif
