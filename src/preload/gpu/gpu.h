/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-gpu.so: time stamps of what ran on the devices, from CUPTI's activity records (--gpu-timeline).
 *
 * Which call an activity belongs to is reported by the record that CUPTI makes of the driver's call itself: it carries
 * the correlation id of the work, the thread and when the call began, by our own clock.  One call of ours on that
 * thread encloses it.  So nothing is added to the path of a call, other than what CUPTI does there.
 *
 *     gpu.c          start, the thread that fetches, the end
 *     gpu_clock.c    the clock that CUPTI is given
 *     gpu_buffers.c  the buffers that CUPTI fills
 *     gpu_records.c  CUPTI's records -> records of the trace
 *     cupti.c        where CUPTI is
 */
#ifndef SW_PRELOAD_GPU_GPU_H
#define SW_PRELOAD_GPU_GPU_H

#include "preload/recorder/companion.h"
#include "preload/gpu/cupti.h"

/* libsyncwatch.so calls it at the first CUDA call, on a thread of its own. Never fails: what cannot be recorded becomes
   a NOTICE in the trace. */
void syncwatch_gpu_start(const struct sw_companion *recorder) __attribute__((visibility("default")));

struct sw_gpu {
	const struct sw_companion *recorder;
	struct sw_cupti cupti;
	uint64_t dropped; /* by CUPTI, or for want of a buffer's content */
	bool own_clock;	  /* CUPTI uses ours */
};

/* ---- gpu_clock.c: nanoseconds that are a fixed multiple of our ticks, so that times of CUPTI turn back into ticks
   without an error.  Not CLOCK_MONOTONIC: that is slewed while the program runs. ---- */
void sw_gpu_clock_start(const struct sw_file_header *header);
uint64_t sw_gpu_clock_now(void);
/* Was the clock read since the last call of this function? */
bool sw_gpu_clock_used(void);
/* Reads ticks and CUPTI's clock together and writes GPU_CLOCK, a clock that replaced ours only if `replaced`.  False:
   CUPTI does not use our clock any more. */
bool sw_gpu_clock_write(struct sw_gpu *gpu, uint32_t flags, bool replaced);

/* ---- gpu_buffers.c: thread-safe ---- */
struct sw_gpu_buffer {
	struct sw_gpu_buffer *next;
	CUcontext context;
	uint32_t stream;
	size_t valid;
	uint8_t *bytes;
};
void CUPTIAPI sw_gpu_buffer_wanted(uint8_t **buffer, size_t *size, size_t *records);
void CUPTIAPI sw_gpu_buffer_done(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
sw_cupti_buffer_wanted sw_gpu_shared_wanted;
sw_cupti_buffer_done sw_gpu_shared_done;
/* All that are filled, oldest first; NULL: none.  Each is returned when read. */
struct sw_gpu_buffer *sw_gpu_buffers_take(void);
void sw_gpu_buffer_free(struct sw_gpu_buffer *buffer);
/* Buffers that CUPTI wanted and did not get, so far. */
uint64_t sw_gpu_buffers_refused(void);

/* ---- gpu_records.c ---- */
void sw_gpu_records_write(struct sw_gpu *gpu, const struct sw_gpu_buffer *buffer);

#endif
