/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program as Python would an extension: an object that is loaded RTLD_LOCAL, and NCCL with it.  With
   -DOTHER=OBJECT the process holds another copy of NCCL, too, which was loaded first. */
#include <dlfcn.h>
#include <stdio.h>

#ifdef OTHER
#define TEXT(of)  TEXT_(of)
#define TEXT_(of) #of
#define OBJECT	  TEXT(OTHER)
#define FIRST	  dlopen("./object.so", RTLD_NOW | RTLD_LOCAL)
#else
#define OBJECT "./object.so"
#define FIRST  1
#endif

int main(int argc, char **argv)
{
	void *object = FIRST ? dlopen(OBJECT, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*run)(int, char **) = object ? (int (*)(int, char **))dlsym(object, "run") : NULL;
	if (!run) {
		fprintf(stderr, "%s\n", dlerror());
		return 96;
	}
	return run(argc, argv);
}
