/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads JSON from a file piece by piece, in memory that does not grow with it; gzip where the build has zlib.
 *
 * Not a validator of everything: what is skipped need only be balanced.  The first error is kept with its offset, and
 * from then on every function fails.
 */
#ifndef SW_REPORT_KINETO_JSON_SCAN_H
#define SW_REPORT_KINETO_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct sw_json_scan;

/* 0, or -errno with error filled; plain files alone. */
int sw_json_scan_open(const char *path, struct sw_json_scan **out, struct sw_error *error);
void sw_json_scan_close(struct sw_json_scan *scan);

/* Offset (of the expanded text) of the next byte, and the first error: 0, or SW_E_FORMAT with error filled. */
uint64_t sw_json_scan_offset(const struct sw_json_scan *scan);
int sw_json_scan_error(const struct sw_json_scan *scan, struct sw_error *error);
/* "not JSON here: WHAT". */
void sw_json_scan_fail(struct sw_json_scan *scan, const char *what);

/* The next character that is no blank, not taken; -1: the end, or an error. */
int sw_json_scan_peek(struct sw_json_scan *scan);
/* Takes it if it is this one. */
bool sw_json_scan_take(struct sw_json_scan *scan, char wanted);

/* A string, cut off where it does not fit; what is escaped and not ASCII becomes '?'. */
bool sw_json_scan_string(struct sw_json_scan *scan, char *text, size_t room);
/* A number as it stands there. */
bool sw_json_scan_number(struct sw_json_scan *scan, char *text, size_t room);
/* Any value. */
bool sw_json_scan_skip(struct sw_json_scan *scan);

/*
 * Members of an object, or elements of an array:
 *
 *     if (sw_json_scan_take(scan, '{'))
 *             for (bool first = true; sw_json_scan_member(scan, &first, key, sizeof key);)
 *                     ... take the value
 *
 * false: its end, which is taken, or an error.
 */
bool sw_json_scan_member(struct sw_json_scan *scan, bool *first, char *key, size_t room);
/* The end of the array is not taken, so that its offset can be asked for. */
bool sw_json_scan_element(struct sw_json_scan *scan, bool *first);

/* Bytes as they are, for copying; how many there were. */
size_t sw_json_scan_bytes(struct sw_json_scan *scan, void *bytes, size_t most);

#endif
