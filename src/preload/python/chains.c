/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/python/stacks.h"

#include <string.h>

#include "base/hash.h"
#include "preload/platform/sys.h"

/* ---- what ended -------------------------------------------------------------------------------------------------- */

/* Two bits for a code object: which chains may have it. */
static uint64_t bits_of(const void *code)
{
	const uint64_t hash = sw_hash_u64((uintptr_t)code);
	return 1ull << (hash & 63) | 1ull << (hash >> 6 & 63);
}

static struct sw_python_code *code_place(struct sw_python_stacks *s, const void *code)
{
	return &s->code[(sw_hash_u64((uintptr_t)code) >> 12) % SW_PYTHON_CODES];
}

static void drop_chain(struct sw_python_stacks *s, uint32_t i)
{
	s->chain[i / SW_PYTHON_WAYS][i % SW_PYTHON_WAYS].links = 0;
	s->codes[i] = 0;
}

static void drop_code(struct sw_python_stacks *s, const void *code)
{
	const uint64_t bits = bits_of(code);
	struct sw_python_code *known = code_place(s, code);
	if (known->code == code)
		known->code = NULL;
	for (uint32_t i = 0; i < SW_PYTHON_CHAINS; i++)
		if ((s->codes[i] & bits) == bits)
			drop_chain(s, i);
}

static void drop_all(struct sw_python_stacks *s)
{
	for (uint32_t i = 0; i < SW_PYTHON_CHAINS; i++)
		if (s->codes[i])
			drop_chain(s, i);
	for (uint32_t i = 0; i < SW_PYTHON_CODES; i++)
		s->code[i].code = NULL;
}

void sw_python_stacks_refresh(struct sw_python_stacks *s)
{
	const uint64_t now = sw_python_freed();
	for (uint64_t n = s->freed; n < now; n++) {
		const void *code = sw_python_freed_at(n);
		if (!code) {
			drop_all(s);
			break;
		}
		drop_code(s, code);
	}
	s->freed = now; /* last: a signal handler may jump out of here */
}

/* ---- code objects ------------------------------------------------------------------------------------------------ */

/* Writes a PYTHON_CODE record unless the writer has one. 0: no room. */
static uint32_t intern_code(struct sw_writer *w, const struct sw_python_source *source)
{
	bool fresh;
	const uint64_t head[2] = {source->file_bytes, source->first_line};
	const uint32_t bytes = source->file_bytes + source->function_bytes;
	struct sw_intern *ids = &w->python->code_ids;
	const uint64_t hash = sw_hash_bytes(sw_hash_bytes(SW_FNV_START, head, sizeof head), source->text, bytes) | 1;
	const uint32_t id = sw_intern(ids, hash, &fresh);
	if (!fresh)
		return id;
	struct sw_rec_python_code *r = (struct sw_rec_python_code *)sw_python.recorder->writer_describe(
		w, SW_REC_PYTHON_CODE, sizeof *r + bytes, false);
	if (!r) {
		sw_intern_undo(ids, hash);
		return 0;
	}
	r->id = id;
	r->first_line = source->first_line;
	r->file_bytes = source->file_bytes;
	r->function_bytes = source->function_bytes;
	memcpy(r + 1, source->text, bytes);
	sw_python.recorder->writer_commit(w);
	return id;
}

static bool is_old(const struct sw_writer *w, uint32_t id)
{
	return id && w->python->code_ids.last - id > SW_PYTHON_OLD;
}

/* backward() and grad(): PyTorch 2.0 to 2.2 wait in autograd/__init__.py, later ones in autograd/graph.py. */
static bool is_engine(const struct sw_python_source *source)
{
	static const char *const files[] = {"/torch/autograd/graph.py", "/torch/autograd/__init__.py"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		const size_t length = strlen(files[i]);
		if (source->file_bytes >= length &&
		    memcmp(source->text + source->file_bytes - length, files[i], length) == 0)
			return true;
	}
	return false;
}

/* What is known of a code object, which is read if nothing is. NULL: it is none, or no room is left. */
static const struct sw_python_code *know_code(struct sw_writer *w, const void *code)
{
	struct sw_python_source source;
	struct sw_python_code *known = code_place(w->python, code);
	if (known->code == code && !is_old(w, known->id))
		return known;
	known->code = NULL;
	sw_python_freed_watch(code);
	switch (sw_python_source_read(&sw_python.at, &sw_python.types, code, &source)) {
	case SW_PYTHON_UNREADABLE:
		return NULL;
	case SW_PYTHON_INTERNAL:
		known->id = 0;
		break;
	case SW_PYTHON_SOURCE:
		known->id = intern_code(w, &source);
		if (!known->id)
			return NULL;
	}
	known->engine = known->id && is_engine(&source);
	known->table = source.table;
	known->first_line = source.first_line;
	known->code = code;
	return known;
}

