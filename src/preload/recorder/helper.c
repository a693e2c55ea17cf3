/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/helper.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "preload/recorder/companion.h"
#include "preload/stacks/modules.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/trace.h"
#include "preload/stacks/unwind.h"

/* Enough for dlopen; the loader takes the program's thread-local storage from it as well. */
#define STACK_BYTES    (512u << 10)
#define LOADER_NS      100000000u /* what the first CUDA call waits for the loader at most */
#define GPU_SECONDS    5	  /* the same, where CUPTI is loaded too */
#define ACTIVE_NS      2000000u
#define IDLE_NS	       100000000u
#define CLOCK_EVERY_NS 500000000ull

static _Atomic uint32_t loader_done;
static bool simulated;

/* libsyncwatch-gpu.so lies beside us.  Before the first CUDA call goes on, so that no work is missed. */
static void load_gpu(void)
{
	char path[2048];
	const char *own = sw_modules_own_path(), *slash = strrchr(own, '/');
	void (*start)(const struct sw_companion *) = NULL;
	if (!slash ||
	    (size_t)snprintf(path, sizeof path, "%.*s/libsyncwatch-gpu.so", (int)(slash - own), own) >= sizeof path)
		return;
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		start = (__typeof__(start))dlsym(handle, "syncwatch_gpu_start");
	if (start)
		start(syncwatch_companion(SW_COMPANION_VERSION));
	else
		sw_notice("GPU time stamps: not recorded, libsyncwatch-gpu.so is missing: syncwatch was built without "
			  "CUPTI");
}

static void use_loader(void)
{
	if (sw_preload_options()->gpu_timeline)
		load_gpu();
	if (sw_preload_options()->stacks && !sw_unwind_loaded())
		sw_unwind_load();
	void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (cuda) {
		simulated = dlsym(cuda, "syncwatch_simulated_cuda") != NULL;
		dlclose(cuda);
	}
	atomic_store_explicit(&loader_done, 1, memory_order_release);
	sw_sys_wake((const uint32_t *)&loader_done, 1);
}

static void pause_ns(uint64_t ns)
{
	static const uint32_t never = 0;
	struct timespec t = {.tv_nsec = (long)ns};
	sw_sys_wait(&never, 0, &t);
}

/*
 * Prepares as many chunks as two of the last periods took.  While chunks are taken it looks every 2 ms, else ten
 * times a second: writers never make a system call to wake it.
 */
static void *help(void *unused)
{
	uint64_t seen = 0, ahead = 2, clock_at = 0;
	prctl(PR_SET_NAME, "syncwatch");
	use_loader();
	while (sw_recording()) {
		uint64_t taken = sw_trace_prepare(ahead), used = taken - seen;
		sw_trace_close_retired();
		uint64_t now = sw_clock_ns(CLOCK_MONOTONIC);
		if (now - clock_at > CLOCK_EVERY_NS) {
			sw_trace_update_clock();
			clock_at = now;
		}
		ahead = used * 2 > ahead ? used * 2 : ahead - (ahead > 2);
		ahead = ahead > SW_CHUNK_RING - 2 ? SW_CHUNK_RING - 2 : ahead;
		seen = taken;
		pause_ns(used ? ACTIVE_NS : ahead > 2 ? 5 * ACTIVE_NS : IDLE_NS);
	}
	return unused;
}

int sw_helper_start(void)
{
	int error = sw_sys_thread(help, STACK_BYTES);
	if (error)
		return error;
	struct timespec most = {.tv_nsec = LOADER_NS};
	if (sw_preload_options()->gpu_timeline)
		most = (struct timespec){.tv_sec = GPU_SECONDS};
	while (!atomic_load_explicit(&loader_done, memory_order_acquire))
		if (sw_sys_wait((const uint32_t *)&loader_done, 0, &most) < 0)
			break;
	return 0;
}

bool sw_helper_simulated(void)
{
	return atomic_load_explicit(&loader_done, memory_order_acquire) && simulated;
}

void sw_helper_forget(void)
{
	atomic_store(&loader_done, 0);
}
