/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the change for each wait: only what the advice says, and only where that is safe. */
#include "confirm/savings.h"

#include <stdlib.h>
#include <string.h>

#include "api/names.h"

static const struct {
	const char *key, *did;
} changes[] = {
	[SW_CHANGE_NONE] = {NULL, NULL},
#define SW_RUN_CHANGE(name, key, text) [SW_CHANGE_##name] = {key, text},
#include "base/run_changes.def"
};

/* Refuses to try the change, for this reason. */
static void refuse_trial(struct sw_saving_trial *trial, enum sw_saving_reason why)
{
	trial->result.verdict = SW_SAVING_REFUSED;
	trial->result.reason = why;
	trial->result.change = trial->result.did = NULL;
	trial->changes.sites = 0;
}

/* Turns the change from pinning memory to copying it through a ring of pinned memory. */
void sw_saving_staged(struct sw_saving *saving)
{
	if (saving->change != changes[SW_CHANGE_PIN].key)
		return;
	saving->change = changes[SW_CHANGE_STAGE].key;
	saving->did = changes[SW_CHANGE_STAGE].did;
}

/* Adds a place at which calls are changed in this way; seq: one of its calls. */
static struct sw_plan_site *add_site(struct sw_saving_trial *trial, enum sw_run_change change, uint64_t seq)
{
	struct sw_plan_site *site = &trial->changes.site[trial->changes.sites];
	trial->seq[trial->changes.sites++] = seq;
	*site = (struct sw_plan_site){.change = change};
	trial->result.change = changes[change].key;
	trial->result.did = changes[change].did;
	return site;
}

/* Gives a stream a place in the plan; false: it cannot be named there. */
static bool add_stream(struct sw_saving_trial *trial, const struct sw_judgement *judgement, uint32_t stream,
		       uint32_t *place)
{
	const struct sw_stream_info *info = &judgement->streams.at[stream];
	for (*place = 0; *place < trial->changes.streams; ++*place)
		if (trial->stream[*place] == stream)
			return true;
	if (info->many || (info->kind != SW_LANE_LEGACY && (!info->create_seq || info->kind == SW_LANE_PER_THREAD)) ||
	    trial->changes.streams == SW_PLAN_STREAMS)
		return false;
	trial->stream[trial->changes.streams] = stream;
	trial->made[trial->changes.streams++] = info->kind == SW_LANE_LEGACY ? 0 : info->create_seq;
	return true;
}

/* Plans to wait only for what is needed, or not at all. */
static void narrow_wait(struct sw_saving_trial *trial, const struct sw_report *report)
{
	const struct sw_finding *f = trial->shown->finding;
	struct sw_plan_site *site =
		add_site(trial, sw_finding_details(f)->needs ? SW_CHANGE_NARROW : SW_CHANGE_SKIP, f->access[0]->seq);
	for (uint32_t i = 0; i < sw_finding_details(f)->needs && i < SW_PLAN_NEEDS; i++) {
		uint32_t to = SW_PLAN_HOST;
		const struct sw_need *need = &sw_finding_details(f)->need[i];
		if (!add_stream(trial, report->judgement, need->stream, &site->need[i].stream) ||
		    (need->to && !add_stream(trial, report->judgement, need->to, &to))) {
			refuse_trial(trial, SW_SAVING_BY_STREAM);
			return;
		}
		site->need[i].to = to;
		site->needs++;
	}
}

/* Does some order that the report relies on rest on a wait that no document promises?  It may be the wait that a
   trial removes. */
static bool order_rests_on_waits(const struct sw_report *report)
{
	const struct sw_judgement *j = report->judgement;
	for (size_t i = 0; i < j->findings.n; i++) {
		const struct sw_finding *f = &j->findings.at[i];
		/* The change itself takes care of memory that is freed while it is used. */
		if (sw_is_hazard(f) && f->id != SW_FINDING_USE_AFTER_FREE &&
		    (f->measured_order || f->basis != SW_BASIS_DOCUMENTED))
			return true;
	}
	return false;
}

