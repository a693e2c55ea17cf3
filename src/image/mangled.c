/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of mangled names (Itanium C++ ABI, section 5.1), as far as names of kernels have them: types with substitutions
 * and template arguments, names in namespaces.
 *
 * Whatever is not known (expressions, lambdas, local types, operators) sets `failed`; nothing may be concluded then.
 */
#include <ctype.h>
#include <string.h>

#include "image/image.h"

#define SW_MANGLED_DEPTH_MAX 64	 /* of nesting: hostile names must not exhaust the stack */
#define SW_MANGLED_TYPES_MAX 256 /* substitutions, template arguments */

struct sw_mangled_type {
	enum sw_signature as; /* when a parameter has this type */
	bool is_const;	      /* the type itself is const-qualified: a pointer to it only reads */
	bool pack;	      /* a template argument that is a pack: `first` and `n` of parser.packed */
	uint16_t first, n;
};

struct sw_mangled_list {
	struct sw_mangled_type at[SW_MANGLED_TYPES_MAX];
	size_t n;
};

struct sw_mangled {
	const char *p;
	int depth;
	bool failed;
	struct sw_mangled_list known;  /* substitution candidates, S_ is the first */
	struct sw_mangled_list args;   /* template arguments of the innermost name that has some, T_ is the first */
	struct sw_mangled_list packed; /* members of packs */
};

/* <type> */
static struct sw_mangled_type mangled_type(struct sw_mangled *p);

static const struct sw_mangled_type value = {.as = SW_SIG_VALUE}, unknown = {.as = SW_SIG_UNKNOWN};

/* Notes that the name is not understood; the type to return then. */
static struct sw_mangled_type fail_type(struct sw_mangled *p)
{
	p->failed = true;
	return unknown;
}

/* Passes over `text` if the name goes on with it.  Returns whether it did. */
static bool mangled_take(struct sw_mangled *p, const char *text)
{
	size_t n = strlen(text);
	if (strncmp(p->p, text, n))
		return false;
	p->p += n;
	return true;
}

/* Appends a type to a list; a list that is full makes the name one that is not understood. */
static void add_type(struct sw_mangled *p, struct sw_mangled_list *list, struct sw_mangled_type t)
{
	if (list->n == SW_MANGLED_TYPES_MAX)
		p->failed = true;
	else
		list->at[list->n++] = t;
}

/* Remembers a substitution candidate and returns it. */
static struct sw_mangled_type mangled_add(struct sw_mangled *p, struct sw_mangled_type t)
{
	add_type(p, &p->known, t);
	return t;
}

/* Reads a <seq-id> (base 36) or the number of a template parameter (base 10), up to its underscore: "_" is 0, "0_"
   is 1, ... */
static size_t read_index(struct sw_mangled *p, unsigned base)
{
	size_t value_of = 0;
	if (mangled_take(p, "_"))
		return 0;
	for (; *p->p != '_'; p->p++) {
		unsigned digit = isdigit((unsigned char)*p->p)	 ? (unsigned)(*p->p - '0')
				 : isupper((unsigned char)*p->p) ? (unsigned)(*p->p - 'A' + 10)
								 : base;
		if (digit >= base || value_of > SW_MANGLED_TYPES_MAX) {
			p->failed = true;
			return 0;
		}
		value_of = value_of * base + digit;
	}
	p->p++;
	return value_of + 1;
}

/* The type with this index in a list; there being none, the name is not understood. */
static struct sw_mangled_type list_member(struct sw_mangled *p, const struct sw_mangled_list *list, size_t index)
{
	return index < list->n ? list->at[index] : fail_type(p);
}

/* Reads a <source-name>, with internal linkage and ABI tags. */
static void mangled_source_name(struct sw_mangled *p)
{
	mangled_take(p, "L"); /* internal linkage */
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
	while (!p->failed && mangled_take(p, "B")) /* ABI tags */
		mangled_source_name(p);
}

/* Reads a <template-arg>, but for packs, and appends it to the list: a type, or a literal, which is unknown. */
static void template_arg(struct sw_mangled *p, struct sw_mangled_list *out)
{
	if (mangled_take(p, "L")) {
		/* A value: its type and value do not matter, but a mangled function name inside may hold
		   substitutions, which only the general parser could count. */
		if (*p->p == '_' || *p->p == 'Z') {
			p->failed = true;
			return;
		}
		mangled_type(p);
		while (isalnum((unsigned char)*p->p) && *p->p != 'E')
			p->p++;
		p->failed |= !mangled_take(p, "E");
		add_type(p, out, unknown);
	} else if (*p->p == 'X') {
		p->failed = true;
	} else {
		add_type(p, out, mangled_type(p));
	}
}

