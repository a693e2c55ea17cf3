/* SPDX-License-Identifier: Apache-2.0 */
#include "report/suppress.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "report/excerpts.h"
#include "report/groups.h"
#include "report/symbols/stack.h"
#include "report/symbols/source_text.h"

/* One operation, NULL: any. */
struct side_pattern {
	char *kernel, *function, *file, *module, *operation, *at;
};

struct pattern {
	size_t line;
	char *text; /* as in the file */
	char *id, *severity, *allocated;
	struct side_pattern side[2];
	bool against; /* there are two sides */
	char *path;
	bool known;
	bool may_be_unused;
	uint32_t hid[SW_ERROR + 1]; /* findings, by severity */
};

struct sw_suppressions {
	char *message; /* of sw_suppress_unused and sw_suppress_used */
	SW_VEC(struct pattern) patterns;
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/*
 * Takes one word off *at; quotes are removed.  Backslashes stay for fnmatch(), and what is in quotes keeps its
 * meaning as a glob.  malloc'ed; NULL at the end of the line or before a comment; *open says that a quote was not
 * closed.
 */
static char *take_word(const char **at, bool *open)
{
	const char *p = *at;
	bool quoted = false;
	while (isspace((unsigned char)*p))
		p++;
	if (!*p || *p == '#')
		return NULL;
	char *word = sw_alloc(strlen(p) + 1);
	size_t n = 0;
	for (; *p && (quoted || !isspace((unsigned char)*p)); p++) {
		if (*p == '"') {
			quoted = !quoted;
			continue;
		}
		if (*p == '\\' && p[1])
			word[n++] = *p++;
		word[n++] = *p;
	}
	word[n] = 0;
	*at = p;
	*open = quoted;
	return word;
}

/* Is the word an id of findings, as SW101, SW1?? or SW*: three digits, with any of them as a glob? */
static bool valid_id(const char *word)
{
	if (strncmp(word, "SW", 2) != 0)
		return false;
	size_t length = strlen(word + 2);
	return strspn(word + 2, "0123456789?*") == length && length >= 1 && length <= 3 &&
	       (length == 3 || strchr(word, '*'));
}

/* Is the id a pattern, or one of ours or of `syncwatch merge` (SW5xx)? */
static bool is_known(const char *id)
{
	return strpbrk(id, "?*") || id[2] == '5' || sw_finding_info(atoi(id + 2));
}

/* The field of the pattern that "KEY=..." sets, and in *length how long its key is; NULL: it is no key. */
static char **key_field(struct pattern *pattern, const char *word, size_t *length)
{
	struct side_pattern *side = &pattern->side[pattern->against];
	const struct {
		const char *key;
		char **field;
	} keys[] = {{"kernel=", &side->kernel},		 {"function=", &side->function},   {"file=", &side->file},
		    {"module=", &side->module},		 {"operation=", &side->operation}, {"at=", &side->at},
		    {"allocated=", &pattern->allocated}, {"severity=", &pattern->severity}};
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		*length = strlen(keys[i].key);
		if (strncmp(word, keys[i].key, *length) == 0)
			return keys[i].field;
	}
	return NULL;
}

/* Was any key given for this side? */
static bool has_key(const struct side_pattern *side)
{
	return side->kernel || side->function || side->file || side->module || side->operation || side->at;
}

/* The severity of this name; -1: none. */
static int severity_of(const char *word)
{
	for (int i = SW_NOTE; i <= SW_ERROR; i++)
		if (strcmp(word, sw_name_severity((enum sw_severity)i)) == 0)
			return i;
	return -1;
}

