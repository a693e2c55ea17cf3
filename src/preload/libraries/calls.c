/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-libraries.so: records calls of cuBLAS, cuBLASLt, cuDNN, cuFFT, cuSPARSE and cuSOLVER.  It defines
 * their functions (functions.def), so that objects that link these libraries reach it first, and calls those of the
 * library that is loaded.  Each definition is a stub of three instructions that jumps to one trampoline (entry_*.S):
 * a function that is never called costs an entry of the symbol table.  A look-up by dlsym() (JAX, parts of CuPy,
 * ctypes) gets the stub as well (preload/platform/named_function.h).  A call as records before and after it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arch.h"
#include "preload/platform/loaded_function.h"
#include "preload/platform/named_function.h"
#include "preload/recorder/companion.h"

/* ---- the table (calls.c) ---------------------------------------------------------------------------------------- */

enum sw_wrapped_library {
	SW_LIBRARY_cublas,
	SW_LIBRARY_cublasLt,
	SW_LIBRARY_cufft,
	SW_LIBRARY_cusparse,
	SW_LIBRARY_cusolver,
	SW_LIBRARY_cudnn,
	SW_LIBRARIES
};

enum sw_function_kind { SW_KIND_WORK, SW_KIND_MAKES, SW_KIND_BUILDS, SW_KIND_STATE, SW_KIND_ENDS };

/* Without pointers: nothing of the table is written to when the object is loaded. */
struct sw_library_function {
	uint16_t name, arguments; /* offsets in library_text */
	uint8_t library, kind;
	uint8_t stack; /* words that the caller may have put on the stack */
	uint8_t words; /* integer and pointer arguments */
};

extern const struct sw_library_function sw_library_functions[];
extern const uint32_t sw_library_n;

/* The functions as programs see them (entry_*.S), in the order of the table. */
#define SW_LIBRARY_STUB 16u
extern const char sw_library_stubs[] __attribute__((visibility("hidden")));

/* Most arguments of a function, vector registers left out. */
#define SW_LIBRARY_WORDS 40u

/* ---- calls (calls.c), called by the entries -------------------------------------------------------------------------
 */

struct sw_library_target {
	void *real;
	int64_t stack; /* words of the stack to pass on; < 0: jumps to it as if we were not there */
};

/* `registers`: the six of a call's integer arguments; `stack`: what follows them; `caller`: where the call returns to.
 */
struct sw_library_target sw_library_enter(uint32_t function, const uint64_t *registers, const uint64_t *stack,
					  const void *caller) __attribute__((visibility("hidden")));
void sw_library_leave(uint32_t result, const uint64_t *registers, const uint64_t *stack)
	__attribute__((visibility("hidden")));

/* functions.def as data. */

#define WORK(library, name, arguments)	 FUNCTION(WORK, library, name, arguments)
#define MAKES(library, name, arguments)	 FUNCTION(MAKES, library, name, arguments)
#define BUILDS(library, name, arguments) FUNCTION(BUILDS, library, name, arguments)
#define STATE(library, name, arguments)	 FUNCTION(STATE, library, name, arguments)
#define ENDS(library, name, arguments)	 FUNCTION(ENDS, library, name, arguments)

/* All texts one after the other: a table of pointers would be relocated in each process. */
static const struct texts {
#define FUNCTION(kind, library, name, arguments) char name_##name[sizeof #name], arguments_##name[sizeof arguments];
#include "preload/libraries/functions.def"
#undef FUNCTION
} texts = {
#define FUNCTION(kind, library, name, arguments) #name, arguments,
#include "preload/libraries/functions.def"
#undef FUNCTION
};
_Static_assert(sizeof texts <= UINT16_MAX, "offsets have 16 bits");

/*
 * Words on the stack: what six registers do not hold, and four more, for a function may have more arguments in another
 * version of its library.  They lie in the caller's frame or in those of its callers.
 */
#define SPARE		 4
#define WORDS(arguments) (sizeof arguments - 1)
#define STACK(arguments) ((WORDS(arguments) > 6 ? WORDS(arguments) - 6 : 0) + SPARE)

