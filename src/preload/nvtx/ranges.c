/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of ranges.  Before the first CUDA call nothing is recorded, but what is open by then is kept in a table, and
 * so are names of threads: a range named "start-up" begins before the first CUDA call.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/platform/lock.h"
#include "preload/nvtx/nvtx.h"

#define MAX_EARLY 256u

static struct {
	struct sw_lock lock;
	bool recording_begun; /* recording has begun */
	uint32_t n;
	struct early {
		enum sw_range_op op; /* 0: a thread's name */
		nvtxDomainHandle_t domain;
		uint64_t id;
		uint32_t tid, bytes;
		char name[SW_NVTX_MAX_NAME];
	} at[MAX_EARLY];
} early;

static uint64_t ids;

nvtxRangeId_t sw_nvtx_range_id(void)
{
	return __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void write_begin(const struct early *e, const char *name)
{
	uint32_t domain_bytes;
	const char *domain = sw_nvtx_domain(e->domain, &domain_bytes);
	struct sw_rec_range *r = sw_nvtx_recorder()->describe(SW_REC_RANGE, sizeof *r + e->bytes + domain_bytes, true);
	if (!r)
		return;
	r->domain = (uint64_t)(uintptr_t)e->domain;
	r->id = e->id;
	r->op = e->op;
	r->tid = e->tid;
	r->name_bytes = e->bytes;
	r->domain_bytes = domain_bytes;
	memcpy(r + 1, name, e->bytes);
	memcpy((char *)(r + 1) + e->bytes, domain, domain_bytes);
	sw_nvtx_recorder()->described(r);
}

static void write_end(enum sw_range_op op, nvtxDomainHandle_t domain, uint64_t id)
{
	struct sw_rec_range *r = sw_nvtx_recorder()->describe(SW_REC_RANGE, sizeof *r, true);
	if (!r)
		return;
	r->domain = (uint64_t)(uintptr_t)domain;
	r->id = id;
	r->op = op;
	r->tid = r->name_bytes = r->domain_bytes = 0;
	sw_nvtx_recorder()->described(r);
}

void sw_nvtx_name(enum sw_name_of of, uint64_t handle, uint64_t bytes, const struct sw_nvtx_text *name)
{
	struct sw_rec_name *r = sw_nvtx_recorder()->describe(SW_REC_NAME, sizeof *r + name->bytes, true);
	if (!r)
		return;
	r->of = of;
	r->name_bytes = name->bytes;
	r->handle = handle;
	r->bytes = bytes;
	memcpy(r + 1, name->at, name->bytes);
	sw_nvtx_recorder()->described(r);
}

/* ---- before the first CUDA call ---------------------------------------------------------------------------------- */

/* False: recording has begun. */
static bool keep(const struct early *what, const struct sw_nvtx_text *name)
{
	uint64_t mask = sw_lock_enter(&early.lock);
	const bool kept = !early.recording_begun;
	if (kept && early.n < MAX_EARLY) {
		struct early *e = &early.at[early.n++];
		*e = *what;
		memcpy(e->name, name->at, name->bytes);
	}
	sw_lock_leave(&early.lock, mask);
	return kept;
}

static bool forget(nvtxDomainHandle_t domain, uint64_t id, uint32_t tid)
{
	uint64_t mask = sw_lock_enter(&early.lock);
	const bool kept = !early.recording_begun;
	for (uint32_t i = kept ? early.n : 0; i--;) {
		const struct early *e = &early.at[i];
		if (!e->op || e->domain != domain || e->id != id || (!id && e->tid != tid))
			continue;
		memmove(&early.at[i], &early.at[i + 1], (early.n - i - 1) * sizeof *early.at);
		early.n--;
		break;
	}
	sw_lock_leave(&early.lock, mask);
	return kept;
}

/* On the thread of the first CUDA call, in a child of fork() once more: what its parent said is not the child's. */
void sw_nvtx_begun(void)
{
	uint64_t mask = sw_lock_enter(&early.lock);
	early.recording_begun = true;
	for (uint32_t i = 0; i < early.n; i++) {
		const struct early *e = &early.at[i];
		if (e->op)
			write_begin(e, e->name);
		else
			sw_nvtx_name(SW_NAME_THREAD, 0, e->tid,
				     &(struct sw_nvtx_text){.at = e->name, .bytes = e->bytes});
	}
	early.n = 0;
	sw_lock_leave(&early.lock, mask);
}

/* ---- what the program says --------------------------------------------------------------------------------------- */

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static bool recording_begun(void)
{
	return __atomic_load_n(&early.recording_begun, __ATOMIC_RELAXED);
}

void sw_nvtx_begin(enum sw_range_op op, nvtxDomainHandle_t domain, uint64_t id, const struct sw_nvtx_text *name)
{
	struct early what;
	what.op = op;
	what.domain = domain;
	what.id = id;
	what.bytes = name->bytes;
	what.tid = recording_begun() ? 0 : own_tid();
	if (what.tid && keep(&what, name))
		return;
	what.tid = 0;
	write_begin(&what, name->at);
}

void sw_nvtx_end(enum sw_range_op op, nvtxDomainHandle_t domain, uint64_t id)
{
	if (!recording_begun() && forget(domain, id, own_tid()))
		return;
	write_end(op, domain, id);
}

void sw_nvtx_name_thread(uint32_t tid, const struct sw_nvtx_text *name)
{
	struct early what;
	what.op = 0;
	what.tid = tid;
	what.bytes = name->bytes;
	if (!recording_begun() && keep(&what, name))
		return;
	sw_nvtx_name(SW_NAME_THREAD, 0, tid, name);
}
