/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/calls/code_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/stored_images.h"
#include "preload/platform/isolated_thread.h"
#include "preload/platform/sys.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/trace.h"
#include "preload/intercept/requesters.h"
#include "preload/intercept/hook_state.h"

#define MAX_COPY       (64ull << 20) /* bytes of one anonymous image */
#define DATA_RECORD    32640u	     /* bytes of image in one IMAGE_DATA: eight fill a chunk */
#define MAX_INDEX      (4 << 20)
#define MAX_FATBINS    64 /* containers that follow each other in one image */
#define FATBIN_WRAPPER 0x466243b1u
#define FATBIN	       0xba55ed50u

struct fatbin_wrapper {
	uint32_t magic, version;
	const void *data;
	const void *names;
};
struct fatbin {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes; /* of the entries */
};

struct image {
	const void *data;
	uint64_t bytes; /* 0: unknown */
	enum sw_image_kind kind;
};

/* Bytes of a fat binary, i.e. of all containers that follow each other; 0: it is none. */
static uint64_t fatbin_bytes(const char *data)
{
	uint64_t total = 0;

	/* The driver reads on while containers follow each other, 8-aligned. */
	for (int i = 0; i < MAX_FATBINS; i++) {
		struct fatbin header;

		memcpy(&header, data + total, sizeof header);
		if (header.magic != FATBIN || header.header_bytes < sizeof header || header.bytes > MAX_COPY * 16)
			break;
		total += (header.header_bytes + header.bytes + 7) & ~7ull;
		/* Only one that fills its page can be the last thing mapped: do not look beyond it. */
		if (((uintptr_t)data + total) % 4096 == 0)
			break;
	}
	return total;
}

/* Bytes of an ELF image (a cubin): the end of its last section or table, as nothing states the length.  0: not of 64
   bits. */
static uint64_t elf_bytes(const char *data)
{
	Elf64_Ehdr header;
	uint64_t end;

	memcpy(&header, data, sizeof header);
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	end = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
	if ((uint64_t)header.e_phoff + (uint64_t)header.e_phnum * header.e_phentsize > end)
		end = header.e_phoff + (uint64_t)header.e_phnum * header.e_phentsize;
	if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > MAX_COPY)
		return end;
	for (unsigned int i = 0; i < header.e_shnum; i++) {
		Elf64_Shdr section;

		memcpy(&section, data + header.e_shoff + (uint64_t)i * sizeof section, sizeof section);
		if (section.sh_type != SHT_NOBITS && section.sh_offset + section.sh_size > end)
			end = section.sh_offset + section.sh_size;
	}
	return end;
}

/* PTX is text up to a NUL: comments and blank lines, then .version. */
static bool looks_like_ptx(const unsigned char *text)
{
	for (int i = 0; i < 64; i++) {
		if (text[i] == '\0')
			return i > 8;
		if (text[i] < ' ' && text[i] != '\n' && text[i] != '\r' && text[i] != '\t')
			return false;
	}
	return true;
}

/* Kind and length of the code that the program passes, by its first bytes; a fat binary is found through its
   wrapper. */
static struct image image_look(const void *data)
{
	struct image image = {.data = data};
	uint32_t magic;

	memcpy(&magic, data, sizeof magic);
	if (magic == FATBIN_WRAPPER) {
		struct fatbin_wrapper wrapper;

		memcpy(&wrapper, data, sizeof wrapper);
		if (!wrapper.data)
			return image;
		image.data = wrapper.data;
		memcpy(&magic, image.data, sizeof magic);
	}
	if (magic == FATBIN) {
		image.kind = SW_IMAGE_FATBIN;
		image.bytes = fatbin_bytes(image.data);
	} else if (memcmp(image.data, ELFMAG, SELFMAG) == 0) {
		image.kind = SW_IMAGE_ELF;
		image.bytes = elf_bytes(image.data);
	} else if (looks_like_ptx(image.data)) {
		image.kind = SW_IMAGE_PTX;
		image.bytes = strnlen(image.data, MAX_COPY);
	}
	return image;
}

