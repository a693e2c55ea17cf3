/* SPDX-License-Identifier: Apache-2.0 */
#include "spans_check.h"

#include "oracle.h"

unsigned spans_failed;

bool spans_serve(struct sw_spans *spans, const struct terms *t)
{
	const struct sw_span *span, *alone;
	uint32_t n, all;
	struct sw_spans *fresh = sw_spans_new(&t->f);
	bool bounded = sw_spans_find(spans, &t->geometry, &span, &n);
	bool same = sw_spans_find(fresh, &t->geometry, &alone, &all) == bounded && (!bounded || n == all);
	for (uint32_t i = 0; same && bounded && i < n; i++)
		same = span[i].lo == alone[i].lo && span[i].hi == alone[i].hi && span[i].site == alone[i].site;
	sw_spans_free(fresh);
	return same;
}

bool spans_serve_moved(struct sw_spans *spans, struct terms *t)
{
	static const int64_t by[] = {0, 1 << 20, -4096, 3, -1, INT64_C(1) << 62, INT64_MIN, 0};
	bool good = true;
	for (int i = 0; i < 3; i++)
		for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
			uint64_t was = t->value[i];
			t->value[i] += (uint64_t)by[k];
			good = good && spans_serve(spans, t);
			t->value[i] = was;
		}
	return good;
}

void spans_add_site(struct terms *t, uint32_t address)
{
	t->root[t->f.roots] = (struct sw_root){.kind = SW_ROOT_PARAM, .span = 8};
	t->site[t->f.sites++] = (struct sw_access_site){.role = SW_TOUCH_WRITE,
							.bytes = 4,
							.address = address,
							.size = SW_NO_TERM,
							.root = t->f.roots++,
							.roots = 1};
}

uint32_t spans_number(struct terms *t, unsigned width, int64_t value)
{
	return terms_add(t, (struct sw_term){.op = SW_OP_CONST, .width = (uint8_t)width, .imm = value});
}

uint32_t spans_element_at(struct terms *t, uint32_t index)
{
	uint32_t base = terms_add(t, (struct sw_term){.op = SW_OP_PARAM, .width = 64});
	return op(t, SW_OP_ADD, 64, 0, base, op(t, SW_OP_MULWIDE, 64, 0, index, spans_number(t, 32, 4)));
}

uint32_t spans_thread(struct terms *t)
{
	return terms_add(t, (struct sw_term){.op = SW_OP_SPECIAL, .width = 32, .imm = SW_TID_X});
}
