#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A packed trace is judged alike wherever it is; one without its files, or with others, is judged weaker and says so.

usage: test_pack.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import shutil
import subprocess
import sys
import time
import unittest

import command_case
from command_case import COMMAND, CUDA_PROGRAM, ENVIRONMENT, INPUT, MAKE_TRACE, OUTPUT, USAGE

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z5otherPf(.param .u64 p) {
.reg .b64 %rd<2>;
ld.param.u64 %rd1, [p];
st.global.u32 [%rd1+64], 0;
ret;
}
.visible .entry _Z4fillPf(.param .u64 p) {
.reg .b64 %rd<2>;
ld.param.u64 %rd1, [p];
st.global.u32 [%rd1+OFFSET], 0;
ret;
}
"""


def without_times(value):
    """What a report says, less the path it was given and what judging cost."""
    if isinstance(value, dict):
        return {name: without_times(v) for name, v in value.items() if name not in ("trace", "cpu_ms", "code_bytes", "fix")}
    return [without_times(v) for v in value] if isinstance(value, list) else value


class Case(command_case.Case):
    def call(self, *arguments, status=0):
        result = subprocess.run([COMMAND, *arguments], cwd=self.dir, env=ENVIRONMENT, capture_output=True, text=True,
                                timeout=1200, stdin=subprocess.DEVNULL)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def refused(self, status, part, *arguments):
        result = self.call(*arguments, status=status)
        self.assertEqual((result.stdout, result.stderr.count("\n")), ("", 1), result.stderr)
        self.assertIn(part, result.stderr)

    def write_code(self, offset=8):
        with open(self.path("fill.ptx"), "w") as file:
            file.write(PTX.replace("OFFSET", str(offset)))

    def record(self, *options):
        """app.swt: a certain race of two kernels, of a program and code that are files of their own."""
        self.write_code()
        shutil.copy(CUDA_PROGRAM, self.path("app"))
        return self.call("run", "--sim", *options, "-o", "app.swt", "./app", "load", "fill.ptx")

    def report(self, trace):
        return without_times(json.loads(self.call("report", "--all", "--format", "json", trace).stdout))

    def move_files_away(self):
        os.remove(self.path("app"))
        os.remove(self.path("fill.ptx"))

    @staticmethod
    def certain(report):
        return [f["id"] for f in report["findings"] if f["confidence"] == "certain"]


class Packed(Case):
    def test_every_command_says_the_same_without_the_files(self):
        self.record()
        commands = (("report", "--all"), ("kernels",), ("kernels", "--format", "json"))
        before = self.report("app.swt")
        printed = [self.call(*command, "app.swt").stdout.replace("app.swt", "TRACE") for command in commands]
        self.assertEqual(self.certain(before), ["SW103"])
        self.assertIn('"load"', json.dumps(before))
        packed = self.call("pack", "app.swt").stderr
        self.assertIn("packed into app.swt.zst", packed)
        self.assertNotIn("not packed", packed)
        self.move_files_away()
        self.assertEqual(self.report("app.swt.zst"), before)
        for command, text in zip(commands, printed):
            self.assertEqual(self.call(*command, "app.swt.zst").stdout.replace("app.swt.zst", "TRACE"), text)
        self.call("export", "app.swt.zst", "--chrome", "t.json", "--dot", "t.dot")
        self.assertIn("PACK_CODE", self.call("dump", "app.swt.zst").stdout)
        self.assertIn("cuLaunchKernel", self.call("stat", "app.swt.zst").stdout)
        with open(self.path("before.json"), "w") as file:
            json.dump({**before, "schema": "syncwatch-report/1"}, file)
        self.assertIn("0 new", self.call("diff", "before.json", "app.swt.zst").stdout)

    def test_the_table_of_calibrate_comes_along(self):
        self.record()
        (gpu,) = {d["name"] for d in self.report("app.swt")["devices"]}
        driver = self.report("app.swt")["program"]["cuda_driver_version"]
        name = "".join(c if c.isalnum() or c == "-" else "_" for c in gpu)
        folder = self.path("data/syncwatch")
        os.makedirs(folder)
        with open(os.path.join(folder, f"behaviour-1-{name}-{driver}.tsv"), "w") as table:
            table.write("damaged")
        global ENVIRONMENT
        elsewhere, ENVIRONMENT = ENVIRONMENT, {**ENVIRONMENT, "XDG_DATA_HOME": self.path("data")}
        try:
            here = self.report("app.swt")
            self.call("pack", "app.swt")
        finally:
            ENVIRONMENT = elsewhere
        self.assertIn(folder, json.dumps(here["coverage"]["behaviour"]))
        self.assertNotIn(folder, json.dumps(self.report("app.swt")))
        self.assertEqual(self.report("app.swt.zst"), here)

    def test_only_the_code_of_launched_kernels_is_packed(self):
        self.record()
        self.call("pack", "-o", "plain.swt", "app.swt")
        with open(self.path("plain.swt"), "rb") as file:
            content = file.read()
        self.assertIn(b"_Z4fillPf(", content)
        self.assertNotIn(b"_Z5otherPf", content)

    def test_code_in_the_trace_is_reduced_too(self):
        subprocess.run([MAKE_TRACE, "kernels", self.path("k.swt")], check=True)
        before = self.report("k.swt")
        self.call("pack", "-o", "p.swt", "k.swt")
        self.assertEqual(self.report("p.swt"), before)
        self.assertNotIn("\nIMAGE_DATA ", self.call("dump", "p.swt").stdout)

    def test_packing_twice_changes_nothing(self):
        self.record()
        self.call("pack", "app.swt")
        self.move_files_away()
        self.call("pack", "-o", "again.zst", "app.swt.zst")
        with open(self.path("app.swt.zst"), "rb") as one, open(self.path("again.zst"), "rb") as two:
            self.assertEqual(one.read(), two.read())

    def test_run_leaves_packed_traces(self):
        shown = self.record("--pack", "--json", "r.json").stderr
        with open(self.path("r.json")) as file:
            self.assertEqual(json.load(file)["program"]["trace"], self.path("app.swt.zst"))
        os.remove(self.path("r.json"))
        self.assertEqual(sorted(os.listdir(self.dir)), ["app", "app.swt.zst", "fill.ptx"])
        self.assertIn("app.swt.zst\n", shown)
        self.assertNotIn("app.swt\n", shown)
        # What an earlier run left stays.
        again = self.call("run", "--sim", "--pack", "-o", "app.swt.zst", "./app", "load", "fill.ptx", status=OUTPUT)
        self.assertIn("app.swt.zst' is there already", again.stderr)
        self.move_files_away()
        self.assertEqual(self.certain(self.report("app.swt.zst")), ["SW103"])

    def test_run_packs_the_trace_of_each_process(self):
        self.call("run", "--sim", "--pack", "-o", "f.swt", CUDA_PROGRAM, "fork")
        self.assertEqual(sorted(os.listdir(self.dir)), ["f-2.swt.zst", "f.swt.zst"])

    def test_a_program_that_crashed(self):
        subprocess.run([MAKE_TRACE, "crashed", self.path("c.swt")], check=True)
        before = self.report("c.swt")
        self.call("pack", "c.swt")
        self.assertEqual(self.report("c.swt.zst"), before)


class Unusable(Case):
    """Never a wrong `certain`."""

    def first_lines(self, trace):
        return self.call("report", trace).stdout.splitlines()[:8]

    def test_the_first_lines_say_what_is_missing_and_what_helps(self):
        self.record()
        self.assertIn(": error: SW103", self.first_lines("app.swt")[0])
        self.call("pack", "app.swt")
        self.move_files_away()
        lines = " ".join(" ".join(self.first_lines("app.swt")).split())
        self.assertTrue(lines.startswith("syncwatch: 2 files of the run are missing here or changed: findings rest on "
                                         "weaker evidence"), lines)
        self.assertIn(f"missing: {self.path('fill.ptx')} (code of 1 kernel)", lines)
        self.assertIn(f"missing: {self.path('app')} (names of call stacks)", lines)
        self.assertIn("syncwatch pack app.swt", lines)
        self.assertEqual(self.certain(self.report("app.swt")), [])
        self.assertEqual([(f["state"], f["kernels"], f["names"]) for f in
                          self.report("app.swt")["coverage"]["unusable_files"]], [("missing", 1, False), ("missing", 0, True)])
        self.assertIn(": error: SW103", self.first_lines("app.swt.zst")[0])

    def test_a_pack_that_lacks_files_says_so_in_its_first_lines(self):
        self.record()
        os.remove(self.path("fill.ptx"))
        self.assertIn("not packed: unreadable", self.call("pack", "app.swt").stderr)
        lines = " ".join(" ".join(self.first_lines("app.swt.zst")).split())
        self.assertIn("1 file of the run is missing here or changed", lines)
        self.assertIn("the trace was packed without them: pack it again", lines)

    def test_replaced_code_is_not_packed_and_not_believed(self):
        self.record()
        self.write_code(offset=1024)
        later = time.time() + 60
        os.utime(self.path("fill.ptx"), (later, later))
        packed = self.call("pack", "app.swt").stderr
        self.assertIn("not packed: unreadable: " + self.path("fill.ptx") + " is not the file that was loaded", packed)
        report = self.report("app.swt.zst")
        self.assertEqual(report, self.report("app.swt"))
        self.assertEqual(self.certain(report), [])
        # Nor is it where another file has come to lie in its place.
        self.write_code(offset=512)
        os.utime(self.path("fill.ptx"), (later, later))
        self.assertEqual(self.report("app.swt.zst"), report)

    def test_a_pack_wins_over_the_files_of_the_machine(self):
        self.record()
        before = self.report("app.swt")
        self.call("pack", "app.swt")
        self.write_code(offset=1024)
        shutil.copy("/bin/true", self.path("app"))
        self.assertEqual(self.report("app.swt.zst"), before)

    def test_damaged_code_is_no_code(self):
        self.record()
        self.call("pack", "-o", "plain.swt", "app.swt")
        with open(self.path("plain.swt"), "r+b") as file:
            content = bytearray(file.read())
            at = content.index(b"st.global.u32 [%rd1+8]") + len(b"st.global.u32 [%rd1+")
            content[at:at + 1] = b"9"
            # The checksum of the chunk would show it; here the hash of the code has to.
            content[4096 + 16:4096 + 24] = bytes(8)
            file.seek(0)
            file.write(content)
        self.move_files_away()
        report = self.report("plain.swt")
        self.assertEqual(self.certain(report), [])
        self.assertIn("the packed code is damaged", json.dumps(report))

    def test_a_pack_that_was_cut_short(self):
        self.record()
        self.call("pack", "app.swt")
        size = os.path.getsize(self.path("app.swt.zst"))
        for left in (1, 3, 4, 5, 100, size // 2, size - 1):
            with open(self.path("app.swt.zst"), "rb") as whole, open(self.path("cut.zst"), "wb") as cut:
                cut.write(whole.read(left))
            result = subprocess.run([COMMAND, "report", "cut.zst"], cwd=self.dir, env=ENVIRONMENT, capture_output=True,
                                    text=True, timeout=1200)
            self.assertIn(result.returncode, (0, INPUT), result.stderr)
            self.assertLessEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_bad_input_and_output(self):
        self.record()
        self.refused(USAGE, "which trace?", "pack")
        self.refused(USAGE, "one trace at a time", "pack", "a", "b")
        self.refused(INPUT, "cannot open", "pack", "missing.swt")
        self.refused(INPUT, "not a syncwatch trace", "pack", "fill.ptx")
        self.refused(OUTPUT, "cannot write", "pack", "-o", "no/such/folder/x.zst", "app.swt")
        self.refused(OUTPUT, "is the trace itself", "pack", "-o", "app.swt", "app.swt")
        self.refused(OUTPUT, "cannot write", "pack", "-o", "/dev/full", "app.swt")
        self.assertFalse([name for name in os.listdir(self.dir) if name not in ("app", "fill.ptx", "app.swt")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
