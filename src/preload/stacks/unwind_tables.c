/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the stack by the unwind tables of the loaded objects (.eh_frame: System V psABI for x86-64, and DWARF 5, 6.4).
 *
 * It follows the instruction pointer, the stack pointer and the frame pointer: compilers make rules for return
 * addresses of nothing else.  The rules of each return address are kept for all threads in a table that takes no lock.
 * Code without tables is left to libunwind; without that, the frame pointer is followed for one frame.
 */
#include "preload/platform/seldom.h"

#include "preload/stacks/unwind.h"

#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "preload/platform/sys.h"

#ifdef __x86_64__

enum { RBP = 6, RSP = 7, RIP = 16, REGISTERS = 17 }; /* DWARF's numbers */

/* How to find a register of the caller, or the frame's own address (CFA). */
struct rule {
	enum { SAME, UNDEFINED, AT_OFFSET, IS_OFFSET, IN_REGISTER, AT_EXPRESSION, IS_EXPRESSION } kind;
	uint64_t reg;
	int64_t offset;
	const uint8_t *expression, *end;
};

struct rules {
	struct rule cfa, rbp, rsp, rip;
};

struct row {
	struct rules now, initial, saved[4];
	unsigned depth;
	uint64_t code_align;
	int64_t data_align;
	uint64_t at, pc; /* the instructions say what holds from `at` on */
};

/* A place in a table. Past its end it reads zeros and `bad` is set. */
struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

/* Reads a number of up to 8 bytes, lowest first. */
static uint64_t take_bytes(struct cursor *c, unsigned bytes)
{
	uint64_t value = 0;
	if ((size_t)(c->end - c->at) < bytes) {
		c->bad = true;
		c->at = c->end;
		return 0;
	}
	memcpy(&value, c->at, bytes);
	c->at += bytes;
	return value;
}

/* Reads a number of two's complement. */
static int64_t take_signed(struct cursor *c, unsigned bytes)
{
	const unsigned shift = 64 - 8 * bytes;
	return (int64_t)(take_bytes(c, bytes) << shift) >> shift;
}

/* Reads an unsigned LEB128 (DWARF 5, 7.6): seven bits a byte, the lowest first; bit 7: more follow. */
static uint64_t take_leb(struct cursor *c)
{
	uint64_t value = 0;
	for (unsigned shift = 0;; shift += 7) {
		const uint64_t byte = take_bytes(c, 1);
		value |= shift < 64 ? (byte & 0x7f) << shift : 0;
		if (!(byte & 0x80))
			return value;
	}
}

/* Reads a signed LEB128. */
static int64_t take_sleb(struct cursor *c)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;
	do {
		byte = take_bytes(c, 1);
		value |= shift < 64 ? (byte & 0x7f) << shift : 0;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= ~0ull << shift;
	return (int64_t)value;
}

/* A block with its length before it. */
static struct cursor take_block(struct cursor *c)
{
	const uint64_t bytes = take_leb(c);
	struct cursor block = {c->at, c->at, false};
	if (bytes > (size_t)(c->end - c->at)) {
		c->bad = true;
		return block;
	}
	block.end = c->at += bytes;
	return block;
}

/* An address in one of the encodings of DW_EH_PE_*; `relative`: those that count from where they stand are allowed. */
static uint64_t take_pointer(struct cursor *c, uint8_t encoding, bool relative)
{
	const uintptr_t here = (uintptr_t)c->at;
	uint64_t value;
	switch (encoding & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c:
		value = take_bytes(c, 8);
		break;
	case 0x03:
		value = take_bytes(c, 4);
		break;
	case 0x0b:
		value = (uint64_t)take_signed(c, 4);
		break;
	default:
		c->bad = true;
		return 0;
	}
	if (!relative || (encoding & 0x70) == 0)
		return value;
	c->bad |= (encoding & 0x70) != 0x10;
	return value + here;
}

/* ---- where registers are ----------------------------------------------------------------------------------------- */

/* Reads 8 bytes at an address that a rule gives.  False: they cannot be read.  Where the stack is known no system call
   is needed. */
