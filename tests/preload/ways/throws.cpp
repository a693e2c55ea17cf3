/* SPDX-License-Identifier: Apache-2.0 */
/* An exception thrown in a stream callback passes through driver and wrapper; what comes after is recorded again. */
#include <cuda.h>
#include <stdexcept>

static void CUDA_CB callback(CUstream, CUresult, void *)
{
	throw std::runtime_error("through all of them");
}

int main()
{
	CUdeviceptr at;
	int caught = 0;

	for (int i = 0; i < 3; i++) {
		try {
			cuStreamAddCallback(nullptr, callback, nullptr, 0);
		} catch (const std::exception &) {
			caught++;
		}
	}
	return cuMemAlloc(&at, 555) == CUDA_SUCCESS && caught == 3 ? 0 : 1;
}
