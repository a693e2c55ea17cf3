/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/stacks/unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "preload/platform/loaded_object.h"
#include "preload/platform/sys.h"
#include "preload/stacks/modules.h"

#ifdef HAVE_LIBUNWIND

/*
 * libunwind tests whether memory can be read by writing a byte of it into a pipe of its own, and opens that pipe in the
 * program's descriptor table.  A program that closes every descriptor, and then opens files of its own under the same
 * numbers, would lose a byte of its input and find a byte of its stack in its output; libunwind closes what lies there,
 * too.  So its pipe2() gives it a number that no process has, and its read() and write() of that number test the memory
 * in another way.
 */

#define NO_DESCRIPTOR 0x7fffff00

/* Stands for pipe() in libunwind. */
static int no_pipe(int out[2])
{
	out[0] = out[1] = NO_DESCRIPTOR;
	return 0;
}

/* Stands for pipe2(). */
static int no_pipe2(int out[2], int flags)
{
	(void)flags;
	return no_pipe(out);
}

/* Nothing is in the pipe; it need not be opened again. */
static ssize_t empty_read(int fd, void *to, size_t bytes)
{
	if (fd != NO_DESCRIPTOR)
		return read(fd, to, bytes);
	errno = EAGAIN;
	return -1;
}

/* Stands for write(): to the pipe it tests whether the byte can be read. */
static ssize_t probing_write(int fd, const void *from, size_t bytes)
{
	if (fd != NO_DESCRIPTOR)
		return write(fd, from, bytes);
	if (sw_sys_readable(from))
		return 1;
	errno = EFAULT;
	return -1;
}

/* Stands for syscall(), by which newer versions write. */
static long probing_call(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_write && a == NO_DESCRIPTOR)
		return probing_write((int)a, (const void *)(uintptr_t)b, (size_t)c);
	return syscall(number, a, b, c, d, e, f);
}

static const struct {
	const char *name;
	void *function;
} instead[] = {
	{"pipe", (void *)no_pipe},	  {"pipe2", (void *)no_pipe2},	     {"read", (void *)empty_read},
	{"write", (void *)probing_write}, {"syscall", (void *)probing_call},
};

/* For sw_object_imports(): replaces the functions of `instead`. */
static void redirect(const char *name, void **slot, void *unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof instead / sizeof *instead; i++)
		if (strcmp(name, instead[i].name) == 0)
			sw_object_set_import(slot, instead[i].function);
}

/* Keeps libunwind, of which an address is given, from opening descriptors.  Before its first use. */
static void unwind_without_pipe(const void *inside)
{
	struct sw_loaded_object library;
	if (sw_object_of(inside, &library))
		sw_object_imports(&library, redirect, NULL);
}

#define NAME_OF(symbol)	 NAME_OF_(symbol)
#define NAME_OF_(symbol) #symbol

static struct {
	int (*init)(unw_cursor_t *, unw_context_t *);
	int (*step)(unw_cursor_t *);
	int (*get)(unw_cursor_t *, int, unw_word_t *);
	int (*where)(unw_cursor_t *, int, unw_save_loc_t *);
	int (*is_signal)(unw_cursor_t *);
	int (*policy)(unw_addr_space_t, unw_caching_policy_t);
	void (*flush)(unw_addr_space_t, unw_word_t, unw_word_t);
	unw_addr_space_t *space;
	bool loaded;
} lib;

/* ThreadSanitizer sees the locks of libunwind, but not how its users know that it is loaded: we notify its runtime. */
extern void __tsan_release(void *) __attribute__((weak));
extern void __tsan_acquire(void *) __attribute__((weak));

static bool used_without; /* a walk ended for lack of it */

/* Finds all functions or gives up.  libunwind's header makes unw_step a macro for _ULx86_64_step, hence NAME_OF. */
bool sw_unwind_load(void)
{
	/* Version 8 is the ABI since libunwind 1.0; LLVM's library of the same name has other symbols. */
	static const char *const names[] = {"libunwind.so.8", "libunwind.so"};
	void *handle = NULL;
	for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return false;
	*(void **)&lib.init = dlsym(handle, NAME_OF(unw_init_local));
	*(void **)&lib.step = dlsym(handle, NAME_OF(unw_step));
	*(void **)&lib.get = dlsym(handle, NAME_OF(unw_get_reg));
	*(void **)&lib.where = dlsym(handle, NAME_OF(unw_get_save_loc));
	*(void **)&lib.is_signal = dlsym(handle, NAME_OF(unw_is_signal_frame));
	*(void **)&lib.policy = dlsym(handle, NAME_OF(unw_set_caching_policy));
	*(void **)&lib.flush = dlsym(handle, NAME_OF(unw_flush_cache));
	lib.space = dlsym(handle, NAME_OF(unw_local_addr_space));
	if (!lib.init || !lib.step || !lib.get || !lib.where || !lib.is_signal || !lib.policy || !lib.flush ||
	    !lib.space) {
		dlclose(handle);
		return false;
	}
	unwind_without_pipe((const void *)lib.init);
	lib.policy(*lib.space, UNW_CACHE_PER_THREAD);
	if (__tsan_release)
		__tsan_release(&lib);
	__atomic_store_n(&lib.loaded, true, __ATOMIC_SEQ_CST);
	/* A stack that ended too early is walked again. */
	if (__atomic_load_n(&used_without, __ATOMIC_SEQ_CST))
		__atomic_fetch_add(&sw_modules_unmapped, 1, __ATOMIC_RELEASE);
	return true;
}

