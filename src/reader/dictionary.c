/* SPDX-License-Identifier: Apache-2.0 */
/* The small descriptions; stacks, modules and images have files of their own. */
#include "reader/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "reader/kinds.h"

/* Shared objects: what was mapped where, and when. */

/* The module that is mapped at this base now; NULL: none. */
static struct sw_trace_module *mapped_at(const struct sw_dictionary *d, uint64_t base)
{
	for (size_t i = d->modules.n; i-- > 0;)
		if (d->modules.at[i]->base == base && d->modules.at[i]->gone_seq == UINT64_MAX)
			return d->modules.at[i];
	return NULL;
}

/* Takes a MODULE record: a shared object was mapped.  NULL, or what is wrong with it. */
static const char *take_module(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_module *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const void *build_id = sw_tail_take(&t, (r->build_id_bytes + 7u) & ~7u);
	const void *path = build_id ? sw_tail_take(&t, r->path_bytes) : NULL;
	(void)w;
	if (!path)
		return "build id and path of the module are longer than the record";
	uint8_t *id = sw_arena_alloc(&d->arena, r->build_id_bytes);
	struct sw_trace_module *m = sw_arena_alloc(&d->arena, sizeof *m);
	memcpy(id, build_id, r->build_id_bytes);
	*m = (struct sw_trace_module){
		.base = r->base,
		.start = r->start,
		.end = r->end,
		.path = sw_arena_strndup(&d->arena, path, r->path_bytes),
		.build_id = id,
		.build_id_bytes = r->build_id_bytes,
		.mapped_seq = sw_rec_seq(rec),
		.gone_seq = UINT64_MAX,
		.cudart = (uint32_t)sw_map_get(&d->cudarts, r->base),
	};
	*sw_vec_push(&d->modules) = m;
	return NULL;
}

/* Takes a MODULE_GONE record: the shared object at this base was unmapped; addresses of later records are not its.
   NULL, or what is wrong with it. */
static const char *take_module_gone(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	struct sw_trace_module *m = mapped_at(d, ((const struct sw_rec_module *)(const void *)rec)->base);
	if (m)
		m->gone_seq = sw_rec_seq(rec) ? sw_rec_seq(rec) : w->key;
	sw_map_delete(&d->cudarts, ((const struct sw_rec_module *)(const void *)rec)->base);
	return NULL;
}

/* Takes a CUDART record: how the module with this base is linked to the CUDA runtime.  It may come before the module
   itself.  NULL, or what is wrong with it. */
static const char *take_cudart(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_cudart *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	struct sw_trace_module *m = mapped_at(d, r->module_base);
	(void)w;
	if (!sw_tail_take(&t, r->path_bytes))
		return "the path is longer than the record";
	if (m)
		m->cudart = r->link;
	*sw_map_put(&d->cudarts, r->module_base) = r->link;
	return NULL;
}

void sw_image_found(struct sw_dictionary *d, struct sw_image_entry *e)
{
	if (!e->recorded || e->have == e->image.bytes)
		sw_packed_find(&d->packed, &e->image);
}

/* Takes an IMAGE record: describes code that the program loaded.  An earlier image with this hash and size has its
   content too.  NULL, or what is wrong with it. */
static const char *take_image(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_image *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const void *path = sw_tail_take(&t, r->path_bytes);
	(void)w;
	if (!path)
		return "the path of the image is longer than the record";
	if (sw_map_find(&d->images, r->id))
		return "an image of this number was described before";
	struct sw_image_entry *e = sw_arena_alloc(&d->arena, sizeof *e);
	*e = (struct sw_image_entry){0};
	e->image = (struct sw_trace_image){
		.id = r->id,
		.kind = r->kind,
		.bytes = r->bytes,
		.hash = r->hash,
		.file_offset = r->file_offset,
		.handle = r->handle,
		.path = sw_arena_strndup(&d->arena, path, r->path_bytes),
	};
	struct sw_image_entry *twin = r->hash ? sw_map_ptr(&d->image_hashes, r->hash) : NULL;
	if (twin && twin->image.bytes == r->bytes)
		e->twin = twin;
	e->recorded = r->data == 1;
	sw_map_put_ptr(&d->images, r->id, e);
	sw_image_found(d, e);
	return NULL;
}

