# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: the programs, a folder for each test, refusals, terminals."""
import errno
import fcntl
import os
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

BUILD, SOURCE = (os.path.abspath(path) for path in sys.argv[1:3])
COMMAND = os.path.join(BUILD, "syncwatch")
CUDA_PROGRAM = os.path.join(BUILD, "tests", "tools", "cuda_program")
MAKE_TRACE = os.path.join(BUILD, "tests", "tools", "make_trace")
# What run preloads.
OBJECTS = ("libsyncwatch.so", "libsyncwatch-libraries.so", "libsyncwatch-nccl.so", "libsyncwatch-run.so",
           "libsyncwatch-pools.so")
OK, USAGE, INPUT, OUTPUT, LIMIT = 0, 2, 3, 4, 5
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if name not in ("LD_PRELOAD", "SYNCWATCH_OPTIONS", "SYNCWATCH_RUN")}
ENVIRONMENT["XDG_CACHE_HOME"] = ENVIRONMENT["XDG_DATA_HOME"] = "/dev/null"  # nothing is kept, or found


def read_terminal(leader):
    """What there is until EIO, which is how Linux ends a terminal whose other side is closed."""
    text = b""
    try:
        while part := os.read(leader, 4096):
            text += part
    except OSError as error:
        if error.errno != errno.EIO:
            raise
    return text


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="syncwatch-test-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def call(self, *arguments, command=COMMAND, **environment):
        return subprocess.run([command, *arguments], cwd=self.dir, env=dict(ENVIRONMENT, **environment),
                              capture_output=True, text=True, timeout=1200, stdin=subprocess.DEVNULL)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def trace(self, kind):
        path = self.path(kind + ".swt")
        subprocess.run([MAKE_TRACE, kind, path], check=True)
        return path

    def refused(self, status, part, *arguments):
        """Exit status, nothing on stdout, one line on stderr that holds `part`."""
        result = self.call(*arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("syncwatch"), result.stderr)
        self.assertIn(part, result.stderr)

    def on_a_terminal(self, *arguments, columns=0, **environment):
        """What the command prints on a terminal."""
        leader, follower = pty.openpty()
        if columns:
            fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        with subprocess.Popen([COMMAND, *arguments], stdout=follower, stderr=subprocess.DEVNULL,
                              env={**ENVIRONMENT, "PAGER": "cat", **environment}, cwd=self.dir) as process:
            os.close(follower)
            text = read_terminal(leader)
            self.assertEqual(process.wait(), OK)
        # Linux looks for text before it looks whether the other side is closed: what is written between the two is
        # still to be read after EIO (n_tty_read; 11 of 595,000 terminals, Linux 6.18).
        text += read_terminal(leader)
        os.close(leader)
        return text.replace(b"\r\n", b"\n")
