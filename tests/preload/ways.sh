#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The three ways in, on a driver that does nothing: small programs under libsyncwatch.so, and what their traces say.
set -uo pipefail
case ${missing:-} in *libunwind*) echo "skipped: built without$missing"; exit 77 ;; esac
export LC_ALL=C
here=$(cd "${top_srcdir:-.}/tests/preload/ways" && pwd) || exit 2
top=$(cd "${top_srcdir:-.}" && pwd)
build=$(cd "${top_builddir:-.}" && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
cc="${CC:-cc} -D_GNU_SOURCE -I$top/src -isystem $CUDA_HOME/include -w -O1 -g"
passed=0 failed=0 skipped=0

ok() { # ok STATUS WHAT
	if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else
		failed=$((failed + 1))
		echo "FAIL: $2"
		[ ! -s list ] || sed 's/^/    /' list
	fi
}
watch() { # watch NAME [COMMAND...]: runs under the preload object, the trace's records end in `list`
	local name=$1
	shift
	rm -f "$name".swt list
	LD_LIBRARY_PATH=$work LD_PRELOAD="$build/libsyncwatch.so${also:+ $also}" \
		SYNCWATCH_OPTIONS="trace=$work/$name.swt:report=0:quiet=1${option:+:$option}" "$@" >out 2>err
	status=$?
	[ ! -e "$name.swt" ] || "$build/tests/preload/trace_list" "$name.swt" >list || status=99
}
has() { # has PATTERN [COUNT]
	local n
	n=$(grep -cE -- "$1" list)
	[ "$n" -eq "${2:-1}" ]
	ok $? "$name: $n lines like '$1', not ${2:-1}"
}

$cc -shared -fPIC -fexceptions -pthread -Wl,-Bsymbolic -o libcuda.so.1 -Wl,-soname,libcuda.so.1 "$here/fake_cuda.c" "$here/fake_driver.c" || exit 2
mkdir old && $cc -DOLD_DRIVER -shared -fPIC -fexceptions -pthread -Wl,-Bsymbolic -o old/libcuda.so.1 -Wl,-soname,libcuda.so.1 \
	"$here/fake_cuda.c" "$here/fake_driver.c" || exit 2
for program in asked probe no_driver lookups; do
	$cc -o $program "$here/$program.c" || exit 2
done
$cc -o linked "$here/linked.c" ./libcuda.so.1 || exit 2
$cc -shared -fPIC -o libearly.so "$here/early_library.c" || exit 2
$cc -o early "$here/early.c" ./libearly.so -Wl,-rpath,"$work" || exit 2
$cc -shared -fPIC -o libnext.so "$here/next_library.c" || exit 2
$cc -o next "$here/next.c" -Wl,--no-as-needed ./libnext.so ./libcuda.so.1 -Wl,-rpath,"$work" || exit 2

# one runtime, linked in three ways: the name of its object tells a shared one and a profiler, its habit a static one
$cc -o static "$here/runtime.c" "$here/runtime_library.c" || exit 2
for library in libcudart.so.13 libcupti.so.13; do
	$cc -shared -fPIC -o $library -Wl,-soname,$library "$here/runtime_library.c" || exit 2
	$cc -o with_$library "$here/runtime.c" ./$library -Wl,-rpath,"$work" || exit 2
done

name=asked
watch asked ./asked
ok $status "asked: exit status $status: $(cat err)"
has '^driver 13000$'
has '^CONTEXT handle=77000 device=0 flags=1$'
has '^ALLOC cuMemAlloc_v2 flags=- ctx=1 status=0 memory=1 bytes=1000 '
has '^ALLOC cuMemAlloc_v2 flags=- ctx=1 status=1 memory=0 bytes=0 '
has '^COPY cuMemcpyHtoD_v2 flags=BS ctx=1 status=0 dst_side=2 src_side=1 bytes=10 '
has '^COPY cuMemcpyHtoD_v2_ptds flags=BTS ctx=1 status=0 dst_side=2 src_side=1 bytes=20 '
has '^COPY cuMemcpyHtoD_v2(_ptds)? flags=ET?S ctx=1 status=0$' 2
# anonymous code is copied, the kernel's layout asked for once, equal parameter blocks written once
has '^IMAGE id=1 kind=3 bytes=2c data=1 file=0$'
has '^IMAGE_DATA$'
has '^CODE_LOAD cuLibraryLoadData flags=- ctx=1 status=0 image=1$'
has '^FUNCTION id=1 image=1 flags=1 params=3 name=_Z4fakePfi$'
has '^LAUNCH cuLaunchKernel flags=- .* function=1 params=2 flags=1 shared_bytes=7 .* grid=1,2,3 block=4,5,6 inline=.{16}050000000000000078$'
has '^LAUNCH cuLaunchKernel_ptsz flags=T .* function=1 params=2 flags=0 .* block=1,1,1$'
has '^LAUNCH cuLaunchKernel flags=- .* function=1 params=4 flags=1 .* inline=.{16}060000000000000078$'
has '^LAUNCH cuLaunchKernel flags=- .* function=1 params=6 flags=5 .* inline=000000000000000000000000$'
has '^SYNC cuStreamSynchronize_ptsz flags=BT ctx=1 status=0 what=2 handle=0 '
has '^SYNC cuStreamSynchronize_ptsz flags=ET ctx=1 status=0$'
# the address that the driver hands out need not be the one that it exports
has '^EVENT_RECORD cuEventRecord flags=- ctx=1 status=0 event=9000 stream=0 flags=0$'
# an unknown function: its first call, its arguments
has '^UNCLASSIFIED cuFutureOrderEverything flags=- ctx=1 status=0 1 2 3 4 5 6$'
has '^HOST_FUNC cuLaunchHostFunc flags=- ctx=1 status=0 stream=0 enqueued=0 flags=0$'
has '^HOST_FUNC_RUN cuLaunchHostFunc flags=B ctx=1 status=0 stream=0 enqueued=1 flags=0$'
has '^HOST_FUNC_RUN cuLaunchHostFunc flags=E '
has '^HOST_FUNC cuLaunchHostFunc flags=- ctx=1 status=0 stream=0 enqueued=0 flags=2$'
has '^CODE_UNLOAD cuLibraryUnload flags=- ctx=1 status=0 image=1$'
has '^CUDART link=3 version=1[23]000 requests=[0-9]+$' 3
has 'flags=[^ ]*R' 0

name=linked
watch linked ./linked
ok $status "linked: exit status $status: $(cat err)"
has '^CONTEXT handle=88000 device=0 flags=0$' 2
has '^CONTEXT_OP cuCtxCreate_v2 flags=- ctx=1 status=0 op=1 handle=88000 '
has '^STREAM_CREATE cuStreamCreate flags=- ctx=1 '
has '^SET cuMemsetD32Async flags=- ctx=1 .* width=190 height=1 pitch=0 value=3 element_bytes=4$'
has '^SET cuMemsetD2D8_v2 flags=BS ctx=1 .* width=64 height=4 pitch=200 value=1 element_bytes=1$'
has '^SET cuMemsetD2D8_v2 flags=ES '
has '^EVENT_RECORD cuEventRecord '
has '^STREAM_WAIT cuStreamWaitEvent .* stream=0 '
has '^QUERY cuEventQuery flags=- ctx=1 status=0 what=1 '
has '^QUERY cuEventQuery flags=- ctx=1 status=600 what=1 handle=0 '
has '^COPY_ND cuMemcpy2DAsync_v2 flags=- .* width=40 height=4 depth=1 flags=0 dst: base=200000 pitch=40 slice_rows=4 x=8 y=1 z=0 side=3 ctx=0 src: base=100210 pitch=100 slice_rows=4 x=0 y=0 z=0 side=1 ctx=0$'
has '^COPY_ND cuMemcpy3D_v2 flags=BS .* width=20 height=5 depth=6 flags=0 dst: base=400000 pitch=20 slice_rows=5 .* side=0 ctx=0 src: base=300a84 pitch=80 slice_rows=a x=0 y=0 z=0 side=2 ctx=0$'
has '^COPY cuMemcpyBatchAsync_v2 flags=- ctx=1 status=0 dst_side=0 src_side=0 bytes=a .* flags=26$'
has '^COPY cuMemcpyBatchAsync_v2 flags=- ctx=1 status=0 dst_side=0 src_side=0 bytes=14 .* flags=2$'
has '^MEM_OP cuStreamBatchMemOp_v2 .* op=4 .* address=5000 bytes=4 value=7 flags=0$'
has '^MEM_OP cuStreamBatchMemOp_v2 .* op=5 .* address=6000 bytes=8 value=9 flags=0$'
has '^EVENT_RECORD cuLaunchKernelEx .* flags=4$'
has '^LAUNCH cuLaunchKernelEx .* flags=12 .* grid=2,1,1 block=32,1,1$'
has '^CONFIG cuCtxSetLimit .* what=0 value=1000$'
has '^SYNC cuCtxSynchronize flags=B ctx=1 status=0 what=3 handle=88000 '
has '^SYNC cuCtxSynchronize flags=B ctx=2 status=0 what=3 handle=88000 '
has '^STREAM_DESTROY cuStreamDestroy_v2 flags=- ctx=1 '
has '^CONTEXT_OP cuCtxDestroy_v2 flags=- ctx=1 status=0 op=2 handle=88000 '
has '^CONTEXT_OP cuCtxCreate_v2 flags=- ctx=2 status=0 op=1 handle=88000 '
has 'flags=[^ ]*p' 0

# entry points of CUDA 13.1 to 13.5, and calls whose record holds words of their parameters
$cc -o newer "$here/newer.c" ./libcuda.so.1 || exit 2
name=newer
watch newer ./newer
ok $status "newer: exit status $status: $(cat err)"
has '^COPY cuMemcpyWithAttributesAsync flags=- ctx=1 status=0 dst_side=0 src_side=0 bytes=1000 stream=9000 .* flags=10$'
has '^COPY_ND cuMemcpy3DWithAttributesAsync .* width=20 height=4 depth=2 flags=8 dst: base=600000 .* src: base=500000 pitch=20 slice_rows=4 '
has '^HOST_FUNC cuLaunchHostFunc_v2 flags=- ctx=1 status=0 stream=9000 enqueued=0 flags=0$'
has '^GRAPH cuGraphAddNode_v3 flags=- ctx=1 status=0 op=4 '
has '^OTHER cuMulticastBindMem_v2 flags=- ctx=1 status=0 1 3 4 5 6 2$'
has '^UNCLASSIFIED cuLogicalEndpointBindMem flags=- ctx=1 status=0 1 2 3 4 5 6$'
has '^OTHER cuLogicalEndpointUnbind flags=- ctx=1 status=0 1 2 3 4 0 0$'
has '^CAPTURE cuStreamBeginRecaptureToGraph flags=- ctx=1 status=0 op=3 stream=9000 mode=2$'
has '^OBJECT cuTensorMapSetAllocationClass '
has '^UNCLASSIFIED cuFabricCpyBatchAsync flags=- ctx=1 status=0 9000 b000 3 0 0 0$'
has '^UNCLASSIFIED cuStreamBatchMemOp_v2 flags=- ctx=1 status=0 '
has '^OTHER cuMemGetDefaultMemPool flags=- ctx=1 status=0 c000 0 0 2 1 0$'
has '^OTHER cuMulticastUnbind flags=- ctx=1 status=0 123456789abcdef0 fffffffffffffff9 fedcba9876543210 1 0 0$'
has '^OTHER cuStreamUpdateCaptureDependencies_ptsz flags=T ctx=1 status=0 9000 [0-9a-f]+ 2 f0000001 0 0$'
has '^UNCLASSIFIED cuEGLStreamProducerPresentFrame '

# what other libraries do before our constructor is recorded, after our destructor it passes through
name=early
watch early ./early
ok $status "early: exit status $status: $(cat err)"
has '^ALLOC cuMemAlloc_v2 .* bytes=6f '
has '^ALLOC cuMemAlloc_v2 .* bytes=de '
has '^END$'

name=next
watch next ./next
ok $status "next: exit status $status: $(cat err)"
has '^ALLOC cuMemAlloc_v2 .* bytes=1bc '
also=$work/libnext.so watch before ./next
ok $status "another interposer after us in LD_PRELOAD: exit status $status: $(cat err)"
has '^ALLOC cuMemAlloc_v2 .* bytes=1bc '

# found or not: dlerror and errno are what the program's own look-up made them, also with a driver that lacks names
for driver in "$work" "$work/old"; do
	name=lookups
	watch lookups env LD_LIBRARY_PATH="$driver" ./lookups
	ok $status "lookups, $driver: exit status $status: $(cat err)"
	has '^ALLOC cuMemAlloc_v2 .* bytes=777 '
	has '^QUERY cuEventQuery flags=- ctx=1 status=600 '
	has '^LAUNCH cuLaunchKernel .* function=0 params=0 '
	has '^FUNCTION ' 0
done

# another object that wraps malloc and dlsym: ours comes first and records, and does not keep it from its malloc
$cc -shared -fPIC -o libwraps.so "$here/wraps_dlsym.c" || exit 2
name=wrapped
also=$work/libwraps.so watch wrapped ./asked
[ "$status" -eq 0 ] && grep -q '^asked: [01] 1$' err
ok $? "with another object that wraps dlsym: exit status $status: $(cat err)"
has '^ALLOC cuMemAlloc_v2 flags=- ctx=1 status=0 memory=1 bytes=1000 '
# the other way round it keeps the program's look-ups from us: nothing is recorded, nothing breaks (what is said: below)
LD_LIBRARY_PATH=$work LD_PRELOAD="$work/libwraps.so $build/libsyncwatch.so" SYNCWATCH_OPTIONS=report=0 ./asked 2>err
status=$?
[ "$status" -eq 0 ] && grep -qx 'asked: 1 1' err && grep -q SW901 err
ok $? "after another object that wraps dlsym: exit status $status: $(cat err)"

# who asks decides: a driver that looks its own functions up, one in two stages, libraries that wrap the driver
mkdir asks && $cc -DASKS_ITSELF -shared -fPIC -fexceptions -pthread -Wl,-Bsymbolic -o asks/libcuda.so.1 -Wl,-soname,libcuda.so.1 \
	"$here/fake_cuda.c" "$here/fake_driver.c" || exit 2
mkdir two && $cc -DSTAGE -DLOOKS_UP -shared -fPIC -o two/libcuda.so.1 -Wl,-soname,libcuda.so.1 "$here/wraps_driver.c" || exit 2
cp libcuda.so.1 libcuda.so.1.1
for variant in looks:-DLOOKS_UP past:-DPAST hook:-DWRAPS_DLSYM; do
	$cc "${variant#*:}" -shared -fPIC -o "quota_${variant%:*}.so" "$here/wraps_driver.c" || exit 2
done
$cc -o doors "$here/doors.c" && $cc -DLINKED -o doors_linked "$here/doors.c" ./libcuda.so.1 || exit 2
name=asks
watch asks env LD_LIBRARY_PATH="$work/asks" ./doors asked pointer
ok $status "a driver that asks for its own functions: exit status $status: $(cat err)"
has '^ALLOC cuMemAlloc_v2 .* bytes=309 ' 200
name=stages
SECOND_STAGE=$work/libcuda.so.1.1 watch stages env LD_LIBRARY_PATH="$work/two" ./doors asked pointer
[ "$status" -eq 0 ] && [ "$(cat out)" -lt 200 ]
ok $? "a driver in two stages: exit status $status, $(cat out) pages: $(cat err)"
has '^ALLOC cuMemAlloc_v2 .* bytes=309 ' 200
for quota in looks past hook; do
	for ways in "doors asked" "doors pointer" "doors_linked linked" "doors_linked pointer"; do
		set -- "${ways% *}" "${ways#* }"
		LD_LIBRARY_PATH=$work LD_PRELOAD=$work/quota_$quota.so ./"$1" "$2" >out 2>bare
		name="quota_$quota behind, $ways"
		also=$work/quota_$quota.so watch quota ./"$1" "$2"
		[ "$status" -eq 0 ] && cmp -s bare err
		ok $? "$name: exit status $status, $(cat bare) without us, $(cat err) with us"
		has '^ALLOC cuMemAlloc_v2 .* bytes=309 ' 100
	done
done
name="quota before us"
rm -f quota.swt
LD_LIBRARY_PATH=$work LD_PRELOAD="$work/quota_looks.so $build/libsyncwatch.so" SYNCWATCH_OPTIONS="trace=$work/quota.swt:report=0:quiet=1" \
	./doors_linked linked >out 2>err
ok $? "$name: exit status $?"
"$build/tests/preload/trace_list" quota.swt >list
has '^ALLOC cuMemAlloc_v2 .* bytes=309 ' 100
grep -qx 'counted: 100' err
ok $? "$name: $(cat err)"

# a wrapper before us: each way that the program looks CUDA up is recorded, or one line says that it is not
for wrapper in quota_looks quota_past quota_hook libwraps; do
	for ways in "doors asked" "doors pointer" "doors_linked linked" "doors_linked pointer"; do
		set -- "${ways% *}" "${ways#* }"
		name="$wrapper before us, $ways"
		LD_LIBRARY_PATH=$work LD_PRELOAD=$work/$wrapper.so ./"$1" "$2" >out 2>bare
		rm -f front.swt list
		LD_LIBRARY_PATH=$work LD_PRELOAD="$work/$wrapper.so $build/libsyncwatch.so" \
			SYNCWATCH_OPTIONS="trace=$work/front.swt:report=0:quiet=1" ./"$1" "$2" >out 2>err
		ok $? "$name: exit status: $(cat err)"
		grep -v '^syncwatch: SW901' err | cmp -s bare -
		ok $? "$name: $(cat bare) without us, $(cat err) with us"
		said=$(grep -c "SW901: not all CUDA calls .*/$wrapper.so (preloaded before libsyncwatch.so; preload it after)" err)
		seen=0
		[ ! -e front.swt ] || seen=$("$build/tests/preload/trace_list" front.swt | grep -c '^ALLOC cuMemAlloc_v2 .* bytes=309 ')
		case $wrapper,$ways in
		# the driver's own entry points are asked for past us, or the program's look-ups never come to us
		quota_past,*linked\ linked | quota_hook,* | libwraps,*asked | libwraps,*pointer) want="1 0" ;;
		*) want="0 100" ;;
		esac
		[ "$said $seen" = "$want" ]
		ok $? "$name: said, recorded: $said $seen, not $want: $(cat err)"
	done