struct segment_search {
	uintptr_t address;
	uint64_t file_offset;
};

/* For dl_iterate_phdr(): the file offset of an address in a segment of a loaded object. */
static int search_segment(struct dl_phdr_info *info, size_t size, void *with)
{
	struct segment_search *search = with;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uintptr_t at = search->address - (info->dlpi_addr + segment->p_vaddr);

		if (segment->p_type == PT_LOAD && at < segment->p_filesz) {
			search->file_offset = segment->p_offset + at;
			return 1;
		}
	}
	return 0;
}

/* Path and offset when the image lies in a mapped object's file; false: anonymous. */
static bool image_file(const struct image *image, char *path, size_t room, uint64_t *offset)
{
	struct segment_search search = {.address = (uintptr_t)image->data};
	struct sw_loaded_object object;

	if (dl_iterate_phdr(search_segment, &search) != 1 || !sw_object_of(image->data, &object))
		return false;
	if (object.path[0]) {
		path[0] = '\0';
		strncat(path, object.path, room - 1);
	} else {
		const ssize_t n = readlink("/proc/self/exe", path, room - 1);

		if (n <= 0)
			return false;
		path[n] = '\0';
	}
	*offset = search.file_offset;
	return true;
}

/* Writes the content of an image into the trace, in pieces. */
static void data_describe(uint32_t id, const struct image *image)
{
	for (uint64_t at = 0; at < image->bytes; at += DATA_RECORD) {
		const uint64_t left = image->bytes - at;
		const uint32_t bytes = left < DATA_RECORD ? (uint32_t)left : DATA_RECORD;
		struct sw_rec_image_data *r = sw_describe(SW_REC_IMAGE_DATA, sizeof *r + bytes, false);

		if (!r)
			return;
		r->id = id;
		r->bytes = bytes;
		r->offset = at;
		memcpy(r + 1, (const char *)image->data + at, bytes);
		sw_describe_done(r);
	}
}

struct origin {
	const char *path;
	uint64_t file_offset, hash;
	uint32_t data; /* of the IMAGE record */
};

/* Writes the IMAGE record of the code of a module or library handle and remembers its id.  Returns the id, 0: lost. */
static uint32_t image_record(const struct image *image, const struct origin *origin, uint64_t handle)
{
	struct sw_state *state = sw_state();
	uint64_t mask;
	const uint32_t id = __atomic_add_fetch(&state->images, 1, __ATOMIC_RELAXED);
	const size_t path_bytes = strlen(origin->path);
	struct sw_rec_image *r = sw_describe(SW_REC_IMAGE, sizeof *r + path_bytes, false);

	if (!r)
		return 0;
	r->id = id;
	r->kind = image->kind;
	r->handle = handle;
	r->bytes = image->bytes;
	r->hash = origin->hash;
	r->address = (uint64_t)(uintptr_t)image->data;
	r->file_offset = origin->file_offset;
	r->data = origin->data;
	r->path_bytes = (uint32_t)path_bytes;
	memcpy(r + 1, origin->path, path_bytes);
	sw_describe_done(r);

	mask = sw_state_lock(state);
	sw_table_put(&state->by_code, handle, id);
	if (origin->data == 1)
		sw_table_put(&state->by_content, origin->hash, id);
	sw_state_unlock(state, mask);
	return id;
}

/* Is there room for so many bytes more under the limit of kept images?  Takes it; else the report says once that code
   is missing. */
