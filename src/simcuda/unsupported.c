/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every entry point of the driver, weak: what a file of the simulation defines replaces it.  The rest is exported as
 * the real ones are, says its name and fails. Declared without their parameters: under the x86-64 calling convention
 * the caller removes them.
 */
int sw_sim_unsupported(const char *name);

#define SW_SIM_ENTRY(symbol, name, since)                                                                              \
	__attribute__((weak)) int symbol(void);                                                                        \
	int symbol(void)                                                                                               \
	{                                                                                                              \
		return sw_sim_unsupported(#symbol);                                                                    \
	}
#define SW_SIM_TWIN(symbol, name, since, suffix, ...) SW_SIM_ENTRY(symbol, name, since)
#include "simcuda/driver.def"
