/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names only, without a pointer in them: the preload object holds this table, and a relocation a string would cost it
 * more than the strings themselves and be done at every start of every program.
 */
#include "api/names.h"

#include <stdint.h>

#include "api/ids.h"

/* All strings, one after the other; the members say where each begins. */
static const struct names {
	char none[1];
#define SW_CU_SYMBOL(symbol, name, runtime, ...)                                                                       \
	char symbol_##symbol[sizeof #symbol];                                                                          \
	char runtime_##symbol[sizeof runtime];
#define SW_CU_PASS_SYMBOL(symbol, ...) char symbol_##symbol[sizeof #symbol];
#define SW_CU_WAY(symbol, ...)	       char symbol_##symbol[sizeof #symbol];
#include "api/cuda.def"
} names = {
	"",
#define SW_CU_SYMBOL(symbol, name, runtime, ...) #symbol, runtime,
#define SW_CU_PASS_SYMBOL(symbol, ...)		 #symbol,
#define SW_CU_WAY(symbol, ...)			 #symbol,
#include "api/cuda.def"
};

static const struct {
	uint16_t symbol, runtime;
} offsets[SW_ID_COUNT] = {
#define SW_CU_SYMBOL(symbol, ...)                                                                                      \
	[SW_ID_##symbol] = {offsetof(struct names, symbol_##symbol), offsetof(struct names, runtime_##symbol)},
#define SW_CU_PASS_SYMBOL(symbol, ...) [SW_ID_##symbol] = {offsetof(struct names, symbol_##symbol), 0},
#define SW_CU_WAY(symbol, ...)	       [SW_ID_##symbol] = {offsetof(struct names, symbol_##symbol), 0},
#include "api/cuda.def"
};
_Static_assert(sizeof names <= UINT16_MAX, "offsets are 16 bits");

const char *sw_api_symbol(size_t index)
{
	return (const char *)&names + offsets[index < SW_ID_COUNT ? index : 0].symbol;
}

const char *sw_api_runtime(size_t index)
{
	return (const char *)&names + offsets[index < SW_ID_COUNT ? index : 0].runtime;
}

/* '_' before all others: a version or a twin follows what it is a version of. */
static int rank(char c)
{
	return c == '_' ? 1 : (unsigned char)c;
}

static int compare(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return rank(*a) - rank(*b);
}

size_t sw_api_find(const char *symbol)
{
	size_t low = 1, high = SW_ID_COUNT;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = compare(symbol, sw_api_symbol(middle));

		if (order == 0)
			return middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return 0;
}
