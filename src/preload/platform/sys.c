/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/platform/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

/* One system call: its result, or -errno, with errno as it was.  Inlined it would be 3 KB in some fifty functions. */
static __attribute__((noinline)) long call(long number, long a, long b, long c, long d, long e, long f)
{
	int saved = errno;
	long got = syscall(number, a, b, c, d, e, f);
	if (got == -1)
		got = -errno;
	errno = saved;
	return got;
}

int sw_sys_open(const char *path, int flags, unsigned mode)
{
	return (int)call(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
}

int sw_sys_close(int fd)
{
	return (int)call(SYS_close, fd, 0, 0, 0, 0, 0);
}

int sw_sys_unlink(const char *path)
{
	return (int)call(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
}

int sw_sys_fstat(int fd, struct stat *out)
{
	return (int)call(SYS_fstat, fd, (long)out, 0, 0, 0, 0);
}

long sw_sys_read(int fd, void *data, size_t bytes)
{
	return call(SYS_read, fd, (long)data, (long)bytes, 0, 0, 0);
}

long sw_sys_write(int fd, const void *data, size_t bytes)
{
	return call(SYS_write, fd, (long)data, (long)bytes, 0, 0, 0);
}

/* Writes only if that need not wait; -EAGAIN where it would. */
long sw_sys_write_now(int fd, const void *data, size_t bytes)
{
	const struct iovec all = {(void *)(uintptr_t)data, bytes};
	return call(SYS_pwritev2, fd, (long)&all, 1, -1, -1, RWF_NOWAIT);
}

/* Sends to a socket, without waiting and without SIGPIPE. */
long sw_sys_send(int fd, const void *data, size_t bytes)
{
	return call(SYS_sendto, fd, (long)data, (long)bytes, MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
}

/* Can something be written to the descriptor without waiting? */
bool sw_sys_writable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	const struct timespec now = {0};
	return call(SYS_ppoll, (long)&p, 1, (long)&now, 0, 0, 0) == 1 && p.revents & POLLOUT;
}

bool sw_sys_terminal(int fd)
{
	char unused[256]; /* struct termios of the kernel, which is smaller than libc's */
	return call(SYS_ioctl, fd, TCGETS, (long)unused, 0, 0, 0) == 0;
}

int sw_sys_truncate(int fd, uint64_t bytes)
{
	return (int)call(SYS_ftruncate, fd, (long)bytes, 0, 0, 0, 0);
}

int sw_sys_fcntl(int fd, int command, long argument)
{
	return (int)call(SYS_fcntl, fd, command, argument, 0, 0, 0);
}

/* File systems without fallocate (NFS 3): blocks exist once something was written into them. */
static int allocate_by_writing(int fd, uint64_t offset, uint64_t bytes)
{
	static char zeros[4096];
	while (bytes) {
		long got = call(SYS_pwrite64, fd, (long)zeros, (long)(bytes < 4096 ? bytes : 4096), (long)offset, 0, 0);
		if (got == -EINTR)
			continue;
		if (got <= 0)
			return got ? (int)got : -ENOSPC;
		offset += (uint64_t)got;
		bytes -= (uint64_t)got;
	}
	return 0;
}

/* Gets blocks for a part of the file, so that a later write cannot fail for lack of them. */
static int allocate_blocks(int fd, uint64_t offset, uint64_t bytes)
{
	long got;
	do
		got = call(SYS_fallocate, fd, 0, (long)offset, (long)bytes, 0, 0);
	while (got == -EINTR);
	if (got == -EOPNOTSUPP || got == -ENOSYS)
		return allocate_by_writing(fd, offset, bytes);
	return (int)got;
}

/* Gives a range of the file blocks on the disk.  Above RLIMIT_FSIZE the kernel sends SIGXFSZ, which is blocked
   meanwhile and taken away. */
int sw_sys_allocate(int fd, uint64_t offset, uint64_t bytes)
{
	const uint64_t raised = SW_SYS_SIGNAL(SIGXFSZ), mask = sw_sys_block_signals();
	const uint64_t before = sw_sys_signals_before(mask, raised);
	int got = allocate_blocks(fd, offset, bytes);
	if (got == -EFBIG)
		sw_sys_drop_signals(raised, before);
	sw_sys_set_signals(mask);
	return got;
}

/* Gives the file blocks beyond its end; its size stays. */
int sw_sys_reserve(int fd, uint64_t offset, uint64_t bytes)
{
	return (int)call(SYS_fallocate, fd, FALLOC_FL_KEEP_SIZE, (long)offset, (long)bytes, 0, 0);
}

int sw_sys_resize(const char *path, uint64_t bytes)
{
	return (int)call(SYS_truncate, (long)path, (long)bytes, 0, 0, 0, 0);
}

/* A file in memory.  Its seal keeps others from cutting it, so a store into its mapping cannot raise SIGBUS. */
int sw_sys_memory(const char *name)
{
	const int fd = (int)call(SYS_memfd_create, (long)name, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0, 0);
	const int error = fd < 0 ? fd : sw_sys_fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL);
	if (fd >= 0 && error < 0)
		sw_sys_close(fd);
	return error < 0 ? error : fd;
}

long sw_sys_read_at(int fd, void *data, size_t bytes, uint64_t offset)
{
	return call(SYS_pread64, fd, (long)data, (long)bytes, (long)offset, 0, 0);
}

long sw_sys_write_at(int fd, const void *data, size_t bytes, uint64_t offset)
{
	return call(SYS_pwrite64, fd, (long)data, (long)bytes, (long)offset, 0, 0);
}

/* The next offset at which the file holds something; -ENXIO: there is none. */
int64_t sw_sys_next_data(int fd, uint64_t offset)
{
	return call(SYS_lseek, fd, (long)offset, SEEK_DATA, 0, 0, 0);
}

/* Gives the memory of this part of a file back; the file keeps its length. */
int sw_sys_punch(int fd, uint64_t offset, uint64_t bytes)
{
	return (int)call(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (long)offset, (long)bytes, 0,
			 0);
}

/* How large the file's file system is and how much of it is free, without the blocks that only root may use. */
int sw_sys_space(int fd, uint64_t *total, uint64_t *available)
{
	struct statfs s;
	const int error = (int)call(SYS_fstatfs, fd, (long)&s, 0, 0, 0, 0);
	if (error)
		return error;
	*total = (uint64_t)s.f_blocks * (uint64_t)s.f_bsize;
	*available = (uint64_t)s.f_bavail * (uint64_t)s.f_bsize;
	return 0;
}

/* Maps a part of a file, or new memory.  Chunks of a trace begin at multiples of 4 KiB, pages of some kernels for
   aarch64 have 64 KiB: a mapping begins with its page, what is returned lies in it. */
void *sw_sys_map(int fd, uint64_t offset, size_t bytes, int *error)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	const uint64_t before = offset & (getauxval(AT_PAGESZ) - 1);
	long got =
		call(SYS_mmap, 0, (long)(before + bytes), PROT_READ | PROT_WRITE, flags, fd, (long)(offset - before));
	if (got < 0 && got > -4096) {
		*error = (int)got;
		return NULL;
	}
	return (void *)(got + (long)before);
}

