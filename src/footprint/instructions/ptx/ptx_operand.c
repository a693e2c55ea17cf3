/* SPDX-License-Identifier: Apache-2.0 */
/* Operands: what stands between an opcode and its semicolon. */
#include <string.h>

#include "footprint/instructions/ptx/ptx_reader.h"

/* Goes on to the next word of the instruction; false: reading failed. */
static bool next_word(struct sw_ptx_reader *r)
{
	if (r->failed)
		return false;
	if (sw_ptx_next(&r->l))
		return true;
	sw_ptx_fail(r, "the text ends within an instruction");
	return false;
}

/* Does the current word begin with this character? */
static bool word_is(const struct sw_ptx_reader *r, char c)
{
	return *r->l.word == c;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads a floating-point number by its bits: 0f3F800000, 0d3FF0000000000000; false: it is none. */
static bool float_bits(const struct sw_ptx_lexer *l, int64_t *out)
{
	char mark = l->n > 2 && l->word[0] == '0' ? (char)(l->word[1] | 32) : 0;
	if (!(mark == 'f' && l->n == 10) && !(mark == 'd' && l->n == 18))
		return false;
	uint64_t bits = 0;
	for (size_t i = 2; i < l->n; i++) {
		unsigned char c = (unsigned char)(l->word[i] | 32);
		unsigned digit = is_digit((char)c) ? c - (unsigned)'0' : c >= 'a' && c <= 'f' ? c - 'a' + 10u : 16;
		if (digit > 15)
			return false;
		bits = bits << 4 | digit;
	}
	*out = (int64_t)bits;
	return true;
}

/* Reads a number into the node; floating-point numbers that are not given by bits are unknown. */
static void read_number(struct sw_ptx_reader *r, struct sw_ptx_node *node)
{
	uint64_t number;
	node->kind = SW_PTX_NUMBER;
	if (float_bits(&r->l, &node->imm))
		return;
	if (sw_ptx_number(&r->l, UINT64_MAX, &number))
		node->imm = (int64_t)number;
	else if (memchr(r->l.word, '.', r->l.n) || memchr(r->l.word, 'e', r->l.n))
		node->kind = SW_PTX_FLOATING;
	else
		sw_ptx_fail(r, "a number that is none: \"%.*s\"", (int)(r->l.n > 40 ? 40 : r->l.n), r->l.word);
}

/* Reads a name into the node, and what it stands for here. */
static void read_name(struct sw_ptx_reader *r, struct sw_ptx_node *node)
{
	node->name = r->l.word;
	node->n = r->l.n;
	if (r->l.n == 1 && word_is(r, '_')) {
		node->kind = SW_PTX_SINK;
		return;
	}
	node->thing = sw_ptx_lookup(r, r->l.word, r->l.n);
	node->kind = node->thing.kind ? SW_PTX_VALUE : SW_PTX_NAME;
	if (node->kind == SW_PTX_NAME && word_is(r, '%'))
		sw_ptx_fail(r, "\"%.*s\" is not declared", (int)(r->l.n > 80 ? 80 : r->l.n), r->l.word);
}

/* "+ 16", "+-16", "- 4" after a name or number, any number of them. */
static void read_offsets(struct sw_ptx_reader *r, struct sw_ptx_node *node)
{
	while (!r->failed && (word_is(r, '+') || word_is(r, '-'))) {
		bool minus = false;
		while (!r->failed && (word_is(r, '+') || word_is(r, '-'))) {
			minus ^= word_is(r, '-');
			next_word(r);
		}
		uint64_t number = 0;
		if (r->failed)
			return;
		if (node->kind == SW_PTX_FLOATING) { /* the exponent of 1.0e-5 */
			next_word(r);
			continue;
		}
		if (!sw_ptx_number(&r->l, UINT64_MAX, &number)) {
			sw_ptx_fail(r, "an offset that is no number");
			return;
		}
		node->imm = (int64_t)((uint64_t)node->imm + (minus ? 0 - number : number));
		next_word(r);
	}
}

static uint32_t read_one(struct sw_ptx_reader *r, unsigned depth);

/* Operands up to a closing character, which is passed; the lexer stands on the first.  Returns the first. */
static uint32_t read_list(struct sw_ptx_reader *r, char close, unsigned depth)
{
	uint32_t first = SW_PTX_NO_NODE, last = SW_PTX_NO_NODE;
	while (!r->failed && !word_is(r, close)) {
		uint32_t one = read_one(r, depth);
		if (last == SW_PTX_NO_NODE)
			first = one;
		else
			r->nodes.at[last].next = one;
		last = one;
		if (r->failed)
			break;
		/* "[a] , [b]" and the "[d] [c]" of a few texture forms alike */
		if (word_is(r, ','))
			next_word(r);
		else if (!word_is(r, close) && !word_is(r, '[') && !word_is(r, '{'))
			sw_ptx_fail(r, "a comma is missing before \"%.*s\"", (int)(r->l.n > 40 ? 40 : r->l.n),
				    r->l.word);
	}
	return first;
}

/* Reads what is in brackets, ( ), [ ] or { }, as children of node `at`; the lexer is left after them. */
static void read_group(struct sw_ptx_reader *r, uint32_t at, unsigned depth)
{
	char open = *r->l.word;
	/* [tensor map, {coordinates}] within nothing else: three are enough, and the stack is not the input's. */
	if (depth == 3) {
		sw_ptx_fail(r, "brackets nested deeper than an instruction has");
		return;
	}
	if (!next_word(r))
		return;
	uint32_t first = read_list(r, open == '(' ? ')' : open == '[' ? ']' : '}', depth + 1);
	r->nodes.at[at].kind = open == '(' ? SW_PTX_LIST : open == '[' ? SW_PTX_MEMORY : SW_PTX_VECTOR;
	r->nodes.at[at].first = first;
	next_word(r);
}

/* One operand; the lexer is left after it. */
static uint32_t read_one(struct sw_ptx_reader *r, unsigned depth)
{
	struct sw_ptx_node node = {.next = SW_PTX_NO_NODE, .first = SW_PTX_NO_NODE, .other = SW_PTX_NO_NODE};
	uint32_t at = (uint32_t)r->nodes.n;
	bool minus = false;
	*sw_vec_push(&r->nodes) = node;
	if (word_is(r, '!')) {
		node.negated = true;
		next_word(r);
	}
	while (!r->failed &&
	       (word_is(r, '-') || word_is(r, '~'))) { /* ~: no compiler writes it; then the number is not known */
		minus = !minus;
		node.negated |= word_is(r, '~');
		next_word(r);
	}
	if (r->failed)
		return at;
	if (word_is(r, '(') || word_is(r, '[') || word_is(r, '{')) {
		read_group(r, at, depth);
	} else if (is_digit(*r->l.word)) {
		read_number(r, &node);
		next_word(r);
		if (minus)
			node.imm = (int64_t)(0 - (uint64_t)node.imm);
		read_offsets(r, &node);
		r->nodes.at[at] = node;
	} else if (r->l.n > 1 || word_is(r, '_') || word_is(r, '%') || (*r->l.word | 32) >= 'a') {
		read_name(r, &node);
		next_word(r);
		read_offsets(r, &node);
		r->nodes.at[at] = node;
	} else {
		sw_ptx_fail(r, "an operand that begins with \"%c\"", *r->l.word);
	}
	if (!r->failed && word_is(r, '|') && depth < 3 && next_word(r)) {
		uint32_t other = read_one(r, 3);
		r->nodes.at[at].other = other;
	}
	return at;
}

void sw_ptx_operands(struct sw_ptx_reader *r)
{
	r->nodes.n = 0;
	r->operand = SW_PTX_NO_NODE;
	r->operands = 0;
	if (!next_word(r))
		return;
	r->operand = read_list(r, ';', 0);
	for (uint32_t i = r->operand; i != SW_PTX_NO_NODE; i = r->nodes.at[i].next)
		r->operands++;
}

struct sw_ptx_node *sw_ptx_at(struct sw_ptx_reader *r, uint32_t i)
{
	uint32_t at = r->operand;
	while (at != SW_PTX_NO_NODE && i--)
		at = r->nodes.at[at].next;
	if (at != SW_PTX_NO_NODE)
		return &r->nodes.at[at];
	sw_ptx_fail(r, "an operand of %s is missing", r->op->text);
	return NULL;
}

struct sw_ptx_node *sw_ptx_child(struct sw_ptx_reader *r, const struct sw_ptx_node *node, uint32_t i)
{
	uint32_t at = node ? node->first : SW_PTX_NO_NODE;
	while (at != SW_PTX_NO_NODE && i--)
		at = r->nodes.at[at].next;
	return at == SW_PTX_NO_NODE ? NULL : &r->nodes.at[at];
}

uint32_t sw_ptx_children(const struct sw_ptx_reader *r, const struct sw_ptx_node *node)
{
	uint32_t n = 0;
	for (uint32_t i = node->first; i != SW_PTX_NO_NODE; i = r->nodes.at[i].next)
		n++;
	return n;
}

bool sw_ptx_is_register(const struct sw_ptx_node *node)
{
	return node->kind == SW_PTX_VALUE && node->thing.kind == SW_PTX_REGISTERS && !node->thing.many;
}

/* Does the name stand for memory or a function, so that its value is an address? */
static bool is_address(const struct sw_ptx_node *node)
{
	return node->kind == SW_PTX_VALUE && node->thing.kind >= SW_PTX_SLOT && node->thing.kind <= SW_PTX_CODE;
}

/* The address that a name stands for, `imm` bytes on. */
static struct sw_ptx_insn address_of(const struct sw_ptx_thing *thing, int64_t imm, unsigned bits)
{
	static const uint8_t ops[] = {[SW_PTX_SLOT] = SW_OP_LOCAL_ADDRESS,
				      [SW_PTX_BLOCK] = SW_OP_PARAM_ADDRESS,
				      [SW_PTX_IN_SHARED] = SW_OP_SHARED_ADDRESS,
				      [SW_PTX_SYMBOL] = SW_OP_SYMBOL_ADDRESS,
				      [SW_PTX_CODE] = SW_OP_FUNCTION_ADDRESS};
	struct sw_ptx_insn insn = {.op = ops[thing->kind], .width = (uint8_t)bits, .imm = thing->a};
	if (thing->kind == SW_PTX_BLOCK)
		insn.imm = (int64_t)((uint64_t)thing->a + (uint64_t)imm);
	else if (thing->kind == SW_PTX_IN_SHARED)
		insn.imm = 0;
	else if (thing->kind != SW_PTX_CODE)
		insn.imm2 = imm;
	return insn;
}

struct sw_operand sw_ptx_use(struct sw_ptx_reader *r, const struct sw_ptx_node *node)
{
	if (!node || r->failed)
		return sw_operand_imm(0);
	if (node->kind == SW_PTX_NUMBER && !node->negated)
		return sw_operand_imm(node->imm);
	if (node->kind == SW_PTX_NUMBER || node->kind == SW_PTX_FLOATING)
		return sw_ptx_temp(r, sw_ptx_any(64));
	if (node->kind != SW_PTX_VALUE) {
		sw_ptx_fail(r, "an operand of %s is no value", r->op ? r->op->text : "a guard");
		return sw_operand_imm(0);
	}
	if (node->thing.kind == SW_PTX_SPECIAL)
		return sw_ptx_temp(r, sw_ptx_special(r, &node->thing));
	if (is_address(node))
		return sw_ptx_temp(r, address_of(&node->thing, node->imm, 64));
	if (!sw_ptx_is_register(node)) {
		sw_ptx_fail(r, "an operand of %s is no value", r->op ? r->op->text : "a guard");
		return sw_operand_imm(0);
	}
	if (node->negated)
		return sw_ptx_temp(r, sw_ptx_op1(SW_OP_NOT, node->thing.bits > 64 ? 64 : node->thing.bits,
						 sw_operand_reg(node->thing.a)));
	if (node->imm) /* "%r1+4" outside brackets: no compiler writes it */
		return sw_ptx_temp(r, sw_ptx_op2(SW_OP_ADD, node->thing.bits > 64 ? 64 : node->thing.bits,
						 sw_operand_reg(node->thing.a), sw_operand_imm(node->imm)));
	return sw_operand_reg(node->thing.a);
}

struct sw_ptx_insn sw_ptx_move(struct sw_ptx_reader *r, const struct sw_ptx_node *node, unsigned bits)
{
	if (node->kind == SW_PTX_VALUE && node->thing.kind == SW_PTX_SPECIAL)
		return sw_ptx_special(r, &node->thing);
	if (is_address(node))
		return address_of(&node->thing, node->imm, bits);
	return sw_ptx_op1(SW_OP_MOV, bits, sw_ptx_use(r, node));
}

struct sw_operand sw_ptx_value(struct sw_ptx_reader *r, uint32_t i)
{
	return sw_ptx_use(r, sw_ptx_at(r, i));
}

struct sw_ptx_place sw_ptx_place(struct sw_ptx_reader *r, const struct sw_ptx_node *memory, unsigned space)
{
	struct sw_ptx_place place = {.space = (uint8_t)space};
	const struct sw_ptx_node *base = memory && memory->kind == SW_PTX_MEMORY ? sw_ptx_child(r, memory, 0) : NULL;
	if (!base) {
		sw_ptx_fail(r, "an operand of %s is no address", r->op->text);
		return place;
	}
	if (base->kind == SW_PTX_NUMBER) {
		place.displacement = base->imm;
		place.address = sw_operand_imm(0);
		return place;
	}
	if (base->kind == SW_PTX_VALUE && base->thing.kind == SW_PTX_BLOCK) {
		place.displacement = (int64_t)(base->thing.a + (uint64_t)base->imm);
		place.block = true;
		return place;
	}
	struct sw_ptx_node bare = *base;
	bare.imm = 0;
	place.address = sw_ptx_use(r, &bare);
	place.displacement = base->imm;
	/* ld.param and st.param of call slots and of a function's own parameters */
	if (space == SW_PARAM_SPACE && (base->thing.kind == SW_PTX_SLOT || !r->function->entry))
		place.space = SW_LOCAL;
	return place;
}
