/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User objects: counted references of callers and graphs, and a destructor that runs on the thread of host functions.
 *
 * CUDA C++ Programming Guide, "CUDA User Objects": a clone and an executable graph hold the references of their graph
 * as well, and those of an executable graph that is destroyed or updated are kept until its launches have ended.  No
 * call waits for a destructor: its operation is in no stream.
 */
#include "simcuda/sim.h"

#include <limits.h>
#include <stdlib.h>

struct sw_sim_user_object {
	struct sw_sim_object object;
	uint64_t references;
	CUhostFn destroy;
	void *arg;
};

/* References that are dropped when an operation has ended. */
struct drop {
	struct sw_sim_user_object *object;
	uint64_t count;
};

/* Runs a function on the thread of host functions, once `before` has ended (NULL: at once). */
static void run_after(struct sw_sim_op *before, CUhostFn function, void *arg)
{
	struct sw_sim_work *work = sw_sim_work_new(CU_GRAPH_NODE_TYPE_HOST, 0);
	work->host = (struct sw_sim_host){.function = function, .arg = arg};
	struct sw_sim_op *op = sw_sim_op_new(work);
	sw_sim_op_after(op, before);
	sw_sim_op_submit(op);
	sw_sim_op_put(op);
}

/* Drops so many references; the last one runs the destructor. */
static void release_references(struct sw_sim_user_object *object, uint64_t count)
{
	object->references -= count < object->references ? count : object->references;
	if (object->references)
		return;
	sw_sim_object_remove(object);
	run_after(NULL, object->destroy, object->arg);
	free(object);
}

/* Runs as a host function when the launches have ended. */
static void CUDA_CB release_later(void *arg)
{
	struct drop *drop = arg;
	sw_sim_lock();
	release_references(drop->object, drop->count);
	sw_sim_unlock();
	free(drop);
}

/* A graph ends: drops its references to user objects, but not before its last launch is complete. */
void sw_sim_held_free(struct sw_sim_graph *graph)
{
	for (size_t i = 0; i < graph->held.n; i++) {
		struct sw_sim_held held = graph->held.at[i];
		if (!graph->until || graph->until->done) {
			release_references(held.object, held.count);
			continue;
		}
		struct drop *drop = sw_alloc(sizeof *drop);
		*drop = (struct drop){held.object, held.count};
		run_after(graph->until, release_later, drop);
	}
	free(graph->held.at);
	sw_sim_op_put(graph->until);
}

/* A copy of a graph has references of its own to the user objects. */
void sw_sim_held_copy(struct sw_sim_graph *to, const struct sw_sim_graph *from)
{
	for (size_t i = 0; i < from->held.n; i++) {
		*sw_vec_push(&to->held) = from->held.at[i];
		from->held.at[i].object->references += from->held.at[i].count;
	}
}

/* A graph is launched or ends: what it holds is kept until `last`, the end of its launch.  Children are shared by the
   graphs that a graph was copied to: what they hold is kept for the launches of all. */
void sw_sim_held_until(struct sw_sim_graph *graph, struct sw_sim_op *last)
{
	if (!last || last->done)
		return;
	struct sw_sim_op *both = sw_sim_op_new(NULL);
	sw_sim_op_after(both, last);
	sw_sim_op_after(both, graph->until);
	sw_sim_op_submit(both);
	sw_sim_op_set(&graph->until, both);
	sw_sim_op_put(both);
	for (size_t i = 0; i < graph->nodes.n; i++) {
		const struct sw_sim_work *work = graph->nodes.at[i]->work;
		if (work->type == CU_GRAPH_NODE_TYPE_GRAPH && work->child)
			sw_sim_held_until(work->child, last);
	}
}

/* ---- the API ---- */

/* The user object of a handle; NULL: none. */
static struct sw_sim_user_object *find_object(CUuserObject handle)
{
	return sw_sim_object_get(handle, SW_SIM_USER_OBJECT);
}

/* CUDA's counts are ints above 0. */
static bool is_countable(unsigned count)
{
	return count && count <= INT_MAX;
}

CUresult cuUserObjectCreate(CUuserObject *out, void *arg, CUhostFn destroy, unsigned references, unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!out || !destroy || !is_countable(references) || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
		return CUDA_ERROR_INVALID_VALUE;
	struct sw_sim_user_object *object = sw_calloc(1, sizeof *object);
	object->references = references;
	object->destroy = destroy;
	object->arg = arg;
	sw_sim_object_add(object, SW_SIM_USER_OBJECT, NULL);
	*out = (CUuserObject)object;
	return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject handle, unsigned count)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_user_object *object = find_object(handle);
	if (!object || !is_countable(count))
		return CUDA_ERROR_INVALID_VALUE;
	object->references += count;
	return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject handle, unsigned count)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_user_object *object = find_object(handle);
	if (!object || !is_countable(count))
		return CUDA_ERROR_INVALID_VALUE;
	release_references(object, count);
	return CUDA_SUCCESS;
}

/* The graph takes over references of the caller (MOVE), or gets new ones. */
CUresult cuGraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count, unsigned flags)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_graph *graph = sw_sim_object_get(graph_handle, SW_SIM_GRAPH);
	struct sw_sim_user_object *object = find_object(handle);
	if (!graph || !object || !is_countable(count) || flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE)
		return CUDA_ERROR_INVALID_VALUE;
	if (!(flags & CU_GRAPH_USER_OBJECT_MOVE))
		object->references += count;
	*sw_vec_push(&graph->held) = (struct sw_sim_held){object, count};
	return CUDA_SUCCESS;
}

/* How many references of the object the graph holds. */
static uint64_t held_by(const struct sw_sim_graph *graph, const struct sw_sim_user_object *object)
{
	uint64_t count = 0;
	for (size_t i = 0; i < graph->held.n; i++)
		count += graph->held.at[i].object == object ? graph->held.at[i].count : 0;
	return count;
}

/* Drops references that the graph holds; more than it holds are an error. */
CUresult cuGraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_graph *graph = sw_sim_object_get(graph_handle, SW_SIM_GRAPH);
	struct sw_sim_user_object *object = find_object(handle);
	if (!graph || !object || !is_countable(count) || held_by(graph, object) < count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0, left = count; left; i++) {
		struct sw_sim_held *held = &graph->held.at[i];
		uint64_t taken = held->object != object ? 0 : held->count < left ? held->count : left;
		held->count -= taken;
		left -= taken;
	}
	size_t kept = 0;
	for (size_t i = 0; i < graph->held.n; i++)
		if (graph->held.at[i].count)
			graph->held.at[kept++] = graph->held.at[i];
	graph->held.n = kept;
	release_references(object, count);
	return CUDA_SUCCESS;
}