/* Do the bytes have this hash, by one of the hashes that recorders have used? */
static bool content_is(uint64_t hash, const void *data, uint64_t bytes)
{
	return sw_hash_content(data, bytes) == hash || sw_hash_words(data, bytes) == hash ||
	       sw_hash_bytes(SW_FNV_START, data, bytes) == hash;
}

/* Takes an IMAGE_DATA record: a piece of an image's content.  Only its place in the file is kept, and the pieces must
   follow each other.  NULL, or what is wrong with it. */
static const char *take_image_data(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_image_data *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	struct sw_image_entry *e = sw_map_ptr(&d->images, r->id);
	if (!sw_tail_take(&t, r->bytes))
		return "the piece of the image is longer than the record";
	if (!e)
		return "a piece of an image that was not described";
	if (e->twin || e->whole)
		return NULL;
	if (r->offset != e->have || r->bytes > e->image.bytes - e->have || (e->have && !e->piece.n))
		return "the piece of the image does not follow the one before it";
	if (r->bytes)
		*sw_vec_push(&e->piece) = (struct sw_image_piece){sw_writer_offset(w) + sizeof *r, r->bytes};
	e->have += r->bytes;
	e->whole = e->have && e->have == e->image.bytes;
	if (e->whole && e->image.hash)
		sw_map_put_ptr(&d->image_hashes, e->image.hash, e);
	return NULL;
}

/* Reads the pieces of an image from the file, one after the other; false: one could not be read. */
static bool read_pieces(const struct sw_image_entry *e, const struct sw_source *source, unsigned char *to)
{
	for (size_t i = 0; i < e->piece.n; i++) {
		const struct sw_image_piece *piece = &e->piece.at[i];
		size_t got = 0;
		if (sw_source_read(source, piece->offset, to, piece->bytes, &got, NULL) || got < piece->bytes)
			return false;
		to += piece->bytes;
	}
	return true;
}

const void *sw_image_content(struct sw_image_entry *e, const struct sw_source *source)
{
	e = e->twin ? e->twin : e;
	if (e->read || !e->whole)
		return e->content;
	e->read = true;
	/* As much as arrived, not what the IMAGE record claims: a damaged trace cannot make the command allocate much.
	 */
	void *content = sw_alloc(e->have);
	/* Bytes that were not loaded like this: better no content than a wrong one. */
	if (read_pieces(e, source, content) && (!e->image.hash || content_is(e->image.hash, content, e->have)))
		e->content = content;
	else
		free(content);
	return e->content;
}

/* Takes a PACK_LEFT_OUT record: content that packing left out.  Counted as if the bytes were there: the image is known
   neither earlier nor later than it was before packing.  NULL, or what is wrong with it. */
static const char *take_pack_left_out(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_image_data *r = (const void *)rec;
	struct sw_image_entry *e = sw_map_ptr(&d->images, r->id);
	(void)w;
	if (!e)
		return "a piece of an image that was not described";
	if (e->piece.n || r->offset != e->have || r->bytes > e->image.bytes - e->have)
		return "the piece of the image does not follow the one before it";
	e->have += r->bytes;
	sw_image_found(d, e);
	return NULL;
}

/* Frees what is kept of images outside of the arena. */
static void free_images(struct sw_dictionary *d)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&d->images, i, &slot));) {
		struct sw_image_entry *e = (void *)(uintptr_t)slot.value;
		free(e->piece.at);
		free(e->content);
	}
	sw_map_free(&d->images);
}

