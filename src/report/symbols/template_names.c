/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbols/template_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"

#define LONG_ARGUMENTS 32 /* letters of types that are printed whole */
#define MOST_WORDS     2

struct kernel {
	uint32_t function;
	size_t next;		/* another one of this short name: index + 1, 0 ends */
	const char *types;	/* what the short name leaves out: "<float, 4>(float*)" */
	const char *particular; /* NULL: not asked for yet */
};
struct sw_template_names {
	struct sw_map by_function, by_name; /* index + 1; of a short name the last one */
	SW_VEC(struct kernel) all;
	size_t findings;       /* those whose kernels are in it */
	struct sw_arena arena; /* what outlives the scope in which it was asked for */
};

void sw_template_names_free(struct sw_template_names *templates)
{
	if (!templates)
		return;
	sw_map_free(&templates->by_function);
	sw_map_free(&templates->by_name);
	free(templates->all.at);
	sw_arena_free(&templates->arena);
	free(templates);
}

static uint64_t name_key(const char *name)
{
	return sw_hash_u64(sw_hash_bytes(SW_FNV_START, name, strlen(name))) | 1;
}

static void add_kernel(struct sw_names *names, uint32_t function)
{
	struct sw_template_names *t = names->templates;
	if (!function || sw_map_get(&t->by_function, function))
		return;
	const char *name = sw_name_kernel(names, function, false), *whole = sw_name_kernel(names, function, true);
	const char *found = strstr(whole, name), *types = found ? found + strlen(name) : "";
	uint64_t *last = sw_map_put(&t->by_name, name_key(name));
	*sw_vec_push(&t->all) = (struct kernel){
		.function = function, .next = *last, .types = sw_arena_strndup(&t->arena, types, strlen(types))};
	for (size_t i = *last; i; i = t->all.at[i - 1].next)
		t->all.at[i - 1].particular = NULL;
	*last = t->all.n;
	*sw_map_put(&t->by_function, function) = t->all.n;
}

static void add_kernels(struct sw_names *names)
{
	const struct sw_judgement *j = names->judgement;
	if (!names->templates)
		names->templates = sw_calloc(1, sizeof *names->templates);
	for (size_t i = names->templates->findings; i < j->findings.n; i++) {
		const struct sw_finding *finding = &j->findings.at[i];
		for (uint32_t k = 0; k < finding->accesses; k++)
			add_kernel(names, sw_finding_access(finding, k)->function);
		add_kernel(names, sw_finding_more(finding)->waited_for.function);
	}
	names->templates->findings = j->findings.n;
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t word_length(const char *text)
{
	size_t n = 0;
	while (is_letter(text[n]))
		n++;
	return n;
}

static bool has_word(const char *text, const char *word, size_t length)
{
	for (const char *p = text; *p; p++) {
		size_t n = word_length(p);
		if (n == length && memcmp(p, word, n) == 0)
			return true;
		p += n ? n - 1 : 0;
	}
	return false;
}

/* Do all kernels of this short name have it? */
static bool is_common(const struct sw_template_names *t, uint64_t key, const char *word, size_t length)
{
	for (size_t i = sw_map_get(&t->by_name, key); i; i = t->all.at[i - 1].next)
		if (!has_word(t->all.at[i - 1].types, word, length))
			return false;
	return true;
}

/* "...FillFunctor...int...": the first words that not all of them have; scopes are no such words. */
static const char *particular_words(struct sw_names *names, const struct kernel *kernel, uint64_t key)
{
	const char *text = "", *seen[MOST_WORDS];
	size_t words = 0;
	for (const char *p = kernel->types; *p && words < MOST_WORDS; p++) {
		size_t n = word_length(p);
		if (!n)
			continue;
		bool scope = p[n] == ':' && p[n + 1] == ':';
		bool again = words && strncmp(seen[0], p, n) == 0 && !is_letter(seen[0][n]);
		if (!scope && !again && !is_common(names->templates, key, p, n)) {
			text = sw_names_format(names, "%s%.*s...", *text ? text : "...", (int)n, p);
			seen[words++] = p;
		}
		p += n - 1;
	}
	return text;
}

/* How long "<float, 4>" is; 0: it is no list of arguments. */
static size_t arguments_length(const char *types)
{
	int depth = 0;
	for (size_t i = 0; types[0] == '<' && types[i]; i++) {
		depth += types[i] == '<';
		depth -= types[i] == '>' && types[i - 1] != '-';
		if (!depth)
			return i + 1;
	}
	return 0;
}

static const char *particular_name(struct sw_names *names, const struct kernel *kernel)
{
	const char *name = sw_name_kernel(names, kernel->function, false);
	const uint64_t key = name_key(name);
	const size_t only = sw_map_get(&names->templates->by_name, key);
	if (&names->templates->all.at[only - 1] == kernel && !kernel->next)
		return name;
	const size_t length = arguments_length(kernel->types);
	if (length && length <= LONG_ARGUMENTS)
		return sw_names_format(names, "%s%.*s", name, (int)length, kernel->types);
	const char *words = particular_words(names, kernel, key);
	if (!*words)
		return name;
	return sw_names_format(names, length ? "%s<%s>" : "%s(%s)", name, words);
}

const char *sw_name_kernel_particular(struct sw_names *names, uint32_t function)
{
	add_kernels(names);
	const size_t index = sw_map_get(&names->templates->by_function, function);
	if (!index)
		return sw_name_kernel(names, function, false);
	struct kernel *kernel = &names->templates->all.at[index - 1];
	if (!kernel->particular) {
		const char *name = particular_name(names, kernel);
		kernel->particular = sw_arena_strndup(&names->templates->arena, name, strlen(name));
	}
	return kernel->particular;
}
