/* SPDX-License-Identifier: Apache-2.0 */
#include <cufft.h>

#include "library.h"

/* A length without small prime factors: the work area is as large as the data, and more. */
constexpr int LENGTH = 1009 * 101;

static cufftHandle new_plan(cudaStream_t stream, bool area)
{
	cufftHandle plan;
	size_t bytes;

	DONE(cufftCreate(&plan));
	DONE(cufftSetAutoAllocation(plan, area));
	DONE(cufftMakePlan1d(plan, LENGTH, CUFFT_C2C, 1, &bytes));
	DONE(cufftSetStream(plan, stream));
	return plan;
}

static float *work_area(cufftHandle plan)
{
	size_t bytes;

	DONE(cufftGetSize(plan, &bytes));
	printf("work area: %zu bytes\n", bytes);
	return device_buffer(bytes ? bytes : 256);
}

static void transform(cufftHandle plan, float *data)
{
	cufftComplex *values = reinterpret_cast<cufftComplex *>(data);

	DONE(cufftExecC2C(plan, values, values, CUFFT_FORWARD));
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 to SW103 in a work area that two transforms of cuFFT share",
	       "two transforms on two streams work in one buffer, and nothing orders them",
	       "each stream has a plan with a work area of its own", {"one-plan", "two-plans"});
	const size_t bytes = sizeof(cufftComplex) * LENGTH;
	float *first = device_buffer(bytes), *second = device_buffer(bytes);
	cudaStream_t a = new_stream(), b = new_stream();

	if (c.is("one-plan")) {
		cufftHandle plan = new_plan(a, true), other = c.fixed ? new_plan(b, true) : plan;
		transform(plan, first);
		DONE(cufftSetStream(other, b));
		transform(other, second);
	} else {
		cufftHandle one = new_plan(a, false), two = new_plan(b, false);
		float *shared = work_area(one), *other = c.fixed ? work_area(two) : shared;
		DONE(cufftSetWorkArea(one, shared));
		DONE(cufftSetWorkArea(two, other));
		transform(one, first);
		transform(two, second);
	}
	finish({a, b}, {}, {first, second});
}
