# packaging/: what is installed, used and removed again
dist_check_SCRIPTS += tests/packaging/test_wheel.sh tests/packaging/test_forbid.sh tests/packaging/test_recipes.sh tests/packaging/test_ci.sh tests/packaging/test_places.sh
TESTS += tests/packaging/test_wheel.sh tests/packaging/test_forbid.sh tests/packaging/test_recipes.sh tests/packaging/test_ci.sh tests/packaging/test_places.sh
EXTRA_DIST += tests/packaging/counting.sh tests/packaging/ci_commands.py
EXTRA_DIST += packaging/source-archive packaging/debian packaging/rpm/build packaging/rpm/syncwatch.spec packaging/rpm/rpmlint.toml packaging/conda/recipe.yaml packaging/conda/try packaging/abi/check packaging/abi/syncwatch.abi packaging/matrix packaging/spack/package.py packaging/spack/try.py \
	packaging/container/Containerfile packaging/container/kubernetes.yaml packaging/cmake/syncwatch-config.cmake tools/release
EXTRA_DIST += packaging/debian-root packaging/wheel/build packaging/wheel/assemble packaging/wheel/pack.py packaging/wheel/zig.pins packaging/wheel/auditwheel.pins \
	packaging/wheel/libunwind.pin packaging/wheel/newer_libc.c packaging/wheel/syncwatch/__init__.py packaging/wheel/syncwatch/__main__.py packaging/wheel/syncwatch/_gate.py packaging/wheel/syncwatch/_record.py packaging/wheel/syncwatch/pytest_plugin.py
EXTRA_DIST += tests/packaging/simulated.py tests/packaging/blocks.py tests/packaging/marked.py
