/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/recorder/process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "preload/platform/isolated_thread.h"
#include "preload/recorder/companion.h"
#include "preload/recorder/record_cost.h"
#include "preload/recorder/describe.h"
#include "preload/recorder/helper.h"
#include "preload/stacks/modules.h"
#include "preload/recorder/memory.h"
#include "preload/recorder/options.h"
#include "preload/platform/say.h"
#include "preload/session/announce.h"
#include "preload/stacks/stack.h"
#include "preload/recorder/trace.h"
#include "preload/stacks/unwind.h"
#include "preload/recorder/writer.h"

#define START_NS 2000000000u
#define LOOK_NS	 5000000
/* So many until the recorder's thread must have begun: a second, more where other signals interrupt. */
#define HELPER_LOOKS 200

struct sw_sequence sw_sequence;
static char directory[1024]; /* where the program was started: it may change directories before its first CUDA call */
static _Atomic bool warned;
static pid_t first_pid; /* the process that the constructor ran in; 0: it has not */

/* Once per process image: before main where the loader runs constructors, else at the first call. */
__attribute__((constructor)) static void prepare(void)
{
	if (first_pid)
		return;
	first_pid = getpid();
	int saved = errno;
	if (!getcwd(directory, sizeof directory))
		directory[0] = 0;
	sw_options_start();
	sw_announce_start();
	errno = saved;
}

__attribute__((destructor)) static void at_exit(void)
{
	int saved = errno;
	sw_process_exit();
	errno = saved;
}

static bool set_state(enum sw_recorder_state state)
{
	atomic_store_explicit(&sw_process_page->state, state, memory_order_release);
	sw_sys_wake((const uint32_t *)&sw_process_page->state, INT32_MAX);
	return state == SW_STATE_ON || state == SW_STATE_ON_CHECKED;
}

/* Set-user-id programs: the environment is not to be trusted, and neither is the current directory. */
static bool secure(void)
{
	return getauxval(AT_SECURE) != 0;
}

/* glibc has it from 2.32 on. */
extern const char *strerrordesc_np(int) __attribute__((weak));

static const char *why_not(int error)
{
	const char *text = strerrordesc_np ? strerrordesc_np(-error) : strerror(-error);
	return text ? text : "unknown error";
}

/* Passes descriptors of the trace, which are those of the isolated thread. */
static void announce_trace(void *unused)
{
	(void)unused;
	struct sw_trace_file *file = &sw_trace.file, *memory = sw_trace.memory.inode ? &sw_trace.memory : NULL;
	sw_memory_write(false);
	const int fd = sw_trace_borrow(file), memory_fd = memory ? sw_trace_borrow(memory) : -1;
	const bool held = sw_announce_trace(fd, memory_fd, file->device, file->inode, file->path);
	if (memory_fd >= 0)
		sw_trace_return(memory, memory_fd);
	if (memory && !(held && memory_fd >= 0))
		sw_memory_leave();
	if (fd >= 0)
		sw_trace_return(file, fd);
}

static bool start(void)
{
	prepare();
	sw_fork_forget();
	atomic_store(&warned, false);
	if (secure())
		return set_state(SW_STATE_OFF);
	sw_announce_begin();
	int on = sw_fork_page();
	const struct sw_preload_options *options = sw_preload_options();
	sw_helper_begin();
	int error = sw_trace_open(options->trace, directory, options->max_bytes);
	if (error) {
		sw_say("cannot create %s: %s; this program runs unrecorded",
		       sw_trace.file.path[0] ? sw_trace.file.path : "the trace", why_not(error));
		sw_announce_failed(why_not(error));
		return set_state(SW_STATE_OFF);
	}
	if (sw_announce_wanted())
		sw_isolated_run(announce_trace, NULL);
	sw_writer_start();
	sw_cost_measure();
	if (!sw_writer_attach(&sw_thread)) {
		sw_say("out of memory; this program runs unrecorded");
		sw_announce_failed("out of memory");
		sw_trace_discard();
		return set_state(SW_STATE_OFF);
	}
	if (sw_process_state() == SW_STATE_FULL)
		return set_state(SW_STATE_FULL);
	sw_describe_process(sw_thread.writer, directory);
	sw_describe_environment(sw_thread.writer);
	sw_modules_refresh(sw_thread.writer);
	return set_state((enum sw_recorder_state)on);
}

static void say_what_starts(const struct sw_preload_options *options)
{
	if (!options->quiet)
		sw_say("recording; 'syncwatch report %s' judges the trace", sw_trace.file.path);
	if (options->guard_host && !sw_companion_hooks)
		sw_say("guard-host does nothing without libsyncwatch-guard.so: put it after libsyncwatch.so in "
		       "LD_PRELOAD");
	if (strstr(options->pass, "--strict-host\n") && !(sw_trace.header->flags & SW_FILE_HOST_SYNC))
		sw_say("strict-host does nothing without libsyncwatch-host.so: put it after libsyncwatch.so in "
		       "LD_PRELOAD; "
		       "the report takes all host threads for one");
}

/*
 * What may take a while or needs the loader's lock comes after the state is ON: no other thread waits for it.  A
 * handler that jumps out of the wait for the loader leaves out what follows it, so that is nothing that a later call
 * needs.
 */