/* Frees all descriptions. */
void sw_dictionary_free(struct sw_dictionary *d)
{
	free_images(d);
	sw_packed_free(&d->packed);
	sw_map_free(&d->image_hashes);
	sw_map_free(&d->threads);
	sw_map_free(&d->tids);
	sw_map_free(&d->thread_names);
	sw_map_free(&d->functions);
	sw_map_free(&d->stack_hashes);
	sw_map_free(&d->code_hashes);
	free(d->codes.at);
	sw_map_free(&d->cudarts);
	free(d->apis.at);
	free(d->stacks.at);
	free(d->modules.at);
	free(d->devices.at);
	free(d->notices.at);
	free(d->calls.at);
	sw_arena_free(&d->arena);
}

/* Call stacks: interned by each writer, unique over all writers here. */

/* Are the two call stacks the same, native and Python frames? */
static bool stacks_equal(const struct sw_trace_stack *a, const struct sw_trace_stack *b)
{
	return a->depth == b->depth && a->skipped == b->skipped && a->python_depth == b->python_depth &&
	       a->python_cut == b->python_cut && a->python_waiting == b->python_waiting &&
	       !memcmp(a->ips, b->ips, a->depth * sizeof *a->ips) &&
	       (!a->python_depth || !memcmp(a->python, b->python, a->python_depth * sizeof *a->python));
}

/* The index of this stack among all writers' stacks; it is copied if it is new. */
static uint32_t intern_stack(struct sw_dictionary *d, uint64_t key, const struct sw_trace_stack *wanted)
{
	uint64_t *index;
	/* Different stacks with one hash take the keys that follow. */
	while (*(index = sw_map_put(&d->stack_hashes, key)) && !stacks_equal(d->stacks.at[*index - 1], wanted))
		key++;
	if (!*index) {
		struct sw_trace_stack *s = sw_arena_alloc(&d->arena, sizeof *s);
		uint64_t *ips = sw_arena_alloc(&d->arena, wanted->depth * sizeof *ips);
		struct sw_trace_python_frame *python = sw_arena_alloc(&d->arena, wanted->python_depth * sizeof *python);
		*s = *wanted;
		s->ips = memcpy(ips, wanted->ips, wanted->depth * sizeof *ips);
		s->python = wanted->python_depth ? memcpy(python, wanted->python, wanted->python_depth * sizeof *python)
						 : NULL;
		*sw_vec_push(&d->stacks) = s;
		*index = d->stacks.n;
	}
	return (uint32_t)*index;
}

/* Takes a STACK record: a writer's call stack, to which its later records refer by number.  NULL, or what is wrong with
   it. */
static const char *take_stack(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_stack *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	size_t bytes = (size_t)r->depth * sizeof(uint64_t);
	const void *ips = sw_tail_take(&t, bytes);
	if (!ips)
		return "the stack is deeper than the record is long";
	if (!r->id)
		return "stack 0 means none";
	const struct sw_trace_stack wanted = {.depth = r->depth, .skipped = r->skipped, .ips = ips, .seq = w->key};
	sw_writer_define_stack(w, r->id,
			       intern_stack(d, sw_hash_bytes(SW_FNV_START, ips, bytes) + r->skipped, &wanted));
	d->cut_stacks += r->flags & SW_STACK_CUT;
	return NULL;
}

/* ---- Python ------------------------------------------------------------------------------------------------------ */

/* Takes a PYTHON_CODE record: a Python function and its file, to which the writer's later stacks refer by number.
   NULL, or what is wrong with it. */
