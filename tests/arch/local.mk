# aarch64 under emulation: run by tools/check
EXTRA_DIST += tests/arch/run tests/arch/emulator.tsv
