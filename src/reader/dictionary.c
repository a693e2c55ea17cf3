/* SPDX-License-Identifier: Apache-2.0 */
/* The small descriptions; stacks, modules and images have files of their own. */
#include "reader/dictionary.h"
#include "reader/kinds.h"

#include <stdlib.h>
#include <string.h>

/* Names of threads that may never come. */
#define MAX_WAITING_NAMES 4096u

static const char *text(struct sw_dictionary *d, const void *bytes, size_t n)
{
	return sw_arena_strndup(&d->arena, bytes, n);
}

/* Strings, each with its NUL, of which `n` are counted; *got is less where they are fewer. */
static const char *const *strings(struct sw_dictionary *d, const void *bytes, size_t size, uint32_t n, uint32_t *got)
{
	const char **at = sw_arena_alloc(&d->arena, (n + 1) * sizeof *at);
	const char *all = text(d, bytes, size), *end = all + size;
	for (*got = 0; *got < n && all < end; all += strlen(all) + 1)
		at[(*got)++] = all;
	return at;
}

const char *sw_take_process(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_process *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const char *exe = sw_tail_take(&t, r->exe_bytes), *cwd = exe ? sw_tail_take(&t, r->cwd_bytes) : NULL;
	const char *args = cwd ? sw_tail_take(&t, r->args_bytes) : NULL;
	(void)w;
	if (!args || r->args > r->args_bytes)
		return "program and arguments are longer than the record";
	struct sw_trace_process *p = sw_arena_alloc(&d->arena, sizeof *p);
	p->exe = text(d, exe, r->exe_bytes);
	p->cwd = text(d, cwd, r->cwd_bytes);
	p->arg = strings(d, args, r->args_bytes, r->args, &p->args);
	p->pid = d->pid;
	d->process = p;
	return NULL;
}

const char *sw_take_environment(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_environment *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const char *boot = sw_tail_take(&t, r->boot_bytes), *host = boot ? sw_tail_take(&t, r->host_bytes) : NULL;
	const char *variables = host ? sw_tail_take(&t, r->variables_bytes) : NULL;
	(void)w;
	if (!variables || r->variables > r->variables_bytes)
		return "the variables of the environment are longer than the record";
	struct sw_trace_environment *e = sw_arena_alloc(&d->arena, sizeof *e);
	e->boot = text(d, boot, r->boot_bytes);
	e->host = text(d, host, r->host_bytes);
	e->variable = strings(d, variables, r->variables_bytes, r->variables, &e->variables);
	d->environment = e;
	return NULL;
}

const char *sw_take_thread(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_thread *r = (const void *)rec;
	struct sw_tail tail = sw_tail_of(rec, sizeof *r);
	const void *name = sw_tail_take(&tail, r->name_bytes);
	if (!name)
		return "the thread's name is longer than the record";
	if (!r->thread)
		return "thread 0 does not exist";
	struct sw_trace_thread *t = sw_arena_alloc(&d->arena, sizeof *t);
	*t = (struct sw_trace_thread){r->thread, r->tid, r->main, text(d, name, r->name_bytes)};
	const char *given = sw_map_ptr(&d->thread_names, r->tid);
	if (given)
		t->name = given;
	sw_map_delete(&d->thread_names, r->tid);
	*sw_map_put(&d->tids, r->tid) = r->thread;
	sw_map_put_ptr(&d->threads, r->thread, t);
	w->thread = r->thread;
	return NULL;
}

const char *sw_take_api(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
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
	*api = (struct sw_trace_api){text(d, driver, r->driver_bytes), text(d, runtime, r->runtime_bytes)};
	d->apis.at[r->id] = api;
	return NULL;
}

const char *sw_take_device(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
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
		.name = text(d, name, r->name_bytes),
	};
	*sw_vec_push(&d->devices) = device;
	return NULL;
}

const char *sw_take_context(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_context *r = (const void *)rec;
	(void)w;
	struct sw_trace_context *c = sw_arena_alloc(&d->arena, sizeof *c);
	*c = (struct sw_trace_context){rec->ctx, r->device, r->flags, r->handle};
	d->contexts[rec->ctx] = c;
	return NULL;
}

