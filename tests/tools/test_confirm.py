#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""syncwatch confirm on the simulated CUDA: what is not ordered is proven, what is ordered never is, nothing hangs.

usage: test_confirm.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import re
import subprocess
import sys
import unittest

from run_case import BUILD, COMMAND, ENVIRONMENT, LONG, SOURCE, Case

PROGRAM = os.path.join(BUILD, "tests", "tools", "confirm_program")
HOLD = ("--hold", "300")


class Confirm(Case):
    def confirm(self, *arguments, environment=None):
        return subprocess.run([COMMAND, "confirm", "--sim", *HOLD, *arguments], cwd=self.dir,
                              env=dict(ENVIRONMENT, **(environment or {})), capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=LONG)

    def verdicts(self, mode, *options, environment=None):
        """Of the hazards of the program in this mode: what JSON says."""
        result = self.confirm("--json", self.path("r.json"), *options, PROGRAM, *mode.split(), environment=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("r.json"), encoding="utf-8") as file:
            report = json.load(file)
        return [f["confirmation"] for f in report["findings"] if "confirmation" in f], result.stderr

    def one(self, mode, *options, environment=None):
        found, text = self.verdicts(mode, *options, environment=environment)
        self.assertEqual(len(found), 1, text)
        return found[0], text

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def calls_of(self, mode, kinds="SET"):
        """The two sets in a run of their own: a trace, and their numbers."""
        trace = self.path("calls.swt")
        subprocess.run([COMMAND, "run", "--sim", "-o", trace, PROGRAM, *mode.split()], cwd=self.dir, env=ENVIRONMENT,
                       capture_output=True, check=True, timeout=LONG)
        dump = subprocess.run([COMMAND, "dump", "--kinds", kinds, trace], capture_output=True, text=True, check=True)
        calls = re.findall(r"seq=(\d+)", dump.stdout)
        return trace, (calls[0], calls[-1 if kinds in ("SET", "SET,FREE") else -2])

    def tried(self, mode, *options, kinds="SET"):
        """The verdict on the two sets, whether they are a finding or not."""
        trace, calls = self.calls_of(mode, kinds)
        result = self.confirm("--trace", trace, "--calls", ",".join(calls), *options, PROGRAM, *mode.split())
        os.unlink(trace)
        self.assertEqual(result.returncode, 0, result.stderr)
        return re.match(r"calls \d+,\d+: ([a-z-]+): (.*)", result.stdout).groups()


