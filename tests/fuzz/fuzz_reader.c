/* SPDX-License-Identifier: Apache-2.0 */
/* A whole trace file of any bytes: read, every record and dictionary dumped. */
#include "fuzz.h"
#include "memory_file.h"
#include "report/listing/listing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *nowhere;
	struct sw_error error;
	if (!nowhere && !(nowhere = fopen("/dev/null", "w")))
		abort();
	struct sw_reader *reader = reader_of(data, size);
	if (!reader)
		return 0;
	if (sw_dump(nowhere, reader, &(struct sw_dump_options){0}, &error))
		abort(); /* a file that opens is read to its end */
	sw_reader_close(reader);
	return 0;
}
