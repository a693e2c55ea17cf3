#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code that a program loads from memory is kept in the store once: a second run does not copy it, and its trace is judged alike,
with the store or without.

usage: test_image_store.py BUILD_DIR SOURCE_DIR
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
COMMAND = os.path.join(BUILD, "syncwatch")

# Loads PTX from memory (argv[1]: bytes of comments in it), and launches its kernel on two streams.
PROGRAM = r'''
import ctypes, sys
cu = ctypes.CDLL("libcuda.so.1")
P = ctypes.c_void_p
def check(status): assert status == 0, status
context, module, function, memory = P(), P(), P(), P()
check(cu.cuInit(0))
check(cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cu.cuCtxSetCurrent(context))
text = b".version 7.0\n.target sm_50\n.address_size 64\n" + b"// fill\n" * (int(sys.argv[1]) // 8) + b"""
.visible .entry put(.param .u64 out)
{
.reg .u64 %rd<2>;
.reg .u32 %r<2>;
ld.param.u64 %rd0, [out];
mov.u32 %r0, 1;
st.global.u32 [%rd0], %r0;
ret;
}
"""
name = b"put"
if len(sys.argv) > 3:  # machine code, and its section headers moved so far that it is no small image
    name = b"calls"
    text = open(sys.argv[3], "rb").read()
    sections = int.from_bytes(text[40:48], "little")
    text = text[:40] + (sections + 60000).to_bytes(8, "little") + text[48:sections] + bytes(60000) + text[sections:]
check(cu.cuModuleLoadData(ctypes.byref(module), ctypes.create_string_buffer(text)))
check(cu.cuModuleGetFunction(ctypes.byref(function), module, name))
check(cu.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(65536)))
arguments = (P * 2)(*[ctypes.cast(ctypes.pointer(memory), P)] * 2)
for _ in range(2 if len(sys.argv) > 2 else 0):
    stream = P()
    check(cu.cuStreamCreate(ctypes.byref(stream), 1))
    check(cu.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, None))
check(cu.cuCtxSynchronize())
'''
SURE = "SW103 race-write-after-write (certain"


class ImageStore(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        with open(self.path("load.py"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        self.environment = dict(os.environ, XDG_CACHE_HOME=self.path("cache"))

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def call(self, *words, **more):
        done = subprocess.run(words, cwd=self.folder.name, env={**self.environment, **more}, capture_output=True, text=True,
                              timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout + done.stderr

    def run_program(self, trace, *options, size=100000, launch=True, cubin=None):
        return self.call(COMMAND, "run", "--sim", *options, "-o", trace, "--", sys.executable, "load.py", str(size),
                         *(["launch"] if launch else []), *([cubin] if cubin else []))

    def records(self, trace):
        lines = [line.split(" ", 1)[0] for line in self.call(COMMAND, "dump", trace).splitlines()]
        return tuple(lines.count(kind) for kind in ("IMAGE", "IMAGE_DATA", "PACK_CODE"))

    def report(self, trace):
        return self.call(COMMAND, "report", "--no-cache", trace)

    def stored(self):
        return glob.glob(self.path("cache/syncwatch/images/*.image"))

    def test_second_run(self):
        self.assertIn(SURE, self.run_program("first.swt"))
        self.assertEqual(self.records("first.swt"), (1, 4, 0))
        self.assertEqual(len(self.stored()), 1)
        self.assertIn(SURE, self.run_program("again.swt"))
        self.assertEqual(self.records("again.swt"), (1, 0, 1))
        # One file is enough.
        shutil.rmtree(self.path("cache"))
        self.assertIn(SURE, self.report("first.swt"))
        self.assertIn(SURE, self.report("again.swt"))
        self.call(COMMAND, "pack", "-o", "packed.swt", "again.swt")
        self.assertIn(SURE, self.report("packed.swt"))

    def test_judged_while_it_runs(self):
        self.run_program("first.swt", "--live")
        self.assertEqual(len(self.stored()), 1)
        self.run_program("again.swt", "--live")
        self.assertEqual(self.records("again.swt"), (1, 0, 1))
        shutil.rmtree(self.path("cache"))
        self.assertIn(SURE, self.report("again.swt"))

    def test_machine_code(self):
        cubin = os.path.join(SOURCE, "tests/footprint/sass/sm_90.cubin")
        self.assertIn("evidence: SASS sm_90", self.run_program("first.swt", cubin=cubin))
        self.run_program("again.swt", cubin=cubin)
        self.assertEqual(self.records("again.swt"), (1, 0, 1))
        shutil.rmtree(self.path("cache"))
        texts = [self.report(trace).replace("again.swt", "first.swt") for trace in ("first.swt", "again.swt")]
        self.assertEqual(*[[line for line in text.splitlines() if "evidence" in line or "bytes" in line] for text in texts])
        code, = (line for line in self.call(COMMAND, "dump", "again.swt").splitlines() if line.startswith("PACK_CODE"))
        self.assertLess(int(code.split(" bytes=")[1].split()[0]), 10000)  # it has 73 KB

    def test_what_was_not_launched(self):
        self.run_program("first.swt", launch=False)
        self.run_program("again.swt", launch=False)
        self.assertEqual(self.records("again.swt"), (1, 0, 0))

    def test_other_content(self):
        self.run_program("first.swt")
        self.run_program("other.swt", size=100008)
        self.assertEqual(self.records("other.swt"), (1, 4, 0))
        self.assertEqual(len(self.stored()), 2)

    def test_small_images_and_no_cache(self):
        self.run_program("small.swt", size=800)
        self.run_program("none.swt", "--no-cache")
        self.assertEqual(self.stored(), [])
        self.run_program("kept.swt")
        self.run_program("copied.swt", "--no-cache")
        self.assertEqual(self.records("copied.swt"), (1, 4, 0))

    def record_alone(self, trace):
        self.call(sys.executable, "load.py", "100000", "launch", LD_LIBRARY_PATH=os.path.join(BUILD, "sim"),
                  LD_PRELOAD=os.path.join(BUILD, "libsyncwatch.so"),
                  SYNCWATCH_OPTIONS=f"report=0:quiet:trace={trace}:image-store={self.path('cache/syncwatch/images')}")

    def test_store_that_is_lost(self):
        self.run_program("first.swt")
        self.record_alone("alone.swt")  # nobody puts the code into it
        self.assertEqual(self.records("alone.swt"), (1, 0, 0))
        self.assertIn(SURE, self.report("alone.swt"))
        image, = self.stored()
        os.unlink(image)
        text = self.report("alone.swt")
        self.assertNotIn(SURE, text)
        self.assertIn(image, text)

    def test_store_with_other_bytes(self):
        self.run_program("first.swt")
        image, = self.stored()
        with open(image, "r+b") as file:
            content = file.read()
            file.seek(0)
            file.write(content.replace(b"st.global", b"ld.global"))
        for footprints in glob.glob(self.path("cache/syncwatch/*.footprints")):
            os.unlink(footprints)
        text = self.run_program("again.swt")
        self.assertNotIn(SURE, text)
        self.assertIn("lacks code of kernels", text)
        self.assertNotIn(SURE, self.report("again.swt"))
        self.assertIn(SURE, self.run_program("third.swt"))  # it was thrown away
        self.assertEqual(self.records("third.swt"), (1, 4, 0))
        self.assertEqual(self.stored(), [image])


if __name__ == "__main__":
    unittest.main()