static void start_rest(uint64_t mask)
{
	const struct sw_preload_options *options = sw_preload_options();
	if (options->stacks) {
		sw_stack_start();
		__atomic_fetch_or(&sw_trace.header->flags, SW_FILE_STACKS, __ATOMIC_RELAXED);
	}
	say_what_starts(options);
	void (*begun)(void) = __atomic_load_n(&sw_companion_begun, __ATOMIC_SEQ_CST);
	if (begun)
		begun();
	const bool loaded = sw_helper_load(mask);
	if (sw_helper_simulated())
		__atomic_fetch_or(&sw_trace.header->flags, SW_FILE_SIMULATED, __ATOMIC_RELAXED);
	if (options->stacks) {
		if (loaded && !sw_unwind_loaded())
			sw_notice(
				"libunwind could not be loaded: call stacks come from unwind tables, new ones slower");
		sw_modules_refresh(sw_thread.writer); /* libunwind has come */
		sw_cost_measure_stack();
	}
}

/*
 * Another thread starts recording: waits for it, but for a bounded time.  Looks again after a moment: the state may
 * have moved to another page (fork.c) since it was read.  Time in which the whole process was stopped does not count.
 */
static bool wait_for_start(void)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	const uint64_t until = sw_sys_monotonic() + START_NS;
	for (unsigned n = 0; sw_process_state() == SW_STATE_STARTING; n++) {
		if (n >= START_NS / LOOK_NS && sw_sys_monotonic() >= until) {
			sw_writer_lost(NULL, 0, SW_LOSS_OTHER);
			return false;
		}
		sw_sys_wait((const uint32_t *)&sw_process_page->state, SW_STATE_STARTING, &look);
	}
	return true;
}

/* Under `run` the trace is in memory whose descriptors the isolated thread has (memory.h): it must run first. */
static bool helper_has_begun(void)
{
	prepare();
	if (secure() || !sw_announce_wanted())
		return true;
	sw_fork_forget();
	return sw_helper_begin() || sw_isolated_entered();
}

/* In state STARTING.  Where it has to wait it goes back to FRESH: signals get through, nothing is left half done. */
static void start_or_wait(bool may_wait)
{
	/* A handler of the program that jumps out of here would leave the state at STARTING. */
	const uint64_t mask = sw_sys_block_signals();
	const struct timespec look = {.tv_nsec = LOOK_NS};
	const int saved = errno;
	sw_thread.busy = 1;
	const bool later = may_wait && !helper_has_begun();
	const bool on = later ? set_state(SW_STATE_FRESH) : start();
	sw_thread.busy = 0;
	if (on)
		start_rest(mask);
	sw_sys_set_signals(mask);
	if (later)
		sw_isolated_wait_entered(&look);
	errno = saved;
}

bool sw_process_ready(bool may_start)
{
	uint32_t state = sw_process_state();
	for (unsigned n = 0; (state == SW_STATE_FRESH && may_start) || (state == SW_STATE_STARTING && !sw_thread.busy);
	     state = sw_process_state()) {
		if (state == SW_STATE_STARTING && !wait_for_start())
			return false;
		state = SW_STATE_FRESH;
		if (may_start && atomic_compare_exchange_strong(&sw_process_page->state, &state, SW_STATE_STARTING))
			start_or_wait(n++ < HELPER_LOOKS);
	}
	if (state == SW_STATE_ON_CHECKED && !sw_process_is_owner()) {
		atomic_store(&sw_process_page->state, SW_STATE_FRESH);
		return sw_process_ready(may_start);
	}
	return state == SW_STATE_ON || state == SW_STATE_ON_CHECKED;
}

static enum sw_loss_why full_why;

bool sw_process_warn(void)
{
	return !atomic_exchange(&warned, true);
}

enum sw_loss_why sw_process_loss(void)
{
	return sw_process_state() == SW_STATE_FULL ? full_why : SW_LOSS_OTHER;
}

void sw_process_full(enum sw_loss_why why, int error)
{
	uint32_t state = sw_process_state();
	full_why = why;
	while (state == SW_STATE_ON || state == SW_STATE_ON_CHECKED || state == SW_STATE_STARTING) {
		if (!atomic_compare_exchange_weak(&sw_process_page->state, &state, SW_STATE_FULL))
			continue;
		if (!sw_process_warn())
			return;
		if (why == SW_LOSS_SIZE_LIMIT)
			sw_say("%s has reached its size limit (max-size); what follows is not recorded",
			       sw_trace.file.path);
		else
			sw_say("cannot extend %s: %s; what follows is not recorded", sw_trace.file.path,
			       why_not(error));
		return;
	}
}

void sw_process_end(void)
{
	set_state(SW_STATE_ENDED);
}

/* ---- facts about the process ------------------------------------------------------------------------------------- */

static _Atomic bool hooked;
static _Atomic uint64_t nested;

void sw_process_nested(void)
{
	atomic_fetch_add_explicit(&nested, 1, memory_order_relaxed);
}

void sw_process_count_nested(void)
{
	char text[160];
	uint64_t count = atomic_load_explicit(&nested, memory_order_relaxed);
	if (!count)
		return;
	snprintf(text, sizeof text, "%llu calls were made inside another CUDA call of their thread and not recorded",
		 (unsigned long long)count);
	sw_notice(text);
}

void sw_intercepted(void)
{
	if (!atomic_load_explicit(&hooked, memory_order_relaxed))
		atomic_store_explicit(&hooked, true, memory_order_relaxed);
}

bool sw_process_hooked(void)
{
	return atomic_load_explicit(&hooked, memory_order_relaxed);
}

bool sw_process_is_first(void)
{
	return first_pid == getpid();
}

const char *sw_process_directory(void)
{
	return directory;
}
