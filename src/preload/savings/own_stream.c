/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work of planned sites on the legacy default stream goes to a stream of ours, in the order in which it comes.  That
 * nothing needs the order that goes away has been judged; here is seen to it that it touches no memory of the host,
 * which a wait for the legacy stream would cover.
 */
#include "preload/savings/savings.h"

#include <string.h>

#include "preload/platform/lock.h"

static struct sw_lock lock;
static CUstream own;
static CUcontext home;
static __thread bool of_host __attribute__((tls_model("initial-exec"))); /* the launch to come gets such an address */

static CUmemorytype type_of(uint64_t address)
{
	__typeof__(&cuPointerGetAttribute) ask = SW_SAVINGS_REAL(cuPointerGetAttribute);
	CUmemorytype type = 0;
	return ask && ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)address) == CUDA_SUCCESS ? type : 0;
}

static bool is_managed(uint64_t address)
{
	__typeof__(&cuPointerGetAttribute) ask = SW_SAVINGS_REAL(cuPointerGetAttribute);
	unsigned managed = 1;
	return !ask || ask(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, (CUdeviceptr)address) != CUDA_SUCCESS || managed;
}

bool sw_own_stream_device(uint64_t address)
{
	return type_of(address) == CU_MEMORYTYPE_DEVICE && !is_managed(address);
}

static bool plans_launches(void)
{
	for (uint32_t i = 0; i < sw_confirm_plan.changes.sites; i++)
		if (sw_confirm_plan.changes.site[i].change == SW_CHANGE_OWN)
			return true;
	return false;
}

void sw_own_stream_parameters(const void *block, size_t bytes)
{
	uint64_t word;
	of_host = false;
	if (!plans_launches())
		return;
	for (size_t at = 0; at + sizeof word <= bytes && !of_host; at += sizeof word) {
		memcpy(&word, (const char *)block + at, sizeof word);
		of_host = word > 0xffff && type_of(word) && !sw_own_stream_device(word);
	}
}

bool sw_own_stream_launch_may_move(void)
{
	return !of_host;
}

bool sw_own_stream(const struct sw_plan_site *site, CUstream from, CUstream *out)
{
	__typeof__(&cuStreamCreate) make = SW_SAVINGS_REAL(cuStreamCreate);
	__typeof__(&cuCtxGetCurrent) ask = SW_SAVINGS_REAL(cuCtxGetCurrent);
	CUcontext now = NULL;
	if (site->change != SW_CHANGE_OWN || (from && from != CU_STREAM_LEGACY) || !make || !ask ||
	    ask(&now) != CUDA_SUCCESS)
		return false;
	const uint64_t mask = sw_lock_enter(&lock);
	if (!own && make(&own, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS)
		home = now;
	const bool good = own && now == home;
	*out = own;
	sw_lock_leave(&lock, mask);
	return good;
}