const struct sw_library_function sw_library_functions[] = {
#define FUNCTION(kind, library, name, arguments)                                                                       \
	{offsetof(struct texts, name_##name),                                                                          \
	 offsetof(struct texts, arguments_##name),                                                                     \
	 SW_LIBRARY_##library,                                                                                         \
	 SW_KIND_##kind,                                                                                               \
	 STACK(arguments),                                                                                             \
	 WORDS(arguments)},
#include "preload/libraries/functions.def"
#undef FUNCTION
};
const uint32_t sw_library_n = sizeof sw_library_functions / sizeof *sw_library_functions;

#define FUNCTION(kind, library, name, arguments)                                                                       \
	_Static_assert(WORDS(arguments) <= SW_LIBRARY_WORDS, "arguments of " #name);
#include "preload/libraries/functions.def"
#undef FUNCTION

/* A text of the table by its offset. */
static const char *library_text(uint32_t offset)
{
	return (const char *)&texts + offset;
}

/* ---- the library that is loaded ---------------------------------------------------------------------------------- */

static struct sw_loaded_site at[8192];
static struct sw_loaded_sites sites = {sizeof at / sizeof *at, at};

/* Starts of file names, and what a function returns of a library that is not loaded: "not initialized", and
   CUFFT_INTERNAL_ERROR. */
static const struct {
	char object[20];
	int missing;
} libraries[SW_LIBRARIES] = {
	[SW_LIBRARY_cublas] = {"libcublas.so", 1},     [SW_LIBRARY_cublasLt] = {"libcublasLt.so", 1},
	[SW_LIBRARY_cufft] = {"libcufft.so", 5},       [SW_LIBRARY_cusparse] = {"libcusparse.so", 1},
	[SW_LIBRARY_cusolver] = {"libcusolver.so", 1}, [SW_LIBRARY_cudnn] = {"libcudnn", 1001},
};

#define MISSING(library)                                                                                               \
	static int missing_##library(void)                                                                             \
	{                                                                                                              \
		return libraries[SW_LIBRARY_##library].missing;                                                        \
	}
MISSING(cublas)
MISSING(cublasLt)
MISSING(cufft)
MISSING(cusparse)
MISSING(cusolver)
MISSING(cudnn)

typedef int sw_missing(void);
/* A function that returns the library's error for "not there", for a program that calls a library that it never
   loaded. */
static sw_missing *missing_of(uint32_t library)
{
	switch ((enum sw_wrapped_library)library) {
	case SW_LIBRARY_cublasLt:
		return missing_cublasLt;
	case SW_LIBRARY_cufft:
		return missing_cufft;
	case SW_LIBRARY_cusparse:
		return missing_cusparse;
	case SW_LIBRARY_cusolver:
		return missing_cusolver;
	case SW_LIBRARY_cudnn:
		return missing_cudnn;
	case SW_LIBRARY_cublas:
	case SW_LIBRARIES:
		break;
	}
	return missing_cublas;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static const struct sw_companion *companion;
static bool asked;

/* The recorder, NULL: there is none.  Each thread that comes here before it is known looks for it, with one result. */
static const struct sw_companion *find_recorder(void)
{
	if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
		const struct sw_companion *(*find)(uint32_t) =
			(__typeof__(find))(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_companion");
		companion = find ? find(SW_COMPANION_VERSION) : NULL;
		__atomic_store_n(&asked, true, __ATOMIC_RELEASE);
	}
	return companion;
}

/* For the program's dlsym(): our stub of that name, NULL: none.  A few hundred look-ups at the start of a program, 5 us
   each: not worth an index. */
static void *stub_of(const char *name, const char **object)
{
	if (name[0] != 'c' || name[1] != 'u' || !strchr("bdfs", name[2]))
		return NULL;
	for (uint32_t i = 0; i < sw_library_n; i++)
		if (strcmp(library_text(sw_library_functions[i].name), name) == 0) {
			*object = libraries[sw_library_functions[i].library].object;
			return (void *)(uintptr_t)(sw_library_stubs + (size_t)i * SW_LIBRARY_STUB);
		}
	return NULL;
}

/* From now on dlsym() of the program finds our stubs. */
__attribute__((constructor)) static void start(void)
{
	if (find_recorder() && find_recorder()->look_ups.real)
		sw_named_functions(stub_of, &find_recorder()->look_ups);
}

/* The integer and pointer arguments, 32-bit ones extended: the upper half of their words is whatever was there. */
static uint32_t collect_words(uint64_t *words, const char *arguments, const uint64_t *registers, const uint64_t *stack)
{
	uint32_t n = 0;
	for (; *arguments && n < SW_LIBRARY_WORDS; arguments++) {
		if (*arguments == 'f')
			continue;
		const uint64_t word = n < SW_ARCH_ARGUMENT_WORDS ? registers[n] : stack[n - SW_ARCH_ARGUMENT_WORDS];
		words[n++] = *arguments == 'i' || *arguments == 'n' ? (uint64_t)(int64_t)(int32_t)word : word;
	}
	return n;
}

/* The handle that a call is about: its first argument, or what lies where that points to. */
static uint64_t handle_of(char first, uint64_t word, bool made)
{
	if (first == 'H' || first == 'I') {
		if (!made || !word)
			return 0;
		return first == 'H' ? *(const uint64_t *)(uintptr_t)word
				    : (uint64_t)(int64_t) * (const int *)(uintptr_t)word;
	}
	return first == 'h' || first == 'n' ? word : 0;
}

/* Bytes that a plan of cuFFT works in. */
static uint64_t area_of(uint64_t plan, const void *caller)
{
	typedef int sw_get_size(int plan, size_t *bytes);
	sw_get_size *get = (sw_get_size *)(uintptr_t)sw_loaded_function("cufftGetSize",
									libraries[SW_LIBRARY_cufft].object, caller);
	size_t bytes = 0;
	return get && get((int)plan, &bytes) == 0 ? bytes : 0;
}

/* Writes the record of a call, before or after it (`op`): its name, arguments and the handle that it is about. */
static void record_call(const struct sw_library_function *f, enum sw_library_op op, const uint64_t *registers,
			const uint64_t *stack, const void *caller)
{
	const char *name = library_text(f->name), *arguments = library_text(f->arguments);
	uint64_t words[SW_LIBRARY_WORDS + 1];
	uint32_t n = collect_words(words, arguments, registers, stack), bytes = (uint32_t)strlen(name);
	if (op == SW_LIBRARY_DONE && f->library == SW_LIBRARY_cufft && f->kind != SW_KIND_STATE) {
		words[n] = area_of(handle_of(*arguments, words[0], true), caller);
		n++;
	}
	struct sw_rec_library *r =
		find_recorder()->describe(SW_REC_LIBRARY, sizeof *r + n * sizeof *words + bytes, true);
	if (!r)
		return;
	r->handle = n ? handle_of(*arguments, words[0], op == SW_LIBRARY_DONE) : 0;
	r->op = op;
	r->result = 0;
	r->words = n;
	r->name_bytes = bytes;
	memcpy(mempcpy(r + 1, words, n * sizeof *words), name, bytes);
	find_recorder()->described(r);
}

/* Writes that the call returned, where a BEGIN was written. */
static void record_return(int result)
{
	struct sw_rec_library *r = find_recorder()->describe(SW_REC_LIBRARY, sizeof *r, true);
	if (!r)
		return;
	r->handle = 0;
	r->op = SW_LIBRARY_RETURN;
	r->result = result;
	r->words = r->name_bytes = 0;
	find_recorder()->described(r);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* The outermost call of the thread.  Its frame lies above those of calls that libraries make of each other; one that
   does not has been left by longjmp(). */
static __thread struct {
	const uint64_t *registers; /* NULL: none */
	const void *caller;
	uint32_t function;
	bool begun; /* its BEGIN was recorded */
} self __attribute__((tls_model("initial-exec")));

/* May a call of this kind enqueue work? */
static bool puts_work(uint8_t kind)
{
	return kind == SW_KIND_WORK || kind == SW_KIND_MAKES || kind == SW_KIND_BUILDS;
}

/* Called by the stub of a library's function before the call: finds the real function and records the call's beginning.
   `stack` of the result says how many words of arguments the stub must pass on, since it comes back here; -1: it jumps
   to the function, and the return is not seen. */
struct sw_library_target sw_library_enter(uint32_t function, const uint64_t *registers, const uint64_t *stack,
					  const void *caller)
{
	const int saved = errno;
	const struct sw_library_function *f = &sw_library_functions[function];
	struct sw_library_target target = {.stack = -1};
	target.real =
		sw_loaded_function_at(&sites, function, library_text(f->name), libraries[f->library].object, caller);
	if (!target.real)
		target.real = (void *)(uintptr_t)missing_of(f->library);
	else if (find_recorder() && (!self.registers || registers >= self.registers)) {
		target.stack = f->stack;
		self.registers = registers;
		self.caller = caller;
		self.function = function;
		self.begun = puts_work(f->kind) && find_recorder()->recording() &&
			     !(f->kind == SW_KIND_WORK && find_recorder()->windows.paused());
		if (self.begun)
			record_call(f, SW_LIBRARY_BEGIN, registers, stack, caller);
		else if (f->kind == SW_KIND_ENDS && find_recorder()->recording())
			record_call(f, SW_LIBRARY_GONE, registers, stack, caller);
	}
	errno = saved;
	return target;
}

/* Called by the stub after the call: records its end, and what it made or changed where it succeeded. */
void sw_library_leave(uint32_t result, const uint64_t *registers, const uint64_t *stack)
{
	const int saved = errno;
	const struct sw_library_function *f = &sw_library_functions[self.function];
	if (self.begun)
		record_return((int)result);
	if (!result && f->kind != SW_KIND_WORK && f->kind != SW_KIND_ENDS && find_recorder()->recording())
		record_call(f, SW_LIBRARY_DONE, registers, stack, self.caller);
	self.registers = NULL;
	errno = saved;
}
