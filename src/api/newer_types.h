/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of the signatures in src/api/cuda.def that headers of older toolkits lack; include it after cuda.h.  Those are
 * binary interfaces of the driver and do not change.  Where only the driver looks into one it has no members here.
 */
#ifndef SW_API_NEWER_TYPES_H
#define SW_API_NEWER_TYPES_H

#include <stdint.h>

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
