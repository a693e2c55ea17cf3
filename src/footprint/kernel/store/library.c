/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which code of an image the footprint of a kernel is made from.  Footprints by image and kernel: from memory, from
 * disk, or analysed now, by several threads.
 */
#include <malloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/signal_stack.h"
#include "footprint/kernel/store/containers.h"
#include "footprint/kernel/store/disk_store.h"
#include "footprint/library.h"

/* ---- the choice of the code -------------------------------------------------------------------------------------- */

/* The footprint of a kernel, from the code that was chosen. */
struct sw_code_choice {
	struct sw_footprint *footprint; /* NULL: why */
	char *why;
	bool ran;
	uint32_t arch;
	uint64_t code_bytes; /* analysed for it: machine code of the kernel, its share of the PTX */
};

/* Wild outcomes beyond the fourth bring nothing new: PTX of one source differs little from architecture to
 * architecture. */
#define SW_MAX_ATTEMPTS 4

enum origin {
	ORIGIN_SAME, /* PTX of the architecture that ran: its machine code was made from it */
	ORIGIN_RAN,  /* machine code that runs on the device */
	ORIGIN_JIT,  /* PTX that the driver compiles if there is no machine code */
	ORIGIN_OTHER /* PTX of another architecture */
};

struct choice {
	struct sw_sort *sort;
	enum origin origin;
	uint32_t distance; /* smaller is better */
};

/* Does machine code of this sort run on a device of this architecture?  CUDA C++ Programming Guide, "Binary
   Compatibility": within a major revision, from one minor to the same or later ones. */
static bool runs_on(const struct sw_sort *s, uint32_t arch)
{
	return s->arch / 10 == arch / 10 && s->arch <= arch && (s->variant != SW_VARIANT_EXACT || s->arch == arch);
}

/* Would the driver compile PTX of this sort for the architecture?  "PTX Compatibility": for any later one, but for
   the variants. */
static bool compiles_for(const struct sw_sort *s, uint32_t arch)
{
	return s->variant == SW_VARIANT_NONE ? s->arch <= arch : runs_on(s, arch);
}

/* The architecture of the newest machine code, else of the newest PTX; 0: there is neither. */
static uint32_t newest_arch(const struct sw_units *u)
{
	uint32_t best[2] = {0};
	for (size_t i = 0; i < u->sort.n; i++) {
		uint32_t *b = &best[u->sort.at[i].kind == SW_IMAGE_PTX];
		*b = u->sort.at[i].arch > *b ? u->sort.at[i].arch : *b;
	}
	return best[0] ? best[0] : best[1];
}

/* Was the machine code that runs made from PTX of `arch`?  Not if it is that of an older architecture. */
static bool made_here(const struct sw_units *u, uint32_t arch)
{
	bool any = false;
	for (size_t i = 0; i < u->sort.n; i++) {
		const struct sw_sort *s = &u->sort.at[i];
		if (s->kind != SW_IMAGE_ELF || !runs_on(s, arch))
			continue;
		if (s->arch == arch)
			return true;
		any = true;
	}
	return !any;
}

/* qsort(): the best choice comes first. */
static int by_preference(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;
	if (x->origin != y->origin)
		return x->origin < y->origin ? -1 : 1;
	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return (int)y->sort->variant - (int)x->sort->variant;
}

/* Lists the sorts of code that may stand for what runs on this architecture, best first, malloc'ed; returns how
   many. */
static size_t rank_choices(struct sw_units *u, uint32_t arch, struct choice **out)
{
	struct choice *choice = sw_calloc(u->sort.n + 1, sizeof *choice);
	bool same = made_here(u, arch);
	size_t n = 0;
	for (size_t i = 0; i < u->sort.n; i++) {
		struct sw_sort *s = &u->sort.at[i];
		bool ptx = s->kind == SW_IMAGE_PTX;
		if (!ptx && !runs_on(s, arch))
			continue;
		enum origin origin = !ptx		       ? ORIGIN_RAN
				     : !compiles_for(s, arch)  ? ORIGIN_OTHER
				     : same && s->arch == arch ? ORIGIN_SAME
							       : ORIGIN_JIT;
		/* Newer ones than the device's are farther away than all older ones. */
		uint32_t distance = s->arch <= arch ? arch - s->arch : s->arch - arch + 10000;
		choice[n++] = (struct choice){s, origin, distance};
	}
	if (n)
		qsort(choice, n, sizeof *choice, by_preference);
	*out = choice;
	return n;
}

