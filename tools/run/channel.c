/* SPDX-License-Identifier: Apache-2.0 */
#include "run/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"

#define BACKLOG 4096
#define EVENTS	64
#define WATCHED (1ull << 32) /* in the word of an event, in addition to the descriptor */

/* Fills `error` with errno's reason why `what` could not be done; returns -errno. */
static int fail_with(struct sw_error *error, const char *what)
{
	const int code = errno;
	return sw_fail(error, -code, "cannot %s: %s", what, strerror(code));
}

/* May the private folder be in this one?  Its name goes into a socket's address and into LD_PRELOAD, which have their
   own ideas of names. */
static bool is_usable(const char *parent)
{
	return parent && parent[0] == '/' && strlen(parent) + sizeof "/syncwatch-XXXXXX" <= SW_ANNOUNCE_FOLDER &&
	       !strpbrk(parent, " :$\t\n");
}

/* Makes the private folder in the first place of several that is usable, so that no full or unwritable one stops the
   run. */
static int make_folder(struct sw_channel *channel, struct sw_error *error)
{
	const char *parents[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp", "/dev/shm"};
	errno = ENOENT;
	for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++) {
		if (!is_usable(parents[i]))
			continue;
		char *folder = sw_format("%s/syncwatch-XXXXXX", parents[i]);
		if (mkdtemp(folder)) {
			channel->folder = folder;
			return 0;
		}
		free(folder);
	}
	return fail_with(error, "make a private folder in $XDG_RUNTIME_DIR, $TMPDIR, /tmp or /dev/shm");
}

/* FOLDER/NAME, malloc'ed. */
static char *path_inside(const struct sw_channel *channel, const char *name)
{
	return sw_format("%s/%s", channel->folder, name);
}

