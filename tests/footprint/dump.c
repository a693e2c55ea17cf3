/* SPDX-License-Identifier: Apache-2.0 */
#include "dump.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"

/* Terms deeper than this, and what follows so many of them, are printed as "...": shared terms are printed again and
   again. */
#define MAX_DEPTH 24
#define MAX_TERMS 400

static const char *const specials[] = {"tid.x",	       "tid.y",	      "tid.z",	 "ntid.x",  "ntid.y",
				       "ntid.z",       "ctaid.x",     "ctaid.y", "ctaid.z", "nctaid.x",
				       "nctaid.y",     "nctaid.z",    "laneid",	 "warpid",  "cluster.blocks",
				       "cluster.rank", "shared.bytes"};
_Static_assert(sizeof specials / sizeof *specials == SW_SPECIALS, "a name for each");
static const char *const conditions[] = {"==", "!=", "<", "<=", ">", ">="};

static void expression(FILE *out, const struct sw_footprint *f, uint32_t term, int depth);
static int printed;

static void call(FILE *out, const struct sw_footprint *f, const char *name, const uint32_t *o, uint32_t n, int depth)
{
	fprintf(out, "%s(", name);
	for (uint32_t i = 0; i < n; i++) {
		fputs(i ? ", " : "", out);
		expression(out, f, o[i], depth);
	}
	fputc(')', out);
}

static void infix(FILE *out, const struct sw_footprint *f, const struct sw_term *t, const char *sign, int depth)
{
	fputc('(', out);
	expression(out, f, t->a, depth);
	fprintf(out, " %s ", sign);
	expression(out, f, t->b, depth);
	fputc(')', out);
}

static void leaf(FILE *out, const struct sw_footprint *f, const struct sw_term *t)
{
	switch (t->op) {
	case SW_OP_CONST:
		fprintf(out, "%" PRId64, t->imm);
		break;
	case SW_OP_PARAM:
		fprintf(out, "p%" PRId64 ".%u", t->imm, t->width);
		break;
	case SW_OP_SPECIAL:
		fputs(specials[t->imm], out);
		break;
	case SW_OP_SYMBOL_ADDRESS:
		fprintf(out, "&%s+%" PRId64, f->string + f->symbol[t->imm].name, t->imm2);
		break;
	case SW_OP_RANGE:
	case SW_TERM_LOADED:
		fprintf(out, "any%u", t->width);
		if (t->imm || (t->imm2 != -1 && t->imm2 != (int64_t)((1ull << (t->width & 63)) - 1)))
			fprintf(out, "[%" PRId64 "..%" PRId64 "]", t->imm, t->imm2);
		fprintf(out, "#%u", (unsigned)(t - f->term));
		break;
	default:
		fprintf(out, "%s %" PRId64 "+%" PRId64, sw_op_text(t->op), t->imm, t->imm2);
	}
}

static void operation(FILE *out, const struct sw_footprint *f, const struct sw_term *t, int depth)
{
	char name[32];
	uint32_t o[3] = {t->a, t->b, t->c};
	bool is_signed = t->flags & SW_SIGNED;
	switch (t->op) {
	case SW_OP_ADD:
		infix(out, f, t, "+", depth);
		break;
	case SW_OP_SUB:
		infix(out, f, t, "-", depth);
		break;
	case SW_OP_MUL:
		infix(out, f, t, "*", depth);
		break;
	case SW_OP_COMPARE:
		snprintf(name, sizeof name, "%s%s", conditions[t->imm], is_signed || t->imm < SW_LT ? "" : "u");
		infix(out, f, t, name, depth);
		break;
	case SW_OP_EXTEND:
		snprintf(name, sizeof name, "%c%u_%" PRId64, is_signed ? 's' : 'u', t->width, t->imm);
		call(out, f, name, o, 1, depth);
		break;
	case SW_TERM_STEP:
		fputs("step(", out);
		expression(out, f, t->a, depth);
		fputs(", ", out);
		expression(out, f, t->b, depth);
		fprintf(out, ", L%u)", t->c);
		break;
	case SW_TERM_ELEMENT:
		fprintf(out, "p%s%" PRId64 "[", is_signed ? "s" : "", 8 * t->imm);
		expression(out, f, t->a, depth);
		fputc(']', out);
		break;
	case SW_TERM_ANY:
		call(out, f, "one", f->alternative + t->a, t->b, depth);
		break;
	case SW_OP_NEG:
	case SW_OP_ABS:
	case SW_OP_NOT:
		call(out, f, sw_op_text(t->op), o, 1, depth);
		break;
	case SW_OP_SELECT:
		call(out, f, "select", o, 3, depth);
		break;
	default:
		snprintf(name, sizeof name, "%s%s", sw_op_text(t->op), is_signed ? ".s" : "");
		call(out, f, name, o, 2, depth);
	}
}

