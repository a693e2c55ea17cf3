/* SPDX-License-Identifier: Apache-2.0 */
#ifndef __clang__ /* runs seldom, and the object has little room */
#pragma GCC optimize("Os")
#endif

#ifndef __clang__
#pragma GCC optimize("Os") /* as preload/platform/seldom.h, which this folder does not know */
#endif

#include "preload/session/announce.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define TRIES	 3
#define PAUSE_NS 1000000

static struct {
	const char *value; /* of SYNCWATCH_RUN; NULL: no run listens.  A copy: the program may change its environment */
	const char *folder;
	uint8_t nonce[SW_ANNOUNCE_NONCE];
	struct sw_announce_board *board; /* NULL: could not be mapped */
} run;
static char value[2 + 2 * SW_ANNOUNCE_NONCE + 1 + SW_ANNOUNCE_FOLDER + 1];
static bool started;

/* One system call: its result, or -errno, with errno as it was. */
static long system_call(long number, long a, long b, long c, long d, long e, long f)
{
	const int saved = errno;
	long got = syscall(number, a, b, c, d, e, f);
	if (got == -1)
		got = -errno;
	errno = saved;
	return got;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "1:NONCE:/FOLDER" into `run`.  False: something else. */
static bool parse_address(const char *text)
{
	const char *p = text + 2;
	if (text[0] != SW_ANNOUNCE_VERSION || text[1] != ':')
		return false;
	for (unsigned i = 0; i < SW_ANNOUNCE_NONCE; i++, p += 2) {
		if (hex_digit(p[0]) < 0 || hex_digit(p[1]) < 0)
			return false;
		run.nonce[i] = (uint8_t)(hex_digit(p[0]) << 4 | hex_digit(p[1]));
	}
	if (p[0] != ':' || p[1] != '/')
		return false;
	run.folder = p + 1;
	return true;
}

/* Descriptors of the program's standard streams are not ours, not even for a moment more than it takes. */
static long above_streams(long fd)
{
	if (fd < 0 || fd > 2)
		return fd;
	long moved = system_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3, 0, 0, 0);
	system_call(SYS_close, fd, 0, 0, 0, 0, 0);
	return moved;
}

/* Maps the file on which processes count what must reach `run` in any case; NULL: it cannot be had. */
static struct sw_announce_board *map_board(void)
{
	char path[SW_ANNOUNCE_FOLDER + 16];
	stpcpy(stpcpy(path, run.folder), "/" SW_ANNOUNCE_BOARD);
	long fd =
		above_streams(system_call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0, 0, 0));
	if (fd < 0)
		return NULL;
	long at = system_call(SYS_mmap, 0, sizeof *run.board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	system_call(SYS_close, fd, 0, 0, 0, 0, 0);
	if (at < 0 && at > -4096)
		return NULL;
	struct sw_announce_board *board = (struct sw_announce_board *)at; /* NOLINT: the kernel's word */
	return memcmp(board->magic, SW_ANNOUNCE_MAGIC, sizeof board->magic) ? NULL : board;
}

/* Finds `syncwatch run`, if the process is under it: a variable names the socket to announce processes to, and the
   board with its orders. */
void sw_announce_start(void)
{
	if (started)
		return;
	started = true;
	/* Set-user-id programs: the environment is not to be trusted. */
	const char *text = getauxval(AT_SECURE) ? NULL : getenv(SW_ANNOUNCE_VARIABLE);
	if (!text || strlen(text) >= sizeof value)
		return;
	strcpy(value, text);
	if (!parse_address(value))
		return;
	run.board = map_board();
	run.value = value;
}

/* Is the process under `syncwatch run`? */
bool sw_announce_wanted(void)
{
	return run.value != NULL;
}

/* The socket of `run`: in its folder, or its abstract name, for processes that cannot see the folder.  Returns the
   address's length. */
static socklen_t address_of(struct sockaddr_un *address, bool abstract)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	char *end = address->sun_path;
	if (abstract) {
		const char *slash = strrchr(run.folder, '/');
		end = stpcpy(stpcpy(end + 1, SW_ANNOUNCE_ABSTRACT), slash + 1);
	} else {
		end = stpcpy(stpcpy(end, run.folder), "/" SW_ANNOUNCE_SOCKET) + 1;
	}
	return (socklen_t)(end - (char *)address);
}

/* A server that is stopped, or that thousands of processes send to at once, delays no process for long. */
static long connect_to(long fd, bool abstract)
{
	struct sockaddr_un address;
	const socklen_t bytes = address_of(&address, abstract);
	long rc = -EAGAIN;
	for (int i = 0; i < TRIES && rc == -EAGAIN; i++) {
		const struct timespec pause = {.tv_nsec = PAUSE_NS};
		if (i)
			system_call(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
		rc = system_call(SYS_connect, fd, (long)&address, (long)bytes, 0, 0, 0);
	}
	return rc;
}

/* When the run has ended, anybody may take its names: what we send is for our own user, or for root. */
static bool is_ours(long fd)
{
	struct ucred server = {0};
	socklen_t bytes = sizeof server;
	if (system_call(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&server, (long)&bytes, 0))
		return false;
	return server.uid == 0 || server.uid == (uid_t)system_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);
}

