/* SPDX-License-Identifier: Apache-2.0 */
#include "query/schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "query/query.h"

static const struct sw_schema_line lines[] = {
#define SW_TABLE(name, meaning)	       {SW_SCHEMA_TABLE, #name, "", meaning},
#define SW_COLUMN(name, type, meaning) {SW_SCHEMA_COLUMN, #name, type, meaning},
#define SW_VIEW(name, rows, meaning)   {SW_SCHEMA_VIEW, #name, rows, meaning},
#define SW_FIELD(name, value, meaning) {SW_SCHEMA_FIELD, #name, value, meaning},
#include "query/schema.def"
#undef SW_TABLE
#undef SW_COLUMN
#undef SW_VIEW
#undef SW_FIELD
};
#define LINES (sizeof lines / sizeof *lines)

const struct sw_schema_line *sw_schema_line(size_t index)
{
	return index < LINES ? &lines[index] : NULL;
}

/* Adds to a malloc'ed text. */
#define APPEND(text, ...)                                                                                              \
	do {                                                                                                           \
		char *longer_ = sw_format(__VA_ARGS__);                                                                \
		free(text);                                                                                            \
		(text) = longer_;                                                                                      \
	} while (0)

char *sw_schema_create(size_t index)
{
	const struct sw_schema_line *relation = &lines[index];
	const bool view = relation->kind == SW_SCHEMA_VIEW;
	char *sql = view ? sw_format("CREATE VIEW \"%s\" AS SELECT", relation->name)
			 : sw_format("CREATE TABLE \"%s\"(", relation->name);
	for (size_t i = index + 1; i < LINES; i++) {
		const struct sw_schema_line *column = &lines[i];
		const char *comma = i == index + 1 ? "" : ",";
		if (column->kind != SW_SCHEMA_COLUMN && column->kind != SW_SCHEMA_FIELD)
			break;
		if (view)
			APPEND(sql, "%s%s %s AS \"%s\"", sql, comma, column->sql, column->name);
		else
			APPEND(sql, "%s%s\"%s\" %s", sql, comma, column->name, column->sql);
	}
	if (view)
		APPEND(sql, "%s FROM %s", sql, relation->sql);
	else
		APPEND(sql, "%s)", sql);
	return sql;
}

char *sw_schema_insert(size_t index)
{
	char *sql = sw_format("INSERT OR IGNORE INTO \"%s\" VALUES(?", lines[index].name);
	for (size_t i = index + 2; i < LINES && lines[i].kind == SW_SCHEMA_COLUMN; i++)
		APPEND(sql, "%s,?", sql);
	APPEND(sql, "%s)", sql);
	return sql;
}

void sw_query_tables(FILE *out)
{
	const struct sw_schema_line *line;
	bool shown = false;
	for (size_t i = 0; (line = sw_schema_line(i)); i++) {
		bool relation = line->kind == SW_SCHEMA_TABLE || line->kind == SW_SCHEMA_VIEW;
		if (relation)
			shown = *line->meaning;
		if (relation && shown)
			fprintf(out, "%s: %s\n", line->name, line->meaning);
		else if (shown)
			fprintf(out, "  %-20s %s\n", line->name, line->meaning);
	}
}