static bool load_word(const struct sw_unwind *u, uint64_t address, uint64_t *value)
{
	const bool on_stack = address >= (uintptr_t)u->frame && address < u->top;
	if (address % 8 || (!on_stack && !sw_sys_readable((const void *)(uintptr_t)address)))
		return false;
	memcpy(value, (const void *)(uintptr_t)address, 8);
	return true;
}

/* The value of a register in the frame that is left; only those that the walk follows are known. */
static bool register_of(const struct sw_unwind *u, uint64_t number, uint64_t *value)
{
	if (number == RBP)
		*value = u->last.rbp;
	else if (number == RSP)
		*value = u->sp;
	else if (number == RIP)
		*value = u->last.ip - 1;
	else
		return false;
	return true;
}

struct machine {
	uint64_t stack[16];
	unsigned n;
};

/* Puts a value onto the stack of an expression.  False: too many. */
static bool push(struct machine *m, uint64_t value)
{
	if (m->n == sizeof m->stack / sizeof *m->stack)
		return false;
	m->stack[m->n++] = value;
	return true;
}

/* Replaces the two uppermost values of the stack by the result of an operation on them (DWARF 5, 2.5.1.4). */
static bool combine(struct machine *m, uint8_t op)
{
	if (m->n < 2)
		return false;
	const uint64_t b = m->stack[m->n - 1], a = m->stack[m->n - 2];
	uint64_t value;
	switch (op) {
	case 0x1a: /* and */
		value = a & b;
		break;
	case 0x1c: /* minus */
		value = a - b;
		break;
	case 0x1e: /* mul */
		value = a * b;
		break;
	case 0x21: /* or */
		value = a | b;
		break;
	case 0x22: /* plus */
		value = a + b;
		break;
	case 0x24: /* shl */
		value = b < 64 ? a << b : 0;
		break;
	case 0x25: /* shr */
		value = b < 64 ? a >> b : 0;
		break;
	case 0x2a: /* ge */
		value = (int64_t)a >= (int64_t)b;
		break;
	case 0x2d: /* lt */
		value = (int64_t)a < (int64_t)b;
		break;
	default:
		return false;
	}
	m->n -= 2;
	return push(m, value);
}

/* Carries out one operation of a DWARF expression (DWARF 5, 2.5.1).  False: unknown, or not possible. */
static bool operate(const struct sw_unwind *u, struct machine *m, struct cursor *c)
{
	const uint8_t op = (uint8_t)take_bytes(c, 1);
	uint64_t value = 0;
	if (op >= 0x30 && op <= 0x4f) /* lit */
		return push(m, op - 0x30u);
	if (op >= 0x70 && op <= 0x8f) /* breg */
		return register_of(u, op - 0x70u, &value) && push(m, value + (uint64_t)take_sleb(c));
	switch (op) {
	case 0x06: /* deref */
		return m->n && load_word(u, m->stack[m->n - 1], &m->stack[m->n - 1]);
	case 0x08: /* const1u, and so on */
	case 0x0a:
	case 0x0c:
	case 0x0e:
		return push(m, take_bytes(c, 1u << (op - 0x08) / 2));
	case 0x09:
	case 0x0b:
	case 0x0d:
	case 0x0f:
		return push(m, (uint64_t)take_signed(c, 1u << (op - 0x09) / 2));
	case 0x10: /* constu */
		return push(m, take_leb(c));
	case 0x11: /* consts */
		return push(m, (uint64_t)take_sleb(c));
	case 0x12: /* dup */
		return m->n && push(m, m->stack[m->n - 1]);
	case 0x23: /* plus_uconst */
		if (m->n)
			m->stack[m->n - 1] += take_leb(c);
		return m->n;
	case 0x96: /* nop */
		return true;
	default:
		return combine(m, op);
	}
}

