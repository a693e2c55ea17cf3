/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that a caching allocator hands out of the memory that it keeps (PyTorch's, CuPy's): where each was, and when.
 *
 * A block begins and ends when the host says so, not at a point of a stream: the work that uses it goes on after its
 * end, and the allocator knows no more of that work than its own stream's order.  So a block has no access map of its
 * own: accesses stay in that of the allocation around it, each with the block that its pointer leads to, and those of
 * two blocks that had the same bytes meet there.
 *
 * Addresses are those of the one address space of all devices.  Not thread-safe.
 */
#ifndef SW_DETECT_MEMORY_TENANTS_H
#define SW_DETECT_MEMORY_TENANTS_H

#include "base/memory.h"
#include "detect/detect.h"
#include "detect/memory/intervals.h"

/* The call that handed a block out, or back; seq 0: it was not seen. */
struct sw_tenant_call {
	uint64_t seq, t_ns;
	uint32_t thread, stack, nvtx;
	int device;
	uint16_t api, flags;
};

struct sw_tenant {
	struct sw_interval at;
	uint32_t refs;
	uint32_t number;   /* 1, 2, ... in the order in which they were handed out */
	uint32_t mention;  /* index + 1 in the judgement's allocations, 0: no finding mentions it */
	uint64_t from, to; /* numbers of the records; to: UINT64_MAX while it lives */
	struct sw_tenant_call born, gone;
	uint64_t told;		  /* the reuse that was reported last of it (hazards/reused_blocks.h), 0 none ... */
	int told_as;		  /* ... enum sw_severity */
	bool one_stream;	  /* its allocator knows of no other: there is no record_stream() */
	uint32_t own, own_serial; /* the lane of the stream that it was handed out for; serial 0: not known */
};

struct sw_tenancy {
	const uint64_t *now; /* number of the record in hand */
	struct sw_intervals live;
	SW_VEC(struct sw_tenant *) ended; /* in the order of their ends: for accesses that are computed late */
	size_t trimmed;			  /* left by the last trim */
	uint32_t made;
};

void sw_tenancy_free(struct sw_tenancy *tenancy);
/* Records were lost: it is no longer known which block is where. */
void sw_tenancy_forget(struct sw_tenancy *tenancy);
/* NULL: it has no bytes. */
struct sw_tenant *sw_tenant_begin(struct sw_tenancy *tenancy, uint64_t address, uint64_t bytes,
				  const struct sw_access *call);
/* The block that was there; NULL none.  It is kept until the next trim. */
struct sw_tenant *sw_tenant_end(struct sw_tenancy *tenancy, uint64_t address, const struct sw_access *call);
/* The memory itself was freed. */
void sw_tenants_leave(struct sw_tenancy *tenancy, uint64_t lo, uint64_t hi);
/* The block at the address when the record of that number came; NULL none. */
struct sw_tenant *sw_tenant_at(const struct sw_tenancy *tenancy, uint64_t address, uint64_t step);
/* Is it time to trim?  Nothing asks for records before `oldest` any more. */
bool sw_tenancy_is_long(const struct sw_tenancy *tenancy);
void sw_tenancy_trim(struct sw_tenancy *tenancy, uint64_t oldest);

/* NULL is fine for both. */
struct sw_tenant *sw_tenant_keep(struct sw_tenant *tenant);
void sw_tenant_drop(struct sw_tenant *tenant);

/* One of the two that a finding is about, as its third side. */
struct sw_access sw_tenant_access(const struct sw_tenant *tenant, enum sw_role role);

#endif
