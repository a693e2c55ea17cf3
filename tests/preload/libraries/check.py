# SPDX-License-Identifier: Apache-2.0
"""usage: check.py BUILD SOURCE, in a folder with program, loader, both, alone and libcublas.so.13"""
import json
import os
import re
import subprocess
import sys
import unittest

BUILD, SOURCE = sys.argv[1:3]
COMMAND = os.path.join(BUILD, "syncwatch")


class Libraries(unittest.TestCase):
    maxDiff = None

    def run_it(self, *steps, program="./program"):
        bare = subprocess.run([program, *steps], capture_output=True, text=True, check=False)
        self.text = subprocess.run([COMMAND, "run", "--sim", "--all", "--no-cache", "--json", "r.json", "-o", "t.swt", program,
                                    *steps], capture_output=True, text=True, check=False)
        self.assertEqual((self.text.returncode, self.text.stdout), (bare.returncode, bare.stdout), self.text.stderr)
        self.assertEqual(bare.returncode, 0, bare.stderr)
        self.dump = subprocess.run([COMMAND, "dump", "t.swt"], capture_output=True, text=True, check=True).stdout
        os.remove("t.swt")
        with open("r.json", encoding="utf-8") as file:
            self.report = json.load(file)
        return [f for f in self.report["findings"] if f["kind"].startswith("race")]

    def races(self, *steps, **others):
        findings = self.run_it(*steps, **others)
        self.assertEqual(len(findings), 1, [f["message"] for f in findings])
        return findings[0]

    def silent(self, *steps, **others):
        self.assertEqual([f["message"] for f in self.run_it(*steps, **others)], [])

    def shared(self, *steps, **others):
        """A workspace that two calls share: never more than likely, for who knows how much of it they use."""
        finding = self.races(*steps, **others)
        self.assertEqual((finding["severity"], finding["confidence"]), ("warning", "likely"), finding["message"])
        self.assertIn("a workspace each", finding["advice"])
        return finding

    def calls(self):
        """(operation, name, arguments, handle) of each record."""
        found = []
        for line in self.dump.splitlines():
            if line.startswith("LIBRARY "):
                fields = dict(re.findall(r'(\w+)=("[^"]*"|\S*)', line))
                found.append((fields["op"], fields["name"].strip('"'), fields["arguments"].split(","), fields["handle"]))
        return found

    # ---- names

    def test_a_finding_names_the_function(self):
        finding = self.races("a", "copy", "b", "copy")
        self.assertEqual((finding["severity"], finding["confidence"]), ("error", "certain"))
        self.assertIn("kernel copy_kernel of cublasScopy", finding["message"])
        for access, stream in zip(finding["accesses"], ("1", "2")):
            self.assertEqual((access["library"]["function"], access["library"]["library"], access["library"]["number"]),
                             ("cublasScopy_v2", "cuBLAS", 1))
            self.assertIn(f"part of cublasScopy_v2 (cuBLAS handle 1, stream {stream})", self.text.stderr)
        subprocess.run([sys.executable, os.path.join(SOURCE, "tests/report/check_schema.py"),
                        os.path.join(SOURCE, "doc/report.schema.json"), "r.json"], check=True, stdout=subprocess.DEVNULL)
        self.silent("a", "copy", "wait", "b", "copy")

    def test_the_line_of_the_program_leads(self):
        self.races("a", "copy", "b", "copy")
        self.assertRegex(self.text.stderr, r"(?m)^\S*program\.c:\d+: error: SW103")
        self.assertNotIn("libsyncwatch", self.text.stderr)

    def test_work_outside_of_calls_has_no_name(self):
        finding = self.races("a", "w", "gemm", "b", "set")
        self.assertIn("cublasSgemm", finding["message"])
        self.assertNotIn("library", finding["accesses"][1])
        self.assertNotIn("a workspace each", finding["advice"])

    def test_handles_are_numbered_and_forgotten(self):
        finding = self.races("a", "copy", "2", "destroy", "1", "b", "copy")
        self.assertEqual([a["library"]["number"] for a in finding["accesses"]], [1, 1])
        finding = self.races("a", "copy", "destroy", "b", "copy")
        self.assertEqual([a["library"]["number"] for a in finding["accesses"]], [1, 3])

    # ---- workspaces

    def test_one_workspace_of_two_handles(self):
        finding = self.shared("a", "1", "w", "gemm", "b", "2", "w", "gemm")
        self.assertIn("the workspace of cuBLAS handles 1 and 2", finding["message"])
        self.silent("a", "1", "w", "gemm", "b", "2", "W", "gemm")
        self.silent("a", "1", "w", "gemm", "wait", "b", "2", "w", "gemm")

    def test_one_handle_on_two_streams(self):
        self.assertIn("the workspace of cuBLAS handle 1", self.shared("a", "w", "gemm", "b", "w", "gemm")["message"])
        self.silent("a", "w", "gemm", "b", "W", "gemm")
        self.silent("a", "w", "gemm", "wait", "b", "w", "gemm")

    def test_the_library_has_its_own_after_set_stream(self):
        self.silent("a", "w", "gemm", "b", "gemm")
        self.silent("a", "gemm", "b", "gemm")

    def test_functions_that_need_none(self):
        self.silent("a", "w", "copy", "b", "2", "w", "copy")

    def test_a_workspace_in_the_arguments(self):
        self.assertIn("cuBLASLt", self.shared("a", "lt", "b", "lt")["message"])
        self.silent("a", "lt", "b", "LT")
        self.silent("a", "lt", "wait", "b", "lt")

    def test_work_areas_of_plans(self):
        self.assertIn("the workspace of cuFFT plans 1 and 2", self.shared("area", "a", "fft", "b", "FFT")["message"])
        self.silent("areas", "a", "fft", "b", "FFT")
        self.silent("area", "a", "fft", "wait", "b", "FFT")

    def test_a_plan_on_two_streams(self):
        self.assertIn("the workspace of cuFFT plan 1", self.shared("a", "fft", "b", "fft")["message"])
        self.silent("a", "fft", "b", "FFT")
        self.silent("a", "fft", "wait", "b", "fft")

    # ---- operands of kernels whose code does not tell

    def likely(self, number, *steps):
        finding = self.races(*steps)
        self.assertEqual((finding["id"], finding["severity"], finding["confidence"]), (number, "warning", "likely"))
        self.assertIn("operand", finding["accesses"][0]["evidence_text"])

    def test_operands_of_a_product(self):
        """64 x 32 in columns of 66, 64 x 16 in columns of 65, 32 x 16 in columns of 33 floats."""
        for step, number in (("A+0:1", "SW102"), ("A+4155:1", "SW102"), ("B+127:1", "SW102"), ("C+264:1", "SW103"),
                             ("C+8439:1", "SW103")):
            self.likely(number, "a", "gemm", "b", step)
            self.silent("a", "gemm", "wait", "b", step)
        self.silent("a", "gemm", "b", "A+256:4", "A+4156:8", "B+128:4", "C+256:8", "C+8440:8")

    def test_an_open_access_ends_with_its_operand(self):
        """16 floats from D on; each second of A."""
        for step, number in (("D+0:1", "SW103"), ("D+63:1", "SW103"), ("A+120:1", "SW102")):
            finding = self.races("a", "axpy", "b", step)
            self.assertEqual((finding["id"], finding["severity"], finding["confidence"]), (number, "warning", "likely"))
            self.silent("a", "axpy", "wait", "b", step)
        self.silent("a", "axpy", "b", "D+64:64", "A+124:64", "A+4:4")

    def test_an_open_access_goes_on_to_the_end_of_its_operand(self):
        """Also where other accesses are known to have begun in between, and the launch was deferred."""
        filled = ("a", "D+0:32", "D+32:32", "wait", "scal")
        finding = self.races(*filled, "b", "D+40:8")
        self.assertEqual((finding["id"], finding["severity"], finding["confidence"]), ("SW103", "warning", "likely"))
        self.silent(*filled, "wait", "b", "D+40:8")
        self.silent(*filled, "b", "D+64:8")

    def test_operands_of_a_transform(self):
        self.likely("SW102", "a", "fft", "b", "in")
        self.likely("SW103", "a", "fft", "b", "out")
        self.silent("a", "fft", "wait", "b", "in", "out")

    # ---- what is recorded

    def test_the_outermost_call_is_recorded(self):
        self.silent("a", "ex", "norm")
        begun = [name for op, name, _, _ in self.calls() if op == "BEGIN" and "Create" not in name and "Plan" not in name]
        self.assertEqual(begun, ["cublasGemmEx", "cudnnBatchNormalizationForwardInference"])
        self.assertEqual(sum(op == "BEGIN" for op, *_ in self.calls()), sum(op == "RETURN" for op, *_ in self.calls()))

    def test_arguments(self):
        self.silent("a", "ex", "norm")
        arguments = {name: words for op, name, words, _ in self.calls() if op == "BEGIN"}
        words = arguments["cublasGemmEx"]
        self.assertEqual(len(words), 19)
        self.assertEqual([int(words[i], 16) for i in (1, 2, 3, 4, 5, 8, 9, 17)], [0, 1, 64, 32, 16, 1, 65, 68])
        self.assertEqual(int(words[18], 16), 2**64 - 1)
        self.assertEqual(int(arguments["cudnnBatchNormalizationForwardInference"][12], 16), 14)  # the last is a double

    def test_what_fails_sets_nothing(self):
        self.silent("a", "fail")
        self.assertEqual([op for op, name, *_ in self.calls() if name == "cublasDgemm_v2"], ["BEGIN"])

    def test_handles_made(self):
        self.silent("a", "destroy")
        made = [handle for op, name, _, handle in self.calls() if op == "DONE" and name == "cublasCreate_v2"]
        gone = [handle for op, name, _, handle in self.calls() if op == "GONE"]
        self.assertEqual((len(made), gone), (3, [made[0]]))
        self.assertEqual([handle for op, name, _, handle in self.calls() if op == "DONE" and name == "cufftPlan1d"],
                         ["0x0", "0x1"])

    # ---- which library

    def test_a_library_that_is_loaded_local(self):
        self.races("a", "copy", "b", "copy", program="./loader")
        self.silent("a", "ex", "norm", "fft", "lt", program="./loader")
        self.assertIn("cublasGemmEx", {name for _, name, *_ in self.calls()})

    def test_two_copies_of_the_library(self):
        self.races("a", "copy", "b", "copy", program="./both")
        self.silent("a", "ex", "norm", "fft", "lt", program="./both")

    def test_no_library_at_all(self):
        """Weak symbols are there, and say that nothing is initialised; a look-up by name finds nothing."""
        absent = "not found, an error not found; "
        self.assertEqual(subprocess.run(["./alone"], capture_output=True, text=True, check=True).stdout, absent + "none\n")
        preload = [os.path.join(BUILD, name) for name in ("libsyncwatch.so", "libsyncwatch-libraries.so", "libsyncwatch-nccl.so")]
        for each, looked_up in ((preload, absent), (preload[1:2], "found found; ")):
            done = subprocess.run(["./alone"], capture_output=True, text=True, check=True,
                                  env={**os.environ, "LD_PRELOAD": ":".join(each), "SYNCWATCH_OPTIONS": "report=0:quiet"})
            self.assertEqual(done.stdout, looked_up + "1 5 0\n")

    def test_functions_that_are_looked_up(self):
        for program in ("./named", "./everywhere"):
            finding = self.races("a", "copy", "b", "copy", program=program)
            self.assertIn("kernel copy_kernel of cublasScopy", finding["message"])
            self.silent("a", "copy", "wait", "b", "copy", program=program)
            self.silent("a", "ex", "norm", "fft", "lt", "destroy", program=program)
            self.assertIn("cublasGemmEx", {name for _, name, *_ in self.calls()})

    def test_functions_of_another_copy_are_left_alone(self):
        """By name; those that an object links are recorded."""
        self.races("a", "copy", "b", "copy", program="./both_named")
        self.assertEqual(self.calls(), [])

    def test_without_the_recorder(self):
        """The companion alone changes nothing."""
        done = subprocess.run(["./program", "a", "w", "ex", "norm", "fft", "lt", "copy"], capture_output=True, text=True,
                              check=False, env={**os.environ, "LD_PRELOAD": os.path.join(BUILD, "libsyncwatch-libraries.so")})
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