/* The value of a rule that is an expression; `with_cfa`: the CFA lies on the stack when it begins. */
static bool evaluate(const struct sw_unwind *u, const struct rule *rule, uint64_t cfa, bool with_cfa, uint64_t *value)
{
	struct machine m = {.n = 0};
	struct cursor c = {rule->expression, rule->end, false};
	if (with_cfa)
		push(&m, cfa);
	while (c.at < c.end && !c.bad)
		if (!operate(u, &m, &c))
			return false;
	if (c.bad || !m.n)
		return false;
	*value = m.stack[m.n - 1];
	return true;
}

/* A register of the caller.  *slot: where it was saved, unchanged where it was not. */
static bool apply(const struct sw_unwind *u, const struct rule *rule, uint64_t cfa, uint64_t *value, uint64_t *slot)
{
	uint64_t at = cfa + (uint64_t)rule->offset;
	switch (rule->kind) {
	case SAME:
		return true;
	case AT_EXPRESSION:
		if (!evaluate(u, rule, cfa, true, &at))
			return false;
		__attribute__((fallthrough));
	case AT_OFFSET:
		*slot = at;
		return load_word(u, at, value);
	case IS_OFFSET:
		*value = at;
		return true;
	case IN_REGISTER:
		return register_of(u, rule->reg, value);
	case IS_EXPRESSION:
		return evaluate(u, rule, cfa, true, value);
	default:
		return false;
	}
}

/* ---- the rules that hold at an instruction ----------------------------------------------------------------------- */

/* The rule of a register by DWARF's number; registers that the walk does not follow go to `ignored`. */
static struct rule *rule_of(struct rules *rules, uint64_t number, struct rule *ignored)
{
	return number == RBP ? &rules->rbp : number == RSP ? &rules->rsp : number == RIP ? &rules->rip : ignored;
}

/* Sets a rule that is an expression; its bytes follow. */
static void set_expression(struct rule *rule, struct cursor *c, int kind)
{
	const struct cursor block = take_block(c);
	*rule = (struct rule){.expression = block.at, .end = block.end};
	rule->kind = (__typeof__(rule->kind))kind;
}

/* The instructions that set the rule of a register. False: it is none of them. */
static bool set_register(struct row *row, struct cursor *c, uint8_t op)
{
	struct rule ignored = {.kind = SAME}, *rule;
	const uint64_t number = op & 0xc0 ? op & 0x3f : take_leb(c);
	rule = rule_of(&row->now, number, &ignored);
	switch (op & 0xc0 ? op & 0xc0 : op) {
	case 0x80: /* offset */
	case 0x05: /* offset_extended */
		*rule = (struct rule){.kind = AT_OFFSET, .offset = (int64_t)take_leb(c) * row->data_align};
		return true;
	case 0xc0: /* restore */
	case 0x06: /* restore_extended */
		*rule = *rule_of(&row->initial, number, &ignored);
		return true;
	case 0x07: /* undefined */
		*rule = (struct rule){.kind = UNDEFINED};
		return true;
	case 0x08: /* same_value */
		*rule = (struct rule){.kind = SAME};
		return true;
	case 0x09: /* register */
		*rule = (struct rule){.kind = IN_REGISTER, .reg = take_leb(c)};
		return true;
	case 0x10: /* expression */
	case 0x16: /* val_expression */
		set_expression(rule, c, op == 0x10 ? AT_EXPRESSION : IS_EXPRESSION);
		return true;
	case 0x11: /* offset_extended_sf */
	case 0x14: /* val_offset */
	case 0x15: /* val_offset_sf */
		*rule = (struct rule){
			.kind = op == 0x11 ? AT_OFFSET : IS_OFFSET,
			.offset = (op == 0x14 ? (int64_t)take_leb(c) : take_sleb(c)) * row->data_align,
		};
		return true;
	default:
		return false;
	}
}

