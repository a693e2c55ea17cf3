/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of mangled names (Itanium C++ ABI, section 5.1), as far as names of kernels have them: types with substitutions
 * and template arguments, names in namespaces.
 *
 * Whatever is not known (expressions, lambdas, local types, operators) sets `failed`; nothing may be concluded then.
 */
#ifndef SW_IMAGE_MANGLED_H
#define SW_IMAGE_MANGLED_H

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

/* Passes over `text` if it stands here. */
bool sw_mangled_take(struct sw_mangled *p, const char *text);

/* Remembers a substitution candidate and returns it. */
struct sw_mangled_type sw_mangled_add(struct sw_mangled *p, struct sw_mangled_type t);

/* <source-name>, with internal linkage and ABI tags. */
void sw_mangled_source_name(struct sw_mangled *p);

/*
 * <nested-name> after the N.  Every prefix is a candidate; the whole name is one only when it is a type.  *args
 * receives the template arguments of the last component that has some; *templated says whether the last one does.
 */
void sw_mangled_nested_name(struct sw_mangled *p, bool is_type, struct sw_mangled_list *args, bool *templated);

/* <template-args> after the I. */
void sw_mangled_template_args(struct sw_mangled *p, struct sw_mangled_list *out);

/* <template-param>: T_, T0_, ... */
struct sw_mangled_type sw_mangled_template_param(struct sw_mangled *p);

/* <type> */
struct sw_mangled_type sw_mangled_type(struct sw_mangled *p);

#endif
