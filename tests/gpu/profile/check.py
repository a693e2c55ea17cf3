# SPDX-License-Identifier: Apache-2.0
"""Is what was put into a profile of torch.profiler there, at the right place, and nothing else?

usage: check.py broken|fixed PROFILE MERGED SAID     Prints PASS and FAIL lines.
"""
import collections
import gzip
import json
import re
import sys

kind, profile_path, merged_path, said_path = sys.argv[1:5]


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def verdict(good, what):
    print("PASS" if good else "FAIL", f"{kind}:", what)


def ns(event):
    return round(event["ts"] * 1000)


def base_name(name):
    name = re.sub(r"^void ", "", name)
    return re.split(r"[<(]", name.replace("(anonymous namespace)", "anonymous"))[0].strip()


profile, merged = read(profile_path), read(merged_path)
with open(said_path, encoding="utf-8") as file:
    said = file.read().strip()
print(said)
kept = len(profile["traceEvents"])
ours = merged["traceEvents"][kept:]
verdict(merged["traceEvents"][:kept] == profile["traceEvents"], "the profile's own events are as they were")
slices = collections.defaultdict(list)
for event in ours:
    if event["ph"] == "X":
        slices[event["cat"]].append(event)
work, hazards, waits = (slices["syncwatch_" + name] for name in ("work", "hazard", "wait"))

joined, calls = ([int(word) for word in said.split() if word.isdigit()] + [0, 1])[:2]
verdict(joined >= calls * 0.98, f"{joined} of {calls} calls joined")
error = re.search(r"clocks agree to ([0-9.]+) us", said)
verdict(bool(error) and float(error.group(1)) < 20, f"clocks agree to {error.group(1) if error else '?'} us (20 allowed)")

# The profile's pieces of work by when they ran: each of ours must lie on one with the same kernel.
gpu = {}
for event in profile["traceEvents"]:
    if event.get("ph") == "X" and event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
        gpu.setdefault((ns(event), event["args"].get("correlation")), event)
placed = [(event, gpu.get((ns(event), event["args"]["profile correlation"]))) for event in work]
verdict(work and all(theirs for _, theirs in placed), f"{len(work)} pieces of work, each where the profile has one")
kernels = [(event, theirs) for event, theirs in placed if theirs and theirs["cat"] == "kernel"]
wrong = [(event["name"], theirs["name"]) for event, theirs in kernels if base_name(event["name"]) != base_name(theirs["name"])]
for pair in wrong[:5]:
    print("  ours", pair[0][:100], "theirs", pair[1][:100])
verdict(kernels and not wrong, f"{len(kernels)} kernels, {len(wrong)} with another name in the profile")
verdict(len(work) >= 0.95 * len(gpu), f"{len(work)} of the profile's {len(gpu)} pieces of work")

if kind == "broken":
    verdict(len(hazards) >= 10, f"{len(hazards)} sides of hazards (five steps: 10 at least)")
    verdict(all((ns(event), event["args"]["profile correlation"]) in gpu for event in hazards if "host thread" not in
                event["name"]), "hazards lie on the work that they are about")
    verdict(all(event["args"].get("message") for event in hazards), "each hazard has its message")
else:
    races = [event for event in hazards if event["name"].startswith("SW10")]
    verdict(not races, f"{len(races)} hazards in the fixed twin")

# Each step reads its loss.  Does the host wait for it?  By the profile: the copy ended before the call began, or long
# after.  Between them, what the call itself needs decides.
copies = sorted(ns(event) + round(event["dur"] * 1000) for event in gpu.values() if event["name"].startswith("Memcpy DtoH"))
reads = [event for event in profile["traceEvents"] if event.get("name") == "cudaStreamSynchronize"]
drawn = {ns(event) for event in waits}
must = must_not = wrong_waits = 0
for event in reads:
    begun = ns(event)
    ends = [end for end in copies if end < begun + event["dur"] * 1000]
    waited = ends[-1] - begun if ends else 0
    must += waited > 20000
    must_not += waited <= 0
    if (waited > 20000 and begun not in drawn) or (waited <= 0 and begun in drawn):
        wrong_waits += 1
        print(f"  the copy ended {waited / 1000:.1f} us after cudaStreamSynchronize began: {'drawn' if begun in drawn else 'missing'}")
verdict(len(reads) >= 5 and not wrong_waits, f"{len(waits)} waits drawn; of {len(reads)} losses read, {must} made the host wait, "
        f"{must_not} did not, {wrong_waits} drawn otherwise")

# Calls of each side by function, to find out what did not match.
counts = collections.Counter(event["name"] for event in profile["traceEvents"]
                             if event.get("cat") in ("cuda_runtime", "cuda_driver"))
print("calls of the profile:", ", ".join(f"{name} {n}" for name, n in counts.most_common()))
