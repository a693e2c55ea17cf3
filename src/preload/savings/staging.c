/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of pageable memory through a ring of pinned buffers.  To the device the bytes are taken before the call
 * returns, as the driver does.  To the host they are written when the host next waits or asks for any work and the copy
 * is done: until then it cannot know.  A program that learns of work in other ways (functions on streams, values that
 * streams write) has them written by a function on the stream, before whatever comes after the copy; that makes the
 * stream wait for the processor.
 */
#include <stdio.h>
#include <string.h>

#include "base/arch.h"
#include "preload/platform/lock.h"
#include "preload/platform/sys.h"
#include "preload/recorder/writer.h"
#include "preload/savings/savings.h"

/*
 * When the calls of planned sites begin, whether they are made otherwise or not: so that two runs are compared in the
 * stretch in which these calls lie, and not with what differs before and after it.  What a change does once is no part
 * of these times.
 */

#define MARKS  16384u
#define A_LINE 200u /* sw_result() has room for one of them more */

static struct mark {
	uint32_t site, nth;
	uint64_t ns;
} marks[MARKS];
static _Atomic uint32_t n_marks, calls[SW_PLAN_SITES];
static _Atomic uint64_t once_ns, end_ns;
static __thread bool marked __attribute__((tls_model("initial-exec")));

static uint64_t now_ns(void)
{
	return sw_sys_monotonic() - atomic_load(&once_ns);
}

/* Is the nth call of a site marked?  Equal ones in each run, and fewer the more there are. */
static bool is_kept(uint32_t nth)
{
	return nth <= 1024 || (nth <= 16384 && nth % 16 == 0) || nth % 1024 == 0;
}

/* Marks the begin of a call of this site of the plan, so that the same parts of two runs can be compared. */
static void marks_call(uint32_t site)
{
	const uint32_t nth = atomic_fetch_add(&calls[site], 1) + 1;
	marked = true;
	atomic_store(&end_ns, 0);
	if (!is_kept(nth))
		return;
	const uint32_t at = atomic_fetch_add(&n_marks, 1);
	if (at < MARKS)
		marks[at] = (struct mark){site, nth, now_ns()};
}

/* When a call that waited for the whole device returned: notes the end of the marked stretch, unless the call is a
   marked one itself. */
static void marks_left(bool waited)
{
	uint64_t none = 0;
	/* A wait that is itself one of them may wait for less than it did. */
	if (waited && !marked && atomic_load(&n_marks))
		atomic_compare_exchange_strong(&end_ns, &none, now_ns());
	marked = false;
}

/* Adds the time that a change took for what it does once. */
static void marks_once(uint64_t ns)
{
	atomic_fetch_add(&once_ns, ns);
}

/* Writes the marks (when planned calls began) and the end of their stretch.  `last_ns`: when the last call returned. */
static void marks_end(uint64_t last_ns)
{
	const uint32_t n = atomic_load(&n_marks);
	char line[A_LINE + 64];
	const uint64_t end = atomic_load(&end_ns), once = atomic_load(&once_ns);
	int used = 0;
	for (uint32_t i = 0; i < n && i < MARKS; i++) {
		used += snprintf(line + used, sizeof line - (size_t)used, " %u.%u.%llu", marks[i].site, marks[i].nth,
				 (unsigned long long)marks[i].ns);
		if (used >= (int)A_LINE || i + 1 == n || i + 1 == MARKS) {
			sw_result("marks%s", line);
			used = 0;
		}
	}
	/* Where the host never waited: the end of the run. */
	sw_result("marked %llu %llu %u", (unsigned long long)(end ? end : last_ns - once), (unsigned long long)once,
		  n > MARKS ? n - MARKS : 0);
}

/* Which site of the plan a call is, and which handles the streams of the plan have in this run. */

static struct {
	_Atomic uint64_t changed, passed;
} site_counts[SW_PLAN_SITES];

static struct {
	uint64_t made; /* calls that are like the one that makes it; by its thread alone */
	_Atomic uint64_t handle;
} streams[SW_PLAN_STREAMS];

static _Atomic bool capture_open; /* then every call is made as it is */
static __thread bool busy __attribute__((tls_model("initial-exec")));

/* The site of the plan that the call in progress is of: by entry point and call stack, else the one for all other calls
   of the entry point; NULL: none, or a stream is captured. */
