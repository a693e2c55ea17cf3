#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the commands of an example in doc/ci.md as a shell script, one function a job.

usage: ci_commands.py CI_MD github|gitlab|shell
  github, gitlab: every example of that kind; shell: the blocks that are no YAML and begin with a command
Knows as much of YAML as the examples use: nested maps and lists by indentation, {flow: maps}, comments.
"""
import re
import shlex
import sys


def blocks(text):
    """(language, lines) of each fenced block"""
    for language, body in re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S):
        yield language, [re.sub(r"\s+# .*", "", line) for line in body.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def unquoted(text):
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def jobs_of_gitlab(lines, default):
    """name -> commands; variables and before_script of `default`, kept in the list, stand before each"""
    jobs, variables, name, key = {}, [], None, None
    for line in lines:
        top = re.match(r"(\w+):(.*)", line)
        if top:
            name, key = top[1], None
            for variable, value in re.findall(r"(\w+): (\"[^\"]*\")", top[2] if name == "variables" else ""):
                variables.append(f"{variable}={value}")
            continue
        inner = re.match(r"  (\w+):\s*(.*)", line)
        item = re.match(r"    - (.*)", line)
        if inner:
            key = inner[1]
            if key.endswith("script"):
                jobs.setdefault(name, [])
                if inner[2]:
                    jobs[name].append(unquoted(inner[2]))
        elif item and key and key.endswith("script"):
            jobs[name].append(unquoted(item[1]))
    if variables or "default" in jobs:
        default[:] = variables + jobs.pop("default", [])
    return {name: default + commands for name, commands in jobs.items()}


def print_function(name, commands):
    """Ends with the first command that fails: a runner's shell has `set -e`, which a shell ignores in conditions."""
    print(f"{name}() (")
    for command in commands:
        print(f"\t{{ {command}; }} || exit")
    print(")")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        found = list(blocks(file.read()))
    if sys.argv[2] == "github":
        for language, lines in found:
            if language == "yaml" and any("runs-on:" in line for line in lines):
                print("github_job() {")
                for command in (re.match(r"\s+- run: (.*)", line) for line in lines):
                    if command:  # a shell of its own for each step, with the PATH that steps before it have written
                        print(f"\tgithub_step {shlex.quote(unquoted(command[1]))} || return")
                print("}")
    elif sys.argv[2] == "gitlab":
        number, default = 0, []
        for language, lines in found:
            if language == "yaml" and any(re.match(r"\s+script:", line) for line in lines):
                number += 1
                for name, commands in jobs_of_gitlab(lines, default).items():
                    print_function(f"gitlab_{number}_{name}", commands)
    else:
        for language, lines in found:
            if not language and re.match(r"(python3|pip|syncwatch) ", lines[0]):
                print_function("commands", lines)


if __name__ == "__main__":
    main()
