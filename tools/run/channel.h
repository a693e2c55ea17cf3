/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives what the processes of a run announce (preload/session/announce_wire.h).
 *
 * Nothing is taken from the file system: a message counts when it holds the nonce of this run, and who sent it is what
 * the kernel says.  Not thread-safe.
 */
#ifndef SW_TOOLS_RUN_CHANNEL_H
#define SW_TOOLS_RUN_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/error.h"
#include "preload/session/announce_wire.h"

/* A message as it came; the text ends with a NUL. */
struct sw_received {
	const struct sw_announce_message *message;
	const char *text;
	struct ucred peer; /* pid: as we see it, 0 outside of our namespace */
	int fd, memory;	   /* passed with it, the listener's to close; -1: none */
};

struct sw_channel {
	void (*received)(void *arg, const struct sw_received *received);
	void (*readable)(void *arg, int fd); /* one that sw_channel_watch() added; it is watched no more */
	void *arg;
	char *folder;	/* private, with a place for links to the installation (sw_channel_link) */
	char *variable; /* value of SYNCWATCH_RUN */
	int poll;	/* readable whenever sw_channel_serve() has something to do */
	int listener[2];
	struct sw_announce_board *board;
	uint8_t nonce[SW_ANNOUNCE_NONCE];
	bool overflow; /* a message could not be received: out of descriptors */
	bool linked;
};

/* Makes the folder and listens.  0 or -errno with error filled. */
int sw_channel_open(struct sw_channel *channel, struct sw_error *error);

/* Tells recorders and the guard which objects LD_PRELOAD must name: `preload` has them with colons between. */
void sw_channel_expect(struct sw_channel *channel, const char *preload);

/* A name for an installation folder whose own the loader would take apart: FOLDER/lib.  NULL: no link could be made. */
char *sw_channel_link(struct sw_channel *channel, const char *target);

/* Reports once when a descriptor can be read; may be asked again. */
void sw_channel_watch(struct sw_channel *channel, int fd);

/* Tells the recorders of all processes of the run when to record. */
void sw_channel_order(struct sw_channel *channel, enum sw_window_order order);

/* Receives all that has come.  Never blocks. */
void sw_channel_serve(struct sw_channel *channel);

/* How many processes began to use CUDA. */
uint32_t sw_channel_cuda(const struct sw_channel *channel);
/* How many messages could not be sent. */
uint32_t sw_channel_undelivered(const struct sw_channel *channel);

/* Ends the channel and removes its folder; harmless after a failure to open it. */
void sw_channel_close(struct sw_channel *channel);

#endif
