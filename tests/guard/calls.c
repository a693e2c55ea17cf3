/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers in flight that are handed to the kernel. */
#include "guard/guarded.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define BYTES (4 * PAGE)

static int a_file(void)
{
	char name[] = "guarded-XXXXXX";
	int fd = mkstemp(name);
	CHECK(fd >= 0);
	unlink(name);
	CHECK(ftruncate(fd, BYTES) == 0);
	return fd;
}

static void all_reads(cudaStream_t s, char *p, void (*use)(cudaStream_t, char *, size_t))
{
	int fd = a_file();
	struct iovec v[2] = {{p, PAGE}, {p + 2 * PAGE, PAGE}};
	use(s, p, BYTES);
	CHECK(read(fd, p, BYTES) == BYTES);
	use(s, p, BYTES);
	CHECK(pread(fd, p, BYTES, 0) == BYTES);
	use(s, p, BYTES);
	CHECK(lseek(fd, 0, SEEK_SET) == 0 && readv(fd, v, 2) == 2 * PAGE);
	use(s, p, BYTES);
	CHECK(preadv(fd, v, 2, 0) == 2 * PAGE);
	close(fd);
}

static void nothing(cudaStream_t s, char *p, size_t bytes)
{
	(void)s, (void)p, (void)bytes;
}

void case_reads(void)
{
	cudaStream_t s = busy_stream();
	all_reads(s, pinned(BYTES), download);
	finish_work(s);
}

void case_reads_waited_for(void)
{
	cudaStream_t s = busy_stream();
	char *p = pinned(BYTES);
	download(s, p, BYTES);
	finish_work(s);
	all_reads(s, p, nothing);
}

/* A call that failed has touched nothing. */
void case_reads_nothing(void)
{
	int fd[2];
	cudaStream_t s = busy_stream();
	char *p = pinned(BYTES);
	CHECK(!pipe2(fd, O_NONBLOCK));
	download(s, p, BYTES);
	CHECK(read(fd[0], p, BYTES) == -1 && errno == EAGAIN);
	close(fd[1]);
	CHECK(read(fd[0], p, BYTES) == 0);
	CHECK(read(-1, p, BYTES) == -1 && errno == EBADF);
	finish_work(s);
}

void case_writes(void)
{
	int fd = a_file();
	cudaStream_t s = busy_stream();
	char *p = pinned(BYTES);
	struct iovec v = {p, BYTES};
	download(s, p, BYTES);
	CHECK(write(fd, p, BYTES) == BYTES);
	download(s, p, BYTES);
	CHECK(pwrite(fd, p, BYTES, 0) == BYTES);
	download(s, p, BYTES);
	CHECK(writev(fd, &v, 1) == BYTES);
	finish_work(s);
}

void case_sockets(void)
{
	int fd[2];
	cudaStream_t s = busy_stream();
	char *p = pinned(BYTES);
	struct iovec v = {p, PAGE};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
	download(s, p, BYTES);
	CHECK(send(fd[0], p, PAGE, 0) == PAGE);
	download(s, p, BYTES);
	CHECK(recv(fd[1], p, PAGE, MSG_WAITALL) == PAGE);
	download(s, p, BYTES);
	CHECK(sendmsg(fd[0], &m, 0) == PAGE);
	download(s, p, BYTES);
	CHECK(recvmsg(fd[1], &m, MSG_WAITALL) == PAGE);
	finish_work(s);
}

void case_streams(void)
{
	FILE *f = fdopen(a_file(), "r+");
	cudaStream_t s = busy_stream();
	char *p = pinned(BYTES);
	CHECK(f);
	download(s, p, BYTES);
	CHECK(fread(p, 1, BYTES, f) == BYTES);
	rewind(f);
	download(s, p, BYTES);
	CHECK(fwrite(p, 1, BYTES, f) == BYTES);
	CHECK(fflush(f) == 0);
	finish_work(s);
	fclose(f);
}

/* Structures that the kernel fills lie in the buffer, next to what the copy uses. */
void case_structures(void)
{
	int fd = a_file();
	cudaStream_t s = busy_stream();
	char *p = pinned(PAGE);
	struct stat *st = (struct stat *)(void *)(p + 1024);
	struct pollfd *poll_fd = (struct pollfd *)(void *)(p + 2048);
	download(s, p, 64);
	CHECK(!fstat(fd, st) && st->st_size == BYTES);
	poll_fd->fd = fd;
	poll_fd->events = POLLIN;
	download(s, p, 64);
	CHECK(poll(poll_fd, 1, 0) == 1);
	download(s, p, 64);
	CHECK(!ioctl(fd, FIONREAD, p + 3072));
	finish_work(s);
}