/* The instructions that set the rule for the CFA, the frame's own address.  False: it is none of them. */
static bool set_cfa(struct row *row, struct cursor *c, uint8_t op)
{
	struct rule *cfa = &row->now.cfa;
	switch (op) {
	case 0x0c: /* def_cfa */
		*cfa = (struct rule){.kind = IN_REGISTER, .reg = take_leb(c)};
		cfa->offset = (int64_t)take_leb(c);
		return true;
	case 0x12: /* def_cfa_sf */
		*cfa = (struct rule){.kind = IN_REGISTER, .reg = take_leb(c)};
		cfa->offset = take_sleb(c) * row->data_align;
		return true;
	case 0x0d: /* def_cfa_register */
		cfa->reg = take_leb(c);
		return true;
	case 0x0e: /* def_cfa_offset */
		cfa->offset = (int64_t)take_leb(c);
		return true;
	case 0x13: /* def_cfa_offset_sf */
		cfa->offset = take_sleb(c) * row->data_align;
		return true;
	case 0x0f: /* def_cfa_expression */
		set_expression(cfa, c, IS_EXPRESSION);
		return true;
	default:
		return false;
	}
}

/* remember_state and restore_state.  False: too deep, or nothing was kept. */
static bool keep_or_restore(struct row *row, bool keep)
{
	if (keep && row->depth < sizeof row->saved / sizeof *row->saved)
		row->saved[row->depth++] = row->now;
	else if (!keep && row->depth)
		row->now = row->saved[--row->depth];
	else
		return false;
	return true;
}

/* Carries out one call frame instruction (DWARF 5, 6.4.2).  False: it is unknown. */
static bool instruct(struct row *row, struct cursor *c)
{
	const uint8_t op = (uint8_t)take_bytes(c, 1);
	if ((op & 0xc0) == 0x40) { /* advance_loc */
		row->at += (op & 0x3f) * row->code_align;
		return true;
	}
	if (op & 0xc0)
		return set_register(row, c, op);
	switch (op) {
	case 0x00: /* nop */
		return true;
	case 0x01: /* set_loc */
		row->at = take_bytes(c, 8);
		return true;
	case 0x02: /* advance_loc1, 2, 4 */
	case 0x03:
	case 0x04:
		row->at += take_bytes(c, 1u << (op - 0x02)) * row->code_align;
		return true;
	case 0x0a: /* remember_state */
	case 0x0b: /* restore_state */
		return keep_or_restore(row, op == 0x0a);
	case 0x2e: /* GNU_args_size */
		take_leb(c);
		return true;
	default:
		return op >= 0x0c && op <= 0x13 && op != 0x10 && op != 0x11 ? set_cfa(row, c, op)
									    : set_register(row, c, op);
	}
}

/* Carries out instructions until they reach the wanted address.  False: one is unknown, or the table is damaged. */
static bool carry_out(struct row *row, struct cursor c)
{
	while (c.at < c.end && !c.bad) {
		if (!instruct(row, &c))
			return false;
		if (row->at > row->pc)
			return true;
	}
	return !c.bad;
}

/* ---- the tables of an object ------------------------------------------------------------------------------------- */

struct common { /* what a CIE says */
	uint8_t encoding;
	bool augmented, signal;
	struct cursor instructions;
};

/* The content of the entry that begins here. */
static struct cursor entry_at(const uint8_t *at)
{
	uint32_t bytes;
	memcpy(&bytes, at, 4);
	const bool plain = bytes && bytes != UINT32_MAX;
	return (struct cursor){at + 4, at + 4 + (plain ? bytes : 0), !plain};
}

/* Reads a CIE: what all functions that refer to it have in common.  False: not understood. */
static bool read_common(struct row *row, struct common *out, const uint8_t *at)
{
	struct cursor c = entry_at(at), data;
	*out = (struct common){.encoding = 0};
	if (take_bytes(&c, 4) != 0) /* an FDE */
		return false;
	const uint64_t version = take_bytes(&c, 1);
	const char *letters = (const char *)c.at;
	while (take_bytes(&c, 1))
		;
	row->code_align = take_leb(&c);
	row->data_align = take_sleb(&c);
	const uint64_t address = version == 1 ? take_bytes(&c, 1) : take_leb(&c);
	if (c.bad || address != RIP || (*letters && *letters != 'z'))
		return false;
	out->augmented = *letters == 'z';
	if (out->augmented)
		data = take_block(&c);
	for (letters += out->augmented; *letters; letters++) {
		if (*letters == 'R')
			out->encoding = (uint8_t)take_bytes(&data, 1);
		else if (*letters == 'L')
			take_bytes(&data, 1);
		else if (*letters == 'P')
			take_pointer(&data, (uint8_t)take_bytes(&data, 1), false);
		else if (*letters == 'S')
			out->signal = true;
		else
			break;
	}
	out->instructions = c;
	return !c.bad;
}

