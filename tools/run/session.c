/* SPDX-License-Identifier: Apache-2.0 */
#include "run/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/counted.h"
#include "clock.h"
#include "elf_probe.h"
#include "run/flight.h"
#include "run/follower.h"
#include "run/collect.h"
#include "syncwatch/format.h"

#define REAP_MS	    5
#define PATIENCE_NS 1000000000u

void sw_session_gap(struct sw_session *session, pid_t pid, char *text)
{
	*sw_vec_push(&session->gaps) = (struct sw_session_gap){.pid = pid, .text = text};
}

/* From now on a recorder is expected in the process: one that never says HELLO ran without it. */
static void expect_image(struct sw_session *session, pid_t pid, uint32_t flags, const char *file)
{
	*sw_vec_push(&session->expected) = (struct sw_session_image){pid, flags, sw_strdup(file)};
}

void sw_session_start(struct sw_session *session, struct sw_channel *channel, pid_t pid, const char *file)
{
	session->channel = channel;
	session->main = pid;
	expect_image(session, pid, SW_ANNOUNCE_SEARCH, file);
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

/* Forgets the image that this process announced last.  False: it had announced none. */
static bool forget_last(struct sw_session *session, pid_t pid)
{
	for (size_t i = session->expected.n; pid && i-- > 0;) {
		struct sw_session_image *image = &session->expected.at[i];
		if (image->pid != pid)
			continue;
		free(image->file);
		memmove(image, image + 1, (--session->expected.n - i) * sizeof *image);
		return true;
	}
	return false;
}

/* Did the process say HELLO before it was announced?  Forgets that it did. */
static bool take_early(struct sw_session *session, pid_t pid)
{
	for (size_t i = 0; i < session->early.n; i++)
		if (session->early.at[i] == pid) {
			session->early.at[i] = session->early.at[--session->early.n];
			return true;
		}
	return false;
}

/* Takes a HELLO of the recorder in a process, or of the guard, which says that no recorder began: nothing more is
   expected of its program. */
static void take_hello(struct sw_session *session, pid_t pid, uint32_t flags, const char *file)
{
	if (!forget_last(session, pid))
		*sw_vec_push(&session->early) = pid;
	if (!(flags & SW_ANNOUNCE_RECORDER))
		sw_session_gap(session, pid, sw_format("%s: libsyncwatch.so could not be loaded into it", file));
}

/* Expects a recorder in a process that posix_spawn made, unless it said HELLO already.  Its pid is of the sender's
   namespace: only where that is ours does it name a process to us. */
static void take_spawned(struct sw_session *session, const struct sw_received *received)
{
	const struct sw_announce_message *m = received->message;
	const bool ours = m->pid == received->peer.pid && m->number > 0 && m->number <= INT32_MAX;
	const pid_t pid = ours ? (pid_t)m->number : 0;
	const uint32_t lost = SW_ANNOUNCE_LOST_PRELOAD | SW_ANNOUNCE_LOST_RUN;
	if (pid && take_early(session, pid))
		return;
	if (pid || m->flags & lost)
		expect_image(session, pid, m->flags, received->text);
}

/* ---- traces ------------------------------------------------------------------------------------------------------ */

bool sw_session_in_place(const struct sw_session_trace *trace)
{
	struct stat s;
	return lstat(trace->path, &s) == 0 && s.st_dev == trace->device && s.st_ino == trace->inode;
}

/* Why the file is none that this process made; NULL: it is. */
static const char *refusal_of(int fd, const struct sw_received *received)
{
	struct stat s;
	struct sw_file_header header;
	if (fd < 0)
		return "is not there";
	if (fstat(fd, &s) || !S_ISREG(s.st_mode))
		return "is no regular file";
	if (s.st_dev != received->message->device || s.st_ino != received->message->inode)
		return "is not the file that the process made";
	if (s.st_uid != received->peer.uid && s.st_uid != geteuid())
		return "belongs to another user";
	/* The file may be empty again by now. */
	if (pread(received->memory < 0 ? fd : received->memory, &header, sizeof header, 0) != (ssize_t)sizeof header ||
	    memcmp(header.magic, SW_FORMAT_MAGIC, sizeof header.magic) ||
	    header.pid != (uint32_t)received->message->pid)
		return "is not the trace of that process";
	return NULL;
}

bool sw_session_is_running(const struct sw_session_trace *trace)
{
	struct pollfd end = {.fd = trace->pidfd, .events = POLLIN};
	return trace->pidfd >= 0 && poll(&end, 1, 0) == 0;
}

/* After the process has ended: writes to the file what only its memory holds. */
static void collect_memory(struct sw_session *session, struct sw_session_trace *trace)
{
	const int rc = trace->memory < 0 ? 0 : sw_collect(trace->memory, trace->fd, &trace->changed);
	if (rc)
		sw_session_gap(
			session, trace->pid,
			sw_format("the end of its trace %s could not be written: %s", trace->path, strerror(-rc)));
	if (trace->memory >= 0)
		close(trace->memory);
	trace->memory = -1;
	const size_t index = (size_t)(trace - session->traces.at);
	const uint64_t inode = trace->inode;
	/* The follower has the old file open, and judges its end while the new one is written. */
	if (session->follower)
		sw_follower_ended(session->follower, index);
	if (session->flight)
		sw_flight_ended(session->flight, session, index);
	if (session->follower && trace->inode != inode)
		sw_follower_moved(session->follower, index, trace);
}

/* Adds a trace that a process says to have made, if the file is its own, and watches for the end of the process. */
static void take_trace(struct sw_session *session, const struct sw_received *received)
{
	const int fd =
		received->fd >= 0 ? received->fd : open(received->text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const char *why = refusal_of(fd, received);
	if (why) {
		sw_session_gap(session, received->peer.pid, sw_format("its trace %s %s", received->text, why));
		session->refused++;
		if (fd >= 0)
			close(fd);
		if (received->memory >= 0)
			close(received->memory);
		return;
	}
	const pid_t pid = received->peer.pid ? received->peer.pid : received->message->pid;
	const int pidfd = received->peer.pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	const bool ended = received->peer.pid && pidfd < 0 && errno == ESRCH;
	*sw_vec_push(&session->traces) = (struct sw_session_trace){
		.path = sw_strdup(received->text),
		.pid = pid,
		.fd = fd,
		.pidfd = pidfd,
		.memory = received->memory,
		.device = received->message->device,
		.inode = received->message->inode,
	};
	if (session->follower)
		sw_follower_trace(session->follower, session->traces.n - 1, &session->traces.at[session->traces.n - 1]);
	if (ended)
		collect_memory(session, &session->traces.at[session->traces.n - 1]);
	else if (pidfd >= 0 && (received->memory >= 0 || session->follower || session->flight))
		sw_channel_watch(session->channel, pidfd);
}

void sw_session_follow(struct sw_session *session, struct sw_follower *follower)
{
	session->follower = follower;
	if (sw_follower_descriptor(follower) >= 0)
		sw_channel_watch(session->channel, sw_follower_descriptor(follower));
}

void sw_session_ended(void *arg, int pidfd)
{
	struct sw_session *session = arg;
	if (session->follower && pidfd == sw_follower_descriptor(session->follower)) {
		if (sw_follower_serve(session->follower) && session->main > 0)
			kill(session->main, SIGTERM);
		return;
	}
	if (session->flight && pidfd == sw_flight_descriptor(session->flight)) {
		sw_flight_look(session->flight, session);
		sw_channel_watch(session->channel, pidfd);
		return;
	}
	for (size_t i = 0; i < session->traces.n; i++)
		if (session->traces.at[i].pidfd == pidfd)
			collect_memory(session, &session->traces.at[i]);
}

/* At the end: writes what only memory holds of processes that have ended to their files.  One that cannot be watched
   has ended when nothing of the run is left. */
static void collect_rest(struct sw_session *session)
{
	for (size_t i = 0; i < session->traces.n; i++) {
		struct sw_session_trace *trace = &session->traces.at[i];
		if (trace->pidfd >= 0 ? !sw_session_is_running(trace) : !session->outlived)
			collect_memory(session, trace);
	}
}

void sw_session_received(void *arg, const struct sw_received *received)
{
	struct sw_session *session = arg;
	const pid_t pid = received->peer.pid;
	if (received->fd >= 0 && received->message->kind != SW_ANNOUNCE_TRACE)
		close(received->fd);
	if (received->memory >= 0 && received->message->kind != SW_ANNOUNCE_TRACE)
		close(received->memory);
	switch (received->message->kind) {
	case SW_ANNOUNCE_HELLO:
		take_hello(session, pid, received->message->flags, received->text);
		break;
	case SW_ANNOUNCE_TRACE:
		take_trace(session, received);
		break;
	case SW_ANNOUNCE_FAILED:
		session->failed++;
		sw_session_gap(session, pid, sw_format("uses CUDA and ran unrecorded: %s", received->text));
		break;
	case SW_ANNOUNCE_EXEC:
		expect_image(session, pid, received->message->flags, received->text);
		break;
	case SW_ANNOUNCE_EXEC_FAILED:
		forget_last(session, pid);
		break;
	case SW_ANNOUNCE_SPAWNED:
		take_spawned(session, received);
		break;
	}
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Buries what has ended.  False: nothing of the run is left. */
static bool reap_ended(void)
{
	pid_t pid;
	while ((pid = waitpid(-1, NULL, WNOHANG | __WNOTHREAD)) > 0)
		continue;
	return pid == 0 || errno == EINTR;
}

void sw_session_wait(struct sw_session *session, int most_ms)
{
	struct sw_channel *channel = session->channel;
	const uint64_t start = sw_now_ns(), most_ns = (uint64_t)most_ms * 1000000u;
	bool shown = false;
	while ((session->outlived = reap_ended()) && sw_now_ns() - start < most_ns) {
		struct pollfd readable = {.fd = channel->poll, .events = POLLIN};
		poll(&readable, 1, REAP_MS);
		sw_channel_serve(channel);
		if (!shown && sw_now_ns() - start > PATIENCE_NS) {
			fputs("syncwatch: the program has ended; waiting for processes of it that still run (--wait)\n",
			      stderr);
			shown = true;
		}
	}
	sw_channel_serve(channel);
}

/* Why an image has no recorder, by its file and its start; malloc'ed.  *harmless: it cannot load the CUDA driver. */
static char *explain_image(const struct sw_session_image *image, bool *harmless)
{
	char *found = image->flags & SW_ANNOUNCE_SEARCH ? sw_elf_find_program(image->file) : NULL;
	const char *file = found ? found : image->file[0] ? image->file : "a program";
	const enum sw_elf_kind kind = sw_elf_kind(file);
	const char *why = "the recorder did not load into it";
	*harmless = kind == SW_ELF_STATIC || kind == SW_ELF_FOREIGN;
	if (kind == SW_ELF_STATIC)
		why = "statically linked: nothing can be preloaded";
	else if (kind == SW_ELF_FOREIGN)
		why = "not a 64-bit program of this machine";
	else if (kind == SW_ELF_PRIVILEGED)
		why = "set-user-id, or with capabilities: nothing of ours is preloaded";
	else if (image->flags & SW_ANNOUNCE_LOST_PRELOAD)
		why = "the LD_PRELOAD that it was started with lacks the recorder";
	else if (image->flags & SW_ANNOUNCE_LOST_RUN)
		why = "it was started without the SYNCWATCH_RUN of this run";
	char *text = sw_format("%s: %s", file, why);
	free(found);
	return text;
}

/* Turns each image that is still expected into a gap, or into a harmless one that is only counted. */
static void explain_all(struct sw_session *session)
{
	for (size_t i = 0; i < session->expected.n; i++) {
		const struct sw_session_image *image = &session->expected.at[i];
		bool harmless;
		char *text = explain_image(image, &harmless);
		if (harmless && image->pid != session->main)
			*sw_vec_push(&session->known) = (struct sw_session_gap){.pid = image->pid, .text = text};
		else
			sw_session_gap(session, image->pid, text);
	}
}

void sw_session_end(struct sw_session *session)
{
	const struct sw_channel *channel = session->channel;
	explain_all(session);
	collect_rest(session);
	bool named = false;
	for (size_t i = 0; i < session->traces.n; i++)
		if (sw_session_is_running(&session->traces.at[i])) {
			sw_session_gap(session, session->traces.at[i].pid,
				       sw_strdup("uses CUDA and still runs: judged up to now"));
			named = true;
		}
	if (session->outlived && !named)
		sw_session_gap(session, 0, sw_strdup("a process that it started still runs, and may use CUDA later"));
	const uint32_t cuda = sw_channel_cuda(channel), undelivered = sw_channel_undelivered(channel);
	const size_t shown = session->traces.n + session->failed + session->refused;
	if (cuda > shown)
		sw_session_gap(session, 0,
			       sw_format("%zu of %u %s could not say where their traces are", cuda - shown, cuda,
					 sw_plural(cuda, "process that uses CUDA", "processes that use CUDA")));
	if (undelivered && cuda <= shown)
		sw_session_gap(session, 0,
			       sw_format("%u %s of programs that were started did not come through", undelivered,
					 sw_plural(undelivered, "message", "messages")));
	if (channel->overflow)
		sw_session_gap(session, 0, sw_strdup("there were no descriptors left to hear of more processes"));
}

void sw_session_free(struct sw_session *session)
{
	for (size_t i = 0; i < session->traces.n; i++) {
		struct sw_session_trace *trace = &session->traces.at[i];
		free(trace->path);
		close(trace->fd);
		if (trace->pidfd >= 0)
			close(trace->pidfd);
		if (trace->memory >= 0)
			close(trace->memory);
	}
	for (size_t i = 0; i < session->expected.n; i++)
		free(session->expected.at[i].file);
	for (size_t i = 0; i < session->gaps.n; i++)
		free(session->gaps.at[i].text);
	for (size_t i = 0; i < session->known.n; i++)
		free(session->known.at[i].text);
	free(session->traces.at);
	free(session->expected.at);
	free(session->early.at);
	free(session->gaps.at);
	free(session->known.at);
	*session = (struct sw_session){0};
}
