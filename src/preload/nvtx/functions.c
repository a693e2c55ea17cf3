/* SPDX-License-Identifier: Apache-2.0 */
/* Our entries in the tables of NVTX.  Marks, categories and what payloads hold are not listened to. */
#include "preload/nvtx/nvtx.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

#include "preload/platform/lock.h"

static const struct sw_companion *nvtx_recorder(void);
static int nvtx_attach_payload(nvtxExtModuleInfo_t *info);
static void nvtx_begin(enum sw_range_op op, nvtxDomainHandle_t domain, uint64_t id, const struct sw_nvtx_text *name);
static void nvtx_end(enum sw_range_op op, nvtxDomainHandle_t domain, uint64_t id);
static void name_thread(uint32_t tid, const struct sw_nvtx_text *name);
static nvtxRangeId_t nvtx_range_id(void);

/*
 * Texts.  The handles of domains and registered strings are addresses of their names, in pages that are never freed: a
 * handle that the program uses after it destroyed it is still a valid address.
 */

#define STORE_BYTES (1u << 20) /* all of them together */

static struct {
	struct sw_lock lock;
	char *at; /* NULL: not mapped yet */
	uint32_t used;
} store;

/* ---- the program's texts ----------------------------------------------------------------------------------------- */

/* The bytes of a name that are kept; not cut inside a character of UTF-8, whose bytes but the first are 10xxxxxx. */
static uint32_t cut_text(const char *text, uint32_t bytes)
{
	if (bytes <= SW_NVTX_MAX_NAME)
		return bytes;
	for (bytes = SW_NVTX_MAX_NAME; bytes && (text[bytes] & 0xc0) == 0x80;)
		bytes--;
	return bytes;
}

/* A text of the program's, NULL as "". */
static void fill_text(struct sw_nvtx_text *text, const char *ascii)
{
	text->bytes = ascii ? cut_text(ascii, (uint32_t)strnlen(ascii, SW_NVTX_MAX_NAME + 1)) : 0;
	text->at = text->bytes ? ascii : "";
}

static uint32_t encode_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | (c >> 18 & 7));
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* Text of wide characters, which have 32 bits here, as UTF-8; cut where the room ends. */
static void nvtx_wide_text(struct sw_nvtx_text *text, const wchar_t *wide)
{
	uint32_t n = 0;
	while (wide && *wide && n + 4 <= sizeof text->room)
		n += encode_utf8(text->room + n, (uint32_t)*wide++);
	text->at = text->room;
	text->bytes = n;
}

/* ---- handles ----------------------------------------------------------------------------------------------------- */

/* Is it a handle that we gave out?  One may be older than the recorder. */
static bool is_ours(const void *handle)
{
	const char *at = __atomic_load_n(&store.at, __ATOMIC_ACQUIRE), *p = handle;
	return at && p >= at && p < at + STORE_BYTES - sizeof(uint32_t) && !((uintptr_t)p & 7);
}

/* The text of a message: a string of the program, or one that it registered before; "" where the type is unknown. */
void sw_nvtx_message(struct sw_nvtx_text *text, int32_t type, const nvtxMessageValue_t *message)
{
	if (type == NVTX_MESSAGE_TYPE_ASCII)
		fill_text(text, message->ascii);
	else if (type == NVTX_MESSAGE_TYPE_UNICODE)
		nvtx_wide_text(text, message->unicode);
	else if (type == NVTX_MESSAGE_TYPE_REGISTERED && is_ours(message->registered))
		text->at = message->registered->name, text->bytes = message->registered->bytes;
	else
		fill_text(text, NULL);
}

/* The name of a domain; "" the default one, or none of ours. */
static const char *nvtx_domain(nvtxDomainHandle_t domain, uint32_t *bytes)
{
	*bytes = is_ours(domain) ? domain->bytes : 0;
	return *bytes ? domain->name : "";
}

/* The kept name that is equal; NULL: none.  Under the lock. */
static void *find_text(const struct sw_nvtx_text *text)
{
	for (uint32_t at = 0; at < store.used;) {
		nvtxStringHandle_t known = (void *)(store.at + at);
		if (known->bytes == text->bytes && !memcmp(known->name, text->at, text->bytes))
			return known;
		at += (uint32_t)(sizeof *known + known->bytes + 1 + 7) & ~7u;
	}
	return NULL;
}

