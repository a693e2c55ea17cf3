/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/calls/content.h"

#include "preload/intercept/cuda_types.h"
#include "preload/intercept/driver.h"

/* Is this host memory that may be read here: neither a device's, which cannot be, nor managed, where a read would move
   pages or fault?  "Unlike cuPointerGetAttribute, this function will not return an error when the ptr encountered is
   not a valid CUDA pointer.  Instead, the attributes are assigned default NULL values" (CUDA driver API,
   cuPointerGetAttributes). */
static bool is_plain_host(CUdeviceptr at)
{
	__typeof__(&cuPointerGetAttributes) ask = SW_REAL(cuPointerGetAttributes);
	CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
	unsigned int type = 0, managed = 0;
	void *out[] = {&type, &managed};

	return ask && ask(2, what, out, at) == CUDA_SUCCESS && !managed && (!type || type == CU_MEMORYTYPE_HOST);
}

/* The bytes that a copy node takes from host memory, if they may be addresses that a kernel follows later: small single
   rows only. */
uint32_t sw_node_content(const struct sw_rec_copy_nd *copy, uint64_t *to)
{
	const uint64_t bytes = copy->width;

	if (copy->height != 1 || copy->depth != 1 || copy->src.side == SW_SIDE_ARRAY ||
	    copy->dst.side == SW_SIDE_ARRAY || bytes < sizeof(void *) || bytes > SW_COPY_CONTENT_MAX ||
	    !is_plain_host(copy->src.base))
		return 0;
	return sw_copy_pointers(to, (const void *)(uintptr_t)copy->src.base, (uint32_t)bytes) ? (uint32_t)bytes : 0;
}

/* Appends the bytes of a small copy from host memory to its record if they may be addresses, which a kernel may follow
   later. */
void sw_copy_content(struct sw_rec_copy *copy)
{
	if (copy->bytes < sizeof(uint32_t) || copy->bytes > SW_COPY_CONTENT_MAX || !is_plain_host(copy->src))
		return;
	if (sw_record_pointers(&copy->h, (const void *)(uintptr_t)copy->src, (uint32_t)copy->bytes))
		copy->flags |= SW_COPY_CONTENT;
}