static const char *take_python_code(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_python_code *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const char *file = sw_tail_take(&t, r->file_bytes);
	const char *function = file ? sw_tail_take(&t, r->function_bytes) : NULL;
	if (!function)
		return "file and function are longer than the record";
	if (!r->id)
		return "code 0 means none";
	file = sw_arena_strndup(&d->arena, file, r->file_bytes);
	function = sw_arena_strndup(&d->arena, function, r->function_bytes);
	uint64_t key = sw_hash_bytes(sw_hash_bytes(SW_FNV_START, file, strlen(file) + 1), function, strlen(function));
	uint64_t *index;
	while (*(index = sw_map_put(&d->code_hashes, key)) &&
	       (strcmp(d->codes.at[*index - 1]->file, file) != 0 ||
		strcmp(d->codes.at[*index - 1]->function, function) != 0))
		key++;
	if (!*index) {
		struct sw_trace_python_frame *code = sw_arena_alloc(&d->arena, sizeof *code);
		*code = (struct sw_trace_python_frame){.file = file, .function = function};
		*sw_vec_push(&d->codes) = code;
		*index = d->codes.n;
	}
	sw_writer_define_code(w, r->id, (uint32_t)*index);
	return NULL;
}

/* A recorded Python frame with the names of its code.  Frames whose code is not known (a chunk was damaged) have
   neither file nor function. */
static struct sw_trace_python_frame frame_of(const struct sw_dictionary *d, const struct sw_writer_cursor *w,
					     const struct sw_python_frame *recorded)
{
	struct sw_trace_python_frame frame = {.file = "", .function = ""};
	const uint32_t index = sw_writer_code(w, recorded->code);
	if (index) {
		frame.file = d->codes.at[index - 1]->file;
		frame.function = d->codes.at[index - 1]->function;
		frame.line = recorded->line & ~SW_PYTHON_ENTRY;
	}
	frame.entry = recorded->line & SW_PYTHON_ENTRY ? 1 : 0;
	return frame;
}

/* Takes a PYTHON_STACK record: Python frames, with the native stack below which they were.  NULL, or what is wrong with
   it. */
static const char *take_python_stack(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_python_stack *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const struct sw_python_frame *recorded = sw_tail_take(&t, (size_t)r->depth * sizeof *recorded);
	if (!recorded)
		return "the Python stack is deeper than the record is long";
	if (!r->id)
		return "stack 0 means none";
	/* A stack without native frames needs no order of modules. */
	struct sw_trace_stack wanted = {.ips = (const uint64_t[1]){0}, .seq = w->key};
	const uint32_t native = r->native ? sw_writer_stack(w, r->native) : 0;
	if (native)
		wanted = *d->stacks.at[native - 1];
	if (wanted.python_depth)
		return "a Python stack within a Python stack";
	struct sw_trace_python_frame *frames = sw_alloc((r->depth + 1) * sizeof *frames);
	for (uint32_t i = 0; i < r->depth; i++)
		frames[i] = frame_of(d, w, &recorded[i]);
	wanted.python = frames;
	wanted.python_depth = r->depth;
	wanted.python_cut = r->flags & SW_PYTHON_CUT;
	wanted.python_waiting = r->flags & SW_PYTHON_WAITING;
	const uint64_t key =
		sw_hash_bytes(sw_hash_bytes(SW_FNV_START, &native, sizeof native), frames, r->depth * sizeof *frames);
	sw_writer_define_stack(w, r->id, intern_stack(d, key, &wanted));
	free(frames);
	return NULL;
}

/* Names of threads that may never come. */
#define MAX_WAITING_NAMES 4096u

/* A copy that lives as long as the reader. */
static const char *copy_text(struct sw_dictionary *d, const void *bytes, size_t n)
{
	return sw_arena_strndup(&d->arena, bytes, n);
}

/* Copies the `n` strings that are announced, which each end with NUL; *got is less where they are fewer. */
static const char *const *copy_strings(struct sw_dictionary *d, const void *bytes, size_t size, uint32_t n,
				       uint32_t *got)
{
	const char **at = sw_arena_alloc(&d->arena, (n + 1) * sizeof *at);
	const char *all = copy_text(d, bytes, size), *end = all + size;
	for (*got = 0; *got < n && all < end; all += strlen(all) + 1)
		at[(*got)++] = all;
	return at;
}

