/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole way of a kernel: PTX or a cubin of any bytes, its program, its footprint, a launch, directions and texts.
 * What the engine makes must pack and unpack.  The last bytes of the input are the launch.
 */
#include <stdlib.h>
#include <string.h>

#include "footprint/footprint.h"
#include "fuzz.h"
#include "image/image.h"

#define KERNELS	     4
#define LAUNCH_BYTES 64

struct code {
	const char *bytes;
	size_t size;
	struct sw_ptx_module *module; /* NULL: a cubin */
	struct sw_geometry geometry;
	unsigned kernels;
};

static uint64_t symbol(void *arg, const char *name)
{
	(void)arg;
	return name[0] ? 0x7f0000000000 : 0;
}

static void launch(const struct sw_footprint *f, const struct sw_geometry *geometry)
{
	char text[200];
	struct sw_reaches reaches = {0};
	sw_footprint_evaluate(f, geometry, &reaches);
	sw_footprint_directions(f, &reaches);
	for (uint32_t i = 0; i < f->sites && i < 20; i++) {
		sw_footprint_address_text(f, i, text, sizeof text);
		sw_footprint_facts_text(f, i, text, sizeof text);
	}
	free(reaches.at);
}

static void follow(const struct sw_program *program, enum sw_code_source source, const struct sw_geometry *geometry)
{
	struct sw_footprint *made = sw_footprint_build(program, source, 90), *kept;
	struct sw_error error;
	void *packed;
	size_t bytes;
	sw_footprint_pack(made, &packed, &bytes);
	if (sw_footprint_unpack(packed, bytes, &kept, &error))
		abort(); /* what the engine makes is a footprint */
	launch(kept, geometry);
	sw_footprint_free(kept);
	sw_footprint_free(made);
	free(packed);
}

static int each_kernel(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct code *code = arg;
	struct sw_program program = {0};
	struct sw_error error;
	int rc = code->module ? sw_ptx_read(code->module, kernel->name, &program, &error)
			      : sw_sass_read(code->bytes, code->size, kernel->name, &program, NULL, &error);
	if (!rc)
		follow(&program, code->module ? SW_SOURCE_PTX : SW_SOURCE_SASS, &code->geometry);
	sw_program_free(&program);
	return ++code->kernels == KERNELS;
}

/* A parameter block of words that are small numbers or addresses, as the last bytes of the input say. */
static void fill(unsigned char *block, size_t bytes, const unsigned char *launch)
{
	for (size_t i = 0; i + 8 <= bytes; i += 8) {
		uint64_t byte = launch[i / 8 % LAUNCH_BYTES];
		uint64_t word = byte & 1 ? 0x7f0000000000 + (byte << 20) : byte >> 1;
		memcpy(block + i, &word, 8);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char block[4096];
	unsigned char tail[LAUNCH_BYTES] = {0};
	struct sw_error error;
	memcpy(tail, size > sizeof tail ? data + size - sizeof tail : data, size < sizeof tail ? size : sizeof tail);
	fill(block, sizeof block, tail);
	struct code code = {.bytes = (const char *)data,
			    .size = size,
			    .geometry = {.grid = {1u + tail[0] * tail[1], 1u + tail[2] % 9, 1u + tail[3] % 3},
					 .block = {1u + tail[4], 1u + tail[5] % 4, 1},
					 .cluster = 1u + tail[6] % 8,
					 .shared_bytes = 1024u * tail[7],
					 .params = block,
					 .param_bytes = sizeof block,
					 .symbol = symbol}};
	if (sw_image_kind_of(data, size) == SW_IMAGE_ELF) {
		sw_cubin_walk(data, size, NULL, each_kernel, &code, &error);
	} else if (!sw_ptx_module_open(code.bytes, size, &code.module, &error)) {
		sw_ptx_walk(code.bytes, size, each_kernel, &code, &error);
		sw_ptx_module_close(code.module);
	}
	return 0;
}
