/* SPDX-License-Identifier: Apache-2.0 */
/* Our entries in the tables of NVTX.  Marks, categories and what payloads hold are not listened to. */
#include "preload/nvtx/nvtx.h"

#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static void attributes_text(struct sw_nvtx_text *text, const nvtxEventAttributes_t *attributes)
{
	if (attributes && attributes->size >= sizeof *attributes)
		sw_nvtx_message(text, attributes->messageType, &attributes->message);
	else
		sw_nvtx_text(text, NULL);
}

/* How deep the ranges of a thread are is not counted: the answer is that of a process without a tool. */
static int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	struct sw_nvtx_text text;
	attributes_text(&text, attributes);
	sw_nvtx_begin(SW_RANGE_PUSH, domain, 0, &text);
	return NVTX_NO_PUSH_POP_TRACKING;
}

static int NVTX_API push_ex(const nvtxEventAttributes_t *attributes)
{
	return domain_push(NULL, attributes);
}

static int NVTX_API push_a(const char *name)
{
	struct sw_nvtx_text text;
	sw_nvtx_text(&text, name);
	sw_nvtx_begin(SW_RANGE_PUSH, NULL, 0, &text);
	return NVTX_NO_PUSH_POP_TRACKING;
}

static int NVTX_API push_w(const wchar_t *name)
{
	struct sw_nvtx_text text;
	sw_nvtx_wide_text(&text, name);
	sw_nvtx_begin(SW_RANGE_PUSH, NULL, 0, &text);
	return NVTX_NO_PUSH_POP_TRACKING;
}

static int NVTX_API domain_pop(nvtxDomainHandle_t domain)
{
	sw_nvtx_end(SW_RANGE_POP, domain, 0);
	return NVTX_NO_PUSH_POP_TRACKING;
}

static int NVTX_API pop(void)
{
	return domain_pop(NULL);
}

static nvtxRangeId_t start(nvtxDomainHandle_t domain, const struct sw_nvtx_text *text)
{
	const nvtxRangeId_t id = sw_nvtx_range_id();
	sw_nvtx_begin(SW_RANGE_START, domain, id, text);
	return id;
}

static nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	struct sw_nvtx_text text;
	attributes_text(&text, attributes);
	return start(domain, &text);
}

static nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t *attributes)
{
	return domain_start(NULL, attributes);
}

static nvtxRangeId_t NVTX_API start_a(const char *name)
{
	struct sw_nvtx_text text;
	sw_nvtx_text(&text, name);
	return start(NULL, &text);
}

static nvtxRangeId_t NVTX_API start_w(const wchar_t *name)
{
	struct sw_nvtx_text text;
	sw_nvtx_wide_text(&text, name);
	return start(NULL, &text);
}

static void NVTX_API domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
	if (id)
		sw_nvtx_end(SW_RANGE_END, domain, id);
}