/* Keeps a name for as long as the process lives; equal names get one handle, as programs register in loops.  NULL: too
   many. */
static void *keep_name(const struct sw_nvtx_text *text)
{
	void *found = NULL;
	int error;
	const uint32_t bytes = (uint32_t)(sizeof(uint32_t) + text->bytes + 1 + 7) & ~7u;
	uint64_t mask = sw_lock_enter(&store.lock);
	if (!store.at)
		__atomic_store_n(&store.at, sw_sys_map(-1, 0, STORE_BYTES, &error), __ATOMIC_RELEASE);
	if (store.at)
		found = find_text(text);
	if (!found && store.at && store.used + bytes <= STORE_BYTES) {
		nvtxStringHandle_t new = (void *)(store.at + store.used);
		memcpy(new->name, text->at, text->bytes);
		new->bytes = text->bytes;
		store.used += bytes;
		found = new;
	}
	sw_lock_leave(&store.lock, mask);
	return found;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* The message of a range's attributes; "" if they are of an unknown version. */
static void attributes_text(struct sw_nvtx_text *text, const nvtxEventAttributes_t *attributes)
{
	if (attributes && attributes->size >= sizeof *attributes)
		sw_nvtx_message(text, attributes->messageType, &attributes->message);
	else
		fill_text(text, NULL);
}

/* nvtxDomainRangePushEx().  How deep the ranges of a thread are is not counted: the answer is that of a process without
   a tool.  The functions below stand for the others of NVTX that begin and end ranges: domain NULL is the default one;
   _a takes UTF-8, _w wide characters, _ex attributes. */
static int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	struct sw_nvtx_text text;
	attributes_text(&text, attributes);
	nvtx_begin(SW_RANGE_PUSH, domain, 0, &text);
	return NVTX_NO_PUSH_POP_TRACKING;
}

static int NVTX_API push_ex(const nvtxEventAttributes_t *attributes)
{
	return domain_push(NULL, attributes);
}

static int NVTX_API push_a(const char *name)
{
	struct sw_nvtx_text text;
	fill_text(&text, name);
	nvtx_begin(SW_RANGE_PUSH, NULL, 0, &text);
	return NVTX_NO_PUSH_POP_TRACKING;
}

static int NVTX_API push_w(const wchar_t *name)
{
	struct sw_nvtx_text text;
	nvtx_wide_text(&text, name);
	nvtx_begin(SW_RANGE_PUSH, NULL, 0, &text);
	return NVTX_NO_PUSH_POP_TRACKING;
}

static int NVTX_API domain_pop(nvtxDomainHandle_t domain)
{
	nvtx_end(SW_RANGE_POP, domain, 0);
	return NVTX_NO_PUSH_POP_TRACKING;
}

static int NVTX_API pop_range(void)
{
	return domain_pop(NULL);
}

/* Begins a range that any thread may end, by the number that this returns. */
static nvtxRangeId_t start_range(nvtxDomainHandle_t domain, const struct sw_nvtx_text *text)
{
	const nvtxRangeId_t id = nvtx_range_id();
	nvtx_begin(SW_RANGE_START, domain, id, text);
	return id;
}

static nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	struct sw_nvtx_text text;
	attributes_text(&text, attributes);
	return start_range(domain, &text);
}

static nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t *attributes)
{
	return domain_start(NULL, attributes);
}

static nvtxRangeId_t NVTX_API start_a(const char *name)
{
	struct sw_nvtx_text text;
	fill_text(&text, name);
	return start_range(NULL, &text);
}

static nvtxRangeId_t NVTX_API start_w(const wchar_t *name)
{
	struct sw_nvtx_text text;
	nvtx_wide_text(&text, name);
	return start_range(NULL, &text);
}

/* Ends a started range; number 0 is none. */
static void NVTX_API domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
	if (id)
		nvtx_end(SW_RANGE_END, domain, id);
}

