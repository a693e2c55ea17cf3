/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a module.  Bodies are passed over: they are read kernel by kernel. */
#include "footprint/instructions/ptx/ptx_module.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* A hash of a name. */
static uint32_t hash_of(const char *at, size_t n)
{
	return (uint32_t)sw_hash_u64(sw_hash_bytes(SW_FNV_START, at, n));
}

/* The slot that holds the name, or the free one where it belongs. */
static size_t slot_of(const struct sw_ptx_names *names, const char *at, size_t n, uint32_t hash)
{
	for (size_t i = hash & (names->slots - 1);; i = (i + 1) & (names->slots - 1)) {
		if (!names->slot[i])
			return i;
		const struct sw_ptx_name *name = &names->name.at[names->slot[i] - 1];
		if (name->hash == hash && name->n == n && !memcmp(name->at, at, n))
			return i;
	}
}

uint32_t sw_ptx_names_find(const struct sw_ptx_names *names, const char *at, size_t n)
{
	return names->slots ? names->slot[slot_of(names, at, n, hash_of(at, n))] - 1 : SW_PTX_NO_NAME;
}

/* Makes the table of names twice as large. */
static void grow_slots(struct sw_ptx_names *names)
{
	names->slots = names->slots ? names->slots * 2 : 64;
	free(names->slot);
	names->slot = sw_calloc(names->slots, sizeof *names->slot);
	for (size_t i = 0; i < names->name.n; i++) {
		const struct sw_ptx_name *name = &names->name.at[i];
		names->slot[slot_of(names, name->at, name->n, name->hash)] = (uint32_t)i + 1;
	}
}

uint32_t sw_ptx_names_add(struct sw_ptx_names *names, const char *at, size_t n)
{
	uint32_t hash = hash_of(at, n);
	if (names->name.n * 2 >= names->slots)
		grow_slots(names);
	size_t i = slot_of(names, at, n, hash);
	if (!names->slot[i]) {
		*sw_vec_push(&names->name) = (struct sw_ptx_name){at, (uint32_t)n, hash};
		names->slot[i] = (uint32_t)names->name.n;
	}
	return names->slot[i] - 1;
}

void sw_ptx_names_clear(struct sw_ptx_names *names)
{
	names->name.n = 0;
	if (names->slots)
		memset(names->slot, 0, names->slots * sizeof *names->slot);
}

void sw_ptx_names_free(struct sw_ptx_names *names)
{
	free(names->name.at);
	free(names->slot);
	*names = (struct sw_ptx_names){0};
}

/* No variable is larger than the memory of a device. */
#define MOST_BYTES (1ull << 40)

struct sw_ptx_type sw_ptx_type_of(const char *at, size_t n)
{
	static const struct {
		const char *text;
		struct sw_ptx_type type;
	} types[] = {
#define SW_PTX_TYPE(text, bits, class) {text, {bits, SW_PTX_##class}},
#include "footprint/instructions/ptx/ptx_types.def"
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strlen(types[i].text) == n && !memcmp(types[i].text, at, n))
			return types[i].type;
	return (struct sw_ptx_type){0};
}

enum sw_ptx_state sw_ptx_state_of(const struct sw_ptx_lexer *l)
{
	static const char *const states[] = {".reg", ".param", ".local", ".shared", ".global", ".const"};
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (sw_ptx_is(l, states[i]))
			return (enum sw_ptx_state)(SW_PTX_REG + i);
	return SW_PTX_NO_STATE;
}

/* Skips from after an opening bracket to the one that closes it; false: there is none. */
static bool ptx_skip_group(struct sw_ptx_lexer *l)
{
	for (size_t depth = 1; depth;) {
		if (!sw_ptx_next(l))
			return false;
		if (l->n == 1 && strchr("([{", *l->word))
			depth++;
		else if (l->n == 1 && strchr(")]}", *l->word))
			depth--;
	}
	return true;
}

