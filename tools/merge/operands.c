/* SPDX-License-Identifier: Apache-2.0 */
#include "merge/operands.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

/* Is the file the JSON of a merge of some ranks, not a trace? */
static bool is_partial(const char *path)
{
	FILE *file = fopen(path, "re");
	int byte = EOF;
	while (file && (byte = getc(file)) != EOF && isspace(byte))
		continue;
	if (file)
		fclose(file);
	return byte == '{';
}

/* Adds a file; takes the path. */
static void append_operand(struct sw_merge_operands *operands, char *path)
{
	*sw_vec_push(&operands->at) = (struct sw_merge_operand){path, is_partial(path)};
}

/* Adds the traces of a folder. */
static int add_folder(struct sw_merge_operands *operands, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	const size_t before = operands->at.n;
	if (!dir)
		return sw_complain(SW_EXIT_INPUT, "%s: %s", folder, strerror(errno));
	while ((entry = readdir(dir)))
		if (fnmatch("*.swt", entry->d_name, 0) == 0 || fnmatch("*.swt.zst", entry->d_name, 0) == 0)
			append_operand(operands, sw_format("%s/%s", folder, entry->d_name));
	closedir(dir);
	return operands->at.n > before ? SW_EXIT_OK : sw_complain(SW_EXIT_INPUT, "%s holds no trace (*.swt)", folder);
}

/* Adds a file, the traces of a folder, or what fits a pattern that the shell left alone. */
static int add_operand(struct sw_merge_operands *operands, const char *operand)
{
	struct stat s;
	glob_t found;
	if (stat(operand, &s) == 0) {
		if (S_ISDIR(s.st_mode))
			return add_folder(operands, operand);
	} else if (glob(operand, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			append_operand(operands, sw_strdup(found.gl_pathv[i]));
		globfree(&found);
		return SW_EXIT_OK;
	}
	append_operand(operands, sw_strdup(operand));
	return SW_EXIT_OK;
}

/* For qsort(): by path. */
static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct sw_merge_operand *)a)->path, ((const struct sw_merge_operand *)b)->path);
}

/* Sorts the files and drops those that are named twice. */
static void sort_operands(struct sw_merge_operands *operands)
{
	size_t kept = 0;
	if (operands->at.n)
		qsort(operands->at.at, operands->at.n, sizeof *operands->at.at, by_path);
	for (size_t i = 0; i < operands->at.n; i++)
		if (kept && strcmp(operands->at.at[kept - 1].path, operands->at.at[i].path) == 0)
			free(operands->at.at[i].path);
		else
			operands->at.at[kept++] = operands->at.at[i];
	operands->at.n = kept;
}

/* Finds the files that the operands mean. */
int sw_merge_operands_find(struct sw_merge_operands *operands, const struct sw_options *options)
{
	int status = SW_EXIT_OK;
	for (int i = 0; i < options->n_operands && !status; i++)
		status = add_operand(operands, options->operands[i]);
	sort_operands(operands);
	return status;
}

/* Keeps share i of n of the files. */
void sw_merge_operands_share(struct sw_merge_operands *operands, uint32_t i, uint32_t n)
{
	size_t kept = 0;
	for (size_t k = 0; k < operands->at.n; k++)
		if (k % n == i)
			operands->at.at[kept++] = operands->at.at[k];
		else
			free(operands->at.at[k].path);
	operands->at.n = kept;
}

/* Frees the paths. */
void sw_merge_operands_free(struct sw_merge_operands *operands)
{
	for (size_t i = 0; i < operands->at.n; i++)
		free(operands->at.at[i].path);
	free(operands->at.at);
}
