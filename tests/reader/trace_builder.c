/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"

#define DEFAULT_CHUNK 16384

static void die(const struct tb *tb, const char *what)
{
	fprintf(stderr, "trace_builder: %s: %s: %s\n", tb->path, what, strerror(errno));
	exit(99);
}

static struct sw_chunk_header *chunk_of(struct tb_writer *w)
{
	return (struct sw_chunk_header *)(void *)w->chunk;
}

static void put_chunk(struct tb *tb, struct tb_writer *w, bool closed)
{
	struct sw_chunk_header *c = chunk_of(w);
	c->committed = w->used;
	if (closed) {
		c->crc = sw_crc32c(0, c + 1, w->used);
		c->closed = 1;
	}
	off_t at = (off_t)(tb->header.header_bytes + w->number * tb->header.chunk_bytes);
	if (pwrite(tb->fd, w->chunk, tb->header.chunk_bytes, at) != (ssize_t)tb->header.chunk_bytes)
		die(tb, "write");
}

static void next_chunk(struct tb *tb, struct tb_writer *w)
{
	if (w->chunk) {
		put_chunk(tb, w, true);
		w->index++;
	} else {
		w->chunk = sw_alloc(tb->header.chunk_bytes);
	}
	memset(w->chunk, 0, tb->header.chunk_bytes);
	w->used = 0;
	w->number = tb->header.chunks++;
	*chunk_of(w) = (struct sw_chunk_header){
		.magic = SW_FORMAT_CHUNK_MAGIC,
		.writer = (uint32_t)(w - tb->writers),
		.index = w->index,
	};
}

void tb_writer(struct tb *tb, uint32_t writer)
{
	if (tb->current)
		tb->current->stack = tb->stack;
	while (tb->n_writers <= writer) {
		tb->writers = sw_realloc(tb->writers, tb->n_writers + 1, sizeof *tb->writers);
		tb->writers[tb->n_writers++] = (struct tb_writer){0};
	}
	tb->current = &tb->writers[writer];
	tb->stack = tb->current->stack;
}

void *tb_add(struct tb *tb, enum sw_rec_kind kind, size_t bytes, bool ordered)
{
	struct tb_writer *w = tb->current;
	size_t room = tb->header.chunk_bytes - sizeof(struct sw_chunk_header);
	bytes = (bytes + 7) & ~(size_t)7;
	if (bytes > room || bytes > SW_REC_MAX_BYTES) {
		errno = E2BIG;
		die(tb, "record");
	}
	if (!w->chunk || w->used + bytes > room)
		next_chunk(tb, w);
	struct sw_rec *r = (void *)(w->chunk + sizeof(struct sw_chunk_header) + w->used);
	w->used += (uint32_t)bytes;
	*r = (struct sw_rec){.kind = kind, .words = (uint16_t)(bytes / 8), .ticks = tb->now};
	tb->now += tb->step;
	if (ordered) {
		tb->seq++;
		r->seq_lo = (uint32_t)tb->seq;
		r->seq_hi = (uint16_t)(tb->seq >> 32);
		if (!chunk_of(w)->first_seq)
			chunk_of(w)->first_seq = tb->seq;
	}
	return r;
}

