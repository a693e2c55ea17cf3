/* SPDX-License-Identifier: Apache-2.0 */
/* Writes pages for tests/browser/test_html.sh: test_html FOLDER.  hostile.html: names that are markup; many.html: more
   causes than a page holds. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fake_trace.h"
#include "report/html/html.h"

static struct sw_access launch(enum sw_role role, uint32_t function, uint32_t stream, uint32_t stack, uint64_t seq)
{
	return (struct sw_access){.role = role,
				  .kind = SW_REC_LAUNCH,
				  .api = FAKE_API_LAUNCH,
				  .flags = SW_RF_RUNTIME,
				  .seq = seq,
				  .t_ns = seq * 1000,
				  .dur_ns = 500,
				  .thread = 1,
				  .stack = stack,
				  .stream = stream,
				  .function = function,
				  .ranged = true,
				  .address = 0x7f0000001000,
				  .bytes = 4096,
				  .extent_known = true,
				  .allocation = 1,
				  .evidence = SW_EV_SIGNATURE};
}

static void add_race(struct sw_judgement *j, uint32_t function, uint32_t stack, uint64_t seq)
{
	struct sw_finding *race = sw_vec_push(&j->findings);
	*race = (struct sw_finding){.id = 101,
				    .severity = SW_ERROR,
				    .confidence = SW_CERTAIN,
				    .count = 1,
				    .operations = 1,
				    .accesses = 2,
				    .fix = SW_FIX_EVENT};
	race->access[0] = launch(SW_WRITE, FAKE_FILL, 1, FAKE_AT_FILL, seq);
	race->access[1] = launch(SW_READ, function, 2, stack, seq + 1);
}

static void add_wait(struct sw_judgement *j, uint32_t stack, uint64_t seq)
{
	struct sw_finding *wait = sw_vec_push(&j->findings);
	*wait = (struct sw_finding){.id = 301,
				    .severity = SW_WARNING,
				    .confidence = SW_CERTAIN,
				    .count = 4,
				    .accesses = 1,
				    .fix = SW_FIX_ASYNC};
	wait->access[0] = launch(SW_CALL, 0, 0, stack, seq);
	wait->access[0].kind = SW_REC_COPY;
	wait->access[0].api = FAKE_API_COPY;
	wait->access[0].ranged = false;
	wait->cost = (struct sw_cost){.calls = 4, .total_ns = 12300000, .worst_ns = 8000000, .waited_calls = 4};
}

static int write_page(const char *folder, const char *name, const struct sw_judgement *judgement)
{
	char *path = sw_format("%s/%s", folder, name);
	struct sw_report *report =
		sw_report_new((struct sw_reader *)(uintptr_t)judgement, judgement, &(struct sw_report_options){0});
	struct sw_nearby *nearby = sw_nearby_new(report);
	FILE *out = fopen(path, "w");
	if (out)
		sw_html_write(report, nearby, "1.2.3", out);
	sw_nearby_free(nearby);
	sw_report_free(report);
	free(path);
	return out ? fclose(out) : -1;
}

int main(int argc, char **argv)
{
	struct sw_judgement judgement = {.span_ns = 12345678};
	if (argc != 2)
		return 2;
	for (uint32_t i = 0; i < 3; i++)
		*sw_vec_push(&judgement.streams) =
			(struct sw_stream_info){.handle = 0x55d0 + i, .kind = SW_LANE_BLOCKING, .number = i};
	judgement.streams.at[2].name = "<img src=x onerror=alert(1)>";
	*sw_vec_push(&judgement.allocations) = (struct sw_allocation){.address = 0x7f0000000000,
								      .bytes = 16384,
								      .memory = SW_MEM_DEVICE,
								      .number = 1,
								      .name = "</script><script>alert(2)</script><!--"};
	add_race(&judgement, FAKE_HOSTILE, FAKE_AT_SCALE, 20);
	int rc = write_page(argv[1], "hostile.html", &judgement);
	judgement.findings.n = 0;
	for (uint32_t i = 0; i < 10005; i++)
		add_wait(&judgement, FAKE_AT_LINE + i, 100 + i);
	rc |= write_page(argv[1], "many.html", &judgement);
	free(judgement.streams.at);
	free(judgement.allocations.at);
	free(judgement.findings.at);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
