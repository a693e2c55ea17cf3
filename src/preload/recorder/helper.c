/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/recorder/helper.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "preload/platform/isolated_thread.h"
#include "preload/recorder/companion.h"
#include "preload/stacks/modules.h"
#include "preload/recorder/memory.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/trace.h"
#include "preload/session/announce.h"
#include "preload/stacks/unwind.h"

/* Enough for dlopen; the loader takes the program's thread-local storage from it as well. */
#define STACK_BYTES   (512u << 10)
#define LOADER_NS     100000000u  /* what the first CUDA call waits for the loader at most */
#define GPU_NS	      5000000000u /* the same, where CUPTI is loaded too */
#define LOOK_NS	      10000000
#define ACTIVE_NS     2000000u
#define IDLE_NS	      100000000u
#define LOOK_EVERY_NS 200000000ull
#define LOOK_SHARE    9 /* so many times as long as a look took, until the next: thousands of threads have many chunks */

static _Atomic uint32_t loader_done;
static bool simulated;

/* A companion that lies next to us: loads it and calls the function that it exports. */
static bool load_companion(const char *file, const char *name)
{
	char path[2048];
	const char *own = sw_modules_own_path(), *slash = strrchr(own, '/');
	void (*start)(const struct sw_companion *) = NULL;
	if (!slash || (size_t)snprintf(path, sizeof path, "%.*s/%s", (int)(slash - own), own, file) >= sizeof path)
		return true;
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		start = (__typeof__(start))dlsym(handle, name);
	if (start)
		start(syncwatch_companion(SW_COMPANION_VERSION));
	return start != NULL;
}

/* Before the first CUDA call continues, so that no work is missed. */
static void load_gpu(void)
{
	if (!load_companion("libsyncwatch-gpu.so", "syncwatch_gpu_start"))
		sw_notice("GPU time stamps: not recorded, libsyncwatch-gpu.so is missing: syncwatch was built without "
			  "CUPTI");
}

static void load_python(void)
{
	if (dlsym(RTLD_DEFAULT, "PyCode_Type") && !load_companion("libsyncwatch-python.so", "syncwatch_python_start"))
		sw_notice("Python lines: not recorded, libsyncwatch-python.so is missing");
}

static void use_loader(void)
{
	if (sw_preload_options()->gpu_timeline)
		load_gpu();
	if (sw_preload_options()->stacks)
		load_python();
	void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (cuda) {
		simulated = dlsym(cuda, "syncwatch_simulated_cuda") != NULL;
		dlclose(cuda);
	}
	/* The last one: from a cold disk it may come after the first calls, whose stacks do not need it. */
	if (sw_preload_options()->stacks && !sw_unwind_loaded())
		sw_unwind_load();
	atomic_store_explicit(&loader_done, 1, memory_order_release);
	sw_sys_wake((const uint32_t *)&loader_done, 1);
}

static void *load(void *unused)
{
	use_loader();
	return unused;
}

/* Where the line that begins so continues; NULL: there is none. */
static const char *line_of(const char *text, const char *name, long length)
{
	for (; *text; text++) {
		long same = 0;
		while (same < length && text[same] == name[same])
			same++;
		if (same == length)
			return text + length;
	}
	return NULL;
}
#define LINE_OF(text, name) line_of(text, "\n" name ":\t", sizeof name + 2)

static long read_text(const char *path, char *text, long room)
{
	const int fd = sw_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	const long got = fd < 0 ? 0 : sw_sys_read(fd, text, (size_t)room - 1);
	if (fd >= 0)
		sw_sys_close(fd);
	text[got > 0 ? got : 0] = 0;
	return got;
}

/* Three numbers: the real, the effective and the saved one. */
static void read_ids(const char *line, unsigned ids[3])
{
	for (int i = 0; i < 3; i++, line += *line == '\t')
		for (ids[i] = 0; *line >= '0' && *line <= '9'; line++)
			ids[i] = ids[i] * 10 + (unsigned)(*line - '0');
}

