/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and events of other processes: one driver call each.  The handles of both interfaces are the same bytes. */
#include "simcuda/runtime/rt.h"

#include <string.h>

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *out, void *p)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuIpcGetMemHandle((CUipcMemHandle *)out, (uintptr_t)p));
}

cudaError_t cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t handle, unsigned flags)
{
	CUipcMemHandle same;
	SW_RT_ENTER;
	memcpy(&same, &handle, sizeof same);
	SW_RT_CALL(sw_rt_d->cuIpcOpenMemHandle((CUdeviceptr *)out, same, flags));
}

cudaError_t cudaIpcCloseMemHandle(void *p)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuIpcCloseMemHandle((uintptr_t)p));
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *out, cudaEvent_t event)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuIpcGetEventHandle((CUipcEventHandle *)out, event));
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *out, cudaIpcEventHandle_t handle)
{
	CUipcEventHandle same;
	SW_RT_ENTER;
	memcpy(&same, &handle, sizeof same);
	SW_RT_CALL(sw_rt_d->cuIpcOpenEventHandle(out, same));
}