/* Makes the board: a file of the private folder that this process and all of the run map, for counts and orders. */
static int make_board(struct sw_channel *channel, struct sw_error *error)
{
	char *path = path_inside(channel, SW_ANNOUNCE_BOARD);
	/* Written by us alone, but children that change their user map it, too. */
	const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	free(path);
	if (fd < 0)
		return fail_with(error, "make a file in the private folder");
	void *at = MAP_FAILED;
	errno = posix_fallocate(fd, 0, sizeof *channel->board); /* stores into it never fail on a full disk */
	if (!errno)
		at = mmap(NULL, sizeof *channel->board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	const int rc = at == MAP_FAILED ? fail_with(error, "map a file in the private folder") : 0;
	close(fd);
	if (!rc) {
		channel->board = at;
		memcpy(channel->board->magic, SW_ANNOUNCE_MAGIC, sizeof channel->board->magic);
	}
	return rc;
}

/* Listens at one address and adds it to what the channel polls; 0 or -errno. */
static int listen_at(struct sw_channel *channel, int which, const struct sockaddr_un *address, socklen_t bytes,
		     struct sw_error *error)
{
	struct epoll_event event = {.events = EPOLLIN};
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	channel->listener[which] = fd;
	event.data.u64 = (uint32_t)fd;
	if (fd < 0 || bind(fd, (const struct sockaddr *)address, bytes) || listen(fd, BACKLOG) ||
	    epoll_ctl(channel->poll, EPOLL_CTL_ADD, fd, &event))
		return fail_with(error, "listen for the recorder");
	return 0;
}

/* Listens at a path of the folder, and at an abstract name for processes that cannot reach the folder (chroot, another
   user). */
static int listen_all(struct sw_channel *channel, struct sw_error *error)
{
	struct sockaddr_un path = {.sun_family = AF_UNIX}, name = path;
	const char *last = strrchr(channel->folder, '/') + 1;
	char *end = stpcpy(stpcpy(path.sun_path, channel->folder), "/" SW_ANNOUNCE_SOCKET) + 1;
	int rc = listen_at(channel, 0, &path, (socklen_t)(end - (char *)&path), error);
	if (rc)
		return rc;
	end = stpcpy(stpcpy(name.sun_path + 1, SW_ANNOUNCE_ABSTRACT), last);
	/* The second way in is for few: where there is none, what they cannot send is counted on the board. */
	if (listen_at(channel, 1, &name, (socklen_t)(end - (char *)&name), error)) {
		if (channel->listener[1] >= 0)
			close(channel->listener[1]);
		channel->listener[1] = -1;
	}
	return 0;
}

/* Makes the value of the environment variable by which recorders find and prove themselves to this channel. */
static void make_variable(struct sw_channel *channel)
{
	char hex[2 * SW_ANNOUNCE_NONCE + 1];
	for (size_t i = 0; i < SW_ANNOUNCE_NONCE; i++)
		for (int k = 0; k < 2; k++)
			hex[2 * i + (size_t)k] = "0123456789abcdef"[channel->nonce[i] >> (k ? 0 : 4) & 15];
	hex[2 * SW_ANNOUNCE_NONCE] = 0;
	channel->variable = sw_format("%c:%s:%s", SW_ANNOUNCE_VERSION, hex, channel->folder);
}

int sw_channel_open(struct sw_channel *channel, struct sw_error *error)
{
	channel->listener[0] = channel->listener[1] = -1;
	channel->poll = epoll_create1(EPOLL_CLOEXEC);
	int rc = channel->poll < 0 ? fail_with(error, "make a poll set") : 0;
	if (!rc && getrandom(channel->nonce, sizeof channel->nonce, 0) != sizeof channel->nonce)
		rc = fail_with(error, "get random bytes");
	if (!rc)
		rc = make_folder(channel, error);
	if (!rc)
		rc = make_board(channel, error);
	if (!rc)
		rc = listen_all(channel, error);
	if (rc)
		sw_channel_close(channel);
	else
		make_variable(channel);
	return rc;
}

void sw_channel_expect(struct sw_channel *channel, const char *preload)
{
	char *list = channel->board->preload;
	if (strlen(preload) >= sizeof channel->board->preload)
		return; /* longer than any real one: that it is missing is not shown, and HELLOs still count */
	strcpy(list, preload);
	for (; *list; list++)
		if (*list == ':')
			*list = '\n';
}

char *sw_channel_link(struct sw_channel *channel, const char *target)
{
	char *link = path_inside(channel, "lib");
	if (!channel->linked && symlink(target, link)) {
		free(link);
		return NULL;
	}
	channel->linked = true;
	return link;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Takes the descriptors out of a message: that of the trace and, if there is a second one, that of memory; -1: none. */
static void passed_descriptors(struct msghdr *header, int fds[2])
{
	fds[0] = fds[1] = -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		    (c->cmsg_len == CMSG_LEN(sizeof(int)) || c->cmsg_len == CMSG_LEN(2 * sizeof(int))))
			memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
}

/* Is it a whole message of a recorder that knows our nonce?  Anybody may connect to the abstract name. */
static bool is_sound(const struct sw_channel *channel, const struct sw_announce_message *m, size_t bytes)
{
	const size_t head = offsetof(struct sw_announce_message, text);
	return bytes >= head && memcmp(m->magic, SW_ANNOUNCE_MAGIC, sizeof m->magic) == 0 &&
	       memcmp(m->nonce, channel->nonce, sizeof m->nonce) == 0 && m->text_bytes <= SW_ANNOUNCE_TEXT &&
	       bytes == head + m->text_bytes;
}

/* Receives one message and passes it on; false: nothing has come yet. */
static bool receive_message(struct sw_channel *channel, int connection)
{
	struct sw_announce_message message;
	char text[SW_ANNOUNCE_TEXT + 1];
	struct iovec part = {&message, sizeof message};
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = control.bytes,
				.msg_controllen = sizeof control.bytes};
	const ssize_t n = recvmsg(connection, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	int fds[2] = {-1, -1};
	if (n > 0)
		passed_descriptors(&header, fds);
	struct sw_received received = {.message = &message, .text = text, .fd = fds[0], .memory = fds[1]};
	socklen_t bytes = sizeof received.peer;
	if (n > 0 && is_sound(channel, &message, (size_t)n) &&
	    !getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &received.peer, &bytes)) {
		memcpy(text, message.text, message.text_bytes);
		text[message.text_bytes] = 0;
		channel->received(channel->arg, &received);
	} else {
		for (int i = 0; i < 2; i++)
			if (fds[i] >= 0)
				close(fds[i]);
	}
	return true;
}

