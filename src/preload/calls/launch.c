/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel launches: geometry, stream, attributes and the whole parameter block. */
#include <string.h>

#include "preload/recorder/companion.h"
#include "preload/intercept/contexts.h"
#include "preload/calls/custom.h"
#include "preload/intercept/function_table.h"
#include "preload/intercept/hook_enter.h"
#include "preload/calls/graphs.h"
#include "preload/calls/launch.h"
#include "preload/calls/launch_tail.h"

/* The packed buffer of cuLaunchKernel()'s `extra`: pairs of a name and a value up to CU_LAUNCH_PARAM_END.  *bytes: 0
   where there is none, or one too large. */
static const void *packed_params(void **extra, size_t *bytes)
{
	const void *buffer = NULL;

	*bytes = 0;
	/* Two names exist; more pairs than that are not of this format. */
	for (int i = 0; i < 4 && extra[0] != CU_LAUNCH_PARAM_END; i++, extra += 2) {
		if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = extra[1];
		else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
			*bytes = *(const size_t *)extra[1];
	}
	if (!buffer || *bytes >= SW_LAUNCH_BLOCK_MAX)
		*bytes = 0;
	return buffer;
}

/* Writes the LAUNCH record with its parameter block of so many bytes, shortened if an earlier launch had the same. */
static inline __attribute__((always_inline)) void launch_record(struct sw_call *call, struct sw_launch *launch,
								const void *block, size_t bytes)
{
	struct sw_launch_tail *tail = &launch->tail;

	sw_launch_tail(tail, block, bytes, sw_companion_hooked());
	if (__builtin_expect(sw_companion_hooked(), 0))
		sw_companion_hooks_now()->parameters(block, bytes);
	const size_t room = sizeof(struct sw_rec) + tail->bytes + tail->block;
	struct sw_rec *r =
		launch->more ? sw_hook_extra(call, SW_REC_LAUNCH, room) : sw_call_record(call, SW_REC_LAUNCH, room);

	sw_launch_tail_write(r, tail, block, bytes);
	if (__builtin_expect(launch->more, 0))
		sw_describe_done(r);
	else
		sw_call_publish(call);
}

/* The parameters as the program passes them: one pointer a parameter, with the kernel's layout of them. */
static inline struct sw_launch_values values_of(const struct sw_kernel_entry *function, void *const *params)
{
	return (struct sw_launch_values){function->layout, function->params, function->bytes, params,
					 function->gaps != 0};
}

/* Copies the kernel's parameters as they lie in its parameter memory into `block`; returns their bytes, 0: not
   known. */
size_t sw_launch_block(const struct sw_kernel_entry *function, void **params, void **extra, char *block)
{
	size_t bytes = 0;
	const void *packed = extra ? packed_params(extra, &bytes) : NULL;

	if (packed && bytes) {
		memcpy(block, packed, bytes);
		return bytes;
	}
	if (!params || !function)
		return 0;
	const struct sw_launch_values values = values_of(function, params);

	sw_launch_gather(&values, block);
	return function->bytes;
}

/* The path of long blocks, in a function of its own for its large frame. */
static __attribute__((noinline, cold)) void gather_large(struct sw_call *call, struct sw_launch *launch,
							 const struct sw_launch_values *values)
{
	char block[SW_LAUNCH_BLOCK_MAX];

	sw_launch_gather(values, block);
	launch_record(call, launch, block, values->bytes);
}

/* An event that the launch records, before its kernel ends: its clock is that of the stream before the launch. */
static void early_event(const struct sw_call *call, const struct sw_launch *launch, CUevent event, int flags)
{
	struct sw_rec_event_record *r = sw_hook_extra(call, SW_REC_EVENT_RECORD, sizeof *r);

	if (!r)
		return;
	r->event = SW_WORD(event);
	r->stream = launch->tail.launch.stream;
	r->flags = SW_EVENT_RECORD_EARLY | ((unsigned int)flags & CU_EVENT_RECORD_EXTERNAL);
	sw_describe_done(r);
}

