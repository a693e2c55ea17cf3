/* SPDX-License-Identifier: Apache-2.0 */
/* Packs a trace into a file: what `pack` and `run --pack` share. */
#ifndef SW_TOOLS_PACK_FILE_H
#define SW_TOOLS_PACK_FILE_H

/* "TRACE.zst", or TRACE itself with ".packed" before ".swt" in a build that cannot compress.  malloc'ed. */
char *sw_pack_default(const char *trace);

/* Prints what was packed, and what could not be, on stderr.  SW_EXIT_OK or a status after one line. */
int sw_pack_file(const char *trace, const char *file);

#endif
