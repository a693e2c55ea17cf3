/* SPDX-License-Identifier: Apache-2.0 */
/* An audit library (rtld-audit(7)) that looks at every binding, as tools that trace calls of libraries do. */
#include <link.h>
#include <stdio.h>
#include <unistd.h>

static int bound;

unsigned int la_version(unsigned int version)
{
	return version;
}

unsigned int la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned int index, uintptr_t *from, uintptr_t *to, unsigned int *flags,
		       const char *name)
{
	bound = 1;
	return symbol->st_value;
}

__attribute__((destructor)) static void end(void)
{
	char text[16];

	write(2, text, snprintf(text, sizeof text, "audit: %d\n", bound));
}
