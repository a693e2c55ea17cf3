/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI, found and loaded at run time: it is not part of the driver, and a program may come with its own. */
#ifndef SW_PRELOAD_GPU_CUPTI_H
#define SW_PRELOAD_GPU_CUPTI_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void CUPTIAPI sw_cupti_buffer_wanted(uint8_t **buffer, size_t *size, size_t *records, void *info);
typedef void CUPTIAPI sw_cupti_buffer_done(uint8_t *buffer, size_t size, size_t valid, void *info);

/* CUpti_SubscriberParams of 13.3: what cuptiSubscribe_v2() of a CUPTI with several users takes. */
struct sw_cupti_subscriber {
	size_t bytes;
	const char *name;
	char *other; /* another user, where it is refused */
	size_t other_bytes;
	uint8_t many;
	uint8_t padding[7];
};

struct sw_cupti {
#define CUPTI(name, needed)	       __typeof__(&name) name;
#define CUPTI_SHARED(name, parameters) CUptiResult(CUPTIAPI *name) parameters;
#include "preload/gpu/cupti.def"
	CUptiResult(CUPTIAPI *cuptiSubscribe_v2)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *,
						 struct sw_cupti_subscriber *);
	CUpti_SubscriberHandle subscriber; /* of ours, among several; NULL: CUPTI has one user */
	uint32_t version;		   /* of the library, such as 130000: not that of the headers */
	char path[512];			   /* as it was loaded */
};

/* Attributes of a subscriber that older headers lack. */
#define SW_CUPTI_ATTR_HES		 ((CUpti_ActivityAttribute)13)
#define SW_CUPTI_ATTR_THREAD_ID		 ((CUpti_ActivityAttribute)21)
#define SW_CUPTI_ATTR_TIMESTAMP_CALLBACK ((CUpti_ActivityAttribute)22)

/*
 * Becomes one of several users.  CUPTI_ERROR_NOT_SUPPORTED: this CUPTI has one (before 13.3, or the driver is older
 * than r610); CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED: somebody has it who does not share it, `other` says who.
 */
CUptiResult sw_cupti_share(struct sw_cupti *cupti, char *other, size_t room);

/* The function for one user, or that for several with ours: SW_CUPTI(cupti, cuptiActivityEnable, kind). */
#define SW_CUPTI(cupti, name, ...)                                                                                     \
	((cupti)->subscriber ? (cupti)->name##_v2((cupti)->subscriber, __VA_ARGS__) : (cupti)->name(__VA_ARGS__))

/* Loads it and keeps it loaded.  0, or -ENOENT: there is none; -ENOSYS: it is too old (the name of the missing function
   in `why`).  Takes the loader's lock.  Once a process. */
int sw_cupti_load(struct sw_cupti *out, char *why, size_t room);

/* The name of another tool that sits between this process and the driver, NULL: none was seen.  Static storage. */
const char *sw_cupti_other_tool(void);

#endif