/* Unmaps memory that need not begin at a page. */
void sw_sys_unmap(void *at, size_t bytes)
{
	const uint64_t before = (uintptr_t)at & (getauxval(AT_PAGESZ) - 1);
	call(SYS_munmap, (long)((uintptr_t)at - before), (long)(before + bytes), 0, 0, 0, 0);
}

int sw_sys_madvise(void *at, size_t bytes, int advice)
{
	return (int)call(SYS_madvise, (long)at, (long)bytes, advice, 0, 0, 0);
}

/*
 * Valgrind reports system calls that read words which were never written, and we read arbitrary words.  This is its
 * request CHANGE_ERR_DISABLEMENT (valgrind.h): instructions that do nothing elsewhere. 1: report none from here on, -1:
 * report again.
 */
static void valgrind_errors(long change)
{
#ifdef __x86_64__
	const volatile uint64_t request[6] = {0x1801, (uint64_t)change};
	uint64_t result = 0;
	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
			 : "+d"(result)
			 : "a"(request)
			 : "cc", "memory");
#else
	(void)change;
#endif
}

/* Copies from this process's memory by a system call, which fails where SIGSEGV would be raised.  Bytes copied, or
   -errno. */
long sw_sys_copy(void *to, const void *from, size_t bytes)
{
	const struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)from, bytes};
	const long pid = call(SYS_getpid, 0, 0, 0, 0, 0, 0);
	return call(SYS_process_vm_readv, pid, (long)&local, 1, (long)&remote, 1, 0);
}

