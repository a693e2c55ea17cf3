/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Awkward processes: `awkward NAME [N]`.  Each does what programs do with their descriptors, signals, limits and
 * threads, and prints what it sees; awkward.sh compares that with the same program under the recorder.
 */
#include <cuda.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "awkward.h"

static CUdeviceptr memory;
static char bytes[64];
long count;

void first_call(void)
{
	cuMemAlloc(&memory, 4096);
}

void calls(long n)
{
	for (long i = 0; i < n; i++)
		cuMemcpyHtoD(memory, bytes, sizeof bytes);
}

/* ---- what becomes of stderr -------------------------------------------------------------------------------------- */

static void closed_pipe(void)
{
	int p[2];
	signal(SIGPIPE, SIG_DFL);
	if (pipe(p))
		return;
	dup2(p[1], 2);
	close(p[0]);
	close(p[1]);
	first_call();
}

/* The program blocks the signal and has none waiting; afterwards it still has none. */
static void closed_pipe_blocked(void)
{
	sigset_t set, waiting;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	closed_pipe();
	sigpending(&waiting);
	printf("SIGPIPE waits: %d\n", sigismember(&waiting, SIGPIPE));
}

/* One of its own waits already. */
static void closed_pipe_waiting(void)
{
	sigset_t set, waiting;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGPIPE);
	closed_pipe();
	sigpending(&waiting);
	printf("SIGPIPE waits: %d\n", sigismember(&waiting, SIGPIPE));
}

static void full(int end)
{
	char fill[4096] = {0};
	fcntl(end, F_SETFL, O_NONBLOCK);
	while (write(end, fill, sizeof fill) > 0)
		;
	while (write(end, fill, 1) > 0)
		;
	fcntl(end, F_SETFL, 0);
	dup2(end, 2);
}

static void full_pipe(void)
{
	int p[2];
	if (pipe(p))
		return;
	full(p[1]);
	alarm(60);
	first_call();
	printf("alarm left: %s\n", alarm(0) > 50 ? "most" : "little");
}

