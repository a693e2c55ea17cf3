/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses, stacks and allocations in the layout that users of ThreadSanitizer know. */
#include "report/text/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "report/groups.h"
#include "report/symbols/stack.h"
#include "report/words/evidence_text.h"
#include "report/words/wording.h"

/* Notes in a line each: they are many, and what is wrong must not drown in them. */

#define MOST_LINES  3u /* of one id */
#define MOST_PLACES 3u /* of one line */

struct line {
	const struct sw_shown_finding *shown; /* the first of those that share the line */
	const char *what, *where;
	uint32_t places;
	uint64_t count, ns;
};
typedef SW_VEC(struct line) line_vec;

/* Is this finding one of those that sw_text_notes() prints, in a line instead of in full? */
static bool is_note(const struct sw_text *t, const struct sw_shown_finding *shown)
{
	const struct sw_group *group = sw_report_group_of(t->report, shown);
	return t->report->shown.at[group->leader].finding->severity == SW_NOTE && !t->report->all;
}

/* The middle column of a finding in a list: SW3nn and SW4nn say the same of each call but for its name; other messages
   say what the ids' titles do not. */
static const char *what_of(struct sw_text *t, const struct sw_shown_finding *shown)
{
	const struct sw_finding *finding = shown->finding;
	return sw_finding_is_wait(finding->id) && finding->accesses == 1
		       ? sw_name_operation(t->names, finding->access[0])
		       : sw_report_words(t->report, shown).message;
}

/* Is the frame a line of the program's own source? */
static bool is_line_of_program(const struct sw_frame *site)
{
	return site && site->file && (sw_frame_is_python(site) || site->role == SW_FRAME_USER);
}

/* "at race.cu:33 in main", "in libcublas.so.13", "": the call that must change. */
static const char *where_of(struct sw_text *t, const struct sw_finding *finding)
{
	const struct sw_frame *site = sw_report_site(t->report, finding), *module = NULL;
	if (!is_line_of_program(site))
		site = NULL;
	for (uint32_t i = finding->accesses; i-- > 0 && !site;) {
		site = sw_stack_site(t->names, sw_finding_access(finding, i)->stack,
				     sw_finding_access(finding, i)->function);
		if (!module)
			module = sw_stack_module(t->names, sw_finding_access(finding, i)->stack,
						 sw_finding_access(finding, i)->function);
	}
	if (is_line_of_program(site) && site->base)
		return sw_names_format(t->names, "at %s in %s", sw_place_brief(t->names, site), site->base);
	if (is_line_of_program(site))
		return sw_names_format(t->names, "at %s", sw_place_brief(t->names, site));
	if (site && site->role == SW_FRAME_USER)
		return sw_names_format(t->names, "in %s (%s)", site->base, site->module);
	return module ? sw_names_format(t->names, "in %s", module->module) : "";
}

/* The cost, or which option would measure it; "" nothing. */
static const char *cost_of(struct sw_text *t, const struct line *line)
{
	const struct sw_finding *finding = line->shown->finding;
	const struct sw_held *held = &sw_finding_details(finding)->held;
	if (held->timed)
		return sw_names_format(t->names, "held back %s of work for at most %s",
				       held->timed == 1 ? "one piece"
							: sw_names_format(t->names, "%" PRIu64 " pieces", held->timed),
				       sw_name_time(t->names, held->ns));
	if (held->untimed)
		return "how long work was held back, --gpu-timeline measures";
	if (!line->ns)
		return "";
	return finding->cost->vague ? sw_names_format(t->names, "%s (--gpu-timeline measures what could be won back)",
						      sw_name_time(t->names, line->ns))
				    : sw_name_time(t->names, line->ns);
}

/* Are the two one line of the list?  SW305 is always shown, so there are many: a line for each function, wherever it is
   called. */
static bool is_same_line(const struct line *line, const struct line *other)
{
	return line->shown->finding->id == other->shown->finding->id && strcmp(line->what, other->what) == 0 &&
	       (line->shown->finding->id == SW_FINDING_DEVICE_ALLOC || strcmp(line->where, other->where) == 0);
}

