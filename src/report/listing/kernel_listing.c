/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the kernels' code as it was read: `syncwatch kernels`. */
#include "report/listing/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "base/memory.h"
#include "report/symbols/names.h"
#include "report/text/text_out.h"

#define LABEL		  12
#define LISTING_TEXT_ROOM 400 /* of an address or a condition */
#define SHORT_ROOM	  160 /* the same when the kernel was not asked for by name */
#define MOST_LINES	  16  /* of such a kernel */

/* An access's role in words: "read", "write", "read and write", "atomic update". */
static const char *role_text(unsigned roles)
{
	if (roles & SW_TOUCH_ATOMIC)
		return "atomic update";
	return roles == SW_TOUCH_READ ? "read" : roles == SW_TOUCH_WRITE ? "write" : "read and write";
}

/* The kernel's parameters, as the driver or else the code has them. */
static const struct sw_param *params_of(const struct sw_kernel_view *k, uint32_t *n)
{
	const struct sw_footprint *f = k->entry->footprint;
	*n = k->param ? k->params : f ? f->params : 0;
	return k->param ? k->param : f ? f->param : NULL;
}

/* Puts "parameter 3" into words: the parameter, or a part of it, that an access goes through. */
static void name_param(const struct sw_kernel_view *k, const struct sw_root *root, char *out, size_t room)
{
	uint32_t n;
	const struct sw_param *param = params_of(k, &n);
	uint32_t whole = root->kind == SW_ROOT_MAP ? SW_TENSOR_MAP_BYTES : 8;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = root->param - param[i].offset;
		if (root->param < param[i].offset || at >= param[i].bytes)
			continue;
		if (root->span > whole)
			snprintf(out, room, "parameter %u, one of the pointers at +%u to +%u", i, at,
				 at + root->span - 1);
		else if (param[i].bytes > whole)
			snprintf(out, room, "parameter %u at +%u", i, at);
		else
			snprintf(out, room, "parameter %u", i);
		return;
	}
	snprintf(out, room, "byte %u of the parameters", root->param);
}

/* Puts "variable counter" into words: a variable of the module. */
static void name_symbol(const struct sw_footprint *f, uint32_t symbol, char *out, size_t room)
{
	char *name = symbol < f->symbols ? sw_demangle(f->string + f->symbol[symbol].name) : NULL;
	snprintf(out, room, "variable %s", name ? name : "of the module");
	free(name);
}

/* Says what an access goes through: "parameter 3", "parameter 2 at +16", "through parameter 0", "variable counter",
   "unknown memory".  At most `room` bytes. */
