/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-nccl.so: records the collectives of NCCL.  It defines NCCL's functions, so that objects that link
 * libnccl.so reach it first, and calls those of the library that is loaded:  Python loads it RTLD_LOCAL, where
 * RTLD_NEXT does not look.  A look-up by dlsym() (JAX, ctypes) gets ours as well (preload/platform/named_function.h).
 * NCCL's functions as programs see them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "preload/platform/loaded_function.h"
#include "preload/platform/lock.h"
#include "preload/platform/named_function.h"
#include "preload/recorder/companion.h"

/* ncclUniqueId: passed by value. */
struct sw_nccl_id {
	char internal[128];
};

enum { SW_NCCL_SYSTEM_ERROR = 2, SW_NCCL_IN_PROGRESS = 7 };

/* ---- the library ------------------------------------------------------------------------------------------------ */

#define SW_NCCL_OBJECT "libnccl.so"

enum sw_nccl_function {
#define MOVES(name, ...) SW_##name,
#define TAKES(name, ...) SW_##name,
#include "preload/nccl/functions.def"
#undef MOVES
#undef TAKES
	SW_NCCL_FUNCTIONS
};

/* ---- communicators ---------------------------------------------------------------------------------------------- */

struct sw_nccl_comm {
	uint64_t identity; /* the same in all processes of the communicator; 0 unknown */
	uint32_t rank, size;
	uint64_t calls;	 /* collectives so far */
	uint32_t splits; /* communicators made of it so far */
};

/* ---- records ---------------------------------------------------------------------------------------------------- */

/* One call that is recorded: what is inside is recorded by itself. */
struct sw_nccl_call {
	bool on;
	uint64_t seq, t0;
	void *frame;
};

/* The library that is loaded, and its functions. */

static const char *const names[] = {
#define MOVES(name, ...) #name,
#define TAKES(name, ...) #name,
#include "preload/nccl/functions.def"
#undef MOVES
#undef TAKES
};

static struct sw_loaded_site loaded_at[1024];
static struct sw_loaded_sites sites = {sizeof loaded_at / sizeof *loaded_at, loaded_at};

/* NCCL's function that ours stands before, for a call that returns to this address; NULL: the library has none, or is
   not loaded.  Any thread. */
static void *nccl_real(enum sw_nccl_function function, const void *caller)
{
	return sw_loaded_function_at(&sites, function, names[function], SW_NCCL_OBJECT, caller);
}

/* Another function of the same library, by name. */
static void *nccl_other(const char *name, const void *caller)
{
	return sw_loaded_function(name, SW_NCCL_OBJECT, caller);
}

/*
 * Communicators by their handle.  A table of fixed size: one that does not fit is unknown, and its collectives cannot
 * be compared with those of other ranks.
 */

#define MAX_COMMS 4096u

typedef int sw_nccl_ask(void *comm, int *value);

static struct {
	struct sw_lock lock;
	struct entry {
		void *handle; /* NULL: free; GONE: was taken, so searches continue */
		struct sw_nccl_comm comm;
		sw_nccl_ask *count, *rank; /* of its library */
	} at[MAX_COMMS];
} table;

#define GONE ((void *)1)

/* Where the search for a communicator begins. */
static uint32_t place_of(const void *handle)
{
	return (uint32_t)(((uintptr_t)handle >> 4) * 2654435761u) % MAX_COMMS;
}

/* The entry of a communicator; NULL: unknown.  Under the lock. */
static struct entry *find_communicator(const void *handle)
{
	for (uint32_t i = 0, at = place_of(handle); i < MAX_COMMS; i++, at = (at + 1) % MAX_COMMS) {
		if (table.at[at].handle == handle)
			return &table.at[at];
		if (!table.at[at].handle)
			return NULL;
	}
	return NULL;
}

/* Remembers a communicator; size 0: the library is asked for rank and size when they are needed. */
static void nccl_comm_add(void *handle, uint64_t identity, uint32_t rank, uint32_t size, const void *caller)
{
	if (!handle)
		return;
	sw_nccl_ask *ask_count = (sw_nccl_ask *)(uintptr_t)nccl_other("ncclCommCount", caller);
	sw_nccl_ask *ask_rank = (sw_nccl_ask *)(uintptr_t)nccl_other("ncclCommUserRank", caller);
	const uint64_t mask = sw_lock_enter(&table.lock);
	struct entry *entry = find_communicator(handle);
	for (uint32_t i = 0, at = place_of(handle); !entry && i < MAX_COMMS; i++, at = (at + 1) % MAX_COMMS)
		if (!table.at[at].handle || table.at[at].handle == GONE)
			entry = &table.at[at];
	if (entry)
		*entry =
			(struct entry){handle, {.identity = identity, .rank = rank, .size = size}, ask_count, ask_rank};
	sw_lock_leave(&table.lock, mask);
}