/* Adds a place to a line of notes, unless it is there or there are too many. */
static void add_place(struct sw_text *t, struct line *line, const char *where)
{
	if (strncmp(line->where, "in ", 3) == 0 && strncmp(where, "in ", 3) == 0)
		where += 3;
	if (!*where || strstr(line->where, where) || line->places > MOST_PLACES)
		return;
	line->places++;
	line->where = sw_names_format(t->names, "%s%s%s", line->where, *line->where ? ", " : "",
				      line->places > MOST_PLACES ? "..." : where);
}

/* Adds a note to the line that it shares with others, or a line of its own. */
static void add_line(struct sw_text *t, line_vec *lines, const struct sw_shown_finding *shown)
{
	const struct sw_finding *finding = shown->finding;
	struct line line = {shown, what_of(t, shown), where_of(t, finding), 1, finding->count, finding->cost->total_ns};
	for (size_t i = 0; i < lines->n; i++) {
		struct line *known = &lines->at[i];
		if (!is_same_line(known, &line))
			continue;
		known->count += line.count;
		known->ns += line.ns;
		add_place(t, known, line.where);
		return;
	}
	*sw_vec_push(lines) = line;
}

/* Prints a line of notes: what, how often, at what cost, where. */
static void put_line(struct sw_text *t, const struct line *line)
{
	const char *text = line->what;
	text = line->count == 1 ? sw_names_format(t->names, "%s, once", text)
				: sw_names_format(t->names, "%s, %" PRIu64 " times", text, line->count);
	const char *cost = cost_of(t, line);
	if (*cost)
		text = sw_names_format(t->names, "%s, %s", text, cost);
	if (*line->where)
		text = sw_names_format(t->names, "%s, %s", text, line->where);
	sw_out_paragraph(&t->out, 4, "", 0, text);
}

/* Prints the lines of the id that lines->at[first] has, under its title. */
static void put_group(struct sw_text *t, const line_vec *lines, size_t first)
{
	const struct sw_shown_finding *shown = lines->at[first].shown;
	uint64_t printed = 0, more = 0, ns = 0;
	sw_out_text(&t->out, "  ");
	sw_out_coloured(&t->out, SW_BLUE,
			sw_names_format(t->names, "SW%03d %s", shown->finding->id, shown->info->kind));
	sw_out_text(&t->out, sw_names_format(t->names, ": %s", shown->info->title));
	putc('\n', t->out.file);
	for (size_t i = first; i < lines->n; i++) {
		if (lines->at[i].shown->finding->id != shown->finding->id)
			continue;
		if (printed < MOST_LINES) {
			put_line(t, &lines->at[i]);
			printed++;
		} else {
			more += lines->at[i].count;
			ns += lines->at[i].ns;
		}
	}
	if (more)
		sw_out_paragraph(&t->out, 4, "", 0,
				 sw_names_format(t->names, "and %" PRIu64 " more%s%s", more, ns ? ", " : "",
						 ns ? sw_name_time(t->names, ns) : ""));
}

/* Is it the first line with this finding's id? */
static bool first_of_its_id(const line_vec *lines, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (lines->at[i].shown->finding->id == lines->at[index].shown->finding->id)
			return false;
	return true;
}

void sw_text_notes(struct sw_text *t)
{
	line_vec lines = {0};
	for (size_t i = 0; i < t->report->shown.n; i++)
		if (is_note(t, &t->report->shown.at[i]))
			add_line(t, &lines, &t->report->shown.at[i]);
	if (lines.n)
		sw_out_headline(
			&t->out, SW_PLAIN,
			"Notes, shortened (--all prints each in full, \"syncwatch explain SWnnn\" says what to do):");
	for (size_t i = 0; i < lines.n; i++)
		if (first_of_its_id(&lines, i))
			put_group(t, &lines, i);
	if (lines.n)
		putc('\n', t->out.file);
	free(lines.at);
}

#define LABEL_COLUMNS 15 /* "critical path: " */