/* Reads the members of a pack of template arguments, after its J, and appends the pack to the list as one argument. */
static void read_pack(struct sw_mangled *p, struct sw_mangled_list *out)
{
	struct sw_mangled_type t = {.as = SW_SIG_UNKNOWN, .pack = true, .first = (uint16_t)p->packed.n};
	while (!p->failed && *p->p && *p->p != 'E') {
		if (*p->p == 'J') { /* a pack within a pack */
			p->failed = true;
			return;
		}
		/* Through a list of its own: nested arguments may hold packs too, and members must lie side by side. */
		struct sw_mangled_list one = {.n = 0};
		template_arg(p, &one);
		if (p->packed.n != (size_t)t.first + t.n)
			p->failed = true;
		if (!p->failed)
			add_type(p, &p->packed, one.at[0]);
		t.n++;
	}
	p->failed |= !mangled_take(p, "E");
	add_type(p, out, t);
}

/* Reads <template-args>, after the I, into a list of their own. */
static void mangled_template_args(struct sw_mangled *p, struct sw_mangled_list *out)
{
	out->n = 0;
	if (++p->depth > SW_MANGLED_DEPTH_MAX)
		p->failed = true;
	while (!p->failed && *p->p != 'E') {
		if (mangled_take(p, "J"))
			read_pack(p, out);
		else
			template_arg(p, out);
	}
	p->failed |= !mangled_take(p, "E");
	p->depth--;
}

/* Passes over an abbreviation of the standard library that is no candidate itself: Sa Ss Sb Si So Sd. */
static bool std_abbreviation(struct sw_mangled *p)
{
	if (p->p[0] == 'S' && p->p[1] && strchr("asbiod", p->p[1])) {
		p->p += 2;
		return true;
	}
	return false;
}

/*
 * <nested-name> after the N.  Every prefix is a candidate; the whole name is one only when it is a type.  *args
 * receives the template arguments of the last component that has some; *templated says whether the last one does.
 */
static void mangled_nested_name(struct sw_mangled *p, bool is_type, struct sw_mangled_list *args, bool *templated)
{
	bool first = true;
	*templated = false;
	while (mangled_take(p, "r") || mangled_take(p, "V") || mangled_take(p, "K"))
		;
	while (!p->failed && *p->p != 'E') {
		bool candidate = true;
		struct sw_mangled_type t = unknown;
		if (*p->p == 'I' && !first) {
			p->p++;
			mangled_template_args(p, args);
			*templated = true;
		} else if (first && mangled_take(p, "St")) {
			candidate = false;
			*templated = false;
		} else if (first && *p->p == 'S') {
			candidate = false;
			*templated = false;
			if (!std_abbreviation(p)) {
				p->p++;
				list_member(p, &p->known, read_index(p, 36));
			}
		} else if (first && mangled_take(p, "T")) {
			t = list_member(p, &p->args, read_index(p, 10));
			*templated = false;
		} else {
			mangled_source_name(p);
			*templated = false;
		}
		first = false;
		if (!p->failed && candidate && (is_type || *p->p != 'E'))
			mangled_add(p, t);
	}
	p->failed |= !mangled_take(p, "E") || first;
}

/* Reads the name of a class or enumeration.  A parameter of it is unknown: its bytes may hold anything. */
static struct sw_mangled_type class_type(struct sw_mangled *p)
{
	struct sw_mangled_list args = {.n = 0};
	bool templated;
	if (mangled_take(p, "N")) {
		mangled_nested_name(p, true, &args, &templated);
		return unknown;
	}
	mangled_take(p, "St");
	mangled_source_name(p);
	mangled_add(p, unknown);
	if (!p->failed && mangled_take(p, "I")) {
		mangled_template_args(p, &args);
		mangled_add(p, unknown);
	}
	return unknown;
}

