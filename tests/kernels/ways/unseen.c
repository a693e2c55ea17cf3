/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the driver's symbol table itself, as no dlsym and no link could be watched: syncwatch sees none of the calls
 * and has to say so (SW901).
 */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct symbols {
	const ElfW(Sym) * table;
	const char *names;
	const uint32_t *hash; /* DT_GNU_HASH */
	uintptr_t base;
};

static struct symbols symbols_of(const struct link_map *map)
{
	struct symbols s = {.base = map->l_addr};

	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			s.table = (const void *)d->d_un.d_ptr;
		if (d->d_tag == DT_STRTAB)
			s.names = (const void *)d->d_un.d_ptr;
		if (d->d_tag == DT_GNU_HASH)
			s.hash = (const void *)d->d_un.d_ptr;
	}
	return s;
}

/* nbuckets, symoffset, bloom words (64 bits each), bloom shift; bloom filter; buckets; chains. */
static int (*find(const struct symbols *s, const char *name))()
{
	const uint32_t *buckets = s->hash + 4 + 2 * s->hash[2], *chains = buckets + s->hash[0];

	for (uint32_t b = 0; b < s->hash[0]; b++)
		for (uint32_t i = buckets[b]; i >= s->hash[1]; i++) {
			if (!strcmp(s->names + s->table[i].st_name, name))
				return (int (*)())(s->base + s->table[i].st_value);
			if (chains[i - s->hash[1]] & 1)
				break;
		}
	printf("no %s\n", name);
	exit(1);
}

#define CALL(name, ...)                                                                                                \
	do {                                                                                                           \
		int status = find(&symbols, name)(__VA_ARGS__);                                                        \
		if (status) {                                                                                          \
			printf("%s: error %d\n", name, status);                                                        \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

int main(void)
{
	struct link_map *map;
	int device;
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *context;
	unsigned long long data;

	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map)) {
		printf("%s\n", dlerror());
		return 1;
	}
	struct symbols symbols = symbols_of(map);
	CALL("cuInit", 0);
	CALL("cuDeviceGet", &device, 0);
	CALL("cuDevicePrimaryCtxRetain", &context, device);
	CALL("cuCtxSetCurrent", context);
	CALL("cuMemAlloc_v2", &data, (size_t)4096);
	CALL("cuMemsetD8_v2", data, 0, (size_t)4096);
	CALL("cuCtxSynchronize");
	CALL("cuMemFree_v2", data);
	puts("done");
	return 3;
}
