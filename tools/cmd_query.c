/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch query: SQL queries of a trace. */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "command.h"
#include "output.h"
#include "query_database.h"
#include "terminal.h"

#ifndef HAVE_SQLITE
/* `syncwatch query` in a build without SQLite. */
int sw_cmd_query(const struct sw_options *options)
{
	(void)options;
	return sw_complain(SW_EXIT_USAGE, "%s", SW_QUERY_ABSENT);
}
#else

/* Standard output, --csv and --json. */
#define SINKS 3
struct answer {
	struct sw_output csv, json;
	struct sw_query_sink sinks[SINKS];
	size_t n;
};

/* The form of this name; a status after one line for an unknown one. */
static int form_of(const char *format, enum sw_query_form *form)
{
	static const char *const names[] = {
		[SW_QUERY_TABLE] = "table", [SW_QUERY_CSV] = "csv", [SW_QUERY_JSON] = "json"};
	*form = SW_QUERY_TABLE;
	for (size_t i = 0; format && i < sizeof names / sizeof *names; i++)
		if (strcmp(format, names[i]) == 0) {
			*form = (enum sw_query_form)i;
			return SW_EXIT_OK;
		}
	return format ? sw_complain_usage("unknown format '%s': table, csv or json", format) : SW_EXIT_OK;
}

/* Adds a file that the answer is written to; path NULL: none. */
static int add_file(struct answer *answer, struct sw_output *output, const char *path, enum sw_query_form form)
{
	struct sw_error error;
	if (!path)
		return SW_EXIT_OK;
	if (sw_output_open(output, path, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	answer->sinks[answer->n++] = (struct sw_query_sink){.out = output->file, .form = form};
	return SW_EXIT_OK;
}

/* Completes a file; its status, or the one before. */
static int close_file(struct sw_output *output, int status)
{
	struct sw_error error;
	if (!output->file)
		return status;
	if (sw_output_close(output, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	return status;
}

/* Prints the answers to all statements, and writes them to files. */
static int print_rows(struct sw_query *query, const struct sw_options *options, enum sw_query_form form)
{
	struct sw_error error;
	struct sw_text_style style = sw_terminal_style(STDOUT_FILENO, options);
	struct answer answer = {
		.n = 1,
		.sinks = {{.out = stdout, .form = form, .terminal = isatty(STDOUT_FILENO), .columns = style.columns}}};
	int status = add_file(&answer, &answer.csv, options->csv, SW_QUERY_CSV);
	if (!status)
		status = add_file(&answer, &answer.json, options->json, SW_QUERY_JSON);
	if (!status && sw_query_print(query, answer.sinks, answer.n, &error)) {
		fflush(stdout);
		status = sw_complain(sw_query_status(&error), "%s", error.text);
	}
	if (status) {
		sw_output_drop(&answer.csv);
		sw_output_drop(&answer.json);
		return status;
	}
	return close_file(&answer.json, close_file(&answer.csv, status));
}

/* `syncwatch query`: one SQL query of a trace, printed and written to the files that are asked for. */
int sw_cmd_query(const struct sw_options *options)
{
	struct sw_query *query;
	struct sw_error error;
	enum sw_query_form form;
	if (options->tables) {
		sw_query_tables(stdout);
		return sw_finish_stdout(SW_EXIT_OK);
	}
	if (options->n_operands != 2)
		return sw_complain_usage(options->n_operands == 0   ? "which trace?"
					 : options->n_operands == 1 ? "which query? --tables lists what there is"
								    : "one trace and one query, in quotes");
	int status = form_of(options->rows, &form);
	if (status)
		return status;
	const char *files[] = {options->csv, options->json};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (files[i] && sw_output_check(files[i], &error))
			return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	if (sw_query_new(NULL, &query, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	if (sw_query_ask(query, options->operands[1], &error))
		status = sw_complain(sw_query_status(&error), "%s", error.text);
	bool loaded = false;
	if (!status)
		status = sw_query_fill(query, options->operands[0], options, &loaded);
	/* A damaged trace gives an answer and the status. */
	int printed = loaded ? print_rows(query, options, form) : SW_EXIT_OK;
	sw_query_free(query);
	return sw_finish_stdout(status ? status : printed);
}
#endif
