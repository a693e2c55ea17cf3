/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what the companion wrote of a run, and concludes what holds of the finding. */
#include "confirm/trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After a hold that made the later side wait, that side has so much of the hold's time to end.  One that takes longer
   may be slow by itself. */
#define PROMPT_SHARE 4u

/* Why a hold ended, by its word in the results. */
static enum sw_release release_of(const char *word)
{
#define NAME(name, text)                                                                                               \
	if (strcmp(word, text) == 0)                                                                                   \
		return SW_RELEASE_##name;
	SW_RELEASES(NAME)
#undef NAME
	return SW_RELEASE_EXIT;
}

/* Takes a line about an edge that was put in; false: it is another line. */
static bool take_edge(const char *line, struct sw_outcome *out)
{
	struct sw_outcome_edge edge = {0};
	char word[8];
	if (sscanf(line, "%7s %" SCNu64 " %" SCNu32 " %" SCNu32, word, &edge.added.seq, &edge.fix, &edge.added.event) !=
	    4)
		return false;
	if (strcmp(word, "after") != 0 && strcmp(word, "before") != 0)
		return false;
	edge.added.end = word[0] == 'a' ? SW_EDGE_AFTER : SW_EDGE_BEFORE;
	*sw_vec_push(&out->edges) = edge;
	return true;
}

/* Takes a line about how long the edges of a fix waited; false: it is another line. */
static bool take_waits(const char *line, struct sw_outcome *out)
{
	uint64_t ns, timed;
	uint32_t fix;
	if (sscanf(line, "waited %" SCNu32 " %" SCNu64 " %" SCNu64, &fix, &ns, &timed) != 3 || fix >= SW_PLAN_EDGES)
		return false;
	out->waits[fix].ns = ns;
	out->waits[fix].timed = timed;
	return true;
}

/* Takes a line about when the later side was called. */
static void take_later(const char *line, struct sw_outcome *out)
{
	uint64_t seq;
	char word[8] = "";
	if (out->later || sscanf(line, "later %" SCNu64 " %" SCNu64 " %7s", &seq, &out->later_us, word) != 3)
		return;
	out->later = true;
	out->later_first = !out->earlier;
	out->later_held = strcmp(word, "held") == 0;
}

/* Takes a line about when and why the earlier side was released. */
static void take_released(const char *line, struct sw_outcome *out)
{
	char word[8] = "";
	unsigned probe = 0, later = 0;
	if (sscanf(line, "released %" SCNu64 " %7s %u %u", &out->released_us, word, &probe, &later) != 4)
		return;
	out->released = true;
	out->why = release_of(word);
	out->probe_done = probe;
	out->later_done = later;
}

/* Takes a line that says what the driver refused; the first of them counts.  False: it is another line. */
static bool take_failed(const char *line, struct sw_outcome *out)
{
	char word[16];
	int status;
	if (sscanf(line, "failed %15s %d", word, &status) != 2)
		return false;
	const char *what = NULL;
#define WHAT(key, text) what = strcmp(word, key) == 0 ? text : what;
	SW_REFUSALS(WHAT)
#undef WHAT
	if (what && !out->refused) {
		out->refused = what;
		out->refused_status = status;
	}
	return true;
}

/* Takes a line that the recorder's companion wrote about the hold of an experiment. */
static void take_line(const char *line, struct sw_outcome *out)
{
	uint64_t seq;
	if (sscanf(line, "earlier %" SCNu64 " %" SCNu64, &seq, &out->earlier_us) == 2)
		out->earlier = true;
	else if (sscanf(line, "left %" SCNu64, &out->left_us) == 1)
		;
	else if (sscanf(line, "done %" SCNu64, &out->done_us) == 1)
		out->done_after = true;
	else if (sscanf(line, "bytes %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &out->bytes,
			&out->by_later, &out->by_earlier, &out->by_both, &out->by_each) == 5)
		out->compared = true;
	else if (take_waits(line, out) || take_edge(line, out))
		;
	else if (strcmp(line, "late") == 0)
		out->late = true;
	else if (strncmp(line, "unplaced ", 9) == 0)
		out->unplaced = true;
	else if (strcmp(line, "captured") == 0)
		out->captured = true;
	else if (strcmp(line, "swapped") == 0)
		out->swapped = true;
	else if (take_failed(line, out))
		;
	else if (strcmp(line, "end") == 0)
		out->ended = true;
	take_later(line, out);
	take_released(line, out);
}

/* For qsort(): by sequence number. */
static int by_seq(const void *a, const void *b)
{
	const struct sw_outcome_edge *x = a, *y = b;
	return x->added.seq < y->added.seq ? -1 : x->added.seq > y->added.seq;
}

/* Reads the results of a run; false: there is no such file. */
bool sw_outcome_read(const char *path, struct sw_outcome *out)
{
	char line[512];
	FILE *in = fopen(path, "re");
	*out = (struct sw_outcome){0};
	if (!in)
		return false;
	while (fgets(line, sizeof line, in)) {
		line[strcspn(line, "\n")] = 0;
		take_line(line, out);
	}
	fclose(in);
	if (out->edges.n)
		qsort(out->edges.at, out->edges.n, sizeof *out->edges.at, by_seq);
	return true;
}

/* Frees the edges. */
void sw_outcome_free(struct sw_outcome *outcome)
{
	free(outcome->edges.at);
}

/* ---- what it means ----------------------------------------------------------------------------------------------- */

/* How many bytes are wrong when the later side comes first: what it reads is stale, what the earlier one reads is new,
   what the later one wrote is overwritten. */