/* ---- analysis ---------------------------------------------------------------------------------------------------- */

/* Reads the kernel's code, of PTX or machine code, into the neutral form. */
static int read_program(const struct sw_unit *unit, const struct sw_content *c, const char *kernel,
			struct sw_program *program, uint32_t *arch, struct sw_error *error)
{
	*arch = unit->entry.arch;
	if (unit->entry.kind == SW_IMAGE_PTX)
		return sw_ptx_read(c->module, kernel, program, error);
	return sw_sass_read(c->bytes, c->n, kernel, program, arch, error);
}

/* Makes the footprint of a kernel from the code in this unit; NULL with error filled. */
static struct sw_footprint *analyse_kernel(struct sw_units *u, const struct sw_found *found, const char *kernel,
					   struct sw_error *error)
{
	struct sw_program program = {0};
	struct sw_footprint *footprint = NULL;
	const struct sw_content *c = sw_contents_take(u->contents, found->unit, true);
	uint32_t arch;
	if (!c) {
		sw_fail(error, SW_E_FORMAT, "%s", found->unit->why);
		return NULL;
	}
	if (!read_program(found->unit, c, kernel, &program, &arch, error)) {
		bool ptx = found->unit->entry.kind == SW_IMAGE_PTX;
		footprint = sw_footprint_build(&program, ptx ? SW_SOURCE_PTX : SW_SOURCE_SASS, arch);
		sw_program_free(&program);
	}
	sw_contents_give(u->contents, found->unit);
	return footprint;
}

/* How little a footprint says: 0 if it is not wild, else the number of accesses of unknown roots, + 1. */
static uint32_t unknown_roots(const struct sw_footprint *f)
{
	uint32_t unknown = f->wild != 0;
	for (uint32_t i = 0; f->wild && i < f->sites; i++)
		for (uint32_t r = 0; r < f->site[i].roots; r++)
			unknown += f->root[f->site[i].root + r].kind == SW_ROOT_UNKNOWN;
	return unknown;
}

/* The attempts to find the kernel's code. */
struct attempt {
	struct sw_units *units;
	const char *kernel;
	struct sw_code_choice *out;
	uint32_t wildness, attempts;
	bool found;	   /* in this container */
	bool machine_code; /* was found for the device */
	char *why;	   /* the first thing that could not be read */
};

/* "PTX " for PTX, in a message; nothing for machine code. */
static const char *kind_name(enum sw_image_kind kind)
{
	return kind == SW_IMAGE_PTX ? "PTX " : "";
}

/* Notes why code of this sort could not be read; the first reason stays. */
static void note_unreadable(struct attempt *a, const struct sw_sort *s, const char *why)
{
	if (!a->why)
		a->why = sw_format("unreadable: %ssm_%u: %s", kind_name(s->kind), s->arch, why);
}

/* Analyses the kernel's code of one sort; the outcome stays if it says more than those before. */
static void try_choice(struct attempt *a, const struct choice *choice)
{
	struct sw_found found;
	struct sw_error error;
	bool elf = choice->sort->kind == SW_IMAGE_ELF;
	/* The driver has one machine code of a kernel: the best. */
	if (elf && a->machine_code)
		return;
	if (!sw_units_find(a->units, choice->sort, a->kernel, &found)) {
		if (choice->sort->why)
			note_unreadable(a, choice->sort, choice->sort->why);
		return;
	}
	a->found = true;
	a->machine_code |= elf;
	struct sw_footprint *footprint = analyse_kernel(a->units, &found, a->kernel, &error);
	if (!footprint) {
		note_unreadable(a, choice->sort, error.text);
		return;
	}
	a->attempts++;
	a->out->code_bytes += found.code_bytes;
	uint32_t wild = unknown_roots(footprint);
	if (a->out->footprint && wild >= a->wildness) {
		sw_footprint_free(footprint);
		return;
	}
	sw_footprint_free(a->out->footprint);
	a->wildness = wild;
	a->out->footprint = footprint;
	a->out->arch = footprint->arch;
	a->out->ran = choice->origin == ORIGIN_JIT ? !a->machine_code : choice->origin != ORIGIN_OTHER;
}

