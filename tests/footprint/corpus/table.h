/* SPDX-License-Identifier: Apache-2.0 */
/* The table expected.txt in memory.  Its head describes the format.  Errors in it end the program: it is our own. */
#ifndef SW_CORPUS_TABLE_H
#define SW_CORPUS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CORPUS_MAX_BLOCK 4096 /* bytes of a parameter block */
#define CORPUS_NAME	 96

enum corpus_content { CORPUS_ZERO, CORPUS_IOTA, CORPUS_BELOW, CORPUS_BYTES, CORPUS_ONES, CORPUS_POINTERS };

/* A word (of the parameter block or of a buffer) that holds an address. */
struct corpus_word {
	size_t at;	/* byte offset */
	uint32_t bytes; /* 8, or 4 for a half */
	bool high;	/* the upper half */
	int buffer;
	int64_t addend;
	char name[CORPUS_NAME]; /* of the buffer; looked up when the launch is complete */
};

struct corpus_words {
	struct corpus_word *at;
	size_t n, room;
};

struct corpus_buffer {
	char name[CORPUS_NAME]; /* "@NAME": a module variable, bytes 0: as large as it is */
	size_t bytes;
	enum corpus_content content;
	uint32_t below;
	struct corpus_words pointers; /* CORPUS_POINTERS */
};

enum corpus_object { CORPUS_TEXTURE, CORPUS_SURFACE, CORPUS_MAP };
struct corpus_handle {
	enum corpus_object kind;
	size_t at; /* byte offset in the parameter block */
	char name[CORPUS_NAME];
	int buffer;
	uint32_t size[2], box[2]; /* MAP: columns, rows */
};

enum corpus_extent {
	CORPUS_NONE, /* not touched */
	CORPUS_BOX,
	CORPUS_HULL,
	CORPUS_OPEN,
	CORPUS_OBJECT,
	CORPUS_BY_MAP,
	CORPUS_VIA
};
struct corpus_region {
	enum corpus_extent extent;
	uint64_t offset, width, rows, pitch, slices, slice;
};
struct corpus_line {
	int line;
	int buffer;   /* -1: unknown roots */
	uint8_t role; /* enum sw_touch_role */
	bool polls;
	bool before, perhaps; /* the kernel's griddepcontrol.wait */
	struct corpus_region is;
	struct corpus_region sass; /* extent CORPUS_NONE: as `is` */
	bool sass_unknown;	   /* machine code may reach it by unknown pointers instead */
	bool sass_nothing;	   /* machine code may show that this is not touched after all */
	bool machine;		   /* unknown pointers: in machine code only */
	char via[CORPUS_NAME];	   /* VIA: the argument or @symbol */
	int why;		   /* enum sw_why, -1 none given */
	char note[160];
};

struct corpus_launch {
	int line;
	char file[CORPUS_NAME], kernel[256];
	uint32_t grid[3], block[3], cluster, shared;
	bool cooperative, never, wild, wild_machine;
	bool grid_waits, grid_triggers, grid_early, grid_first; /* struct sw_grid_state */
	uint32_t arch;						/* smallest */
	uint8_t params[CORPUS_MAX_BLOCK];			/* addresses are zeros: see words */
	size_t param_bytes;
	struct {
		uint32_t offset, bytes;
	} param[128];
	size_t n_params;
	struct corpus_words words;
	struct {
		struct corpus_handle *at;
		size_t n, room;
	} handles;
	struct {
		struct corpus_buffer *at;
		size_t n, room;
	} buffers;
	struct {
		struct corpus_line *at;
		size_t n, room;
	} lines;
};
struct corpus_table {
	struct corpus_launch **at;
	size_t n, room;
};

void corpus_read(const char *path, struct corpus_table *table);
void corpus_free(struct corpus_table *table);

/* Writes the initial content of a buffer of `bytes` bytes; address(arg, buffer): where buffers are. */
void corpus_fill(const struct corpus_launch *launch, int buffer, void *out, size_t bytes,
		 uint64_t (*address)(void *arg, int buffer), void *arg);
/* The parameter block with all addresses in it (objects stay zero). */
void corpus_params(const struct corpus_launch *launch, void *out, uint64_t (*address)(void *arg, int buffer),
		   void *arg);

#endif
