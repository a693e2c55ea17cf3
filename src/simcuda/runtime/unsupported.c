/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime API that the simulation does not have: exported, so that programs start; each says its name and fails.
 * Declared without parameters: under the x86-64 calling convention the caller removes them.
 */
int sw_rt_unsupported(const char *name);

#define UNSUPPORTED(symbol)                                                                                            \
	int symbol(void);                                                                                              \
	int symbol(void)                                                                                               \
	{                                                                                                              \
		return sw_rt_unsupported(#symbol);                                                                     \
	}
#include "simcuda/runtime/unsupported.def"
