/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/recorder/companion.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "preload/recorder/trace.h"
#include "preload/recorder/writer.h"
#include "preload/stacks/modules.h"
#include "preload/stacks/stack.h"

const struct sw_companion_hooks *sw_companion_hooks;

/* True while a CUDA call of this thread is being recorded (the guard) or its buffer is being changed (busy): a call
   that a companion sees now was made by CUDA or by us, not by the program. */
static bool is_inside(void)
{
	return sw_thread.guard || sw_thread.busy;
}

/* A companion sets the functions that the recorder calls for each record.  Those set before, which the new ones must
   call in turn, are stored first: other threads may be recording. */
static void set_hooks(const struct sw_companion_hooks *hooks, const struct sw_companion_hooks **others)
{
	*others = sw_companion_hooks_now();
	__atomic_store_n(&sw_companion_hooks, hooks, __ATOMIC_RELEASE);
}

void (*sw_companion_begun)(void);

/* A companion wants `function` called once recording begins: now, if it has.  The fence pairs with the one of
   start_rest() (process.c), so that at least one of the two sides sees the other. */
static void call_when_begun(void (*function)(void))
{
	__atomic_store_n(&sw_companion_begun, function, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (sw_recording())
		function();
}

static const struct sw_file_header *trace_header(void)
{
	return sw_trace.header;
}

/* Adds SW_FILE_* flags to the header of the trace: a feature of the companion is on. */
static void file_flags(uint32_t flags)
{
	if (sw_trace.header)
		__atomic_fetch_or(&sw_trace.header->flags, flags, __ATOMIC_RELAXED);
}

sw_companion_stacks *sw_companion_join;

/* From now on `join` replaces the id of each call's native stack, as the companion for Python does to add its
   frames. */
static void join_stacks(sw_companion_stacks *join)
{
	__atomic_store_n(&sw_companion_join, join, __ATOMIC_RELEASE);
}

sw_look_up *sw_companion_names;

/* Sets the function that dlsym() of the program asks first, so that a companion can hand out wrappers of its own.
   Returns the one set before. */
static sw_look_up *set_names(sw_look_up *look_up)
{
	return __atomic_exchange_n(&sw_companion_names, look_up, __ATOMIC_ACQ_REL);
}

/* Sets how the recorder asks whether a thread is inside the Python function of --capture python. */
static void ask_python(sw_window_inside *ask)
{
	__atomic_store_n(&sw_window_ask_python, ask, __ATOMIC_RELEASE);
}

/* sw_writer_commit() is inline; the table needs an address. */
static void commit_record(struct sw_writer *w)
{
	sw_writer_commit(w);
}

static const struct sw_companion companion = {
	.enter = sw_call_enter,
	.record = sw_call_record,
	.record_after = sw_call_record_after,
	.publish = sw_call_publish,
	.leave = sw_call_leave,
	.end = sw_call_end,
	.describe = sw_describe,
	.described = sw_describe_done,
	.notice = sw_notice,
	.recording = sw_recording,
	.inside = is_inside,
	.begun = call_when_begun,
	.hook = set_hooks,
	.nested = sw_call_inside,
	.host_sync = sw_host_sync,
	.host_sync_on = sw_host_sync_on,
	.thread = sw_recorder_thread,
	.options = sw_preload_options,
	.header = trace_header,
	.file_flags = file_flags,
	.stacks = join_stacks,
	.writer_describe = sw_writer_describe,
	.writer_commit = commit_record,
	.driver = sw_driver_resolve,
	.frames = sw_stack_frames,
	.replace = sw_driver_replace,
	.functions = sw_functions_known,
	.windows = {sw_window_paused, sw_window_push, sw_window_pop, sw_window_start, sw_window_stop, ask_python},
	.look_ups = {set_names, sw_dlsym_call},
};

/* Entry point of companions (guard, GPU times, Python): the table of our functions; NULL: their version differs. */
const struct sw_companion *syncwatch_companion(uint32_t version)
{
	return version == SW_COMPANION_VERSION ? &companion : NULL;
}

/* Companions (guard, GPU times, Python) are loaded only where they are needed, from the recorder's own folder. */
void *sw_companion_symbol(const char *file, const char *name)
{
	char path[2048];
	const char *own = sw_modules_own_path();
	Dl_info us;
	if (!*own && dladdr(&companion, &us)) /* recording has not begun */
		own = us.dli_fname;
	const char *slash = strrchr(own, '/');
	if (!slash || (size_t)snprintf(path, sizeof path, "%.*s/%s", (int)(slash - own), own, file) >= sizeof path)
		return NULL;
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return handle ? dlsym(handle, name) : NULL;
}
