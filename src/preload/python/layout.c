/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From 3.13 on _PyRuntime begins with a table of offsets for debuggers (Include/internal/pycore_debug_offsets.h, in
 * 3.13 pycore_runtime.h).  The versions before have fixed layouts, which no release after the first of a version
 * changes: taken with offsetof() from the headers of 3.9.18, 3.10.13, 3.11.7 and 3.12.1 (pystate.h, frameobject.h,
 * code.h, internal/pycore_frame.h, internal/pycore_runtime.h).
 */
#include <stdlib.h>
#include <string.h>

#include "preload/python/python.h"

/* Alike in all versions, but for builds whose objects have larger heads: the start tells those apart. */
#define OBJECTS                                                                                                        \
	.type = 8, .type_name = 24, .type_free = 48, .text_length = 16, .text_state = 32, .bytes_length = 16,          \
	.bytes_data = 32, .code_mask = ~0ull

static const struct fixed {
	uint32_t minor;
	struct sw_python_layout layout;
} fixed[] = {
	{9,
	 {OBJECTS, .style = SW_PYTHON_OBJECTS, .format = SW_PYTHON_LNOTAB, .finalizing = 16, .interpreters = 32,
	  .interpreter = 16, .frame = 24, .back = 24, .code = 32, .instruction = 104, .unit = 1, .file = 104,
	  .function = 112, .first_line = 40, .lines = 120, .text_ascii = 48, .text_compact = 72}},
	{10,
	 {OBJECTS, .style = SW_PYTHON_OBJECTS, .format = SW_PYTHON_LINETABLE, .finalizing = 16, .interpreters = 32,
	  .interpreter = 16, .frame = 24, .back = 24, .code = 32, .instruction = 96, .unit = 2, .file = 104,
	  .function = 112, .first_line = 40, .lines = 120, .text_ascii = 48, .text_compact = 72}},
	{11,
	 {OBJECTS,
	  .style = SW_PYTHON_FLAG,
	  .format = SW_PYTHON_LOCATIONS,
	  .finalizing = 24,
	  .interpreters = 40,
	  .interpreter = 16,
	  .holder = 56,
	  .chunk = 296,
	  .held = 8,
	  .back = 48,
	  .code = 32,
	  .instruction = 56,
	  .mark = 68,
	  .file = 112,
	  .function = 128,
	  .first_line = 72,
	  .lines = 136,
	  .bytecode = 184,
	  .text_ascii = 48,
	  .text_compact = 72}},
	{12,
	 {OBJECTS,
	  .style = SW_PYTHON_SHIMS,
	  .format = SW_PYTHON_LOCATIONS,
	  .finalizing = 24,
	  .interpreters = 40,
	  .interpreter = 16,
	  .holder = 56,
	  .chunk = 232,
	  .held = 0,
	  .back = 8,
	  .code = 0,
	  .instruction = 56,
	  .mark = 70,
	  .shim = 3,
	  .file = 112,
	  .function = 128,
	  .first_line = 68,
	  .lines = 136,
	  .bytecode = 192,
	  .text_ascii = 40,
	  .text_compact = 56}},
};

/*
 * The published offsets: which word of the table holds what.  The table only grows by fields within its groups, so
 * each version has its own numbers.
 */