/* Takes one word of a line: the id, `against`, or a key with its value.  0, or SW_E_FORMAT with error filled. */
static int parse_word(struct pattern *pattern, const char *word, const char *path, struct sw_error *error)
{
	size_t length;
	if (!pattern->id) {
		if (!valid_id(word))
			return sw_fail(error, SW_E_FORMAT, "%s:%zu: a line starts with an id such as SW101, not '%s'",
				       path, pattern->line, word);
		if (!is_known(word))
			return sw_fail(error, SW_E_FORMAT,
				       "%s:%zu: no finding has the id %s: 'syncwatch explain' lists them", path,
				       pattern->line, word);
		pattern->id = sw_strdup(word);
		return 0;
	}
	if (strcmp(word, "against") == 0) {
		if (pattern->against || !has_key(&pattern->side[0]))
			return sw_fail(error, SW_E_FORMAT, "%s:%zu: 'against' stands between the keys of two sides",
				       path, pattern->line);
		pattern->against = true;
		return 0;
	}
	char **field = key_field(pattern, word, &length);
	if (!field)
		return sw_fail(error, SW_E_FORMAT,
			       "%s:%zu: '%s' is none of kernel=, operation=, at=, function=, file=, module=, "
			       "allocated=, severity=, against",
			       path, pattern->line, word);
	if (*field || !word[length])
		return sw_fail(error, SW_E_FORMAT, "%s:%zu: '%s' is %s", path, pattern->line, word,
			       *field ? "given twice" : "empty");
	if (field == &pattern->severity && severity_of(word + length) < 0)
		return sw_fail(error, SW_E_FORMAT, "%s:%zu: '%s' is none of note, warning, error", path, pattern->line,
			       word + length);
	*field = sw_strdup(word + length);
	return 0;
}

/* Frees what a line holds. */
static void free_pattern(struct pattern *pattern)
{
	for (size_t i = 0; i < 2; i++) {
		struct side_pattern *side = &pattern->side[i];
		char *const keys[] = {side->kernel, side->function,  side->file,
				      side->module, side->operation, side->at};
		for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
			free(keys[k]);
	}
	free(pattern->text);
	free(pattern->id);
	free(pattern->severity);
	free(pattern->allocated);
	free(pattern->path);
}

/* Checks that a line of --allow means a forbidden call and says why, in a comment; `rest`: of the line, from its
   comment on. */
static int check_exception(const struct pattern *pattern, enum sw_suppress_source source, const char *rest,
			   struct sw_error *error)
{
	rest += strspn(rest, " \t");
	if (strncmp(pattern->id, "SW6", 3) != 0)
		return sw_fail(error, SW_E_FORMAT,
			       "%s:%zu: only calls that a rule forbids can be allowed, SW601 to SW608, not '%s'",
			       pattern->path, pattern->line, pattern->id);
	if (source == SW_SUPPRESS_ALLOW && (*rest != '#' || !rest[1 + strspn(rest + 1, " \t\r\n")]))
		return sw_fail(error, SW_E_FORMAT, "%s:%zu: say why the call is allowed, after a '#' at the end",
			       pattern->path, pattern->line);
	return 0;
}

/* Parses one line of a suppressions file and adds its pattern; an empty line adds none. */
static int parse_line(struct sw_suppressions *s, const char *path, enum sw_suppress_source source, const char *line,
		      size_t number, struct sw_error *error)
{
	struct pattern pattern = {.line = number,
				  .text = sw_strndup(line, strcspn(line, "\r\n")),
				  .path = sw_strdup(path),
				  .known = source == SW_SUPPRESS_KNOWN,
				  .may_be_unused = source == SW_SUPPRESS_KNOWN || source == SW_SUPPRESS_BASELINE};
	const char *at = pattern.text;
	bool open = false;
	int rc = 0;
	char *word;
	while (!rc && (word = take_word(&at, &open))) {
		rc = open ? sw_fail(error, SW_E_FORMAT, "%s:%zu: a quote is not closed", path, number)
			  : parse_word(&pattern, word, path, error);
		free(word);
	}
	if (!rc && pattern.against && !has_key(&pattern.side[1]))
		rc = sw_fail(error, SW_E_FORMAT, "%s:%zu: 'against' stands between the keys of two sides", path,
			     number);
	if (!rc && pattern.id && (source == SW_SUPPRESS_ALLOW || source == SW_SUPPRESS_BASELINE))
		rc = check_exception(&pattern, source, at, error);
	if (rc || !pattern.id)
		free_pattern(&pattern);
	else
		*sw_vec_push(&s->patterns) = pattern;
	return rc;
}