/* Reads the number after .align; NULL, or what is wrong. */
static const char *read_align(struct sw_ptx_lexer *l, uint64_t *align)
{
	if (!sw_ptx_next(l) || !sw_ptx_number(l, 1u << 20, align) || !*align || *align & (*align - 1))
		return "an alignment that is no power of two";
	return NULL;
}

const char *sw_ptx_declaration_begin(struct sw_ptx_lexer *l, struct sw_ptx_declaration *d)
{
	bool pointee = false; /* after .ptr: what follows describes the memory that it points to */
	uint64_t align = 0, pointee_align;
	const char *wrong;
	*d = (struct sw_ptx_declaration){.state = sw_ptx_state_of(l), .vector = 1};
	for (;;) {
		if (!sw_ptx_next(l))
			return "the text ends within a declaration";
		if (*l->word != '.')
			break;
		struct sw_ptx_type type = sw_ptx_type_of(l->word + 1, l->n - 1);
		if (type.bits) {
			d->type = type;
		} else if (sw_ptx_is(l, ".ptr")) {
			pointee = true;
		} else if (sw_ptx_is(l, ".align")) {
			if ((wrong = read_align(l, pointee ? &pointee_align : &align)))
				return wrong;
		} else if (sw_ptx_is(l, ".v2") || sw_ptx_is(l, ".v4") || sw_ptx_is(l, ".v8")) {
			d->vector = (uint32_t)(l->word[2] - '0');
		} else if (sw_ptx_is(l, ".attribute")) {
			if (!sw_ptx_next(l) || !sw_ptx_is(l, "(") || !ptx_skip_group(l))
				return "an attribute without an end";
		}
	}
	if (!d->type.bits)
		return "a declaration without a type that is known";
	uint64_t natural = (d->type.bits + 7u) / 8 * d->vector;
	d->align = align ? align : natural;
	return NULL;
}

/* Reads "[length]" of an array into d->bytes; NULL, or what is wrong. */
static const char *read_sizes(struct sw_ptx_lexer *l, struct sw_ptx_declaration *d)
{
	uint64_t count;
	if (!sw_ptx_next(l))
		return "the text ends within a declaration";
	if (sw_ptx_is(l, "]")) {
		d->bytes = 0;
		return NULL;
	}
	if (!sw_ptx_number(l, MOST_BYTES, &count) || (d->bytes && count > MOST_BYTES / d->bytes))
		return "an array without a length that can be";
	d->bytes *= count;
	return sw_ptx_next(l) && sw_ptx_is(l, "]") ? NULL : "an array length that is no number";
}

const char *sw_ptx_declaration_name(struct sw_ptx_lexer *l, struct sw_ptx_declaration *d)
{
	const char *wrong;
	d->name = l->word;
	d->n = (uint32_t)l->n;
	d->many = 0;
	d->bytes = (d->type.bits + 7u) / 8 * d->vector;
	while (sw_ptx_next(l)) {
		if (sw_ptx_is(l, "<")) {
			if (!sw_ptx_next(l) || !sw_ptx_number(l, UINT32_MAX, &d->many) || !sw_ptx_next(l) ||
			    !sw_ptx_is(l, ">"))
				return "registers without a number";
		} else if (sw_ptx_is(l, "[")) {
			if ((wrong = read_sizes(l, d)))
				return wrong;
		} else {
			return NULL;
		}
	}
	return "the text ends within a declaration";
}

/* CUDA C++ Programming Guide, "Function Parameters": 32764 bytes from sm_70 on; results and parameters of functions
   are not bounded, but lie in registers or on a stack. */
#define MOST_FORMAL_BYTES (1u << 20)
/* An alias of an alias of ...: the driver knows of none that is longer than one. */
#define MOST_ALIASES 8

/* The state of reading a module. */
struct walk {
	struct sw_ptx_module *m;
	struct sw_ptx_lexer l;
	const char *counted; /* `line` is the line of this place */
	uint32_t line;
	const char *wrong;
};

/* The line that the lexer stands in, for error messages. */
static uint32_t line_here(struct walk *w)
{
	while (w->counted < w->l.at) {
		const char *nl = memchr(w->counted, '\n', (size_t)(w->l.at - w->counted));
		w->line += nl != NULL;
		w->counted = nl ? nl + 1 : w->l.at;
	}
	return w->line;
}

