/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-gpu.so: time stamps of what ran on the devices, from CUPTI's activity records (--gpu-timeline).
 *
 * Which call an activity belongs to is reported by the record that CUPTI makes of the driver's call itself: it carries
 * the correlation id of the work, the thread and when the call began, by our own clock.  One call of ours on that
 * thread encloses it.  So nothing is added to the path of a call, other than what CUPTI does there.
 *
 * In this file: the buffers that CUPTI fills, the clock that it is given, its records as records of the trace, and the
 * thread that fetches.  cupti.c finds CUPTI.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "preload/gpu/cupti.h"
#include "preload/platform/clock.h"
#include "preload/platform/sys.h"
#include "preload/recorder/companion.h"

/* libsyncwatch.so calls it at the first CUDA call, on a thread of its own. Never fails: what cannot be recorded becomes
   a NOTICE in the trace. */
void syncwatch_gpu_start(const struct sw_companion *recorder) __attribute__((visibility("default")));

struct sw_gpu {
	const struct sw_companion *recorder;
	struct sw_cupti cupti;
	uint64_t dropped; /* by CUPTI, or for want of a buffer's content */
	bool own_clock;	  /* CUPTI uses ours */
};

/* ---- buffers; thread-safe ---------------------------------------------------------------------------------------- */

struct sw_gpu_buffer {
	struct sw_gpu_buffer *next;
	CUcontext context;
	uint32_t stream;
	size_t valid;
	uint8_t *bytes;
};

/* CUPTI takes one for each thread that calls CUDA, and clears it on that thread: some thousand records. */
#define BUFFER_BYTES (512u << 10)
#define MOST	     256u /* 128 MiB */

/* Descriptions lie before the bytes that CUPTI sees. */
#define FRONT 64u
static_assert(sizeof(struct sw_gpu_buffer) <= FRONT, "and its bytes stay aligned");

static _Atomic(struct sw_gpu_buffer *) filled, spare;
static _Atomic uint32_t made;
static _Atomic uint64_t refused;

/* Puts a buffer onto a list; any thread. */
static void push_buffer(_Atomic(struct sw_gpu_buffer *) *list, struct sw_gpu_buffer *buffer)
{
	buffer->next = atomic_load(list);
	while (!atomic_compare_exchange_weak(list, &buffer->next, buffer))
		;
}

/* Takes the whole list and puts back what is too much: popping one alone could meet it pushed again meanwhile. */
static struct sw_gpu_buffer *pop_spare(void)
{
	struct sw_gpu_buffer *first = atomic_exchange(&spare, NULL), *next;

	for (struct sw_gpu_buffer *b = first ? first->next : NULL; b; b = next) {
		next = b->next;
		push_buffer(&spare, b);
	}
	return first;
}

/* Maps a new buffer; NULL: MOST are made already, or there is no memory. */
static struct sw_gpu_buffer *make_buffer(void)
{
	void *at = MAP_FAILED;

	if (atomic_fetch_add(&made, 1) < MOST)
		at = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at != MAP_FAILED)
		return at;
	atomic_fetch_sub(&made, 1);
	return NULL;
}

/* CUPTI asks for a buffer, on a thread of the program: a spare or a new one.  None when 128 MiB of buffers are made and
   none is spare: CUPTI fills them, or they wait to be fetched. */
static void CUPTIAPI gpu_buffer_wanted(uint8_t **buffer, size_t *size, size_t *records)
{
	struct sw_gpu_buffer *b = pop_spare();

	*buffer = NULL;
	*size = *records = 0;
	if (!b)
		b = make_buffer();
	if (!b) {
		atomic_fetch_add(&refused, 1);
		return;
	}
	*buffer = b->bytes = (uint8_t *)b + FRONT;
	*size = BUFFER_BYTES - FRONT;
}

/* CUPTI hands over a buffer, `valid` bytes of which are filled. */
static void CUPTIAPI gpu_buffer_done(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct sw_gpu_buffer *b;

	if (!buffer)
		return;
	b = (struct sw_gpu_buffer *)(void *)(buffer - FRONT);
	b->context = context;
	b->stream = stream;
	b->valid = valid < size ? valid : size;
	push_buffer(&filled, b);
}

