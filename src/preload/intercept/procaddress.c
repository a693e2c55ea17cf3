/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Second way in: pointers that the driver returns itself. cudart, shared or static, gets all of its functions this way,
 * with flag 0 for the legacy and 2 for the per-thread default stream; the returned pointer identifies the function.
 */
#include "preload/platform/seldom.h"

#include "preload/intercept/hook.h"
#include "preload/intercept/requesters.h"
#include "preload/intercept/wrappers.h"

#define EXPORT __attribute__((visibility("default")))

static void exchange(const char *symbol, void **pfn, int version, const void *caller, const void *from)
{
	if (!pfn || !*pfn || !symbol)
		return;
	*pfn = sw_driver_exchange(symbol, *pfn, caller, from);
	sw_requester_version(caller, (uint32_t)version);
}

EXPORT CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags);
CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
	__typeof__(&cuGetProcAddress) real = (__typeof__(real))sw_driver_function(SW_ID_cuGetProcAddress);
	CUresult status;

	if (!real)
		return SW_NO_DRIVER;
	status = real(symbol, pfn, cudaVersion, flags);
	if (status == CUDA_SUCCESS)
		exchange(symbol, pfn, cudaVersion, __builtin_return_address(0), (const void *)real);
	return status;
}

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
				    CUdriverProcAddressQueryResult *symbolStatus);
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *symbolStatus)
{
	__typeof__(&cuGetProcAddress_v2) real = (__typeof__(real))sw_driver_function(SW_ID_cuGetProcAddress_v2);
	CUresult status;

	if (!real)
		return SW_NO_DRIVER;
	status = real(symbol, pfn, cudaVersion, flags, symbolStatus);
	if (status == CUDA_SUCCESS)
		exchange(symbol, pfn, cudaVersion, __builtin_return_address(0), (const void *)real);
	return status;
}