/* Are both calls of one place in the program? */
static bool same_place(const struct sw_access *a, const struct sw_access *b)
{
	return a->seq && b->seq && a->api == b->api && a->stack == b->stack;
}

/* Plans to keep memory that is freed, for the next allocation of its size. */
static void keep_memory(struct sw_saving_trial *trial, uint64_t makes, uint64_t frees)
{
	add_site(trial, SW_CHANGE_KEEP, makes);
	add_site(trial, SW_CHANGE_KEEP, frees);
}

/* Joins two findings that have one advice: the call that frees what this one allocates, and the other way round. */
static void join_partner(sw_saving_trials *trials, size_t at, const struct sw_report *report)
{
	struct sw_saving_trial *trial = &trials->at[at];
	const struct sw_access *makes = trial->shown->finding->access[0];
	for (size_t i = 0; i < trials->n; i++)
		if (i != at && same_place(&sw_finding_details(trials->at[i].shown->finding)->maker, makes)) {
			trial->with = i + 1;
			return;
		}
	for (size_t i = 0; i < report->judgement->findings.n; i++) {
		const struct sw_finding *other = &report->judgement->findings.at[i];
		if (same_place(&sw_finding_details(other)->maker, makes)) {
			keep_memory(trial, makes->seq, other->access[0]->seq);
			return;
		}
	}
	add_site(trial, SW_CHANGE_KEEP, makes->seq);
	trial->wants_frees = true;
}

/* Is the entry point one whose name has this part? */
static bool api_is(const struct sw_report *report, const struct sw_access *access, const char *part)
{
	const struct sw_trace_api *api = sw_reader_api(report->reader, access->api);
	return api && strstr(api->driver, part);
}

/* Plans that memory is not pinned again and again: registered memory stays pageable and is copied through pinned
   buffers, memory from cudaHostAlloc is kept for the next allocation. */
static void avoid_pinning(struct sw_saving_trial *trial, const struct sw_report *report,
			  const struct sw_options *options)
{
	const struct sw_finding *f = trial->shown->finding;
	const bool registered = api_is(report, f->access[0], "gister"); /* cuMemHostRegister, cuMemHostUnregister */
	if (registered && options->guard_host)
		refuse_trial(trial, SW_SAVING_BY_GUARDED);
	else if (registered)
		add_site(trial, SW_CHANGE_UNPIN,
			 sw_finding_details(f)->maker.seq ? sw_finding_details(f)->maker.seq : f->access[0]->seq);
	else if (sw_finding_details(f)->maker.seq)
		keep_memory(trial, sw_finding_details(f)->maker.seq, f->access[0]->seq);
}

/* Plans to move the work of this place off the legacy default stream. */
static void move_to_own_stream(struct sw_saving_trial *trial, const struct sw_finding *f)
{
	add_site(trial, SW_CHANGE_OWN, f->access[0]->seq);
	trial->moved[trial->n_moved++] = (struct sw_moved_site){f->access[0]->api, f->access[0]->stack};
}

/* Plans that the copy or set does not wait: then the host continues before its memory is written, which the guard must
   see. */
static void make_asynchronous(struct sw_saving_trial *trial, const struct sw_options *options)
{
	if (!options->guard_host) {
		refuse_trial(trial, SW_SAVING_BY_UNGUARDED);
		return;
	}
	add_site(trial, SW_CHANGE_ASYNC, trial->shown->finding->access[0]->seq);
	trial->guarded = true;
}

/* Plans to make a copy that waits an asynchronous one. */
static void synchronous_copy(struct sw_saving_trial *trial, const struct sw_options *options)
{
	const struct sw_finding *f = trial->shown->finding;
	if (f->fix == SW_FIX_VALUE)
		refuse_trial(trial, SW_SAVING_BY_VALUE);
	else if (f->access[0]->kind != SW_REC_COPY)
		refuse_trial(trial, SW_SAVING_BY_NO_CHANGE);
	else if (sw_finding_details(f)->to_host)
		make_asynchronous(trial, options);
	else
		add_site(trial, SW_CHANGE_STAGE, f->access[0]->seq); /* the bytes are taken before it returns */
}

