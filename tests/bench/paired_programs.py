#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording adds to a whole program: it runs bare and recorded in turn, one run at a time.

usage: paired_programs.py [--pairs N] [--cpus LIST] [--value REGEX] [--sim] [--side NAME=PREFIX]... BUILD COMMAND...

Sides: bare, then "recorded" (all objects that `run` preloads, no report, the trace in a temporary folder), or those of --side,
whose PREFIX is put before the command as the shell splits it ({trace}: a file in that folder; VARIABLE=VALUE words are put
into the environment).  --cpus: pinned to these processors (0-3,8).  --value: the number of the first group in the program's
output is compared (default: seconds from start to end).  One round of all sides is run first and not counted.

Prints for each side the least and the median, its ratio to the first side (of the least, of the medians), and for the
median of the pairs' ratios the interval in which 95 % of 2000 resamplings of the pairs lie.
"""
import argparse
import os
import random
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time


def processors(text):
    chosen = set()
    for part in text.split(','):
        low, _, high = part.partition('-')
        chosen.update(range(int(low), int(high or low) + 1))
    return chosen


def run_once(words, pattern, folder, cpus):
    environment = dict(os.environ)
    words = [word.replace('{trace}', os.path.join(folder, 'paired.swt')) for word in words]
    while words and re.match(r'[A-Za-z_]\w*=', words[0]):
        name, _, value = words.pop(0).partition('=')
        environment[name] = value
    begin = time.monotonic()
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors='replace',
                          preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None, check=False)
    took = time.monotonic() - begin
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    if done.returncode:
        sys.exit(f'{shlex.join(words)}: exit status {done.returncode}\n{done.stderr[-2000:]}')
    if not pattern:
        return took
    found = re.search(pattern, done.stdout)
    if not found:
        sys.exit(f'{shlex.join(words)}: no {pattern!r} in the output')
    return float(found[1])


def interval(ratios):
    """Of the median, by resampling; the same numbers for the same input."""
    source = random.Random(1)
    medians = sorted(statistics.median(source.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[49], medians[1949]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('\n')[2].removeprefix('usage: '), add_help=False)
    parser.add_argument('--pairs', type=int, default=10)
    parser.add_argument('--cpus', type=processors)
    parser.add_argument('--value')
    parser.add_argument('--sim', action='store_true')
    parser.add_argument('--side', action='append', default=[])
    parser.add_argument('build')
    parser.add_argument('command', nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    if not asked.command or asked.pairs < 1:
        parser.error('a command and at least one pair')
    build = os.path.abspath(asked.build)
    if asked.sim:
        os.environ['LD_LIBRARY_PATH'] = f"{build}/sim:{os.environ.get('LD_LIBRARY_PATH', '')}"
    preload = ':'.join(f'{build}/libsyncwatch{part}.so' for part in ('', '-libraries', '-nccl', '-run', '-pools'))
    preload += f":{os.environ['LD_PRELOAD']}" if os.environ.get('LD_PRELOAD') else ''
    recorded = f"{shlex.quote('LD_PRELOAD=' + preload)} SYNCWATCH_OPTIONS=report=0:quiet:trace={{trace}}"
    sides = [side.partition('=')[::2] for side in asked.side] or [('bare', ''), ('recorded', recorded)]
    values = {name: [] for name, _ in sides}
    with tempfile.TemporaryDirectory(prefix='syncwatch-paired-') as folder:
        for pair in range(asked.pairs + 1):
            for name, prefix in sides if pair % 2 else reversed(sides):  # neither is always the second
                value = run_once(shlex.split(prefix) + asked.command, asked.value, folder, asked.cpus)
                if pair:
                    values[name].append(value)
    first = values[sides[0][0]]
    print(f"{'side':16} {'least':>10} {'median':>10} {'/ least':>8} {'/ median':>8}   of pairs (95 %)")
    for name, _ in sides:
        own = values[name]
        ratios = [a / b for a, b in zip(own, first)]
        low, high = interval(ratios)
        print(f'{name:16} {min(own):10.4g} {statistics.median(own):10.4g} {min(own) / min(first):8.3f} '
              f'{statistics.median(own) / statistics.median(first):8.3f}   {statistics.median(ratios):.3f} ({low:.3f} to {high:.3f})')


if __name__ == '__main__':
    main()