/* The rules at row->pc by the FDE at this address. False: they are not for it, or not understood. */
static bool read_rules(struct row *row, const uint8_t *at, bool *signal)
{
	struct common common;
	struct cursor c = entry_at(at);
	const uint8_t *here = c.at;
	const uint64_t back = take_bytes(&c, 4);
	if (!back || !read_common(row, &common, here - back))
		return false;
	row->at = take_pointer(&c, common.encoding, true);
	const uint64_t bytes = take_pointer(&c, common.encoding, false);
	if (c.bad || row->pc - row->at >= bytes)
		return false;
	if (common.augmented)
		take_block(&c);
	*signal = common.signal;
	const uint64_t begin = row->at;
	row->at = 0; /* what a CIE says holds everywhere */
	if (!carry_out(row, common.instructions))
		return false;
	row->initial = row->now;
	row->at = begin;
	return carry_out(row, c);
}

/* The last FDE that begins at pc or before, by the sorted table of .eh_frame_hdr. NULL: none. */
static const uint8_t *search_table(const uint8_t *header, size_t bytes, uint64_t pc)
{
	struct cursor c = {header, header + bytes, false};
	const uint32_t encodings = (uint32_t)take_bytes(&c, 4);
	/* Version 1, a count of 4 bytes, entries relative to the header: all that linkers write. */
	if ((encodings & 0xffff00ffu) != 0x3b030001u)
		return NULL;
	take_pointer(&c, (uint8_t)(encodings >> 8), true);
	uint64_t low = 0, high = take_bytes(&c, 4);
	if (c.bad || high * 8 > (size_t)(c.end - c.at))
		return NULL;
	const int32_t *entries = (const void *)c.at;
	const int64_t wanted = (int64_t)(pc - (uintptr_t)header);
	while (low < high) {
		const uint64_t middle = (low + high) / 2;
		if (entries[2 * middle] <= wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? header + entries[2 * (low - 1) + 1] : NULL;
}

/* Fills in the tables of the object that has this code in a segment; 0: it is another one. */
static int search_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct sw_unwind_object *object = data;
	const ElfW(Phdr) *header = NULL, *code = NULL;
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && object->start - info->dlpi_addr - p->p_vaddr < p->p_memsz)
			code = p;
		header = p->p_type == PT_GNU_EH_FRAME ? p : header;
	}
	if (!code)
		return 0;
	object->start = info->dlpi_addr + code->p_vaddr;
	object->bytes = code->p_memsz;
	object->header = header ? (const uint8_t *)info->dlpi_addr + header->p_vaddr : NULL;
	object->header_bytes = header ? header->p_memsz : 0;
	return 1;
}

/* The rules at row->pc.  False: there are none, or they are not understood. */
static bool find_rules(struct sw_unwind *u, struct row *row, bool *signal)
{
	struct sw_unwind_object *object = u->objects->at, *end = object + sizeof u->objects->at / sizeof *object;
	while (object < end && row->pc - object->start >= object->bytes)
		object++;
	if (object == end) {
		object = &u->objects->at[u->objects->oldest++ % (sizeof u->objects->at / sizeof *object)];
		*object = (struct sw_unwind_object){.start = row->pc};
		dl_iterate_phdr(search_object, object);
	}
	const uint8_t *fde = object->header ? search_table(object->header, object->header_bytes, row->pc) : NULL;
	return fde && read_rules(row, fde, signal);
}

/* ---- rules that were found before -------------------------------------------------------------------------------- */

/*
 * Nearly all code needs the same few rules: the frame's address (CFA) is the stack or the frame pointer plus a number,
 * the return address lies right below it, the frame pointer is as it was or lies at another number from it.  Those fit
 * into a word.  Threads read and write the table without a lock: a key is set after its rules, and BUSY meanwhile.  A
 * full neighbourhood keeps what it has.
 */
