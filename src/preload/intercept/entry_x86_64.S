/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two places that must not be C: functions that go on to another function as if they had never been called.
 *
 * dlsym(handle, name): glibc looks at its own return address to find the caller's object (RTLD_NEXT, RTLD_DEFAULT), so
 * a name that is not ours must reach the next dlsym with the caller's return address on top of the stack.
 */
#ifdef __x86_64__
	.text

	.globl	dlsym
	.type	dlsym, @function
	.p2align 4
dlsym:
	.cfi_startproc
	endbr64
	testq	%rsi, %rsi
	jz	.Lreal
	cmpb	$'c', (%rsi)
	jne	.Lother
	cmpb	$'u', 1(%rsi)
	jne	.Lother
	movb	2(%rsi), %al
	subb	$'A', %al
	leaq	sw_dlsym_decide(%rip), %r11
	cmpb	$25, %al			/* the driver's names go on with a capital letter */
	jbe	.Lask
.Lother:
	movq	sw_companion_names(%rip), %r11
	testq	%r11, %r11
	jz	.Lreal
.Lask:
	subq	$24, %rsp
	.cfi_adjust_cfa_offset 24
	movq	%rdi, (%rsp)
	movq	%rsi, 8(%rsp)
	movq	24(%rsp), %rdx
	call	*%r11				/* rax: value, rdx: decided */
	movq	(%rsp), %rdi
	movq	8(%rsp), %rsi
	addq	$24, %rsp
	.cfi_adjust_cfa_offset -24
	testq	%rdx, %rdx
	jz	.Lreal
	ret
.Lreal:
	movq	sw_dlsym_next(%rip), %rax
	testq	%rax, %rax
	jz	.Lfind
	jmp	*%rax
.Lfind:
	subq	$24, %rsp
	.cfi_adjust_cfa_offset 24
	movq	%rdi, (%rsp)
	movq	%rsi, 8(%rsp)
	call	sw_dlsym_find
	movq	(%rsp), %rdi
	movq	8(%rsp), %rsi
	addq	$24, %rsp
	.cfi_adjust_cfa_offset -24
	jmp	*%rax
	.cfi_endproc
	.size	dlsym, . - dlsym

/*
 * Trampolines: stand before functions of the driver whose signature we do not know.  All argument registers survive,
 * and the stack is the caller's again when the real function starts.
 */
	.globl	sw_trampolines
	.hidden	sw_trampolines
	.type	sw_trampolines, @function
	.p2align 4
sw_trampolines:
	.cfi_startproc
	.set	index, 0
	.rept	64				/* SW_STATE_UNKNOWN, 16 bytes each */
	.p2align 4
	endbr64
	pushq	$index
	jmp	.Lcount
	.set	index, index + 1
	.endr
	.cfi_endproc
	.size	sw_trampolines, . - sw_trampolines

	.type	sw_trampoline_common, @function
sw_trampoline_common:
	.cfi_startproc
	.cfi_def_cfa_offset 16
.Lcount:
	subq	$192, %rsp
	.cfi_adjust_cfa_offset 192
	movq	%rdi, (%rsp)
	movq	%rsi, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movq	%rcx, 24(%rsp)
	movq	%r8, 32(%rsp)
	movq	%r9, 40(%rsp)
	movq	%rax, 48(%rsp)			/* number of vector registers, for variadic functions */
	movups	%xmm0, 64(%rsp)
	movups	%xmm1, 80(%rsp)
	movups	%xmm2, 96(%rsp)
	movups	%xmm3, 112(%rsp)
	movups	%xmm4, 128(%rsp)
	movups	%xmm5, 144(%rsp)
	movups	%xmm6, 160(%rsp)
	movups	%xmm7, 176(%rsp)
	movq	192(%rsp), %rdi
	movq	%rbp, 192(%rsp)			/* with the return address above it: a frame as every function has */
	movq	%rsp, %rsi
	leaq	192(%rsp), %rdx
	call	sw_trampoline_count		/* rax: the real function */
	movq	%rax, %r11
	movq	(%rsp), %rdi
	movq	8(%rsp), %rsi
	movq	16(%rsp), %rdx
	movq	24(%rsp), %rcx
	movq	32(%rsp), %r8
	movq	40(%rsp), %r9
	movq	48(%rsp), %rax
	movups	64(%rsp), %xmm0
	movups	80(%rsp), %xmm1
	movups	96(%rsp), %xmm2
	movups	112(%rsp), %xmm3
	movups	128(%rsp), %xmm4
	movups	144(%rsp), %xmm5
	movups	160(%rsp), %xmm6
	movups	176(%rsp), %xmm7
	addq	$200, %rsp
	.cfi_def_cfa_offset 8
	jmp	*%r11
	.cfi_endproc
	.size	sw_trampoline_common, . - sw_trampoline_common

#endif
	.section .note.GNU-stack, "", @progbits
