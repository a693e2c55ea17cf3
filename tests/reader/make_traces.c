/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the traces that are committed as golden trace and as seeds of the fuzzer: make_traces NAME FILE. */
#include <stdio.h>
#include <string.h>

#include "reader/every_kind.h"
#include "reader/trace_builder.h"

static void ended(const char *path)
{
	tb_every_kind(path, true);
}

static void killed(const char *path)
{
	tb_every_kind(path, false);
}

static void many_writers(const char *path)
{
	struct tb *tb = tb_new(path, &(struct tb_options){.chunk_bytes = 4096});
	for (uint32_t i = 0; i < 60; i++) {
		tb_thread(tb, 1 + i % 3);
		tb_event_record(tb, 1, i);
	}
	tb_close(tb, false);
}

/* The smallest hazard: two streams write one buffer, nothing orders them; then the pair that is ordered. */
static void race(const char *path)
{
	struct tb *tb = tb_new(path, NULL);
	uint32_t f = tb_function(tb, "_Z4fillPf", 1, 8);
	tb_stream_create(tb, 0xa, 1);
	tb_stream_create(tb, 0xb, 1);
	tb_event_create(tb, 0xe);
	tb_alloc(tb, SW_MEM_DEVICE, 0x7f0000000000, 4096);
	tb_alloc(tb, SW_MEM_DEVICE, 0x7f0000001000, 4096);
	tb_stack(tb, 1, 0x401000ull);
	tb_launch(tb, f, 0xa, 1, 0x7f0000000000ull);
	tb_stack(tb, 1, 0x402000ull);
	tb_set(tb, 0x7f0000000000, 4096, 0xb);
	tb_stack(tb, 1, 0x403000ull);
	tb_launch(tb, f, 0xa, 1, 0x7f0000001000ull);
	tb_event_record(tb, 0xe, 0xa);
	tb_stream_wait(tb, 0xb, 0xe);
	tb_set(tb, 0x7f0000001000, 4096, 0xb);
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb_close(tb, true);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*write)(const char *path);
	} traces[] = {{"ended", ended}, {"killed", killed}, {"many-writers", many_writers}, {"race", race}};
	for (size_t i = 0; argc == 3 && i < sizeof traces / sizeof *traces; i++) {
		if (!strcmp(argv[1], traces[i].name)) {
			traces[i].write(argv[2]);
			return 0;
		}
	}
	fprintf(stderr, "usage: make_traces ended|killed|many-writers|race FILE\n");
	return 2;
}
