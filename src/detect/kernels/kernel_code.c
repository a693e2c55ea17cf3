/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/kernels/kernel_code.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "detect/detect.h"
#include "image/image.h"

struct sw_code {
	struct sw_footprint_image image; /* first: this is what is given out */
	const void *data;		 /* in the trace; NULL: in the file */
	uint64_t bytes;			 /* 0: the rest of the file */
	const char *path;		 /* absolute; NULL: in the trace */
	const char *packed_why;		 /* why it was not packed; "" unknown */
	enum sw_pack_state state;	 /* of the file, once it was read */
	uint64_t lost;			 /* kernels that could not be analysed, as it is not WHOLE */
	uint64_t offset;
	const uint8_t
		*build_id; /* of the file as it was mapped; NULL: only its time of modification can show a change */
	uint32_t build_id_bytes;
	uint64_t content_hash; /* of the store of images; 0: it is not there */
	uint64_t loaded_ns;    /* CLOCK_REALTIME */
	void *map;
	size_t mapped;
};

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* Do `bytes` from `offset` on lie within a file or section of size `all`? */
static bool lies_within(uint64_t offset, uint64_t bytes, uint64_t all)
{
	return offset <= all && bytes <= all - offset;
}

/* Names and descriptions of ELF notes are padded to four bytes. */
static uint64_t padded_size(uint32_t bytes)
{
	return ((uint64_t)bytes + 3) & ~3ull;
}

/* The GNU build id among the ELF notes, which are untrusted; NULL: none. */
static const uint8_t *note_build_id(const uint8_t *notes, uint64_t bytes, uint32_t *id_bytes)
{
	Elf64_Nhdr note;
	for (uint64_t at = 0; lies_within(at, sizeof note, bytes);) {
		memcpy(&note, notes + at, sizeof note);
		uint64_t name = at + sizeof note, desc = name + padded_size(note.n_namesz);
		if (!lies_within(desc, note.n_descsz, bytes))
			return NULL;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
		    !memcmp(notes + name, "GNU", sizeof "GNU")) {
			*id_bytes = note.n_descsz;
			return notes + desc;
		}
		at = desc + padded_size(note.n_descsz);
	}
	return NULL;
}

const uint8_t *sw_code_build_id(const void *file, size_t bytes, uint32_t *id_bytes)
{
	const uint8_t *at = file, *found = NULL;
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	if (bytes < sizeof head)
		return NULL;
	memcpy(&head, at, sizeof head);
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof segment ||
	    !lies_within(head.e_phoff, (uint64_t)head.e_phnum * sizeof segment, bytes))
		return NULL;
	for (unsigned i = 0; i < head.e_phnum && !found; i++) {
		memcpy(&segment, at + head.e_phoff + i * sizeof segment, sizeof segment);
		if (segment.p_type == PT_NOTE && lies_within(segment.p_offset, segment.p_filesz, bytes))
			found = note_build_id(at + segment.p_offset, segment.p_filesz, id_bytes);
	}
	return found;
}

/* Opens the file of a code, or fails.  A trace can name anything: nothing but files is opened, since opening a device
   does something, and nobody waits for a pipe that came between. */
