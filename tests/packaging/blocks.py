# SPDX-License-Identifier: Apache-2.0
"""with syncwatch.forbid(...): what raises, where, and what does not.  Run under the recorder, or with "alone"."""
import asyncio
import concurrent.futures
import os
import sys
import threading
import unittest

import syncwatch
from simulated import Device

ALONE = sys.argv[1:] == ["alone"]
if not ALONE:
    device = Device()


# A block of the program's outermost code.
with syncwatch.forbid("any") as outermost:
    pass
if not ALONE:
    try:
        with syncwatch.forbid("wait"):
            device.wait()
    except syncwatch.ForbiddenCall as error:
        outermost_error = error


def here():
    return sys._getframe(1).f_lineno


@unittest.skipIf(ALONE, "without the recorder")
class Recorded(unittest.TestCase):
    def found(self, kinds, call, **options):
        with self.assertRaises(syncwatch.ForbiddenCall) as caught:
            with syncwatch.forbid(*kinds, **options):
                call()
        return caught.exception

    def silent(self, kinds, call):
        with syncwatch.forbid(*kinds, strict=True) as block:
            call()
        self.assertTrue(block.checked)

    def test_pairs(self):
        for kinds, wrong, right in ((("wait",), device.wait, device.fill), (("alloc",), device.alloc, device.wait),
                                    (("pageable",), lambda: device.upload(False), device.upload),
                                    (("any",), device.alloc, device.fill), (("pin", "wait"), device.wait, device.alloc)):
            self.found(kinds, wrong)
            self.silent(kinds, right)

    def test_the_line_that_made_the_call(self):
        def step():
            device.fill()
            return here(), device.wait()

        error = self.found(("wait",), step)
        self.assertEqual([(call.kind, call.api) for call in error.calls], [("wait", "cuStreamSynchronize")])
        lines = [(os.path.basename(frame.filename), frame.lineno, frame.name) for frame in error.calls[0].stack]
        self.assertIn(("blocks.py", step()[0], "step"), lines)
        self.assertIn("device.wait()", str(error))
        self.assertIn("1 call of kind wait in a block that forbids them", str(error))

    def test_outermost_code(self):
        self.assertTrue(outermost.checked)
        stack = outermost_error.calls[0].stack
        self.assertEqual([frame.name for frame in stack], ["<module>", "wait"])

    def test_a_place_is_told_once(self):
        error = self.found(("wait",), lambda: [device.wait() for _ in range(5)])
        self.assertIn("5 calls of kind wait", str(error))
        self.assertIn("(5 times)", str(error))
        self.assertEqual(str(error).count("cuStreamSynchronize took"), 1)

    def test_at_once(self):
        after = []
        error = self.found(("wait",), lambda: (device.wait(), [None for _ in range(10)], after.append(1)), at_once=True)
        self.assertEqual((len(error.calls), after), (1, []))
        # The last call of a block: what would be raised after it is raised by the block.
        with self.assertRaises(syncwatch.ForbiddenCall) as caught:
            with syncwatch.forbid("wait", at_once=True):
                device.wait()
        self.assertTrue(caught.exception.calls)
        sum(range(1000))  # nothing comes later

    def test_the_blocks_own_exception_is_passed_on(self):
        with self.assertRaises(KeyError):
            with syncwatch.forbid("wait"):
                device.wait()
                raise KeyError

    def test_blocks_in_blocks(self):
        with self.assertRaises(syncwatch.ForbiddenCall):
            with syncwatch.forbid("wait"):
                self.silent(("alloc",), device.wait)
        self.found(("wait",), lambda: self.found(("wait",), device.wait))

    def test_threads_are_separate(self):
        def elsewhere():
            thread = threading.Thread(target=lambda: Device().wait())
            thread.start()
            thread.join()

        self.silent(("any",), elsewhere)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            def task(wrong):
                mine = Device()
                with syncwatch.forbid("wait"):
                    (mine.wait if wrong else mine.fill)()

            self.assertIsNone(pool.submit(task, False).exception())
            self.assertIsInstance(pool.submit(task, True).exception(), syncwatch.ForbiddenCall)

    def test_decorator(self):
        @syncwatch.forbid("wait")
        def step(call):
            return call() or 7

        self.assertEqual(step(device.fill), 7)
        with self.assertRaises(syncwatch.ForbiddenCall):
            step(device.wait)
        self.assertEqual(step(device.fill), 7)

    def test_fork(self):
        with syncwatch.forbid("wait"):
            child = os.fork()
            if not child:
                os._exit(3)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 3)


class Anywhere(unittest.TestCase):
    def test_bad_kinds(self):
        for kinds in ((), ("waits",), ("device-wait",), ("wait,alloc",)):
            with self.assertRaises(ValueError):
                syncwatch.forbid(*kinds)

    def test_coroutines_are_refused(self):
        async def task():
            await asyncio.sleep(0)

        def items():
            yield 1

        for function in (task, items):
            with self.assertRaises(TypeError):
                syncwatch.forbid("wait")(function)

    @unittest.skipIf(not ALONE, "with the recorder")
    def test_nothing_is_checked_alone(self):
        with syncwatch.forbid("wait") as block:
            pass
        self.assertFalse(block.checked)
        self.assertFalse(syncwatch.active())
        with self.assertRaises(syncwatch.NotChecked):
            with syncwatch.forbid("wait", strict=True):
                self.fail("the block ran")


unittest.main(argv=sys.argv[:1])
