/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory that CUDA knows of, sorted by address: which of it may be protected. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/utsname.h>

#include "guard/guard.h"
#include "preload/platform/sys.h"
#include "syncwatch/format.h"

#define BUFFERS 16384u

static struct sw_buffer buffers[BUFFERS];
static uint32_t n_buffers;
static bool aliased; /* some have another address on the device */

/* Index of the first buffer that ends after the address; n_buffers: none does. */
static uint32_t first_ending_after(uint64_t address)
{
	uint32_t lo = 0, hi = n_buffers;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (buffers[mid].address + buffers[mid].bytes > address)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/*
 * Does this kernel leave a pinned page in its place when it is protected, as Linux does from 5.19 on?
 *
 * Registered memory is the program's own.  Its pages can be protected and released again where they are readable and
 * writable and nothing else, and where that does not part the process from the device: before Linux 5.19 a private page
 * that is pinned may be *copied* at the first write after mprotect (do_wp_page() looked at the page's use count; since
 * then at PageAnonExclusive), and the device continues with the old one.
 */
static bool keeps_pinned_pages(void)
{
	static int known; /* 1 no, 2 yes */
	struct utsname name;
	unsigned major = 0, minor = 0;
	if (!known) {
		if (!uname(&name)) {
			const char *p = name.release;
			for (; *p >= '0' && *p <= '9'; p++)
				major = major * 10 + (unsigned)(*p - '0');
			for (p += *p == '.'; *p >= '0' && *p <= '9'; p++)
				minor = minor * 10 + (unsigned)(*p - '0');
		}
		known = major > 5 || (major == 5 && minor >= 19) ? 2 : 1;
	}
	return known == 2;
}

/* Reads a number and moves behind it. */
static uint64_t read_hexadecimal(const char **p)
{
	uint64_t value = 0;
	for (;; (*p)++) {
		char c = **p;
		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			return value;
	}
}

struct scan {
	uint64_t at, end; /* what is not yet covered */
	bool good;
};

/* Takes one line of /proc/self/maps, "lo-hi rwxp ...", into account. */
static void scan_line(struct scan *s, const char *p)
{
	uint64_t lo = read_hexadecimal(&p), hi = *p == '-' ? (p++, read_hexadecimal(&p)) : 0;
	if (hi <= s->at || lo >= s->end || !s->good)
		return;
	bool plain = p[0] == ' ' && p[1] == 'r' && p[2] == 'w' && p[3] == '-';
	s->good = lo <= s->at && plain && (p[4] == 's' || keeps_pinned_pages());
	s->at = hi;
}

/* Is all of it readable and writable, and does it stay the device's when it is protected? */
static bool can_be_guarded(uint64_t address, uint64_t bytes)
{
	struct scan s = {address, address + bytes, true};
	char text[4096], line[128];
	size_t length = 0;
	int fd = sw_sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	for (long got; s.good && s.at < s.end && (got = sw_sys_read(fd, text, sizeof text)) > 0;)
		for (long i = 0; i < got; i++) {
			if (text[i] != '\n') {
				if (length < sizeof line - 1)
					line[length++] = text[i];
				continue;
			}
			line[length] = 0;
			length = 0;
			scan_line(&s, line);
		}
	sw_sys_close(fd);
	return s.good && s.at >= s.end;
}

/* Adds a buffer, sorted by address.  Those that lie where the new one does must have been freed unseen, and are
   dropped. */
void sw_buffers_add(const struct sw_rec_alloc *a)
{
	if (!a->bytes || a->address + a->bytes < a->address)
		return;
	uint32_t i = first_ending_after(a->address);
	while (i < n_buffers && buffers[i].address < a->address + a->bytes) /* its end was not seen */
		sw_buffers_drop(buffers[i].address);
	if (n_buffers == BUFFERS) {
		sw_pages_unguarded();
		return;
	}
	memmove(&buffers[i + 1], &buffers[i], (n_buffers - i) * sizeof *buffers);
	n_buffers++;
	buffers[i] = (struct sw_buffer){
		.address = a->address,
		.bytes = a->bytes,
		.alias = a->device_alias != a->address ? a->device_alias : 0,
		.memory = (enum sw_memory)a->memory,
		.off = a->memory == SW_MEM_REGISTERED && !can_be_guarded(a->address, a->bytes),
	};
	aliased |= buffers[i].alias != 0;
}

/* Removes the buffer that begins at this address, if there is one. */
void sw_buffers_drop(uint64_t address)
{
	uint32_t i = first_ending_after(address);
	if (i == n_buffers || buffers[i].address != address)
		return;
	memmove(&buffers[i], &buffers[i + 1], (--n_buffers - i) * sizeof *buffers);
}

/* The buffer that holds the address; NULL: none. */
struct sw_buffer *sw_buffers_find(uint64_t address)
{
	uint32_t i = first_ending_after(address);
	return i < n_buffers && buffers[i].address <= address ? &buffers[i] : NULL;
}

/* Finds the buffer at an address that a kernel uses, which may be another one than the host's. */
struct sw_buffer *sw_buffers_find_device(uint64_t address)
{
	for (uint32_t i = 0; aliased && i < n_buffers; i++)
		if (buffers[i].alias && address - buffers[i].alias < buffers[i].bytes)
			return &buffers[i];
	return sw_buffers_find(address);
}

/* The first buffer by address that shares bytes with [lo, hi); NULL: none. */
struct sw_buffer *sw_buffers_next(uint64_t lo, uint64_t hi)
{
	uint32_t i = first_ending_after(lo);
	return i < n_buffers && buffers[i].address < hi ? &buffers[i] : NULL;
}