/* CUPTI wants a buffer, with several users. */
static void CUPTIAPI shared_wanted(uint8_t **buffer, size_t *size, size_t *records, void *info)
{
	(void)info;
	gpu_buffer_wanted(buffer, size, records);
}

/* CUPTI has filled a buffer, with several users. */
static void CUPTIAPI shared_done(uint8_t *buffer, size_t size, size_t valid, void *info)
{
	(void)info;
	gpu_buffer_done(NULL, 0, buffer, size, valid);
}

/* All that are filled, oldest first; NULL: none.  Each is returned when read. */
static struct sw_gpu_buffer *gpu_buffers_take(void)
{
	struct sw_gpu_buffer *list = atomic_exchange(&filled, NULL), *turned = NULL, *next;

	for (; list; list = next) {
		next = list->next;
		list->next = turned;
		turned = list;
	}
	return turned;
}

/* Gives a buffer that was read back, cleared as CUPTI wants it. */
static void gpu_buffer_free(struct sw_gpu_buffer *buffer)
{
	memset(buffer->bytes, 0, BUFFER_BYTES - FRONT); /* the size that CUPTI was given */
	push_buffer(&spare, buffer);
}

/* Buffers that CUPTI wanted and did not get, so far. */
static uint64_t gpu_buffers_refused(void)
{
	return atomic_load(&refused);
}

/* ---- the clock --------------------------------------------------------------------------------------------------- */

/*
 * CUPTI's time stamps are nanoseconds that are a fixed multiple of our ticks, so that they turn back into ticks without
 * an error.  Not CLOCK_MONOTONIC: that is slewed while the program runs.
 */

bool sw_clock_is_tsc; /* as the recorder's own */

static uint64_t first_ticks, first_ns;
static uint64_t rate = 1ull << 32; /* nanoseconds a tick, 2^-32 */
static _Atomic bool used;

/* The clock's rate by what has passed since the start, some milliseconds: the recorder's first estimate is from a
   fifth of one. */
static uint64_t rate_by_now(const struct sw_file_header *header)
{
	const uint64_t ticks = sw_clock_ticks() - header->start_ticks;
	const uint64_t ns = sw_clock_ns(CLOCK_MONOTONIC) - header->start_monotonic_ns;

	if (ns < 1000000 || ns >> 31 || !ticks)
		return header->ticks_per_second ? (1000000000ull << 32) / header->ticks_per_second : 1ull << 32;
	return (ns << 32) / ticks;
}

/* Takes the trace's clock as the one that CUPTI shall use. */
static void gpu_clock_start(const struct sw_file_header *header)
{
	sw_clock_is_tsc = header->flags & SW_FILE_TSC;
	first_ticks = header->start_ticks;
	first_ns = header->start_monotonic_ns;
	if (sw_clock_is_tsc)
		rate = rate_by_now(header);
}

/* CUPTI calls it for each time stamp: nanoseconds by the trace's clock. */
static uint64_t gpu_clock_now(void)
{
	/* A plain store would take the cache line from the other processors at each call. */
	if (!atomic_load_explicit(&used, memory_order_relaxed))
		atomic_store_explicit(&used, true, memory_order_relaxed);
	return first_ns + (uint64_t)((unsigned __int128)(sw_clock_ticks() - first_ticks) * rate >> 32);
}

/* Was the clock read since the last call of this function? */
static bool gpu_clock_used(void)
{
	return atomic_exchange(&used, false);
}

/* Writes a GPU_CLOCK record: the trace's ticks and CUPTI's nanoseconds of one moment.  CUPTI uses our clock, until
   another tool gives it its own: then nothing is written unless `replaced`.  False: that has happened. */
