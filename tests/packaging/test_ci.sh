#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# doc/ci.md to the letter: the commands of its examples run in a repository of the form that it shows, with a wheel of this
# build, on the simulated CUDA. In place of what a service brings: an apt-get that installs nothing, a curl that fetches the
# other job's file, and folders of the test for /opt. Each example passes where the program is right or its findings were
# reviewed, and fails where they were not.
set -uo pipefail
export LC_ALL=C PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 PIP_ROOT_USER_ACTION=ignore
source_dir=$(cd "${top_srcdir:-.}" && pwd) build=$(cd "${top_builddir:-.}" && pwd)
python=${PYTHON3:-python3}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
unset LD_PRELOAD PYTHONPATH SYNCWATCH_OPTIONS
. "$source_dir/tests/packaging/counting.sh"
[ "$python" != no ] && "$python" -m venv "$work/probe" >/dev/null 2>&1 || { echo "skipped: python3 has no venv with pip"; exit 77; }
[ -x "$build/kernels/demo_pipeline" ] || { echo "skipped: the program was not built (nvcc)"; exit 77; }

# ---- the repository --------------------------------------------------------------------------------------------------------
app=$work/app
mkdir -p "$work/made/demo" "$work/fake" "$app/ci" "$app/tests"
for file in config.h syncwatch sim $("$source_dir/packaging/wheel/assemble" --objects); do
	[ ! -e "$build/$file" ] || ln -s "$build/$file" "$work/made/$file"
done
cp "$build/kernels/demo_pipeline" "$work/made/demo/"
"$source_dir/packaging/wheel/assemble" "$work/made" "$app/ci" "$(uname -m)" "manylinux_2_28_$(uname -m)" >/dev/null || exit 2
printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" >"$work/fake/python3"
printf '#!/bin/sh\necho "$@" >>"%s"\n' "$work/apt" >"$work/fake/apt-get"
printf '#!/bin/sh\n[ "$1 $2" = "-sfLo main.json" ] && cp "%s" main.json\n' "$work/main.json" >"$work/fake/curl"
chmod +x "$work"/fake/*
printf '#!/bin/sh\nexec ./app\n' >"$app/tests/run.sh" && chmod +x "$app/tests/run.sh"
# shellcheck disable=SC2016  # for make
printf 'app:\n\tprintf '"'"'#!/bin/sh\\nLD_LIBRARY_PATH=%s exec "%s" $(ARGS)\\n'"'"' >app && chmod +x app\n.PHONY: app\n' \
	"$build/sim" "$build/kernels/demo_pipeline" >"$app/Makefile"
for kind in github gitlab shell; do
	"$python" "$source_dir/tests/packaging/ci_commands.py" "$source_dir/doc/ci.md" $kind
done | sed "s:/opt/:$work/opt/:g" >"$work/commands"
mkdir -p "$work/opt"
github_step() {
	PATH=$(tr '\n' ':' <"$GITHUB_PATH")$PATH bash -e -c "$1"
}
# shellcheck disable=SC1091  # made above
. "$work/commands"
export PATH=$work/fake:$PATH GITHUB_PATH=$work/github_path
export CI_API_V4_URL=https://gitlab.invalid/api/v4 CI_PROJECT_ID=1 CI_DEFAULT_BRANCH=main
job() { # job STATUS ARGS NAME: the job on a fresh clone, with the program called with ARGS
	local wanted=$1 got
	rm -rf "$work/clone" "$work/opt" "$GITHUB_PATH" && mkdir "$work/opt" && : >"$GITHUB_PATH"
	cp -r "$app" "$work/clone"
	(cd "$work/clone" && ARGS=$2 "$3")
	got=$?
	echo "status $got, $wanted wanted"
	[ $got -eq "$wanted" ]
}
has() { # has FILE TEXT...: in the clone, each text in it
	local file=$work/clone/$1
	shift
	for text; do grep -qF "$text" "$file" || { echo "$file has no $text"; return 1; }; done
}

# ---- the examples ----------------------------------------------------------------------------------------------------------
ok "the commands of doc/ci.md were found" declare -F commands github_job gitlab_1_hazards gitlab_1_waits gitlab_2_baseline gitlab_2_hazards
ok "installing it" job 0 '' commands
touch "$app/ci/syncwatch.supp"
ok "GitHub: a race fails the job" job 9 '' github_job
ok "GitHub: annotations and results" has s.sarif '"version": "2.1.0"' SW101 demo_pipeline.cu
ok "GitHub: it asked for what the image lacks" grep -q 'install -y python3-venv' "$work/apt"
ok "GitHub: a program that is right" job 0 --fixed github_job
ok "GitLab: a race fails the job" job 9 '' gitlab_1_hazards
ok "GitLab: its files" has junit.xml '<failure' SW101
ok "GitLab: its files" has quality.json race-read-after-write fingerprint
ok "GitLab: a program that is right" job 0 --fixed gitlab_1_hazards
# On a runner with a GPU: the program finds the simulated one by itself, which has no times of its own.
ok "GitLab: waits" job 9 '' gitlab_1_waits
ok "GitLab: waits, its files" has report.json '"findings"'
reviewed() { # the findings of today, as "A repository" says
	cd "$app" && make -s app && "$build/syncwatch" run --write-suppressions ci/syncwatch.supp tests/run.sh && rm -f app ./*.swt && grep -q SW101 ci/syncwatch.supp
}
ok "the findings of today are written" reviewed
ok "GitHub: reviewed findings pass" job 0 '' github_job
ok "GitLab: reviewed findings pass" job 0 '' gitlab_1_hazards
: >"$app/ci/syncwatch.supp"
ok "only what is new: the report of the main branch" job 0 --fixed gitlab_2_baseline
cp "$work/clone/main.json" "$work/main.json"
ok "only what is new: a change without one" job 0 --fixed gitlab_2_hazards
ok "only what is new: a change with a race" job 9 '' gitlab_2_hazards
ok "only what is new: the difference" has diff.json SW101
finish
