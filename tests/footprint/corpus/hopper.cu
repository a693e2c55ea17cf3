/* SPDX-License-Identifier: Apache-2.0 */
/* What sm_90 added: bulk copies, tensor maps, clusters, barriers that count bytes. */
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda.h>
namespace cg = cooperative_groups;

__device__ static uint32_t shared_address(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ static void barrier_start(uint64_t *barrier, unsigned bytes)
{
	asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(barrier)));
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
	asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
		     : "memory");
}

__device__ static void barrier_wait(uint64_t *barrier)
{
	unsigned done = 0;
	while (!done)
		asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
			     : "=r"(done)
			     : "r"(shared_address(barrier))
			     : "memory");
}

extern "C" __global__ void bulk_in(const float *in, float *out)
{
	__shared__ alignas(128) float tile[256];
	__shared__ alignas(8) uint64_t barrier;
	if (threadIdx.x == 0) {
		barrier_start(&barrier, 1024);
		asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
				     "r"(shared_address(tile)),
			     "l"(in + 256 * blockIdx.x), "r"(1024), "r"(shared_address(&barrier))
			     : "memory");
	}
	__syncthreads();
	barrier_wait(&barrier);
	out[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

extern "C" __global__ void bulk_out(float *out)
{
	__shared__ alignas(128) float tile[256];
	tile[threadIdx.x] = threadIdx.x;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (threadIdx.x == 0) {
		asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + 256 * blockIdx.x),
			     "r"(shared_address(tile)), "r"(1024)
			     : "memory");
		asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
	}
}

extern "C" __global__ void bulk_out_sized(float *out, unsigned bytes)
{
	__shared__ alignas(128) float tile[256];
	tile[threadIdx.x] = threadIdx.x;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (threadIdx.x == 0) {
		asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out),
			     "r"(shared_address(tile)), "r"(bytes)
			     : "memory");
		asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
	}
}

extern "C" __global__ void bulk_reduce(int *sums)
{
	__shared__ alignas(128) int tile[64];
	tile[threadIdx.x] = threadIdx.x;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (threadIdx.x == 0) {
		asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 256;" ::"l"(sums),
			     "r"(shared_address(tile))
			     : "memory");
		asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
	}
}

extern "C" __global__ void map_load(const __grid_constant__ CUtensorMap map, float *out)
{
	__shared__ alignas(128) float tile[16 * 16];
	__shared__ alignas(8) uint64_t barrier;
	if (threadIdx.x == 0) {
		barrier_start(&barrier, sizeof tile);
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
				     "r"(shared_address(tile)),
			     "l"(&map), "r"(16 * blockIdx.x), "r"(16 * blockIdx.y), "r"(shared_address(&barrier))
			     : "memory");
	}
	__syncthreads();
	barrier_wait(&barrier);
	out[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void map_store(const __grid_constant__ CUtensorMap map)
{
	__shared__ alignas(128) float tile[16 * 16];
	tile[threadIdx.x] = threadIdx.x;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (threadIdx.x == 0) {
		asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
			     "r"(16 * blockIdx.x), "r"(16 * blockIdx.y), "r"(shared_address(tile))
			     : "memory");
		asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
	}
}

extern "C" __global__ void map_reduce(const __grid_constant__ CUtensorMap map)
{
	__shared__ alignas(128) float tile[16 * 16];
	tile[threadIdx.x] = threadIdx.x;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (threadIdx.x == 0) {
		asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
			     "r"(0), "r"(0), "r"(shared_address(tile))
			     : "memory");
		asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
	}
}

extern "C" __global__ void map_prefetch(const __grid_constant__ CUtensorMap map, float *out)
{
	asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
	out[threadIdx.x] = 1;
}

extern "C" __global__ void cluster_exchange(const float *in, float *out)
{
	__shared__ float own[64];
	cg::cluster_group cluster = cg::this_cluster();
	int i = blockIdx.x * 64 + threadIdx.x;
	own[threadIdx.x] = in[i];
	cluster.sync();
	float *their = cluster.map_shared_rank(own, cluster.block_rank() ^ 1);
	out[i] = their[threadIdx.x];
	cluster.sync();
}

extern "C" __global__ void cluster_sum(const float *in, float *out)
{
	__shared__ float sum;
	cg::cluster_group cluster = cg::this_cluster();
	if (threadIdx.x == 0)
		sum = 0;
	cluster.sync();
	float *first = cluster.map_shared_rank(&sum, 0);
	atomicAdd(first, in[blockIdx.x * 64 + threadIdx.x]);
	cluster.sync();
	if (cluster.block_rank() == 0 && threadIdx.x == 0)
		out[blockIdx.x / 2] = sum;
}

extern "C" __global__ void atomic_float4(float4 *data)
{
	atomicAdd(&data[threadIdx.x], make_float4(1, 2, 3, 4));
}

extern "C" __global__ void dependent_launch(const float *in, float *out)
{
	asm volatile("griddepcontrol.wait;" ::: "memory");
	out[threadIdx.x] = in[threadIdx.x];
	asm volatile("griddepcontrol.launch_dependents;");
}

extern "C" __global__ void elected(float *out)
{
	unsigned leader;
	asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(leader));
	if (leader)
		out[blockIdx.x] = 1;
}
