/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicators by their handle.  A table of fixed size: one that does not fit is unknown, and its collectives cannot
 * be compared with those of other ranks.
 */
#include "preload/nccl/nccl.h"
#include "preload/platform/lock.h"

#define MAX_COMMS 4096u

typedef int sw_nccl_ask(void *comm, int *value);

static struct {
	struct sw_lock lock;
	struct entry {
		void *handle; /* NULL: free; GONE: was taken, so searches continue */
		struct sw_nccl_comm comm;
		sw_nccl_ask *count, *rank; /* of its library */
	} at[MAX_COMMS];
} table;

#define GONE ((void *)1)

static uint32_t place_of(const void *handle)
{
	return (uint32_t)(((uintptr_t)handle >> 4) * 2654435761u) % MAX_COMMS;
}

static struct entry *find(const void *handle)
{
	for (uint32_t i = 0, at = place_of(handle); i < MAX_COMMS; i++, at = (at + 1) % MAX_COMMS) {
		if (table.at[at].handle == handle)
			return &table.at[at];
		if (!table.at[at].handle)
			return NULL;
	}
	return NULL;
}

void sw_nccl_comm_add(void *handle, uint64_t identity, uint32_t rank, uint32_t size, const void *caller)
{
	if (!handle)
		return;
	sw_nccl_ask *ask_count = (sw_nccl_ask *)(uintptr_t)sw_nccl_other("ncclCommCount", caller);
	sw_nccl_ask *ask_rank = (sw_nccl_ask *)(uintptr_t)sw_nccl_other("ncclCommUserRank", caller);
	const uint64_t mask = sw_lock_enter(&table.lock);
	struct entry *entry = find(handle);
	for (uint32_t i = 0, at = place_of(handle); !entry && i < MAX_COMMS; i++, at = (at + 1) % MAX_COMMS)
		if (!table.at[at].handle || table.at[at].handle == GONE)
			entry = &table.at[at];
	if (entry)
		*entry =
			(struct entry){handle, {.identity = identity, .rank = rank, .size = size}, ask_count, ask_rank};
	sw_lock_leave(&table.lock, mask);
}

static uint32_t ask(sw_nccl_ask *function, void *handle)
{
	int value = 0;
	return function && function(handle, &value) == 0 && value > 0 ? (uint32_t)value : 0;
}

/* For a communicator that did not block when it was made: NCCL answers once it is complete. */
static void complete(void *handle, const struct entry *known)
{
	const uint32_t size = ask(known->count, handle), rank = size ? ask(known->rank, handle) : 0;
	const uint64_t mask = sw_lock_enter(&table.lock);
	struct entry *entry = find(handle);
	if (entry && size) {
		entry->comm.size = size;
		entry->comm.rank = rank;
	}
	sw_lock_leave(&table.lock, mask);
}

struct sw_nccl_comm sw_nccl_comm_get(void *handle, bool call, bool split)
{
	struct sw_nccl_comm comm = {0};
	for (int attempt = 0; attempt < 2; attempt++) {
		const uint64_t mask = sw_lock_enter(&table.lock);
		struct entry *entry = handle ? find(handle) : NULL;
		const bool known = entry && entry->comm.size;
		const struct entry copy = entry ? *entry : (struct entry){0};
		if (entry && (known || attempt)) {
			comm = entry->comm;
			entry->comm.calls += call;
			entry->comm.splits += split;
		}
		sw_lock_leave(&table.lock, mask);
		if (!entry || known)
			break;
		if (!attempt)
			complete(handle, &copy);
	}
	return comm;
}

void sw_nccl_comm_remove(void *handle)
{
	const uint64_t mask = sw_lock_enter(&table.lock);
	struct entry *entry = handle ? find(handle) : NULL;
	if (entry)
		*entry = (struct entry){.handle = GONE};
	sw_lock_leave(&table.lock, mask);
}