/* Tries the sorts of code in a container, best first, until an outcome is not wild; returns how many it offers. */
static size_t choose_in(struct attempt *a, struct sw_units *u, uint32_t arch)
{
	struct choice *choice;
	size_t n = rank_choices(u, arch ? arch : newest_arch(u), &choice);
	a->units = u;
	for (size_t i = 0; i < n && a->attempts < SW_MAX_ATTEMPTS; i++) {
		try_choice(a, &choice[i]);
		if (a->out->footprint && !a->wildness)
			break;
	}
	free(choice);
	return n;
}

/*
 * Reads and analyses the kernel's code (order: library.h).  An outcome that is wild gives way to the next choice; if
 * all are wild, the one with the fewest accesses of unknown roots stays, of equal ones the first.  Thread-safe; the
 * content must be loaded.  arch 0: that of the newest machine code in the container, else of its newest PTX.
 *
 * A kernel counts in the first container that has it: another that follows may have one of the same name (an instance
 * of a template), which is not what the program loaded.
 */
static void code_choose(struct sw_containers *containers, uint32_t arch, const char *kernel, struct sw_code_choice *out)
{
	struct attempt a = {.kernel = kernel, .out = out};
	const char *unusable = NULL;
	struct sw_units *u;
	size_t choices = 0;
	*out = (struct sw_code_choice){0};
	for (size_t i = 0; !a.found && (u = sw_containers_get(containers, i)); i++) {
		choices += choose_in(&a, u, arch);
		unusable = unusable ? unusable : u->why;
	}
	if (out->footprint)
		free(a.why);
	else if (a.why)
		out->why = a.why;
	else if (unusable)
		out->why = sw_format("unreadable: %s", unusable);
	else if (choices)
		out->why = sw_strdup("no kernel of this name in the image");
	else
		out->why = sw_format("no code for sm_%u in the image", arch);
}

/* Decompressed code that no thread works on.  Threads that look into one image share it while it is in use; to
   decompress a unit again costs milliseconds, to hold all that a program's libraries have costs more than all else. */
#define SW_CONTENTS_BYTES ((size_t)64 << 20)
#define SW_MAX_THREADS	  64

/* An image as a caller named it, and what is in it. */
struct image {
	struct sw_footprint_image named;
	struct sw_containers containers;
};

/* Footprints on disk of one image for one architecture. */
struct shelf {
	struct sw_store store;
	SW_VEC(struct sw_store_new) fresh;
};

/* Analyses leave some 0.4 MB a millisecond that malloc keeps for their thread: each of sixteen threads would keep what
   its largest kernel needed.  After so much time of all threads it goes back to the system; earlier, the next analysis
   would only fault the same pages in again.  A thread that is alone keeps it longer, until analyses become rare. */
#define TRIM_NS	      20000000u
#define TRIM_ALONE_NS 100000000u
/* So many launches without a kernel that was not seen before: programs launch what they have in their first steps. */
#define QUIET_LAUNCHES 1000u

/* One kernel of one image for one architecture. */
struct item {
	struct sw_footprint_entry entry;
	struct image *image;
	struct shelf *shelf; /* NULL: nothing of the image is kept */
	uint32_t arch;
	char *kernel;
	enum { WAITING, GOING, DONE } state;
	bool asked;
	bool cached; /* it was on disk */
	uint64_t code_bytes, ns;
	struct item *same; /* next with the same hash */
};

