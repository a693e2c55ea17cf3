/* SPDX-License-Identifier: Apache-2.0 */
/* A program that calls CUDA from deep inside of large libraries, from many places, and unpacks code onto its heap. */
#include "bench/loads.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "code_files.h"
#include "image/image.h"

#define BASE	   0x550000000000ull
#define APART	   (1ull << 36)
#define DEPTH	   40
#define SITES	   64
#define JIT_IMAGES 25
#define JIT_BYTES  (2u << 20)

struct library {
	uint64_t base, text, text_bytes;
};

static void die(const char *path)
{
	perror(path);
	exit(1);
}

static const void *map(const char *path, size_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st))
		die(path);
	void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		die(path);
	close(fd);
	*bytes = (size_t)st.st_size;
	return at;
}

static void take_note(struct sw_rec_module *module, const unsigned char *at, uint64_t bytes)
{
	Elf64_Nhdr note;
	for (uint64_t i = 0; i + sizeof note < bytes;) {
		memcpy(&note, at + i, sizeof note);
		if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz == 20)
			memcpy(module + 1, at + i + sizeof note + 4, 20);
		i += sizeof note + ((note.n_namesz + 3) & ~3u) + ((note.n_descsz + 3) & ~3u);
	}
}

static struct library add_library(struct tb *tb, const char *path, unsigned number)
{
	size_t bytes;
	const unsigned char *at = map(path, &bytes);
	const Elf64_Ehdr *head = (const void *)at;
	const Elf64_Phdr *segment = (const void *)(at + head->e_phoff);
	struct library l = {.base = BASE + number * APART};
	struct sw_rec_module *module = tb_module(tb, l.base, l.base + APART, path);
	for (unsigned i = 0; i < head->e_phnum; i++) {
		if (segment[i].p_type == PT_LOAD && segment[i].p_flags & PF_X) {
			l.text = segment[i].p_vaddr;
			l.text_bytes = segment[i].p_filesz;
		}
		if (segment[i].p_type == PT_NOTE)
			take_note(module, at + segment[i].p_offset, segment[i].p_filesz);
	}
	munmap((void *)(uintptr_t)at, bytes);
	return l;
}

static void add_stack(struct tb *tb, const struct library *library, unsigned n, unsigned seed)
{
	uint64_t ip[DEPTH], x = seed;
	for (unsigned i = 0; i < DEPTH; i++) {
		x = (x + 1) * 6364136223846793005ull;
		const struct library *l = &library[(x >> 40) % n];
		ip[i] = l->base + l->text + (x >> 20) % l->text_bytes;
	}
	tb_stack(tb, DEPTH, ip[0], ip[1], ip[2], ip[3], ip[4], ip[5], ip[6], ip[7], ip[8], ip[9], ip[10], ip[11],
		 ip[12], ip[13], ip[14], ip[15], ip[16], ip[17], ip[18], ip[19], ip[20], ip[21], ip[22], ip[23], ip[24],
		 ip[25], ip[26], ip[27], ip[28], ip[29], ip[30], ip[31], ip[32], ip[33], ip[34], ip[35], ip[36], ip[37],
		 ip[38], ip[39]);
}

static void add_images(struct tb *tb)
{
	unsigned char *bytes = sw_calloc(1, JIT_BYTES);
	for (unsigned i = 0; i < JIT_IMAGES; i++) {
		for (unsigned k = 0; k < JIT_BYTES; k++)
			bytes[k] = (unsigned char)((i + 1) * 2654435761u >> (k % 24));
		tb_image(tb, SW_IMAGE_ELF, NULL, bytes, JIT_BYTES);
	}
	free(bytes);
}

/* ---- kernels of libraries ------------------------------------------------------------------------------------ */

struct picking {
	struct tb *tb;
	SW_VEC(uint32_t) functions;
	SW_VEC(uint32_t) bytes; /* of their parameters */
	unsigned seen, every;
};

static int pick_kernel(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct picking *p = arg;
	size_t name = strlen(kernel->name);
	uint32_t id = p->tb->functions + 1;
	if (p->seen++ % p->every || kernel->param_bytes > 4096)
		return 0;
	p->tb->functions = id;
	struct sw_rec_function *r =
		tb_add(p->tb, SW_REC_FUNCTION, sizeof *r + kernel->params * sizeof *kernel->param + name, true);
	r->id = id;
	r->image = p->tb->image;
	r->handle = 0x6000u + id;
	r->flags = SW_FUNCTION_KERNEL;
	r->params = (uint16_t)kernel->params;
	r->name_bytes = (uint16_t)name;
	if (kernel->params)
		memcpy(r + 1, kernel->param, kernel->params * sizeof *kernel->param);
	memcpy((char *)(r + 1) + kernel->params * sizeof *kernel->param, kernel->name, name);
	*sw_vec_push(&p->functions) = id;
	*sw_vec_push(&p->bytes) = kernel->param_bytes;
	return 0;
}

