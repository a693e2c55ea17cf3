/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcuda.so.1 that does nothing, for the tests of the ways in: it exports every name of the table, hands out handles
 * that differ, and answers cuGetProcAddress by name, version and flag as the real one does.  What the functions that
 * matter here do is in fake_driver.c; all others succeed.
 */
#define EXPORT __attribute__((visibility("default"), weak))

#define SW_CU_SYMBOL(symbol, ...)                                                                                      \
	EXPORT int symbol(void);                                                                                       \
	int symbol(void)                                                                                               \
	{                                                                                                              \
		return 0;                                                                                              \
	}
#ifdef OLD_DRIVER /* lacks nearly all that only passes through */
EXPORT int cuInit(unsigned int flags);
int cuInit(unsigned int flags)
{
	return (int)flags;
}
#define SW_CU_PASS_SYMBOL(symbol, ...)
#else
#define SW_CU_PASS_SYMBOL(symbol, ...)                                                                                 \
	EXPORT int symbol(void);                                                                                       \
	int symbol(void)                                                                                               \
	{                                                                                                              \
		return 0;                                                                                              \
	}
#endif
#define SW_CU_WAY(symbol, ...)                                                                                         \
	EXPORT int symbol(void);                                                                                       \
	int symbol(void)                                                                                               \
	{                                                                                                              \
		return 0;                                                                                              \
	}
#include "api/cuda.def"