done
# and it is a gap in the proof
for wrapper in libwraps:6 quota_looks:0; do
	LD_LIBRARY_PATH=$work "$build/syncwatch" run --no-config --error-exitcode 9 -o "$work/gap.swt" sh -c \
		"LD_PRELOAD=\"$work/${wrapper%:*}.so \$LD_PRELOAD\" exec ./doors asked" >out 2>err
	status=$?
	rm -f gap*.swt
	[ "$status" -eq "${wrapper#*:}" ]
	ok $? "a run with ${wrapper%:*} before us ends with $status: $(cat err)"
done
# an audit library is asked for each binding, and stands in no chain
$cc -shared -fPIC -o audit.so "$here/audit.c" || exit 2
for ways in "doors asked" "doors pointer" "doors_linked linked"; do
	set -- "${ways% *}" "${ways#* }"
	name="LD_AUDIT, $ways"
	watch audit env LD_AUDIT="$work/audit.so" ./"$1" "$2"
	[ "$status" -eq 0 ] && grep -q '^audit: 1$' err
	ok $? "$name: exit status $status: $(cat err)"
	has '^ALLOC cuMemAlloc_v2 .* bytes=309 ' 100
done

# functions that no table knows and that objects are linked with
for relro in "" -Wl,-z,now,-z,relro; do
	$cc $relro -o unknown "$here/unknown.c" ./libcuda.so.1 || exit 2
	$cc $relro -DLIBRARY -shared -fPIC -o libunknown.so "$here/unknown.c" ./libcuda.so.1 || exit 2
	for way in "" "$work/libunknown.so"; do
		name="unknown $relro $way"
		watch unknown ./unknown ${way:+"$way"}
		ok $status "$name: exit status $status: $(cat err)"
		has '^UNCLASSIFIED cuFutureOrderEverything flags=- ctx=[01] status=0 1 2 3 4 5 6$'
	done