/* Removes the patterns from the n-th on. */
static void drop_from(struct sw_suppressions *s, size_t n)
{
	while (s->patterns.n > n)
		free_pattern(&s->patterns.at[--s->patterns.n]);
}

int sw_suppress_read(FILE *file, const char *path, enum sw_suppress_source source, struct sw_suppressions **out,
		     struct sw_error *error)
{
	struct sw_suppressions *s = *out ? *out : sw_calloc(1, sizeof *s);
	const size_t before = s->patterns.n;
	char *line = NULL;
	size_t room = 0;
	int rc = 0;
	for (size_t number = 1; !rc && getline(&line, &room, file) >= 0; number++)
		if (source != SW_SUPPRESS_CONFIG || strncmp(line + strspn(line, " \t"), "SW", 2) == 0)
			rc = parse_line(s, path, source, line, number, error);
	if (!rc && ferror(file))
		rc = sw_fail(error, -EIO, "cannot read suppressions from '%s': %s", path, strerror(EIO));
	free(line);
	if (rc)
		drop_from(s, before);
	if (rc && !*out)
		sw_suppress_free(s);
	else
		*out = s;
	return rc;
}

int sw_suppress_load(const char *path, enum sw_suppress_source source, struct sw_suppressions **out,
		     struct sw_error *error)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return sw_fail(error, -errno, "cannot read suppressions from '%s': %s", path, strerror(errno));
	int rc = sw_suppress_read(file, path, source, out, error);
	fclose(file);
	return rc;
}

/* Frees all patterns; NULL is allowed. */
void sw_suppress_free(struct sw_suppressions *s)
{
	if (!s)
		return;
	drop_from(s, 0);
	free(s->patterns.at);
	free(s->message);
	free(s);
}

/* ---- places that survive inserted lines ---------------------------------------------------------------------------
 */

/* The text with a blank for each run of them, without those at its begin. */
static const char *collapse_blanks(struct sw_names *names, const char *text)
{
	char *line = sw_arena_strndup(&names->arena, text, strlen(text)), *out = line;
	for (const char *p = line; *p; p++)
		if (!isspace((unsigned char)*p))
			*out++ = *p;
		else if (out > line && out[-1] != ' ')
			*out++ = ' ';
	out -= out > line && out[-1] == ' ';
	*out = 0;
	return line;
}

/* The text of the frame's line with blanks collapsed; NULL: its source is not here. */
static const char *source_of(struct sw_names *names, const struct sw_frame *frame)
{
	const char *line = frame->file && frame->line > 0 ? sw_source_line(names, frame->file, frame->line) : NULL;
	return line ? collapse_blanks(names, line) : NULL;
}

/* The name of a frame that a line of suppressions compares: of a lambda with its scope, since all lambdas of a
   program have the same name without. */
static const char *function_of(const struct sw_frame *frame)
{
	if (!frame->base)
		return frame->module;
	return strstr(frame->base, "operator()") && frame->function ? frame->function : frame->base;
}

/* A place that survives changes elsewhere in the source: the visible frames with the text of their lines, "fill:
   cudaMemsetAsync(p, 0, n, s); < main: fill(a, s);".  Without the sources, where the calls are in the code: exact for
   one build. */
static const char *place_text(struct sw_names *names, uint32_t stack, uint32_t function)
{
	struct sw_stack_view view = sw_stack_view(names, stack, function);
	const char *text = "";
	bool sources = false;
	for (size_t i = 0; i < view.n; i++)
		sources |= source_of(names, view.at[i].frame) != NULL;
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_frame *frame = view.at[i].frame;
		const char *line = source_of(names, frame), *name = function_of(frame), *then = *text ? " < " : "";
		if (!*name)
			continue;
		if (line)
			text = sw_names_format(names, "%s%s%s: %s", text, then, name, line);
		else if (sources)
			text = sw_names_format(names, "%s%s%s", text, then, name);
		else if (sw_frame_is_python(frame))
			text = sw_names_format(names, "%s%s%s:%d", text, then, name, frame->line);
		else
			text = sw_names_format(names, "%s%s%s+0x%" PRIx64, text, then, name, frame->offset);
	}
	return text;
}

