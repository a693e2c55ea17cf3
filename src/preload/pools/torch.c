/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-pools.so: blocks of PyTorch's caching allocator, as records.  Preloaded by `syncwatch run`.
 *
 * c10::reportMemoryUsageToProfiler(void *block, int64_t bytes, size_t allocated, size_t reserved, c10::Device) of
 * libc10 is called for each block that is allocated (bytes > 0) or freed (< 0), with or without a profiler
 * (c10/cuda/CUDACachingAllocator.cpp). libc10_cuda calls it through its PLT, so that this definition is found first:
 * objects that are preloaded come before those that Python loads RTLD_LOCAL. For the same reason the real one must be
 * taken from libc10 itself:  RTLD_NEXT does not see it.  A process without PyTorch calls nothing of this object.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>

#include "syncwatch/format.h"
#include "syncwatch/syncwatch.h"

#define REPORT_NAME  "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE"
#define CURRENT_NAME "_ZN3c104cuda20getCurrentCUDAStreamEa"
#define HANDLE_NAME  "_ZNK3c104cuda10CUDAStream6streamEv"
#define CUDA_DEVICE  1 /* c10::DeviceType, the first byte of c10::Device; the second one is the index */

typedef void report_function(void *block, int64_t bytes, size_t allocated, size_t reserved, uint64_t device);
__attribute__((visibility("default"))) report_function sw_torch_report __asm__(REPORT_NAME);

/* c10::Stream, all that a CUDAStream holds: two words, so it comes in registers. */
struct stream {
	uint64_t device;
	int64_t id;
};

static struct {
	struct stream (*current)(int8_t device);      /* c10::cuda::getCurrentCUDAStream() */
	void *(*handle)(const struct stream *stream); /* c10::cuda::CUDAStream::stream() const */
	report_function *report;
	syncwatch_function *annotate; /* NULL: the recorder is not there */
} real;

/* PyTorch's own function, which ours must call; NULL: not found.  The caller's process has libc10.  Each thread that
   comes here before it is done does it all, with the same result. */
static report_function *find_reporter(void)
{
	report_function *found = __atomic_load_n(&real.report, __ATOMIC_ACQUIRE);
	if (found)
		return found;
	const int error = errno;
	void *libc10 = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);
	if (libc10) {
		found = (report_function *)(uintptr_t)dlsym(libc10, REPORT_NAME);
		dlclose(libc10);
	}
	void *cuda = dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
	if (cuda) {
		real.current = (__typeof__(real.current))(uintptr_t)dlsym(cuda, CURRENT_NAME);
		real.handle = (__typeof__(real.handle))(uintptr_t)dlsym(cuda, HANDLE_NAME);
		dlclose(cuda);
	}
	real.annotate = (syncwatch_function *)(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_annotate");
	__atomic_store_n(&real.report, found, __ATOMIC_RELEASE);
	errno = error;
	return found;
}

/* A block belongs to the stream that is current where it is allocated. */
static void *own_stream(uint64_t device)
{
	if (!real.current || !real.handle)
		return SYNCWATCH_HOST;
	const struct stream stream = real.current((int8_t)(device >> 8));
	return real.handle(&stream);
}

/* Called while the allocator holds its lock: no other thread gets the block before it is recorded. */
void sw_torch_report(void *block, int64_t bytes, size_t allocated, size_t reserved, uint64_t device)
{
	report_function *report = find_reporter();
	if (report)
		report(block, bytes, allocated, reserved, device);
	if (real.annotate && bytes && (device & 0xff) == CUDA_DEVICE)
		/* Last, so that the call is a jump and the caller's frame comes first in the stack. */
		real.annotate(bytes > 0 ? (unsigned)SW_NOTE_TENSOR_BEGIN : (unsigned)SW_NOTE_TENSOR_END, block,
			      bytes > 0 ? (size_t)bytes : 0, bytes > 0 ? own_stream(device) : SYNCWATCH_HOST, 0, NULL);
}
