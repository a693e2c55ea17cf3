/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the recorder: wrappers as the interception half writes them, and children that record. */
#ifndef SW_TESTS_RECORDING_H
#define SW_TESTS_RECORDING_H

#include <check.h>
#include <stdint.h>

#include "preload/recorder/recorder.h"
#include "trace_check.h"

#define API_WAIT  7
#define API_ALLOC 8
#define API_SYNC  9

/* One record numbered before the call, after it, and BEGIN with END; `inside` runs as the real function would. */
int fake_wait(uint64_t stream, int status);
void fake_wait_around(uint64_t stream, void (*inside)(void));
/* That many waits, of streams 0, 1, 2... */
void calls(unsigned n);
void fake_alloc(uint64_t address);
void fake_sync(void (*inside)(void));

/* Checked fixture: a fresh directory, removed afterwards. */
extern char test_directory[64];
void enter_directory(void);
void remove_directory(void);

/*
 * Runs `body` and then leave(0) in a child whose trace is FILE in the test's directory; stderr goes to the file
 * "stderr".  `options` (NULL: none) are added to "quiet:report=0".  Returns the child's wait status.
 */
int record_as(const char *file, const char *options, void (*body)(void), void (*leave)(int));
int record_in_child(const char *options, void (*body)(void), void (*leave)(int)); /* t.swt */

/* In a child: takes all of SYNCWATCH_OPTIONS as given, and runs the body. */
void record_as_self(const char *options, void (*body)(void));

/* Reads a trace and asserts that it is whole. */
void read_whole(struct trace *t, const char *path);

/* The content of a small file; static. "" when there is none. */
const char *content_of(const char *path);

#endif
