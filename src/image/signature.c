/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a mangled kernel name tells of its parameters (Itanium C++ ABI, section 5.1).
 *
 * A parser for the names that kernels have: ordinary functions and templates with substitutions, in namespaces.
 * Whatever it does not know (expressions, lambdas, local types, operators) ends it with "tells nothing": a parameter
 * that is called const by mistake would hide a write.
 */
#include <ctype.h>
#include <string.h>

#include "image/image.h"

#define DEPTH_MAX 64  /* of nesting: hostile names must not exhaust the stack */
#define TYPES_MAX 256 /* substitutions, template arguments */

struct type {
	enum sw_signature as; /* when a parameter has this type */
	bool is_const;	      /* the type itself is const-qualified: a pointer to it only reads */
	bool pack;	      /* a template argument that is a pack: `first` and `n` of parser.packed */
	uint16_t first, n;
};

struct list {
	struct type at[TYPES_MAX];
	size_t n;
};

struct parser {
	const char *p;
	int depth;
	bool failed;
	struct list known;  /* substitution candidates, S_ is the first */
	struct list args;   /* template arguments of the innermost name that has some, T_ is the first */
	struct list packed; /* members of packs */
};

static const struct type value = {.as = SW_SIG_VALUE}, unknown = {.as = SW_SIG_UNKNOWN};

static struct type fail(struct parser *p)
{
	p->failed = true;
	return unknown;
}

static bool take(struct parser *p, const char *text)
{
	size_t n = strlen(text);
	if (strncmp(p->p, text, n))
		return false;
	p->p += n;
	return true;
}

static void add(struct parser *p, struct list *list, struct type t)
{
	if (list->n == TYPES_MAX)
		p->failed = true;
	else
		list->at[list->n++] = t;
}

static struct type substitutable(struct parser *p, struct type t)
{
	add(p, &p->known, t);
	return t;
}

/* <seq-id> or the number of a template parameter, up to its underscore: "_" is 0, "0_" is 1, ... */
static size_t read_index(struct parser *p, unsigned base)
{
	size_t value_of = 0;
	if (take(p, "_"))
		return 0;
	for (; *p->p != '_'; p->p++) {
		unsigned digit = isdigit((unsigned char)*p->p)	 ? (unsigned)(*p->p - '0')
				 : isupper((unsigned char)*p->p) ? (unsigned)(*p->p - 'A' + 10)
								 : base;
		if (digit >= base || value_of > TYPES_MAX) {
			p->failed = true;
			return 0;
		}
		value_of = value_of * base + digit;
	}
	p->p++;
	return value_of + 1;
}

static struct type lookup(struct parser *p, const struct list *list, size_t index)
{
	return index < list->n ? list->at[index] : fail(p);
}

static void source_name(struct parser *p)
{
	take(p, "L"); /* internal linkage */
	size_t n = 0;
	if (!isdigit((unsigned char)*p->p) || *p->p == '0') {
		p->failed = true;
		return;
	}
	for (; isdigit((unsigned char)*p->p); p->p++) {
		n = n * 10 + (size_t)(*p->p - '0');
		if (n > 100000)
			break;
	}
	if (strnlen(p->p, n) < n) {
		p->failed = true;
		return;
	}
	p->p += n;
	while (!p->failed && take(p, "B")) /* ABI tags */
		source_name(p);
}

static struct type parse_type(struct parser *p);

/* <template-arg>: a type, a literal, or a pack of them. */
static void template_arg(struct parser *p, struct list *out)
{
	if (take(p, "L")) {
		/* A value: what type it has and which one it is matter to nobody, but a mangled function name inside
		   may hold substitutions, which only the general parser could count. */
		if (*p->p == '_' || *p->p == 'Z') {
			p->failed = true;
			return;
		}
		parse_type(p);
		while (isalnum((unsigned char)*p->p) && *p->p != 'E')
			p->p++;
		p->failed |= !take(p, "E");
		add(p, out, unknown);
	} else if (*p->p == 'X') {
		p->failed = true;
	} else {
		add(p, out, parse_type(p));
	}
}

static void pack(struct parser *p, struct list *out)
{
	struct type t = {.as = SW_SIG_UNKNOWN, .pack = true, .first = (uint16_t)p->packed.n};
	while (!p->failed && *p->p && *p->p != 'E') {
		if (*p->p == 'J') { /* a pack within a pack */
			p->failed = true;
			return;
		}
		/* Through a list of its own: nested arguments may hold packs too, and members must lie side by side. */
		struct list one = {.n = 0};
		template_arg(p, &one);
		if (p->packed.n != (size_t)t.first + t.n)
			p->failed = true;
		if (!p->failed)
			add(p, &p->packed, one.at[0]);
		t.n++;
	}
	p->failed |= !take(p, "E");
	add(p, out, t);
}