static const struct sw_plan_site *find_site(uint32_t id)
{
	const struct sw_plan_changes *plan = &sw_confirm_plan.changes;
	const struct sw_plan_site *any = NULL;
	bool hashed = false;
	uint64_t stack = 0;
	if (busy || atomic_load(&capture_open) || !sw_confirm_recorder->inside())
		return NULL;
	for (uint32_t i = 0; i < plan->sites; i++) {
		if (plan->site[i].api != id)
			continue;
		if (plan->site[i].stack == SW_PLAN_ANY) {
			any = &plan->site[i];
			continue;
		}
		stack = hashed ? stack : sw_places_stack();
		hashed = true;
		if (plan->site[i].stack == stack)
			return &plan->site[i];
	}
	return any;
}

const struct sw_plan_site *sw_savings_site(uint32_t id)
{
	return sw_confirm_plan.changes.dry ? NULL : find_site(id);
}

/* The site of the plan that this call is, by its stack; NULL: none.  Until sw_savings_leave() calls are ours. */
const struct sw_plan_site *sw_savings_enter(uint32_t id)
{
	const struct sw_plan_site *site = find_site(id);
	if (site && site->stack != SW_PLAN_ANY)
		marks_call((uint32_t)(site - sw_confirm_plan.changes.site));
	if (sw_confirm_plan.changes.dry)
		return NULL;
	busy |= site != NULL;
	return site;
}

void sw_savings_leave(const struct sw_plan_site *site, bool changed)
{
	const size_t at = (size_t)(site - sw_confirm_plan.changes.site);
	atomic_fetch_add(changed ? &site_counts[at].changed : &site_counts[at].passed, 1);
	busy = false;
}