struct published {
	uint32_t minor;
	uint8_t finalizing, interpreters, interpreter, frame, chunk, back, code, instruction, mark, file, function,
		lines, first_line, bytecode, type, type_name, text_size, bytes_length, bytes_data, words;
};
/* Words before the table's groups: cookie, version, free_threaded. */
static const struct published published[] = {
	/* runtime_state 3, interpreter_state 6, thread_state 19, interpreter_frame 28, code_object 34, pyobject 44,
	   type_object 46, tuple 50, list 53, dict 56, float 59, long 61, bytes 64, unicode 67 */
	{.minor = 13,
	 .finalizing = 4,
	 .interpreters = 5,
	 .interpreter = 22,
	 .frame = 23,
	 .chunk = 26,
	 .back = 29,
	 .code = 30,
	 .instruction = 31,
	 .mark = 33,
	 .file = 35,
	 .function = 37,
	 .lines = 38,
	 .first_line = 39,
	 .bytecode = 43,
	 .type = 45,
	 .type_name = 47,
	 .bytes_length = 65,
	 .bytes_data = 66,
	 .text_size = 67,
	 .words = 71},
	/* interpreter_state has 3 more (threads_main, code_object_generation, tlbc_generation), thread_state begins at
	   22, interpreter_frame at 31 with 2 more, code_object at 39 with 1 more, pyobject 50, type_object 52, tuple
	   56, list 59, set 62, dict 66, float 69, long 71, bytes 74, unicode 77 */
	{.minor = 14,
	 .finalizing = 4,
	 .interpreters = 5,
	 .interpreter = 25,
	 .frame = 26,
	 .chunk = 29,
	 .back = 32,
	 .code = 33,
	 .instruction = 34,
	 .mark = 36,
	 .file = 40,
	 .function = 42,
	 .lines = 43,
	 .first_line = 44,
	 .bytecode = 48,
	 .type = 51,
	 .type_name = 53,
	 .bytes_length = 75,
	 .bytes_data = 76,
	 .text_size = 77,
	 .words = 81},
};
#define TABLE_WORDS 81
#define LARGEST	    (1u << 20) /* an offset beyond is none */

/* Takes the offsets from the table that the interpreter publishes.  NULL: done; else why not. */
static const char *take_published(struct sw_python_layout *out, const struct published *p, const void *runtime)
{
	uint64_t word[TABLE_WORDS];
	if (!sw_python_read(runtime, word, p->words * sizeof *word) || memcmp(word, "xdebugpy", 8) != 0)
		return "it does not publish its layout";
	if (word[1] >> 16 != (3u << 8 | p->minor))
		return "the layout that it publishes is of another version";
	if (word[2])
		return "it is a free-threaded build";
	for (unsigned i = 3; i < p->words; i++)
		if (word[i] >= LARGEST)
			return "the layout that it publishes is damaged";
#define AT(name) .name = (uint32_t)word[p->name]
	*out = (struct sw_python_layout){
		.style = SW_PYTHON_SHIMS,
		.format = SW_PYTHON_LOCATIONS,
		.shim = 3,
		AT(finalizing),
		AT(interpreters),
		AT(interpreter),
		AT(frame),
		AT(chunk),
		AT(back),
		AT(code),
		AT(instruction),
		AT(mark),
		AT(file),
		AT(function),
		AT(lines),
		AT(first_line),
		AT(bytecode),
		AT(type),
		AT(type_name),
		AT(bytes_length),
		AT(bytes_data),
		.type_free = (uint32_t)word[p->type_name] + 24, /* after tp_name, tp_basicsize, tp_itemsize: object.h */
		.text_state = (uint32_t)word[p->text_size + 1],
		.text_length = (uint32_t)word[p->text_size + 2],
		.text_ascii = (uint32_t)word[p->text_size + 3],
		/* PyCompactUnicodeObject adds utf8_length and utf8: unicodeobject.h */
		.text_compact = (uint32_t)word[p->text_size + 3] + 16,
		.code_mask = p->minor >= 14 ? ~3ull : ~0ull, /* pycore_stackref.h */
	};
#undef AT
	return NULL;
}

/* Where the interpreter has what stacks are read from: fixed for versions until 3.12, published by the interpreter
   itself in later ones.  NULL: found; else why not. */
const char *sw_python_layout_find(struct sw_python_layout *out, const char *version, const void *runtime)
{
	char *end;
	if (strncmp(version, "3.", 2) != 0)
		return "only 3.9 to 3.14 are known";
	const unsigned long minor = strtoul(version + 2, &end, 10);
	if (*end == '.')
		strtoul(end + 1, &end, 10);
	if (*end != ' ' && *end != '+' && *end)
		return "it is a version before a release";
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		if (fixed[i].minor == minor) {
			*out = fixed[i].layout;
			return NULL;
		}
	for (size_t i = 0; i < sizeof published / sizeof *published; i++)
		if (published[i].minor == minor)
			return take_published(out, &published[i], runtime);
	return "only 3.9 to 3.14 are known";
}
