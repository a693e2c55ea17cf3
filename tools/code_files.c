/* SPDX-License-Identifier: Apache-2.0 */
#include "code_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "image/formats.h"
#include "image/image.h"

/* Maps the file. */
static int map_file(const char *path, struct sw_code_file *file, struct sw_error *error)
{
	struct stat s;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return sw_fail(error, -errno, "cannot open '%s': %s", path, strerror(errno));
	int rc = 0;
	if (fstat(fd, &s))
		rc = sw_fail(error, -errno, "cannot read '%s': %s", path, strerror(errno));
	else if (!S_ISREG(s.st_mode))
		rc = sw_fail(error, -EINVAL, "'%s' is not a plain file", path);
	else if (!s.st_size)
		rc = sw_fail(error, SW_E_FORMAT, "'%s' is empty", path);
	else if ((file->map = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
		rc = sw_fail(error, -errno, "cannot read '%s': %s", path, strerror(errno));
	else
		file->mapped = (size_t)s.st_size;
	close(fd);
	return rc;
}

/* Call-back of struct sw_footprint_image: its bytes, which are mapped. */
static const void *bytes_of(void *arg, size_t *size, struct sw_error *error)
{
	const struct sw_code_image *image = arg;
	(void)error;
	*size = image->n;
	return image->bytes;
}

/* Adds a piece of the file that holds code for devices. */
static void add_image(struct sw_code_file *file, size_t offset, size_t n)
{
	struct sw_code_image *image = sw_vec_push(&file->images);
	*image = (struct sw_code_image){.bytes = (const char *)file->map + offset, .n = n, .offset = offset};
	image->image = (struct sw_footprint_image){.id = offset + 1, .bytes = bytes_of};
}

/* Finds the fatbins in an executable or library.  Linkers align them to 8 bytes; where sections begin does not matter
   then. */
static void find_fatbins(struct sw_code_file *file)
{
	const unsigned char *map = file->map;
	uint32_t magic;
	for (size_t at = 0; at + 8 <= file->mapped;) {
		memcpy(&magic, map + at, sizeof magic);
		size_t n = magic == SW_FATBIN_MAGIC ? sw_fatbin_bytes(map + at, file->mapped - at) : 0;
		if (n)
			add_image(file, at, n);
		at = (at + (n ? n : 8) + 7) & ~(size_t)7;
	}
}

/* Is it an ELF file of the host's? */
static bool is_host_elf(const struct sw_code_file *file)
{
	return file->mapped > EI_NIDENT && !memcmp(file->map, ELFMAG, SELFMAG);
}

/* Opens a file and finds the code for devices in it: a cubin, PTX, a fatbin, or those in an executable. */
int sw_code_file_open(const char *path, struct sw_code_file *file, struct sw_error *error)
{
	*file = (struct sw_code_file){0};
	int rc = map_file(path, file, error);
	if (rc)
		return rc;
	switch (sw_image_kind_of(file->map, file->mapped)) {
	case SW_IMAGE_ELF:
	case SW_IMAGE_PTX:
	case SW_IMAGE_LTOIR:
	case SW_IMAGE_TILEIR:
		add_image(file, 0, file->mapped);
		break;
	case SW_IMAGE_FATBIN:
		find_fatbins(file);
		break;
	case SW_IMAGE_UNKNOWN:
		if (is_host_elf(file))
			find_fatbins(file);
		break;
	}
	/* Only now do the images stay where they are. */
	for (size_t i = 0; i < file->images.n; i++) {
		struct sw_code_image *image = &file->images.at[i];
		image->image.arg = image;
		image->image.hash = sw_hash_words(image->bytes, image->n);
	}
	if (file->images.n)
		return 0;
	bool elf = is_host_elf(file);
	sw_code_file_close(file);
	return sw_fail(error, SW_E_FORMAT,
		       elf ? "'%s' holds no CUDA code"
			   : "'%s' is neither a trace nor PTX, cubin, fatbin, program or library",
		       path);
}

/* Unmaps the file. */
void sw_code_file_close(struct sw_code_file *file)
{
	if (file->map)
		munmap(file->map, file->mapped);
	free(file->images.at);
	*file = (struct sw_code_file){0};
}
