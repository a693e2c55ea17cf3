/* SPDX-License-Identifier: Apache-2.0 */
#include "draw.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "output.h"
#include "report/timeline/timeline.h"

/* Around the findings that were asked for, unless --around says how much. */
#define AROUND_NS 5000000u

enum form { CHROME, PERFETTO, DOT };

/* A file that is being drawn while the judge passes by. */
struct drawing {
	const char *path;
	enum form form;
	const struct sw_options *options;
	struct sw_report *earlier;
	const bool *meant; /* of each finding of its judgement: is it asked for?  NULL: all are */
	bool tells_damage; /* the caller does not */
	int damage;	   /* SW_EXIT_INPUT: it was told */
	struct sw_output output;
	struct sw_chrome *chrome; /* one of the two */
	struct sw_dot *dot;
};

/* Begins a timeline: the call-backs to judge with. */
static const struct sw_observer *begin_timeline(struct drawing *d, struct sw_reader *reader)
{
	struct sw_chrome_options options = {
		.from_ns = d->options->from,
		.to_ns = d->options->to,
		.around = d->options->around || d->meant ? d->earlier->judgement : NULL,
		.around_ns = d->options->around ? d->options->around : AROUND_NS,
		.meant = d->meant,
		.perfetto = d->form == PERFETTO,
		.gzip = fnmatch("*.gz", d->path, 0) == 0,
	};
	d->chrome = sw_chrome_new(d->output.file, reader, &options);
	return sw_chrome_observer(d->chrome);
}

/* Begins a graph: the call-backs to judge with. */
static const struct sw_observer *begin_dot(struct drawing *d, struct sw_reader *reader)
{
	struct sw_dot_options options = {0};
	for (size_t i = 0; d->meant && i < d->earlier->judgement->findings.n && !options.around; i++)
		if (d->meant[i])
			options.around = &d->earlier->judgement->findings.at[i];
	d->dot = sw_dot_new(d->output.file, reader, &options);
	return sw_dot_observer(d->dot);
}

/* Completes the drawing. */
static void finish_drawing(struct drawing *d)
{
	if (d->chrome)
		sw_chrome_finish(d->chrome);
	if (d->dot)
		sw_dot_finish(d->dot);
}

