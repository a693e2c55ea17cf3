#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""measure.py must fail when it has to: stand-ins for the command, the packer and the programs do what each case says."""
import csv
import json
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import measure

COMMAND = f"""#!{sys.executable}
import json, os, sys
import time
arguments = sys.argv[1:]
trace = open(arguments[-1]).read().split()
if "slow" in trace and "--no-footprints" not in arguments:
    time.sleep(1000)  # until it is ended
if "large" in trace:
    kept = bytes([1]) * (300 << 20)
if "late" in trace and not os.path.exists(os.path.join(os.path.dirname(arguments[-1]), "../../lstm/recorded/lstm.swt")):
    sys.exit("another program has not ended")
if "disturbed" in trace and "--no-footprints" not in arguments:
    count = arguments[-1] + ".count"
    open(count, "a").write("x")
    if os.path.getsize(count) != 2:
        time.sleep(2)
if "unreadable" in trace:
    sys.exit("cannot be read")
cache = os.environ["XDG_CACHE_HOME"]
if "--no-footprints" not in arguments:
    os.makedirs(cache, exist_ok=True)
    open(os.path.join(cache, "cold" if not os.listdir(cache) else "warm"), "w").close()
report = {{"coverage": {{"launches": 7}}, "summary": {{"errors": int("wrong" in trace), "warnings": 2}}}}
json.dump(report, open(arguments[arguments.index("--json") + 1], "w"))
"""
# Some bytes that cannot be compressed, fewer in a shorter run.
PACKER = f"""#!{sys.executable}
import os, sys
words = open(sys.argv[2]).read().split()
assert sys.argv[1] == "--code"
open(sys.argv[3], "wb").write(os.urandom(int(float(words[0]) * 100000)))
"""
PROGRAM = """import os, sys
words = %r.split()
length = sys.argv[sys.argv.index("--length") + 1]
recorded = dict(pair.split("=", 1) for pair in os.environ.get("SYNCWATCH_OPTIONS", "").split(":") if "=" in pair)
first = os.path.join(os.path.dirname(os.path.abspath(__file__)), "first")
if "first" in words and os.path.exists(first):
    os.unlink(first)
    sys.exit("not yet")
if "absent" in words:
    sys.exit(77)
if "broken" in words or "broken-recorded" in words and recorded:
    sys.exit("something is wrong")
if "endless" in words:
    while True:
        pass
if recorded and "traceless" not in words:
    open(recorded["trace"], "w").write(" ".join([length, *words]))
print("loop_s 0.125")
"""