/* Where the memory comes from: the place that allocated it, and the name that the program gave it; "" unknown. */
static const char *origin_text(struct sw_names *names, const struct sw_allocation *allocation)
{
	if (allocation->memory == SW_MEM_SYMBOL && allocation->name)
		return sw_names_format(names, "variable %s", allocation->name);
	const char *place = place_text(names, allocation->stack, 0);
	if (allocation->name)
		return sw_names_format(names, "%s%s'%s'", place, *place ? " " : "", allocation->name);
	return place;
}

/* ---- matching ---------------------------------------------------------------------------------------------------- */

/* Does the text fit the glob?  Most patterns begin with something that is no glob and that most texts don't begin with,
   which is compared first. */
static bool glob_matches(const char *pattern, const char *text)
{
	const size_t plain = strcspn(pattern, "*?[\\");
	if (!text || strncmp(pattern, text, plain) != 0)
		return false;
	return strcmp(pattern + plain, "*") == 0 || fnmatch(pattern + plain, text + plain, 0) == 0;
}

typedef bool frame_test(const struct sw_frame *frame, const char *pattern);

/* Does the glob match the name of the frame's function, without or with its scope? */
static bool function_fits(const struct sw_frame *frame, const char *pattern)
{
	return glob_matches(pattern, frame->base) || glob_matches(pattern, frame->function);
}

/* Does the glob match the frame's file, by its path or its last part? */
static bool file_fits(const struct sw_frame *frame, const char *pattern)
{
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;
	return glob_matches(pattern, frame->file) || (slash && glob_matches(pattern, slash + 1));
}

/* Does the glob match the object that the frame is in? */
static bool module_fits(const struct sw_frame *frame, const char *pattern)
{
	return glob_matches(pattern, frame->module);
}

/* A finding that is compared with many lines. */
struct subject {
	struct sw_names *names;
	const struct sw_finding *finding;
	const char *at[3]; /* of its operations; NULL: not asked for yet */
};

/* Does the glob match the name of the kernel, short or in full? */
static bool kernel_fits(struct sw_names *names, uint32_t function, const char *pattern)
{
	return function && (glob_matches(pattern, sw_name_kernel(names, function, false)) ||
			    glob_matches(pattern, sw_name_kernel(names, function, true)));
}

/* Does some visible frame of the access pass the test? */
static bool stack_fits(struct sw_names *names, const struct sw_access *access, frame_test *fits, const char *pattern)
{
	struct sw_stack_view view = sw_stack_view(names, access->stack, access->function);
	for (size_t k = 0; k < view.n; k++)
		if (fits(view.at[k].frame, pattern))
			return true;
	return false;
}

/* Do all keys of one side of the line fit operation i of the finding? */
static bool key_fits(struct subject *subject, uint32_t i, const struct side_pattern *side)
{
	struct sw_names *names = subject->names;
	const struct sw_access *access = sw_finding_access(subject->finding, i);
	if (side->at && i < 3 && !subject->at[i])
		subject->at[i] = place_text(names, access->stack, access->function);
	return (!side->kernel || kernel_fits(names, access->function, side->kernel)) &&
	       (!side->operation || glob_matches(side->operation, sw_name_operation(names, access))) &&
	       (!side->at || glob_matches(side->at, subject->at[i])) &&
	       (!side->function || stack_fits(names, access, function_fits, side->function)) &&
	       (!side->file || stack_fits(names, access, file_fits, side->file)) &&
	       (!side->module || stack_fits(names, access, module_fits, side->module));
}

/* Which operations of the finding fit all keys of `side`, a bit for each. */
static unsigned sides_that_fit(struct subject *subject, const struct side_pattern *side)
{
	unsigned bits = 0;
	for (uint32_t i = 0; i < subject->finding->accesses; i++)
		bits |= (unsigned)key_fits(subject, i, side) << i;
	return bits;
}

/* Do the operations of the finding fit the line?  With `against` two different ones must fit a side each; without, each
   key may fit another operation. */
