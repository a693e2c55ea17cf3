/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that need private tables of the driver are refused, and one line says which and why. */
#include <cuda.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

CUresult private_library_starts(void);

static int lines_with(FILE *file, const char *text)
{
	char line[512];
	int count = 0;
	rewind(file);
	while (fgets(line, sizeof line, file))
		count += strstr(line, text) != NULL;
	return count;
}

int main(void)
{
	const CUuuid id = {{0}};
	const void *table;
	FILE *said = tmpfile();
	EXPECT(said && dup2(fileno(said), STDERR_FILENO) >= 0);
	EXPECT(cuInit(0) == CUDA_SUCCESS);
	EXPECT(private_library_starts() == CUDA_ERROR_NOT_SUPPORTED);
	EXPECT(private_library_starts() == CUDA_ERROR_NOT_SUPPORTED);
	EXPECT(lines_with(said, "does not support cuBLAS, cuFFT, cuRAND and libraries like them") == 1);
	EXPECT(lines_with(said, "linked statically") == 0);
	fseek(said, 0, SEEK_END);
	EXPECT(cuGetExportTable(&table, &id) == CUDA_ERROR_NOT_SUPPORTED); /* as a runtime inside a program does */
	EXPECT(lines_with(said, "a CUDA runtime that is linked statically: relink with -cudart shared") == 1);
	printf("%d failures\n", failures);
	return failures != 0;
}
