/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether two conflicting accesses are a hazard, and which one. */
#ifndef SW_DETECT_HAZARDS_HAZARDS_H
#define SW_DETECT_HAZARDS_HAZARDS_H

#include "detect/model/call.h"

struct sw_model;
struct sw_hazards;
struct sw_block;
struct sw_shadow_use;

/* Two uses share bytes, one of them writes: judges their order and adds a finding where there is none.  `arg`: the
   model.  A use of freed memory (`freed`: the block that was there); a use of memory that is not allocated yet. */
void sw_hazard_meet(void *arg, struct sw_shadow_use *earlier, struct sw_shadow_use *later);
void sw_hazard_freed(struct sw_model *m, struct sw_block *freed, struct sw_shadow_use *later);
/* A suballocator allocates again what it freed. */
void sw_hazard_reused(struct sw_model *m, struct sw_block *freed, const struct sw_access *born);
void sw_hazard_unborn(struct sw_model *m, struct sw_block *block, struct sw_shadow_use *later);

/* A call that is not modelled was made in the context, and may order the two sides: the finding is possible at most,
   and remembers if it was an error.  False: there was no such call. */
bool sw_hazard_lower(const struct sw_model *m, struct sw_finding *seen, uint8_t ctx);
/* Is the finding possible, and neither asked for nor lowered from an error? */
bool sw_hazard_is_dropped(const struct sw_model *m, const struct sw_finding *seen);

/* Uses so far that met an earlier one which no document orders before them. */
uint64_t sw_hazards_unordered(const struct sw_model *m);
/* From here on a release is judged whose wait covers `covered`; NULL: it has ended. */
void sw_hazards_released(struct sw_model *m, const sw_covered_vec *covers);
struct sw_hazards *sw_hazards_new(void);
void sw_hazards_free(struct sw_hazards *hazards);

#endif
