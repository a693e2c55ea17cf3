# footprint: what kernels touch, from their code. Includes base and image.
# From PTX to a program; the fuzz target builds these again.
SW_PTX_CODE_SOURCES = \
	src/footprint/ptx/ptx_names.h src/footprint/ptx/ptx_names.c \
	src/footprint/ptx/ptx_declare.h src/footprint/ptx/ptx_declare.c src/footprint/ptx/ptx_types.def \
	src/footprint/ptx/ptx_module.h src/footprint/ptx/ptx_module.c \
	src/footprint/ptx/ptx_reader.h src/footprint/ptx/ptx_read.c src/footprint/ptx/ptx_scope.c \
	src/footprint/ptx/ptx_operand.c src/footprint/ptx/ptx_opcode.c src/footprint/ptx/ptx_emit.c \
	src/footprint/ptx/ptx_integer.c src/footprint/ptx/ptx_bits.c src/footprint/ptx/ptx_select.c \
	src/footprint/ptx/ptx_move.c src/footprint/ptx/ptx_memory.c src/footprint/ptx/ptx_bulk.c \
	src/footprint/ptx/ptx_control.c src/footprint/ptx/ptx_insns.def src/footprint/ptx/ptx_special.def \
	src/footprint/print.c
noinst_LIBRARIES += libswfootprint.a
libswfootprint_a_SOURCES = \
	src/footprint/values/register_pairs.h src/footprint/values/register_pairs.c \
	src/footprint/values/register_pairs_halves.c src/footprint/values/register_pairs_shift.c \
	src/footprint/values/register_pairs_compare.c src/footprint/values/high_product.c \
	src/footprint/values/value_graph.h src/footprint/values/value_graph.c \
	src/footprint/values/simplify.h src/footprint/values/simplify.c src/footprint/values/constant_fold.c src/footprint/values/known_bits.c \
	src/footprint/flow/body.h src/footprint/flow/body.c \
	src/footprint/flow/extern_functions.h src/footprint/flow/extern_functions.c src/footprint/flow/extern_functions.def \
	src/footprint/flow/control_flow.h src/footprint/flow/control_flow.c src/footprint/flow/dominators.c src/footprint/flow/natural_loops.c \
	src/footprint/flow/ssa.h src/footprint/flow/ssa.c src/footprint/flow/stack_frames.c src/footprint/flow/needed.c src/footprint/flow/phi_placement.c \
	src/footprint/flow/lift.h src/footprint/flow/lift.c \
	src/footprint/build/origins.h src/footprint/build/origins.c \
	src/footprint/build/roots.h src/footprint/build/spin_loops.c src/footprint/build/roots.c src/footprint/build/memory_origins.c \
	src/footprint/flow/induction.h src/footprint/flow/induction.c \
	src/footprint/flow/path_conditions.h src/footprint/flow/path_conditions.c \
	src/footprint/build/terms.h src/footprint/build/terms.c src/footprint/build/local_loads.c src/footprint/build/table_loads.c src/footprint/build/whole_loads.c \
	src/footprint/build/path_selection.c \
	src/footprint/build/emit.h src/footprint/build/emit.c \
	src/footprint/build/assume.h src/footprint/build/assume.c \
	src/footprint/values/predicate_bits.c src/footprint/values/nested_choice.c src/footprint/values/reciprocal_division.c \
	src/footprint/values/wide_division.c \
	src/footprint/build/build.c src/footprint/build/grid_order.h src/footprint/build/grid_order.c \
	src/footprint/eval/parameter_layout.c src/footprint/eval/grid_state.c \
	src/footprint/sass/sass.h src/footprint/sass/sass_lower.h src/footprint/sass/sass_ops.def \
	src/footprint/sass/sass_build.c \
	src/footprint/sass/sass_constant.c \
	src/footprint/sass/sass_cubin.c \
	src/footprint/sass/sass_fields.c \
	src/footprint/sass/sass_flow.c \
	src/footprint/sass/sass_integer.c \
	src/footprint/sass/sass_least.c \
	src/footprint/sass/sass_logic.c \
	src/footprint/sass/sass_memory.c \
	src/footprint/sass/sass_object.c \
	src/footprint/sass/sass_other.c \
	src/footprint/sass/sass_read.c \
	src/footprint/store/library.c \
	src/footprint/store/code_choice.c src/footprint/store/code_choice.h \
	src/footprint/store/code_units.c src/footprint/store/code_units.h \
	src/footprint/store/containers.c src/footprint/store/containers.h \
	src/footprint/store/unit_contents.c \
	src/footprint/store/serialize.c src/footprint/store/sparse_copy.c src/footprint/store/sparse_copy.h \
	src/footprint/store/spare_memory.c src/footprint/store/spare_memory.h \
	src/footprint/store/disk_store.c src/footprint/store/disk_store.h src/footprint/store/store_folder.c \
	src/footprint/store/validate.c src/footprint/store/validate.h \
	$(SW_PTX_CODE_SOURCES) \
	src/footprint/eval/eval.h src/footprint/eval/evaluate.c src/footprint/eval/case_split.c src/footprint/eval/open_reaches.c \
	src/footprint/linear/linear_form.h src/footprint/linear/linear_form.c \
	src/footprint/linear/known_bounds.h src/footprint/linear/known_bounds.c \
	src/footprint/linear/simplex.h src/footprint/linear/simplex.c src/footprint/eval/corner.c src/footprint/eval/system_hash.c src/footprint/reads/base_words.h src/footprint/reads/base_words.c src/footprint/reads/reads.h src/footprint/reads/reads.c \
	src/footprint/reads/alike_sites.h src/footprint/reads/alike_sites.c \
	src/footprint/reads/data_conditions.h src/footprint/reads/data_conditions.c \
	src/footprint/reads/memory_answers.h src/footprint/reads/memory_answers.c \
	src/footprint/launch_memo.h src/footprint/eval/launch_memo.c src/footprint/eval/multipliers.h src/footprint/eval/multipliers.c \
	src/footprint/eval/form_bounds.c \
	src/footprint/launch_spans.h src/footprint/spans/spans.h src/footprint/spans/spans.c \
	src/footprint/spans/intervals.c src/footprint/spans/quotients.c src/footprint/spans/loop_turns.c src/footprint/spans/pointers.c \
	src/footprint/spans/tables.c src/footprint/spans/endless.c src/footprint/spans/remembered.c \
	src/footprint/eval/quotient.c \
	src/footprint/eval/term_forms.c \
	src/footprint/eval/operate.h src/footprint/eval/operate.c \
	src/footprint/eval/product.c \
	src/footprint/eval/bit_operations.c \
	src/footprint/eval/parameter_table.c \
	src/footprint/eval/launch_grid_split.c \
	src/footprint/eval/fact_inequalities.c \
	src/footprint/eval/loop_counters.c \
	src/footprint/boxes/area.h src/footprint/boxes/area.c \
	src/footprint/boxes/area_boxes.c src/footprint/boxes/box.c src/footprint/boxes/known_areas.h src/footprint/boxes/known_areas.c \
	src/footprint/eval/join_reaches.c \
	src/footprint/eval/digits.h src/footprint/eval/digits.c src/footprint/eval/digit_boxes.c \
	src/footprint/eval/site_roots.c \
	src/footprint/eval/term_text.c \
	src/footprint/code.h src/footprint/code.c src/footprint/ops.def src/footprint/whys.def \
	src/footprint/footprint.h src/footprint/library.h
libswfootprint_a_CFLAGS = $(AM_CFLAGS) -pthread
# Whoever links libswfootprint.a adds these.
SW_FOOTPRINT_LIBS = libswfootprint.a $(SW_IMAGE_LIBS) -lpthread

# Any change of the analysis is another version of what is kept on disk, without anybody having to think of it.
nodist_libswfootprint_a_SOURCES = src/footprint/version.h
BUILT_SOURCES += src/footprint/version.h
CLEANFILES += src/footprint/version.h
src/footprint/version.h: $(libswfootprint_a_SOURCES) $(libswimage_a_SOURCES) config.h
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cat $^ | cksum | { read sum rest; printf '#define SW_ANALYSIS_VERSION %uu\n' $$sum; } >$@
# The header is made before everything else by `make`, but not by `make TARGET`.
src/footprint/store/libswfootprint_a-disk_store.$(OBJEXT): src/footprint/version.h
