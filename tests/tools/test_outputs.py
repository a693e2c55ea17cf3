#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""calibrate, export, dump, stat and kernels.

usage: test_outputs.py BUILD_DIR SOURCE_DIR
"""
import csv
import gzip
import json
import os
import signal
import stat
import struct
import subprocess
import sys
import unittest

from command_case import BUILD, COMMAND, ENVIRONMENT, INPUT, MAKE_TRACE, OK, OUTPUT, SOURCE, USAGE, Case

PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z4fillPfi(.param .u64 p, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<5>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	setp.ge.s32 %p1, %r5, %r1;
	@%p1 bra done;
	cvta.to.global.u64 %rd2, %rd1;
	mul.wide.s32 %rd3, %r5, 4;
	add.s64 %rd4, %rd2, %rd3;
	st.global.u32 [%rd4], 0;
done:
	ret;
}
.visible .entry idle() { ret; }
"""


class Calibrate(Case):
    """On the simulated CUDA, which behaves as the H200 whose behaviour is built in."""

    def setUp(self):
        super().setUp()
        self.environment = dict(ENVIRONMENT, XDG_DATA_HOME=self.dir)

    def call(self, *arguments, **environment):
        return subprocess.run([COMMAND, "calibrate", *arguments], cwd=self.dir, env=dict(self.environment, **environment),
                              capture_output=True, text=True, timeout=1200, stdin=subprocess.DEVNULL)

    def part(self, text, title):
        return text.split("Different from " + title, 1)[1].split("\n\n", 1)[0].split("\n", 1)[1]

    def table(self, name, **verdicts):
        """A small table; verdicts: what the columns of cudaFree say for each of the three streams."""
        path = self.path(name)
        blocks = verdicts.get("blocks", "111")
        with open(path, "w") as file:
            gpu = verdicts.get("gpu", "NVIDIA H200")
            file.write(f"syncwatch-behaviour\t1\ngpu\t{gpu}\ndriver\t13000\t580.159.04\nsimulated\t0\ncall\tidle_us")
            file.write("".join(f"\t{s}_blocks\t{s}_next\t{s}_own\t{s}_us" for s in ("nb", "blk", "leg")) + "\n")
            file.write("cudaFree 256B\t1.000" + "".join(f"\t{b}\t-\t-\t1.000" for b in blocks) + "\n")
        return path

    def test_the_simulation_behaves_as_built_in(self):
        result = self.call("--sim")
        if "sim/libcuda.so.1 is neither" in result.stderr:
            self.skipTest("the simulation is not built")
        self.assertEqual(result.returncode, OK, result.stderr)
        self.assertEqual(self.part(result.stdout, "CUDA's documents"), "  nothing")
        self.assertEqual(self.part(result.stdout, "what was measured"), "  nothing")
        self.assertIn("in 0 cells the repetitions disagree, 0 could not be measured", result.stdout)
        stored, = os.listdir(self.path("syncwatch"))
        self.assertRegex(stored, r"^behaviour-1-Simulated_CUDA.*-13000\.tsv$")
        with open(os.path.join(self.dir, "syncwatch", stored)) as file:
            rows = [line.split("\t") for line in file.read().splitlines()[5:]]
        self.assertGreater(len(rows), 140)
        self.assertEqual({len(row) for row in rows}, {14})
        shown = self.call("--show", "--compare", os.path.join("syncwatch", stored))
        self.assertEqual(shown.returncode, OK, shown.stderr)
        self.assertEqual(self.part(shown.stdout, os.path.join("syncwatch", stored)), "  nothing")
        self.assertIn("cudaFree 256B\t", shown.stdout)

    def test_differences_are_told(self):
        result = self.call("--show", self.table("t", blocks="010"), "--compare", self.table("other", blocks="110"))
        self.assertEqual(result.returncode, OK, result.stderr)
        self.assertEqual(self.part(result.stdout, "CUDA's documents"), "  nothing", "they leave it open")
        built_in = self.part(result.stdout, "what was measured").splitlines()
        self.assertEqual(["kernel on a non-blocking stream: no wait" in built_in[0], "legacy" in built_in[1], len(built_in)],
                         [True, True, 2])
        other = self.part(result.stdout, self.path("other")).splitlines()
        self.assertEqual(["non-blocking" in other[0], len(other)], [True, 1])

    def test_reports_use_a_table(self):
        trace = self.path("t.swt")
        subprocess.run([MAKE_TRACE, "race", trace], check=True)
        table = self.table("t", gpu="Test GPU", blocks="000")

        def report(*options):
            return subprocess.run([COMMAND, "report", *options, trace], cwd=self.dir, env=self.environment,
                                  capture_output=True, text=True, timeout=1200)
        result = report("--behaviour", table, "--json", self.path("r.json"))
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        self.assertIn("was measured on this machine: " + table, result.stdout)
        with open(self.path("r.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["coverage"]["behaviour"]["tables"], [table])
        checker = os.path.join(SOURCE, "tests", "report", "check_schema.py")
        schema = os.path.join(SOURCE, "doc", "report.schema.json")
        checked = subprocess.run([sys.executable, checker, schema, self.path("r.json")], capture_output=True, text=True)
        self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)
        self.assertNotIn("behaviour", report().stdout)
        self.assertNotIn("behaviour", report("--behaviour", "none").stdout)
        result = report("--behaviour", self.table("other"))
        self.assertEqual(result.returncode, OK)
        self.assertIn("table not used: " + self.path("other"), " ".join(result.stdout.split()))

    def test_reports_find_the_table_that_is_stored(self):
        trace = self.path("t.swt")
        subprocess.run([MAKE_TRACE, "race", trace], check=True)
        os.mkdir(self.path("syncwatch"))

        def report(*options):
            result = subprocess.run([COMMAND, "report", *options, trace], cwd=self.dir, env=self.environment,
                                    capture_output=True, text=True, timeout=1200)
            self.assertEqual((result.returncode, result.stderr), (OK, ""))
            return result.stdout
        self.table(os.path.join("syncwatch", "behaviour-1-Another_GPU-13000.tsv"), gpu="Another GPU", blocks="000")
        self.assertNotIn("behaviour", report(), "of another GPU")
        stored = self.table(os.path.join("syncwatch", "behaviour-1-Test_GPU-13000.tsv"), gpu="Test GPU", blocks="000")
        self.assertIn("was measured on this machine: " + stored, " ".join(report().split()))
        self.assertNotIn("behaviour", report("--behaviour", "none"))
        if os.geteuid() == 0:
            os.rename(stored, self.path("ours"))
            os.symlink(self.path("ours"), stored)
            self.assertIn("was measured on this machine: " + stored, " ".join(report().split()), "a link of our own")
            os.chown(stored, 12345, 12345, follow_symlinks=False)
            said = " ".join(report().split())
            self.assertNotIn("was measured on this machine", said)
            self.assertIn("a symbolic link on the way belongs to another user; what is built in is used", said)

    def test_a_driver_that_crashes(self):
        crashing = os.path.join(BUILD, "tests", "tools", "crashing")
        if not os.path.exists(os.path.join(crashing, "libcuda.so.1")):  # only 'make check' builds it by itself
            outside = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
            subprocess.run(["make", "-s", "-C", BUILD, "tests/tools/crashing/libcuda.so.1"], env=outside, check=True,
                           timeout=1200, stdout=subprocess.DEVNULL)
        # A sanitizer would make an exit status of the signal.
        result = self.call(LD_LIBRARY_PATH=crashing, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0")
        self.assertEqual((result.returncode, result.stdout), (INPUT, ""))
        self.assertRegex(result.stderr, r"^syncwatch calibrate: memory: ended by signal 11: .*\n$")
        self.assertEqual(os.listdir(self.dir), [])

    def test_bad_input(self):
        cases = (
            (USAGE, "'x' is too much", "x"),
            (USAGE, "'y' is too much", "--show", "x", "y"),
            (INPUT, "run 'syncwatch calibrate' first", "--show"),
            (INPUT, "/nonexistent", "--show", "/nonexistent"),
            (INPUT, "/nonexistent", "--compare", "/nonexistent"),
            (INPUT, "no table of syncwatch calibrate", "--show", os.path.join(SOURCE, "README.md")),
            (OUTPUT, "/nonexistent/t", "--sim", "--output", "/nonexistent/t"),
        )
        for status, part, *arguments in cases:
            result = self.call(*arguments)
            self.assertEqual((result.returncode, result.stdout, result.stderr.count("\n")), (status, "", 1), result.stderr)
            self.assertIn(part, result.stderr)


class Export(Case):
    def test_timeline_and_graph(self):
        trace = self.trace("race")
        result = self.call("export", "--chrome", self.path("t.json"), "--dot", self.path("g.dot"), trace)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (OK, "", ""))
        with open(self.path("t.json"), encoding="utf-8") as file:
            names = {event.get("name") for event in json.load(file)["traceEvents"]}
        self.assertIn("cudaMemsetAsync", names)
        with open(self.path("g.dot"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("digraph"))

    def test_report_draws_the_same(self):
        trace = self.trace("race")
        self.call("export", "--chrome", self.path("a.json"), trace)
        self.assertEqual(self.call("report", "--chrome", self.path("b.json"), trace).returncode, OK)
        with open(self.path("a.json")) as a, open(self.path("b.json")) as b:
            self.assertEqual(a.read(), b.read())

    def test_compressed_by_name(self):
        result = self.call("export", "--chrome", self.path("t.json.gz"), self.trace("race"))
        if "cannot compress" in result.stderr:
            self.skipTest("built without zlib")
        with gzip.open(self.path("t.json.gz"), "rt", encoding="utf-8") as file:
            self.assertIn("traceEvents", json.load(file))

    def test_windows(self):
        trace = self.trace("race")
        sizes = []
        for options in ((), ("--to", "0.012"), ("--from", "1000"), ("--around", "0.001")):
            self.assertEqual(self.call("export", "--chrome", self.path("t.json"), *options, trace).returncode, OK)
            sizes.append(os.path.getsize(self.path("t.json")))
        self.assertLess(sizes[1], sizes[0])
        self.assertLess(sizes[2], sizes[1])
        self.assertGreater(sizes[3], sizes[2])

    def test_around_a_finding(self):
        trace = self.trace("race")
        for which in ("SW101", "1"):
            self.assertEqual(self.call("export", "--dot", self.path("g.dot"), "--finding", which, trace).returncode, OK)
        os.unlink(self.path("g.dot"))
        for which in ("SW999", "99", "x"):
            self.refused(INPUT, f"no finding '{which}'", "export", "--dot", self.path("g.dot"), "--finding", which, trace)
        self.assertNotIn("g.dot", os.listdir(self.dir))

    def test_bad_usage(self):
        trace = self.trace("race")
        self.refused(USAGE, "--perfetto FILE, --dot FILE or --sqlite FILE", "export", trace)
        self.refused(USAGE, "which trace?", "export", "--dot", "g.dot")
        self.refused(USAGE, "later than --from", "export", "--chrome", "t.json", "--from", "5", "--to", "4", trace)
        for value in ("0", "-1", "x", "1e99", "nan"):
            self.refused(USAGE, "milliseconds above 0", "export", "--chrome", "t.json", "--to", value, trace)
        self.refused(OUTPUT, "/nonexistent/g.dot", "export", "--dot", "/nonexistent/g.dot", trace)
        self.refused(INPUT, "/nonexistent.swt", "export", "--dot", self.path("g.dot"), "/nonexistent.swt")
        self.assertEqual(os.listdir(self.dir), ["race.swt"])


class DumpAndStat(Case):
    def test_records(self):
        trace = self.trace("race")
        result = self.call("dump", trace)
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        kinds = {line.split()[0] for line in result.stdout.splitlines()}
        self.assertLessEqual({"TRACE", "PROCESS", "SET", "COPY", "SYNC"}, kinds)
        some = self.call("dump", "--kinds", "SET,COPY", trace).stdout
        self.assertIn("\nSET ", some)
        self.assertNotIn("\nSYNC ", some)

    def test_coverage(self):
        result = self.call("stat", self.trace("race"))
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        self.assertIn("cuMemsetD8Async", result.stdout)

    def test_times_by_call_stream_and_kernel(self):
        trace = os.path.join(SOURCE, "tests", "golden", "traces", "gpu-torch-side_stream.swt")
        printed = self.call("stat", "--format", "json", "--json", self.path("s.json"), "--csv", self.path("s.csv"), trace)
        self.assertEqual((printed.returncode, printed.stderr), (OK, ""))
        with open(self.path("s.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), printed.stdout)
        checker = os.path.join(SOURCE, "tests", "report", "check_schema.py")
        schema = os.path.join(SOURCE, "doc", "stat.schema.json")
        checked = subprocess.run([sys.executable, checker, schema, self.path("s.json")], capture_output=True, text=True)
        self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)
        stat = json.loads(printed.stdout)
        report = json.loads(self.call("report", "--all", "--format", "json", trace).stdout)
        self.assertEqual(sum(row["count"] for row in stat["calls"]), report["coverage"]["driver_calls"])
        self.assertEqual(sum(row["count"] for row in stat["kernels"]), report["coverage"]["launches"])
        by_name = {row["name"]: row for row in stat["calls"]}
        malloc = by_name["cudaMalloc (cuMemAlloc_v2)"]
        self.assertEqual((malloc["count"], malloc["waits"]), (7, 4))
        self.assertGreater(malloc["total_ms"], malloc["waits_ms"])
        for row in stat["calls"]:
            if row["timed"]:
                self.assertLessEqual(row["p50_ms"], row["p99_ms"], row)
                self.assertLessEqual(row["p99_ms"], row["longest_ms"], row)
                self.assertLessEqual(row["longest_ms"], row["total_ms"], row)
        self.assertEqual({row["name"] for row in stat["streams"]}, {"the legacy default stream", "stream 1"})
        self.assertIn("--gpu-timeline records it", self.call("stat", trace).stdout)
        with open(self.path("s.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), sum(len(stat[table]) for table in ("calls", "streams", "kernels")))
        self.assertEqual([row["count"] for row in rows if row["name"] == "cudaMalloc (cuMemAlloc_v2)"], ["7"])
        self.assertEqual(self.call("stat", "--format", "csv", trace).stdout.splitlines(),
                         self.read("s.csv").splitlines())

    def test_forms_of_stat(self):
        trace = self.trace("race")
        self.refused(USAGE, "unknown format 'xml'", "stat", "--format", "xml", trace)
        self.refused(OUTPUT, "/nonexistent/s", "stat", "--csv", "/nonexistent/s", trace)
        self.refused(OUTPUT, "/nonexistent/s", "stat", "--json", "/nonexistent/s", trace)

    def test_bad_input(self):
        trace = self.trace("race")
        self.refused(USAGE, "NONSENSE", "dump", "--kinds", "NONSENSE", trace)
        for command in ("dump", "stat"):
            self.refused(USAGE, "which trace?", command)
            self.refused(USAGE, "one trace at a time", command, trace, trace)
            self.refused(INPUT, "/nonexistent.swt", command, "/nonexistent.swt")


class Kernels(Case):
    def ptx(self, text=PTX, name="k.ptx"):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def test_what_a_kernel_touches(self):
        result = self.call("kernels", self.ptx())
        self.assertEqual((result.returncode, result.stderr), (OK, ""))
        self.assertIn("fill(float*, int)\n", result.stdout)
        self.assertRegex(result.stdout, r"evidence +PTX sm_90\n")
        self.assertRegex(result.stdout, r"parameter 0 +8 bytes, write\n")
        self.assertRegex(result.stdout, r"parameter 1 +4 bytes, not used as a pointer\n")
        self.assertRegex(result.stdout, r"write +4 bytes at 4 \* \(ntid\.x \* ctaid\.x \+ tid\.x\) \+ param 0 where ")
        self.assertRegex(result.stdout, r"idle\n(?:  .*\n)*  touches +nothing in global memory\n")

    def test_one_kernel_by_either_name_with_its_places(self):
        line = PTX[:PTX.index("st.global")].count("\n") + 1
        for name in ("_Z4fill", "fill(float", "ill"):
            result = self.call("kernels", self.ptx(), name)
            self.assertEqual(result.returncode, OK)
            self.assertNotIn("idle", result.stdout)
            self.assertRegex(result.stdout, rf"line {line}, st\.global[.a-z0-9]*: write 4 bytes at ")

    def test_json_agrees_with_its_schema(self):
        result = self.call("kernels", "--format", "json", "--json", self.path("k.json"), self.ptx())
        self.assertEqual(result.returncode, OK, result.stderr)
        with open(self.path("k.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), result.stdout)
        kernels = json.loads(result.stdout)["kernels"]
        self.assertEqual([k["mangled"] for k in kernels], ["_Z4fillPfi", "idle"])
        through, = kernels[0]["through"]
        self.assertEqual((through["kind"], through["reads"], through["writes"]), ("parameter", False, True))
        self.assertEqual(kernels[1]["accesses"], [])
        checker = os.path.join(SOURCE, "tests", "report", "check_schema.py")
        schema = os.path.join(SOURCE, "doc", "kernels.schema.json")
        checked = subprocess.run([sys.executable, checker, schema, self.path("k.json")], capture_output=True, text=True)
        self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)

    def test_of_a_trace_without_code(self):
        result = self.call("kernels", self.trace("kernels"))
        self.assertEqual(result.returncode, OK, result.stderr)
        self.assertRegex(result.stdout, r"launched +\d+ times? on sm_")
        self.assertIn("no code image", result.stdout)

    def test_the_cache_is_used_and_can_be_left_out(self):
        cache = self.path("cache")
        environment = dict(ENVIRONMENT, XDG_CACHE_HOME=cache)
        for option, kept in (("--no-cache", False), ("--format=text", True)):
            done = [subprocess.run([COMMAND, "kernels", option, self.ptx()], env=environment, capture_output=True,
                                   text=True, check=True).stdout for _ in range(2)]
            self.assertEqual(done[0], done[1])
            self.assertEqual(os.path.isdir(cache), kept)
        files = os.listdir(os.path.join(cache, "syncwatch"))
        self.assertEqual(len(files), 1)

    def test_what_cannot_be_used(self):
        self.refused(USAGE, "which trace or file?", "kernels")
        self.refused(USAGE, "one file and one name", "kernels", "a", "b", "c")
        self.refused(USAGE, "unknown format 'xml'", "kernels", "--format", "xml", "a")
        for arch in ("x", "sm_", "0", "-1", "9999", "90b"):
            self.refused(USAGE, "is not an architecture", "kernels", "--arch", arch, "a")
        self.refused(INPUT, "cannot open '/nonexistent'", "kernels", "/nonexistent")
        self.refused(INPUT, "not a plain file", "kernels", self.dir)
        self.refused(INPUT, "'idle.ptx' has no kernel whose name contains 'x y'".replace("idle.ptx", self.ptx()),
                     "kernels", self.ptx(), "x y")
        self.refused(INPUT, "is empty", "kernels", self.ptx("", "empty"))
        self.refused(INPUT, "is neither a trace nor PTX", "kernels", self.ptx("hello", "text"))
        self.refused(INPUT, "holds no CUDA code", "kernels", "/bin/true")
        with open(self.path("bad"), "wb") as file:
            file.write(struct.pack("<IHHQ", 0xba55ed50, 1, 16, 4096) + bytes(100))
        self.refused(INPUT, "image at offset 0: fatbin: offset 16", "kernels", self.path("bad"))


unittest.main(argv=sys.argv[:1], verbosity=1)
