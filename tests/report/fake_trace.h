/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace and the symbols of its program, as tables: the report's tests link these instead of the reader and of libdw,
 * so that every word of a golden file is decided here.  The functions are those of reader/reader.h and
 * report/objects.h.
 */
#ifndef SW_TESTS_FAKE_TRACE_H
#define SW_TESTS_FAKE_TRACE_H

#include <stdbool.h>

#include "reader/reader.h"
#include "report/symbols/debug_objects.h"

/* Parts of the trace that differ from test to test; zero is a run that ended in order. */
struct fake_trace {
	bool crashed, torch, changed, packed, python;
	const char *notice, *damage;
	uint32_t full;				/* enum sw_loss_why */
	const struct sw_trace_process *process; /* NULL: /home/u/race */
};
extern struct fake_trace fake_trace;

/* Ids of the tables. */
enum {
	FAKE_API_LAUNCH = 1,
	FAKE_API_COPY,
	FAKE_API_FREE,
	FAKE_API_SYNC,
	FAKE_API_WAIT,
	FAKE_API_ALLOC,
	FAKE_API_DRIVER,
	FAKE_API_RECORD
};
enum { FAKE_FILL = 1, FAKE_SCALE, FAKE_PLAIN, FAKE_HOSTILE, FAKE_LONG, FAKE_WORD, FAKE_SUM, FAKE_COPY };
enum {
	FAKE_AT_FILL = 1, /* main() -> launch of fill, race.cu:31 */
	FAKE_AT_SCALE,	  /* main() -> run<float>() (inlined) -> launch of scale, race.cu:14 */
	FAKE_AT_COPY,	  /* main() -> cudaMemcpy of a static cudart, race.cu:40 */
	FAKE_AT_CREATE,	  /* main() -> cudaStreamCreate, race.cu:12 */
	FAKE_AT_PYTHON,	  /* torch and python frames */
	FAKE_AT_NOWHERE,  /* no module, no symbol */
	FAKE_AT_RUNTIME,  /* frames of CUDA alone */
	FAKE_AT_STRIPPED, /* nameless frames of a library, Python, nameless ones of libc and _start */
	FAKE_AT_LIBRARY,  /* nameless frames of a library alone */
	/* With Python frames: train.py is the user's, _tensor.py is PyTorch's. */
	FAKE_AT_PY_COPY,    /* <module> -> step, train.py:20 -> _tensor.py -> copy */
	FAKE_AT_PY_FILL,    /* <module> -> step, train.py:17 -> _tensor.py -> copy */
	FAKE_AT_PY_PLAIN,   /* the same as PY_COPY of an interpreter without names */
	FAKE_AT_PY_NONE,    /* no native frames */
	FAKE_AT_PY_LOST,    /* a frame whose code was lost, and PyTorch's */
	FAKE_AT_PY_OWN,	    /* main() of race.cu:40 called by step, train.py:20 */
	FAKE_AT_PY_WAITING, /* PyTorch's thread of backward passes, while step, train.py:20, waits in backward() */
	FAKE_AT_PY_OTHER,   /* the same of a thread that is not PyTorch's */
	FAKE_AT_AUTOGRAD,   /* PyTorch's thread of backward passes */
	FAKE_AT_PY_REDUCE,  /* <module> -> step, train.py:20 -> all_reduce() of torch.distributed */
	FAKE_AT_LINE = 1000 /* + n: main() -> /src/many.cu:n */
};
#define FAKE_LINES 11000u

#endif