/* Takes a PROCESS record: program, working directory and arguments.  NULL, or what is wrong with it. */
static const char *take_process(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_process *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const char *exe = sw_tail_take(&t, r->exe_bytes), *cwd = exe ? sw_tail_take(&t, r->cwd_bytes) : NULL;
	const char *args = cwd ? sw_tail_take(&t, r->args_bytes) : NULL;
	(void)w;
	if (!args || r->args > r->args_bytes)
		return "program and arguments are longer than the record";
	struct sw_trace_process *p = sw_arena_alloc(&d->arena, sizeof *p);
	p->exe = copy_text(d, exe, r->exe_bytes);
	p->cwd = copy_text(d, cwd, r->cwd_bytes);
	p->arg = copy_strings(d, args, r->args_bytes, r->args, &p->args);
	p->pid = d->pid;
	d->process = p;
	return NULL;
}

/* Takes an ENVIRONMENT record: the machine's name and boot, and some variables of the program's environment.  NULL, or
   what is wrong with it. */
static const char *take_environment(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_environment *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const char *boot = sw_tail_take(&t, r->boot_bytes), *host = boot ? sw_tail_take(&t, r->host_bytes) : NULL;
	const char *variables = host ? sw_tail_take(&t, r->variables_bytes) : NULL;
	(void)w;
	if (!variables || r->variables > r->variables_bytes)
		return "the variables of the environment are longer than the record";
	struct sw_trace_environment *e = sw_arena_alloc(&d->arena, sizeof *e);
	e->boot = copy_text(d, boot, r->boot_bytes);
	e->host = copy_text(d, host, r->host_bytes);
	e->variable = copy_strings(d, variables, r->variables_bytes, r->variables, &e->variables);
	d->environment = e;
	return NULL;
}

/* Takes a THREAD record: the writer is this thread.  A name that was given to its kernel's id before belongs to it.
   NULL, or what is wrong with it. */
static const char *take_thread(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_thread *r = (const void *)rec;
	struct sw_tail tail = sw_tail_of(rec, sizeof *r);
	const void *name = sw_tail_take(&tail, r->name_bytes);
	if (!name)
		return "the thread's name is longer than the record";
	if (!r->thread)
		return "thread 0 does not exist";
	struct sw_trace_thread *t = sw_arena_alloc(&d->arena, sizeof *t);
	*t = (struct sw_trace_thread){r->thread, r->tid, r->main, copy_text(d, name, r->name_bytes)};
	const char *given = sw_map_ptr(&d->thread_names, r->tid);
	if (given)
		t->name = given;
	sw_map_delete(&d->thread_names, r->tid);
	*sw_map_put(&d->tids, r->tid) = r->thread;
	sw_map_put_ptr(&d->threads, r->thread, t);
	w->thread = r->thread;
	return NULL;
}

/* Takes an API record: the names of an entry point, of the driver and of the runtime function that stands for it. NULL,
   or what is wrong with it. */
static const char *take_api(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_api *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const void *driver = sw_tail_take(&t, r->driver_bytes);
	const void *runtime = driver ? sw_tail_take(&t, r->runtime_bytes) : NULL;
	(void)w;
	if (!runtime)
		return "the names of the entry point are longer than the record";
	while (d->apis.n <= r->id)
		*sw_vec_push(&d->apis) = NULL;
	struct sw_trace_api *api = sw_arena_alloc(&d->arena, sizeof *api);
	*api = (struct sw_trace_api){copy_text(d, driver, r->driver_bytes), copy_text(d, runtime, r->runtime_bytes)};
	d->apis.at[r->id] = api;
	return NULL;
}

