/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All kernels of a file, analysed and then taken from the store; megabytes a second and peak resident memory:
 *
 *     bench_footprint FILE [ARCH [THREADS]]     default: newest architecture in the file, one thread
 *
 * Each run is a process of its own.  Code bytes: machine code of the kernels, or their share of the PTX.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "code_files.h"
#include "image/image.h"

struct run {
	struct sw_footprint_library_totals totals;
	double seconds, list_seconds;
	uint64_t wild, sites, known, resident_kb;
};

struct names {
	SW_VEC(char *) name;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int add_name(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct names *names = arg;
	*sw_vec_push(&names->name) = sw_strdup(kernel->name);
	return 0;
}

static void count(struct run *run, const struct sw_footprint_entry *entry)
{
	const struct sw_footprint *f = entry->footprint;
	if (!f)
		return;
	run->wild += f->wild != 0;
	run->sites += f->sites;
	for (uint32_t i = 0; i < f->sites; i++)
		run->known += f->site[i].address != SW_NO_TERM;
}

static void measure(const char *path, uint32_t arch, uint32_t threads, const char *cache, struct run *run)
{
	struct sw_code_file file;
	struct sw_error error;
	if (sw_code_file_open(path, &file, &error)) {
		fprintf(stderr, "bench_footprint: %s\n", error.text);
		exit(1);
	}
	struct names *names = sw_calloc(file.images.n, sizeof *names);
	double start = now();
	for (size_t i = 0; i < file.images.n; i++)
		sw_image_kernels(file.images.at[i].bytes, file.images.at[i].n, arch, add_name, &names[i], NULL);
	run->list_seconds = now() - start;
	start = now();
	struct sw_footprint_library *library = sw_footprint_library_open(cache, threads);
	for (size_t i = 0; i < file.images.n; i++)
		for (size_t k = 0; k < names[i].name.n; k++)
			sw_footprint_library_expect(library, &file.images.at[i].image, arch, names[i].name.at[k]);
	for (size_t i = 0; i < file.images.n; i++)
		for (size_t k = 0; k < names[i].name.n; k++)
			count(run,
			      sw_footprint_library_get(library, &file.images.at[i].image, arch, names[i].name.at[k]));
	run->totals = sw_footprint_library_totals(library);
	sw_footprint_library_close(library);
	run->seconds = now() - start;
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	run->resident_kb = (uint64_t)usage.ru_maxrss;
}

static void measure_apart(const char *path, uint32_t arch, uint32_t threads, const char *cache, struct run *run)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		measure(path, arch, threads, cache, run);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		exit(1);
}

static void print(const char *what, const struct run *run)
{
	const struct sw_footprint_library_totals *t = &run->totals;
	double mb = (double)t->code_bytes / 1e6;
	printf("%-10s %8.2f s, %" PRIu64 " kernels: %" PRIu64 " analysed, %" PRIu64 " from the store, %" PRIu64
	       " unreadable; %.1f MB of code in %.2f s of processor time (%.1f MB/s); %" PRIu64 " MB resident\n",
	       what, run->seconds, t->asked, t->analysed, t->cached, t->unreadable, mb, (double)t->ns / 1e9,
	       t->ns ? mb / ((double)t->ns / 1e9) : 0.0, run->resident_kb / 1024);
}

int main(int argc, char **argv)
{
	char cache[] = "/tmp/bench-footprint-XXXXXX";
	struct run *run = mmap(NULL, 2 * sizeof *run, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc < 2 || run == MAP_FAILED || !mkdtemp(cache)) {
		fprintf(stderr, "usage: bench_footprint FILE [ARCH [THREADS]]\n");
		return 2;
	}
	uint32_t arch = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	uint32_t threads = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1;
	measure_apart(argv[1], arch, threads, cache, &run[0]);
	measure_apart(argv[1], arch, threads, cache, &run[1]);
	printf("%s: %.2f s to list the kernels\n", argv[1], run[0].list_seconds);
	print("cold:", &run[0]);
	print("again:", &run[1]);
	printf("cold / again %.1f; %" PRIu64 " wild; %" PRIu64 " accesses, of %" PRIu64 " the address is known\n",
	       run[0].seconds / run[1].seconds, run[0].wild, run[0].sites, run[0].known);
	char *command = sw_format("rm -rf '%s'", cache);
	int left = system(command);
	free(command);
	return left != 0;
}
