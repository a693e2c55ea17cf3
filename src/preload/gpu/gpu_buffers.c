/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers that CUPTI fills with time stamps. */
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/gpu/gpu.h"

/* CUPTI takes one for each thread that calls CUDA, and clears it on that thread: some thousand records. */
#define BUFFER_BYTES (512u << 10)
#define MOST	     256u /* 128 MiB */

/* Descriptions lie before the bytes that CUPTI sees. */
#define FRONT 64u
static_assert(sizeof(struct sw_gpu_buffer) <= FRONT, "and its bytes stay aligned");

static _Atomic(struct sw_gpu_buffer *) filled, spare;
static _Atomic uint32_t made;
static _Atomic uint64_t refused;

static void push_buffer(_Atomic(struct sw_gpu_buffer *) *list, struct sw_gpu_buffer *buffer)
{
	buffer->next = atomic_load(list);
	while (!atomic_compare_exchange_weak(list, &buffer->next, buffer))
		;
}

/* Takes the whole list and puts back what is too much: popping one alone could meet it pushed again meanwhile. */
static struct sw_gpu_buffer *pop_spare(void)
{
	struct sw_gpu_buffer *first = atomic_exchange(&spare, NULL), *next;

	for (struct sw_gpu_buffer *b = first ? first->next : NULL; b; b = next) {
		next = b->next;
		push_buffer(&spare, b);
	}
	return first;
}

void CUPTIAPI sw_gpu_buffer_wanted(uint8_t **buffer, size_t *size, size_t *records)
{
	struct sw_gpu_buffer *b = pop_spare();

	*buffer = NULL;
	*size = *records = 0;
	if (!b && atomic_fetch_add(&made, 1) < MOST) {
		b = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (b == MAP_FAILED)
			b = NULL;
	}
	if (!b) {
		atomic_fetch_add(&refused, 1);
		return;
	}
	*buffer = b->bytes = (uint8_t *)b + FRONT;
	*size = BUFFER_BYTES - FRONT;
}

void CUPTIAPI sw_gpu_buffer_done(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct sw_gpu_buffer *b;

	if (!buffer)
		return;
	b = (struct sw_gpu_buffer *)(void *)(buffer - FRONT);
	b->context = context;
	b->stream = stream;
	b->valid = valid < size ? valid : size;
	push_buffer(&filled, b);
}

void CUPTIAPI sw_gpu_shared_wanted(uint8_t **buffer, size_t *size, size_t *records, void *info)
{
	(void)info;
	sw_gpu_buffer_wanted(buffer, size, records);
}

void CUPTIAPI sw_gpu_shared_done(uint8_t *buffer, size_t size, size_t valid, void *info)
{
	(void)info;
	sw_gpu_buffer_done(NULL, 0, buffer, size, valid);
}

struct sw_gpu_buffer *sw_gpu_buffers_take(void)
{
	struct sw_gpu_buffer *list = atomic_exchange(&filled, NULL), *turned = NULL, *next;

	for (; list; list = next) {
		next = list->next;
		list->next = turned;
		turned = list;
	}
	return turned;
}

void sw_gpu_buffer_free(struct sw_gpu_buffer *buffer)
{
	memset(buffer->bytes, 0, BUFFER_BYTES - FRONT); /* the size that CUPTI was given */
	push_buffer(&spare, buffer);
}

uint64_t sw_gpu_buffers_refused(void)
{
	return atomic_load(&refused);
}