struct sw_footprint_library {
	struct sw_monitor monitor;
	struct sw_contents contents;
	struct sw_map images;		/* id -> struct image */
	struct sw_map items;		/* hash of image, architecture and name -> struct item */
	struct sw_map shelves;		/* hash of content and architecture -> struct shelf */
	char *folder;			/* of the cache; NULL */
	SW_VEC(struct item *) expected; /* in the order in which they will be asked for */
	size_t next;			/* first of them that no thread has taken */
	pthread_t thread[SW_MAX_THREADS];
	uint32_t threads, started, idle;
	pthread_cond_t queued; /* something was added to expected, or the end came: what idle threads wait for */
	bool closing;
	uint64_t untrimmed_ns; /* of analyses since memory was last returned to the system */
	uint32_t quiet; /* launches since a kernel was asked for that is new; of the caller, so without the lock */
	struct sw_footprint_library_totals totals;
};

/* Processors that this process may use: with more threads than that each only holds memory. */
static uint32_t usable_processors(void)
{
	cpu_set_t set;
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	if (!sched_getaffinity(0, sizeof set, &set))
		return (uint32_t)CPU_COUNT(&set);
	return online < 1 ? 1 : (uint32_t)online; /* more than a cpu_set_t has */
}

struct sw_footprint_library *sw_footprint_library_open(const char *cache, uint32_t threads)
{
	struct sw_footprint_library *l = sw_calloc(1, sizeof *l);
	uint32_t all = threads ? threads : usable_processors();
	l->threads = all < 1 ? 1 : all > SW_MAX_THREADS ? SW_MAX_THREADS : all;
	l->folder = sw_store_folder(cache);
	pthread_mutex_init(&l->monitor.lock, NULL);
	pthread_cond_init(&l->monitor.changed, NULL);
	pthread_cond_init(&l->queued, NULL);
	l->contents = (struct sw_contents){.monitor = &l->monitor, .limit = SW_CONTENTS_BYTES};
	return l;
}

/* The library's record of an image, made when it is first named. */
static struct image *image_of(struct sw_footprint_library *l, const struct sw_footprint_image *named)
{
	struct image *image = sw_map_ptr(&l->images, named->id);
	if (!image) {
		image = sw_calloc(1, sizeof *image);
		*image = (struct image){.named = *named,
					.containers = {.monitor = &l->monitor, .contents = &l->contents}};
		sw_map_put_ptr(&l->images, named->id, image);
	}
	return image;
}

/* The footprints on disk of an image for an architecture; NULL: nothing of it is kept. */
static struct shelf *shelf_of(struct sw_footprint_library *l, const struct sw_footprint_image *image, uint32_t arch)
{
	uint64_t key = sw_hash_u64(image->hash) + arch;
	struct shelf *shelf = sw_map_ptr(&l->shelves, key);
	if (!image->hash || !l->folder)
		return NULL;
	if (!shelf) {
		shelf = sw_calloc(1, sizeof *shelf);
		sw_store_open(&shelf->store, l->folder, image->hash, arch);
		sw_map_put_ptr(&l->shelves, key, shelf);
	}
	return shelf;
}

/* The library's record of a kernel, made when it is first named.  Callers are one at a time, so tables of images and
   items need no lock; what threads write does. */
static struct item *item_of(struct sw_footprint_library *l, const struct sw_footprint_image *image, uint32_t arch,
			    const char *kernel)
{
	uint64_t key = sw_hash_bytes(SW_FNV_START ^ image->id * 1024 ^ arch, kernel, strlen(kernel));
	struct item *first = sw_map_ptr(&l->items, key), *item = first;
	while (item && (item->image->named.id != image->id || item->arch != arch || strcmp(item->kernel, kernel) != 0))
		item = item->same;
	if (item)
		return item;
	item = sw_calloc(1, sizeof *item);
	*item = (struct item){.image = image_of(l, image),
			      .shelf = shelf_of(l, image, arch),
			      .arch = arch,
			      .kernel = sw_strdup(kernel),
			      .same = first};
	sw_map_put_ptr(&l->items, key, item);
	return item;
}

