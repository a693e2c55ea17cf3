/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of frames seen before. A call finds its own by comparing; only a new chain is written to the trace. */
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

static struct sw_python_chain *first_chain(struct sw_python_stacks *s)
{
	return s->used ? sw_python_chain_at(s, 1) : NULL;
}

static struct sw_python_chain *chain_after(struct sw_python_stacks *s, struct sw_python_chain *chain)
{
	char *next = (char *)chain + chain->bytes;
	return next < s->arena + s->used ? (struct sw_python_chain *)(void *)next : NULL;
}

static void drop_code(struct sw_python_stacks *s, const void *code)
{
	const uint64_t bits = bits_of(code);
	struct sw_python_code *known = code_place(s, code);
	if (known->code == code)
		known->code = NULL;
	for (struct sw_python_chain *c = first_chain(s); c; c = chain_after(s, c))
		if ((c->codes & bits) == bits)
			c->links = 0;
}

static void drop_all(struct sw_python_stacks *s)
{
	for (struct sw_python_chain *c = first_chain(s); c; c = chain_after(s, c))
		c->links = 0;
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

/* backward() and grad() wait in autograd/graph.py, those of older versions in autograd/__init__.py. */
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
static struct sw_python_code *know_code(struct sw_writer *w, const void *code)
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
	known->read = ++w->python->reads;
	known->last = (struct sw_python_entry){0};
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

/* Does a frame of the interpreter itself end the frames that its evaluation loop runs? */
static bool is_shim(const char *frame)
{
	const struct sw_python_layout *at = &sw_python.at;
	return at->style == SW_PYTHON_SHIMS && *(const uint8_t *)(frame + at->mark) >= at->shim;
}

/* A chain in the making: frames of s->found. */
struct reading {
	uint32_t frames, oldest_code;
	bool engine; /* of the innermost one */
};

static void end_loop(struct sw_python_stacks *s, const struct reading *r)
{
	if (r->frames)
		s->found[r->frames - 1].line |= SW_PYTHON_ENTRY;
}

static uint32_t line_of(struct sw_python_stacks *s, struct sw_python_code *known, const struct sw_python_link *link)
{
	const uint64_t place = sw_hash_u64(link->instruction + known->read);
	struct sw_python_known_line *line = &s->line[place % SW_PYTHON_LINES];
	if (line->read == known->read && line->instruction == link->instruction)
		return line->line;
	const uint32_t read =
		sw_python_line(sw_python.at.format, &known->table, known->first_line, offset_of(link), &known->last);
	line->read = 0;
	line->instruction = link->instruction;
	line->line = (read ? read : known->first_line) & ~SW_PYTHON_ENTRY;
	line->read = known->read;
	return line->line;
}

static bool add_frame(struct sw_writer *w, struct reading *r, const struct sw_python_link *link)
{
	struct sw_python_stacks *s = w->python;
	struct sw_python_code *known = know_code(w, code_of(link));
	if (!known)
		return false;
	if (known->id) {
		if (!r->frames)
			r->engine = known->engine;
		s->found[r->frames++] = (struct sw_python_frame){known->id, line_of(s, known, link)};
		r->oldest_code = known->id < r->oldest_code ? known->id : r->oldest_code;
	}
	if (sw_python.at.style == SW_PYTHON_OBJECTS || (sw_python.at.style == SW_PYTHON_FLAG && (link->code & 1)))
		end_loop(s, r);
	return true;
}

/* The frames that the walked links stand for.  Returns how many links that took; 0: they are none. */
static uint32_t read_frames(struct sw_writer *w, struct reading *r, uint32_t links)
{
	struct sw_python_stacks *s = w->python;
	uint32_t i = 0;
	for (; i < links && r->frames < SW_PYTHON_FRAMES; i++) {
		if (is_shim(s->frame[i]))
			end_loop(s, r);
		else if (!add_frame(w, r, &s->walked[i]))
			return 0;
	}
	end_loop(s, r);
	return i;
}

/* Room for a chain; signals are blocked. */
static struct sw_python_chain *take_room(struct sw_python_stacks *s, uint32_t bytes)
{
	if (s->used + bytes > SW_PYTHON_ARENA || s->chains >= SW_PYTHON_SLOTS / 4 * 3) {
		memset(s->slot, 0, sizeof s->slot);
		s->last = NULL;
		s->used = s->chains = 0;
	}
	struct sw_python_chain *chain = (struct sw_python_chain *)(void *)(s->arena + s->used);
	chain->links = 0;
	chain->bytes = bytes;
	s->used += bytes;
	return chain;
}

static void put_slot(struct sw_python_stacks *s, const struct sw_python_chain *chain)
{
	uint32_t i = (uint32_t)chain->hash % SW_PYTHON_SLOTS;
	while (s->slot[i])
		i = (i + 1) % SW_PYTHON_SLOTS;
	s->slot[i] = (uint32_t)(((const char *)chain - s->arena) / 8) + 1;
	s->chains++;
}

struct sw_python_chain *sw_python_chain_add(struct sw_writer *w, uint32_t links, bool cut, bool waiting, uint64_t hash)
{
	struct sw_python_stacks *s = w->python;
	struct reading r = {.oldest_code = UINT32_MAX};
	const uint32_t read = read_frames(w, &r, links);
	if (!read)
		return NULL;
	if (waiting && !r.engine)
		r.frames = 0; /* the first thread does something else meanwhile */
	struct sw_python_chain *chain =
		take_room(s, (uint32_t)(sizeof *chain + links * sizeof *chain->link + r.frames * sizeof *s->found));
	*chain = (struct sw_python_chain){.bytes = chain->bytes,
					  .frames = r.frames,
					  .oldest_code = r.oldest_code,
					  .waiting = waiting,
					  .cut = cut,
					  .deeper = cut || read < links,
					  .hash = hash,
					  .serial = ++s->serials};
	memcpy(chain->link, s->walked, links * sizeof *chain->link);
	memcpy(chain->link + links, s->found, r.frames * sizeof *s->found);
	for (uint32_t i = 0; i < links; i++)
		chain->codes |= bits_of(code_of(&chain->link[i]));
	put_slot(s, chain);
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
