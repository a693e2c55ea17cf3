/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcupti.so.13 for tests: the public entry points that syncwatch uses, on a GPU that does everything in order.  The
 * fake driver in this folder calls fake_cupti_call() for each call that CUPTI would see.
 *
 * FAKE_CUPTI: words that make it misbehave: busy (another tool has it), old (version 12.0), dropping (each third record
 * of work is lost), moving (its clock jumps by a second in the middle), taken (another user takes the clock), hanging
 * (a forced flush never returns).
 */
#include <cupti.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT	__attribute__((visibility("default")))
#define WORK_NS 20000u /* each piece of work */
#define LATE_NS 5000u  /* from the call to the device */

void fake_cupti_call(const char *name, CUpti_ActivityKind work, uint64_t bytes);

static CUpti_BuffersCallbackRequestFunc wanted;
static CUpti_BuffersCallbackCompleteFunc completed;
static CUpti_TimestampCallbackFunc clock_of_user;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool enabled[CUPTI_ACTIVITY_KIND_COUNT];
static uint8_t *buffer;
static size_t room, used, dropped;
static uint32_t correlation, calls;
static uint64_t device_free;

static const char *const functions[] = {
	"?", "cuInit", "cuLaunchKernel", "cuMemcpyHtoDAsync_v2", "cuMemsetD8Async", "cuGraphLaunch", "cuEventRecord"};
#define FUNCTIONS (sizeof functions / sizeof *functions)
static bool traced[FUNCTIONS];

static bool is(const char *word)
{
	const char *how = getenv("FAKE_CUPTI");

	return how && strstr(how, word);
}

static uint64_t own_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now(void)
{
	uint64_t ns = clock_of_user && !(is("taken") && calls > 2) ? clock_of_user() : own_clock();

	return is("moving") && calls > 10 ? ns + 1000000000u : ns;
}

EXPORT CUptiResult cuptiGetVersion(uint32_t *version)
{
	*version = is("old") ? 120000 : 130001;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
	*text = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
			? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
			: "CUPTI_ERROR_UNKNOWN";
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
						  CUpti_BuffersCallbackCompleteFunc complete)
{
	wanted = request;
	completed = complete;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback)
{
	if (is("old"))
		return CUPTI_ERROR_NOT_SUPPORTED;
	clock_of_user = callback;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	if (is("busy"))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	enabled[kind] = true;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	enabled[kind] = false;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, uint8_t enable)
{
	traced[id] = enable;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char **name)
{
	if (domain != CUPTI_CB_DOMAIN_DRIVER_API || id >= FUNCTIONS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = functions[id];
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t *bytes, void *value)
{
	(void)attribute;
	(void)bytes;
	(void)value;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

EXPORT CUptiResult cuptiGetTimestamp(uint64_t *ns)
{
	*ns = now();
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *records)
{
	(void)context;
	(void)stream;
	*records = dropped;
	dropped = 0;
	return CUPTI_SUCCESS;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static size_t bytes_of(CUpti_ActivityKind kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_DRIVER:
		return sizeof(CUpti_ActivityAPI);
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return sizeof(CUpti_ActivityKernel10);
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return sizeof(CUpti_ActivityMemcpy6);
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return sizeof(CUpti_ActivityMemset4);
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		return sizeof(CUpti_ActivityGraphTrace2);
	default:
		abort();
	}
}

static void *add(CUpti_ActivityKind kind)
{
	size_t bytes = bytes_of(kind), records;
	CUpti_Activity *a;

	if (buffer && used + bytes > room) {
		completed(NULL, 0, buffer, room, used);
		buffer = NULL;
	}
	if (!buffer) {
		used = 0;
		wanted(&buffer, &room, &records);
	}
	if (!buffer) {
		dropped++;
		return NULL;
	}
	a = (CUpti_Activity *)(buffer + used);
	used += bytes;
	a->kind = kind;
	return a;
}

EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *from, size_t valid, CUpti_Activity **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + bytes_of((*record)->kind) : from;

	if (next >= from + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	uint8_t *full;
	size_t bytes;

	if (flag && is("hanging"))
		for (;;)
			pause();
	pthread_mutex_lock(&lock);
	full = buffer;
	bytes = used;
	buffer = NULL;
	pthread_mutex_unlock(&lock);
	if (full)
		completed(NULL, 0, full, room, bytes);
	return CUPTI_SUCCESS;
}

#define WORK(type, number)                                                                                             \
	do {                                                                                                           \
		type *a = add(number);                                                                                 \
		if (a) {                                                                                               \
			a->start = start;                                                                              \
			a->end = start + WORK_NS;                                                                      \
			a->correlationId = correlation;                                                                \
			a->streamId = 7;                                                                               \
			a->contextId = 1;                                                                              \
		}                                                                                                      \
	} while (0)

static void record_work(CUpti_ActivityKind kind, uint64_t start, uint64_t bytes)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		WORK(CUpti_ActivityKernel10, kind);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		WORK(CUpti_ActivityMemcpy6, kind);
		if (buffer)
			((CUpti_ActivityMemcpy6 *)(buffer + used - sizeof(CUpti_ActivityMemcpy6)))->bytes = bytes;
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		WORK(CUpti_ActivityMemset4, kind);
		break;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		if (enabled[kind]) {
			WORK(CUpti_ActivityGraphTrace2, kind);
			break;
		}
		WORK(CUpti_ActivityKernel10, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL); /* its two nodes */
		start += WORK_NS;
		WORK(CUpti_ActivityKernel10, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
		break;
	default:
		abort();
	}
}

static bool is_traced(const char *name)
{
	for (size_t i = 0; i < FUNCTIONS; i++)
		if (traced[i] && strcmp(functions[i], name) == 0)
			return true;
	return enabled[CUPTI_ACTIVITY_KIND_DRIVER];
}

EXPORT void fake_cupti_call(const char *name, CUpti_ActivityKind work, uint64_t bytes)
{
	uint64_t start = now(), end;

	pthread_mutex_lock(&lock);
	correlation++;
	calls++;
	end = now();
	if (is_traced(name)) {
		CUpti_ActivityAPI *a = add(CUPTI_ACTIVITY_KIND_DRIVER);
		if (a) {
			a->start = start;
			a->end = end;
			a->threadId = (uint32_t)gettid();
			a->correlationId = correlation;
		}
	}
	start = end + LATE_NS > device_free ? end + LATE_NS : device_free;
	device_free = start + WORK_NS;
	if (work == CUPTI_ACTIVITY_KIND_GRAPH_TRACE ? enabled[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] : enabled[work]) {
		if (is("dropping") && calls % 3 == 0)
			dropped++;
		else
			record_work(work, start, bytes);
	}
	pthread_mutex_unlock(&lock);
}
