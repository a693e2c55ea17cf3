/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry_x86_64.S says what these functions are for.  Each begins with a landing pad for indirect branches (BTI), signs
 * the return address before it stores it (PAC), and branches to other functions by x16, as BTI requires.
 */
#ifdef __aarch64__
	.text

	.macro	FRAME bytes
	hint	#25				/* paciasp */
	.cfi_negate_ra_state
	stp	x29, x30, [sp, #-\bytes]!
	.cfi_def_cfa_offset \bytes
	.cfi_offset x29, -\bytes
	.cfi_offset x30, -\bytes + 8
	mov	x29, sp
	.endm

	.macro	UNFRAME bytes
	ldp	x29, x30, [sp], #\bytes
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	hint	#29				/* autiasp */
	.cfi_negate_ra_state
	.endm

	.globl	dlsym
	.type	dlsym, %function
	.p2align 4
dlsym:
	.cfi_startproc
	hint	#34				/* bti c */
	cbz	x1, .Lreal
	ldrb	w9, [x1]
	cmp	w9, #'c'
	b.ne	.Lother
	ldrb	w9, [x1, #1]
	cmp	w9, #'u'
	b.ne	.Lother
	ldrb	w9, [x1, #2]
	sub	w9, w9, #'A'
	adrp	x16, sw_dlsym_decide
	add	x16, x16, :lo12:sw_dlsym_decide
	cmp	w9, #25				/* the driver's names go on with a capital letter */
	b.ls	.Lask
.Lother:
	adrp	x16, sw_companion_names
	add	x16, x16, :lo12:sw_companion_names
	ldar	x16, [x16]			/* what it uses was stored before */
	cbz	x16, .Lreal
.Lask:
	mov	x2, x30				/* the caller, not signed */
	FRAME	32
	stp	x0, x1, [sp, #16]
	blr	x16				/* x0: value, x1: decided */
	mov	x9, x0
	mov	x10, x1
	ldp	x0, x1, [sp, #16]
	UNFRAME	32
	cbz	x10, .Lreal
	mov	x0, x9
	ret
.Lreal:
	adrp	x16, sw_dlsym_next
	add	x16, x16, :lo12:sw_dlsym_next
	ldar	x16, [x16]
	cbz	x16, .Lfind
	br	x16
.Lfind:
	FRAME	32
	stp	x0, x1, [sp, #16]
	bl	sw_dlsym_find
	mov	x16, x0
	ldp	x0, x1, [sp, #16]
	UNFRAME	32
	br	x16
	.cfi_endproc
	.size	dlsym, . - dlsym

	.globl	sw_trampolines
	.hidden	sw_trampolines
	.type	sw_trampolines, %function
	.p2align 4
sw_trampolines:
	.cfi_startproc
	.set	index, 0
	.rept	64				/* SW_STATE_UNKNOWN, 16 bytes each */
	.p2align 4
	hint	#34
	mov	x16, #index
	b	.Lcount
	.set	index, index + 1
	.endr
	.cfi_endproc
	.size	sw_trampolines, . - sw_trampolines

	.p2align 4
	.type	sw_trampoline_common, %function
sw_trampoline_common:
	.cfi_startproc
.Lcount:
	FRAME	224
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	str	x8, [sp, #80]			/* where a result is to be put */
	stp	q0, q1, [sp, #96]
	stp	q2, q3, [sp, #128]
	stp	q4, q5, [sp, #160]
	stp	q6, q7, [sp, #192]
	mov	x0, x16
	add	x1, sp, #16
	mov	x2, sp
	bl	sw_trampoline_count		/* x0: the real function */
	mov	x16, x0
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldr	x8, [sp, #80]
	ldp	q0, q1, [sp, #96]
	ldp	q2, q3, [sp, #128]
	ldp	q4, q5, [sp, #160]
	ldp	q6, q7, [sp, #192]
	UNFRAME	224
	br	x16
	.cfi_endproc
	.size	sw_trampoline_common, . - sw_trampoline_common

	.section .note.gnu.property, "a", %note	/* BTI and PAC are followed here */
	.p2align 3
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000000, 4, 3, 0

#endif
	.section .note.GNU-stack, "", %progbits