/* Chooses the change by the finding's kind, or why there is none. */
static void choose_change(struct sw_saving_trial *trial, const struct sw_report *report,
			  const struct sw_options *options)
{
	const struct sw_finding *f = trial->shown->finding;
	const bool rests = order_rests_on_waits(report);
	switch (f->id) {
	case SW_FINDING_DEVICE_FREE:
		if (rests)
			refuse_trial(trial, SW_SAVING_BY_ORDER);
		else if (sw_finding_details(f)->maker.seq)
			keep_memory(trial, sw_finding_details(f)->maker.seq, f->access[0]->seq);
		else
			refuse_trial(trial, SW_SAVING_BY_NO_CALL);
		break;
	case SW_FINDING_DEVICE_ALLOC:
		if (rests)
			refuse_trial(trial, SW_SAVING_BY_ORDER);
		break;
	case SW_FINDING_HOST_PIN:
		if (rests)
			refuse_trial(trial, SW_SAVING_BY_ORDER);
		else
			avoid_pinning(trial, report, options);
		break;
	case SW_FINDING_PAGEABLE_ASYNC_COPY:
		if (f->fix == SW_FIX_VALUE)
			refuse_trial(trial, SW_SAVING_BY_VALUE);
		else if (rests)
			refuse_trial(trial, SW_SAVING_BY_ORDER);
		else if (f->access[0]->kind == SW_REC_COPY)
			add_site(trial, SW_CHANGE_STAGE, f->access[0]->seq);
		else
			refuse_trial(trial, SW_SAVING_BY_NO_CHANGE);
		break;
	case SW_FINDING_MODULE_LOAD:
		trial->changes.eager = true;
		trial->result.change = changes[SW_CHANGE_EAGER].key;
		trial->result.did = changes[SW_CHANGE_EAGER].did;
		break;
	case SW_FINDING_DEVICE_CONFIG:
		if (rests)
			refuse_trial(trial, SW_SAVING_BY_ORDER);
		else if (api_is(report, f->access[0], "SetLimit"))
			add_site(trial, SW_CHANGE_LIMIT, f->access[0]->seq);
		else
			refuse_trial(trial, SW_SAVING_BY_NO_CHANGE);
		break;
	case SW_FINDING_OVER_WIDE_SYNC:
		/* The judge gives this advice only where it is sound for all calls of the place (doc/waits.md). */
		narrow_wait(trial, report);
		trial->guarded = options->guard_host && trial->changes.sites;
		trial->host_stays = true;
		break;
	case SW_FINDING_LEGACY_SERIALISATION:
		move_to_own_stream(trial, f);
		break;
	case SW_FINDING_SYNC_COPY:
		synchronous_copy(trial, options);
		break;
	case SW_FINDING_SYNC_MEMSET:
		if (!f->access[0]->seq || f->access[0]->kind != SW_REC_SET)
			refuse_trial(trial, SW_SAVING_BY_NO_CHANGE);
		else
			make_asynchronous(trial, options);
		break;
	case SW_FINDING_REDUNDANT_SYNC:
		add_site(trial, SW_CHANGE_SKIP, f->access[0]->seq);
		break;
	default:
		refuse_trial(trial, SW_SAVING_BY_NO_CHANGE);
	}
}

/* Joins findings about loading code: loading all of it at the start is one change for all kernels. */
static void join_loads(sw_saving_trials *trials, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (trials->at[i].changes.eager) {
			trials->at[at].changes.eager = false;
			trials->at[at].with = i + 1;
			return;
		}
}

/* Does the trial move the work of this finding's place? */
static bool moves_work(const struct sw_saving_trial *trial, const struct sw_finding *f)
{
	for (size_t i = 0; i < trial->n_moved; i++)
		if (trial->moved[i].api == f->access[0]->api && trial->moved[i].stack == f->access[0]->stack)
			return true;
	return false;
}

