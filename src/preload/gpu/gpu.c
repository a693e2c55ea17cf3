/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/gpu/gpu.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "preload/platform/clock.h"
#include "preload/platform/sys.h"

#define STACK_BYTES    (512u << 10) /* CUPTI runs on it */
#define FETCH_NS       20000000u
#define CLOCK_EVERY_NS 500000000ull
#define EXIT_NS	       2000000000ull /* what the end of the program waits for the last records at most */
#define CALLBACKS      2048u	     /* more than CUPTI numbers driver functions */

static struct sw_gpu gpu;
static pid_t owner;

/* 0: continue; 1: fetch what is left and end; 2: ended. */
static _Atomic uint32_t stage;

static void say_once(const char *what, const char *why)
{
	char text[600];

	snprintf(text, sizeof text, "GPU time stamps: %s%s%s", what, *why ? ": " : "", why);
	gpu.recorder->notice(text);
}

static const char *result_text(CUptiResult result)
{
	const char *text = NULL;

	if (gpu.cupti.cuptiGetResultString(result, &text) != CUPTI_SUCCESS || !text)
		text = "unknown error";
	return text;
}

/* ---- what is recorded -------------------------------------------------------------------------------------------- */

/* Without the work there is nothing to record; without the others something is missing. */
static const struct {
	CUpti_ActivityKind kind;
	bool needed;
	const char *what;
} kinds[] = {
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true, "kernels"},
	{CUPTI_ACTIVITY_KIND_MEMCPY, true, "copies"},
	{CUPTI_ACTIVITY_KIND_MEMSET, true, "memory sets"},
	{CUPTI_ACTIVITY_KIND_MEMCPY2, false, "copies between devices"},
	{CUPTI_ACTIVITY_KIND_OVERHEAD, false, "time lost in the driver"},
	{CUPTI_ACTIVITY_KIND_GRAPH_TRACE, false, "graphs"},
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* The driver's functions that put work on a device, by themselves or by loading code: of all others CUPTI's records
   would cost time for no use. */
static const char *const working[] = {"cuLaunch", "cuMem",     "cuGraphLaunch", "cuGraphUpload", "cuGraphInstantiate",
				      "cuModule", "cuLibrary", "cuKernel",	"cuFuncLoad",	 "cuArray"};

static bool puts_work(const char *name)
{
	for (size_t i = 0; i < sizeof working / sizeof *working; i++)
		if (strncmp(name, working[i], strlen(working[i])) == 0)
			return true;
	return false;
}

static CUptiResult enable_kind(CUpti_ActivityKind kind)
{
	return gpu.cupti.subscriber ? gpu.cupti.cuptiActivityEnable_v2(gpu.cupti.subscriber, kind, NULL)
				    : gpu.cupti.cuptiActivityEnable(kind);
}

static void disable_kind(CUpti_ActivityKind kind)
{
	if (gpu.cupti.subscriber)
		gpu.cupti.cuptiActivityDisable_v2(gpu.cupti.subscriber, kind, NULL);
	else
		gpu.cupti.cuptiActivityDisable(kind);
}

/* The records of calls that join work to ours.  Where the functions can't be chosen, all are recorded. */
static CUptiResult enable_calls(void)
{
	uint32_t chosen = 0;

	for (uint32_t id = 1; gpu.cupti.cuptiActivityEnableDriverApi && id < CALLBACKS; id++) {
		const char *name = NULL;

		if (gpu.cupti.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) == CUPTI_SUCCESS && name &&
		    puts_work(name) && SW_CUPTI(&gpu.cupti, cuptiActivityEnableDriverApi, id, 1) == CUPTI_SUCCESS)
			chosen++;
	}
	return chosen ? CUPTI_SUCCESS : enable_kind(CUPTI_ACTIVITY_KIND_DRIVER);
}

static void say_refused(const char *what, CUptiResult result)
{
	char text[300];

	snprintf(text, sizeof text, "CUPTI (%.160s) refuses %s", gpu.cupti.path, what);
	say_once(text, result_text(result));
}

/* The reason is kept where somebody else has CUPTI who may share it. */
static bool in_use(CUptiResult result)
{
	return result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || result == CUPTI_ERROR_NOT_COMPATIBLE;
}