done

# a handler that jumps out of the first calls leaves nothing locked, from wherever in them it comes
$cc -shared -fPIC -o libjumps.so "$here/jumps_library.c" || exit 2
$cc -pthread -o jumps "$here/jumps.c" ./libcuda.so.1 || exit 2
for name in linked asked pointer; do
	also=$work/libjumps.so watch jumps ./jumps $name
	[ "$status" -eq 0 ] && [ "$(cat out)" -gt 3 ]
	ok $? "jumps, $name: exit status $status, '$(cat out)' calls of libc: $(cat err)"
done

# code that lies in no file: kept, only described, or beyond the limit
name=images
option=images=0 watch images ./asked
has '^IMAGE id=1 kind=3 bytes=2c data=0 file=0$'
has '^IMAGE_DATA$' 0
option=max-images=43 watch images ./asked
has '^IMAGE id=1 kind=3 bytes=2c data=0 file=0$'
has '^IMAGE_DATA$' 0
has '^NOTICE$'
option=max-images=44 watch images ./asked
has '^IMAGE id=1 kind=3 bytes=2c data=1 file=0$'
has '^IMAGE_DATA$'
has '^NOTICE$' 0

# gcc's AddressSanitizer must be the first object: then both work
name=asan
if $cc -fsanitize=address -o asan "$here/asked.c" 2>/dev/null; then
	asan=$(ldd asan | awk '$1 ~ /^libasan/ { print $3 }') # none: linked statically, as clang does
	ASAN_OPTIONS=detect_leaks=0 watch asan env LD_PRELOAD="$asan $build/libsyncwatch.so" ./asan
	ok $status "asan: exit status $status: $(cat err)"
	has '^ALLOC cuMemAlloc_v2 flags=- ctx=1 status=0 memory=1 bytes=1000 '
