/* SPDX-License-Identifier: Apache-2.0 */
#include "run/flight.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/map.h"
#include "clock.h"
#include "reader/kinds.h"
#include "run/collect.h"
#include "run/follower.h"
#include "run/kept.h"

#define LOOK_NS	   200000000
#define KEEP_BYTES (2ull << 30) /* with --last alone */
#define SLACK	   (64ull << 20)
#define CHUNK_MAX  (64u << 20) /* as readers have it: the program may have written anything */
#define DUMPS_MOST 1000u

enum chunk_state { CHUNK_UNSEEN, CHUNK_OPEN, CHUNK_CLOSED, CHUNK_DROPPED };

struct chunk {
	uint8_t state; /* enum chunk_state */
	uint32_t writer, index;
	uint32_t bytes;	 /* of records */
	uint32_t looked; /* bytes of them that were searched for errors */
	uint64_t first_seq, last_seq, closed_ns;
};

struct recording {
	struct sw_kept *kept;
	SW_VEC(struct chunk) chunks; /* from number `base` on */
	uint64_t base;
	struct sw_map next; /* writer -> index of the chunk that is dropped next */
	unsigned char *scratch;
	uint64_t active_ns; /* when something had been recorded since the look before, last */
	uint32_t chunk_bytes, header_bytes;
	uint32_t dumps;
	bool failed; /* a CUDA error was seen that ends a context */
	bool over;
};

struct sw_flight {
	uint64_t last_ns; /* 0: as long as there is room */
	uint64_t keep_bytes;
	int timer;
	SW_VEC(struct recording) recordings; /* as the session's traces */
};

/* Do the options ask for the last part of a run only? */
static bool is_wanted(const struct sw_options *options)
{
	return options->last || options->keep;
}

/* How many bytes of closed chunks stay, by option or default. */
static uint64_t keep_bytes(const struct sw_options *options)
{
	return options->keep ? options->keep : KEEP_BYTES;
}

uint64_t sw_flight_most_bytes(const struct sw_options *options)
{
	return is_wanted(options) ? keep_bytes(options) + keep_bytes(options) / 2 + SLACK : 0;
}

struct sw_flight *sw_flight_new(const struct sw_options *options)
{
	const struct itimerspec every = {.it_interval.tv_nsec = LOOK_NS, .it_value.tv_nsec = LOOK_NS};
	if (!is_wanted(options))
		return NULL;
	struct sw_flight *f = sw_calloc(1, sizeof *f);
	f->last_ns = options->last;
	f->keep_bytes = keep_bytes(options);
	f->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (f->timer >= 0)
		timerfd_settime(f->timer, 0, &every, NULL);
	return f;
}

static void recording_free(struct recording *r)
{
	sw_kept_free(r->kept);
	free(r->chunks.at);
	free(r->scratch);
	sw_map_free(&r->next);
	*r = (struct recording){.over = true};
}

void sw_flight_free(struct sw_flight *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->recordings.n; i++)
		recording_free(&f->recordings.at[i]);
	free(f->recordings.at);
	if (f->timer >= 0)
		close(f->timer);
	free(f);
}