static bool enable_kinds(bool may_share, bool *share)
{
	/* Nodes of graphs are recorded one by one where graphs are not recorded as a whole.  Among several users CUPTI
	   does one or the other for all of them, and the first one decides: others want nodes. */
	const bool nodes = gpu.recorder->options()->gpu_timeline == SW_GPU_TIMELINE_NODES || gpu.cupti.subscriber;
	CUptiResult result = enable_calls();
	size_t i;

	if (result != CUPTI_SUCCESS) {
		*share = may_share && in_use(result);
		if (!*share)
			say_refused("records of driver calls", result);
		return false;
	}
	for (i = 0; i < KINDS; i++) {
		if (kinds[i].kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && nodes)
			continue;
		result = enable_kind(kinds[i].kind);
		if (result == CUPTI_SUCCESS)
			continue;
		*share = kinds[i].needed && may_share && in_use(result);
		if (!*share)
			say_refused(kinds[i].what, result);
		if (kinds[i].needed)
			break;
	}
	if (i == KINDS)
		return true;
	while (i-- > 0)
		disable_kind(kinds[i].kind);
	return false;
}

static bool set_attribute(CUpti_ActivityAttribute attribute, size_t bytes, void *value)
{
	return SW_CUPTI(&gpu.cupti, cuptiActivitySetAttribute, attribute, &bytes, value) == CUPTI_SUCCESS;
}

/* All before any kind is enabled, so that all times are of one clock. */
static CUptiResult prepare_cupti(void)
{
	CUpti_TimestampCallbackFunc clock = sw_gpu_clock_now;
	CUpti_ActivityThreadIdType ids = CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
	uint8_t on = 1;

	/* Times that the devices write themselves, where they can (Blackwell and later): from the next context on. */
	if (gpu.cupti.subscriber)
		set_attribute(SW_CUPTI_ATTR_HES, sizeof on, &on);
	else if (gpu.cupti.cuptiActivityEnableHWTrace)
		gpu.cupti.cuptiActivityEnableHWTrace(1);
	if (gpu.cupti.subscriber)
		gpu.own_clock = set_attribute(SW_CUPTI_ATTR_TIMESTAMP_CALLBACK, sizeof clock, &clock);
	else if (gpu.cupti.cuptiActivityRegisterTimestampCallback)
		gpu.own_clock = gpu.cupti.cuptiActivityRegisterTimestampCallback(clock) == CUPTI_SUCCESS;
	if (gpu.cupti.subscriber)
		set_attribute(SW_CUPTI_ATTR_THREAD_ID, sizeof ids, &ids);
	else
		gpu.cupti.cuptiSetThreadIdType(ids);
	/* We clear buffers on our thread; CUPTI would on the program's. */
	set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, sizeof on, &on);
	return gpu.cupti.subscriber
		       ? gpu.cupti.cuptiActivityRegisterCallbacks_v2(gpu.cupti.subscriber, sw_gpu_shared_wanted,
								     sw_gpu_shared_done)
		       : gpu.cupti.cuptiActivityRegisterCallbacks(sw_gpu_buffer_wanted, sw_gpu_buffer_done);
}

static bool attach_as(bool may_share, bool *share)
{
	const CUptiResult result = prepare_cupti();

	*share = may_share && in_use(result);
	if (result == CUPTI_SUCCESS)
		return enable_kinds(may_share, share);
	if (!*share)
		say_refused("to hand over its records", result);
	return false;
}

/*
 * As its only user, as profilers of before 13.3 are: such a one that comes later takes CUPTI over from us, and would be
 * refused if we shared it.  As one of several where somebody does share it already, or where that is asked for.
 */
static bool attach_cupti(void)
{
	const bool asked = gpu.recorder->options()->gpu_timeline == SW_GPU_TIMELINE_SHARED;
	const bool can = gpu.cupti.cuptiSubscribe_v2;
	bool share = asked && can;
	char other[64], what[128];
	CUptiResult result;

	if (asked && !can)
		say_once("CUPTI has one user at a time before 13.3: not shared", "");
	if (!share && attach_as(can, &share))
		return true;
	if (!share)
		return false;
	result = sw_cupti_share(&gpu.cupti, other, sizeof other);
	if (result == CUPTI_SUCCESS)
		return attach_as(false, &share);
	gpu.cupti.subscriber = NULL;
	if (asked && !in_use(result))
		return attach_as(false, &share);
	snprintf(what, sizeof what, "to share it%s%.63s", other[0] ? " with " : "", other);
	say_refused(what, result);
	return false;
}

