/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/launch/reads/memory_answers.h"

#include <string.h>

static struct sw_memory_answer ask_memory(const struct sw_geometry *g, uint64_t address, uint32_t bytes)
{
	struct sw_memory_answer answer = {.address = address, .bytes = bytes};
	answer.content = (uint32_t)g->content(g->arg, address, bytes, &answer.value);
	return answer;
}

static bool same_answer(const struct sw_memory_answer *a, const struct sw_memory_answer *b)
{
	return a->content == b->content && (!a->content || a->value == b->value);
}

static const struct sw_memory_answer *find_answer(const struct sw_memory_answers *answers, uint64_t address,
						  uint32_t bytes)
{
	for (size_t i = answers->at.n; i-- > 0;) {
		const struct sw_memory_answer *old = &answers->at.at[i];
		if (old->address == address && old->bytes == bytes)
			return old;
	}
	return NULL;
}

static enum sw_memory_content record_read(void *arg, uint64_t address, uint32_t bytes, void *out)
{
	struct sw_memory_answers *answers = arg;
	const struct sw_geometry *g = answers->launch;
	answers->complete &= bytes <= sizeof(uint64_t);
	if (!answers->complete)
		return g->content(g->arg, address, bytes, out);
	const struct sw_memory_answer *old = find_answer(answers, address, bytes);
	struct sw_memory_answer answer = old ? *old : ask_memory(g, address, bytes);
	if (!old && answers->at.n < SW_MOST_ANSWERS)
		*sw_vec_push(&answers->at) = answer;
	else if (!old)
		answers->complete = false;
	if (answer.content)
		memcpy(out, &answer.value, bytes);
	return (enum sw_memory_content)answer.content;
}

static uint64_t symbol_of(void *arg, const char *name)
{
	const struct sw_memory_answers *answers = arg;
	return answers->launch->symbol(answers->launch->arg, name);
}

struct sw_geometry sw_memory_listen(struct sw_memory_answers *answers, const struct sw_geometry *launch)
{
	struct sw_geometry listened = *launch;
	answers->launch = launch;
	answers->at.n = 0;
	answers->complete = true;
	listened.content = record_read;
	listened.symbol = launch->symbol ? symbol_of : NULL;
	listened.arg = answers;
	return listened;
}

bool sw_memory_tells(const struct sw_geometry *launch, const struct sw_memory_answer *answer, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct sw_memory_answer now = ask_memory(launch, answer[i].address, answer[i].bytes);
		if (!same_answer(&now, &answer[i]))
			return false;
	}
	return true;
}
