/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libunwind tests whether memory can be read by writing a byte of it into a pipe of its own, and opens that pipe in the
 * program's descriptor table.  A program that closes every descriptor, and then opens files of its own under the same
 * numbers, would lose a byte of its input and find a byte of its stack in its output; libunwind closes what lies there,
 * too.  So its pipe2() gives it a number that no process has, and its read() and write() of that number test the memory
 * in another way.
 */
#include "preload/platform/seldom.h"

#include "preload/stacks/unwind.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/platform/sys.h"

#define NO_DESCRIPTOR 0x7fffff00
#define PAGE	      4096u

static int no_pipe(int out[2])
{
	out[0] = out[1] = NO_DESCRIPTOR;
	return 0;
}

static int no_pipe2(int out[2], int flags)
{
	(void)flags;
	return no_pipe(out);
}

/* Nothing is in the pipe; it need not be opened again. */
static ssize_t empty_read(int fd, void *to, size_t bytes)
{
	if (fd != NO_DESCRIPTOR)
		return read(fd, to, bytes);
	errno = EAGAIN;
	return -1;
}

static ssize_t probing_write(int fd, const void *from, size_t bytes)
{
	if (fd != NO_DESCRIPTOR)
		return write(fd, from, bytes);
	if (sw_sys_readable(from))
		return 1;
	errno = EFAULT;
	return -1;
}

static long probing_call(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_write && a == NO_DESCRIPTOR)
		return probing_write((int)a, (const void *)(uintptr_t)b, (size_t)c);
	return syscall(number, a, b, c, d, e, f);
}

static const struct {
	const char *name;
	void *function;
} instead[] = {
	{"pipe", (void *)no_pipe},	  {"pipe2", (void *)no_pipe2},	     {"read", (void *)empty_read},
	{"write", (void *)probing_write}, {"syscall", (void *)probing_call},
};

struct library {
	uintptr_t inside; /* an address in it */
	uintptr_t base, relro, relro_end;
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * calls, *others;
	size_t calls_bytes, others_bytes;
};

static const void *at(const struct library *l, ElfW(Addr) address)
{
	return (const void *)(address < l->base ? l->base + address
						: address); /* the loader makes most of them absolute */
}

static void read_dynamic(struct library *l, const ElfW(Dyn) * d)
{
	for (; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			l->symbols = at(l, d->d_un.d_ptr);
		else if (d->d_tag == DT_STRTAB)
			l->names = at(l, d->d_un.d_ptr);
		else if (d->d_tag == DT_JMPREL)
			l->calls = at(l, d->d_un.d_ptr);
		else if (d->d_tag == DT_PLTRELSZ)
			l->calls_bytes = d->d_un.d_val;
		else if (d->d_tag == DT_RELA)
			l->others = at(l, d->d_un.d_ptr);
		else if (d->d_tag == DT_RELASZ)
			l->others_bytes = d->d_un.d_val;
	}
}

static int find(struct dl_phdr_info *info, size_t size, void *data)
{
	struct library *l = data;
	bool here = false;
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		here |= p->p_type == PT_LOAD && l->inside - info->dlpi_addr - p->p_vaddr < p->p_memsz;
	}
	if (!here)
		return 0;
	l->base = info->dlpi_addr;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_DYNAMIC)
			read_dynamic(l, (const ElfW(Dyn) *)(l->base + p->p_vaddr));
		if (p->p_type == PT_GNU_RELRO) {
			l->relro = (l->base + p->p_vaddr) & -(uintptr_t)PAGE;
			l->relro_end = (l->base + p->p_vaddr + p->p_memsz) & -(uintptr_t)PAGE;
		}
	}
	return 1;
}

static void set(const struct library *l, uintptr_t slot, void *function)
{
	void *page = (void *)(slot & -(uintptr_t)PAGE);
	const bool fixed = slot >= l->relro && slot < l->relro_end;
	if (fixed && mprotect(page, PAGE, PROT_READ | PROT_WRITE))
		return;
	__atomic_store_n((void **)slot, function, __ATOMIC_RELEASE);
	if (fixed)
		mprotect(page, PAGE, PROT_READ);
}

static void redirect(const struct library *l, const ElfW(Rela) * r, size_t bytes)
{
	for (const ElfW(Rela) *end = r + bytes / sizeof *r; r && r < end; r++) {
		if (ELF64_R_TYPE(r->r_info) != R_X86_64_JUMP_SLOT && ELF64_R_TYPE(r->r_info) != R_X86_64_GLOB_DAT)
			continue;
		const char *name = l->names + l->symbols[ELF64_R_SYM(r->r_info)].st_name;
		for (size_t i = 0; i < sizeof instead / sizeof *instead; i++)
			if (strcmp(name, instead[i].name) == 0)
				set(l, l->base + r->r_offset, instead[i].function);
	}
}

void sw_unwind_without_pipe(const void *inside)
{
	struct library l = {.inside = (uintptr_t)inside};
	if (!dl_iterate_phdr(find, &l) || !l.symbols || !l.names)
		return;
	redirect(&l, l.calls, l.calls_bytes);
	redirect(&l, l.others, l.others_bytes);
}
