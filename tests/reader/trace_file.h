/* SPDX-License-Identifier: Apache-2.0 */
/* A trace in a file of its own for each test, opened, read, damaged. */
#ifndef TESTS_READER_TRACE_FILE_H
#define TESTS_READER_TRACE_FILE_H

#include "reader/reader.h"
#include "reader/trace_builder.h"

#define DEVICE 0x7f0000000000ull

extern char path[64];

void fresh_path(void);
void remove_path(void);
/* Opens the trace; the test fails when it is refused. */
struct sw_reader *reader(void);
/* Opens what must be refused; the code. */
int open_code(struct sw_error *error);
/* The next record of a kind; fails the test when there is none. */
struct sw_record until(struct sw_reader *r, uint8_t kind);
/* Reads to the end, in order; how many records. */
size_t read_all(struct sw_reader *r);
void patch(uint64_t offset, const void *bytes, size_t n);
void cut(uint64_t bytes);
/* Does a line of damage have the text, the file and an offset? */
bool damage_says(const struct sw_reader *r, const char *text);

#endif
