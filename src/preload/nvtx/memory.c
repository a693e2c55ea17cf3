/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extension for memory.  NVTX says that a heap that is a suballocator may not be touched where no region is
 * registered (nvToolsExtMem.h, NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR): its regions are blocks as those of syncwatch.h,
 * registered and returned when the call is made, since NVTX knows no streams.  Regions of other heaps say nothing
 * about who may touch what: of them, only names are taken.
 */
#include <string.h>

#include "preload/platform/lock.h"
#include "preload/nvtx/nvtx.h"

#define MAX_HEAPS   256u
#define MAX_REGIONS 8192u /* of all heaps; further ones are no blocks */

static struct {
	struct sw_lock lock;
	const void *heaps[MAX_HEAPS]; /* suballocators; NULL a free place */
	uint32_t regions_n;
	struct region {
		const void *heap, *at;
	} regions[MAX_REGIONS];
} known;

/* Is the heap (its memory's address) a suballocator that is known?  *place: where; NULL finds a free place. */
static bool find_heap(const void *heap, uint32_t *place)
{
	for (*place = 0; *place < MAX_HEAPS; ++*place)
		if (known.heaps[*place] == heap)
			return true;
	return false;
}

/* ---- heaps ------------------------------------------------------------------------------------------------------- */

/* nvtxMemHeapRegister(): remembers a suballocator.  A heap's handle is the address of its memory. */
static nvtxMemHeapHandle_t heap_register(nvtxDomainHandle_t domain, const nvtxMemHeapDesc_t *desc)
{
	const nvtxMemVirtualRangeDesc_t *range =
		desc && desc->structSize >= sizeof *desc ? desc->typeSpecificDesc : NULL;
	uint32_t place;
	(void)domain;
	if (!range || desc->type != NVTX_MEM_TYPE_VIRTUAL_ADDRESS || desc->typeSpecificDescSize < sizeof *range ||
	    !range->ptr)
		return NVTX_MEM_HEAP_HANDLE_NO_TOOL;
	if (desc->usage == NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR) {
		uint64_t mask = sw_lock_enter(&known.lock);
		if (!find_heap(range->ptr, &place) && find_heap(NULL, &place))
			known.heaps[place] = range->ptr;
		sw_lock_leave(&known.lock, mask);
	}
	return (nvtxMemHeapHandle_t)(uintptr_t)range->ptr;
}

/* One region of the heap that is still registered, which is forgotten; NULL: there is none. */
static const void *take_region(const void *heap, const void *at)
{
	const void *taken = NULL;
	uint64_t mask = sw_lock_enter(&known.lock);
	for (uint32_t i = known.regions_n; i-- && !taken;) {
		struct region *r = &known.regions[i];
		if (at ? r->at != at : r->heap != heap)
			continue;
		taken = r->at;
		*r = known.regions[--known.regions_n];
	}
	sw_lock_leave(&known.lock, mask);
	return taken;
}

/* A region of a suballocator is returned: the block that it was has ended. */
static void end_block(const void *at)
{
	sw_nvtx_annotate(SYNCWATCH_BLOCK_END, at, 0, SYNCWATCH_HOST, 0, NULL);
}

/* nvtxMemHeapReset(): all regions of a heap end. */
static void heap_reset(nvtxDomainHandle_t domain, nvtxMemHeapHandle_t heap)
{
	const void *at;
	(void)domain;
	while (heap && (at = take_region(heap, NULL)))
		end_block(at);
}

/* The heap ends, with all of its regions. */
static void heap_unregister(nvtxDomainHandle_t domain, nvtxMemHeapHandle_t heap)
{
	uint32_t place;
	heap_reset(domain, heap);
	uint64_t mask = sw_lock_enter(&known.lock);
	if (heap && find_heap(heap, &place))
		known.heaps[place] = NULL;
	sw_lock_leave(&known.lock, mask);
}

/* ---- regions ----------------------------------------------------------------------------------------------------- */

/* Remembers a region of a suballocator.  False: its heap is none, so the region is no block. */
static bool add_region(const void *heap, const void *at)
{
	uint32_t place;
	uint64_t mask = sw_lock_enter(&known.lock);
	const bool block = heap && find_heap(heap, &place) && known.regions_n < MAX_REGIONS;
	if (block)
		known.regions[known.regions_n++] = (struct region){heap, at};
	sw_lock_leave(&known.lock, mask);
	return block;
}

