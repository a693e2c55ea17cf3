/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the intervals hold the truth?  Random programs run on a machine of which everything is known (machine.c), as they
 * are and with one change.  The schedule gets the first run only, once with the times of the device and once without,
 * and says what the change would gain.
 *
 *     study [SEED [PROGRAMS]]      prints the table: cases, intervals that hold the truth, how wide they are
 *
 * Fails when fewer than 95 % of the intervals hold the truth, with or without times of the device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "tests/schedule/machine.h"

#define US 1000u
#define MS 1000000u

enum { PROGRAMS = 400, ROUNDS_MOST = 24, BODY_MOST = 12 };

static uint64_t state;

static uint64_t below(uint64_t n)
{
	return sw_hash_u64(++state) % n;
}

/* Times are spread over orders of magnitude. */
static uint64_t spread(uint64_t least, uint64_t doublings)
{
	uint64_t ns = least << below(doublings);
	return ns + below(ns);
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

/* How much work of one kind differs: hardly, by a third, or with the data. */
static uint64_t vary(uint64_t ns, uint32_t like)
{
	uint64_t how = like % 8;
	if (how < 5)
		return ns * (98 + below(5)) / 100;
	if (how < 7)
		return ns * (70 + below(61)) / 100;
	return ns * (30 + below(270)) / 100;
}

static void random_machine(struct machine *m)
{
	static const uint64_t buses[] = {19, 24, 41, 80}; /* ns a KiB: 53, 42, 25, 13 GB/s */
	memset(m, 0, sizeof *m);
	m->lead_ns = 4 * US + below(5 * US);
	m->lag_ns = 500 + below(1500);
	m->tail_ns = 3 * US + below(6 * US);
	m->pinned_ns_per_kib = buses[below(4)];
	m->staged_ns_per_kib = 80 + below(300); /* 13 to 2.7 GB/s */
	m->launch_ns = 2 * US + below(6 * US);
}

static enum op_kind random_kind(void)
{
	static const enum op_kind often[] = {OP_LAUNCH, OP_LAUNCH, OP_LAUNCH, OP_SYNC_QUEUE, OP_SYNC_DEVICE, OP_DOWN};
	return below(2) ? often[below(6)] : (enum op_kind)below(OP_KINDS);
}

static void random_body(struct op *body, size_t n, uint32_t queues)
{
	for (size_t i = 0; i < n; i++) {
		struct op *op = &body[i];
		*op = (struct op){.kind = i ? random_kind() : OP_LAUNCH,
				  .site = (uint32_t)i + 1,
				  .queue = 1 + (uint32_t)below(queues),
				  .event = (uint32_t)below(MACHINE_EVENTS),
				  .gap_ns = below(6) ? spread(US, 7) : spread(64 * US, 6),
				  .own_ns = 3 * US + below(4 * US),
				  .dur_ns = spread(8 * US, 9),
				  .bytes = spread(4096, 13),
				  .quarters = 1 + (uint32_t)below(4),
				  .like = (uint32_t)(i * 64 + below(64)) + 1};
		if (op->kind == OP_LEGACY_SET)
			op->dur_ns = 2 * US + below(10 * US);
		else if (op->kind == OP_FREE)
			op->own_ns = spread(10 * US, 4);
		else if (op->kind == OP_CONFIG)
			op->own_ns = spread(200 * US, 4);
		else if (op->kind == OP_PIN)
			op->own_ns = spread(30 * US, 6);
	}
}

static void random_program(struct machine *m, uint64_t seed)
{
	struct op body[BODY_MOST];
	state = seed * 1000003;
	random_machine(m);
	size_t n = 2 + below(BODY_MOST - 2), rounds = 3 + below(ROUNDS_MOST - 3);
	random_body(body, n, 1 + (uint32_t)below(3));
	for (size_t r = 0; r < rounds; r++)
		for (size_t i = 0; i < n; i++) {
			struct op *op = &m->op[m->ops];
			if (r && !below(20))
				continue;
			*op = body[i];
			op->gap_ns = op->gap_ns * (90 + below(21)) / 100;
			op->dur_ns = vary(op->dur_ns, op->like);
			op->own_ns = vary(op->own_ns, 0);
			m->ops++;
		}
	m->op[m->ops++] =
		(struct op){.kind = OP_SYNC_DEVICE, .site = BODY_MOST + 1, .gap_ns = 10 * US, .own_ns = 4 * US};
}

/* ---- what the schedule sees ------------------------------------------------------------------------------------- */

/* As src/detect/waits does: a quarter of what such a call takes at most. */
static uint64_t own_of(const struct op *op)
{
	switch (op->kind) {
	case OP_UP_STAGED:
	case OP_DOWN_STAGED:
		return (100 * US + (op->bytes >> 10) * 390) / 4;
	case OP_SYNC_DOWN:
		return (60 * US + (op->bytes >> 10) * 122) / 4;
	case OP_FREE:
		return 200 * US / 4;
	case OP_CONFIG:
		return MS / 4;
	case OP_PIN:
		return MS / 4;
	case OP_SYNC_QUEUE:
	case OP_SYNC_DEVICE:
	case OP_SYNC_EVENT:
		return 20 * US / 4;
	default:
		return 4 * US;
	}
}

static enum sw_work_kind does(enum op_kind kind)
{
	switch (kind) {
	case OP_LAUNCH:
		return SW_DOES_KERNEL;
	case OP_UP:
	case OP_UP_STAGED:
		return SW_DOES_UPLOAD;
	case OP_LEGACY_SET:
		return SW_DOES_SET;
	default:
		return SW_DOES_DOWNLOAD;
	}
}

static void tell_until(struct sw_schedule *s, const struct op *op, uint64_t seq)
{
	switch (op->kind) {
	case OP_UP_STAGED:
	case OP_DOWN_STAGED:
	case OP_SYNC_DOWN:
		sw_schedule_until(s, seq, SW_UNTIL_OWN, 0);
		break;
	case OP_SYNC_QUEUE:
		sw_schedule_until(s, seq, SW_UNTIL_QUEUE, op->queue);
		break;
	case OP_SYNC_EVENT:
		sw_schedule_until(s, seq, SW_UNTIL_EVENT, 100 + op->event);
		break;
	case OP_SYNC_DEVICE:
	case OP_FREE:
	case OP_CONFIG:
		sw_schedule_until(s, seq, SW_UNTIL_DEVICE, 0);
		break;
	default:
		break;
	}
}

static void tell_op(struct sw_schedule *s, const struct op *op, const struct machine_times *t, uint64_t seq, bool timed)
{
	uint32_t queue = op->kind == OP_LEGACY_SET ? 0 : op->queue;
	sw_schedule_enter(s, &(struct sw_schedule_call){
				     .seq = seq, .t_ns = t->call, .site = op->site, .own_ns = own_of(op), .thread = 1});
	if (op_is_work(op->kind)) {
		uint64_t bytes = op->kind == OP_LAUNCH || op->kind == OP_LEGACY_SET ? 0 : op->bytes;
		uint64_t like = op->kind == OP_LAUNCH ? op->like : 1000 + ((uint64_t)op->kind << 40) + bytes;
		sw_schedule_work(s, &(struct sw_schedule_work){.seq = seq,
							       .queue = queue,
							       .kind = does(op->kind),
							       .bytes = bytes,
							       .like = like,
							       .quarters = op->kind == OP_LAUNCH ? op->quarters : 0,
							       .staged = op_is_staged(op->kind)});
		if (timed)
			sw_schedule_times(s, seq, t->start, t->end);
	} else if (op->kind == OP_RECORD) {
		sw_schedule_record(s, queue, 100 + op->event);
	} else if (op->kind == OP_WAIT) {
		sw_schedule_wait(s, queue, 100 + op->event);
	}
	tell_until(s, op, seq);
	sw_schedule_leave(s, seq, t->back - t->call);
}

static struct sw_schedule *told(const struct machine *m, const struct machine_times *times, bool timed)
{
	struct sw_schedule *s = sw_schedule_new(NULL);
	for (uint32_t q = 0; q < MACHINE_QUEUES; q++)
		sw_schedule_queue(s, q, machine_queue(q), 1, 0);
	for (size_t i = 0; i < m->ops; i++)
		tell_op(s, &m->op[i], &times[i], i + 1, timed);
	sw_schedule_finish(s);
	return s;
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static bool random_change(const struct machine *m, uint32_t site, struct machine_change *change)
{
	const struct op *op = NULL;
	for (size_t i = 0; i < m->ops && !op; i++)
		op = m->op[i].site == site ? &m->op[i] : NULL;
	if (!op || !(op_waits(op->kind) || op->kind == OP_LEGACY_SET || op->kind == OP_PIN) ||
	    op->kind == OP_SYNC_EVENT)
		return false;
	*change = (struct machine_change){.made = true, .site = site};
	if (op->kind == OP_LEGACY_SET)
		change->kind = SW_IF_NO_LEGACY;
	else if (op_is_staged(op->kind) || op->kind == OP_SYNC_DOWN)
		change->kind = SW_IF_PINNED;
	else if (op->kind == OP_SYNC_QUEUE || op->kind == OP_SYNC_DEVICE)
		change->kind = SW_IF_LESS;
	else
		change->kind = SW_IF_NO_CALL;
	change->keeps[below(MACHINE_QUEUES)] = below(2) && op->kind == OP_SYNC_DEVICE;
	return true;
}

static struct sw_gain predicted(struct sw_schedule *s, const struct machine_change *change)
{
	struct sw_keep keep[MACHINE_QUEUES];
	struct sw_what_if what_if = {.kind = change->kind, .site = change->site, .keep = keep, .needed = SW_NEEDED};
	if (change->kind != SW_IF_LESS)
		what_if.needed = SW_NEEDED_NOT;
	struct sw_what_ifs set = {&what_if, 1};
	struct sw_gain gain;
	for (uint32_t q = 0; q < MACHINE_QUEUES; q++)
		if (change->keeps[q])
			keep[what_if.keeps++] = (struct sw_keep){.queue = q, .to = SW_KEEP_HOST};
	sw_schedule_try(s, &set, &gain, 1);
	sw_gain_widen(&gain);
	return gain;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

struct cell {
	uint64_t cases, held, unknown, vague;
	double *width; /* of the interval, part of the run */
	size_t widths, room;
};

/* By kind of change; of all kinds; of all with which a fiftieth of the run or more is recoverable; of these those whose
   interval is not said to be too wide.  Without and with times. */
enum { ROW_ALL = SW_IF_PINNED + 1, ROW_MATTERS, ROW_USEFUL, ROWS };
#define MATTERS 50u
static struct cell cells[ROWS][2];

static void count(struct cell *c, const struct sw_gain *gain, uint64_t truth, uint64_t run)
{
	c->cases++;
	if (!gain->known) {
		c->unknown++;
		return;
	}
	c->held += gain->low_ns <= truth && truth <= gain->high_ns;
	c->vague += gain->vague;
	if (c->widths == c->room) {
		c->room = c->room ? 2 * c->room : 256;
		c->width = realloc(c->width, c->room * sizeof *c->width);
	}
	c->width[c->widths++] = (double)(gain->high_ns - gain->low_ns) / (double)run;
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return a < b ? -1 : a > b;
}

static double quantile(struct cell *c, double part)
{
	if (!c->widths)
		return 0;
	qsort(c->width, c->widths, sizeof *c->width, by_value);
	return c->width[(size_t)(part * (double)(c->widths - 1))];
}

static void print_row(const char *name, struct cell *c, bool timed)
{
	uint64_t told = c->cases - c->unknown;
	if (!c->cases)
		return;
	printf("%-20s %-8s %6llu %6llu %6llu %8.1f %8.1f %8.1f\n", name, timed ? "device" : "host",
	       (unsigned long long)c->cases, (unsigned long long)c->unknown, (unsigned long long)c->vague,
	       told ? 100. * (double)c->held / (double)told : 0, 100 * quantile(c, .5), 100 * quantile(c, .9));
}

static const char *const names[] = {
	[SW_IF_NO_WAIT] = "wait removed",	 [SW_IF_NO_CALL] = "call removed", [SW_IF_LESS] = "wait narrowed",
	[SW_IF_NO_LEGACY] = "off legacy stream", [SW_IF_PINNED] = "pinned memory", [ROW_ALL] = "all",
	[ROW_MATTERS] = "2 % of the run",	 [ROW_USEFUL] = "and not too wide"};

static bool print_table(void)
{
	bool good = true;
	printf("%-20s %-8s %6s %6s %6s %8s %8s %8s\n", "change", "times", "cases", "none", "wide", "held_%", "median_%",
	       "p90_%");
	for (int kind = 0; kind < ROWS; kind++)
		for (int timed = 0; timed < 2; timed++) {
			struct cell *c = &cells[kind][timed];
			print_row(names[kind], c, timed);
			good &= kind < ROW_ALL || c->held * 100 >= (c->cases - c->unknown) * 95;
			free(c->width);
		}
	return good;
}

/* ---- the study --------------------------------------------------------------------------------------------------- */

static void tell_miss(uint64_t seed, const struct machine_change *change, const struct sw_gain *gain, uint64_t truth,
		      uint64_t run, bool timed)
{
	if (!getenv("STUDY_MISSES") || !gain->known || (gain->low_ns <= truth && truth <= gain->high_ns))
		return;
	printf("miss: seed %llu site %u %s %s: %.3f to %.3f ms, truth %.3f, run %.3f\n", (unsigned long long)seed,
	       change->site, names[change->kind], timed ? "device" : "host", (double)gain->low_ns / 1e6,
	       (double)gain->high_ns / 1e6, (double)truth / 1e6, (double)run / 1e6);
}

static void study(struct machine *m, uint64_t seed)
{
	static struct machine_times times[MACHINE_OPS], after[MACHINE_OPS];
	struct machine_change change;
	random_program(m, seed);
	uint64_t run = machine_run(m, NULL, times);
	struct sw_schedule *s[2] = {told(m, times, false), told(m, times, true)};
	for (uint32_t site = 1; site <= BODY_MOST; site++) {
		if (!random_change(m, site, &change))
			continue;
		uint64_t fixed = machine_run(m, &change, after), truth = run > fixed ? run - fixed : 0;
		for (int timed = 0; timed < 2; timed++) {
			struct sw_gain gain = predicted(s[timed], &change);
			count(&cells[change.kind][timed], &gain, truth, run);
			count(&cells[ROW_ALL][timed], &gain, truth, run);
			if (truth >= run / MATTERS || gain.high_ns >= run / MATTERS) {
				count(&cells[ROW_MATTERS][timed], &gain, truth, run);
				if (!gain.vague)
					count(&cells[ROW_USEFUL][timed], &gain, truth, run);
			}
			tell_miss(seed, &change, &gain, truth, run, timed);
		}
	}
	sw_schedule_free(s[0]);
	sw_schedule_free(s[1]);
}

int main(int argc, char **argv)
{
	static struct machine m;
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
		 programs = argc > 2 ? strtoull(argv[2], NULL, 0) : PROGRAMS;
	for (uint64_t i = 0; i < programs; i++)
		study(&m, seed + i);
	bool good = print_table();
	puts(good ? "1 passed, 0 failed, 0 skipped" : "0 passed, 1 failed, 0 skipped");
	return !good;
}