class Holds(Confirm):
    def test_a_race_is_proven_and_its_fix_verified(self):
        found, text = self.one("race")
        self.assertEqual((found["verdict"], found["doubt"]), ("proven", None))
        self.assertEqual((found["compared"], found["bytes"], found["differ"]), (True, 65536, 65536))
        self.assertEqual((found["fix"], found["edges"], found["runs"]), ("verified", 1, 2))
        self.assertIn("confirmed:     proven: the later side ran to its end", text)
        self.assertEqual(found["edges_timed"], 1)
        self.assertRegex(text.replace("\n" + " " * 17, " "), r"the later side waited for it for [\d.]+ [mu]s at most \(1 of 1 wait timed\)")
        self.assertIn("1 hazard tried in 2 runs, 1 proven; 1 fix verified", text)

    def test_an_edge_that_makes_its_stream_wait(self):
        found, _ = self.one("slow")
        self.assertEqual((found["fix"], found["edges_timed"]), ("verified", 1))
        self.assertGreater(found["edges_waited_ns"], 25000000)

    def test_an_edge_from_several_streams(self):
        found, text = self.verdicts("several")
        self.assertEqual([f["fix"] for f in found], ["verified"] * len(found), text)
        self.assertEqual([f["edges"] for f in found], [1] * len(found), text)
        self.assertGreater(len(found), 0, text)

    def test_all_fixes_in_one_run(self):
        found, text = self.verdicts("unlike")
        self.assertEqual([(f["verdict"], f["fix"], f["fixes_together"], f["runs"]) for f in found], [("proven", "verified", 2, 2)] * 2, text)
        self.assertIn("2 hazards tried in 3 runs", text)
        self.assertIn("edges of 2 findings were in that run", " ".join(text.split()))

    def test_a_fix_is_judged_without_those_of_others(self):
        # Each needs its own edge: with the other's alone it would stay.
        _, text = self.verdicts("unlike", "--finding", "SW102")
        self.assertIn("1 fix verified", text)

    def test_threads_that_come_in_another_order(self):
        found, text = self.one("turned")
        self.assertEqual((found["verdict"], found["doubt"], found["compared"]), ("proven", None, False))
        self.assertIn("the two came in the other order", " ".join(text.split()))
        verdict, why = self.tried("turned-fixed")
        self.assertEqual(verdict, "ordered", why)

    def test_bytes_in_pinned_memory(self):
        found, _ = self.one("staged", "--no-fix")
        self.assertEqual((found["verdict"], found["compared"], found["bytes"]), ("proven", True, 65536))
        self.assertEqual(self.verdicts("staged-fixed")[0], [])

    def test_the_same_bytes_in_one_run(self):
        found, text = self.one("same", "--no-fix")
        self.assertEqual((found["verdict"], found["outcome"]), ("not-ordered-harmless-here", "unordered-same-bytes"))
        self.assertIn("confirmed:     unordered; same bytes in this run: ", text)
        self.assertNotIn("harmless", text)
        self.assertEqual((found["differ"], found["bytes"], found["fix"], found["runs"]), (0, 65536, "unchecked", 1))

    # As tests/tools/test_pack.py has it: two launches of one kernel that nothing orders.
    KERNEL = """.version 7.0
.target sm_75
.address_size 64
.visible .entry _Z4fillPf(.param .u64 p) {
.reg .b64 %rd<4>;
.reg .b32 %r<4>;
.reg .pred %p1;
ld.param.u64 %rd1, [p];
BODY
ret;
}
"""
    BODIES = {
        "certain": "st.global.u32 [%rd1+64], 7;",
        "bounds": """ld.global.u32 %r1, [%rd1+2048];
and.b32 %r1, %r1, 255;
mul.wide.u32 %rd2, %r1, 4;
add.s64 %rd3, %rd1, %rd2;
st.global.u32 [%rd3], 7;""",
        "lock": """TAKE:
atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra TAKE;
st.global.u32 [%rd1+64], 7;
atom.release.gpu.global.exch.b32 %r2, [%rd1], 0;""",
    }

    def test_kernels(self):
        # The simulation executes no kernel: their order is shown, their bytes are not compared.
        for body, verdict, outcome, doubt, status in (
                ("certain", "proven", "proven", None, 9),
                ("bounds", "overlap-unknown", "unordered-overlap-not-shown", "partly", 0),
                ("lock", "overlap-unknown", "unordered-overlap-not-shown", "own-order", 0)):
            with open(self.path("k.ptx"), "w") as file:
                file.write(self.KERNEL.replace("BODY", self.BODIES[body]))
            # --all: that a lock may order the two makes the finding possible at most.
            result = self.confirm("--no-fix", "--all", "--proven-only", "--error-exitcode", "9", "--json", self.path("r.json"),
                                  os.path.join(BUILD, "tests", "tools", "cuda_program"), "load", self.path("k.ptx"))
            found, = [f["confirmation"] for f in json.loads(self.read("r.json"))["findings"] if "confirmation" in f]
            self.assertEqual((found["verdict"], found["outcome"], found["doubt"]), (verdict, outcome, doubt), result.stderr)
            self.assertEqual((found["compared"], found["bytes"], found["differ"]), (False, 0, 0))
            self.assertIn("bytes not compared: kernels of the simulated CUDA", " ".join(result.stderr.split()))
            self.assertEqual(result.returncode, status, body + result.stderr)

    def test_what_is_ordered_is_never_proven(self):
        found, text = self.verdicts("fixed")
        self.assertEqual(found, [], text)
        for mode in ("fixed", "sync", "flag", "poll"):
            verdict, why = self.tried(mode)
            self.assertNotIn(verdict, ("proven", "not-ordered-harmless-here"), mode + ": " + why)
        self.assertEqual(self.tried("race")[0], "proven")

    def test_no_byte_in_common_is_no_hazard(self):
        verdict, why = self.tried("apart", "--log", self.path("log"))
        self.assertEqual(verdict, "no-overlap", why)
        self.assertEqual(self.read("log"), "", "nothing has to be run for that")
        self.assertEqual(self.verdicts("apart")[0], [])

    def test_bytes_that_are_not_known(self):
        # A free is no access of a range.
        verdict, why = self.tried("pool", kinds="SET,FREE")
        self.assertEqual(verdict, "overlap-unknown", why)

    def test_why_nothing_was_decided(self):
        verdict, why = self.tried("signal")
        self.assertEqual(verdict, "inconclusive", why)
        self.assertIn("what the later side's stream had to do before did not end", why)

    def test_what_a_known_rule_orders(self):
        for mode, part in (("sync", "the host waited for what was held"),
                           ("fixed", "what the later side's stream had to do before did not end"),
                           ("flag", "what the later side's stream had to do before did not end"),
                           ("poll", "the host did not make the later call")):
            verdict, why = self.tried(mode)
            self.assertEqual(verdict, "ordered", mode + ": " + why)
            self.assertIn("a known rule orders them", why, mode)
            self.assertIn(part, why, mode)

    def test_an_order_that_no_rule_knows(self):
        # Its stream is free, and it waits for what the other stream writes: as a kernel that polls does.
        verdict, why = self.tried("signal", "--hold", "100", kinds="SET,MEM_OP")
        self.assertEqual(verdict, "refuted", why)
        self.assertEqual(self.tried("flag", "--hold", "100", kinds="SET,MEM_OP")[0], "ordered")

    def test_a_wait_for_another_stream_keeps_the_hold(self):
        found, _ = self.one("other", "--no-fix")
        self.assertEqual(found["verdict"], "proven")

    def test_the_host_as_the_later_side(self):
        found, _ = self.one("host", "--no-fix")
        self.assertEqual(found["verdict"], "proven")

    def test_branches_of_a_captured_graph(self):
        found, _ = self.one("branches")
        self.assertEqual((found["verdict"], found["fix"]), ("proven", "unchecked"))
        self.assertEqual(self.verdicts("joined")[0], [])
        verdict, why = self.tried("joined")
        self.assertEqual(verdict, "inconclusive", why)
        self.assertIn("the earlier call is captured into a graph", why)

    def test_a_graph_that_is_updated(self):
        found, text = self.one("updated")
        self.assertEqual((found["verdict"], found["doubt"]), ("proven", None), text)

    def test_reasons_that_are_facts_of_the_pair(self):
        found, text = self.one("freed", "--no-fix")
        self.assertEqual((found["verdict"], found["doubt"]), ("ordered", "free-waits"), text)
        # The same of two calls that are named: the free is on no stream that could be marked.
        verdict, why = self.tried("freed", "--log", self.path("log"), kinds="SET,FREE")
        self.assertEqual(verdict, "ordered", why)
        self.assertNotIn("failed", self.read("log"))

    def test_an_allocation_that_is_used_too_early(self):
        found, text = self.one("late")
        self.assertEqual((found["verdict"], found["fix"]), ("proven", "verified"), text)
        self.assertEqual(self.verdicts("late-fixed")[0], [])

    def test_nodes_that_the_program_adds(self):
        found, text = self.one("nodes")
        self.assertEqual((found["verdict"], found["runs"]), ("proven", 1), text)
        self.assertEqual(self.verdicts("joined-nodes")[0], [])

    def test_a_part_of_a_graph(self):
        found, text = self.one("part", "--no-fix")
        self.assertEqual((found["verdict"], found["runs"]), ("proven", 2), text)
        self.assertEqual(self.verdicts("part-joined")[0], [])

    def test_an_instruction_of_the_host(self):
        found, _ = self.one("refill", "--guard-host")
        self.assertEqual((found["verdict"], found["fix"], found["runs"]), ("proven", "unchecked", 1))
        self.assertEqual(self.verdicts("refilled", "--guard-host")[0], [])

    def test_another_byte_of_the_same_memory(self):
        found, text = self.one("refill-elsewhere", "--guard-host", "--no-fix")
        self.assertEqual((found["verdict"], found["runs"]), ("proven", 1), text)

    def test_threads_at_the_same_time(self):
        found, text = self.one("turned-together", "--no-fix")
        self.assertEqual((found["verdict"], found["runs"]), ("proven", 1), text)

    def test_a_free_in_the_order_of_another_stream(self):
        found, _ = self.one("pool", "--no-fix")
        self.assertEqual((found["verdict"], found["compared"]), ("proven", False))

    def test_many_events(self):
        found, _ = self.one("many", "--no-fix")
        self.assertEqual(found["verdict"], "proven")