const char *sw_take_function(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
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
		.name = text(d, name, r->name_bytes),
	};
	sw_map_put_ptr(&d->functions, r->id, f);
	return NULL;
}

/* By its number, or by the kernel's id: of the thread that had it last, or will have it. */
static void name_thread(struct sw_dictionary *d, const struct sw_rec_name *r, const char *name)
{
	uint64_t number = r->handle ? r->handle : sw_map_get(&d->tids, r->bytes);
	struct sw_trace_thread *thread = sw_map_ptr(&d->threads, number);
	if (thread)
		thread->name = name;
	else if (!r->handle && d->thread_names.n < MAX_WAITING_NAMES)
		sw_map_put_ptr(&d->thread_names, r->bytes, name);
}

const char *sw_take_name(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_name *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const void *name = sw_tail_take(&t, r->name_bytes);
	(void)w;
	if (!name)
		return "the name is longer than the record";
	if (r->of == SW_NAME_THREAD)
		name_thread(d, r, text(d, name, r->name_bytes));
	return NULL;
}

const char *sw_take_clock(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	(void)w;
	sw_clock_pair(&d->clock, rec->ticks, ((const struct sw_rec_clock *)(const void *)rec)->monotonic_ns);
	return NULL;
}

const char *sw_take_notice(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
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

const char *sw_take_counts(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
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

/* A block that differs from an earlier one.  Without that one, which was lost, it is not known. */
static const char *take_changes(struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_launch_again *r = (const void *)rec;
	if (!r->base)
		return NULL;
	const uint32_t params = r->like + (uint32_t)(int32_t)r->params;
	const struct sw_param_block *base = sw_writer_params(w, params - r->base);
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const unsigned char *at = t.at;
	const uint32_t n = t.left ? at[0] : 0;
	if (n > SW_LAUNCH_CHANGES || t.left < sw_launch_changes_head(n) + n * 4ul)
		return "the changed parameters are longer than the record";
	if (!base)
		return NULL;
	uint32_t block[SW_LAUNCH_CHANGED_MAX / 4];
	if (base->bytes > sizeof block)
		return "changed parameters of a block that is too long for that";
	memcpy(block, base->data, base->bytes);
	for (uint32_t i = 0; i < n; i++) {
		if (at[i + 1] >= base->bytes / 4)
			return "a changed parameter lies outside of its block";
		memcpy(&block[at[i + 1]], at + sw_launch_changes_head(n) + i * 4ul, 4);
	}
	sw_writer_define_params(w, params, block, base->bytes);
	return NULL;
}

/* What short records of the same launch leave out: kept as a parameter block is, with which it shares its numbers. */
static void define_launch(struct sw_writer_cursor *w, const struct sw_rec_launch *r)
{
	struct sw_rec_launch rest = *r;
	rest.params = 0;
	rest.param_bytes = 0;
	rest.launch = 0;
	rest.flags &= (uint16_t)~SW_LAUNCH_INLINE;
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

const char *sw_take_launch(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_launch *r = (const void *)rec;
	(void)d;
	if (rec->flags & SW_RF_END)
		return NULL;
	if (sw_launch_is_short(rec))
		return take_changes(w, rec);
	if (r->launch)
		define_launch(w, r);
	if (!(r->flags & SW_LAUNCH_INLINE))
		return NULL;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const void *block = sw_tail_take(&t, r->param_bytes);
	if (!block)
		return "the parameter block is longer than the record";
	if (!r->params)
		return "a parameter block without a number";
	sw_writer_define_params(w, r->params, block, r->param_bytes);
	return NULL;
}

typedef const char *taker(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec);

const char *sw_dictionary_take(struct sw_dictionary *d, struct sw_writer_cursor *writer, const struct sw_rec *rec)
{
	static taker *const takers[256] = {
#define SW_READER_ROW(kind, name) [SW_REC_##kind] = sw_take_##name,
		SW_READER_TAKERS(SW_READER_ROW)
#undef SW_READER_ROW
	};
	return takers[rec->kind] ? takers[rec->kind](d, writer, rec) : NULL;
}
