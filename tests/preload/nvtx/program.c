/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says through NVTX all that syncwatch listens to, around a race between two streams (none with "--fixed").  Prints
 * what NVTX gave back; exits with 3, which must be the same with every tool.
 */
#include <cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtPayload.h>

static nvtxDomainHandle_t domain;

static nvtxEventAttributes_t registered(nvtxStringHandle_t string)
{
	nvtxEventAttributes_t attributes = {.version = NVTX_VERSION,
					    .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					    .messageType = NVTX_MESSAGE_TYPE_REGISTERED,
					    .message.registered = string};
	return attributes;
}

static void *other_thread(void *arg)
{
	(void)arg;
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "loader");
	nvtxRangePushA("elsewhere");
	CUdeviceptr p;
	cuMemAlloc(&p, 64);
	cuMemFree(p);
	nvtxRangePop();
	return NULL;
}

static nvtxMemHeapHandle_t pool_open(CUdeviceptr memory, size_t bytes)
{
	nvtxMemVirtualRangeDesc_t range = {bytes, (void *)memory};
	nvtxMemHeapDesc_t heap = {.extCompatID = NVTX_EXT_COMPATID_MEM,
				  .structSize = sizeof heap,
				  .usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR,
				  .type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
				  .typeSpecificDescSize = sizeof range,
				  .typeSpecificDesc = &range};
	return nvtxMemHeapRegister(domain, &heap);
}

static void pool_take(nvtxMemHeapHandle_t heap, CUdeviceptr at, size_t bytes)
{
	nvtxMemVirtualRangeDesc_t range = {bytes, (void *)at};
	nvtxMemRegionsRegisterBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
					       .structSize = sizeof batch,
					       .regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS,
					       .heap = heap,
					       .regionCount = 1,
					       .regionDescElementSize = sizeof range,
					       .regionDescElements = &range};
	nvtxMemRegionsRegister(domain, &batch);
	nvtxMemRegionNameDesc_t name = {.regionRefType = NVTX_MEM_REGION_REF_TYPE_POINTER,
					.nameType = NVTX_MESSAGE_TYPE_ASCII,
					.region.pointer = (void *)at,
					.name.ascii = "activations"};
	nvtxMemRegionsNameBatch_t names = {.extCompatID = NVTX_EXT_COMPATID_MEM,
					   .structSize = sizeof names,
					   .regionCount = 1,
					   .regionElementSize = sizeof name,
					   .regionElements = &name};
	nvtxMemRegionsName(domain, &names);
}

static void pool_give(CUdeviceptr at)
{
	nvtxMemRegionRef_t ref = {.pointer = (void *)at};
	nvtxMemRegionsUnregisterBatch_t batch = {.extCompatID = NVTX_EXT_COMPATID_MEM,
						 .structSize = sizeof batch,
						 .refType = NVTX_MEM_REGION_REF_TYPE_POINTER,
						 .refCount = 1,
						 .refElementSize = sizeof ref,
						 .refElements = &ref};
	nvtxMemRegionsUnregister(domain, &batch);
}

static void use_pool(CUstream stream, int fixed)
{
	CUdeviceptr memory;
	cuMemAlloc(&memory, 1 << 16);
	nvtxMemHeapHandle_t heap = pool_open(memory, 1 << 16);
	pool_take(heap, memory + 4096, 4096);
	cuMemsetD8Async(memory + 4096, 2, 4096, stream);
	if (fixed)
		cuStreamSynchronize(stream);
	pool_give(memory + 4096);
	cuStreamSynchronize(stream);
	nvtxMemHeapUnregister(domain, heap);
	cuMemFree(memory);
}

static void race(CUstream producer, CUstream consumer, CUdeviceptr memory, int fixed)
{
	nvtxEventAttributes_t step = registered(nvtxDomainRegisterStringA(domain, "step 1"));
	CUevent event;
	cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
	nvtxNameCuEventA(event, "produced");
	printf("%d\n", nvtxDomainRangePushEx(domain, &step));
	nvtxRangePushW(L"writing \u00e9");
	cuMemsetD8Async(memory, 1, 4096, producer);
	cuEventRecord(event, producer);
	if (fixed)
		cuStreamWaitEvent(consumer, event, 0);
	nvtxRangePop();
	nvtxRangePushA("reading");
	static char host[4096];
	cuMemcpyDtoHAsync(host, memory, 4096, consumer);
	nvtxRangePop();
	printf("%d\n", nvtxDomainRangePop(domain));
	cuCtxSynchronize();
	cuEventDestroy(event);
}

