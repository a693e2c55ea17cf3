/* SPDX-License-Identifier: Apache-2.0 */
#include "hb/clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static size_t size_of(uint32_t room)
{
	return sizeof(struct sw_vector_clock) + room * sizeof(struct sw_known_tick);
}

/* *bytes: the memory that clocks hold. */
static void release(size_t *bytes, struct sw_vector_clock *clock)
{
	if (!clock || --clock->refs)
		return;
	*bytes -= size_of(clock->room);
	free(clock);
}

/* A clock of our own with at least n slots: the same one, or a copy when others hold it. */
static struct sw_vector_clock *writable(size_t *bytes, struct sw_vector_clock *clock, uint32_t n)
{
	uint32_t had = clock ? clock->n : 0;
	if (clock && clock->refs == 1 && n <= clock->room) {
		if (n > had) {
			memset(clock->at + had, 0, (n - had) * sizeof *clock->at);
			clock->n = n;
		}
		return clock;
	}
	if (n < had)
		n = had;
	uint32_t room = (n + 7) & ~7u;
	struct sw_vector_clock *copy = sw_alloc(size_of(room));
	*bytes += size_of(room);
	copy->refs = 1;
	copy->n = n;
	copy->room = room;
	if (had)
		memcpy(copy->at, clock->at, had * sizeof *copy->at);
	memset(copy->at + had, 0, (n - had) * sizeof *copy->at);
	release(bytes, clock);
	return copy;
}

/* Raises the clock's tick of `lane` to at least tick. Returns whether it grew. */
static bool raise_tick(size_t *bytes, struct sw_vector_clock **clock, uint32_t lane, uint64_t tick, uint64_t learnt)
{
	if (sw_clock_get(*clock, lane) >= tick)
		return false;
	*clock = writable(bytes, *clock, lane + 1);
	(*clock)->at[lane] = (struct sw_known_tick){tick, learnt};
	return true;
}

/* Index of the first slot of `from`, other than `own`, that *clock does not know; from->n if there is none. */
static uint32_t first_newer(const struct sw_vector_clock *clock, const struct sw_vector_clock *from, uint32_t own)
{
	uint32_t both = clock->n < from->n ? clock->n : from->n, i = 0;
	while (i < both && (clock->at[i].tick >= from->at[i].tick || i == own))
		i++;
	if (i == both)
		while (i < from->n && (!from->at[i].tick || i == own))
			i++;
	return i;
}

/* Joins `from` into the clock of lane `own`; learnt: what to note for each slot that grows, or SW_LEARNT_KEEP. */
static bool join(size_t *bytes, struct sw_vector_clock **clock, struct sw_vector_clock *from, uint32_t own,
		 uint64_t learnt)
{
	if (!from || from == *clock)
		return false;
	if (!*clock && learnt == SW_LEARNT_KEEP) {
		*clock = sw_clock_hold(from);
		return true;
	}
	if (!*clock)
		*clock = writable(bytes, NULL, from->n);
	uint32_t i = first_newer(*clock, from, own);
	if (i == from->n)
		return false;
	struct sw_vector_clock *to = *clock = writable(bytes, *clock, from->n);
	for (; i < from->n; i++)
		if (from->at[i].tick > to->at[i].tick && i != own) {
			to->at[i].tick = from->at[i].tick;
			to->at[i].learnt = learnt == SW_LEARNT_KEEP ? from->at[i].learnt : learnt;
		}
	return true;
}

/* The same ticks, from whatever records. */
static bool equal(const struct sw_vector_clock *a, const struct sw_vector_clock *b)
{
	uint32_t na = a ? a->n : 0, nb = b ? b->n : 0;
	for (uint32_t i = 0; i < na || i < nb; i++)
		if (sw_clock_get(a, i) != sw_clock_get(b, i))
			return false;
	return true;
}

struct sw_known sw_known_hold(const struct sw_known *known)
{
	return (struct sw_known){sw_clock_hold(known->documented), sw_clock_hold(known->measured),
				 sw_clock_hold(known->observed)};
}

void sw_known_drop(size_t *bytes, struct sw_known *known)
{
	release(bytes, known->documented);
	release(bytes, known->measured);
	release(bytes, known->observed);
	*known = (struct sw_known){NULL, NULL, NULL};
}

/* Which clocks other than the documented one are, or become, separate clocks. (A clock that knows nothing is NULL.) */
struct separate {
	bool measured, observed;
};

/* Before the clocks may come to differ ... */
static struct separate separate_clocks(struct sw_known *known, const struct sw_known *from, enum sw_order basis)
{
	struct separate separate = {.measured = known->measured || basis == SW_ORDER_MEASURED,
				    .observed = known->observed || basis == SW_ORDER_OBSERVED};
	separate.measured |= from && from->measured && basis == SW_ORDER_DOCUMENTED;
	separate.observed |= from && from->observed;
	if (separate.observed && !known->observed)
		known->observed = sw_clock_hold(sw_known_measured(known));
	if (separate.measured && !known->measured)
		known->measured = sw_clock_hold(known->documented);
	return separate;
}

/* ... and after: what did not learn cannot have caught up. */
static void merge_equal(size_t *bytes, struct sw_known *known, bool documented, bool measured)
{
	const struct sw_vector_clock *less = sw_known_measured(known);
	if (known->observed == less || (known->observed && (documented || measured) && equal(less, known->observed))) {
		release(bytes, known->observed);
		known->observed = NULL;
	}
	if (known->measured == known->documented || (documented && equal(known->documented, known->measured))) {
		release(bytes, known->measured);
		known->measured = NULL;
	}
}

bool sw_known_raise(size_t *bytes, struct sw_known *known, uint32_t lane, uint64_t tick, uint64_t learnt,
		    enum sw_order basis)
{
	if (basis == SW_ORDER_DOCUMENTED && !known->measured && !known->observed)
		return raise_tick(bytes, &known->documented, lane, tick, learnt);
	struct separate separate = separate_clocks(known, NULL, basis);
	bool observed = separate.observed && raise_tick(bytes, &known->observed, lane, tick, learnt);
	bool measured = separate.measured && basis >= SW_ORDER_MEASURED &&
			raise_tick(bytes, &known->measured, lane, tick, learnt);
	bool documented = basis == SW_ORDER_DOCUMENTED && raise_tick(bytes, &known->documented, lane, tick, learnt);
	merge_equal(bytes, known, documented, measured);
	return observed || measured || documented;
}

bool sw_known_join(size_t *bytes, struct sw_known *known, const struct sw_known *from, uint32_t own, uint64_t learnt,
		   enum sw_order basis)
{
	if (basis == SW_ORDER_DOCUMENTED && !known->measured && !from->measured && !known->observed && !from->observed)
		return join(bytes, &known->documented, from->documented, own, learnt);
	struct separate separate = separate_clocks(known, from, basis);
	bool observed =
		separate.observed && join(bytes, &known->observed, sw_known_by(from, SW_ORDER_OBSERVED), own, learnt);
	bool measured = separate.measured && basis >= SW_ORDER_MEASURED &&
			join(bytes, &known->measured, sw_known_measured(from), own, learnt);
	bool documented =
		basis == SW_ORDER_DOCUMENTED && join(bytes, &known->documented, from->documented, own, learnt);
	merge_equal(bytes, known, documented, measured);
	return observed || measured || documented;
}
