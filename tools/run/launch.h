/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program with the recorder preloaded, until it and what it started have ended. */
#ifndef SW_TOOLS_RUN_LAUNCH_H
#define SW_TOOLS_RUN_LAUNCH_H

#include <sys/resource.h>

#include "command.h"
#include "run/channel.h"
#include "run/control.h"
#include "run/session.h"

struct sw_launch {
	/* Given. */
	const struct sw_options *options; /* those of `run`; the operands are the program */
	const char *trace;		  /* path of the trace, NULL: as the options say */
	const char *object;		  /* one more to preload, NULL: none */
	const char *const *environment;	  /* name, value, name, value ... NULL; NULL: none */
	bool dies_with_us;		  /* the program ends when the process that launches it does */
	int output;			  /* descriptor for what the program prints, 0: as ours */
	struct sw_follower *follower;	  /* judges while the program runs; NULL: none does */
	/* Makes the report; the follower that begins when the program's trace is complete (run/follower.h) calls it,
	   too. NULL: none begins. */
	int (*report)(const struct sw_options *options, struct sw_session *session, int *program_status);
	int errors; /* the same for standard error, 0: as `output` */
	/* Made. */
	struct sw_session session; /* its traces */
	pid_t closed;		   /* a process whose trace is complete, until that was looked at; 0: none */
	bool early;		   /* `follower` judges, or did, what was the only trace when it was complete */
	int program_status;
	/* Filled by the launch. */
	char *preload;	  /* to preload: one object, or several with colons between them */
	char *nvtx;	  /* what NVTX loads, NULL: not installed */
	char *simulation; /* folder, NULL: the real CUDA */
	char *folder;	  /* where we were started: the program may go elsewhere */
	struct sw_channel channel;
	struct sw_control control;
	struct rlimit descriptors; /* of the program; ours are raised, as we hold one for each trace */
};

/* Runs the program with the recorder.  SW_EXIT_OK, or a status after one line: then nothing ran.  Free it in any
   case. */
int sw_launch_run(struct sw_launch *launch);
void sw_launch_free(struct sw_launch *launch);

/* The folder of the store of images (pack/image_store.h); malloc'ed, NULL: none is to be used. */
char *sw_launch_image_store(const struct sw_options *options);

#endif
