/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_probe.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/memory.h"

/* The mapped file; every offset in it is checked, as it may be any file. */
struct image {
	const unsigned char *bytes;
	size_t size;
};

/* So many bytes at this offset; NULL: the file ends before. */
static const void *image_range(const struct image *image, uint64_t offset, uint64_t bytes)
{
	if (offset > image->size || bytes > image->size - offset)
		return NULL;
	return image->bytes + offset;
}

/* The string at this offset of a table of strings; "" if it lies outside. */
static const char *image_string(const struct image *image, const Elf64_Shdr *table, uint64_t offset)
{
	if (offset >= table->sh_size || !image_range(image, table->sh_offset, table->sh_size))
		return "";
	const char *text = (const char *)image->bytes + table->sh_offset + offset;
	return memchr(text, 0, table->sh_size - offset) ? text : "";
}

/* Does the dynamic section name libcudart? */
static bool needs_cudart(const struct image *image, const Elf64_Shdr *sections, const Elf64_Shdr *dynamic, unsigned n)
{
	const Elf64_Dyn *entry = image_range(image, dynamic->sh_offset, dynamic->sh_size);
	if (!entry || dynamic->sh_link >= n || dynamic->sh_offset % 8)
		return false;
	for (size_t i = 0; i < dynamic->sh_size / sizeof *entry; i++)
		if (entry[i].d_tag == DT_NEEDED &&
		    strncmp(image_string(image, &sections[dynamic->sh_link], entry[i].d_un.d_val), "libcudart.so",
			    12) == 0)
			return true;
	return false;
}

/* Is it an executable with code for devices that needs no libcudart: is the runtime linked into it? */
static bool probe_image(const struct image *image)
{
	const Elf64_Ehdr *header = image_range(image, 0, sizeof *header);
	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	unsigned n = header->e_shnum;
	const Elf64_Shdr *sections = image_range(image, header->e_shoff, (uint64_t)n * sizeof *sections);
	if (!sections || header->e_shentsize != sizeof *sections || header->e_shstrndx >= n || header->e_shoff % 8)
		return false;
	bool device_code = false;
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(image_string(image, &sections[header->e_shstrndx], sections[i].sh_name), ".nv_fatbin") == 0)
			device_code = true;
		if (sections[i].sh_type == SHT_DYNAMIC && needs_cudart(image, sections, &sections[i], n))
			return false;
	}
	return device_code;
}

/* Maps a regular file; false: it cannot be had. */
static bool open_image(const char *path, struct image *image, struct stat *s)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	void *map = MAP_FAILED;
	if (fd < 0)
		return false;
	if (fstat(fd, s) == 0 && S_ISREG(s->st_mode) && s->st_size > 0)
		map = mmap(NULL, (size_t)s->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	*image = (struct image){.bytes = map, .size = (size_t)s->st_size};
	return map != MAP_FAILED;
}

/* Unmaps the file. */
static void close_image(const struct image *image)
{
	munmap((void *)image->bytes, image->size);
}

/* Has the program the CUDA runtime linked into it? */
bool sw_elf_static_cudart(const char *path)
{
	struct stat s;
	struct image image;
	if (!open_image(path, &image, &s))
		return false;
	const bool result = probe_image(&image);
	close_image(&image);
	return result;
}

/* Puts the interpreter of a script, from its line "#!/bin/sh -e", into `out`; false: it has none. */
static bool script_interpreter(const struct image *image, char *out, size_t room)
{
	if (image->size < 4 || memcmp(image->bytes, "#!", 2) != 0)
		return false;
	const char *at = (const char *)image->bytes + 2, *end = (const char *)image->bytes + image->size;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	size_t n = 0;
	while (at + n < end && n + 1 < room && !strchr(" \t\n", at[n]))
		n++;
	memcpy(out, at, n);
	out[n] = 0;
	return n > 0;
}

/* How the program is linked. */
static enum sw_elf_kind kind_of(const struct image *image)
{
	const Elf64_Ehdr *header = image_range(image, 0, sizeof *header);
	if (image->size < EI_NIDENT || memcmp(image->bytes, ELFMAG, SELFMAG) != 0)
		return SW_ELF_UNKNOWN;
	if (image->bytes[EI_CLASS] != ELFCLASS64)
		return SW_ELF_FOREIGN;
	const Elf64_Phdr *segments =
		header ? image_range(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof *segments) : NULL;
	if (!segments || header->e_phentsize != sizeof *segments || header->e_phoff % 8)
		return SW_ELF_UNKNOWN;
	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_INTERP)
			return SW_ELF_DYNAMIC;
	return SW_ELF_STATIC;
}

/* How the program of this path is linked; of a script, its interpreter. */
enum sw_elf_kind sw_elf_kind(const char *path)
{
	char name[PATH_MAX];
	snprintf(name, sizeof name, "%s", path);
	for (int depth = 0; depth < 4; depth++) {
		struct stat s;
		struct image image;
		if (!open_image(name, &image, &s))
			return SW_ELF_UNKNOWN;
		const bool script = script_interpreter(&image, name, sizeof name);
		enum sw_elf_kind kind = script ? SW_ELF_UNKNOWN : kind_of(&image);
		close_image(&image);
		/* For scripts neither counts. */
		if (!script && (s.st_mode & (S_ISUID | S_ISGID) || getxattr(name, "security.capability", NULL, 0) > 0))
			kind = SW_ELF_PRIVILEGED;
		if (!script)
			return kind;
	}
	return SW_ELF_UNKNOWN;
}

