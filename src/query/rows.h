/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows on their way into the database.
 *
 *     if (sw_rows_begin(rows, SW_QUERY_devices)) {
 *             sw_rows_number(rows, ordinal);          // the columns, in the order of schema.def
 *             ...
 *             sw_rows_end(rows);
 *     }
 *
 * The first error is kept: after it nothing is stored.
 */
#ifndef SW_QUERY_ROWS_H
#define SW_QUERY_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "query/schema.h"

struct sw_rows {
	sqlite3 *db;
	bool wanted[SW_QUERY_TABLES];
	sqlite3_stmt *insert[SW_QUERY_TABLES];
	sqlite3_stmt *at; /* the row that is being filled */
	int column;	  /* the last one that was given */
	int failed;	  /* SQLite's code of the first error, 0: none */
	char *why;	  /* malloc'ed */
};

/* Makes tables and views, and a statement for each table. 0, or <0 with error filled. */
int sw_rows_open(struct sw_rows *rows, sqlite3 *db, struct sw_error *error);
void sw_rows_close(struct sw_rows *rows);

/* False: the query does not use this table, or an error came before. */
bool sw_rows_begin(struct sw_rows *rows, enum sw_query_table table);
void sw_rows_number(struct sw_rows *rows, int64_t number);
void sw_rows_ms(struct sw_rows *rows, uint64_t ns);
void sw_rows_text(struct sw_rows *rows, const char *text); /* NULL: NULL; copied */
void sw_rows_null(struct sw_rows *rows);
/* NULL for 0. */
void sw_rows_known(struct sw_rows *rows, int64_t number);
void sw_rows_end(struct sw_rows *rows);

/* Runs a statement that answers nothing. */
void sw_rows_execute(struct sw_rows *rows, const char *sql);

#endif
