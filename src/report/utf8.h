/* SPDX-License-Identifier: Apache-2.0 */
/* Names come from programs and may hold anything: what is written is valid UTF-8. */
#ifndef SW_REPORT_UTF8_H
#define SW_REPORT_UTF8_H

#include <stddef.h>

/* Bytes of the valid character at `text` (1 to 4), 0 if it is not one (overlong, surrogate, cut off, above U+10FFFF).
 */
size_t sw_utf8_length(const char *text);

#endif
