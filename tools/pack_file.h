/* SPDX-License-Identifier: Apache-2.0 */
/* Packs a trace into a file: what `pack` and `run --pack` share. */
#ifndef SW_TOOLS_PACK_FILE_H
#define SW_TOOLS_PACK_FILE_H

#include <stdbool.h>

/* Name of a packed trace: "TRACE.zst", or TRACE itself with ".packed" before ".swt" in a build that cannot compress.
   malloc'ed. */
char *sw_pack_default(const char *trace);

/* Packs a trace.  SW_EXIT_OK, or a status after one line.  `shown`: prints what was packed, and what could not be, on
   stderr. */
int sw_pack_file(const char *trace, const char *file, bool shown);

/* Packs a trace that is complete into a file of its own, which replaces it.  Its name, malloc'ed; NULL after
   one line: the trace is as it was. */
char *sw_pack_replace(const char *trace);

#endif
