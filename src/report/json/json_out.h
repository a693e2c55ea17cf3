/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON as it goes: no tree, no library.  Commas and indentation are kept by the writer; keys are NULL inside
 * arrays. Strings become valid UTF-8 (U+FFFD for what is not); numbers are integers or finite.
 */
#ifndef SW_REPORT_JSON_JSON_OUT_H
#define SW_REPORT_JSON_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sw_json {
	FILE *out;
	int depth;
	bool first; /* the innermost array or object is still empty */
};

/* Writes one string in its quotes, without any writer around it. */
void sw_json_quote(FILE *out, const char *text);

void sw_json_open(struct sw_json *json, const char *key, char bracket);	    /* '{' or '[' */
void sw_json_close(struct sw_json *json, char bracket);			    /* '}' or ']' */
void sw_json_text(struct sw_json *json, const char *key, const char *text); /* NULL: null */
/* Writes a number that is not negative; key NULL: an element of an array. */
void sw_json_number(struct sw_json *json, const char *key, uint64_t number);
/* Writes a number that may be negative. */
void sw_json_signed(struct sw_json *json, const char *key, int64_t number);
void sw_json_ms(struct sw_json *json, const char *key, uint64_t ns);	/* milliseconds, six decimals */
void sw_json_hex(struct sw_json *json, const char *key, uint64_t word); /* "0x7f..." */
/* Writes text that is JSON already; NULL: null. */
void sw_json_raw(struct sw_json *json, const char *key, const char *value);
/* Writes true or false. */
void sw_json_bool(struct sw_json *json, const char *key, bool value);

#endif
