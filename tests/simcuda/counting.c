/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcuda.so.1 between the runtime and the simulated driver: every entry point that the runtime asks for is handed
 * out as a trampoline that counts and jumps on.
 */
#include "counting.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Offsets are used by the trampolines below. */
_Static_assert(COUNTED_MAX == 1024, "as many trampolines");
__attribute__((visibility("hidden"))) void *counted_target[COUNTED_MAX];
__attribute__((visibility("hidden"))) long counted_calls[COUNTED_MAX];
extern char counted_trampoline[] __attribute__((visibility("hidden")));
#define TRAMPOLINE_BYTES 64

__asm__(".text\n"
	".globl counted_trampoline\n.hidden counted_trampoline\n"
	".balign 64\n"
	"counted_trampoline:\n"
	".set index, 0\n"
	".rept 1024\n"
	"	.balign 64\n"
#ifdef __x86_64__
	"	lock incq counted_calls + 8 * index(%rip)\n"
	"	jmp *counted_target + 8 * index(%rip)\n"
#else
	"	adrp x16, counted_calls + 8 * index\n"
	"	add x16, x16, :lo12:counted_calls + 8 * index\n"
	"1:	ldxr x17, [x16]\n"
	"	add x17, x17, #1\n"
	"	stxr w9, x17, [x16]\n"
	"	cbnz w9, 1b\n"
	"	adrp x16, counted_target + 8 * index\n"
	"	add x16, x16, :lo12:counted_target + 8 * index\n"
	"	ldr x16, [x16]\n"
	"	br x16\n"
#endif
	"	.set index, index + 1\n"
	".endr\n");

static struct counted entries[COUNTED_MAX];
static int n;

CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *status);

CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *status)
{
	static CUresult (*real)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
	void *other = NULL;
	if (!real) {
		char path[4096];
		const char *top = getenv("top_builddir");
		snprintf(path, sizeof path, "%s/sim/libcuda.so.1", top ? top : ".");
		void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		*(void **)&real = driver ? dlsym(driver, "cuGetProcAddress_v2") : NULL;
		if (!real) {
			fprintf(stderr, "%s: %s\n", path, dlerror());
			exit(1);
		}
	}
	CUresult result = real(name, out, version, flags, status);
	if (result || n == COUNTED_MAX || !strcmp(name, "cuGetProcAddress"))
		return result;
	real(name, &other, version, flags ^ CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL);
	struct counted *e = &entries[n];
	snprintf(e->name, sizeof e->name, "%s", name);
	e->version = version;
	e->per_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	e->has_variants = other != *out;
	counted_target[n] = *out;
	*out = counted_trampoline + TRAMPOLINE_BYTES * n++;
	return result;
}

int counted_entries(struct counted **out)
{
	for (int i = 0; i < n; i++)
		entries[i].calls = counted_calls[i];
	*out = entries;
	return n;
}

void counted_reset(void)
{
	memset(counted_calls, 0, sizeof counted_calls);
}