static void expression(FILE *out, const struct sw_footprint *f, uint32_t term, int depth)
{
	const struct sw_term *t = &f->term[term];
	if (t->op <= SW_OP_ENVIRONMENT || t->op == SW_TERM_LOADED)
		leaf(out, f, t);
	else if (depth >= MAX_DEPTH || printed++ >= MAX_TERMS)
		fputs("...", out);
	else
		operation(out, f, t, depth + 1);
}

void sw_dump_term(FILE *out, const struct sw_footprint *footprint, uint32_t term)
{
	printed = 0;
	if (term == SW_NO_TERM)
		fputc('?', out);
	else
		expression(out, footprint, term, 0);
}

static void facts(FILE *out, const struct sw_footprint *f, uint32_t first, uint32_t n, const char *word)
{
	for (uint32_t i = 0; i < n; i++) {
		fputs(i ? " and " : word, out);
		fputs(f->fact[first + i].truth ? "" : "not ", out);
		sw_dump_term(out, f, f->fact[first + i].term);
	}
}

static void root(FILE *out, const struct sw_footprint *f, const struct sw_root *r)
{
	static const char *const kinds[] = {"param", "symbol", "indirect", "object", "map", "environment", "unknown"};
	fprintf(out, " %s%s", r->weak ? "maybe-" : "", kinds[r->kind]);
	if (r->kind == SW_ROOT_SYMBOL || (r->kind == SW_ROOT_INDIRECT && !r->span))
		fprintf(out, ":%s", f->string + f->symbol[r->symbol].name);
	else if (r->kind < SW_ROOT_ENVIRONMENT && r->span == 8)
		fprintf(out, ":%u", r->param);
	else if (r->kind < SW_ROOT_ENVIRONMENT)
		fprintf(out, ":%u..%u", r->param, r->param + r->span);
}

static void site(FILE *out, const struct sw_footprint *f, const struct sw_access_site *s)
{
	fprintf(out, "%s%s%s%s", s->role & SW_TOUCH_READ ? "read" : "", s->role & SW_TOUCH_WRITE ? "write" : "",
		s->role & SW_TOUCH_ATOMIC ? "atomic" : "", s->polls ? "!" : "");
	if (s->size != SW_NO_TERM) {
		fputs(" size ", out);
		sw_dump_term(out, f, s->size);
	} else {
		fprintf(out, " %u", s->bytes);
	}
	for (uint32_t i = 0; i < s->roots; i++)
		root(out, f, &f->root[s->root + i]);
	fputs(" at ", out);
	sw_dump_term(out, f, s->address);
	if (s->address == SW_NO_TERM)
		fprintf(out, " (%s)", sw_why_text(s->why));
	facts(out, f, s->fact, s->facts, " if ");
	fputc('\n', out);
}

void sw_dump_footprint(FILE *out, const struct sw_footprint *f)
{
	if (f->wild)
		fprintf(out, "wild: %s\n", f->string + f->wild);
	for (uint32_t i = 0; i < f->sites; i++)
		site(out, f, &f->site[i]);
	for (uint32_t i = 0; i < f->loops; i++) {
		const struct sw_loop *l = &f->loop[i];
		fprintf(out, "L%u", i);
		if (l->parent != UINT32_MAX)
			fprintf(out, " in L%u", l->parent);
		facts(out, f, l->entry, l->entries, " entered if ");
		facts(out, f, l->back, l->backs, " goes on if ");
		fputc('\n', out);
	}
}

char *sw_dump_program(struct sw_program *program, enum sw_code_source source)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = sw_memory_stream(&text, &bytes);
	struct sw_footprint *footprint = sw_footprint_build(program, source, 90);
	sw_dump_footprint(out, footprint);
	fclose(out);
	sw_footprint_free(footprint);
	sw_program_free(program);
	return text;
}
