/* SPDX-License-Identifier: Apache-2.0 */
#include "query/rows.h"

#include <stdlib.h>

#include "base/memory.h"

static void check(struct sw_rows *rows, int code)
{
	if (rows->failed || code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW)
		return;
	rows->failed = code;
	rows->why = sw_strdup(sqlite3_errmsg(rows->db));
}

void sw_rows_execute(struct sw_rows *rows, const char *sql)
{
	if (!rows->failed)
		check(rows, sqlite3_exec(rows->db, sql, NULL, NULL, NULL));
}

int sw_rows_open(struct sw_rows *rows, sqlite3 *db, struct sw_error *error)
{
	const struct sw_schema_line *line;
	unsigned table = 0;
	*rows = (struct sw_rows){.db = db};
	for (size_t i = 0; (line = sw_schema_line(i)) && !rows->failed; i++) {
		if (line->kind != SW_SCHEMA_TABLE && line->kind != SW_SCHEMA_VIEW)
			continue;
		char *create = sw_schema_create(i), *insert = sw_schema_insert(i);
		sw_rows_execute(rows, create);
		if (line->kind == SW_SCHEMA_TABLE && !rows->failed)
			check(rows, sqlite3_prepare_v3(db, insert, -1, SQLITE_PREPARE_PERSISTENT,
						       &rows->insert[table++], NULL));
		free(create);
		free(insert);
	}
	return rows->failed ? sw_fail(error, SW_E_UNSUPPORTED, "the database cannot be made: %s", rows->why) : 0;
}

void sw_rows_close(struct sw_rows *rows)
{
	for (unsigned i = 0; i < SW_QUERY_TABLES; i++)
		sqlite3_finalize(rows->insert[i]);
	free(rows->why);
	*rows = (struct sw_rows){0};
}

bool sw_rows_begin(struct sw_rows *rows, enum sw_query_table table)
{
	if (!rows->wanted[table] || rows->failed)
		return false;
	rows->at = rows->insert[table];
	rows->column = 0;
	return true;
}

void sw_rows_number(struct sw_rows *rows, int64_t number)
{
	check(rows, sqlite3_bind_int64(rows->at, ++rows->column, number));
}

static void put_real(struct sw_rows *rows, double number)
{
	check(rows, sqlite3_bind_double(rows->at, ++rows->column, number));
}

void sw_rows_ms(struct sw_rows *rows, uint64_t ns)
{
	put_real(rows, (double)ns / 1e6);
}

void sw_rows_text(struct sw_rows *rows, const char *text)
{
	check(rows, text ? sqlite3_bind_text(rows->at, ++rows->column, text, -1, SQLITE_TRANSIENT)
			 : sqlite3_bind_null(rows->at, ++rows->column));
}

void sw_rows_null(struct sw_rows *rows)
{
	check(rows, sqlite3_bind_null(rows->at, ++rows->column));
}

void sw_rows_known(struct sw_rows *rows, int64_t number)
{
	if (number)
		sw_rows_number(rows, number);
	else
		sw_rows_null(rows);
}

void sw_rows_end(struct sw_rows *rows)
{
	/* A column that is left out would keep the value of the row before. */
	if (rows->column != sqlite3_bind_parameter_count(rows->at))
		check(rows, SQLITE_MISUSE);
	check(rows, sqlite3_step(rows->at));
	check(rows, sqlite3_reset(rows->at));
}
