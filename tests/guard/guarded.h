/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs of the guard's test, one a case: `guarded NAME`.  Each does what programs do with buffers in flight and
 * checks that it sees what it would see without the guard; the script `survive` compares how it ends and what is found.
 */
#ifndef TESTS_GUARD_GUARDED_H
#define TESTS_GUARD_GUARDED_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#define PAGE ((unsigned)sysconf(_SC_PAGESIZE))

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

/* A stream whose work does not end before finish_work(): whatever is given to it is in flight. */
cudaStream_t busy_stream(void);
void finish_work(cudaStream_t stream);

char *pinned(size_t bytes);
/* Page-aligned, private, zeroed. */
char *pages(size_t bytes);
/* The buffer takes part in a copy that is in flight. */
void upload(cudaStream_t stream, const char *from, size_t bytes);
/* Uploads to memory that no other copy uses. */
void upload_aside(cudaStream_t stream, const char *from, size_t bytes);
void download(cudaStream_t stream, char *to, size_t bytes);

/* Defined in cases.def: CASE(name, how it ends, HAZARD or CLEAN). */
#define CASE(name, status, found) void case_##name(void);
#include "guard/cases.def"
#undef CASE

#endif