/* ---- fetching ---------------------------------------------------------------------------------------------------- */

/* Filled buffers into the trace; the clock before, so that each time stamp lies between two readings: a short program
   has two readings at its start, and what is extrapolated from them is wrong by more than a call takes.  False:
   somebody else has taken CUPTI over. */
static bool fetch_buffers(uint32_t flush, uint32_t clock_flags, uint64_t *clock_at)
{
	struct sw_gpu_buffer *list, *next;
	const uint64_t now = sw_clock_ns(CLOCK_MONOTONIC);
	bool ours = true;

	/* Among several users those of all are flushed: forced, records of work that still runs come without times. */
	gpu.cupti.cuptiActivityFlushAll(gpu.cupti.subscriber ? 0 : flush);
	list = sw_gpu_buffers_take();
	if (list || (!flush && now - *clock_at > CLOCK_EVERY_NS)) {
		ours = sw_gpu_clock_write(&gpu, flush ? 0 : clock_flags, false);
		*clock_at = now;
	}
	for (; list; list = next) {
		next = list->next;
		sw_gpu_records_write(&gpu, list);
		sw_gpu_buffer_free(list);
	}
	return flush || !ours ? sw_gpu_clock_write(&gpu, clock_flags, true) : true;
}

static void pause_unless_ending(void)
{
	struct timespec t = {.tv_nsec = FETCH_NS};

	sw_sys_wait((const uint32_t *)&stage, 0, &t);
}

static void *run_thread(void *unused)
{
	uint64_t clock_at = 0;
	bool ours = true;

	prctl(PR_SET_NAME, "syncwatch-gpu");
	while (!atomic_load(&stage) && gpu.recorder->recording() && ours) {
		ours = fetch_buffers(0, 0, &clock_at);
		pause_unless_ending();
	}
	/* CUPTI's manual, cuptiActivityFlushAll: forced, once before the end of the session; records of work that still
	   runs come without times. */
	if (gpu.recorder->recording() && ours)
		ours = fetch_buffers(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED, SW_GPU_CLOCK_LAST, &clock_at);
	if (!ours)
		say_once("another user of CUPTI took over, as torch.profiler does: the last ones are missing", "");
	if (sw_gpu_buffers_refused())
		say_once("more than 128 MiB of records waited to be fetched: some were dropped", "");
	atomic_store(&stage, 2);
	sw_sys_wake((const uint32_t *)&stage, 1);
	return unused;
}

/*
 * Runs before the handlers of all that was there when the first CUDA call was made (atexit: last in, first out), so
 * CUDA and CUPTI are as alive as in the middle of the program.  The flush is made by our thread: should it hang, the
 * program ends all the same.
 */
static void at_exit(void)
{
	const uint64_t until = sw_clock_ns(CLOCK_MONOTONIC) + EXIT_NS;
	const struct timespec t = {.tv_nsec = 50000000};
	uint32_t expected = 0;

	if (getpid() != owner || !atomic_compare_exchange_strong(&stage, &expected, 1))
		return;
	sw_sys_wake((const uint32_t *)&stage, 1);
	while (atomic_load(&stage) == 1 && sw_clock_ns(CLOCK_MONOTONIC) < until)
		sw_sys_wait((const uint32_t *)&stage, 1, &t);
}

void syncwatch_gpu_start(const struct sw_companion *recorder)
{
	const struct sw_file_header *header = recorder->header();
	const char *other = sw_cupti_other_tool();
	char why[400];

	gpu.recorder = recorder;
	if (owner || !header)
		return; /* a fork child: CUPTI is the parent's, as CUDA is */
	owner = getpid();
	if (other) {
		say_once("not recorded, CUPTI has one user at a time and it is", other);
		return;
	}
	if (sw_cupti_load(&gpu.cupti, why, sizeof why)) {
		say_once("not recorded", why);
		return;
	}
	sw_gpu_clock_start(header);
	if (!attach_cupti())
		return;
	recorder->file_flags(SW_FILE_GPU);
	sw_gpu_clock_write(&gpu, 0, true);
	atexit(at_exit);
	if (sw_sys_thread(run_thread, STACK_BYTES))
		say_once("a thread to fetch them could not be made", "");
}
