/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW102 race-write-after-read in host memory, two streams share a bounce buffer",
	       "chunks go from one device buffer to another by way of one pinned buffer; the download of the next "
	       "chunk does "
	       "not wait until the upload of the last one has read it",
	       "the downloading stream waits for an event recorded after each upload");
	float *bounce = pinned_buffer(), *from = device_buffer(), *to = device_buffer();
	cudaStream_t download = new_stream(), upload = new_stream();
	cudaEvent_t downloaded = new_event(), uploaded = new_event();

	for (int chunk = 0; chunk < 3; chunk++) {
		if (c.fixed && chunk)
			CHECK(cudaStreamWaitEvent(download, uploaded, 0));
		CHECK(cudaMemcpyAsync(bounce, from, BYTES, cudaMemcpyDeviceToHost, download));
		CHECK(cudaEventRecord(downloaded, download));
		CHECK(cudaStreamWaitEvent(upload, downloaded, 0));
		spin<<<1, 1, 0, upload>>>(SPIN_NS);
		CHECK(cudaMemcpyAsync(to, bounce, BYTES, cudaMemcpyHostToDevice, upload));
		CHECK(cudaEventRecord(uploaded, upload));
	}
	finish({download, upload}, {downloaded, uploaded}, {from, to}, {bounce});
}
