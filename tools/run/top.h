/* SPDX-License-Identifier: Apache-2.0 */
/* Views of judgements so far: `syncwatch top`. */
#ifndef SW_TOOLS_RUN_TOP_H
#define SW_TOOLS_RUN_TOP_H

#include <stdio.h>
#include <sys/types.h>

#include "report/report.h"

enum sw_top_format { SW_TOP_TEXT, SW_TOP_JSON, SW_TOP_PROMETHEUS, SW_TOP_FORMATS };

struct sw_top_process {
	pid_t pid;
	const char *program;
	bool over; /* it has ended */
	const struct sw_judgement *so_far;
	struct sw_report *report; /* for names; NULL: places are not named */
	uint64_t seconds_ns;	  /* since its first record */
	double calls_s, launches_s;
	struct sw_follow_facts follow;
};

/* Prints how processes stand. */
void sw_top_print(FILE *out, enum sw_top_format format, const struct sw_top_process *processes, size_t n);

/* Texts of all formats that the follower writes and `run` reads: memory that both share. */
struct sw_top_board;

/* Memory that `run` and the follower share; NULL: there is none. */
struct sw_top_board *sw_top_board_new(void);

/* Puts a text on the board, by the follower. */
void sw_top_board_write(struct sw_top_board *board, enum sw_top_format format, const char *text);

/* Notes that all texts were written with names. */
void sw_top_board_named(struct sw_top_board *board);

/* Prints a text.  False: none was written with names yet. */
bool sw_top_board_read(const struct sw_top_board *board, enum sw_top_format format, FILE *out);

/* Notes that somebody looks: from then on places are named, which costs memory. */
void sw_top_board_ask(struct sw_top_board *board);

/* Has anybody looked? */
bool sw_top_board_asked(const struct sw_top_board *board);

#endif
