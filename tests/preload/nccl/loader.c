/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program as Python would an extension: an object that is loaded RTLD_LOCAL, and NCCL with it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *object = dlopen("./object.so", RTLD_NOW | RTLD_LOCAL);
	int (*run)(int, char **) = object ? (int (*)(int, char **))dlsym(object, "run") : NULL;
	if (!run) {
		fprintf(stderr, "%s\n", dlerror());
		return 96;
	}
	return run(argc, argv);
}
