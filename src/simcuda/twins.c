/* SPDX-License-Identifier: Apache-2.0 */
/* The per-thread variants (_ptsz, _ptds): the same calls with another meaning of stream 0. */
#include "simcuda/sim.h"

#include "api/signature.h"

__thread CUstream sw_sim_default_stream = CU_STREAM_LEGACY;

/* Entry points that are deprecated have variants too. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define SW_SIM_ENTRY(symbol, name, since)
#define SW_SIM_TWIN(symbol, name, since, suffix, signature)                                                            \
	CUresult symbol(SW_PARAMS signature); /* as in cuda.h, where that has it */                                    \
	CUresult symbol##suffix(SW_PARAMS signature);                                                                  \
	CUresult symbol##suffix(SW_PARAMS signature)                                                                   \
	{                                                                                                              \
		sw_sim_default_stream = CU_STREAM_PER_THREAD;                                                          \
		CUresult result = symbol(SW_ARGS signature);                                                           \
		sw_sim_default_stream = CU_STREAM_LEGACY;                                                              \
		return result;                                                                                         \
	}
#include "simcuda/driver.def"
