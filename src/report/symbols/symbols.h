/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function, file and line of recorded addresses, from the files that were mapped.
 *
 * Works offline, on this machine's files: a module whose build-id differs from the recorded one gives no names.
 * Strings and frames live as long as the struct.  Not thread-safe.
 */
#ifndef SW_REPORT_SYMBOLS_SYMBOLS_H
#define SW_REPORT_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

enum sw_frame_role {
	SW_FRAME_USER,
	SW_FRAME_RUNTIME,
	SW_FRAME_DRIVER,
	SW_FRAME_RECORDER,
	SW_FRAME_STUB,
	SW_FRAME_START,
	SW_FRAME_INTERPRETER,
	SW_FRAME_DISPATCH,
	SW_FRAME_PYTHON,	   /* Python code of the user's own */
	SW_FRAME_PYTHON_LIBRARY,   /* of packages and of the standard library */
	SW_FRAME_PYTHON_GENERATED, /* that a compiler made of the user's own */
	SW_FRAME_AUTOGRAD	   /* a thread of PyTorch's that runs backward passes */
};

struct sw_frame {
	uint64_t ip; /* return address; an inlined frame shares it with the function that it is inlined into; of Python:
			the same for the same line, and no address */
	const char *symbol;   /* as in the symbol table; NULL unknown */
	const char *function; /* demangled; NULL unknown */
	const char *base;     /* the function without types and arguments; NULL unknown */
	const char *file;     /* NULL unknown */
	int line;	      /* 0 unknown */
	const char *module;   /* file name of the mapped object; "" unknown */
	uint64_t offset;      /* of ip in the module */
	enum sw_frame_role role;
	bool inlined;
};

bool sw_frame_is_python(const struct sw_frame *frame);

struct sw_symbol_frames {
	const struct sw_frame *at; /* innermost first */
	size_t n;
	uint32_t skipped; /* frames that the recorder cut off; UINT32_MAX: unknown many */
	bool python;	  /* Python frames stand where the interpreter ran them */
};

struct sw_symbols;

struct sw_symbols *sw_symbols_new(const struct sw_reader *reader);
void sw_symbols_free(struct sw_symbols *symbols);

/* Frames of a recorded stack; an empty one for 0 and for unknown stacks. */
const struct sw_symbol_frames *sw_symbols_stack(struct sw_symbols *symbols, uint32_t stack);

/* Lets a process of its own read the files of these frames while the caller goes on; sw_object_ahead_begin() has
   started it. */
void sw_symbols_ahead(const struct sw_reader *reader, uint32_t stack);

/* Files that frames asked for so far are in, and that are missing or not what ran; index from 0, NULL ends. */
struct sw_named_file;
const struct sw_named_file *sw_symbols_unusable(const struct sw_symbols *symbols, size_t index);

/* Files that could not be used, one line each ("libfoo.so is not the file that ran"); index from 0, NULL ends. */
const char *sw_symbols_complaint(const struct sw_symbols *symbols, size_t index);

#endif