/* <template-args>, behind the I. */
static void template_args(struct parser *p, struct list *out)
{
	out->n = 0;
	if (++p->depth > DEPTH_MAX)
		p->failed = true;
	while (!p->failed && *p->p != 'E') {
		if (take(p, "J"))
			pack(p, out);
		else
			template_arg(p, out);
	}
	p->failed |= !take(p, "E");
	p->depth--;
}

/* Abbreviations of the standard library that are no candidates themselves: Sa Ss Sb Si So Sd. */
static bool std_abbreviation(struct parser *p)
{
	if (p->p[0] == 'S' && p->p[1] && strchr("asbiod", p->p[1])) {
		p->p += 2;
		return true;
	}
	return false;
}

/*
 * <nested-name> behind the N.  Every prefix is a candidate; the whole name is one only when it is a type.  *args
 * receives the template arguments of the last component, or nothing (n = 0); *templated says whether it had some.
 */
static void nested_name(struct parser *p, bool is_type, struct list *args, bool *templated)
{
	bool first = true;
	*templated = false;
	while (take(p, "r") || take(p, "V") || take(p, "K"))
		;
	while (!p->failed && *p->p != 'E') {
		bool candidate = true;
		struct type t = unknown;
		if (*p->p == 'I' && !first) {
			p->p++;
			template_args(p, args);
			*templated = true;
		} else if (first && take(p, "St")) {
			candidate = false;
			*templated = false;
		} else if (first && *p->p == 'S') {
			candidate = false;
			*templated = false;
			if (!std_abbreviation(p)) {
				p->p++;
				lookup(p, &p->known, read_index(p, 36));
			}
		} else if (first && take(p, "T")) {
			t = lookup(p, &p->args, read_index(p, 10));
			*templated = false;
		} else {
			source_name(p);
			*templated = false;
		}
		first = false;
		if (!p->failed && candidate && (is_type || *p->p != 'E'))
			substitutable(p, t);
	}
	p->failed |= !take(p, "E") || first;
}

/* A class or enumeration: its bytes may hold anything. */
static struct type class_type(struct parser *p)
{
	struct list args = {.n = 0};
	bool templated;
	if (take(p, "N")) {
		nested_name(p, true, &args, &templated);
		return unknown;
	}
	take(p, "St");
	source_name(p);
	substitutable(p, unknown);
	if (!p->failed && take(p, "I")) {
		template_args(p, &args);
		substitutable(p, unknown);
	}
	return unknown;
}

/* <substitution> as a type: S_ S0_ ..., St..., Sa...; may be a template that gets arguments here. */
static struct type substitution(struct parser *p)
{
	struct list args = {.n = 0};
	struct type t = unknown;
	if (!strncmp(p->p, "St", 2))
		return class_type(p);
	if (!std_abbreviation(p)) {
		p->p++;
		t = lookup(p, &p->known, read_index(p, 36));
	}
	if (!p->failed && take(p, "I")) {
		template_args(p, &args);
		t = substitutable(p, unknown);
	}
	return t;
}

static struct type template_param(struct parser *p)
{
	struct list args = {.n = 0};
	p->p++;
	struct type t = substitutable(p, lookup(p, &p->args, read_index(p, 10)));
	if (!p->failed && take(p, "I")) {
		template_args(p, &args);
		t = substitutable(p, unknown);
	}
	return t;
}

/* P: what it points to decides. */
static struct type pointer(struct parser *p)
{
	p->p++;
	struct type to = parse_type(p);
	if (to.pack)
		return fail(p);
	return substitutable(p, (struct type){.as = to.is_const ? SW_SIG_POINTER_CONST : SW_SIG_POINTER});
}

/* Qualifiers apply to what follows, as one candidate. */
static struct type qualified(struct parser *p)
{
	bool is_const = false;
	take(p, "r");
	take(p, "V");
	is_const = take(p, "K");
	struct type t = parse_type(p);
	if (t.pack)
		return fail(p);
	t.is_const |= is_const;
	return substitutable(p, t);
}

/* References and arrays: no kernel has them as parameters, but pointers may lead to arrays. */
static struct type array(struct parser *p)
{
	p->p++;
	while (isdigit((unsigned char)*p->p))
		p->p++;
	if (!take(p, "_"))
		return fail(p);
	struct type element = parse_type(p);
	/* Const elements make the array const (C++ [basic.type.qualifier]). */
	return substitutable(p, (struct type){.as = SW_SIG_UNKNOWN, .is_const = element.is_const});
}

