/* SPDX-License-Identifier: Apache-2.0 */
/*
 * awkward STEP...: a process that does its steps in order, some of which make it hard to watch.
 *
 *   race, fixed   two sets of the same memory on two streams, unordered and ordered (loads the driver by itself)
 *   untabled      the same as fixed, from code without unwind tables and frame pointers
 *   closeall      closes every descriptor above 2       closeall0  those below, too
 *   nofile        allows no further descriptor          drop       becomes user 65534
 *   fork          continues in a child, waits for it and passes its status on
 *   detach        continues in a child that no process waits for
 *   load          loads the driver and does not use it
 *   deny=NUMBER   that system call fails with EPERM from now on
 *   unsetenv=NAME   chroot=DIR   sleep=MS   touch=FILE (says that it came so far)   wait=FILE (until it is there)
 *   until=FILE    sets of memory until it is there
 *   sets=N        N sets of memory, prints N            empty=FILE   makes it empty
 *   tries=N       N sets of memory, whatever they return
 *   kill          kills itself                          killrun      kills its parent
 *   plugin=FILE   deepbind=FILE   dlmopen=FILE   loads that object, in one of these ways, and calls its use_cuda()
 *   state         prints what the process can see of itself    errors=FILE   what that runtime says of errors
 *   open=FILE     and leaves it open
 *   term          counts SIGTERM until SIGWINCH comes, then prints how many came
 *   spawn=PROGRAM exec=PROGRAM system=COMMAND  popen=COMMAND  cleared=PROGRAM (exec with an empty environment)
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "driver_calls.h"

/* The calls may fail: only the recorder is tested. */
static void try_sets(long n)
{
	CUresult (*set)(CUdeviceptr, unsigned char, size_t, CUstream);
	CUdeviceptr p;
	begin_cuda();
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, 4096);
	*(void **)&set = dlsym(driver, "cuMemsetD8Async");
	while (n-- > 0)
		set(p, 1, 4096, NULL);
}

static void die(const char *what)
{
	perror(what);
	exit(70);
}

static void work(int ordered)
{
	CUstream a, b;
	CUevent event;
	CUdeviceptr p;
	begin_cuda();
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, 1 << 20);
	CALL(cuStreamCreate, (CUstream *, unsigned), &a, CU_STREAM_NON_BLOCKING);
	CALL(cuStreamCreate, (CUstream *, unsigned), &b, CU_STREAM_NON_BLOCKING);
	CALL(cuEventCreate, (CUevent *, unsigned), &event, CU_EVENT_DISABLE_TIMING);
	CALL(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream), p, 1, 1 << 20, a);
	if (ordered) {
		CALL(cuEventRecord, (CUevent, CUstream), event, a);
		CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned), b, event, 0);
	}
	CALL(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream), p, 2, 1 << 20, b);
	CALL(cuCtxSynchronize, (void), );
}

static void set_often(long n)
{
	CUdeviceptr p;
	begin_cuda();
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, 4096);
	for (long i = 0; i < n; i++)
		CALL(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream), p, 1, 4096, NULL);
	printf("%ld\n", n);
	fflush(stdout);
}

static void pause_ms(long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	while (nanosleep(&t, &t) && errno == EINTR)
		continue;
}

static volatile sig_atomic_t terms, done;

static void on_signal(int sig)
{
	if (sig == SIGTERM)
		terms++;
	else
		done = 1;
}

static void count_terms(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t both, before;
	sigemptyset(&both);
	sigaddset(&both, SIGTERM);
	sigaddset(&both, SIGWINCH);
	sigprocmask(SIG_BLOCK, &both, &before);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGWINCH, &action, NULL);
	puts("ready");
	fflush(stdout);
	while (!done)
		sigsuspend(&before);
	printf("%d\n", (int)terms);
}

static void go_on_in_child(int waits)
{
	int status;
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid && !waits)
		exit(0);
	if (pid) {
		waitpid(pid, &status, 0);
		exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	}
}