static uint32_t add_image_in(struct tb *tb, const char *path, uint64_t offset, uint64_t bytes)
{
	size_t length = strlen(path);
	struct sw_rec_image *r = tb_add(tb, SW_REC_IMAGE, sizeof *r + length, true);
	r->id = ++tb->images;
	r->kind = SW_IMAGE_FATBIN;
	r->handle = 0x7000u + r->id;
	r->bytes = bytes;
	r->file_offset = offset;
	r->path_bytes = (uint32_t)length;
	memcpy(r + 1, path, length);
	return tb->images;
}

static void pick_kernels(struct picking *p, const char *path)
{
	struct sw_code_file file;
	struct sw_error error;
	if (sw_code_file_open(path, &file, &error)) {
		fprintf(stderr, "%s\n", error.text);
		exit(1);
	}
	for (size_t i = 0; i < file.images.n; i++) {
		const struct sw_code_image *image = &file.images.at[i];
		p->tb->image = add_image_in(p->tb, path, image->offset, image->n);
		sw_image_kernels(image->bytes, image->n, 90, pick_kernel, p, NULL);
	}
	sw_code_file_close(&file);
}

void load_kernels(struct tb *tb, uint64_t launches, char **paths, unsigned n)
{
	struct picking p = {.tb = tb, .every = 20};
	uint64_t block[512], state = 1;
	tb_stream_create(tb, 0x1000, 1);
	tb_alloc(tb, SW_MEM_DEVICE, 0x7f0000000000ull, 1u << 30);
	for (unsigned i = 0; i < n; i++) {
		add_library(tb, paths[i], i);
		pick_kernels(&p, paths[i]);
	}
	for (uint64_t i = 0; i < launches && p.functions.n; i++) {
		size_t k = i % p.functions.n;
		for (unsigned w = 0; w < 512; w++) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			block[w] = w % 2 ? 32 + (state >> 58) : 0x7f0000000000ull + (state >> 36) * 4;
		}
		struct sw_rec_launch *r = tb_launch_block(tb, p.functions.at[k], 0x1000, block, p.bytes.at[k]);
		r->grid[0] = 64;
		r->block[0] = 128;
	}
	fprintf(stderr, "%zu kernels\n", p.functions.n);
	free(p.functions.at);
	free(p.bytes.at);
}

void load_libraries(struct tb *tb, uint64_t launches, char **paths, unsigned n)
{
	struct library *library = sw_calloc(n, sizeof *library);
	for (unsigned i = 0; i < n; i++)
		library[i] = add_library(tb, paths[i], i);
	add_images(tb);
	uint32_t f = tb_function(tb, "_Z3addPfPKfS1_", 3, 8, 8, 8);
	for (unsigned i = 0; i < 4; i++)
		tb_stream_create(tb, 0x1000 + i * 16, 1);
	tb_alloc(tb, SW_MEM_PINNED, 0x7e0000000000ull, 1 << 20);
	tb_alloc(tb, SW_MEM_DEVICE, 0x7f0000000000ull, 1 << 30);
	for (uint64_t i = 0; i < launches; i++) {
		uint64_t out = 0x7f0000000000ull + (i % 64 << 22);
		add_stack(tb, library, n, (unsigned)(i % 1000));
		tb_launch(tb, f, 0x1000 + i % 4 * 16, 3, out, out + (1 << 20), out + (2 << 20));
		if (i % 100 == 99) {
			unsigned site = (unsigned)(i / 100 % SITES);
			add_stack(tb, library, n, 5000 + site);
			tb->dur = 200000;
			if (site % 3 == 0)
				tb_copy_sync(tb, 0x7e0000000000ull, SW_SIDE_HOST, out, SW_SIDE_DEVICE, 64);
			else if (site % 3 == 1)
				tb_sync(tb, SW_SYNC_STREAM, 0x1000);
			else
				tb_sync(tb, SW_SYNC_CONTEXT, 0);
			tb->dur = 100;
		}
	}
	free(library);
}