/* Takes from a launch attribute what changes the order of work (programmatic launches, events) or the shape. */
static void launch_attribute(const struct sw_call *call, struct sw_launch *launch, const CUlaunchAttribute *attribute)
{
	const CUlaunchAttributeValue *value = &attribute->value;

	switch (attribute->id) {
	case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		launch->tail.launch.flags |= value->cooperative ? SW_LAUNCH_COOPERATIVE : 0;
		break;
	case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		launch->tail.launch.cluster =
			(uint16_t)(value->clusterDim.x * value->clusterDim.y * value->clusterDim.z);
		break;
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
		launch->tail.launch.flags |= value->programmaticStreamSerializationAllowed ? SW_LAUNCH_PROGRAMMATIC : 0;
		break;
	case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
		launch->tail.launch.flags |= SW_LAUNCH_EVENT;
		early_event(call, launch, value->programmaticEvent.event, value->programmaticEvent.flags);
		break;
	case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
		launch->tail.launch.flags |= SW_LAUNCH_EVENT;
		early_event(call, launch, value->launchCompletionEvent.event, value->launchCompletionEvent.flags);
		break;
	default: /* priorities, placement, memory domains: they order nothing */
		break;
	}
}

/* All attributes of cuLaunchKernelEx(). */
static __attribute__((noinline)) void launch_attributes(const struct sw_call *call, struct sw_launch *launch)
{
	for (unsigned int i = 0; launch->config->attrs && i < launch->config->numAttrs; i++)
		launch_attribute(call, launch, &launch->config->attrs[i]);
}

/* Writes a launch that the short path does not: packed parameters, those that a companion looks at, large ones, or
   several launches in one call. */
static __attribute__((noinline, cold)) void other_launch(struct sw_call *call, struct sw_launch *launch,
							 const struct sw_launch_values *values)
{
	const void *block = NULL;
	size_t bytes = 0;
	char small[SW_LAUNCH_SHORT];

	if (launch->extra)
		block = packed_params(launch->extra, &bytes);
	if (block && bytes) {
		launch->tail.launch.flags |= SW_LAUNCH_EXTRA;
	} else if (launch->params && values->bytes) {
		if (values->bytes > SW_LAUNCH_SHORT) {
			gather_large(call, launch, values);
			return;
		}
		sw_launch_gather(values, small);
		block = small;
		bytes = values->bytes;
	}
	launch_record(call, launch, block, bytes);
}

/* Writes the record of a launch: as a repetition of an earlier one where it can, which nearly all are. */
static inline __attribute__((always_inline)) void record_launch(struct sw_call *call, struct sw_launch *launch)
{
	const struct sw_kernel_entry *function = sw_function_of(launch->f);
	struct sw_launch_values values = {0};

	sw_call_context(call, sw_context_of_stream(launch->tail.launch.stream));
	if (__builtin_expect(function != NULL, 1))
		values = values_of(function, launch->params);
	sw_launch_set_function(launch, function ? function->id : 0);
	if (launch->config)
		launch_attributes(call, launch);
	if (__builtin_expect(launch->extra || launch->more || (!launch->params && values.bytes) ||
				     !sw_launch_again(call, &launch->tail, &values),
			     0))
		other_launch(call, launch, &values);
}

/* Writes the launch's record, and those of the events that it records. */
void sw_launch_begin(struct sw_call *call, struct sw_launch *launch)
{
	record_launch(call, launch);
}

/* Starts a recorded launch: the call itself, then its record.  Returns the driver's function. */
SW_OFTEN void *sw_launch_enter(struct sw_call *call, uint32_t what, void *frame, struct sw_launch *launch)
{
	void *real = sw_hook_begin_here(call, what, frame);

	if (__builtin_expect(call->writer != NULL, 1))
		record_launch(call, launch);
	return real;
}

/* Ends a launch; one into a capture made a graph node, whose origin is noted. */
SW_OFTEN void sw_launch_leave(struct sw_call *call, CUstream stream, CUresult status)
{
	sw_graphs_capture(call, stream, status);
	sw_call_leave(call, status);
}

