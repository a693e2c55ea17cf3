/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the kernels of images, for scripts to compare:
 *
 *     image_list [--arch N] FILE     name, bytes of the block, offset:bytes of each parameter, signature (* pointer,
 *                                    c pointer to const, v value, ? unknown, - the name has no types)
 *     image_list --all FILE          one line of counts: every entry of every fatbin extracted and walked, every
 * signature compared with the layout and with the demangler; FILE may be a program or library, its .nv_fatbin section
 * is taken
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "demangled.h"
#include "image/image.h"

static int print_kernel(void *arg, const struct sw_cubin_kernel *k)
{
	enum sw_signature sig[64];
	size_t n = sw_signature_of(k->name, sig, 64);
	(void)arg;
	printf("%s bytes=%u ", k->name, k->param_bytes);
	for (uint32_t i = 0; i < k->params; i++)
		printf("%s%u:%u", i ? "," : "", k->param[i].offset, k->param[i].bytes);
	printf(" ");
	for (size_t i = 0; i < n && i < 64; i++)
		putchar("v*c?"[sig[i]]);
	puts(n ? "" : "-");
	return 0;
}

struct counts {
	uint64_t entries, cubins, ptx, unreadable, kernels, params, signatures, demangled;
	struct sw_error *error;
};

static int count_kernel(void *arg, const struct sw_cubin_kernel *k)
{
	struct counts *c = arg;
	enum sw_signature sig[256];
	size_t n = sw_signature_of(k->name, sig, 256);
	c->kernels++;
	c->params += k->params;
	if (n && n != k->params) {
		fprintf(stderr, "%s: %u parameters in the image, %zu in the name\n", k->name, k->params, n);
		return 1;
	}
	c->signatures += n != 0;
	char want[256];
	if (!n || demangled_signature(k->name, want, sizeof want) != n)
		return 0; /* a name that the demangler of this system cannot read */
	c->demangled++;
	for (size_t i = 0; i < n; i++) {
		if ((want[i] == 'c') == (sig[i] == SW_SIG_POINTER_CONST) &&
		    (want[i] == '*') == (sig[i] == SW_SIG_POINTER))
			continue;
		fprintf(stderr, "%s: parameter %zu: '%c' here, '%c' by the demangler\n", k->name, i, "v*c?"[sig[i]],
			want[i]);
		return 1;
	}
	return 0;
}

static int count_entry(void *arg, const struct sw_fatbin_entry *e)
{
	struct counts *c = arg;
	void *content;
	size_t bytes;
	c->entries++;
	if (e->kind != SW_IMAGE_ELF && e->kind != SW_IMAGE_PTX) {
		c->unreadable++;
		return 0;
	}
	int rc = sw_fatbin_extract(e, &content, &bytes, c->error);
	if (rc)
		return rc;
	c->cubins += e->kind == SW_IMAGE_ELF;
	c->ptx += e->kind == SW_IMAGE_PTX;
	rc = e->kind == SW_IMAGE_ELF ? sw_cubin_walk(content, bytes, NULL, count_kernel, c, c->error)
				     : sw_ptx_walk(content, bytes, count_kernel, c, c->error);
	free(content);
	return rc;
}

/* The section .nv_fatbin of a host ELF file, else the whole file. */
static void find_fatbin(const unsigned char **bytes, size_t *size)
{
	const Elf64_Ehdr *h = (const void *)*bytes;
	if (*size < sizeof *h || memcmp(*bytes, ELFMAG, SELFMAG) || h->e_machine == 190)
		return;
	const Elf64_Shdr *s = (const void *)(*bytes + h->e_shoff);
	const char *names = (const char *)*bytes + s[h->e_shstrndx].sh_offset;
	for (int i = 0; i < h->e_shnum; i++)
		if (!strcmp(names + s[i].sh_name, ".nv_fatbin")) {
			*size = s[i].sh_size;
			*bytes += s[i].sh_offset;
			return;
		}
}

int main(int argc, char **argv)
{
	bool all = argc == 3 && !strcmp(argv[1], "--all"), arch = argc == 4 && !strcmp(argv[1], "--arch");
	struct sw_error error = {0};
	struct stat st;
	if (argc != 2 && !all && !arch)
		return 2;
	int fd = open(argv[argc - 1], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		perror(argv[argc - 1]);
		return 2;
	}
	const unsigned char *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	size_t size = (size_t)st.st_size;
	if (bytes == MAP_FAILED)
		return 2;
	int rc;
	if (all) {
		struct counts c = {.error = &error};
		find_fatbin(&bytes, &size);
		rc = sw_fatbin_walk(bytes, size, count_entry, &c, &error);
		printf("entries=%" PRIu64 " cubins=%" PRIu64 " ptx=%" PRIu64 " other=%" PRIu64 " kernels=%" PRIu64
		       " params=%" PRIu64 " signatures=%" PRIu64 " compared=%" PRIu64 "\n",
		       c.entries, c.cubins, c.ptx, c.unreadable, c.kernels, c.params, c.signatures, c.demangled);
	} else {
		rc = sw_image_kernels(bytes, size, arch ? (uint32_t)atoi(argv[2]) : 0, print_kernel, NULL, &error);
	}
	if (rc)
		fprintf(stderr, "%s: %s\n", argv[argc - 1], error.text);
	return rc != 0;
}
