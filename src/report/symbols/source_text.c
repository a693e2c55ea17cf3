/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbols/source_text.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/map.h"

#define MOST_BYTES	(4u << 20) /* of a file */
#define MOST_FILES	256u	   /* that are read */
#define MOST_MISSING	4096u	   /* that are looked for in vain */
#define STATEMENT_LINES 12	   /* a call is looked for in so many lines */

struct source_file {
	const char *path;
	char *text; /* NULL: cannot be used */
	SW_VEC(size_t) lines;
};
struct sw_source_files {
	SW_VEC(struct source_file *) all;
	struct sw_map by_path; /* hash -> index + 1 */
	uint32_t read;
};

/* ---- files --------------------------------------------------------------------------------------------------------
 */

/* Was the file written after the run began?  Then it may not be what was compiled. */
static bool too_new(const struct sw_names *names, const struct stat *st)
{
	const struct sw_file_header *header = names->reader ? sw_reader_header(names->reader) : NULL;
	uint64_t written = (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
	return !header || (header->start_realtime_ns && written > header->start_realtime_ns);
}

/* The text of a source file, malloc'ed; NULL: it cannot be read, or was changed after the run. */
static char *read_file(const struct sw_names *names, const char *path)
{
	struct stat st;
	size_t have = 0;
	ssize_t got = 1;
	/* A pipe or a device would block, or never end. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > MOST_BYTES ||
	    too_new(names, &st)) {
		close(fd);
		return NULL;
	}
	char *text = sw_alloc((size_t)st.st_size + 1);
	while (have < (size_t)st.st_size && got > 0) {
		got = read(fd, text + have, (size_t)st.st_size - have);
		have += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	text[have] = 0;
	if (got >= 0 && strlen(text) == have)
		return text;
	free(text);
	return NULL;
}

/* As read_file(); a relative path starts at the working directory of the recorded program. */
static char *find_file(const struct sw_names *names, const char *path)
{
	const struct sw_trace_process *process = names->reader ? sw_reader_process(names->reader) : NULL;
	if (path[0] == '/' || !process || process->cwd[0] != '/')
		return path[0] == '/' ? read_file(names, path) : NULL;
	char *whole = sw_format("%s/%s", process->cwd, path);
	char *text = read_file(names, whole);
	free(whole);
	return text;
}

/* Notes where each line begins. */
static void split_lines(struct source_file *file)
{
	for (size_t at = 0; file->text && file->text[at];) {
		*sw_vec_push(&file->lines) = at;
		size_t n = strcspn(file->text + at, "\n");
		at += n + (file->text[at + n] == '\n');
	}
}

/* The source file of this path, read at the first question; NULL: it cannot be used. */
static const struct source_file *file_of(struct sw_names *names, const char *path)
{
	if (!names->sources)
		names->sources = sw_calloc(1, sizeof *names->sources);
	struct sw_source_files *sources = names->sources;
	uint64_t *slot = sw_map_put(&sources->by_path, sw_hash_bytes(SW_FNV_START, path, strlen(path)));
	if (*slot)
		return strcmp(sources->all.at[*slot - 1]->path, path) == 0 ? sources->all.at[*slot - 1] : NULL;
	struct source_file *file = sw_calloc(1, sizeof *file);
	file->path = path;
	if (sources->read < MOST_FILES && sources->all.n - sources->read < MOST_MISSING)
		file->text = find_file(names, path);
	sources->read += file->text != NULL;
	split_lines(file);
	*sw_vec_push(&sources->all) = file;
	*slot = sources->all.n;
	return file;
}

/* Frees all source files; NULL is allowed. */
void sw_source_free(struct sw_source_files *sources)
{
	for (size_t i = 0; sources && i < sources->all.n; i++) {
		free(sources->all.at[i]->text);
		free(sources->all.at[i]->lines.at);
		free(sources->all.at[i]);
	}
	if (sources) {
		free(sources->all.at);
		sw_map_free(&sources->by_path);
	}
	free(sources);
}

const char *sw_source_line(struct sw_names *names, const char *path, int line)
{
	const struct source_file *file = path ? file_of(names, path) : NULL;
	if (!file || line < 1 || (size_t)line > file->lines.n)
		return NULL;
	const char *text = file->text + file->lines.at[line - 1];
	return sw_arena_strndup(&names->arena, text, strcspn(text, "\r\n"));
}

/* ---- calls --------------------------------------------------------------------------------------------------------
 */

/* Goes past a string, a character or a comment that begins here; else `at`. */
static const char *skip_opaque(const char *at, const char *end)
{
	if (at[0] == '/' && at[1] == '*') {
		const char *close = strstr(at + 2, "*/");
		return close && close < end ? close + 2 : end;
	}
	if (at[0] == '/' && at[1] == '/') {
		at += strcspn(at, "\n");
		return at < end ? at : end;
	}
	if (*at != '"' && *at != '\'')
		return at;
	char quote = *at;
	for (at++; at < end && *at != quote && *at != '\n'; at++)
		at += *at == '\\' && at + 1 < end;
	return at < end ? at + 1 : end;
}

/* Copies the text with one blank for each run of blanks and ends of lines. */
static const char *collapse_blanks(struct sw_names *names, const char *from, const char *to)
{
	while (from < to && isspace((unsigned char)*from))
		from++;
	while (to > from && isspace((unsigned char)to[-1]))
		to--;
	char *text = sw_arena_strndup(&names->arena, from, (size_t)(to - from)), *out = text;
	for (const char *p = text; *p; p++)
		if (!isspace((unsigned char)*p))
			*out++ = *p;
		else if (out > text && out[-1] != ' ')
			*out++ = ' ';
	*out = 0;
	return text;
}

/* Splits at the commas of the outermost level from `at` to the bracket that closes; returns what follows it, NULL: none
   does, or there are too many. */
static const char *split_arguments(struct sw_names *names, const char *at, const char *end, const char *closing,
				   const char **out, uint32_t most, uint32_t *n)
{
	const char *from = at;
	int depth = 0;
	size_t length = strlen(closing);
	*n = 0;
	while (at < end) {
		const char *after = skip_opaque(at, end);
		if (after != at) {
			at = after;
			continue;
		}
		bool closes = depth == 0 && strncmp(at, closing, length) == 0;
		if (closes || (depth == 0 && *at == ',')) {
			if (*n >= most)
				return NULL;
			out[(*n)++] = collapse_blanks(names, from, at);
			from = at + 1;
		}
		if (closes) {
			*n -= *n == 1 && !*out[0];
			return at + length;
		}
		depth += strchr("([{", *at) != NULL;
		depth -= strchr(")]}", *at) != NULL;
		if (depth < 0)
			return NULL;
		at++;
	}
	return NULL;
}

#define LONGEST_VARIABLE 48

/* Can the character be part of a name? */
static bool part_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Finds where the name stands as a whole word, outside of comments and strings. */
static const char *find_word(const char *at, const char *begin, const char *end, const char *word)
{
	size_t length = strlen(word);
	while (at < end) {
		const char *after = skip_opaque(at, end);
		if (after != at) {
			at = after;
			continue;
		}
		if ((size_t)(end - at) >= length && strncmp(at, word, length) == 0 &&
		    (at == begin || !part_of_name(at[-1])) && !part_of_name(at[length]))
			return at;
		at++;
	}
	return NULL;
}

bool sw_source_has_word(struct sw_names *names, const char *path, const char *word)
{
	const struct source_file *file = path ? file_of(names, path) : NULL;
	return file && file->text && find_word(file->text, file->text, file->text + strlen(file->text), word);
}

/* The first character from `at` on that is no blank. */
static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && isspace((unsigned char)*at))
		at++;
	return at;
}

