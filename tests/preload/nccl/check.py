# SPDX-License-Identifier: Apache-2.0
"""usage: check.py SYNCWATCH, in a folder with program, loader and libnccl.so.2"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

COMMAND = sys.argv[1]
ENVIRONMENT = dict(os.environ, RANK="1", WORLD_SIZE="4")


class Collectives(unittest.TestCase):
    maxDiff = None

    def run_it(self, *steps, program="./program"):
        bare = subprocess.run([program, *steps], env=ENVIRONMENT, capture_output=True, text=True)
        done = subprocess.run([COMMAND, "run", "--sim", "--all", "--no-cache", "--json", "r.json", "-o", "t.swt", program,
                               *steps], env=ENVIRONMENT, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (bare.returncode, bare.stdout), done.stderr)
        self.dump = subprocess.run([COMMAND, "dump", "t.swt"], capture_output=True, text=True, check=True).stdout
        os.remove("t.swt")
        with open("r.json", encoding="utf-8") as file:
            self.report = json.load(file)
        return [f for f in self.report["findings"] if f["kind"].startswith("race")]

    def races(self, *steps, **others):
        (finding,) = self.run_it(*steps, **others)
        self.assertEqual((finding["severity"], finding["confidence"]), ("error", "certain"), finding["message"])
        return finding

    def silent(self, *steps, **others):
        self.assertEqual([f["message"] for f in self.run_it(*steps, **others)], [])

    def test_in_place(self):
        finding = self.races("all", "set")
        self.assertIn("ncclDevKernel", finding["message"])
        self.silent("all", "wait", "set")
        self.silent("all", "clear")

    def test_functions_that_are_looked_up(self):
        self.assertIn("ncclDevKernel", self.races("all", "set", program="./named")["message"])
        self.silent("all", "wait", "set", program="./named")

    def test_out_of_place(self):
        self.assertEqual(self.races("out", "set")["id"], "SW103")
        self.assertEqual(self.races("out", "clear")["id"], "SW102")
        self.silent("out", "wait", "set", "clear")

    def test_a_part_of_the_buffer(self):
        self.silent("count=0", "all", "set")
        self.races("count=16", "all", "set")

    def test_gather_in_place(self):
        self.silent("gather", "own")
        self.races("gather", "other_slice")
        self.silent("gather", "wait", "other_slice")

    def test_broadcast(self):
        self.assertEqual(self.races("root=1", "set")["id"], "SW102")  # the root only reads
        self.assertEqual(self.races("root=0", "set")["id"], "SW103")
        self.silent("root=0", "wait", "set")

    def test_send_and_receive(self):
        self.assertEqual(self.races("exchange", "set")["id"], "SW102")
        self.assertEqual(self.races("exchange", "clear")["id"], "SW103")
        self.silent("exchange", "wait", "set", "clear")

    def test_groups(self):
        self.races("begin", "all", "all", "end", "set")
        self.silent("begin", "all", "all", "end", "wait", "set")
        self.assertTrue(self.run_it("begin", "all", "set", "wait", "end"))  # the wait comes before the launch

    def test_a_group_on_two_streams_is_launched_on_the_first(self):
        self.races("begin", "all", "other", "end", "clear")
        self.silent("begin", "all", "other", "end", "waitc", "clear")
        self.silent("begin", "all", "other", "end", "wait", "clear")

    def test_what_launches_nothing_leaves_nothing(self):
        self.silent("lone", "set", "other")
        self.silent("begin", "lone", "end", "set")

    def test_a_library_that_is_loaded_local(self):
        self.races("all", "set", program="./loader")
        self.silent("all", "wait", "set", program="./loader")
        self.assertIn("COLLECTIVE", self.dump)

    def test_two_copies_of_the_library(self):
        self.races("all", "set", program="./both")
        self.silent("all", "split", "all", "wait", "set", program="./both")

    def test_records(self):
        self.silent("all", "split", "all", "all", "exchange")
        begins = [line for line in self.dump.splitlines() if line.startswith("COLLECTIVE") and "op=" in line]
        def fields(line):
            return dict(re.findall(r"(\w+)=(\S+)", line))
        work = [fields(line) for line in begins if int(fields(line)["op"]) < 64]
        self.assertEqual([(w["op"], w["number"]) for w in work],
                         [("1", "1"), ("1", "1"), ("1", "2"), ("9", "0"), ("10", "0")])
        self.assertEqual({(w["rank"], w["size"]) for w in work}, {("1", "4")})
        first, second = work[0]["communicator"], work[1]["communicator"]
        self.assertNotEqual(first, second)
        self.assertEqual(work[3]["communicator"], second)
        ends = [line for line in self.dump.splitlines() if line.startswith("COLLECTIVE") and "op=" not in line]
        self.assertEqual(len(begins), len(ends))

    def merged(self, *steps):
        """Steps of each rank, at the same time."""
        shutil.rmtree("job", ignore_errors=True)
        os.mkdir("job")
        ranks = " ".join(f"RANK={rank} WORLD_SIZE={len(steps)} ./program {text} &" for rank, text in enumerate(steps))
        subprocess.run([COMMAND, "run", "--sim", "--no-cache", "-o", "job/%q{RANK}.swt", "sh", "-c", ranks + " wait"],
                       env=ENVIRONMENT, capture_output=True, check=True)
        done = subprocess.run([COMMAND, "merge", "--no-cache", "--format", "json", "job"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["summary"]["ranks"], len(steps))
        return {f["id"]: f for f in report["between_ranks"] if f["severity"] != "note"}

    def test_ranks_together(self):
        self.assertEqual(self.merged("all split all gather", "all split all gather", "all split all gather"), {})
        found = self.merged("all split all all", "all split root=0 all", "all split all all")
        self.assertEqual(list(found), ["SW501"])
        self.assertIn("collective 1 of a communicator of 3 ranks", found["SW501"]["message"])
        found = self.merged("all all", "all", "all all")
        self.assertEqual(list(found), ["SW502"])
        self.assertEqual(found["SW502"]["processes"], [1])

    def test_a_job_that_hangs(self):
        """One rank never comes; the job is killed."""
        shutil.rmtree("job", ignore_errors=True)
        os.mkdir("job")
        def start(rank, *steps, **environment):
            return subprocess.Popen([COMMAND, "run", "--sim", "--no-cache", "-o", f"job/{rank}.swt", "sh", "-c",
                                     f'echo $$ >job/{rank}; exec ./program "$@"', "sh", *steps], stderr=subprocess.PIPE,
                                    text=True, env=dict(ENVIRONMENT, RANK=str(rank), WORLD_SIZE="3", **environment))
        def called(rank):
            dump = subprocess.run([COMMAND, "dump", f"job/{rank}.swt"], capture_output=True, text=True).stdout
            return sum("COLLECTIVE" in line and "op=1 " in line for line in dump.splitlines())
        ranks = [start(0, "all", "all", "sleep=600000"), start(1, "all", "sleep=600000", "all"),
                 start(2, "all", "all", FAKE_NCCL_HANG="2")]
        while [called(rank) for rank in range(3)] != [2, 1, 2]:
            time.sleep(0.1)
        time.sleep(1.2)  # a job that hangs is one that others wait for longer than a second
        for rank in range(3):
            with open(f"job/{rank}", encoding="ascii") as file:
                os.kill(int(file.read()), signal.SIGKILL)
            os.remove(f"job/{rank}")
        reports = [rank.communicate()[1] for rank in ranks]
        self.assertNotIn("was inside", reports[1])
        self.assertRegex(reports[2], r"Thread 1 was inside ncclAllReduce, call \d+, since")
        done = subprocess.run([COMMAND, "merge", "--no-cache", "--format", "json", "job"], capture_output=True, text=True)
        (finding,) = json.loads(done.stdout)["between_ranks"]
        self.assertEqual((finding["id"], finding["confidence"], finding["processes"]), ("SW502", "likely", [1]))

    def test_the_call_site_of_the_collective_is_in_the_finding(self):
        finding = self.races("all", "set")
        stacks = json.dumps(finding)
        self.assertIn("collective", stacks)

    def test_what_is_known_is_counted(self):
        self.silent("all", "all")
        self.assertEqual(self.report["coverage"]["kernels_by_source"]["annotation"], 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
