/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cooperative launch finds the workspace of its barriers by %envreg, "driver-defined read-only registers" (PTX ISA,
 * "Special Registers"): this_grid().sync() orders its own blocks and nothing else.  Memory of malloc() in kernels is
 * the driver's own as well, but its pointers may be given to other launches.
 */
#include "detect/kernels/private_flags.h"

#include <stdlib.h>

#include "base/memory.h"

static bool is_register(const struct sw_term *t)
{
	return t->op == SW_OP_ENVIRONMENT && t->width == 32;
}

/* Is the term computed from such a register?  Not through one of several values. */
static bool leads_to_register(const struct sw_footprint *f, uint32_t term)
{
	bool *leads = sw_calloc(term + 1u, sizeof *leads);
	for (uint32_t i = 0; i <= term; i++) {
		const struct sw_term *t = &f->term[i];
		const uint32_t operand[3] = {t->a, t->b, t->c};
		leads[i] = is_register(t);
		for (uint32_t k = 0; k < sw_term_operands(t) && !leads[i]; k++)
			leads[i] = operand[k] != SW_NO_TERM && leads[operand[k]];
	}
	bool found = leads[term];
	free(leads);
	return found;
}

static bool has_private_root(const struct sw_footprint *f, const struct sw_access_site *site)
{
	for (uint32_t i = 0; i < site->roots; i++) {
		if (f->root[site->root + i].kind == SW_ROOT_ENVIRONMENT)
			return true;
	}
	return false;
}

bool sw_flag_is_private(const struct sw_footprint *f, const struct sw_reach *reach)
{
	/* A reach may stand for several sites. */
	for (uint32_t i = 0; i < f->sites && reach->root.kind == SW_ROOT_ENVIRONMENT; i++) {
		const struct sw_access_site *site = &f->site[i];
		if (site->polls && has_private_root(f, site) &&
		    (site->roots > 1 || site->address == SW_NO_TERM || !leads_to_register(f, site->address)))
			return false;
	}
	return reach->root.kind == SW_ROOT_ENVIRONMENT;
}
