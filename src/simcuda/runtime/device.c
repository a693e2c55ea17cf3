/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: properties, attributes, limits, peers; texts of errors; entry points of the driver. */
#include "simcuda/runtime/rt.h"

#include <cuda_profiler_api.h>

/* The calls that need a driver but no context. */
#define WITHOUT_CONTEXT(call)                                                                                          \
	{                                                                                                              \
		cudaError_t result = sw_rt_load();                                                                     \
		return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->call);                                     \
	}

cudaError_t cudaDeviceGetAttribute(int *out, enum cudaDeviceAttr attribute, int device)
	WITHOUT_CONTEXT(cuDeviceGetAttribute(out, (CUdevice_attribute)attribute, device))

		cudaError_t cudaDeviceGetPCIBusId(char *out, int room, int device)
			WITHOUT_CONTEXT(cuDeviceGetPCIBusId(out, room, device))

				cudaError_t cudaDeviceGetByPCIBusId(int *out, const char *id)
					WITHOUT_CONTEXT(cuDeviceGetByPCIBusId(out, id))

						cudaError_t cudaDeviceCanAccessPeer(int *out, int device, int peer)
							WITHOUT_CONTEXT(cuDeviceCanAccessPeer(out, device, peer))

								cudaError_t
	cudaDeviceGetP2PAttribute(int *out, enum cudaDeviceP2PAttr attribute, int device, int peer)
		WITHOUT_CONTEXT(cuDeviceGetP2PAttribute(out, (CUdevice_P2PAttribute)attribute, device, peer))

			cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	SW_RT_ENTER;
	CUcontext ctx;
	cudaError_t result = sw_rt_primary(peer, &ctx);
	return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->cuCtxEnablePeerAccess(ctx, flags));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
	SW_RT_ENTER;
	CUcontext ctx;
	cudaError_t result = sw_rt_primary(peer, &ctx);
	return sw_rt_result(result ? result : (cudaError_t)sw_rt_d->cuCtxDisablePeerAccess(ctx));
}

cudaError_t cudaDeviceGetLimit(size_t *out, enum cudaLimit limit) SW_RT_FORWARD(cuCtxGetLimit(out, (CUlimit)limit))

	cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
		SW_RT_FORWARD(cuCtxSetLimit((CUlimit)limit, value))

			cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *out)
				SW_RT_FORWARD(cuCtxGetCacheConfig((CUfunc_cache *)out))

					cudaError_t
	cudaDeviceSetCacheConfig(enum cudaFuncCache config) SW_RT_FORWARD(cuCtxSetCacheConfig((CUfunc_cache)config))

		cudaError_t cudaCtxResetPersistingL2Cache(void) SW_RT_FORWARD(cuCtxResetPersistingL2Cache())

			cudaError_t cudaSetDeviceFlags(unsigned flags)
				WITHOUT_CONTEXT(cuDevicePrimaryCtxSetFlags(sw_rt_device(), flags))

					cudaError_t cudaGetDeviceFlags(unsigned *out)
{
	SW_RT_ENTER;
	int active;
	SW_RT_CALL(sw_rt_d->cuDevicePrimaryCtxGetState(sw_rt_device(), out, &active));
}

cudaError_t cudaChooseDevice(int *out, const struct cudaDeviceProp *wanted)
{
	if (!out || !wanted)
		return sw_rt_result(cudaErrorInvalidValue);
	*out = 0; /* all devices are alike */
	return cudaSuccess;
}

cudaError_t cudaProfilerStart(void)
{
	return cudaSuccess;
}

cudaError_t cudaProfilerStop(void)
{
	return cudaSuccess;
}

/* ---- errors ---- */

static const struct {
	cudaError_t code;
	const char *name, *text;
} errors[] = {
#define SW_SIM_ERROR(number, driver, runtime, text) {runtime, #runtime, text},
#define SW_SIM_RUNTIME_ERROR(number, runtime, text) {runtime, #runtime, text},
#include "simcuda/errors.def"
};

const char *cudaGetErrorName(cudaError_t code)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == code)
			return errors[i].name;
	return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t code)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].code == code)
			return errors[i].text;
	return "unrecognized error code";
}

/* ---- entry points ---- */

/* cudaEnableDefault means the flavour of the caller's own default stream. */
static cudaError_t entry_point(const char *symbol, void **out, unsigned version, unsigned long long flags,
			       bool per_thread, enum cudaDriverEntryPointQueryResult *status)
{
	static const enum cudaDriverEntryPointQueryResult said[] = {
		[CU_GET_PROC_ADDRESS_SUCCESS] = cudaDriverEntryPointSuccess,
		[CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND] = cudaDriverEntryPointSymbolNotFound,
		[CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT] = cudaDriverEntryPointVersionNotSufficent,
	};
	CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	cudaError_t result = sw_rt_load();
	if (result || !symbol || !out)
		return sw_rt_result(result ? result : cudaErrorInvalidValue);
	if (flags == cudaEnableDefault)
		flags = per_thread ? cudaEnablePerThreadDefaultStream : cudaEnableLegacyStream;
	CUresult got = sw_rt_d->cuGetProcAddress(symbol, out, (int)version, flags, &found);
	if (status)
		*status = said[found];
	/* A name that is not there is no error, only an answer. */
	return got == CUDA_ERROR_NOT_FOUND ? cudaSuccess : sw_rt_result((cudaError_t)got);
}

extern const struct sw_rt_driver *const sw_rt_per_thread;

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **out, unsigned version, unsigned long long flags,
					     enum cudaDriverEntryPointQueryResult *status)
{
	return entry_point(symbol, out, version, flags, sw_rt_d == sw_rt_per_thread, status);
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **out, unsigned long long flags,
				    enum cudaDriverEntryPointQueryResult *status)
{
	return entry_point(symbol, out, SW_CUDART_VERSION, flags, sw_rt_d == sw_rt_per_thread, status);
}