/* Writes how many calls of each site were made otherwise. */
static void savings_tell_sites(void)
{
	for (uint32_t i = 0; i < sw_confirm_plan.changes.sites; i++)
		sw_result("changed %u %llu %llu", i, (unsigned long long)atomic_load(&site_counts[i].changed),
			  (unsigned long long)atomic_load(&site_counts[i].passed));
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

/* The program's stream that the plan calls by this index.  False: it is not there, or not yet. */
bool sw_savings_stream(uint32_t index, CUstream *stream)
{
	const uint64_t handle = atomic_load(&streams[index].handle);
	*stream = sw_confirm_plan.changes.stream[index].api ? (CUstream)(uintptr_t)handle : CU_STREAM_LEGACY;
	return *stream != NULL;
}

/* A stream was made: is it one of the plan, by its thread, call and count?  Then this is its handle in this run. */
static void savings_stream_made(const struct sw_rec *rec)
{
	const struct sw_plan_changes *plan = &sw_confirm_plan.changes;
	const uint32_t thread = sw_confirm_recorder->thread()->number;
	bool hashed = false;
	uint64_t stack = 0;
	for (uint32_t i = 0; i < plan->streams; i++) {
		const struct sw_plan_call *call = &plan->stream[i];
		if (!call->api || call->api != rec->api || call->thread != thread)
			continue;
		stack = hashed ? stack : sw_places_stack();
		hashed = true;
		if (call->stack == stack && ++streams[i].made == call->nth)
			atomic_store(&streams[i].handle, ((const struct sw_rec_stream *)(const void *)rec)->stream);
	}
}

/* The stream was destroyed: its handle may come again for another one. */
static void savings_stream_gone(uint64_t handle)
{
	for (uint32_t i = 0; i < sw_confirm_plan.changes.streams; i++) {
		uint64_t expected = handle;
		atomic_compare_exchange_strong(&streams[i].handle, &expected, 0);
	}
}

#define SLOTS		   64u
#define FEW_SLOTS	   8u /* where memory is pinned, and only what changes is copied */
#define LEAST_ROOM	   (64ull << 10)
#define STAGING_MOST_BYTES (512ull << 20)

struct slot {
	uint8_t *at;
	CUevent event; /* when it can be used again */
	bool used;
	bool owed;    /* the copy to the host has not been written */
	bool checked; /* what the device got comes back, and is to have this hash */
	uint64_t hash;
	void *to; /* of a copy to the host */
	uint64_t bytes;
};
static struct sw_lock staging_lock;
static struct slot slots[SLOTS];
static uint32_t n_slots, next;
static uint64_t room;
static _Atomic bool made, in_order;
static _Atomic uint32_t n_owed;
static uint64_t n_spoilt, n_unknown;

/* Does the plan send copies through pinned buffers? */
static bool plan_stages(void)
{
	for (uint32_t i = 0; i < sw_confirm_plan.changes.sites; i++) {
		const enum sw_run_change change = sw_confirm_plan.changes.site[i].change;
		if (change == SW_CHANGE_STAGE || change == SW_CHANGE_UNPIN)
			return true;
	}
	return false;
}

/* Pins the ring of buffers before the first work, as that takes time and is done once. */
static void staging_prepare(void)
{
	__typeof__(&cuMemHostAlloc) pin = SW_SAVINGS_REAL(cuMemHostAlloc);
	__typeof__(&cuEventCreate) make = SW_SAVINGS_REAL(cuEventCreate);
	const uint64_t wanted = sw_confirm_plan.changes.room;
	void *at = NULL;
	if (!wanted || wanted > STAGING_MOST_BYTES || !pin || !make || atomic_exchange(&made, true))
		return;
	room = wanted < LEAST_ROOM ? LEAST_ROOM : (wanted + 4095) / 4096 * 4096;
	const uint32_t wants = plan_stages() ? SLOTS : FEW_SLOTS;
	const uint32_t n = room * wants > STAGING_MOST_BYTES ? (uint32_t)(STAGING_MOST_BYTES / room) : wants;
	if (pin(&at, n * room, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS) {
		sw_result("failed staging 0");
		return;
	}
	/* So that its pages are there. */
	memset(at, 0, n * room);
	for (uint32_t i = 0; i < n; i++) {
		slots[i].at = (uint8_t *)at + i * room;
		if (make(&slots[i].event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
			return;
		n_slots = i + 1;
	}
}

/* Writes the bytes of a finished copy from our buffer to where the program wanted them. */
static void deliver_slot(struct slot *slot)
{
	memcpy(slot->to, slot->at, slot->bytes);
	slot->owed = false;
	atomic_fetch_sub(&n_owed, 1);
}

/* Copies the bytes of finished copies from their slots to where the program wanted them, in the order of the copies.
   is_done: cuEventQuery() for those that are finished, cuEventSynchronize() to wait for all. */
static void deliver_slots(CUresult (*CUDAAPI is_done)(CUevent))
{
	if (!atomic_load(&n_owed) || !is_done)
		return;
	const uint64_t mask = sw_lock_enter(&staging_lock);
	for (uint32_t i = 0; i < n_slots; i++) {
		struct slot *slot = &slots[(next + i) % n_slots];
		if (slot->owed && is_done(slot->event) == CUDA_SUCCESS)
			deliver_slot(slot);
	}
	sw_lock_leave(&staging_lock, mask);
}

/* After a wait or a query of the host, which may now read what copies brought: delivers those that are finished. */
static void staging_deliver(void)
{
	deliver_slots(SW_SAVINGS_REAL(cuEventQuery));
}

/* Waits for all copies that go through slots, and delivers them. */
static void staging_finish(void)
{
	deliver_slots(SW_SAVINGS_REAL(cuEventSynchronize));
}

/* The program may learn of work in ways that are not seen: from now on copies are finished in order. */
static void staging_in_order(void)
{
	if (!atomic_exchange(&in_order, true))
		staging_finish();
}

/* A hash of any number of bytes. */
static uint64_t hash_of_bytes(const uint8_t *at, uint64_t bytes)
{
	const uint64_t words = bytes & ~7ull;
	return sw_hash_bytes(words ? sw_hash_words(at, words) : SW_FNV_START, at + words, bytes - words);
}

/* Compares the bytes that came back to a slot with their hash, and counts those that differ. */
static void compare_slot(struct slot *slot)
{
	n_spoilt += hash_of_bytes(slot->at, slot->bytes) != slot->hash;
	slot->checked = false;
}

/* Compares what has come back. */
static void staging_compare(void)
{
	__typeof__(&cuEventQuery) ask = SW_SAVINGS_REAL(cuEventQuery);
	const uint64_t mask = sw_lock_enter(&staging_lock);
	for (uint32_t i = 0; i < n_slots && ask; i++)
		if (slots[i].checked && ask(slots[i].event) == CUDA_SUCCESS)
			compare_slot(&slots[i]);
	sw_lock_leave(&staging_lock, mask);
}

/* How many checked copies brought other bytes than the memory held (*spoilt), and of how many that is not known. */
static void staging_spoilt(uint64_t *spoilt, uint64_t *unknown)
{
	const uint64_t mask = sw_lock_enter(&staging_lock);
	*spoilt = n_spoilt;
	*unknown = n_unknown;
	for (uint32_t i = 0; i < n_slots; i++)
		*unknown += slots[i].checked;
	sw_lock_leave(&staging_lock, mask);
}

/* The slot of the ring that was used longest ago, after its copy is done.  NULL: there is no ring. */
static struct slot *take_slot(void)
{
	__typeof__(&cuEventSynchronize) wait = SW_SAVINGS_REAL(cuEventSynchronize);
	struct slot *slot = n_slots ? &slots[next] : NULL;
	if (!slot || (slot->used && (!wait || wait(slot->event) != CUDA_SUCCESS)))
		return NULL;
	if (slot->owed)
		deliver_slot(slot);
	if (slot->checked)
		compare_slot(slot);
	next = (next + 1) % n_slots;
	slot->used = true;
	return slot;
}

/* Runs as a host function after a copy to the host: the program's memory gets its bytes in stream order. */
static void CUDA_CB bring_bytes(void *arg)
{
	const struct slot *slot = arg;
	memcpy(slot->to, slot->at, slot->bytes);
}

/* Copies to the device from the slot, into which the bytes are taken at once. */
static CUresult to_device(struct slot *slot, const struct sw_savings_copy *c)
{
	__typeof__(&cuMemcpyHtoDAsync_v2) copy = SW_SAVINGS_REAL(cuMemcpyHtoDAsync_v2);
	if (!copy)
		return CUDA_ERROR_NOT_SUPPORTED;
	memcpy(slot->at, (const void *)(uintptr_t)c->src, c->bytes);
	return copy(c->dst, slot->at, c->bytes, c->stream);
}

/* Copies from the device to the slot; the program's memory gets the bytes later. */
static CUresult to_host(struct slot *slot, const struct sw_savings_copy *c)
{
	__typeof__(&cuMemcpyDtoHAsync_v2) copy = SW_SAVINGS_REAL(cuMemcpyDtoHAsync_v2);
	__typeof__(&cuLaunchHostFunc) then = SW_SAVINGS_REAL(cuLaunchHostFunc);
	slot->to = (void *)(uintptr_t)c->dst;
	slot->bytes = c->bytes;
	if (!copy || !then)
		return CUDA_ERROR_NOT_SUPPORTED;
	const CUresult status = copy(slot->at, c->src, c->bytes, c->stream);
	if (status || atomic_load(&in_order))
		return status ? status : then(c->stream, bring_bytes, slot);
	slot->owed = true;
	atomic_fetch_add(&n_owed, 1);
	return CUDA_SUCCESS;
}

/* Is this memory that CUDA does not know? */
static bool staging_pageable(uint64_t address)
{
	__typeof__(&cuPointerGetAttribute) ask = SW_SAVINGS_REAL(cuPointerGetAttribute);
	CUmemorytype type = 0;
	return ask && ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)address) == CUDA_ERROR_INVALID_VALUE;
}

/* Is this device memory? */
static bool on_device(uint64_t address)
{
	__typeof__(&cuPointerGetAttribute) ask = SW_SAVINGS_REAL(cuPointerGetAttribute);
	CUmemorytype type = 0;
	return ask && ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)address) == CUDA_SUCCESS &&
	       type == CU_MEMORYTYPE_DEVICE;
}

