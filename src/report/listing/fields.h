/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the fields of one record as " name=value" (fields.def). */
#ifndef SW_REPORT_LISTING_FIELDS_H
#define SW_REPORT_LISTING_FIELDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "syncwatch/format.h"

/* The record must be whole and checked, as sw_reader_next() hands it out. */
void sw_fields_print(FILE *out, const struct sw_rec *rec);

/* For the test of the table: the bytes after the header of a kind's struct that fields cover, in `covered` (1 each).
 */
void sw_fields_cover(uint8_t kind, unsigned char *covered, size_t room);

#endif