bool sw_unwind_loaded(void)
{
	return __atomic_load_n(&lib.loaded, __ATOMIC_SEQ_CST);
}

/* A walk ended early.  Was that because libunwind is not loaded yet?  Then such stacks are walked again when it is. */
bool sw_unwind_lacks_library(void)
{
	if (!sw_unwind_loaded())
		__atomic_store_n(&used_without, true, __ATOMIC_SEQ_CST);
	return !sw_unwind_loaded(); /* it may have come meanwhile */
}

/* With libunwind: its caches too. */
void sw_unwind_flush(void)
{
	sw_unwind_forget_rules();
	if (sw_unwind_loaded())
		lib.flush(*lib.space, 0, 0);
}

/* The state of the wrapper's caller just after the call: instruction, stack and frame pointer are all that rules for
   return addresses on x86-64 are made of. */
static void start_cursor(struct sw_unwind *u, const uint64_t *frame)
{
	if (__tsan_acquire)
		__tsan_acquire(&lib);
	memset(&u->context, 0, sizeof u->context);
	u->context.uc_mcontext.gregs[REG_RBP] = (greg_t)frame[0];
	u->context.uc_mcontext.gregs[REG_RIP] = (greg_t)frame[1];
	u->context.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)(frame + 2);
	lib.init(&u->cursor, &u->context);
}

/* Where the frame pointer register of the cursor's frame was saved: until a frame below did so, by the wrapper. */
static uint64_t rbp_slot(struct sw_unwind *u)
{
	unw_save_loc_t at;
	if (lib.where(&u->cursor, UNW_X86_64_RBP, &at) || at.type != UNW_SLT_MEMORY)
		return 0;
	bool ours = at.u.addr - (uintptr_t)&u->context < sizeof u->context;
	return ours ? (uintptr_t)u->frame : at.u.addr;
}

/* Did the frame pointer lead from the last frame to this stack pointer?  By convention it points 16 bytes below; a
   little more where the function aligned its stack. Code that uses the register for other things rarely comes near. */
static bool led_by(uint64_t rbp, uint64_t sp)
{
	return rbp % 8 == 0 && rbp < sp && sp - rbp <= 128;
}

/* mov $15,%rax; syscall: debuggers and libgcc know the return of a signal handler by these bytes, too. */
static bool is_trampoline(uint64_t ip)
{
	static const unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	const char *at = (const char *)(uintptr_t)ip;
	return sw_sys_readable(at) && sw_sys_readable(at + sizeof code - 1) && memcmp(at, code, sizeof code) == 0;
}

/*
 * Did this step lead from a signal's trampoline to what the signal interrupted?  Versions of libunwind differ in what
 * they call a signal frame: the trampoline, what it interrupted, or all beyond; the code shows which step it was.  The
 * code alone would not do: without unwind information libunwind guesses a return address.
 */
static bool left_signal(struct sw_unwind *u, bool before)
{
	return (before || lib.is_signal(&u->cursor) > 0) && is_trampoline(u->last.ip);
}

/* One frame further with libunwind: 1, 0: no more, -1: it cannot go on. */
static int step_cursor(struct sw_unwind *u, struct sw_unwind_frame *out)
{
	unw_word_t ip, sp, rbp;
	const bool before = lib.is_signal(&u->cursor) > 0;
	int got = lib.step(&u->cursor);
	if (got <= 0)
		return got ? -1 : 0;
	const bool signal = left_signal(u, before);
	if (lib.get(&u->cursor, UNW_REG_IP, &ip) || lib.get(&u->cursor, UNW_REG_SP, &sp) ||
	    lib.get(&u->cursor, UNW_X86_64_RBP, &rbp))
		return -1;
	if (!ip)
		return 0;
	bool led = led_by(u->last.rbp, sp);
	*out = (struct sw_unwind_frame){
		.slot = signal ? 0 : sp - 8,
		.ip = ip + signal, /* where a signal came: no return address, made one that points after it */
		.base_slot = led ? u->last.rbp_slot : 0,
		.base = led ? u->last.rbp : 0,
		.rbp = rbp,
		.rbp_slot = rbp_slot(u),
	};
	return 1;
}

