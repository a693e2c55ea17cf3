/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other witness of the completeness test: writes every kernel, copy, set and synchronisation that CUPTI's activity
 * records show, with the driver and runtime calls they belong to, as lines of text.
 *
 * Loaded by the driver itself (CUDA_INJECTION64_PATH=this object), so it needs no place in LD_PRELOAD.  Output goes to
 * the file named by CUPTI_AGENT_OUT.  Time stamps are CLOCK_MONOTONIC (cuptiActivityRegisterTimestampCallback), thread
 * ids the kernel's (cuptiSetThreadIdType), so that lines can be laid over the records of a trace.
 */
#include <cupti.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static FILE *out;
static uint64_t dropped;

#define TRY(call)                                                                                                      \
	do {                                                                                                           \
		CUptiResult r_ = (call);                                                                               \
		const char *text_ = "?";                                                                               \
		if (r_ != CUPTI_SUCCESS) {                                                                             \
			cuptiGetResultString(r_, &text_);                                                              \
			fprintf(stderr, "cupti_agent: %s: %s\n", #call, text_);                                        \
		}                                                                                                      \
	} while (0)

static uint64_t CUPTIAPI now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void CUPTIAPI buffer_wanted(uint8_t **buffer, size_t *size, size_t *records)
{
	*size = 4 << 20;
	*buffer = aligned_alloc(8, *size);
	*records = 0;
	if (!*buffer)
		*size = 0;
}

static void api(const char *kind, const CUpti_ActivityAPI *a, CUpti_CallbackDomain domain)
{
	const char *name = "?";
	cuptiGetCallbackName(domain, a->cbid, &name);
	fprintf(out, "%s\t%u\t%u\t%llu\t%llu\t%s\t%u\n", kind, a->correlationId, a->threadId,
		(unsigned long long)a->start, (unsigned long long)a->end, name, a->returnValue);
}

static void work(const char *kind, uint32_t correlation, uint64_t start, uint64_t end, const char *name, uint32_t graph)
{
	fprintf(out, "%s\t%u\t0\t%llu\t%llu\t%s\t%u\n", kind, correlation, (unsigned long long)start,
		(unsigned long long)end, name, graph);
}

static void record(const CUpti_Activity *a)
{
	switch (a->kind) {
	case CUPTI_ACTIVITY_KIND_DRIVER:
		api("driver", (const CUpti_ActivityAPI *)a, CUPTI_CB_DOMAIN_DRIVER_API);
		break;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		api("runtime", (const CUpti_ActivityAPI *)a, CUPTI_CB_DOMAIN_RUNTIME_API);
		break;
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
		const CUpti_ActivityKernel10 *k = (const CUpti_ActivityKernel10 *)a;
		work("kernel", k->correlationId, k->start, k->end, k->name, k->graphId);
		break;
	}
	case CUPTI_ACTIVITY_KIND_MEMCPY: {
		const CUpti_ActivityMemcpy6 *m = (const CUpti_ActivityMemcpy6 *)a;
		work("memcpy", m->correlationId, m->start, m->end, "", m->graphId);
		break;
	}
	case CUPTI_ACTIVITY_KIND_MEMCPY2: {
		const CUpti_ActivityMemcpyPtoP4 *m = (const CUpti_ActivityMemcpyPtoP4 *)a;
		work("memcpy", m->correlationId, m->start, m->end, "peer", m->graphId);
		break;
	}
	case CUPTI_ACTIVITY_KIND_MEMSET: {
		const CUpti_ActivityMemset4 *m = (const CUpti_ActivityMemset4 *)a;
		work("memset", m->correlationId, m->start, m->end, "", m->graphId);
		break;
	}
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
		static const char *const names[] = {"?", "event", "wait", "stream", "context"};
		const CUpti_ActivitySynchronization2 *s = (const CUpti_ActivitySynchronization2 *)a;
		work("sync", s->correlationId, s->start, s->end, names[s->type <= 4 ? s->type : 0], 0);
		break;
	}
	default:
		break;
	}
}

static void CUPTIAPI buffer_done(CUcontext ctx, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *a = NULL;
	size_t lost = 0;
	(void)size;
	flockfile(out);
	while (cuptiActivityGetNextRecord(buffer, valid, &a) == CUPTI_SUCCESS)
		record(a);
	if (cuptiActivityGetNumDroppedRecords(ctx, stream, &lost) == CUPTI_SUCCESS && lost)
		dropped += lost;
	funlockfile(out);
	free(buffer);
}

static void finish(void)
{
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	fprintf(out, "end\t0\t0\t0\t0\tdropped\t%llu\n", (unsigned long long)dropped);
	fclose(out);
}

int InitializeInjection(void);
int InitializeInjection(void)
{
	static const CUpti_ActivityKind kinds[] = {
		CUPTI_ACTIVITY_KIND_DRIVER,	    CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		CUPTI_ACTIVITY_KIND_MEMCPY,	    CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
		CUPTI_ACTIVITY_KIND_SYNCHRONIZATION};
	const char *path = getenv("CUPTI_AGENT_OUT");
	if (!path || !(out = fopen(path, "we")))
		return 0;
	TRY(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
	TRY(cuptiActivityRegisterTimestampCallback(now));
	TRY(cuptiActivityRegisterCallbacks(buffer_wanted, buffer_done));
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		TRY(cuptiActivityEnable(kinds[i]));
	atexit(finish);
	return 1;
}
