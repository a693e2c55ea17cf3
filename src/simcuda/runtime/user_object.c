/* SPDX-License-Identifier: Apache-2.0 */
/* User objects: one driver call each; flags are numbered alike. */
#include "simcuda/runtime/rt.h"

cudaError_t cudaUserObjectCreate(cudaUserObject_t *out, void *arg, cudaHostFn_t destroy, unsigned references,
				 unsigned flags)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuUserObjectCreate(out, arg, destroy, references, flags));
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuUserObjectRetain(object, count));
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuUserObjectRelease(object, count));
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuGraphRetainUserObject(graph, object, count, flags));
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count)
{
	SW_RT_ENTER;
	SW_RT_CALL(sw_rt_d->cuGraphReleaseUserObject(graph, object, count));
}