/* Goes past the template arguments of a launch: scale<float><<<...>>>.  Only plain ones are followed. */
static const char *skip_template(const char *at, const char *end)
{
	if (at >= end || *at != '<' || at[1] == '<')
		return at;
	int depth = 0;
	for (; at < end && !strchr(";{}()", *at); at++) {
		depth += *at == '<';
		depth -= *at == '>';
		if (depth == 0)
			return skip_blanks(at + 1, end);
	}
	return end;
}

/* Takes the arguments of a call, or of a launch with <<<...>>>, that begin at `at`; false: there is none. */
static bool parse_call(struct sw_names *names, const char *at, const char *end, struct sw_call_text *out)
{
	*out = (struct sw_call_text){0};
	at = skip_template(skip_blanks(at, end), end);
	if (end - at > 3 && strncmp(at, "<<<", 3) == 0) {
		at = split_arguments(names, at + 3, end, ">>>", out->launch, 4, &out->launch_arguments);
		at = at ? skip_blanks(at, end) : NULL;
	}
	if (!at || at >= end || *at != '(')
		return false;
	return split_arguments(names, at + 1, end, ")", out->argument, SW_CALL_ARGUMENTS, &out->arguments) != NULL;
}

/* A line, and the statement that begins there. */
struct piece {
	const char *begin, *line_end, *end;
};