static void full_socket(void)
{
	int s[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		return;
	full(s[1]);
	first_call();
}

static void closed_socket(void)
{
	int s[2];
	signal(SIGPIPE, SIG_DFL);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		return;
	dup2(s[1], 2);
	close(s[0]);
	close(s[1]);
	first_call();
}

static void full_device(void)
{
	dup2(open("/dev/full", O_WRONLY), 2);
	first_call();
}

/* ---- RLIMIT_FSIZE ------------------------------------------------------------------------------------------------ */

static void limit_file(rlim_t most)
{
	struct rlimit r = {most, most};
	setrlimit(RLIMIT_FSIZE, &r);
}

static void no_file(void)
{
	limit_file(0);
	first_call();
	calls(10);
}

static void small_file(void)
{
	limit_file(4095);
	first_call();
	calls(10);
}

static void stderr_is_a_file(void)
{
	int fd = open("stderr-file", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(fd, 2);
	close(fd);
	no_file();
}

static void file_ends(void)
{
	first_call();
	limit_file(1);
	calls(SEVERAL_CHUNKS);
}

/* ---- descriptors ------------------------------------------------------------------------------------------------- */

static void show_descriptors(const char *when)
{
	struct stat st;
	printf("%s:", when);
	for (int fd = 0; fd < 4096; fd++)
		if (!fstat(fd, &st))
			printf(" %d", fd);
	int fd = open("/dev/null", O_RDONLY);
	printf(", the next is %d\n", fd);
	close(fd);
}

static void descriptors(void)
{
	show_descriptors("before");
	first_call();
	show_descriptors("after the first call");
	calls(SEVERAL_CHUNKS);
	show_descriptors("after several chunks");
}

/* As a daemon does it; what it then writes to the closed ones must not land in a file of ours. */
static void closed_descriptors(void)
{
	first_call();
	int log = fcntl(1, F_DUPFD_CLOEXEC, 100);
	for (int i = 0; i < 100; i++)
		close(i);
	open("/dev/null", O_RDWR);
	calls(SEVERAL_CHUNKS);
	int wrote = (int)write(1, "text for a closed standard output\n", 34), error = errno;
	int read_too = (int)read(2, bytes, 8);
	dprintf(log, "write: %d, errno %d; read: %d; next %d\n", wrote, error, read_too, open("/dev/null", O_RDONLY));
}

/* All closed before the first call. */
static void closed_before(void)
{
	int log = fcntl(1, F_DUPFD_CLOEXEC, 3000);
	closefrom(3001);
	for (int i = 0; i < 100; i++)
		close(i);
	first_call();
	calls(SEVERAL_CHUNKS);
	dprintf(log, "next %d\n", open("/dev/null", O_RDONLY));
}

static void no_descriptor_left(void)
{
	struct rlimit r = {3, 3};
	setrlimit(RLIMIT_NOFILE, &r);
	first_call();
	calls(SEVERAL_CHUNKS);
}

void without_cfi(void (*function)(void));

static void call_once(void)
{
	calls(1);
}

static void *calls_without_cfi(void *unused)
{
	for (int i = 0; i < 20; i++)
		without_cfi(call_once);
	return unused;
}

/* A socket of the program's own under the numbers that libraries had before it closed them all: nothing reads from it,
   writes to it or closes it. */
static void reused_numbers(void)
{
	char text[64] = "";
	int s[2], there = 0;
	pthread_t t;
	first_call();
	calls_without_cfi(NULL);
	closefrom(3);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		return;
	int peer = fcntl(s[1], F_DUPFD, 50);
	for (int fd = 4; fd < 20; fd++)
		dup2(s[0], fd);
	/* The stack of a new thread is memory that no walk has seen. */
	if (write(peer, "0123456789", 10) != 10 || pthread_create(&t, NULL, calls_without_cfi, NULL))
		return;
	pthread_join(t, NULL);
	for (int fd = 3; fd < 20; fd++)
		there += fcntl(fd, F_GETFD) >= 0;
	ssize_t got = recv(s[0], text, sizeof text - 1, MSG_DONTWAIT);
	printf("%d descriptors, %zd bytes: %s; ", there, got, text);
	printf("sent: %zd\n", recv(peer, text, sizeof text - 1, MSG_DONTWAIT));
}

static _Atomic int stop;

/* Puts a file of the program after every number, again and again, and closes it. */
static void *replace(void *file)
{
	while (!stop)
		for (int fd = 10; fd < 1100 && !stop; fd++)
			dup2(*(int *)file, fd);
	return NULL;
}

static void replaced_descriptors(void)
{
	pthread_t t[2];
	struct stat st;
	struct rlimit r = {2000, 2000};
	setrlimit(RLIMIT_NOFILE, &r);
	int file = open("own-file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, replace, &file);
	first_call();
	calls(20 * SEVERAL_CHUNKS);
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d, %ld bytes in %ld blocks\n", fstat(file, &st), (long)st.st_size, (long)st.st_blocks);
}

/* ---- what libc remembers ----------------------------------------------------------------------------------------- */

static void show_kept(const char *when)
{
	const char *error = dlerror();
	printf("%s: errno %d, dlerror %s\n", when, errno, error && strstr(error, "no_such_name") ? "kept" : "lost");
}

static void errors_kept(void)
{
	errno = 4711;
	first_call(); /* which clears dlerror: the driver is looked for, as by cudart */
	printf("first call: errno %d\n", errno);
	dlsym(RTLD_DEFAULT, "no_such_name");
	errno = 4712;
	calls(SEVERAL_CHUNKS);
	show_kept("many calls");
	dlsym(RTLD_DEFAULT, "no_such_name");
	CUstream stream;
	cuStreamCreate(&stream, 0);
	show_kept("another function");
	printf("children %d\n", (int)waitpid(-1, NULL, __WALL));
}

/* ---- system calls that are refused ------------------------------------------------------------------------------- */

static void refuse(unsigned number)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	/* All threads, as sandboxes do it. */
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		puts("no filter");
}

static void refused_before(void)
{
	refuse((unsigned)count);
	first_call();
	calls(SEVERAL_CHUNKS);
}

static void refused_after(void)
{
	first_call();
	calls(10);
	refuse((unsigned)count);
	calls(SEVERAL_CHUNKS);
}

/* ---- rights, places ---------------------------------------------------------------------------------------------- */

static int threads_of_root(void)
{
	char path[64], text[2048];
	int n = 0;
	for (int tid = getpid(); tid < getpid() + 50; tid++) {
		snprintf(path, sizeof path, "/proc/self/task/%d/status", tid);
		int fd = open(path, O_RDONLY);
		if (fd < 0)
			continue;
		ssize_t got = read(fd, text, sizeof text - 1);
		close(fd);
		text[got > 0 ? got : 0] = 0;
		const char *uid = strstr(text, "\nUid:\t");
		n += uid && uid[6] == '0';
	}
	return n;
}

/* A program that gives up root keeps nothing: no thread of the process has the old rights. */
static void other_user(void)
{
	first_call();
	calls(SEVERAL_CHUNKS);
	if (setgid(65534) || setuid(65534))
		puts("not allowed");
	calls(SEVERAL_CHUNKS);
	int old = threads_of_root();
	for (int wait = 0; old && wait < 1200; wait++) { /* until a thread that would keep them has had its time */
		usleep(50000);
		old = threads_of_root();
	}
	calls(SEVERAL_CHUNKS);
	printf("user %d, threads of root: %d\n", (int)getuid(), old);
}

static void other_root(void)
{
	first_call();
	mkdir("jail", 0700);
	if (chroot("jail") || chdir("/"))
		puts("not allowed");
	closefrom(3);
	calls(SEVERAL_CHUNKS);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{"closed_pipe", closed_pipe},
	{"closed_pipe_blocked", closed_pipe_blocked},
	{"closed_pipe_waiting", closed_pipe_waiting},
	{"full_pipe", full_pipe},
	{"full_socket", full_socket},
	{"closed_socket", closed_socket},
	{"full_device", full_device},
	{"no_file", no_file},
	{"small_file", small_file},
	{"stderr_is_a_file", stderr_is_a_file},
	{"file_ends", file_ends},
	{"descriptors", descriptors},
	{"closed_descriptors", closed_descriptors},
	{"closed_before", closed_before},
	{"reused_numbers", reused_numbers},
	{"no_descriptor_left", no_descriptor_left},
	{"replaced_descriptors", replaced_descriptors},
	{"errors_kept", errors_kept},
	{"refused_before", refused_before},
	{"refused_after", refused_after},
	{"other_user", other_user},
	{"other_root", other_root},
	{"last_thread", last_thread},
	{"last_thread_raw", last_thread_raw},
	{"last_is_another", last_is_another},
	{"last_thread_of_a_child", last_thread_of_a_child},
	{"threads_counted", threads_counted},
	{"many_threads", many_threads},
	{"late_destructors", late_destructors},
	{"all_keys_taken", all_keys_taken},
	{"many_handles", many_handles},
	{"many_functions", many_functions},
};

int main(int argc, char **argv)
{
	count = argc > 2 ? atol(argv[2]) : 0;
	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(argv[1], modes[i].name)) {
			modes[i].run();
			puts("done");
			return 0;
		}
	return 2;
}