/* Can a word be read at this address?  A futex call reads it in the kernel, and fails with EFAULT where it cannot. */
bool sw_sys_readable(const void *at)
{
	/* Looks whether the word has this value, and does not wait if it has. */
	const struct timespec now = {0};
	valgrind_errors(1);
	const long got = call(SYS_futex, (long)at & -4l, FUTEX_WAIT_PRIVATE, 0x5357, (long)&now, 0, 0);
	valgrind_errors(-1);
	return got != -EFAULT;
}

/* Waits while *word == value, at most until the timeout (relative; NULL: none). */
int sw_sys_wait(const uint32_t *word, uint32_t value, const struct timespec *timeout)
{
	return (int)call(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, (long)timeout, 0, 0);
}

void sw_sys_wake(const uint32_t *word, int threads)
{
	call(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, threads, 0, 0, 0);
}

/* Blocks every signal, also those that glibc keeps for itself; returns the mask before. */
uint64_t sw_sys_block_signals(void)
{
	uint64_t all = ~0ull, old = 0;
	call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&old, sizeof old, 0, 0);
	return old;
}

void sw_sys_set_signals(uint64_t mask)
{
	call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
}

/* Which of these signals are pending before a call that may raise them: they are the program's and must stay. */
uint64_t sw_sys_signals_before(uint64_t mask, uint64_t raised)
{
	uint64_t pending = 0;
	if (mask & raised) /* one that the program does not block can't be waiting */
		call(SYS_rt_sigpending, (long)&pending, sizeof pending, 0, 0, 0, 0);
	return pending;
}

/* Takes the signals that the call raised, those of `raised` that were not pending `before`, without waiting. */
void sw_sys_drop_signals(uint64_t raised, uint64_t before)
{
	const struct timespec now = {0};
	raised &= ~before;
	while (raised && call(SYS_rt_sigtimedwait, (long)&raised, 0, (long)&now, sizeof raised, 0, 0) > 0)
		;
}

/* Is there this thread in this process?  Signal 0 only asks. */
bool sw_sys_thread_lives(int process, int thread)
{
	return call(SYS_tgkill, process, thread, 0, 0, 0, 0) != -ESRCH;
}

/* clone(2) without libc's clone(), before which ThreadSanitizer puts its own: that takes the new thread for one that it
   knows, and crashes in it.  The task begins with the body, ends with what it returns, and has no caller. */
long sw_new_task(unsigned long flags, void *stack_top, uint32_t *parent, uint32_t *child, void *thread_pointer,
		 int (*body)(void *), void *with) __attribute__((visibility("hidden")));
