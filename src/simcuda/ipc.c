/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory and events that processes share (CUDA Driver API, "cuIpcGetMemHandle" and what follows it).
 *
 * An event that may be shared is two counters in a page of its own: records called, and the last of them that is done.
 * A waiter takes the first and waits for the second.  Memory is shared by name only: kernels are not executed, so what
 * the importer reads is a mapping of its own.
 */
#include "simcuda/sim.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAGIC	   0x69706353u
#define PAGE	   4096u
#define POLL_NS	   100000
#define EVENT_KIND 1u
#define MEM_KIND   2u

struct handle {
	uint32_t magic, kind;
	int32_t pid, fd;
	uint64_t id, bytes;
};
_Static_assert(sizeof(struct handle) <= sizeof(CUipcMemHandle) && sizeof(struct handle) <= sizeof(CUipcEventHandle),
	       "fits in both");

/* ---- events ---- */

/* An event's page lives as long as the process: work in flight may still write to it. */
bool sw_sim_ipc_event_start(struct sw_sim_event *event)
{
	event->fd = memfd_create("syncwatch-simulated-event", MFD_CLOEXEC);
	if (event->fd < 0)
		return false;
	void *page = ftruncate(event->fd, PAGE) ? MAP_FAILED
						: mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, event->fd, 0);
	if (page == MAP_FAILED) {
		close(event->fd);
		return false;
	}
	event->shared = page;
	return true;
}

/* Closes the event's memory; its page stays mapped, as work in flight may write to it. */
void sw_sim_ipc_event_end(struct sw_sim_event *event)
{
	if (event->shared)
		close(event->fd);
}

/* Work of the device that writes the event's second counter, or waits until it has reached `value`. */
static struct sw_sim_work *value_work(struct sw_sim_event *event, uint64_t value, bool wait)
{
	struct sw_sim_work *work = sw_sim_work_new(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, 0);
	work->op = (struct sw_sim_value){.address = (uintptr_t)&event->shared->done,
					 .value = value,
					 .bytes = 8,
					 .flags = CU_STREAM_WAIT_VALUE_GEQ,
					 .wait = wait};
	return work;
}

struct sw_sim_work *sw_sim_ipc_record(struct sw_sim_event *event)
{
	return value_work(event, __atomic_add_fetch(&event->shared->recorded, 1, __ATOMIC_ACQ_REL), false);
}

struct sw_sim_work *sw_sim_ipc_wait(struct sw_sim_event *event)
{
	return value_work(event, __atomic_load_n(&event->shared->recorded, __ATOMIC_ACQUIRE), true);
}

/* Is the last recording of an event, which another process may have made, complete?  Both counts lie in shared
   memory. */
bool sw_sim_ipc_done(const struct sw_sim_event *event)
{
	const uint64_t recorded = __atomic_load_n(&event->shared->recorded, __ATOMIC_ACQUIRE);
	return __atomic_load_n(&event->shared->done, __ATOMIC_ACQUIRE) >= recorded;
}

/* Waits for the last recording of an event of several processes.  No wake reaches another process: the count is looked
   at again and again, without the lock. */
void sw_sim_ipc_synchronize(const struct sw_sim_event *event)
{
	const struct sw_sim_shared_event *shared = event->shared;
	const uint64_t recorded = __atomic_load_n(&shared->recorded, __ATOMIC_ACQUIRE);
	while (__atomic_load_n(&shared->done, __ATOMIC_ACQUIRE) < recorded) {
		const struct timespec pause = {.tv_nsec = POLL_NS};
		sw_sim_unlock();
		nanosleep(&pause, NULL);
		sw_sim_lock();
	}
}

/* ---- the API ---- */

/* The handle has what the other process needs to map the event's counts: this process and the descriptor of their
   memory. */
CUresult cuIpcGetEventHandle(CUipcEventHandle *out, CUevent handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	const struct sw_sim_event *event = sw_sim_object_get(handle, SW_SIM_EVENT);
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!event || !event->shared || event->opened)
		return CUDA_ERROR_INVALID_HANDLE;
	const struct handle made = {MAGIC, EVENT_KIND, getpid(), event->fd, (uintptr_t)event, 0};
	memset(out, 0, sizeof *out);
	memcpy(out, &made, sizeof made);
	return CUDA_SUCCESS;
}

/* Reads a handle that a program passed; false: it is none of this kind. */
static bool read_handle(struct handle *made, const void *handle, unsigned kind)
{
	memcpy(made, handle, sizeof *made);
	return made->magic == MAGIC && made->kind == kind;
}

/* Opens the event of another process by its page, through /proc. */
CUresult cuIpcOpenEventHandle(CUevent *out, CUipcEventHandle handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct handle made;
	char path[64];
	if (!out || !read_handle(&made, &handle, EVENT_KIND))
		return CUDA_ERROR_INVALID_VALUE;
	if (made.pid == getpid())
		return CUDA_ERROR_INVALID_CONTEXT;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)made.pid, (int)made.fd);
	const int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return CUDA_ERROR_MAP_FAILED;
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		close(fd);
		return CUDA_ERROR_MAP_FAILED;
	}
	struct sw_sim_event *event = sw_calloc(1, sizeof *event);
	event->flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
	event->shared = page;
	event->opened = true;
	event->fd = fd;
	sw_sim_object_add(event, SW_SIM_EVENT, sw_sim_ctx_current());
	*out = (CUevent)event;
	return CUDA_SUCCESS;
}

/* The handle is of the whole allocation, whatever the address in it. */
CUresult cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr address)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	const struct sw_sim_alloc *a = sw_sim_alloc_find(address);
	if (!out || !a || a->memory != SW_SIM_DEVICE || a->pool || a->graph || a->fixed || a->reserved || a->opened)
		return CUDA_ERROR_INVALID_VALUE;
	const struct handle made = {MAGIC, MEM_KIND, getpid(), -1, a->id, a->size};
	memset(out, 0, sizeof *out);
	memcpy(out, &made, sizeof made);
	return CUDA_SUCCESS;
}

/* Maps memory of another process.  Measured on H200 (driver 580, CUDA 13.0): its own process may not open it, opened
   once more it has the same address, and what the exporter frees stays until it is closed. */
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle handle, unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct handle made;
	if (!out || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS || !read_handle(&made, &handle, MEM_KIND))
		return CUDA_ERROR_INVALID_VALUE;
	if (made.pid == getpid())
		return CUDA_ERROR_INVALID_CONTEXT;
	struct sw_sim_alloc *a = sw_sim_alloc_opened(made.pid, made.id);
	if (!a)
		a = sw_sim_alloc_device(sw_sim_ctx_current()->device, made.bytes);
	if (!a)
		return CUDA_ERROR_OUT_OF_MEMORY;
	a->fixed = true; /* cuMemFree refuses it */
	a->exporter = made.pid;
	a->exported = made.id;
	a->opened++;
	*out = a->base;
	return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *out, CUipcMemHandle handle, unsigned flags)
{
	return cuIpcOpenMemHandle_v2(out, handle, flags);
}

/* Waits for the device, like a free; the last close ends the mapping. */
CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_alloc *a = sw_sim_alloc_find(address);
	if (!a || a->base != address || !a->opened)
		return CUDA_ERROR_INVALID_VALUE;
	if (--a->opened)
		return CUDA_SUCCESS;
	a->opened = 1; /* no other process takes it meanwhile */
	sw_sim_device_wait(a->device);
	if (sw_sim_alloc_find(address) == a)
		sw_sim_alloc_release(a);
	return CUDA_SUCCESS;
}
