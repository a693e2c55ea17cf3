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

/* The same of events on streams, which programs call about as often as they launch. */
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
/* The outputs of a failed call are not meaningful. */
#define FORM_AFTER(symbol, thread, where, record, fill, sig)                                                           \
	AFTER(symbol, thread, where, record, fill, sig, sw_status == CUDA_SUCCESS, (void)0)
#define FORM_ASK(symbol, thread, where, record, fill, sig)                                                             \
	AFTER(symbol, thread, where, record, fill, sig, true, (void)0)
/* The record needs the size of the variable, also where the caller passes NULL, as cudart does (CUDA 13.0). */
#define FORM_SIZED(symbol, thread, where, record, fill, sig)                                                           \
	AFTER(symbol, thread, where, record, fill, sig, sw_status == CUDA_SUCCESS, __typeof__(*bytes) sw_unasked = 0;  \
	      bytes = bytes ? bytes : &sw_unasked)

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
		return sw_site.real ? sw_custom_##function(&sw_site, SW_ARGS sig) : SW_NO_DRIVER;                      \
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