class Measure(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="measure-test-")
        self.addCleanup(scratch.cleanup)
        self.build, self.out, self.folder = (os.path.join(scratch.name, n) for n in ("build", "out", "programs"))
        os.makedirs(os.path.join(self.build, "tests/golden"))
        os.mkdir(self.folder)
        for name, text in (("syncwatch", COMMAND), ("tests/golden/pack_trace", PACKER)):
            with open(os.path.join(self.build, name), "w", encoding="utf-8") as out:
                out.write(text)
            os.chmod(out.name, 0o755)

    def measure(self, words, *options):
        """Exit status, last line, and the rows by program; `words` describes each program and its trace."""
        for name, text in words.items():
            with open(os.path.join(self.folder, name + ".py"), "w", encoding="utf-8") as out:
                out.write(PROGRAM % text)
        # There is no library to preload: the loader says so and goes on.
        done = subprocess.run([os.path.join(HERE, "run"), self.build, self.out, "--folder", self.folder, "--least", "60", *options, *words],
                              text=True, check=False, capture_output=True, env={**os.environ, "PYTHON3": sys.executable, "LC_ALL": "C"})
        with open(os.path.join(self.out, "judging.tsv"), encoding="utf-8") as f:
            rows = {r["program"]: r for r in csv.DictReader(f, delimiter="\t")}
        return done.returncode, done.stdout.splitlines()[-1], rows

    def test_measures(self):
        status, last, rows = self.measure({"generate": "", "lstm": ""})
        self.assertEqual((status, last), (0, "2 passed, 0 failed, 0 skipped"))
        row = rows["lstm"]
        self.assertEqual([row[c] for c in ("verdict", "launches", "errors", "warnings", "traces", "recorded_loop_s", "evaluated", "note")],
                         ["ok", "7", "0", "2", "1", "0.125", "-", ""])
        for column in ("bare_s", "recorded_s", "cold_s", "warm_s", "no_footprints_s", "cold_mb"):
            self.assertGreater(float(row[column]), 0, column)
        self.assertEqual(int(row["trace_bytes"]), len("1.0"))
        with tarfile.open(os.path.join(self.out, "judging-reports.tar.xz")) as tar:
            self.assertEqual(json.load(tar.extractfile("judging-reports/lstm.cold.json"))["coverage"]["launches"], 7)

    def test_fails(self):
        words = {"generate": "wrong", "train_bert": "large", "train_gpt2": "unreadable", "lstm": "traceless", "unet": "broken",
                 "graphs": "broken-recorded"}
        status, last, rows = self.measure(words)
        self.assertEqual((status, last), (1, "0 passed, 6 failed, 0 skipped"))
        self.assertEqual(rows["generate"]["errors"], "1")
        self.assertGreater(float(rows["train_bert"]["cold_mb"]), 300)
        self.assertIn("cold: cannot be read", rows["train_gpt2"]["note"])
        self.assertEqual(rows["lstm"]["note"], "no trace")
        self.assertIn("bare run: 1: something is wrong", rows["unet"]["note"])
        self.assertIn("recorded run: 1: something is wrong", rows["graphs"]["note"])

    def test_prepares(self):
        """The first run of a program that compiles does not count: this one fails then, and never again."""
        with open(os.path.join(self.folder, "first"), "w", encoding="utf-8"):
            pass
        words = {"compiled": "first", "lstm": ""}
        status, last, _ = self.measure(words)
        self.assertEqual((status, last), (0, "2 passed, 0 failed, 0 skipped"))

    def test_limits(self):
        status, last, rows = self.measure({"lstm": ""}, "--least", "0")
        self.assertEqual((status, last, rows["lstm"]["note"]), (1, "0 passed, 1 failed, 0 skipped", ""))
        status, last, rows = self.measure({"generate": "slow", "lstm": ""}, "--judge-limit", "5")
        self.assertEqual((status, last), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertEqual([rows["generate"][c] for c in ("verdict", "cold_s", "warm_s", "launches")], ["FAIL", ">5", "-", "7"])
        _, last, rows = self.measure({"graphs": "endless"}, "--run-limit", "1")
        self.assertEqual((last, rows["graphs"]["bare_s"]), ("0 passed, 1 failed, 0 skipped", ">1"))

    def test_quiet(self):
        """A judgement begins when the last program has ended."""
        status, last, rows = self.measure({"generate": "late", "lstm": "late"}, "--quiet")
        self.assertEqual((status, last, rows["generate"]["note"]), (0, "2 passed, 0 failed, 0 skipped", ""))

    def test_repeats(self):
        """All judgements but the second take two seconds at least."""
        _, _, rows = self.measure({"lstm": "disturbed"}, "--repeat", "2")
        self.assertLess(float(rows["lstm"]["cold_s"]), 2)
        self.assertGreaterEqual(float(rows["lstm"]["warm_s"]), 2)
        _, _, rows = self.measure({"lstm": "disturbed"})
        self.assertGreaterEqual(float(rows["lstm"]["cold_s"]), 2)

    def test_skips(self):
        status, last, rows = self.measure({"ddp": "absent", "lstm": ""})
        self.assertEqual((status, last, rows["ddp"]["verdict"]), (0, "1 passed, 0 failed, 1 skipped", "skip"))
        status, last, _ = self.measure({"lstm": ""}, "--budget", "-1")
        self.assertEqual((status, last), (0, "0 passed, 0 failed, 1 skipped"))

    def test_packs(self):
        """100000 bytes: as it is, of a fifth of the run, of a twenty-fifth, not at all."""
        for most, bytes_ in (("200000", 100000), ("30000", 20000), ("8000", 4000)):
            self.measure({"generate": ""}, "--pack", "generate", "--pack-bytes", most)
            with lzma.open(os.path.join(self.out, "packed-generate.swt.xz")) as f:
                self.assertEqual(len(f.read()), bytes_)
            os.unlink(os.path.join(self.out, "packed-generate.swt.xz"))
        self.measure({"generate": ""}, "--pack", "generate", "--pack-bytes", "1000")
        self.assertFalse(os.path.exists(os.path.join(self.out, "packed-generate.swt.xz")))

    def test_verdict(self):
        self.assertTrue(measure.passes(1.0, 1.0, 250, 0))
        self.assertFalse(measure.passes(1.1, 1.0, 250, 0))
        self.assertFalse(measure.passes(1.0, 1.0, 251, 0))
        self.assertFalse(measure.passes(1.0, 1.0, 250, 1))

    def test_every_program_is_there(self):
        programs = {f[:-3] for f in os.listdir(HERE) if f.endswith(".py")} - {"common", "measure", "test_measure"}
        self.assertEqual(programs, set(measure.PROGRAMS))
        for name in programs:
            with open(os.path.join(HERE, name + ".py"), encoding="utf-8") as f:
                compile(f.read(), name, "exec")

    def test_cores(self):
        running, judging = measure.shares(0)
        self.assertTrue(all(len(c) == 1 for c in judging))
        if len(os.sched_getaffinity(0)) >= 8:
            self.assertFalse(set.union(*running) & set.union(*judging))


if __name__ == "__main__":
    unittest.main()
