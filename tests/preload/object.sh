#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The preload object as a file: it runs wherever glibc 2.34 is, needs nothing else, and is small.
# (That it exports the table's names and no others is compared in tests/api/coverage.sh.)
set -uo pipefail
export LC_ALL=C
object=${top_builddir:-.}/libsyncwatch.so
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
	failed=$((failed + 1))
	echo "FAIL: $1"
}

newest=$(objdump -T "$object" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
[ -n "$newest" ] || { echo "FAIL: no versions in $object"; exit 1; }

# The companions that are preloaded with it keep the same rules.
nvtx=${top_builddir:-.}/libsyncwatch-nvtx.so
[ -f "$nvtx" ] || nvtx=
for each in "$object" "${top_builddir:-.}/libsyncwatch-host.so" "${top_builddir:-.}/libsyncwatch-guard.so" "${top_builddir:-.}/libsyncwatch-run.so" "${top_builddir:-.}/libsyncwatch-pools.so" "${top_builddir:-.}/libsyncwatch-nccl.so" "${top_builddir:-.}/libsyncwatch-gate.so" "${top_builddir:-.}/libsyncwatch-libraries.so" ${nvtx:+"$nvtx"}; do
	new=$(objdump -T "$each" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
	[ "$(printf '%s\n' "$new" GLIBC_2.34 | sort -V | tail -n 1)" = GLIBC_2.34 ] || fail "$each: $new is needed"
	others=$(objdump -p "$each" | awk '$1 == "NEEDED" && $2 !~ /^lib(c|dl|pthread)\.so\.[0-9]+$/ { print $2 }')
	[ -z "$others" ] || fail "$each needs $others"
	objdump -p "$each" | grep -q 'NEEDED *libc\.so\.6' || fail "libc is not among what $each needs: was it read?"
done

# What the object for host threads wraps, and nothing else.
wrapped=$(nm -D --defined-only "${top_builddir:-.}/libsyncwatch-host.so" | awk '$2 == "T" { print $3 }' | sort)
table=$(sed -n 's/^STRICT([a-z]*, \([a-z0-9_]*\),.*/\1/p' "$top_srcdir/src/preload/strict/functions.def" | sort)
[ -n "$table" ] && [ "$wrapped" = "$table" ] || fail "libsyncwatch-host.so exports: $(diff <(echo "$table") <(echo "$wrapped") | tr '\n' ' ')"

# What starts another image, and nothing else.
started=$(nm -D --defined-only "${top_builddir:-.}/libsyncwatch-run.so" | awk '$2 == "T" { print $3 }' | sort | tr '\n' ' ')
[ "$started" = "execl execle execlp execv execve execveat execvp execvpe fexecve popen posix_spawn posix_spawnp system " ] ||
	fail "libsyncwatch-run.so exports: $started"

# The guard replaces functions of libc, and exports no other name.
libc=$(ldd "$object" | awk '$1 == "libc.so.6" { print $3 }')
foreign=$(comm -23 <(nm -D --defined-only "${top_builddir:-.}/libsyncwatch-guard.so" | awk '$2 == "T" { print $3 }' | sort) \
	<(nm -D --defined-only "$libc" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u))
[ -s "$libc" ] && [ -z "$foreign" ] || fail "libsyncwatch-guard.so exports: $foreign"

# What PyTorch and RMM call, and nothing else.
[ "$(nm -D --defined-only "${top_builddir:-.}/libsyncwatch-pools.so" | awk '$2 == "T" { print $3 }' | sort | tr '\n' ' ')" = \
	"_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE _ZN3rmm13device_buffer14allocate_asyncEm _ZN3rmm13device_buffer16deallocate_asyncEv " ] ||
	fail "libsyncwatch-pools.so exports more or less"

# NCCL's functions, and nothing else.
wrapped=$(nm -D --defined-only "${top_builddir:-.}/libsyncwatch-nccl.so" | awk '$2 == "T" { print $3 }' | sort)
table=$(sed -n -E 's/^(MOVES|TAKES)\(([A-Za-z]*),.*/\2/p' "$top_srcdir/src/preload/nccl/functions.def" | sort)
[ -n "$table" ] && [ "$wrapped" = "$table" ] || fail "libsyncwatch-nccl.so exports: $(diff <(echo "$table") <(echo "$wrapped") | tr '\n' ' ')"

# Functions of CUDA's libraries, and nothing else; nothing of the table is relocated.
wrapped=$(nm -D --defined-only "${top_builddir:-.}/libsyncwatch-libraries.so" | awk '$2 == "T" { print $3 }' | sort)
table=$(sed -n -E 's/^[A-Z]+\([A-Za-z]+, ([A-Za-z0-9_]+), ".*/\1/p' "$top_srcdir/src/preload/libraries/functions.def" | sort)
[ -n "$table" ] && [ "$wrapped" = "$table" ] || fail "libsyncwatch-libraries.so exports: $(diff <(echo "$table") <(echo "$wrapped") | tr '\n' ' ')"
relocated=$(readelf -rW "${top_builddir:-.}/libsyncwatch-libraries.so" | grep -cE "R_(X86_64|AARCH64)_RELATIVE")
[ "$relocated" -lt 16 ] || fail "libsyncwatch-libraries.so: $relocated relocations"

# What NVTX looks for, and nothing else.
[ -z "$nvtx" ] || [ "$(nm -D --defined-only "$nvtx" | awk '$2 == "T" { print $3 }' | sort | tr '\n' ' ')" = \
	"InitializeInjectionNvtx2 InitializeInjectionNvtxExtension " ] || fail "$nvtx: exports"

strip -o "$work/object" "$object" || exit 2
bytes=$(stat -c %s "$work/object")
most=300000
! objdump -f "$object" | grep -q aarch64 || most=365536 # its segments lie 64 KiB apart
[ "$bytes" -lt $most ] || fail "$bytes bytes"

echo "$newest, $bytes bytes; $failed failed"
[ "$failed" -eq 0 ]
