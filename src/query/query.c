/* SPDX-License-Identifier: Apache-2.0 */
#include "query/rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/json/json_out.h"
#include "report/text/text_out.h"

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

/* The lines of schema.def, by index; NULL ends. */
static const struct sw_schema_line *line_of_schema(size_t index)
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

/* The statement that makes the relation whose line has this index, or that inserts a row into the table.  malloc'ed. */
static char *schema_create(size_t index)
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

/* The statement that inserts a row into the table whose line has this index.  malloc'ed. */
static char *schema_insert(size_t index)
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
	for (size_t i = 0; (line = line_of_schema(i)); i++) {
		bool relation = line->kind == SW_SCHEMA_TABLE || line->kind == SW_SCHEMA_VIEW;
		if (relation)
			shown = *line->meaning;
		if (relation && shown)
			fprintf(out, "%s: %s\n", line->name, line->meaning);
		else if (shown)
			fprintf(out, "  %-20s %s\n", line->name, line->meaning);
	}
}

/* Keeps the first error of SQLite. */
static void check_code(struct sw_rows *rows, int code)
{
	if (rows->failed || code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW)
		return;
	rows->failed = code;
	rows->why = sw_strdup(sqlite3_errmsg(rows->db));
}

/* Runs an SQL statement that gives no rows, unless an earlier one failed. */
static void rows_execute(struct sw_rows *rows, const char *sql)
{
	if (!rows->failed)
		check_code(rows, sqlite3_exec(rows->db, sql, NULL, NULL, NULL));
}

/* Makes tables and views, and a statement for each table. 0, or <0 with error filled. */
static int rows_open(struct sw_rows *rows, sqlite3 *db, struct sw_error *error)
{
	const struct sw_schema_line *line;
	unsigned table = 0;
	*rows = (struct sw_rows){.db = db};
	for (size_t i = 0; (line = line_of_schema(i)) && !rows->failed; i++) {
		if (line->kind != SW_SCHEMA_TABLE && line->kind != SW_SCHEMA_VIEW)
			continue;
		char *create = schema_create(i), *insert = schema_insert(i);
		rows_execute(rows, create);
		if (line->kind == SW_SCHEMA_TABLE && !rows->failed)
			check_code(rows, sqlite3_prepare_v3(db, insert, -1, SQLITE_PREPARE_PERSISTENT,
							    &rows->insert[table++], NULL));
		free(create);
		free(insert);
	}
	return rows->failed ? sw_fail(error, SW_E_UNSUPPORTED, "the database cannot be made: %s", rows->why) : 0;
}

/* Frees the statements. */
static void rows_close(struct sw_rows *rows)
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

/* Adds a number to the row that is being made. */
void sw_rows_number(struct sw_rows *rows, int64_t number)
{
	check_code(rows, sqlite3_bind_int64(rows->at, ++rows->column, number));
}

/* Adds a real number to the row. */
static void put_real(struct sw_rows *rows, double number)
{
	check_code(rows, sqlite3_bind_double(rows->at, ++rows->column, number));
}

/* Adds a time to the row, in milliseconds. */
void sw_rows_ms(struct sw_rows *rows, uint64_t ns)
{
	put_real(rows, (double)ns / 1e6);
}

/* Adds a text to the row; NULL for NULL. */
void sw_rows_text(struct sw_rows *rows, const char *text)
{
	check_code(rows, text ? sqlite3_bind_text(rows->at, ++rows->column, text, -1, SQLITE_TRANSIENT)
			      : sqlite3_bind_null(rows->at, ++rows->column));
}

void sw_rows_null(struct sw_rows *rows)
{
	check_code(rows, sqlite3_bind_null(rows->at, ++rows->column));
}

void sw_rows_known(struct sw_rows *rows, int64_t number)
{
	if (number)
		sw_rows_number(rows, number);
	else
		sw_rows_null(rows);
}

/* Inserts the row, all of whose columns must have been given. */
void sw_rows_end(struct sw_rows *rows)
{
	/* A column that is left out would keep the value of the row before. */
	if (rows->column != sqlite3_bind_parameter_count(rows->at))
		check_code(rows, SQLITE_MISUSE);
	check_code(rows, sqlite3_step(rows->at));
	check_code(rows, sqlite3_reset(rows->at));
}

/* Rows of an answer as a table, as CSV (RFC 4180, lines end with LF) or as JSON (an array of objects). */

/* The columns of a table are as wide as these rows need, and no wider than this: later ones may stick out. */
#define ROWS_HELD  500
#define BYTES_HELD (1 << 20)
#define WIDEST	   80

/* A value as text; NULL for NULL. */
struct cell {
	char *text;
	bool number;
};