/* Accepts what connects, and reads each connection's message in its turn: a message that was sent before the connection
   was made comes first (the poll set returns what is ready in the order in which it became so). */
static void take_connection(struct sw_channel *channel, int listener)
{
	for (;;) {
		const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && errno == EINTR)
			continue;
		if (fd < 0) {
			/* Not tried again and again: what is lost is known to be lost. */
			if (errno != EAGAIN && errno != ECONNABORTED) {
				channel->overflow = true;
				epoll_ctl(channel->poll, EPOLL_CTL_DEL, listener, NULL);
			}
			return;
		}
		struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint32_t)fd};
		if (epoll_ctl(channel->poll, EPOLL_CTL_ADD, fd, &event)) {
			receive_message(channel, fd);
			close(fd);
		}
	}
}

void sw_channel_watch(struct sw_channel *channel, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u64 = (uint32_t)fd | WATCHED};
	if (epoll_ctl(channel->poll, EPOLL_CTL_ADD, fd, &event) && errno == EEXIST)
		epoll_ctl(channel->poll, EPOLL_CTL_MOD, fd, &event);
}

void sw_channel_order(struct sw_channel *channel, enum sw_window_order order)
{
	const uint32_t before = atomic_load(&channel->board->orders);
	atomic_store(&channel->board->orders, (before / SW_ANNOUNCE_ORDERS + 1) * SW_ANNOUNCE_ORDERS + order);
}

void sw_channel_serve(struct sw_channel *channel)
{
	struct epoll_event events[EVENTS];
	int n;
	do {
		n = epoll_wait(channel->poll, events, EVENTS, 0);
		for (int i = 0; i < n; i++) {
			const int fd = (int)(uint32_t)events[i].data.u64;
			if (events[i].data.u64 & WATCHED)
				channel->readable(channel->arg, fd);
			else if (fd == channel->listener[0] || fd == channel->listener[1])
				take_connection(channel, fd);
			else if (receive_message(channel, fd)) {
				/* A connection carries one message.  A process that was forked just now may have the
				   connection, too, and then it is still watched. */
				epoll_ctl(channel->poll, EPOLL_CTL_DEL, fd, NULL);
				close(fd);
			}
		}
	} while (n > 0);
}

uint32_t sw_channel_cuda(const struct sw_channel *channel)
{
	return atomic_load(&channel->board->cuda);
}

uint32_t sw_channel_undelivered(const struct sw_channel *channel)
{
	return atomic_load(&channel->board->undelivered);
}

void sw_channel_close(struct sw_channel *channel)
{
	static const char *const names[] = {SW_ANNOUNCE_SOCKET, SW_ANNOUNCE_BOARD, "lib"};
	for (int i = 0; i < 2; i++)
		if (channel->listener[i] >= 0)
			close(channel->listener[i]);
	if (channel->poll >= 0)
		close(channel->poll);
	if (channel->board)
		munmap(channel->board, sizeof *channel->board);
	for (size_t i = 0; channel->folder && i < sizeof names / sizeof names[0]; i++) {
		char *path = path_inside(channel, names[i]);
		unlink(path);
		free(path);
	}
	if (channel->folder)
		rmdir(channel->folder);
	free(channel->folder);
	free(channel->variable);
	*channel = (struct sw_channel){.poll = -1, .listener = {-1, -1}};
}
