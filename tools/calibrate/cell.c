/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/cell.h"

#include <stdlib.h>

#include "calibrate/measure.h"
#include "clock.h"

/* Results of one repetition. */
struct seen {
	bool blocked, next, own, has_own;
	bool unclear; /* the kernel had ended, but the call alone may have taken as long */
	uint64_t ns;
};

/* Sees whether work after the call waited for the kernel that spins.  It did not if it was seen to be done before the
   kernel was: the kernel is asked last, as it may end between two questions. */
static void watch_streams(struct sw_bench *b, CUstream own, struct seen *seen)
{
	bool next_done = false, own_done = !own;
	seen->has_own = own != NULL;
	if (sw_bench_quick(b, b->nb3))
		return;
	while (!next_done || !own_done) {
		bool next = b->d.cuStreamQuery(b->nb3) == CUDA_SUCCESS;
		bool of_own = own && b->d.cuStreamQuery(own) == CUDA_SUCCESS;
		if (b->d.cuEventQuery(b->spin_end) == CUDA_SUCCESS)
			break;
		next_done |= next;
		own_done |= of_own;
	}
	seen->next = !next_done;
	seen->own = !own_done;
}

/* Makes the row's call while a kernel spins on a stream, and sees whether it returned before the kernel ended and what
   else waited. */
static CUresult measure_once(struct sw_bench *b, const struct sw_row *row, CUstream spinner, uint64_t idle_ns,
			     struct seen *seen)
{
	CUresult rc = row->prepare(b);
	if (!rc)
		rc = sw_bench_spin(b, spinner);
	if (!rc)
		rc = b->d.cuEventRecord(b->spin_end, spinner);
	if (rc)
		return rc;
	uint64_t start = sw_now_ns();
	rc = row->call(b);
	seen->ns = sw_now_ns() - start;
	if (rc)
		return rc;
	/* A call that takes as long with nothing pending did not wait, it worked. */
	bool over = b->d.cuEventQuery(b->spin_end) == CUDA_SUCCESS;
	seen->blocked = over && seen->ns > idle_ns + sw_bench_spin_ns(b) / 2;
	seen->unclear = over && !seen->blocked;
	if (!over)
		watch_streams(b, row->own(b), seen);
	sw_bench_stop(b);
	rc = b->d.cuCtxSynchronize();
	return rc ? rc : row->end(b);
}

/* How long the row's call takes when nothing runs: the lesser of two, as the first may have to load or to grow
   something. */
CUresult sw_cell_idle(struct sw_bench *b, const struct sw_row *row, uint64_t *ns)
{
	CUresult rc = CUDA_SUCCESS;
	*ns = UINT64_MAX;
	for (int i = 0; i < 2 && !rc; i++) {
		rc = row->prepare(b);
		sw_bench_stop(b); /* what the set-up left spinning */
		if (!rc)
			rc = b->d.cuCtxSynchronize();
		uint64_t start = sw_now_ns();
		if (!rc)
			rc = row->call(b);
		uint64_t took = sw_now_ns() - start;
		*ns = took < *ns ? took : *ns;
		if (!rc)
			rc = b->d.cuCtxSynchronize();
		if (!rc)
			rc = row->end(b);
	}
	return rc;
}

/* For qsort(): by value. */
static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* The verdict of `of` repetitions: '0' in none, '1' in all, '?' they disagree, '-' none. */
static char verdict_of(int times, int of)
{
	return of == 0 ? '-' : times == 0 ? '0' : times == of ? '1' : '?';
}

/* Measures a call, for one kind of stream that is busy, several times. */
static CUresult measure_cell(struct sw_bench *b, const struct sw_row *row, CUstream spinner, uint64_t idle_ns,
			     struct sw_waits *out, bool *unclear)
{
	uint64_t ns[SW_CALIBRATE_REPETITIONS];
	int blocked = 0, next = 0, own = 0, watched = 0, with_own = 0;
	for (int i = 0; i < SW_CALIBRATE_REPETITIONS; i++) {
		struct seen seen = {0};
		CUresult rc = measure_once(b, row, spinner, idle_ns, &seen);
		if (rc)
			return rc;
		ns[i] = seen.ns;
		*unclear |= seen.unclear;
		blocked += seen.blocked;
		watched += !seen.blocked;
		next += seen.next;
		with_own += seen.has_own;
		own += seen.own;
	}
	qsort(ns, SW_CALIBRATE_REPETITIONS, sizeof ns[0], by_size);
	*out = (struct sw_waits){.blocks = verdict_of(blocked, SW_CALIBRATE_REPETITIONS),
				 .next = verdict_of(next, watched),
				 .own = verdict_of(own, with_own),
				 .ns = ns[SW_CALIBRATE_REPETITIONS / 2]};
	return CUDA_SUCCESS;
}

/* Measures one cell of the table: does the row's call wait for a kernel on this stream?  A host that was busy elsewhere
   makes work look held back, calls look long, and repetitions disagree: those are asked again, with a kernel that spins
   for longer than a host thread is descheduled. */
CUresult sw_cell_measure(struct sw_bench *b, const struct sw_row *row, enum sw_spinner where, uint64_t idle_ns,
			 struct sw_waits *out)
{
	const CUstream spinners[SW_SPINNERS] = {
		[SW_SPIN_NONBLOCKING] = b->nb1, [SW_SPIN_BLOCKING] = b->blk, [SW_SPIN_LEGACY] = CU_STREAM_LEGACY};
	bool unclear = false;
	b->patient = false;
	CUresult rc = measure_cell(b, row, spinners[where], idle_ns, out, &unclear);
	bool held = out->next == '1' || out->next == '?' || out->own == '1' || out->own == '?';
	if (rc || (!unclear && !held && out->blocks != '?'))
		return rc;
	b->patient = true;
	rc = measure_cell(b, row, spinners[where], idle_ns, out, &unclear);
	b->patient = false;
	return rc;
}
