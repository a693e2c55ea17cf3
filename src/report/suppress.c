/* SPDX-License-Identifier: Apache-2.0 */
#include "report/suppress.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/symbols/stack.h"

struct pattern {
	size_t line;
	char *text;						  /* as in the file */
	char *id, *kernel, *function, *file, *module, *allocated; /* NULL: any */
	char *path;
	bool used, known;
};

struct sw_suppressions {
	char *message; /* of sw_suppress_unused */
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

/* SW101, SW1??, SW*: three digits, with any of them as a glob. */
static bool valid_id(const char *word)
{
	if (strncmp(word, "SW", 2) != 0)
		return false;
	size_t length = strlen(word + 2);
	return strspn(word + 2, "0123456789?*") == length && length >= 1 && length <= 3 &&
	       (length == 3 || strchr(word, '*'));
}

static char **key_field(struct pattern *pattern, const char *word, size_t *length)
{
	static const char *const keys[] = {"kernel=", "function=", "file=", "module=", "allocated="};
	char **fields[] = {&pattern->kernel, &pattern->function, &pattern->file, &pattern->module, &pattern->allocated};
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		*length = strlen(keys[i]);
		if (strncmp(word, keys[i], *length) == 0)
			return fields[i];
	}
	return NULL;
}

static int parse_word(struct pattern *pattern, const char *word, const char *path, struct sw_error *error)
{
	size_t length;
	if (!pattern->id) {
		if (!valid_id(word))
			return sw_fail(error, SW_E_FORMAT, "%s:%zu: a line starts with an id such as SW101, not '%s'",
				       path, pattern->line, word);
		pattern->id = sw_strdup(word);
		return 0;
	}
	char **field = key_field(pattern, word, &length);
	if (!field)
		return sw_fail(error, SW_E_FORMAT,
			       "%s:%zu: '%s' is none of kernel=, function=, file=, module=, allocated=", path,
			       pattern->line, word);
	if (*field || !word[length])
		return sw_fail(error, SW_E_FORMAT, "%s:%zu: '%s' is %s", path, pattern->line, word,
			       *field ? "given twice" : "empty");
	*field = sw_strdup(word + length);
	return 0;
}

static void free_pattern(struct pattern *pattern)
{
	free(pattern->text);
	free(pattern->id);
	free(pattern->kernel);
	free(pattern->function);
	free(pattern->file);
	free(pattern->module);
	free(pattern->allocated);
	free(pattern->path);
}

static int parse_line(struct sw_suppressions *s, const char *path, enum sw_suppress_source source, const char *line,
		      size_t number, struct sw_error *error)
{
	struct pattern pattern = {.line = number,
				  .text = sw_strndup(line, strcspn(line, "\r\n")),
				  .path = sw_strdup(path),
				  .known = source == SW_SUPPRESS_KNOWN};
	const char *at = pattern.text;
	bool open = false;
	int rc = 0;
	char *word;
	while (!rc && (word = take_word(&at, &open))) {
		rc = open ? sw_fail(error, SW_E_FORMAT, "%s:%zu: a quote is not closed", path, number)
			  : parse_word(&pattern, word, path, error);
		free(word);
	}
	if (rc || !pattern.id)
		free_pattern(&pattern);
	else
		*sw_vec_push(&s->patterns) = pattern;
	return rc;
}

static void drop_from(struct sw_suppressions *s, size_t n)
{
	while (s->patterns.n > n)
		free_pattern(&s->patterns.at[--s->patterns.n]);
}

int sw_suppress_load(const char *path, enum sw_suppress_source source, struct sw_suppressions **out,
		     struct sw_error *error)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return sw_fail(error, -errno, "cannot read suppressions from '%s': %s", path, strerror(errno));
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
	fclose(file);
	if (rc)
		drop_from(s, before);
	if (rc && !*out)
		sw_suppress_free(s);
	else
		*out = s;
	return rc;
}

void sw_suppress_free(struct sw_suppressions *s)
{
	if (!s)
		return;
	drop_from(s, 0);
	free(s->patterns.at);
	free(s->message);
	free(s);
}

/* ---- matching ---------------------------------------------------------------------------------------------------- */

/* Most patterns begin with something that is no glob and that most texts don't begin with. */
static bool glob(const char *pattern, const char *text)
{
	const size_t plain = strcspn(pattern, "*?[\\");
	if (!text || strncmp(pattern, text, plain) != 0)
		return false;
	return strcmp(pattern + plain, "*") == 0 || fnmatch(pattern + plain, text + plain, 0) == 0;
}

static bool kernel_fits(struct sw_names *names, const struct sw_finding *finding, const char *pattern)
{
	for (uint32_t i = 0; i < finding->accesses; i++) {
		uint32_t function = sw_finding_access(finding, i)->function;
		if (function && (glob(pattern, sw_name_kernel(names, function, false)) ||
				 glob(pattern, sw_name_kernel(names, function, true))))
			return true;
	}
	return false;
}

typedef bool frame_test(const struct sw_frame *frame, const char *pattern);

static bool function_fits(const struct sw_frame *frame, const char *pattern)
{
	return glob(pattern, frame->base) || glob(pattern, frame->function);
}

static bool file_fits(const struct sw_frame *frame, const char *pattern)
{
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;
	return glob(pattern, frame->file) || (slash && glob(pattern, slash + 1));
}