/* Time that this thread has computed. */
static uint64_t thread_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Analyses a kernel's code, and keeps the outcome for the disk.  The outcome does not change from run to run, but
   why there is no code may, and is not kept. */
static void analyse_item(struct sw_footprint_library *l, struct item *item)
{
	struct sw_containers *containers = &item->image->containers;
	struct sw_code_choice chosen = {0};
	uint64_t start = thread_ns();
	bool there = sw_containers_load(containers, &item->image->named);
	if (there)
		code_choose(containers, item->arch, item->kernel, &chosen);
	else
		chosen.why = sw_strdup(containers->why);
	item->entry = (struct sw_footprint_entry){chosen.footprint, chosen.why, chosen.ran, chosen.arch};
	pthread_mutex_lock(&l->monitor.lock);
	if (there && item->shelf)
		*sw_vec_push(&item->shelf->fresh) = (struct sw_store_new){item->kernel, &item->entry};
	item->code_bytes = chosen.code_bytes;
	item->ns = thread_ns() - start;
	pthread_mutex_unlock(&l->monitor.lock);
}

/* Returns spare memory to the system.  The lock is held, given up meanwhile, and held again on return. */
static void trim_memory(struct sw_footprint_library *l)
{
	l->untrimmed_ns = 0;
	pthread_mutex_unlock(&l->monitor.lock);
	sw_contents_drop_spare(&l->contents);
	malloc_trim(0);
	pthread_mutex_lock(&l->monitor.lock);
}

void sw_footprint_library_launched(struct sw_footprint_library *l)
{
	if (l->quiet > QUIET_LAUNCHES || ++l->quiet <= QUIET_LAUNCHES)
		return;
	pthread_mutex_lock(&l->monitor.lock);
	if (l->untrimmed_ns)
		trim_memory(l);
	pthread_mutex_unlock(&l->monitor.lock);
}

/* Takes the footprint of an item, which is GOING, from the disk store, or analyses its kernel.  The lock is held, given
 * up meanwhile, and held again on return. */
static void get_entry(struct sw_footprint_library *l, struct item *item)
{
	pthread_mutex_unlock(&l->monitor.lock);
	item->cached = item->shelf && sw_store_get(&item->shelf->store, item->kernel, &item->entry);
	if (!item->cached)
		analyse_item(l, item);
	pthread_mutex_lock(&l->monitor.lock);
	item->state = DONE;
	pthread_cond_broadcast(&l->monitor.changed);
	l->untrimmed_ns += item->ns;
	if (l->untrimmed_ns >= (l->threads == 1 ? TRIM_ALONE_NS : TRIM_NS))
		trim_memory(l);
}

/* A thread of the library: analyses expected kernels, until the library is closed. */
static void *run_worker(void *arg)
{
	struct sw_footprint_library *l = arg;
	void *stack = sw_signal_stack_begin();
	pthread_mutex_lock(&l->monitor.lock);
	while (!l->closing) {
		if (l->next == l->expected.n) {
			l->idle++;
			pthread_cond_wait(&l->queued, &l->monitor.lock);
			l->idle--;
			continue;
		}
		struct item *item = l->expected.at[l->next++];
		if (item->state != WAITING)
			continue;
		item->state = GOING;
		get_entry(l, item);
	}
	pthread_mutex_unlock(&l->monitor.lock);
	sw_signal_stack_end(stack);
	return NULL;
}

/* Starts another thread, if there may be one.  The caller is one of the threads: it works on what it asks for.
   Where no thread can be had, it works alone. */
static void start_thread(struct sw_footprint_library *l)
{
	if (l->started + 1 < l->threads && !pthread_create(&l->thread[l->started], NULL, run_worker, l))
		l->started++;
}

void sw_footprint_library_expect(struct sw_footprint_library *l, const struct sw_footprint_image *image, uint32_t arch,
				 const char *kernel)
{
	if (l->threads == 1)
		return;
	pthread_mutex_lock(&l->monitor.lock);
	struct item *item = item_of(l, image, arch, kernel);
	if (item->state == WAITING) {
		*sw_vec_push(&l->expected) = item;
		/* Idle ones first: each thread has memory of its own. */
		if (l->expected.n - l->next > l->idle)
			start_thread(l);
		else
			pthread_cond_signal(&l->queued);
	}
	pthread_mutex_unlock(&l->monitor.lock);
}