static void start(const char *how, const char *program)
{
	char *const nothing[] = {NULL};
	char *const words[] = {(char *)program, NULL};
	int status;
	pid_t pid;
	if (strcmp(how, "exec") == 0)
		execlp(program, program, (char *)NULL);
	else if (strcmp(how, "cleared") == 0)
		execve(program, words, nothing);
	else if (posix_spawnp(&pid, program, NULL, NULL, words, environ) == 0 && waitpid(pid, &status, 0) == pid)
		return;
	die(program);
}

static void deny(unsigned number)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		die("seccomp");
}

static void load_object(const char *how, const char *file)
{
	int (*use_cuda)(void);
	void *object = strcmp(how, "dlmopen") == 0
			       ? dlmopen(LM_ID_NEWLM, file, RTLD_NOW)
			       : dlopen(file, RTLD_NOW | (strcmp(how, "deepbind") == 0 ? RTLD_DEEPBIND : 0));
	if (!object) {
		fprintf(stderr, "%s\n", dlerror());
		exit(70);
	}
	*(void **)&use_cuda = dlsym(object, "use_cuda");
	if (use_cuda())
		exit(71);
}

/* Signals, limits, children, descriptors, the environment but for what run says that it changes. */
static void show_state(void)
{
	static const char *const ours[] = {"LD_PRELOAD=", "LD_LIBRARY_PATH=", "SYNCWATCH_", "ASAN_OPTIONS=", "NVTX_"};
	char line[256];
	struct rusage children;
	FILE *file = fopen("/proc/self/status", "re");
	while (file && fgets(line, sizeof line, file))
		if ((strncmp(line, "Sig", 3) == 0 && line[3] != 'Q') || strncmp(line, "ShdPnd", 6) == 0 ||
		    strncmp(line, "Umask", 5) == 0 || strncmp(line, "Seccomp:", 8) == 0 ||
		    strncmp(line, "CoreDumping", 11) == 0)
			fputs(line, stdout);
	if (file)
		fclose(file);
	for (int i = 0; i < (int)RLIMIT_NLIMITS; i++) {
		struct rlimit limit = {0};
		getrlimit((__rlimit_resource_t)i, &limit);
		printf("limit %d: %lu %lu\n", i, (unsigned long)limit.rlim_cur, (unsigned long)limit.rlim_max);
	}
	getrusage(RUSAGE_CHILDREN, &children);
	printf("children: %d, %ld faults\n", (int)waitpid(-1, NULL, __WALL | WNOHANG), children.ru_minflt);
	for (int fd = 0; fd < 4096; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("descriptor %d\n", fd);
	for (char **entry = environ; *entry; entry++) {
		size_t i = 0;
		while (i < sizeof ours / sizeof *ours && strncmp(*entry, ours[i], strlen(ours[i])))
			i++;
		if (i == sizeof ours / sizeof *ours)
			puts(*entry);
	}
	fflush(stdout);
}

static void show_errors(const char *runtime)
{
	void *library = dlopen(runtime, RTLD_NOW);
	void *p = NULL;
	if (!library)
		die(runtime);
	int (*allocate)(void **, size_t), (*free_it)(void *), (*last)(void), (*peek)(void);
	*(void **)&allocate = dlsym(library, "cudaMalloc");
	*(void **)&free_it = dlsym(library, "cudaFree");
	*(void **)&last = dlsym(library, "cudaGetLastError");
	*(void **)&peek = dlsym(library, "cudaPeekAtLastError");
	printf("%d %d\n", last(), allocate(&p, 4096));
	printf("%d %d\n", allocate(&p, ~(size_t)0 / 2), peek());
	printf("%d %d\n", allocate(&p, 4096), peek());
	printf("%d %d %d\n", last(), last(), free_it(p));
	fflush(stdout);
}

/* Ends as well when the folder of a test is removed. */
static void wait_for(const char *file)
{
	char folder[4096];
	snprintf(folder, sizeof folder, "%s", file);
	char *slash = strrchr(folder, '/');
	if (!slash)
		die(file);
	*slash = 0;
	while (access(file, F_OK) && access(folder, F_OK) == 0)
		pause_ms(5);
}

static void set_until(const char *path)
{
	CUdeviceptr p;
	begin_cuda();
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, 1 << 10);
	while (access(path, F_OK)) {
		CALL(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream), p, 1, 1 << 10, NULL);
		CALL(cuStreamSynchronize, (CUstream), NULL);
		pause_ms(1);
	}
}