/* ---- chains ------------------------------------------------------------------------------------------------------ */

static const void *code_of(const struct sw_python_link *link)
{
	return (const void *)(uintptr_t)(link->code & ~7ull);
}

static int64_t offset_of(const struct sw_python_link *link)
{
	const struct sw_python_layout *at = &sw_python.at;
	if (!at->bytecode)
		return (int64_t)(int32_t)link->instruction * at->unit;
	return (int64_t)(link->instruction - (uint64_t)(uintptr_t)code_of(link) - at->bytecode);
}

/* Does a frame of the interpreter itself end the frames that its evaluation loop runs?  -1: unreadable. */
static int is_shim(const char *frame)
{
	uint8_t owner;
	if (sw_python.at.style != SW_PYTHON_SHIMS)
		return 0;
	if (!sw_python_read(frame + sw_python.at.mark, &owner, sizeof owner))
		return -1;
	return owner >= sw_python.at.shim;
}

static void end_loop(struct sw_python_chain *chain)
{
	if (chain->frames)
		chain->frame[chain->frames - 1].line |= SW_PYTHON_ENTRY;
}

static bool add_frame(struct sw_writer *w, struct sw_python_chain *chain, const struct sw_python_link *link)
{
	const struct sw_python_code *known = know_code(w, code_of(link));
	if (!known)
		return false;
	if (known->id) {
		if (!chain->frames)
			chain->engine = known->engine;
		uint32_t line = sw_python_line(&sw_python.at, &sw_python.types, known->table, known->first_line,
					       offset_of(link));
		chain->frame[chain->frames++] =
			(struct sw_python_frame){known->id, (line ? line : known->first_line) & ~SW_PYTHON_ENTRY};
		chain->oldest_code = known->id < chain->oldest_code ? known->id : chain->oldest_code;
	}
	if (sw_python.at.style == SW_PYTHON_OBJECTS || (sw_python.at.style == SW_PYTHON_FLAG && (link->code & 1)))
		end_loop(chain);
	return true;
}

/* The frames that a chain's links stand for. */
static bool read_frames(struct sw_writer *w, struct sw_python_chain *chain, uint32_t links, const bool *shim)
{
	uint32_t i = 0;
	chain->frames = 0;
	chain->engine = false;
	chain->oldest_code = UINT32_MAX;
	for (; i < links && chain->frames < SW_PYTHON_FRAMES; i++) {
		if (shim[i])
			end_loop(chain);
		else if (!add_frame(w, chain, &chain->link[i]))
			return false;
	}
	chain->deeper = i < links;
	end_loop(chain);
	if (chain->waiting && !chain->engine)
		chain->frames = 0; /* it does something else meanwhile */
	return true;
}

static bool find_shims(const struct sw_python_stacks *s, uint32_t links, bool *shim)
{
	for (uint32_t i = 0; i < links; i++) {
		const int is = is_shim(s->frame[i]);
		if (is < 0)
			return false;
		shim[i] = is;
	}
	return true;
}

struct sw_python_chain *sw_python_chain_add(struct sw_writer *w, uint32_t links, bool cut, bool waiting, uint64_t hash)
{
	struct sw_python_stacks *s = w->python;
	const uint32_t set = (uint32_t)(hash % SW_PYTHON_SETS), way = s->oldest[set]++ % SW_PYTHON_WAYS;
	struct sw_python_chain *chain = &s->chain[set][way];
	bool shim[SW_PYTHON_LINKS];
	uint64_t codes = 0;
	chain->links = 0;
	chain->next = NULL;
	chain->waiting = waiting;
	if (s->last == chain)
		s->last = NULL;
	memcpy(chain->link, s->walked, links * sizeof *chain->link);
	if (!find_shims(s, links, shim) || !read_frames(w, chain, links, shim))
		return NULL;
	for (uint32_t i = 0; i < links; i++)
		codes |= bits_of(code_of(&chain->link[i]));
	s->codes[set * SW_PYTHON_WAYS + way] = codes;
	chain->cut = cut;
	chain->deeper |= cut;
	chain->hash = hash;
	chain->serial = ++s->serials;
	chain->links = links;
	return chain;
}

struct sw_python_stacks *sw_python_stacks_of(struct sw_writer *w)
{
	int error;
	if (!w->python) {
		struct sw_python_stacks *s = sw_sys_map(-1, 0, sizeof *s, &error);
		if (s)
			s->freed = sw_python_freed();
		w->python = s;
	}
	return w->python;
}