void sw_text_line(struct sw_text *t, const char *label, const char *text)
{
	if (*text)
		sw_out_paragraph(&t->out, 2, label, LABEL_COLUMNS, text);
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

/* Prints the frames of a stack, in the layout of ThreadSanitizer. */
void sw_text_stack(struct sw_text *t, uint32_t stack, uint32_t function)
{
	struct sw_stack_view view = sw_stack_view(t->names, stack, function);
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_stack_line *at = &view.at[i];
		const char *name = sw_name_function(t->names, at->frame);
		fprintf(t->out.file, "    #%-2zu ", i);
		sw_out_text(&t->out, name);
		fputs(name[0] ? " " : "", t->out.file);
		sw_out_place(&t->out, SW_PLAIN, sw_place_full(t->names, at->frame), at->frame->file, at->frame->line);
		fputs(at->frame->inlined ? " (inlined)" : "", t->out.file);
		if (at->folded) {
			fprintf(t->out.file, " and %u more", at->folded);
			if (!at->mixed)
				sw_out_text(&t->out, sw_names_format(t->names, " of %s", at->frame->module));
		}
		putc('\n', t->out.file);
	}
	if (view.n && view.skipped == UINT32_MAX)
		fputs("    ... deeper frames were not recorded\n", t->out.file);
	else if (view.n && view.skipped)
		fprintf(t->out.file, "    ... %u deeper frame%s not recorded\n", view.skipped,
			sw_plural(view.skipped, " was", "s were"));
	if (view.n == 0)
		fputs("    (no call stack was recorded)\n", t->out.file);
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

/* The stream's name with where it was created. */
static const char *stream_and_site(struct sw_text *t, uint32_t stream)
{
	const char *site = sw_name_stream_site(t->names, stream);
	if (!*site)
		return sw_name_stream(t->names, stream);
	return sw_names_format(t->names, "%s (created at %s)", sw_name_stream(t->names, stream), site);
}

/* "Read by kernel scale(float*, int) on stream 2 (created at race.cu:14), device 0, thread 1" */
static const char *access_heading(struct sw_text *t, const struct sw_access *access, const char *when)
{
	const char *role = sw_wording_heading(access->role);
	char first = when[0] ? (char)tolower((unsigned char)role[0]) : role[0];
	const char *what = sw_name_operation(t->names, access);
	if (access->function && access->kind == SW_REC_LAUNCH)
		what = sw_names_format(t->names, "kernel %s",
				       t->report->all ? sw_name_kernel(t->names, access->function, true)
						      : sw_name_kernel_short(t->names, access->function));
	const char *where = "";
	if (access->stream)
		where = sw_names_format(t->names, " on %s", stream_and_site(t, access->stream));
	if (access->stream && sw_names_several_devices(t->names))
		where = sw_names_format(t->names, "%s, device %d", where, access->device);
	const char *thread = access->thread ? sw_names_format(t->names, ", thread %u", access->thread) : "";
	const char *node = "";
	if (access->node == access->seq && access->node)
		node = ", as a node of a graph";
	else if (access->node)
		node = sw_names_format(t->names, ", as a node of a graph that call %" PRIu64 " made", access->node);
	return sw_names_format(t->names, "%s%c%s %s%s%s, call %" PRIu64 "%s:", when, first, role + 1, what, where,
			       thread, access->seq, node);
}

/* Prints the innermost NVTX ranges of a call: "in NVTX range 'backward' within 'step 3', 'epoch'". */
static void put_nvtx(struct sw_text *t, uint32_t nvtx)
{
	const struct sw_judgement *judgement = t->report->judgement;
	const char *text = "";
	for (unsigned i = 0; i < SW_NVTX_TOLD && nvtx && nvtx <= judgement->nvtx.n; i++) {
		const struct sw_nvtx *range = &judgement->nvtx.at[nvtx - 1];
		const char *before[] = {"in NVTX range ", " within ", ", "};
		text = sw_names_format(t->names, "%s%s'%s'", text, before[i < 2 ? i : 2], range->name);
		if (range->domain[0])
			text = sw_names_format(t->names, "%s of %s", text, range->domain);
		nvtx = range->within;
	}
	if (*text)
		sw_out_paragraph(&t->out, 4, "", 0, text);
}

/* Prints one side of a finding with its stack; `when` comes before it: "Earlier ". */
static void text_access(struct sw_text *t, const struct sw_access *access, const char *when)
{
	sw_out_paragraph(&t->out, 2, "", 0, access_heading(t, access, when));
	if (access->ranged) {
		sw_out_paragraph(&t->out, 4, "", 0, sw_evidence_extent(t->names, access));
		sw_out_paragraph(&t->out, 4, "evidence:", 10, sw_evidence_source(t->names, access));
	}
	const char *library = sw_name_library_call(t->names, access);
	if (*library)
		sw_out_paragraph(&t->out, 4, "", 0, library);
	put_nvtx(t, access->nvtx);
	const struct sw_frame *forward = sw_place_forward(t->names, access);
	if (forward)
		sw_out_paragraph(&t->out, 4, "", 0,
				 sw_names_format(t->names, "backward pass of %s in %s",
						 sw_place_full(t->names, forward), forward->base));
	sw_text_stack(t, access->stack, access->function);
	putc('\n', t->out.file);
}

/* Prints an allocation: its size, kind of memory and address, and the stack that made it. */
static void put_allocation(struct sw_text *t, uint32_t index)
{
	const struct sw_allocation *info = &t->report->judgement->allocations.at[index - 1];
	const char *name = sw_name_allocation(t->names, index);
	bool host = info->memory == SW_MEM_PINNED || info->memory == SW_MEM_REGISTERED ||
		    info->memory == SW_MEM_PAGEABLE || info->memory == SW_MEM_MANAGED;
	const char *device = !host && sw_names_several_devices(t->names)
				     ? sw_names_format(t->names, " of device %d", info->device)
				     : "";
	const char *text = sw_names_format(t->names, "%c%s is %s of %s%s", toupper((unsigned char)name[0]), name + 1,
					   sw_name_bytes(t->names, info->bytes), sw_name_memory(info->memory), device);
	if (info->address) /* unknown of a variable whose address was never taken */
		text = sw_names_format(t->names, "%s at 0x%" PRIx64, text, info->address);
	if (info->seq)
		text = sw_names_format(t->names, "%s, made by %s in thread %u, call %" PRIu64 ":", text,
				       sw_name_api(t->names, info->api, info->flags, info->stack), info->thread,
				       info->seq);
	sw_out_paragraph(&t->out, 2, "", 0, text);
	if (info->seq)
		sw_text_stack(t, info->stack, 0);
	putc('\n', t->out.file);
}

/* Prints each allocation of the finding once, in the order in which the accesses name them. */
static void text_allocations(struct sw_text *t, const struct sw_finding *finding)
{
	for (uint32_t i = 0; i < finding->accesses; i++) {
		uint32_t index = sw_finding_access(finding, i)->allocation;
		bool shown = index == 0 || index > t->report->judgement->allocations.n;
		for (uint32_t k = 0; k < i; k++)
			shown |= sw_finding_access(finding, k)->allocation == index;
		if (!shown)
			put_allocation(t, index);
	}
}

/* A group of findings with one cause: what it is, where, the lines that fix it, then the evidence. */

#define MOST_MEMBERS  4u  /* lines for the other findings of a group */
#define MOST_COMPARED 64u /* members that may share a line */
#define PLACE_COLUMNS 28

/* The colour of a severity. */
static enum sw_colour text_colour(enum sw_severity severity)
{
	return severity == SW_ERROR ? SW_RED : severity == SW_WARNING ? SW_YELLOW : SW_BLUE;
}

/* The text with a capital and a full stop; "cudaMemcpy" at the start stays what it is. */
static const char *as_sentence(struct sw_text *t, const char *text)
{
	size_t word = strcspn(text, " "), lower = strspn(text, "abcdefghijklmnopqrstuvwxyz");
	if (lower < word)
		return sw_names_format(t->names, "%s.", text);
	return sw_names_format(t->names, "%c%s.", toupper((unsigned char)text[0]), text + 1);
}

/* Prints a finding's first line, the place first, so that editors find it: "/src/race.cu:33: error: SW101
   race-read-after-write (certain, 3 launches)". */
static void put_title(struct sw_text *t, const struct sw_shown_finding *shown, const struct sw_wording *words)
{
	const struct sw_finding *finding = shown->finding;
	const struct sw_frame *site = sw_report_site(t->report, finding);
	if (site) {
		sw_out_place(&t->out, SW_BOLD, sw_place_full(t->names, site), site->file, site->line);
		sw_out_text(&t->out, ": ");
	}
	sw_out_coloured(&t->out, text_colour(finding->severity),
			sw_names_format(t->names, "%s:", sw_name_severity(finding->severity)));
	sw_out_text(&t->out,
		    sw_names_format(t->names, " SW%03d %s (%s, %s)%s", finding->id, shown->info->kind,
				    sw_name_confidence(finding->confidence), sw_report_count(t->report, finding),
				    shown->suppressed ? " [suppressed]" : ""));
	putc('\n', t->out.file);
	sw_out_paragraph(&t->out, 2, "", 0, as_sentence(t, words->message));
	putc('\n', t->out.file);
}

/* ---- the fix ------------------------------------------------------------------------------------------------------
 */

/* Prints the lines of code to write, each after its place, on one line however long: they are there to be copied. */
static void put_fix_lines(struct sw_text *t, const struct sw_fix_lines *lines)
{
	const char *places[SW_FIX_LINES];
	size_t column = PLACE_COLUMNS;
	for (uint32_t i = 0; i < lines->n; i++) {
		places[i] = sw_names_format(t->names, "%s:", sw_fix_place(t->names, &lines->line[i]));
		column = sw_out_width(places[i]) < column ? column : sw_out_width(places[i]) + 1;
	}
	for (uint32_t i = 0; i < lines->n; i++) {
		sw_out_text(&t->out, "  ");
		if (!i)
			sw_out_coloured(&t->out, SW_BOLD, "fix:");
		fprintf(t->out.file, "%*s", i ? 15 : 11, "");
		sw_out_text(&t->out, places[i]);
		fprintf(t->out.file, "%*s", (int)(column - sw_out_width(places[i])), "");
		sw_out_coloured(&t->out, SW_GREEN, lines->line[i].code);
		putc('\n', t->out.file);
	}
}

/* The ids of a group's findings, each once. */
static const char *ids_of(struct sw_text *t, const struct sw_group *group)
{
	const char *text = sw_names_format(t->names, "SW%03d", t->report->shown.at[group->leader].finding->id);
	for (size_t i = 0; i < group->members.n; i++) {
		int id = t->report->shown.at[group->members.at[i]].finding->id;
		const char *one = sw_names_format(t->names, "SW%03d", id);
		if (!strstr(text, one))
			text = sw_names_format(t->names, "%s, %s", text, one);
	}
	return text;
}

/* Prints the advice for a group: lines of code where there are some. */
static void put_fix(struct sw_text *t, const struct sw_group *group)
{
	struct sw_group_fix fix;
	sw_group_fix(t->report, group, &fix);
	if (fix.lines.n)
		put_fix_lines(t, &fix.lines);
	else
		sw_text_line(t, "fix:", fix.text);
	sw_text_line(t, "", fix.note);
	if (*fix.why)
		sw_text_line(t, "", sw_names_format(t->names, "(no lines to paste: %s)", fix.why));
	if (group->members.n == 1)
		sw_text_line(t,
			     "fixes:", sw_names_format(t->names, "both findings of this cause: %s", ids_of(t, group)));
	else if (group->members.n)
		sw_text_line(t, "fixes:",
			     sw_names_format(t->names, "all %zu findings of this cause: %s", group->members.n + 1,
					     ids_of(t, group)));
}

/* ---- the others of the group --------------------------------------------------------------------------------------
 */

/* Names a finding of a group in a line: "SW103 kernel scale (race.cu:33), after kernel fill (race.cu:31)". */
static const char *describe_member(struct sw_text *t, const struct sw_finding *finding)
{
	const char *text = sw_names_format(t->names, "SW%03d", finding->id);
	for (uint32_t i = 0; i < finding->accesses && i < 2; i++) {
		const struct sw_access *access = finding->access[sw_is_hazard(finding) ? !i : i];
		const char *place = sw_place_brief(t->names, sw_place_of(t->names, access, NULL));
		text = sw_names_format(t->names, "%s%s%s%s%s%s", text, i ? ", after " : " ",
				       sw_name_operation_brief(t->names, access), *place ? " (" : "", place,
				       *place ? ")" : "");
		if (!sw_is_hazard(finding))
			break;
	}
	return text;
}

/* Bytes or cost of a group's member, and its count: ": bytes 0-4095, 3 launches". */
static const char *member_facts(struct sw_text *t, const struct sw_finding *finding)
{
	const char *overlap = sw_is_hazard(finding) ? sw_evidence_overlap(t->names, finding) : "";
	const char *cost = finding->cost->total_ns ? sw_name_time(t->names, finding->cost->total_ns) : "";
	return sw_names_format(t->names, "%s%s%s%s, %s", *overlap ? ": " : "", overlap, *cost ? ": " : "", cost,
			       sw_report_count(t->report, finding));
}

/* Members that read alike share a line: kernels of a library differ in what their short names leave out. */
struct member_line {
	const struct sw_finding *first;
	const char *text;
	size_t n;
};

/* Returns how many lines there are; the members beyond them are counted. */
static size_t member_lines(struct sw_text *t, const struct sw_group *group, struct member_line *line, size_t *left)
{
	size_t lines = 0;
	*left = 0;
	for (size_t i = 0; i < group->members.n; i++) {
		const struct sw_finding *finding = t->report->shown.at[group->members.at[i]].finding;
		const char *text = i < MOST_COMPARED ? describe_member(t, finding) : "";
		size_t k = 0;
		while (k < lines && strcmp(line[k].text, text) != 0)
			k++;
		if (k < lines)
			line[k].n++;
		else if (lines < MOST_MEMBERS)
			line[lines++] = (struct member_line){finding, text, 1};
		else
			(*left)++;
	}
	return lines;
}

/* Prints the other findings of a group, a line for those that read alike. */
static void put_members(struct sw_text *t, const struct sw_group *group)
{
	struct member_line line[MOST_MEMBERS];
	size_t left, lines = member_lines(t, group, line, &left);
	for (size_t k = 0; k < lines; k++) {
		const char *facts = line[k].n == 1 ? member_facts(t, line[k].first)
						   : sw_names_format(t->names, ": %zu findings", line[k].n);
		sw_text_line(t, k ? "" : "also:", sw_names_format(t->names, "%s%s", line[k].text, facts));
	}
	if (left)
		sw_text_line(t, "", sw_names_format(t->names, "and %zu more (--all prints each in full)", left));
}

/* ---- a finding ----------------------------------------------------------------------------------------------------
 */

/* Puts a finding's names and numbers for filters, which do not change when a sentence does. */
static void put_facts(struct sw_text *t, const struct sw_shown_finding *shown)
{
	const struct sw_finding *finding = shown->finding;
	fprintf(t->out.file,
		"  [id=SW%03d kind=%s severity=%s confidence=%s basis=%s count=%" PRIu64 " wait_ns=%" PRIu64
		" fingerprint=%016" PRIx64 "]\n",
		finding->id, shown->info->kind, sw_name_severity(finding->severity),
		sw_name_confidence(finding->confidence), sw_name_basis(finding->basis), finding->count,
		finding->cost->total_ns, shown->fingerprint);
}

/* Prints both sides of a finding with their stacks. */
static void put_accesses(struct sw_text *t, const struct sw_finding *finding)
{
	if (sw_is_hazard(finding)) {
		/* The later access first: that is where the program goes wrong. */
		text_access(t, finding->access[1], "");
		text_access(t, finding->access[0], "Earlier ");
		for (uint32_t i = 2; i < finding->accesses; i++)
			text_access(t, sw_finding_access(finding, i), "Related ");
		if (t->report->all)
			text_allocations(t, finding);
	} else {
		for (uint32_t i = 0; i < finding->accesses; i++)
			text_access(t, sw_finding_access(finding, i), "");
		if (sw_finding_details(finding)->waited_for.seq)
			text_access(t, &sw_finding_details(finding)->waited_for, "The longest call waited for: ");
	}
}

/* Prints the other buffers that the finding was met on. */
static void put_other_buffers(struct sw_text *t, const struct sw_finding *finding)
{
	const struct sw_other_buffers *others = &sw_finding_details(finding)->others;
	for (uint32_t i = 0; i < others->n; i++)
		sw_text_line(t, i ? "" : "also on:", sw_name_allocation_whole(t->names, others->allocation[i]));
}

/* Prints a finding in full; group: that it leads, NULL: it is printed by itself. */
static void put_finding(struct sw_text *t, const struct sw_group *group, const struct sw_shown_finding *shown)
{
	const struct sw_finding *finding = shown->finding;
	const struct sw_frame *site = sw_report_site(t->report, finding);
	const struct sw_wording words = sw_report_words(t->report, shown);
	t->names->home = site ? site->file : NULL;
	put_title(t, shown, &words);
	if (group) {
		put_fix(t, group);
		put_members(t, group);
	} else {
		sw_text_line(t, "fix:", words.fix);
	}
	if (shown->confirmation) {
		sw_text_line(t, "confirmed:", sw_confirmation_text(t->names, shown->confirmation));
		sw_text_line(t, "fix tried:", sw_confirmation_fix_text(t->names, shown->confirmation));
	}
	sw_text_line(t, "cost:", words.cost);
	if (shown->saving)
		sw_text_line(t, "saving:", sw_saving_text(t->names, shown->saving));
	sw_text_line(t, "basis:", words.basis);
	putc('\n', t->out.file);
	put_accesses(t, finding);
	if (sw_is_hazard(finding))
		sw_text_line(t, "overlap:", sw_evidence_overlap(t->names, finding));
	put_other_buffers(t, finding);
	sw_text_line(t, "ordered by:", words.ordered_by);
	if (t->report->all)
		sw_text_line(t, "missing edge:", words.missing_edge);
	/* Never wrapped: it is there to be copied. */
	if (!shown->suppressed) {
		const bool gate = shown->info->family == SW_FAMILY_GATE;
		sw_out_text(&t->out, sw_names_format(t->names, "  %-*s%s%s", 15, gate ? "allow:" : "suppress:",
						     sw_report_suppression(t->report, shown), gate ? "  # WHY" : ""));
		putc('\n', t->out.file);
	}
	if (t->report->all)
		put_facts(t, shown);
	putc('\n', t->out.file);
	t->names->home = NULL;
}

/* Prints a finding, and frees the names that were made for it. */
static void put_scoped(struct sw_text *t, const struct sw_group *group, size_t index)
{
	struct sw_names_scope scope;
	sw_names_scope_begin(t->names, &scope);
	put_finding(t, group, &t->report->shown.at[index]);
	sw_names_scope_end(t->names, &scope);
}

void sw_text_group(struct sw_text *t, const struct sw_group *group)
{
	put_scoped(t, group, group->leader);
	for (size_t i = 0; i < group->members.n && t->report->all; i++)
		put_scoped(t, NULL, group->members.at[i]);
}

bool sw_text_is_shown(const struct sw_text *t, const struct sw_group *group)
{
	return t->report->shown.at[group->leader].finding->severity != SW_NOTE || t->report->all;
}

/* The first screen: all groups in a line each. */

#define MOST_ROWS     40u
#define LEAST_COLUMNS 60u /* on a terminal that is narrower a row takes several lines */
#define LEAST_WHAT    16u

enum { SEVERITY, ID, WHERE, WHAT, COUNT, COST, CELLS };
struct row {
	const char *cell[CELLS];
	enum sw_severity severity;
	const struct sw_frame *site;
};

/* "in libcublasLt.so.13", "-": of a stack without names. */
static const char *module_of(struct sw_text *t, const struct sw_finding *finding)
{
	const struct sw_frame *frame = NULL;
	for (uint32_t i = finding->accesses; i-- > 0 && !frame;)
		frame = sw_stack_module(t->names, sw_finding_access(finding, i)->stack,
					sw_finding_access(finding, i)->function);
	return frame ? sw_names_format(t->names, "in %s", frame->module) : "-";
}

/* The row of a group in the table of the first screen. */
static struct row row_of(struct sw_text *t, const struct sw_group *group)
{
	const struct sw_shown_finding *shown = &t->report->shown.at[group->leader];
	const struct sw_frame *site = sw_report_site(t->report, shown->finding);
	uint64_t ns = sw_group_cost(t->report, group);
	struct row row = {.severity = shown->finding->severity, .site = site};
	row.cell[SEVERITY] = sw_name_severity(shown->finding->severity);
	row.cell[ID] = sw_names_format(t->names, "SW%03d", shown->finding->id);
	const bool own = site && sw_stack_is_own(t->names, site), named = site && (site->base || site->file);
	row.cell[WHERE] = named ? sw_place_brief(t->names, site)
			  : own ? sw_place_full(t->names, site)
				: module_of(t, shown->finding);
	if (site && site->file && site->base)
		row.cell[WHERE] = sw_names_format(t->names, "%s in %s", row.cell[WHERE], site->base);
	row.cell[WHAT] = shown->info->title;
	if (group->members.n)
		row.cell[WHAT] = sw_names_format(t->names, "%s, and %zu more", row.cell[WHAT], group->members.n);
	row.cell[COUNT] = sw_report_count(t->report, shown->finding);
	row.cell[COST] = ns ? sw_name_time(t->names, ns) : "-";
	return row;
}

/* Prints the table as a list of paragraphs, for a narrow terminal. */
static void put_list(struct sw_text *t, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sw_out_paragraph(&t->out, 0, "", 0,
				 sw_names_format(t->names, "%s %s %s", rows[i].cell[SEVERITY], rows[i].cell[ID],
						 rows[i].cell[WHERE]));
		sw_out_paragraph(&t->out, 2, "", 0,
				 sw_names_format(t->names, "%s, %s%s%s", rows[i].cell[WHAT], rows[i].cell[COUNT],
						 *rows[i].cell[COST] == '-' ? "" : ", ",
						 *rows[i].cell[COST] == '-' ? "" : rows[i].cell[COST]));
	}
}