static uint64_t wrong_bytes(const struct sw_outcome *o, int id)
{
	return id == SW_FINDING_RACE_RAW ? o->by_both : id == SW_FINDING_RACE_WAR ? o->by_later : o->by_earlier;
}

/* Why the run says nothing for certain about the hazard; SW_DOUBT_NONE: it does. */
static enum sw_doubt doubt_of(const struct sw_outcome *o, const struct sw_trial *trial)
{
	if (o->refused)
		return SW_DOUBT_REFUSED;
	if (o->unplaced)
		return trial->captured ? SW_DOUBT_ONE_LAUNCH : SW_DOUBT_GRAPH_PART;
	if (o->captured)
		return SW_DOUBT_CAPTURED;
	if (o->late)
		return SW_DOUBT_SEEN_LATE;
	if (o->later_first)
		return SW_DOUBT_SWAPPED;
	if (!o->later_held && o->released && o->left_us > o->released_us)
		return SW_DOUBT_EARLIER_BLOCKS;
	if (!o->later_held)
		return o->why == SW_RELEASE_HOST ? SW_DOUBT_HOST_WAITED
		       : trial->host_order	 ? SW_DOUBT_HOST_ORDER
						 : SW_DOUBT_NOT_MADE;
	if (o->why == SW_RELEASE_HOST)
		return SW_DOUBT_HOST_WAITED;
	if (o->why == SW_RELEASE_EXIT)
		return SW_DOUBT_NOT_MADE;
	/* A call that the host makes needs no stream: it waited, or is slow. */
	if (trial->later_frees)
		return SW_DOUBT_FREE_WAITS;
	if (o->probe_done || trial->later_host)
		return SW_DOUBT_SLOW;
	return trial->captured		 ? SW_DOUBT_ONE_LAUNCH
	       : trial->earlier_in_graph ? SW_DOUBT_GRAPH_PART
					 : SW_DOUBT_BLOCKED_BEFORE;
}

/* Did the later call wait for the earlier one?  It had its time, its stream was free for it, and it ended only when the
   other was released.  A call of the host needs no stream. */
static bool later_waited(const struct sw_outcome *o, const struct sw_trial *trial)
{
	const uint64_t held_us = o->released_us - o->later_us;
	return o->later_held && o->why == SW_RELEASE_BOUND && (o->probe_done || trial->later_host) && !o->later_done &&
	       o->done_after && (o->done_us - o->released_us) * PROMPT_SHARE < held_us;
}

/* Did both sides touch a byte, beyond what bounds their accesses?  Reads are not seen, writes are where they change a
   byte. */
static bool touch_the_same(const struct sw_outcome *o, const struct sw_trial *trial)
{
	const bool seen = o->compared && !trial->not_executed;
	const bool earlier = seen && trial->earlier_writes && o->by_earlier,
		   later = seen && trial->later_writes && o->by_later;
	if (trial->earlier_whole || trial->later_whole)
		return (trial->earlier_whole || earlier) && (trial->later_whole || later);
	return earlier && later && o->by_each;
}

/* Decides, where the later side ran first, by the bytes that both touch whether that made a difference. */
static void judge_bytes(const struct sw_outcome *o, const struct sw_trial *trial, struct sw_confirmation *out)
{
	out->compared = o->compared && !trial->not_executed;
	out->not_executed = trial->not_executed;
	out->bytes = out->compared ? o->bytes : 0;
	out->differ = out->compared ? wrong_bytes(o, trial->id) : 0;
	const bool all = out->compared && o->bytes == trial->bytes;
	if (trial->own_order) {
		out->verdict = SW_VERDICT_UNORDERED;
		out->doubt = SW_DOUBT_OWN_ORDER;
	} else if (trial->shown && !touch_the_same(o, trial)) {
		out->verdict = SW_VERDICT_UNORDERED;
		out->doubt = SW_DOUBT_PARTLY;
	} else {
		out->verdict = all && !out->differ ? SW_VERDICT_SAME_BYTES : SW_VERDICT_PROVEN;
	}
}

/* Concludes from a run with a hold what holds of the finding. */
void sw_outcome_judge(const struct sw_outcome *o, const struct sw_trial *trial, struct sw_confirmation *out)
{
	out->doubt = SW_DOUBT_NONE;
	out->refused = o->refused;
	out->refused_status = o->refused_status;
	out->swapped = o->swapped;
	out->held_ns = o->released && o->earlier ? (o->released_us - o->earlier_us) * 1000 : 0;
	if (!o->earlier && !o->refused && !o->unplaced && !o->late && !o->captured) {
		out->verdict = SW_VERDICT_NOT_REACHED;
	} else if (o->released && o->later_done && o->later_held) {
		judge_bytes(o, trial, out);
	} else if (!o->later && o->released && o->why != SW_RELEASE_HOST && !(o->ended && trial->later_access)) {
		out->verdict = o->ended ? SW_VERDICT_NOT_REACHED : SW_VERDICT_INCONCLUSIVE;
		out->doubt = o->ended ? SW_DOUBT_NONE : SW_DOUBT_CRASHED;
	} else if (later_waited(o, trial)) {
		out->verdict = trial->later_frees ? SW_VERDICT_ORDERED : SW_VERDICT_REFUTED;
		out->doubt = trial->later_frees ? SW_DOUBT_FREE_WAITS : SW_DOUBT_NONE;
	} else {
		out->verdict = SW_VERDICT_INCONCLUSIVE;
		out->doubt = doubt_of(o, trial);
	}
}