/* Makes a copy through a pinned buffer.  False: it was not made, or only in part.  From the host to the device, or to
   pageable memory of the host: pinned memory can be read at once by a program that knows of the copy. */
static bool staging_copy(const struct sw_savings_copy *c)
{
	__typeof__(&cuEventRecord) record = SW_SAVINGS_REAL(cuEventRecord);
	const bool from = !on_device(c->src), to = staging_pageable(c->dst);
	if (from == to || !on_device(from ? c->dst : c->src) || !c->bytes || c->bytes > room || !record)
		return false;
	const uint64_t mask = sw_lock_enter(&staging_lock);
	struct slot *slot = take_slot();
	bool good = slot && (from ? to_device(slot, c) : to_host(slot, c)) == CUDA_SUCCESS;
	if (slot && record(slot->event, c->stream) != CUDA_SUCCESS) {
		/* When the slot can be used again is unknown. The call is made as it is, and brings the bytes
		   itself. */
		atomic_fetch_sub(&n_owed, slot->owed);
		slot->owed = good = false;
		room = 0;
	}
	sw_lock_leave(&staging_lock, mask);
	return good;
}

/* Copies back what a copy brought to the device, to compare it with these bytes of the host.  False: there is no room.
 */
static bool staging_check(const struct sw_savings_copy *c, uint64_t hash)
{
	__typeof__(&cuMemcpyDtoHAsync_v2) copy = SW_SAVINGS_REAL(cuMemcpyDtoHAsync_v2);
	__typeof__(&cuEventRecord) record = SW_SAVINGS_REAL(cuEventRecord);
	const uint64_t mask = sw_lock_enter(&staging_lock);
	struct slot *slot = c->bytes <= room && copy && record ? take_slot() : NULL;
	const bool good = slot && copy(slot->at, c->dst, c->bytes, c->stream) == CUDA_SUCCESS &&
			  record(slot->event, c->stream) == CUDA_SUCCESS;
	if (good) {
		slot->checked = true;
		slot->hash = hash;
		slot->bytes = c->bytes;
	}
	n_unknown += !good;
	sw_lock_leave(&staging_lock, mask);
	return good;
}

