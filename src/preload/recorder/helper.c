/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/helper.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "preload/platform/apart.h"
#include "preload/recorder/companion.h"
#include "preload/stacks/modules.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/trace.h"
#include "preload/stacks/unwind.h"

/* Enough for dlopen; the loader takes the program's thread-local storage from it as well. */
#define STACK_BYTES    (512u << 10)
#define LOADER_NS      100000000u  /* what the first CUDA call waits for the loader at most */
#define GPU_NS	       5000000000u /* the same, where CUPTI is loaded too */
#define LOOK_NS	       10000000
#define ACTIVE_NS      2000000u
#define IDLE_NS	       100000000u
#define CLOCK_EVERY_NS 200000000ull

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

static void *load(void *unused)
{
	use_loader();
	return unused;
}

/*
 * Has the program given up root?  setuid() tells libc's threads only, and ours must not keep rights that the program
 * has given up.  Who is not root has nothing to give up.
 */
static bool gave_up_rights(void)
{
	char text[1024];
	const int own = sw_sys_effective_user(),
		  fd = own ? -1 : sw_sys_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
	bool gone = false;
	if (fd < 0)
		return false;
	long got = sw_sys_read(fd, text, sizeof text);
	sw_sys_close(fd);
	for (long i = 0; i + 16 < got; i++)
		if (text[i] == '\n' && text[i + 1] == 'U' && text[i + 2] == 'i' && text[i + 3] == 'd') {
			for (i += 6; text[i] != '\t' && i + 2 < got; i++)
				; /* the real one */
			gone = text[i + 1] != '0';
			break;
		}
	return gone;
}

/*
 * Prepares as many chunks as two of the last periods took.  While chunks are taken it looks every 2 ms, else ten
 * times a second: writers make no system call to wake it, but where they find no chunk.
 */
static void help(void)
{
	uint64_t seen = 0, ahead = 2, clock_at = 0;
	sw_sys_name_thread("syncwatch");
	while (!sw_trace_ended()) {
		uint64_t used = 0;
		if (sw_recording()) {
			uint64_t taken = sw_trace_prepare(ahead), now = sw_sys_monotonic();
			used = taken - seen;
			seen = taken;
			sw_trace_close_retired();
			if (now - clock_at > CLOCK_EVERY_NS) {
				if (gave_up_rights())
					return;
				sw_trace_update_clock();
				clock_at = now;
			}
			ahead = used * 2 > ahead ? used * 2 : ahead - (ahead > 2);
			ahead = ahead > SW_CHUNK_RING - 2 ? SW_CHUNK_RING - 2 : ahead;
		}
		sw_apart_serve(used ? ACTIVE_NS : ahead > 2 ? 5 * ACTIVE_NS : IDLE_NS);
	}
}

int sw_helper_begin(void)
{
	return sw_apart_start(help);
}

void sw_helper_load(uint64_t mask)
{
	if (sw_sys_thread(load, STACK_BYTES))
		return;
	/* A handler that jumps out of here leaves a trace without stacks, and nothing locked. */
	sw_sys_set_signals(mask);
	const uint64_t until = sw_sys_monotonic() + (sw_preload_options()->gpu_timeline ? GPU_NS : LOADER_NS);
	while (!atomic_load_explicit(&loader_done, memory_order_acquire) && sw_sys_monotonic() < until) {
		const struct timespec look = {.tv_nsec = LOOK_NS};
		sw_sys_wait((const uint32_t *)&loader_done, 0, &look);
	}
	sw_sys_block_signals();
}

bool sw_helper_simulated(void)
{
	return atomic_load_explicit(&loader_done, memory_order_acquire) && simulated;
}

void sw_helper_forget(void)
{
	atomic_store(&loader_done, 0);
	sw_apart_forget();
}
