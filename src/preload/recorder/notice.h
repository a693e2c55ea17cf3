/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences for the report: sw_notice() is in recorder.h. */
#ifndef SW_PRELOAD_RECORDER_NOTICE_H
#define SW_PRELOAD_RECORDER_NOTICE_H

/* In a fork child: all notices are written again, into its own trace. */
void sw_notice_forget(void);

#endif