/* Goes on to the next word; false: the text ends. */
static bool next_word(struct walk *w)
{
	if (sw_ptx_next(&w->l))
		return true;
	w->wrong = "the text ends within a declaration";
	return false;
}

/* The entry for a name of the module, made when it is first met. */
static struct sw_ptx_named *name_it(struct sw_ptx_module *m, const char *name, size_t n)
{
	uint32_t number = sw_ptx_names_add(&m->names, name, n);
	while (m->named.n <= number)
		*sw_vec_push(&m->named) = (struct sw_ptx_named){0};
	return &m->named.at[number];
}

struct sw_ptx_named sw_ptx_module_meaning(const struct sw_ptx_module *m, uint32_t name)
{
	for (unsigned i = 0; i < MOST_ALIASES && name < m->named.n; i++) {
		if (m->named.at[name].meaning != SW_PTX_IS_ALIAS)
			return m->named.at[name];
		name = m->named.at[name].index;
	}
	return (struct sw_ptx_named){0};
}

struct sw_ptx_named sw_ptx_module_find(const struct sw_ptx_module *m, const char *name, size_t n)
{
	return sw_ptx_module_meaning(m, sw_ptx_names_find(&m->names, name, n));
}

/* The last character of the comment, string or line of debug information that begins at p; p itself if none does; NULL
   if it has no end. */
static const char *skip_opaque(const char *p, const char *end)
{
	size_t n = (size_t)(end - p);
	if (*p == '"')
		return n > 1 ? memchr(p + 1, '"', n - 1) : NULL;
	if (n > 1 && !memcmp(p, "//", 2))
		return memchr(p, '\n', n);
	if (n > 1 && !memcmp(p, "/*", 2)) {
		const char *close = n > 3 ? memmem(p + 2, n - 2, "*/", 2) : NULL;
		return close ? close + 1 : NULL;
	}
	/* ends at the newline, whatever else is in it */
	if (n > 5 && (!memcmp(p, ".loc", 4) || !memcmp(p, ".file", 5)) && (p[4] == ' ' || p[4] == '\t' || p[4] == 'e'))
		return memchr(p, '\n', n);
	return p;
}

/* Skips a function's body, from after "{"; returns its closing brace, NULL if there is none.  Skips text, not
   tokens: most of a module is bodies of kernels that are not needed. */
static const char *skip_body(struct walk *w)
{
	const char *p = w->l.at, *end = w->l.end;
	for (size_t depth = 1; p && p < end; p++) {
		if (*p == '{') {
			depth++;
		} else if (*p == '}' && !--depth) {
			w->l.at = p + 1;
			return p;
		} else if ((*p == '"' || *p == '/' || *p == '.') && !(p = skip_opaque(p, end))) {
			break;
		}
	}
	w->wrong = "the text ends within a function";
	return NULL;
}

/* Reads parameters or results, from after "(" up to and with ")", and lays them out as in a parameter block. */
static void read_formals(struct walk *w, uint32_t *count, uint32_t *block_bytes)
{
	struct sw_ptx_formal f;
	uint64_t bytes = 0;
	*count = 0;
	while (next_word(w) && !sw_ptx_is(&w->l, ")")) {
		if ((w->wrong = sw_ptx_declaration_begin(&w->l, &f.is)) ||
		    (w->wrong = sw_ptx_declaration_name(&w->l, &f.is)))
			return;
		bytes = (bytes + f.is.align - 1) & ~(f.is.align - 1);
		f.offset = (uint32_t)bytes;
		bytes += f.is.bytes;
		if (bytes > MOST_FORMAL_BYTES) {
			w->wrong = "more parameter bytes than there can be";
			return;
		}
		*sw_vec_push(&w->m->formals) = f;
		++*count;
		if (sw_ptx_is(&w->l, ")"))
			break;
	}
	*block_bytes = (uint32_t)bytes;
}

