/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first thread of the process, as other threads may read it while it waits for them.
 *
 * PyTorch runs backward passes on threads of its own, without any Python frame; the thread that called backward() waits
 * for them and keeps its frames.  If it does not wait after all, what is read may be nonsense, but it can be read:
 * frames lie in chunks of memory, the first of which is freed when Python ends, and (those of the interpreter itself)
 * on the stack of the thread, which is never unmapped.  Whatever lies elsewhere is not followed.
 */
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/python/stacks.h"

#define STACK_BYTES (1u << 20) /* looked at, of its outermost calls: less than any limit of the stack */
#define CHUNKS	    64u	       /* more than any thread has */

static const char *pointer(const char *at)
{
	return (const char *)(uintptr_t)sw_python_word(at);
}

void sw_python_main_note(const char *thread)
{
	struct sw_python_main *m = &sw_python.main;
	const char *chunk, *end = (const char *)(uintptr_t)getauxval(AT_RANDOM); /* lies where the stack begins */
	if (!sw_python.at.chunk || !end || syscall(SYS_gettid) != getpid())
		return;
	chunk = pointer(thread + sw_python.at.chunk);
	for (unsigned n = 0; chunk && pointer(chunk) && n < CHUNKS; n++)
		chunk = pointer(chunk);
	uint64_t bytes = 0;
	if (!chunk || !sw_python_read(chunk + 8, &bytes, sizeof bytes) || bytes > STACK_BYTES)
		return;
	m->frames = chunk;
	m->end_of_frames = chunk + bytes;
	m->stack = end - STACK_BYTES;
	m->end_of_stack = end;
	__atomic_store_n(&m->thread, thread, __ATOMIC_RELEASE);
}

const char *sw_python_main_frame(const char *own)
{
	const struct sw_python_layout *at = &sw_python.at;
	const char *thread = __atomic_load_n(&sw_python.main.thread, __ATOMIC_ACQUIRE);
	if (!thread || thread == own)
		return NULL;
	const char *holder = at->holder ? pointer(thread + at->holder) : NULL;
	if (at->holder && !sw_python_main_has(holder, at->held + 8))
		return NULL;
	return at->holder ? pointer(holder + at->held) : pointer(thread + at->frame);
}
