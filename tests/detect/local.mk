# tests of detect
if HAVE_CHECK
detect_tests = tests/detect/test_units tests/detect/test_advice tests/detect/test_hazards tests/detect/test_memory tests/detect/test_waits \
	tests/detect/test_shadow tests/detect/test_random tests/detect/test_chain tests/detect/test_footprints tests/detect/test_code \
	tests/detect/test_graphs tests/detect/test_lifetimes tests/detect/test_churn tests/detect/test_guard tests/detect/test_behaviour \
	tests/detect/test_graph_nodes tests/detect/test_bad_input tests/detect/test_devices tests/detect/test_wait_rules
detect_tests += tests/detect/test_threads tests/detect/test_variables tests/detect/test_mappings tests/detect/test_batches tests/detect/test_stream_values tests/detect/test_arrays
detect_tests += tests/detect/test_nvtx tests/detect/test_library_calls tests/detect/test_pool_blocks tests/detect/test_tables
detect_tests += tests/detect/test_gate tests/detect/test_gains tests/detect/test_fixes tests/detect/test_collect
detect_tests += tests/detect/test_deferred tests/detect/test_tensor_maps tests/detect/test_programmatic
detect_tests += tests/detect/test_relations tests/detect/test_ranges tests/detect/test_events tests/detect/test_wide_waits tests/detect/test_observer tests/detect/test_coverage tests/detect/test_windows
check_PROGRAMS += $(detect_tests) tests/detect/judge_both
TESTS += $(detect_tests)
detect_common = tests/detect/judge.c tests/detect/judge.h
detect_ldadd = tests/reader/libtracebuilder.a libswdetect.a libswschedule.a libswhb.a libswreader.a $(SW_FOOTPRINT_LIBS) $(CHECK_LIBS)
tests_detect_test_tensor_maps_LDADD = $(detect_ldadd)
tests_detect_test_behaviour_LDADD = libswdetect.a libswbase.a $(CHECK_LIBS)
tests_detect_test_windows_SOURCES = tests/detect/test_windows.c $(detect_common)
tests_detect_test_windows_LDADD = $(detect_ldadd)
tests_detect_test_gate_SOURCES = tests/detect/test_gate.c $(detect_common)
tests_detect_test_gate_LDADD = $(detect_ldadd)
tests_detect_test_wait_rules_SOURCES = tests/detect/test_wait_rules.c $(detect_common)
tests_detect_test_wait_rules_LDADD = $(detect_ldadd)
tests_detect_test_advice_SOURCES = tests/detect/test_advice.c $(detect_common)
tests_detect_test_advice_LDADD = $(detect_ldadd)
tests_detect_test_collect_SOURCES = tests/detect/test_collect.c $(detect_common)
tests_detect_test_collect_LDADD = $(detect_ldadd)
tests_detect_test_units_SOURCES = tests/detect/test_units.c $(detect_common)
tests_detect_test_units_LDADD = $(detect_ldadd)
tests_detect_test_relations_SOURCES = tests/detect/test_relations.c $(detect_common)
tests_detect_test_relations_LDADD = $(detect_ldadd)
tests_detect_test_ranges_SOURCES = tests/detect/test_ranges.c $(detect_common)
tests_detect_test_ranges_LDADD = $(detect_ldadd)
tests_detect_test_hazards_SOURCES = tests/detect/test_hazards.c $(detect_common)
tests_detect_test_hazards_LDADD = $(detect_ldadd)
tests_detect_test_devices_SOURCES = tests/detect/test_devices.c $(detect_common)
tests_detect_test_devices_LDADD = $(detect_ldadd)
tests_detect_test_memory_SOURCES = tests/detect/test_memory.c $(detect_common)
tests_detect_test_memory_LDADD = $(detect_ldadd)
tests_detect_test_lifetimes_SOURCES = tests/detect/test_lifetimes.c $(detect_common)
tests_detect_test_lifetimes_LDADD = $(detect_ldadd)
tests_detect_test_pool_blocks_SOURCES = tests/detect/test_pool_blocks.c tests/detect/kernels.c tests/detect/kernels.h $(detect_common)
tests_detect_test_pool_blocks_LDADD = $(detect_ldadd)
tests_detect_test_guard_SOURCES = tests/detect/test_guard.c tests/detect/kernels.c tests/detect/kernels.h $(detect_common)
tests_detect_test_guard_LDADD = $(detect_ldadd)
tests_detect_test_variables_SOURCES = tests/detect/test_variables.c tests/detect/kernels.c tests/detect/kernels.h $(detect_common)
tests_detect_test_variables_LDADD = $(detect_ldadd)
tests_detect_test_mappings_SOURCES = tests/detect/test_mappings.c $(detect_common)
tests_detect_test_mappings_LDADD = $(detect_ldadd)
tests_detect_test_tables_SOURCES = tests/detect/test_tables.c tests/detect/kernels.c tests/detect/kernels.h $(detect_common)
tests_detect_test_tables_LDADD = $(detect_ldadd)
tests_detect_test_stream_values_SOURCES = tests/detect/test_stream_values.c $(detect_common)
tests_detect_test_stream_values_LDADD = $(detect_ldadd)
tests_detect_test_batches_SOURCES = tests/detect/test_batches.c $(detect_common)
tests_detect_test_batches_LDADD = $(detect_ldadd)
tests_detect_test_arrays_SOURCES = tests/detect/test_arrays.c tests/detect/kernels.c tests/detect/kernels.h $(detect_common)
tests_detect_test_arrays_LDADD = $(detect_ldadd)
tests_detect_test_threads_SOURCES = tests/detect/test_threads.c $(detect_common)
tests_detect_test_threads_LDADD = $(detect_ldadd)
tests_detect_test_gains_SOURCES = tests/detect/test_gains.c tests/detect/kernels.c tests/detect/kernels.h $(detect_common)
tests_detect_test_gains_LDADD = $(detect_ldadd)
tests_detect_test_fixes_SOURCES = tests/detect/test_fixes.c $(detect_common)
tests_detect_test_fixes_LDADD = $(detect_ldadd)
tests_detect_test_library_calls_SOURCES = tests/detect/test_library_calls.c tests/detect/kernels.c tests/detect/kernels.h \
	$(detect_common)
