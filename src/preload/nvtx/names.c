/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts.  The handles of domains and registered strings are addresses of their names, in pages that are never freed: a
 * handle that the program uses after it destroyed it is still a valid address.
 */
#include <string.h>
#include <wchar.h>

#include "preload/platform/lock.h"
#include "preload/nvtx/nvtx.h"

#define STORE_BYTES (1u << 20) /* all of them together */

static struct {
	struct sw_lock lock;
	char *at; /* NULL: not mapped yet */
	uint32_t used;
} store;

/* ---- the program's texts ----------------------------------------------------------------------------------------- */

/* Not inside a character of UTF-8: its bytes but the first are 10xxxxxx. */
static uint32_t cut(const char *text, uint32_t bytes)
{
	if (bytes <= SW_NVTX_MAX_NAME)
		return bytes;
	for (bytes = SW_NVTX_MAX_NAME; bytes && (text[bytes] & 0xc0) == 0x80;)
		bytes--;
	return bytes;
}

void sw_nvtx_text(struct sw_nvtx_text *text, const char *ascii)
{
	text->bytes = ascii ? cut(ascii, (uint32_t)strnlen(ascii, SW_NVTX_MAX_NAME + 1)) : 0;
	text->at = text->bytes ? ascii : "";
}

static uint32_t encode(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | (c >> 18 & 7));
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

void sw_nvtx_wide_text(struct sw_nvtx_text *text, const wchar_t *wide)
{
	uint32_t n = 0;
	while (wide && *wide && n + 4 <= sizeof text->room)
		n += encode(text->room + n, (uint32_t)*wide++);
	text->at = text->room;
	text->bytes = n;
}

/* ---- handles ----------------------------------------------------------------------------------------------------- */

/* Is it one that we gave out?  A handle may be older than the recorder. */
static bool ours(const void *handle)
{
	const char *at = __atomic_load_n(&store.at, __ATOMIC_ACQUIRE), *p = handle;
	return at && p >= at && p < at + STORE_BYTES - sizeof(uint32_t) && !((uintptr_t)p & 7);
}

void sw_nvtx_message(struct sw_nvtx_text *text, int32_t type, const nvtxMessageValue_t *message)
{
	if (type == NVTX_MESSAGE_TYPE_ASCII)
		sw_nvtx_text(text, message->ascii);
	else if (type == NVTX_MESSAGE_TYPE_UNICODE)
		sw_nvtx_wide_text(text, message->unicode);
	else if (type == NVTX_MESSAGE_TYPE_REGISTERED && ours(message->registered))
		text->at = message->registered->name, text->bytes = message->registered->bytes;
	else
		sw_nvtx_text(text, NULL);
}

const char *sw_nvtx_domain(nvtxDomainHandle_t domain, uint32_t *bytes)
{
	*bytes = ours(domain) ? domain->bytes : 0;
	return *bytes ? domain->name : "";
}

static void *find(const struct sw_nvtx_text *text)
{
	for (uint32_t at = 0; at < store.used;) {
		nvtxStringHandle_t known = (void *)(store.at + at);
		if (known->bytes == text->bytes && !memcmp(known->name, text->at, text->bytes))
			return known;
		at += (uint32_t)(sizeof *known + known->bytes + 1 + 7) & ~7u;
	}
	return NULL;
}

/* The same name gets the same handle: programs register in loops. */
static void *keep(const struct sw_nvtx_text *text)
{
	void *found = NULL;
	int error;
	const uint32_t bytes = (uint32_t)(sizeof(uint32_t) + text->bytes + 1 + 7) & ~7u;
	uint64_t mask = sw_lock_enter(&store.lock);
	if (!store.at)
		__atomic_store_n(&store.at, sw_sys_map(-1, 0, STORE_BYTES, &error), __ATOMIC_RELEASE);
	if (store.at)
		found = find(text);
	if (!found && store.at && store.used + bytes <= STORE_BYTES) {
		nvtxStringHandle_t new = (void *)(store.at + store.used);
		memcpy(new->name, text->at, text->bytes);
		new->bytes = text->bytes;
		store.used += bytes;
		found = new;
	}
	sw_lock_leave(&store.lock, mask);
	return found;
}

nvtxDomainHandle_t sw_nvtx_domain_create(const struct sw_nvtx_text *name)
{
	return keep(name);
}

nvtxStringHandle_t sw_nvtx_string_create(const struct sw_nvtx_text *name)
{
	return keep(name);
}
