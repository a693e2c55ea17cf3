/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wrappers, one an entry point, from the table: exported under the driver's names for programs that are linked with
 * it, and returned in place of the driver's pointers to all others.  The compiler checks each signature against cuda.h,
 * which declares every exported name.
 */
/* Some 400 functions of one shape: optimised for size, because the time is spent in the functions that they call. */
#ifndef __clang__
#pragma GCC optimize("Os")
#endif

#include "preload/calls/fill.h"
#include "preload/calls/custom.h"
#include "preload/calls/launch.h"
#include "api/signature.h"
#include "preload/intercept/wrappers.h"
#include "preload/recorder/counted.h"

#define EXPORT __attribute__((visibility("default")))
#define OFTEN  __attribute__((visibility("default"), section(".text.hot.calls")))

#define THREAD_LEGACY	  0
#define THREAD_PER_THREAD SW_RF_PER_THREAD

#define WHERE_HERE	 sw_context_here()
#define WHERE_ON(s)	 sw_context_of_stream(SW_WORD(s))
#define WHERE_IN(c)	 sw_context_of(c)
#define WHERE_GREEN(g)	 sw_context_of_green(g)
#define WHERE_PRIMARY(d) sw_context_of_primary(d)
#define WHERE_GONE(s)	 sw_context_stream_gone(SW_WORD(s))
/* Contexts that the record names are described before the record is begun. */
#define WHERE_PEERS(s, a, b) ((void)sw_context_of(a), (void)sw_context_of(b), sw_context_of_stream(SW_WORD(s)))
/* Only what a successful call stored is a handle. */
#define WHERE_MADE(c)		 (sw_status == CUDA_SUCCESS ? sw_context_made(c) : 0)
#define WHERE_MADE_PRIMARY(c, d) (sw_status == CUDA_SUCCESS ? sw_context_made_primary(c, d) : 0)
#define WHERE_MADE_GREEN(g)	 (sw_status == CUDA_SUCCESS ? sw_context_of_green(g) : 0)

