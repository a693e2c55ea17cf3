/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/memory/contents.h"

#include <stdlib.h>
#include <string.h>

/* Tables have up to 4 KiB each; when there are more all are forgotten, which only leaves launches unjudged. */
#define MOST_BYTES (8u << 20)

struct sw_memory_contents *sw_contents_new(void)
{
	return sw_calloc(1, sizeof(struct sw_memory_contents));
}

void sw_contents_free(struct sw_memory_contents *contents)
{
	sw_contents_forget(contents, 0, UINT64_MAX, UINT64_MAX);
	free(contents->part.at);
	free(contents);
}

/* Index of the first part that ends after the address. */
static size_t first_after(const struct sw_memory_contents *c, uint64_t address)
{
	size_t lo = 0, hi = c->part.n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (c->part.at[mid].address + c->part.at[mid].bytes <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void sw_contents_forget(struct sw_memory_contents *c, uint64_t lo, uint64_t hi, uint64_t step)
{
	size_t from = first_after(c, lo), kept = from, i = from;
	for (; i < c->part.n && c->part.at[i].address < hi; i++) {
		if (c->part.at[i].step >= step) {
			c->part.at[kept++] = c->part.at[i];
			continue;
		}
		c->bytes -= c->part.at[i].bytes;
		free(c->part.at[i].data);
	}
	if (kept == i)
		return;
	memmove(c->part.at + kept, c->part.at + i, (c->part.n - i) * sizeof *c->part.at);
	c->part.n -= i - kept;
}

void sw_contents_put(struct sw_memory_contents *c, const struct sw_content_part *part)
{
	if (!part->bytes || part->address > UINT64_MAX - part->bytes)
		return;
	if (c->bytes > MOST_BYTES)
		sw_contents_forget(c, 0, UINT64_MAX, UINT64_MAX);
	sw_contents_forget(c, part->address, part->address + part->bytes, UINT64_MAX);
	size_t at = first_after(c, part->address);
	sw_vec_push(&c->part);
	memmove(c->part.at + at + 1, c->part.at + at, (c->part.n - 1 - at) * sizeof *c->part.at);
	c->part.at[at] = *part;
	c->part.at[at].data = sw_alloc(part->bytes);
	memcpy(c->part.at[at].data, part->data, part->bytes);
	c->bytes += part->bytes;
}

const struct sw_content_part *sw_contents_find(const struct sw_memory_contents *c, uint64_t address, uint32_t bytes)
{
	size_t i = first_after(c, address);
	if (i == c->part.n || c->part.at[i].address > address)
		return NULL;
	uint64_t offset = address - c->part.at[i].address;
	return c->part.at[i].bytes - offset >= bytes ? &c->part.at[i] : NULL;
}

bool sw_contents_before(const struct sw_memory_contents *c, uint64_t lo, uint64_t hi, uint64_t step)
{
	for (size_t i = first_after(c, lo); i < c->part.n && c->part.at[i].address < hi; i++)
		if (c->part.at[i].step < step)
			return true;
	return false;
}

const struct sw_content_part *sw_contents_from(const struct sw_memory_contents *c, uint64_t address)
{
	size_t i = first_after(c, address);
	return i < c->part.n ? &c->part.at[i] : NULL;
}