/* The line of a frame, and where the statement that begins there must end; false: its source is not here. */
static bool piece_at(struct sw_names *names, const struct sw_frame *frame, struct piece *out)
{
	const struct source_file *file = frame && frame->file ? file_of(names, frame->file) : NULL;
	if (!file || frame->line < 1 || (size_t)frame->line > file->lines.n)
		return false;
	size_t first = (size_t)frame->line - 1, next = first + 1, last = first + STATEMENT_LINES;
	out->begin = file->text + file->lines.at[first];
	out->line_end = next < file->lines.n ? file->text + file->lines.at[next] : out->begin + strlen(out->begin);
	out->end = last < file->lines.n ? file->text + file->lines.at[last] : out->begin + strlen(out->begin);
	return true;
}

/* The function's name without namespaces and classes. */
static const char *without_scope(const char *function)
{
	const char *colons = strrchr(function, ':');
	return colons ? colons + 1 : function;
}

bool sw_source_call(struct sw_names *names, const struct sw_frame *frame, const char *function,
		    struct sw_call_text *out)
{
	struct piece piece;
	const char *word = without_scope(function);
	if (!piece_at(names, frame, &piece))
		return false;
	const char *at = *word ? find_word(piece.begin, piece.begin, piece.line_end, word) : NULL;
	if (!at || !parse_call(names, at + strlen(word), piece.end, out))
		return false;
	/* Two calls on one line: it is not known which of them is meant. */
	return !find_word(at + 1, piece.begin, piece.line_end, word);
}

bool sw_source_launch(struct sw_names *names, const struct sw_frame *frame, struct sw_call_text *out)
{
	struct piece piece;
	const char *at = piece_at(names, frame, &piece) ? strstr(piece.begin, "<<<") : NULL;
	if (!at || at >= piece.line_end || !parse_call(names, at, piece.end, out))
		return false;
	const char *second = strstr(at + 3, "<<<");
	return !second || second >= piece.line_end;
}

/* The name to the left of "= f()" at `at`; "" none. */
static const char *assigned_name(struct sw_names *names, const char *begin, const char *at)
{
	while (at > begin && at[-1] == ' ')
		at--;
	if (at <= begin + 1 || at[-1] != '=' || strchr("=!<>+-*/|&^", at[-2]))
		return "";
	at--;
	while (at > begin && at[-1] == ' ')
		at--;
	const char *end = at;
	while (at > begin && part_of_name(at[-1]))
		at--;
	return sw_arena_strndup(&names->arena, at, (size_t)(end - at));
}

size_t sw_source_filled(struct sw_names *names, const struct sw_frame *frame, const char *function,
			const char *variable[SW_SOURCE_VARIABLES])
{
	struct piece piece;
	struct sw_call_text call;
	const char *word = without_scope(function);
	size_t n = 0;
	if (!*word || !piece_at(names, frame, &piece))
		return 0;
	for (const char *at = piece.begin; (at = find_word(at, piece.begin, piece.line_end, word)); at++) {
		if (n == SW_SOURCE_VARIABLES || !parse_call(names, at + strlen(word), piece.end, &call))
			return 0;
		const bool by_address = call.arguments && call.argument[0][0] == '&';
		const char *name = by_address ? call.argument[0] + 1 : assigned_name(names, piece.begin, at);
		if (!*name || strlen(name) > LONGEST_VARIABLE || strpbrk(name, "[](){}&*+ "))
			return 0;
		variable[n++] = name;
	}
	return n;
}

