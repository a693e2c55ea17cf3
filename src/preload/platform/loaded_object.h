/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that are mapped and their symbols, without the loader: no lock but that of dl_iterate_phdr(), no memory,
 * and nobody else's dlsym().
 */
#ifndef SW_PRELOAD_PLATFORM_LOADED_OBJECT_H
#define SW_PRELOAD_PLATFORM_LOADED_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

struct dl_phdr_info;

struct sw_loaded_object {
	uintptr_t start, end; /* of its segments */
	uintptr_t base;	      /* load bias */
	uintptr_t dynamic;    /* its dynamic section; 0: none */
	char path[512];	      /* "" for the program itself */
};

void sw_object_read(struct sw_loaded_object *object, const struct dl_phdr_info *info);

/* The object that an address lies in.  False: none. */
bool sw_object_of(const void *address, struct sw_loaded_object *object);

static inline bool sw_object_has(const struct sw_loaded_object *object, const void *address)
{
	return (uintptr_t)address - object->start < object->end - object->start;
}

/* The function that the object itself exports under this name; NULL: none. */
void *sw_object_function(const struct sw_loaded_object *object, const char *name);

/* Calls visit(name, slot, with) for each slot that the loader fills with the address of another object's symbol. */
void sw_object_imports(const struct sw_loaded_object *object, void (*visit)(const char *name, void **slot, void *with),
		       void *with);

/* Stores into such a slot, also where it can only be read.  False: it cannot be changed. */
bool sw_object_set_import(void **slot, void *function);

#endif