/* Reads a <substitution> as a type: S_ S0_ ..., St..., Sa...; it may be a template that gets arguments here. */
static struct sw_mangled_type read_substitution(struct sw_mangled *p)
{
	struct sw_mangled_list args = {.n = 0};
	struct sw_mangled_type t = unknown;
	if (!strncmp(p->p, "St", 2))
		return class_type(p);
	if (!std_abbreviation(p)) {
		p->p++;
		t = list_member(p, &p->known, read_index(p, 36));
	}
	if (!p->failed && mangled_take(p, "I")) {
		mangled_template_args(p, &args);
		t = mangled_add(p, unknown);
	}
	return t;
}

/* Reads a <template-param>, T_, T0_, ...: the type is that of the argument. */
static struct sw_mangled_type mangled_template_param(struct sw_mangled *p)
{
	struct sw_mangled_list args = {.n = 0};
	p->p++;
	struct sw_mangled_type t = mangled_add(p, list_member(p, &p->args, read_index(p, 10)));
	if (!p->failed && mangled_take(p, "I")) {
		mangled_template_args(p, &args);
		t = mangled_add(p, unknown);
	}
	return t;
}

/* Reads a pointer, P and the type that it points to: whether that is const decides what a kernel does with it. */
static struct sw_mangled_type read_pointer(struct sw_mangled *p)
{
	p->p++;
	struct sw_mangled_type to = mangled_type(p);
	if (to.pack)
		return fail_type(p);
	return mangled_add(p, (struct sw_mangled_type){.as = to.is_const ? SW_SIG_POINTER_CONST : SW_SIG_POINTER});
}

/* Reads a type with qualifiers (r V K), which are one candidate together with what they apply to. */
static struct sw_mangled_type read_qualified(struct sw_mangled *p)
{
	bool is_const = false;
	mangled_take(p, "r");
	mangled_take(p, "V");
	is_const = mangled_take(p, "K");
	struct sw_mangled_type t = mangled_type(p);
	if (t.pack)
		return fail_type(p);
	t.is_const |= is_const;
	return mangled_add(p, t);
}

/* Reads an array, A, its length and the type of its elements.  No kernel has one as a parameter, but pointers may
   lead to arrays. */
static struct sw_mangled_type read_array(struct sw_mangled *p)
{
	p->p++;
	while (isdigit((unsigned char)*p->p))
		p->p++;
	if (!mangled_take(p, "_"))
		return fail_type(p);
	struct sw_mangled_type element = mangled_type(p);
	/* Const elements make the array const (C++ [basic.type.qualifier]). */
	return mangled_add(p, (struct sw_mangled_type){.as = SW_SIG_UNKNOWN, .is_const = element.is_const});
}

/* Reads the type of a function, F: pointers may lead to one. */
static struct sw_mangled_type read_function(struct sw_mangled *p)
{
	p->p++;
	mangled_take(p, "Y");
	while (!p->failed && *p->p && *p->p != 'E')
		mangled_type(p);
	p->failed |= !mangled_take(p, "E");
	return mangled_add(p, unknown);
}

/* Reads a reference, R or O, which no kernel has as a parameter, but a template argument may be one. */
static struct sw_mangled_type read_reference(struct sw_mangled *p)
{
	p->p++;
	mangled_type(p);
	return mangled_add(p, unknown);
}

/* Reads a newer builtin type, D... */
static struct sw_mangled_type d_type(struct sw_mangled *p)
{
	static const char *const small[] = {"Dh", "Ds", "Di", "Du", "DF16b", "DF16_"};
	for (size_t i = 0; i < sizeof small / sizeof *small; i++)
		if (mangled_take(p, small[i]))
			return value;
	return mangled_take(p, "Dn") ? unknown : fail_type(p);
}

/* Reads a builtin type of one letter.  Integers of 64 bits may carry an address (CUdeviceptr), so they are unknown. */
static struct sw_mangled_type read_builtin(struct sw_mangled *p)
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
	return fail_type(p);
}

/* Reads a <type> by the letter that it begins with. */
static struct sw_mangled_type any_type(struct sw_mangled *p)
{
	switch (*p->p) {
	case 'P':
		return read_pointer(p);
	case 'r':
	case 'V':
	case 'K':
		return read_qualified(p);
	case 'R':
	case 'O':
		return read_reference(p);
	case 'A':
		return read_array(p);
	case 'F':
		return read_function(p);
	case 'T':
		return mangled_template_param(p);
	case 'S':
		return read_substitution(p);
	case 'D':
		return d_type(p);
	case 'N':
	case '1' ... '9':
		return class_type(p);
	default:
		return read_builtin(p);
	}
}