const char *sw_source_prefix(struct sw_names *names, const struct sw_frame *frame, const char *function)
{
	struct piece piece;
	const char *at =
		piece_at(names, frame, &piece) ? find_word(piece.begin, piece.begin, piece.line_end, function) : NULL;
	const char *from = at;
	if (!at)
		return "";
	while (from > piece.begin && (part_of_name(from[-1]) || from[-1] == '.'))
		from--;
	return sw_arena_strndup(&names->arena, from, (size_t)(at - from));
}

/* ---- statements ---------------------------------------------------------------------------------------------------
 */

#define HEAD_LINES 8 /* of a condition, or blank before a body */

/* Does the text begin with this whole word? */
static bool begins_with_word(const char *text, const char *word)
{
	const size_t length = strlen(word);
	return strncmp(text, word, length) == 0 && !part_of_name(text[length]);
}

/* Finds the code of a line without its comment: returns where it begins, *end where it ends. */
static const char *code_of_line(const char *text, const char **end)
{
	const char *at = text, *all = text + strlen(text);
	*end = text;
	while (at < all) {
		const char *after = skip_opaque(at, all);
		if (after == at || *at != '/')
			*end = after == at ? at + 1 : after;
		at = after == at ? at + 1 : after;
	}
	while (*end > text && isspace((unsigned char)(*end)[-1]))
		(*end)--;
	return skip_blanks(text, *end);
}

/* Parentheses that close without having been opened. */
static int closes(const char *at, const char *end)
{
	int n = 0;
	while (at < end) {
		const char *after = skip_opaque(at, end);
		n += after == at ? (*at == ')') - (*at == '(') : 0;
		at = after == at ? at + 1 : after;
	}
	return n;
}

/* Does one of the lines from `first` to before `end` have a word of the code? */
static bool share_word(struct sw_names *names, const char *file, int first, int end, const char *code)
{
	for (; *code; code++) {
		if (!part_of_name(*code))
			continue;
		size_t length = 0;
		while (part_of_name(code[length]))
			length++;
		const char *word = sw_arena_strndup(&names->arena, code, length);
		for (int line = isdigit((unsigned char)*word) ? end : first; line < end; line++) {
			const char *text = sw_source_line(names, file, line);
			if (text && find_word(text, text, text + strlen(text), word))
				return true;
		}
		code += length - 1;
	}
	return false;
}

int sw_source_bare_head(struct sw_names *names, const char *file, int line, const char *code, bool *movable)
{
	const char *text, *at = "", *end = at;
	int open = 0, first = line - 1;
	*movable = false;
	for (; first > line - HEAD_LINES && at == end; first--) {
		if (!(text = sw_source_line(names, file, first)))
			return 0;
		at = code_of_line(text, &end);
	}
	first++;
	if (at == end || (end[-1] != ')' && (end - at < 4 || strncmp(end - 4, "else", 4) != 0)))
		return 0;
	const bool condition = end[-1] == ')';
	/* To the line where its parentheses open. */
	while ((open += closes(at, end)) > 0 && first > line - 2 * HEAD_LINES) {
		if (!(text = sw_source_line(names, file, --first)))
			return 0;
		at = code_of_line(text, &end);
	}
	if (*at == '}')
		at = skip_blanks(at + 1, end);
	if (begins_with_word(at, "else")) {
		at = skip_blanks(at + 4, end);
		if (!condition)
			return at == end ? first : 0;
	}
	const bool loop = begins_with_word(at, "for") || begins_with_word(at, "while");
	*movable = loop && !share_word(names, file, first, line, code);
	return loop || begins_with_word(at, "if") ? first : 0;
}
