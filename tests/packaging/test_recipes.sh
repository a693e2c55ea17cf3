#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What packages are made from, as far as each tool is here: all name one version, each can be read, find_package() finds an
# installation. Building them takes minutes: packaging/debian/build and packaging/rpm/build, which tools/release calls.
set -uo pipefail
source_dir=${top_srcdir:-.}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
. "$source_dir/tests/packaging/counting.sh"
version=$(sed -n 's/^AC_INIT(\[syncwatch\], \[\([^]]*\)\].*/\1/p' "$source_dir/configure.ac")
ok "one version: CHANGES" grep -q "^syncwatch $version" "$source_dir/CHANGES"
ok "one version: RPM" grep -q "^Version: *$version\$" "$source_dir/packaging/rpm/syncwatch.spec"
ok "one version: Debian" grep -q "^syncwatch ($version-" "$source_dir/packaging/debian/changelog"
ok "one version: conda" grep -q "version: \"$version\"" "$source_dir/packaging/conda/recipe.yaml"
ok "one version: Spack" grep -q "version(\"$version\")" "$source_dir/packaging/spack/package.py"
ok "one version: container" grep -q "image: syncwatch:$version" "$source_dir/packaging/container/kubernetes.yaml"
spack() { # the recipe's options are those of configure, its libraries those of pkg-config
	local option
	"${PYTHON3:-python3}" "$source_dir/packaging/spack/try.py" "$version" >"$work/spack" || return
	for option in $(sed -n 's/^options: //p' "$work/spack"); do
		"$source_dir/configure" --help | grep -qE -- "(${option%%=*}|--with-${option#--without-})\\b" || { echo "configure has no $option"; return 1; }
	done
	grep -q '^needs:.* cuda .*elfutils.* sqlite' "$work/spack"
}
ok "the Spack recipe" spack
interface() {
	"$source_dir/packaging/abi/check"
	local status=$?
	[ $status -ne 77 ] || skip "the interface of syncwatch.h: abidiff is not installed"
	[ $status -eq 0 ] || [ $status -eq 77 ]
}
ok "the interface of syncwatch.h is that of the last release" interface
if command -v rpmspec >/dev/null 2>&1; then
	ok "the RPM spec can be read" rpmspec -q --define "cuda /nowhere" "$source_dir/packaging/rpm/syncwatch.spec"
else
	skip "the RPM spec: rpmspec is not installed"
fi
if command -v cmake >/dev/null 2>&1; then
	mkdir -p "$work/prefix/share/cmake/syncwatch" "$work/prefix/include/syncwatch" "$work/prefix/lib/syncwatch" "$work/prefix/bin" "$work/app"
	sed "s/@VERSION@/$version/" "$source_dir/packaging/cmake/syncwatch-config.cmake" >"$work/prefix/share/cmake/syncwatch/syncwatch-config.cmake"
	cp "$source_dir"/include/syncwatch/*.h "$work/prefix/include/syncwatch/"
	touch "$work/prefix/lib/syncwatch/libsyncwatch.so"
	printf '#!/bin/sh\n' >"$work/prefix/bin/syncwatch" && chmod +x "$work/prefix/bin/syncwatch"
	cat >"$work/app/CMakeLists.txt" <<'TXT'
cmake_minimum_required(VERSION 3.13)
project(app C)
find_package(syncwatch REQUIRED)
if(NOT SYNCWATCH_PRELOAD MATCHES "/prefix/lib/syncwatch/libsyncwatch.so$" OR NOT SYNCWATCH_COMMAND MATCHES "/prefix/bin/syncwatch$")
  message(FATAL_ERROR "found ${SYNCWATCH_PRELOAD} and ${SYNCWATCH_COMMAND}")
endif()
add_executable(app app.c)
target_link_libraries(app PRIVATE syncwatch::syncwatch)
TXT
	printf '#include <syncwatch/syncwatch.h>\nint main(void) { return 0; }\n' >"$work/app/app.c"
	ok "find_package() finds an installation" sh -c "cmake -S '$work/app' -B '$work/made' -DCMAKE_PREFIX_PATH='$work/prefix' && cmake --build '$work/made'"
else
	skip "find_package(): cmake is not installed"
fi
finish
