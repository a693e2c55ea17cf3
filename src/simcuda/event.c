/* SPDX-License-Identifier: Apache-2.0 */
/* Events: a marker in a stream.  A wait takes the record that is the latest at the time of the call. */
#include "simcuda/sim.h"

#include <stdlib.h>

/* Frees an event and its part in memory that it shares with other processes. */
void sw_sim_event_end(struct sw_sim_event *event)
{
	sw_sim_op_put(event->op);
	sw_sim_ipc_event_end(event);
	free(event->nodes.at);
	free(event);
}

/* An event that processes share has no time stamps: CUDA asks for CU_EVENT_DISABLE_TIMING. */
CUresult cuEventCreate(CUevent *out, unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	if (!out || flags & ~7u || (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING)))
		return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_event *event = sw_calloc(1, sizeof *event);
	event->flags = flags;
	if (flags & CU_EVENT_INTERPROCESS && !sw_sim_ipc_event_start(event)) {
		free(event);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	sw_sim_object_add(event, SW_SIM_EVENT, sw_sim_ctx_current());
	*out = (CUevent)event;
	return CUDA_SUCCESS;
}

/* "Destroying an event before it completed" frees it when it completes: what waits for it holds the record itself. */
CUresult cuEventDestroy_v2(CUevent handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_event *event = sw_sim_object_get(handle, SW_SIM_EVENT);
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	sw_sim_object_remove(event);
	sw_sim_event_end(event);
	return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent handle)
{
	return cuEventDestroy_v2(handle);
}

/* Records an event on a stream: the marker of all work before it.  In a capture it stands for the stream's last nodes,
   or becomes a node (external). */
CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	struct sw_sim_event *event = sw_sim_object_get(handle, SW_SIM_EVENT);
	CUresult result = sw_sim_stream_find(stream, &s);
	if (result || !event || event->object.ctx != s->object.ctx)
		return CUDA_ERROR_INVALID_HANDLE;
	if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
		return CUDA_ERROR_INVALID_VALUE;
	if (s->capture && flags & CU_EVENT_RECORD_EXTERNAL) {
		struct sw_sim_work *work = sw_sim_work_new(CU_GRAPH_NODE_TYPE_EVENT_RECORD, 0);
		work->event = event;
		return sw_sim_submit(s, work, NULL);
	}
	if (s->capture)
		return sw_sim_capture_record(s, event);
	if (s->legacy && (result = sw_sim_capture_legacy(s->object.ctx)))
		return result;
	event->capture_id = 0;
	sw_sim_op_set(&event->op, sw_sim_stream_enqueue(s, event->shared ? sw_sim_ipc_record(event) : NULL));
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent handle, CUstream stream)
{
	return cuEventRecordWithFlags(handle, stream, 0);
}

/* The event that a host call asks about; one that was recorded in a capture stands for no work, so that is an error. */
static CUresult find_event(CUevent handle, struct sw_sim_event **out)
{
	struct sw_sim_event *event = *out = sw_sim_object_get(handle, SW_SIM_EVENT);
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	return event->capture_id ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_event *event;
	CUresult result = find_event(handle, &event);
	if (!result && (event->shared ? !sw_sim_ipc_done(event) : event->op && !event->op->done))
		result = CUDA_ERROR_NOT_READY;
	return result;
}

CUresult cuEventSynchronize(CUevent handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_event *event;
	CUresult result = find_event(handle, &event);
	if (!result && event->shared)
		sw_sim_ipc_synchronize(event);
	else if (!result)
		sw_sim_op_wait(event->op);
	return result;
}

/* By the ends of the operations that the events were recorded behind: simulated work ends at a moment that is known in
   advance. */
CUresult cuEventElapsedTime_v2(float *ms, CUevent start_handle, CUevent end_handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_event *start, *end;
	CUresult result = find_event(start_handle, &start);
	if (!result)
		result = find_event(end_handle, &end);
	if (result)
		return result;
	if (!ms)
		return CUDA_ERROR_INVALID_VALUE;
	if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING || !start->op || !end->op)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!start->op->done || !end->op->done)
		return CUDA_ERROR_NOT_READY;
	*ms = (float)(int64_t)(end->op->end - start->op->end) * 1e-6f;
	return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
	return cuEventElapsedTime_v2(ms, start, end);
}