/* Reads the directives between a function's parameters and its body. */
static void read_directives(struct walk *w, struct sw_ptx_function *f)
{
	while (!sw_ptx_is(&w->l, "{") && !sw_ptx_is(&w->l, ";")) {
		unsigned at = 0;
		uint64_t number;
		bool cluster = sw_ptx_is(&w->l, ".reqnctapercluster");
		while (next_word(w) && *w->l.word != '.' && *w->l.word != '{' && *w->l.word != ';')
			if (cluster && at < 3 && sw_ptx_number(&w->l, UINT16_MAX, &number))
				f->cluster[at++] = (uint32_t)number;
		while (cluster && at && at < 3)
			f->cluster[at++] = 1;
		if (w->wrong)
			return;
	}
}

/* Reads the head of a function and skips its body; the lexer stands on .entry or .func. */
static void read_function(struct walk *w)
{
	struct sw_ptx_function f = {.entry = sw_ptx_is(&w->l, ".entry")};
	struct sw_ptx_module *m = w->m;
	uint32_t unused;
	while (next_word(w) && *w->l.word == '.')
		if (sw_ptx_is(&w->l, ".attribute") && next_word(w) && !ptx_skip_group(&w->l))
			w->wrong = "an attribute without an end";
	f.result = (uint32_t)m->formals.n;
	if (!w->wrong && sw_ptx_is(&w->l, "(")) {
		read_formals(w, &f.results, &unused);
		if (!w->wrong)
			next_word(w);
	}
	if (w->wrong)
		return;
	const char *name = w->l.word;
	size_t n = w->l.n;
	f.name = sw_arena_strndup(&m->arena, name, n);
	f.param = (uint32_t)m->formals.n;
	if (next_word(w) && sw_ptx_is(&w->l, "(")) {
		read_formals(w, &f.params, &f.block_bytes);
		if (!w->wrong)
			next_word(w);
	}
	if (!w->wrong)
		read_directives(w, &f);
	if (!w->wrong && sw_ptx_is(&w->l, "{")) {
		f.line = line_here(w);
		f.body = w->l.at;
		f.body_end = skip_body(w);
	}
	if (w->wrong)
		return;
	struct sw_ptx_named *named = name_it(m, name, n);
	if (named->meaning == SW_PTX_IS_FUNCTION) { /* declared before */
		if (f.body)
			m->functions.at[named->index] = f;
		return;
	}
	*named = (struct sw_ptx_named){SW_PTX_IS_FUNCTION, (uint32_t)m->functions.n};
	*sw_vec_push(&m->functions) = f;
}

/* Reads an initialiser, from after "=", and notes the names whose addresses are in it.  Functions like generic(x)
   and 0xff(x) count as undeclared names. */
static void read_initialiser(struct walk *w, struct sw_ptx_variable *v)
{
	size_t depth = 0;
	v->pointee = (uint32_t)w->m->pointees.n;
	while (next_word(w)) {
		char c = *w->l.word;
		if (c == '{' || c == '(' || c == '[')
			depth++;
		else if (depth && (c == '}' || c == ')' || c == ']'))
			depth--;
		else if (c == ';' || (c == ',' && !depth))
			break;
		else if (c == '_' || c == '$' || c == '%' || (c | 32) >= 'a')
			if (c != '{' && c != '}' && c != '|' && c != '~' && c != '^') {
				name_it(w->m, w->l.word, w->l.n);
				*sw_vec_push(&w->m->pointees) = sw_ptx_names_find(&w->m->names, w->l.word, w->l.n);
			}
	}
	v->pointees = (uint32_t)w->m->pointees.n - v->pointee;
}