static void NVTX_API end(nvtxRangeId_t id)
{
	domain_end(NULL, id);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static void name_stream(const void *stream, const struct sw_nvtx_text *text)
{
	char name[SW_NVTX_MAX_NAME + 1];
	__builtin_memcpy(name, text->at, text->bytes);
	name[text->bytes] = 0;
	sw_nvtx_annotate(SYNCWATCH_NAME_STREAM, NULL, 0, (void *)(uintptr_t)stream, 0, name);
}

static void name_event(const void *event, const struct sw_nvtx_text *text)
{
	sw_nvtx_name(SW_NAME_EVENT, (uint64_t)(uintptr_t)event, 0, text);
}

/* In both kinds of text, for the driver's handles and the runtime's, which are the same. */
#define NAMES(what, type)                                                                                              \
	static void NVTX_API what##_a(type handle, const char *name)                                                   \
	{                                                                                                              \
		struct sw_nvtx_text text;                                                                              \
		sw_nvtx_text(&text, name);                                                                             \
		name_##what(handle, &text);                                                                            \
	}                                                                                                              \
	static void NVTX_API what##_w(type handle, const wchar_t *name)                                                \
	{                                                                                                              \
		struct sw_nvtx_text text;                                                                              \
		sw_nvtx_wide_text(&text, name);                                                                        \
		name_##what(handle, &text);                                                                            \
	}
#define name_thread sw_nvtx_name_thread
NAMES(stream, const void *)
NAMES(event, const void *)
NAMES(thread, uint32_t)

static nvtxResourceHandle_t NVTX_API name_resource(nvtxDomainHandle_t domain, nvtxResourceAttributes_t *resource)
{
	struct sw_nvtx_text text;
	(void)domain;
	if (!resource || resource->size < sizeof *resource)
		return NULL;
	sw_nvtx_message(&text, resource->messageType, &resource->message);
	switch (resource->identifierType) {
	case NVTX_RESOURCE_TYPE_CUDA_STREAM:
	case NVTX_RESOURCE_TYPE_CUDART_STREAM:
		name_stream(resource->identifier.pValue, &text);
		break;
	case NVTX_RESOURCE_TYPE_CUDA_EVENT:
	case NVTX_RESOURCE_TYPE_CUDART_EVENT:
		name_event(resource->identifier.pValue, &text);
		break;
	case NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE:
		sw_nvtx_name_thread((uint32_t)resource->identifier.ullValue, &text);
		break;
	default:
		break;
	}
	return NULL;
}

static nvtxStringHandle_t NVTX_API register_string_a(nvtxDomainHandle_t domain, const char *string)
{
	struct sw_nvtx_text text;
	(void)domain;
	sw_nvtx_text(&text, string);
	return sw_nvtx_string_create(&text);
}

static nvtxStringHandle_t NVTX_API register_string_w(nvtxDomainHandle_t domain, const wchar_t *string)
{
	struct sw_nvtx_text text;
	(void)domain;
	sw_nvtx_wide_text(&text, string);
	return sw_nvtx_string_create(&text);
}

static nvtxDomainHandle_t NVTX_API domain_create_a(const char *name)
{
	struct sw_nvtx_text text;
	sw_nvtx_text(&text, name);
	return sw_nvtx_domain_create(&text);
}

static nvtxDomainHandle_t NVTX_API domain_create_w(const wchar_t *name)
{
	struct sw_nvtx_text text;
	sw_nvtx_wide_text(&text, name);
	return sw_nvtx_domain_create(&text);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

#define ROW(module, name, function)                                                                                    \
	{                                                                                                              \
		NVTX_CBID_##module##_##name, (NvtxFunctionPointer)(function)                                           \
	}
static const struct sw_nvtx_function core[] = {
	ROW(CORE, RangeStartEx, start_ex),  ROW(CORE, RangeStartA, start_a), ROW(CORE, RangeStartW, start_w),
	ROW(CORE, RangeEnd, end),	    ROW(CORE, RangePushEx, push_ex), ROW(CORE, RangePushA, push_a),
	ROW(CORE, RangePushW, push_w),	    ROW(CORE, RangePop, pop),	     ROW(CORE, NameOsThreadA, thread_a),
	ROW(CORE, NameOsThreadW, thread_w),
};
static const struct sw_nvtx_function core2[] = {
	ROW(CORE2, DomainRangeStartEx, domain_start),	      ROW(CORE2, DomainRangeEnd, domain_end),
	ROW(CORE2, DomainRangePushEx, domain_push),	      ROW(CORE2, DomainRangePop, domain_pop),
	ROW(CORE2, DomainResourceCreate, name_resource),      ROW(CORE2, DomainRegisterStringA, register_string_a),
	ROW(CORE2, DomainRegisterStringW, register_string_w), ROW(CORE2, DomainCreateA, domain_create_a),
	ROW(CORE2, DomainCreateW, domain_create_w),
};
static const struct sw_nvtx_function cuda[] = {
	ROW(CUDA, NameCuStreamA, stream_a),
	ROW(CUDA, NameCuStreamW, stream_w),
	ROW(CUDA, NameCuEventA, event_a),
	ROW(CUDA, NameCuEventW, event_w),
};
static const struct sw_nvtx_function cudart[] = {
	ROW(CUDART, NameCudaStreamA, stream_a),
	ROW(CUDART, NameCudaStreamW, stream_w),
	ROW(CUDART, NameCudaEventA, event_a),
	ROW(CUDART, NameCudaEventW, event_w),
};

#define MODULE(name, rows)                                                                                             \
	{                                                                                                              \
		NVTX_CB_MODULE_##name, rows, sizeof(rows) / sizeof *(rows)                                             \
	}
const struct sw_nvtx_module sw_nvtx_modules[SW_NVTX_MODULES] = {MODULE(CORE, core), MODULE(CORE2, core2),
								MODULE(CUDA, cuda), MODULE(CUDART, cudart)};
