/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "pack_file.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/counted.h"
#include "command.h"
#include "output.h"
#include "pack/pack.h"

/* The usual name of the packed trace, malloc'ed. */
char *sw_pack_default(const char *trace)
{
	size_t n = strlen(trace);
	if (fnmatch("*.zst", trace, 0) == 0)
		n -= 4;
	if (sw_pack_can_compress())
		return sw_format("%.*s.%s", (int)n, trace, trace[n] ? "packed.zst" : "zst");
	n -= n > 4 && !strncmp(trace + n - 4, ".swt", 4) ? 4 : 0;
	return sw_format("%.*s.packed.swt", (int)n, trace);
}

/* Traces are never overwritten, so neither is what they become.  malloc'ed. */
static char *free_name(const char *trace)
{
	char *name = sw_pack_default(trace);
	const char *slash = strrchr(trace, '/'), *dot = strchr(slash ? slash : trace, '.');
	size_t stem = dot ? (size_t)(dot - trace) : strlen(trace);
	for (unsigned i = 2; access(name, F_OK) == 0; i++) {
		char *numbered = sw_format("%.*s-%u%s", (int)stem, trace, i, trace + stem);
		free(name);
		name = sw_pack_default(numbered);
		free(numbered);
	}
	return name;
}

/* Packs a trace in its place; the new name, malloc'ed, NULL: it stays as it is. */
char *sw_pack_replace(const char *trace)
{
	char *file = free_name(trace);
	if (sw_pack_file(trace, file, false)) {
		free(file);
		return NULL;
	}
	unlink(trace);
	return file;
}

/* Are both the same file? */
static bool same_file(const char *a, const char *b)
{
	struct stat x, y;
	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Prints what was packed. */
static void print_sums(const char *file, const struct sw_pack_sums *sums)
{
	struct stat st;
	const double kib = stat(file, &st) ? 0 : (double)st.st_size / 1024;
	fprintf(stderr,
		"syncwatch: packed into %s (%.1f %s): code of %" PRIu64 " kernel%s, names of %" PRIu64
		" call site%s in %" PRIu64 " object%s\n",
		file, kib < 1024 ? kib : kib / 1024, kib < 1024 ? "KiB" : "MiB", sums->kernels,
		sw_plural(sums->kernels, "", "s"), sums->frames, sw_plural(sums->frames, "", "s"), sums->modules,
		sw_plural(sums->modules, "", "s"));
	for (size_t i = 0; i < sums->unusable.n; i++)
		fprintf(stderr, "syncwatch: not packed: %s\n", sums->unusable.at[i]);
}

/* Packs a trace into a file.  shown: prints what was packed. */
int sw_pack_file(const char *trace, const char *file, bool shown)
{
	struct sw_pack_options options = {.version = PACKAGE_VERSION, .compress = fnmatch("*.swt", file, 0) != 0};
	struct sw_pack_sums sums;
	struct sw_output output;
	struct sw_error error;
	if (same_file(trace, file))
		return sw_complain(SW_EXIT_OUTPUT, "'%s' is the trace itself: choose another name with --output", file);
	if (options.compress && !sw_pack_can_compress())
		return sw_complain_usage("this build cannot compress: choose a name that ends with .swt, not '%s'",
					 file);
	if (sw_output_open(&output, file, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	int status = SW_EXIT_OK;
	if (sw_pack(trace, &options, output.file, &sums, &error)) {
		sw_output_drop(&output);
		status = sw_complain(SW_EXIT_INPUT, "%s", error.text);
	} else if (sw_output_close(&output, &error)) {
		status = sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	} else if (shown) {
		print_sums(file, &sums);
	}
	sw_pack_sums_free(&sums);
	return status;
}
