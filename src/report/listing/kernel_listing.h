/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the kernels' code as it was read: `syncwatch kernels`. */
#ifndef SW_REPORT_LISTING_KERNEL_LISTING_H
#define SW_REPORT_LISTING_KERNEL_LISTING_H

#include <stdio.h>

#include "footprint/library.h"
#include "report/json/json_out.h"

struct sw_kernel_view {
	const char *name;  /* mangled */
	uint64_t launches; /* 0: of a file, not of a trace */
	const char *image; /* "app at offset 4096", "image 3, PTX" */
	uint32_t device;   /* architecture that it ran on, 0 unknown */
	const struct sw_footprint_entry *entry;
	const struct sw_param *param; /* as the driver says; NULL: as the code says */
	uint32_t params;
};

/* A paragraph.  sites: every access with its place, not what they come down to. */
void sw_kernel_text(FILE *out, const struct sw_kernel_view *kernel, bool sites);
/* doc/kernels.schema.json says what each member means. */
void sw_kernel_json(struct sw_json *json, const struct sw_kernel_view *kernel);

#endif
