/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and views of the database (schema.def). */
#ifndef SW_QUERY_SCHEMA_H
#define SW_QUERY_SCHEMA_H

#include <stddef.h>

/* What is stored, by its place among the tables. */
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
const struct sw_schema_line *sw_schema_line(size_t index);

/* The statement that makes the relation whose line has this index, or that inserts a row into the table.  malloc'ed. */
char *sw_schema_create(size_t index);
char *sw_schema_insert(size_t index);

#endif
