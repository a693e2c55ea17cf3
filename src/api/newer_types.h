/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of the signatures in src/api/cuda.def that headers of older toolkits lack; include it after cuda.h.  Those are
 * binary interfaces of the driver and do not change.  Where only the driver looks into one it has no members here.
 */
#ifndef SW_API_NEWER_TYPES_H
#define SW_API_NEWER_TYPES_H

#include <stdint.h>

#if CUDA_VERSION < 12050
typedef struct CUctxCreateParams_st CUctxCreateParams;
CUresult CUDAAPI cuKernelGetLibrary(CUlibrary *library, CUkernel kernel);
#endif

#if CUDA_VERSION < 12080
typedef enum CUmemcpySrcAccessOrder_enum {
	CU_MEMCPY_SRC_ACCESS_ORDER_INVALID,
	CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
	CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL,
	CU_MEMCPY_SRC_ACCESS_ORDER_ANY
} CUmemcpySrcAccessOrder;
typedef enum CUmemcpy3DOperandType_enum {
	CU_MEMCPY_OPERAND_TYPE_POINTER = 1,
	CU_MEMCPY_OPERAND_TYPE_ARRAY = 2
} CUmemcpy3DOperandType;
typedef struct CUmemcpyAttributes_st {
	CUmemcpySrcAccessOrder srcAccessOrder;
	CUmemLocation srcLocHint, dstLocHint;
	unsigned int flags;
} CUmemcpyAttributes;
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

#if CUDA_VERSION < 13000
CUresult CUDAAPI cuCtxSynchronize_v2(CUcontext context);
#endif

#if CUDA_VERSION < 13020
typedef struct CUstreamCigCaptureParams_st CUstreamCigCaptureParams;
#endif

#if CUDA_VERSION < 13030
typedef cuuint32_t CUlogicalEndpointId;
typedef struct CUlogicalEndpointProp_struct CUlogicalEndpointProp;
typedef unsigned int CUlogicalEndpointIpcHandleType;
typedef unsigned int CUgraphRecaptureStatus;
typedef CUresult(CUDA_CB *CUgraphRecaptureCallback)(void *data, CUgraphNode node, const CUgraphNodeParams *original,
						    const CUgraphNodeParams *recapture, CUgraphRecaptureStatus status);
#endif

#if CUDA_VERSION < 13040
typedef struct CUIcheckpointOperation_st *CUcheckpointOperationHandle;
#endif

#if CUDA_VERSION < 13050
typedef struct CUDA_FABRIC_COPY_BATCH_OP_st CUDA_FABRIC_COPY_BATCH_OP;
typedef unsigned int CUtensorMapAllocClass;
#endif

/* CUeglFrame, whose header needs those of EGL: three pointers and nine numbers.  It is passed by value. */
struct sw_egl_frame {
	uint64_t words[8];
};

#endif