/* Element `index` of an array of structures of the program's size, which may be longer than those that we know. */
static const void *element_at(const void *first, size_t index, size_t bytes)
{
	return (const char *)first + index * bytes;
}

/* Regions of a suballocator begin as blocks. */
static void regions_register(nvtxDomainHandle_t domain, const nvtxMemRegionsRegisterBatch_t *batch)
{
	(void)domain;
	if (!batch || batch->structSize < sizeof *batch || batch->regionType != NVTX_MEM_TYPE_VIRTUAL_ADDRESS ||
	    batch->regionDescElementSize < sizeof(nvtxMemVirtualRangeDesc_t))
		return;
	for (size_t i = 0; i < batch->regionCount; i++) {
		const nvtxMemVirtualRangeDesc_t *range =
			element_at(batch->regionDescElements, i, batch->regionDescElementSize);
		if (add_region(batch->heap, range->ptr))
			sw_nvtx_annotate(SYNCWATCH_BLOCK_BEGIN, range->ptr, range->size, SYNCWATCH_HOST, 0, NULL);
		if (batch->regionHandleElementsOut)
			batch->regionHandleElementsOut[i] = (nvtxMemRegionHandle_t)(uintptr_t)range->ptr;
	}
}

/* The region that a reference means. */
static const void *address_of(uint32_t type, nvtxMemRegionRef_t region)
{
	return type == NVTX_MEM_REGION_REF_TYPE_POINTER	 ? region.pointer
	       : type == NVTX_MEM_REGION_REF_TYPE_HANDLE ? (const void *)region.handle
							 : NULL;
}

/* nvtxMemRegionsUnregister(): regions end, and with them the blocks that they were. */
static void regions_unregister(nvtxDomainHandle_t domain, const nvtxMemRegionsUnregisterBatch_t *batch)
{
	(void)domain;
	if (!batch || batch->structSize < sizeof *batch || batch->refElementSize < sizeof(nvtxMemRegionRef_t))
		return;
	for (size_t i = 0; i < batch->refCount; i++) {
		const nvtxMemRegionRef_t *ref = element_at(batch->refElements, i, batch->refElementSize);
		const void *at = address_of(batch->refType, *ref);
		if (at && take_region(NULL, at))
			end_block(at);
	}
}

/* Names regions, as buffers. */
static void regions_name(nvtxDomainHandle_t domain, const nvtxMemRegionsNameBatch_t *batch)
{
	struct sw_nvtx_text text;
	(void)domain;
	if (!batch || batch->structSize < sizeof *batch || batch->regionElementSize < sizeof(nvtxMemRegionNameDesc_t))
		return;
	for (size_t i = 0; i < batch->regionCount; i++) {
		const nvtxMemRegionNameDesc_t *desc = element_at(batch->regionElements, i, batch->regionElementSize);
		const void *at = address_of(desc->regionRefType, desc->region);
		sw_nvtx_message(&text, (int32_t)desc->nameType, &desc->name);
		if (at && text.bytes)
			sw_nvtx_name(SW_NAME_BUFFER, (uint64_t)(uintptr_t)at, 0, &text);
	}
}

/* ---- attaching --------------------------------------------------------------------------------------------------- */

/* Functions that no tool implements do nothing (nvtxDetail/nvtxExtInit.h). A resize has no end in its description of
   the old region, and permissions are no business of ours. */
int sw_nvtx_attach_memory(nvtxExtModuleInfo_t *info)
{
	static const struct sw_nvtx_slot slots[] = {
		{NVTX3EXT_CBID_nvtxMemHeapRegister, (intptr_t)heap_register},
		{NVTX3EXT_CBID_nvtxMemHeapUnregister, (intptr_t)heap_unregister},
		{NVTX3EXT_CBID_nvtxMemHeapReset, (intptr_t)heap_reset},
		{NVTX3EXT_CBID_nvtxMemRegionsRegister, (intptr_t)regions_register},
		{NVTX3EXT_CBID_nvtxMemRegionsUnregister, (intptr_t)regions_unregister},
		{NVTX3EXT_CBID_nvtxMemRegionsName, (intptr_t)regions_name},
	};
	return sw_nvtx_attach_slots(info, slots, sizeof slots / sizeof *slots);
}