/* cuLaunchKernelEx(). */
CUresult sw_custom_launch_ex(const struct sw_site *site, const CUlaunchConfig *config, CUfunction f, void **params,
			     void **extra)
{
	__typeof__(&cuLaunchKernelEx) real = (__typeof__(real))site->real;
	struct sw_launch launch;
	struct sw_call call;
	CUresult status;

	if (!config || !sw_site_enter(&call, site, 0))
		return real(config, f, params, extra);
	sw_launch_set(&launch, 0, f, config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
		      config->blockDimY, config->blockDimZ, config->sharedMemBytes, config->hStream, params, extra);
	launch.config = config;
	sw_launch_begin(&call, &launch);
	status = real(config, f, params, extra);
	sw_graphs_capture(&call, config->hStream, status);
	sw_call_leave(&call, status);
	return status;
}

#include "preload/platform/seldom.h" /* from here on */

/* One kernel of a launch on several devices; `last`: the record that carries status and duration. */
static void launch_among(struct sw_call *call, const CUDA_LAUNCH_PARAMS *p, bool last)
{
	struct sw_launch launch;

	sw_launch_set(&launch, SW_LAUNCH_COOPERATIVE, p->function, p->gridDimX, p->gridDimY, p->gridDimZ, p->blockDimX,
		      p->blockDimY, p->blockDimZ, p->sharedMemBytes, p->hStream, p->kernelParams, NULL);
	launch.more = !last;
	sw_launch_begin(call, &launch);
}

/* cuLaunchCooperativeKernelMultiDevice(): a record a device. */
CUresult sw_custom_launch_multi_device(const struct sw_site *site, CUDA_LAUNCH_PARAMS *list, unsigned int devices,
				       unsigned int flags)
{
	CUresult (*real)(CUDA_LAUNCH_PARAMS *, unsigned int, unsigned int) = (__typeof__(real))site->real;
	struct sw_call call;
	CUresult status;

	if (!list || !sw_site_enter(&call, site, 0))
		return real(list, devices, flags);
	for (unsigned int i = 0; i < devices; i++)
		launch_among(&call, &list[i], i + 1 == devices);
	status = real(list, devices, flags);
	sw_call_leave(&call, status);
	return status;
}

/* Begins the record of a launch of CUDA 3, whose block shape and parameters lie in the function's state, which no call
   returns: they stay 0.  False: not recorded. */
static bool launch_old(struct sw_call *call, const struct sw_site *site, CUfunction f, int width, int height,
		       CUstream stream)
{
	struct sw_launch launch;

	sw_launch_set(&launch, 0, f, (unsigned int)width, (unsigned int)height, 1, 0, 0, 0, 0, stream, NULL, NULL);
	if (!sw_site_enter(call, site, 0))
		return false;
	sw_launch_begin(call, &launch);
	return true;
}

/* cuLaunch(), a grid of one block. */
CUresult sw_custom_launch_old(const struct sw_site *site, CUfunction f)
{
	CUresult (*real)(CUfunction) = (__typeof__(real))site->real;
	struct sw_call call;
	CUresult status;

	if (!launch_old(&call, site, f, 1, 1, NULL))
		return real(f);
	status = real(f);
	sw_call_leave(&call, status);
	return status;
}

/* cuLaunchGrid(). */
CUresult sw_custom_launch_grid(const struct sw_site *site, CUfunction f, int width, int height)
{
	CUresult (*real)(CUfunction, int, int) = (__typeof__(real))site->real;
	struct sw_call call;
	CUresult status;

	if (!launch_old(&call, site, f, width, height, NULL))
		return real(f, width, height);
	status = real(f, width, height);
	sw_call_leave(&call, status);
	return status;
}

/* cuLaunchGridAsync(). */
CUresult sw_custom_launch_grid_async(const struct sw_site *site, CUfunction f, int width, int height, CUstream stream)
{
	CUresult (*real)(CUfunction, int, int, CUstream) = (__typeof__(real))site->real;
	struct sw_call call;
	CUresult status;

	if (!launch_old(&call, site, f, width, height, stream))
		return real(f, width, height, stream);
	status = real(f, width, height, stream);
	sw_call_leave(&call, status);
	return status;
}
