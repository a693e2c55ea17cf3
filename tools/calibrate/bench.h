/* SPDX-License-Identifier: Apache-2.0 */
/* Things that rows of the calibration use: streams, memory, kernels of one device. */
#ifndef SW_CALIBRATE_BENCH_H
#define SW_CALIBRATE_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calibrate/driver.h"

#define SW_BENCH_LARGE (16u << 20)
#define SW_BENCH_FRESH 48 /* kernels that no one has used yet: for first launches */

struct sw_bench {
	struct sw_driver d;
	CUdevice device;
	CUcontext context;
	CUlibrary library;
	CUfunction spin, spin_long, quick;
	CUstream nb1, nb2, nb3, blk; /* created with CU_STREAM_NON_BLOCKING, and without */
	CUevent event, spin_end;
	CUdeviceptr dev, dev2, managed, symbol;
	char *pinned, *pageable, *pageable2, *pages;
	volatile uint32_t *stop; /* in pinned memory: the spinning kernel ends when it is not 0 */
	bool patient;		 /* kernels spin for SW_BENCH_PATIENT_NS */
	int fresh;		 /* kernels used up */
	/* Objects that the set-up of a row made, for its call or for its end. */
	CUdeviceptr object;
	void *host_object;
	CUstream stream;
	CUevent other_event;
	CUgraph graph;
	CUgraphExec exec;
	CUmemoryPool pool;
	CUresult rc; /* of the first of two calls */
	int value;
	size_t bytes[2];
};

/* Opens the device; 0 or <0 with error filled.  `path`: as of sw_driver_load(). */
int sw_bench_open(struct sw_bench *bench, const char *path, struct sw_error *error);

/* A kernel that spins until sw_bench_stop(), but not for longer than sw_bench_spin_ns(). */
#define SW_BENCH_SPIN_NS    20000000ull
#define SW_BENCH_PATIENT_NS 200000000ull
CUresult sw_bench_spin(struct sw_bench *bench, CUstream stream);
uint64_t sw_bench_spin_ns(const struct sw_bench *bench);
void sw_bench_stop(struct sw_bench *bench);
CUresult sw_bench_quick(struct sw_bench *bench, CUstream stream);

#endif
