/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/recorder/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "preload/platform/say.h"
#include "preload/session/announce.h"

static struct sw_preload_options options;

const struct sw_preload_options *sw_preload_options(void)
{
	return &options;
}

/* Parsers of values, by the names that options.def has for them.  False: the text is no such value. */

/* Bytes, with K, M, G or T after the number. */
static bool parse_size(void *out, const char *text)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);
	const char *unit = *end ? strchr("KMGT", *end) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - "KMGT" + 1) : 0;
	if (*text < '0' || *text > '9' || (*end && !unit) || (unit && end[1]) || value > UINT64_MAX >> 1 >> shift)
		return false;
	*(uint64_t *)out = (uint64_t)value << shift;
	return true;
}

/* Number of stack frames, 1 to SW_STACK_FRAMES. */
static bool parse_number(void *out, const char *text)
{
	uint64_t value;
	if (!parse_size(&value, text) || value < 1 || value > SW_STACK_FRAMES)
		return false;
	*(uint32_t *)out = (uint32_t)value;
	return true;
}

/* A switch: 0 or 1; "quiet" alone means quiet=1. */
static bool parse_flag(void *out, const char *text)
{
	if (text[0] && (strchr("01", text[0]) == NULL || text[1]))
		return false;
	*(bool *)out = text[0] != '0';
	return true;
}

/* --gpu-timeline: 0, 1, "nodes" (each node of a graph has its own times) or "shared" (next to another profiler). */
static bool parse_gpu(void *out, const char *text)
{
	bool on;
	if (strcmp(text, "nodes") == 0)
		return *(uint32_t *)out = SW_GPU_TIMELINE_NODES, true;
	if (strcmp(text, "shared") == 0)
		return *(uint32_t *)out = SW_GPU_TIMELINE_SHARED, true;
	if (!parse_flag(&on, text))
		return false;
	*(uint32_t *)out = on;
	return true;
}

/* Seconds with a fraction, kept in nanoseconds; at most 9 digits before the point, digits after the ninth are
   dropped. */
static bool parse_seconds(uint64_t *out, const char *text)
{
	const char *end = text + strspn(text, "0123456789");
	uint64_t ns = 0, digit = 1000000000u;
	if (end == text || end - text > 9)
		return false;
	for (; text < end; text++)
		ns = ns * 10 + (uint64_t)(*text - '0') * digit;
	for (text += *text == '.'; *text >= '0' && *text <= '9'; text++)
		ns += (uint64_t)(*text - '0') * (digit /= 10);
	if (*text)
		return false;
	*out = ns;
	return true;
}

/* Is the process under `syncwatch run`, by which alone ranges and functions reach the recorder?  Else says so. */
static bool needs_run(const char *what)
{
	if (!sw_announce_wanted())
		sw_say("SYNCWATCH_OPTIONS: %s needs 'syncwatch run'; all is recorded", what);
	return sw_announce_wanted();
}

/* --capture: "profiler", "nvtx:RANGE" or "python:FUNCTION"; empty: all is recorded.  Sets the kind of window as well, a
   member next to `out`. */
static bool parse_capture(char (*out)[sizeof options.capture], const char *text)
{
	static const struct {
		const char *before;
		enum sw_window_of what;
	} kinds[] = {{"nvtx:", SW_WINDOW_NVTX}, {"python:", SW_WINDOW_PYTHON}};
	struct sw_preload_options *all = (void *)((char *)out - offsetof(struct sw_preload_options, capture));
	all->windows = strcmp(text, "profiler") == 0 ? SW_WINDOW_PROFILER : SW_WINDOW_ALL;
	(*out)[0] = 0;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const size_t n = strlen(kinds[i].before);
		if (strncmp(text, kinds[i].before, n) || !text[n] || strlen(text) >= sizeof options.capture)
			continue;
		strcpy(*out, text + n);
		if (needs_run("capture=nvtx or python"))
			all->windows = kinds[i].what;
		return true;
	}
	return !*text || all->windows;
}

