/* SPDX-License-Identifier: Apache-2.0 */
/* PTX: other kernels become blanks; newlines stay, since a report names lines. */
#include "pack/reduce.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "image/ptx_lexer.h"

struct entry {
	char *from, *to;
	uint64_t name;
};

struct ptx {
	struct sw_ptx_lexer l;
	struct sw_map words; /* names -> how often they stand in the text */
	SW_VEC(struct entry) entries;
};

static bool next(struct ptx *p)
{
	if (!sw_ptx_next(&p->l))
		return false;
	char first = *p->l.word;
	if (isalpha((unsigned char)first) || first == '_' || first == '$')
		++*sw_map_put(&p->words, sw_reduce_name(p->l.word, p->l.n));
	return true;
}

/* The lexer stands on .entry; passes over the name, the parameters and the body, if there is one. */
static bool pass_entry(struct ptx *p, struct entry *e)
{
	size_t depth = 0;
	if (!next(p))
		return false;
	e->name = sw_reduce_name(p->l.word, p->l.n);
	while (next(p)) {
		char c = *p->l.word;
		depth += c == '{';
		if ((c == ';' && !depth) || (c == '}' && depth && !--depth)) {
			e->to = (char *)(uintptr_t)p->l.at;
			return true;
		}
	}
	return false;
}

static bool find_entries(struct ptx *p)
{
	const char *linkage = NULL;
	while (next(p)) {
		if (sw_ptx_is(&p->l, ".visible") || sw_ptx_is(&p->l, ".weak") || sw_ptx_is(&p->l, ".extern")) {
			linkage = p->l.word;
			continue;
		}
		if (sw_ptx_is(&p->l, ".entry")) {
			struct entry e = {.from = (char *)(uintptr_t)(linkage ? linkage : p->l.word)};
			if (!pass_entry(p, &e))
				return false;
			*sw_vec_push(&p->entries) = e;
		}
		linkage = NULL;
	}
	return true;
}

static void blank(const struct entry *e)
{
	for (char *at = e->from; at < e->to; at++)
		if (*at != '\n')
			*at = ' ';
}

void sw_reduce_ptx(const struct sw_map *launched, char *text, size_t bytes)
{
	struct ptx p = {.l = sw_ptx_lexer(text, bytes)};
	bool whole = find_entries(&p);
	char *before = memcpy(sw_alloc(bytes + 1), text, bytes);
	for (size_t i = 0; whole && i < p.entries.n; i++) {
		const struct entry *e = &p.entries.at[i];
		/* A kernel that another one names, to launch it, has to be known as one. */
		if (!sw_map_get(launched, e->name) && sw_map_get(&p.words, e->name) <= 1)
			blank(e);
	}
	/* Damaged text, where an entry begins inside of another's parameters. */
	if (!sw_reduce_keeps(launched, SW_IMAGE_PTX, before, text, bytes))
		memcpy(text, before, bytes);
	free(before);
	free(p.entries.at);
	sw_map_free(&p.words);
}
