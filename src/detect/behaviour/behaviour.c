/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/behaviour/behaviour.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/trusted_file.h"

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static const char magic[] = "syncwatch-behaviour";
static const char header[] = "call\tidle_us\tnb_blocks\tnb_next\tnb_own\tnb_us\tblk_blocks\tblk_next\tblk_own\tblk_us\t"
			     "leg_blocks\tleg_next\tleg_own\tleg_us\n";

/* Writes a time in microseconds with three decimals. */
static void put_us(FILE *out, uint64_t ns)
{
	fprintf(out, "\t%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

/* Writes a table of measured waits: a head, then a row for each call. */
void sw_behaviour_write(const struct sw_behaviour *table, FILE *out)
{
	fprintf(out, "%s\t%d\n", magic, SW_BEHAVIOUR_VERSION);
	fprintf(out, "gpu\t%s\ndriver\t%" PRIu32 "\t%s\nsimulated\t%d\n", table->gpu, table->driver, table->driver_text,
		table->simulated);
	fputs(header, out);
	for (size_t i = 0; i < table->rows.n; i++) {
		const struct sw_behaviour_row *row = &table->rows.at[i];
		fputs(row->name, out);
		put_us(out, row->idle_ns);
		for (int s = 0; s < SW_SPINNERS; s++) {
			const struct sw_waits *waits = &row->waits[s];
			fprintf(out, "\t%c\t%c\t%c", waits->blocks, waits->next, waits->own);
			put_us(out, waits->ns);
		}
		putc('\n', out);
	}
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

#define COLUMNS	 (2 + 4 * SW_SPINNERS)
#define MAX_ROWS 1000u /* far above what any version measures */
#define MAX_LINE 1024u

struct lines {
	FILE *in;
	const char *path;
	size_t number;
	char text[MAX_LINE];
	struct sw_error *error;
};

/* Fills in the error with the current line; returns SW_E_FORMAT. */
static int fail_at_line(struct lines *l, const char *what)
{
	return sw_fail(l->error, SW_E_FORMAT, "%s:%zu: %s", l->path, l->number, what);
}

/* Reads the next line: 1 it is there, 0 the file has ended, <0 an error. */
static int next_line(struct lines *l)
{
	size_t n = 0;
	int byte;
	l->number++;
	while ((byte = getc(l->in)) != EOF && byte != '\n') {
		if (n + 1 >= MAX_LINE)
			return fail_at_line(l, "the line is too long");
		/* Names are printed: nothing that a terminal obeys. */
		if (byte != '\t' && (byte < 0x20 || byte > 0x7e))
			return fail_at_line(l, "not plain text");
		l->text[n++] = (char)byte;
	}
	l->text[n] = 0;
	if (byte == EOF && n)
		return fail_at_line(l, "the last line is not whole");
	return byte != EOF;
}

/* Splits the line at tabs, in place; returns how many words it has, at most `room`. */
static size_t split_words(struct lines *l, char **words, size_t room)
{
	size_t n = 0;
	for (char *at = l->text; at && n < room; n++)
		words[n] = strsep(&at, "\t");
	return n;
}

/* Reads a whole number up to `most`; false: the text is something else. */
static bool read_number(const char *text, uint64_t most, uint64_t *out)
{
	char *end;
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return !errno && !*end && *out <= most;
}

/* Reads microseconds with three decimals, as nanoseconds; false: the text is something else. */
static bool time_of(const char *text, uint64_t *ns)
{
	uint64_t whole, part;
	const char *point = strchr(text, '.');
	char digits[24];
	if (!point || (size_t)(point - text) >= sizeof digits || strlen(point + 1) != 3)
		return false;
	memcpy(digits, text, (size_t)(point - text));
	digits[point - text] = 0;
	if (!read_number(digits, UINT32_MAX, &whole) || !read_number(point + 1, 999, &part))
		return false;
	*ns = whole * 1000 + part;
	return true;
}

/* Reads one of the table's verdicts: '1' the call waited in all repetitions, '0' in none, '?' they disagree, '-' not
   measured.  False: it is none of these. */
static bool read_verdict(const char *text, char *out)
{
	if (!*text || text[1] || !strchr("01?-", *text))
		return false;
	*out = *text;
	return true;
}

/* Reads one call of a measured table: its name, its time with nothing pending, and three verdicts and a time for each
   kind of stream that was busy. */
static int read_row(struct sw_behaviour *table, struct lines *l)
{
	char *words[COLUMNS + 1];
	struct sw_behaviour_row row = {0};
	if (split_words(l, words, COLUMNS + 1) != COLUMNS)
		return fail_at_line(l, "a row has 14 columns");
	if (!*words[0] || strlen(words[0]) >= sizeof row.name || sw_behaviour_find(table, words[0]))
		return fail_at_line(l, "the name of the call is empty, too long, or stands twice");
	strcpy(row.name, words[0]);
	bool sound = time_of(words[1], &row.idle_ns);
	for (int s = 0; s < SW_SPINNERS; s++) {
		char **at = words + 2 + 4 * s;
		struct sw_waits *waits = &row.waits[s];
		sound = sound && read_verdict(at[0], &waits->blocks) && read_verdict(at[1], &waits->next) &&
			read_verdict(at[2], &waits->own) && time_of(at[3], &waits->ns);
	}
	if (!sound)
		return fail_at_line(l, "a verdict is one of 0 1 ? -, a time microseconds with three decimals");
	if (table->rows.n >= MAX_ROWS)
		return fail_at_line(l, "too many rows");
	*sw_vec_push(&table->rows) = row;
	return 0;
}

/* Reads a line of the head, whose first word must be `key` and which has `wanted` words. */
static int head_line(struct lines *l, const char *key, char **words, size_t wanted)
{
	int rc = next_line(l);
	if (rc < 0)
		return rc;
	if (!rc || split_words(l, words, wanted) != wanted || strcmp(words[0], key) != 0)
		return sw_fail(l->error, SW_E_FORMAT, "%s:%zu: no table of syncwatch calibrate: '%s' is missing",
			       l->path, l->number, key);
	return 0;
}

/* Reads the lines before the rows of a table: version, GPU, driver, whether the driver is the simulation. */
static int read_head(struct sw_behaviour *table, struct lines *l)
{
	char *words[COLUMNS];
	uint64_t value;
	int rc = head_line(l, magic, words, 2);
	if (!rc && (!read_number(words[1], UINT32_MAX, &value) || value != SW_BEHAVIOUR_VERSION))
		return sw_fail(l->error, SW_E_VERSION,
			       "%s: a table of version '%.20s', of which this syncwatch knows %d: calibrate again",
			       l->path, words[1], SW_BEHAVIOUR_VERSION);
	if (!rc)
		rc = head_line(l, "gpu", words, 2);
	if (!rc && (!*words[1] || strlen(words[1]) >= sizeof table->gpu))
		return fail_at_line(l, "the name of the GPU is empty or too long");
	if (!rc)
		strcpy(table->gpu, words[1]);
	if (!rc)
		rc = head_line(l, "driver", words, 3);
	if (!rc && (!read_number(words[1], 1000000, &value) || strlen(words[2]) >= sizeof table->driver_text))
		return fail_at_line(l, "the version of the driver is no number");
	if (!rc) {
		table->driver = (uint32_t)value;
		strcpy(table->driver_text, words[2]);
		rc = head_line(l, "simulated", words, 2);
	}
	if (!rc && !read_number(words[1], 1, &value))
		return fail_at_line(l, "simulated is 0 or 1");
	table->simulated = !rc && value;
	return rc ? rc : head_line(l, "call", words, COLUMNS);
}

int sw_behaviour_read(struct sw_behaviour *table, FILE *in, const char *path, struct sw_error *error)
{
	struct lines l = {.in = in, .path = path, .error = error};
	*table = (struct sw_behaviour){0};
	int rc = read_head(table, &l);
	while (!rc && (rc = next_line(&l)) == 1)
		rc = read_row(table, &l);
	if (rc)
		sw_behaviour_free(table);
	return rc;
}

void sw_behaviour_free(struct sw_behaviour *table)
{
	free(table->rows.at);
	*table = (struct sw_behaviour){0};
}

/* ---- looking up -------------------------------------------------------------------------------------------------- */

const struct sw_behaviour_row *sw_behaviour_find(const struct sw_behaviour *table, const char *name)
{
	for (size_t i = 0; i < table->rows.n; i++)
		if (strcmp(table->rows.at[i].name, name) == 0)
			return &table->rows.at[i];
	return NULL;
}

char *sw_behaviour_folder(void)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	/* Paths that are not absolute are to be ignored (XDG Base Directory Specification, "Basics"). */
	if (data && *data == '/')
		return sw_format("%s/syncwatch", data);
	return home && *home == '/' ? sw_format("%s/.local/share/syncwatch", home) : NULL;
}

/* The path of the table of a GPU and driver, malloc'ed; NULL: no folder for tables is known. */
char *sw_behaviour_path(const char *gpu, uint32_t driver)
{
	char *folder = sw_behaviour_folder(), *name = sw_strdup(gpu), *path = NULL;
	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '-')
			*p = '_';
	if (folder)
		path = sw_format("%s/behaviour-%d-%s-%" PRIu32 ".tsv", folder, SW_BEHAVIOUR_VERSION, name, driver);
	free(name);
	free(folder);
	return path;
}

static const struct sw_behaviour_known known[] = {
#define SW_BEHAVIOUR(name, blocks, next, own, documented, source) {name, blocks, next, own, documented, source},
#include "detect/behaviour/behaviour.def"
};

/* The calls whose behaviour is built in, in order; NULL ends. */
const struct sw_behaviour_known *sw_behaviour_known_at(size_t index)
{
	return index < sizeof known / sizeof known[0] ? &known[index] : NULL;
}

const struct sw_behaviour_known *sw_behaviour_known(const char *name)
{
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	return NULL;
}

static const struct rule {
	bool built_in;
	const char *kernels; /* '1': for a kernel on this kind of stream, as the index of struct sw_waits */
	const char *text;
	const char *rows[2];
} rules[SW_WAIT_RULES] = {
#define SW_WAIT_RULE(name, built_in, kernels, text, first, second) {built_in, kernels, text, {first, second}},
#include "detect/behaviour/behaviour.def"
};

_Static_assert(SW_WAIT_RULES <= 32, "a bit for each in struct sw_wait_rules");

static const struct sw_wait_rule_set built_in_set = {.waits = {
#define SW_WAIT_RULE(name, built_in, kernels, text, first, second) built_in,
#include "detect/behaviour/behaviour.def"
						     }};

const struct sw_wait_rule_set *sw_wait_rules_built_in(void)
{
	return &built_in_set;
}

const char *sw_wait_rule_text(enum sw_wait_rule may, bool *built_in)
{
	*built_in = rules[may].built_in;
	return rules[may].text;
}

/* Does the measured table say that calls of this rule wait?  Only if all cells of the rule agree; else the built-in
   value stays. */
static bool rule_waits(const struct rule *rule, const struct sw_behaviour *table)
{
	char said = 0;
	for (size_t i = 0; i < 2; i++) {
		const struct sw_behaviour_row *row = sw_behaviour_find(table, rule->rows[i]);
		for (int s = 0; s < SW_SPINNERS; s++) {
			char blocks = row ? row->waits[s].blocks : '-';
			if (rule->kernels[s] != '1')
				continue;
			if ((blocks != '0' && blocks != '1') || (said && blocks != said))
				return rule->built_in;
			said = blocks;
		}
	}
	return said ? said == '1' : rule->built_in;
}

/* Takes the rules from a measured table, and notes which differ from what is built in. */
static void use_table(struct sw_wait_rules *wait_rules, struct sw_wait_rule_set *set, const struct sw_behaviour *table,
		      const char *path)
{
	for (int i = 0; i < SW_WAIT_RULES; i++) {
		set->waits[i] = rule_waits(&rules[i], table);
		wait_rules->differs |= (uint32_t)(set->waits[i] != rules[i].built_in) << i;
	}
	*sw_vec_push(&wait_rules->used) = sw_strdup(path);
}

/* Notes a message about a table for the user; takes the text. */
static void add_complaint(struct sw_wait_rules *wait_rules, char *text)
{
	*sw_vec_push(&wait_rules->complaints) = text;
}

/* Reads a table and uses it if it is of this GPU and driver; closes the file. */
static void read_table(struct sw_wait_rules *wait_rules, struct sw_wait_rule_set *set, FILE *file, const char *path,
		       uint32_t driver)
{
	struct sw_behaviour table;
	struct sw_error error;
	int rc = sw_behaviour_read(&table, file, path, &error);
	fclose(file);
	if (rc) {
		add_complaint(wait_rules, sw_strdup(error.text));
		return;
	}
	if (strcmp(table.gpu, set->gpu) != 0 || table.driver != driver)
		add_complaint(wait_rules, sw_format("%s is of %s with CUDA driver %u, this run of %s with %u", path,
						    table.gpu, table.driver, set->gpu, driver));
	else
		use_table(wait_rules, set, &table, path);
	sw_behaviour_free(&table);
}

/* Opens a table at a path that the user named, or at its usual place, where only files of trusted owners are read. */
static void open_table(struct sw_wait_rules *wait_rules, struct sw_wait_rule_set *set, const char *path,
		       uint32_t driver)
{
	struct sw_error error = {.code = 0};
	/* Without a name it is searched for. */
	FILE *file = *wait_rules->source ? fopen(path, "re") : sw_trusted_stream(path, (uid_t)-1, &error);
	if (file)
		read_table(wait_rules, set, file, path, driver);
	else if (*wait_rules->source)
		add_complaint(wait_rules, sw_format("%s: %s", path, strerror(errno)));
	else if (error.code == -EPERM) /* else there is no table for this GPU: nothing to say */
		add_complaint(wait_rules, sw_format("%s; what is built in is used", error.text));
}

/* Takes the rules from a packed trace: by the table that came with it, or by what is built in, so that it is judged
   alike everywhere. */
static void open_packed(struct sw_wait_rules *wait_rules, struct sw_wait_rule_set *set, uint32_t driver)
{
	const char *path, *text;
	size_t bytes;
	if (!wait_rules->packed.find(wait_rules->packed.arg, set->gpu, &path, &text, &bytes) || !bytes)
		return;
	FILE *file = fmemopen((void *)(uintptr_t)text, bytes, "r");
	if (file)
		read_table(wait_rules, set, file, path, driver);
}

const struct sw_wait_rule_set *sw_wait_rules_of(struct sw_wait_rules *wait_rules, const char *gpu, uint32_t driver)
{
	for (size_t i = 0; i < wait_rules->sets.n; i++)
		if (strcmp(wait_rules->sets.at[i]->gpu, gpu) == 0)
			return wait_rules->sets.at[i];
	if (!wait_rules->source || !*gpu || strlen(gpu) >= sizeof built_in_set.gpu)
		return &built_in_set;
	struct sw_wait_rule_set *set = sw_alloc(sizeof *set);
	*set = built_in_set;
	strcpy(set->gpu, gpu);
	*sw_vec_push(&wait_rules->sets) = set;
	if (!*wait_rules->source && wait_rules->packed.find) {
		open_packed(wait_rules, set, driver);
		return set;
	}
	char *path = *wait_rules->source ? sw_strdup(wait_rules->source) : sw_behaviour_path(gpu, driver);
	if (path)
		open_table(wait_rules, set, path, driver);
	free(path);
	return set;
}

void sw_wait_rules_free(struct sw_wait_rules *wait_rules)
{
	for (size_t i = 0; i < wait_rules->sets.n; i++)
		free(wait_rules->sets.at[i]);
	for (size_t i = 0; i < wait_rules->used.n; i++)
		free(wait_rules->used.at[i]);
	for (size_t i = 0; i < wait_rules->complaints.n; i++)
		free(wait_rules->complaints.at[i]);
	free(wait_rules->sets.at);
	free(wait_rules->used.at);
	free(wait_rules->complaints.at);
	*wait_rules = (struct sw_wait_rules){0};
}
