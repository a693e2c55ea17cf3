/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* Every direction of a copy, synchronous and not, from and to pinned and pageable memory, during work of another
 * stream. */
int main(int argc, char **argv)
{
	Case c(argc, argv,
	       "hazards of a copy against unfinished work on another stream: SW102 (h2d), SW101 (d2h, d2d, "
	       "h2h)",
	       "the copy is issued while a non-blocking stream still works on the same buffer; neither form of the "
	       "copy waits "
	       "for a non-blocking stream",
	       "the host waits for that stream first",
	       {"h2d sync pinned", "h2d sync pageable", "h2d async pinned", "h2d async pageable", "d2h sync pinned",
		"d2h sync pageable", "d2h async pinned", "d2h async pageable", "d2d sync device", "d2d async device",
		"h2h sync pinned", "h2h sync pageable", "h2h async pinned", "h2h async pageable"});
	std::string direction = c.word(0);
	bool sync = c.word(1) == "sync", pageable = c.word(2) == "pageable";
	float *device = device_buffer(), *other = device_buffer(), *busy = pinned_buffer();
	float *pinned = pinned_buffer(), *host = pageable ? pageable_buffer() : pinned;
	cudaStream_t work = new_stream(), copies = new_stream();
	float *to = direction == "h2d" ? device : direction == "d2d" ? other : host;
	float *from = direction == "h2d" ? host : direction == "h2h" ? busy : device;
	cudaMemcpyKind kind = direction == "h2d"   ? cudaMemcpyHostToDevice
			      : direction == "d2h" ? cudaMemcpyDeviceToHost
			      : direction == "d2d" ? cudaMemcpyDeviceToDevice
						   : cudaMemcpyHostToHost;

	spin<<<1, 1, 0, work>>>(SPIN_NS);
	if (direction == "h2d" || direction == "h2h")
		CHECK(cudaMemcpyAsync(busy, device, BYTES, cudaMemcpyDeviceToHost, work));
	else
		CHECK(cudaMemsetAsync(device, 1, BYTES, work));
	if (c.fixed)
		CHECK(cudaStreamSynchronize(work));
	if (sync)
		CHECK(cudaMemcpy(to, from, BYTES, kind));
	else
		CHECK(cudaMemcpyAsync(to, from, BYTES, kind, copies));
	finish({work, copies}, {}, {device, other}, {busy, pinned});
	if (pageable)
		free(host);
}
