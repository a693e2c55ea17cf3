/* SPDX-License-Identifier: Apache-2.0 */
/* Writes pages for tests/browser/test_html.sh: test_html FOLDER.  hostile.html: names that are markup; many.html: more
   causes than a page holds. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fake_report.h"
#include "report/html/html.h"

static int write_page(const char *folder, const char *name)
{
	char *path = sw_format("%s/%s", folder, name);
	struct sw_nearby *nearby = sw_nearby_new(make(NULL));
	FILE *out = fopen(path, "w");
	if (out)
		sw_html_write(report, nearby, "1.2.3", out);
	sw_nearby_free(nearby);
	free(path);
	return out ? fclose(out) : -1;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	setup_empty();
	add_streams(SW_LANE_BLOCKING, 2);
	judgement.streams.at[2].name = "<img src=x onerror=alert(1)>";
	*sw_vec_push(&judgement.allocations) = fake_allocation();
	judgement.allocations.at[0].name = "</script><script>alert(2)</script><!--";
	struct sw_finding *race = add_race(SW_ERROR, FAKE_HOSTILE);
	side_of(race, 0)->dur_ns = side_of(race, 1)->dur_ns = 500;
	int rc = write_page(argv[1], "hostile.html");
	judgement.findings.n = 0;
	for (uint32_t i = 0; i < 10005; i++)
		add_wait(call(SW_CALL, SW_REC_COPY, FAKE_API_COPY, 0, FAKE_AT_LINE + i));
	rc |= write_page(argv[1], "many.html");
	teardown_report();
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
