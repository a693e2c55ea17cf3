# SPDX-License-Identifier: Apache-2.0
"""Tests with the mark cuda_forbid: good_* pass, bad_* fail (test_forbid.sh says how they are collected)."""
import pytest
from simulated import Device

forbid = pytest.mark.cuda_forbid


@pytest.fixture(scope="module")
def device():
    return Device()


@forbid("wait", "alloc")
def good_whole(device):
    device.fill()


@forbid("wait")
def bad_whole(device):
    device.wait()


@forbid("wait", skip=2)
def good_warm(device, cuda_step):
    for step in range(5):
        with cuda_step():
            (device.wait if step < 2 else device.fill)()
    device.wait()


@forbid("wait", skip=2)
def bad_warm(device, cuda_step):
    for _ in range(3):
        with cuda_step():
            device.wait()


@forbid("wait", skip=5)
def bad_nothing_checked(device, cuda_step):
    with cuda_step():
        device.fill()


@forbid("wait", skip=1)
def bad_skip_without_steps(device):
    device.fill()


@forbid("waits")
def bad_kind(device):
    device.fill()


def good_unmarked(device):
    device.wait()
