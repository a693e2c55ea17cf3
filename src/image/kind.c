/* SPDX-License-Identifier: Apache-2.0 */
/* What an image is, by its first bytes: fatbin, cubin, PTX. */
#include "image/image.h"

#include <ctype.h>
#include <elf.h>

#include "image/bytes.h"
#include "image/formats.h"
#include "image/ptx_lexer.h"

static bool is_cubin(struct sw_bytes b)
{
	return b.n >= sizeof(Elf64_Ehdr) && !memcmp(b.at, ELFMAG, SELFMAG) && b.at[EI_CLASS] == ELFCLASS64 &&
	       sw_u16(b, offsetof(Elf64_Ehdr, e_machine)) == SW_ELF_MACHINE_CUDA;
}

/* PTX ISA, "PTX Module Directives": a module begins with .version; only comments and blanks may come before. */
static bool is_ptx(struct sw_bytes b)
{
	struct sw_ptx_lexer lexer = sw_ptx_lexer(b.at, b.n);
	return sw_ptx_next(&lexer) && sw_ptx_is(&lexer, ".version");
}

enum sw_image_kind sw_image_kind_of(const void *bytes, size_t size)
{
	struct sw_bytes b = {bytes, size};
	if (sw_u32(b, 0) == SW_FATBIN_MAGIC && size >= SW_FATBIN_HEADER_BYTES)
		return SW_IMAGE_FATBIN;
	if (sw_u32(b, 0) == SW_LTOIR_MAGIC)
		return SW_IMAGE_LTOIR;
	if (is_cubin(b))
		return SW_IMAGE_ELF;
	return is_ptx(b) ? SW_IMAGE_PTX : SW_IMAGE_UNKNOWN;
}

uint64_t sw_fatbin_wrapper_target(const void *wrapper)
{
	struct sw_bytes b = {wrapper, SW_WRAPPER_BYTES};
	uint32_t version = sw_u32(b, 4);
	return sw_u32(b, 0) == SW_WRAPPER_MAGIC && (version == 1 || version == 2) ? sw_u64(b, 8) : 0;
}