/* Asks the library for a number of a communicator, i.e. its size or rank; 0: it has none yet. */
static uint32_t ask_number(sw_nccl_ask *function, void *handle)
{
	int value = 0;
	return function && function(handle, &value) == 0 && value > 0 ? (uint32_t)value : 0;
}

/* For a communicator that did not block when it was made: NCCL answers once it is complete. */
static void complete_entry(void *handle, const struct entry *known)
{
	const uint32_t size = ask_number(known->count, handle), rank = size ? ask_number(known->rank, handle) : 0;
	const uint64_t mask = sw_lock_enter(&table.lock);
	struct entry *entry = find_communicator(handle);
	if (entry && size) {
		entry->comm.size = size;
		entry->comm.rank = rank;
	}
	sw_lock_leave(&table.lock, mask);
}

/* Our entry of a communicator; all zero: unknown.  `call`: counts a collective, `split`: counts a communicator made of
   it. */
static struct sw_nccl_comm nccl_comm_get(void *handle, bool call, bool split)
{
	struct sw_nccl_comm comm = {0};
	for (int attempt = 0; attempt < 2; attempt++) {
		const uint64_t mask = sw_lock_enter(&table.lock);
		struct entry *entry = handle ? find_communicator(handle) : NULL;
		const bool known = entry && entry->comm.size;
		const struct entry copy = entry ? *entry : (struct entry){0};
		if (entry && (known || attempt)) {
			comm = entry->comm;
			entry->comm.calls += call;
			entry->comm.splits += split;
		}
		sw_lock_leave(&table.lock, mask);
		if (!entry || known)
			break;
		if (!attempt)
			complete_entry(handle, &copy);
	}
	return comm;
}

/* Forgets a communicator that the program destroys. */
static void nccl_comm_remove(void *handle)
{
	const uint64_t mask = sw_lock_enter(&table.lock);
	struct entry *entry = handle ? find_communicator(handle) : NULL;
	if (entry)
		*entry = (struct entry){.handle = GONE};
	sw_lock_leave(&table.lock, mask);
}

/*
 * A call of NCCL as two records of the recorder, before and after it: the calls of CUDA that it makes are recorded
 * between them.
 */

static const struct sw_companion *recorder;
static bool asked;

/*
 * The recorder; NULL: there is none.  Each thread that comes here before it is done does it all: the results are the
 * same.
 */
static const struct sw_companion *nccl_recorder(void)
{
	if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
		const struct sw_companion *(*find)(uint32_t) =
			(__typeof__(find))(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_companion");
		recorder = find ? find(SW_COMPANION_VERSION) : NULL;
		__atomic_store_n(&asked, true, __ATOMIC_RELEASE);
	}
	return recorder;
}

/* Writes the BEGIN record of a call: `what`, all but its header. */
static void nccl_begin(struct sw_nccl_call *call, const struct sw_rec_collective *what, void *frame)
{
	const int saved = errno;
	const struct sw_companion *c = nccl_recorder();
	struct sw_call one;
	*call = (struct sw_nccl_call){.frame = frame};
	/* A program that never calls CUDA leaves no trace. */
	call->on = c && c->recording() && !c->nested(frame) && c->enter(&one, 0, SW_RF_BEGIN, frame);
	if (call->on) {
		struct sw_rec_collective *r = c->record(&one, SW_REC_COLLECTIVE, sizeof *r);
		if (r)
			memcpy((char *)r + sizeof r->h, (const char *)what + sizeof r->h, sizeof *r - sizeof r->h);
		c->publish(&one);
		call->seq = one.seq;
		call->t0 = one.t0;
		c->leave(&one, 0);
	}
	errno = saved;
}

/* The call has returned: writes the END record, which names the BEGIN. */
static void nccl_end(struct sw_nccl_call *call, int result)
{
	const int saved = errno;
	const struct sw_companion *c = nccl_recorder();
	struct sw_call one;
	if (call->on && c->enter(&one, 0, SW_RF_END, call->frame)) {
		struct sw_rec_end *r = c->record(&one, SW_REC_COLLECTIVE, sizeof *r);
		if (r)
			r->begin_seq = call->seq;
		c->publish(&one);
		one.t0 = call->t0;
		c->leave(&one, result);
	}
	errno = saved;
}

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