static void step_with(const char *name, char *value)
{
	if (strcmp(name, "unsetenv") == 0)
		unsetenv(value);
	else if (strcmp(name, "chroot") == 0 && (chroot(value) || chdir("/")))
		die(value);
	else if (strcmp(name, "deny") == 0)
		deny((unsigned)atol(value));
	else if (strcmp(name, "sleep") == 0)
		pause_ms(atol(value));
	else if (strcmp(name, "tries") == 0)
		try_sets(atol(value));
	else if (strcmp(name, "sets") == 0)
		set_often(atol(value));
	else if (strcmp(name, "until") == 0)
		set_until(value);
	else if (strcmp(name, "empty") == 0 && truncate(value, 0))
		die(value);
	else if (strcmp(name, "touch") == 0)
		close(open(value, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	else if (strcmp(name, "plugin") == 0 || strcmp(name, "deepbind") == 0 || strcmp(name, "dlmopen") == 0)
		load_object(name, value);
	else if (strcmp(name, "errors") == 0)
		show_errors(value);
	else if (strcmp(name, "open") == 0 && open(value, O_RDONLY) < 0)
		die(value);
	else if (strcmp(name, "system") == 0 && system(value))
		die(value);
	else if (strcmp(name, "popen") == 0 && pclose(popen(value, "r")))
		die(value);
	else if (strcmp(name, "spawn") == 0 || strcmp(name, "exec") == 0 || strcmp(name, "cleared") == 0)
		start(name, value);
	if (strcmp(name, "wait") == 0)
		wait_for(value);
}

/* Calls function(1). */
void without_tables(void (*function)(int));
__asm__("	.text\n"
	"without_tables:\n"
#ifdef __x86_64__
	"	pushq	%rbp\n"
	"	xorl	%ebp, %ebp\n"
	"	movq	%rdi, %rax\n"
	"	movl	$1, %edi\n"
	"	call	*%rax\n"
	"	popq	%rbp\n"
#else
	"	stp	x29, x30, [sp, #-16]!\n"
	"	mov	x29, xzr\n"
	"	mov	x9, x0\n"
	"	mov	w0, #1\n"
	"	blr	x9\n"
	"	ldp	x29, x30, [sp], #16\n"
#endif
	"	ret\n");

static void step(const char *name)
{
	struct rlimit none = {3, 3};
	if (strcmp(name, "race") == 0 || strcmp(name, "fixed") == 0)
		work(name[0] == 'f');
	else if (strcmp(name, "untabled") == 0)
		without_tables(work);
	else if (strcmp(name, "closeall") == 0)
		closefrom(3);
	else if (strcmp(name, "closeall0") == 0)
		closefrom(0);
	else if (strcmp(name, "nofile") == 0)
		setrlimit(RLIMIT_NOFILE, &none);
	else if (strcmp(name, "drop") == 0 && (setgid(65534) || setuid(65534)))
		die("setuid");
	else if (strcmp(name, "fork") == 0 || strcmp(name, "detach") == 0)
		go_on_in_child(name[0] == 'f');
	else if (strcmp(name, "load") == 0 && !dlopen("libcuda.so.1", RTLD_NOW))
		die("libcuda.so.1");
	else if (strcmp(name, "kill") == 0)
		raise(SIGKILL);
	else if (strcmp(name, "killrun") == 0)
		kill(getppid(), SIGKILL);
	else if (strcmp(name, "state") == 0)
		show_state();
	else if (strcmp(name, "term") == 0)
		count_terms();
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		if (value) {
			*value++ = 0;
			step_with(argv[i], value);
		} else {
			step(argv[i]);
		}
	}
	return 0;
}