/* Takes a DEVICE record: name and size of a GPU.  NULL, or what is wrong with it. */
static const char *take_device(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_device *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const void *name = sw_tail_take(&t, r->name_bytes);
	(void)w;
	if (!name)
		return "the device's name is longer than the record";
	struct sw_trace_device *device = sw_arena_alloc(&d->arena, sizeof *device);
	*device = (struct sw_trace_device){
		.ordinal = r->ordinal,
		.major = r->major,
		.minor = r->minor,
		.multiprocessors = r->multiprocessors,
		.memory_bytes = r->memory_bytes,
		.name = copy_text(d, name, r->name_bytes),
	};
	*sw_vec_push(&d->devices) = device;
	return NULL;
}

/* Takes a CONTEXT record: a context and its device.  NULL, or what is wrong with it. */
static const char *take_context(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_context *r = (const void *)rec;
	(void)w;
	struct sw_trace_context *c = sw_arena_alloc(&d->arena, sizeof *c);
	*c = (struct sw_trace_context){rec->ctx, r->device, r->flags, r->handle};
	d->contexts[rec->ctx] = c;
	return NULL;
}

/* Takes a FUNCTION record: a kernel with its parameters' places and its name.  NULL, or what is wrong with it. */
static const char *take_function(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_function *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const struct sw_param *param = sw_tail_take(&t, r->params * sizeof *param);
	const void *name = param ? sw_tail_take(&t, r->name_bytes) : NULL;
	(void)w;
	if (!name)
		return "parameters and name of the kernel are longer than the record";
	struct sw_param *copy = sw_arena_alloc(&d->arena, r->params * sizeof *copy);
	struct sw_trace_function *f = sw_arena_alloc(&d->arena, sizeof *f);
	memcpy(copy, param, r->params * sizeof *copy);
	*f = (struct sw_trace_function){
		.id = r->id,
		.image = r->image,
		.handle = r->handle,
		.flags = r->flags,
		.params = r->params,
		.param = copy,
		.name = copy_text(d, name, r->name_bytes),
	};
	sw_map_put_ptr(&d->functions, r->id, f);
	return NULL;
}

/* Gives a thread its name, by its number or by the kernel's id: then of the thread that had it last, or will have
   it. */
static void name_thread(struct sw_dictionary *d, const struct sw_rec_name *r, const char *name)
{
	uint64_t number = r->handle ? r->handle : sw_map_get(&d->tids, r->bytes);
	struct sw_trace_thread *thread = sw_map_ptr(&d->threads, number);
	if (thread)
		thread->name = name;
	else if (!r->handle && d->thread_names.n < MAX_WAITING_NAMES)
		sw_map_put_ptr(&d->thread_names, r->bytes, name);
}

/* Takes a NAME record: the program named something; only threads' names belong here.  NULL, or what is wrong with
   it. */
static const char *take_name(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_name *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const void *name = sw_tail_take(&t, r->name_bytes);
	(void)w;
	if (!name)
		return "the name is longer than the record";
	if (r->of == SW_NAME_THREAD)
		name_thread(d, r, copy_text(d, name, r->name_bytes));
	return NULL;
}

/* Takes a CLOCK record: a pair of readings, to learn how long a tick is.  NULL, or what is wrong with it. */
static const char *take_clock(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	(void)w;
	sw_clock_pair(&d->clock, rec->ticks, ((const struct sw_rec_clock *)(const void *)rec)->monotonic_ns);
	return NULL;
}

/* Takes a NOTICE record: a message of the recorder for the user.  NULL, or what is wrong with it. */
static const char *take_notice(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_notice *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const void *sentence = sw_tail_take(&t, r->text_bytes);
	(void)w;
	if (!sentence)
		return "the notice is longer than the record";
	*sw_vec_push(&d->notices) = sw_arena_strndup(&d->arena, sentence, r->text_bytes);
	return NULL;
}

/* Takes a COUNTS record: how often each entry point was called.  NULL, or what is wrong with it. */
static const char *take_counts(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_counts *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const struct sw_count *count = sw_tail_take(&t, (size_t)r->entries * sizeof *count);
	(void)w;
	if (!count)
		return "the table of calls is longer than the record";
	for (uint32_t i = 0; i < r->entries; i++) {
		while (d->calls.n <= count[i].api)
			*sw_vec_push(&d->calls) = 0;
		d->calls.at[count[i].api] += count[i].calls;
	}
	return NULL;
}