class Environment(Confirm):
    def runs(self, mode):
        """Of each run of the program: which variables of CUDA it had."""
        seen = self.path("seen")
        self.confirm("--no-fix", "sh", "-c", 'echo "${CUDA_MODULE_LOADING-} ${CUDA_DEVICE_MAX_CONNECTIONS-}" >> "$1"; exec "$2" "$3"', "sh",
                     seen, PROGRAM, mode)
        return [line.strip() for line in self.read("seen").splitlines()]

    def test_code_is_loaded_at_once_where_it_is_used_first(self):
        self.assertEqual(self.runs("race"), ["", "EAGER"])

    def test_not_where_all_has_been_used(self):
        self.assertEqual(self.runs("warm"), ["", ""])

    def test_many_streams_have_queues_of_their_own(self):
        self.assertEqual(self.runs("crowd"), ["", "EAGER 32"])


class Explore(Confirm):
    def explore(self, mode, seed, runs=1):
        result = self.confirm("--hold", "200", "--explore", str(runs), "--seed", str(seed), PROGRAM, mode)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout, result.stderr

    def test_a_race_that_shows_in_what_leaves_the_device(self):
        found, text = self.explore("result", 2)
        self.assertIn("11 copies to the host, 11 of them the same in 3 runs", text)
        self.assertRegex(found, r"^seed 2: holding cuMemsetD8Async \(confirm_program.c:\d+, call \d+\) for [\d.]+ ms "
                                r"changes what cuMemcpyDtoHAsync \(confirm_program.c:\d+, call \d+\) brings to the host\n$")
        again, _ = self.explore("result", 2)
        self.assertEqual(re.findall(r"call \d+", found), re.findall(r"call \d+", again), "a seed reproduces it")

    def test_what_is_ordered_gives_the_same_whatever_is_held(self):
        found, text = self.explore("ordered", 2, 2)
        self.assertEqual(found, "", text)
        self.assertIn("0 of 2 seeds change what leaves the device", text)


