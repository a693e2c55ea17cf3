/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names only, without a pointer in them: the preload object holds this table, and a relocation a string would cost it
 * more than the strings themselves and be done at every start of every program.
 */
#include "api/names.h"

#include <stdint.h>

#include "api/ids.h"

/*
 * All strings, one after the other, and for each entry point where its own begin.  In assembly, because C cannot say
 * that a string is there already: all versions and twins of an entry point stand for the same runtime function.
 */
struct offsets {
	uint16_t symbol, runtime;
};
extern const char sw_api_strings[] __attribute__((visibility("hidden")));
extern const struct offsets sw_api_offsets[SW_ID_COUNT] __attribute__((visibility("hidden")));

#define OBJECT(name) ".hidden " name "\n.globl " name "\n.type " name ", %object\n" name ":\n"

__asm__(".macro sw_api_name name\n"
	".ifndef .Lsw_name_\\name\n"
	".pushsection .rodata.sw_api_strings,\"a\",%progbits\n"
	".Lsw_name_\\name: .string \"\\name\"\n"
	".popsection\n"
	".endif\n"
	".2byte .Lsw_name_\\name - sw_api_strings\n"
	".endm\n"
	".pushsection .rodata.sw_api_strings,\"a\",%progbits\n" OBJECT(
		"sw_api_strings") ".popsection\n"
				  ".pushsection .rodata.sw_api_offsets,\"a\",%progbits\n"
				  ".balign 2\n" OBJECT("sw_api_offsets")
#define NAMES(symbol, runtime) "sw_api_name " #symbol "\nsw_api_name " runtime "\n"
					  NAMES(, "")
#define SW_CU_SYMBOL(symbol, name, runtime, ...) NAMES(symbol, runtime)
#define SW_CU_PASS_SYMBOL(symbol, ...)		 NAMES(symbol, "")
#define SW_CU_WAY(symbol, ...)			 NAMES(symbol, "")
#include "api/cuda.def"
						  ".popsection\n"
						  ".purgem sw_api_name\n");

const char *sw_api_symbol(size_t index)
{
	return sw_api_strings + sw_api_offsets[index < SW_ID_COUNT ? index : 0].symbol;
}

const char *sw_api_runtime(size_t index)
{
	return sw_api_strings + sw_api_offsets[index < SW_ID_COUNT ? index : 0].runtime;
}

/* '_' before all others: a version or a twin follows what it is a version of. */
static int rank_of(char c)
{
	return c == '_' ? 1 : (unsigned char)c;
}

/* Compares names in the order of the table, which is sorted. */
static int compare_names(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return rank_of(*a) - rank_of(*b);
}

/* The number of an entry point by its name, 0: unknown.  Binary search, as numbers are in the order of names. */
size_t sw_api_find(const char *symbol)
{
	size_t low = 1, high = SW_ID_COUNT;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = compare_names(symbol, sw_api_symbol(middle));

		if (order == 0)
			return middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return 0;
}