/* Changes words of a block as a short LAUNCH record says.  NULL, or what is wrong with it. */
static const char *change_words(struct sw_param_block *block, struct sw_tail t)
{
	const unsigned char *at = t.at;
	const uint32_t n = t.left ? at[0] : 0, head = sw_launch_changes_head(n);
	if (n > SW_LAUNCH_CHANGES || t.left < head + n * 4ul)
		return "the changed parameters are longer than the record";
	for (uint32_t i = 0; i < n; i++) {
		if (at[i + 1] >= block->bytes / 4)
			return "a changed parameter lies outside of its block";
		memcpy(block->data + at[i + 1] * 4ul, at + head + i * 4ul, 4);
	}
	return NULL;
}

/* Changes those eight bytes of a block whose bit is set, as a whole LAUNCH record says.  NULL, or what is wrong. */
static const char *change_marked(struct sw_param_block *block, struct sw_tail t)
{
	const unsigned char *bits = sw_tail_take(&t, sw_launch_changes_bits(block->bytes));
	if (!bits)
		return "the changed parameters are longer than the record";
	for (uint32_t at = 0; at < block->bytes; at += 8) {
		if (!(bits[at / 64] >> at / 8 % 8 & 1))
			continue;
		const void *eight = sw_tail_take(&t, 8);
		if (!eight)
			return "the changed parameters are longer than the record";
		memcpy(block->data + at, eight, block->bytes - at < 8 ? block->bytes - at : 8);
	}
	return NULL;
}

/* Defines a parameter block that is an earlier one of its kernel with some bytes changed.  Without that one, which was
   lost, the block is not known. */
static const char *take_launch_changes(struct sw_writer_cursor *w, uint32_t params, uint32_t from, struct sw_tail t,
				       const char *(*change)(struct sw_param_block *, struct sw_tail))
{
	const struct sw_param_block *base = sw_writer_params(w, from);
	if (params - from - 1 >= SW_FORMAT_LIVE_IDS - 1)
		return "changed parameters of a block that is too old";
	if (!base)
		return NULL;
	if (base->bytes > SW_LAUNCH_BLOCK_MAX)
		return "changed parameters of a block that is too long for that";
	struct sw_param_block *block = sw_writer_define_params(w, params, base->data, base->bytes);
	const char *wrong = change(block, t);
	if (wrong)
		block->id = 0; /* no block has this number */
	return wrong;
}

/* Keeps the fields that short records of the same launch leave out, as a parameter block is kept, with which it shares
   its numbers. */
static void define_launch(struct sw_writer_cursor *w, const struct sw_rec_launch *r)
{
	struct sw_rec_launch rest = *r;
	rest.params = 0;
	rest.param_bytes = 0;
	rest.launch = 0;
	rest.flags &= (uint16_t) ~(SW_LAUNCH_INLINE | SW_LAUNCH_CHANGED);
	sw_writer_define_params(w, r->launch, &rest.h + 1, sizeof rest - sizeof rest.h);
}

bool sw_launch_expand(const struct sw_writer_cursor *w, const struct sw_rec *rec, struct sw_rec_launch *out)
{
	const struct sw_rec_launch_again *r = (const void *)rec;
	const struct sw_param_block *rest = sw_writer_params(w, r->like);
	if (!r->like || !rest || rest->bytes != sizeof *out - sizeof out->h)
		return false;
	out->h = *rec;
	out->h.words = sizeof *out / 8;
	memcpy(&out->h + 1, rest->data, rest->bytes);
	out->params = r->params ? r->like + (uint32_t)(int32_t)r->params : 0;
	return true;
}

