#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Processes that close their descriptors, limit their files, lose their stderr, end their threads late: under the recorder
# each prints what it prints without it, ends as it does, and leaves what it should.  No wall-clock limits but the one
# that turns a hang into a failure.
set -uo pipefail
export LC_ALL=C
here=$(cd "${top_srcdir:-.}/tests/preload/awkward" && pwd) || exit 2
build=$(cd "${top_builddir:-.}" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
ulimit -c 0
passed=0 failed=0
cc="${CC:-cc} -D_GNU_SOURCE -isystem $CUDA_HOME/include -O1 -g -pthread"
$cc -shared -fPIC -fexceptions -o libcuda.so.1 -Wl,-soname,libcuda.so.1 "$here/driver.c" || exit 2
$cc -c -fno-asynchronous-unwind-tables -fno-exceptions -fno-omit-frame-pointer "$here/no_cfi.c" || exit 2
$cc -o awkward "$here/awkward.c" "$here/threads.c" no_cfi.o ./libcuda.so.1 || exit 2

result() { # result STATUS WHAT
	if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else
		failed=$((failed + 1))
		echo "FAIL: $2"
	fi
}
watched() { # watched MODE [N]: with the recorder, and what of its companions is in `also`; the trace is t.swt
	rm -f t*.swt
	LD_LIBRARY_PATH=$work LD_PRELOAD="$build/libsyncwatch.so${also:+ $also}" \
		SYNCWATCH_OPTIONS="trace=$work/t.swt:report=0${option:+:$option}" timeout -s KILL 1200 ./awkward "$@" 2>err | cat >out
	status=${PIPESTATUS[0]}
}
same() { # same MODE [N]: ends and prints as without the recorder
	local bare
	LD_LIBRARY_PATH=$work timeout -s KILL 1200 ./awkward "$@" 2>bare.err | cat >bare
	bare=${PIPESTATUS[0]}
	watched "$@"
	[ "$status" -eq "$bare" ] && cmp -s bare out
	result $? "$*: ends with $status, bare with $bare; $(diff bare out | tr '\n' ' ')"
}
whole() { # the trace can be read to its end
	"$build/syncwatch" dump t.swt >dump 2>dump.err
	result $? "$1: the trace: $(head -n 1 dump.err)"
}

for mode in closed_pipe closed_pipe_blocked closed_pipe_waiting full_pipe full_socket closed_socket full_device; do
	same $mode
	whole $mode
done
for mode in descriptors closed_descriptors closed_before reused_numbers no_descriptor_left replaced_descriptors errors_kept other_user other_root \
	last_thread last_thread_raw last_is_another last_thread_of_a_child; do
	same $mode
	whole $mode
	[ "$(grep -c "^LOSS" dump)" -eq 0 ]
	result $? "$mode: records were lost"
done
# The thread apart needs clone and close_range: without them the program is as safe, its descriptors are ours for a moment each.
for mode in no_file small_file stderr_is_a_file; do
	same $mode
	[ ! -e t.swt ]
	result $? "$mode: an empty trace is left"
done
same file_ends
whole file_ends

# The thread apart is there, also where another library stands before clone().
$cc -shared -fPIC -o own_clone.so "$here/own_clone.c" || exit 2
LD_LIBRARY_PATH=$work ./awkward threads_counted 2>&1 >/dev/null | grep -qx 'threads 1'
result $? "threads_counted: more than one thread without the recorder"
for also in "" "$work/own_clone.so"; do
	same threads_counted
	whole threads_counted
	grep -qx 'threads 2' err
	result $? "threads_counted${also:+ with ${also##*/}}: no thread apart: $(head -n 3 err | tr '\n' ' ')"
done
also=

# Every system call of the recorder that the program itself can do without, refused: the program does not notice.
numbers() { # numbers NAME...: of system calls
	for name in "$@"; do echo "#include <sys/syscall.h>"; echo "number SYS_$name"; done | ${CC:-cc} -E -P - | awk '$1 == "number" { print $2 }'
}
for number in $(numbers openat close fstat newfstatat fallocate mmap munmap mprotect madvise ftruncate truncate fcntl futex rt_sigprocmask rt_sigpending \
	rt_sigtimedwait pwritev2 pwrite64 ppoll ioctl sendto clone clone3 close_range unlinkat readlink tgkill gettid getpid prctl \
	clock_gettime geteuid sigaltstack prlimit64 getcwd); do
	same refused_before "$number"
	same refused_after "$number"
done

# What stays of each thread and of each handle: next to nothing.  The same program with many more of them needs as much memory,
# and its trace grows by what was recorded.
grows() { # grows MODE FEW MANY BYTES: most bytes of trace for each one more
	local few_kb few_trace kb trace
	watched "$1" "$2"
	few_kb=$(awk '$1 == "maxrss" { print $2 }' err) few_trace=$(stat -c %s t.swt)
	watched "$1" "$3"
	kb=$(awk '$1 == "maxrss" { print $2 }' err) trace=$(stat -c %s t.swt)
	[ "$status" -eq 0 ] && [ "$kb" -lt $((few_kb + 12288)) ]
	result $? "$1${also:+ with ${also##*/}}: $few_kb KB with $2 of them, $kb KB with $3"
	[ "$trace" -lt $((few_trace + 524288 + ($3 - $2) * $4)) ]
	result $? "$1${also:+ with ${also##*/}}: a trace of $few_trace bytes with $2 of them, $trace with $3"
}
for also in "" "$build/libsyncwatch-host.so"; do
	grows many_threads 100 4000 700
	grows late_destructors 100 4000 1000
	grows all_keys_taken 100 4000 700
done
also=
grows many_handles 1000 300000 200
grows many_functions 1000 200000 1000

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