#ifdef __x86_64__
__asm__("	.text\n"
	"	.type	sw_new_task, @function\n"
	"sw_new_task:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	movq	8(%rsp), %rax\n"
	"	andq	$-16, %rsi\n"
	"	subq	$16, %rsi\n"
	"	movq	%r9, (%rsi)\n"
	"	movq	%rax, 8(%rsi)\n"
	"	movq	%rcx, %r10\n"
	"	movl	$56, %eax\n" /* SYS_clone */
	"	syscall\n"
	"	testq	%rax, %rax\n"
	"	jz	1f\n"
	"	ret\n"
	"1:	.cfi_undefined rip\n"
	"	xorl	%ebp, %ebp\n"
	"	popq	%rax\n"
	"	popq	%rdi\n"
	"	call	*%rax\n"
	"	movl	%eax, %edi\n"
	"	movl	$60, %eax\n" /* SYS_exit: of this thread */
	"	syscall\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	"	.size	sw_new_task, . - sw_new_task\n");
#else
__asm__("	.text\n"
	"	.type	sw_new_task, %function\n"
	"sw_new_task:\n"
	"	.cfi_startproc\n"
	"	hint	#34\n" /* bti c */
	"	and	x1, x1, #-16\n"
	"	stp	x5, x6, [x1, #-16]!\n"
	"	mov	x9, x3\n"
	"	mov	x3, x4\n" /* clone(flags, stack, parent, thread pointer, child) */
	"	mov	x4, x9\n"
	"	mov	x8, #220\n" /* SYS_clone */
	"	svc	#0\n"
	"	cbz	x0, 1f\n"
	"	ret\n"
	"1:	.cfi_undefined x30\n"
	"	mov	x29, #0\n"
	"	mov	x30, #0\n"
	"	ldp	x9, x0, [sp], #16\n"
	"	blr	x9\n"
	"	mov	x8, #93\n" /* SYS_exit: of this thread */
	"	svc	#0\n"
	"	brk	#0\n"
	"	.cfi_endproc\n"
	"	.size	sw_new_task, . - sw_new_task\n");
#endif

/* A task of the kernel with signals blocked, which it inherits: no handler of the program runs on it. */
static int new_task(unsigned long flags, void *stack_top, uint32_t *thread, void *thread_pointer, int (*body)(void *),
		    void *with)
{
	uint64_t mask = sw_sys_block_signals();
	const long got = sw_new_task(flags, stack_top, thread, thread, thread_pointer, body, with);
	sw_sys_set_signals(mask);
	return (int)got;
}

/* Starts a thread by the kernel's call alone, so that libc has no part in it. */
int sw_sys_clone(int (*body)(void *), void *stack_top, void *thread_pointer, uint32_t *thread)
{
	/* Descriptors are shared at first: Valgrind knows threads of no other kind. */
	const unsigned long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
				    CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
	const int got = new_task(flags, stack_top, thread, thread_pointer, body, NULL);
	return got < 0 ? got : 0;
}

/* Starts a child that shares our memory until it execs; the caller sleeps meanwhile. */
int sw_sys_spawn(int (*body)(void *), void *with, void *stack_top)
{
	/* No exit signal, so that no SIGCHLD is sent and a plain wait() of the program doesn't see it. */
	return new_task(CLONE_VM | CLONE_VFORK, stack_top, NULL, NULL, body, with);
}

/* In a child, before exec: all signals as a new program has them. */
void sw_sys_default_signals(void)
{
	const uint64_t standard[4] = {0}; /* the kernel's struct sigaction: SIG_DFL */
	for (long sig = 1; sig < 65; sig++)
		call(SYS_rt_sigaction, sig, (long)standard, 0, sizeof *standard, 0, 0);
}

/* Gives the calling thread an empty table of descriptors, which the program's threads do not see. */
int sw_sys_own_descriptors(void)
{
	/* Linux 5.9; nothing is copied, and no other thread sees any of it closed. */
	return (int)call(SYS_close_range, 0, ~0u, CLOSE_RANGE_UNSHARE, 0, 0, 0);
}

void sw_sys_name_thread(const char *name)
{
	call(SYS_prctl, PR_SET_NAME, (long)name, 0, 0, 0, 0);
}

int sw_sys_user(void)
{
	return (int)call(SYS_getuid, 0, 0, 0, 0, 0, 0);
}

/* Changes user and group of this thread alone, by system calls: libc's functions would change those of all threads. */
void sw_sys_become(const unsigned user[3], const unsigned group[3])
{
	/* A change of user makes the whole process one that cannot be traced or dumped; the program may have undone
	 * that. */
	const long dumpable = call(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0, 0);
	call(SYS_setgroups, 0, 0, 0, 0, 0, 0);
	call(SYS_setresgid, group[0], group[1], group[2], 0, 0, 0);
	call(SYS_setresuid, user[0], user[1], user[2], 0, 0, 0);
	if (dumpable == 1)
		call(SYS_prctl, PR_SET_DUMPABLE, dumpable, 0, 0, 0, 0);
}

/* Nanoseconds of CLOCK_MONOTONIC, by a system call: the program may have put a clock_gettime() of its own before
   libc's. */
uint64_t sw_sys_monotonic(void)
{
	struct timespec t = {0};
	call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0, 0, 0, 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* For dl_iterate_phdr(): sums up the thread-local storage of all objects. */
static int add_local_bytes(struct dl_phdr_info *info, size_t size, void *sum)
{
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			*(size_t *)sum += info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align;
	return 0;
}

/* As pthread_create(), with all signals blocked, detached, and room on the stack for all objects' thread-local
   variables. */
int sw_sys_thread(void *(*body)(void *), size_t stack_bytes)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int saved = errno;
	if (pthread_attr_init(&attributes))
		return -ENOMEM;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	/* glibc puts thread-local variables of all objects on the stack, and refuses one that is too small for them;
	   those of libcublasLt alone are 94 KB. */
	dl_iterate_phdr(add_local_bytes, &stack_bytes);
	pthread_attr_setstacksize(&attributes, stack_bytes);
	uint64_t mask = sw_sys_block_signals(); /* inherited by the new thread: no handler of the program runs on it */
	int error = pthread_create(&thread, &attributes, body, NULL);
	sw_sys_set_signals(mask);
	pthread_attr_destroy(&attributes);
	errno = saved;
	return -error;
}
