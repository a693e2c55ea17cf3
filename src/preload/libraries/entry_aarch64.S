/* SPDX-License-Identifier: Apache-2.0 */
/* entry_x86_64.S says what this is for.  The number of the function is in x16; what branches lands on a pad (BTI), and
   the return address is signed where it is stored (PAC). */
#ifdef __aarch64__
	.text

	.globl	sw_library_stubs		/* SW_LIBRARY_STUB bytes each */
	.hidden	sw_library_stubs
	.p2align 4
sw_library_stubs:
	.set	sw_stub, 0
	.macro	STUB name
	.globl	\name
	.type	\name, %function
	.p2align 4
\name:
	hint	#34				/* bti c */
	mov	w16, #sw_stub
	b	sw_library_trampoline
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

/* The frame, below x29. */
#define REGISTERS (-64)			/* x0 to x7 */
#define VECTORS	  (-192)		/* q0 to q7 */
#define INDIRECT  (-200)		/* x8 */
#define RESULT	  (-208)

	.macro	LOAD_ARGUMENTS
	ldp	q0, q1, [x29, #VECTORS]
	ldp	q2, q3, [x29, #VECTORS+32]
	ldp	q4, q5, [x29, #VECTORS+64]
	ldp	q6, q7, [x29, #VECTORS+96]
	ldp	x0, x1, [x29, #REGISTERS]
	ldp	x2, x3, [x29, #REGISTERS+16]
	ldp	x4, x5, [x29, #REGISTERS+32]
	ldp	x6, x7, [x29, #REGISTERS+48]
	ldur	x8, [x29, #INDIRECT]
	.endm

	.macro	LEAVE
	mov	sp, x29
	ldp	x29, x30, [sp], #16
	.cfi_def_cfa sp, 0
	.cfi_restore x29
	.cfi_restore x30
	hint	#29				/* autiasp */
	.cfi_negate_ra_state
	.endm

	.type	sw_library_trampoline, %function
	.p2align 4
sw_library_trampoline:
	.cfi_startproc
	mov	x17, x30			/* the caller, not signed */
	hint	#25				/* paciasp */
	.cfi_negate_ra_state
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov	x29, sp
	.cfi_def_cfa x29, 16
	sub	sp, sp, #208
	stp	x0, x1, [x29, #REGISTERS]
	stp	x2, x3, [x29, #REGISTERS+16]
	stp	x4, x5, [x29, #REGISTERS+32]
	stp	x6, x7, [x29, #REGISTERS+48]
	stur	x8, [x29, #INDIRECT]
	stp	q0, q1, [x29, #VECTORS]
	stp	q2, q3, [x29, #VECTORS+32]
	stp	q4, q5, [x29, #VECTORS+64]
	stp	q6, q7, [x29, #VECTORS+96]
	mov	w0, w16
	sub	x1, x29, #64
	add	x2, x29, #16
	mov	x3, x17
	bl	sw_library_enter
	mov	x16, x0				/* the real function */
	tbnz	x1, #63, .Lpass			/* words of the stack */

	add	x2, x1, #1
	and	x2, x2, #-2
	sub	sp, sp, x2, lsl #3
	mov	x2, #0
	add	x3, x29, #16
	mov	x4, sp
.Lcopy:
	cmp	x2, x1
	b.hs	.Lcall
	ldr	x5, [x3, x2, lsl #3]
	str	x5, [x4, x2, lsl #3]
	add	x2, x2, #1
	b	.Lcopy
.Lcall:
	LOAD_ARGUMENTS
	blr	x16
	stur	x0, [x29, #RESULT]
	sub	x1, x29, #64
	add	x2, x29, #16
	bl	sw_library_leave
	ldur	x0, [x29, #RESULT]
	.cfi_remember_state
	LEAVE
	ret

.Lpass:
	.cfi_restore_state
	LOAD_ARGUMENTS
	LEAVE
	br	x16
	.cfi_endproc
	.size	sw_library_trampoline, . - sw_library_trampoline

	.section .note.gnu.property, "a", %note
	.p2align 3
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000000, 4, 3, 0

#endif
	.section .note.GNU-stack, "", %progbits