tests_detect_test_library_calls_LDADD = $(detect_ldadd)
tests_detect_test_nvtx_SOURCES = tests/detect/test_nvtx.c $(detect_common)
tests_detect_test_nvtx_LDADD = $(detect_ldadd)
tests_detect_test_waits_SOURCES = tests/detect/test_waits.c $(detect_common)
tests_detect_test_waits_LDADD = $(detect_ldadd)
tests_detect_test_events_SOURCES = tests/detect/test_events.c $(detect_common)
tests_detect_test_events_LDADD = $(detect_ldadd)
tests_detect_test_wide_waits_SOURCES = tests/detect/test_wide_waits.c $(detect_common)
tests_detect_test_wide_waits_LDADD = $(detect_ldadd)
tests_detect_test_observer_SOURCES = tests/detect/test_observer.c $(detect_common)
tests_detect_test_observer_LDADD = $(detect_ldadd)
tests_detect_test_coverage_SOURCES = tests/detect/test_coverage.c $(detect_common)
tests_detect_test_coverage_LDADD = $(detect_ldadd)
tests_detect_test_shadow_SOURCES = tests/detect/test_shadow.c tests/detect/byte_map.c tests/detect/byte_map.h $(detect_common)
tests_detect_test_shadow_LDADD = $(detect_ldadd)
tests_detect_test_random_SOURCES = tests/detect/test_random.c $(detect_common)
tests_detect_test_random_LDADD = $(detect_ldadd)
tests_detect_test_chain_SOURCES = tests/detect/test_chain.c tests/detect/chain.h tests/detect/chain_run.c \
	tests/detect/chain_call.h tests/detect/chain_order.c \
	tests/detect/chain_memory.c tests/detect/chain_graph.c tests/detect/chain_program.c tests/hb/oracle.c tests/hb/oracle.h tests/hb/oracle_lanes.c tests/hb/oracle_lanes.h tests/hb/program.c \
	tests/hb/program.h tests/hb/program.def $(detect_common)
tests_detect_test_chain_LDADD = $(detect_ldadd)
tests_detect_test_footprints_SOURCES = tests/detect/test_footprints.c tests/detect/kernels.c tests/detect/kernels.h \
	$(detect_common)
tests_detect_test_footprints_LDADD = $(detect_ldadd)
tests_detect_test_programmatic_SOURCES = tests/detect/test_programmatic.c tests/detect/kernels.c tests/detect/kernels.h \
	$(detect_common)
tests_detect_test_programmatic_LDADD = $(detect_ldadd)
tests_detect_test_graphs_SOURCES = tests/detect/test_graphs.c $(detect_common)
tests_detect_test_graphs_LDADD = $(detect_ldadd)
tests_detect_test_graph_nodes_SOURCES = tests/detect/test_graph_nodes.c $(detect_common)
tests_detect_test_graph_nodes_LDADD = $(detect_ldadd)
tests_detect_test_bad_input_SOURCES = tests/detect/test_bad_input.c $(detect_common)
tests_detect_test_bad_input_LDADD = $(detect_ldadd)
tests_detect_test_churn_SOURCES = tests/detect/test_churn.c tests/detect/churn.c tests/detect/churn.h $(detect_common)
tests_detect_test_churn_LDADD = $(detect_ldadd)
tests_detect_test_code_SOURCES = tests/detect/test_code.c tests/detect/kernels.c tests/detect/kernels.h $(detect_common)
tests_detect_test_code_LDADD = $(detect_ldadd)
tests_detect_test_deferred_SOURCES = tests/detect/test_deferred.c tests/detect/both_modes.c tests/detect/both_modes.h \
	tests/detect/kernels.c tests/detect/kernels.h $(corpus_table) $(detect_common)
tests_detect_test_deferred_LDADD = $(detect_ldadd)
tests_detect_judge_both_SOURCES = tests/detect/judge_both.c tests/detect/both_modes.c tests/detect/both_modes.h
tests_detect_judge_both_LDADD = $(detect_ldadd)
endif
