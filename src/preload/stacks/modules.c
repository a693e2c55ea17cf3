/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/stacks/modules.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/stacks/unwind.h"

#define MODULES 8192u /* more are not described; their frames stay addresses */

struct known {
	uint64_t base;
	uint64_t name; /* hash of the path: another object can be mapped at an old address */
	uint32_t round;
};

static struct {
	struct sw_lock lock;
	struct known *at;
	uint32_t n, round;
	uint64_t adds, subs;
	char own[1024];
} map;

uint32_t sw_modules_unmapped;
void (*sw_objects_came)(void);

struct visit {
	struct sw_writer *w;
	bool changed, first;
};

struct layout {
	uint64_t start, end;
	const uint8_t *build_id;
	uint32_t build_id_bytes;
};

/* Finds NT_GNU_BUILD_ID in a note segment as it is mapped. */
static void find_build_id(struct layout *out, const uint8_t *notes, size_t bytes, size_t align)
{
	while (bytes >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const void *)notes;
		size_t name = (n->n_namesz + align - 1) & ~(align - 1),
		       content = (n->n_descsz + align - 1) & ~(align - 1);
		if (name > bytes - sizeof *n || content > bytes - sizeof *n - name)
			return;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 && memcmp(n + 1, "GNU", 4) == 0) {
			out->build_id = notes + sizeof *n + name;
			out->build_id_bytes = n->n_descsz < 64 ? n->n_descsz : 64;
			return;
		}
		notes += sizeof *n + name + content;
		bytes -= sizeof *n + name + content;
	}
}

/* Where an object is mapped, from its first to its last segment, and its build id. */
static struct layout lay_out(const struct dl_phdr_info *info)
{
	struct layout l = {.start = UINT64_MAX};
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t from = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD) {
			l.start = from < l.start ? from : l.start;
			l.end = from + p->p_memsz > l.end ? from + p->p_memsz : l.end;
		} else if (p->p_type == PT_NOTE && !l.build_id) {
			find_build_id(&l, (const uint8_t *)from, p->p_memsz, p->p_align == 8 ? 8 : 4);
		}
	}
	return l;
}

/* Path of a loaded object; the program itself, which comes first, has none in the loader's list. */
static const char *path_of(const struct dl_phdr_info *info, bool first, char *buffer, size_t room)
{
	if (!first || info->dlpi_name[0])
		return info->dlpi_name;
	ssize_t got = readlink("/proc/self/exe", buffer, room - 1);
	buffer[got > 0 ? got : 0] = 0;
	return buffer;
}

/* Writes the MODULE record of an object; remembers the path of the one that this code is in. */
static void write_module(struct sw_writer *w, const struct dl_phdr_info *info, const char *path)
{
	struct layout l = lay_out(info);
	size_t length = strlen(path), padded = (l.build_id_bytes + 7u) & ~7u;
	struct sw_rec_module *r =
		(struct sw_rec_module *)sw_writer_describe(w, SW_REC_MODULE, sizeof *r + padded + length, true);
	if ((uintptr_t)&map >= l.start && (uintptr_t)&map < l.end && length < sizeof map.own)
		strcpy(map.own, path);
	if (!r)
		return;
	r->base = info->dlpi_addr;
	r->start = l.start;
	r->end = l.end;
	r->build_id_bytes = (uint8_t)l.build_id_bytes;
	r->path_bytes = (uint32_t)length;
	if (l.build_id)
		memcpy(r + 1, l.build_id, l.build_id_bytes);
	memcpy((char *)(r + 1) + padded, path, length);
	sw_writer_commit(w);
}

/* For dl_iterate_phdr(): marks objects that are known as seen in this round, and describes new ones.  Stops at the
   first where the loader's counters say that nothing changed. */
static int visit_module(struct dl_phdr_info *info, size_t size, void *data)
{
	struct visit *v = data;
	char exe[1024];
	bool first = v->first;
	v->first = false;
	if (first && size >= offsetof(struct dl_phdr_info, dlpi_tls_modid)) {
		v->changed = !map.round || info->dlpi_adds != map.adds || info->dlpi_subs != map.subs;
		if (!v->changed)
			return 1;
		map.adds = info->dlpi_adds;
		map.subs = info->dlpi_subs;
		map.round++;
	}
	const char *path = path_of(info, first, exe, sizeof exe);
	uint64_t name = sw_hash_bytes(SW_FNV_START, path, strlen(path));
	for (uint32_t i = 0; i < map.n; i++) {
		if (map.at[i].base == info->dlpi_addr && map.at[i].name == name) {
			map.at[i].round = map.round;
			return 0;
		}
	}
	if (map.n < MODULES) {
		map.at[map.n++] = (struct known){info->dlpi_addr, name, map.round};
		write_module(v->w, info, path);
	}
	return 0;
}

/* Writes that the objects which this round did not see were unmapped, and makes stacks and rules that were remembered
   invalid. */
static void drop_gone(struct sw_writer *w)
{
	bool gone = false;
	for (uint32_t i = 0; i < map.n;) {
		if (map.at[i].round == map.round) {
			i++;
			continue;
		}
		gone = true;
		struct sw_rec_module *r =
			(struct sw_rec_module *)sw_writer_describe(w, SW_REC_MODULE_GONE, sizeof *r, true);
		if (r) {
			r->base = map.at[i].base;
			sw_writer_commit(w);
		}
		map.at[i] = map.at[--map.n];
	}
	if (gone) {
		sw_unwind_flush();
		__atomic_fetch_add(&sw_modules_unmapped, 1, __ATOMIC_RELEASE);
	}
}

/* Compares the loader's list of objects with what the trace says: writes a record for each that is new and for each
   that is gone. */
void sw_modules_refresh(struct sw_writer *w)
{
	struct visit v = {.w = w, .first = true};
	uint64_t mask;
	int error;
	/* Never waits: the thread that holds the lock may wait for the loader, which this thread may hold. */
	if (!sw_lock_try(&map.lock, &mask))
		return;
	if (!map.at)
		map.at = sw_sys_map(-1, 0, MODULES * sizeof *map.at, &error);
	if (map.at) {
		dl_iterate_phdr(visit_module, &v);
		if (v.changed)
			drop_gone(w);
		if (v.changed && sw_objects_came)
			sw_objects_came();
	}
	sw_lock_leave(&map.lock, mask);
}

const char *sw_modules_own_path(void)
{
	return map.own;
}

/* In a fork child, which starts a trace of its own: every module is to be described again. */
void sw_modules_forget(void)
{
	map.lock = (struct sw_lock){0};
	map.n = map.round = 0;
}
