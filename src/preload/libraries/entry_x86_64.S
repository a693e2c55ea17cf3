/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions as programs see them: a stub each, which leaves its number in r11 and goes on to one trampoline.
 *
 * The trampoline calls the real function from a frame of its own, so that stacks can be walked and exceptions pass:
 * argument registers and the words on the stack are handed on as they came.  Where there is nothing to record it goes
 * on to the real function with the caller's stack.
 */
#ifdef __x86_64__
	.text

	.globl	sw_library_stubs		/* SW_LIBRARY_STUB bytes each */
	.hidden	sw_library_stubs
	.p2align 4
sw_library_stubs:
	.set	sw_stub, 0
	.macro	STUB name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	endbr64
	movl	$sw_stub, %r11d
	jmp	sw_library_trampoline
	.size	\name, . - \name
	.set	sw_stub, sw_stub + 1
	.endm

#define WORK(library, name, arguments)	 STUB name
#define MAKES(library, name, arguments)	 STUB name
#define BUILDS(library, name, arguments) STUB name
#define STATE(library, name, arguments)	 STUB name
#define ENDS(library, name, arguments)	 STUB name

	.cfi_startproc
#include "preload/libraries/functions.def"
	.cfi_endproc

/* The frame, below rbp. */
#define REGISTERS (-208)		/* rdi rsi rdx rcx r8 r9 */
#define VARIADIC  (-160)		/* rax */
#define VECTORS	  (-144)		/* xmm0 to xmm7 */
#define RESULT	  (-16)

	.macro	LOAD_ARGUMENTS
	movaps	VECTORS(%rbp), %xmm0
	movaps	VECTORS+16(%rbp), %xmm1
	movaps	VECTORS+32(%rbp), %xmm2
	movaps	VECTORS+48(%rbp), %xmm3
	movaps	VECTORS+64(%rbp), %xmm4
	movaps	VECTORS+80(%rbp), %xmm5
	movaps	VECTORS+96(%rbp), %xmm6
	movaps	VECTORS+112(%rbp), %xmm7
	movq	REGISTERS(%rbp), %rdi
	movq	REGISTERS+8(%rbp), %rsi
	movq	REGISTERS+16(%rbp), %rdx
	movq	REGISTERS+24(%rbp), %rcx
	movq	REGISTERS+32(%rbp), %r8
	movq	REGISTERS+40(%rbp), %r9
	movq	VARIADIC(%rbp), %rax
	.endm

	.type	sw_library_trampoline, @function
	.p2align 4
sw_library_trampoline:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$208, %rsp
	movq	%rdi, REGISTERS(%rbp)
	movq	%rsi, REGISTERS+8(%rbp)
	movq	%rdx, REGISTERS+16(%rbp)
	movq	%rcx, REGISTERS+24(%rbp)
	movq	%r8, REGISTERS+32(%rbp)
	movq	%r9, REGISTERS+40(%rbp)
	movq	%rax, VARIADIC(%rbp)
	movaps	%xmm0, VECTORS(%rbp)
	movaps	%xmm1, VECTORS+16(%rbp)
	movaps	%xmm2, VECTORS+32(%rbp)
	movaps	%xmm3, VECTORS+48(%rbp)
	movaps	%xmm4, VECTORS+64(%rbp)
	movaps	%xmm5, VECTORS+80(%rbp)
	movaps	%xmm6, VECTORS+96(%rbp)
	movaps	%xmm7, VECTORS+112(%rbp)
	movl	%r11d, %edi
	leaq	REGISTERS(%rbp), %rsi
	leaq	16(%rbp), %rdx
	movq	8(%rbp), %rcx
	call	sw_library_enter
	movq	%rax, %r11			/* the real function */
	testq	%rdx, %rdx			/* words of the stack */
	js	.Lpass

	leaq	8(,%rdx,8), %rcx
	andq	$-16, %rcx
	subq	%rcx, %rsp
	leaq	16(%rbp), %rsi
	movq	%rsp, %rdi
	movq	%rdx, %rcx
	rep	movsq
	LOAD_ARGUMENTS
	call	*%r11
	movq	%rax, RESULT(%rbp)
	movl	%eax, %edi
	leaq	REGISTERS(%rbp), %rsi
	leaq	16(%rbp), %rdx
	call	sw_library_leave
	movq	RESULT(%rbp), %rax
	leave
	.cfi_remember_state
	.cfi_def_cfa %rsp, 8
	ret

.Lpass:
	.cfi_restore_state
	LOAD_ARGUMENTS
	leave
	.cfi_def_cfa %rsp, 8
	jmp	*%r11
	.cfi_endproc
	.size	sw_library_trampoline, . - sw_library_trampoline

#endif
	.section .note.GNU-stack, "", @progbits
