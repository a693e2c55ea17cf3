/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-python.so: the Python frames of each recorded call.
 *
 * Loaded by libsyncwatch.so when the process is a CPython interpreter of a version that is known here.  It reads the
 * interpreter's structures in the thread whose call is recorded, without the GIL: the chain of frames of a thread is
 * changed by that thread alone, and what a frame refers to lives as long as the frame.
 *
 * On the path of a call: plain loads along that chain, compared with the chain of an earlier call.  Whatever is new is
 * read with process_vm_readv(), which fails where memory cannot be read.  Nothing is allocated on the path of a call,
 * nothing of Python is called but PyGILState_GetThisThreadState(), which only reads a pthread key.
 */
#ifndef SW_PRELOAD_PYTHON_PYTHON_H
#define SW_PRELOAD_PYTHON_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- layout.c: where things lie in this interpreter ------------------------------------------------------------- */

enum sw_python_style {
	SW_PYTHON_OBJECTS = 1, /* 3.9, 3.10: frame objects, each with an evaluation loop of its own */
	SW_PYTHON_FLAG,	       /* 3.11: a frame says whether a loop was started for it (is_entry) */
	SW_PYTHON_SHIMS	       /* 3.12 on: a frame of the loop itself ends the frames that it runs (owner) */
};
enum sw_python_format {
	SW_PYTHON_LNOTAB = 1, /* 3.9: Objects/lnotab_notes.txt */
	SW_PYTHON_LINETABLE,  /* 3.10: PEP 626 */
	SW_PYTHON_LOCATIONS   /* 3.11 on: Objects/locations.md (InternalDocs/code_objects.md) */
};

/* Offsets in bytes. */
struct sw_python_layout {
	enum sw_python_style style;
	enum sw_python_format format;
	uint32_t finalizing, interpreters; /* of _PyRuntime */
	uint32_t interpreter, frame,
		holder; /* of a thread state; holder: the frame lies in a _PyCFrame, 0: it does not */
	uint32_t chunk; /* of a thread state: the stack of frames, a list of chunks {previous, bytes, ...}; 0: none */
	uint32_t held;	/* of a _PyCFrame */
	uint32_t back, code, instruction, mark;		      /* of a frame; mark: is_entry or owner, one byte */
	uint32_t shim;					      /* from this owner on a frame is none of Python */
	uint64_t code_mask;				      /* 3.14 keeps a tag in the low bits */
	uint32_t file, function, first_line, lines, bytecode; /* of a code object; bytecode 0: offsets, no addresses */
	uint32_t unit; /* bytes a step of `instruction`, where those are offsets */
	uint32_t type, type_name, type_free;
	uint32_t text_length, text_state, text_ascii, text_compact;
	uint32_t bytes_length, bytes_data;
};

/* `version`: Py_GetVersion(); `runtime`: _PyRuntime.  NULL: done; else why this interpreter is not understood. */
const char *sw_python_layout_find(struct sw_python_layout *out, const char *version, const void *runtime);

/* ---- memory.c --------------------------------------------------------------------------------------------------- */

/* Copies memory that may not be there. */
bool sw_python_read(const void *at, void *out, size_t bytes);
bool sw_python_readable(void); /* Does the kernel let us? */
bool sw_python_writable(const void *at);

static inline uint64_t sw_python_word(const void *at)
{
	return *(const uint64_t *)at;
}

/* ---- source.c: code objects as text ----------------------------------------------------------------------------- */

#define SW_PYTHON_FILE	   1024u /* longer paths lose their beginning */
#define SW_PYTHON_FUNCTION 256u	 /* longer names lose their end */

struct sw_python_types {
	const void *code, *text, *bytes; /* PyCode_Type, PyUnicode_Type, PyBytes_Type */
};

/* A line table lives as long as its code object. */
struct sw_python_table {
	const uint8_t *data;
	uint64_t bytes; /* 0: it is none */
};

struct sw_python_source {
	struct sw_python_table table;
	uint32_t first_line, file_bytes, function_bytes;
	char text[SW_PYTHON_FILE + SW_PYTHON_FUNCTION]; /* file, function */
};

enum sw_python_found {
	SW_PYTHON_UNREADABLE, /* not what the layout says */
	SW_PYTHON_INTERNAL,   /* code of the interpreter itself: no file */
	SW_PYTHON_SOURCE
};
enum sw_python_found sw_python_source_read(const struct sw_python_layout *at, const struct sw_python_types *types,
					   const void *code, struct sw_python_source *out);

/* Where a table was read last: tables have no index, and code that was generated has thousands of lines. */
struct sw_python_entry {
	uint64_t position; /* in the table; 0: its beginning */
	int64_t offset;	   /* where the range of this entry begins */
	int64_t line;	   /* before the entry is applied */
};

/* A bytes object, read with care: what it holds may be loaded from then on. */
struct sw_python_table sw_python_table_of(const struct sw_python_layout *at, const struct sw_python_types *types,
					  const void *object);

/* The line of an instruction, by its offset in bytes; 0: it has none, or the table is damaged.  `last`: of the same
   table, begins as zero. */
uint32_t sw_python_line(enum sw_python_format format, const struct sw_python_table *table, uint32_t first_line,
			int64_t offset, struct sw_python_entry *last);

/* ---- freed.c: code objects that were freed
   ------------------------------------------------------------------------ */

/*
 * A code object that was seen in a stack is known by its address, which another one may get after it.  So the one
 * place of the interpreter through which every code object ends, PyCode_Type.tp_dealloc, leads through here.  That
 * is the only word of the interpreter that we change.
 */
bool sw_python_freed_start(void *code_type, uint32_t type_free);
/* Watches for the end of a code object that was seen in a stack: its address may then mean another one
   (sw_python_freed_at()). */
void sw_python_freed_watch(const void *code);

extern uint64_t sw_python_freed_count;
static inline uint64_t sw_python_freed(void)
{
	return __atomic_load_n(&sw_python_freed_count, __ATOMIC_ACQUIRE);
}
/* The n-th (from 0) that ended; NULL: no longer known. */
const void *sw_python_freed_at(uint64_t n);

#endif
