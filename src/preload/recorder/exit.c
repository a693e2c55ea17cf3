/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of the program: exit() or the end of main.  Nothing runs on _exit, quick_exit or a signal, and nothing has
 * to: by then everything is in the file.  No CUDA function is called here.
 */
#include "preload/platform/seldom.h"

#include <stdio.h>

#include "preload/handoff/analyse.h"
#include "preload/platform/bypass.h"
#include "preload/recorder/describe.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/platform/say.h"
#include "preload/session/announce.h"
#include "preload/recorder/trace.h"
#include "preload/recorder/writer.h"

static void end_trace(void)
{
	struct sw_thread *t = &sw_thread;
	if (!t->busy && (t->writer || sw_writer_attach(t))) {
		sw_writer_abandon(t->writer);
		sw_writer_write_missed(t->writer);
		sw_process_count_nested();
		sw_describe_end(t->writer);
	}
	sw_process_end();
	sw_trace_update_clock();
	sw_trace_end();
}

static void report_bypassed(const char *what, const char *object)
{
	char text[768];
	snprintf(text, sizeof text, "SW901: %s%s%s%s", what, object[0] ? ": " : "", object,
		 object[0] ? " calls CUDA past the recorder" : "");
	sw_say("%s. Programs that load CUDA with dlmopen or RTLD_DEEPBIND are not seen", text);
	sw_notice(text);
	sw_announce_begin();
	sw_announce_failed(text);
}

/* While records can still be written. */
static void look_for_bypass(bool recorded)
{
	char object[512] = "";
	const bool unseen = !recorded && !sw_process_hooked() && sw_bypass_gpu_open();
	if (sw_bypass_object(object, sizeof object, unseen) || unseen)
		report_bypassed(unseen ? "this program used a GPU, but no CUDA call could be intercepted"
				       : "not all CUDA calls of this program could be intercepted",
				object);
}

void sw_process_exit(void)
{
	const struct sw_preload_options *options = sw_preload_options();
	switch (sw_process_state()) {
	case SW_STATE_FRESH:
		if (sw_process_is_first())
			look_for_bypass(false);
		sw_process_end();
		break;
	case SW_STATE_ON:
	case SW_STATE_ON_CHECKED:
	case SW_STATE_FULL:
		if (!sw_process_is_owner())
			return; /* a child of vfork that called exit() */
		look_for_bypass(true);
		end_trace();
		if (options->report)
			sw_analyse(sw_trace.file.path, options->pass, sw_process_directory());
		break;
	default:
		break;
	}
}
