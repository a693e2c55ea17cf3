/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of streams: kept and returned. None orders anything, and but for the priority none has an effect here. */
#include "simcuda/sim.h"

#include <string.h>

/* The stream, if it has such an attribute. */
static CUresult find_attribute(CUstream handle, CUstreamAttrID id, struct sw_sim_stream **out)
{
	CUresult result = sw_sim_stream_find(handle, out);
	if (result)
		return result;
	switch ((int)id) {
	case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
	case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
	case CU_LAUNCH_ATTRIBUTE_PRIORITY:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
	case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* Attributes that were never set: no window, domain 0; of the domains the default one is 0 and the remote one 1. */
static void be_default(CUstreamAttrID id, CUstreamAttrValue *out)
{
	memset(out, 0, sizeof *out);
	if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)
		out->syncPolicy = CU_SYNC_POLICY_AUTO;
	else if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
		out->memSyncDomainMap.remote = 1;
}

CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID id, const CUstreamAttrValue *value)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	CUresult result = value ? find_attribute(handle, id, &s) : CUDA_ERROR_INVALID_VALUE;
	if (result)
		return result;
	if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
		s->priority = value->priority;
	s->attribute[id] = *value;
	s->attributes |= 1u << id;
	return CUDA_SUCCESS;
}

CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID id, CUstreamAttrValue *out)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	CUresult result = out ? find_attribute(handle, id, &s) : CUDA_ERROR_INVALID_VALUE;
	if (result)
		return result;
	if (s->attributes >> id & 1)
		*out = s->attribute[id];
	else
		be_default(id, out);
	if (id == CU_LAUNCH_ATTRIBUTE_PRIORITY)
		out->priority = s->priority;
	return CUDA_SUCCESS;
}

CUresult cuStreamCopyAttributes(CUstream to, CUstream from)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *dst, *src;
	CUresult result = sw_sim_stream_find(to, &dst);
	if (!result)
		result = sw_sim_stream_find(from, &src);
	if (result)
		return result;
	if (dst->object.ctx != src->object.ctx)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(dst->attribute, src->attribute, sizeof dst->attribute);
	dst->attributes = src->attributes;
	dst->priority = src->priority;
	return CUDA_SUCCESS;
}
