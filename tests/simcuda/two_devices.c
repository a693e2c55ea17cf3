/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of two-devices.tsv on two simulated devices; the method is that of behaviour.c. */
#include <string.h>

#include "spinner.h"

static void launch_quick(cudaStream_t stream)
{
	launch(quick_stub, stream);
}

#include "two_calls.h"

static const struct row {
	const char *name;
} known[] = {CALLS(CALL_NAME)};

static cudaStream_t run(const char *name, enum step step)
{
	CALLS(CALL_STEP)
	return NULL;
}

static void cell(const char *row, const char *group, int device, cudaStream_t spinner, const char *expected)
{
	run(row, SETUP);
	on(device);
	launch(spin_stub, spinner);
	on(0);
	run(row, BETWEEN);
	arm(expected[0] == '1' ? HOLD_MS : WATCHDOG_MS);
	cudaStream_t own = run(row, MAKE_CALL);
	bool blocked = disarm();
	judge(row, group, "blocks", expected[0], blocked);
	if (!blocked) {
		if (own && expected[3] != '-')
			judge(row, group, "own stream waits", expected[3], held_back(own, expected[3]));
		for (int d = 0; d < 2; d++) {
			on(d);
			launch(quick_stub, nb3[d]);
			judge(row, group, d ? "next launch on device 1 waits" : "next launch on device 0 waits",
			      expected[1 + d], held_back(nb3[d], expected[1 + d]));
		}
	}
	syncwatch_simulated_finish();
	for (int d = 1; d >= 0; d--) {
		on(d);
		CHECK(cudaDeviceSynchronize());
	}
}

static void start(void)
{
	setenv("SYNCWATCH_SIM_KERNEL_TIME", "spin=1000s", 1);
	setenv("SYNCWATCH_SIM_DEVICES", "2", 1);
	register_device_code();
	make_objects();
	for (int d = 1; d >= 0; d--) {
		on(d);
		launch_and_wait();
		launch(spin_stub, nb[d]);
		syncwatch_simulated_finish();
		CHECK(cudaDeviceSynchronize());
	}
	start_releaser();
}

int main(void)
{
	char line[512];
	FILE *facts = open_facts("two-devices.tsv");
	size_t rows = 0;
	start();
	while (fgets(line, sizeof line, facts)) {
		char *tab = strchr(line, '\t');
		if (*line == '#' || !tab || !strncmp(line, "call\t", 5))
			continue;
		*tab = 0;
		if (rows == sizeof known / sizeof *known || strcmp(line, known[rows++].name)) {
			fprintf(stderr, "two-devices.tsv: row '%s' is not known\n", line);
			return 1;
		}
		for (int g = 0; g < 6; g++) { /* four columns of one character in each group */
			static const char *const groups[] = {
				"a non-blocking stream of device 0", "a blocking stream of device 0",
				"the legacy stream of device 0",     "a non-blocking stream of device 1",
				"a blocking stream of device 1",     "the legacy stream of device 1"};
			const cudaStream_t spinners[] = {nb[g / 3], blk[g / 3], cudaStreamLegacy};
			const char *c = tab + 1 + 8 * g, expected[] = {c[0], c[2], c[4], c[6]};
			cell(line, groups[g], g / 3, spinners[g % 3], expected);
		}
	}
	fclose(facts);
	printf("%zu rows, %d cells, %d differ\n", rows, cells, failures);
	return failures || rows != sizeof known / sizeof *known;
}