/* Ranges with payloads: one begins and one ends by the core interface, as in NCCL, and one does neither. */
static void with_payload(CUstream stream)
{
	static const nvtxPayloadSchemaEntry_t entries[] = {{.type = NVTX_PAYLOAD_ENTRY_TYPE_INT, .name = "result"}};
	const nvtxPayloadSchemaAttr_t schema = {.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME |
							     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
							     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES,
						.name = "outcome",
						.entries = entries,
						.numEntries = 1};
	const int result = 7;
	const nvtxPayloadData_t data = {nvtxPayloadSchemaRegister(domain, &schema), sizeof result, &result};
	nvtxEventAttributes_t core = registered(nvtxDomainRegisterStringA(domain, "ends with a payload"));
	nvtxDomainRangePushEx(domain, &core);
	cuStreamSynchronize(stream);
	printf("%d\n", nvtxRangePopPayload(domain, &data, 1));
	printf("%d\n", nvtxRangePushPayload(domain, &data, 1));
	cuStreamSynchronize(stream);
	nvtxDomainRangePop(domain);
	nvtxRangeId_t started = nvtxRangeStartPayload(domain, &data, 1);
	cuStreamSynchronize(stream);
	nvtxRangeEndPayload(domain, started, &data, 1);
}

/* A and B overlap in part. */
static void started(CUstream stream)
{
	nvtxRangeId_t a = nvtxRangeStartA("A");
	cuStreamSynchronize(stream);
	nvtxRangeId_t b = nvtxRangeStartA("B");
	cuStreamSynchronize(stream);
	nvtxRangeEnd(a);
	cuStreamSynchronize(stream);
	nvtxRangeEnd(b);
}

/* Ranges named "many" that are open at once: so many started ones, and pushed ones in so many domains. */
static int open_many(int ranges, int domains)
{
	nvtxRangeId_t id[512];
	nvtxDomainHandle_t in[8];
	nvtxEventAttributes_t many = {.version = NVTX_VERSION,
				      .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
				      .messageType = NVTX_MESSAGE_TYPE_ASCII,
				      .message.ascii = "many"};
	for (int i = 0; i < domains; i++) {
		in[i] = nvtxDomainCreateA((const char[]){'d', (char)('0' + i), 0});
		nvtxDomainRangePushEx(in[i], &many);
	}
	for (int i = 0; i < ranges; i++)
		id[i] = nvtxDomainRangeStartEx(in[0], &many);
	cuCtxSynchronize();
	for (int i = 0; i < ranges; i++)
		nvtxDomainRangeEnd(in[0], id[i]);
	for (int i = 0; i < domains; i++)
		nvtxDomainRangePop(in[i]);
	return 3;
}

int main(int argc, char **argv)
{
	const int fixed = argc > 1 && !strcmp(argv[1], "--fixed");
	CUdeviceptr memory;
	CUcontext context;
	CUdevice device;
	CUstream producer, consumer;
	pthread_t thread;
	domain = nvtxDomainCreateA("app");
	nvtxNameOsThreadA((uint32_t)getpid(), "driver seat");
	nvtxRangePushA("forgotten");
	nvtxRangePop();
	nvtxRangePushA("start-up");
	if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
	    cuCtxSetCurrent(context))
		return 1;
	if (argc == 4 && !strcmp(argv[1], "--many"))
		return open_many(atoi(argv[2]), atoi(argv[3]));
	cuStreamCreate(&producer, CU_STREAM_NON_BLOCKING);
	cuStreamCreate(&consumer, CU_STREAM_NON_BLOCKING);
	cuMemAlloc(&memory, 4096);
	nvtxNameCuStreamA(producer, "producer");
	nvtxNameCuStreamA(consumer, "consumer");
	race(producer, consumer, memory, fixed);
	with_payload(producer);
	started(producer);
	use_pool(producer, fixed);
	nvtxRangePop();
	nvtxRangePop(); /* one too many */
	nvtxRangePushA("never ends");
	if (!pthread_create(&thread, NULL, other_thread, NULL))
		pthread_join(thread, NULL);
	cuMemFree(memory);
	cuStreamDestroy(producer);
	cuStreamDestroy(consumer);
	return 3;
}
