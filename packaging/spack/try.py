#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the Spack recipe without Spack: its directives are recorded, its methods called. Prints "options: ..." and the dependencies.

usage: packaging/spack/try.py VERSION
  Fails where the recipe lacks this version or names a library twice; not where Spack has no package of that name.
"""
import pathlib
import sys
import types

DIRECTIVES = "version depends_on conflicts license maintainers".split()


def main():
    said = {name: [] for name in DIRECTIVES}
    package = types.ModuleType("spack.package")
    for name in DIRECTIVES:
        setattr(package, name, lambda *words, _name=name, **more: said[_name].append((words, more)))
    package.AutotoolsPackage = type("AutotoolsPackage", (), {})
    ran = []
    package.Executable = lambda command: lambda *words: ran.append(command)
    sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), package
    recipe = {}
    exec((pathlib.Path(__file__).parent / "package.py").read_text(encoding="utf-8"), recipe)  # pylint: disable=exec-used
    it = recipe["Syncwatch"]()
    it.spec = {"cuda": types.SimpleNamespace(prefix="/cuda")}
    it.prefix = types.SimpleNamespace(bin="/prefix/bin")
    paths = []
    it.setup_run_environment(types.SimpleNamespace(prepend_path=lambda *words: paths.append(words)))
    it.autoreconf(it.spec, it.prefix)
    names = [words[0].split("@")[0] for words, _ in said["depends_on"]]
    assert any(words == (sys.argv[1],) for words, _ in said["version"]), said["version"]
    assert len(names) == len(set(names)), names
    assert paths == [("PATH", "/prefix/bin")] and ran == ["./bootstrap"]
    print("options:", *it.configure_args())
    print("needs:", *names)


if __name__ == "__main__":
    main()
