/* SPDX-License-Identifier: Apache-2.0 */
/* How a program file is linked with CUDA. */
#ifndef SW_TOOLS_ELF_PROBE_H
#define SW_TOOLS_ELF_PROBE_H

#include <stdbool.h>

/*
 * True when the file is an ELF program that nvcc linked (it holds device code) and that does not need a libcudart.so:
 * the runtime is inside it.  False for anything else, scripts and unreadable files included.
 */
bool sw_elf_static_cudart(const char *path);

/* Can the loader preload an object of ours into this program? */
enum sw_elf_kind {
	SW_ELF_UNKNOWN,	   /* cannot be read, or no program that we know */
	SW_ELF_DYNAMIC,	   /* yes */
	SW_ELF_STATIC,	   /* has no loader */
	SW_ELF_FOREIGN,	   /* of another word size or machine */
	SW_ELF_PRIVILEGED, /* set-user-id, set-group-id or with capabilities: the loader ignores our paths */
};

/* The kind of a program; for a script, that of its interpreter. */
enum sw_elf_kind sw_elf_kind(const char *path);

/* Is it an ELF file?  A shell that is given one reads it as a script. */
bool sw_elf_is(const char *path);

/* Does the loader of musl run it? */
bool sw_elf_needs_musl(const char *path);

/* Why execvp() failed with this error, for a user: "it is a folder", "its interpreter '/opt/python' is missing".
   malloc'ed. */
char *sw_elf_why_not(const char *name, int error);

/* Where execvp() would find the program, malloc'ed; NULL: nowhere. */
char *sw_elf_find_program(const char *name);

#endif
