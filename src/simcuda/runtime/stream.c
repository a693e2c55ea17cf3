/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, host functions, capture: one driver call each. */
#include "simcuda/runtime/rt.h"

cudaError_t cudaStreamCreate(cudaStream_t *out) SW_RT_FORWARD(cuStreamCreate(out, CU_STREAM_DEFAULT))

	cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
		SW_RT_FORWARD(cuStreamCreate(out, flags))

			cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
				SW_RT_FORWARD(cuStreamCreateWithPriority(out, flags, priority))

					cudaError_t cudaStreamDestroy(cudaStream_t s) SW_RT_FORWARD(cuStreamDestroy(s))

						cudaError_t
	cudaStreamSynchronize(cudaStream_t s) SW_RT_FORWARD(cuStreamSynchronize(s))

		cudaError_t cudaStreamQuery(cudaStream_t s) SW_RT_FORWARD(cuStreamQuery(s))

			cudaError_t
	cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags) SW_RT_FORWARD(cuStreamWaitEvent(s, e, flags))

		cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned *out) SW_RT_FORWARD(cuStreamGetFlags(s, out))

			cudaError_t cudaStreamGetPriority(cudaStream_t s, int *out)
				SW_RT_FORWARD(cuStreamGetPriority(s, out))

					cudaError_t
	cudaStreamGetId(cudaStream_t s, unsigned long long *out) SW_RT_FORWARD(cuStreamGetId(s, out))

		cudaError_t cudaStreamGetDevice(cudaStream_t s, int *out) SW_RT_FORWARD(cuStreamGetDevice(s, out))

			cudaError_t cudaStreamAttachMemAsync(cudaStream_t s, void *p, size_t bytes, unsigned flags)
				SW_RT_FORWARD(cuStreamAttachMemAsync(s, (uintptr_t)p, bytes, flags))

					cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t function, void *arg)
						SW_RT_FORWARD(cuLaunchHostFunc(s, function, arg))

	/* Driver and runtime callbacks differ in the error's type alone. */
	cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t callback, void *arg, unsigned flags)
		SW_RT_FORWARD(cuStreamAddCallback(s, (CUstreamCallback)callback, arg, flags))

			cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
				SW_RT_FORWARD(cuCtxGetStreamPriorityRange(least, greatest))

	/* ---- events ---- */

	cudaError_t cudaEventCreate(cudaEvent_t *out) SW_RT_FORWARD(cuEventCreate(out, CU_EVENT_DEFAULT))

		cudaError_t
	cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) SW_RT_FORWARD(cuEventCreate(out, flags))

		cudaError_t cudaEventDestroy(cudaEvent_t e) SW_RT_FORWARD(cuEventDestroy(e))

			cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) SW_RT_FORWARD(cuEventRecord(e, s))

				cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags)
					SW_RT_FORWARD(cuEventRecordWithFlags(e, s, flags))

						cudaError_t cudaEventQuery(cudaEvent_t e) SW_RT_FORWARD(cuEventQuery(e))

							cudaError_t
	cudaEventSynchronize(cudaEvent_t e) SW_RT_FORWARD(cuEventSynchronize(e))

		cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
			SW_RT_FORWARD(cuEventElapsedTime(ms, start, end))

	/* ---- capture ---- */

	cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode)
		SW_RT_FORWARD(cuStreamBeginCapture(s, (CUstreamCaptureMode)mode))

			cudaError_t
	cudaStreamBeginCaptureToGraph(cudaStream_t s, cudaGraph_t graph, const cudaGraphNode_t *after,
				      const cudaGraphEdgeData *edges, size_t n, enum cudaStreamCaptureMode mode)
		SW_RT_FORWARD(cuStreamBeginCaptureToGraph(s, graph, after, (const CUgraphEdgeData *)edges, n,
							  (CUstreamCaptureMode)mode))

			cudaError_t
	cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out) SW_RT_FORWARD(cuStreamEndCapture(s, out))

		cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *out)
			SW_RT_FORWARD(cuStreamIsCapturing(s, (CUstreamCaptureStatus *)out))

				cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
					SW_RT_FORWARD(cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode))

	/* ---- attributes ---- */

	_Static_assert(sizeof(cudaStreamAttrValue) == sizeof(CUstreamAttrValue), "same layout");

cudaError_t cudaStreamSetAttribute(cudaStream_t s, cudaStreamAttrID id, const cudaStreamAttrValue *value)
	SW_RT_FORWARD(cuStreamSetAttribute(s, (CUstreamAttrID)id, (const CUstreamAttrValue *)value))

		cudaError_t cudaStreamGetAttribute(cudaStream_t s, cudaStreamAttrID id, cudaStreamAttrValue *out)
			SW_RT_FORWARD(cuStreamGetAttribute(s, (CUstreamAttrID)id, (CUstreamAttrValue *)out))

				cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
					SW_RT_FORWARD(cuStreamCopyAttributes(to, from))
