/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the work of operations: copies, sets, launches, host functions, graphs. */
#include "simcuda/sim.h"

#include <stdlib.h>
#include <string.h>

/* New work with one reference: `ns` is how long it takes.  Graphs and the operations of their launches share it. */
struct sw_sim_work *sw_sim_work_new(CUgraphNodeType type, uint64_t ns)
{
	struct sw_sim_work *work = sw_calloc(1, sizeof *work);
	work->refs = 1;
	work->type = work->as = type;
	work->ns = ns;
	return work;
}

/* One reference more. */
struct sw_sim_work *sw_sim_work_get(struct sw_sim_work *work)
{
	work->refs++;
	return work;
}

/* One reference less; the last one frees the work and what its kind owns. */
void sw_sim_work_put(struct sw_sim_work *work)
{
	if (!work || --work->refs)
		return;
	switch ((int)work->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		free(work->launch.params);
		free(work->launch.pointers);
		break;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		free(work->copy.staged);
		break;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		if (work->child && !work->bodies)
			sw_sim_graph_free(work->child);
		break;
	}
	for (unsigned i = 0; work->bodies && i < work->parts; i++)
		sw_sim_graph_free(work->bodies[i]);
	free(work->bodies);
	free(work->ops);
	free(work);
}

/* Moves the bytes of a copy, row by row and slice by slice. */
static void run_copy(const struct sw_sim_copy *c)
{
	const char *from = c->staged ? c->staged : sw_sim_backing(c->src);
	char *to = sw_sim_backing(c->dst);
	for (size_t z = 0; z < c->depth; z++)
		for (size_t y = 0; y < c->height; y++)
			memmove(to + z * c->dst_slice + y * c->dst_pitch, from + z * c->src_slice + y * c->src_pitch,
				c->width);
}

/* Writes the value into each element of each row. */
static void run_set(const struct sw_sim_set *s)
{
	for (size_t y = 0; y < s->height; y++) {
		char *row = (char *)sw_sim_backing(s->dst) + y * s->pitch;
		if (s->element == 1)
			memset(row, (int)s->value, s->width);
		else
			for (size_t x = 0; x < s->width; x++)
				memcpy(row + x * s->element, &s->value, s->element);
	}
}

/* Does what the work does to memory or calls, at its end and without the lock.  Kernels do nothing: their code is not
   run. */
void sw_sim_work_run(const struct sw_sim_work *work)
{
	switch ((int)work->type) {
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		run_copy(&work->copy);
		break;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		run_set(&work->set);
		break;
	case CU_GRAPH_NODE_TYPE_HOST:
		if (work->host.function)
			work->host.function(work->host.arg);
		else
			work->host.callback(work->host.stream, CUDA_SUCCESS, work->host.arg);
		break;
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		if (!work->op.wait)
			sw_sim_value_write(&work->op);
		break;
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		sw_sim_pool_free(work->address);
		break;
	}
}