struct tb *tb_new(const char *path, const struct tb_options *options)
{
	struct tb_options o = options ? *options : (struct tb_options){0};
	struct tb *tb = sw_calloc(1, sizeof *tb);
	tb->path = sw_strdup(path);
	tb->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (tb->fd < 0)
		die(tb, "open");
	tb->step = 1000;
	tb->dur = 100;
	tb->now = 5000000000;
	tb->ctx = o.bare ? 0 : 1;
	tb->header = (struct sw_file_header){
		.magic = SW_FORMAT_MAGIC,
		.major = SW_FORMAT_MAJOR,
		.minor = SW_FORMAT_MINOR,
		.byte_order = SW_FORMAT_BYTE_ORDER,
		.header_bytes = SW_FORMAT_HEADER_BYTES,
		.chunk_bytes = o.chunk_bytes ? o.chunk_bytes : DEFAULT_CHUNK,
		.flags = o.flags,
		.pid = 1000,
		.ppid = 1,
		.ticks_per_second = o.ticks_per_second ? o.ticks_per_second : 1000000000,
		.start_ticks = tb->now,
		.start_monotonic_ns = 5000000000,
		.start_realtime_ns = 1700000000000000000,
		.cost_no_stack_ps = 40000,
		.cost_stack_ps = 90000,
		.cuda_driver_version = 13000,
		.cuda_headers_version = 13000,
		.recorder_version = "0.1.0",
	};
	memcpy(tb->header.magic, SW_FORMAT_MAGIC, sizeof tb->header.magic);
	tb_writer(tb, 0);
	if (o.bare)
		return tb;
	static const char exe[] = "/usr/bin/app", cwd[] = "/home/user", args[] = "app\0--fast";
	struct sw_rec_process *p = tb_add(tb, SW_REC_PROCESS, sizeof *p + 12 + 10 + sizeof args, false);
	p->exe_bytes = sizeof exe - 1;
	p->cwd_bytes = sizeof cwd - 1;
	p->args = 2;
	p->args_bytes = sizeof args;
	memcpy(p + 1, exe, p->exe_bytes);
	memcpy((char *)(p + 1) + p->exe_bytes, cwd, p->cwd_bytes);
	memcpy((char *)(p + 1) + p->exe_bytes + p->cwd_bytes, args, sizeof args);
	tb_thread(tb, 1);
	tb_device(tb, 0, "Test GPU");
	tb_context(tb, 1, 0);
	return tb;
}

void *tb_more(struct tb *tb, struct sw_rec *last, size_t bytes)
{
	struct tb_writer *w = tb->current;
	const size_t room = tb->header.chunk_bytes - sizeof(struct sw_chunk_header);
	void *at = (uint64_t *)(void *)last + last->words;
	if ((unsigned char *)at != w->chunk + sizeof(struct sw_chunk_header) + w->used || w->used + bytes > room) {
		errno = E2BIG;
		die(tb, "end of a record");
	}
	last->words = (uint16_t)(last->words + bytes / 8);
	w->used += (uint32_t)bytes;
	return at;
}

static void put_counts(struct tb *tb)
{
	struct sw_rec_counts *c = tb_add(tb, SW_REC_COUNTS, sizeof *c + tb->apis * sizeof(struct sw_count), false);
	struct sw_count *count = (void *)(c + 1);
	c->entries = tb->apis;
	for (uint16_t i = 0; i < tb->apis; i++)
		count[i] = (struct sw_count){.api = (uint16_t)(i + 1), .calls = tb->calls[i + 1]};
}

void tb_close(struct tb *tb, bool ended)
{
	if (ended) {
		put_counts(tb);
		tb_add(tb, SW_REC_END, sizeof(struct sw_rec), true);
		tb->header.flags |= SW_FILE_CLOSED;
	}
	for (size_t i = 0; i < tb->n_writers; i++) {
		struct tb_writer *w = &tb->writers[i];
		if (w->chunk)
			put_chunk(tb, w, ended);
		free(w->chunk);
		sw_map_free(&w->stacks);
		sw_map_free(&w->blocks);
	}
	if (pwrite(tb->fd, &tb->header, sizeof tb->header, 0) != (ssize_t)sizeof tb->header || close(tb->fd))
		die(tb, "close");
	for (uint16_t i = 1; i <= tb->apis; i++) {
		free(tb->names[i].driver);
		free(tb->names[i].runtime);
	}
	free(tb->writers);
	free(tb->path);
	free(tb);
}

/* ---- descriptions ---- */

void tb_thread(struct tb *tb, uint32_t thread)
{
	tb_writer(tb, thread - 1);
	if (tb->current->announced)
		return;
	tb->current->announced = true;
	char name[32];
	int n = snprintf(name, sizeof name, "thread %u", thread);
	struct sw_rec_thread *r = tb_add(tb, SW_REC_THREAD, sizeof *r + (size_t)n, false);
	r->thread = thread;
	r->tid = 999 + thread;
	r->main = thread == 1;
	r->name_bytes = (uint32_t)n;
	memcpy(r + 1, name, (size_t)n);
}

