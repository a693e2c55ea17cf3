/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/libraries/library_arguments.h"

#include <string.h>

static const struct {
	enum sw_cuda_library library;
	const char *start;
} libraries[] = {
#define SW_LIBRARY_NAME(library, start, name) {SW_CUDA_##library, start},
#include "detect/libraries/library_arguments.def"
};

static const struct {
	const char *name;
	uint8_t pointer, size, unit;
} workspaces[] = {
#define SW_WORKSPACE(name, pointer, size, unit) {name, pointer, size, unit},
#include "detect/libraries/library_arguments.def"
};

static const char *const without[] = {
#define SW_NO_WORKSPACE(name) name,
#include "detect/libraries/library_arguments.def"
};
#define N(table) (sizeof(table) / sizeof((table)[0]))

enum sw_cuda_library sw_library_by_name(const char *name, size_t length)
{
	for (size_t i = 0; i < N(libraries); i++) {
		const size_t n = strlen(libraries[i].start);
		if (length >= n && !memcmp(name, libraries[i].start, n))
			return libraries[i].library;
	}
	return SW_CUDA_NONE;
}

bool sw_library_matches(const char *pattern, const char *name, size_t length)
{
	if (length > 3 && !memcmp(name + length - 3, "_64", 3))
		length -= 3;
	size_t i = 0;
	while (pattern[i] && i < length && (pattern[i] == '?' || pattern[i] == name[i]))
		i++;
	return !pattern[i] && i == length;
}

static bool is(const char *name, size_t length, const char *other)
{
	return length == strlen(other) && !memcmp(name, other, length);
}

bool sw_library_makes(const char *name, size_t length)
{
	static const char *const makers[] = {"cublasCreate_v2",	 "cublasLtCreate",   "cufftCreate",
					     "cufftPlan1d",	 "cufftPlan2d",	     "cufftPlan3d",
					     "cufftPlanMany",	 "cusparseCreate",   "cusolverDnCreate",
					     "cusolverSpCreate", "cusolverRfCreate", "cudnnCreate"};
	for (size_t i = 0; i < N(makers); i++)
		if (is(name, length, makers[i]))
			return true;
	return false;
}

bool sw_library_has_area(const char *name, size_t length)
{
	static const char *const starts[] = {"cufftPlan", "cufftMakePlan", "cufftXtMakePlan"};
	for (size_t i = 0; i < N(starts); i++)
		if (length > strlen(starts[i]) && !memcmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/*
 * cuBLAS, "cublasSetWorkspace()": "a user-owned device buffer, which will be used to execute all subsequent calls to
 * the cuBLAS library functions (on the currently set stream)"; "The cublasSetStream() function unconditionally resets
 * the cuBLAS library workspace back to the default workspace pool", which is safe on any number of streams. cuFFT,
 * "cufftSetWorkArea()": "overrides the work area pointer associated with a plan".
 */
bool sw_library_sets(const char *name, size_t length, const uint64_t *word, uint32_t words,
		     struct sw_library_setting *setting)
{
	if (is(name, length, "cublasSetWorkspace_v2") && words > 2)
		*setting = (struct sw_library_setting){word[1], word[1] ? word[2] : 0};
	else if (is(name, length, "cublasSetStream_v2"))
		*setting = (struct sw_library_setting){0};
	else if (is(name, length, "cufftSetWorkArea") && words > 1)
		*setting = (struct sw_library_setting){word[1], word[1] ? SW_LIBRARY_UNKNOWN : 0};
	else
		return false;
	return true;
}

static uint64_t element_bytes(char letter)
{
	return letter == 'S' ? 4 : letter == 'Z' ? 16 : 8;
}

bool sw_library_workspace_argument(const char *name, size_t length, const uint64_t *word, uint32_t words,
				   struct sw_library_setting *setting)
{
	*setting = (struct sw_library_setting){0};
	for (size_t i = 0; i < N(without); i++)
		if (sw_library_matches(without[i], name, length))
			return true;
	for (size_t i = 0; i < N(workspaces); i++) {
		if (!sw_library_matches(workspaces[i].name, name, length))
			continue;
		if (workspaces[i].pointer >= words || workspaces[i].size >= words)
			return true;
		const char *letter = strchr(workspaces[i].name, '?');
		const uint64_t unit = workspaces[i].unit ? workspaces[i].unit
				      : letter		 ? element_bytes(name[letter - workspaces[i].name])
							 : 1;
		const uint64_t count = word[workspaces[i].size];
		if (word[workspaces[i].pointer] && count <= UINT64_MAX / 32)
			*setting = (struct sw_library_setting){word[workspaces[i].pointer], count * unit};
		return true;
	}
	return false;
}