/*
 * Pageable memory that the program copies to the device again and again: it is pinned at its first copy, and then the
 * copies are asynchronous, as they are in the program that allocates it pinned.  The host may then write it before the
 * copy is done, and memory that is freed and allocated again has other pages at its address than those that are pinned.
 * So a few words of each copy are compared with those of the one before, and in the run whose results are checked all
 * bytes that the device got are compared with what the memory held when the call was made.
 */

#define RANGES		  256u
#define PINNED_MOST_BYTES (8ull << 30)
#define PAGE		  sw_arch_page_bytes()
#define SAMPLES		  512u

static struct sw_lock pinned_lock;
static struct range {
	uint64_t at, bytes; /* bytes 0: free */
	uint64_t words;	    /* hash of some of them */
	bool pinned;	    /* else it is copied through the ring */
} ranges[RANGES];
static uint64_t pinned_bytes;
static _Atomic uint64_t n_ranges, copies, refilled;

static uint64_t low_of(uint64_t at)
{
	return at / PAGE * PAGE;
}

static uint64_t high_of(uint64_t at, uint64_t bytes)
{
	return (at + bytes + PAGE - 1) / PAGE * PAGE;
}

/* A hash of some words of the memory, spread evenly, by which a new content is found out. */
static uint64_t words_of(uint64_t at, uint64_t bytes)
{
	const uint64_t words = bytes / sizeof(uint64_t), step = words / SAMPLES + 1;
	const uint64_t from = (at + 7) & ~7ull;
	uint64_t hash = SW_FNV_START;
	for (uint64_t i = 0; from + (i + 1) * 8 <= at + bytes; i += step)
		hash = sw_hash_u64(hash ^ ((const volatile uint64_t *)(uintptr_t)from)[i]) + hash;
	return hash;
}

/* The entry of these bytes, or a fresh one; NULL: all are taken. */
static struct range *find_pinned(uint64_t at, uint64_t bytes)
{
	struct range *slot = NULL;
	for (uint32_t i = 0; i < RANGES; i++) {
		if (ranges[i].bytes == bytes && ranges[i].at == at)
			return &ranges[i];
		slot = ranges[i].bytes ? slot : &ranges[i];
	}
	if (slot)
		*slot = (struct range){.at = at};
	return slot;
}

/* Pins the memory if it is pageable; the time counts as what the change does once. */
static void pin_range(struct range *range, uint64_t bytes)
{
	__typeof__(&cuMemHostRegister_v2) enlist = SW_SAVINGS_REAL(cuMemHostRegister_v2);
	const uint64_t low = low_of(range->at), high = high_of(range->at, bytes), begun = sw_sys_monotonic();
	range->bytes = bytes;
	if (!enlist || pinned_bytes + bytes > PINNED_MOST_BYTES || !staging_pageable(range->at) ||
	    enlist((void *)(uintptr_t)low, high - low, CU_MEMHOSTREGISTER_PORTABLE) != CUDA_SUCCESS)
		return;
	range->pinned = true;
	range->words = words_of(range->at, bytes);
	pinned_bytes += bytes;
	atomic_fetch_add(&n_ranges, 1);
	marks_once(sw_sys_monotonic() - begun);
}

