#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of the ranks of a job become one report, whatever their order and however many lack something.

usage: test_merge.py BUILD_DIR SOURCE_DIR
"""
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.abspath(sys.argv[2]), "tests", "tools"))

import command_case
from command_case import BUILD, COMMAND, INPUT, SOURCE

MAKE = os.path.join(BUILD, "tests", "merge", "make_rank")
AWKWARD = os.path.join(BUILD, "tests", "tools", "awkward")
UNPROVEN, NOTHING, ERRORS = 6, 7, 9
ENVIRONMENT = {name: value for name, value in command_case.ENVIRONMENT.items()
               if name not in ("RANK", "WORLD_SIZE")
               and not name.startswith(("OMPI_", "PMIX_", "PMI_", "SLURM_", "TORCHELASTIC_"))}


class Case(command_case.Case):
    def rank(self, name, **words):
        subprocess.run([MAKE, self.path(name)] + [f"{key}={value}" for key, value in words.items()], check=True)
        return name

    def ranks(self, size, **words):
        return [self.rank(f"{rank}.swt", rank=rank, size=size, **words) for rank in range(size)]

    def merge(self, *arguments, status=0, command=(COMMAND,), environment=None):
        done = subprocess.run([*command, "merge", *arguments], cwd=self.dir, capture_output=True, text=True,
                              env=dict(ENVIRONMENT, **(environment or {})), stdin=subprocess.DEVNULL, timeout=600)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def as_json(self, *arguments, status=0):
        return json.loads(self.merge("--format", "json", *arguments, status=status))


class Reports(Case):
    def test_a_finding_of_all_is_one(self):
        self.ranks(4)
        text = self.merge(".")
        self.assertEqual(text.count("error: SW103"), 1, text)
        self.assertIn("In ranks 0 to 3: 4 of 4 processes", text)
        self.assertIn("in all 4 processes (4 of 4 ranks): 1 error,", text)
        self.assertNotIn("not everything", text)

    def test_no_finding(self):
        self.ranks(3, race=0)
        text = self.merge("--error-exitcode", str(ERRORS), ".")
        self.assertNotIn("SW103", text)
        self.assertIn("(3 of 3 ranks): 0 errors", text)

    def test_of_some(self):
        for rank in range(8):
            self.rank(f"{rank}.swt", rank=rank, size=8, race=int(rank in (0, 1, 2, 5, 7)))
        self.assertIn("In ranks 0 to 2, rank 5, rank 7: 5 of 8 processes", self.merge(".", "--error-exitcode",
                                                                                      str(ERRORS), status=ERRORS))

    def test_json_names_processes(self):
        self.ranks(3)
        report = self.as_json("0.swt", "1.swt", "2.swt")
        self.assertEqual(report["summary"]["errors"], 1)
        self.assertTrue(report["summary"]["complete"])
        self.assertEqual([p["rank"] for p in report["processes"]], [0, 1, 2])
        self.assertEqual([p["errors"] for p in report["processes"]], [1, 1, 1])
        (finding,) = [f for f in report["findings"] if f["severity"] == "error"]
        self.assertEqual(finding["processes"], [0, 1, 2])
        self.assertEqual(finding["finding"]["id"], "SW103")

    def test_files_for_builds(self):
        self.ranks(2)
        self.merge(".", "--sarif", "r.sarif", "--json", "r.json")
        with open(self.path("r.sarif"), encoding="utf-8") as file:
            self.assertIn("SW103", file.read())
        self.merge("r.json", "--sarif", "r.sarif", status=2)

    def test_other_launchers(self):
        for rank in range(2):
            self.rank(f"{rank}.swt", rank=rank, size=2, variable="OMPI_COMM_WORLD_RANK")
        self.assertIn("(2 of 2 ranks)", self.merge("."))

    def test_without_ranks(self):
        for pid in (7, 8):
            self.rank(f"{pid}.swt", pid=pid, variable="none")
        self.assertIn("In app (process 7 on node0), app (process 8 on node0): 2 of 2 processes", self.merge("."))


class Associative(Case):
    def test_in_any_order_and_grouping(self):
        names = [self.rank(f"{rank}.swt", rank=rank, size=5, race=rank % 2, lines=rank) for rank in range(5)]
        whole = self.as_json(*names)
        for order in random.Random(15).sample(list(itertools.permutations(names)), 4):
            self.merge("--json", "a.json", *order[:2], status=UNPROVEN)
            self.merge("--json", "b.json", *order[2:4], status=UNPROVEN)
            self.merge("--json", "ab.json", "b.json", "a.json", status=UNPROVEN)
            self.assertEqual(self.as_json(order[4], "ab.json"), whole)
            self.merge("--json", "b.json", "b.json", order[4], "a.json")
            self.assertEqual(self.as_json("b.json"), whole)

    def test_text_too(self):
        self.ranks(4, lines=3)
        whole = self.merge(".")
        self.merge("--json", "a.json", "3.swt", "0.swt", status=UNPROVEN)
        self.assertEqual(self.merge("a.json", "1.swt", "2.swt").replace("./", ""), whole.replace("./", ""))

    def test_shares(self):
        self.ranks(7, lines=1)
        whole = self.as_json(".")
        for share in range(3):
            self.assertEqual(self.merge("--share", f"{share}/3", "--json", f"part{share}.json", "."), "")
        self.assertEqual(self.as_json("part0.json", "part1.json", "part2.json"), whole)
        for wrong in ("3/3", "x/3", "1", "0/0", "-1/3"):
            self.merge(f"--share={wrong}", "--json", "p.json", ".", status=2)
        self.merge("--share", "0/3", ".", status=2)

    def test_under_mpirun(self):
        if not shutil.which("mpirun"):
            self.skipTest("mpirun is not installed")
        self.ranks(9, lines=2)
        whole = self.merge(".")
        for size in (2, 3, 8):
            command = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(size), COMMAND)
            self.assertEqual(self.merge("--spread", ".", ".", command=command), whole)
        self.assertEqual([name for name in os.listdir(self.dir) if name.endswith(".json")], [])

    def test_a_spread_needs_a_launcher(self):
        self.ranks(1)
        self.merge("--spread", ".", ".", status=2)
        self.merge("--spread", ".", ".", status=2, environment={"PMI_RANK": "0", "PMI_SIZE": "2"})


class Gaps(Case):
    def gap(self, text, *arguments, status=UNPROVEN):
        report = self.merge(*(arguments or (".",)), status=status)
        self.assertIn("not everything was merged", report)
        self.assertIn(text, report)
        return report

    def test_missing_ranks(self):
        for rank in (0, 1, 5, 9):
            self.rank(f"{rank}.swt", rank=rank, size=10)
        report = self.gap("6 of 10 ranks have no trace: 2 to 4, 6 to 8")
        self.assertIn("error: SW103", report)

    def test_truncated(self):
        self.ranks(2, lines=200)
        with open(self.path("1.swt"), "r+b") as file:
            file.truncate(os.path.getsize(self.path("1.swt")) - 20000)
        self.gap("rank 1: its trace is damaged")

    def test_what_is_no_trace(self):
        self.ranks(2)
        with open(self.path("x.swt"), "wb") as file:
            file.write(b"SYNC")
        self.gap("x.swt: cannot be read as a trace")
        with open(self.path("x.swt"), "wb") as file:
            file.write(b'{"schema": "syncwatch-merge/1", "processes": [7], "findings": [], "unusable": []}')
        self.gap("x.swt: is no result of 'syncwatch merge --json'")
        self.merge("x.swt", status=INPUT)
        self.gap("gone.swt", "0.swt", "gone.swt")

    def test_a_newer_format(self):
        self.ranks(2)
        with open(self.path("1.swt"), "r+b") as file:
            file.seek(8)
            file.write(b"\x63")
        self.gap("1.swt: cannot be read as a trace")

    def test_other_versions(self):
        self.ranks(3)
        self.rank("3.swt", rank=2, size=3, version="9.9", start_ms=10000)
        self.assertRegex(self.gap("the traces were recorded by different versions: "),
                         r"versions: 0\.1\.0 \(format 1\.[0-9]+\) \(3\), 9\.9 \(format 1\.[0-9]+\) \(1\)\n")

    def test_a_rank_twice(self):
        self.ranks(2)
        self.rank("other.swt", rank=1, size=2, pid=77, ppid=3)
        self.gap("rank 1 is there twice, by processes that ran at the same time: ")

    def test_but_workers_of_a_rank_are_none(self):
        self.ranks(2)
        self.rank("worker.swt", rank=1, size=2, pid=77, ppid=1001)
        self.assertIn("3 processes (2 of 2 ranks)", self.merge("."))
        self.rank("later.swt", rank=1, size=2, pid=78, ppid=3, start_ms=60000)
        self.merge(".")

    def test_the_same_trace_twice(self):
        self.ranks(2)
        shutil.copy(self.path("0.swt"), self.path("copy.swt"))
        self.assertIn("2 of 2 processes", self.merge("."))

    def test_other_jobs(self):
        self.rank("0.swt", rank=0, size=2, job="a")
        self.rank("1.swt", rank=1, size=2, job="b")
        self.gap("the traces are of different jobs: a (1), b (1)")
        self.rank("1.swt", rank=1, size=4, job="a")
        self.gap("ranks of jobs of 2 and of 4 ranks")

    def test_clocks_apart(self):
        self.rank("0.swt", rank=0, size=2)
        self.rank("1.swt", rank=1, size=2, host="node1", start_ms=3 * 3600 * 1000)
        self.gap("rank 1 on node1 began 3.0 h after rank 0 on node0")
        self.rank("1.swt", rank=1, size=2, host="node1", start_ms=60 * 1000)
        self.merge(".")

    def test_an_empty_folder(self):
        self.merge(".", status=INPUT)

    def test_names_do_not_speak_to_the_terminal(self):
        self.rank("0.swt", rank=0, size=1, host="no\x1b[31mde", variable="none")
        text = self.merge(".")
        self.merge("--json", "a.json", ".")
        self.assertNotIn("\x1b", text + self.merge("a.json"))


class Between(Case):
    """Collectives of several ranks."""

    def job(self, calls, **words):
        """calls: of each rank."""
        for name in os.listdir(self.dir):
            os.remove(self.path(name))
        for rank, text in enumerate(calls):
            self.rank(f"{rank}.swt", rank=rank, size=len(calls), race=0, calls=text, **words)

    def found(self, *arguments, status=0):
        return {f["id"]: f for f in self.as_json(*(arguments or (".",)), status=status)["between_ranks"]}

    def test_the_same_calls(self):
        self.job(["ar8@5,bc16r0@10,ag4@15,rs4@20"] * 4)
        self.assertEqual(self.found(), {})

    def test_what_differs(self):
        for other in ("bc16r0", "ar9", "ag8"):
            self.job(["ar8@5,ar8@10,ar8@15"] * 3 + [f"ar8@5,{other}@10,ar8@15"])
            (finding,) = self.found().values()
            self.assertEqual((finding["id"], finding["severity"], finding["confidence"]), ("SW501", "error", "certain"))
            self.assertIn("collective 2 of a communicator of 4 ranks", finding["message"])
            self.assertIn("ranks 0 to 2: all-reduce of 8 float (sum)\n", finding["text"])
            self.assertIn("  rank 3: ", finding["text"])
            self.assertEqual(sorted(finding["processes"]), [0, 1, 2, 3])
        self.job(["bc16r0@10", "bc16r1@10"])
        self.assertIn("root 1", self.found()["SW501"]["text"])
        self.merge(".", "--error-exitcode", str(ERRORS), status=ERRORS)

    def test_one_that_ended_without_it(self):
        self.job(["ar8@5,ar1024@20"] * 3 + ["ar8@5"])
        finding = self.found()["SW502"]
        self.assertEqual((finding["severity"], finding["confidence"], finding["processes"]), ("error", "certain", [3]))
        self.assertIn("rank 3 never called collective 2", finding["message"])
        self.assertIn("ranks 0 to 2 called it: all-reduce of 1024 float", finding["text"])

    def test_one_that_hangs(self):
        self.job(["ar8@5,ar1024@20"] * 3 + ["ar8@5"], closed=0, end_ms=60000)
        finding = self.found()["SW502"]
        self.assertEqual((finding["severity"], finding["confidence"], finding["processes"]), ("warning", "likely", [3]))

    def test_a_job_that_was_killed(self):
        self.job(["ar8@5,ar1024@20"] * 3 + ["ar8@5"], closed=0, end_ms=30)
        self.assertEqual(self.found(), {})

    def test_a_rank_whose_trace_is_not_whole(self):
        calls = ",".join(f"ar{n + 1}@{n}" for n in range(400))
        self.job([calls, calls], closed=0, end_ms=60000)
        self.assertEqual(self.found(), {})
        with open(self.path("1.swt"), "r+b") as file:
            file.truncate(os.path.getsize(self.path("1.swt")) - 20000)
        self.assertEqual(self.found(status=UNPROVEN), {})

    def steps(self, lag):
        """Seven collectives, 100 ms apart; who is early waits for the device until they are over."""
        return ",".join(f"ar8@{100 * n + lag},sync@{100 * n + 55},copy@{100 * n + 75}"
                        for n in range(1, 8))

    def test_a_straggler(self):
        self.job([self.steps(0)] * 2 + [self.steps(50)] + [self.steps(0)])
        finding = self.found()["SW503"]
        self.assertEqual((finding["severity"], finding["processes"]), ("note", [2]))
        self.assertIn("rank 2 comes last to 6 of 6 collectives and holds up the others for about 300.0 ms", finding["message"])
        self.assertRegex(finding["text"], r"waited 5\.\d+ ms for devices, copied for 5\.\d+ ms, and did (?:89|90)\.\d+ ms of other")

    def test_a_straggler_of_ranks_that_run_ahead(self):
        def paced(ms):
            return ",".join(["ar8@5"] + [f"ar8@{ms * n}" for n in range(1, 6)])
        self.job([paced(20), paced(20), paced(40)])
        self.assertIn("rank 2 comes last to 5 of 5 collectives and holds up the others for about 100.0 ms",
                      self.found()["SW503"]["message"])
        # The hosts of the others are 100 ms ahead from the second step on: their devices are not.
        ahead = ",".join(["ar8@5"] + [f"ar8@{20 * n}" for n in range(1, 40)])
        behind = ",".join(["ar8@5"] + [f"ar8@{100 + 20 * n}" for n in range(1, 40)])
        self.job([ahead, ahead, behind])
        self.assertEqual(self.found(), {})

    def test_none(self):
        self.job([self.steps(0)] * 4)
        self.assertEqual(self.found(), {})
        # Each is last in its turn.
        turns = [",".join(f"ar8@{20 * n + 5 * (n % 4 == rank)}" for n in range(1, 40)) for rank in range(4)]
        self.job(turns)
        self.assertEqual(self.found(), {})

    def two_machines(self, calls, others, clock_ms, **words):
        for rank in range(4):
            there = rank >= 2
            self.rank(f"{rank}.swt", rank=rank, size=4, race=0, host=f"node{int(there)}", calls=others if there else calls,
                      clock_ms=clock_ms if there else 0, **words)

    def test_clocks_of_machines(self):
        calls = ",".join(f"ar8@{20 * n},sync@{20 * n + 6}" for n in range(1, 20))
        self.two_machines(calls, calls, 7200000)
        report = self.as_json(".")
        first, second = report["clocks"]
        self.assertEqual((first["host"], first["offset_ns"]), ("node0", 0))
        self.assertTrue(second["known"])
        self.assertLessEqual(abs(second["offset_ns"] + 7200 * 10**9), second["error_ns"])
        self.assertLess(second["error_ns"], 10**7)
        self.assertEqual(report["between_ranks"], [])
        self.assertRegex(self.merge("."), r"clock of node1: \+7200\.\d+ s from that of the first rank's machine, known to")

    def test_a_straggler_on_another_machine(self):
        calls = ",".join(f"ar8@{200 * n},sync@{200 * n + (56 if n % 3 else 6)}" for n in range(1, 20))
        late = ",".join(f"ar8@{200 * n + (50 if n % 3 else 0)},sync@{200 * n + (56 if n % 3 else 6)}" for n in range(1, 20))
        self.two_machines(calls, calls, 7200000)
        self.rank("3.swt", rank=3, size=4, race=0, host="node1", calls=late, clock_ms=7200000)
        self.assertEqual(self.found()["SW503"]["processes"], [3])

    def test_clocks_that_nothing_bounds(self):
        calls = ",".join(f"ar8@{20 * n}" for n in range(1, 20))
        self.two_machines(calls, calls, 7200000, final=0)
        self.assertFalse(self.as_json(".")["clocks"][1]["known"])
        self.assertEqual(self.found(), {})

    def test_one_timeline(self):
        calls = ",".join(f"ar8@{20 * n},sync@{20 * n + 6}" for n in range(1, 20))
        self.two_machines(calls, calls, 7200000)
        self.rank("1.swt", rank=1, size=4, calls=calls, lines=3)
        self.merge("--chrome", "t.json", ".")
        with open(self.path("t.json"), encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        names = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
        self.assertEqual(sorted(name.split(":")[0] for pid, name in names.items() if pid % 1000 == 1),
                         ["rank 0 on node0", "rank 1 on node0", "rank 2 on node1", "rank 3 on node1"])
        syncs = {rank: sorted(e["ts"] for e in events if e["ph"] == "X" and e["pid"] == 1000 * rank + 1 and
                              "Synchronize" in e["name"]) for rank in range(4)}
        self.assertEqual({len(times) for times in syncs.values()}, {20})
        for rank in (1, 2, 3):  # whatever their clocks said
            for here, there in zip(syncs[0], syncs[rank]):
                self.assertLess(abs(here - there), 6100)
        ids = [e["id"] for e in events if e["ph"] == "s"]
        self.assertEqual(len(ids), len(set(ids)))
        self.merge("--chrome", "t.json.gz", ".", status=2)
        self.merge("--json", "a.json", ".")
        self.merge("--chrome", "t.json", "a.json", status=2)

    def test_partial_results_hold_them(self):
        early = self.steps(0)
        self.job([early, early, self.steps(50), early + ",ar5@900", early])
        whole = self.as_json(".")
        self.assertEqual({f["id"] for f in whole["between_ranks"]}, {"SW502", "SW503"})
        names = [f"{rank}.swt" for rank in range(5)]
        for order in ([4, 0, 3, 1, 2], [2, 3, 4, 1, 0]):
            order = [names[i] for i in order]
            self.merge("--json", "a.json", *order[:2], status=UNPROVEN)
            self.merge("--json", "b.json", *order[2:4], status=UNPROVEN)
            self.merge("--json", "ab.json", "b.json", "a.json", status=UNPROVEN)
            merged = self.as_json(order[4], "ab.json")
            for report in (merged, whole):
                for process in report["processes"]:
                    process["trace"] = os.path.basename(process["trace"])
            self.assertEqual(merged, whole)

    def test_long_runs_are_thinned_out(self):
        calls = ",".join(f"ar8@{n}" for n in range(1, 10000))
        late = ",".join(f"ar8@{n + 0.5}" for n in range(1, 10000))
        self.job([calls, calls, late])
        self.assertEqual(self.found()["SW503"]["processes"], [2])
        report = self.as_json(".")
        (communicator,) = report["communicators"]
        self.assertEqual(communicator["stride"], 4)
        self.assertLessEqual(len(communicator["machines"][0]["times"]), 4096)
        self.assertEqual(len(communicator["sequences"][0]["calls"]), 9999)

    def shared(self, exporter, importer, status=0, **words):
        for name in os.listdir(self.dir):
            os.remove(self.path(name))
        self.rank("0.swt", rank=0, size=2, race=0, final=0, ipc=exporter)
        self.rank("1.swt", rank=1, size=2, race=0, final=0, ipc=importer, **words)
        return self.found(status=status)

    def test_memory_that_is_freed_while_it_is_open(self):
        finding = self.shared("export@5,free@30", "open@10,close@40")["SW504"]
        self.assertEqual((finding["severity"], finding["confidence"]), ("error", "certain"))
        self.assertEqual(sorted(finding["processes"]), [0, 1])
        self.assertIn("rank 0 frees 1.0 MiB that rank 1 has open", finding["message"])
        self.assertIn("never closed it", self.shared("export@5,free@30", "open@10,use@40")["SW504"]["text"])
        self.assertEqual(self.shared("export@5,free@30", "open@10,close@30.5")["SW504"]["severity"], "warning")
        whole = self.as_json(".")
        self.merge("--json", "a.json", "1.swt", status=UNPROVEN)
        self.assertEqual(self.as_json("a.json", "0.swt")["between_ranks"], whole["between_ranks"])

    def test_memory_that_is_closed_first(self):
        self.assertEqual(self.shared("export@5,free@40", "open@10,close@30,use@50"), {})
        self.assertEqual(self.shared("export@5,free@40", "open@10,use@20"), {})  # its process had ended
        self.assertEqual(self.shared("export@5", "open@10,use@90"), {})
        self.assertEqual(self.shared("export@5,free@40", "open@10,open@12,close@14,close@30,use@50"), {})
        self.assertIn("SW504", self.shared("export@5,free@40", "open@10,open@12,close@14,use@50"))
        self.assertEqual(self.shared("export@5,free@30", "open@10,close@40", status=UNPROVEN, host="node1"), {})

    def test_hostile_numbers(self):
        self.job([self.steps(0)] * 2)
        good = self.as_json(".")
        def spoil(change):
            bad = json.loads(json.dumps(good))
            change(bad["communicators"][0])
            with open(self.path("bad.json"), "w", encoding="utf-8") as file:
                json.dump(bad, file)
            self.merge("bad.json", status=INPUT)
        spoil(lambda c: c["sequences"][0]["calls"].append(99))
        spoil(lambda c: c["sequences"][0]["members"][0].__setitem__(0, 7))
        spoil(lambda c: c["sequences"][0]["members"][0].__setitem__(2, 10**6))
        spoil(lambda c: c["machines"][0]["times"][0].__setitem__(7, -1))
        spoil(lambda c: c["machines"][0]["times"][0].__setitem__(0, 0))
        spoil(lambda c: c["kinds"].append(c["kinds"][0]))
        spoil(lambda c: c.__setitem__("machines", 1))

    def test_explained(self):
        for what in ("SW501", "sw502", "straggler"):
            done = subprocess.run([COMMAND, "explain", what], capture_output=True, text=True, check=True)
            self.assertRegex(done.stdout, "^SW50[1234] ")


class Runs(Case):
    """What `run` says of ranks."""

    def run_it(self, *arguments, status=0, environment=None):
        done = subprocess.run([COMMAND, "run", "--sim", *arguments], cwd=self.dir, capture_output=True, text=True,
                              env=dict(ENVIRONMENT, **(environment or {})), stdin=subprocess.DEVNULL, timeout=600)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def files(self, end):
        return sorted(name for name in os.listdir(self.dir) if name.endswith(end))

    def test_names_of_files(self):
        self.run_it("-o", "t-%q{RANK}-%q{NONE}%%.swt", "--json", "r-%q{RANK}.json", AWKWARD, "race",
                    environment={"RANK": "3", "WORLD_SIZE": "4"})
        self.assertEqual((self.files(".swt"), self.files(".json")), (["t-3-%.swt"], ["r-3.json"]))
        with open(self.path("r-3.json"), encoding="utf-8") as file:
            program = json.load(file)["program"]
        self.assertEqual((program["rank"], program["ranks"], program["host"]), (3, 4, os.uname().nodename))

    def test_each_process_has_its_name(self):
        report = self.run_it("-o", "%h-%p.swt", "sh", "-c", f"RANK=0 '{AWKWARD}' race; RANK=1 '{AWKWARD}' race")
        names = self.files(".swt")
        self.assertEqual(len(names), 2)
        for name in names:
            self.assertRegex(name, f"^{os.uname().nodename}-[0-9]+.swt$")
        self.assertRegex(report, r"In awkward \(rank 0, process [0-9]+\), awkward \(rank 1, process [0-9]+\): 2 of 2")

    def test_a_folder_with_percent_signs(self):
        os.mkdir(self.path("100%p"))
        subprocess.run([COMMAND, "run", "--sim", "-o", "t.swt", AWKWARD, "fixed"], cwd=self.path("100%p"),
                       env=ENVIRONMENT, check=True, capture_output=True)
        self.assertEqual(os.listdir(self.path("100%p")), ["t.swt"])

    def test_a_rank_that_is_none(self):
        report = self.run_it("sh", "-c", f"RANK=high '{AWKWARD}' fixed; RANK= '{AWKWARD}' fixed")
        self.assertNotIn("rank", report)

    def test_nothing_seen(self):
        report = self.run_it("--error-exitcode", str(ERRORS), "true", status=NOTHING)
        self.assertIn("no CUDA call was seen, so there is nothing to judge: the program did not get so far", report)
        self.run_it("true")
        self.run_it("--error-exitcode", str(ERRORS), "false", status=1)
        bare = subprocess.run([COMMAND, "run", "--error-exitcode", str(ERRORS), "true"], cwd=self.dir,
                              capture_output=True, text=True, env=ENVIRONMENT, check=False)
        self.assertEqual(bare.returncode, NOTHING)
        self.assertRegex(bare.stderr, "nothing to judge: (no CUDA driver is installed here|there is a CUDA driver|the "
                                      "program did not|CUDA_VISIBLE)")

    def test_recorded_by_preload_alone(self):
        library = os.path.join(BUILD, "libsyncwatch.so")
        environment = dict(ENVIRONMENT, LD_PRELOAD=library, LD_LIBRARY_PATH=os.path.join(BUILD, "sim"), RANK="1",
                           WORLD_SIZE="2", SYNCWATCH_OPTIONS="report=0:quiet:trace=r%q{RANK}.swt")
        subprocess.run([AWKWARD, "fixed"], cwd=self.dir, env=environment, check=True, capture_output=True)
        self.assertIn("1 of 2 ranks has no trace: 0", self.merge("r1.swt", status=UNPROVEN))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