/* Does a whole LAUNCH record have changes of a block?  With what they begin with; else it is damaged. */
static const struct sw_launch_changes *changes_of(const struct sw_rec_launch *r)
{
	const bool there = r->h.words * 8u >= sizeof *r + sizeof(struct sw_launch_changes);
	return r->flags & SW_LAUNCH_CHANGED && there ? (const void *)(r + 1) : NULL;
}

uint32_t sw_launch_base(const struct sw_rec *rec)
{
	const struct sw_rec_launch_again *again = (const void *)rec;
	if (sw_launch_is_short(rec))
		return again->base ? again->like + (uint32_t)(int32_t)again->params - again->base : 0;
	const struct sw_launch_changes *changes = changes_of((const void *)rec);
	return changes ? changes->base : 0;
}

/* Takes a LAUNCH record: keeps its parameter block, and its fields for later short records.  NULL, or what is wrong
   with it. */
static const char *take_launch(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_launch *r = (const void *)rec;
	const struct sw_rec_launch_again *again = (const void *)rec;
	(void)d;
	if (rec->flags & SW_RF_END)
		return NULL;
	if (sw_launch_is_short(rec))
		return again->base
			       ? take_launch_changes(w, again->like + (uint32_t)(int32_t)again->params,
						     sw_launch_base(rec), sw_tail_of(rec, sizeof *again), change_words)
			       : NULL;
	if (r->launch)
		define_launch(w, r);
	if (!(r->flags & (SW_LAUNCH_INLINE | SW_LAUNCH_CHANGED)))
		return NULL;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const void *block = sw_tail_take(&t, r->param_bytes);
	if (!block || (r->flags & SW_LAUNCH_CHANGED && !changes_of(r)))
		return "the parameter block is longer than the record";
	if (!r->params)
		return "a parameter block without a number";
	if (r->flags & SW_LAUNCH_CHANGED)
		return take_launch_changes(w, r->params, sw_launch_base(rec),
					   sw_tail_of(rec, sizeof *r + sizeof(struct sw_launch_changes)),
					   change_marked);
	sw_writer_define_params(w, r->params, block, r->param_bytes);
	return NULL;
}

/* Packed records have theirs in packed.c. */
#define TAKERS(X)                                                                                                      \
	X(PROCESS, process)                                                                                            \
	X(ENVIRONMENT, environment)                                                                                    \
	X(THREAD, thread)                                                                                              \
	X(API, api)                                                                                                    \
	X(STACK, stack)                                                                                                \
	X(PYTHON_CODE, python_code)                                                                                    \
	X(PYTHON_STACK, python_stack)                                                                                  \
	X(MODULE, module)                                                                                              \
	X(MODULE_GONE, module_gone)                                                                                    \
	X(CUDART, cudart)                                                                                              \
	X(DEVICE, device)                                                                                              \
	X(CONTEXT, context)                                                                                            \
	X(FUNCTION, function)                                                                                          \
	X(IMAGE, image)                                                                                                \
	X(IMAGE_DATA, image_data)                                                                                      \
	X(NAME, name)                                                                                                  \
	X(CLOCK, clock)                                                                                                \
	X(NOTICE, notice)                                                                                              \
	X(COUNTS, counts)                                                                                              \
	X(LAUNCH, launch)                                                                                              \
	X(PACK_LEFT_OUT, pack_left_out)

typedef const char *taker(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec);

const char *sw_dictionary_take(struct sw_dictionary *d, struct sw_writer_cursor *writer, const struct sw_rec *rec)
{
	static taker *const takers[256] = {
#define ROW(kind, name) [SW_REC_##kind] = take_##name,
		TAKERS(ROW)
#undef ROW
#define ROW(kind, name) [SW_REC_##kind] = sw_take_##name,
			SW_PACKED_TAKERS(ROW)
#undef ROW
	};
	return takers[rec->kind] ? takers[rec->kind](d, writer, rec) : NULL;
}