/* Makes the memory pageable again, once copies from it, which may still run, are done. */
static void unpin_range(struct range *range)
{
	__typeof__(&cuMemHostUnregister) delist = SW_SAVINGS_REAL(cuMemHostUnregister);
	__typeof__(&cuCtxSynchronize) wait = SW_SAVINGS_REAL(cuCtxSynchronize);
	if (wait)
		wait();
	if (delist)
		delist((void *)(uintptr_t)low_of(range->at));
	range->pinned = false;
	pinned_bytes -= range->bytes;
}

/* Is the memory pinned, and does it hold the same words as then?  If it was filled again it is unpinned, and stays
   so. */
static bool range_ready(struct range *range, uint64_t bytes)
{
	if (!range->bytes)
		pin_range(range, bytes);
	if (!range->pinned)
		return false;
	if (range->words == words_of(range->at, bytes))
		return true;
	atomic_fetch_add(&refilled, 1);
	unpin_range(range);
	return false;
}

/* A copy of pageable memory to the device, from memory that is pinned for it.  False: it was not made. */
static bool pinned_copy(const struct sw_savings_copy *c)
{
	__typeof__(&cuMemcpyHtoDAsync_v2) copy = SW_SAVINGS_REAL(cuMemcpyHtoDAsync_v2);
	if (!copy || !c->bytes || !sw_own_stream_device(c->dst))
		return false;
	const uint64_t mask = sw_lock_enter(&pinned_lock);
	struct range *range = find_pinned(c->src, c->bytes);
	const bool good = range && range_ready(range, c->bytes);
	sw_lock_leave(&pinned_lock, mask);
	if (!good)
		return false;
	const uint64_t hash =
		sw_confirm_plan.changes.outputs ? hash_of_bytes((const uint8_t *)(uintptr_t)c->src, c->bytes) : 0;
	if (copy(c->dst, (const void *)(uintptr_t)c->src, c->bytes, c->stream) != CUDA_SUCCESS)
		return false;
	if (sw_confirm_plan.changes.outputs)
		staging_check(c, hash);
	atomic_fetch_add(&copies, 1);
	return true;
}

/* Is it memory that is pinned here? */
static bool pinned_has(uint64_t address)
{
	bool has = false;
	if (!atomic_load(&n_ranges))
		return false;
	const uint64_t mask = sw_lock_enter(&pinned_lock);
	for (uint32_t i = 0; i < RANGES && !has; i++)
		has = ranges[i].pinned && address >= low_of(ranges[i].at) &&
		      address < high_of(ranges[i].at, ranges[i].bytes);
	sw_lock_leave(&pinned_lock, mask);
	return has;
}

/* Unpins what we pinned of these pages: the program pins them itself, or reads them after a copy. */
void sw_pinned_release(const void *at, uint64_t bytes)
{
	const uint64_t low = low_of((uintptr_t)at), high = high_of((uintptr_t)at, bytes);
	if (!atomic_load(&n_ranges))
		return;
	const uint64_t mask = sw_lock_enter(&pinned_lock);
	for (uint32_t i = 0; i < RANGES; i++)
		if (ranges[i].pinned && low_of(ranges[i].at) < high && high_of(ranges[i].at, ranges[i].bytes) > low)
			unpin_range(&ranges[i]);
	sw_lock_leave(&pinned_lock, mask);
}

/* Writes how much memory was pinned, and whether copies from it brought what it held. */
static void pinned_end(void)
{
	uint64_t spoilt, unknown;
	staging_spoilt(&spoilt, &unknown);
	if (atomic_load(&copies))
		sw_result("pinned %llu %llu %llu %llu %llu", (unsigned long long)atomic_load(&n_ranges),
			  (unsigned long long)atomic_load(&copies), (unsigned long long)spoilt,
			  (unsigned long long)unknown, (unsigned long long)atomic_load(&refilled));
}

/*
 * How long the run took: from the first work for a device to the end of the last call.  What comes before (starting
 * CUDA, loading code) and after it (unloading) differs more from run to run than what is to be measured.
 */

