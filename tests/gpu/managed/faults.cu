/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CUPTI's unified-memory counters say of host accesses to managed memory while a kernel uses it: is there a record
 * for the access, with its page, the program counter of the access and the direction, and does it come for each access
 * or only for those that find the page elsewhere?
 *
 * Output, a line a case: name, what the host did, records of CPU page faults in the buffer, of these with the page
 * touched, with a program counter in the touching function, access type (1 read, 2 write, 3 atomic, 4 prefetch), taken
 * while the kernel ran, milliseconds that the access took.
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <time.h>
#include <vector>

#include <cuda_runtime.h>
#include <cupti.h>

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		cudaError_t e_ = (call);                                                                               \
		if (e_ != cudaSuccess) {                                                                               \
			printf("%s: %s\n", #call, cudaGetErrorString(e_));                                            \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

struct fault {
	uint64_t address, pc, time;
	uint32_t flags;
};
static std::vector<fault> faults;
static unsigned other_records;

static void CUPTIAPI give(uint8_t **buffer, size_t *size, size_t *records)
{
	*size = 1 << 20;
	*buffer = (uint8_t *)aligned_alloc(64, *size);
	*records = 0;
}

static void CUPTIAPI take(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
	CUpti_Activity *record = NULL;
	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
		if (record->kind != CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)
			continue;
		CUpti_ActivityUnifiedMemoryCounter3 *c = (CUpti_ActivityUnifiedMemoryCounter3 *)record;
		if (c->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT)
			faults.push_back({c->address, c->value, c->start, c->flags});
		else
			other_records++;
	}
	free(buffer);
}

/* Touches a page at its start, reports it, and runs until it is stopped. */
__global__ void hold(volatile char *page, size_t pages, size_t stride, volatile int *ready, volatile int *stop)
{
	for (size_t i = 0; i < pages; i++)
		page[i * stride] = (char)(page[i * stride] + 1);
	__threadfence_system();
	*ready = 1;
	while (!*stop) {
	}
}

__attribute__((noinline)) static int load(volatile char *p)
{
	return *p;
}
__attribute__((noinline)) static int store(volatile char *p)
{
	*p = 7;
	return 0;
}
__attribute__((noinline)) static int copy(volatile char *p)
{
	static char sink[64];
	memcpy(sink, (const void *)p, sizeof sink);
	return sink[0];
}

static const size_t page = 2 << 20, pages = 8;
static volatile int *ready, *stop;
static cudaStream_t stream;

struct place {
	const char *name;
	void (*prepare)(char *buffer);
	size_t used;	/* pages that the kernel touches */
	size_t touched; /* page that the host touches */
	int twice;
};

static void nothing(char *)
{
}
static void resident_on_host(char *buffer)
{
	memset(buffer, 1, page * pages);
}
static void move(char *buffer, int device, int advice)
{
	cudaMemLocation where = {};
	where.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
	where.id = device < 0 ? 0 : device;
	memset(buffer, 1, page * pages);
#if CUDART_VERSION >= 13000
	if (advice)
		CHECK(cudaMemAdvise(buffer, page * pages, (cudaMemoryAdvise)advice, where));
	else
		CHECK(cudaMemPrefetchAsync(buffer, page * pages, where, 0, stream));
#else
	if (advice)
		CHECK(cudaMemAdvise(buffer, page * pages, (cudaMemoryAdvise)advice, device));
	else
		CHECK(cudaMemPrefetchAsync(buffer, page * pages, device, stream));
#endif
	CHECK(cudaStreamSynchronize(stream));
}
static void to_device(char *buffer)
{
	move(buffer, 0, 0);
}
static void to_host(char *buffer)
{
	move(buffer, -1, 0);
}
static void read_mostly(char *buffer)
{
	move(buffer, 0, cudaMemAdviseSetReadMostly);
}
static void prefers_device(char *buffer)
{
	move(buffer, 0, cudaMemAdviseSetPreferredLocation);
}
static void accessed_by_host(char *buffer)
{
	move(buffer, 0, cudaMemAdviseSetPreferredLocation);
	move(buffer, -1, cudaMemAdviseSetAccessedBy);
}

static double now_ms()
{
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void run(const place &p, const char *how, int (*touch)(volatile char *))
{
	char *buffer;
	uint64_t begun = 0, ended = 0;
	CHECK(cudaMallocManaged(&buffer, page * pages));
	p.prepare(buffer);
	CHECK(cudaDeviceSynchronize());
	*ready = *stop = 0;
	cuptiActivityFlushAll(1);
	faults.clear();
	other_records = 0;
	hold<<<1, 1, 0, stream>>>(buffer, p.used, page, ready, stop);
	CHECK(cudaGetLastError());
	double patience = now_ms() + 5000;
	while (!*ready && now_ms() < patience) {
	}
	cuptiGetTimestamp(&begun);
	double start = now_ms();
	touch(buffer + p.touched * page + 64);
	if (p.twice)
		touch(buffer + p.touched * page + 4096 * p.twice);
	double took = now_ms() - start;
	cuptiGetTimestamp(&ended);
	*stop = 1;
	CHECK(cudaDeviceSynchronize());
	cuptiActivityFlushAll(1);
	unsigned in = 0, there = 0, mine = 0, during = 0, type = 0;
	for (const fault &f : faults) {
		uint64_t offset = f.address - (uint64_t)buffer;
		if (offset >= page * pages)
			continue;
		in++;
		there += offset / page == p.touched;
		mine += f.pc >= (uint64_t)touch && f.pc < (uint64_t)touch + 128;
		during += f.time >= begun && f.time <= ended;
		type = f.flags;
		if (in <= 2)
			printf("#   offset %#llx pc %#llx (function %+lld) flags %u, %lld us after the access began\n",
			       (unsigned long long)offset, (unsigned long long)f.pc,
			       (long long)(f.pc - (uint64_t)touch), f.flags, (long long)(f.time - begun) / 1000);
	}
	printf("%s\t%s%s\tfaults %u\tof the page %u\tby pc %u\ttype %u\tduring %u\t%.3f ms\tother records %u\n", p.name, how,
	       p.twice ? ", twice" : "", in, there, mine, type, during, took, other_records);
	CHECK(cudaFree(buffer));
}

int main()
{
	static const place places[] = {
		{"never touched before, kernel holds it", nothing, 8, 3, 0},
		{"on the host before, kernel holds it", resident_on_host, 8, 3, 0},
		{"on the host, kernel uses other pages", resident_on_host, 2, 5, 0},
		{"prefetched to the device, not used", to_device, 2, 5, 0},
		{"prefetched to the device, kernel holds it", to_device, 8, 3, 0},
		{"prefetched to the host, kernel uses others", to_host, 2, 5, 0},
		{"read-mostly, kernel wrote it", read_mostly, 8, 3, 0},
		{"prefers the device, kernel holds it", prefers_device, 8, 3, 0},
		{"prefers the device, accessed by host", accessed_by_host, 8, 3, 0},
		{"kernel holds it", resident_on_host, 8, 3, 1},
		{"kernel holds it", resident_on_host, 8, 3, 20},
	};
	int concurrent = 0;
	CHECK(cudaFree(0));
	CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0));
	printf("# concurrent managed access %d\n", concurrent);
	CUptiResult status = cuptiActivityRegisterCallbacks(give, take);
	CUpti_ActivityUnifiedMemoryCounterConfig config[2] = {};
	config[0].scope = config[1].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE;
	config[0].kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT;
	config[1].kind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH;
	config[0].enable = config[1].enable = 1;
	CUptiResult configured = cuptiActivityConfigureUnifiedMemoryCounter(config, 2);
	CUptiResult enabled = cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
	printf("# callbacks %d, configure %d, enable %d\n", status, configured, enabled);
	int *flags;
	CHECK(cudaMallocHost(&flags, 2 * sizeof *flags));
	ready = flags;
	stop = flags + 1;
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (const place &p : places) {
		run(p, "load", load);
		run(p, "store", store);
		run(p, "memcpy", copy);
	}
	return 0;
}