/* --steps N or N:SKIP: records N steps after leaving out SKIP of them. */
static bool parse_steps(uint64_t *out, const char *text)
{
	struct sw_preload_options *all = (void *)((char *)out - offsetof(struct sw_preload_options, steps));
	char *end = (char *)(uintptr_t)text;
	const uint64_t steps = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	const uint64_t skip = *end == ':' && end[1] >= '0' && end[1] <= '9' ? strtoull(end + 1, &end, 10) : 0;
	*out = 0;
	if (!*text)
		return true;
	if (*end || !steps)
		return false;
	if (needs_run("steps")) {
		*out = steps;
		all->skip = skip;
	}
	return true;
}

/* False: too long for a path. */
static bool parse_path(void *out, const char *text)
{
	if (strlen(text) >= sizeof options.trace)
		return false;
	strcpy(out, text);
	return true;
}

/* Appends "--name=value" and a newline to the list for the analyser.  wanted: the option takes a value.  False: it has
   one against that, or lacks it, or there is no room. */
static bool pass_on(struct sw_preload_options *out, const char *name, const char *value, bool wanted)
{
	size_t at = strlen(out->pass), need = strlen(name) + strlen(value) + 5;
	if ((*value != 0) != wanted || strchr(value, '\n') || at + need > sizeof out->pass)
		return false;
	char *p = stpcpy(stpcpy(out->pass + at, "--"), name);
	if (wanted)
		p = stpcpy(stpcpy(p, "="), value);
	strcpy(p, "\n");
	return true;
}

/* Sets one option from its row in options.def.  *known: there is such an option; false: none, or the value is wrong. */
static bool set_option(struct sw_preload_options *out, const char *name, const char *value, bool *known)
{
	*known = true;
#define OWN(option, member, parser, standard, help)                                                                    \
	if (strcmp(name, option) == 0)                                                                                 \
		return parse_##parser(&out->member, value);
#define PASS(option, takes_value, help)                                                                                \
	if (strcmp(name, option) == 0)                                                                                 \
		return pass_on(out, option, value, takes_value);
#include "preload/recorder/options.def"
#undef OWN
#undef PASS
	*known = false;
	return false;
}

/* One NAME or NAME=VALUE of SYNCWATCH_OPTIONS; a wrong one gets a message and is ignored, as a recorder must not end
   the program. */
static void set_word(struct sw_preload_options *out, char *word)
{
	bool known;
	char *value = strchr(word, '=');
	if (value)
		*value++ = 0;
	if (!*word || set_option(out, word, value ? value : "", &known))
		return;
	if (known)
		sw_say("SYNCWATCH_OPTIONS: '%.60s' is no value for '%.40s'; ignored", value ? value : "", word);
	else
		sw_say("SYNCWATCH_OPTIONS: unknown option '%.60s'; ignored", word);
}

/* Options are words between colons, "\:" is a colon in one; each goes to the parser of its row in options.def. */
void sw_options_parse(struct sw_preload_options *out, const char *text)
{
	char word[sizeof options.trace + 32];
	size_t n = 0;
	memset(out, 0, sizeof *out);
#define OWN(option, member, parser, standard, help) parse_##parser(&out->member, standard);
#define PASS(option, takes_value, help)
#include "preload/recorder/options.def"
#undef OWN
#undef PASS
	for (const char *p = text ? text : ""; *p; p++) {
		if (*p == '\\' && p[1] == ':')
			p++;
		else if (*p == ':') {
			word[n] = 0;
			set_word(out, word);
			n = 0;
			continue;
		}
		if (n < sizeof word - 1)
			word[n++] = *p;
	}
	word[n] = 0;
	set_word(out, word);
}

void sw_options_start(void)
{
	sw_options_parse(&options, secure_getenv("SYNCWATCH_OPTIONS"));
}
