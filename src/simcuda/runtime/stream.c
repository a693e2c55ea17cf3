/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, host functions, capture: one driver call each. */
#include "simcuda/runtime/rt.h"

SW_RT_FORWARD(cudaStreamCreate, (cudaStream_t * out), cuStreamCreate(out, CU_STREAM_DEFAULT))

SW_RT_FORWARD(cudaStreamCreateWithFlags, (cudaStream_t * out, unsigned flags), cuStreamCreate(out, flags))

SW_RT_FORWARD(cudaStreamCreateWithPriority, (cudaStream_t * out, unsigned flags, int priority),
	      cuStreamCreateWithPriority(out, flags, priority))

SW_RT_FORWARD(cudaStreamDestroy, (cudaStream_t s), cuStreamDestroy(s))

SW_RT_FORWARD(cudaStreamSynchronize, (cudaStream_t s), cuStreamSynchronize(s))

SW_RT_FORWARD(cudaStreamQuery, (cudaStream_t s), cuStreamQuery(s))

SW_RT_FORWARD(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t e, unsigned flags), cuStreamWaitEvent(s, e, flags))

SW_RT_FORWARD(cudaStreamGetFlags, (cudaStream_t s, unsigned *out), cuStreamGetFlags(s, out))

SW_RT_FORWARD(cudaStreamGetPriority, (cudaStream_t s, int *out), cuStreamGetPriority(s, out))

SW_RT_FORWARD(cudaStreamGetId, (cudaStream_t s, unsigned long long *out), cuStreamGetId(s, out))

SW_RT_FORWARD(cudaStreamGetDevice, (cudaStream_t s, int *out), cuStreamGetDevice(s, out))

SW_RT_FORWARD(cudaStreamAttachMemAsync, (cudaStream_t s, void *p, size_t bytes, unsigned flags),
	      cuStreamAttachMemAsync(s, (uintptr_t)p, bytes, flags))

SW_RT_FORWARD(cudaLaunchHostFunc, (cudaStream_t s, cudaHostFn_t function, void *arg),
	      cuLaunchHostFunc(s, function, arg))

/* Driver and runtime callbacks differ in the error's type alone. */
SW_RT_FORWARD(cudaStreamAddCallback, (cudaStream_t s, cudaStreamCallback_t callback, void *arg, unsigned flags),
	      cuStreamAddCallback(s, (CUstreamCallback)callback, arg, flags))

SW_RT_FORWARD(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest),
	      cuCtxGetStreamPriorityRange(least, greatest))

/* ---- events ---- */

SW_RT_FORWARD(cudaEventCreate, (cudaEvent_t * out), cuEventCreate(out, CU_EVENT_DEFAULT))

SW_RT_FORWARD(cudaEventCreateWithFlags, (cudaEvent_t * out, unsigned flags), cuEventCreate(out, flags))

SW_RT_FORWARD(cudaEventDestroy, (cudaEvent_t e), cuEventDestroy(e))

SW_RT_FORWARD(cudaEventRecord, (cudaEvent_t e, cudaStream_t s), cuEventRecord(e, s))

SW_RT_FORWARD(cudaEventRecordWithFlags, (cudaEvent_t e, cudaStream_t s, unsigned flags),
	      cuEventRecordWithFlags(e, s, flags))

SW_RT_FORWARD(cudaEventQuery, (cudaEvent_t e), cuEventQuery(e))

SW_RT_FORWARD(cudaEventSynchronize, (cudaEvent_t e), cuEventSynchronize(e))

SW_RT_FORWARD(cudaEventElapsedTime, (float *ms, cudaEvent_t start, cudaEvent_t end), cuEventElapsedTime(ms, start, end))

/* ---- capture ---- */

SW_RT_FORWARD(cudaStreamBeginCapture, (cudaStream_t s, enum cudaStreamCaptureMode mode),
	      cuStreamBeginCapture(s, (CUstreamCaptureMode)mode))

SW_RT_FORWARD(cudaStreamBeginCaptureToGraph,
	      (cudaStream_t s, cudaGraph_t graph, const cudaGraphNode_t *after, const cudaGraphEdgeData *edges,
	       size_t n, enum cudaStreamCaptureMode mode),
	      cuStreamBeginCaptureToGraph(s, graph, after, (const CUgraphEdgeData *)edges, n,
					  (CUstreamCaptureMode)mode))

SW_RT_FORWARD(cudaStreamEndCapture, (cudaStream_t s, cudaGraph_t *out), cuStreamEndCapture(s, out))

SW_RT_FORWARD(cudaStreamIsCapturing, (cudaStream_t s, enum cudaStreamCaptureStatus *out),
	      cuStreamIsCapturing(s, (CUstreamCaptureStatus *)out))

SW_RT_FORWARD(cudaThreadExchangeStreamCaptureMode, (enum cudaStreamCaptureMode * mode),
	      cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode))

/* ---- attributes ---- */

_Static_assert(sizeof(cudaStreamAttrValue) == sizeof(CUstreamAttrValue), "same layout");

SW_RT_FORWARD(cudaStreamSetAttribute, (cudaStream_t s, cudaStreamAttrID id, const cudaStreamAttrValue *value),
	      cuStreamSetAttribute(s, (CUstreamAttrID)id, (const CUstreamAttrValue *)value))

SW_RT_FORWARD(cudaStreamGetAttribute, (cudaStream_t s, cudaStreamAttrID id, cudaStreamAttrValue *out),
	      cuStreamGetAttribute(s, (CUstreamAttrID)id, (CUstreamAttrValue *)out))

SW_RT_FORWARD(cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from), cuStreamCopyAttributes(to, from))