static bool take_room(struct sw_state *state, uint64_t bytes)
{
	const uint64_t most = sw_preload_options()->max_images;
	uint64_t used = __atomic_load_n(&state->image_bytes, __ATOMIC_RELAXED);

	do {
		if (bytes > MAX_COPY || used > most || bytes > most - used) {
			sw_notice("code that lies in no file was too large to be kept (option max-images; 64 MiB an "
				  "image): its kernels are known by name and parameters only");
			return false;
		}
	} while (!__atomic_compare_exchange_n(&state->image_bytes, &used, used + bytes, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return true;
}

/* Images of earlier runs: what the file `index` of the store names, sorted by hash. */
static struct {
	_Atomic uint32_t asked;
	uint64_t entries;
	struct sw_stored_image *entry;
} store;

/* Maps the index of the image store, a sorted array; on the isolated thread, as a system call of the program's thread
   may be filtered. */
static void read_index(void *unused)
{
	char path[sizeof sw_preload_options()->image_store + sizeof "/" SW_STORED_INDEX];
	struct stat s;
	int error;

	(void)unused;
	strcpy(stpcpy(path, sw_preload_options()->image_store), "/" SW_STORED_INDEX);
	const int fd = sw_isolated_open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd < 0)
		return;
	const bool usable = !sw_sys_fstat(fd, &s) && S_ISREG(s.st_mode) && s.st_size > 0 && s.st_size <= MAX_INDEX;
	struct sw_stored_image *entry = usable ? sw_sys_map(-1, 0, (size_t)s.st_size, &error) : NULL;
	const long got = entry ? sw_sys_read(fd, entry, (size_t)s.st_size) : 0;
	sw_sys_close(fd);
	if (got > 0) {
		store.entry = entry;
		__atomic_store_n(&store.entries, (uint64_t)got / sizeof *entry, __ATOMIC_RELEASE);
	}
}

/* Has the store of earlier runs this image?  The recorder's own thread reads the index, once; a thread that asks
   meanwhile hears no, and its image is kept in the trace. */
static bool is_stored(uint64_t hash, uint64_t bytes)
{
	if (!sw_preload_options()->image_store[0])
		return false;
	if (!atomic_exchange(&store.asked, 1))
		sw_isolated_run(read_index, NULL);
	uint64_t low = 0, high = __atomic_load_n(&store.entries, __ATOMIC_ACQUIRE);
	while (low < high) {
		const uint64_t middle = (low + high) / 2;

		if (store.entry[middle].hash == hash)
			return store.entry[middle].bytes == bytes;
		if (store.entry[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Decides how the content of an image that lies in no file is kept: as data of this trace (1), as that of an earlier
   image (2), as a file of the store (origin->path, in `path` with `room` bytes), or not at all (0).  The program may
   free the image when the load returns. */
static void keep_content(const struct image *image, struct origin *origin, char *path, size_t room)
{
	struct sw_state *state = sw_state();

	if (!sw_preload_options()->images || !image->bytes)
		return;
	if (image->bytes <= MAX_COPY) {
		origin->hash = sw_hash_content(image->data, image->bytes);
		if (sw_table_get(&state->by_content, origin->hash)) {
			origin->data = 2;
			return;
		}
		if (image->bytes >= SW_STORED_LEAST && is_stored(origin->hash, image->bytes)) {
			snprintf(path, room, "%s/" SW_STORED_NAME, sw_preload_options()->image_store, origin->hash);
			origin->path = path;
			return;
		}
		sw_trace_expect(image->bytes);
	}
	origin->data = take_room(state, image->bytes);
}

/* Records the code of a module that the program loads from memory: by name and offset if a file is mapped there, else
   by its bytes. */
uint32_t sw_image_describe(const void *data, uint64_t handle)
{
	const int saved = errno;
	struct image image;
	char path[PATH_MAX];
	struct origin origin = {.path = ""};
	uint32_t id;

	if (!data || !handle)
		return 0;
	image = image_look(data);
	if (image_file(&image, path, sizeof path, &origin.file_offset))
		origin.path = path;
	else
		keep_content(&image, &origin, path, sizeof path);
	id = image_record(&image, &origin, handle);
	if (id && origin.data == 1)
		data_describe(id, &image);
	errno = saved;
	return id;
}

/* Records the code of a module that the driver reads from a file: the path is enough. */
uint32_t sw_image_describe_file(const char *path, uint64_t handle)
{
	const int saved = errno;
	const struct image image = {0};
	const struct origin origin = {.path = path};
	const uint32_t id = path && strlen(path) < PATH_MAX ? image_record(&image, &origin, handle) : 0;

	errno = saved;
	return id;
}
