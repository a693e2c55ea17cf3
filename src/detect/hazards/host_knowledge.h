/* SPDX-License-Identifier: Apache-2.0 */
/* What the host may know through memory, in addition to its calls. */
#ifndef SW_DETECT_HAZARDS_HOST_KNOWLEDGE_H
#define SW_DETECT_HAZARDS_HOST_KNOWLEDGE_H

#include "hb/hb.h"

struct sw_model;

/* A step of a stream whose end the host may see in memory. */
void sw_host_signalled(struct sw_model *m, struct sw_point by);
/* A step that may touch memory which is not known; perhaps it signals there. */
void sw_host_unclear(struct sw_model *m, struct sw_point by, bool may_signal);
/* May the host know through memory that this step is done? */
bool sw_host_may_know(struct sw_model *m, struct sw_point work);
/* A step that writes, or reads, a flag in memory which the host sees: volatile or by system scope. */
void sw_host_flag_written(struct sw_model *m, struct sw_point by);
void sw_host_flag_read(struct sw_model *m, struct sw_point by);
/* May the host have ordered what it enqueues now after this step by such a flag, or this step after that? */
bool sw_host_may_relay(struct sw_model *m, struct sw_point work);
/* May this step have waited until the host wrote such a flag? */
bool sw_host_may_hold(struct sw_model *m, struct sw_point work);
/* May another process have learnt by an event that it is done?  Then this one may have, too: by a pipe, for example. */
bool sw_others_may_know(struct sw_model *m, struct sw_point work);

#endif
