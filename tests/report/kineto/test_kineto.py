#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our streams, hazards and waits in traces of torch.profiler: drawn where the profile has the call, and nowhere else.

usage: test_kineto.py BUILD_DIR SOURCE_DIR [--perfetto ASSETS]
"""
import gzip
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

from profiles import Profile, Trace

BUILD, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
ASSETS = os.path.abspath(sys.argv[4]) if sys.argv[3:4] == ["--perfetto"] else None
COMMAND = os.path.join(BUILD, "syncwatch")
EXPORT = os.path.join(BUILD, "tests", "report", "timeline", "export")
OK, USAGE, INPUT, OUTPUT = 0, 2, 3, 4
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "SYNCWATCH_OPTIONS")}
ENVIRONMENT["XDG_CACHE_HOME"] = ENVIRONMENT["XDG_DATA_HOME"] = "/dev/null"


def nanoseconds(micro):
    return round(micro * 1000)


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="syncwatch-test-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def made(self, case):
        path = self.path(case + ".swt")
        if not os.path.exists(path):
            subprocess.run([EXPORT, case, path, "/dev/null"], check=True, stdout=subprocess.DEVNULL)
        return path

    def torch(self):
        return os.path.join(SOURCE, "tests", "golden", "traces", "gpu-torch-side_stream.swt")

    def call(self, *arguments):
        return subprocess.run([COMMAND, *arguments], cwd=self.dir, env=ENVIRONMENT, capture_output=True, text=True,
                              timeout=1200, stdin=subprocess.DEVNULL)

    def write(self, text, name="torch.json"):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def merge(self, trace, profile, *options):
        """The merged events that are ours, by category; and the line that says what was done."""
        text = profile if isinstance(profile, str) else profile.text()
        result = self.call("export", "--merge-kineto", self.write(text), "--chrome", "merged.json", *options, trace)
        self.assertEqual(result.returncode, OK, result.stderr)
        with open(self.path("merged.json"), encoding="utf-8") as file:
            merged = file.read()
        whole, before = json.loads(merged), json.loads(text)
        kept = len(before["traceEvents"])
        self.assertEqual(whole["traceEvents"][:kept], before["traceEvents"])
        del whole["traceEvents"][:kept]
        added = whole.pop("traceEvents")
        before.pop("traceEvents")
        self.assertEqual(whole, before)
        return added, result.stderr

    def refused(self, status, part, trace, text, *options):
        result = self.call("export", "--merge-kineto", self.write(text), "--chrome", "merged.json", *options, trace)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn(part, result.stderr)
        self.assertFalse(os.path.exists(self.path("merged.json")))


def slices(events, category):
    return [event for event in events if event["ph"] == "X" and event["cat"] == "syncwatch_" + category]


class Merged(Case):
    def check_rows(self, events):
        """Slices of a row do not overlap, rows have names, and no process of the profile is used."""
        rows, named = {}, set()
        for event in events:
            if event["ph"] == "X":
                start = nanoseconds(event["ts"])
                rows.setdefault((event["pid"], event["tid"]), []).append((start, start + nanoseconds(event["dur"])))
            elif event["ph"] == "M" and event["name"] == "thread_name":
                named.add((event["pid"], event["tid"]))
        self.assertEqual(set(rows), named)
        for row in rows.values():
            row.sort()
            for (_, end), (start, _) in zip(row, row[1:]):
                self.assertLessEqual(end, start)

    def test_a_race_is_drawn_between_its_two_pieces_of_work(self):
        trace = self.made("race")
        profile = Profile(Trace(COMMAND, trace))
        events, said = self.merge(trace, profile)
        self.check_rows(events)
        copies = sorted(profile.spots.values())
        work = sorted((nanoseconds(e["ts"]), nanoseconds(e["ts"]) + nanoseconds(e["dur"])) for e in slices(events, "work"))
        self.assertEqual(work, copies)
        sides = slices(events, "hazard")
        self.assertEqual(sorted((nanoseconds(e["ts"]), nanoseconds(e["ts"]) + nanoseconds(e["dur"])) for e in sides),
                         copies)
        self.assertEqual({e["name"] for e in sides}, {"SW101 race-read-after-write, earlier side",
                                                      "SW101 race-read-after-write, later side"})
        for side in sides:
            self.assertIn("may still be writing it", side["args"]["message"])
            self.assertIn("cudaStreamWaitEvent", side["args"]["fix"])
        start, = (e for e in events if e["ph"] == "s")
        end, = (e for e in events if e["ph"] == "f")
        self.assertEqual((start["id"], start["cat"]), (end["id"], end["cat"]))
        self.assertLess(start["ts"], end["ts"])
        self.assertEqual({(e["pid"], e["tid"]) for e in sides}, {(e["pid"], e["tid"]) for e in (start, end)})
        wait, = slices(events, "wait")
        self.assertEqual(wait["name"], "waits in cudaDeviceSynchronize")
        self.assertRegex(said, r"^syncwatch export: 5 of 5 calls of CUDA joined, clocks agree to [0-9.]+ us; added 2 pieces "
                               r"of work, 1 hazard, 1 wait\n$")
        self.assertEqual({e["pid"] for e in events} & {e["pid"] for e in profile.events}, set())

    def test_the_fixed_twin_has_no_hazard(self):
        trace = self.made("pipeline")
        events, _ = self.merge(trace, Profile(Trace(COMMAND, trace)))
        self.assertEqual(slices(events, "hazard"), [])
        self.assertEqual(len(slices(events, "work")), 3)

    def test_a_real_program(self):
        trace = self.torch()
        profile = Profile(Trace(COMMAND, trace))
        events, said = self.merge(trace, profile)
        self.check_rows(events)
        spots = {seq: spot for seq, spot in profile.spots.items()}
        for event in slices(events, "work"):
            start, end = spots[event["args"]["sequence"]]
            self.assertEqual(nanoseconds(event["ts"]), start)
            self.assertIn(end - start - nanoseconds(event["dur"]), (0, 1))  # rounded for viewers that add as floats
        self.assertEqual(len(slices(events, "work")), len(spots), said)
        self.assertGreaterEqual(len(slices(events, "hazard")), 2)

    def test_clocks_are_not_trusted(self):
        trace = self.torch()
        known = Trace(COMMAND, trace)
        for offset, base, drift in ((123_456_789_000, 5, 0), (10**18, 0, 0), (10**9, None, 0), (10**12, 0, 15)):
            profile = Profile(known, offset=offset, base=base, drift_ppm=drift)
            events, said = self.merge(trace, profile)
            self.assertEqual(len(slices(events, "work")), len(profile.spots), said)
            matched, calls = [int(word) for word in said.split() if word.isdigit()][:2]
            self.assertGreaterEqual(matched, calls * 0.99)

    def test_of_a_loop_of_equal_calls_the_times_of_day_decide(self):
        trace = self.made("deep")
        known = Trace(COMMAND, trace)
        launches = [call for call in known.calls if call["kind"] == "LAUNCH"]
        window = {call["seq"] for call in launches[4000:4100]}
        profile = Profile(known, keep=lambda index, call: call["seq"] in window)
        events, said = self.merge(trace, profile)
        self.assertEqual(sorted(e["args"]["sequence"] for e in slices(events, "work")), sorted(window), said)

    def test_a_window_of_the_run(self):
        trace = self.torch()
        known = Trace(COMMAND, trace)
        half = len(known.calls) // 2
        profile = Profile(known, keep=lambda index, call: index >= half)
        events, _ = self.merge(trace, profile)
        self.assertEqual(sorted(e["args"]["sequence"] for e in slices(events, "work")), sorted(profile.spots))
        profile = Profile(known, keep=lambda index, call: index < half)
        events, said = self.merge(trace, profile)
        self.assertEqual(sorted(e["args"]["sequence"] for e in slices(events, "work")), sorted(profile.spots))
        self.assertIn("are of calls that the profile does not hold", said)

    def test_calls_that_one_side_lacks(self):
        """Some calls are missing in the profile, others never reached the driver: none takes the place of another."""
        trace = self.torch()
        known = Trace(COMMAND, trace)
        for seed in range(4):
            chance = random.Random(seed)
            profile = Profile(known, seed=seed, keep=lambda index, call: chance.random() > 0.08)
            for index, (call, after) in enumerate(zip(known.calls, known.calls[1:])):
                room = after["t"] - call["t"] - call["dur"]
                if call["thread"] == after["thread"] and room > 2000 and chance.random() < 0.2:
                    profile.event("X", cat="cuda_runtime", name=profile.name(after), pid=profile.pid,
                                  tid=known.tids[call["thread"]], ts=profile.at(call["t"] + call["dur"]) + 700,
                                  dur=min(700, room - 1500), args={"correlation": 900000 + index})
            events, said = self.merge(trace, profile)
            drawn = slices(events, "work")
            self.assertEqual(sorted(e["args"]["sequence"] for e in drawn), sorted(profile.spots), said)
            for event in drawn + slices(events, "wait"):
                call = known.calls[event["args"]["profile correlation"] - 1]
                self.assertEqual(call["seq"], event["args"]["sequence"])

    def test_compressed_files(self):
        trace = self.made("race")
        text = Profile(Trace(COMMAND, trace)).text()
        with gzip.open(self.path("torch.json.gz"), "wt", encoding="utf-8") as file:
            file.write(text)
        result = self.call("export", "--merge-kineto", "torch.json.gz", "--chrome", "merged.json.gz", trace)
        if "cannot compress" in result.stderr:
            self.skipTest("built without zlib")
        self.assertEqual(result.returncode, OK, result.stderr)
        with gzip.open(self.path("merged.json.gz"), "rt", encoding="utf-8") as file:
            compressed = file.read()
        self.merge(trace, text)
        with open(self.path("merged.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), compressed)

    @unittest.skipUnless(ASSETS, "--perfetto ASSETS")
    def test_perfetto_reads_it(self):
        for trace in (self.made("race"), self.torch()):
            profile = Profile(Trace(COMMAND, trace))
            events, _ = self.merge(trace, profile)
            script = os.path.join(SOURCE, "tests", "report", "timeline", "perfetto.mjs")
            queries = ("select name, value from stats where severity = 'error' and value > 0",
                       "select count(*) from slice where category like 'syncwatch%'",
                       "select count(*) from flow f join slice o on f.slice_out = o.id join slice i on f.slice_in = i.id "
                       "where o.category = 'syncwatch_hazard' and i.category = 'syncwatch_hazard'",
                       "select count(*) from slice where category = 'cpu_op'")
            said = subprocess.run(["node", script, ASSETS, self.path("merged.json"), *queries], check=True,
                                  capture_output=True, text=True).stdout.splitlines()
            hazards = len(slices(events, "hazard"))
            self.assertEqual([json.loads(line) for line in said],
                             [[], [[sum(event["ph"] == "X" for event in events)]], [[hazards // 2]], [[1]]])


class Refused(Case):
    def test_profiles_of_other_runs(self):
        trace = self.torch()
        known = Trace(COMMAND, trace)
        profile = Profile(known)
        for event in profile.events:
            event["pid"] = 77 if event["pid"] == profile.pid else event["pid"]
        self.refused(INPUT, "is of process 77", trace, profile.text())
        profile = Profile(known)
        for event in profile.events:
            event["tid"] = 4711 if event["pid"] == profile.pid else event["tid"]
        self.refused(INPUT, "no thread with the same calls", trace, profile.text())
        for scale in (2, 0.5):  # the same calls in the same order, at other times
            stretched = Profile(known)
            for event in stretched.events:
                if "ts" in event:
                    event["ts"] = int(event["ts"] * scale)
            self.refused(INPUT, "does not fit", trace, stretched.text())
        mixed = Profile(known)
        calls = [event for event in mixed.events if event.get("cat") == "cuda_runtime"]
        names = [event["name"] for event in calls]
        mixed.random.shuffle(names)
        for event, name in zip(calls, names):
            event["name"] = name
        self.refused(INPUT, "does not fit", trace, mixed.text())
        self.refused(INPUT, "of process", self.made("race"), Profile(known).text())

    def test_too_few_calls_prove_nothing(self):
        trace = self.torch()
        known = Trace(COMMAND, trace)
        self.refused(INPUT, "does not fit", trace, Profile(known, keep=lambda index, call: index in (3, 4)).text())

    def test_what_is_no_profile(self):
        trace = self.made("race")
        text = Profile(Trace(COMMAND, trace)).text()
        for bad, part in (("", "no JSON object"), ("[]", "no JSON object"), ("{}", "no traceEvents"), ("hello", "no JSON"),
                          ('{"traceEvents": 7}', "is no array"), ('{"traceEvents": []}', "ProfilerActivity.CUDA"),
                          ('{"traceEvents": [7]}', "no object"), (text[:len(text) // 2], "offset"),
                          (text.rstrip()[:-1], "offset"), (text + "x", "something follows"),
                          ('{"a": ' + "[" * 5000 + "]" * 5000 + "}", "too deeply"), ('{"a": "\\q"}', "escape"),
                          ('{"traceEvents": [{"ph": "X" "cat": "x"}]}', "is missing"), ('{"a": }', "a value is missing"),
                          (text.replace('"cuda_', '"cpu_'), "holds no calls of CUDA"),
                          (text.replace('"pid": 1000', '"pid": 1', 3).replace('"pid": 1,', '"pid": 9,', 2), "process")):
            self.refused(INPUT, part, trace, bad)
        self.assertIn("torch.json", self.call("export", "--merge-kineto", self.write("{"), "--chrome", "x", trace).stderr)

    def test_values_that_surprise(self):
        trace = self.made("race")
        profile = Profile(Trace(COMMAND, trace))
        for odd in ('{"ph": "X", "cat": "cuda_runtime", "name": "a", "ts": -5, "dur": -1, "pid": 1000, "tid": 1000}',
                    '{"ph": "X", "cat": "kernel", "ts": 1e300, "dur": 1e-3, "args": {"correlation": -1}}',
                    '{"ph": "X", "cat": "kernel", "ts": "soon", "dur": null, "args": []}', "{}",
                    '{"ph": 7, "cat": ["x", {"y": null}], "name": true, "args": {"correlation": {"a": 1}}}',
                    '{"ph": "X", "cat": "cuda_runtime", "ts": 99999999999999999999999999, "dur": 1, "pid": 1000, '
                    '"tid": 1000, "args": {"correlation": 99999999999999999999}}'):
            events, _ = self.merge(trace, profile.text().replace('"traceEvents": [', '"traceEvents": [' + odd + ",", 1))
            self.assertEqual(len(slices(events, "hazard")), 2)

    def test_damaged_profiles_never_crash(self):
        trace = self.made("race")
        text = Profile(Trace(COMMAND, trace)).text()
        chance = random.Random(7)
        outcomes = set()
        for _ in range(120):
            damaged = list(text)
            for _ in range(chance.randint(1, 4)):
                at = chance.randrange(len(damaged))
                damaged[at:at + chance.randint(0, 3)] = chance.choice(list('{}[]",:\\0-9eE.u \n')) * chance.randint(0, 2)
            result = self.call("export", "--merge-kineto", self.write("".join(damaged)), "--chrome", "merged.json", trace)
            self.assertIn(result.returncode, (OK, INPUT), result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            outcomes.add(result.returncode)
        self.assertEqual(outcomes, {OK, INPUT})

    def test_files(self):
        trace = self.made("race")
        profile = self.write(Profile(Trace(COMMAND, trace)).text())
        for arguments, status, part in (
                (("--merge-kineto", profile, trace), USAGE, "which file?"),
                (("--merge-kineto", profile, "--dot", "x.dot", trace), USAGE, "--chrome FILE with --merge-kineto"),
                (("--merge-kineto", profile, "--chrome", "x", "--from", "1", trace), USAGE, "no --from"),
                (("--merge-kineto", "/nonexistent", "--chrome", "x", trace), INPUT, "/nonexistent"),
                (("--merge-kineto", self.dir, "--chrome", "x", trace), INPUT, "not a plain file"),
                (("--merge-kineto", profile, "--chrome", "x", "/nonexistent"), INPUT, "/nonexistent"),
                (("--merge-kineto", profile, "--chrome", "/nonexistent/x", trace), OUTPUT, "/nonexistent/x"),
                (("--merge-kineto", profile, "--chrome", "/dev/full", trace), OUTPUT, "cannot write")):
            result = self.call("export", *arguments)
            self.assertEqual((result.returncode, result.stderr.count("\n")), (status, 1), result.stderr)
            self.assertIn(part, result.stderr)
        with open(profile, encoding="utf-8") as file:
            before = file.read()
        self.assertEqual(self.call("export", "--merge-kineto", profile, "--chrome", profile, trace).returncode, OK)
        with open(profile, encoding="utf-8") as file:
            self.assertGreater(len(file.read()), len(before))


unittest.main(argv=sys.argv[:1], verbosity=1)
