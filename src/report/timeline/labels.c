/* SPDX-License-Identifier: Apache-2.0 */
#include "report/timeline/labels.h"

#include <stdlib.h>
#include <string.h>

#include "report/words/wording.h"

/* Adds the times around the sides of a finding to what the timeline will show. */
static void add_around(struct sw_export_window *window, const struct sw_finding *finding, uint64_t ns)
{
	for (uint32_t i = 0; i < finding->accesses; i++) {
		uint64_t t = sw_finding_access(finding, i)->t_ns, end = t + sw_finding_access(finding, i)->dur_ns;
		*sw_vec_push(&window->around_hazards) = (struct sw_excerpt){t > ns ? t - ns : 0, end + ns};
	}
}

void sw_window_init(struct sw_export_window *window, const struct sw_chrome_options *options)
{
	*window = (struct sw_export_window){.whole = {options->from_ns, options->to_ns ? options->to_ns : UINT64_MAX},
					    .around = options->around != NULL};
	for (size_t i = 0; options->around && i < options->around->findings.n; i++)
		if (options->meant ? options->meant[i] : sw_is_hazard(&options->around->findings.at[i]))
			add_around(window, &options->around->findings.at[i], options->around_ns);
	sw_excerpts_merge(&window->around_hazards);
}

/* Does the wanted part of the run show anything of this time? */
bool sw_window_shows(const struct sw_export_window *window, uint64_t from, uint64_t to)
{
	if (to < window->whole.from || from > window->whole.to)
		return false;
	if (!window->around)
		return true;
	return sw_excerpts_meet(&window->around_hazards, from, to);
}

/* Frees the excerpts. */
void sw_window_free(struct sw_export_window *window)
{
	free(window->around_hazards.at);
}

/* Prepares labels for calls, kernels and streams of a trace. */
void sw_labels_init(struct sw_labels *labels, const struct sw_reader *reader)
{
	*labels = (struct sw_labels){0};
	sw_names_init(&labels->names, reader, NULL);
}

void sw_labels_judgement(struct sw_labels *labels, const struct sw_judgement *judgement)
{
	labels->names.judgement = judgement;
}

/* Frees all labels. */
void sw_labels_free(struct sw_labels *labels)
{
	sw_names_free(&labels->names);
	sw_map_free(&labels->calls);
	sw_map_free(&labels->kernels);
	free(labels->at.at);
}

/* The text as a label: a quoted string of JSON. */
struct sw_label sw_label_any(struct sw_labels *labels, const char *text)
{
	return sw_label_quote(&labels->names.arena, text);
}

/* Makes a label and notes its index. */
static struct sw_label keep_label(struct sw_labels *labels, uint64_t *index, const char *text)
{
	struct sw_label label = sw_label_any(labels, text);
	*sw_vec_push(&labels->at) = label;
	*index = labels->at.n;
	return label;
}

/* Label of a call by its record, without the stack: symbols of every place that calls would cost more than the rest of
   the timeline. */
struct sw_label sw_label_call(struct sw_labels *labels, const struct sw_rec *rec)
{
	uint16_t runtime = rec->flags & SW_RF_RUNTIME;
	uint64_t *index = sw_map_put(&labels->calls, (uint64_t)rec->api << 16 | runtime);
	if (*index)
		return labels->at.at[*index - 1];
	return keep_label(labels, index, sw_name_api(&labels->names, rec->api, runtime, 0));
}

/* The label of a kernel, made at its first launch. */
static struct sw_label kernel_label(struct sw_labels *labels, uint32_t function)
{
	uint64_t *index = sw_map_put(&labels->kernels, function);
	if (*index)
		return labels->at.at[*index - 1];
	const char *name = sw_name_kernel(&labels->names, function, true);
	return keep_label(labels, index, name[0] ? name : "kernel");
}

/* Name of a copy between two kinds of memory, as Kineto has it. */
static struct sw_label copy_label(unsigned dst, unsigned src)
{
	const struct sw_label names[3][3] = {
		[SW_SIDE_UNIFIED] = {SW_LABEL("Memcpy"), SW_LABEL("Memcpy from host"), SW_LABEL("Memcpy from device")},
		[SW_SIDE_HOST] = {SW_LABEL("Memcpy to host"), SW_LABEL("Memcpy HtoH"), SW_LABEL("Memcpy DtoH")},
		[SW_SIDE_DEVICE] = {SW_LABEL("Memcpy to device"), SW_LABEL("Memcpy HtoD"), SW_LABEL("Memcpy DtoD")},
	};
	dst = dst == SW_SIDE_ARRAY ? SW_SIDE_DEVICE : dst;
	src = src == SW_SIDE_ARRAY ? SW_SIDE_DEVICE : src;
	return dst < 3 && src < 3 ? names[dst][src] : names[0][0];
}

struct sw_label sw_label_work(struct sw_labels *labels, const struct sw_operation *op)
{
	const void *rec = op->record->rec;
	switch (op->what.kind) {
	case SW_REC_LAUNCH:
		return kernel_label(labels, op->what.function ? op->what.function
							      : ((const struct sw_rec_launch *)rec)->function);
	case SW_REC_COPY:
		return copy_label(((const struct sw_rec_copy *)rec)->dst_side,
				  ((const struct sw_rec_copy *)rec)->src_side);
	case SW_REC_COPY_ND:
		return copy_label(((const struct sw_rec_copy_nd *)rec)->dst.side,
				  ((const struct sw_rec_copy_nd *)rec)->src.side);
	case SW_REC_SET:
		return SW_LABEL("Memset");
	case SW_REC_HOST_FUNC:
		return SW_LABEL("host function");
	case SW_REC_GRAPH_LAUNCH:
		return SW_LABEL("graph");
	default:
		return sw_label_call(labels, op->record->rec);
	}
}

/* Is the label the name of a function of the CUDA runtime? */
bool sw_label_is_runtime(struct sw_label label)
{
	return label.n > 5 && memcmp(label.text, "\"cuda", 5) == 0;
}