static int open_file(const struct sw_code *code, struct sw_error *error)
{
	struct stat st;
	if (stat(code->path, &st))
		return sw_fail(error, -errno, "unreadable: %s: %s", code->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return sw_fail(error, SW_E_FORMAT, "unreadable: %s is no file", code->path);
	int fd = open(code->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? sw_fail(error, -errno, "unreadable: %s: %s", code->path, strerror(errno)) : fd;
}

/* Is the file what was loaded?  Its build id says so; of an image in the store its hash (read_file); a file without
   either (a cubin by itself) by its age. */
static bool is_unchanged(const struct sw_code *code, const struct stat *st)
{
	uint32_t bytes = 0;
	if (code->content_hash)
		return code->bytes == (uint64_t)st->st_size;
	if (!code->build_id)
		return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec <= code->loaded_ns;
	const uint8_t *id = sw_code_build_id(code->map, code->mapped, &bytes);
	return id && bytes == code->build_id_bytes && !memcmp(id, code->build_id, bytes);
}

/* Maps the file that had the code when it was recorded, and checks that it is unchanged and holds the code; 0 or <0.
   All of it is mapped, which costs nothing but addresses, for its build id.  If it is truncated while we read, SIGBUS
   ends this process, as it would end a debugger: libraries in use are replaced by renaming. */
static int map_file(struct sw_code *code, int fd, struct sw_error *error)
{
	struct stat st;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return sw_fail(error, SW_E_FORMAT, "unreadable: %s is no file with content", code->path);
	void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return sw_fail(error, -errno, "unreadable: %s: %s", code->path, strerror(errno));
	code->map = map;
	code->mapped = (size_t)st.st_size;
	if (!is_unchanged(code, &st))
		return sw_fail(error, SW_E_FORMAT, "unreadable: %s is not the file that was loaded", code->path);
	if (!code->bytes && code->offset < code->mapped)
		code->bytes = code->mapped - code->offset;
	if (!code->bytes || code->bytes > SW_IMAGE_MAX_BYTES || !lies_within(code->offset, code->bytes, code->mapped))
		return sw_fail(error, SW_E_FORMAT, "unreadable: the code is said to lie outside %s", code->path);
	return 0;
}

/* Opens and maps the file of an image, and checks that it is the code that was loaded. */
static int read_file(struct sw_code *code, struct sw_error *error)
{
	int fd = open_file(code, error);
	if (fd < 0)
		return fd;
	int failed = map_file(code, fd, error);
	close(fd);
	const void *data = failed ? NULL : (const char *)code->map + code->offset;
	if (data && code->content_hash && sw_hash_content(data, code->bytes) != code->content_hash)
		return sw_fail(error, SW_E_FORMAT, "unreadable: %s is not the code that was loaded", code->path);
	code->data = data;
	return failed;
}

/* Call-back of struct sw_footprint_image: the bytes of the image, from the trace or else read from its file now.  NULL:
   `error` says why they cannot be had. */
static const void *bytes_of(void *arg, size_t *size, struct sw_error *error)
{
	struct sw_code *code = arg;
	if (!code->data && read_file(code, error)) {
		/* The fault that was seen where the trace was packed is the one to fix, and the same on every machine.
		 */
		if (*code->packed_why)
			sw_fail(error, code->state == SW_PACKED_CHANGED ? SW_E_FORMAT : -ENOENT, "%s",
				code->packed_why);
		code->state = error->code == SW_E_FORMAT ? SW_PACKED_CHANGED : SW_PACKED_MISSING;
		return NULL;
	}
	*size = code->bytes;
	return code->data;
}

/* Call-back of struct sw_footprint_image: releases the memory of mapped pages that were read.  Fatbins of half a
   gigabyte are common; of one, a few pages are needed again. */
static void was_read(void *arg, const void *at, size_t bytes)
{
	const struct sw_code *code = arg;
	uintptr_t first = (uintptr_t)code->map, end = (uintptr_t)at + bytes, page = (uintptr_t)sysconf(_SC_PAGESIZE);
	if (!code->map || (uintptr_t)at < first || end > first + code->mapped)
		return;
	uintptr_t start = (uintptr_t)at & ~(page - 1);
	madvise((void *)start, end - start, MADV_DONTNEED);
}

/* ---- what the trace says of it ------------------------------------------------------------------------------------
 */

/* The path as the recorded process meant it: relative ones start at its working directory. */
static char *absolute_path(const struct sw_reader *reader, const char *path)
{
	const struct sw_trace_process *process = sw_reader_process(reader);
	if (path[0] == '/' || !process || !process->cwd[0])
		return sw_strdup(path);
	return sw_format("%s/%s", process->cwd, path);
}

/* Looks for the build id of the file, as it was mapped in the recorded process, and derives the identity of the image
   from it. */
static void find_build_id(struct sw_code *code, const struct sw_reader *reader)
{
	const struct sw_trace_module *module;
	for (size_t i = 0; (module = sw_reader_module_at(reader, i)); i++)
		if (module->build_id_bytes && !strcmp(module->path, code->path)) {
			code->build_id = module->build_id;
			code->build_id_bytes = module->build_id_bytes;
		}
	if (!code->build_id)
		return;
	/* Build id, place and size identify the content: results of earlier runs are found without reading the file. */
	uint64_t place[] = {code->offset, code->bytes};
	uint64_t hash = sw_hash_bytes(SW_FNV_START, code->build_id, code->build_id_bytes);
	hash = sw_hash_bytes(hash, place, sizeof place);
	code->image.hash = hash ? hash : 1;
}

/* Makes the code of an image, from the trace where it was kept there, else from the file that the program had
   loaded. */
static struct sw_code *make_code(struct sw_codes *codes, const struct sw_trace_image *image, const void *content,
				 uint64_t t_ns)
{
	struct sw_code *code = sw_calloc(1, sizeof *code);
	code->image =
		(struct sw_footprint_image){.id = image->id, .bytes = bytes_of, .was_read = was_read, .arg = code};
	code->data = image->code ? image->code : content;
	code->bytes = image->code ? image->code_bytes : image->bytes;
	if (code->data)
		code->image.hash = image->code ? image->code_hash : image->hash;
	code->packed_why = image->code_why ? image->code_why : "";
	code->state = image->code_state;
	code->offset = image->file_offset;
	code->loaded_ns = sw_reader_header(codes->reader)->start_realtime_ns + t_ns;
	if (!code->data) {
		code->path = absolute_path(codes->reader, image->path);
		code->content_hash = image->hash;
		code->image.hash = image->hash;
		if (!image->hash)
			find_build_id(code, codes->reader);
	}
	return code;
}

static void code_free(struct sw_code *code)
{
	if (code->map)
		munmap(code->map, code->mapped);
	free((char *)(uintptr_t)code->path);
	free(code);
}

const struct sw_footprint_image *sw_codes_find(struct sw_codes *codes, uint32_t id, uint64_t t_ns, const char **why)
{
	struct sw_code *code = sw_map_ptr(&codes->by_id, id);
	if (code)
		return &code->image;
	const struct sw_trace_image *image = id ? sw_reader_image(codes->reader, id) : NULL;
	*why = !image				     ? "no code image"
	       : image->code_why && *image->code_why ? image->code_why
						     : "the code was not recorded";
	const void *content = image && !image->code ? sw_reader_image_content(codes->reader, id) : NULL;
	if (!image || (!content && !image->code && !image->path[0]))
		return NULL;
	code = make_code(codes, image, content, t_ns);
	struct sw_code *twin = code->image.hash ? sw_map_ptr(&codes->by_hash, code->image.hash) : NULL;
	if (twin) {
		code_free(code);
		code = twin;
	} else {
		*sw_vec_push(&codes->all) = code;
		if (code->image.hash)
			sw_map_put_ptr(&codes->by_hash, code->image.hash, code);
	}
	sw_map_put_ptr(&codes->by_id, id, code);
	return &code->image;
}

void sw_codes_lost_kernel(const struct sw_footprint_image *image)
{
	struct sw_code *code = image->arg;
	code->lost += code->path && code->state != SW_PACKED_WHOLE;
}

/* Files whose code could not be used, by index. */
bool sw_codes_unusable(const struct sw_codes *codes, size_t index, struct sw_unusable_code *out)
{
	const struct sw_code *code = index < codes->all.n ? codes->all.at[index] : NULL;
	if (code)
		*out = (struct sw_unusable_code){code->path, code->state == SW_PACKED_CHANGED, code->lost};
	return code;
}

void sw_codes_free(struct sw_codes *codes)
{
	for (size_t i = 0; i < codes->all.n; i++)
		code_free(codes->all.at[i]);
	free(codes->all.at);
	sw_map_free(&codes->by_id);
	sw_map_free(&codes->by_hash);
}