static struct type function(struct parser *p)
{
	p->p++;
	take(p, "Y");
	while (!p->failed && *p->p && *p->p != 'E')
		parse_type(p);
	p->failed |= !take(p, "E");
	return substitutable(p, unknown);
}

static struct type reference(struct parser *p)
{
	p->p++;
	parse_type(p);
	return substitutable(p, unknown);
}

/* D...: newer builtin types. */
static struct type d_type(struct parser *p)
{
	static const char *const small[] = {"Dh", "Ds", "Di", "Du", "DF16b", "DF16_"};
	for (size_t i = 0; i < sizeof small / sizeof *small; i++)
		if (take(p, small[i]))
			return value;
	return take(p, "Dn") ? unknown : fail(p);
}

/* Builtin types.  Integers of 64 bits may carry an address (CUdeviceptr), so nothing is said of them. */
static struct type builtin(struct parser *p)
{
	char c = *p->p;
	if (c && strchr("vwbcahstijfde", c)) {
		p->p++;
		return value;
	}
	if (c && strchr("lmxynog", c)) {
		p->p++;
		return unknown;
	}
	return fail(p);
}

static struct type any_type(struct parser *p)
{
	switch (*p->p) {
	case 'P':
		return pointer(p);
	case 'r':
	case 'V':
	case 'K':
		return qualified(p);
	case 'R':
	case 'O':
		return reference(p);
	case 'A':
		return array(p);
	case 'F':
		return function(p);
	case 'T':
		return template_param(p);
	case 'S':
		return substitution(p);
	case 'D':
		return d_type(p);
	case 'N':
	case '1' ... '9':
		return class_type(p);
	default:
		return builtin(p);
	}
}

static struct type parse_type(struct parser *p)
{
	if (p->failed || ++p->depth > DEPTH_MAX)
		return fail(p);
	struct type t = any_type(p);
	p->depth--;
	return t;
}

/* The function's name; true: it is a template, so a return type follows. */
static bool function_name(struct parser *p)
{
	bool templated = false;
	if (take(p, "N")) {
		nested_name(p, false, &p->args, &templated);
		return templated;
	}
	take(p, "St");
	source_name(p);
	if (p->failed || !take(p, "I"))
		return false;
	substitutable(p, unknown);
	template_args(p, &p->args);
	return true;
}

static bool put(struct list *params, struct type t)
{
	if (params->n == TYPES_MAX)
		return false;
	params->at[params->n++] = t;
	return true;
}

/* Dp T_: one parameter for each member of the pack.  Other patterns would have to be applied to each member. */
static void expansion(struct parser *p, struct list *params)
{
	if (*p->p != 'T') {
		p->failed = true;
		return;
	}
	struct type t = template_param(p);
	if (!t.pack)
		p->failed = true;
	substitutable(p, unknown);
	for (size_t i = 0; !p->failed && i < t.n; i++)
		p->failed |= !put(params, p->packed.at[t.first + i]);
}

static void parse_params(struct parser *p, struct list *params)
{
	if (p->p[0] == 'v' && (!p->p[1] || p->p[1] == '.'))
		return;
	/* A dot or dollar begins a suffix of the compiler. */
	while (!p->failed && *p->p && *p->p != '.' && *p->p != '$') {
		if (take(p, "Dp")) {
			expansion(p, params);
			continue;
		}
		struct type t = parse_type(p);
		if (t.pack || *p->p == 'z')
			p->failed = true;
		p->failed |= !put(params, t);
	}
}

/* With -rdc nvcc makes names of static kernels unique by "__nv_static_<n>__" and n characters before the mangled name.
 */
static const char *without_static_prefix(const char *name)
{
	static const char prefix[] = "__nv_static_";
	size_t n = 0;
	const char *p = name + sizeof prefix - 1;
	if (strncmp(name, prefix, sizeof prefix - 1))
		return name;
	for (; isdigit((unsigned char)*p) && n < 100000; p++)
		n = n * 10 + (size_t)(*p - '0');
	return !strncmp(p, "__", 2) && strnlen(p + 2, n) == n ? p + 2 + n : name;
}

size_t sw_signature_of(const char *mangled, enum sw_signature *out, size_t room)
{
	struct parser p = {.p = without_static_prefix(mangled)};
	struct list params = {.n = 0};
	if (!take(&p, "_Z"))
		return 0;
	bool templated = function_name(&p);
	if (!p.failed && templated)
		parse_type(&p); /* of the return value */
	if (!p.failed)
		parse_params(&p, &params);
	if (p.failed)
		return 0;
	for (size_t i = 0; i < params.n && i < room; i++)
		out[i] = params.at[i].as;
	return params.n;
}
