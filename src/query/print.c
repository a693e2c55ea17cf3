/* SPDX-License-Identifier: Apache-2.0 */
#include "query/print.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/json/json_out.h"
#include "report/text/text_out.h"

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

/* malloc'ed: x'00ff', as SQL writes it */
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

static void put(const struct sw_query_sink *to, const char *text)
{
	if (to->terminal || to->form == SW_QUERY_TABLE)
		sw_out_text(&(struct sw_out){.file = to->out}, text);
	else
		fputs(text, to->out);
}

/* ---- CSV and JSON ------------------------------------------------------------------------------------------------ */

static void put_csv(const struct sw_query_sink *to, const char *text, bool first)
{
	if (!first)
		putc(',', to->out);
	if (!text)
		return;
	if (*text && !strpbrk(text, ",\"\r\n")) {
		put(to, text);
		return;
	}
	putc('"', to->out);
	for (const char *at = text; *at;) {
		size_t n = strcspn(at, "\"");
		char *part = sw_strndup(at, n);
		put(to, part);
		free(part);
		at += n;
		if (*at) {
			fputs("\"\"", to->out);
			at++;
		}
	}
	putc('"', to->out);
}

/* JSON leaves characters from U+0080 to U+009F as they are, which some terminals obey. */
static void put_quoted(const struct sw_query_sink *to, const char *text)
{
	char *quoted = NULL;
	size_t bytes;
	FILE *out = to->terminal ? open_memstream(&quoted, &bytes) : NULL;
	sw_json_quote(out ? out : to->out, text);
	if (!out)
		return;
	fclose(out);
	put(to, quoted);
	free(quoted);
}

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

static void put_padded(const struct sw_query_sink *to, const char *text, size_t width, bool right, bool last)
{
	size_t own = sw_out_width(text);
	int pad = own < width ? (int)(width - own) : 0;
	if (right)
		fprintf(to->out, "%*s", pad, "");
	put(to, text);
	if (!right && !last)
		fprintf(to->out, "%*s", pad, "");
	fputs(last ? "\n" : "  ", to->out);
}

static void put_line(const struct sink *s, const struct sw_printer *p, const struct cell *row)
{
	const struct table *t = &s->table;
	if (t->upright) {
		for (int i = 0; i < p->columns; i++) {
			put_padded(&s->to, p->name[i], t->width[p->columns], false, false);
			put_padded(&s->to, row[i].text ? row[i].text : "", 0, false, true);
		}
		putc('\n', s->to.out);
		return;
	}
	for (int i = 0; i < p->columns; i++)
		put_padded(&s->to, row[i].text ? row[i].text : "", t->width[i], t->numbers[i], i + 1 == p->columns);
}

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

static void measure(struct sink *s, const struct sw_printer *p)
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

static void show_held(struct sink *s, const struct sw_printer *p)
{
	struct table *t = &s->table;
	if (!t->begun) {
		measure(s, p);
		put_head(s, p);
		t->begun = true;
	}
	for (size_t i = 0; i < t->held.n; i += (size_t)p->columns)
		put_line(s, p, &t->held.at[i]);
	for (size_t i = 0; i < t->held.n; i++)
		free(t->held.at[i].text);
	t->held.n = 0;
}

static void hold(struct sink *s, const struct sw_printer *p)
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

struct sw_printer *sw_printer_new(const struct sw_query_sink *sinks, size_t n, sqlite3_stmt *statement)
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

void sw_printer_row(struct sw_printer *p, sqlite3_stmt *statement)
{
	for (int i = 0; i < p->columns; i++)
		p->row[i] = cell_of(statement, i);
	for (size_t i = 0; i < p->n; i++) {
		struct sink *s = &p->sinks[i];
		if (s->to.form == SW_QUERY_TABLE)
			hold(s, p);
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

void sw_printer_end(struct sw_printer *p)
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
