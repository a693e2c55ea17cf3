/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --capture python:MODULE.FUNC: is the calling thread inside of that function?
 *
 * Asked for each call, recorded or not: three loads and a look-up for each frame.  Which code objects are the function
 * is remembered until one of them ends.
 */
#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "base/python_name.h"
#include "preload/platform/sys.h"
#include "preload/python/stacks.h"

#define CODES  4096u /* a power of two */
#define FRAMES 1024u /* outer ones are not looked at */

enum { IS_OTHER = 1, IS_FUNCTION = 2, WHAT = 3 };

/* Code objects with what they are in the low bits, which are 0 in an address. */
static _Atomic uint64_t known[CODES];
static _Atomic uint64_t freed; /* ends of code objects that were taken into account */

/* Reads file and name of a code object, and says whether it is the function of --capture (IS_FUNCTION). */
static uint64_t read_code(const void *code)
{
	struct sw_python_source source;
	char file[SW_PYTHON_FILE + 1], function[SW_PYTHON_FUNCTION + 1];
	const uint64_t mask = sw_sys_block_signals();
	const int saved = errno;
	uint64_t what = IS_OTHER;
	if (sw_python_source_read(&sw_python.at, &sw_python.types, code, &source) == SW_PYTHON_SOURCE) {
		memcpy(file, source.text, source.file_bytes);
		file[source.file_bytes] = 0;
		memcpy(function, source.text + source.file_bytes, source.function_bytes);
		function[source.function_bytes] = 0;
		what = sw_python_is_named(file, function, sw_python.recorder->options()->capture) ? IS_FUNCTION
												  : IS_OTHER;
		sw_python_freed_watch(code);
	}
	errno = saved;
	sw_sys_set_signals(mask);
	return what;
}

/* Is the code object the function?  Asked of each only once, until code objects end. */
static bool is_function(const void *code)
{
	_Atomic uint64_t *place = &known[(sw_hash_u64((uintptr_t)code) >> 12) % CODES];
	uint64_t at = atomic_load_explicit(place, memory_order_relaxed);
	if ((at & ~(uint64_t)WHAT) != (uintptr_t)code) {
		at = (uintptr_t)code | read_code(code);
		atomic_store_explicit(place, at, memory_order_relaxed);
	}
	return (at & WHAT) == IS_FUNCTION;
}

/* Forgets all answers when a code object has ended, whose address another one may have by now. */
static void forget_ended(void)
{
	const uint64_t now = sw_python_freed();
	if (atomic_load_explicit(&freed, memory_order_acquire) == now)
		return;
	for (uint32_t i = 0; i < CODES; i++)
		atomic_store_explicit(&known[i], 0, memory_order_relaxed);
	atomic_store_explicit(&freed, now, memory_order_release); /* other threads do not look at them before */
}

/* Walks through the Python frames of the thread, innermost first, and compares each one's code with the functions that
   were asked for. */
bool sw_python_inside(void)
{
	const struct sw_python_layout *at = &sw_python.at;
	const char *frame = sw_python_innermost();
	forget_ended();
	for (uint32_t n = 0; frame && n < FRAMES; n++) {
		const uint64_t code = sw_python_word(frame + at->code) & (at->code_mask ? at->code_mask : UINT64_MAX);
		if (code && is_function((const void *)(uintptr_t)(code & ~(uint64_t)WHAT)))
			return true;
		frame = (const char *)(uintptr_t)sw_python_word(frame + at->back);
	}
	return false;
}
