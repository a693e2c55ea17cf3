#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory that processes share: freed too early, used by two without order, and what keeps silent.

usage: test_shared.py BUILD_DIR SOURCE_DIR
"""
import json
import os
import subprocess
import sys
import unittest

from test_merge import BUILD, COMMAND, ENVIRONMENT, INPUT, UNPROVEN, Case

PROGRAM = os.path.join(BUILD, "kernels", "ipc")


class Pairs(Case):
    """Rank 0 exports an allocation and writes bytes 0 to 4095, rank 1 opens it and touches bytes 4000 to 4089."""

    def pair(self, exporter, importer, status=0, first=None, second=None, third=None):
        for name in os.listdir(self.dir):
            os.remove(self.path(name))
        size = 3 if third else 2
        self.rank("0.swt", rank=0, size=size, race=0, final=0, ipc=exporter, **(first or {}))
        self.rank("1.swt", rank=1, size=size, race=0, final=0, ipc=importer, **(second or {}))
        if third:
            self.rank("2.swt", rank=2, size=size, race=0, final=0, **third)
        return self.found(status=status)

    def found(self, *arguments, status=0):
        return {f["id"]: f for f in self.as_json(*(arguments or (".",)), status=status)["between_ranks"]}

    def test_read_before_it_is_written(self):
        finding = self.pair("export@5,set@20,sync@90", "open@10,read@30,sync@80")["SW505"]
        self.assertEqual((finding["severity"], finding["confidence"]), ("error", "certain"))
        self.assertEqual(finding["processes"], [0, 1])
        self.assertIn("rank 1 reads what rank 0 writes", finding["message"])
        self.assertIn("rank 0 calls cudaMemsetAsync", finding["text"])
        self.assertRegex(finding["text"], r"calls cudaMemcpyAsync, 10\.00[0-9] ms later")
        self.assertIn("bytes 4000 to 4089", finding["text"])

    def test_refilled_while_it_is_read(self):
        finding = self.pair("export@5,set@30,sync@90", "open@10,read@20,sync@80")["SW505"]
        self.assertEqual(finding["processes"], [1, 0])
        self.assertIn("rank 0 writes what rank 1 reads", finding["message"])

    def test_written_by_both(self):
        self.assertIn("SW505", self.pair("export@5,set@30,sync@90", "open@10,write@20,sync@80"))

    def test_written_before_it_was_exported(self):
        self.assertIn("SW505", self.pair("set@2,export@5,sync@90", "open@10,read@30,sync@80"))
        self.assertEqual(self.pair("set@2,sync@3,export@5", "open@10,read@30,sync@80"), {})

    def test_other_bytes(self):
        self.assertEqual(self.pair("export@5,set@20,sync@90", "open@10,look@30,sync@80"), {})

    def test_waited_for_by_the_host(self):
        self.assertEqual(self.pair("export@5,set@20,sync@25", "open@10,read@30,sync@80"), {})
        self.assertEqual(self.pair("export@5,set@30,sync@90", "open@10,read@20,sync@25"), {})
        self.assertIn("SW505", self.pair("export@5,set@20,othersync@25,sync@90", "open@10,read@30,sync@80"))

    def test_whoever_could_have_told(self):
        """By an event of both, a host function, or a flag in the memory itself: messages are not seen, so they count."""
        for way in ("record@21", "flag@21", "hostfunc@21", "kernel@21", "tohost@21", "setmapped@21", "unclassified@21"):
            self.assertEqual(self.pair(f"event@3,handle@4,pin@4,map@4,export@5,sync@6,othersync@7,set@20,{way},sync@90",
                                       "openevent@9,open@10,wait@29,read@30,sync@80"), {}, way)
        # Before the export it is not known what told.
        for way in ("record@3.5", "tohost@4", "hostfunc@4", "kernel@4"):
            self.assertEqual(self.pair(f"event@1,handle@1,pin@2,set@3,{way},export@5,sync@90",
                                       "openevent@9,open@10,wait@29,read@30,sync@80"), {}, way)
        self.assertEqual(self.pair("map@1,set@3,setmapped@4,export@5,sync@90", "open@10,read@30,sync@80"), {})
        # The second of them told nobody; memory of pinned pages that nobody writes tells nothing.
        self.assertIn("SW505", self.pair("export@5,set@20,set@21,sync@90", "open@10,read@30,sync@80"))
        self.assertIn("SW505", self.pair("map@4,export@5,sync@6,othersync@7,set@20,sync@90", "open@10,read@30,sync@80"))
        self.assertIn("SW505", self.pair("pin@4,export@5,tohost@6,sync@7,set@20,sync@90", "open@10,read@30,sync@80"))

    def test_whoever_could_have_learnt(self):
        """Work that reads what is shared may have seen a flag there."""
        self.assertEqual(self.pair("export@5,set@20,sync@90", "open@10,look@25,sync@26,read@30,sync@80"), {})
        self.assertEqual(self.pair("export@5,set@20,sync@90", "open@10,look@15,read@30,sync@80"), {})
        self.assertIn("SW505", self.pair("export@5,set@20,sync@90", "open@10,look@12,sync@13,read@30,sync@80"))
        for way in ("hostfunc@15", "kernel@15", "kernel@22,sync@23", "unclassified@15", "map@11,setmapped@15"):
            self.assertEqual(self.pair("export@5,set@20,sync@90", f"open@10,{way},read@30,sync@80"), {}, way)
        self.assertIn("SW505", self.pair("export@5,set@20,sync@90", "open@10,kernel@12,sync@13,read@30,sync@80"))

    def test_whoever_may_wait_for_the_other(self):
        """The first use waits behind a host function: it may be the second that comes first."""
        for way in ("hostfunc@15", "kernel@15"):
            self.assertEqual(self.pair(f"export@5,{way},set@20,sync@90", "open@10,read@30,sync@80"), {}, way)
            self.assertIn("SW505", self.pair(f"export@5,{way},sync@16,set@20,sync@90", "open@10,read@30,sync@80"))

    def test_a_wait_before_the_record(self):
        early = self.pair("event@3,handle@4,export@5,set@20,record@25,sync@90", "openevent@9,open@10,wait@15,read@30,sync@80")
        self.assertEqual((early["SW505"]["severity"], early["SW505"]["confidence"]), ("warning", "likely"))
        self.assertIn("waits for one 10.000 ms before the first process records it", early["SW505"]["text"])
        self.assertEqual(self.pair("event@3,handle@4,export@5,set@20,record@25,sync@90",
                                   "openevent@9,open@10,wait@28,read@30,sync@80"), {})
        self.assertEqual(self.pair("event@3,handle@4,export@5,set@20,record@25,hostfunc@26,sync@90",
                                   "openevent@9,open@10,wait@15,read@30,sync@80"), {})
        # Another process waited for it, and may have told.
        third = {"ipc": "openevent@9,open@10,wait@27,read@28,sync@29"}
        self.assertEqual(self.pair("event@3,handle@4,export@5,set@20,record@25,sync@90",
                                   "openevent@9,open@10,wait@15,read@30,sync@80", third=third), {})

    def test_a_record_that_nobody_waits_for(self):
        finding = self.pair("event@3,handle@4,export@5,set@20,record@25,sync@90", "openevent@9,open@10,read@30,sync@80")["SW505"]
        self.assertEqual((finding["severity"], finding["confidence"]), ("warning", "likely"))
        self.assertIn("the second does not wait for it", finding["text"])
        # As PyTorch does it: the handle is asked for after the record.
        late = self.pair("event@3,export@5,set@20,record@25,handle@26,sync@90", "openevent@27,open@28,read@30,sync@80")
        self.assertEqual(late["SW505"]["text"], finding["text"])

    def test_calls_that_are_close(self):
        """Within a millisecond nobody knows which came first, unless both read one counter."""
        words = ("export@5,set@20,sync@90", "open@10,read@20.2,sync@80")
        self.assertEqual(self.pair(*words), {})
        by_counter = {"tsc": 1000000, "end_ms": 100}
        self.assertIn("SW505", self.pair(*words, first=by_counter, second=by_counter))
        self.assertEqual(self.pair(words[0], "open@10,read@20.001,sync@80", first=by_counter, second=by_counter), {})
        # Its CLOCK_MONOTONIC says something else: the counters of the two processors differ.
        apart = dict(by_counter, clock_ms=2)
        self.assertEqual(self.pair(*words, first=by_counter, second=apart), {})

    def test_machines(self):
        words = ("export@5,set@20,sync@90", "open@10,read@30,sync@80")
        self.assertEqual(self.pair(*words, second={"host": "node1"}, status=UNPROVEN), {})
        self.assertEqual(self.pair(*words, second={"boot": "before"}, status=UNPROVEN), {})
        self.assertIn("memory was opened that a process without a trace here exported", self.merge(".", status=UNPROVEN))

    def test_a_process_without_a_trace(self):
        self.rank("1.swt", rank=1, size=2, race=0, final=0, ipc="open@10,read@30,sync@80")
        text = self.merge(".", status=UNPROVEN)
        self.assertIn("memory was opened that a process without a trace here exported", text)
        self.assertIn("0 errors, 0 warnings", text)

    def test_two_exporters_of_one_handle(self):
        third = {"ipc": "export@5,set@6,sync@7"}
        words = ("export@5,set@20,sync@90,free@95", "open@10,read@30,sync@80,use@99")
        self.assertEqual(set(self.pair(*words)), {"SW504", "SW505"})
        self.assertEqual(self.pair(*words, third=third, status=UNPROVEN), {})
        self.assertIn("a handle that two allocations had", self.merge(".", status=UNPROVEN))
        # One process, one after the other.
        self.assertEqual(self.pair("export@5,free@6,allocate@7,export@8,set@20,sync@90",
                                   "open@10,read@30,sync@80", status=UNPROVEN), {})

    def test_a_trace_with_losses(self):
        words = ("export@5,set@20,loss@21,sync@90", "open@10,read@30,sync@80")
        self.assertEqual(self.pair(*words, status=UNPROVEN), {})
        self.assertEqual(self.pair("export@5,set@20,sync@90", "open@10,loss@11,read@30,sync@80", status=UNPROVEN), {})

    def test_a_process_that_was_killed(self):
        """What it did after its last record is not known."""
        killed = {"closed": 0}
        self.assertEqual(self.pair("export@5,set@20", "open@10,read@30,sync@80", first=killed), {})
        self.assertIn("SW505", self.pair("export@5,set@20,othersync@85", "open@10,read@30,sync@80", first=killed))

    def test_freed_and_used(self):
        finding = self.pair("export@5,free@30", "open@10,read@20,sync@21,read@35,sync@36,close@40")["SW504"]
        self.assertIn("rank 0 frees 1.0 MiB that rank 1 uses afterwards", finding["message"])
        self.assertRegex(finding["text"], r"free: +rank 0 calls cudaFree\n")
        self.assertRegex(finding["text"], r"use: +rank 1 calls cudaMemcpyAsync, [45]\.[0-9]+ ms after the free had returned")
        self.assertNotIn("use:", self.pair("export@5,free@30", "open@10,read@20,sync@21,close@40")["SW504"]["text"])
        self.assertEqual(self.pair("export@5,free@45", "open@10,read@35,sync@36,close@40"), {})

    def test_partial_results_hold_them(self):
        words = ("event@3,handle@4,export@5,set@20,record@25,sync@90,free@95", "openevent@9,open@10,wait@15,read@30,sync@80,use@99")
        whole = self.pair(*words)
        self.assertEqual(set(whole), {"SW504", "SW505"})
        report = self.as_json(".")
        for order in (("0.swt", "1.swt"), ("1.swt", "0.swt")):
            self.merge("--json", "a.json", order[0], status=UNPROVEN)
            self.merge("--json", "b.json", "a.json", "a.json", status=UNPROVEN)
            again = self.as_json("b.json", order[1])
            for name in ("between_ranks", "shared_memory", "shared_uses"):
                self.assertEqual(again[name], report[name])

    def test_hostile_numbers(self):
        self.pair("export@5,set@20,sync@90", "open@10,read@30,sync@80")
        good = self.as_json(".")

        def spoil(name, value):
            bad = json.loads(json.dumps(good))
            bad["shared_uses"][0][name] = value
            with open(self.path("bad.json"), "w", encoding="utf-8") as file:
                json.dump(bad, file)
            self.merge("bad.json", status=INPUT)
        for name, value in (("process", 7), ("call_ns", -1), ("call_ns", "1"), ("reads", 1), ("what", 3), ("handle", 5),
                            ("told_event", 1 << 40)):
            spoil(name, value)
        bad = json.loads(json.dumps(good))
        bad["processes"][0].update(start_ticks=1 << 62, tick_rate=1)
        bad["processes"][1].update(start_ticks=0, tick_rate=1 << 62)
        with open(self.path("bad.json"), "w", encoding="utf-8") as file:
            json.dump(bad, file)
        self.found("bad.json")

    def test_explained(self):
        for what in ("SW504", "SW505", "shared-memory-race"):
            done = subprocess.run([COMMAND, "explain", what], capture_output=True, text=True, check=True)
            self.assertRegex(done.stdout, "^SW50[45] ")


class Programs(Case):
    """Two processes on the simulation: the program with the mistake, and its twin."""

    def report(self, *arguments):
        if not os.path.exists(PROGRAM):
            self.skipTest("kernels/ipc was not built (no nvcc)")
        subprocess.run([COMMAND, "run", "--sim", "-o", "%p.swt", PROGRAM, *arguments], cwd=self.dir, env=ENVIRONMENT,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=600, check=True)
        return {f["id"]: f for f in self.as_json(".")["between_ranks"]}

    def check(self, variant, number, *texts):
        found = self.report(variant)
        self.assertEqual(set(found), {number})
        for text in texts:
            self.assertIn(text, found[number]["text"])
        for name in os.listdir(self.dir):
            os.remove(self.path(name))
        self.assertEqual(self.report("--fixed", variant), {})

    def test_free(self):
        self.check("free", "SW504", "calls cudaFree (ipc.cu:", "calls kernel spin_copy (ipc.cu:")

    def test_unordered(self):
        self.check("unordered", "SW505", "calls kernel spin_write (ipc.cu:", "calls kernel spin_copy (ipc.cu:")

    def test_wait_first(self):
        self.check("wait-first", "SW505", "before the first process records it")

    def test_ring(self):
        self.check("ring", "SW505", "the first process records one after its work; the second does not wait for it")

    def test_refill(self):
        self.check("refill", "SW505", "calls kernel spin_copy (ipc.cu:", "calls cudaMemsetAsync (ipc.cu:")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