static bool sides_fit(struct subject *subject, const struct pattern *pattern)
{
	const struct side_pattern *side = &pattern->side[0];
	if (pattern->against) {
		const unsigned a = sides_that_fit(subject, side), b = sides_that_fit(subject, &pattern->side[1]);
		return a && b && ((a | b) & ((a | b) - 1)); /* two of them */
	}
	const struct side_pattern keys[] = {{.kernel = side->kernel}, {.function = side->function},
					    {.file = side->file},     {.module = side->module},
					    {.at = side->at},	      {.operation = side->operation}};
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (has_key(&keys[i]) && !sides_that_fit(subject, &keys[i]))
			return false;
	return true;
}

/* The library or program that asked for the memory; NULL unknown. */
static const char *allocated_by(struct sw_names *names, const struct sw_allocation *allocation)
{
	const struct sw_frame *frame = sw_stack_module(names, allocation->stack, 0);
	return frame ? frame->module : NULL;
}

/* The allocation with this number, 1 the first; NULL: 0, or there is none. */
static const struct sw_allocation *allocation_at(const struct sw_names *names, uint32_t index)
{
	return index && index <= names->judgement->allocations.n ? &names->judgement->allocations.at[index - 1] : NULL;
}

/* Does the glob match who allocated the memory: a library, or a place? */
static bool allocation_fits(struct sw_names *names, uint32_t index, const char *pattern)
{
	const struct sw_allocation *allocation = allocation_at(names, index);
	return allocation && (glob_matches(pattern, allocated_by(names, allocation)) ||
			      glob_matches(pattern, origin_text(names, allocation)));
}

/* Are all buffers that the finding's sides touch of an origin that fits?  One that is the program's own makes it the
   program's business. */
static bool allocations_fit(struct sw_names *names, const struct sw_finding *finding, const char *pattern)
{
	bool any = false;
	for (uint32_t i = 0; i < finding->accesses; i++) {
		if (!sw_finding_access(finding, i)->ranged)
			continue;
		if (!allocation_fits(names, sw_finding_access(finding, i)->allocation, pattern))
			return false;
		any = true;
	}
	return any;
}

/* Does the line fit the finding in everything but the memory? */
static bool line_fits(struct subject *subject, const struct pattern *pattern)
{
	const struct sw_finding *finding = subject->finding;
	char id[16];
	snprintf(id, sizeof id, "SW%03d", finding->id);
	/* An error must be fixed, even one that a library is known for. */
	return (!pattern->known || finding->severity != SW_ERROR) && glob_matches(pattern->id, id) &&
	       (!pattern->severity || (int)finding->severity <= severity_of(pattern->severity)) &&
	       sides_fit(subject, pattern);
}

/* Do lines fit the finding?  Every buffer that it is about must be in their scope: those of its sides, and, of a
   finding that was seen for buffers of several origins, each of the others, perhaps by another line. */
bool sw_suppress_fits(struct sw_suppressions *s, struct sw_names *names, const struct sw_finding *finding, bool *known)
{
	const struct sw_other_buffers *others = &sw_finding_details(finding)->others;
	const uint32_t origins = 1 + others->n;
	uint32_t covered = 0; /* a bit for each */
	bool own = false;
	struct subject subject = {.names = names, .finding = finding};
	SW_VEC(struct pattern *) used = {0};
	*known = false;
	for (size_t i = 0; s && i < s->patterns.n; i++) {
		struct pattern *pattern = &s->patterns.at[i];
		if (!line_fits(&subject, pattern))
			continue;
		uint32_t fits = 0;
		for (uint32_t k = 0; k < origins; k++)
			fits |= (uint32_t)(!pattern->allocated ||
					   (k ? allocation_fits(names, others->allocation[k - 1], pattern->allocated)
					      : allocations_fit(names, finding, pattern->allocated)))
				<< k;
		if (!fits)
			continue;
		*sw_vec_push(&used) = pattern;
		covered |= fits;
		own |= !pattern->known;
	}
	const bool all = covered == (1u << origins) - 1;
	for (size_t i = 0; all && i < used.n; i++)
		used.at[i]->hid[finding->severity]++;
	free(used.at);
	*known = all && !own;
	return all;
}

/* How many findings the line has hidden. */
static uint32_t hid_by(const struct pattern *pattern)
{
	return pattern->hid[SW_NOTE] + pattern->hid[SW_WARNING] + pattern->hid[SW_ERROR];
}

