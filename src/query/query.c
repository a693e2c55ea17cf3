/* SPDX-License-Identifier: Apache-2.0 */
#include "query/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "query/call_rows.h"
#include "query/description_rows.h"
#include "query/print.h"
#include "query/report_rows.h"

#define MOST_VALUE (16 << 20) /* bytes of one value, such as a string that a query puts together */

struct sw_query {
	sqlite3 *db;
	struct sw_rows rows;
	struct sw_call_rows calls;
	char *sql;
	const char *refused; /* what a statement may not do, as found while it is prepared */
};

/*
 * Nothing here must survive a crash, so there is no journal and nothing is flushed.  Temporary tables and sorts go to
 * files as well: a query may sort the calls of any trace.
 */
static const char settings[] = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
			       "PRAGMA temp_store = FILE; PRAGMA cache_size = -16384; PRAGMA page_size = 4096; BEGIN";

/* ---- what a statement may do ------------------------------------------------------------------------------------- */

static void want(struct sw_query *query, const char *table)
{
	const struct sw_schema_line *line;
	unsigned number = 0;
	for (size_t i = 0; (line = sw_schema_line(i)); i++)
		if (line->kind == SW_SCHEMA_TABLE)
			query->rows.wanted[number++] |= strcmp(line->name, table) == 0;
}

/* Queries read: they change nothing, attach no files and load no code. */
static int authorize(void *arg, int action, const char *what, const char *more, const char *database, const char *view)
{
	struct sw_query *query = arg;
	(void)database;
	(void)view;
	switch (action) {
	case SQLITE_READ:
		want(query, what);
		return SQLITE_OK;
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		if (strcmp(more, "load_extension") != 0)
			return SQLITE_OK;
		break;
	default:
		break;
	}
	query->refused = "only SELECT is possible: the trace cannot be changed";
	return SQLITE_DENY;
}

/* The message of SQLite, without the line breaks that a statement may have brought into it. */
static int complain(struct sw_query *query, int code, struct sw_error *error)
{
	if (code == SQLITE_NOMEM)
		return sw_fail(error, -ENOMEM, "out of memory");
	if (code == SQLITE_FULL || code == SQLITE_IOERR)
		return sw_fail(error, -ENOSPC, "the temporary database cannot be written: %s (TMPDIR says where it is)",
			       sqlite3_errmsg(query->db));
	return sw_fail(error, SW_E_USAGE, "%s", query->refused ? query->refused : sqlite3_errmsg(query->db));
}

static int prepare(struct sw_query *query, sqlite3_stmt **statement, const char **rest, struct sw_error *error)
{
	query->refused = NULL;
	int code = sqlite3_prepare_v2(query->db, query->sql, -1, statement, rest);
	return code ? complain(query, code, error) : 0;
}

int sw_query_ask(struct sw_query *query, const char *sql, struct sw_error *error)
{
	sqlite3_stmt *statement = NULL, *more = NULL;
	const char *rest;
	free(query->sql);
	query->sql = sw_strdup(sql);
	memset(query->rows.wanted, 0, sizeof query->rows.wanted);
	sqlite3_set_authorizer(query->db, authorize, query);
	int rc = prepare(query, &statement, &rest, error);
	if (!rc && (!statement || !sqlite3_column_count(statement)))
		rc = sw_fail(error, SW_E_USAGE, "the query is empty");
	/* Comments and blanks may follow. */
	if (!rc && (sqlite3_prepare_v2(query->db, rest, -1, &more, NULL) || more))
		rc = sw_fail(error, SW_E_USAGE, "one query at a time: '%.60s' follows it",
			     rest + strspn(rest, " \n\t;"));
	if (!rc && sqlite3_bind_parameter_count(statement))
		rc = sw_fail(error, SW_E_USAGE, "the query has a parameter, for which there is no value: %s",
			     sqlite3_bind_parameter_name(statement, 1) ? sqlite3_bind_parameter_name(statement, 1)
								       : "?");
	sqlite3_finalize(statement);
	sqlite3_finalize(more);
	sqlite3_set_authorizer(query->db, NULL, NULL);
	return rc;
}

bool sw_query_needs_report(const struct sw_query *query)
{
	const bool *wanted = query->rows.wanted;
	return wanted[SW_QUERY_findings] || wanted[SW_QUERY_accesses] || wanted[SW_QUERY_groups] ||
	       wanted[SW_QUERY_coverage];
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

int sw_query_new(const char *path, struct sw_query **out, struct sw_error *error)
{
	struct sw_query *query = sw_calloc(1, sizeof *query);
	int code = sqlite3_open_v2(path ? path : "", &query->db,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
	int rc = code ? sw_fail(error, SW_E_UNSUPPORTED, "'%s': %s", path ? path : "temporary database",
				query->db ? sqlite3_errmsg(query->db) : sqlite3_errstr(code))
		      : 0;
	if (!rc) {
		sqlite3_limit(query->db, SQLITE_LIMIT_LENGTH, MOST_VALUE);
		sqlite3_exec(query->db, settings, NULL, NULL, NULL);
		rc = sw_rows_open(&query->rows, query->db, error);
	}
	sw_call_rows_init(&query->calls, &query->rows);
	if (rc) {
		sw_query_free(query);
		return rc;
	}
	memset(query->rows.wanted, true, sizeof query->rows.wanted);
	*out = query;
	return 0;
}

void sw_query_free(struct sw_query *query)
{
	if (!query)
		return;
	sw_call_rows_free(&query->calls);
	sw_rows_close(&query->rows);
	sqlite3_close(query->db);
	free(query->sql);
	free(query);
}

const struct sw_observer *sw_query_observer(struct sw_query *query)
{
	return &query->calls.observer;
}

int sw_query_load(struct sw_query *query, const struct sw_reader *reader, const struct sw_judgement *judgement,
		  struct sw_report *report, struct sw_error *error)
{
	struct sw_error damage; /* is known from the first reading */
	struct sw_rows *rows = &query->rows;
	struct sw_names names;
	sw_call_rows_add(&query->calls, judgement, sw_reader_path(reader), &damage);
	sw_names_init(&names, reader, judgement);
	sw_call_rows_finish(&query->calls, &names);
	sw_description_rows(rows, &names, &query->calls.launches);
	sw_names_free(&names);
	if (report)
		sw_report_rows(rows, report);
	sw_rows_execute(rows, "COMMIT");
	if (!rows->failed)
		return 0;
	return sw_fail(error, rows->failed == SQLITE_NOMEM ? -ENOMEM : -ENOSPC, "the database cannot be written: %s",
		       rows->why);
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

int sw_query_print(struct sw_query *query, const struct sw_query_sink *sinks, size_t n, struct sw_error *error)
{
	sqlite3_stmt *statement = NULL;
	int code;
	sqlite3_set_authorizer(query->db, authorize, query);
	int rc = prepare(query, &statement, NULL, error);
	if (rc)
		return rc;
	struct sw_printer *printer = sw_printer_new(sinks, n, statement);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		sw_printer_row(printer, statement);
	sw_printer_end(printer);
	if (code != SQLITE_DONE)
		rc = complain(query, code, error);
	sqlite3_finalize(statement);
	return rc;
}
