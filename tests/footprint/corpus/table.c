/* SPDX-License-Identifier: Apache-2.0 */
/* Reads expected.txt.  One line at a time, one word at a time; what it does not expect ends the program. */
#include "table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "footprint/footprint.h"
#include "table_parts.h"

/* ---- launches -------------------------------------------------------------------------------------------------- */

static void read_dimensions(struct corpus_text *text, uint32_t out[3])
{
	out[1] = out[2] = 1;
	for (int i = 0; i < 3; i++) {
		out[i] = (uint32_t)corpus_text_number(text);
		if (!corpus_text_is(text, "x"))
			return;
	}
}

static struct corpus_launch *read_launch(struct corpus_text *text, const char *file, uint32_t arch)
{
	struct corpus_launch *launch = sw_calloc(1, sizeof *launch);
	char *end = strstr(text->at, " <<<");

	if (!end || (size_t)(end - text->at) >= sizeof launch->kernel)
		corpus_text_fail(text, "KERNEL <<<GRID, BLOCK>>> (ARGUMENTS) wanted");
	launch->line = text->line;
	launch->arch = arch;
	snprintf(launch->file, sizeof launch->file, "%s", file);
	memcpy(launch->kernel, text->at, (size_t)(end - text->at));
	text->at = end;
	corpus_text_want(text, "<<<");
	read_dimensions(text, launch->grid);
	corpus_text_want(text, ",");
	read_dimensions(text, launch->block);
	while (corpus_text_is(text, ","))
		if (corpus_text_word(text, "shared"))
			launch->shared = (uint32_t)corpus_text_number(text);
		else if (corpus_text_word(text, "cluster"))
			launch->cluster = (uint32_t)corpus_text_number(text);
		else if (corpus_text_word(text, "cooperative"))
			launch->cooperative = true;
		else
			corpus_text_fail(text, "shared, cluster or cooperative wanted");
	corpus_text_want(text, ">>>");
	corpus_read_arguments(text, launch);
	launch->never = corpus_text_word(text, "never");
	corpus_text_end(text);
	return launch;
}

/* ---- what it touches -------------------------------------------------------------------------------------------- */

static uint8_t read_role(struct corpus_text *text)
{
	uint8_t role = 0;

	corpus_text_blank(text);
	for (;; text->at++)
		switch (*text->at) {
		case 'r':
			role |= SW_TOUCH_READ;
			break;
		case 'w':
			role |= SW_TOUCH_WRITE;
			break;
		case 'a':
			role |= SW_TOUCH_ATOMIC;
			break;
		default:
			if (!role)
				corpus_text_fail(text, "a role of r, w, a wanted");
			return role;
		}
}

/* OFFSET:WIDTH [ROWS/PITCH [SLICES/SLICE]] */
static void read_box(struct corpus_text *text, struct corpus_region *region)
{
	region->offset = (uint64_t)corpus_text_number(text);
	corpus_text_want(text, ":");
	region->width = (uint64_t)corpus_text_number(text);
	region->rows = region->slices = 1;
	if (!isdigit((unsigned char)corpus_text_peek(text)))
		return;
	region->rows = (uint64_t)corpus_text_number(text);
	corpus_text_want(text, "/");
	region->pitch = (uint64_t)corpus_text_number(text);
	if (!isdigit((unsigned char)corpus_text_peek(text)))
		return;
	region->slices = (uint64_t)corpus_text_number(text);
	corpus_text_want(text, "/");
	region->slice = (uint64_t)corpus_text_number(text);
}

static bool read_region(struct corpus_text *text, struct corpus_region *region)
{
	if (corpus_text_word(text, "box"))
		region->extent = CORPUS_BOX;
	else if (corpus_text_word(text, "hull"))
		region->extent = CORPUS_HULL;
	else if (corpus_text_word(text, "open"))
		region->extent = CORPUS_OPEN;
	else
		return false;
	if (region->extent == CORPUS_OPEN)
		region->offset = (uint64_t)corpus_text_number(text);
	else
		read_box(text, region);
	return true;
}

static int read_why(struct corpus_text *text)
{
	static const char *const names[] = {
#define SW_WHY(name, text) #name,
#include "footprint/whys.def"
	};

	for (int i = 0; i < SW_WHYS; i++)
		if (corpus_text_word(text, names[i]))
			return i;
	return -1;
}

