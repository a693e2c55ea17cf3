# SPDX-License-Identifier: Apache-2.0
"""Runs the programs in this folder bare and recorded, and measures what it takes to judge their traces on one core.

Runs and judgements go on at the same time, on cores of their own, unless --quiet.  A judgement is cold (no stored footprints), warm (those that the
cold one has stored), and once more without footprints.
"""
import argparse
import concurrent.futures
import glob
import io
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# Those that take longest to judge come first.
PROGRAMS = ("generate train_bert train_gpt2 resnet50 ddp compiled generate_llama train_jax cupy_mix attention convnet embedding prefetch"
            " lstm unet graphs serving").split()
# Those that compile, or read much of large libraries, when they run first: such a run is not measured.
PREPARED = {"compiled", "cupy_mix", "attention", "train_gpt2"}
COLUMNS = ("program verdict bare_s recorded_s bare_loop_s recorded_loop_s launches evaluated cold_s warm_s no_footprints_s limit_s"
           " cold_mb warm_mb no_footprints_mb trace_bytes traces errors warnings note").split()
SKIPPED = 77  # exit status of a program that cannot run on this machine
MEGABYTES = 250  # most resident memory of a judgement


class Run:
    """One process to its end: seconds, peak of resident memory in MB, exit status; "timeout" when it was ended."""

    def __init__(self, command, limit, environment=None, folder=None, output=subprocess.DEVNULL):
        begun = time.perf_counter()
        process = subprocess.Popen(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        self.late = False
        timer = threading.Timer(max(limit, 0.1), self.end, [process.pid])
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        self.seconds = time.perf_counter() - begun
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        self.status = "timeout" if self.late else process.returncode
        self.megabytes = usage.ru_maxrss / 1024
        try:
            os.killpg(process.pid, signal.SIGKILL)  # what it left behind
        except ProcessLookupError:
            pass

    def end(self, pid):
        self.late = True
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def shown(self):
        return f">{self.seconds:.0f}" if self.late else f"{self.seconds:.3f}" if self.status == 0 else f"exit {self.status}"


class Cores:
    """Workers, each with cores of its own: a child inherits those of the thread that starts it."""

    def __init__(self, groups):
        self.free = queue.Queue()
        for g in groups:
            self.free.put(g)
        self.pool = concurrent.futures.ThreadPoolExecutor(len(groups), initializer=self.settle)

    def settle(self):
        os.sched_setaffinity(0, self.free.get())

    def submit(self, *what):
        return self.pool.submit(*what)


def shares(lanes):
    """The cores: groups for runs, single ones for judgements."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 8:
        return [set(cores)], [{cores[-1]}]
    lanes = lanes or max(1, min(3, len(cores) // 5))
    each = max(3, len(cores) * 3 // 5 // lanes)
    return [set(cores[i * each:(i + 1) * each]) for i in range(lanes)], [{c} for c in cores[lanes * each:]] or [{cores[-1]}]


def passes(seconds, limit, megabytes, errors):
    return seconds <= limit and megabytes <= MEGABYTES and errors == 0


def last_line(path):
    lines = [line for line in open(path, errors="replace").read().splitlines() if line.strip()]
    return lines[-1][:160] if lines else "no output"


def loop_seconds(path):
    found = [line.split()[1] for line in open(path, errors="replace") if line.startswith("loop_s ")]
    return found[-1] if found else "-"


class Program:
    def __init__(self, name, options, work):
        self.name, self.options = name, options
        self.work = os.path.join(work, name)
        os.makedirs(self.work)
        self.row = dict.fromkeys(COLUMNS, "-")
        self.row.update(program=name, verdict="FAIL", note="")
        self.recorded = None

    def execute(self, kind, length):
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        for cache in ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "CUPY_CACHE_DIR"):
            environment[cache] = os.path.join(self.work, cache)
        if self.name != "ddp":
            environment["CUDA_VISIBLE_DEVICES"] = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
        if kind not in ("prepare", "bare"):
            os.makedirs(os.path.join(self.work, kind))
            environment["SYNCWATCH_OPTIONS"] = f"report=0:quiet:trace={self.work}/{kind}/{self.name}.swt"
            environment["LD_PRELOAD"] = ":".join(os.path.join(self.options.build, name) for name in ("libsyncwatch.so", "libsyncwatch-pools.so"))
        path = os.path.join(self.work, kind + ".out")
        with open(path, "wb") as output:
            limit = self.options.run_limit * (2 if kind == "prepare" else 1)
            command = [sys.executable, os.path.join(self.options.folder, self.name + ".py"), "--length", str(length)]
            run = Run(command, limit, environment, self.work, output)
        return run, path

    def traces(self, kind):
        return sorted(glob.glob(os.path.join(self.work, kind, "*.swt*")), key=os.path.getsize)

    def record(self):
        """Both runs; the trace to judge, or None."""
        if self.name in PREPARED:
            self.execute("prepare", self.options.length / 10)
        for kind in ("bare", "recorded"):
            run, path = self.execute(kind, self.options.length)
            if run.status == SKIPPED:
                self.row.update(verdict="skip", note="not on this machine")
                return None
            self.row[f"{kind}_s"], self.row[f"{kind}_loop_s"] = run.shown(), loop_seconds(path)
            if run.status != 0:
                self.row["note"] = f"{kind} run: {run.status}: {last_line(path)}"
                return None
        self.recorded = run.seconds
        traces = self.traces("recorded")
        if not traces:
            self.row["note"] = "no trace"
            return None
        self.row.update(traces=len(traces), trace_bytes=sum(map(os.path.getsize, traces)))
        return traces[-1]

    def judge(self, trace, kind, *more):
        """The shortest of several: what else the machine does makes a judgement longer, nothing makes it shorter."""
        report, cache = os.path.join(self.work, kind + ".json"), os.path.join(self.work, "cache")
        environment = {**os.environ, "XDG_CACHE_HOME": cache, "XDG_DATA_HOME": os.path.join(self.work, "data")}
        command = [os.path.join(self.options.build, "syncwatch"), "report", *more, "--json", report, trace]
        tries = []
        while len(tries) < self.options.repeat and not (tries and tries[-1].status):
            if kind == "cold":
                shutil.rmtree(cache, ignore_errors=True)
            with open(os.path.join(self.work, kind + ".log"), "wb") as output:
                left = self.options.deadline + self.options.judge_limit - time.monotonic()
                tries.append(Run(command, min(self.options.judge_limit, left), environment, self.work, output))
        run = tries[-1] if tries[-1].status else min(tries, key=lambda t: t.seconds)
        run.megabytes = max(t.megabytes for t in tries)
        self.row[f"{kind}_s"], self.row[f"{kind}_mb"] = run.shown(), f"{run.megabytes:.0f}"
        if run.status not in (0, "timeout"):
            self.row["note"] += f" {kind}: {last_line(os.path.join(self.work, kind + '.log'))}"
        return run, report

    def footprints(self, trace):
        cold, report = self.judge(trace, "cold")
        if cold.status == 0:
            self.judge(trace, "warm")
            limit = max(self.options.least, self.recorded / 10)
            right = passes(cold.seconds, limit, cold.megabytes, self.read(report))
            self.row.update(limit_s=f"{limit:.2f}", verdict="ok" if right else "FAIL")

    def no_footprints(self, trace):
        run, report = self.judge(trace, "no_footprints", "--no-footprints")
        if run.status == 0 and self.row["launches"] == "-":
            with open(report) as f:
                self.row["launches"] = json.load(f)["coverage"]["launches"]

    def read(self, report):
        with open(report) as f:
            data = json.load(f)
        coverage, summary = data["coverage"], data["summary"]
        self.row.update(launches=coverage["launches"], evaluated=coverage.get("launches_evaluated", "-"), errors=summary["errors"],
                        warnings=summary["warnings"])
        return summary["errors"]

    def pack(self, trace):
        """The trace as it is if it becomes small enough, else one of a shorter run."""
        for kind, length in ((None, None), ("short", self.options.length / 5), ("shorter", self.options.length / 25)):
            if kind:
                own = os.sched_getaffinity(0)
                os.sched_setaffinity(0, self.options.cores)
                run, path = self.execute(kind, length)
                os.sched_setaffinity(0, own)
                if run.status != 0 or not self.traces(kind):
                    return f"{self.name}: {kind} run: {run.status}: {last_line(path)}"
                trace = self.traces(kind)[-1]
            bytes_packed, compressed = self.packed(trace, os.path.join(self.options.out, f"packed-{self.name}.swt.xz"))
            if compressed:
                return f"{self.name}: {kind or 'whole'} run, {bytes_packed} bytes packed, {compressed} compressed"
        return f"{self.name}: not packed, or too large: {bytes_packed} bytes"

    def packed(self, trace, path):
        """Bytes that pack_trace wrote, and those compressed into path; 0 when compressing cannot make them few enough.

        In processes of their own: a child's peak of memory begins with that of the process that started it.
        """
        packed = os.path.join(self.work, "packed.swt")
        with open(os.path.join(self.work, "pack.log"), "ab") as output:
            command = [os.path.join(self.options.build, "tests/golden/pack_trace"), "--code", trace, packed]
            if Run(command, self.options.run_limit, output=output).status != 0:
                return 0, 0
        size = os.path.getsize(packed)
        if size > 25 * self.options.pack_bytes:
            return size, 0
        with open(path, "wb") as output:
            status = subprocess.run(["xz", "-4", "--stdout", packed], stdout=output, check=False).returncode
        compressed = os.path.getsize(path)
        if status == 0 and compressed <= self.options.pack_bytes:
            return size, compressed
        os.remove(path)
        return size, 0


class Table:
    """judging.tsv, written again after each program: a killed run leaves the rows so far."""

    def __init__(self, path, names):
        self.path, self.names, self.rows, self.lock = path, names, {}, threading.Lock()

    def add(self, row):
        with self.lock:
            self.rows[row["program"]] = row
            with open(self.path, "w") as f:
                f.write(self.text())
        shown = ("program", "verdict", "recorded_s", "launches", "cold_s", "warm_s", "cold_mb", "errors", "note")
        print(*(f"{c}={row[c]}" for c in shown), flush=True)

    def text(self):
        lines = ["\t".join(COLUMNS)]
        lines += ["\t".join(str(self.rows[n][c]).replace("\t", " ") for c in COLUMNS) for n in self.names if n in self.rows]
        return "\n".join(lines) + "\n"


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("out")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="some of: " + " ".join(PROGRAMS))
    parser.add_argument("--folder", default=HERE, help="where the programs are")
    parser.add_argument("--length", type=float, default=1.0, help="factor of the programs' iterations")
    parser.add_argument("--run-limit", type=float, default=60, metavar="S", help="a run is ended after so long")
    parser.add_argument("--judge-limit", type=float, default=120, metavar="S", help="a judgement is ended after so long")
    parser.add_argument("--least", type=float, default=1, metavar="S", help="a judgement may always take so long, else a tenth of the run")
    parser.add_argument("--budget", type=float, default=240, metavar="S", help="no program is started later")
    parser.add_argument("--lanes", type=int, default=0, help="programs at a time; 0: by the number of cores")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="judge so often, the shortest time counts")
    parser.add_argument("--quiet", action="store_true", help="judge when all runs have ended, one trace at a time")
    parser.add_argument("--pack", default="", metavar="NAMES", help="keep the traces of these, with commas between")
    parser.add_argument("--pack-bytes", type=int, default=8 << 20, help="most that a packed trace may have")
    options = parser.parse_intermixed_args()
    options.names = [n for n in PROGRAMS if n in options.programs or not options.programs]
    unknown = set(options.programs + [n for n in options.pack.split(",") if n]) - set(PROGRAMS)
    if unknown:
        parser.error("no such program: " + " ".join(sorted(unknown)))
    options.build, options.out, options.folder = map(os.path.abspath, (options.build, options.out, options.folder))
    options.cores = os.sched_getaffinity(0)
    return options


def measure(program, options, judges, table):
    """Returns what is still to be waited for."""
    if time.monotonic() > options.deadline:
        program.row.update(verdict="skip", note="no time left")
        table.add(program.row)
        return []
    trace = program.record()
    if not trace:
        table.add(program.row)
        return []
    parts = [judges.submit(program.footprints, trace), judges.submit(program.no_footprints, trace)]
    packed = judges.submit(program.pack, trace) if program.name in options.pack.split(",") else None

    def through(_):
        if all(p.done() for p in parts) and table.rows.get(program.name) is None:
            table.add(program.row)

    for p in parts:
        p.add_done_callback(through)
    return parts + [packed] if packed else parts


def keep_reports(programs, path):
    with tarfile.open(path, "w:xz") as tar:
        for p in programs:
            for kind in ("cold", "no_footprints"):
                report = os.path.join(p.work, kind + ".json")
                if os.path.exists(report):
                    tar.add(report, f"judging-reports/{p.name}.{kind}.json")
            for log in glob.glob(os.path.join(p.work, "*.out")) + glob.glob(os.path.join(p.work, "*.log")):
                with open(log, "rb") as f:
                    text = f.read()[-20000:]
                info = tarfile.TarInfo(f"judging-reports/{p.name}.{os.path.basename(log)}")
                info.size = len(text)
                tar.addfile(info, io.BytesIO(text))


def main():
    options = parsed()
    os.makedirs(options.out, exist_ok=True)
    options.deadline = time.monotonic() + options.budget
    names = options.names
    work = tempfile.mkdtemp(prefix="judging")
    recorded = threading.Event()
    try:
        running, judging = shares(options.lanes)
        runs, judges = Cores(running), Cores(judging[:1] if options.quiet else judging)
        table = Table(os.path.join(options.out, "judging.tsv"), names)
        programs = [Program(n, options, work) for n in names]
        if options.quiet:
            judges.submit(recorded.wait)
        started = [runs.submit(measure, p, options, judges, table) for p in programs]
        waited_for = [future for s in started for future in s.result()]
        recorded.set()
        for future in waited_for:
            text = future.result()
            if text:
                print("packed", text, flush=True)
        keep_reports(programs, os.path.join(options.out, "judging-reports.tar.xz"))
    finally:
        recorded.set()
        shutil.rmtree(work, ignore_errors=True)
    print(table.text(), end="")
    verdicts = [table.rows[n]["verdict"] if n in table.rows else "FAIL" for n in names]
    print(f"{verdicts.count('ok')} passed, {verdicts.count('FAIL')} failed, {verdicts.count('skip')} skipped")
    return 1 if "FAIL" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