static bool module_fits(const struct sw_frame *frame, const char *pattern)
{
	return glob(pattern, frame->module);
}

/* Some visible frame of some operation passes the test; no pattern: any does. */
static bool stack_fits(struct sw_names *names, const struct sw_finding *finding, frame_test *fits, const char *pattern)
{
	if (!pattern)
		return true;
	for (uint32_t i = 0; i < finding->accesses; i++) {
		struct sw_stack_view view = sw_stack_view(names, sw_finding_access(finding, i)->stack,
							  sw_finding_access(finding, i)->function);
		for (size_t k = 0; k < view.n; k++)
			if (fits(view.at[k].frame, pattern))
				return true;
	}
	return false;
}

/* The library or program that asked for the memory of an access; NULL unknown. */
static const char *allocated_by(struct sw_names *names, const struct sw_access *access)
{
	const struct sw_judgement *judgement = names->judgement;
	if (!access->allocation || access->allocation > judgement->allocations.n)
		return NULL;
	const struct sw_frame *frame =
		sw_stack_module(names, judgement->allocations.at[access->allocation - 1].stack, 0);
	return frame ? frame->module : NULL;
}

/* All sides that touch memory: one that is the program's own makes it the program's business. */
static bool allocation_fits(struct sw_names *names, const struct sw_finding *finding, const char *pattern)
{
	bool any = false;
	for (uint32_t i = 0; i < finding->accesses; i++) {
		if (!sw_finding_access(finding, i)->ranged)
			continue;
		if (!glob(pattern, allocated_by(names, sw_finding_access(finding, i))))
			return false;
		any = true;
	}
	return any;
}

bool sw_suppress_fits(struct sw_suppressions *s, struct sw_names *names, const struct sw_finding *finding, bool *known)
{
	bool any = false, own = false;
	char id[16];
	snprintf(id, sizeof id, "SW%03d", finding->id);
	for (size_t i = 0; s && i < s->patterns.n; i++) {
		struct pattern *pattern = &s->patterns.at[i];
		/* Whatever a library is known for, an error must be fixed. */
		if ((pattern->known && finding->severity == SW_ERROR) || !glob(pattern->id, id) ||
		    (pattern->kernel && !kernel_fits(names, finding, pattern->kernel)) ||
		    !stack_fits(names, finding, function_fits, pattern->function) ||
		    !stack_fits(names, finding, file_fits, pattern->file) ||
		    !stack_fits(names, finding, module_fits, pattern->module) ||
		    (pattern->allocated && !allocation_fits(names, finding, pattern->allocated)))
			continue;
		pattern->used = true;
		any = true;
		own |= !pattern->known;
	}
	*known = any && !own;
	return any;
}

const char *sw_suppress_unused(struct sw_suppressions *s, size_t index)
{
	for (size_t i = 0; s && i < s->patterns.n; i++) {
		if (s->patterns.at[i].used || s->patterns.at[i].known || index-- > 0)
			continue;
		free(s->message);
		s->message =
			sw_format("%s:%zu: %s", s->patterns.at[i].path, s->patterns.at[i].line, s->patterns.at[i].text);
		return s->message;
	}
	return NULL;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* " key=value", the value as a pattern that fits itself alone; control characters, which would end the line, fit any.
 */
static const char *key_value(struct sw_names *names, const char *key, const char *value)
{
	char *quoted = sw_alloc(2 * strlen(value) + 1);
	size_t n = 0;
	bool blanks = false;
	for (const char *p = value; *p; p++) {
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

/* The innermost library of an operation, in any version: "libcublas.so.13" comes to be
   "libcublas.so*". */
static const char *module_value(struct sw_names *names, const struct sw_access *access)
{
	const struct sw_frame *frame = sw_stack_module(names, access->stack, access->function);
	if (!frame)
		return "";
	const char *version = strstr(frame->module, ".so");
	if (!version)
		return key_value(names, "module", frame->module);
	char *stem = sw_strndup(frame->module, (size_t)(version - frame->module));
	const char *text = key_value(names, "module", stem);
	free(stem);
	size_t length = strlen(text);
	if (text[length - 1] == '"')
		return sw_names_format(names, "%.*s.so*\"", (int)length - 1, text);
	return sw_names_format(names, "%s.so*", text);
}

const char *sw_suppress_line(struct sw_names *names, const struct sw_finding *finding)
{
	const char *kernel = "", *function = "", *file = "", *module = "";
	/* The later operation is the one whose author has to act. */
	for (uint32_t i = finding->accesses; i-- > 0;) {
		const struct sw_access *access = sw_finding_access(finding, i);
		const struct sw_frame *site = sw_stack_site(names, access->stack, access->function);
		if (!*kernel && access->function)
			kernel = key_value(names, "kernel", sw_name_kernel(names, access->function, false));
		if (!*module)
			module = module_value(names, access);
		if (*function || !site)
			continue;
		function = key_value(names, "function", site->base);
		const char *slash = site->file ? strrchr(site->file, '/') : NULL;
		if (site->file)
			file = key_value(names, "file", slash ? slash + 1 : site->file);
	}
	/* Without a name of the caller, its library is what keeps the line from hiding everything with this id. */
	return sw_names_format(names, "SW%03d%s%s%s%s", finding->id, kernel, function, file, *function ? "" : module);
}