#define ENTER(symbol, bits)                                                                                            \
	struct sw_call sw_call;                                                                                        \
	CUresult sw_status;                                                                                            \
	__typeof__(&symbol) sw_real = (__typeof__(&symbol))sw_hook_begin(                                              \
		&sw_call, SW_ID_##symbol | (uint32_t)(bits) << 16, __builtin_frame_address(0));                        \
                                                                                                                       \
	if (!sw_real)                                                                                                  \
		return SW_NO_DRIVER;                                                                                   \
	const bool sw_on = sw_call.writer != NULL

#define RECORD(where, record, fill)                                                                                    \
	do {                                                                                                           \
		sw_call_context(&sw_call, WHERE_##where);                                                              \
		SW_STRUCT(record) *sw_r = sw_call_record(&sw_call, SW_KIND_##record, sizeof *sw_r);                    \
		if (sw_r)                                                                                              \
			SW_APPLY(SW_FILL_##record, sw_r, SW_UNPAREN fill);                                             \
		sw_call_publish(&sw_call);                                                                             \
	} while (0)
#define DONE(record, fill)                                                                                             \
	do {                                                                                                           \
		if (sw_status == CUDA_SUCCESS)                                                                         \
			SW_APPLY(SW_DONE_##record, &sw_call, SW_UNPAREN fill);                                         \
	} while (0)

/* One record before the call. */
#define FORM_BEFORE(symbol, thread, where, record, fill, sig)                                                          \
	EXPORT CUresult symbol(SW_PARAMS sig);                                                                         \
	CUresult symbol(SW_PARAMS sig)                                                                                 \
	{                                                                                                              \
		ENTER(symbol, THREAD_##thread);                                                                        \
		if (sw_on)                                                                                             \
			RECORD(where, record, fill);                                                                   \
		sw_status = sw_real(SW_ARGS sig);                                                                      \
		if (sw_on) {                                                                                           \
			DONE(record, fill);                                                                            \
			sw_call_leave(&sw_call, sw_status);                                                            \
		}                                                                                                      \
		return sw_status;                                                                                      \
	}

/*
 * Calls whose record holds some of their parameters as they are, and nothing else: one function for them all, because
 * there are more than a hundred and programs make few of them.  Words of 64 bits stand for parameters of any integer or
 * pointer type: each has a register of its own, of which the driver looks at as many bits as it needs.
 */
enum { WORDS_MAX = 6, sw_at_0 = 15 /* in the place of a parameter: 0 */ };
#define AT(shift, place)	   ((uint64_t)(place) << (shift))
#define WHERE_AT_HERE		   sw_at_0
#define WHERE_AT_ON(s)		   sw_at_##s
#define PLACES(a, b, c, d, e, f)   (AT(36, a) | AT(40, b) | AT(44, c) | AT(48, d) | AT(52, e) | AT(56, f))
#define PLACES_1(a)		   PLACES(sw_at_##a, 15, 15, 15, 15, 15)
#define PLACES_2(a, b)		   PLACES(sw_at_##a, sw_at_##b, 15, 15, 15, 15)
#define PLACES_3(a, b, c)	   PLACES(sw_at_##a, sw_at_##b, sw_at_##c, 15, 15, 15)
#define PLACES_4(a, b, c, d)	   PLACES(sw_at_##a, sw_at_##b, sw_at_##c, sw_at_##d, 15, 15)
#define PLACES_5(a, b, c, d, e)	   PLACES(sw_at_##a, sw_at_##b, sw_at_##c, sw_at_##d, sw_at_##e, 15)
#define PLACES_6(a, b, c, d, e, f) PLACES(sw_at_##a, sw_at_##b, sw_at_##c, sw_at_##d, sw_at_##e, sw_at_##f)
#define PLACES_OF(...)		   SW_PASTE(PLACES_, SW_WORDS_COUNT(__VA_ARGS__))(__VA_ARGS__)

enum words_record { WORDS_OTHER, WORDS_UNCLASSIFIED, WORDS_CODE_TOUCH, WORDS_CONFIG, WORDS_CODE_ASK };

typedef CUresult words_function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* A question about a kernel that the thread has asked before: counted once it has succeeded; else recorded, after the
   call. */
static CUresult asked_again(struct sw_call *call, words_function *real, const uint64_t *at, uint64_t kernel)
{
	const CUresult status = real(at[0], at[1], at[2], at[3], at[4], at[5]);
	struct sw_rec_code *r;

	if (status == CUDA_SUCCESS && sw_counted_question(call, kernel))
		return status;
	r = sw_call_record_after(call, SW_REC_CODE_TOUCH, sizeof *r, status);
	if (r)
		r->handle = kernel;
	sw_call_publish(call);
	sw_call_leave(call, status);
	return status;
}

/* The wrapper of all calls whose record holds some of their parameters as they are (`at`: up to six).  `what`: the
   entry point, flags from bit 16 on, the place of the stream among the parameters from bit 32 on, places of the
   record's words from bit 36 on, the kind of record from bit 60 on. */
static __attribute__((noinline)) CUresult words(const uint64_t *at, uint64_t what, void *frame)
{
	static const struct {
		uint8_t kind, words;
	} records[] = {
#define WORDS_RECORD(record)                                                                                           \
	[WORDS_##record] = {SW_KIND_##record, (sizeof(SW_STRUCT(record)) - sizeof(struct sw_rec)) / sizeof(uint64_t)}
		WORDS_RECORD(OTHER),  WORDS_RECORD(UNCLASSIFIED), WORDS_RECORD(CODE_TOUCH),
		WORDS_RECORD(CONFIG), WORDS_RECORD(CODE_ASK),
	};
	struct sw_call call;
	words_function *real = (words_function *)sw_hook_begin(&call, (uint32_t)what, frame);
	const uint32_t stream = what >> 32 & 15, first = what >> 36 & 15, n = records[what >> 60].words;
	CUresult status;

	if (!real)
		return SW_NO_DRIVER;
	if (call.writer) {
		sw_call_context(&call, stream < WORDS_MAX ? sw_context_of_stream(at[stream]) : sw_context_here());
		if (what >> 60 == WORDS_CODE_ASK && sw_counted_knows(&call, at[first]))
			return asked_again(&call, real, at, at[first]);
		struct sw_rec *r = sw_call_record(&call, records[what >> 60].kind, sizeof *r + n * sizeof(uint64_t));
		uint64_t *to = (uint64_t *)(void *)(r + 1);

		for (uint32_t i = 0, place; r && i < n; i++)
			if ((place = what >> (36 + 4 * i) & 15) < WORDS_MAX)
				to[i] = at[place];
		sw_call_publish(&call);
	}
	status = real(at[0], at[1], at[2], at[3], at[4], at[5]);
	if (call.writer)
		sw_call_leave(&call, status);
	return status;
}

/* The parameters stay in the registers in which they came. */
#define W(n) uint64_t a##n
#define WORDS(n, parameters, ...)                                                                                      \
	static __attribute__((noinline)) CUresult words_##n(SW_UNPAREN parameters, uint64_t what, void *frame)         \
	{                                                                                                              \
		return words((const uint64_t[WORDS_MAX]){__VA_ARGS__}, what, frame);                                   \
	}
WORDS(1, (W(1)), a1)
WORDS(2, (W(1), W(2)), a1, a2)
WORDS(3, (W(1), W(2), W(3)), a1, a2, a3)
WORDS(4, (W(1), W(2), W(3), W(4)), a1, a2, a3, a4)
WORDS(5, (W(1), W(2), W(3), W(4), W(5)), a1, a2, a3, a4, a5)
WORDS(6, (W(1), W(2), W(3), W(4), W(5), W(6)), a1, a2, a3, a4, a5, a6)

#define AS_WORDS(...)	       SW_PASTE(AS_WORDS_, SW_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define AS_WORDS_1(t, n)       SW_WORD(n)
#define AS_WORDS_2(t, n, ...)  SW_WORD(n), AS_WORDS_1(__VA_ARGS__)
#define AS_WORDS_3(t, n, ...)  SW_WORD(n), AS_WORDS_2(__VA_ARGS__)
#define AS_WORDS_4(t, n, ...)  SW_WORD(n), AS_WORDS_3(__VA_ARGS__)
#define AS_WORDS_5(t, n, ...)  SW_WORD(n), AS_WORDS_4(__VA_ARGS__)
#define AS_WORDS_6(t, n, ...)  SW_WORD(n), AS_WORDS_5(__VA_ARGS__)
#define WORDS_CALL(count, ...) SW_PASTE(words_, count)(__VA_ARGS__)

#define FORM_WORDS(symbol, thread, where, record, fill, sig)                                                           \
	EXPORT CUresult symbol(SW_PARAMS sig);                                                                         \
	CUresult symbol(SW_PARAMS sig)                                                                                 \
	{                                                                                                              \
		enum { SW_PLACES sig };                                                                                \
		const CUresult sw_status =                                                                             \
			WORDS_CALL(SW_COUNT sig, AS_WORDS sig,                                                         \
				   SW_ID_##symbol | (uint64_t)THREAD_##thread << 16 | AT(32, WHERE_AT_##where) |       \
					   PLACES_OF fill | (uint64_t)WORDS_##record << 60,                            \
				   __builtin_frame_address(0));                                                        \
                                                                                                                       \
		__asm__ volatile(""); /* the frame must outlive the call: no jump in its place */                      \
		return sw_status;                                                                                      \
	}

/* BEFORE of events on streams, which programs call about as often as they launch. */
#define EVENT_BEGIN(what, record, a, b, bits)                                                                          \
	sw_hook_event(&sw_call, what, __builtin_frame_address(0), SW_WORD(a), SW_WORD(b),                              \
		      (uint64_t)SW_KIND_##record << 32 | (uint32_t)(bits))
#define FORM_EVENT(symbol, thread, where, record, fill, sig)                                                           \
	OFTEN CUresult symbol(SW_PARAMS sig);                                                                          \
	CUresult symbol(SW_PARAMS sig)                                                                                 \
	{                                                                                                              \
		struct sw_call sw_call;                                                                                \
		CUresult sw_status;                                                                                    \
		__typeof__(&symbol) sw_real = (__typeof__(&symbol))SW_APPLY(                                           \
			EVENT_BEGIN, SW_ID_##symbol | (uint32_t)THREAD_##thread << 16, record, SW_UNPAREN fill);       \
                                                                                                                       \
		if (!sw_real)                                                                                          \
			return SW_NO_DRIVER;                                                                           \
		sw_status = sw_real(SW_ARGS sig);                                                                      \
		if (sw_call.writer) {                                                                                  \
			DONE(record, fill);                                                                            \
			sw_call_leave(&sw_call, sw_status);                                                            \
		}                                                                                                      \
		return sw_status;                                                                                      \
	}

/* One record after the call; in the context that is right then (a call that makes a context also selects it). */
#define AFTER(symbol, thread, where, record, fill, sig, worth, prepare)                                                \
	EXPORT CUresult symbol(SW_PARAMS sig);                                                                         \
	CUresult symbol(SW_PARAMS sig)                                                                                 \
	{                                                                                                              \
		ENTER(symbol, THREAD_##thread);                                                                        \
		prepare;                                                                                               \
		sw_status = sw_real(SW_ARGS sig);                                                                      \
		if (sw_on) {                                                                                           \
			sw_call_context(&sw_call, WHERE_##where);                                                      \
			SW_STRUCT(record) *sw_r =                                                                      \
				sw_call_record_after(&sw_call, SW_KIND_##record, sizeof *sw_r, sw_status);             \
			if (sw_r && (worth))                                                                           \
				SW_APPLY(SW_FILL_##record, sw_r, SW_UNPAREN fill);                                     \
			sw_call_publish(&sw_call);                                                                     \
			DONE(record, fill);                                                                            \
			sw_call_leave(&sw_call, sw_status);                                                            \
		}                                                                                                      \
		return sw_status;                                                                                      \
	}
/* Answers "not ready" in a row are counted. */
#define POLL_OF(r, of, a, b) SW_SYNC_##of, SW_WORD(a)
#define FORM_POLL(symbol, thread, where, record, fill, sig)                                                            \
	EXPORT CUresult symbol(SW_PARAMS sig);                                                                         \
	CUresult symbol(SW_PARAMS sig)                                                                                 \
	{                                                                                                              \
		ENTER(symbol, THREAD_##thread);                                                                        \
		sw_status = sw_real(SW_ARGS sig);                                                                      \
		if (sw_on) {                                                                                           \
			const bool sw_again = sw_status == CUDA_ERROR_NOT_READY;                                       \
			sw_call_context(&sw_call, WHERE_##where);                                                      \
			if (sw_again && sw_counted_poll(&sw_call, SW_APPLY(POLL_OF, 0, SW_UNPAREN fill)))              \
				return sw_status;                                                                      \
			SW_STRUCT(record) *sw_r =                                                                      \
				sw_call_record_after(&sw_call, SW_KIND_##record, sizeof *sw_r, sw_status);             \
			if (sw_r)                                                                                      \
				SW_APPLY(SW_FILL_##record, sw_r, SW_UNPAREN fill);                                     \
			sw_call_publish(&sw_call);                                                                     \
			if (sw_again)                                                                                  \
				sw_counted_poll_recorded(&sw_call, SW_APPLY(POLL_OF, 0, SW_UNPAREN fill));             \
			sw_call_leave(&sw_call, sw_status);                                                            \
		}                                                                                                      \
		return sw_status;                                                                                      \
	}
/* The outputs of a failed call are not meaningful. */
#define FORM_AFTER(symbol, thread, where, record, fill, sig)                                                           \
	AFTER(symbol, thread, where, record, fill, sig, sw_status == CUDA_SUCCESS, (void)0)
#define FORM_ASK(symbol, thread, where, record, fill, sig)                                                             \
	AFTER(symbol, thread, where, record, fill, sig, true, (void)0)
/* The record needs the size of the variable, also where the caller passes NULL, as cudart does (CUDA 13.0). */
#define FORM_SIZED(symbol, thread, where, record, fill, sig)                                                           \
	AFTER(symbol, thread, where, record, fill, sig, sw_status == CUDA_SUCCESS, __typeof__(*bytes) sw_unasked = 0;  \
	      bytes = bytes ? bytes : &sw_unasked)

/* A call that adds a node to a graph. */
#define FORM_NODE(symbol, thread, where, record, fill, sig)                                                            \
	EXPORT CUresult symbol(SW_PARAMS sig);                                                                         \
	CUresult symbol(SW_PARAMS sig)                                                                                 \
	{                                                                                                              \
		ENTER(symbol, THREAD_##thread);                                                                        \
		sw_status = sw_real(SW_ARGS sig);                                                                      \
		if (sw_on)                                                                                             \
			SW_APPLY(sw_graphs_node_added, &sw_call, sw_status, SW_UNPAREN fill);                          \
		return sw_status;                                                                                      \
	}

/* BEGIN and END around a call that may block. */
#define FORM_BLOCK(symbol, thread, where, record, fill, sig)                                                           \
	EXPORT CUresult symbol(SW_PARAMS sig);                                                                         \
	CUresult symbol(SW_PARAMS sig)                                                                                 \
	{                                                                                                              \
		ENTER(symbol, THREAD_##thread | SW_RF_BEGIN | SW_WAITS_##record);                                      \
		if (sw_on)                                                                                             \
			RECORD(where, record, fill);                                                                   \
		sw_status = sw_real(SW_ARGS sig);                                                                      \
		if (sw_on)                                                                                             \
			sw_call_end(&sw_call, sw_status);                                                              \
		return sw_status;                                                                                      \
	}

/* Launches: the most frequent call. */
#define LAUNCH_PLAIN	   0
#define LAUNCH_COOPERATIVE SW_LAUNCH_COOPERATIVE
#define FORM_LAUNCH(symbol, thread, where, kind, fill, sig)                                                            \
	OFTEN CUresult symbol(SW_PARAMS sig);                                                                          \
	CUresult symbol(SW_PARAMS sig)                                                                                 \
	{                                                                                                              \
		struct sw_launch sw_launch;                                                                            \
		struct sw_call sw_call;                                                                                \
		CUresult sw_status;                                                                                    \
		__typeof__(&symbol) sw_real;                                                                           \
                                                                                                                       \
		SW_APPLY(sw_launch_set, &sw_launch, LAUNCH_##kind, SW_UNPAREN fill);                                   \
		sw_real = (__typeof__(&symbol))sw_launch_enter(&sw_call,                                               \
							       SW_ID_##symbol | (uint32_t)THREAD_##thread << 16,       \
							       __builtin_frame_address(0), &sw_launch);                \
		if (!sw_real)                                                                                          \
			return SW_NO_DRIVER;                                                                           \
		sw_status = sw_real(SW_ARGS sig);                                                                      \
		if (sw_call.writer)                                                                                    \
			sw_launch_leave(&sw_call, hStream, sw_status);                                                 \
		return sw_status;                                                                                      \
	}

/* Records that need more than a table's row: custom.h. */
#define SITE_AND(...) &sw_site __VA_OPT__(, ) SW_ARGS(__VA_ARGS__)
#define FORM_CUSTOM(symbol, thread, where, function, fill, sig)                                                        \
	EXPORT CUresult symbol(SW_PARAMS sig);                                                                         \
	CUresult symbol(SW_PARAMS sig)                                                                                 \
	{                                                                                                              \
		struct sw_site sw_site = {                                                                             \
			.real = sw_driver_function(SW_ID_##symbol),                                                    \
			.frame = __builtin_frame_address(0),                                                           \
			.id = SW_ID_##symbol,                                                                          \
			.flags = THREAD_##thread,                                                                      \
		};                                                                                                     \
		return sw_site.real ? sw_custom_##function(SITE_AND sig) : SW_NO_DRIVER;                               \
	}

#pragma GCC diagnostic push
/* Rows of old ABI versions are deprecated; they are wrapped all the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define SW_CU_SYMBOL(symbol, name, runtime, since, cls, thread, form, where, record, fill, sig)                        \
	FORM_##form(symbol, thread, where, record, fill, sig)
#include "api/cuda.def"

#pragma GCC diagnostic pop

/* In the order of enum sw_api_id.  C has no constants for distances between functions. */
#define SW_CU_SYMBOL(symbol, ...)      ".long " #symbol " - sw_wrapper_distances\n"
#define SW_CU_WAY(symbol, ...)	       ".long " #symbol " - sw_wrapper_distances\n"
#define SW_CU_PASS_SYMBOL(symbol, ...) ".long 0\n"
__asm__(".pushsection .rodata\n"
	".balign 4\n"
	".globl sw_wrapper_distances\n"
	".hidden sw_wrapper_distances\n"
	".type sw_wrapper_distances, @object\n"
	"sw_wrapper_distances:\n"
	".long 0\n"
#include "api/cuda.def"
	".size sw_wrapper_distances, . - sw_wrapper_distances\n"
	".popsection\n");