static _Atomic uint64_t first_ns, last_ns, before_us;
static _Atomic bool installed, prepared, begun;
static __thread bool timing_counts __attribute__((tls_model("initial-exec")));
static __thread bool waits __attribute__((tls_model("initial-exec")));
static __thread bool waits_for_all __attribute__((tls_model("initial-exec")));

/* Does the call give a device something to do? */
static bool is_work(const struct sw_rec *rec)
{
	switch (rec->kind) {
	case SW_REC_LAUNCH:
	case SW_REC_COPY:
	case SW_REC_COPY_ND:
	case SW_REC_SET:
	case SW_REC_GRAPH_LAUNCH:
	case SW_REC_HOST_FUNC:
		return true;
	default:
		return false;
	}
}

/* Notes the begin of the first work, and what the call in progress waits for. */
static void time_call(const struct sw_rec *rec)
{
	uint64_t never = 0;
	timing_counts = rec->kind != SW_REC_CONTEXT_OP && rec->kind != SW_REC_CODE_UNLOAD;
	waits |= rec->flags & SW_RF_BEGIN || rec->kind == SW_REC_SYNC || rec->kind == SW_REC_QUERY ||
		 rec->kind == SW_REC_FREE || rec->kind == SW_REC_CONFIG || rec->kind == SW_REC_CODE_UNLOAD;
	waits_for_all |=
		rec->kind == SW_REC_SYNC && ((const struct sw_rec_sync *)(const void *)rec)->what == SW_SYNC_CONTEXT;
	if (!is_work(rec) || atomic_load(&first_ns))
		return;
	/* Not earlier: programs ask for the limit that there is, and add to it. */
	if (!atomic_exchange(&begun, true))
		sw_limits_prepare();
	atomic_store(&before_us, sw_result_us());
	atomic_compare_exchange_strong(&first_ns, &never, sw_sys_monotonic());
}

/* Does the work that a change needs once, before the first work.  A call that makes something shows that a context is
   there. */
static void prepare_buffers(const struct sw_rec *rec)
{
	const bool makes =
		rec->kind == SW_REC_ALLOC || rec->kind == SW_REC_STREAM_CREATE || rec->kind == SW_REC_EVENT_CREATE;
	if (!is_work(rec) && (!makes || rec->status))
		return;
	if (atomic_exchange(&prepared, true))
		return;
	staging_prepare();
}

/* Keeps streams and fences up to date with a call that makes, destroys or uses a stream. */
static void note_streams(const struct sw_rec *rec, CUstream stream)
{
	const uint64_t handle = ((const struct sw_rec_stream *)(const void *)rec)->stream;
	if (rec->kind == SW_REC_STREAM_CREATE && !rec->status) {
		savings_stream_made(rec);
	} else if (rec->kind == SW_REC_STREAM_DESTROY) {
		savings_stream_gone(handle);
		sw_fences_stream_gone((CUstream)(uintptr_t)handle);
	} else if (is_work(rec) || rec->kind == SW_REC_MEM_OP || rec->kind == SW_REC_OTHER ||
		   rec->kind == SW_REC_UNCLASSIFIED) {
		sw_fences_work(stream);
	}
}

/* When a context ends: gives up fences and kept memory, which may be its own. */
static void context_op(const struct sw_rec *rec)
{
	const struct sw_rec_context_op *o = (const struct sw_rec_context_op *)(const void *)rec;
	if (o->op != SW_CONTEXT_DESTROY && o->op != SW_CONTEXT_RESET)
		return;
	sw_fences_break();
	sw_kept_forget();
}

/* For each record, before its call is made: keeps the streams' order, buffers and times up to date. */
void sw_savings_record(const struct sw_rec *rec, CUstream stream, bool capturing)
{
	if (!atomic_exchange(&installed, true))
		sw_savings_install();
	atomic_store(&capture_open, capturing);
	if (!capturing) {
		prepare_buffers(rec);
		note_streams(rec, stream);
	}
	if (rec->kind == SW_REC_CONTEXT_OP)
		context_op(rec);
	if (rec->kind == SW_REC_HOST_FUNC || rec->kind == SW_REC_MEM_OP || rec->kind == SW_REC_OTHER ||
	    rec->kind == SW_REC_UNCLASSIFIED)
		staging_in_order();
	time_call(rec);
	if (sw_confirm_plan.changes.outputs && !capturing)
		sw_explore_before(rec, stream);
}

