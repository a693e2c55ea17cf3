#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# GPU time stamps on a driver and a CUPTI that do nothing: what is recorded when all goes well, and that the program runs
# as ever, and the trace says why, when it does not.
set -uo pipefail
export LC_ALL=C
here=$(cd "${top_srcdir:-.}/tests/preload" && pwd) || exit 2
top=$(cd "${top_srcdir:-.}" && pwd)
build=$(cd "${top_builddir:-.}" && pwd)
[ -e "$build/libsyncwatch-gpu.so" ] || { echo "skipped: built without CUPTI"; exit 77; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
cupti=$(dirname "$(find -L "$CUDA_HOME/include" "$CUDA_HOME/extras/CUPTI/include" -name cupti.h 2>/dev/null | head -n 1)")
cc="${CC:-cc} -std=gnu17 -D_GNU_SOURCE -I$top/src -isystem $CUDA_HOME/include -isystem $cupti -w -O1 -g"
passed=0 failed=0

ok() { # ok STATUS WHAT
	if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else
		failed=$((failed + 1))
		echo "FAIL: $2"
		[ ! -s list ] || sed 's/^/    /' list | cut -c1-200 | head -n 100
	fi
}
run() { # run NAME HOW [THREADS]: the program with the fakes misbehaving as HOW says; the dump is in `list`
	name=$1
	rm -f "$name.swt" list
	FAKE_CUPTI=$2 LD_LIBRARY_PATH=$work LD_PRELOAD=$build/libsyncwatch.so CUPTI_PATH=${path:-} \
		SYNCWATCH_OPTIONS="trace=$work/$name.swt:report=0:quiet=1:gpu-timeline${mode:-}" timeout 1200 ./program "${3:-1}" >out 2>err
	status=$?
	"$build/syncwatch" dump --kinds=NOTICE,GPU_CLOCK,ACTIVITY,LAUNCH,COPY,SET,GRAPH_LAUNCH "$name.swt" >list
	ok $(($? + status)) "$name: exit status $status: $(cat err)"
	"$build/syncwatch" stat "$name.swt" | grep '^gpu times' >>list
}
joined() { # joined RECORDS JOINED REST: what stat says of the time stamps
	has "^gpu times    $1 of work, $2 joined to a call, $3" 1
}
has() { # has PATTERN COUNT
	local n
	n=$(grep -cE -- "$1" list)
	[ "$n" -eq "$2" ]
	ok $? "$name: $n lines like '$1', not $2"
}

$cc -shared -fPIC -fexceptions -pthread -Wl,-Bsymbolic -o libcuda.so.1 -Wl,-soname,libcuda.so.1 "$here/ways/fake_cuda.c" \
	"$here/ways/fake_driver.c" "$here/gpu/fake_work.c" || exit 2
$cc -shared -fPIC -pthread -o libcupti.so.13 -Wl,-soname,libcupti.so.13 "$here/gpu/fake_cupti.c" || exit 2
$cc -pthread -o program "$here/gpu/program.c" ./libcuda.so.1 -Wl,-rpath,"$work" || exit 2

# four rounds of copy, two launches, set, graph; each with the driver call that it belongs to
run plain ""
has '^TRACE .* flags=[A-Z|]*GPU' 1
has '^ACTIVITY .* what=CALL ' 20
has '^ACTIVITY .* what=KERNEL ' 8
has '^ACTIVITY .* what=COPY .* on=7 bytes=4096 ' 4
has '^ACTIVITY .* what=SET ' 4
has '^ACTIVITY .* what=GRAPH ' 4
has '^GPU_CLOCK .* gpu_lost=0 clock_flags=0x3$' 1
has '^NOTICE' 0
joined 20 20 "0 not, 0 without times, 0 lost; clock error at least 0 ns, 0 jumps"

mode="=nodes"
run nodes ""
joined 24 24 "0 not, 0 without times, 0 lost"
has '^ACTIVITY .* what=KERNEL ' 16
has '^ACTIVITY .* what=GRAPH ' 0
mode=

run threads "" 8
joined 160 160 "0 not, 0 without times, 0 lost"
has '^ACTIVITY .* what=CALL ' 160
has '^ACTIVITY .* what=KERNEL ' 64
[ "$(grep '^ACTIVITY .* what=CALL' list | grep -oE ' on=[0-9]+' | sort -u | wc -l)" -eq 8 ]
ok $? "threads: a call has the thread that made it"

run dropping dropping
has '^GPU_CLOCK .* gpu_lost=6 clock_flags=0x3$' 1
joined 14 14 "0 not, 0 without times, 6 lost"
has '^ACTIVITY .* what=CALL ' 20

# An older CUPTI: its own clock, read together with ours.
run old old
has '^ACTIVITY .* what=KERNEL ' 8
has '^GPU_CLOCK .* clock_flags=0x[13]$' 0
[ "$(grep -c '^GPU_CLOCK .* width=[1-9]' list)" -ge 2 ]
ok $? "old: the clocks were read together"
joined 20 20 "0 not, 0 without times, 0 lost; clock error (at least )?[1-9]"

# What can't be known is not known: times after a jump, and times of another user's clock.
run moving moving
joined 20 10 "10 not, 0 without times, 0 lost"
run taken taken
joined 20 2 "1[67] not, [12] without times, 0 lost; .*, 1 jump" # the one on either side of the jump
has '^NOTICE .* text="GPU time stamps: another user of CUPTI took over' 1

run busy busy
has '^ACTIVITY' 0
has '^LAUNCH' 8
has '^NOTICE .* text="GPU time stamps: CUPTI \(.*libcupti.so.13\) refuses kernels: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"' 1

# Several users, from 13.3 on: as long as nobody shares it we do not either, because profilers that came before would be
# refused; where somebody does, or where it is asked for, we are one of them.
run many many
joined 20 20 "0 not, 0 without times, 0 lost"
has '^NOTICE' 0
grep -q 'shared by' err
ok $((! $?)) "many: shared without need"
for how in held asked; do
	mode=
	[ $how = held ] || mode="=shared"
	run $how "many $how" 8
	mode=
	joined 192 192 "0 not, 0 without times, 0 lost; clock error at least 0 ns, 0 jumps"
	has '^ACTIVITY .* what=GRAPH ' 0
	has '^ACTIVITY .* what=CALL ' 160
	has '^GPU_CLOCK .* gpu_lost=0 clock_flags=0x3$' 1
	has '^NOTICE' 0
	[ "$(grep '^ACTIVITY .* what=CALL' list | grep -oE ' on=[0-9]+' | sort -u | wc -l)" -eq 8 ]
	ok $? "$how: a call has the thread that made it"
	grep -qx 'shared by syncwatch' err
	ok $? "$how: not shared: $(cat err)"
done
run alone "many alone"
has '^ACTIVITY' 0
has '^LAUNCH' 8
has '^NOTICE .* refuses to share it with CUPTI for another: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"' 1
mode="=shared" run not_shared ""
joined 20 20 "0 not, 0 without times, 0 lost"
has '^NOTICE .* CUPTI has one user at a time before 13.3: not shared"' 1

# Times that the devices write: asked for before the program's first call, once.
for how in "hardware" "hardware many held"; do
	run hardware "$how"
	[ "$(grep -c '^hardware times' err)" -eq "$(case $how in *held) echo 2 ;; *) echo 1 ;; esac)" ] && ! grep -q after err
	ok $? "$how: $(cat err)"
	has '^NOTICE' 0
done

path=/nonexistent run missing ""
has '^ACTIVITY' 0
has '^LAUNCH' 8
has '^NOTICE .* text="GPU time stamps: not recorded: neither libcupti.so.13 nor libcupti.so.12 was found' 1

CUDA_INJECTION64_PATH=/usr/lib/other.so run other ""
has '^ACTIVITY' 0
has '^NOTICE .* CUPTI has one user at a time and it is: the tool that CUDA_INJECTION64_PATH names' 1

# A flush that never returns: the program ends all the same, with what was fetched before.
run hanging hanging
has '^LAUNCH' 8
has '^GPU_CLOCK .* clock_flags=0x[23]$' 0

mkdir empty && echo 'int nothing;' | $cc -xc -shared -fPIC -o empty/libcupti.so.13 - || exit 2
path=$work/empty run too_old ""
has '^NOTICE .*libcupti.so.13 has no cupti[A-Za-z]*: it is too old' 1

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