else
	skipped=$((skipped + 1))
	echo "SKIP: no AddressSanitizer"
fi

# a program that only looks for CUDA finds what it finds without us, and leaves no trace
name=probe
bare=$(./probe)
watch probe ./probe
[ "$status" -eq 0 ] && [ "$(cat out)" = "$bare" ] && [ ! -e probe.swt ] && [ ! -s err ]
ok $? "probe: '$(cat out)' instead of '$bare', '$(cat err)'"
name=no_driver
watch no_driver ./no_driver
[ "$status" -eq 0 ] && [ "$(cat out)" = "34 34" ] && [ ! -e no_driver.swt ]
ok $? "no driver: '$(cat out)', not the stub library's error"

name=static
watch static ./static
ok $status "static: exit status $status: $(cat err)"
has '^CUDART link=2 version=12000 requests=121$'
has '^ALLOC cuMemAlloc_v2 flags=R .* bytes=29a '
name=shared
watch shared ./with_libcudart.so.13
ok $status "shared: exit status $status: $(cat err)"
has '^CUDART link=1 version=12000 requests=121$'
has '^ALLOC cuMemAlloc_v2 flags=R .* bytes=29a '
# what a profiler does on its own behalf is not the program's
watch profiler ./with_libcupti.so.13
[ "$status" -eq 0 ] && [ ! -e profiler.swt ]
ok $? "a profiler's own calls were recorded: $(cat err)"

if command -v g++ >/dev/null; then
	g++ -isystem "$CUDA_HOME/include" -o throws "$here/throws.cpp" ./libcuda.so.1 || exit 2
	name=throws
	watch throws ./throws
	ok $status "throws: exit status $status: $(cat err)"
	has '^HOST_FUNC cuStreamAddCallback ' 3
	has '^ALLOC cuMemAlloc_v2 .* bytes=22b '
else
	skipped=$((skipped + 1))
	echo "SKIP: no C++ compiler"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