static void read_touch(struct corpus_text *text, struct corpus_launch *launch)
{
	struct corpus_line line = {.line = text->line, .buffer = -1};
	bool unknown = corpus_text_word(text, "unknown");

	if (!unknown) {
		char name[CORPUS_NAME];

		corpus_text_name(text, name);
		line.buffer = corpus_find_buffer(launch, name);
		if (line.buffer < 0 && name[0] == '@') {
			struct corpus_buffer symbol = {0};

			memcpy(symbol.name, name, sizeof name);
			line.buffer = (int)launch->buffers.n;
			*sw_vec_push(&launch->buffers) = symbol;
		}
		if (line.buffer < 0)
			corpus_text_fail(text, "no buffer of that name");
	}
	if (!unknown && corpus_text_is(text, "-")) {
		corpus_text_end(text);
		*sw_vec_push(&launch->lines) = line;
		return;
	}
	line.role = read_role(text);
	line.polls = corpus_text_word(text, "polls");
	line.before = corpus_text_word(text, "before");
	line.perhaps = corpus_text_word(text, "perhaps");
	if (unknown) {
		line.is.extent = CORPUS_OPEN;
		line.machine = corpus_text_word(text, "machine");
	} else if (corpus_text_peek(text) == '|') {
		/* Nothing, but machine code may say so. */
	} else if (corpus_text_word(text, "object")) {
		line.is.extent = CORPUS_OBJECT;
	} else if (corpus_text_word(text, "map")) {
		line.is.extent = CORPUS_BY_MAP;
	} else if (corpus_text_word(text, "via")) {
		line.is.extent = CORPUS_VIA;
		corpus_text_name(text, line.via);
	} else if (!read_region(text, &line.is)) {
		corpus_text_fail(text, "box, hull, open, object, map or via wanted");
	}
	line.why = read_why(text);
	if ((line.is.extent == CORPUS_HULL || line.is.extent == CORPUS_OPEN) && !unknown && line.why < 0)
		corpus_text_fail(text, "why is it not a box?");
	while (corpus_text_is(text, "|"))
		if (corpus_text_word(text, "unknown"))
			line.sass_unknown = true;
		else if (corpus_text_is(text, "-"))
			line.sass_nothing = true;
		else if (!read_region(text, &line.sass))
			corpus_text_fail(text, "box, hull, open, unknown or - wanted");
	if (corpus_text_is(text, "# "))
		snprintf(line.note, sizeof line.note, "%.150s", text->at);
	else
		corpus_text_end(text);
	*sw_vec_push(&launch->lines) = line;
}

static void read_symbol(struct corpus_text *text, struct corpus_launch *launch)
{
	struct corpus_buffer symbol = {0};
	char name[CORPUS_NAME];

	corpus_text_name(text, name);
	snprintf(symbol.name, sizeof symbol.name, "@%.90s", name);
	corpus_text_want(text, "=");
	corpus_read_content(text, &symbol);
	*sw_vec_push(&launch->buffers) = symbol;
}

static void read_below(struct corpus_text *text, struct corpus_launch *launch)
{
	char name[CORPUS_NAME];

	if (!launch)
		corpus_text_fail(text, "belongs to no launch");
	if (corpus_text_word(text, "buffer")) {
		corpus_text_name(text, name);
		corpus_read_buffer(text, launch, name);
	} else if (corpus_text_word(text, "symbol")) {
		read_symbol(text, launch);
	} else if (corpus_text_word(text, "wild")) {
		launch->wild_machine = corpus_text_word(text, "machine");
		launch->wild = !launch->wild_machine;
	} else if (corpus_text_word(text, "grid")) {
		launch->grid_waits = corpus_text_word(text, "waits");
		launch->grid_triggers = corpus_text_word(text, "triggers");
		launch->grid_early = corpus_text_word(text, "early");
		launch->grid_first = corpus_text_word(text, "first");
		corpus_text_end(text);
	} else {
		read_touch(text, launch);
	}
}

/* ---- the whole table -------------------------------------------------------------------------------------------- */

static void find_words(struct corpus_text *text, struct corpus_launch *launch, struct corpus_words *words)
{
	for (size_t i = 0; i < words->n; i++) {
		words->at[i].buffer = corpus_find_buffer(launch, words->at[i].name);
		if (words->at[i].buffer < 0)
			corpus_text_fail(text, "a pointer into no buffer");
	}
}

/* Names of buffers can come before the buffers. */
static void finish_launch(struct corpus_text *text, struct corpus_launch *launch)
{
	text->line = launch->line;
	find_words(text, launch, &launch->words);
	for (size_t i = 0; i < launch->buffers.n; i++)
		find_words(text, launch, &launch->buffers.at[i].pointers);
	for (size_t i = 0; i < launch->handles.n; i++) {
		launch->handles.at[i].buffer = corpus_find_buffer(launch, launch->handles.at[i].name);
		if (launch->handles.at[i].buffer < 0)
			corpus_text_fail(text, "an object of no buffer");
	}
	for (size_t i = 0; i < launch->buffers.n; i++) {
		bool told = false;

		for (size_t k = 0; k < launch->lines.n; k++)
			told = told || launch->lines.at[k].buffer == (int)i;
		if (!told)
			corpus_text_fail(text, "a buffer of which nothing is said");
	}
}

void corpus_read(const char *path, struct corpus_table *table)
{
	struct corpus_text text = {.path = path};
	struct corpus_launch *launch = NULL;
	char file[CORPUS_NAME] = "", *line = NULL;
	uint32_t arch = 0;
	size_t room = 0;
	FILE *in = fopen(path, "r");

	if (!in) {
		perror(path);
		exit(2);
	}
	while (getline(&line, &room, in) > 0) {
		line[strcspn(line, "\n")] = '\0';
		text.line++;
		text.at = line;
		if (line[0] == '#' || !line[0])
			continue;
		if (line[0] == '\t') {
			text.at++;
			read_below(&text, launch);
		} else if (corpus_text_word(&text, "file")) {
			corpus_text_name(&text, file);
			arch = corpus_text_is(&text, "sm_") ? (uint32_t)corpus_text_number(&text) : 0;
		} else {
			launch = read_launch(&text, file, arch);
			*sw_vec_push(table) = launch;
		}
	}
	for (size_t i = 0; i < table->n; i++)
		finish_launch(&text, table->at[i]);
	free(line);
	fclose(in);
}

void corpus_free(struct corpus_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		struct corpus_launch *launch = table->at[i];

		for (size_t k = 0; k < launch->buffers.n; k++)
			free(launch->buffers.at[k].pointers.at);
		free(launch->words.at);
		free(launch->handles.at);
		free(launch->buffers.at);
		free(launch->lines.at);
		free(launch);
	}
	free(table->at);
}
