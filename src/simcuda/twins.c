/* SPDX-License-Identifier: Apache-2.0 */
/* The per-thread variants (_ptsz, _ptds): the same calls with another meaning of stream 0. */
#include "simcuda/sim.h"

__thread CUstream sw_sim_default_stream = CU_STREAM_LEGACY;

#define TWIN(name, suffix, params, args)                                                                               \
	extern __typeof__(name) name##suffix;                                                                          \
	CUresult name##suffix params                                                                                   \
	{                                                                                                              \
		sw_sim_default_stream = CU_STREAM_PER_THREAD;                                                          \
		CUresult result = name args;                                                                           \
		sw_sim_default_stream = CU_STREAM_LEGACY;                                                              \
		return result;                                                                                         \
	}
#include "simcuda/twins.def"
