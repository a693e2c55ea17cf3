/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* Many short calls on one stream: nothing wrong, but more records than a small trace can hold. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW902 records-lost, when the trace is given less room than the program needs",
	       "100000 sets: more than a trace of 1 MB holds", "100 sets");
	float *data = device_buffer();
	cudaStream_t stream = new_stream();

	for (int i = 0; i < (c.fixed ? 100 : 100000); i++)
		CHECK(cudaMemsetAsync(data, i, 256, stream));
	finish({stream}, {}, {data});
}
