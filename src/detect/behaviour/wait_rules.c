/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/behaviour/wait_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/trusted_file.h"

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

/* Every cell of the rule says the same, or the rule stays as it is. */
static bool decide(const struct rule *rule, const struct sw_behaviour *table)
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

static void use(struct sw_wait_rules *mays, struct sw_wait_rule_set *set, const struct sw_behaviour *table,
		const char *path)
{
	for (int i = 0; i < SW_WAIT_RULES; i++) {
		set->waits[i] = decide(&rules[i], table);
		mays->differs |= (uint32_t)(set->waits[i] != rules[i].built_in) << i;
	}
	*sw_vec_push(&mays->used) = sw_strdup(path);
}

static void complain(struct sw_wait_rules *mays, char *text)
{
	*sw_vec_push(&mays->complaints) = text;
}

static void read_table(struct sw_wait_rules *mays, struct sw_wait_rule_set *set, FILE *file, const char *path,
		       uint32_t driver)
{
	struct sw_behaviour table;
	struct sw_error error;
	int rc = sw_behaviour_read(&table, file, path, &error);
	fclose(file);
	if (rc) {
		complain(mays, sw_strdup(error.text));
		return;
	}
	if (strcmp(table.gpu, set->gpu) != 0 || table.driver != driver)
		complain(mays, sw_format("%s is of %s with CUDA driver %u, this run of %s with %u", path, table.gpu,
					 table.driver, set->gpu, driver));
	else
		use(mays, set, &table, path);
	sw_behaviour_free(&table);
}

static void open_table(struct sw_wait_rules *mays, struct sw_wait_rule_set *set, const char *path, uint32_t driver)
{
	struct sw_error error = {.code = 0};
	/* Without a name it is searched for. */
	FILE *file = *mays->source ? fopen(path, "re") : sw_trusted_stream(path, (uid_t)-1, &error);
	if (file)
		read_table(mays, set, file, path, driver);
	else if (*mays->source)
		complain(mays, sw_format("%s: %s", path, strerror(errno)));
	else if (error.code == -EPERM) /* else there is no table for this GPU: nothing to say */
		complain(mays, sw_format("%s; what is built in is used", error.text));
}

/* A packed trace is judged alike everywhere: by the table that came with it, or by what is built in. */
static void open_packed(struct sw_wait_rules *mays, struct sw_wait_rule_set *set, uint32_t driver)
{
	const char *path, *text;
	size_t bytes;
	if (!mays->packed.find(mays->packed.arg, set->gpu, &path, &text, &bytes) || !bytes)
		return;
	FILE *file = fmemopen((void *)(uintptr_t)text, bytes, "r");
	if (file)
		read_table(mays, set, file, path, driver);
}

const struct sw_wait_rule_set *sw_wait_rules_of(struct sw_wait_rules *mays, const char *gpu, uint32_t driver)
{
	for (size_t i = 0; i < mays->sets.n; i++)
		if (strcmp(mays->sets.at[i]->gpu, gpu) == 0)
			return mays->sets.at[i];
	if (!mays->source || !*gpu || strlen(gpu) >= sizeof built_in_set.gpu)
		return &built_in_set;
	struct sw_wait_rule_set *set = sw_alloc(sizeof *set);
	*set = built_in_set;
	strcpy(set->gpu, gpu);
	*sw_vec_push(&mays->sets) = set;
	if (!*mays->source && mays->packed.find) {
		open_packed(mays, set, driver);
		return set;
	}
	char *path = *mays->source ? sw_strdup(mays->source) : sw_behaviour_path(gpu, driver);
	if (path)
		open_table(mays, set, path, driver);
	free(path);
	return set;
}

void sw_wait_rules_free(struct sw_wait_rules *mays)
{
	for (size_t i = 0; i < mays->sets.n; i++)
		free(mays->sets.at[i]);
	for (size_t i = 0; i < mays->used.n; i++)
		free(mays->used.at[i]);
	for (size_t i = 0; i < mays->complaints.n; i++)
		free(mays->complaints.at[i]);
	free(mays->sets.at);
	free(mays->used.at);
	free(mays->complaints.at);
	*mays = (struct sw_wait_rules){0};
}
