# aarch64 under emulation: run by tools/check
EXTRA_DIST += tests/arch/run tests/arch/emulator.tsv tests/arch/left_out.tsv
# Protocols of the recorder under herd7; without it only that each order in the sources has one
dist_check_SCRIPTS += tests/arch/litmus/check
TESTS += tests/arch/litmus/check
EXTRA_DIST += tests/arch/litmus/orders.tsv \
	tests/arch/litmus/board_page.litmus \
	tests/arch/litmus/chunk_header.litmus \
	tests/arch/litmus/chunk_prepared.litmus \
	tests/arch/litmus/chunk_retired.litmus \
	tests/arch/litmus/chunk_slot_again.litmus \
	tests/arch/litmus/closed.litmus \
	tests/arch/litmus/code_unmapped.litmus \
	tests/arch/litmus/committed.litmus \
	tests/arch/litmus/companion_begins.litmus \
	tests/arch/litmus/free_list.litmus \
	tests/arch/litmus/freed_ring.litmus \
	tests/arch/litmus/guard_changing.litmus \
	tests/arch/litmus/job.litmus \
	tests/arch/litmus/known_rules.litmus \
	tests/arch/litmus/lock.litmus \
	tests/arch/litmus/once.litmus \
	tests/arch/litmus/pending.litmus \
	tests/arch/litmus/published_list.litmus \
	tests/arch/litmus/published_value.litmus \
	tests/arch/litmus/sequence.litmus \
	tests/arch/litmus/table_copied.litmus \
	tests/arch/litmus/table_grown.litmus \
	tests/arch/litmus/table_key.litmus \
	tests/arch/litmus/table_moved.litmus \
	tests/arch/litmus/table_slot.litmus \
	tests/arch/litmus/unwinder_comes.litmus \
	tests/arch/litmus/waiters_woken.litmus \
	tests/arch/litmus/window_turn.litmus
# an emulated machine, run by hand
EXTRA_DIST += tests/arch/machine