/* Joins findings whose work moves off the legacy default stream: all of it moves, since what moves and what stays may
   touch the same memory. */
static void join_moves(sw_saving_trials *trials, size_t at)
{
	struct sw_saving_trial *trial = &trials->at[at];
	for (size_t i = 0; i < at; i++) {
		struct sw_saving_trial *first = &trials->at[i];
		if (!first->n_moved)
			continue;
		if (!moves_work(first, trial->shown->finding) && first->n_moved < SW_SAVING_SITES)
			move_to_own_stream(first, trial->shown->finding);
		else if (!moves_work(first, trial->shown->finding))
			refuse_trial(first, SW_SAVING_BY_MANY);
		trial->changes.sites = 0;
		trial->n_moved = 0;
		trial->with = i + 1;
		return;
	}
}

/* Joins trials whose advice is one. */
static void join_trials(sw_saving_trials *trials, const struct sw_report *report)
{
	for (size_t i = 0; i < trials->n; i++) {
		struct sw_saving_trial *trial = &trials->at[i];
		if (trial->changes.eager)
			join_loads(trials, i);
		else if (trial->n_moved)
			join_moves(trials, i);
		else if (!trial->changes.sites && !trial->result.verdict)
			join_partner(trials, i, report);
	}
}

/* The waits of the report that are meant, with what is to be changed, or why not. */
bool sw_saving_trials_make(sw_saving_trials *trials, struct sw_report *report, const struct sw_options *options)
{
	const char *which = options->finding;
	*trials = (sw_saving_trials){0};
	for (size_t i = 0; i < report->shown.n; i++) {
		struct sw_shown_finding *shown = &report->shown.at[i];
		if (!sw_finding_is_wait(shown->finding->id) || !sw_finding_is_meant(report, shown, which))
			continue;
		struct sw_saving_trial *trial = sw_vec_push(trials);
		*trial = (struct sw_saving_trial){.shown = shown};
		choose_change(trial, report, options);
	}
	join_trials(trials, report);
	return trials->n > 0;
}

/* ---- as another run finds them ----------------------------------------------------------------------------------- */

/* Adds a call to those that are wanted, and how its memory is used; seq 0: none. */
static void want_use(sw_wanted_calls *wanted, uint64_t seq, struct sw_plan_call *call, struct sw_call_use *use)
{
	if (seq)
		*sw_vec_push(wanted) = (struct sw_wanted_call){seq, call, use};
}

/* Adds all calls of a trial to those that are wanted. */
static void want_all(sw_wanted_calls *wanted, struct sw_saving_trial *trial)
{
	for (uint32_t i = 0; i < trial->changes.sites; i++)
		want_use(wanted, trial->seq[i], &trial->call[i], &trial->use[i]);
	for (uint32_t i = 0; i < trial->changes.streams; i++)
		want_use(wanted, trial->made[i], &trial->changes.stream[i], NULL);
}

/* As often as that from the same memory: pinning it once is what the fixed program does. */
#define AGAIN	    4u
#define LEAST_BYTES (64u << 10) /* the driver takes fewer bytes before the call returns, and goes on */

/* Chooses pinning for copies that come from the same memory again and again: pinning it once is what the fixed program
   does. */
static void pin_or_stage(struct sw_saving_trial *trial, uint32_t at)
{
	const struct sw_call_use *use = &trial->use[at];
	const bool asynchronous = trial->shown->finding->id == SW_FINDING_PAGEABLE_ASYNC_COPY;
	if (!asynchronous || !use->copies || use->most < LEAST_BYTES || use->copies < AGAIN * use->sources)
		return;
	trial->changes.site[at].change = SW_CHANGE_PIN;
	trial->result.change = changes[SW_CHANGE_PIN].key;
	trial->result.did = changes[SW_CHANGE_PIN].did;
}

/* Frees at the place where this memory is freed keep their memory, and allocations of its size take it: as if it were
   not freed. */
