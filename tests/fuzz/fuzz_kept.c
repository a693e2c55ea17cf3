/* SPDX-License-Identifier: Apache-2.0 */
/* A trace of any bytes, whose first half a flight recorder drops: what it writes of it can be read to its end. */
#include "fuzz.h"
#include "memory_file.h"
#include "report/listing/listing.h"
#include "run/kept.h"

struct input {
	const uint8_t *data;
	size_t size;
	struct sw_file_header header;
};

static bool chunk_at(const struct input *in, uint64_t number, struct sw_chunk_header *h)
{
	const uint64_t at = in->header.header_bytes + number * in->header.chunk_bytes;
	if (at + sizeof *h > in->size)
		return false;
	memcpy(h, in->data + at, sizeof *h);
	return h->committed <= in->header.chunk_bytes - sizeof *h && at + sizeof *h + h->committed <= in->size;
}

static bool read_chunk(void *arg, uint64_t place, void *records, uint32_t *bytes, uint32_t room)
{
	const struct input *in = arg;
	struct sw_chunk_header h;
	if (!chunk_at(in, place, &h) || h.committed > room)
		return false;
	memcpy(records, in->data + in->header.header_bytes + place * in->header.chunk_bytes + sizeof h, h.committed);
	*bytes = h.committed;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {.data = data, .size = size};
	struct sw_chunk_header h;
	if (size < sizeof in.header)
		return 0;
	memcpy(&in.header, data, sizeof in.header);
	in.header.header_bytes = SW_FORMAT_HEADER_BYTES;
	in.header.chunk_bytes = 4096u << (in.header.chunk_bytes / 4096 % 7);
	const uint64_t chunks = (size - sizeof in.header + in.header.chunk_bytes - 1) / in.header.chunk_bytes;
	struct sw_kept *kept = sw_kept_new();
	struct sw_window_chunk *left = calloc(chunks + 1, sizeof *left);
	struct sw_window window = {.chunk = left, .read = read_chunk, .arg = &in, .running = size % 2};
	void *records = malloc(in.header.chunk_bytes);
	if (!left || !records)
		abort();
	for (uint64_t i = 0; i < chunks; i++) {
		uint32_t bytes;
		if (!chunk_at(&in, i, &h))
			continue;
		if (i >= chunks / 2)
			left[window.chunks++] = (struct sw_window_chunk){h.writer, h.index, i};
		else if (read_chunk(&in, i, records, &bytes, in.header.chunk_bytes))
			sw_kept_drop(kept, h.writer, records, bytes);
	}
	const int fd = memfd_create("kept", MFD_CLOEXEC);
	if (fd < 0 || sw_kept_write(kept, &in.header, &window, "what is left", fd))
		abort();
	sw_kept_free(kept);
	free(left);
	free(records);
	static FILE *nowhere;
	struct sw_error error;
	struct sw_reader *reader;
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (!nowhere && !(nowhere = fopen("/dev/null", "w")))
		abort();
	if (!sw_reader_open(path, &reader, &error)) {
		if (sw_dump(nowhere, reader, &(struct sw_dump_options){0}, &error))
			abort();
		sw_reader_close(reader);
	}
	close(fd);
	return 0;
}