/* The path of a program as execvp() finds it, malloc'ed; NULL: not in PATH. */
char *sw_elf_find_program(const char *name)
{
	if (strchr(name, '/'))
		return sw_strdup(name);
	const char *path = getenv("PATH");
	for (const char *p = path ? path : "/bin:/usr/bin"; *p;) {
		size_t length = strcspn(p, ":");
		char *file = sw_format("%.*s/%s", length ? (int)length : 1, length ? p : ".", name);
		if (access(file, X_OK) == 0)
			return file;
		free(file);
		p += length;
		p += *p == ':';
	}
	return NULL;
}

/* Is it an ELF file? */
bool sw_elf_is(const char *path)
{
	struct stat s;
	struct image image;
	if (!open_image(path, &image, &s))
		return false;
	const bool elf = image.size >= EI_NIDENT && memcmp(image.bytes, ELFMAG, SELFMAG) == 0;
	close_image(&image);
	return elf;
}

/* The processor that the program is for; NULL: unknown. */
static const char *machine_of(const struct image *image)
{
	static const struct {
		uint16_t machine;
		const char *name;
	} machines[] = {{EM_X86_64, "x86-64"}, {EM_AARCH64, "aarch64"}, {EM_386, "x86"},
			{EM_PPC64, "ppc64"},   {EM_RISCV, "RISC-V"},	{EM_ARM, "32-bit ARM"}};
	const Elf64_Ehdr *header = image_range(image, 0, offsetof(Elf64_Ehdr, e_version));
	for (size_t i = 0; header && i < sizeof machines / sizeof *machines; i++)
		if (machines[i].machine == header->e_machine)
			return machines[i].name;
	return "another machine";
}

/* The path of the image's loader, "" none. */
static const char *loader_of(const struct image *image)
{
	const Elf64_Ehdr *header = image_range(image, 0, sizeof *header);
	const Elf64_Phdr *segments =
		header ? image_range(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof *segments) : NULL;
	for (unsigned i = 0; segments && header->e_phoff % 8 == 0 && i < header->e_phnum; i++) {
		const char *name = segments[i].p_type == PT_INTERP
					   ? image_range(image, segments[i].p_offset, segments[i].p_filesz)
					   : NULL;
		if (name && segments[i].p_filesz && !name[segments[i].p_filesz - 1])
			return name;
	}
	return "";
}

/* Does the program use the C library musl, for which a preloaded object of glibc is none? */
bool sw_elf_needs_musl(const char *path)
{
	struct stat s;
	struct image image;
	if (!open_image(path, &image, &s))
		return false;
	const char *slash = strrchr(loader_of(&image), '/');
	const bool musl = slash && strncmp(slash, "/ld-musl-", strlen("/ld-musl-")) == 0;
	close_image(&image);
	return musl;
}

/* Says how to run a file that is not executable, with its interpreter where that is known: "try 'python3 train.py', or
   chmod +x"; malloc'ed. */
static char *with_interpreter(const char *name, const char *from_file)
{
	const char *dot = strrchr(name, '.');
	const char *by = dot && !strcmp(dot, ".py")   ? "python3"
			 : dot && !strcmp(dot, ".sh") ? "sh"
			 : *from_file		      ? from_file
						      : NULL;
	return by ? sw_format("it is not executable: try '%s %s', or chmod +x", by, name)
		  : sw_strdup("it is not executable: chmod +x");
}

/* Why the program could not be started, malloc'ed; NULL: unknown. */
static char *why_not(const char *name, int error, const struct image *image)
{
	char by[PATH_MAX] = "";
	const bool script = script_interpreter(image, by, sizeof by), elf = kind_of(image) != SW_ELF_UNKNOWN;
	switch (error) {
	case EACCES:
		return with_interpreter(name, by);
	case ENOENT:
		if (script)
			return sw_format("its interpreter '%s' is missing", by);
		return *loader_of(image) ? sw_format("its loader '%s' is missing", loader_of(image)) : NULL;
	case ELIBBAD:
		return sw_format("it was linked for musl ('%s'), and the recorder needs glibc", loader_of(image));
	case ENOEXEC:
		return elf ? sw_format("it is a program for %s, which this machine is not", machine_of(image)) : NULL;
	default:
		return NULL;
	}
}

/* Why execvp() of this name failed with this error, malloc'ed; NULL: unknown. */
char *sw_elf_why_not(const char *name, int error)
{
	struct stat s;
	struct image image;
	char *path = sw_elf_find_program(name), *why = NULL;
	if (!path || stat(path, &s))
		why = strchr(name, '/') || error != ENOENT ? NULL : sw_strdup("no program of this name is in PATH");
	else if (S_ISDIR(s.st_mode))
		why = sw_strdup("it is a folder");
	else if (open_image(path, &image, &s)) {
		why = why_not(name, error, &image);
		close_image(&image);
	}
	free(path);
	return why ? why : sw_strdup(strerror(error));
}
