/* SPDX-License-Identifier: Apache-2.0 */
#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>
#include <syncwatch/syncwatch.h>

#include <string>
#include <thread>
#include <vector>

#include "case.h"

/* Rounds of which only one lies in a window of the recorder (--capture, --paused): the rounds outside race in both
   twins, and nothing of them may be reported. */

constexpr int ROUNDS = 6, INSIDE = 3;

struct Rounds {
	float *data;
	cudaStream_t a, b;
	cudaEvent_t done;
	cudaGraphExec_t exec;
	std::string what;
	nvtxDomainHandle_t domain;
	nvtxRangeId_t range;

	void work(bool ordered) const
	{
		if (what == "graph")
			CHECK(cudaGraphLaunch(exec, a));
		else
			quick_write<<<GRID, BLOCK, 0, a>>>(data, N, 1);
		CHECK_LAUNCH();
		if (ordered) {
			CHECK(cudaEventRecord(done, a));
			CHECK(cudaStreamWaitEvent(b, done));
		}
		quick_write<<<GRID, BLOCK, 0, b>>>(data, N, 2);
		CHECK_LAUNCH();
		CHECK(cudaStreamSynchronize(a));
		CHECK(cudaStreamSynchronize(b));
	}

	/* In another domain, where the name is not meant. */
	static nvtxEventAttributes_t named(const char *name)
	{
		nvtxEventAttributes_t attributes = {};

		attributes.version = NVTX_VERSION;
		attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
		attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
		attributes.message.ascii = name;
		return attributes;
	}

	void enter()
	{
		const nvtxEventAttributes_t step = named("step");

		if (what == "domain")
			nvtxDomainRangePushEx(domain, &step);
		else if (what == "start")
			range = nvtxRangeStartA("step");
		else if (what == "profiler")
			CHECK(cudaProfilerStart());
		else if (what == "calls")
			syncwatch_record_start();
		else if (what == "left") /* by a thread that ends inside of it */
			std::thread([] { nvtxRangePushA("step"); }).join();
		else if (what != "never")
			nvtxRangePushA("step");
		if (what == "nested") { /* the outer one goes on */
			nvtxRangePushA("step");
			nvtxRangePushA("other");
			nvtxRangePop();
			nvtxRangePop();
		}
	}

	void leave()
	{
		if (what == "domain")
			nvtxDomainRangePop(domain);
		else if (what == "start")
			nvtxRangeEnd(range);
		else if (what == "profiler")
			CHECK(cudaProfilerStop());
		else if (what == "calls")
			syncwatch_record_stop();
		else if (what != "left" && what != "never")
			nvtxRangePop();
	}

	void outside(int i) const
	{
		if (what == "unbalanced")
			nvtxRangePop();
		if (what == "domain") { /* of the default domain */
			nvtxRangePushA("step");
			work(false);
			nvtxRangePop();
		}
		nvtxRangePushA("other");
		work(false);
		if (what != "unbalanced" || i % 2)
			nvtxRangePop();
	}
};

static cudaGraphExec_t make_graph(cudaStream_t s, float *data)
{
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	quick_write<<<GRID, BLOCK, 0, s>>>(data, N, 3);
	CHECK_LAUNCH();
	CHECK(cudaStreamEndCapture(s, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	return exec;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 race-write-after-write", "two streams write a buffer in a window of the recorder",
	       "they are ordered there, and race outside of it",
	       {"push", "start", "domain", "nested", "unbalanced", "threads", "left", "never", "profiler", "calls",
		"steps", "graph"});
	Rounds r = {device_buffer(), new_stream(), new_stream(), new_event(), nullptr, c.word(0), nullptr, 0};

	r.domain = nvtxDomainCreateA("train");
	r.exec = make_graph(r.a, r.data);
	for (int i = 0; i < ROUNDS; i++) {
		if (r.what == "steps") /* all are entries of the range */
			nvtxRangePushA("step");
		if (r.what == "steps" || i != INSIDE) {
			if (r.what == "steps")
				r.work(c.fixed && i == INSIDE);
			else
				r.outside(i);
		} else {
			r.enter();
			if (r.what == "threads") /* the window is of all threads */
				std::thread([&] { r.work(c.fixed); }).join();
			else
				r.work(c.fixed);
			r.leave();
		}
		if (r.what == "steps")
			nvtxRangePop();
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaGraphExecDestroy(r.exec));
	nvtxDomainDestroy(r.domain);
	finish({r.a, r.b}, {r.done}, {r.data}, {});
}
