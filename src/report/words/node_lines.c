/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line that lets one node of a graph depend on another: the call that adds the later one, with the earlier one
 * among its dependencies.
 *
 * Not cudaGraphAddDependencies: its arguments differ between versions of CUDA, and no trace says which one a program
 * with a static runtime was compiled for.
 */
#include <string.h>

#include "report/symbols/source_text.h"
#include "report/symbols/stack.h"
#include "report/words/expressions.h"
#include "report/words/fix_lines.h"

/* A call that adds a node, as the source has it. */
struct added {
	const struct sw_frame *place;
	const char *api;
	struct sw_call_text call;
	const char *node;   /* the variable that it fills */
	uint32_t number_at; /* which argument says how many dependencies there are; the third lists them */
};

/* Is the text a null pointer in C or C++? */
static bool is_null(const char *text)
{
	return strcmp(text, "nullptr") == 0 || strcmp(text, "NULL") == 0 || strcmp(text, "0") == 0;
}

/* "node" of "&node"; NULL: it is no variable, or another one in each round of a loop. */
static const char *variable_of(const char *argument)
{
	const char *name = argument[0] == '&' ? argument + 1 : "";
	return *name && !sw_is_indexed(name) && !strpbrk(name, "(){};\"'=\\+-*?: ") ? name : NULL;
}

/* Sets `why` and returns false: the call is not written out at its line. */
static bool find_added(struct sw_names *names, const struct sw_named_call *call, struct added *out, const char **why)
{
	const struct sw_access access = sw_access_of_call(call, 0);
	*out = (struct added){.api = sw_name_api(names, call->api, call->flags, call->stack)};
	out->place = call->stack ? sw_place_of(names, &access, NULL) : NULL;
	if (!out->place || !out->place->file || !out->place->line) {
		*why = sw_names_format(names, "the line of %s is not known", out->api);
		return false;
	}
	if (!strstr(out->api, "GraphAdd")) {
		*why = strstr(out->api, "Graph")
			       ? sw_names_format(names, "%s changed a node: the dependency goes where it was added",
						 out->api)
			       : "one of them is a captured call: its node depends on what its stream has waited for";
		return false;
	}
	if (sw_frame_is_python(out->place) || !sw_source_call(names, out->place, out->api, &out->call) ||
	    out->call.arguments < 5) {
		*why = sw_names_format(names, "%s is not written out at %s", out->api,
				       sw_place_brief(names, out->place));
		return false;
	}
	/* cudaGraphAddNode of CUDA 13, and cuGraphAddNode_v2: the kinds of the edges come before their number. */
	out->number_at = strstr(out->api, "GraphAddNode") && out->call.arguments == 6 ? 4 : 3;
	out->node = variable_of(out->call.argument[0]);
	if (!out->node)
		*why = sw_names_format(names, "`%s` is another node in each round, or no variable",
				       out->call.argument[0]);
	else if (out->number_at == 4 && !is_null(out->call.argument[3]))
		*why = sw_names_format(names, "`%s` has the kinds of the dependencies, one for each",
				       out->call.argument[3]);
	else
		return true;
	return false;
}

/* Is the variable filled again between the two lines? */
static bool is_filled_between(struct sw_names *names, const struct added *first, const struct added *second)
{
	const size_t length = strlen(first->node);
	for (int line = first->place->line + 1; line < second->place->line; line++) {
		const char *text = sw_source_line(names, first->place->file, line);
		for (const char *at = text ? strstr(text, "GraphAdd") : NULL; at; at = strstr(at, "GraphAdd")) {
			at += strcspn(at, "(");
			if (strncmp(at, "(&", 2) == 0 && strncmp(at + 2, first->node, length) == 0 &&
			    at[2 + length] == ',')
				return true;
		}
	}
	return false;
}

/* A name for the list of both dependencies that the program does not use in the file. */
static const char *list_name(struct sw_names *names, const struct sw_frame *place)
{
	static const char *const free_names[] = {"after", "both", "dependencies"};
	size_t i = 0, n = sizeof free_names / sizeof *free_names;
	while (i + 1 < n && sw_source_has_word(names, place->file, free_names[i]))
		i++;
	return free_names[i];
}

/* The code of the call that adds a node, with `list` for its dependencies (the third argument) and `number` for how
   many there are. */
static const char *call_after(struct sw_names *names, const struct added *added, const char *list, const char *number)
{
	const char *text = sw_names_format(names, "%s(", added->api);
	for (uint32_t i = 0; i < added->call.arguments; i++)
		text = sw_names_format(names, "%s%s%s", text, i ? ", " : "",
				       i == 2		       ? list
				       : i == added->number_at ? number
							       : added->call.argument[i]);
	return sw_names_format(names, "%s);", text);
}

/* "prepare" of "&prepare", "*(deps)" of what is no address of a variable: the one node of a list. */
static const char *only_node(struct sw_names *names, const char *list)
{
	const char *variable = variable_of(list);
	return variable ? variable : sw_names_format(names, "*(%s)", list);
}

void sw_fix_node_lines(struct sw_names *names, const struct sw_finding *finding, struct sw_fix_lines *out)
{
	const struct sw_node_pair *nodes = &sw_finding_details(finding)->nodes;
	struct added first, second;
	if (!find_added(names, &nodes->first, &first, &out->why) ||
	    !find_added(names, &nodes->second, &second, &out->why))
		return;
	const char *list = second.call.argument[2], *number = second.call.argument[second.number_at], *code;
	if (!first.place->function || !second.place->function ||
	    strcmp(first.place->function, second.place->function) != 0) {
		out->why = sw_names_format(names, "`%s` is a name of %s", first.node,
					   first.place->base ? first.place->base : "another function");
		return;
	}
	if (strcmp(first.node, second.node) == 0 || first.place->line >= second.place->line ||
	    is_filled_between(names, &first, &second)) {
		out->why = sw_names_format(names, "`%s` holds another node by then: give each a variable of its own",
					   first.node);
		return;
	}
	if (strcmp(number, "0") == 0 || is_null(list)) {
		code = call_after(names, &second, sw_names_format(names, "&%s", first.node), "1");
	} else if (strcmp(number, "1") == 0) {
		const char *both = list_name(names, second.place);
		const bool driver = second.api[2] == 'G';
		code = sw_names_format(names, "{ %s %s[] = {%s, %s}; %s }", driver ? "CUgraphNode" : "cudaGraphNode_t",
				       both, only_node(names, list), first.node, call_after(names, &second, both, "2"));
	} else {
		out->why = sw_names_format(names, "add `%s` to `%s`, and 1 to `%s`, at %s", first.node, list, number,
					   sw_place_brief(names, second.place));
		return;
	}
	out->line[out->n++] = (struct sw_fix_line){SW_FIX_INSTEAD, second.place, code, false};
}