static bool gpu_clock_write(struct sw_gpu *gpu, uint32_t flags, bool replaced)
{
	uint64_t before = 0, after = 0, ns = 0, width = UINT64_MAX, middle = 0, best = 0;
	struct sw_rec_gpu_clock *r;
	bool ours;

	gpu_clock_used();
	for (int i = 0; i < 3; i++) { /* the tightest: an interrupt may fall between */
		before = sw_clock_ticks();
		if (SW_CUPTI(&gpu->cupti, cuptiGetTimestamp, &ns) != CUPTI_SUCCESS)
			return false;
		after = sw_clock_ticks();
		if (after - before + 1 < width) {
			width = after - before + 1; /* a tick of aarch64 is up to 50 ns long: `after` has not ended */
			middle = before + width / 2;
			best = ns;
		}
	}
	ours = gpu_clock_used();
	if (!ours && gpu->own_clock && !replaced)
		return false;
	r = gpu->recorder->describe(SW_REC_GPU_CLOCK, sizeof *r, true);
	if (!r)
		return ours || !gpu->own_clock;
	if (ours) { /* no reading is needed to know how the two belong together */
		middle = after;
		best = first_ns + (uint64_t)((unsigned __int128)(after - first_ticks) * rate >> 32);
		width = 0;
	}
	r->h.ticks = middle;
	r->gpu_ns = best;
	r->lost = gpu->dropped;
	r->width = width < UINT32_MAX ? (uint32_t)width : UINT32_MAX;
	r->flags = flags | (ours ? SW_GPU_CLOCK_OURS : 0);
	gpu->recorder->described(r);
	return ours || !gpu->own_clock;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/*
 * Each record of CUPTI as one of the trace.  The structs are those of the headers that we were built with; an older
 * library fills shorter ones, which begin alike (NVIDIA appends), and nothing after that is read unless its version
 * says that it is there.
 */

/* Since when OVERHEAD records have a correlation id, and data that is ours to free. */
#define OVERHEAD_CORRELATION 120200u
#define OVERHEAD_DATA	     130000u

/* Begins an ACTIVITY record; times in CUPTI's nanoseconds.  NULL: lost, and counted. */
static struct sw_rec_activity *begin_activity(struct sw_gpu *gpu, enum sw_activity what, uint64_t start, uint64_t end,
					      uint32_t correlation)
{
	struct sw_rec_activity *r = gpu->recorder->describe(SW_REC_ACTIVITY, sizeof *r, true);

	if (!r) {
		gpu->dropped++;
		return NULL;
	}
	r->what = (uint16_t)what;
	r->start = start;
	r->end = end;
	r->correlation = correlation;
	return r;
}

/* Where work ran: the same members in all records of work. */
#define PLACE(r, a) ((r)->device = (a)->deviceId, (r)->context = (a)->contextId, (r)->on = (a)->streamId)
#define NODE(r, a)  ((r)->node = (a)->graphNodeId, (r)->graph = (a)->graphId)

/* Work of a kind; `more`: what only its records have. */
#define WORK(name, type, what, more)                                                                                   \
	static struct sw_rec_activity *name(struct sw_gpu *gpu, const type *a)                                         \
	{                                                                                                              \
		struct sw_rec_activity *r = begin_activity(gpu, what, a->start, a->end, a->correlationId);             \
                                                                                                                       \
		if (r) {                                                                                               \
			PLACE(r, a);                                                                                   \
			NODE(r, a);                                                                                    \
			more;                                                                                          \
		}                                                                                                      \
		return r;                                                                                              \
	}

WORK(kernel, CUpti_ActivityKernel10, SW_ACTIVITY_KERNEL, (void)0)
WORK(copy, CUpti_ActivityMemcpy6, SW_ACTIVITY_COPY, (r->bytes = a->bytes, r->detail = a->copyKind))
WORK(copy_peer, CUpti_ActivityMemcpyPtoP4, SW_ACTIVITY_COPY, (r->bytes = a->bytes, r->detail = a->copyKind))
WORK(set, CUpti_ActivityMemset4, SW_ACTIVITY_SET, r->bytes = a->bytes)

/* Writes the record of a graph's launch as a whole; NULL: lost. */
static struct sw_rec_activity *record_graph(struct sw_gpu *gpu, const CUpti_ActivityGraphTrace2 *a)
{
	struct sw_rec_activity *r = begin_activity(gpu, SW_ACTIVITY_GRAPH, a->start, a->end, a->correlationId);

	if (r) {
		PLACE(r, a);
		r->graph = a->graphId;
	}
	return r;
}

/* Writes the record of a call of the driver on a thread, by whose number work is joined to the call that enqueued
   it. */
static struct sw_rec_activity *record_call(struct sw_gpu *gpu, const CUpti_ActivityAPI *a)
{
	struct sw_rec_activity *r = begin_activity(gpu, SW_ACTIVITY_CALL, a->start, a->end, a->correlationId);

	if (r)
		r->on = a->threadId;
	return r;
}

/* Writes the record of time that the driver took for itself, such as loading code. */
static struct sw_rec_activity *record_overhead(struct sw_gpu *gpu, const CUpti_ActivityOverhead3 *a)
{
	const bool correlated = gpu->cupti.version >= OVERHEAD_CORRELATION;
	struct sw_rec_activity *r =
		begin_activity(gpu, SW_ACTIVITY_OVERHEAD, a->start, a->end, correlated ? a->correlationId : 0);

	if (r) {
		/* The kinds are numbered in the upper half; DRIVER_COMPILER alone in the lower one. */
		r->detail = a->overheadKind >> 16 ? (uint16_t)(SW_OVERHEAD_COMPILER + (a->overheadKind >> 16))
						  : (uint16_t)a->overheadKind;
		if (a->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD)
			r->on = a->objectId.pt.threadId;
	}
	if (gpu->cupti.version >= OVERHEAD_DATA)
		free(a->overheadData);
	return r;
}

/* Writes one record of CUPTI; NULL: nothing, or lost. */
static struct sw_rec_activity *record_activity(struct sw_gpu *gpu, const CUpti_Activity *a)
{
	switch (a->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return kernel(gpu, (const void *)a);
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return copy(gpu, (const void *)a);
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		return copy_peer(gpu, (const void *)a);
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return set(gpu, (const void *)a);
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		return record_graph(gpu, (const void *)a);
	case CUPTI_ACTIVITY_KIND_DRIVER:
		return record_call(gpu, (const void *)a);
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		return record_overhead(gpu, (const void *)a);
	default:
		return NULL; /* enabled by another user of CUPTI */
	}
}

/* Writes all records of a buffer. */
static void gpu_records_write(struct sw_gpu *gpu, const struct sw_gpu_buffer *buffer)
{
	CUpti_Activity *a = NULL;
	size_t dropped = 0;

	while (SW_CUPTI(&gpu->cupti, cuptiActivityGetNextRecord, buffer->bytes, buffer->valid, &a) == CUPTI_SUCCESS)
		gpu->recorder->described(record_activity(gpu, a));
	if (SW_CUPTI(&gpu->cupti, cuptiActivityGetNumDroppedRecords, buffer->context, buffer->stream, &dropped) ==
	    CUPTI_SUCCESS)
		gpu->dropped += dropped;
}

#define STACK_BYTES    (512u << 10) /* CUPTI runs on it */
#define FETCH_NS       20000000u
#define CLOCK_EVERY_NS 500000000ull
#define EXIT_NS	       2000000000ull /* what the end of the program waits for the last records at most */
#define CALLBACKS      2048u	     /* more than CUPTI numbers driver functions */

static struct sw_gpu gpu;
static pid_t owner;

/* 0: continue; 1: fetch what is left and end; 2: ended. */
static _Atomic uint32_t stage;

/* A notice in the report; the recorder writes each only once. */
static void say_once(const char *what, const char *why)
{
	char text[600];

	snprintf(text, sizeof text, "GPU time stamps: %s%s%s", what, *why ? ": " : "", why);
	gpu.recorder->notice(text);
}

/* CUPTI's name for its result. */
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

/* Is this a driver function whose records are needed? */
static bool puts_work(const char *name)
{
	for (size_t i = 0; i < sizeof working / sizeof *working; i++)
		if (strncmp(name, working[i], strlen(working[i])) == 0)
			return true;
	return false;
}

/* Enables one kind of records, for us alone where CUPTI has several users. */
static CUptiResult enable_kind(CUpti_ActivityKind kind)
{
	return gpu.cupti.subscriber ? gpu.cupti.cuptiActivityEnable_v2(gpu.cupti.subscriber, kind, NULL)
				    : gpu.cupti.cuptiActivityEnable(kind);
}

/* Ends the recording of one kind of activity, in the way that it was begun. */
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

/* A notice that CUPTI refuses something. */
static void say_refused(const char *what, CUptiResult result)
{
	char text[300];

	snprintf(text, sizeof text, "CUPTI (%.160s) refuses %s", gpu.cupti.path, what);
	say_once(text, result_text(result));
}

/* Does the result of CUPTI say that somebody else has it? */
static bool in_use(CUptiResult result)
{
	return result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || result == CUPTI_ERROR_NOT_COMPATIBLE;
}

/* Enables all records that are wanted.  False: work cannot be recorded; *share: another user has CUPTI, try as one of
   several. */
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
	CUpti_TimestampCallbackFunc clock = gpu_clock_now;
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
		       ? gpu.cupti.cuptiActivityRegisterCallbacks_v2(gpu.cupti.subscriber, shared_wanted, shared_done)
		       : gpu.cupti.cuptiActivityRegisterCallbacks(gpu_buffer_wanted, gpu_buffer_done);
}

