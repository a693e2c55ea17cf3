/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's functions as programs see them. */
#include <string.h>

#include "base/hash.h"
#include "preload/nccl/nccl.h"
#include "preload/platform/named_function.h"

#define EXPORT __attribute__((visibility("default")))

/* Depth of the thread's groups; > 0 inside: NCCL's calls of its own exported functions are not recorded. */
static __thread struct {
	uint32_t group, inside;
} self __attribute__((tls_model("initial-exec")));

/* ---- work -------------------------------------------------------------------------------------------------------- */

struct work {
	enum sw_collective_op op;
	const void *send, *receive;
	size_t count;
	int type, reduction, root;
	void *comm, *stream;
};

static void begin(struct sw_nccl_call *call, const struct work *work, void *frame)
{
	const bool paired = work->op == SW_COLLECTIVE_SEND || work->op == SW_COLLECTIVE_RECEIVE;
	const struct sw_nccl_comm comm = sw_nccl_comm_get(work->comm, !paired, false);
	const struct sw_rec_collective r = {
		.communicator = comm.identity,
		.number = paired || !comm.identity ? 0 : comm.calls + 1,
		.send = (uint64_t)(uintptr_t)work->send,
		.receive = (uint64_t)(uintptr_t)work->receive,
		.count = work->count,
		.stream = (uint64_t)(uintptr_t)work->stream,
		.handle = (uint64_t)(uintptr_t)work->comm,
		.op = work->op,
		.type = (uint32_t)work->type,
		.reduction = (uint32_t)work->reduction,
		.root = work->root,
		.rank = comm.rank,
		.size = comm.size,
		.flags = self.group ? SW_COLLECTIVE_IN_GROUP : 0,
	};
	sw_nccl_begin(call, &r, frame);
}

#define MOVES(name, op_, parameters, arguments, send_, receive_, reduction_, root_)                                    \
	EXPORT int name parameters;                                                                                    \
	int name parameters                                                                                            \
	{                                                                                                              \
		int(*real) parameters =                                                                                \
			(int(*) parameters)(uintptr_t)sw_nccl_real(SW_##name, __builtin_return_address(0));            \
		const struct work work = {SW_COLLECTIVE_##op_, send_, receive_, count, type,                           \
					  reduction_,	       root_, comm,	stream};                               \
		struct sw_nccl_call call = {0};                                                                        \
		if (!real)                                                                                             \
			return SW_NCCL_SYSTEM_ERROR;                                                                   \
		if (!self.inside)                                                                                      \
			begin(&call, &work, __builtin_frame_address(0));                                               \
		self.inside++;                                                                                         \
		const int result = real arguments;                                                                     \
		self.inside--;                                                                                         \
		sw_nccl_end(&call, result);                                                                            \
		return result;                                                                                         \
	}
#define TAKES(name, parameters)                                                                                        \
	EXPORT int name parameters;                                                                                    \
	typedef int type_##name parameters;
#include "preload/nccl/functions.def"
#undef MOVES
#undef TAKES

#define REAL(name) type_##name *real = (type_##name *)(uintptr_t)sw_nccl_real(SW_##name, __builtin_return_address(0))

/* ---- looked up by name ------------------------------------------------------------------------------------------- */

static void *function_of(const char *name, const char **object)
{
	static const struct {
		const char *name;
		void *function;
	} functions[] = {
#define MOVES(name, ...) {#name, (void *)(uintptr_t)name},
#define TAKES(name, ...) {#name, (void *)(uintptr_t)name},
#include "preload/nccl/functions.def"
#undef MOVES
#undef TAKES
	};
	if (strncmp(name, "nccl", 4) != 0)
		return NULL;
	*object = SW_NCCL_OBJECT;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strcmp(functions[i].name, name) == 0)
			return functions[i].function;
	return NULL;
}