#define KNOWN	    16384u
#define KNOWN_TRIES 8u
#define BUSY	    1u /* as a key */

/* Bits of `rules`; 0: these rules do not fit.  CFA: see above. */
#define BY_RBP	    1u /* the CFA is rbp plus a number; else rsp plus a number */
#define SAVED_RBP   2u /* the caller's rbp lies below the CFA; else rbp holds it */
#define ENDS	    4u /* no caller */
#define CFA_SHIFT   8  /* 28 bits: CFA - its register */
#define SAVED_SHIFT 36 /* 28 bits: CFA - where the caller's rbp lies */
#define FIELD_BITS  28
#define FIELD(n)    ((n) & ((UINT64_C(1) << FIELD_BITS) - 1))

static struct {
	_Atomic uint64_t key, rules;
} known[KNOWN];
static _Atomic bool any_known;

/* The rules as a word of the table, 0: they do not fit. */
static uint64_t compact(const struct rules *rules)
{
	const struct rule *cfa = &rules->cfa, *rbp = &rules->rbp;
	if (rules->rip.kind == UNDEFINED)
		return ENDS;
	const bool saved = rbp->kind == AT_OFFSET;
	const int64_t from = saved ? rbp->offset : 0;
	if (cfa->kind != IN_REGISTER || (cfa->reg != RBP && cfa->reg != RSP) || rules->rsp.kind != SAME ||
	    rules->rip.kind != AT_OFFSET || rules->rip.offset != -8 || !(saved || rbp->kind == SAME) ||
	    cfa->offset <= 0 || cfa->offset >> FIELD_BITS || from > 0 || -from >> FIELD_BITS)
		return 0;
	return (cfa->reg == RBP ? BY_RBP : 0u) | (saved ? SAVED_RBP : 0u) | (uint64_t)cfa->offset << CFA_SHIFT |
	       (uint64_t)-from << SAVED_SHIFT;
}

/* The rules of such a word. */
static void expand(struct rules *rules, uint64_t word)
{
	*rules = (struct rules){
		.cfa = {.kind = IN_REGISTER,
			.reg = word & BY_RBP ? RBP : RSP,
			.offset = (int64_t)FIELD(word >> CFA_SHIFT)},
		.rbp = {.kind = word & SAVED_RBP ? AT_OFFSET : SAME, .offset = -(int64_t)FIELD(word >> SAVED_SHIFT)},
		.rip = {.kind = word & ENDS ? UNDEFINED : AT_OFFSET, .offset = -8},
	};
}

/* Where the search in the table of known rules begins. */
static unsigned first_place(uint64_t pc)
{
	return (unsigned)(pc * 0x9e3779b97f4a7c15ull >> 50);
}

/* The rules of an instruction as a word of the table; 0: not there.  The key is read again after the rules: another
   thread may have replaced both. */
static uint64_t look_up_rules(uint64_t pc)
{
	for (unsigned i = 0, at = first_place(pc); i < KNOWN_TRIES; i++, at++) {
		const uint64_t key = atomic_load_explicit(&known[at % KNOWN].key, memory_order_acquire);
		if (!key)
			return 0;
		if (key != pc)
			continue;
		const uint64_t word = atomic_load_explicit(&known[at % KNOWN].rules, memory_order_acquire);
		return atomic_load_explicit(&known[at % KNOWN].key, memory_order_relaxed) == pc ? word : 0;
	}
	return 0;
}

/* Puts the rules of an instruction into the table, if there is room near their place. */
static void enter_rules(uint64_t pc, uint64_t word)
{
	for (unsigned i = 0, at = first_place(pc); i < KNOWN_TRIES; i++, at++) {
		uint64_t key = 0;
		if (atomic_compare_exchange_strong(&known[at % KNOWN].key, &key, BUSY)) {
			atomic_store_explicit(&any_known, true, memory_order_relaxed);
			atomic_store_explicit(&known[at % KNOWN].rules, word, memory_order_release);
			atomic_store_explicit(&known[at % KNOWN].key, pc, memory_order_release);
			return;
		}
		if (key == pc)
			return;
	}
}