static void NVTX_API end_range(nvtxRangeId_t id)
{
	domain_end(NULL, id);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* The program names a stream: as if it had called syncwatch_name_stream(). */
static void name_stream(const void *stream, const struct sw_nvtx_text *text)
{
	char name[SW_NVTX_MAX_NAME + 1];
	__builtin_memcpy(name, text->at, text->bytes);
	name[text->bytes] = 0;
	sw_nvtx_annotate(SYNCWATCH_NAME_STREAM, NULL, 0, (void *)(uintptr_t)stream, 0, name);
}

/* The program names an event. */
static void name_event(const void *event, const struct sw_nvtx_text *text)
{
	sw_nvtx_name(SW_NAME_EVENT, (uint64_t)(uintptr_t)event, 0, text);
}

/* In both kinds of text, for the driver's handles and the runtime's, which are the same. */
#define NAMES(what, type)                                                                                              \
	static void NVTX_API what##_a(type handle, const char *name)                                                   \
	{                                                                                                              \
		struct sw_nvtx_text text;                                                                              \
		fill_text(&text, name);                                                                                \
		name_##what(handle, &text);                                                                            \
	}                                                                                                              \
	static void NVTX_API what##_w(type handle, const wchar_t *name)                                                \
	{                                                                                                              \
		struct sw_nvtx_text text;                                                                              \
		nvtx_wide_text(&text, name);                                                                           \
		name_##what(handle, &text);                                                                            \
	}
NAMES(stream, const void *)
NAMES(event, const void *)
NAMES(thread, uint32_t)

/* Names a stream, event or thread by the extended interface; there is no handle to return. */
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
		name_thread((uint32_t)resource->identifier.ullValue, &text);
		break;
	}
	return NULL;
}

/* Strings are equal in all domains: the handle does not depend on it. */
static nvtxStringHandle_t NVTX_API register_string_a(nvtxDomainHandle_t domain, const char *string)
{
	struct sw_nvtx_text text;
	(void)domain;
	fill_text(&text, string);
	return keep_name(&text);
}

static nvtxStringHandle_t NVTX_API register_string_w(nvtxDomainHandle_t domain, const wchar_t *string)
{
	struct sw_nvtx_text text;
	(void)domain;
	nvtx_wide_text(&text, string);
	return keep_name(&text);
}

static nvtxDomainHandle_t NVTX_API domain_create_a(const char *name)
{
	struct sw_nvtx_text text;
	fill_text(&text, name);
	return keep_name(&text);
}

