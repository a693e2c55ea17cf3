/* SPDX-License-Identifier: Apache-2.0 */
/* The checksum of a trace's chunks, by the processor's instruction where it has one. */
#include "base/hash.h"

#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

/* CRC-32C four bits at a time: that keeps the table at 64 bytes, for it serves only processors without the
   instruction. */
static uint32_t by_table(uint32_t crc, const unsigned char *p, size_t bytes)
{
	static const uint32_t table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
					   0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
					   0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
	while (bytes--) {
		crc ^= *p++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return crc;
}

#ifdef __x86_64__
/* Clang has a name of its own for the instruction, which compilers for a plain processor switch off. */
#ifdef __clang__
#define CRC_TARGET "sse4.2,crc32"
#else
#define CRC_TARGET "sse4.2"
#endif
/* Most of the time that reading a trace takes went into the table; 8 bytes an instruction are 20 times as fast. */
__attribute__((target(CRC_TARGET))) static uint32_t by_instruction(uint32_t crc, const unsigned char *p, size_t bytes)
{
	uint64_t wide = crc, word;
	for (; bytes >= sizeof word; bytes -= sizeof word, p += sizeof word) {
		memcpy(&word, p, sizeof word);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = (uint32_t)wide;
	while (bytes--)
		crc = __builtin_ia32_crc32qi(crc, *p++);
	return crc;
}

/* Has the processor the CRC-32C instruction?  Not __builtin_cpu_supports(): it brings a table of all processors.
   Checked once: CPUID causes an exit from a virtual machine. */
static int has_instruction(void)
{
	static int known; /* 1 no, 2 yes */
	int now = __atomic_load_n(&known, __ATOMIC_RELAXED);
	unsigned a, b, c, d;
	if (!now) {
		now = __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSE4_2 ? 2 : 1;
		__atomic_store_n(&known, now, __ATOMIC_RELAXED);
	}
	return now == 2;
}
#elif defined __aarch64__
__attribute__((target("+crc"))) static uint32_t by_instruction(uint32_t crc, const unsigned char *p, size_t bytes)
{
	uint64_t word;
	for (; bytes >= sizeof word; bytes -= sizeof word, p += sizeof word) {
		memcpy(&word, p, sizeof word);
		crc = __builtin_aarch64_crc32cx(crc, word);
	}
	while (bytes--)
		crc = __builtin_aarch64_crc32cb(crc, *p++);
	return crc;
}

static int has_instruction(void)
{
	return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}
#endif

uint32_t sw_crc32c(uint32_t crc, const void *data, size_t bytes)
{
	return ~(has_instruction() ? by_instruction(~crc, data, bytes) : by_table(~crc, data, bytes));
}

uint32_t sw_crc32c_portable(uint32_t crc, const void *data, size_t bytes)
{
	return ~by_table(~crc, data, bytes);
}
