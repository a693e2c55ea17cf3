/* SPDX-License-Identifier: Apache-2.0 */
#include "report/utf8.h"

#include <stdbool.h>

static bool tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Table 3-7 of the Unicode standard: the second byte's range depends on the first. */
size_t sw_utf8_length(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		return tail(p[1]) ? 2 : 0;
	if ((p[0] & 0xf0) == 0xe0) {
		unsigned char low = p[0] == 0xe0 ? 0xa0 : 0x80, high = p[0] == 0xed ? 0x9f : 0xbf;
		return p[1] >= low && p[1] <= high && tail(p[2]) ? 3 : 0;
	}
	if (p[0] >= 0xf0 && p[0] <= 0xf4) {
		unsigned char low = p[0] == 0xf0 ? 0x90 : 0x80, high = p[0] == 0xf4 ? 0x8f : 0xbf;
		return p[1] >= low && p[1] <= high && tail(p[2]) && tail(p[3]) ? 4 : 0;
	}
	return 0;
}