__attribute__((constructor)) static void start(void)
{
	if (sw_nccl_recorder() && sw_nccl_recorder()->look_ups.real)
		sw_named_functions(function_of, &sw_nccl_recorder()->look_ups);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

int ncclGroupStart(void)
{
	REAL(ncclGroupStart);
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	const int result = real();
	if (!self.inside && !result)
		self.group++;
	return result;
}

/* What was said in the group is launched when its outermost end is reached. */
int ncclGroupEnd(void)
{
	REAL(ncclGroupEnd);
	struct sw_nccl_call call = {0};
	const struct sw_rec_collective r = {.op = SW_COLLECTIVE_GROUP_END, .root = -1};
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	if (!self.inside && self.group && --self.group == 0)
		sw_nccl_begin(&call, &r, __builtin_frame_address(0));
	self.inside++;
	const int result = real();
	self.inside--;
	sw_nccl_end(&call, result);
	return result;
}

int ncclGroupSimulateEnd(void *info)
{
	REAL(ncclGroupSimulateEnd);
	struct sw_nccl_call call = {0};
	const struct sw_rec_collective r = {
		.op = SW_COLLECTIVE_GROUP_END, .root = -1, .flags = SW_COLLECTIVE_SIMULATED};
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	if (!self.inside && self.group && --self.group == 0)
		sw_nccl_begin(&call, &r, __builtin_frame_address(0));
	self.inside++;
	const int result = real(info);
	self.inside--;
	sw_nccl_end(&call, result);
	return result;
}

/* ---- communicators ----------------------------------------------------------------------------------------------- */

static bool made(int result)
{
	return result == 0 || result == SW_NCCL_IN_PROGRESS;
}

static uint64_t hash_id(const struct sw_nccl_id *id, int n)
{
	const uint64_t hash = sw_hash_words(id, sizeof *id * (size_t)(n > 0 ? n : 0));
	return hash ? hash : 1;
}

/* The communicator of a call that may wait for other ranks: one that never returns is in the trace as such. */
static void begin_making(struct sw_nccl_call *call, uint64_t identity, int rank, int ranks, void *frame)
{
	const struct sw_rec_collective r = {.op = SW_COLLECTIVE_COMMUNICATOR,
					    .communicator = identity,
					    .root = -1,
					    .rank = (uint32_t)rank,
					    .size = (uint32_t)ranks,
					    .flags = self.group ? SW_COLLECTIVE_IN_GROUP : 0};
	if (!self.inside)
		sw_nccl_begin(call, &r, frame);
	self.inside++;
}

/* In a group the handle is filled in when the group ends; until then it has the place for it. */
static int end_making(struct sw_nccl_call *call, int result, void *handle, uint64_t identity, uint32_t rank,
		      uint32_t size, const void *caller)
{
	self.inside--;
	if (made(result) && !self.inside)
		sw_nccl_comm_add(handle, identity, rank, size, caller);
	sw_nccl_end(call, result);
	return result;
}

int ncclCommInitRank(void **comm, int ranks, struct sw_nccl_id id, int rank)
{
	REAL(ncclCommInitRank);
	struct sw_nccl_call call = {0};
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	const uint64_t identity = hash_id(&id, 1);
	begin_making(&call, identity, rank, ranks, __builtin_frame_address(0));
	const int result = real(comm, ranks, id, rank);
	return end_making(&call, result, made(result) ? *comm : NULL, identity, (uint32_t)rank, (uint32_t)ranks,
			  __builtin_return_address(0));
}

int ncclCommInitRankConfig(void **comm, int ranks, struct sw_nccl_id id, int rank, void *config)
{
	REAL(ncclCommInitRankConfig);
	struct sw_nccl_call call = {0};
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	const uint64_t identity = hash_id(&id, 1);
	begin_making(&call, identity, rank, ranks, __builtin_frame_address(0));
	const int result = real(comm, ranks, id, rank, config);
	return end_making(&call, result, made(result) ? *comm : NULL, identity, (uint32_t)rank, (uint32_t)ranks,
			  __builtin_return_address(0));
}

int ncclCommInitRankScalable(void **comm, int ranks, int rank, int ids, struct sw_nccl_id *id, void *config)
{
	REAL(ncclCommInitRankScalable);
	struct sw_nccl_call call = {0};
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	const uint64_t identity = id && ids > 0 ? hash_id(id, ids) : 0;
	begin_making(&call, identity, rank, ranks, __builtin_frame_address(0));
	const int result = real(comm, ranks, rank, ids, id, config);
	return end_making(&call, result, made(result) ? *comm : NULL, identity, (uint32_t)rank, (uint32_t)ranks,
			  __builtin_return_address(0));
}

/* All ranks are in this process: no other process has this identity. */
int ncclCommInitAll(void **comms, int devices, const int *list)
{
	REAL(ncclCommInitAll);
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	self.inside++;
	const int result = real(comms, devices, list);
	self.inside--;
	for (int i = 0; made(result) && i < devices; i++)
		sw_nccl_comm_add(comms[i], 0, (uint32_t)i, (uint32_t)devices, __builtin_return_address(0));
	return result;
}

/* All ranks of the parent call it, in the same order: parent, count and what distinguishes the parts identify it. */
static uint64_t derive(void *parent, uint64_t part)
{
	const struct sw_nccl_comm comm = sw_nccl_comm_get(parent, false, true);
	const uint64_t words[] = {comm.identity, comm.splits, part};
	return comm.identity ? sw_hash_words(words, sizeof words) | 1 : 0;
}

int ncclCommSplit(void *comm, int color, int key, void **made_, void *config)
{
	REAL(ncclCommSplit);
	struct sw_nccl_call call = {0};
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	const uint64_t identity = self.inside ? 0 : derive(comm, (uint64_t)(uint32_t)color);
	begin_making(&call, identity, 0, 0, __builtin_frame_address(0));
	const int result = real(comm, color, key, made_, config);
	return end_making(&call, result, made(result) ? *made_ : NULL, identity, 0, 0, __builtin_return_address(0));
}

int ncclCommShrink(void *comm, int *excluded, int n_excluded, void **made_, void *config, int flags)
{
	REAL(ncclCommShrink);
	struct sw_nccl_call call = {0};
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	const uint64_t identity = self.inside ? 0 : derive(comm, UINT64_C(1) << 32 | (uint32_t)n_excluded);
	begin_making(&call, identity, 0, 0, __builtin_frame_address(0));
	const int result = real(comm, excluded, n_excluded, made_, config, flags);
	return end_making(&call, result, made(result) ? *made_ : NULL, identity, 0, 0, __builtin_return_address(0));
}

int ncclCommDestroy(void *comm)
{
	REAL(ncclCommDestroy);
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	sw_nccl_comm_remove(comm);
	return real(comm);
}

int ncclCommAbort(void *comm)
{
	REAL(ncclCommAbort);
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	sw_nccl_comm_remove(comm);
	return real(comm);
}
