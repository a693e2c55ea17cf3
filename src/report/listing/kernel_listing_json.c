/* SPDX-License-Identifier: Apache-2.0 */
/* The listing of kernels as JSON: doc/kernels.schema.json says what each member means. */
#include <stdlib.h>

#include "report/symbols/demangle.h"
#include "report/listing/kernel_listing.h"

#define TEXT_ROOM 4000

static void put_roles(struct sw_json *json, unsigned roles)
{
	sw_json_bool(json, "reads", roles & (SW_TOUCH_READ | SW_TOUCH_ATOMIC));
	sw_json_bool(json, "writes", roles & (SW_TOUCH_WRITE | SW_TOUCH_ATOMIC));
	sw_json_bool(json, "atomic", roles & SW_TOUCH_ATOMIC);
}

static void put_params(struct sw_json *json, const struct sw_kernel_view *k)
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

static void put_root(struct sw_json *json, const struct sw_kernel_view *k, const struct sw_root *root)
{
	static const char *const kinds[] = {"parameter", "variable",	"indirect", "object",
					    "map",	 "environment", "unknown"};
	char text[TEXT_ROOM];
	sw_kernel_root(k, root, text, sizeof text);
	sw_json_text(json, "kind", root->kind < sizeof kinds / sizeof kinds[0] ? kinds[root->kind] : "unknown");
	sw_json_number(json, "offset", root->param);
	sw_json_number(json, "span", root->span);
	sw_json_text(json, "text", text);
}

/* Every root once, with what is done through it. */
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

static void put_site(struct sw_json *json, const struct sw_kernel_view *k, uint32_t index)
{
	const struct sw_footprint *f = k->entry->footprint;
	const struct sw_access_site *s = &f->site[index];
	char text[TEXT_ROOM];
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
	put_params(json, k);
	put_through(json, k);
	sw_json_open(json, "accesses", '[');
	for (uint32_t i = 0; f && i < f->sites; i++)
		put_site(json, k, i);
	sw_json_close(json, ']');
	sw_json_close(json, '}');
	free(name);
}
