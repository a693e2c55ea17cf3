/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over every file of its corpus, and over what small damage makes of each: cut short in many places,
 * bytes flipped.  No fuzzer is needed; make check runs it under the sanitizers.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define VARIANTS 64

/* A copy of exactly `n` bytes on the heap, so that the sanitizer sees reads after it. */
static void run_copy(const uint8_t *data, size_t n, size_t flip)
{
	uint8_t *copy = malloc(n ? n : 1);
	if (!copy)
		abort();
	memcpy(copy, data, n);
	if (flip < n)
		copy[flip] ^= (uint8_t)(1u << (flip % 8)) | 0x80;
	LLVMFuzzerTestOneInput(copy, n);
	free(copy);
}

static void run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	static uint8_t data[1 << 20];
	size_t n = f ? fread(data, 1, sizeof data, f) : 0;
	if (!f) {
		perror(path);
		exit(1);
	}
	fclose(f);
	run_copy(data, n, SIZE_MAX);
	for (size_t i = 0; i < VARIANTS; i++) {
		run_copy(data, n * i / VARIANTS, SIZE_MAX);
		/* Headers matter most: half of the flips fall into the first 512 bytes. */
		run_copy(data, n, i % 2 ? n * i / VARIANTS : i * 8);
	}
}

int main(int argc, char **argv)
{
	size_t files = 0;
	struct dirent *e;
	DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
	if (!dir) {
		fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
		return 2;
	}
	while ((e = readdir(dir))) {
		char path[4096];
		if (*e->d_name == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
		run_file(path);
		files++;
	}
	closedir(dir);
	printf("%zu files\n", files);
	return files ? 0 : 1; /* an empty corpus tests nothing */
}
