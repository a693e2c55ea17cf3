/* SPDX-License-Identifier: Apache-2.0 */
/* User objects on the simulated driver: who holds references, and that destructors run after the last launch alone. */
#include <cuda.h>
#include <semaphore.h>
#include <stdio.h>

#include "expect.h"

static CUcontext context;
static CUstream stream;
static sem_t destroyed;
static CUresult from_destructor;

#define OK(call) EXPECT((call) == CUDA_SUCCESS)

static void CUDA_CB destructor(void *arg)
{
	CUdevice device;
	(void)arg;
	from_destructor = cuCtxGetDevice(&device);
	sem_post(&destroyed);
}

static CUuserObject new_object(unsigned references)
{
	CUuserObject object = NULL;
	OK(cuUserObjectCreate(&object, NULL, destructor, references, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	return object;
}

/* One empty node, and the reference. */
static CUgraph graph_with(CUuserObject object)
{
	CUgraph graph = NULL;
	CUgraphNode node;
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
	OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	return graph;
}

/* Destructors run on one thread, in order: after that of a later object none of an earlier one is to come. */
static void expect_none(void)
{
	OK(cuUserObjectRelease(new_object(1), 1));
	sem_wait(&destroyed);
	EXPECT(sem_trywait(&destroyed) != 0);
}

static void references_of_callers(void)
{
	CUuserObject object = new_object(2);
	OK(cuUserObjectRetain(object, 1));
	OK(cuUserObjectRelease(object, 2));
	expect_none();
	OK(cuUserObjectRelease(object, 1));
	sem_wait(&destroyed);
	EXPECT(from_destructor == CUDA_ERROR_NOT_PERMITTED);
	EXPECT(cuUserObjectRetain(object, 1) == CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuUserObjectCreate(&object, NULL, destructor, 1, 0) == CUDA_ERROR_INVALID_VALUE);
}

static void references_of_graphs(void)
{
	CUuserObject object = new_object(1);
	CUgraph graph = graph_with(object), clone = NULL;
	OK(cuGraphRetainUserObject(graph, object, 2, 0));
	OK(cuGraphReleaseUserObject(graph, object, 2));
	EXPECT(cuGraphReleaseUserObject(graph, object, 2) == CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphClone(&clone, graph));
	OK(cuGraphDestroy(graph));
	expect_none();
	OK(cuGraphDestroy(clone));
	sem_wait(&destroyed);
}

/* CUDA C++ Programming Guide, "CUDA User Objects": kept until the execution has ended, also where a child graph
   holds it. */
static void kept_until_the_launch_is_over(int nested)
{
	CUgraph graph = graph_with(new_object(1)), parent = NULL;
	CUgraphExec exec = NULL;
	CUgraphNode node;
	unsigned *flag;
	OK(cuMemHostAlloc((void **)&flag, sizeof *flag, 0));
	*flag = 0;
	if (nested) {
		OK(cuGraphCreate(&parent, 0));
		OK(cuGraphAddChildGraphNode(&node, parent, NULL, 0, graph));
		OK(cuGraphDestroy(graph));
		graph = parent;
	}
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphDestroy(graph));
	OK(cuStreamWaitValue32(stream, (CUdeviceptr)flag, 1, CU_STREAM_WAIT_VALUE_EQ));
	OK(cuGraphLaunch(exec, stream));
	OK(cuGraphExecDestroy(exec));
	expect_none();
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
	OK(cuStreamSynchronize(stream));
	sem_wait(&destroyed);
	OK(cuMemFreeHost(flag));
}

/* The graph that replaces another one brings its own references. */
static void replaced_by_an_update(void)
{
	CUgraph first = graph_with(new_object(1)), second = graph_with(new_object(1));
	CUgraphExecUpdateResultInfo result;
	CUgraphExec exec = NULL;
	OK(cuGraphInstantiateWithFlags(&exec, first, 0));
	OK(cuGraphDestroy(first));
	expect_none();
	OK(cuGraphExecUpdate(exec, second, &result));
	sem_wait(&destroyed);
	OK(cuGraphDestroy(second));
	expect_none();
	OK(cuGraphExecDestroy(exec));
	sem_wait(&destroyed);
}

int main(void)
{
	sem_init(&destroyed, 0, 0);
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	references_of_callers();
	references_of_graphs();
	kept_until_the_launch_is_over(0);
	kept_until_the_launch_is_over(1);
	replaced_by_an_update();
	printf("%d failures\n", failures);
	return failures != 0;
}
