/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry points that the simulation does not have: exported as the real ones are, they say their name and fail.
 * Declared without their parameters: under the x86-64 calling convention the caller removes them.
 */
int sw_sim_unsupported(const char *name);

#define UNSUPPORTED(symbol)                                                                                            \
	int symbol(void);                                                                                              \
	int symbol(void)                                                                                               \
	{                                                                                                              \
		return sw_sim_unsupported(#symbol);                                                                    \
	}
#define SW_SIM_ENTRY(name, version, symbol)
#define SW_SIM_TWIN(name, version, symbol, suffix)
#define SW_SIM_NONE(name, version, symbol) UNSUPPORTED(symbol)
#define SW_SIM_NONE_TWIN(name, version, symbol, suffix)                                                                \
	UNSUPPORTED(symbol)                                                                                            \
	UNSUPPORTED(symbol##suffix)
#include "simcuda/driver.def"
