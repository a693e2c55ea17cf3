# SPDX-License-Identifier: Apache-2.0
"""pytest --cuda-forbid: tests that fail where a block waits, allocates, pins or loads (doc/no-waits.md).

    @pytest.mark.cuda_forbid("wait", skip=2)
    def test_decode(cuda_step):
        for token in range(10):
            with cuda_step():
                model.step()

Without cuda_step the whole test is one block.
"""
import contextlib
import os
import sys

import pytest

from . import active, command_path
from ._gate import forbid


def pytest_addoption(parser):
    parser.getgroup("syncwatch").addoption(
        "--cuda-forbid", nargs="?", const="run", choices=("run", "sim"), metavar="sim",
        help="run the tests under syncwatch, which tests marked with cuda_forbid need; =sim: on the simulated CUDA")


def pytest_configure(config):
    config.addinivalue_line("markers", "cuda_forbid(*kinds, skip=0): calls of CUDA of these kinds (wait, alloc, free, pin, "
                            "load, pageable, any) fail the test; skip: the first blocks of cuda_step that may")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    how = config.getoption("cuda_forbid")
    if not how or active() or hasattr(config, "workerinput"):
        return None
    capture = config.pluginmanager.getplugin("capturemanager")
    if capture:
        capture.stop_global_capturing()  # the streams are pytest's own again
    script = [sys.argv[0]] if os.path.basename(sys.argv[0]) != "__main__.py" and os.path.isfile(sys.argv[0]) else \
        ["-m", "pytest"]
    command = [command_path(), "run", *(["--sim"] if how == "sim" else []), "--", sys.executable, *script,
               *map(str, config.invocation_params.args)]
    try:
        os.execv(command[0], command)
    except OSError as error:
        raise pytest.UsageError(f"--cuda-forbid: {command[0]}: {error.strerror}")


def _mark(item):
    """Kinds and how many blocks are skipped; None: the test has no such mark."""
    mark = item.get_closest_marker("cuda_forbid")
    if not mark:
        return None
    unknown = set(mark.kwargs) - {"skip"}
    if unknown or not isinstance(mark.kwargs.get("skip", 0), int):
        pytest.fail(f"cuda_forbid({', '.join(map(repr, mark.args))}) takes skip=N only", pytrace=False)
    try:
        forbid(*mark.args)
    except ValueError as error:
        wrong = str(error)
    else:
        wrong = None
    if wrong:
        pytest.fail(f"cuda_forbid: {wrong}", pytrace=False)
    return mark.args, mark.kwargs.get("skip", 0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if not item.get_closest_marker("cuda_forbid"):
        return
    mark = _mark(item)
    if not active():
        pytest.skip("not recorded, so nothing would be checked: pytest --cuda-forbid")
    if mark[1] and "cuda_step" not in item.fixturenames:
        pytest.fail("cuda_forbid(skip=N) counts blocks of the fixture cuda_step, which the test does not use",
                    pytrace=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    __tracebackhide__ = True
    mark = _mark(item) if item.get_closest_marker("cuda_forbid") else None
    if not mark or "cuda_step" in item.fixturenames:
        yield
        return
    block = forbid(*mark[0], strict=True)
    block.__enter__()
    outcome = yield
    try:
        block.__exit__(*(outcome.excinfo or (None, None, None)))
    except Exception as error:  # pylint: disable=broad-except
        outcome.force_exception(error)


@pytest.fixture
def cuda_step(request):
    """with cuda_step(): a block that the mark cuda_forbid is about; the first `skip` ones may do what they like."""
    mark = _mark(request.node)
    if not mark:
        pytest.fail("cuda_step needs the mark cuda_forbid(...)", pytrace=False)
    kinds, skip = mark
    entered = 0

    @contextlib.contextmanager
    def step():
        __tracebackhide__ = True
        nonlocal entered
        entered += 1
        if entered <= skip:
            yield
            return
        with forbid(*kinds, strict=True):
            yield

    yield step
    if entered <= skip:
        pytest.fail(f"cuda_forbid checked nothing: cuda_step was entered {entered} time{'s' * (entered != 1)}, and the first {skip} are skipped",
                    pytrace=False)
