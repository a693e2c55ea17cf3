/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the programs of this folder that need two GPUs.  On a machine with fewer they end with status 77, which test
 * drivers take for "skipped"; the simulated CUDA is set to have two.
 */
#ifndef KERNELS_DEVICES_H
#define KERNELS_DEVICES_H

#include "case.h"

constexpr int DEVICES = 2;
constexpr int SKIPPED = 77;

inline void on(int device)
{
	CHECK(cudaSetDevice(device));
}

/* As struct Case, with both GPUs ready: they may access each other's memory, their code is loaded, GPU 0 is current. */
class TwoDevices : public Options
{
      public:
	TwoDevices(int argc, char **argv, const char *shows, const char *wrong, const char *corrected,
		   std::initializer_list<const char *> variants = {})
	    : Options(argc, argv, shows, wrong, corrected, variants)
	{
		int there = 0;

		setenv("SYNCWATCH_SIM_DEVICES", "2", 0);
		if (cudaGetDeviceCount(&there) != cudaSuccess || there < DEVICES)
			skip("two GPUs are needed");
		for (int d = DEVICES; d-- > 0;) {
			int reaches = 0;

			CHECK(cudaDeviceCanAccessPeer(&reaches, d, 1 - d));
			if (!reaches)
				skip("two GPUs that can access each other's memory are needed");
			on(d);
			CHECK(cudaDeviceEnablePeerAccess(1 - d, 0));
			Case::load(spin, spin_write, spin_copy, quick_write, quick_copy);
		}
	}

      private:
	[[noreturn]] static void skip(const char *why)
	{
		fprintf(stderr, "%s\n", why);
		exit(SKIPPED);
	}
};

inline float *device_buffer_on(int device)
{
	on(device);
	return device_buffer();
}

inline cudaStream_t new_stream_on(int device, unsigned flags = cudaStreamNonBlocking)
{
	on(device);
	return new_stream(flags);
}

inline cudaEvent_t new_event_on(int device)
{
	on(device);
	return new_event();
}

inline void synchronize_all()
{
	for (int d = 0; d < DEVICES; d++) {
		on(d);
		CHECK(cudaDeviceSynchronize());
	}
}

#endif
