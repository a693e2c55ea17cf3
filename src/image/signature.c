/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a mangled kernel name says about its parameters. A name that is not understood gives no types: a parameter that
 * is called const by mistake would hide a write.
 */
#include <ctype.h>
#include <string.h>

#include "image/mangled.h"

/* The function's name; true: it is a template, so a return type follows. */
static bool function_name(struct sw_mangled *p)
{
	bool templated = false;
	if (sw_mangled_take(p, "N")) {
		sw_mangled_nested_name(p, false, &p->args, &templated);
		return templated;
	}
	sw_mangled_take(p, "St");
	sw_mangled_source_name(p);
	if (p->failed || !sw_mangled_take(p, "I"))
		return false;
	sw_mangled_add(p, (struct sw_mangled_type){.as = SW_SIG_UNKNOWN});
	sw_mangled_template_args(p, &p->args);
	return true;
}

static bool put(struct sw_mangled_list *params, struct sw_mangled_type t)
{
	if (params->n == SW_MANGLED_TYPES_MAX)
		return false;
	params->at[params->n++] = t;
	return true;
}

/* Dp T_: one parameter for each member of the pack.  Other patterns would have to be applied to each member. */
static void expansion(struct sw_mangled *p, struct sw_mangled_list *params)
{
	if (*p->p != 'T') {
		p->failed = true;
		return;
	}
	struct sw_mangled_type t = sw_mangled_template_param(p);
	if (!t.pack)
		p->failed = true;
	sw_mangled_add(p, (struct sw_mangled_type){.as = SW_SIG_UNKNOWN});
	for (size_t i = 0; !p->failed && i < t.n; i++)
		p->failed |= !put(params, p->packed.at[t.first + i]);
}

static void parse_params(struct sw_mangled *p, struct sw_mangled_list *params)
{
	if (p->p[0] == 'v' && (!p->p[1] || p->p[1] == '.'))
		return;
	/* A dot or dollar begins a suffix of the compiler. */
	while (!p->failed && *p->p && *p->p != '.' && *p->p != '$') {
		if (sw_mangled_take(p, "Dp")) {
			expansion(p, params);
			continue;
		}
		struct sw_mangled_type t = sw_mangled_type(p);
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
	if (strncmp(name, prefix, sizeof prefix - 1))
		return name;
	const char *p = name + sizeof prefix - 1;
	for (; isdigit((unsigned char)*p) && n < 100000; p++)
		n = n * 10 + (size_t)(*p - '0');
	return !strncmp(p, "__", 2) && strnlen(p + 2, n) == n ? p + 2 + n : name;
}

size_t sw_signature_of(const char *mangled, enum sw_signature *out, size_t room)
{
	struct sw_mangled p = {.p = without_static_prefix(mangled)};
	struct sw_mangled_list params = {.n = 0};
	if (!sw_mangled_take(&p, "_Z"))
		return 0;
	bool templated = function_name(&p);
	if (!p.failed && templated)
		sw_mangled_type(&p); /* of the return value */
	if (!p.failed)
		parse_params(&p, &params);
	if (p.failed)
		return 0;
	for (size_t i = 0; i < params.n && i < room; i++)
		out[i] = params.at[i].as;
	return params.n;
}
