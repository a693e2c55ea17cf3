/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the analyser at the end of a program that was run with a plain LD_PRELOAD. */
#ifndef SW_PRELOAD_HANDOFF_ANALYSE_H
#define SW_PRELOAD_HANDOFF_ANALYSE_H

/*
 * Runs `syncwatch report TRACE` and the options of `pass` (one a line), its output on our stderr, and waits for it at
 * most 10 s.  The program notices nothing: no SIGCHLD, no child that its wait() could return, no descriptor shared.
 * `directory`: what relative paths of LD_PRELOAD start at.
 */
void sw_analyse(const char *trace, const char *pass, const char *directory);

#endif
