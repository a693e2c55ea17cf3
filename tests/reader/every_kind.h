/* SPDX-License-Identifier: Apache-2.0 */
/* A trace with at least one record of each kind. */
#ifndef TESTS_READER_EVERY_KIND_H
#define TESTS_READER_EVERY_KIND_H

#include <stdbool.h>

/* `ended`: as tb_close() takes it. */
void tb_every_kind(const char *path, bool ended);

#endif
