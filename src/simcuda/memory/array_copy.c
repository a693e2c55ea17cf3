/* SPDX-License-Identifier: Apache-2.0 */
/* One line of bytes into or out of an array; offsets in bytes. */
#include "simcuda/memory/copy.h"

static struct sw_sim_side host_side(const void *p)
{
	return (struct sw_sim_side){.type = CU_MEMORYTYPE_HOST, .address = (uintptr_t)p};
}

static struct sw_sim_side device_side(CUdeviceptr p)
{
	return (struct sw_sim_side){.type = CU_MEMORYTYPE_DEVICE, .address = p};
}

static struct sw_sim_side array_side(CUarray handle, size_t offset)
{
	return (struct sw_sim_side){.type = CU_MEMORYTYPE_ARRAY, .array = handle, .at = {offset}};
}

CUresult cuMemcpyHtoA_v2(CUarray dst, size_t offset, const void *src, size_t bytes)
{
	return sw_sim_copy(0, false, array_side(dst, offset), host_side(src), bytes, 1, 1);
}

CUresult cuMemcpyAtoH_v2(void *dst, CUarray src, size_t offset, size_t bytes)
{
	return sw_sim_copy(0, false, host_side(dst), array_side(src, offset), bytes, 1, 1);
}

CUresult cuMemcpyDtoA_v2(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes)
{
	return sw_sim_copy(0, false, array_side(dst, offset), device_side(src), bytes, 1, 1);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes)
{
	return sw_sim_copy(0, false, device_side(dst), array_side(src, offset), bytes, 1, 1);
}

CUresult cuMemcpyAtoA_v2(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset, size_t bytes)
{
	return sw_sim_copy(0, false, array_side(dst, dst_offset), array_side(src, src_offset), bytes, 1, 1);
}

CUresult cuMemcpyHtoAAsync_v2(CUarray dst, size_t offset, const void *src, size_t bytes, CUstream stream)
{
	return sw_sim_copy(stream, true, array_side(dst, offset), host_side(src), bytes, 1, 1);
}

CUresult cuMemcpyAtoHAsync_v2(void *dst, CUarray src, size_t offset, size_t bytes, CUstream stream)
{
	return sw_sim_copy(stream, true, host_side(dst), array_side(src, offset), bytes, 1, 1);
}
