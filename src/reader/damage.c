/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/damage.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LINES_MAX 100

static void __attribute__((format(printf, 3, 0)))
add_line(struct sw_damage *damage, uint64_t offset, const char *format, va_list ap)
{
	char text[320];
	if (damage->lines.n > LINES_MAX)
		return;
	if (damage->lines.n == LINES_MAX) {
		*sw_vec_push(&damage->lines) = sw_format(
			"%s: offset %" PRIu64 ": more damage follows and is not listed", damage->path, offset);
		return;
	}
	vsnprintf(text, sizeof text, format, ap);
	*sw_vec_push(&damage->lines) = sw_format("%s: offset %" PRIu64 ": %s", damage->path, offset, text);
}

void sw_damage_add(struct sw_damage *damage, uint64_t offset, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	add_line(damage, offset, format, ap);
	va_end(ap);
	damage->unusable = true;
}

void sw_damage_gap(struct sw_damage *damage, uint64_t offset, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	add_line(damage, offset, format, ap);
	va_end(ap);
}

void sw_damage_free(struct sw_damage *damage)
{
	for (size_t i = 0; i < damage->lines.n; i++)
		free(damage->lines.at[i]);
	free(damage->lines.at);
}
