#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `syncwatch query` answers agrees with what the other commands print of the same trace, bad input gets one line,
and the documented schema is the real one.

usage: test_query.py BUILD_DIR SOURCE_DIR
"""
import collections
import csv
import glob
import hashlib
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import unittest

SOURCE = os.path.abspath(sys.argv[2])
sys.path.insert(0, os.path.join(SOURCE, "tests", "tools"))

import command_case
from command_case import BUILD, COMMAND, ENVIRONMENT, INPUT, OK, OUTPUT, USAGE

EXPORT = os.path.join(BUILD, "tests", "report", "timeline", "export")
GOLDEN = sorted(glob.glob(os.path.join(SOURCE, "tests", "golden", "traces", "*.swt")))
NOT_CALLS = ("ACTIVITY", "RANGE")


class Case(command_case.Case):
    def awkward(self):
        """A kernel whose name holds control characters, quotes, a line break and bytes that are no UTF-8."""
        path = self.path("awkward.swt")
        subprocess.run([EXPORT, "everything", path, "/dev/null"], check=True, stdout=subprocess.DEVNULL)
        return path

    def ask(self, trace, sql, *options):
        """Rows as dictionaries."""
        result = self.call("query", "--format", "json", *options, trace, sql)
        self.assertEqual((result.returncode, result.stderr), (OK, ""), sql)
        return json.loads(result.stdout)

    def refused(self, status, part, *arguments, **environment):
        result = self.call(*arguments, **environment)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("syncwatch"), result.stderr)
        self.assertIn(part, result.stderr)
        return result.stdout


class Schema(Case):
    def relations(self):
        found, relation = {}, None
        for line in self.call("query", "--tables").stdout.splitlines():
            if line.startswith("  "):
                column, meaning = line.split(None, 1)
                found[relation][1].append((column, meaning))
            else:
                relation, meaning = line.split(": ", 1)
                found[relation] = (meaning, [])
        return found

    def test_documented_as_printed(self):
        with open(os.path.join(SOURCE, "doc", "query.md"), encoding="utf-8") as file:
            text = file.read().split("## Relations", 1)[1]
        documented = {}
        for part in text.split("\n### ")[1:]:
            name, meaning = part.split("\n\n", 2)[:2]
            documented[name] = (meaning, re.findall(r"^\| `(\w+)` \| (.*) \|$", part, re.M))
        self.assertEqual(documented, self.relations())
        self.assertGreater(len(documented), 15)

    def test_printed_as_made(self):
        self.assertEqual(self.call("export", "--sqlite", "run.db", self.trace("race")).returncode, OK)
        with sqlite3.connect(self.path("run.db")) as db:
            made = {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
                    for name, in db.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'raw~_%' ESCAPE '~' "
                                            "AND name NOT LIKE 'sqlite~_%' ESCAPE '~'")}
        self.assertEqual({name: [column for column, _ in columns] for name, (_, columns) in self.relations().items()},
                         made)

    def test_examples_of_the_document_work(self):
        with open(os.path.join(SOURCE, "doc", "query.md"), encoding="utf-8") as file:
            examples = re.findall(r"```sql\n(.*?)```", file.read(), re.S)
        self.assertGreater(len(examples), 3)
        for sql in examples:
            self.ask(self.trace("race"), sql)
        peak = next(sql for sql in examples if "changes" in sql)
        self.assertEqual(self.ask(self.trace("race"), peak), [{"max(live)": 4096}])


class Golden(Case):
    """Each recorded trace, against what the other commands print of it."""

    def test_findings_and_groups_are_those_of_the_report(self):
        for trace in GOLDEN:
            report = json.loads(self.call("report", "--all", "--format", "json", trace).stdout)
            with self.subTest(os.path.basename(trace)):
                keys = ("id", "kind", "severity", "confidence", "basis", "count", "message", "advice", "suppression",
                        "fingerprint")
                rows = self.ask(trace, f"SELECT {', '.join(keys)} FROM findings ORDER BY finding", "--all")
                self.assertEqual(rows, [{key: finding[key] for key in keys} for finding in report["findings"]])
                rows = self.ask(trace, "SELECT id, role, api, kernel, stream_name, sequence, access, address, bytes, "
                                "evidence, allocated_by FROM accesses JOIN findings USING (finding) ORDER BY finding, accesses.rowid",
                                "--all")
                wanted = []
                for finding in report["findings"]:
                    for access in finding["accesses"] + ([finding["waited_for"]] if finding["waited_for"] else []):
                        extent = access["range"] or {"address": None, "bytes": None, "allocation": None}
                        made = extent["allocation"]
                        wanted.append({
                            "id": finding["id"], **{key: access[key] for key in ("role", "api", "kernel")},
                            "stream_name": access["stream"] and access["stream"]["name"],
                            **{key: access[key] for key in ("sequence", "access")},
                            "address": extent["address"] and int(extent["address"], 16), "bytes": extent["bytes"],
                            "evidence": access["evidence"],
                            "allocated_by": made["api"] if made else None})
                self.assertEqual(rows, wanted)
                rows = self.ask(trace, "SELECT id, severity, members, leader FROM groups ORDER BY cause", "--all")
                self.assertEqual(rows, [{"id": group["id"], "severity": group["severity"],
                                         "members": len(group["members"]), "leader": group["leader"]}
                                        for group in report["groups"]])

    def test_calls_are_the_records(self):
        for trace in GOLDEN:
            with self.subTest(os.path.basename(trace)):
                wanted = collections.Counter()
                for line in self.call("dump", trace).stdout.splitlines():
                    kind = line.split(" ", 1)[0]
                    fields = dict(field.split("=", 1) for field in line.split() if "=" in field)
                    if kind in self.kinds() and kind not in NOT_CALLS and "END" not in fields.get("flags", "").split("|"):
                        wanted[kind] += 1
                rows = self.ask(trace, "SELECT kind, count(*) AS n FROM calls GROUP BY 1")
                self.assertEqual({row["kind"]: row["n"] for row in rows}, dict(wanted))

    def kinds(self):
        with open(os.path.join(SOURCE, "include", "syncwatch", "format_file.h"), encoding="utf-8") as file:
            return {name for name, number in re.findall(r"X\((\w+), (\d+),", file.read()) if int(number) >= 64}

    def test_what_calls_were(self):
        trace, = (path for path in GOLDEN if path.endswith("/gpu-raw_copy_kernel.swt"))
        self.assertEqual(self.ask(trace, "SELECT kernel, stream_name, grid_x, block_x FROM launches ORDER BY sequence"),
                         [{"kernel": "spin(unsigned int)", "stream_name": "stream 1", "grid_x": 1, "block_x": 1},
                          {"kernel": "quick_copy(float*, float const*, int)", "stream_name": "stream 2", "grid_x": 256,
                           "block_x": 256}])
        self.assertEqual(self.ask(trace, "SELECT memory, count(*) AS n, count(freed_sequence) AS freed "
                                  "FROM allocations GROUP BY 1 ORDER BY 1"),
                         [{"memory": "device memory", "n": 2, "freed": 2},
                          {"memory": "pinned host memory", "n": 1, "freed": 1}])
        self.assertEqual(self.ask(trace, "SELECT from_side, to_side, bytes, stream_name FROM copies ORDER BY 1, 2"),
                         [{"from_side": "host", "to_side": "device", "bytes": 262144, "stream_name": "stream 1"}])

    def test_events_are_numbered_by_life(self):
        trace, = (path for path in GOLDEN if path.endswith("/gpu-event_early.swt"))
        rows = self.ask(trace, "SELECT operation, event FROM events ORDER BY sequence")
        self.assertEqual([row["operation"] for row in rows if row["event"] == 1][0], "create")
        self.assertIn("wait", {row["operation"] for row in rows})

    def test_a_race_has_no_edge_and_its_twin_has(self):
        for kind, edges in (("race", 0), ("fixed", 1)):
            rows = self.ask(self.trace(kind), "SELECT count(*) AS n FROM edges WHERE kind = 'event'")
            self.assertEqual(rows, [{"n": edges}])

    def test_errors_of_waits_and_calls_after_them(self):
        rows = self.ask(self.trace("failed"), "SELECT api, status FROM calls WHERE kind IN ('SYNC', 'SET') ORDER BY 1")
        self.assertEqual(rows, [{"api": "cudaMemsetAsync", "status": 0}, {"api": "cudaStreamSynchronize", "status": 700}])

    def test_a_call_in_flight_has_no_duration(self):
        rows = self.ask(self.trace("crashed"), "SELECT kind FROM calls WHERE duration_ms IS NULL")
        self.assertEqual(rows, [{"kind": "SYNC"}])


class Forms(Case):
    SQL = "SELECT 'a,b' AS x, 'say \"so\"' AS y, NULL AS z, '' AS x, 2.5 AS n, x'00ff' AS b, 'two' || char(10) || 'lines'"

    def test_csv(self):
        text = self.call("query", "--format", "csv", self.trace("race"), self.SQL).stdout
        head, row = csv.reader(io.StringIO(text))
        self.assertEqual(head[:6], ["x", "y", "z", "x_2", "n", "b"])
        self.assertEqual(row, ["a,b", 'say "so"', "", "", "2.5", "x'00ff'", "two\nlines"])
        self.assertIn(',,"",', text)  # NULL and an empty text differ

    def test_json(self):
        row, = self.ask(self.trace("race"), self.SQL + " AS l, 9e999 AS i, -7 AS m")
        self.assertEqual(list(row.values()), ["a,b", 'say "so"', None, "", 2.5, "x'00ff'", "two\nlines", None, -7])
        self.assertEqual(self.ask(self.trace("race"), "SELECT 1 WHERE 0"), [])

    def test_table(self):
        text = self.call("query", self.trace("race"), "SELECT 5 AS long_name, 'x' AS t UNION SELECT 12345, 'yy'").stdout
        self.assertEqual(text, "long_name  t\n---------  --\n        5  x\n    12345  yy\n")

    def test_files_hold_the_same(self):
        trace = self.trace("race")
        shown = self.call("query", "--csv", "r.csv", "--json", "r.json", trace, "SELECT kind FROM calls")
        self.assertEqual(shown.returncode, OK, shown.stderr)
        with open(self.path("r.csv"), encoding="utf-8") as file:
            kinds = [row["kind"] for row in csv.DictReader(file)]
        with open(self.path("r.json"), encoding="utf-8") as file:
            self.assertEqual([row["kind"] for row in json.load(file)], kinds)
        self.assertEqual(shown.stdout.split()[2:], kinds)

    def test_names_cannot_command_a_terminal(self):
        trace, sql = self.awkward(), "SELECT kernel, char(27) || '[31m' || char(155) AS e FROM kernels"
        for form in ("table", "csv", "json"):
            text = self.on_a_terminal("query", "--format", form, trace, sql, columns=100, TERM="xterm")
            self.assertIn(b"</script>", text)
            for bad in (b"\x01", b"\x1b", b"\x7f", b"\xff", b"\xc2\x9b"):
                self.assertNotIn(bad, text, form)
        self.assertIn("\x9b", self.call("query", "--format", "csv", trace, "SELECT char(155) FROM program").stdout)

    def test_a_narrow_terminal_gets_a_line_a_value(self):
        sql = "SELECT api, kind, stream_name, time_ms FROM calls WHERE kind = 'COPY'"
        wide, narrow = (self.on_a_terminal("query", self.trace("race"), sql, columns=columns, TERM="xterm")
                        for columns in (100, 20))
        self.assertEqual(wide.count(b"\n"), 3)
        self.assertEqual(narrow.split(b"\n")[0], b"api          cudaMemcpyAsync")


class BadInput(Case):
    def test_usage(self):
        self.refused(USAGE, "which trace?", "query")
        self.refused(USAGE, "which query?", "query", "x.swt")
        self.refused(USAGE, "one trace and one query", "query", "x.swt", "SELECT 1", "SELECT 2")
        self.refused(USAGE, "unknown format 'xml'", "query", "--format", "xml", "x.swt", "SELECT 1")

    def test_wrong_sql_is_refused_before_the_trace_is_read(self):
        for sql, part in (("", "empty"), ("/* nothing */", "empty"), ("SELEC 1", "syntax error"),
                          ("SELECT nope FROM calls", "no such column: nope"), ("SELECT 1 FROM nope", "no such table"),
                          ("SELECT 1; SELECT 2", "one query at a time"), ("SELECT ?1", "parameter"),
                          ("SELECT 'a", "unrecognized token"), ("SELECT (1", "incomplete"), ("SELECT f(1)", "f")):
            self.assertEqual(self.refused(USAGE, part, "query", "/nonexistent", sql), "")

    def test_nothing_can_be_changed(self):
        trace = self.trace("race")
        before = self.hash(trace)
        for sql in ("DELETE FROM raw_calls", "UPDATE program SET pid = 1", "INSERT INTO devices(name) VALUES('x')",
                    "DROP TABLE devices", "CREATE TABLE x(y)", f"ATTACH '{self.path('new.db')}' AS x", "VACUUM",
                    f"VACUUM INTO '{self.path('new.db')}'", "PRAGMA journal_mode = WAL", "BEGIN", "REINDEX", "ANALYZE",
                    "SELECT load_extension('libm.so.6')", "WITH x AS (SELECT 1) DELETE FROM raw_calls"):
            self.assertEqual(self.refused(USAGE, "", "query", trace, sql), "", sql)
        self.assertEqual((self.hash(trace), os.listdir(self.dir)), (before, ["race.swt"]))

    def hash(self, path):
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def test_a_query_that_fails_while_it_runs(self):
        trace = self.trace("race")
        self.refused(USAGE, "integer overflow", "query", trace, "SELECT abs(-9223372036854775807 - 1)")
        self.refused(USAGE, "too big", "query", trace, "SELECT zeroblob(100000000)")
        self.refused(USAGE, "too big", "query", "--json", "r.json", trace, "SELECT hex(zeroblob(16000000))")
        self.assertEqual(os.listdir(self.dir), ["race.swt"])
        endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
        self.refused(5, "--max-time", "query", "--max-time", "0.2", trace, endless)

    def test_traces_that_cannot_be_used(self):
        self.refused(INPUT, "/nonexistent", "query", "/nonexistent", "SELECT 1")
        self.refused(INPUT, self.dir, "query", self.dir, "SELECT 1 FROM calls")
        with open(self.path("text"), "w", encoding="ascii") as file:
            file.write("hello")
        self.refused(INPUT, "text", "query", "text", "SELECT 1")
        self.refused(INPUT, "text", "export", "--sqlite", "run.db", "text")
        self.assertFalse(os.path.exists(self.path("run.db")))

    def test_a_truncated_trace_is_answered_as_far_as_it_goes(self):
        trace = self.trace("race")
        whole = self.ask(trace, "SELECT count(*) AS n FROM calls")[0]["n"]
        with open(trace, "r+b") as file:
            file.truncate(4096 + 600)
        result = self.call("query", "--format", "json", trace, "SELECT count(*) AS n FROM calls")
        self.assertIn(result.returncode, (OK, INPUT))
        self.assertLess(json.loads(result.stdout)[0]["n"], whole)
        notices = json.loads(self.call("query", "--format", "json", trace, "SELECT kind FROM notices").stdout)
        self.assertIn({"kind": "damage"}, notices)

    def test_memory_is_bounded(self):
        with open(COMMAND, "rb") as file:
            if b"__asan_init" in file.read():
                self.skipTest("a sanitizer's own allocator ends the command when it gets no memory")
        sql = ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 400000) "
               "SELECT x, hex(randomblob(100)) AS h FROM c ORDER BY h")
        result = self.call("query", "--format", "csv", "--max-memory", "48M", self.trace("race"), sql)
        self.assertEqual((result.returncode, result.stderr, result.stdout.count("\n")), (OK, "", 400001))

    def test_outputs_that_cannot_be_written(self):
        trace = self.trace("race")
        self.refused(OUTPUT, "/nonexistent/r.csv", "query", "--csv", "/nonexistent/r.csv", trace, "SELECT 1")
        self.refused(OUTPUT, "/nonexistent/r.db", "export", "--sqlite", "/nonexistent/r.db", trace)
        self.refused(OUTPUT, "not a plain file", "export", "--sqlite", "/dev/null", trace)
        self.refused(OUTPUT, "", "export", "--sqlite", self.dir, trace)
        self.refused(OUTPUT, "No space left", "query", "--csv", "/dev/full", trace, "SELECT * FROM calls")
        with open("/dev/full", "w", encoding="ascii") as full:
            result = subprocess.run([COMMAND, "query", trace, "SELECT 1"], stdout=full, stderr=subprocess.PIPE, text=True,
                                    env=ENVIRONMENT, check=False)
        self.assertEqual(result.returncode, OUTPUT)

    def test_exports_replace_files_as_a_whole(self):
        trace = self.trace("race")
        for name in ("run.db", ":memory:", "file:run.db"):
            with open(self.path(name), "w", encoding="ascii") as file:
                file.write("was here")
            self.assertEqual(self.call("export", "--sqlite", name, trace).returncode, OK)
            with sqlite3.connect("file:" + self.path(name).replace(":", "%3a") + "?mode=ro", uri=True) as db:
                self.assertEqual(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
                self.assertEqual(db.execute("SELECT id FROM findings").fetchall(), [("SW101",)])
            self.assertEqual(os.stat(self.path(name)).st_mode & 0o777, 0o600)
        self.assertEqual(sorted(os.listdir(self.dir)), [":memory:", "file:run.db", "race.swt", "run.db"])


unittest.main(argv=sys.argv[:1], verbosity=1)