/* setuid() reaches libc's threads only; ours must not keep rights that the program has given up. */
static void give_up_rights(const char *users, const char *groups)
{
	unsigned user[3], group[3];
	if (!users || !groups)
		return;
	read_ids(users, user);
	read_ids(groups, group);
	if (user[0] && user[1] && user[2])
		sw_sys_become(user, group);
}

/* The last field: how the first thread has ended. */
static int first_status(void)
{
	char text[1024];
	int status = 0;
	for (long i = 0, got = read_text("/proc/self/stat", text, sizeof text); i < got && text[i] != '\n'; i++)
		status = text[i] >= '0' && text[i] <= '9' ? status * 10 + text[i] - '0' : 0;
	return status >> 8 & 0xff;
}

/*
 * Have all other threads ended, by the system call exit?  The first one is a zombie then, and we are the second: this
 * thread must not keep the process, and ends as the first one did.
 */
static bool left_alone(int *status)
{
	char text[1024];
	if (read_text("/proc/self/status", text, sizeof text) <= 0)
		return false;
	const char *state = LINE_OF(text, "State"), *threads = LINE_OF(text, "Threads");
	if (state && state[0] == 'Z' && threads && threads[0] == '2' && threads[1] == '\n') {
		*status = first_status();
		return true;
	}
	if (sw_sys_user() == 0)
		give_up_rights(LINE_OF(text, "Uid"), LINE_OF(text, "Gid"));
	return false;
}

/*
 * Prepares as many chunks as two of the last periods took.  While chunks are taken it looks every 2 ms, else ten
 * times a second: writers make no system call to wake it, but where they find no chunk.
 */
static int help(void)
{
	int status = 0;
	uint64_t seen = 0, ahead = 2, look_at = 0;
	sw_sys_name_thread("syncwatch");
	if (sw_announce_wanted())
		sw_memory_make();
	sw_isolated_enter();
	while (!sw_trace_ended()) {
		uint64_t used = 0;
		if (sw_recording()) {
			const uint64_t taken = sw_trace_prepare(ahead);
			used = taken - seen;
			seen = taken;
			sw_trace_close_retired();
			ahead = used * 2 > ahead ? used * 2 : ahead - (ahead > 2);
			ahead = ahead > SW_CHUNK_RING - 2 ? SW_CHUNK_RING - 2 : ahead;
		}
		if (sw_sys_monotonic() >= look_at) {
			const uint64_t now = sw_sys_monotonic();
			if (left_alone(&status)) {
				sw_memory_write(true);
				return status;
			}
			if (sw_recording()) {
				sw_trace_update_clock();
				sw_memory_write(false);
			}
			const uint64_t after = sw_sys_monotonic();
			look_at = after + LOOK_EVERY_NS + LOOK_SHARE * (after - now);
		}
		sw_isolated_serve(used ? ACTIVE_NS : ahead > 2 ? 5 * ACTIVE_NS : IDLE_NS);
	}
	return status;
}

int sw_helper_begin(void)
{
	static pid_t begun_by;
	if (sw_isolated_thread() && begun_by == getpid())
		return 0;
	sw_isolated_forget(); /* a fork child has the parent's number */
	begun_by = getpid();
	return sw_isolated_start(help);
}

bool sw_helper_load(uint64_t mask)
{
	if (sw_sys_thread(load, STACK_BYTES))
		return true;
	/* A handler that jumps out of here leaves nothing locked, and the loader goes on. */
	sw_sys_set_signals(mask);
	const uint64_t until = sw_sys_monotonic() + (sw_preload_options()->gpu_timeline ? GPU_NS : LOADER_NS);
	while (!atomic_load_explicit(&loader_done, memory_order_acquire) && sw_sys_monotonic() < until) {
		const struct timespec look = {.tv_nsec = LOOK_NS};
		sw_sys_wait((const uint32_t *)&loader_done, 0, &look);
	}
	sw_sys_block_signals();
	return atomic_load_explicit(&loader_done, memory_order_acquire);
}

bool sw_helper_simulated(void)
{
	return atomic_load_explicit(&loader_done, memory_order_acquire) && simulated;
}

void sw_helper_forget(void)
{
	atomic_store(&loader_done, 0);
	sw_isolated_forget();
}