uint16_t tb_api(struct tb *tb, const char *driver, const char *runtime)
{
	for (uint16_t i = 1; i <= tb->apis; i++)
		if (!strcmp(tb->names[i].driver, driver) && !strcmp(tb->names[i].runtime, runtime))
			return i;
	if (tb->apis == 511) {
		errno = ENOSPC;
		die(tb, "entry points");
	}
	uint16_t id = ++tb->apis;
	size_t d = strlen(driver), n = strlen(runtime);
	tb->names[id] = (struct tb_name){sw_strdup(driver), sw_strdup(runtime)};
	/* Ordered: other writers refer to it. */
	struct sw_rec_api *r = tb_add(tb, SW_REC_API, sizeof *r + d + n, true);
	r->id = id;
	r->driver_bytes = (uint8_t)d;
	r->runtime_bytes = (uint8_t)n;
	memcpy(r + 1, driver, d);
	memcpy((char *)(r + 1) + d, runtime, n);
	return id;
}

void tb_call(struct tb *tb, const char *driver, const char *runtime)
{
	tb->next_api = tb_api(tb, driver, runtime);
}

uint32_t tb_stack(struct tb *tb, uint32_t depth, ...)
{
	uint64_t ips[64];
	va_list ap;
	tb->stack = 0;
	va_start(ap, depth);
	for (uint32_t i = 0; i < depth && i < 64; i++)
		ips[i] = va_arg(ap, uint64_t);
	va_end(ap);
	if (!depth)
		return 0;
	uint64_t *id = sw_map_put(&tb->current->stacks, sw_hash_bytes(SW_FNV_START, ips, depth * sizeof *ips));
	if (!*id) {
		*id = ++tb->current->n_stacks;
		struct sw_rec_stack *r = tb_add(tb, SW_REC_STACK, sizeof *r + depth * sizeof *ips, false);
		r->id = (uint32_t)*id;
		r->depth = depth;
		memcpy(r + 1, ips, depth * sizeof *ips);
	}
	return tb->stack = (uint32_t)*id;
}

struct sw_rec_python_code *tb_python_code(struct tb *tb, uint32_t id, const char *file, const char *function)
{
	const uint32_t file_bytes = (uint32_t)strlen(file), function_bytes = (uint32_t)strlen(function);
	struct sw_rec_python_code *r = tb_add(tb, SW_REC_PYTHON_CODE, sizeof *r + file_bytes + function_bytes, false);
	r->id = id;
	r->first_line = 1;
	r->file_bytes = file_bytes;
	r->function_bytes = function_bytes;
	memcpy(r + 1, file, file_bytes);
	memcpy((char *)(r + 1) + file_bytes, function, function_bytes);
	return r;
}

struct sw_rec_python_stack *tb_python_stack(struct tb *tb, const struct sw_python_frame *frames, uint32_t n)
{
	struct sw_rec_python_stack *r = tb_add(tb, SW_REC_PYTHON_STACK, sizeof *r + n * sizeof *frames, false);
	r->id = ++tb->current->n_stacks;
	r->native = tb->stack;
	r->depth = n;
	if (n)
		memcpy(r + 1, frames, n * sizeof *frames);
	tb->stack = r->id;
	return r;
}

struct sw_rec_module *tb_module(struct tb *tb, uint64_t base, uint64_t end, const char *path)
{
	size_t n = strlen(path);
	struct sw_rec_module *r = tb_add(tb, SW_REC_MODULE, sizeof *r + 24 + n, true);
	r->base = r->start = base;
	r->end = end;
	r->build_id_bytes = 20;
	r->path_bytes = (uint32_t)n;
	memset(r + 1, 0xab, 20);
	memcpy((char *)(r + 1) + 24, path, n);
	return r;
}

struct sw_rec_module *tb_module_gone(struct tb *tb, uint64_t base)
{
	struct sw_rec_module *r = tb_add(tb, SW_REC_MODULE_GONE, sizeof *r, true);
	r->base = base;
	return r;
}

struct sw_rec_cudart *tb_cudart(struct tb *tb, uint64_t module_base, enum sw_cudart_link link, const char *path)
{
	size_t n = strlen(path);
	struct sw_rec_cudart *r = tb_add(tb, SW_REC_CUDART, sizeof *r + n, true);
	r->module_base = module_base;
	r->link = link;
	r->version = 13000;
	r->requests = 440;
	r->path_bytes = (uint32_t)n;
	memcpy(r + 1, path, n);
	return r;
}