/* After the call: delivers copies that went through our buffers if the call was a wait, and compares outputs where the
   plan asks for it. */
void sw_savings_left(int status)
{
	if (sw_confirm_plan.changes.outputs)
		staging_finish();
	else if (waits)
		staging_deliver();
	if (sw_confirm_plan.changes.outputs && waits)
		staging_compare();
	waits = false;
	marks_left(waits_for_all && !status);
	waits_for_all = false;
	if (timing_counts)
		atomic_store(&last_ns, sw_sys_monotonic());
	timing_counts = false;
	if (sw_confirm_plan.changes.outputs)
		sw_explore_left(status);
}

/* Writes what was changed, how often, and the time from the first call to the last, for `syncwatch confirm`. */
void sw_savings_end(void)
{
	const uint64_t first = atomic_load(&first_ns), last = atomic_load(&last_ns);
	if (sw_confirm_plan.changes.outputs)
		sw_explore_end();
	savings_tell_sites();
	marks_end(last);
	pinned_end();
	sw_host_uses_end();
	sw_result("span %llu %llu", (unsigned long long)(first && last > first ? last - first : 0),
		  (unsigned long long)atomic_load(&before_us));
}

/* Copies that are made otherwise: those of planned sites, and those of memory that the program pins and the plan
   leaves pageable. */

/* May a copy to these bytes go on while the host does?  Only if the guard sees each use of their pages. */
bool sw_savings_may_be_asynchronous(const struct sw_plan_site *site, uint64_t address, uint64_t bytes)
{
	return site->change == SW_CHANGE_ASYNC && sw_confirm_plan.changes.guard == SW_PLAN_GUARDED &&
	       sw_host_uses_whole_pages(address, bytes) && !staging_pageable(address);
}

/* Makes a copy to the host that the program waits for without the wait.  False: not made. */
static bool copy_asynchronously(const struct sw_plan_site *site, const struct sw_savings_copy *c)
{
	__typeof__(&cuMemcpyDtoHAsync_v2) copy = SW_SAVINGS_REAL(cuMemcpyDtoHAsync_v2);
	return copy && sw_savings_may_be_asynchronous(site, c->dst, c->bytes) &&
	       copy((void *)(uintptr_t)c->dst, c->src, c->bytes, c->stream) == CUDA_SUCCESS;
}

/* Makes a copy within device memory on a stream of ours.  False: not made. */
static bool on_own_stream(const struct sw_plan_site *site, const struct sw_savings_copy *c)
{
	__typeof__(&cuMemcpyDtoDAsync_v2) copy = SW_SAVINGS_REAL(cuMemcpyDtoDAsync_v2);
	CUstream own;
	return copy && sw_own_stream_device(c->dst) && sw_own_stream_device(c->src) &&
	       sw_own_stream(site, c->stream, &own) && copy(c->dst, c->src, c->bytes, own) == CUDA_SUCCESS;
}

/* Makes a copy as the plan says: pinned, through buffers of ours, on another stream, or asynchronously. */
bool sw_savings_copy(uint32_t id, const struct sw_savings_copy *copy)
{
	const struct sw_plan_site *site = sw_savings_enter(id);
	bool changed = false;
	if (atomic_load(&capture_open))
		return false;
	/* Memory that a copy writes stays pageable: the program may read it when the call returns. */
	sw_pinned_release((const void *)(uintptr_t)copy->dst, copy->bytes);
	if (!site)
		return (sw_unpinned_has(copy->src) || sw_unpinned_has(copy->dst) || pinned_has(copy->src)) &&
		       staging_copy(copy);
	if (site->change == SW_CHANGE_PIN)
		changed = pinned_copy(copy) ||
			  ((staging_pageable(copy->src) || pinned_has(copy->src)) && staging_copy(copy));
	else if (site->change == SW_CHANGE_STAGE)
		changed = staging_copy(copy);
	else if (site->change == SW_CHANGE_OWN)
		changed = on_own_stream(site, copy);
	else if (site->change == SW_CHANGE_ASYNC)
		changed = copy_asynchronously(site, copy);
	sw_savings_leave(site, changed);
	return changed;
}