/* "FILE:LINE" of a pattern, with its text if wanted; valid until the next call. */
static const char *message_of(struct sw_suppressions *s, const struct pattern *pattern, bool text)
{
	free(s->message);
	return s->message = sw_format("%s:%zu%s%s", pattern->path, pattern->line, text ? ": " : "",
				      text ? pattern->text : "");
}

const char *sw_suppress_unused(struct sw_suppressions *s, size_t index)
{
	for (size_t i = 0; s && i < s->patterns.n; i++)
		if (!hid_by(&s->patterns.at[i]) && !s->patterns.at[i].may_be_unused && index-- == 0)
			return message_of(s, &s->patterns.at[i], true);
	return NULL;
}

/* The lines that hid something, by index; false: there are no more. */
bool sw_suppress_used(struct sw_suppressions *s, size_t index, struct sw_suppress_use *out)
{
	for (size_t i = 0; s && i < s->patterns.n; i++) {
		const struct pattern *pattern = &s->patterns.at[i];
		if (!hid_by(pattern) || index-- > 0)
			continue;
		*out = (struct sw_suppress_use){.place = message_of(s, pattern, false),
						.text = pattern->text,
						.findings = hid_by(pattern),
						.errors = pattern->hid[SW_ERROR]};
		return true;
	}
	return false;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Bytes; longer values end with '*'. */
#define SW_MOST_OF_A_NAME  100u
#define SW_MOST_OF_A_PLACE 400u

/* " key=value", the value as a pattern that fits itself alone; control characters, which would end the line, fit any.
 */
static const char *key_value(struct sw_names *names, const char *key, const char *value, size_t most)
{
	char *quoted = sw_alloc(2 * strlen(value) + 2);
	size_t n = 0;
	bool blanks = false;
	for (const char *p = value; *p; p++) {
		if (n >= most && ((unsigned char)*p & 0xc0) != 0x80) {
			quoted[n++] = '*';
			break;
		}
		if (iscntrl((unsigned char)*p)) {
			quoted[n++] = '?';
			continue;
		}
		if (strchr("*?[]\\\"", *p))
			quoted[n++] = '\\';
		blanks |= isspace((unsigned char)*p) || *p == '#';
		quoted[n++] = *p;
	}
	quoted[n] = 0;
	const char *text = blanks ? sw_names_format(names, " %s=\"%s\"", key, quoted)
				  : sw_names_format(names, " %s=%s", key, quoted);
	free(quoted);
	return text;
}

/* The keys that name one operation: the kernel or the call, and the place.  Of a call whose place is not known, "",
   unless it must be named as one of two sides. */
static const char *side_keys(struct sw_names *names, const struct sw_access *access, bool one_of_two)
{
	const char *place = place_text(names, access->stack, access->function);
	const char *operation =
		access->function
			? key_value(names, "kernel", sw_name_kernel(names, access->function, true), SW_MOST_OF_A_NAME)
			: key_value(names, "operation", sw_name_operation(names, access), SW_MOST_OF_A_NAME);
	if (!*place && !access->function && !one_of_two)
		return "";
	return sw_names_format(names, "%s%s", operation,
			       *place ? key_value(names, "at", place, SW_MOST_OF_A_PLACE) : "");
}

const char *sw_suppress_line(struct sw_names *names, const struct sw_finding *finding, uint32_t buffer)
{
	/* The later operation is the one whose author has to act. */
	const struct sw_access *later = finding->accesses ? finding->access[finding->accesses > 1] : NULL;
	const struct sw_access *earlier = finding->accesses > 1 ? finding->access[0] : NULL;
	uint32_t index = buffer ? sw_finding_details(finding)->others.allocation[buffer - 1] : 0;
	for (uint32_t i = 0; !buffer && !index && i < finding->accesses; i++)
		if (sw_finding_access(finding, i)->ranged)
			index = sw_finding_access(finding, i)->allocation;
	const struct sw_allocation *allocation = allocation_at(names, index);
	const char *origin = allocation && !sw_finding_is_wait(finding->id) ? origin_text(names, allocation) : "";
	/* The severity of a wait depends on its cost; that of a hazard on what is known of it. */
	const bool weaker = finding->severity != SW_ERROR && !sw_finding_is_wait(finding->id);
	return sw_names_format(names, "SW%03d%s%s%s%s%s", finding->id,
			       weaker ? key_value(names, "severity", sw_name_severity(finding->severity), SIZE_MAX)
				      : "",
			       later ? side_keys(names, later, earlier != NULL) : "", earlier ? " against" : "",
			       earlier ? side_keys(names, earlier, true) : "",
			       *origin ? key_value(names, "allocated", origin, SW_MOST_OF_A_PLACE) : "");
}

struct sw_suppress_file {
	FILE *out;
	bool gate;
	struct sw_map reported; /* hashes of lines */
};

/* Names come from the program: a line break among them would begin a line of its own. */
static void put_comment(FILE *out, const char *text)
{
	fputs("# ", out);
	while (*text) {
		size_t n = sw_utf8_length(text);
		if (n == 0 || (n == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f)))
			putc('?', out);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
	putc('\n', out);
}

static const char head[] =
	"# Suppressions that syncwatch wrote from a report, for --suppress.  Each line hides one finding, on one\n"
	"# buffer: keep those that were reviewed, and say why.  A line hides nothing any more when the code that it\n"
	"# names is changed; lines that are inserted elsewhere do not matter.\n";
static const char gate_head[] =
	"# Calls that rules of --forbid, --max-wait and --max-calls found.  For --allow keep those that may stay, and\n"
	"# say why after the '#' at the end of each line; for --baseline keep all.  A line allows nothing any more "
	"when\n"
	"# the code that it names is changed; lines that are inserted elsewhere do not matter.\n";

struct sw_suppress_file *sw_suppress_file_begin(FILE *out, bool gate)
{
	struct sw_suppress_file *file = sw_calloc(1, sizeof *file);
	file->out = out;
	file->gate = gate;
	fputs(gate ? gate_head : head, out);
	return file;
}

/* Writes the line that hides this finding, with comments that describe it; not twice.  buffer: index of one of its
   other buffers, 0: its own. */
static void add_finding(struct sw_suppress_file *file, struct sw_report *report, const struct sw_shown_finding *shown,
			uint32_t buffer)
{
	struct sw_names *names = &report->names;
	const char *line = sw_suppress_line(names, shown->finding, buffer);
	if (shown->suppressed || (*sw_map_put(&file->reported, sw_hash_bytes(SW_FNV_START, line, strlen(line))))++)
		return;
	const struct sw_frame *site = sw_report_site(report, shown->finding);
	putc('\n', file->out);
	put_comment(file->out,
		    sw_names_format(names, "%s SW%03d %s, fingerprint %016" PRIx64 "%s%s",
				    sw_name_severity(shown->finding->severity), shown->finding->id, shown->info->kind,
				    shown->fingerprint, site ? ", " : "", site ? sw_place_full(names, site) : ""));
	put_comment(file->out, sw_report_words(report, shown).message);
	if (!strstr(line, " at=") && !strstr(line, " kernel=")) {
		put_comment(file->out,
			    sw_names_format(names, "nothing is known of its place: a line would hide all SW%03d",
					    shown->finding->id));
		return;
	}
	fprintf(file->out, "%s%s\n", line, file->gate ? "  #" : "");
}

void sw_suppress_file_add(struct sw_suppress_file *file, struct sw_report *report)
{
	for (size_t i = 0; i < report->shown.n; i++) {
		struct sw_names_scope scope;
		sw_names_scope_begin(&report->names, &scope);
		const struct sw_shown_finding *shown = &report->shown.at[i];
		const bool wanted = !file->gate || shown->info->family == SW_FAMILY_GATE;
		for (uint32_t buffer = 0; wanted && buffer <= sw_finding_details(shown->finding)->others.n; buffer++)
			add_finding(file, report, shown, buffer);
		sw_names_scope_end(&report->names, &scope);
	}
}

/* Frees the state; the file itself stays open. */
void sw_suppress_file_end(struct sw_suppress_file *file)
{
	sw_map_free(&file->reported);
	free(file);
}
