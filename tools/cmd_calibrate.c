/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch calibrate: which calls wait for what, on this GPU and driver. */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/counted.h"
#include "base/trusted_file.h"
#include "calibrate/measure.h"
#include "command.h"
#include "install.h"
#include "output.h"

/* Reads a table of measured behaviour: one that the user named, or one that is stored where tables are searched for,
   which must be the user's own. */
static int read_table(struct sw_behaviour *table, const char *path, bool named)
{
	struct sw_error error;
	FILE *file = named ? fopen(path, "re") : sw_trusted_stream(path, (uid_t)-1, &error);
	if (!file && named)
		return sw_complain(SW_EXIT_INPUT, "%s: %s", path, strerror(errno));
	if (!file)
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	int rc = sw_behaviour_read(table, file, path, &error);
	fclose(file);
	return rc ? sw_complain(SW_EXIT_INPUT, "%s", error.text) : SW_EXIT_OK;
}

/* Makes all folders above the file. */
static void make_folders(const char *path)
{
	char *copy = sw_strdup(path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(copy, 0777);
		*slash = '/';
	}
	free(copy);
}

/* Writes the table into a file. */
static int store_table(const struct sw_behaviour *table, const char *path)
{
	struct sw_output output;
	struct sw_error error;
	if (sw_output_open(&output, path, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	sw_behaviour_write(table, output.file);
	if (sw_output_close(&output, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	fprintf(stderr, "syncwatch calibrate: %s\n", path);
	return SW_EXIT_OK;
}

/* ---- measuring --------------------------------------------------------------------------------------------------- */

/* Rows that a group lost are reported and counted; without a device there is nothing to measure at all. */
static int measure_table(struct sw_behaviour *table, const char *driver)
{
	for (size_t i = 0; i < sw_rows_n; i++) {
		struct sw_error error;
		if (sw_rows[i].name || !sw_measure_group(table, i, driver, &error))
			continue;
		sw_complain(SW_EXIT_OK, "%s", error.text);
		if (!table->gpu[0])
			return SW_EXIT_INPUT;
	}
	return SW_EXIT_OK;
}

/* Measures all calls on this machine. */
static int measure_here(struct sw_behaviour *table, bool simulated)
{
	struct sw_error error;
	char *driver = NULL;
	if (simulated) {
		driver = sw_install_find("sim/libcuda.so.1", &error);
		if (!driver)
			return sw_complain(SW_EXIT_INPUT, "%s", error.text);
		setenv("SYNCWATCH_SIM_KERNEL_TIME", "sw_spin=20ms:sw_patient=200ms", 1);
	}
	int status = measure_table(table, driver);
	free(driver);
	return status;
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static const char *const spinners[SW_SPINNERS] = {[SW_SPIN_NONBLOCKING] = "a non-blocking stream",
						  [SW_SPIN_BLOCKING] = "a blocking stream",
						  [SW_SPIN_LEGACY] = "the legacy stream"};

/* Is it clear whether the call waits? */
static bool is_verdict(char c)
{
	return c == '0' || c == '1';
}

/* Prints a call that waits where it should not, or the other way round; false: there is no difference. */
static bool print_difference(const char *call, int spinner, char found, char expected, const char *what,
			     const char *against)
{
	if (!is_verdict(found) || !is_verdict(expected) || found == expected)
		return false;
	printf("  %-52s kernel on %s: %s%s; %s\n", call, spinners[spinner], found == '1' ? "" : "no ", what, against);
	return true;
}

/* Prints where the table differs from CUDA's documents; how often. */
static int tell_documents(const struct sw_behaviour *table)
{
	int n = 0;
	puts("Different from CUDA's documents:");
	for (size_t i = 0; i < table->rows.n; i++) {
		const struct sw_behaviour_row *row = &table->rows.at[i];
		const struct sw_behaviour_known *known = sw_behaviour_known(row->name);
		for (int s = 0; known && s < SW_SPINNERS; s++)
			n += print_difference(row->name, s, row->waits[s].blocks, known->documented[s], "wait",
					      known->source);
	}
	return n;
}

/* Prints where the table differs from what is built in; how often. */
static int tell_built_in(const struct sw_behaviour *table)
{
	int n = 0;
	puts("Different from what was measured on H200 with driver 580:");
	for (size_t i = 0; i < table->rows.n; i++) {
		const struct sw_behaviour_row *row = &table->rows.at[i];
		const struct sw_behaviour_known *known = sw_behaviour_known(row->name);
		for (int s = 0; known && s < SW_SPINNERS; s++) {
			const struct sw_waits *w = &row->waits[s];
			n += print_difference(row->name, s, w->blocks, known->blocks[s], "wait", "the opposite there");
			n += print_difference(row->name, s, w->next, known->next[s], "hold on later work",
					      "the opposite there");
			n += print_difference(row->name, s, w->own, known->own[s], "hold on its own stream",
					      "the opposite there");
		}
	}
	return n;
}

/* Prints where the table differs from another one; how often. */
static int tell_table(const struct sw_behaviour *table, const struct sw_behaviour *other, const char *name)
{
	int n = 0;
	printf("Different from %s (%s, driver %u):\n", name, other->gpu, other->driver);
	for (size_t i = 0; i < table->rows.n; i++) {
		const struct sw_behaviour_row *row = &table->rows.at[i], *there = sw_behaviour_find(other, row->name);
		for (int s = 0; there && s < SW_SPINNERS; s++) {
			const struct sw_waits *w = &row->waits[s], *o = &there->waits[s];
			n += print_difference(row->name, s, w->blocks, o->blocks, "wait", "the opposite there");
			n += print_difference(row->name, s, w->next, o->next, "hold on later work",
					      "the opposite there");
			n += print_difference(row->name, s, w->own, o->own, "hold on its own stream",
					      "the opposite there");
		}
	}
	return n;
}

/* Says so where there was no difference. */
static void tell_count(int n)
{
	if (!n)
		puts("  nothing");
	putchar('\n');
}

/* Prints the head of a table and its differences; other: a table to compare with, NULL. */
static void print_table(const struct sw_behaviour *table, const struct sw_behaviour *other, const char *name)
{
	int unclear = 0, missing = 0;
	printf("%s, CUDA driver %u%s%s%s\n\n", table->gpu, table->driver, *table->driver_text ? ", " : "",
	       table->driver_text, table->simulated ? " (simulated CUDA)" : "");
	tell_count(tell_documents(table));
	tell_count(tell_built_in(table));
	if (other)
		tell_count(tell_table(table, other, name));
	for (size_t i = 0; i < table->rows.n; i++)
		for (int s = 0; s < SW_SPINNERS; s++) {
			const struct sw_waits *w = &table->rows.at[i].waits[s];
			unclear += w->blocks == '?' || w->next == '?' || w->own == '?';
			missing += w->blocks == '-';
		}
	printf("%zu %s, each with a kernel on %d kinds of streams, %d times: in %d %s the repetitions "
	       "disagree, %d could not be measured\n",
	       table->rows.n, sw_plural(table->rows.n, "call", "calls"), SW_SPINNERS, SW_CALIBRATE_REPETITIONS, unclear,
	       sw_plural((uint64_t)unclear, "cell", "cells"), missing);
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

/* The path of the only table that is stored, malloc'ed.  NULL: there is none, or more than one, which an error line
   has said. */
static char *only_stored_table(void)
{
	char *folder = sw_behaviour_folder(), *path = NULL;
	char *pattern = sw_format("%s/behaviour-%d-*.tsv", folder ? folder : "", SW_BEHAVIOUR_VERSION);
	glob_t found = {0};
	int rc = folder ? glob(pattern, 0, NULL, &found) : GLOB_NOMATCH;
	if (rc || !found.gl_pathc)
		sw_complain(SW_EXIT_INPUT, "no table is stored as %s: run 'syncwatch calibrate' first", pattern);
	else if (found.gl_pathc > 1)
		sw_complain(SW_EXIT_INPUT, "%zu tables are stored as %s: which one?", found.gl_pathc, pattern);
	else
		path = sw_strdup(found.gl_pathv[0]);
	globfree(&found);
	free(pattern);
	free(folder);
	return path;
}

/* Prints a table that was stored. */
static int show_table(const struct sw_options *options, const struct sw_behaviour *other)
{
	struct sw_behaviour table;
	char *path = options->n_operands ? sw_strdup(options->operands[0]) : only_stored_table();
	if (!path)
		return SW_EXIT_INPUT;
	int status = read_table(&table, path, options->n_operands != 0);
	free(path);
	if (status)
		return status;
	print_table(&table, options->compare ? other : NULL, options->compare);
	putchar('\n');
	sw_behaviour_write(&table, stdout);
	sw_behaviour_free(&table);
	return sw_finish_stdout(SW_EXIT_OK);
}

/* Measures, prints and stores a table. */
static int calibrate_table(const struct sw_options *options, const struct sw_behaviour *other)
{
	struct sw_behaviour table = {0};
	int status = measure_here(&table, options->sim);
	if (!status) {
		char *path = options->table ? sw_strdup(options->table) : sw_behaviour_path(table.gpu, table.driver);
		print_table(&table, options->compare ? other : NULL, options->compare);
		if (!options->table && path)
			make_folders(path);
		status = path ? store_table(&table, path)
			      : sw_complain(SW_EXIT_OUTPUT,
					    "nowhere to store the table: set HOME, or give --output FILE");
		free(path);
		status = sw_finish_stdout(status);
	}
	sw_behaviour_free(&table);
	return status;
}

/* `syncwatch calibrate`: measures which calls wait, or shows what was measured. */
int sw_cmd_calibrate(const struct sw_options *options)
{
	struct sw_behaviour other = {0};
	struct sw_error error;
	if (options->n_operands > options->show)
		return sw_complain_usage("'%s' is too much", options->operands[options->show]);
	if (options->table && sw_output_check(options->table, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	int status = options->compare ? read_table(&other, options->compare, true) : SW_EXIT_OK;
	if (!status)
		status = options->show ? show_table(options, &other) : calibrate_table(options, &other);
	sw_behaviour_free(&other);
	return status;
}
