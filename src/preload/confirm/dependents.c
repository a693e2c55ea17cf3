/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which streams and events wait for what is held.  A host that waits for another one need not end the hold.  To take
 * too many for dependents ends holds early; to take too few costs the host the rest of the bound: neither makes a
 * verdict wrong.
 */
#include "preload/confirm/confirm.h"

#define MOST 256u

static struct {
	bool all;      /* more than the table holds */
	bool blocking; /* the legacy stream and all that are in order with it */
	uint32_t n;
	uint64_t at[MOST];
} dependents;

static bool is_blocking(CUstream stream)
{
	__typeof__(&cuStreamGetFlags) ask = SW_CONFIRM_REAL(cuStreamGetFlags);
	unsigned flags = 0;
	if (stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
		return true;
	return !ask || ask(stream, &flags) != CUDA_SUCCESS || !(flags & CU_STREAM_NON_BLOCKING);
}

static bool has(uint64_t handle)
{
	for (uint32_t i = 0; i < dependents.n; i++)
		if (dependents.at[i] == handle)
			return true;
	return dependents.all;
}

static void add(uint64_t handle)
{
	if (has(handle))
		return;
	if (dependents.n < MOST)
		dependents.at[dependents.n++] = handle;
	else
		dependents.all = true;
}

static void drop(uint64_t handle)
{
	for (uint32_t i = 0; i < dependents.n; i++)
		if (dependents.at[i] == handle)
			dependents.at[i--] = dependents.at[--dependents.n];
}

static void add_stream(CUstream stream)
{
	if (is_blocking(stream))
		dependents.blocking = true;
	else
		add((uintptr_t)stream);
}

static bool has_stream(CUstream stream)
{
	return is_blocking(stream) ? dependents.blocking || dependents.all : has((uintptr_t)stream);
}

void sw_dependents_begin(CUstream held)
{
	dependents.all = dependents.blocking = false;
	dependents.n = 0;
	add_stream(held);
}

void sw_dependents_record(const struct sw_rec *rec, CUstream stream)
{
	const void *r = rec;
	if (rec->kind == SW_REC_EVENT_RECORD) {
		const struct sw_rec_event_record *e = r;
		drop(e->event);
		if (e->flags & SW_EVENT_RECORD_CONTEXT || has_stream(stream))
			add(e->event);
	} else if (rec->kind == SW_REC_STREAM_WAIT) {
		const struct sw_rec_stream_wait *w = r;
		if (!has(w->event))
			return;
		if (w->flags & 2)
			dependents.all = true;
		else
			add_stream(stream);
	} else if (rec->kind == SW_REC_MEM_OP || rec->kind == SW_REC_OTHER || rec->kind == SW_REC_UNCLASSIFIED) {
		/* It may wait for a value, or a semaphore, that work after the hold writes. */
		add_stream(stream);
	}
}

static bool sync_blocks(const struct sw_rec *rec)
{
	const struct sw_rec_sync *s = (const struct sw_rec_sync *)(const void *)rec;
	CUstream stream = (CUstream)(uintptr_t)s->handle;
	if (s->what == SW_SYNC_EVENT)
		return has(s->handle);
	if (s->what != SW_SYNC_STREAM)
		return true;
	if (!stream)
		stream = rec->flags & SW_RF_PER_THREAD ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
	return has_stream(stream);
}

/* A thread that only takes a context as its own waits for nothing. */
static bool ends_context(const struct sw_rec_context_op *o)
{
	return o->op == SW_CONTEXT_DESTROY || o->op == SW_CONTEXT_RESET || o->op == SW_CONTEXT_RELEASE;
}

bool sw_dependents_blocks(const struct sw_rec *rec, CUstream stream)
{
	switch (rec->kind) {
	case SW_REC_SYNC:
		return sync_blocks(rec);
	case SW_REC_COPY:
	case SW_REC_COPY_ND:
	case SW_REC_SET:
		/* Those of pageable memory may make the host wait in asynchronous calls too: for the bound at most. */
		return rec->flags & SW_RF_BEGIN && has_stream(stream);
	case SW_REC_FREE:
		/* Waits for all work of the device (measured: "cudaFree", "cudaFreeHost"), but for stream-ordered ones.
		 */
		return rec->api != SW_ID_cuMemFreeAsync && rec->api != SW_ID_cuMemFreeAsync_ptsz;
	case SW_REC_CONTEXT_OP:
		return ends_context((const struct sw_rec_context_op *)(const void *)rec);
	case SW_REC_CONFIG:
	case SW_REC_CODE_UNLOAD:
		return true;
	default:
		return false;
	}
}