static void kernel_root(const struct sw_kernel_view *k, const struct sw_root *root, char *out, size_t room)
{
	char inner[LISTING_TEXT_ROOM];
	bool symbol = root->kind == SW_ROOT_SYMBOL || (root->kind == SW_ROOT_INDIRECT && !root->span);
	if (symbol)
		name_symbol(k->entry->footprint, root->symbol, inner, sizeof inner);
	else
		name_param(k, root, inner, sizeof inner);
	switch (root->kind) {
	case SW_ROOT_PARAM:
	case SW_ROOT_SYMBOL:
		snprintf(out, room, "%s", inner);
		return;
	case SW_ROOT_INDIRECT:
		snprintf(out, room, "a pointer in memory, loaded through %s", inner);
		return;
	case SW_ROOT_OBJECT:
		snprintf(out, room, "the texture, surface or tensor map of %s", inner);
		return;
	case SW_ROOT_MAP:
		snprintf(out, room, "the tensor map in %s", inner);
		return;
	case SW_ROOT_ENVIRONMENT:
		snprintf(out, room, "memory of the driver's own");
		return;
	default:
		snprintf(out, room, "unknown memory");
	}
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Prints a line of the listing. */
static void put_line(struct sw_out *out, const char *label, const char *text)
{
	sw_out_paragraph(out, 2, label, LABEL, text);
}

/* Prints what is known of the kernel's code. */
static void put_code(struct sw_out *out, const struct sw_kernel_view *k)
{
	const struct sw_footprint_entry *e = k->entry;
	const struct sw_footprint *f = e->footprint;
	char *text;
	if (k->launches) {
		text = sw_format("%" PRIu64 " time%s on sm_%u", k->launches, sw_plural(k->launches, "", "s"),
				 k->device);
		put_line(out, "launched", text);
		free(text);
	}
	put_line(out, "image", k->image);
	if (f) {
		text = sw_format("%s sm_%u%s", f->source == SW_SOURCE_PTX ? "PTX" : "SASS", e->arch,
				 k->launches && !e->ran ? ", not the code that ran" : "");
		put_line(out, "evidence", text);
		free(text);
	} else {
		put_line(out, "evidence", e->why ? e->why : "no code");
	}
	if (f && f->loops) {
		text = sw_format("%u (k0, k1, ...: iterations done)", f->loops);
		put_line(out, "loops", text);
		free(text);
	}
	if (f && f->wild) {
		text = sw_format("%s: what is missing below is not known to be untouched", f->string + f->wild);
		put_line(out, "unknown", text);
		free(text);
	}
}

/* The ways in which the kernel uses pointers in these bytes of its parameters, as bits. */
static unsigned roles_at(const struct sw_reaches *reaches, uint32_t from, uint32_t to)
{
	unsigned roles = 0;
	for (size_t i = 0; i < reaches->n; i++) {
		const struct sw_root *root = &reaches->at[i].root;
		if (root->kind == SW_ROOT_PARAM && root->param < to && root->param + root->span > from)
			roles |= reaches->at[i].role;
	}
	return roles;
}

/* Prints each parameter with what the kernel does through it. */
static void put_params_listing(struct sw_out *out, const struct sw_kernel_view *k, const struct sw_reaches *reaches)
{
	uint32_t n;
	const struct sw_param *param = params_of(k, &n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = param[i].offset, to = from + param[i].bytes;
		unsigned roles = roles_at(reaches, from, to);
		char *label = sw_format("parameter %u", i);
		char *text = sw_format("%u byte%s, %s", param[i].bytes, sw_plural(param[i].bytes, "", "s"),
				       roles ? role_text(roles) : "not used as a pointer");
		sw_out_paragraph(out, 2, label, LABEL + 2, text);
		free(label);
		free(text);
	}
}

/* Roots other than parameters, with what is done through them; each line once. */
static void put_roots(struct sw_out *out, const struct sw_kernel_view *k, const struct sw_reaches *reaches)
{
	char name[LISTING_TEXT_ROOM];
	SW_VEC(char *) shown = {0};
	for (size_t i = 0; i < reaches->n; i++) {
		if (reaches->at[i].root.kind == SW_ROOT_PARAM && reaches->at[i].root.span <= 8)
			continue;
		kernel_root(k, &reaches->at[i].root, name, sizeof name);
		char *text = sw_format("%s: %s", name, role_text(reaches->at[i].role));
		size_t same = 0;
		while (same < shown.n && strcmp(shown.at[same], text) != 0)
			same++;
		if (same < shown.n) {
			free(text);
			continue;
		}
		put_line(out, "also", text);
		*sw_vec_push(&shown) = text;
	}
	for (size_t i = 0; i < shown.n; i++)
		free(shown.at[i]);
	free(shown.at);
}

/* Marks the terms that term i is made from. */
static void mark_operands(const struct sw_footprint *f, uint32_t i, bool *marked)
{
	const struct sw_term *t = &f->term[i];
	uint32_t n = sw_term_operands(t);
	if (n > 0)
		marked[t->a] = true;
	if (n > 1)
		marked[t->b] = true;
	if (n > 2)
		marked[t->c] = true;
	for (uint32_t k = 0; t->op == SW_TERM_ANY && k < t->b; k++)
		marked[f->alternative[t->a + k]] = true;
}

/* Why something in an address is not known: a bit for each enum sw_why.  Operands lie before their users, so one pass
   from the address down sees all. */
static uint32_t whys_of(const struct sw_footprint *f, uint32_t address)
{
	bool *marked = sw_calloc((size_t)address + 1, sizeof *marked);
	uint32_t whys = 0;
	marked[address] = true;
	for (uint32_t i = address + 1; i-- > 0;) {
		if (!marked[i])
			continue;
		mark_operands(f, i, marked);
		if (sw_term_is_unknown(&f->term[i]))
			whys |= 1u << sw_term_why(&f->term[i]);
	}
	free(marked);
	return whys & ~(1u << SW_WHY_NONE);
}

/* Adds to the text why parts of the site's address are not known. */
static void append_whys(const struct sw_footprint *f, const struct sw_access_site *s, char **text)
{
	uint32_t whys = s->address == SW_NO_TERM ? 0 : whys_of(f, s->address);
	for (int why = 0; why < SW_WHYS; why++)
		if (whys & 1u << why) {
			char *more = sw_format("%s; %s", *text, sw_why_text((enum sw_why)why));
			free(*text);
			*text = more;
		}
}

/* "4 bytes at param 0 + 4 * tid.x where tid.x < param 1", its parts cut off at `room` bytes; malloc'ed. */
static char *site_text(const struct sw_kernel_view *k, uint32_t index, size_t room)
{
	const struct sw_footprint *f = k->entry->footprint;
	const struct sw_access_site *s = &f->site[index];
	char address[LISTING_TEXT_ROOM], facts[LISTING_TEXT_ROOM], root[LISTING_TEXT_ROOM] = "";
	sw_footprint_facts_text(f, index, facts, room);
	char *bytes = s->size == SW_NO_TERM && s->bytes ? sw_format("%u byte%s", s->bytes, sw_plural(s->bytes, "", "s"))
							: sw_strdup("bytes");
	char *text;
	if (s->address != SW_NO_TERM) {
		sw_footprint_address_text(f, index, address, room);
		text = sw_format("%s at %s%s%s", bytes, address, *facts ? " where " : "", facts);
	} else {
		for (uint32_t r = 0; r < s->roots; r++) {
			size_t have = strlen(root);
			if (r)
				have += (size_t)snprintf(root + have, sizeof root - have, " or ");
			if (have < sizeof root)
				kernel_root(k, &f->root[s->root + r], root + have, sizeof root - have);
		}
		text = sw_format("somewhere from %s on: %s%s%s", root, sw_why_text(s->why), *facts ? ", where " : "",
				 facts);
	}
	free(bytes);
	append_whys(f, s, &text);
	if (s->polls) {
		char *more = sw_format("%s; may poll or signal", text);
		free(text);
		text = more;
	}
	return text;
}

/* Prints an instruction that accesses memory, with the text of its address. */
static void put_site_listing(struct sw_out *out, const struct sw_kernel_view *k, uint32_t index, const char *text)
{
	const struct sw_footprint *f = k->entry->footprint;
	const struct sw_access_site *s = &f->site[index];
	char *more = sw_format(f->source == SW_SOURCE_PTX ? "line %u, %s: %s %s" : "0x%x, %s: %s %s", s->place,
			       f->string + s->text, role_text(s->role), text);
	put_line(out, "", more);
	free(more);
}

/* Prints the kernel's accesses, a line each; equal lines once. */
static void put_ranges(struct sw_out *out, const struct sw_kernel_view *k)
{
	const struct sw_footprint *f = k->entry->footprint;
	char *shown[MOST_LINES];
	uint32_t lines = 0, more = 0;
	for (uint32_t i = 0; i < f->sites; i++) {
		char *text = site_text(k, i, SHORT_ROOM),
		     *whole = sw_format("%-14s%s", role_text(f->site[i].role), text);
		uint32_t same = 0;
		free(text);
		while (same < lines && strcmp(shown[same], whole) != 0)
			same++;
		if (same == lines && lines < MOST_LINES) {
			shown[lines++] = whole;
			sw_out_paragraph(out, 2, role_text(f->site[i].role), 16, whole + 14);
			continue;
		}
		more += same == lines;
		free(whole);
	}
	while (lines)
		free(shown[--lines]);
	if (more) {
		char *text = sw_format("%u more %s (name the kernel to see %s)", more,
				       sw_plural(more, "access", "accesses"), sw_plural(more, "it", "them"));
		put_line(out, "", text);
		free(text);
	}
}

void sw_kernel_text(FILE *file, const struct sw_kernel_view *k, bool sites)
{
	struct sw_out out = {.file = file};
	const struct sw_footprint *f = k->entry->footprint;
	struct sw_reaches reaches = {0};
	char *name = sw_demangle(k->name);
	sw_out_text(&out, name);
	putc('\n', file);
	free(name);
	put_code(&out, k);
	if (f) {
		sw_footprint_directions(f, &reaches);
		put_params_listing(&out, k, &reaches);
		put_roots(&out, k, &reaches);
		if (!f->sites)
			put_line(&out, "touches", "nothing in global memory");
		for (uint32_t i = 0; sites && i < f->sites; i++) {
			char *text = site_text(k, i, LISTING_TEXT_ROOM);
			put_site_listing(&out, k, i, text);
			free(text);
		}
		if (!sites)
			put_ranges(&out, k);
		free(reaches.at);
	}
	putc('\n', file);
}

/* The listing of kernels as JSON: doc/kernels.schema.json says what each member means. */

#define JSON_TEXT_ROOM 4000

/* Writes whether an access reads, writes or updates atomically. */
static void put_roles(struct sw_json *json, unsigned roles)
{
	sw_json_bool(json, "reads", roles & (SW_TOUCH_READ | SW_TOUCH_ATOMIC));
	sw_json_bool(json, "writes", roles & (SW_TOUCH_WRITE | SW_TOUCH_ATOMIC));
	sw_json_bool(json, "atomic", roles & SW_TOUCH_ATOMIC);
}

/* Writes the kernel's parameters. */
static void put_params_json(struct sw_json *json, const struct sw_kernel_view *k)
{
	const struct sw_footprint *f = k->entry->footprint;
	uint32_t n = k->param ? k->params : f ? f->params : 0;
	const struct sw_param *param = k->param ? k->param : f ? f->param : NULL;
	sw_json_open(json, "parameters", '[');
	for (uint32_t i = 0; i < n; i++) {
		sw_json_open(json, NULL, '{');
		sw_json_number(json, "index", i);
		sw_json_number(json, "offset", param[i].offset);
		sw_json_number(json, "bytes", param[i].bytes);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

/* Writes the parameter, variable or other memory that an access starts from. */
static void put_root(struct sw_json *json, const struct sw_kernel_view *k, const struct sw_root *root)
{
	static const char *const kinds[] = {
		[SW_ROOT_PARAM] = "parameter", [SW_ROOT_SYMBOL] = "variable", [SW_ROOT_INDIRECT] = "indirect",
		[SW_ROOT_OBJECT] = "object",   [SW_ROOT_MAP] = "map",	      [SW_ROOT_ENVIRONMENT] = "environment",
		[SW_ROOT_UNKNOWN] = "unknown",
	};
	char text[JSON_TEXT_ROOM];
	kernel_root(k, root, text, sizeof text);
	sw_json_text(json, "kind", root->kind < sizeof kinds / sizeof kinds[0] ? kinds[root->kind] : "unknown");
	sw_json_number(json, "offset", root->param);
	sw_json_number(json, "span", root->span);
	sw_json_text(json, "text", text);
}

/* Writes each root once, with what is done through it. */
static void put_through(struct sw_json *json, const struct sw_kernel_view *k)
{
	struct sw_reaches reaches = {0};
	if (k->entry->footprint)
		sw_footprint_directions(k->entry->footprint, &reaches);
	sw_json_open(json, "through", '[');
	for (size_t i = 0; i < reaches.n; i++) {
		sw_json_open(json, NULL, '{');
		put_root(json, k, &reaches.at[i].root);
		put_roles(json, reaches.at[i].role);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	free(reaches.at);
}

/* Writes an instruction that accesses memory. */
static void put_site_json(struct sw_json *json, const struct sw_kernel_view *k, uint32_t index)
{
	const struct sw_footprint *f = k->entry->footprint;
	const struct sw_access_site *s = &f->site[index];
	char text[JSON_TEXT_ROOM];
	sw_json_open(json, NULL, '{');
	sw_json_number(json, "place", s->place);
	sw_json_text(json, "instruction", f->string + s->text);
	put_roles(json, s->role);
	sw_json_bool(json, "polls", s->polls);
	sw_json_number(json, "bytes", s->size == SW_NO_TERM ? s->bytes : 0);
	if (s->address != SW_NO_TERM)
		sw_footprint_address_text(f, index, text, sizeof text);
	sw_json_text(json, "address", s->address != SW_NO_TERM ? text : NULL);
	sw_footprint_facts_text(f, index, text, sizeof text);
	sw_json_text(json, "where", text);
	sw_json_text(json, "why", sw_why_text(s->why));
	sw_json_open(json, "roots", '[');
	for (uint32_t r = 0; r < s->roots; r++) {
		sw_json_open(json, NULL, '{');
		put_root(json, k, &f->root[s->root + r]);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

void sw_kernel_json(struct sw_json *json, const struct sw_kernel_view *k)
{
	const struct sw_footprint_entry *e = k->entry;
	const struct sw_footprint *f = e->footprint;
	char *name = sw_demangle(k->name);
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "name", name);
	sw_json_text(json, "mangled", k->name);
	sw_json_number(json, "launches", k->launches);
	sw_json_number(json, "device_arch", k->device);
	sw_json_text(json, "image", k->image);
	sw_json_text(json, "source", !f ? NULL : f->source == SW_SOURCE_PTX ? "ptx" : "sass");
	sw_json_number(json, "arch", e->arch);
	sw_json_bool(json, "ran", k->launches && e->ran);
	sw_json_text(json, "why", f ? NULL : e->why ? e->why : "no code");
	sw_json_text(json, "wild", f && f->wild ? f->string + f->wild : NULL);
	sw_json_number(json, "loops", f ? f->loops : 0);
	put_params_json(json, k);
	put_through(json, k);
	sw_json_open(json, "accesses", '[');
	for (uint32_t i = 0; f && i < f->sites; i++)
		put_site_json(json, k, i);
	sw_json_close(json, ']');
	sw_json_close(json, '}');
	free(name);
}
