/* SPDX-License-Identifier: Apache-2.0 */
/* How NVTX in the program finds the recorder: the injection entry points. */
#include <dlfcn.h>

#include "preload/nvtx/nvtx.h"

syncwatch_function *sw_nvtx_annotate;

static const struct sw_companion *recorder;
static bool asked;

/* Each thread that comes here before it is done does it all: the results are the same. */
const struct sw_companion *sw_nvtx_recorder(void)
{
	if (__atomic_load_n(&asked, __ATOMIC_ACQUIRE))
		return recorder;
	const struct sw_companion *(*find)(uint32_t) =
		(__typeof__(find))(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_companion");
	const struct sw_companion *found = find ? find(SW_COMPANION_VERSION) : NULL;
	if (found) {
		sw_nvtx_annotate = (syncwatch_function *)(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_annotate");
		found->begun(sw_nvtx_begun);
	}
	recorder = sw_nvtx_annotate ? found : NULL;
	__atomic_store_n(&asked, true, __ATOMIC_RELEASE);
	return recorder;
}

static void fill(const NvtxExportTableCallbacks *callbacks, const struct sw_nvtx_module *module)
{
	NvtxFunctionTable table = NULL;
	unsigned n = 0;
	if (!callbacks->GetModuleFunctionTable(module->module, &table, &n) || !table)
		return;
	for (unsigned i = 0; i < module->n; i++)
		if (module->functions[i].id < n && table[module->functions[i].id])
			*table[module->functions[i].id] = module->functions[i].function;
}

#define EXPORT __attribute__((visibility("default")))
EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table);
EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *info);

/* Called by each module of the program that uses NVTX.  0: there is no recorder. */
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table)
{
	const NvtxExportTableCallbacks *callbacks = export_table ? export_table(NVTX_ETID_CALLBACKS) : NULL;
	if (!callbacks || callbacks->struct_size < sizeof *callbacks || !sw_nvtx_recorder())
		return 0;
	for (unsigned i = 0; i < SW_NVTX_MODULES; i++)
		fill(callbacks, &sw_nvtx_modules[i]);
	return 1;
}

int sw_nvtx_attach_slots(nvtxExtModuleInfo_t *info, const struct sw_nvtx_slot *slots, size_t n)
{
	if (!info->segmentsCount || !info->segments)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (slots[i].id < info->segments[0].slotCount)
			info->segments[0].functionSlots[slots[i].id] = slots[i].function;
	return 1;
}

/* The same for extensions: those for memory and for payloads are listened to. */
int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *info)
{
	if (!info || info->structSize < sizeof *info || !sw_nvtx_recorder())
		return 0;
	if (info->moduleId == NVTX_EXT_MODULEID_MEM)
		return sw_nvtx_attach_memory(info);
	return info->moduleId == NVTX_EXT_PAYLOAD_MODULEID ? sw_nvtx_attach_payload(info) : 0;
}