static void keep_freed(struct sw_saving_trial *trial)
{
	const struct sw_call_use *use = &trial->use[0];
	const uint32_t device = (uint32_t)sw_api_find("cuMemAlloc_v2"), host = (uint32_t)sw_api_find("cuMemHostAlloc");
	const uint32_t api = trial->call[0].api;
	if (api != device && api != host) {
		refuse_trial(trial, SW_SAVING_BY_NO_CHANGE);
		return;
	}
	if (!use->n_frees || use->more_frees) {
		refuse_trial(trial, use->more_frees ? SW_SAVING_BY_MANY : SW_SAVING_BY_PARTNER);
		return;
	}
	for (uint32_t i = 0; i < use->n_frees; i++)
		*add_site(trial, SW_CHANGE_KEEP, 0) = (struct sw_plan_site){
			.change = SW_CHANGE_KEEP, .api = use->frees[i].api, .stack = use->frees[i].stack};
	*add_site(trial, SW_CHANGE_KEEP, 0) =
		(struct sw_plan_site){.change = SW_CHANGE_KEEP, .api = api, .stack = SW_PLAN_ANY};
}

/* Is this place one at which the plan changes frees? */
static bool frees_at(const struct sw_plan_changes *plan, uint32_t api, uint64_t stack)
{
	for (uint32_t i = 0; i < plan->sites; i++)
		if (plan->site[i].api == api && plan->site[i].stack == stack)
			return true;
	return false;
}

/* Drops the trial of an allocation if an earlier trial keeps all blocks that it would keep: they are one. */
static void join_frees(sw_saving_trials *trials, size_t at)
{
	struct sw_saving_trial *trial = &trials->at[at];
	for (size_t i = 0; i < at && trial->wants_frees && trial->changes.sites; i++) {
		const struct sw_saving_trial *first = &trials->at[i];
		bool all = first->wants_frees && first->changes.sites && first->call[0].api == trial->call[0].api;
		for (uint32_t k = 0; k < trial->use[0].n_frees && all; k++)
			all = frees_at(&first->changes, trial->use[0].frees[k].api, trial->use[0].frees[k].stack);
		if (!all)
			continue;
		trial->changes.sites = 0;
		trial->with = i + 1;
	}
}

/* Fills in by which function and call stack the calls of the trial are recognised in another run; refuses it where one
   is not known. */
static void settle_sites(struct sw_saving_trial *trial)
{
	for (uint32_t i = 0; i < trial->changes.sites; i++) {
		trial->changes.site[i].api = trial->call[i].api;
		trial->changes.site[i].stack = trial->call[i].stack;
		trial->changes.site[i].value = trial->use[i].most;
		if (!trial->call[i].api) {
			refuse_trial(trial, SW_SAVING_BY_NO_CALL);
			return;
		}
		if (trial->changes.site[i].change == SW_CHANGE_STAGE)
			pin_or_stage(trial, i);
		const enum sw_run_change change = trial->changes.site[i].change;
		const bool copies = change == SW_CHANGE_STAGE || change == SW_CHANGE_PIN || change == SW_CHANGE_UNPIN;
		if (copies && trial->changes.room < trial->use[i].most)
			trial->changes.room = trial->use[i].most;
	}
	if (trial->wants_frees)
		keep_freed(trial);
	for (uint32_t i = 0; i < trial->changes.streams; i++)
		if (trial->made[i] && !trial->changes.stream[i].api) {
			refuse_trial(trial, SW_SAVING_BY_STREAM);
			return;
		}
}

/* Finds how the calls of all trials are recognised in another run. */
int sw_saving_trials_locate(sw_saving_trials *trials, const char *trace, struct sw_error *error)
{
	sw_wanted_calls wanted = {0};
	for (size_t i = 0; i < trials->n; i++)
		want_all(&wanted, &trials->at[i]);
	const int got = sw_calls_locate(&wanted, trace, error);
	for (size_t i = 0; i < trials->n && !got; i++)
		settle_sites(&trials->at[i]);
	for (size_t i = 0; i < trials->n && !got; i++)
		join_frees(trials, i);
	free(wanted.at);
	return got;
}
