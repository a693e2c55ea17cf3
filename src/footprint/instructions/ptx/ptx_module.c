/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a module.  Bodies are passed over: they are read kernel by kernel. */
#include "footprint/instructions/ptx/ptx_module.h"

#include <stdlib.h>
#include <string.h>

/* CUDA C++ Programming Guide, "Function Parameters": 32764 bytes from sm_70 on; results and parameters of functions
   are not bounded, but lie in registers or on a stack. */
#define MOST_FORMAL_BYTES (1u << 20)
/* An alias of an alias of ...: the driver knows of none that is longer than one. */
#define MOST_ALIASES 8

struct walk {
	struct sw_ptx_module *m;
	struct sw_ptx_lexer l;
	const char *counted; /* `line` is the line of this place */
	uint32_t line;
	const char *wrong;
};

static uint32_t line_here(struct walk *w)
{
	while (w->counted < w->l.at) {
		const char *nl = memchr(w->counted, '\n', (size_t)(w->l.at - w->counted));
		w->line += nl != NULL;
		w->counted = nl ? nl + 1 : w->l.at;
	}
	return w->line;
}

static bool next_word(struct walk *w)
{
	if (sw_ptx_next(&w->l))
		return true;
	w->wrong = "the text ends within a declaration";
	return false;
}

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

/* The lexer is after "{"; it is left after the closing brace. Skips text, not tokens: most of a module is bodies of
   kernels that are not needed. */
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

/* After "(": parameters or results up to and with ")". */
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

/* The lexer stands on .entry or .func. */
static void read_function(struct walk *w)
{
	struct sw_ptx_function f = {.entry = sw_ptx_is(&w->l, ".entry")};
	struct sw_ptx_module *m = w->m;
	uint32_t unused;
	while (next_word(w) && *w->l.word == '.')
		if (sw_ptx_is(&w->l, ".attribute") && next_word(w) && !sw_ptx_skip_group(&w->l))
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

/* After "=": names whose addresses are in the initialiser. Functions like generic(x) and 0xff(x) count as undeclared
   names. */
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

/* .section .debug_info { ... } */
static void read_section(struct walk *w)
{
	while (next_word(w))
		if (sw_ptx_is(&w->l, "{")) {
			skip_body(w);
			return;
		}
}

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
