/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which calls wait for what, as measured: the table that `syncwatch calibrate` writes, and the one that was measured on
 * an H200 and is built in.
 *
 * A call is made while a kernel spins on a stream created with cudaStreamNonBlocking, on one created without, or on the
 * legacy default stream.  Not thread-safe.
 */
#ifndef SW_DETECT_BEHAVIOUR_BEHAVIOUR_H
#define SW_DETECT_BEHAVIOUR_BEHAVIOUR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"

enum sw_spinner { SW_SPIN_NONBLOCKING, SW_SPIN_BLOCKING, SW_SPIN_LEGACY, SW_SPINNERS };

/* Each is '0' in no repetition, '1' in all, '?' the repetitions disagree, '-' not measured. */
struct sw_waits {
	char blocks; /* the call returned only when the kernel had ended */
	char next;   /* work issued next on an unrelated non-blocking stream ran only after the kernel */
	char own;    /* the stream argument of the call became idle only when the kernel had ended */
	uint64_t ns; /* median time in the call */
};

struct sw_behaviour_row {
	char name[64];
	uint64_t idle_ns; /* median time in the call with nothing pending */
	struct sw_waits waits[SW_SPINNERS];
};

struct sw_behaviour {
	char gpu[256];
	uint32_t driver;       /* as cuDriverGetVersion says, e.g. 13000 */
	char driver_text[128]; /* e.g. "580.159.04", "" unknown */
	bool simulated;
	SW_VEC(struct sw_behaviour_row) rows;
};

#define SW_BEHAVIOUR_VERSION 1

void sw_behaviour_write(const struct sw_behaviour *table, FILE *out);
/* Reads a table of measured behaviour.  0, or SW_E_FORMAT / SW_E_VERSION with error filled ("path:line: what is
   wrong"); nothing to free then. */
int sw_behaviour_read(struct sw_behaviour *table, FILE *in, const char *path, struct sw_error *error);
void sw_behaviour_free(struct sw_behaviour *table);

/* The row of a call; NULL: it was not measured. */
const struct sw_behaviour_row *sw_behaviour_find(const struct sw_behaviour *table, const char *name);

/* Folder of the tables: $XDG_DATA_HOME/syncwatch, else ~/.local/share/syncwatch; malloc'ed, NULL: neither variable
   names a folder. */
char *sw_behaviour_folder(void);
/* File of the table of a GPU and driver in it; malloc'ed, NULL likewise. */
char *sw_behaviour_path(const char *gpu, uint32_t driver);

/* The documents' rules, and those measured on H200 with driver 580: src/detect/behaviour/behaviour.def. */
struct sw_behaviour_known {
	const char *name;
	const char *blocks, *next, *own; /* a character for each spinner, as in struct sw_waits */
	const char *documented;		 /* likewise: '1' waits, '0' does not, '?' left open */
	const char *source;		 /* of `documented` */
};
const struct sw_behaviour_known *sw_behaviour_known_at(size_t index);  /* NULL ends */
const struct sw_behaviour_known *sw_behaviour_known(const char *name); /* NULL: none */

/*
 * Waits that no document decides: the built-in rules (measured on H200, driver 580), and what `syncwatch calibrate`
 * measured on the GPU and driver of a trace.
 *
 * Such a wait is order in the as-measured clock alone.  A table in which a call waits adds that order, so that a hazard
 * becomes a note; a table in which it never waits removes the order.  Where the repetitions or the rows of a rule
 * disagree, the built-in rule stays.
 */

/* The rules, with the rows that decide each: SW_WAIT_RULE in src/detect/behaviour/behaviour.def. */
enum sw_wait_rule {
#define SW_WAIT_RULE(name, built_in, kernels, text, first, second) SW_WAIT_RULE_##name,
#include "detect/behaviour/behaviour.def"
	SW_WAIT_RULES
};

/* The rules for one kind of GPU and driver. */
struct sw_wait_rule_set {
	char gpu[sizeof((struct sw_behaviour *)0)->gpu];
	bool waits[SW_WAIT_RULES];
};

/* The tables in a packed trace; find() is false where it has none for a GPU. */
struct sw_packed_rules {
	bool (*find)(void *arg, const char *gpu, const char **path, const char **text,
		     size_t *bytes); /* NULL: not packed */
	void *arg;
};

/* The sets of a judgement; zero-initialise it. */
struct sw_wait_rules {
	const char *source; /* NULL: built in only; "": the folder of sw_behaviour_folder(); else one table */
	struct sw_packed_rules packed; /* in place of the folder */
	SW_VEC(struct sw_wait_rule_set *) sets;
	/* For the report. */
	SW_VEC(char *) used;	   /* tables */
	SW_VEC(char *) complaints; /* tables that cannot be used, and why */
	uint32_t differs;	   /* bit i: some table differs from built-in rule i */
};

/* The set of a GPU and driver; its table is read at the first call. */
const struct sw_wait_rule_set *sw_wait_rules_of(struct sw_wait_rules *wait_rules, const char *gpu, uint32_t driver);
/* The built-in rules. */
const struct sw_wait_rule_set *sw_wait_rules_built_in(void);
void sw_wait_rules_free(struct sw_wait_rules *wait_rules);

/* "cudaFree waits for the device", and whether that is built in as true. */
const char *sw_wait_rule_text(enum sw_wait_rule may, bool *built_in);

#endif
