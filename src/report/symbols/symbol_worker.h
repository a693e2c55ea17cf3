/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads symbols, and what it is asked: one question at a time over a socket. */
#ifndef SW_REPORT_SYMBOLS_SYMBOL_WORKER_H
#define SW_REPORT_SYMBOLS_SYMBOL_WORKER_H

#include <stddef.h>
#include <stdint.h>

#define SW_WORKER_ANSWER_MAX (1u << 20) /* bytes of one answer: what is longer is left out */

/* A question: `number` says which object; a path follows the first time that a worker is asked of it. */
struct sw_worker_question {
	uint64_t address; /* 0: open only */
	uint64_t base;
	uint32_t number, path_bytes, build_id_bytes;
};

/* An answer: `bytes` follow, places one after the other: struct sw_worker_place, symbol, file, each without a NUL. */
struct sw_worker_answer {
	uint32_t state; /* enum sw_object_state */
	uint32_t bytes;
};
struct sw_worker_place {
	uint32_t symbol_bytes, file_bytes; /* UINT32_MAX: NULL */
	int32_t line;
	uint32_t inlined;
};

/* Answers questions until the other side closes.  room: SW_WORKER_ANSWER_MAX bytes.  Never returns. */
_Noreturn void sw_worker_serve(int fd, unsigned seconds, uint64_t bytes, char *room);

/* All of it, or false. */
int sw_worker_read(int fd, void *out, size_t bytes);
int sw_worker_write(int fd, const void *data, size_t bytes);

#endif
