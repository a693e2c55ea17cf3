/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extension for payloads.  A range may begin by the core interface and end by this one, as those of NCCL do whose
 * result is known at their end only (nvtxRangePopPayload): without these functions such a range would never end.  What
 * payloads hold is not read; a range that begins with one has the name of its schema.
 */
#include "preload/platform/lock.h"
#include "preload/nvtx/nvtx.h"

#define MAX_SCHEMAS 256u /* named ones; ranges of further ones have no name */

static struct {
	struct sw_lock lock;
	uint64_t ids; /* given out */
	uint32_t n;
	struct schema {
		nvtxDomainHandle_t domain;
		uint64_t id;
		nvtxStringHandle_t name;
	} at[MAX_SCHEMAS];
} known;

static uint64_t new_id(void)
{
	return NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + __atomic_add_fetch(&known.ids, 1, __ATOMIC_RELAXED);
}

static uint64_t schema_register(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t *attr)
{
	struct sw_nvtx_text text;
	if (!attr)
		return 0;
	const bool own = attr->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID && attr->schemaId;
	const uint64_t id = own ? attr->schemaId : new_id();
	sw_nvtx_text(&text, attr->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME ? attr->name : NULL);
	nvtxStringHandle_t name = text.bytes ? sw_nvtx_string_create(&text) : NULL;
	uint64_t mask = sw_lock_enter(&known.lock);
	if (name && known.n < MAX_SCHEMAS)
		known.at[known.n++] = (struct schema){domain, id, name};
	sw_lock_leave(&known.lock, mask);
	return id;
}

static uint64_t enum_register(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t *attr)
{
	(void)domain;
	if (!attr)
		return 0;
	return attr->fieldMask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID && attr->schemaId ? attr->schemaId : new_id();
}

static void name_of(struct sw_nvtx_text *text, nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t n)
{
	nvtxStringHandle_t name = NULL;
	uint64_t mask = sw_lock_enter(&known.lock);
	for (uint32_t i = 0; data && n && i < known.n && !name; i++)
		if (known.at[i].domain == domain && known.at[i].id == data->schemaId)
			name = known.at[i].name;
	sw_lock_leave(&known.lock, mask);
	sw_nvtx_text(text, name ? name->name : NULL);
}

static int range_push(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t n)
{
	struct sw_nvtx_text text;
	name_of(&text, domain, data, n);
	sw_nvtx_begin(SW_RANGE_PUSH, domain, 0, &text);
	return NVTX_NO_PUSH_POP_TRACKING;
}

static int range_pop(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t n)
{
	(void)data;
	(void)n;
	sw_nvtx_end(SW_RANGE_POP, domain, 0);
	return NVTX_NO_PUSH_POP_TRACKING;
}

static nvtxRangeId_t range_start(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t n)
{
	const nvtxRangeId_t id = sw_nvtx_range_id();
	struct sw_nvtx_text text;
	name_of(&text, domain, data, n);
	sw_nvtx_begin(SW_RANGE_START, domain, id, &text);
	return id;
}

static void range_end(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t *data, size_t n)
{
	(void)data;
	(void)n;
	sw_nvtx_end(SW_RANGE_END, domain, id);
}

int sw_nvtx_attach_payload(nvtxExtModuleInfo_t *info)
{
	static const struct sw_nvtx_slot slots[] = {
		{NVTX3EXT_CBID_nvtxPayloadSchemaRegister, (intptr_t)schema_register},
		{NVTX3EXT_CBID_nvtxPayloadEnumRegister, (intptr_t)enum_register},
		{NVTX3EXT_CBID_nvtxRangePushPayload, (intptr_t)range_push},
		{NVTX3EXT_CBID_nvtxRangePopPayload, (intptr_t)range_pop},
		{NVTX3EXT_CBID_nvtxRangeStartPayload, (intptr_t)range_start},
		{NVTX3EXT_CBID_nvtxRangeEndPayload, (intptr_t)range_end},
	};
	return sw_nvtx_attach_slots(info, slots, sizeof slots / sizeof *slots);
}