/* Writes the BEGIN record of a collective, or of a send or receive, which have no number in their communicator. */
static void begin_call(struct sw_nccl_call *call, const struct work *work, void *frame)
{
	const bool paired = work->op == SW_COLLECTIVE_SEND || work->op == SW_COLLECTIVE_RECEIVE;
	const struct sw_nccl_comm comm = nccl_comm_get(work->comm, !paired, /* split */ false);
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
	nccl_begin(call, &r, frame);
}

#define MOVES(name, op_, parameters, arguments, send_, receive_, reduction_, root_)                                    \
	EXPORT int name parameters;                                                                                    \
	int name parameters                                                                                            \
	{                                                                                                              \
		int(*real) parameters =                                                                                \
			(int(*) parameters)(uintptr_t)nccl_real(SW_##name, __builtin_return_address(0));               \
		const struct work work = {SW_COLLECTIVE_##op_, send_, receive_, count, type,                           \
					  reduction_,	       root_, comm,	stream};                               \
		struct sw_nccl_call call = {0};                                                                        \
		if (!real)                                                                                             \
			return SW_NCCL_SYSTEM_ERROR;                                                                   \
		if (!self.inside)                                                                                      \
			begin_call(&call, &work, __builtin_frame_address(0));                                          \
		self.inside++;                                                                                         \
		const int result = real arguments;                                                                     \
		self.inside--;                                                                                         \
		nccl_end(&call, result);                                                                               \
		return result;                                                                                         \
	}
#define TAKES(name, parameters)                                                                                        \
	EXPORT int name parameters;                                                                                    \
	typedef int type_##name parameters;
#include "preload/nccl/functions.def"
#undef MOVES
#undef TAKES

#define REAL(name) type_##name *real = (type_##name *)(uintptr_t)nccl_real(SW_##name, __builtin_return_address(0))

/* ---- looked up by name ------------------------------------------------------------------------------------------- */

/* For the program's dlsym(): our function of that name; NULL: none. */
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

/* From now on dlsym() of the program finds our functions. */
__attribute__((constructor)) static void start(void)
{
	if (nccl_recorder() && nccl_recorder()->look_ups.real)
		sw_named_functions(function_of, &nccl_recorder()->look_ups);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* From here on the thread's collectives are held back until the group's end. */
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

/* Ends a group, at whose outermost end its collectives are launched: a record of that stands for their launch. */
int ncclGroupEnd(void)
{
	REAL(ncclGroupEnd);
	struct sw_nccl_call call = {0};
	const struct sw_rec_collective r = {.op = SW_COLLECTIVE_GROUP_END, .root = -1};
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	if (!self.inside && self.group && --self.group == 0)
		nccl_begin(&call, &r, __builtin_frame_address(0));
	self.inside++;
	const int result = real();
	self.inside--;
	nccl_end(&call, result);
	return result;
}

/* Ends a group whose collectives are never launched. */
int ncclGroupSimulateEnd(void *info)
{
	REAL(ncclGroupSimulateEnd);
	struct sw_nccl_call call = {0};
	const struct sw_rec_collective r = {
		.op = SW_COLLECTIVE_GROUP_END, .root = -1, .flags = SW_COLLECTIVE_SIMULATED};
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	if (!self.inside && self.group && --self.group == 0)
		nccl_begin(&call, &r, __builtin_frame_address(0));
	self.inside++;
	const int result = real(info);
	self.inside--;
	nccl_end(&call, result);
	return result;
}

/* ---- communicators ----------------------------------------------------------------------------------------------- */

/* Was the communicator made, perhaps not yet completely? */
static bool was_made(int result)
{
	return result == 0 || result == SW_NCCL_IN_PROGRESS;
}

/* An identity from what all ranks pass; never 0. */
static uint64_t hash_id(const struct sw_nccl_id *id, int n)
{
	const uint64_t hash = sw_hash_words(id, sizeof *id * (size_t)(n > 0 ? n : 0));
	return hash ? hash : 1;
}

/* Records that a call begins to make a communicator, since it may wait for other ranks for ever. */
static void begin_making(struct sw_nccl_call *call, uint64_t identity, int rank, int ranks, void *frame)
{
	const struct sw_rec_collective r = {.op = SW_COLLECTIVE_COMMUNICATOR,
					    .communicator = identity,
					    .root = -1,
					    .rank = (uint32_t)rank,
					    .size = (uint32_t)ranks,
					    .flags = self.group ? SW_COLLECTIVE_IN_GROUP : 0};
	if (!self.inside)
		nccl_begin(call, &r, frame);
	self.inside++;
}

/* Records that it was made.  In a group the handle is filled in when the group ends; until then it has the place for
   it. */
static int end_making(struct sw_nccl_call *call, int result, void *handle, uint64_t identity, uint32_t rank,
		      uint32_t size, const void *caller)
{
	self.inside--;
	if (was_made(result) && !self.inside)
		nccl_comm_add(handle, identity, rank, size, caller);
	nccl_end(call, result);
	return result;
}

/* The functions that make communicators record a call that may wait for other ranks, and remember the handle. */
int ncclCommInitRank(void **comm, int ranks, struct sw_nccl_id id, int rank)
{
	REAL(ncclCommInitRank);
	struct sw_nccl_call call = {0};
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	const uint64_t identity = hash_id(&id, 1);
	begin_making(&call, identity, rank, ranks, __builtin_frame_address(0));
	const int result = real(comm, ranks, id, rank);
	return end_making(&call, result, was_made(result) ? *comm : NULL, identity, (uint32_t)rank, (uint32_t)ranks,
			  __builtin_return_address(0));
}

/* The unique id, which all ranks got from one of them, identifies the communicator. */
int ncclCommInitRankConfig(void **comm, int ranks, struct sw_nccl_id id, int rank, void *config)
{
	REAL(ncclCommInitRankConfig);
	struct sw_nccl_call call = {0};
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	const uint64_t identity = hash_id(&id, 1);
	begin_making(&call, identity, rank, ranks, __builtin_frame_address(0));
	const int result = real(comm, ranks, id, rank, config);
	return end_making(&call, result, was_made(result) ? *comm : NULL, identity, (uint32_t)rank, (uint32_t)ranks,
			  __builtin_return_address(0));
}

/* As ncclCommInitRankConfig(), with several ids for large jobs. */
int ncclCommInitRankScalable(void **comm, int ranks, int rank, int ids, struct sw_nccl_id *id, void *config)
{
	REAL(ncclCommInitRankScalable);
	struct sw_nccl_call call = {0};
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	const uint64_t identity = id && ids > 0 ? hash_id(id, ids) : 0;
	begin_making(&call, identity, rank, ranks, __builtin_frame_address(0));
	const int result = real(comm, ranks, rank, ids, id, config);
	return end_making(&call, result, was_made(result) ? *comm : NULL, identity, (uint32_t)rank, (uint32_t)ranks,
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
	for (int i = 0; was_made(result) && i < devices; i++)
		nccl_comm_add(comms[i], 0, (uint32_t)i, (uint32_t)devices, __builtin_return_address(0));
	return result;
}

/* All ranks of the parent call it, in the same order: parent, count and what distinguishes the parts identify it. */
static uint64_t derive_identity(void *parent, uint64_t part)
{
	const struct sw_nccl_comm comm = nccl_comm_get(parent, /* call */ false, /* split */ true);
	const uint64_t words[] = {comm.identity, comm.splits, part};
	return comm.identity ? sw_hash_words(words, sizeof words) | 1 : 0;
}

/* Parts of a communicator, one for each `color`; rank and size are asked for later. */
int ncclCommSplit(void *comm, int color, int key, void **made_, void *config)
{
	REAL(ncclCommSplit);
	struct sw_nccl_call call = {0};
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	const uint64_t identity = self.inside ? 0 : derive_identity(comm, (uint64_t)(uint32_t)color);
	begin_making(&call, identity, 0, 0, __builtin_frame_address(0));
	const int result = real(comm, color, key, made_, config);
	return end_making(&call, result, was_made(result) ? *made_ : NULL, identity, 0, 0, __builtin_return_address(0));
}

/* A communicator without some of the ranks. */
int ncclCommShrink(void *comm, int *excluded, int n_excluded, void **made_, void *config, int flags)
{
	REAL(ncclCommShrink);
	struct sw_nccl_call call = {0};
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	const uint64_t identity = self.inside ? 0 : derive_identity(comm, UINT64_C(1) << 32 | (uint32_t)n_excluded);
	begin_making(&call, identity, 0, 0, __builtin_frame_address(0));
	const int result = real(comm, excluded, n_excluded, made_, config, flags);
	return end_making(&call, result, was_made(result) ? *made_ : NULL, identity, 0, 0, __builtin_return_address(0));
}

/* Forgets the communicator first: another one may get its pointer as soon as this returns. */
int ncclCommDestroy(void *comm)
{
	REAL(ncclCommDestroy);
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	nccl_comm_remove(comm);
	return real(comm);
}

/* Forgets the communicator first: another one may get its pointer as soon as this returns. */
int ncclCommAbort(void *comm)
{
	REAL(ncclCommAbort);
	if (!real)
		return SW_NCCL_SYSTEM_ERROR;
	nccl_comm_remove(comm);
	return real(comm);
}