class Safety(Confirm):
    def test_another_way(self):
        found, _ = self.one("again " + self.path("once"), "--no-fix")
        self.assertEqual(found["verdict"], "not-reached")

    def test_a_program_that_does_not_wait_for_its_work(self):
        found, _ = self.one("exit", "--no-fix")
        self.assertIn(found["verdict"], ("proven", "inconclusive"))

    def test_a_program_that_ends_differently(self):
        found, _ = self.one("crash")
        self.assertEqual(found["verdict"], "proven")  # what was seen before the crash stays true

    def test_a_program_that_does_not_end(self):
        found, _ = self.one("hang", "--no-fix", "--run-time", "1")
        self.assertEqual(found["verdict"], "proven")
        verdict, why = self.tried("hang", "--run-time", "1", kinds="SET")
        self.assertEqual(verdict, "proven", why)

    def test_several_processes_are_refused(self):
        result = self.confirm(PROGRAM, "fork")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("several processes", result.stderr)

    def test_nothing_is_left(self):
        folder = self.path("tmp")
        os.mkdir(folder)
        self.one("race", environment={"TMPDIR": folder})
        self.assertEqual(os.listdir(folder), [])
        self.assertEqual(len(self.traces()), 1, "the run that was recorded")

    def test_the_object_without_a_plan_does_nothing(self):
        both = ":".join(os.path.join(BUILD, name) for name in ("libsyncwatch.so", "libsyncwatch-confirm.so"))
        for plan in (None, "", self.path("none"), os.path.join(SOURCE, "README.md")):
            environment = dict(ENVIRONMENT, LD_PRELOAD=both, LD_LIBRARY_PATH=os.path.join(BUILD, "sim"),
                               SYNCWATCH_OPTIONS="report=0:quiet:trace=" + self.path("plain.swt"))
            if plan is not None:
                environment["SYNCWATCH_CONFIRM"] = plan
            result = subprocess.run([PROGRAM, "race"], env=environment, cwd=self.dir, capture_output=True, text=True,
                                    timeout=LONG)
            self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1, "that CUDA is simulated: " + result.stderr)