/* Rows are shown once it is known how wide they are. */
struct table {
	SW_VEC(struct cell) held; /* row by row */
	size_t bytes;
	size_t *width;
	bool *numbers; /* of each column: nothing but numbers so far */
	bool begun;
	bool upright; /* one value a line: a row does not fit */
};

struct sink {
	struct sw_query_sink to;
	struct table table;
};

struct sw_printer {
	struct sink *sinks;
	size_t n, rows;
	int columns;
	char **name;
	struct cell *row;
};

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* Writes bytes as SQL does: x'00ff'; malloc'ed. */
static char *blob_text(const unsigned char *bytes, size_t n)
{
	char *text = sw_alloc(2 * n + 4), *at = text;
	*at++ = 'x';
	*at++ = '\'';
	for (size_t i = 0; i < n; i++) {
		*at++ = "0123456789abcdef"[bytes[i] >> 4];
		*at++ = "0123456789abcdef"[bytes[i] & 15];
	}
	*at++ = '\'';
	*at = 0;
	return text;
}

/* A value of an answer as text. */
static struct cell cell_of(sqlite3_stmt *statement, int column)
{
	struct cell cell = {0};
	const int type = sqlite3_column_type(statement, column);
	if (type == SQLITE_NULL)
		return cell;
	cell.number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
	if (type == SQLITE_BLOB) {
		const unsigned char *bytes = sqlite3_column_blob(statement, column);
		cell.text = blob_text(bytes, (size_t)sqlite3_column_bytes(statement, column));
		return cell;
	}
	const char *text = (const char *)sqlite3_column_text(statement, column);
	size_t n = (size_t)sqlite3_column_bytes(statement, column);
	cell.text = sw_calloc(n + 1, 1);
	/* A NUL within a text would end it here. */
	for (size_t i = 0; text && i < n; i++)
		cell.text[i] = text[i] ? text[i] : '?';
	return cell;
}

/* Writes a value; control characters are made visible on terminals. */
static void put_text(const struct sw_query_sink *to, const char *text)
{
	if (to->terminal || to->form == SW_QUERY_TABLE)
		sw_out_text(&(struct sw_out){.file = to->out}, text);
	else
		fputs(text, to->out);
}

/* ---- CSV and JSON ------------------------------------------------------------------------------------------------ */

/* Writes a value of CSV, quoted where needed. */
static void put_csv(const struct sw_query_sink *to, const char *text, bool first)
{
	if (!first)
		putc(',', to->out);
	if (!text)
		return;
	if (*text && !strpbrk(text, ",\"\r\n")) {
		put_text(to, text);
		return;
	}
	putc('"', to->out);
	for (const char *at = text; *at;) {
		size_t n = strcspn(at, "\"");
		char *part = sw_strndup(at, n);
		put_text(to, part);
		free(part);
		at += n;
		if (*at) {
			fputs("\"\"", to->out);
			at++;
		}
	}
	putc('"', to->out);
}

/* Prints a string as JSON.  That leaves characters from U+0080 to U+009F as they are, which some terminals obey: for a
   terminal put_text() makes them harmless. */
static void put_quoted(const struct sw_query_sink *to, const char *text)
{
	char *quoted = NULL;
	size_t bytes;
	FILE *out = to->terminal ? open_memstream(&quoted, &bytes) : NULL;
	sw_json_quote(out ? out : to->out, text);
	if (!out)
		return;
	fclose(out);
	put_text(to, quoted);
	free(quoted);
}

