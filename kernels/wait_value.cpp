/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

constexpr size_t BYTES = 1 << 20;
constexpr int ROUNDS = 3;

struct Work {
	CUstream fill, move, third;
	CUdeviceptr first, second, flag;

	void produce()
	{
		CHECK(cuMemsetD8Async(first, 7, BYTES, fill));
	}
	void consume()
	{
		CHECK(cuMemcpyDtoDAsync(second, first, BYTES, move));
	}
	void write(CUstream stream, unsigned value)
	{
		CHECK(cuStreamWriteValue32(stream, flag, value, 0));
	}
	void wait(CUstream stream, unsigned value)
	{
		CHECK(cuStreamWaitValue32(stream, flag, value, CU_STREAM_WAIT_VALUE_EQ));
	}
};

/* Streams that signal each other through memory. */
int main(int argc, char **argv)
{
	Options c(argc, argv, "SW101, SW102: races between streams that signal through memory",
		  "the flag is written before the buffer is filled (early); the flag holds the value already, by a set "
		  "(held), by a copy (copied) or because nothing resets it after a round (round); either of two streams may "
		  "release the wait (either); the flag that says \"empty\" is written before the buffer is read (ring)",
		  "the flag is written after the buffer is filled; it is reset; both streams have their own value; it is "
		  "written after the buffer is read",
		  {"early", "held", "copied", "round", "either", "ring"});
	CUdevice device;
	CUcontext context;
	Work w;
	unsigned full = 1;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuStreamCreate(&w.fill, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&w.move, CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&w.third, CU_STREAM_NON_BLOCKING));
	CHECK(cuMemAlloc(&w.first, BYTES));
	CHECK(cuMemAlloc(&w.second, BYTES));
	CHECK(cuMemAlloc(&w.flag, 256));
	CHECK(cuMemsetD32Async(w.flag, c.is("held") && !c.fixed ? 1 : 0, 64, w.fill));
	CHECK(cuCtxSynchronize());
	if (c.is("copied") && !c.fixed)
		CHECK(cuMemcpyHtoD(w.flag, &full, sizeof full));
	CHECK(cuCtxSynchronize());

	if (c.is("round")) {
		for (int i = 0; i < ROUNDS; i++) {
			w.produce();
			w.write(w.fill, 1);
			w.wait(w.move, 1);
			w.consume();
			CHECK(cuCtxSynchronize());
			if (c.fixed)
				w.write(w.move, 0);
			CHECK(cuCtxSynchronize());
		}
	} else if (c.is("ring")) {
		for (int i = 0; i < ROUNDS; i++) {
			w.wait(w.fill, 0);
			w.produce();
			w.write(w.fill, 1);
			w.wait(w.move, 1);
			if (!c.fixed)
				w.write(w.move, 0);
			w.consume();
			if (c.fixed)
				w.write(w.move, 0);
		}
	} else {
		if (c.is("early") && !c.fixed)
			w.write(w.fill, 1);
		if (c.is("either"))
			w.write(w.third, c.fixed ? 2 : 1);
		w.produce();
		if (c.is("either") && c.fixed)
			w.wait(w.fill, 2);
		if (!c.is("early") || c.fixed)
			w.write(w.fill, 1);
		w.wait(w.move, 1);
		w.consume();
	}

	CHECK(cuCtxSynchronize());
	CHECK(cuMemFree(w.flag));
	CHECK(cuMemFree(w.second));
	CHECK(cuMemFree(w.first));
	CHECK(cuStreamDestroy(w.third));
	CHECK(cuStreamDestroy(w.move));
	CHECK(cuStreamDestroy(w.fill));
	CHECK(cuDevicePrimaryCtxRelease(device));
}