int sw_flight_descriptor(const struct sw_flight *f)
{
	return f ? f->timer : -1;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Where chunk `number` begins in the file, as in the memory. */
static uint64_t offset_of(const struct recording *r, uint64_t number)
{
	return r->header_bytes + number * r->chunk_bytes;
}

/* Is it the header of a chunk that the recorder has begun? */
static bool is_sound(const struct sw_chunk_header *h, const struct recording *r)
{
	return h->magic == SW_FORMAT_CHUNK_MAGIC && h->committed <= r->chunk_bytes - sizeof *h;
}

/* The descriptor by which a chunk is read: one that is not closed lies in memory, where there is any; the file follows
   it. */
static int place_of(const struct sw_session_trace *trace, const struct chunk *chunk)
{
	return chunk->state == CHUNK_CLOSED || trace->memory < 0 ? trace->fd : trace->memory;
}

/* Reads header and records of a chunk from where it should be, else from the file, into which it may have been moved
   meanwhile; false: it is in neither. */
static bool read_chunk(const struct recording *r, const struct sw_session_trace *trace, uint64_t number,
		       struct sw_chunk_header *h, void *records, uint32_t room)
{
	const struct chunk *c = &r->chunks.at[number - r->base];
	const int at = place_of(trace, c);
	const int places[] = {at, trace->fd};
	for (size_t i = 0; i < 2; i++)
		if (!sw_collect_read(places[i], h, sizeof *h, offset_of(r, number)) && is_sound(h, r) &&
		    h->committed <= room &&
		    !sw_collect_read(places[i], records, h->committed, offset_of(r, number) + sizeof *h))
			return true;
	return false;
}

/* Reads the header of a trace and checks what offsets are computed from: the program can write to it.  False: it is not
   sound. */
static bool read_header(const struct sw_session_trace *trace, struct sw_file_header *header)
{
	return !sw_collect_read(trace->memory >= 0 ? trace->memory : trace->fd, header, sizeof *header, 0) &&
	       header->chunk_bytes > sizeof(struct sw_chunk_header) && header->chunk_bytes <= CHUNK_MAX &&
	       header->header_bytes >= SW_FORMAT_HEADER_BYTES && header->chunks < UINT64_MAX / CHUNK_MAX / 2;
}

/* ---- CUDA errors ------------------------------------------------------------------------------------------------- */

/* Has a call in the chunk failed with an error that ends its context?  Looks on where it stopped: at a call that had
   not returned. */
static bool has_error(struct chunk *c, const unsigned char *records, uint32_t bytes)
{
	while (c->looked + sizeof(struct sw_rec) <= bytes) {
		const struct sw_rec *rec = (const void *)(records + c->looked);
		const uint32_t length = rec->words * 8u;
		if (length < sizeof *rec || length > bytes - c->looked ||
		    (rec->flags & SW_RF_PENDING && c->state != CHUNK_CLOSED))
			return false;
		c->looked += length;
		if (rec->kind >= SW_REC_LAUNCH && !(rec->flags & SW_RF_PENDING) && sw_status_ends_context(rec->status))
			return true;
	}
	return false;
}

/* Reads what the chunk says by now: its last number, and whether an error came. */
static void examine(struct recording *r, const struct sw_session_trace *trace, uint64_t number)
{
	struct sw_chunk_header h;
	const struct sw_rec *rec;
	struct chunk *c = &r->chunks.at[number - r->base];
	if ((r->failed && c->state != CHUNK_CLOSED) ||
	    !read_chunk(r, trace, number, &h, r->scratch, r->chunk_bytes - (uint32_t)sizeof h))
		return;
	if (!r->failed)
		r->failed = has_error(c, r->scratch, h.committed);
	for (uint32_t at = 0; c->state == CHUNK_CLOSED && (rec = sw_window_record(r->scratch, at, h.committed));
	     at += rec->words * 8u)
		if (sw_rec_seq(rec) > c->last_seq)
			c->last_seq = sw_rec_seq(rec);
}

/* ---- the window -------------------------------------------------------------------------------------------------- */

/* The recording of the session's trace `index`, new ones added as needed. */
static struct recording *recording_of(struct sw_flight *f, size_t index)
{
	while (f->recordings.n <= index)
		*sw_vec_push(&f->recordings) = (struct recording){0};
	return &f->recordings.at[index];
}

/* Takes up chunks that have come, and those that were closed. */
static void find_chunks(struct recording *r, const struct sw_session_trace *trace, const struct sw_file_header *header,
			bool ended)
{
	while (r->base + r->chunks.n < header->chunks)
		*sw_vec_push(&r->chunks) = (struct chunk){0};
	for (size_t i = 0; i < r->chunks.n; i++) {
		struct chunk *c = &r->chunks.at[i];
		struct sw_chunk_header h;
		const uint64_t offset = offset_of(r, r->base + i);
		if (c->state >= CHUNK_CLOSED)
			continue;
		bool there = !sw_collect_read(trace->fd, &h, sizeof h, offset) && is_sound(&h, r);
		const bool closed = there && (h.closed || ended);
		if (!there && trace->memory >= 0)
			there = !sw_collect_read(trace->memory, &h, sizeof h, offset) && is_sound(&h, r);
		if (!there)
			continue;
		c->writer = h.writer;
		c->index = h.index;
		if (c->bytes != h.committed)
			r->active_ns = sw_now_ns();
		c->bytes = h.committed;
		c->first_seq = h.first_seq;
		c->state = closed ? CHUNK_CLOSED : CHUNK_OPEN;
		c->closed_ns = sw_now_ns();
		if (!ended)
			examine(r, trace, r->base + i);
	}
}

/* Bytes of records in closed chunks, not of whole chunks: that of a thread that ended is hardly full. */
static uint64_t closed_bytes(const struct recording *r)
{
	uint64_t n = 0;
	for (size_t i = 0; i < r->chunks.n; i++)
		n += r->chunks.at[i].state == CHUNK_CLOSED ? r->chunks.at[i].bytes : 0;
	return n;
}

/* Was anything dropped?  Else the file is a whole trace as it is. */
static bool has_dropped(const struct recording *r)
{
	for (size_t i = 0; i < r->chunks.n; i++)
		if (r->chunks.at[i].state == CHUNK_DROPPED)
			return true;
	return r->base != 0;
}

/* The closed chunk that began first, of those that may go, which are the next one of each writer; NULL: there is
   none. */
static struct chunk *oldest(const struct recording *r)
{
	struct chunk *first = NULL;
	for (size_t i = 0; i < r->chunks.n; i++) {
		struct chunk *c = &r->chunks.at[i];
		if (c->state == CHUNK_CLOSED && c->index == sw_map_get(&r->next, c->writer) &&
		    (!first || c->first_seq < first->first_seq))
			first = c;
	}
	return first;
}

/* Takes out of a chunk what later records refer to, and gives its disk space back. */
static void drop(struct recording *r, const struct sw_session_trace *trace, struct chunk *c)
{
	const uint64_t number = r->base + (uint64_t)(c - r->chunks.at);
	struct sw_chunk_header h;
	if (read_chunk(r, trace, number, &h, r->scratch, r->chunk_bytes - (uint32_t)sizeof h))
		sw_kept_drop(r->kept, h.writer, r->scratch, h.committed);
	++*sw_map_put(&r->next, c->writer);
	c->state = CHUNK_DROPPED;
	fallocate(trace->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset_of(r, number),
		  (off_t)r->chunk_bytes);
}

/* Chunks that fell out of the window go.  The follower is waited for, as long as the recorder has room. */
static void move_window(struct sw_flight *f, struct recording *r, const struct sw_session *session, size_t index)
{
	const struct sw_session_trace *trace = &session->traces.at[index];
	const uint64_t passed = session->follower ? sw_follower_passed(session->follower, index) : UINT64_MAX;
	/* The time before a program hung is wanted, however long it hangs. */
	const uint64_t now = r->active_ns;
	uint64_t closed = closed_bytes(r);
	for (struct chunk *c; (c = oldest(r)); closed -= c->bytes) {
		const bool old = f->last_ns && now > c->closed_ns && now - c->closed_ns > f->last_ns;
		if (!old && closed <= f->keep_bytes)
			break;
		if (c->last_seq >= passed && closed <= f->keep_bytes + f->keep_bytes / 4 + SLACK / 2)
			break;
		drop(r, trace, c);
	}
	size_t gone = 0;
	while (gone < r->chunks.n && r->chunks.at[gone].state == CHUNK_DROPPED)
		gone++;
	if (gone < 4096 && gone < r->chunks.n)
		return;
	memmove(r->chunks.at, r->chunks.at + gone, (r->chunks.n - gone) * sizeof *r->chunks.at);
	r->chunks.n -= gone;
	r->base += gone;
}

/* Prepares a recording at its first look.  False: the header has changed since, so that offsets would be wrong. */
static bool begin(struct recording *r, const struct sw_file_header *header)
{
	if (r->kept)
		return r->chunk_bytes == header->chunk_bytes && r->header_bytes == header->header_bytes;
	r->kept = sw_kept_new();
	r->chunk_bytes = header->chunk_bytes;
	r->header_bytes = header->header_bytes;
	r->scratch = sw_alloc(header->chunk_bytes);
	return true;
}

/* ---- a trace of it ----------------------------------------------------------------------------------------------- */

struct window_source {
	const struct recording *recording;
	const struct sw_session_trace *trace;
};

/* For sw_kept_write(): reads a chunk of the window; false: it is gone. */
static bool read_window(void *arg, uint64_t place, void *records, uint32_t *bytes, uint32_t room)
{
	const struct window_source *source = arg;
	struct sw_chunk_header h;
	if (!read_chunk(source->recording, source->trace, place, &h, records, room))
		return false;
	*bytes = h.committed;
	return true;
}

/* Writes a trace of what is kept and of the chunks in the window; 0 or -errno. */
static int write_window(struct recording *r, const struct sw_session_trace *trace, const char *notice, bool running,
			int out)
{
	struct sw_file_header header;
	struct window_source source = {r, trace};
	struct sw_window window = {.read = read_window, .arg = &source, .running = running};
	if (!read_header(trace, &header))
		return -EIO;
	window.chunk = sw_calloc(r->chunks.n + 1, sizeof *window.chunk);
	for (size_t i = 0; i < r->chunks.n; i++) {
		const struct chunk *c = &r->chunks.at[i];
		if (c->state == CHUNK_OPEN || c->state == CHUNK_CLOSED)
			window.chunk[window.chunks++] = (struct sw_window_chunk){c->writer, c->index, r->base + i};
	}
	const int rc = sw_kept_write(r->kept, &header, &window, notice, out);
	free(window.chunk);
	return rc;
}

/* Name of a dump: NAME.swt -> NAME-dump1.swt; malloc'ed. */
static char *dump_path(const char *path, uint32_t number)
{
	const char *end = strrchr(path, '.');
	const bool known = end && strcmp(end, ".swt") == 0;
	const int stem = known ? (int)(end - path) : (int)strlen(path);
	return sw_format("%.*s-dump%" PRIu32 "%s", stem, path, number, known ? ".swt" : "");
}

/* Writes a dump, by a process of its own, as what is kept is used up by that; false: it failed. */
static bool write_dump(struct recording *r, const struct sw_session_trace *trace, const char *why, const char *path)
{
	int status = 1;
	fflush(NULL);
	const pid_t pid = fork();
	if (!pid) {
		const int out = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		char *notice = sw_format("The trace was written while the program ran: %s.", why);
		const int rc = out < 0 ? -errno : write_window(r, trace, notice, true, out);
		if (rc && out >= 0)
			unlink(path);
		_exit(rc != 0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return pid > 0 && status == 0;
}

/* Writes a dump of one process under the first number that is free, and answers with its name or why there is none. */
static int dump(struct recording *r, const struct sw_session_trace *trace, const char *why, FILE *answer)
{
	if (r->dumps >= DUMPS_MOST)
		return SW_EXIT_OUTPUT;
	char *path = dump_path(trace->path, ++r->dumps);
	while (r->dumps < DUMPS_MOST && access(path, F_OK) == 0) {
		free(path);
		path = dump_path(trace->path, ++r->dumps);
	}
	const bool done = write_dump(r, trace, why, path);
	fprintf(answer, done ? "%s\n" : "%s: could not be written\n", path);
	free(path);
	return done ? SW_EXIT_OK : SW_EXIT_OUTPUT;
}

int sw_flight_dump(struct sw_flight *f, struct sw_session *session, const char *why, FILE *answer)
{
	int status = SW_EXIT_OK;
	size_t n = 0;
	sw_flight_look(f, session);
	for (size_t i = 0; i < session->traces.n; i++) {
		struct recording *r = recording_of(f, i);
		if (r->over || !r->kept || !sw_session_is_running(&session->traces.at[i]))
			continue;
		const int rc = dump(r, &session->traces.at[i], why, answer);
		status = rc ? rc : status;
		n++;
	}
	if (!n)
		fputs("no process that uses CUDA runs\n", answer);
	return status;
}

/* ---- while it runs, and at its end ------------------------------------------------------------------------------- */

/* Looks at one process: takes up new chunks, drops old ones, and dumps at the first error that ends a context. */
static void look_at(struct sw_flight *f, const struct sw_session *session, size_t index)
{
	const struct sw_session_trace *trace = &session->traces.at[index];
	struct recording *r = recording_of(f, index);
	struct sw_file_header header;
	const bool failed = r->failed;
	if (r->over || !read_header(trace, &header) || !begin(r, &header))
		return;
	find_chunks(r, trace, &header, false);
	move_window(f, r, session, index);
	if (r->failed && !failed) {
		fprintf(stderr,
			"syncwatch: process %d: a CUDA error ended its context; its last calls: ", (int)trace->pid);
		dump(r, trace, "a CUDA error ended a context", stderr);
	}
}

void sw_flight_look(struct sw_flight *f, struct sw_session *session)
{
	uint64_t times;
	if (f->timer >= 0 && read(f->timer, &times, sizeof times) < 0 && errno != EAGAIN)
		return;
	for (size_t i = 0; i < session->traces.n; i++)
		if (sw_session_is_running(&session->traces.at[i]))
			look_at(f, session, i);
}

/* Writes the trace of the window to a new file, which takes the place of the old one; 0 or -errno. */
static int replace(struct recording *r, struct sw_session_trace *trace)
{
	struct stat s;
	char *part = sw_format("%s.part", trace->path);
	unlink(part);
	const int out = open(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int rc = out < 0 ? -errno : write_window(r, trace, NULL, false, out);
	if (!rc && (fstat(out, &s) || !sw_session_in_place(trace)))
		rc = -ESTALE;
	if (!rc && rename(part, trace->path))
		rc = -errno;
	if (!rc) {
		close(trace->fd);
		trace->fd = out;
		trace->device = s.st_dev;
		trace->inode = s.st_ino;
	} else if (out >= 0) {
		unlink(part);
		close(out);
	}
	free(part);
	return rc;
}

void sw_flight_ended(struct sw_flight *f, struct sw_session *session, size_t index)
{
	struct recording *r = recording_of(f, index);
	struct sw_session_trace *trace = &session->traces.at[index];
	struct sw_file_header header;
	if (r->over || !read_header(trace, &header) || !begin(r, &header))
		return;
	find_chunks(r, trace, &header, false);
	move_window(f, r, session, index);
	find_chunks(r, trace, &header, true); /* the chunks that threads were writing stay, however small the window */
	const int rc = has_dropped(r) ? replace(r, trace) : 0;
	if (rc)
		sw_session_gap(session, trace->pid,
			       sw_format("the last part of its trace %s could not be put together: %s", trace->path,
					 strerror(-rc)));
	recording_free(r);
}