#else

bool sw_unwind_load(void)
{
	return false;
}

bool sw_unwind_loaded(void)
{
	return false;
}

bool sw_unwind_lacks_library(void)
{
	return true;
}

void sw_unwind_flush(void)
{
#ifdef __x86_64__
	sw_unwind_forget_rules();
#endif
}

#endif

/* The first thread's stack grows down to its limit at most; libc would read all mappings to say where it ends. */
#define FIRST_BYTES (8ul << 20)

/* Where the thread's stack lies: the main thread's by what the kernel put at its end, as libc would read
   /proc/self/maps for it; the others' by libc. */
struct sw_unwind_stack sw_unwind_find_stack(void)
{
	pthread_attr_t attributes;
	void *low = NULL;
	size_t bytes = 0;
	/* The kernel put these bytes between the first frame and the stack's end. */
	const uintptr_t end = getauxval(AT_RANDOM) & ~7ul;
	if (end && syscall(SYS_gettid) == getpid())
		return (struct sw_unwind_stack){end - FIRST_BYTES, end};
	if (pthread_getattr_np(pthread_self(), &attributes))
		return (struct sw_unwind_stack){0};
	pthread_attr_getstack(&attributes, &low, &bytes);
	pthread_attr_destroy(&attributes);
	return (struct sw_unwind_stack){(uintptr_t)low, (uintptr_t)low + bytes};
}

/* Begins a walk up the call stack.  The first step takes the caller from the frame record at `frame`; tables are needed
   from the second step on. */
void sw_unwind_start(struct sw_unwind *u, const void *frame, struct sw_unwind_stack stack,
		     struct sw_unwind_objects *objects, bool library)
{
	u->frame = frame;
	/* Tables may lead anywhere on the thread's own stack; frame records only upwards, also from another stack. */
	u->top = !SW_ARCH_USES_LIBUNWIND || (uintptr_t)frame >= stack.low ? stack.top : 0;
	u->sp = (uintptr_t)(u->frame + 2);
	u->first = true;
	u->with_library = library;
	u->objects = objects;
#ifdef HAVE_LIBUNWIND
	if (library)
		start_cursor(u, frame);
#endif
}

#ifdef __x86_64__

/* One step to the caller without libunwind: by the unwind tables. */
static int step_without_library(struct sw_unwind *u, struct sw_unwind_frame *out)
{
	return sw_unwind_by_tables(u, out);
}

#else

/* The chain ends with a null pointer.  Code without frame records leaves anything in the register: the walk goes only
   upwards and only inside the stack, and else says that it failed.  Of what a signal interrupted, the function itself
   is missing: the kernel's frame record leads to its caller.  The guard begins with records of its own for it. */
static int step_without_library(struct sw_unwind *u, struct sw_unwind_frame *out)
{
	uintptr_t next = u->frame[0];
	if (!next)
		return 0;
	if (next % 8 || next <= (uintptr_t)u->frame || next > u->top - 16 || u->top < 16)
		return -1;
	*out = (struct sw_unwind_frame){
		.slot = next + 8,
		.ip = ((const uint64_t *)next)[1],
		.base_slot = (uintptr_t)u->frame,
		.base = next,
		.rbp = ((const uint64_t *)next)[0],
		.rbp_slot = next,
	};
	u->frame = (const uint64_t *)next;
	return sw_arch_return_address(out->ip) > 4096 ? 1 : 0;
}

#endif

/* The next frame: first the wrapper's caller, then by libunwind or without.  1, 0: no more, -1: the walk cannot go
   on. */
static int step(struct sw_unwind *u, struct sw_unwind_frame *out)
{
	if (u->first) {
		u->first = false;
		*out = (struct sw_unwind_frame){
			.slot = (uintptr_t)(u->frame + 1),
			.ip = u->frame[1],
			.rbp = u->frame[0],
			.rbp_slot = (uintptr_t)u->frame,
		};
		return 1;
	}
#ifdef HAVE_LIBUNWIND
	if (u->with_library)
		return step_cursor(u, out);
#endif
	return step_without_library(u, out);
}

/* One step to the caller, by whichever way knows the frame; the next step begins at the result. */
int sw_unwind_next(struct sw_unwind *u, struct sw_unwind_frame *out)
{
	int got = step(u, out);
	if (got > 0)
		u->last = *out;
	return got;
}
