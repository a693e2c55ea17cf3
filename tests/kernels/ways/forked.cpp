/* SPDX-License-Identifier: Apache-2.0 */
/* fork, then CUDA in the child and in the parent: two processes, a trace each. */
#include <cstdio>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

static void use(int value)
{
	void *data;

	if (cudaMalloc(&data, 4096) || cudaMemset(data, value, 4096) || cudaFree(data))
		exit(1);
}

int main()
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		use(1);
		return 4;
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 1;
	use(2);
	printf("the child returned %d\n", WEXITSTATUS(status));
	return 3;
}
