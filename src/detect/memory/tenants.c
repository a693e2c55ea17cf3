/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/memory/tenants.h"

#include <stdlib.h>
#include <string.h>

/* Ended blocks that are kept for late accesses at most; an older one is not found, and its accesses count as those of
   memory that nothing describes. */
#define MAX_ENDED  (1u << 20)
#define MANY_ENDED 1024u

struct sw_tenant *sw_tenant_keep(struct sw_tenant *tenant)
{
	if (tenant)
		tenant->refs++;
	return tenant;
}

void sw_tenant_drop(struct sw_tenant *tenant)
{
	if (tenant && !--tenant->refs)
		free(tenant);
}

static struct sw_tenant_call call_of(const struct sw_access *call)
{
	return (struct sw_tenant_call){.seq = call->seq,
				       .t_ns = call->t_ns,
				       .thread = call->thread,
				       .stack = call->stack,
				       .nvtx = call->nvtx,
				       .device = call->device,
				       .api = call->api,
				       .flags = call->flags};
}

static void drop_ended(struct sw_tenancy *tenancy, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sw_tenant_drop(tenancy->ended.at[i]);
	tenancy->ended.n -= n;
	if (n)
		memmove(tenancy->ended.at, tenancy->ended.at + n, tenancy->ended.n * sizeof *tenancy->ended.at);
}

bool sw_tenancy_is_long(const struct sw_tenancy *tenancy)
{
	return tenancy->ended.n > MANY_ENDED + 2 * tenancy->trimmed;
}

void sw_tenancy_trim(struct sw_tenancy *tenancy, uint64_t oldest)
{
	size_t n = 0;
	while (n < tenancy->ended.n && tenancy->ended.at[n]->to <= oldest)
		n++;
	if (tenancy->ended.n - n > MAX_ENDED)
		n = tenancy->ended.n - MAX_ENDED / 2;
	drop_ended(tenancy, n);
	tenancy->trimmed = tenancy->ended.n;
}

static void end(struct sw_tenancy *tenancy, struct sw_tenant *tenant, const struct sw_access *call)
{
	sw_intervals_remove(&tenancy->live, &tenant->at);
	tenant->to = *tenancy->now;
	if (call)
		tenant->gone = call_of(call);
	*sw_vec_push(&tenancy->ended) = tenant; /* with the reference of the living */
}

void sw_tenants_leave(struct sw_tenancy *tenancy, uint64_t lo, uint64_t hi)
{
	struct sw_interval *at;
	while ((at = sw_intervals_from(&tenancy->live, lo)) && at->lo < hi)
		end(tenancy, (struct sw_tenant *)at, NULL);
}

void sw_tenancy_forget(struct sw_tenancy *tenancy)
{
	sw_tenants_leave(tenancy, 0, UINT64_MAX);
	drop_ended(tenancy, tenancy->ended.n);
	tenancy->trimmed = 0;
}

void sw_tenancy_free(struct sw_tenancy *tenancy)
{
	sw_tenancy_forget(tenancy);
	free(tenancy->ended.at);
}

struct sw_tenant *sw_tenant_begin(struct sw_tenancy *tenancy, uint64_t address, uint64_t bytes,
				  const struct sw_access *call)
{
	if (!bytes || bytes > UINT64_MAX - address)
		return NULL;
	sw_tenants_leave(tenancy, address, address + bytes);
	struct sw_tenant *tenant = sw_calloc(1, sizeof *tenant);
	tenant->at.lo = address;
	tenant->at.hi = address + bytes;
	tenant->refs = 1;
	tenant->number = ++tenancy->made;
	tenant->from = *tenancy->now;
	tenant->to = UINT64_MAX;
	tenant->born = call_of(call);
	sw_intervals_insert(&tenancy->live, &tenant->at);
	return tenant;
}

struct sw_tenant *sw_tenant_end(struct sw_tenancy *tenancy, uint64_t address, const struct sw_access *call)
{
	struct sw_interval *at = sw_intervals_from(&tenancy->live, address);
	if (!at || at->lo != address)
		return NULL;
	end(tenancy, (struct sw_tenant *)at, call);
	return (struct sw_tenant *)at;
}

static bool holds(const struct sw_tenant *tenant, uint64_t address, uint64_t step)
{
	return tenant->at.lo <= address && address < tenant->at.hi && tenant->from <= step;
}

struct sw_tenant *sw_tenant_at(const struct sw_tenancy *tenancy, uint64_t address, uint64_t step)
{
	struct sw_tenant *tenant = (struct sw_tenant *)sw_intervals_from(&tenancy->live, address);
	if (tenant && holds(tenant, address, step))
		return tenant;
	for (size_t i = tenancy->ended.n; i-- > 0;) {
		tenant = tenancy->ended.at[i];
		if (tenant->to <= step)
			break;
		if (holds(tenant, address, step))
			return tenant;
	}
	return NULL;
}

struct sw_access sw_tenant_access(const struct sw_tenant *tenant, enum sw_role role)
{
	const struct sw_tenant_call *call = role == SW_FREE ? &tenant->gone : &tenant->born;
	return (struct sw_access){
		.role = role,
		.kind = SW_REC_ANNOTATION,
		.api = call->api,
		.flags = call->flags,
		.nvtx = call->nvtx,
		.seq = call->seq,
		.t_ns = call->t_ns,
		.thread = call->thread,
		.stack = call->stack,
		.device = call->device,
		.param = -1,
		.ranged = true,
		.extent_known = true,
		.address = tenant->at.lo,
		.bytes = tenant->at.hi - tenant->at.lo,
		.evidence = SW_EV_EXACT,
	};
}
