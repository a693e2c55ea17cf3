/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that forbid calls, from their text. */
#include "detect/gate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/python_name.h"

static const char *const kind_names[] = {
#define SW_GATE_KIND_TEXT(name, text, finding) [SW_GATE_##name] = text,
	SW_GATE_KINDS(SW_GATE_KIND_TEXT)
#undef SW_GATE_KIND_TEXT
};
#define KNOWN_KINDS "wait, device-wait, alloc, free, pin, load, pageable or any"

const char *sw_gate_option(enum sw_gate_op op)
{
	static const char *const names[] = {
		[SW_GATE_FORBID] = "--forbid", [SW_GATE_MAX_WAIT] = "--max-wait", [SW_GATE_MAX_CALLS] = "--max-calls"};
	return names[op];
}

/* The bit of the kind of calls with this name; 0: there is none. */
static uint32_t kind_of(const char *name, size_t bytes)
{
	if (bytes == 3 && !strncmp(name, "any", 3))
		return (1u << SW_GATE_KINDS_N) - 1;
	for (unsigned kind = 0; kind < SW_GATE_KINDS_N; kind++)
		if (strlen(kind_names[kind]) == bytes && !strncmp(name, kind_names[kind], bytes))
			return 1u << kind;
	return 0;
}

/* Reads kinds of calls, separated by commas, into the rule. */
static int parse_kinds(struct sw_gate_rule *rule, const char *text, size_t bytes, struct sw_error *error)
{
	const char *end = text + bytes;
	for (const char *at = text, *next; at <= end; at = next + 1) {
		next = memchr(at, ',', (size_t)(end - at));
		if (!next)
			next = end;
		const uint32_t kind = kind_of(at, (size_t)(next - at));
		if (!kind)
			return sw_fail(error, SW_E_USAGE, "unknown kind '%.*s' in '%s %s': " KNOWN_KINDS,
				       (int)(next - at), at, sw_gate_option(rule->op), rule->text);
		rule->kinds |= kind;
	}
	return 0;
}

/* Reads the longest time that a wait may take, such as "100us". */
static int parse_time(struct sw_gate_rule *rule, const char *text, size_t bytes, struct sw_error *error)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *unit;
	const double given = strtod(text, &unit);
	const size_t left = bytes - (size_t)(unit - text);
	rule->kinds = 1u << SW_GATE_WAIT;
	for (size_t i = 0; unit > text && unit < text + bytes && i < sizeof units / sizeof *units; i++)
		if (strlen(units[i].unit) == left && !strncmp(unit, units[i].unit, left) && given >= 0 && given < 1e9) {
			rule->bound = (uint64_t)(given * units[i].ns);
			return 0;
		}
	return sw_fail(error, SW_E_USAGE, "'%s %s' needs a time with its unit before the '@', such as 100us",
		       sw_gate_option(rule->op), rule->text);
}

/* Reads a kind and how many calls of it are allowed, such as "alloc=3". */
static int parse_count(struct sw_gate_rule *rule, const char *text, size_t bytes, struct sw_error *error)
{
	const char *equals = memchr(text, '=', bytes), *end = text + bytes;
	char *rest = NULL;
	errno = 0;
	if (equals && equals[1] >= '0' && equals[1] <= '9')
		rule->bound = strtoull(equals + 1, &rest, 10);
	if (!rest || errno || rest != end)
		return sw_fail(error, SW_E_USAGE, "'%s %s' needs a kind and a number before the '@', such as alloc=3",
			       sw_gate_option(rule->op), rule->text);
	return parse_kinds(rule, text, (size_t)(equals - text), error);
}

/* Takes ":12" from the end of a scope's name: so many first entries of the scope are not judged. */
static void take_skip(struct sw_gate_rule *rule)
{
	char *colon = strrchr(rule->name, ':'), *end;
	if (!colon || colon[1] < '0' || colon[1] > '9')
		return;
	errno = 0;
	rule->skip = strtoull(colon + 1, &end, 10);
	if (!*end && !errno)
		*colon = 0;
	else
		rule->skip = 0;
}

/* Reads the scope of a rule: "nvtx:NAME[:SKIP][@DOMAIN]", "python:MODULE.FUNC", "thread:NAME", "capture" or "program".
 */
static int parse_scope(struct sw_gate_rule *rule, const char *text, struct sw_error *error)
{
	static const struct {
		const char *name;
		enum sw_gate_scope scope;
	} scopes[] = {{"nvtx:", SW_GATE_NVTX},
		      {"python:", SW_GATE_PYTHON},
		      {"thread:", SW_GATE_THREAD},
		      {"capture", SW_GATE_CAPTURE},
		      {"program", SW_GATE_PROGRAM}};
	for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
		const size_t bytes = strlen(scopes[i].name);
		const bool named = scopes[i].scope <= SW_GATE_THREAD;
		if (strncmp(text, scopes[i].name, bytes) != 0 || (!named && text[bytes] && text[bytes] != ':'))
			continue;
		rule->scope = scopes[i].scope;
		if (!named && text[bytes])
			break;
		rule->name = named ? sw_strdup(text + bytes) : NULL;
		if (named && rule->scope == SW_GATE_NVTX)
			take_skip(rule);
		if (named && !*rule->name)
			break;
		if (rule->scope == SW_GATE_PYTHON && sw_python_names_main(rule->name))
			return sw_fail(error, SW_E_USAGE, "'%s': " SW_PYTHON_NO_MAIN, sw_gate_option(rule->op),
				       rule->name);
		char *at = rule->scope == SW_GATE_NVTX ? strrchr(rule->name, '@') : NULL;
		if (at) {
			rule->domain = sw_strdup(at + 1);
			*at = 0;
		}
		return 0;
	}
	return sw_fail(error, SW_E_USAGE,
		       "unknown scope '%s' in '%s %s': nvtx:NAME[:SKIP], python:MODULE.FUNC, thread:NAME, capture or "
		       "program",
		       text, sw_gate_option(rule->op), rule->text);
}

/* Frees what the rule owns. */
static void drop_rule(struct sw_gate_rule *rule)
{
	free(rule->name);
	free(rule->domain);
}

int sw_gate_add(struct sw_gate *gate, enum sw_gate_op op, const char *text, struct sw_error *error)
{
	struct sw_gate_rule rule = {.op = op, .text = text};
	const char *at = strchr(text, '@');
	int rc;
	if (gate->n == SW_GATE_RULES)
		return sw_fail(error, SW_E_USAGE, "more than %u rules that forbid calls: '%s %s'", SW_GATE_RULES,
			       sw_gate_option(op), text);
	if (!at)
		return sw_fail(error, SW_E_USAGE, "'%s %s' needs a scope after an '@', such as nvtx:step or program",
			       sw_gate_option(op), text);
	const size_t bytes = (size_t)(at - text);
	rc = op == SW_GATE_FORBID     ? parse_kinds(&rule, text, bytes, error)
	     : op == SW_GATE_MAX_WAIT ? parse_time(&rule, text, bytes, error)
				      : parse_count(&rule, text, bytes, error);
	if (!rc)
		rc = parse_scope(&rule, at + 1, error);
	if (rc)
		drop_rule(&rule);
	else
		gate->rule[gate->n++] = rule;
	return rc;
}

void sw_gate_free(struct sw_gate *gate)
{
	for (uint32_t i = 0; i < gate->n; i++)
		drop_rule(&gate->rule[i]);
	gate->n = 0;
}