/* Prints a row in columns of these widths. */
static void put_row(struct sw_text *t, const struct row *row, const size_t *widths)
{
	for (int i = 0; i < CELLS; i++) {
		fputs("  ", t->out.file);
		if (i == SEVERITY && *row->cell[i]) {
			sw_out_coloured(&t->out, text_colour(row->severity), row->cell[i]);
			fprintf(t->out.file, "%*s", (int)(widths[i] - sw_out_width(row->cell[i])), "");
		} else {
			sw_out_cell(&t->out, row->cell[i], widths[i], i + 1 < CELLS);
		}
	}
	putc('\n', t->out.file);
}

/* Gives what the other columns leave of the line to the two that may be cut. */
static void fit_columns(size_t *widths, size_t columns)
{
	size_t fixed = 2 * CELLS, where = widths[WHERE];
	for (int i = 0; i < CELLS; i++)
		if (i != WHERE && i != WHAT)
			fixed += widths[i];
	size_t rest = columns > fixed + 2 * LEAST_WHAT ? columns - fixed : 2 * LEAST_WHAT;
	if (where + widths[WHAT] <= rest)
		return;
	if (where > rest - LEAST_WHAT && widths[WHAT] > LEAST_WHAT)
		where = rest / 2 > where ? where : rest / 2;
	widths[WHERE] = where;
	widths[WHAT] = rest - where;
}