/* Registers with CUPTI and enables records.  False: refused; *share as enable_kinds(). */
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

/* Registers as CUPTI's only user, as profilers of before 13.3 are: such a one that comes later takes CUPTI over from
   us, and would be refused if we shared it.  As one of several where somebody does share it already, or where that is
   asked for. */
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

/* Writes filled buffers into the trace; the clock before, so that each time stamp lies between two readings: a short
   program has two readings at its start, and what is extrapolated from them is wrong by more than a call takes.  False:
   somebody else has taken CUPTI over. */
static bool fetch_buffers(uint32_t flush, uint32_t clock_flags, uint64_t *clock_at)
{
	struct sw_gpu_buffer *list, *next;
	const uint64_t now = sw_clock_ns(CLOCK_MONOTONIC);
	bool ours = true;

	/* Among several users those of all are flushed: forced, records of work that still runs come without times. */
	gpu.cupti.cuptiActivityFlushAll(gpu.cupti.subscriber ? 0 : flush);
	list = gpu_buffers_take();
	if (list || (!flush && now - *clock_at > CLOCK_EVERY_NS)) {
		ours = gpu_clock_write(&gpu, flush ? 0 : clock_flags, false);
		*clock_at = now;
	}
	for (; list; list = next) {
		next = list->next;
		gpu_records_write(&gpu, list);
		gpu_buffer_free(list);
	}
	return flush || !ours ? gpu_clock_write(&gpu, clock_flags, true) : true;
}

/* Sleeps until the next fetch of times, or until the process ends. */
static void pause_unless_ending(void)
{
	struct timespec t = {.tv_nsec = FETCH_NS};

	sw_sys_wait((const uint32_t *)&stage, 0, &t);
}

/* The thread that fetches, every 20 ms and at the end. */
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
	if (gpu_buffers_refused())
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

/* Called by the recorder when it starts with --gpu-timeline: attaches to CUPTI and starts the thread that fetches
   times.  Whatever is missing is said once, and the trace has no times. */
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
	gpu_clock_start(header);
	if (!attach_cupti())
		return;
	recorder->file_flags(SW_FILE_GPU);
	gpu_clock_write(&gpu, 0, true);
	atexit(at_exit);
	if (sw_sys_thread(run_thread, STACK_BYTES))
		say_once("a thread to fetch them could not be made", "");
}
