/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace: what the preload object writes and the command reads.
 *
 * A trace is one file: a header page, then chunks of one size.  Each chunk belongs to one *writer* (the buffer of
 * one thread; when a thread ends, the next new thread inherits its writer and announces itself with a THREAD record).
 * Records of one writer stand in the order of their sequence numbers; the reader merges writers by sequence.
 *
 * All integers are little-endian.  Every record starts on an 8-byte boundary.  A reader accepts every version with
 * its own major number or a smaller one; unknown record kinds are skipped by their length.
 *
 * Thread-safety of the file: a writer stores payload first and then publishes `committed` of its chunk with release
 * order, so that whatever a reader finds below `committed` is whole, even after SIGKILL.
 *
 * Public: programs that read traces include this from C or C++. It depends on nothing but the C library, all names
 * begin with sw_ or SW_, and it changes only as doc/decisions.md says: kinds and fields are only appended, and the
 * minor version counts the additions.
 *
 *     format_file.h          first page, chunks, kinds of records, what each record begins with
 *     format_descriptions.h  what other records refer to: programs, threads, call sites, code
 *     format_operations.h    what the program did, and when devices did it
 *     format_libraries.h     calls of NCCL, cuBLAS and others around that
 */
#ifndef SYNCWATCH_FORMAT_H
#define SYNCWATCH_FORMAT_H

#include "format_descriptions.h"
#include "format_file.h"
#include "format_libraries.h"
#include "format_operations.h"

#endif
