# SPDX-License-Identifier: Apache-2.0
"""Becomes the command: no Python stays behind it, so signals and the exit status are its own."""
import os
import sys

from . import command_path

MACHINE, GLIBC = "@MACHINE@", (2, 28)


def why_not():
    """What keeps the command from running here, or None."""
    if sys.platform != "linux":
        return f"it runs on Linux, this is {sys.platform}"
    machine = os.uname().machine
    if machine != MACHINE:
        return f"this wheel is for {MACHINE}, this machine is {machine}: install it again with this machine's pip"
    needed = ".".join(map(str, GLIBC))
    try:
        name, version = os.confstr("CS_GNU_LIBC_VERSION").split()
        found = tuple(int(part) for part in version.split(".")[:2])
    except (AttributeError, OSError, ValueError):
        return f"it needs glibc {needed}, and the libc of this system is another (musl?)"
    if name != "glibc" or found < GLIBC:
        return f"it needs glibc {needed}, this system has {name} {version}"
    return None


def main():
    path, why = command_path(), why_not()
    if not why:
        try:
            os.execv(path, ["syncwatch", *sys.argv[1:]])
        except OSError as error:
            why = f"{path}: {error.strerror}"
    print(f"syncwatch: {why}", file=sys.stderr)
    return 126


if __name__ == "__main__":
    sys.exit(main())
