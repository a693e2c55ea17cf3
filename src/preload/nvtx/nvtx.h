/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-nvtx.so: NVTX calls of the program as records.
 *
 * NVTX 3 lies in headers.  Each module of the program that uses it loads, at its first call, the library that the
 * environment variable NVTX_INJECTION64_PATH names, and hands over a table into which the library writes its functions
 * (nvtxDetail/nvtxInit.h, "load sequence").  Where libsyncwatch.so is not in the process we return failure: the module
 * unloads this object and its calls do nothing, as without a tool.
 *
 * What the program's calls return is what they return without a tool, but for handles of domains,
 * registered strings and started ranges, which only have to be ours.
 */
#ifndef SW_PRELOAD_NVTX_NVTX_H
#define SW_PRELOAD_NVTX_NVTX_H

#define NVTX_NO_IMPL
#define NVTX_AS_SYSTEM_HEADER
#define NVTX_DECLSPEC /* its functions are only declared here */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "preload/recorder/companion.h"
#include "syncwatch/syncwatch.h"

/* Longer names are cut, at the border of a character. */
#define SW_NVTX_MAX_NAME 256u

/* syncwatch_annotate() of libsyncwatch.so; set as soon as there is a recorder. */
extern syncwatch_function *sw_nvtx_annotate;

/* ---- functions.c ---- */

struct nvtxDomainRegistration_st {
	uint32_t bytes;
	char name[]; /* NUL-terminated */
};
struct nvtxStringRegistration_st {
	uint32_t bytes;
	char name[]; /* NUL-terminated */
};

/* A text of the program's, where it lies or, made of wide characters, in `room`. */
struct sw_nvtx_text {
	const char *at;
	uint32_t bytes;
	char room[SW_NVTX_MAX_NAME];
};
/* `type`: nvtxMessageType_t. */
void sw_nvtx_message(struct sw_nvtx_text *text, int32_t type, const nvtxMessageValue_t *message);

/* ---- functions.c ---- */

/* A NAME record. */
void sw_nvtx_name(enum sw_name_of of, uint64_t handle, uint64_t bytes, const struct sw_nvtx_text *name);

/* ---- functions.c, memory.c, functions.c ---- */

#define SW_NVTX_MODULES 4u
extern const struct sw_nvtx_module {
	NvtxCallbackModule module;
	const struct sw_nvtx_function {
		unsigned id;
		NvtxFunctionPointer function;
	} * functions;
	unsigned n;
} sw_nvtx_modules[SW_NVTX_MODULES];

int sw_nvtx_attach_memory(nvtxExtModuleInfo_t *info);

/* ---- functions.c ---- */

/* A function of an extension: NVTX3EXT_CBID_*. */
struct sw_nvtx_slot {
	size_t id;
	intptr_t function;
};
/* Writes those into the extension's table that it has a place for.  1; 0: it has no table. */
int sw_nvtx_attach_slots(nvtxExtModuleInfo_t *info, const struct sw_nvtx_slot *slots, size_t n);

#endif
