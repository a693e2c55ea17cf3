/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcupti.so.13 for tests: the public entry points that syncwatch uses, on a GPU that does everything in order.  The
 * fake driver in this folder calls fake_cupti_call() for each call that CUPTI would see.
 *
 * FAKE_CUPTI: words that make it misbehave: busy (another tool has it), old (version 12.0), dropping (each third record
 * of work is lost), moving (its clock jumps by a second in the middle), taken (another user takes the clock), hanging
 * (a forced flush never returns), many (version 13.5, several users), held (another user shares it already), alone (and
 * one does not), hardware (devices write their times).
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
	*version = is("old") ? 120000 : is("many") ? 130500 : 130001;
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

static CUptiResult enable(CUpti_ActivityKind kind)
{
	enabled[kind] = true;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	if (is("busy"))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	return is("held") || is("alone") ? CUPTI_ERROR_NOT_COMPATIBLE : enable(kind);
}

EXPORT CUptiResult cuptiActivityEnableHWTrace(uint8_t on)
{
	if (!is("hardware"))
		return CUPTI_ERROR_NOT_SUPPORTED;
	if (calls)
		fprintf(stderr, "hardware times after the first call\n");
	fprintf(stderr, "hardware times: %d\n", on);
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

/* ---- several users ----------------------------------------------------------------------------------------------- */

/* Exported without the prefix: headers declare some of them, in several ways. */
static int user;
#define OURS(subscriber) ((void *)(subscriber) == (void *)&user)

struct subscriber_params {
	size_t bytes;
	const char *name;
	char *other;
	size_t other_bytes;
	uint8_t many;
};

CUptiResult shared_cuptiSubscribe_v2(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *data,
				     struct subscriber_params *how) __asm__("cuptiSubscribe_v2");
EXPORT CUptiResult shared_cuptiSubscribe_v2(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *data,
					    struct subscriber_params *how)
{
	if (!callback || how->bytes < sizeof *how || how->other_bytes < 64 || !how->many)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (is("held") || is("alone"))
		snprintf(how->other, how->other_bytes, "CUPTI for another");
	if (is("alone"))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	*out = (CUpti_SubscriberHandle)&user;
	fprintf(stderr, "shared by %s\n", how->name);
	return CUPTI_SUCCESS;
}

/* As CUPTI's: one decides for all whether graphs are recorded as a whole, and nobody did. */
CUptiResult shared_cuptiActivityEnable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
					  void *config) __asm__("cuptiActivityEnable_v2");
EXPORT CUptiResult shared_cuptiActivityEnable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
						 void *config)
{
	return !OURS(subscriber) || config		 ? CUPTI_ERROR_INVALID_PARAMETER
	       : kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE ? CUPTI_ERROR_NOT_COMPATIBLE
							 : enable(kind);
}

CUptiResult shared_cuptiActivityDisable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
					   void *config) __asm__("cuptiActivityDisable_v2");
EXPORT CUptiResult shared_cuptiActivityDisable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
						  void *config)
{
	return OURS(subscriber) ? cuptiActivityDisable(kind) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult shared_cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle subscriber, CUpti_CallbackId id,
						   uint8_t on) __asm__("cuptiActivityEnableDriverApi_v2");
EXPORT CUptiResult shared_cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle subscriber, CUpti_CallbackId id,
							  uint8_t on)
{
	return OURS(subscriber) ? cuptiActivityEnableDriverApi(id, on) : CUPTI_ERROR_INVALID_PARAMETER;
}

static void (*shared_wanted)(uint8_t **, size_t *, size_t *, void *);
static void (*shared_completed)(uint8_t *, size_t, size_t, void *);

static void as_wanted(uint8_t **at, size_t *bytes, size_t *records)
{
	shared_wanted(at, bytes, records, NULL);
}

static void as_completed(CUcontext context, uint32_t stream, uint8_t *at, size_t bytes, size_t valid)
{
	shared_completed(at, bytes, valid, NULL);
}

CUptiResult shared_cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle subscriber, void *request,
						     void *complete) __asm__("cuptiActivityRegisterCallbacks_v2");
EXPORT CUptiResult shared_cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle subscriber, void *request,
							    void *complete)
{
	if (!OURS(subscriber))
		return CUPTI_ERROR_INVALID_PARAMETER;
	shared_wanted = request;
	shared_completed = complete;
	return cuptiActivityRegisterCallbacks(as_wanted, as_completed);
}

CUptiResult shared_cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityAttribute attribute,
						size_t *bytes, void *value) __asm__("cuptiActivitySetAttribute_v2");
EXPORT CUptiResult shared_cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle subscriber,
						       CUpti_ActivityAttribute attribute, size_t *bytes, void *value)
{
	if (!OURS(subscriber))
		return CUPTI_ERROR_INVALID_PARAMETER;
	switch ((int)attribute) {
	case 13:
		return cuptiActivityEnableHWTrace(*(uint8_t *)value);
	case 21:
		return cuptiSetThreadIdType(*(CUpti_ActivityThreadIdType *)value);
	case 22:
		return cuptiActivityRegisterTimestampCallback(*(CUpti_TimestampCallbackFunc *)value);
	default:
		return CUPTI_SUCCESS;
	}
}

CUptiResult shared_cuptiGetTimestamp_v2(CUpti_SubscriberHandle subscriber,
					uint64_t *ns) __asm__("cuptiGetTimestamp_v2");
EXPORT CUptiResult shared_cuptiGetTimestamp_v2(CUpti_SubscriberHandle subscriber, uint64_t *ns)
{
	return OURS(subscriber) ? cuptiGetTimestamp(ns) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult
shared_cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle subscriber, CUcontext context, uint32_t stream,
					    size_t *records) __asm__("cuptiActivityGetNumDroppedRecords_v2");
EXPORT CUptiResult shared_cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle subscriber, CUcontext context,
							       uint32_t stream, size_t *records)
{
	return OURS(subscriber) ? cuptiActivityGetNumDroppedRecords(context, stream, records)
				: CUPTI_ERROR_INVALID_PARAMETER;
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

CUptiResult shared_cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle subscriber, uint8_t *from, size_t valid,
						 CUpti_Activity **record) __asm__("cuptiActivityGetNextRecord_v2");
EXPORT CUptiResult shared_cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle subscriber, uint8_t *from, size_t valid,
							CUpti_Activity **record)
{
	return OURS(subscriber) ? cuptiActivityGetNextRecord(from, valid, record) : CUPTI_ERROR_INVALID_PARAMETER;
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
