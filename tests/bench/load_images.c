/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads modules from memory that is in no file, as libraries do that unpack their code: what recording their content
 * adds to the loads.  Each image is a fatbin of one cubin with bytes of its own at the end.
 *
 * usage: load_images CUBIN [COUNT [BYTES [GAP_US]]]   GAP_US: the program works so long before each load
 * Output: milliseconds that the loads took, the longest one
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda.h>

#define HEADER 16u
#define ENTRY  64u

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static unsigned char *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	unsigned char *content = malloc(1u << 20);
	if (!file || !content) {
		perror(path);
		exit(2);
	}
	*bytes = fread(content, 1, 1u << 20, file);
	fclose(file);
	return content;
}

/* A fatbin of one uncompressed cubin, and after it bytes that no other image has. */
static unsigned char *make_image(const unsigned char *cubin, size_t cubin_bytes, size_t bytes, uint64_t seed)
{
	const uint64_t payload = ((bytes > cubin_bytes ? bytes : cubin_bytes) + 7) & ~7ull, all = ENTRY + payload;
	const uint32_t magic = 0xba55ed50, header = ENTRY, arch = 90;
	const uint16_t version = 1, head = HEADER, kind = 2;
	unsigned char *image = calloc(1, HEADER + all);
	if (!image)
		exit(2);
	memcpy(image, &magic, 4);
	memcpy(image + 4, &version, 2);
	memcpy(image + 6, &head, 2);
	memcpy(image + 8, &all, 8);
	memcpy(image + HEADER, &kind, 2);
	memcpy(image + HEADER + 4, &header, 4);
	memcpy(image + HEADER + 8, &payload, 8);
	memcpy(image + HEADER + 28, &arch, 4);
	memcpy(image + HEADER + ENTRY, cubin, cubin_bytes);
	for (size_t at = (cubin_bytes + 7) & ~(size_t)7; at + 8 <= payload; at += 8) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		memcpy(image + HEADER + ENTRY + at, &seed, 8);
	}
	return image;
}

static void check(CUresult result, const char *what)
{
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "%s: error %d\n", what, (int)result);
	exit(2);
}

int main(int argc, char **argv)
{
	const unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 60;
	const size_t bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : 440u << 10;
	const double gap_ms = argc > 4 ? atof(argv[4]) / 1e3 : 0;
	double all = 0, longest = 0;
	size_t cubin_bytes;
	CUdevice device;
	CUcontext context;
	if (argc < 2) {
		fprintf(stderr, "usage: load_images CUBIN [COUNT [BYTES [GAP_US]]]\n");
		return 2;
	}
	unsigned char *cubin = read_file(argv[1], &cubin_bytes);
	check(cuInit(0), "cuInit");
	check(cuDeviceGet(&device, 0), "cuDeviceGet");
	check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
	check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	unsigned char **image = calloc(count, sizeof *image);
	for (unsigned i = 0; i < count; i++)
		image[i] = make_image(cubin, cubin_bytes, bytes, i + 1);
	for (unsigned i = 0; i < count; i++) {
		CUmodule module;
		for (const double until = now_ms() + gap_ms; now_ms() < until;)
			;
		const double from = now_ms();
		check(cuModuleLoadData(&module, image[i]), "cuModuleLoadData");
		const double took = now_ms() - from;
		all += took;
		longest = took > longest ? took : longest;
	}
	printf("%.3f ms for %u loads of %zu bytes, the longest %.3f ms\n", all, count, bytes, longest);
	return 0;
}