/* Forgets the rules that all threads share: the code that they are of may be gone. */
void sw_unwind_forget_rules(void)
{
	for (unsigned i = 0; i < KNOWN && atomic_load_explicit(&any_known, memory_order_relaxed); i++)
		atomic_store_explicit(&known[i].key, 0, memory_order_relaxed);
}

/* ---- the walk ------------------------------------------------------------------------------------------------------
 */

/* The CFA, i.e. the stack pointer of the caller, by its rule. */
static bool frame_address(const struct sw_unwind *u, const struct rule *cfa, uint64_t *address)
{
	if (cfa->kind == IS_EXPRESSION)
		return evaluate(u, cfa, 0, false, address);
	if (cfa->kind != IN_REGISTER || !register_of(u, cfa->reg, address))
		return false;
	*address += (uint64_t)cfa->offset;
	return true;
}

/* The next frame by rules.  `signal`: this frame is a signal's trampoline, above which lies what it interrupted.  1, 0:
   no more, -1: the walk cannot go on. */
static int step_by_rules(struct sw_unwind *u, struct rules *rules, bool signal, struct sw_unwind_frame *out)
{
	uint64_t cfa, ip = 0, slot = 0;
	if (rules->rip.kind == UNDEFINED)
		return 0;
	if (rules->rip.kind == SAME || !frame_address(u, &rules->cfa, &cfa))
		return -1;
	const bool led = rules->cfa.kind == IN_REGISTER && rules->cfa.reg == RBP;
	*out = (struct sw_unwind_frame){
		.base_slot = led ? u->last.rbp_slot : 0,
		.base = led ? u->last.rbp : 0,
		.rbp = u->last.rbp,
		.rbp_slot = u->last.rbp_slot,
	};
	uint64_t sp = cfa, unused;
	if (!apply(u, &rules->rip, cfa, &ip, &slot) || !apply(u, &rules->rsp, cfa, &sp, &unused) ||
	    (rules->rbp.kind != UNDEFINED && !apply(u, &rules->rbp, cfa, &out->rbp, &out->rbp_slot)))
		return -1;
	if (!ip)
		return 0;
	if (!signal && sp <= u->sp)
		return -1; /* it would go round for ever */
	out->slot = signal || slot != sp - 8 ? 0 : slot;
	out->ip = ip + signal; /* where a signal came: no return address, made one that points after it */
	u->sp = sp;
	return 1;
}

/* The next frame by the frame pointer, for code without tables (JIT), which mostly keeps one.  1, or -1. */
static int step_by_pointer(struct sw_unwind *u, struct sw_unwind_frame *out)
{
	const uint64_t base = u->last.rbp;
	uint64_t ip, next;
	if (base % 8 || base < u->sp || !load_word(u, base, &next) || !load_word(u, base + 8, &ip) || ip <= 4096)
		return -1;
	*out = (struct sw_unwind_frame){
		.slot = base + 8,
		.ip = ip,
		.base_slot = u->last.rbp_slot,
		.base = base,
		.rbp = next,
		.rbp_slot = base,
	};
	u->sp = base + 16;
	return 1;
}

/* The caller's frame by the compiler's unwind tables.  Rules that any thread has used are kept by address, as a word
   each; others are found in the tables of the object.  -1: libunwind should try; 0: no more frames. */
int sw_unwind_by_tables(struct sw_unwind *u, struct sw_unwind_frame *out)
{
	const uint64_t pc = u->last.ip - 1, word = look_up_rules(pc);
	struct rules rules;
	bool signal = false;
	if (word) {
		expand(&rules, word);
		return step_by_rules(u, &rules, false, out);
	}
	struct row row = {.pc = pc};
	if (!find_rules(u, &row, &signal))
		return sw_unwind_loaded() ? -1 : step_by_pointer(u, out);
	const uint64_t found = signal ? 0 : compact(&row.now);
	if (found)
		enter_rules(pc, found);
	return step_by_rules(u, &row.now, signal, out);
}

#endif