struct sw_rec_device *tb_device(struct tb *tb, int ordinal, const char *name)
{
	size_t n = strlen(name);
	struct sw_rec_device *r = tb_add(tb, SW_REC_DEVICE, sizeof *r + n, true);
	r->ordinal = ordinal;
	r->major = 9;
	r->multiprocessors = 132;
	r->memory_bytes = 1ull << 36;
	r->name_bytes = (uint32_t)n;
	memcpy(r + 1, name, n);
	return r;
}

struct sw_rec_context *tb_context(struct tb *tb, uint8_t id, int device)
{
	struct sw_rec_context *r = tb_add(tb, SW_REC_CONTEXT, sizeof *r, true);
	r->h.ctx = id;
	r->handle = 0x5000u + id;
	r->device = device;
	r->flags = SW_CTX_PRIMARY;
	return r;
}

uint32_t tb_function_laid(struct tb *tb, const char *name, uint32_t params, const struct sw_param *param)
{
	size_t n = name ? strlen(name) : 0;
	struct sw_rec_function *r = tb_add(tb, SW_REC_FUNCTION, sizeof *r + params * sizeof(struct sw_param) + n, true);
	r->id = ++tb->functions;
	r->image = tb->image;
	r->handle = 0x6000u + r->id;
	r->flags = SW_FUNCTION_KERNEL | (name || params ? 0 : SW_FUNCTION_NO_LAYOUT);
	r->params = (uint16_t)params;
	r->name_bytes = (uint16_t)n;
	if (params)
		memcpy(r + 1, param, params * sizeof *param);
	if (n)
		memcpy((struct sw_param *)(void *)(r + 1) + params, name, n);
	return r->id;
}

uint32_t tb_function(struct tb *tb, const char *name, uint32_t params, ...)
{
	struct sw_param param[64];
	unsigned offset = 0;
	va_list ap;
	if (params > sizeof param / sizeof *param)
		abort();
	va_start(ap, params);
	for (uint32_t i = 0; i < params; i++) {
		unsigned bytes = va_arg(ap, unsigned),
			 align = bytes && bytes <= 8 && !(bytes & (bytes - 1)) ? bytes : 8;
		offset = (offset + align - 1) & ~(align - 1);
		param[i] = (struct sw_param){(uint16_t)offset, (uint16_t)bytes};
		offset += bytes;
	}
	va_end(ap);
	return tb_function_laid(tb, name, params, param);
}

uint32_t tb_image(struct tb *tb, enum sw_image_kind kind, const char *path, const void *data, size_t bytes)
{
	size_t n = path ? strlen(path) : 0, room = tb->header.chunk_bytes - sizeof(struct sw_chunk_header);
	struct sw_rec_image *r = tb_add(tb, SW_REC_IMAGE, sizeof *r + n, true);
	uint32_t id = r->id = ++tb->images;
	r->kind = kind;
	r->handle = 0x7000u + id;
	r->bytes = bytes;
	r->hash = data ? sw_hash_bytes(SW_FNV_START, data, bytes) : 0;
	r->data = data != NULL;
	r->path_bytes = (uint32_t)n;
	if (n)
		memcpy(r + 1, path, n);
	size_t most = (room < SW_REC_MAX_BYTES ? room : SW_REC_MAX_BYTES) - sizeof(struct sw_rec_image_data) - 8;
	for (size_t at = 0; data && at < bytes;) {
		size_t piece = bytes - at < most ? bytes - at : most;
		struct sw_rec_image_data *d = tb_add(tb, SW_REC_IMAGE_DATA, sizeof *d + piece, false);
		d->id = id;
		d->bytes = (uint32_t)piece;
		d->offset = at;
		memcpy(d + 1, (const char *)data + at, piece);
		at += piece;
	}
	return id;
}

struct sw_rec_name *tb_name(struct tb *tb, enum sw_name_of of, uint64_t handle, uint64_t bytes, const char *name)
{
	size_t n = strlen(name);
	struct sw_rec_name *r = tb_add(tb, SW_REC_NAME, sizeof *r + n, true);
	r->h.ctx = tb->ctx;
	r->of = of;
	r->name_bytes = (uint32_t)n;
	r->handle = handle;
	r->bytes = bytes;
	memcpy(r + 1, name, n);
	return r;
}

struct sw_rec_loss *tb_loss(struct tb *tb, uint64_t first_seq, uint64_t last_seq, uint64_t records)
{
	struct sw_rec_loss *r = tb_add(tb, SW_REC_LOSS, sizeof *r, true);
	r->first_seq = first_seq;
	r->last_seq = last_seq;
	r->records = records;
	r->why = SW_LOSS_SIZE_LIMIT;
	return r;
}