/* Reads a declaration of module variables; the lexer stands on its state space. */
static void read_variables(struct walk *w)
{
	struct sw_ptx_declaration d;
	struct sw_ptx_module *m = w->m;
	w->wrong = sw_ptx_declaration_begin(&w->l, &d);
	while (!w->wrong && !(w->wrong = sw_ptx_declaration_name(&w->l, &d))) {
		struct sw_ptx_variable v = {sw_arena_strndup(&m->arena, d.name, d.n), d.state, d.bytes, 0, 0};
		if (sw_ptx_is(&w->l, "="))
			read_initialiser(w, &v);
		if (w->wrong)
			return;
		struct sw_ptx_named *named = name_it(m, d.name, d.n);
		if (named->meaning != SW_PTX_IS_VARIABLE) {
			*named = (struct sw_ptx_named){SW_PTX_IS_VARIABLE, (uint32_t)m->variables.n};
			*sw_vec_push(&m->variables) = v;
		} else if (v.bytes || v.pointees) { /* declared .extern before */
			m->variables.at[named->index] = v;
		}
		if (!sw_ptx_is(&w->l, ",") || !next_word(w))
			return;
	}
}

/* .alias new, old; */
static void read_alias(struct walk *w)
{
	if (!next_word(w))
		return;
	struct sw_ptx_lexer alias = w->l;
	if (!next_word(w) || !sw_ptx_is(&w->l, ",") || !next_word(w)) {
		w->wrong = "an alias of nothing";
		return;
	}
	name_it(w->m, w->l.word, w->l.n);
	uint32_t old = sw_ptx_names_find(&w->m->names, w->l.word, w->l.n);
	*name_it(w->m, alias.word, alias.n) = (struct sw_ptx_named){SW_PTX_IS_ALIAS, old};
}

/* .target sm_90a, texmode_independent */
static void read_target(struct walk *w)
{
	uint32_t arch = 0;
	if (!next_word(w))
		return;
	if (w->l.n < 3 || memcmp(w->l.word, "sm_", 3))
		return;
	for (size_t i = 3; i < w->l.n && w->l.word[i] >= '0' && w->l.word[i] <= '9' && arch < 10000; i++)
		arch = arch * 10 + (uint32_t)(w->l.word[i] - '0');
	w->m->arch = arch;
}

/* Skips a section of debug information: .section .debug_info { ... } */
static void read_section(struct walk *w)
{
	while (next_word(w))
		if (sw_ptx_is(&w->l, "{")) {
			skip_body(w);
			return;
		}
}

/* Reads all of a module's declarations. */
static void read_module(struct walk *w)
{
	while (!w->wrong && sw_ptx_next(&w->l)) {
		enum sw_ptx_state state = sw_ptx_state_of(&w->l);
		if (sw_ptx_is(&w->l, ".entry") || sw_ptx_is(&w->l, ".func"))
			read_function(w);
		else if (state >= SW_PTX_LOCAL)
			read_variables(w);
		else if (sw_ptx_is(&w->l, ".alias"))
			read_alias(w);
		else if (sw_ptx_is(&w->l, ".target"))
			read_target(w);
		else if (sw_ptx_is(&w->l, ".section"))
			read_section(w);
	}
}

int sw_ptx_module_open(const char *text, size_t bytes, struct sw_ptx_module **module, struct sw_error *error)
{
	struct sw_ptx_module *m = sw_calloc(1, sizeof *m);
	struct walk w = {.m = m, .l = sw_ptx_lexer(text, bytes), .line = 1};
	w.counted = m->text = w.l.at;
	m->end = w.l.end;
	read_module(&w);
	if (!w.wrong && !m->arch)
		w.wrong = "no .target";
	if (w.wrong) {
		uint32_t line = line_here(&w);
		sw_ptx_module_close(m);
		return sw_fail(error, SW_E_FORMAT, "PTX: line %u: %s", line, w.wrong);
	}
	*module = m;
	return 0;
}

void sw_ptx_module_close(struct sw_ptx_module *m)
{
	if (!m)
		return;
	sw_arena_free(&m->arena);
	sw_ptx_names_free(&m->names);
	free(m->named.at);
	free(m->functions.at);
	free(m->variables.at);
	free(m->formals.at);
	free(m->pointees.at);
	free(m);
}

uint32_t sw_ptx_module_arch(const struct sw_ptx_module *m)
{
	return m->arch;
}