/* Judges the trace while the drawing is made. */
static int pass_records(struct drawing *d, const char *trace)
{
	struct sw_reader *reader;
	struct sw_judgement *judgement = NULL;
	struct sw_error error;
	if (sw_reader_open(trace, &reader, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	struct sw_judge_options judge = sw_analysis_judge(d->options, reader);
	judge.no_schedule = d->form == DOT;
	judge.estimate_all = d->options->estimate;
	judge.observer = d->form == DOT ? begin_dot(d, reader) : begin_timeline(d, reader);
	int rc = sw_analysis_judge_with_progress(reader, &judge, "drawing", &judgement, &error);
	finish_drawing(d);
	sw_judgement_free(judgement);
	if (!rc && d->tells_damage)
		d->damage = sw_analysis_tell_damage(reader, SW_EXIT_OK);
	sw_reader_close(reader);
	return rc ? sw_complain(SW_EXIT_INPUT, "%s", error.text) : SW_EXIT_OK;
}

/* Draws a trace into a file of this form. */
static int draw_trace(const char *path, const char *trace, const struct sw_options *options, struct sw_report *earlier,
		      const bool *meant, enum form form, bool tells_damage)
{
	struct drawing d = {.path = path,
			    .form = form,
			    .options = options,
			    .earlier = earlier,
			    .meant = meant,
			    .tells_damage = tells_damage};
	struct sw_error error;
	if (sw_output_open(&d.output, path, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	int status = pass_records(&d, trace);
	if (status)
		sw_output_drop(&d.output);
	else if (sw_output_close(&d.output, &error))
		status = sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	return status ? status : d.damage;
}

/* Judges without any drawing, for those that are drawn around findings.  The judgement's reader must outlive it. */
static int judge_first(const char *trace, const struct sw_options *options, struct sw_reader **reader,
		       struct sw_judgement **judgement)
{
	struct sw_error error;
	if (sw_reader_open(trace, reader, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	struct sw_judge_options judge = sw_analysis_judge(options, *reader);
	if (sw_analysis_judge_with_progress(*reader, &judge, "judging", judgement, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	return SW_EXIT_OK;
}

/* A flag for each finding of the judgement: does --finding mean it, by id or by its place there?  malloc'ed; NULL: it
   means none. */
static bool *find_meant(struct sw_report *report, const char *which)
{
	const struct sw_judgement *judgement = report->judgement;
	bool *meant = sw_calloc(judgement->findings.n + 1, sizeof *meant), any = false;
	const size_t place = strspn(which, "0123456789") == strlen(which) ? strtoul(which, NULL, 10) : 0;
	for (size_t i = 0; i < report->shown.n; i++)
		if (sw_report_means(report, &report->shown.at[i], which)) {
			meant[report->shown.at[i].finding - judgement->findings.at] = true;
			any = true;
		}
	if (!any && place && place <= judgement->findings.n)
		any = meant[place - 1] = true;
	if (any)
		return meant;
	free(meant);
	return NULL;
}

/* Draws all files that the options want. */
static int draw_all(const char *trace, const struct sw_options *options, struct sw_report *earlier, bool tells_damage)
{
	int status = SW_EXIT_OK;
	bool *meant = options->finding ? find_meant(earlier, options->finding) : NULL;
	if (options->finding && !meant)
		return sw_complain(SW_EXIT_INPUT, "%s has no finding '%s' (%s)", trace, options->finding,
				   SW_FINDING_FORMS);
	/* One that cannot be written leaves the others as they were asked for. */
	const struct {
		const char *path;
		enum form form;
	} files[] = {{options->chrome, CHROME}, {options->perfetto, PERFETTO}, {options->dot, DOT}};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		const int drawn = files[i].path ? draw_trace(files[i].path, trace, options, earlier, meant,
							     files[i].form, tells_damage)
						: SW_EXIT_OK;
		status = status ? status : drawn;
	}
	free(meant);
	return status;
}

/* Draws a trace as the options want; report: its report if there is one, NULL. */
int sw_draw(const char *trace, const struct sw_options *options, struct sw_report *report)
{
	struct sw_reader *reader = NULL;
	struct sw_judgement *judged = NULL;
	struct sw_report *made = NULL;
	int status = SW_EXIT_OK;
	if (!options->chrome && !options->perfetto && !options->dot)
		return status;
	if (!report && (options->around || options->finding))
		status = judge_first(trace, options, &reader, &judged);
	if (!status && judged)
		made = sw_report_new(reader, judged, &(struct sw_report_options){.all = true});
	if (!status)
		status = draw_all(trace, options, report ? report : made, !report);
	if (made)
		sw_report_free(made);
	sw_judgement_free(judged);
	if (reader)
		sw_reader_close(reader);
	return status;
}

/* Draws a trace as a part of a merged timeline. */
int sw_draw_part(FILE *out, const char *trace, const struct sw_options *options, struct sw_chrome_part *part)
{
	struct sw_reader *reader;
	struct sw_judgement *judgement = NULL;
	struct sw_error error;
	if (sw_reader_open(trace, &reader, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	struct sw_judge_options judge = sw_analysis_judge(options, reader);
	struct sw_chrome *chrome = sw_chrome_new(out, reader, &(struct sw_chrome_options){.part = part});
	judge.observer = sw_chrome_observer(chrome);
	int rc = sw_analysis_judge_with_progress(reader, &judge, "drawing", &judgement, &error);
	sw_chrome_finish(chrome);
	sw_judgement_free(judgement);
	sw_reader_close(reader);
	return rc ? sw_complain(SW_EXIT_INPUT, "%s", error.text) : SW_EXIT_OK;
}