/* Reads a <type>, at any depth of nesting that is allowed. */
static struct sw_mangled_type mangled_type(struct sw_mangled *p)
{
	if (p->failed || ++p->depth > SW_MANGLED_DEPTH_MAX)
		return fail_type(p);
	struct sw_mangled_type t = any_type(p);
	p->depth--;
	return t;
}

/*
 * What a mangled kernel name says about its parameters. A name that is not understood gives no types: a parameter that
 * is called const by mistake would hide a write.
 */

/* Reads the function's name, whose template arguments become p->args.  True: it is a template, so a return type
   follows. */
static bool function_name(struct sw_mangled *p)
{
	bool templated = false;
	if (mangled_take(p, "N")) {
		mangled_nested_name(p, false, &p->args, &templated);
		return templated;
	}
	mangled_take(p, "St");
	mangled_source_name(p);
	if (p->failed || !mangled_take(p, "I"))
		return false;
	mangled_add(p, (struct sw_mangled_type){.as = SW_SIG_UNKNOWN});
	mangled_template_args(p, &p->args);
	return true;
}

/* Appends the type of a parameter; false: there are too many. */
static bool put_param(struct sw_mangled_list *params, struct sw_mangled_type t)
{
	if (params->n == SW_MANGLED_TYPES_MAX)
		return false;
	params->at[params->n++] = t;
	return true;
}

/* Reads what follows Dp, T_: one parameter for each member of the pack.  Other patterns, which would have to be
   applied to each member, are not understood. */
static void read_expansion(struct sw_mangled *p, struct sw_mangled_list *params)
{
	if (*p->p != 'T') {
		p->failed = true;
		return;
	}
	struct sw_mangled_type t = mangled_template_param(p);
	if (!t.pack)
		p->failed = true;
	mangled_add(p, (struct sw_mangled_type){.as = SW_SIG_UNKNOWN});
	for (size_t i = 0; !p->failed && i < t.n; i++)
		p->failed |= !put_param(params, p->packed.at[t.first + i]);
}

/* Reads the types of the function's parameters, up to the end of the name. */
static void parse_params(struct sw_mangled *p, struct sw_mangled_list *params)
{
	if (p->p[0] == 'v' && (!p->p[1] || p->p[1] == '.'))
		return;
	/* A dot or dollar begins a suffix of the compiler. */
	while (!p->failed && *p->p && *p->p != '.' && *p->p != '$') {
		if (mangled_take(p, "Dp")) {
			read_expansion(p, params);
			continue;
		}
		struct sw_mangled_type t = mangled_type(p);
		if (t.pack || *p->p == 'z')
			p->failed = true;
		p->failed |= !put_param(params, t);
	}
}

/* The mangled name within the name of a static kernel.  With -rdc nvcc makes these unique by "__nv_static_<n>__" and
   n characters before the mangled name. */
static const char *without_static_prefix(const char *name)
{
	static const char prefix[] = "__nv_static_";
	size_t n = 0;
	if (strncmp(name, prefix, sizeof prefix - 1))
		return name;
	const char *p = name + sizeof prefix - 1;
	for (; isdigit((unsigned char)*p) && n < 100000; p++)
		n = n * 10 + (size_t)(*p - '0');
	return !strncmp(p, "__", 2) && strnlen(p + 2, n) == n ? p + 2 + n : name;
}

/* Says of each parameter in a kernel's mangled name whether it is a value or a pointer; fills the first `room`. Returns
   how many parameters there are; 0: the name has no types. */
size_t sw_signature_of(const char *mangled, enum sw_signature *out, size_t room)
{
	struct sw_mangled p = {.p = without_static_prefix(mangled)};
	struct sw_mangled_list params = {.n = 0};
	if (!mangled_take(&p, "_Z"))
		return 0;
	bool templated = function_name(&p);
	if (!p.failed && templated)
		mangled_type(&p); /* of the return value */
	if (!p.failed)
		parse_params(&p, &params);
	if (p.failed)
		return 0;
	for (size_t i = 0; i < params.n && i < room; i++)
		out[i] = params.at[i].as;
	return params.n;
}
