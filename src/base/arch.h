/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of facts that differ between the processors syncwatch runs on.  Larger differences have files that are named
 * for the processor (entry_x86_64.S, entry_aarch64.S) or blocks in: crc32c.c, clock.h, sys.c, isolated_thread.c,
 * unwind.c, unwind_tables.c, signals.c.
 */
#ifndef SW_BASE_ARCH_H
#define SW_BASE_ARCH_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <ucontext.h>

#if defined __x86_64__
#define SW_ARCH_MACHINE	       EM_X86_64
#define SW_ARCH_OLDEST_LIBC    "GLIBC_2.2.5" /* the version of symbols that never changed */
#define SW_ARCH_CONDITIONS     "GLIBC_2.3.2" /* of condition variables: the second generation of them */
#define SW_ARCH_ARGUMENT_WORDS 6u	     /* integers that are passed in registers */
#define SW_ARCH_JUMP_SLOT      R_X86_64_JUMP_SLOT
#define SW_ARCH_GLOB_DAT       R_X86_64_GLOB_DAT
#define SW_ARCH_POINTER	       R_X86_64_64
#define SW_ARCH_USES_LIBUNWIND true
#elif defined __aarch64__
#define SW_ARCH_MACHINE	       EM_AARCH64
#define SW_ARCH_OLDEST_LIBC    "GLIBC_2.17"
#define SW_ARCH_CONDITIONS     "" /* there never was another */
#define SW_ARCH_ARGUMENT_WORDS 8u
#define SW_ARCH_JUMP_SLOT      R_AARCH64_JUMP_SLOT
#define SW_ARCH_GLOB_DAT       R_AARCH64_GLOB_DAT
#define SW_ARCH_POINTER	       R_AARCH64_ABS64
#define SW_ARCH_USES_LIBUNWIND false /* a chain of frame records is all that stacks need */
#else
#error "syncwatch runs on x86-64 and aarch64"
#endif

/* Kernels for aarch64 have pages of 4, 16 or 64 KiB. */
static inline uint64_t sw_arch_page_bytes(void)
{
	return getauxval(AT_PAGESZ);
}

/* A return address as it lies in memory, without the signature that pointer authentication may have put into it. */
static inline uint64_t sw_arch_return_address(uint64_t stored)
{
#ifdef __aarch64__
	register uint64_t x30 __asm__("x30") = stored;
	__asm__("hint #7" : "+r"(x30)); /* xpaclri: does nothing where there is no pointer authentication */
	return x30;
#else
	return stored;
#endif
}

/* Where the function with this frame record returns to: a place in its caller. */
static inline const void *sw_arch_caller(const void *frame)
{
	return (const void *)(uintptr_t)sw_arch_return_address(((const uint64_t *)frame)[1]);
}

/* Where a signal came. */
static inline uint64_t sw_arch_instruction(const ucontext_t *c)
{
#ifdef __x86_64__
	return (uint64_t)c->uc_mcontext.gregs[REG_RIP];
#else
	return c->uc_mcontext.pc;
#endif
}

/* Where the function returns to that a signal came in, if it has not called another one yet. */
static inline uint64_t sw_arch_leaf_return(const ucontext_t *c)
{
#ifdef __x86_64__
	return *(const uint64_t *)c->uc_mcontext.gregs[REG_RSP];
#else
	return sw_arch_return_address(c->uc_mcontext.regs[30]);
#endif
}

/* Did a write cause the page fault? */
static inline bool sw_arch_fault_writes(const ucontext_t *c)
{
#ifdef __x86_64__
	return (uint64_t)c->uc_mcontext.gregs[REG_ERR] & 2; /* the error code of a page fault, bit 1 */
#else
	/* The kernel puts records behind the registers (asm/sigcontext.h): that of the exception's syndrome has magic
	   0x45535201, and bit 6 of a data abort's syndrome (WnR, Arm ARM D24.2.40) says that it was a write. */
	const uint8_t *at = c->uc_mcontext.__reserved, *end = at + sizeof c->uc_mcontext.__reserved;
	while (at + 16 <= end) {
		const uint32_t *record = (const void *)at;
		if (record[0] == 0x45535201)
			return *(const uint64_t *)(const void *)(at + 8) >> 6 & 1;
		if (!record[0] || record[1] < 8 || record[1] % 8)
			break;
		at += record[1];
	}
	return true; /* not known: what is recorded as a write is judged as both */
#endif
}

#endif
