/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbols/fingerprint.h"

#include <string.h>

#include "base/hash.h"
#include "report/symbols/stack.h"

/* With its terminator, so that "ab" "c" and "a" "bc" differ. */
static uint64_t add_text(uint64_t hash, const char *text)
{
	return sw_hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t add_number(uint64_t hash, uint64_t number)
{
	return sw_hash_bytes(hash, &number, sizeof number);
}

static uint64_t add_frame(uint64_t hash, const struct sw_frame *frame)
{
	hash = add_text(hash, frame->module);
	if (!frame->function)
		return add_number(hash, frame->offset);
	hash = add_text(hash, frame->function);
	/* The folder of a source file belongs to the machine that built it. */
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;
	if (frame->file)
		hash = add_text(hash, slash ? slash + 1 : frame->file);
	return add_number(hash, (uint64_t)frame->line);
}

uint64_t sw_fingerprint(struct sw_names *names, const struct sw_finding *finding)
{
	uint64_t hash = add_number(SW_FNV_START, (uint64_t)finding->id);
	for (uint32_t i = 0; i < finding->accesses; i++) {
		const struct sw_access *access = sw_finding_access(finding, i);
		struct sw_stack_view view = sw_stack_view(names, access->stack, access->function);
		hash = add_text(hash, sw_name_operation(names, access));
		for (size_t k = 0; k < view.n; k++)
			hash = add_frame(hash, view.at[k].frame);
	}
	return hash;
}

/* All frames, also those that are not shown. */
static int stack_order(struct sw_names *names, uint32_t a, uint32_t b)
{
	const struct sw_symbol_frames *x = sw_symbols_stack(names->symbols, a),
				      *y = sw_symbols_stack(names->symbols, b);
	for (size_t i = 0; i < x->n && i < y->n; i++) {
		int module = strcmp(x->at[i].module, y->at[i].module);
		if (module)
			return module;
		if (x->at[i].offset != y->at[i].offset)
			return x->at[i].offset < y->at[i].offset ? -1 : 1;
		if (x->at[i].line != y->at[i].line)
			return x->at[i].line < y->at[i].line ? -1 : 1;
	}
	return x->n < y->n ? -1 : x->n > y->n;
}

int sw_fingerprint_order(struct sw_names *names, const struct sw_finding *a, const struct sw_finding *b)
{
	int order = 0;
	for (uint32_t i = 0; i < a->accesses && i < b->accesses && !order; i++)
		order = stack_order(names, sw_finding_access(a, i)->stack, sw_finding_access(b, i)->stack);
	return order;
}

uint64_t sw_fingerprint_of_twin(uint64_t fingerprint, uint64_t number)
{
	return number ? add_number(fingerprint, number) : fingerprint;
}