/* Writes a row as an object of JSON. */
static void put_json(const struct sw_query_sink *to, const struct sw_printer *p)
{
	fputs(p->rows ? ",\n{" : "[\n{", to->out);
	for (int i = 0; i < p->columns; i++) {
		const struct cell *cell = &p->row[i];
		if (i)
			fputs(", ", to->out);
		put_quoted(to, p->name[i]);
		fputs(": ", to->out);
		if (!cell->text || (cell->number && strstr(cell->text, "Inf")))
			fputs("null", to->out);
		else if (cell->number)
			fputs(cell->text, to->out);
		else
			put_quoted(to, cell->text);
	}
	putc('}', to->out);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Writes a value padded to its column's width; right: numbers, last: no padding is needed after it. */
static void put_padded(const struct sw_query_sink *to, const char *text, size_t width, bool right, bool last)
{
	size_t own = sw_out_width(text);
	int pad = own < width ? (int)(width - own) : 0;
	if (right)
		fprintf(to->out, "%*s", pad, "");
	put_text(to, text);
	if (!right && !last)
		fprintf(to->out, "%*s", pad, "");
	fputs(last ? "\n" : "  ", to->out);
}

/* Writes a row of the table, or a line for each value where rows do not fit. */
static void put_line(const struct sink *s, const struct sw_printer *p, const struct cell *row)
{
	const struct table *t = &s->table;
	if (t->upright) {
		for (int i = 0; i < p->columns; i++) {
			put_padded(&s->to, p->name[i], t->width[p->columns], /* right */ false,
				   /* last */ false);
			put_padded(&s->to, row[i].text ? row[i].text : "", 0, /* right */ false, /* last */ true);
		}
		putc('\n', s->to.out);
		return;
	}
	for (int i = 0; i < p->columns; i++)
		put_padded(&s->to, row[i].text ? row[i].text : "", t->width[i], t->numbers[i], i + 1 == p->columns);
}

/* Writes the heads of the columns, unless rows do not fit. */
static void put_head(struct sink *s, const struct sw_printer *p)
{
	static const char rule[WIDEST + 1] = "----------------------------------------"
					     "----------------------------------------";
	struct table *t = &s->table;
	size_t all = 0;
	for (int i = 0; i < p->columns; i++)
		all += t->width[i] + 2;
	t->upright = s->to.columns && all > s->to.columns + 2;
	if (t->upright)
		return;
	for (int i = 0; i < p->columns; i++)
		put_padded(&s->to, p->name[i], t->width[i], t->numbers[i], i + 1 == p->columns);
	for (int i = 0; i < p->columns; i++)
		fprintf(s->to.out, "%.*s%s", (int)t->width[i], rule, i + 1 == p->columns ? "\n" : "  ");
}

/* Finds the widths of the columns by the rows that are held back. */
static void measure_columns(struct sink *s, const struct sw_printer *p)
{
	struct table *t = &s->table;
	for (size_t i = 0; i < t->held.n; i++) {
		const struct cell *cell = &t->held.at[i];
		size_t column = i % (size_t)p->columns, width = cell->text ? sw_out_width(cell->text) : 0;
		if (width > t->width[column])
			t->width[column] = width < WIDEST ? width : WIDEST;
		t->numbers[column] &= !cell->text || cell->number;
	}
}

/* Writes the rows that are held back, the head before them. */
static void show_held(struct sink *s, const struct sw_printer *p)
{
	struct table *t = &s->table;
	if (!t->begun) {
		measure_columns(s, p);
		put_head(s, p);
		t->begun = true;
	}
	for (size_t i = 0; i < t->held.n; i += (size_t)p->columns)
		put_line(s, p, &t->held.at[i]);
	for (size_t i = 0; i < t->held.n; i++)
		free(t->held.at[i].text);
	t->held.n = 0;
}

/* Holds a row back until enough rows show how wide the columns are. */
static void hold_table(struct sink *s, const struct sw_printer *p)
{
	struct table *t = &s->table;
	if (t->begun) {
		put_line(s, p, p->row);
		return;
	}
	for (int i = 0; i < p->columns; i++) {
		struct cell copy = p->row[i];
		copy.text = copy.text ? sw_strdup(copy.text) : NULL;
		t->bytes += copy.text ? strlen(copy.text) : 0;
		*sw_vec_push(&t->held) = copy;
	}
	if (p->rows + 1 >= ROWS_HELD || t->bytes >= BYTES_HELD)
		show_held(s, p);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* Objects whose members have one name would lose all but one. */
static char *name_of(sqlite3_stmt *statement, int column)
{
	const char *name = sqlite3_column_name(statement, column);
	unsigned same = 1;
	for (int i = 0; i < column; i++)
		same += strcmp(name, sqlite3_column_name(statement, i)) == 0;
	return same > 1 ? sw_format("%s_%u", name, same) : sw_strdup(name);
}

/* Prepares to write the rows of an answer to several files. */
static struct sw_printer *printer_new(const struct sw_query_sink *sinks, size_t n, sqlite3_stmt *statement)
{
	struct sw_printer *p = sw_calloc(1, sizeof *p);
	p->n = n;
	p->sinks = sw_calloc(n, sizeof *p->sinks);
	p->columns = sqlite3_column_count(statement);
	p->name = sw_calloc((size_t)p->columns, sizeof *p->name);
	p->row = sw_calloc((size_t)p->columns, sizeof *p->row);
	for (int i = 0; i < p->columns; i++)
		p->name[i] = name_of(statement, i);
	for (size_t i = 0; i < n; i++) {
		struct sink *s = &p->sinks[i];
		s->to = sinks[i];
		s->table.width = sw_calloc((size_t)p->columns + 1, sizeof *s->table.width);
		s->table.numbers = sw_calloc((size_t)p->columns, sizeof *s->table.numbers);
		for (int k = 0; k < p->columns; k++) {
			size_t width = sw_out_width(p->name[k]);
			s->table.width[k] = width < WIDEST ? width : WIDEST;
			s->table.numbers[k] = true;
			if (s->table.width[k] > s->table.width[p->columns])
				s->table.width[p->columns] = s->table.width[k];
			if (s->to.form == SW_QUERY_CSV)
				put_csv(&s->to, p->name[k], k == 0);
		}
		if (s->to.form == SW_QUERY_CSV)
			putc('\n', s->to.out);
	}
	return p;
}

/* Writes a row to each file in its form. */
static void printer_row(struct sw_printer *p, sqlite3_stmt *statement)
{
	for (int i = 0; i < p->columns; i++)
		p->row[i] = cell_of(statement, i);
	for (size_t i = 0; i < p->n; i++) {
		struct sink *s = &p->sinks[i];
		if (s->to.form == SW_QUERY_TABLE)
			hold_table(s, p);
		else if (s->to.form == SW_QUERY_JSON)
			put_json(&s->to, p);
		for (int k = 0; k < p->columns && s->to.form == SW_QUERY_CSV; k++)
			put_csv(&s->to, p->row[k].text, k == 0);
		if (s->to.form == SW_QUERY_CSV)
			putc('\n', s->to.out);
	}
	for (int i = 0; i < p->columns; i++)
		free(p->row[i].text);
	p->rows++;
}

/* Prints the rows that are held to align a table, or the end of a JSON array, and frees. */
static void printer_end(struct sw_printer *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct sink *s = &p->sinks[i];
		if (s->to.form == SW_QUERY_TABLE)
			show_held(s, p);
		else if (s->to.form == SW_QUERY_JSON)
			fputs(p->rows ? "\n]\n" : "[]\n", s->to.out);
		free(s->table.held.at);
		free(s->table.width);
		free(s->table.numbers);
	}
	for (int i = 0; i < p->columns; i++)
		free(p->name[i]);
	free(p->name);
	free(p->row);
	free(p->sinks);
	free(p);
}

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

/* Notes that the query uses this table, whose rows are needed then. */
static void want_table(struct sw_query *query, const char *table)
{
	const struct sw_schema_line *line;
	unsigned number = 0;
	for (size_t i = 0; (line = line_of_schema(i)); i++)
		if (line->kind == SW_SCHEMA_TABLE)
			query->rows.wanted[number++] |= strcmp(line->name, table) == 0;
}

/* Queries read: they change nothing, attach no files and load no code. */
static int authorize_action(void *arg, int action, const char *what, const char *more, const char *database,
			    const char *view)
{
	struct sw_query *query = arg;
	(void)database;
	(void)view;
	switch (action) {
	case SQLITE_READ:
		want_table(query, what);
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

/* Fills `error` by what SQLite says, without the line breaks that a statement may have brought into it. */
static int fail_query(struct sw_query *query, int code, struct sw_error *error)
{
	if (code == SQLITE_NOMEM)
		return sw_fail(error, -ENOMEM, "out of memory");
	if (code == SQLITE_FULL || code == SQLITE_IOERR)
		return sw_fail(error, -ENOSPC, "the temporary database cannot be written: %s (TMPDIR says where it is)",
			       sqlite3_errmsg(query->db));
	return sw_fail(error, SW_E_USAGE, "%s", query->refused ? query->refused : sqlite3_errmsg(query->db));
}

/* Prepares the user's statement; *rest: what follows it. */
static int prepare_select(struct sw_query *query, sqlite3_stmt **statement, const char **rest, struct sw_error *error)
{
	query->refused = NULL;
	int code = sqlite3_prepare_v2(query->db, query->sql, -1, statement, rest);
	return code ? fail_query(query, code, error) : 0;
}

int sw_query_ask(struct sw_query *query, const char *sql, struct sw_error *error)
{
	sqlite3_stmt *statement = NULL, *more = NULL;
	const char *rest;
	free(query->sql);
	query->sql = sw_strdup(sql);
	memset(query->rows.wanted, 0, sizeof query->rows.wanted);
	sqlite3_set_authorizer(query->db, authorize_action, query);
	int rc = prepare_select(query, &statement, &rest, error);
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
		rc = rows_open(&query->rows, query->db, error);
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

/* Frees the database; NULL is allowed. */
void sw_query_free(struct sw_query *query)
{
	if (!query)
		return;
	sw_call_rows_free(&query->calls);
	rows_close(&query->rows);
	sqlite3_close(query->db);
	free(query->sql);
	free(query);
}

/* The call-backs to judge with. */
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
	rows_execute(rows, "COMMIT");
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
	sqlite3_set_authorizer(query->db, authorize_action, query);
	int rc = prepare_select(query, &statement, NULL, error);
	if (rc)
		return rc;
	struct sw_printer *printer = printer_new(sinks, n, statement);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		printer_row(printer, statement);
	printer_end(printer);
	if (code != SQLITE_DONE)
		rc = fail_query(query, code, error);
	sqlite3_finalize(statement);
	return rc;
}
