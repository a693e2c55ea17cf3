/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The message when syncwatch itself fails: the signal, the state of the program and of the trace, and where.
 *
 * A fatal signal then ends the process as it would have without this.  Addresses are printed as object+offset, which
 * `addr2line -f -e OBJECT OFFSET` turns into lines.
 */
#ifndef SW_TOOLS_CRASH_H
#define SW_TOOLS_CRASH_H

/* Installs the handlers, on a stack of their own.  A signal that is ignored stays ignored; under a sanitizer, which has
   handlers for these signals, nothing happens.  clean: called after all was said, from the handler; NULL: nothing. */
void sw_crash_watch(void (*clean)(void));

/* From here on a failure ends the process with this status, not with the signal: that of a program is not ours to
   change. */
void sw_crash_status(int status);

/* For a child process whose parent reports the failure. */
void sw_crash_ignore(void);

/* Notes how the program ended, and the trace at `path`, for the first line.  Both are copied; NULL: nothing. */
void sw_crash_note(const char *note, const char *path);

#endif