struct sw_rec_cut *tb_pause(struct tb *tb)
{
	tb->paused = tb->seq++ + 1;
	struct sw_rec_cut *r = tb_add(tb, SW_REC_CUT, sizeof *r, true);
	r->first_seq = r->last_seq = tb->paused;
	r->why = SW_CUT_PAUSED;
	r->flags = SW_CUT_BEGINS;
	return r;
}

struct sw_rec_cut *tb_go_on(struct tb *tb, uint64_t calls)
{
	tb->seq++;
	struct sw_rec_cut *r = tb_add(tb, SW_REC_CUT, sizeof *r, true);
	r->first_seq = tb->paused;
	r->last_seq = tb->seq - 1;
	r->calls = calls;
	r->why = SW_CUT_PAUSED;
	return r;
}

struct sw_rec_cut *tb_dropped(struct tb *tb, uint64_t first_seq, uint64_t last_seq, uint64_t calls)
{
	struct sw_rec_cut *r = tb_add(tb, SW_REC_CUT, sizeof *r, false);
	r->first_seq = first_seq;
	r->last_seq = last_seq;
	r->calls = calls;
	r->why = SW_CUT_DROPPED;
	return r;
}

struct sw_rec_environment *tb_environment(struct tb *tb, const char *boot, const char *host, uint32_t n, ...)
{
	char variables[1024];
	size_t bytes = 0;
	va_list ap;
	va_start(ap, n);
	for (uint32_t i = 0; i < n; i++)
		bytes += (size_t)snprintf(variables + bytes, sizeof variables - bytes, "%s", va_arg(ap, const char *)) +
			 1;
	va_end(ap);
	struct sw_rec_environment *r =
		tb_add(tb, SW_REC_ENVIRONMENT, sizeof *r + strlen(boot) + strlen(host) + bytes, false);
	r->boot_bytes = (uint32_t)strlen(boot);
	r->host_bytes = (uint32_t)strlen(host);
	r->variables = n;
	r->variables_bytes = (uint32_t)bytes;
	char *p = mempcpy(r + 1, boot, r->boot_bytes);
	memcpy(mempcpy(p, host, r->host_bytes), variables, bytes);
	return r;
}

struct sw_rec_notice *tb_notice(struct tb *tb, const char *text)
{
	size_t n = strlen(text);
	struct sw_rec_notice *r = tb_add(tb, SW_REC_NOTICE, sizeof *r + n, true);
	r->text_bytes = (uint32_t)n;
	memcpy(r + 1, text, n);
	return r;
}

struct sw_rec_clock *tb_clock(struct tb *tb, uint64_t monotonic_ns)
{
	struct sw_rec_clock *r = tb_add(tb, SW_REC_CLOCK, sizeof *r, false);
	r->monotonic_ns = monotonic_ns;
	return r;
}

struct sw_rec_gpu_clock *tb_gpu_clock(struct tb *tb, uint64_t gpu_ns, uint64_t lost)
{
	struct sw_rec_gpu_clock *r = tb_add(tb, SW_REC_GPU_CLOCK, sizeof *r, true);
	r->gpu_ns = gpu_ns;
	r->lost = lost;
	return r;
}

struct sw_rec_activity *tb_activity(struct tb *tb, enum sw_activity what, uint32_t correlation, uint64_t start,
				    uint64_t end)
{
	struct sw_rec_activity *r = tb_add(tb, SW_REC_ACTIVITY, sizeof *r, true);
	r->what = (uint16_t)what;
	r->correlation = correlation;
	r->start = start;
	r->end = end;
	tb->header.flags |= SW_FILE_GPU;
	return r;
}

struct sw_rec_collective *tb_collective(struct tb *tb, enum sw_collective_op op, uint64_t number, uint64_t count,
					uint64_t stream)
{
	struct sw_rec_collective *r = tb_add(tb, SW_REC_COLLECTIVE, sizeof *r, true);
	r->h.flags = SW_RF_BEGIN;
	r->communicator = 1;
	r->number = number;
	r->count = count;
	r->stream = stream;
	r->handle = 0xcc;
	r->op = op;
	r->type = 7;
	r->root = -1;
	r->size = 2;
	return r;
}