/* Prints the rows, with columns as wide as needed. */
static void put_table(struct sw_text *t, const struct row *rows, size_t n)
{
	static const struct row head = {.cell = {"", "id", "where", "what", "count", "cost"}};
	size_t widths[CELLS] = {0};
	for (int i = 0; i < CELLS; i++) {
		widths[i] = sw_out_width(head.cell[i]);
		for (size_t k = 0; k < n; k++)
			if (sw_out_width(rows[k].cell[i]) > widths[i])
				widths[i] = sw_out_width(rows[k].cell[i]);
	}
	if (t->out.columns) /* a file has room for it all */
		fit_columns(widths, t->out.columns);
	put_row(t, &head, widths);
	for (size_t i = 0; i < n; i++)
		put_row(t, &rows[i], widths);
}

void sw_text_table(struct sw_text *t)
{
	struct row rows[MOST_ROWS];
	size_t n = 0, all = 0;
	for (size_t i = 0; i < t->report->groups.n; i++) {
		const struct sw_group *group = &t->report->groups.at[i];
		if (!sw_text_is_shown(t, group))
			continue;
		all++;
		if (n < MOST_ROWS)
			rows[n++] = row_of(t, group);
	}
	if (all < 2)
		return;
	if (sw_out_columns(&t->out) < LEAST_COLUMNS)
		put_list(t, rows, n);
	else
		put_table(t, rows, n);
	if (all > n)
		fprintf(t->out.file, "  and %zu more\n", all - n);
	putc('\n', t->out.file);
}