/* Counts a kernel in the totals when it is asked for: how far threads are with what was not asked for yet must not
   show in a report. */
static void count_item(struct sw_footprint_library_totals *totals, const struct item *item)
{
	totals->asked++;
	totals->cached += item->cached;
	totals->analysed += !item->cached && item->entry.footprint;
	totals->unreadable += !item->entry.footprint;
	totals->code_bytes += item->code_bytes;
	totals->ns += item->ns;
}

const struct sw_footprint_entry *sw_footprint_library_get(struct sw_footprint_library *l,
							  const struct sw_footprint_image *image, uint32_t arch,
							  const char *kernel)
{
	pthread_mutex_lock(&l->monitor.lock);
	struct item *item = item_of(l, image, arch, kernel);
	if (item->state == WAITING) {
		item->state = GOING;
		get_entry(l, item);
	}
	while (item->state != DONE)
		pthread_cond_wait(&l->monitor.changed, &l->monitor.lock);
	if (!item->asked) {
		count_item(&l->totals, item);
		l->quiet = 0;
	}
	item->asked = true;
	pthread_mutex_unlock(&l->monitor.lock);
	return &item->entry;
}

struct sw_footprint_library_totals sw_footprint_library_totals(const struct sw_footprint_library *library)
{
	struct sw_footprint_library *l = (struct sw_footprint_library *)(uintptr_t)library; /* for the lock alone */
	pthread_mutex_lock(&l->monitor.lock);
	struct sw_footprint_library_totals totals = l->totals;
	pthread_mutex_unlock(&l->monitor.lock);
	return totals;
}

/* Writes all new footprints to disk, and closes what is kept there. */
static void write_shelves(struct sw_footprint_library *l)
{
	struct sw_map_slot slot;
	bool wrote = false;
	for (size_t i = 0; (i = sw_map_next(&l->shelves, i, &slot));) {
		struct shelf *shelf = (void *)(uintptr_t)slot.value;
		if (shelf->fresh.n)
			sw_store_write(&shelf->store, shelf->fresh.at, shelf->fresh.n);
		wrote |= shelf->fresh.n != 0;
		sw_store_close(&shelf->store);
		free(shelf->fresh.at);
		free(shelf);
	}
	if (wrote)
		sw_store_tidy(l->folder, SW_STORE_FOLDER_BYTES);
	sw_map_free(&l->shelves);
}

/* Frees all kernels with their footprints. */
static void free_items(struct sw_map *items)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(items, i, &slot));)
		for (struct item *item = (void *)(uintptr_t)slot.value, *same; item; item = same) {
			same = item->same;
			sw_footprint_free((struct sw_footprint *)(uintptr_t)item->entry.footprint);
			free((char *)(uintptr_t)item->entry.why);
			free(item->kernel);
			free(item);
		}
	sw_map_free(items);
}

/* Frees the containers of all images. */
static void free_images(struct sw_map *images)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(images, i, &slot));) {
		struct image *image = (void *)(uintptr_t)slot.value;
		sw_containers_free(&image->containers);
		free(image);
	}
	sw_map_free(images);
}

void sw_footprint_library_close(struct sw_footprint_library *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->monitor.lock);
	l->closing = true;
	pthread_cond_broadcast(&l->queued);
	pthread_mutex_unlock(&l->monitor.lock);
	for (uint32_t i = 0; i < l->started; i++)
		pthread_join(l->thread[i], NULL);
	write_shelves(l);
	free_items(&l->items);
	free_images(&l->images);
	sw_contents_drop_spare(&l->contents);
	free(l->expected.at);
	free(l->folder);
	pthread_cond_destroy(&l->monitor.changed);
	pthread_cond_destroy(&l->queued);
	pthread_mutex_destroy(&l->monitor.lock);
	free(l);
}