static nvtxDomainHandle_t NVTX_API domain_create_w(const wchar_t *name)
{
	struct sw_nvtx_text text;
	nvtx_wide_text(&text, name);
	return keep_name(&text);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

#define ROW(module, name, function)                                                                                    \
	{                                                                                                              \
		NVTX_CBID_##module##_##name, (NvtxFunctionPointer)(function)                                           \
	}
static const struct sw_nvtx_function core[] = {
	ROW(CORE, RangeStartEx, start_ex),  ROW(CORE, RangeStartA, start_a), ROW(CORE, RangeStartW, start_w),
	ROW(CORE, RangeEnd, end_range),	    ROW(CORE, RangePushEx, push_ex), ROW(CORE, RangePushA, push_a),
	ROW(CORE, RangePushW, push_w),	    ROW(CORE, RangePop, pop_range),  ROW(CORE, NameOsThreadA, thread_a),
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

/*
 * Records of ranges.  Before the first CUDA call nothing is recorded, but what is open by then is kept in a table, and
 * so are names of threads: a range named "start-up" begins before the first CUDA call.
 */

#define MAX_EARLY 256u

static struct {
	struct sw_lock lock;
	bool recording_begun; /* recording has begun */
	uint32_t n;
	struct early {
		enum sw_range_op op; /* 0: a thread's name */
		nvtxDomainHandle_t domain;
		uint64_t id;
		uint32_t tid, bytes;
		char name[SW_NVTX_MAX_NAME];
	} at[MAX_EARLY];
} early;

static uint64_t ids;

/* A number for a started range, never 0. */
static nvtxRangeId_t nvtx_range_id(void)
{
	return __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* Writes that a range begins.  `name`: its bytes. */
static void write_begin(const struct early *e, const char *name)
{
	uint32_t domain_bytes;
	const char *domain = nvtx_domain(e->domain, &domain_bytes);
	struct sw_rec_range *r = nvtx_recorder()->describe(SW_REC_RANGE, sizeof *r + e->bytes + domain_bytes, true);
	if (!r)
		return;
	r->domain = (uint64_t)(uintptr_t)e->domain;
	r->id = e->id;
	r->op = e->op;
	r->tid = e->tid;
	r->name_bytes = e->bytes;
	r->domain_bytes = domain_bytes;
	memcpy(r + 1, name, e->bytes);
	memcpy((char *)(r + 1) + e->bytes, domain, domain_bytes);
	nvtx_recorder()->described(r);
}

/* Writes that a range ends. */
static void write_end(enum sw_range_op op, nvtxDomainHandle_t domain, uint64_t id)
{
	struct sw_rec_range *r = nvtx_recorder()->describe(SW_REC_RANGE, sizeof *r, true);
	if (!r)
		return;
	r->domain = (uint64_t)(uintptr_t)domain;
	r->id = id;
	r->op = op;
	r->tid = r->name_bytes = r->domain_bytes = 0;
	nvtx_recorder()->described(r);
}

void sw_nvtx_name(enum sw_name_of of, uint64_t handle, uint64_t bytes, const struct sw_nvtx_text *name)
{
	struct sw_rec_name *r = nvtx_recorder()->describe(SW_REC_NAME, sizeof *r + name->bytes, true);
	if (!r)
		return;
	r->of = of;
	r->name_bytes = name->bytes;
	r->handle = handle;
	r->bytes = bytes;
	memcpy(r + 1, name->at, name->bytes);
	nvtx_recorder()->described(r);
}

/* ---- before the first CUDA call ---------------------------------------------------------------------------------- */

/* Keeps a range or a thread's name until recording begins.  False: it has begun. */
static bool keep_range(const struct early *what, const struct sw_nvtx_text *name)
{
	uint64_t mask = sw_lock_enter(&early.lock);
	const bool kept = !early.recording_begun;
	if (kept && early.n < MAX_EARLY) {
		struct early *e = &early.at[early.n++];
		*e = *what;
		memcpy(e->name, name->at, name->bytes);
	}
	sw_lock_leave(&early.lock, mask);
	return kept;
}

/* A range that was kept has ended before recording began: nothing is written of it.  False: recording has begun. */
static bool forget_range(nvtxDomainHandle_t domain, uint64_t id, uint32_t tid)
{
	uint64_t mask = sw_lock_enter(&early.lock);
	const bool kept = !early.recording_begun;
	for (uint32_t i = kept ? early.n : 0; i--;) {
		const struct early *e = &early.at[i];
		if (!e->op || e->domain != domain || e->id != id || (!id && e->tid != tid))
			continue;
		memmove(&early.at[i], &early.at[i + 1], (early.n - i - 1) * sizeof *early.at);
		early.n--;
		break;
	}
	sw_lock_leave(&early.lock, mask);
	return kept;
}

/*
 * Recording has begun: earlier names and open ranges are recorded now.  On the thread of the first CUDA call, in a
 * child of fork() once more: what its parent said is not the child's.
 */
static void nvtx_begun(void)
{
	uint64_t mask = sw_lock_enter(&early.lock);
	early.recording_begun = true;
	for (uint32_t i = 0; i < early.n; i++) {
		const struct early *e = &early.at[i];
		if (e->op && nvtx_recorder()->windows.paused())
			continue;
		if (e->op)
			write_begin(e, e->name);
		else
			sw_nvtx_name(SW_NAME_THREAD, 0, e->tid,
				     &(struct sw_nvtx_text){.at = e->name, .bytes = e->bytes});
	}
	early.n = 0;
	sw_lock_leave(&early.lock, mask);
}

/* ---- what the program says --------------------------------------------------------------------------------------- */

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static bool recording_begun(void)
{
	return __atomic_load_n(&early.recording_begun, __ATOMIC_RELAXED);
}

/* Does --capture name this range? */
static bool is_named(nvtxDomainHandle_t domain, const struct sw_nvtx_text *name)
{
	static const char *in_domain;
	static char pattern[sizeof((struct sw_preload_options *)0)->capture];
	static bool read;
	char text[SW_NVTX_MAX_NAME + 1];
	uint32_t bytes;
	if (!__atomic_load_n(&read, __ATOMIC_ACQUIRE)) {
		uint64_t mask = sw_lock_enter(&early.lock);
		if (!read) {
			strcpy(pattern, nvtx_recorder()->options()->capture);
			char *at = strrchr(pattern, '@');
			if (at)
				*at++ = 0;
			in_domain = at;
			__atomic_store_n(&read, true, __ATOMIC_RELEASE);
		}
		sw_lock_leave(&early.lock, mask);
	}
	memcpy(text, name->at, name->bytes);
	text[name->bytes] = 0;
	return fnmatch(pattern, text, 0) == 0 &&
	       (!in_domain || fnmatch(in_domain, nvtx_domain(domain, &bytes), 0) == 0);
}

/* Do ranges of NVTX open windows (--capture nvtx)? */
static bool opens_windows(void)
{
	return nvtx_recorder()->options()->windows == SW_WINDOW_NVTX;
}

/* Tells the recorder that a range begins, which may open a window. */
static void begin_window(enum sw_range_op op, nvtxDomainHandle_t domain, uint64_t id, const struct sw_nvtx_text *name)
{
	const bool named = is_named(domain, name);
	if (op == SW_RANGE_PUSH)
		nvtx_recorder()->windows.push((uint64_t)(uintptr_t)domain, named);
	else
		nvtx_recorder()->windows.start(id, named);
}

/* Tells the recorder that a range ends. */
static void end_window(enum sw_range_op op, nvtxDomainHandle_t domain, uint64_t id)
{
	if (op == SW_RANGE_POP)
		nvtx_recorder()->windows.pop((uint64_t)(uintptr_t)domain);
	else
		nvtx_recorder()->windows.stop(id);
}

/* A range begins: opens a window if its name says so, then is recorded, or kept if recording has not begun. */
static void nvtx_begin(enum sw_range_op op, nvtxDomainHandle_t domain, uint64_t id, const struct sw_nvtx_text *name)
{
	struct early what;
	if (opens_windows())
		begin_window(op, domain, id, name);
	what.op = op;
	what.domain = domain;
	what.id = id;
	what.bytes = name->bytes;
	what.tid = recording_begun() ? 0 : own_tid();
	if (what.tid && keep_range(&what, name))
		return;
	what.tid = 0;
	if (!nvtx_recorder()->windows.paused())
		write_begin(&what, name->at);
}

/* A range ends, in the opposite order: recorded first. */
static void nvtx_end(enum sw_range_op op, nvtxDomainHandle_t domain, uint64_t id)
{
	bool kept = false;
	if (!recording_begun() && forget_range(domain, id, own_tid()))
		kept = true;
	if (!kept && !nvtx_recorder()->windows.paused())
		write_end(op, domain, id);
	if (opens_windows())
		end_window(op, domain, id);
}

/* A thread's name, by the kernel's id. */
static void name_thread(uint32_t tid, const struct sw_nvtx_text *name)
{
	struct early what;
	what.op = 0;
	what.tid = tid;
	what.bytes = name->bytes;
	if (!recording_begun() && keep_range(&what, name))
		return;
	sw_nvtx_name(SW_NAME_THREAD, 0, tid, name);
}

/* How NVTX in the program finds the recorder: the injection entry points. */

syncwatch_function *sw_nvtx_annotate;

static const struct sw_companion *recorder;
static bool asked;

/*
 * The companion's table; NULL: libsyncwatch.so is not there.  Each thread that comes here before it is done does it
 * all: the results are the same.
 */
static const struct sw_companion *nvtx_recorder(void)
{
	if (__atomic_load_n(&asked, __ATOMIC_ACQUIRE))
		return recorder;
	const struct sw_companion *(*find)(uint32_t) =
		(__typeof__(find))(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_companion");
	const struct sw_companion *found = find ? find(SW_COMPANION_VERSION) : NULL;
	if (found) {
		sw_nvtx_annotate = (syncwatch_function *)(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_annotate");
		found->begun(nvtx_begun);
	}
	recorder = sw_nvtx_annotate ? found : NULL;
	__atomic_store_n(&asked, true, __ATOMIC_RELEASE);
	return recorder;
}

/* Puts our functions of one module into the table of NVTX in the program. */
static void fill_table(const NvtxExportTableCallbacks *callbacks, const struct sw_nvtx_module *module)
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
	if (!callbacks || callbacks->struct_size < sizeof *callbacks || !nvtx_recorder())
		return 0;
	for (unsigned i = 0; i < SW_NVTX_MODULES; i++)
		fill_table(callbacks, &sw_nvtx_modules[i]);
	return 1;
}

/* Writes our functions into NVTX's table; ids beyond it are functions that the program's version does not have. */
int sw_nvtx_attach_slots(nvtxExtModuleInfo_t *info, const struct sw_nvtx_slot *slots, size_t n)
{
	if (!info->segmentsCount || !info->segments)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (slots[i].id < info->segments[0].slotCount)
			info->segments[0].functionSlots[slots[i].id] = slots[i].function;
	return 1;
}

/* NVTX calls this for each extension: we attach to those for memory and for payloads. */
int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *info)
{
	if (!info || info->structSize < sizeof *info || !nvtx_recorder())
		return 0;
	if (info->moduleId == NVTX_EXT_MODULEID_MEM)
		return sw_nvtx_attach_memory(info);
	return info->moduleId == NVTX_EXT_PAYLOAD_MODULEID ? nvtx_attach_payload(info) : 0;
}

/*
 * The extension for payloads.  A range may begin by the core interface and end by this one, as those of NCCL do whose
 * result is known at their end only (nvtxRangePopPayload): without these functions such a range would never end.  What
 * payloads hold is not read; a range that begins with one has the name of its schema.
 */

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

/* A number for a schema that the program leaves to us. */
static uint64_t new_id(void)
{
	return NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + __atomic_add_fetch(&known.ids, 1, __ATOMIC_RELAXED);
}

/* Remembers the name of a schema, by which ranges with a payload of it are named.  Returns its number. */
static uint64_t schema_register(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t *attr)
{
	struct sw_nvtx_text text;
	if (!attr)
		return 0;
	const bool own = attr->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID && attr->schemaId;
	const uint64_t id = own ? attr->schemaId : new_id();
	fill_text(&text, attr->fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME ? attr->name : NULL);
	nvtxStringHandle_t name = text.bytes ? keep_name(&text) : NULL;
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

/* The name of a payload's schema; "": none. */
static void name_of(struct sw_nvtx_text *text, nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t n)
{
	nvtxStringHandle_t name = NULL;
	uint64_t mask = sw_lock_enter(&known.lock);
	for (uint32_t i = 0; data && n && i < known.n && !name; i++)
		if (known.at[i].domain == domain && known.at[i].id == data->schemaId)
			name = known.at[i].name;
	sw_lock_leave(&known.lock, mask);
	fill_text(text, name ? name->name : NULL);
}

/* A range that begins with a payload. */
static int range_push(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t n)
{
	struct sw_nvtx_text text;
	name_of(&text, domain, data, n);
	nvtx_begin(SW_RANGE_PUSH, domain, 0, &text);
	return NVTX_NO_PUSH_POP_TRACKING;
}

static int range_pop(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t n)
{
	(void)data;
	(void)n;
	nvtx_end(SW_RANGE_POP, domain, 0);
	return NVTX_NO_PUSH_POP_TRACKING;
}

/* A range that any thread may end, with a payload. */
static nvtxRangeId_t range_start(nvtxDomainHandle_t domain, const nvtxPayloadData_t *data, size_t n)
{
	const nvtxRangeId_t id = nvtx_range_id();
	struct sw_nvtx_text text;
	name_of(&text, domain, data, n);
	nvtx_begin(SW_RANGE_START, domain, id, &text);
	return id;
}

static void range_end(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t *data, size_t n)
{
	(void)data;
	(void)n;
	nvtx_end(SW_RANGE_END, domain, id);
}

/* Puts our functions into the table of the extension for payloads. */
static int nvtx_attach_payload(nvtxExtModuleInfo_t *info)
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
