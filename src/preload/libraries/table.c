/* SPDX-License-Identifier: Apache-2.0 */
/* functions.def as data. */
#include <stddef.h>

#include "preload/libraries/libraries.h"

#define WORK(library, name, arguments)	 FUNCTION(WORK, library, name, arguments)
#define MAKES(library, name, arguments)	 FUNCTION(MAKES, library, name, arguments)
#define BUILDS(library, name, arguments) FUNCTION(BUILDS, library, name, arguments)
#define STATE(library, name, arguments)	 FUNCTION(STATE, library, name, arguments)
#define ENDS(library, name, arguments)	 FUNCTION(ENDS, library, name, arguments)

/* All texts one after the other: a table of pointers would be relocated in each process. */
static const struct texts {
#define FUNCTION(kind, library, name, arguments) char name_##name[sizeof #name], arguments_##name[sizeof arguments];
#include "preload/libraries/functions.def"
#undef FUNCTION
} texts = {
#define FUNCTION(kind, library, name, arguments) #name, arguments,
#include "preload/libraries/functions.def"
#undef FUNCTION
};
_Static_assert(sizeof texts <= UINT16_MAX, "offsets have 16 bits");

/*
 * Words on the stack: what six registers do not hold, and four more, for a function may have more arguments in another
 * version of its library.  They lie in the caller's frame or in those of its callers.
 */
#define SPARE		 4
#define WORDS(arguments) (sizeof arguments - 1)
#define STACK(arguments) ((WORDS(arguments) > 6 ? WORDS(arguments) - 6 : 0) + SPARE)

const struct sw_library_function sw_library_functions[] = {
#define FUNCTION(kind, library, name, arguments)                                                                       \
	{offsetof(struct texts, name_##name),                                                                          \
	 offsetof(struct texts, arguments_##name),                                                                     \
	 SW_LIBRARY_##library,                                                                                         \
	 SW_KIND_##kind,                                                                                               \
	 STACK(arguments),                                                                                             \
	 WORDS(arguments)},
#include "preload/libraries/functions.def"
#undef FUNCTION
};
const uint32_t sw_library_n = sizeof sw_library_functions / sizeof *sw_library_functions;

#define FUNCTION(kind, library, name, arguments)                                                                       \
	_Static_assert(WORDS(arguments) <= SW_LIBRARY_WORDS, "arguments of " #name);
#include "preload/libraries/functions.def"
#undef FUNCTION

const char *sw_library_text(uint32_t offset)
{
	return (const char *)&texts + offset;
}
