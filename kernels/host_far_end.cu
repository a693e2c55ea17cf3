/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

#include <vector>

/* Only seen with --guard-host, wherever in a large buffer, and in whichever of many. */
constexpr size_t LARGE = 256u << 20;
constexpr int MANY = 3000;

__global__ void spin_sum(float *out, const float *a, const float *b, const float *c, const float *d, const float *e,
			 const float *f, int n, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	if (i < n)
		out[i] = a[i] + b[i] + c[i] + d[i] + e[i] + f[i];
}

static void large(const Case &c, cudaStream_t stream)
{
	char *host = reinterpret_cast<char *>(pinned_buffer(LARGE));
	float *data = device_buffer(LARGE);
	spin<<<1, 1, 0, stream>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(data, host, LARGE, cudaMemcpyHostToDevice, stream));
	if (c.fixed)
		CHECK(cudaStreamSynchronize(stream));
	host[LARGE - 1] = 1;
	finish({stream}, {}, {data}, {reinterpret_cast<float *>(host)});
}

static void ranges(const Case &c, cudaStream_t stream)
{
	char *host = reinterpret_cast<char *>(pinned_buffer(MANY * 4096ul));
	float *data = device_buffer();
	spin<<<1, 1, 0, stream>>>(SPIN_NS);
	for (int i = 0; i < MANY; i++)
		CHECK(cudaMemcpyAsync(data, host + i * 4096ul, 64, cudaMemcpyHostToDevice, stream));
	spin<<<1, 1, 0, stream>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(data, host + (MANY - 1) * 4096ul, 64, cudaMemcpyHostToDevice, stream));
	if (c.fixed)
		CHECK(cudaStreamSynchronize(stream));
	host[(MANY - 1) * 4096ul] = 1;
	finish({stream}, {}, {data}, {reinterpret_cast<float *>(host)});
}

static void buffers(const Case &c, cudaStream_t stream)
{
	std::vector<float *> host;
	float *data = device_buffer();
	for (int i = 0; i < 6; i++)
		host.push_back(pinned_buffer());
	spin_sum<<<GRID, BLOCK, 0, stream>>>(data, host[0], host[1], host[2], host[3], host[4], host[5], N, SPIN_NS);
	CHECK_LAUNCH();
	if (c.fixed)
		CHECK(cudaStreamSynchronize(stream));
	host[5][100] = 1;
	finish({stream}, {}, {data}, {host[0], host[1], host[2], host[3], host[4], host[5]});
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW104 host-access-in-flight at the far end of what work uses",
	       "the host writes while the device still reads: the last byte of 256 MiB, the last of 3000 buffers in "
	       "flight, the last of six buffers of a kernel",
	       "the host waits for the stream first", {"large", "ranges", "buffers"});
	cudaStream_t stream = new_stream();
	c.load(spin_sum);
	if (c.is("large"))
		large(c, stream);
	else if (c.is("ranges"))
		ranges(c, stream);
	else
		buffers(c, stream);
}