class Status(Confirm):
    def status(self, *arguments):
        return self.confirm(*arguments).returncode

    def test_proven_errors_alone(self):
        self.assertEqual(self.status("--no-fix", "--error-exitcode", "9", PROGRAM, "race"), 9)
        self.assertEqual(self.status("--no-fix", "--proven-only", "--error-exitcode", "9", PROGRAM, "race"), 9)
        # That the bytes were the same is a matter of the data.
        self.assertEqual(self.status("--no-fix", "--proven-only", "--error-exitcode", "9", PROGRAM, "same"), 9)
        again = [PROGRAM, "again"]
        self.assertEqual(self.status("--no-fix", "--error-exitcode", "9", *again, self.path("x")), 9)
        self.assertEqual(self.status("--no-fix", "--proven-only", "--error-exitcode", "9", *again, self.path("y")), 0)

    def test_the_programs_own(self):
        self.assertEqual(self.status("sh", "-c", "exit 3"), 3)
        self.assertEqual(self.status(self.path("none")), 127)

    def test_bad_input(self):
        for part, arguments in (("which program?", ()),
                                ("--calls needs --trace", ("--calls", "1,2", "true")),
                                ("--calls wants two numbers", ("--trace", "t.swt", "--calls", "1", "true")),
                                ("milliseconds", ("--hold", "x", "true"))):
            if part.startswith("--calls wants"):
                subprocess.run([COMMAND, "run", "--sim", "-o", self.path("t.swt"), PROGRAM, "race"], env=ENVIRONMENT,
                               capture_output=True, check=True, cwd=self.dir, timeout=LONG)
            result = self.confirm(*arguments)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(part, result.stderr)

    def test_the_log_says_what_was_held(self):
        self.assertEqual(self.status("--log", self.path("log"), PROGRAM, "race"), 0)
        log = self.read("log")
        self.assertRegex(log, r"(?s)run 1: status 0, [\d.]+ s\n  earlier \d+ \d+\n  left \d+\n  later \d+ \d+ held\n  released \d+ done 1 1\n")
        self.assertRegex(log, r"(?s)run 2: status 0, [\d.]+ s\n  after \d+ 0 0\n  before \d+ 0 0\n  waited 0 \d+ 1\n  end\n")
        self.assertEqual(self.status("--log", self.path("none/log"), PROGRAM, "race"), 4)

    def test_which(self):
        self.assertEqual(self.status("--finding", "SW103", "--no-fix", PROGRAM, "race"), 0)
        result = self.confirm("--finding", "SW101", PROGRAM, "race")
        self.assertEqual(result.returncode, 3)
        self.assertIn("has no hazard 'SW101'", result.stderr)

    def test_files(self):
        self.assertEqual(self.status("--json", self.path("r.json"), "--sarif", self.path("r.sarif"), PROGRAM, "race"), 0)
        checker = os.path.join(SOURCE, "tests", "report", "check_schema.py")
        schema = os.path.join(SOURCE, "doc", "report.schema.json")
        checked = subprocess.run([sys.executable, checker, schema, self.path("r.json")], capture_output=True, text=True)
        self.assertIn(checked.returncode, (0, 77), checked.stdout + checked.stderr)
        with open(self.path("r.sarif"), encoding="utf-8") as file:
            results = json.load(file)["runs"][0]["results"]
        self.assertEqual([(r["properties"]["confirmed"], r["properties"]["fix"]) for r in results],
                         [("proven", "verified")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