/* Sends one message; `passed`: descriptors, the first `n` of which go with it. */
static long send_message(long fd, struct sw_announce_message *message, const int passed[2], size_t n)
{
	struct iovec part = {message, offsetof(struct sw_announce_message, text) + message->text_bytes};
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	if (n) {
		header.msg_control = control.bytes;
		header.msg_controllen = CMSG_SPACE(n * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&header);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), passed, n * sizeof(int));
	}
	return system_call(SYS_sendmsg, fd, (long)&header, MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0, 0);
}

/* Sends a message with descriptors to the `run` that listens; without them where the kernel does not pass any, as the
   path has to do then.  What cannot be sent is counted on the board.  True: it was sent with the descriptors. */
static bool deliver_message(struct sw_announce_message *message, const int passed[2], size_t n)
{
	bool whole = false;
	long fd = above_streams(
		system_call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0, 0));
	long rc = fd;
	if (fd >= 0) {
		rc = connect_to(fd, false);
		if (rc < 0 && rc != -ECONNREFUSED && rc != -EAGAIN)
			rc = connect_to(fd, true);
		if (!rc)
			rc = is_ours(fd) ? send_message(fd, message, passed, n) : -EPERM;
		whole = rc >= 0;
		/* Where the kernel does not pass descriptors the path has to do. */
		if (rc < 0 && rc != -EPERM && n)
			rc = send_message(fd, message, passed, 0);
		system_call(SYS_close, fd, 0, 0, 0, 0, 0);
	}
	if (rc < 0 && run.board && message->kind != SW_ANNOUNCE_CLOSED)
		atomic_fetch_add(&run.board->undelivered, 1);
	return whole;
}

/* Completes a message with nonce, pid and text, and sends it. */
static bool announce_text(struct sw_announce_message *message, const int passed[2], size_t n, const char *text)
{
	const size_t bytes = strnlen(text, SW_ANNOUNCE_TEXT);
	memcpy(message->magic, SW_ANNOUNCE_MAGIC, sizeof message->magic);
	memcpy(message->nonce, run.nonce, sizeof message->nonce);
	memcpy(message->text, text, bytes);
	message->text_bytes = (uint32_t)bytes;
	message->pid = (int32_t)system_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	return deliver_message(message, passed, n);
}

/* Sends one message to `syncwatch run`; without one, nothing happens. */
void sw_announce(enum sw_announce_kind kind, uint32_t flags, uint64_t number, const char *text)
{
	if (!run.value)
		return;
	struct sw_announce_message message;
	memset(&message, 0, offsetof(struct sw_announce_message, text));
	message.kind = kind;
	message.flags = flags;
	message.number = number;
	announce_text(&message, NULL, 0, text);
}

/* The last order of `syncwatch run` to record or to pause; 0: none since *seen. */
uint32_t sw_announce_order(_Atomic uint32_t *seen)
{
	const uint32_t orders = run.board ? atomic_load(&run.board->orders) : 0;
	return atomic_exchange(seen, orders) == orders ? 0 : orders % SW_ANNOUNCE_ORDERS;
}

/* This process begins to use CUDA: `syncwatch run` expects a trace of it, or a failure. */
void sw_announce_begin(void)
{
	if (run.board)
		atomic_fetch_add(&run.board->cuda, 1);
}

/* Passes the trace's descriptors to `syncwatch run`, which reads the trace by them also after this process was
   killed. */
bool sw_announce_trace(int fd, int memory, uint64_t device, uint64_t inode, const char *path)
{
	const int passed[2] = {fd, memory};
	if (!run.value)
		return false;
	struct sw_announce_message message;
	memset(&message, 0, offsetof(struct sw_announce_message, text));
	message.kind = SW_ANNOUNCE_TRACE;
	message.device = device;
	message.inode = inode;
	return announce_text(&message, passed, fd < 0 ? 0 : memory < 0 ? 1 : 2, path) && fd >= 0;
}

void sw_announce_failed(const char *why)
{
	sw_announce(SW_ANNOUNCE_FAILED, 0, 0, why);
}

/* ---- environments ------------------------------------------------------------------------------------------------ */

/* The value of a variable in an environment; NULL: it is not set. */
static const char *find_variable(char *const environment[], const char *name)
{
	const size_t n = strlen(name);
	for (size_t i = 0; environment && environment[i]; i++)
		if (strncmp(environment[i], name, n) == 0 && environment[i][n] == '=')
			return environment[i] + n + 1;
	return NULL;
}

/* Is `object` one of the words of LD_PRELOAD? */
static bool is_preloaded(const char *list, const char *object, size_t bytes)
{
	while (*list) {
		const size_t n = strcspn(list, ": ");
		if (n == bytes && memcmp(list, object, bytes) == 0)
			return true;
		list += n;
		list += *list != 0;
	}
	return false;
}

/* Which of our variables a program is started without: it escapes the run then, and the command warns of it. */
uint32_t sw_announce_lost(char *const environment[])
{
	const char *list = find_variable(environment, "LD_PRELOAD"),
		   *named = find_variable(environment, SW_ANNOUNCE_VARIABLE);
	uint32_t lost = !named || strcmp(named, run.value) ? SW_ANNOUNCE_LOST_RUN : 0;
	for (const char *at = run.board ? run.board->preload : ""; *at;) {
		const size_t n = strcspn(at, "\n");
		if (!list || !is_preloaded(list, at, n))
			lost |= SW_ANNOUNCE_LOST_PRELOAD;
		at += n;
		at += *at != 0;
	}
	return lost;
}
