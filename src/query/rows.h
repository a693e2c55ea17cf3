/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SW_QUERY_ROWS_H
#define SW_QUERY_ROWS_H

#include <sqlite3.h>

#include "query/query.h"

/* Tables and views of the database (schema.def). */

/* The tables, by their place in schema.def. */
enum sw_query_table {
#define SW_TABLE(name, meaning) SW_QUERY_##name,
#define SW_COLUMN(name, type, meaning)
#define SW_VIEW(name, rows, meaning)
#define SW_FIELD(name, value, meaning)
#include "query/schema.def"
#undef SW_TABLE
#undef SW_COLUMN
#undef SW_VIEW
#undef SW_FIELD
	SW_QUERY_TABLES
};

enum sw_schema_kind { SW_SCHEMA_TABLE, SW_SCHEMA_COLUMN, SW_SCHEMA_VIEW, SW_SCHEMA_FIELD };

/* A line of schema.def: a relation, or a column of the relation before it. */
struct sw_schema_line {
	enum sw_schema_kind kind;
	const char *name;
	const char *sql;     /* COLUMN: type; VIEW: rows; FIELD: value; TABLE: "" */
	const char *meaning; /* "" for what people do not ask */
};

/* NULL ends. */

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

struct sw_rows {
	sqlite3 *db;
	bool wanted[SW_QUERY_TABLES];
	sqlite3_stmt *insert[SW_QUERY_TABLES];
	sqlite3_stmt *at; /* the row that is being filled */
	int column;	  /* the last one that was given */
	int failed;	  /* SQLite's code of the first error, 0: none */
	char *why;	  /* malloc'ed */
};

/* Begins a row of the table.  False: the query does not use this table, or an error came before. */
bool sw_rows_begin(struct sw_rows *rows, enum sw_query_table table);
/* Fills the next column with a number. */
void sw_rows_number(struct sw_rows *rows, int64_t number);
/* Fills the next column with a time in milliseconds. */
void sw_rows_ms(struct sw_rows *rows, uint64_t ns);
void sw_rows_text(struct sw_rows *rows, const char *text); /* NULL: NULL; copied */
/* Fills the next column with NULL. */
void sw_rows_null(struct sw_rows *rows);
/* Fills the next column with a number, or with NULL for 0. */
void sw_rows_known(struct sw_rows *rows, int64_t number);
/* Ends the row, which is then in the table. */
void sw_rows_end(struct sw_rows *rows);

/* Rows that are made while a trace is judged: calls, their kinds, order. */

struct sw_call_rows {
	struct sw_rows *rows;
	const struct sw_judgement *judgement; /* so far */
	struct sw_observer observer;
	struct sw_map apis;	   /* entry point, API and kind of record -> row of raw_apis */
	struct sw_map launches;	   /* kernel -> how many */
	struct sw_map events;	   /* handle -> number */
	struct sw_map allocations; /* address -> struct sw_rec_alloc of what lives there now, malloc'ed */
	uint64_t last_event;
};

void sw_call_rows_init(struct sw_call_rows *calls, struct sw_rows *rows);
void sw_call_rows_free(struct sw_call_rows *calls);

/* Adds calls that the judge does not report: errors of calls that waited, and calls after an error that ended their
   context, from another reading of the file.  0, or <0 with error filled. */
int sw_call_rows_add(struct sw_call_rows *calls, const struct sw_judgement *judgement, const char *path,
		     struct sw_error *error);
/* When all calls were seen: adds what they are called, and the memory that was not freed. */
void sw_call_rows_finish(struct sw_call_rows *calls, struct sw_names *names);

/* Rows of what others refer to: the program, its threads, modules, streams, kernels, call stacks. */

/* Adds the rows of what a trace describes: process, devices, threads, kernels.  `launches`: of each kernel. */
void sw_description_rows(struct sw_rows *rows, struct sw_names *names, const struct sw_map *launches);

/* Rows of a report: findings, their operations, their causes. */

void sw_report_rows(struct sw_rows *rows, struct sw_report *report);

#endif
