# footprint: what kernels touch, from their code. Includes base and image.
# From PTX to a program; the fuzz target builds these again.
SW_PTX_CODE_SOURCES = \
	src/footprint/instructions/ptx/ptx_types.def \
	src/footprint/instructions/ptx/ptx_module.h src/footprint/instructions/ptx/ptx_module.c \
	src/footprint/instructions/ptx/ptx_reader.h src/footprint/instructions/ptx/ptx_read.c src/footprint/instructions/ptx/ptx_scope.c \
	src/footprint/instructions/ptx/ptx_operand.c src/footprint/instructions/ptx/ptx_opcode.c src/footprint/instructions/ptx/ptx_emit.c \
	src/footprint/instructions/ptx/ptx_integer.c src/footprint/instructions/ptx/ptx_bits.c \
	src/footprint/instructions/ptx/ptx_move.c src/footprint/instructions/ptx/ptx_memory.c src/footprint/instructions/ptx/ptx_bulk.c \
	src/footprint/instructions/ptx/ptx_control.c src/footprint/instructions/ptx/ptx_insns.def src/footprint/instructions/ptx/ptx_special.def \
	src/footprint/print.c
noinst_LIBRARIES += libswfootprint.a
libswfootprint_a_SOURCES = \
	$(SW_PTX_CODE_SOURCES) \
	src/footprint/code.c src/footprint/code.h src/footprint/footprint.h src/footprint/launch_memo.h \
	src/footprint/launch_spans.h src/footprint/library.h src/footprint/ops.def src/footprint/rules.c \
	src/footprint/rules.def src/footprint/rules.h src/footprint/whys.def \
	src/footprint/instructions/sass/sass.h src/footprint/instructions/sass/sass_build.c \
	src/footprint/instructions/sass/sass_constant.c src/footprint/instructions/sass/sass_cubin.c \
	src/footprint/instructions/sass/sass_fields.c src/footprint/instructions/sass/sass_flow.c \
	src/footprint/instructions/sass/sass_integer.c \
	src/footprint/instructions/sass/sass_logic.c src/footprint/instructions/sass/sass_lower.h \
	src/footprint/instructions/sass/sass_memory.c src/footprint/instructions/sass/sass_object.c \
	src/footprint/instructions/sass/sass_ops.def src/footprint/instructions/sass/sass_other.c \
	src/footprint/instructions/sass/sass_read.c \
	src/footprint/kernel/values/divisions.c src/footprint/kernel/values/register_pairs.c \
	src/footprint/kernel/values/register_pairs.h src/footprint/kernel/values/register_pairs_compare.c \
	src/footprint/kernel/values/register_pairs_halves.c src/footprint/kernel/values/simplify.c \
	src/footprint/kernel/values/simplify.h src/footprint/kernel/values/value_graph.c \
	src/footprint/kernel/values/value_graph.h \
	src/footprint/kernel/flow/body.c src/footprint/kernel/flow/control_flow.c \
	src/footprint/kernel/flow/control_flow.h src/footprint/kernel/flow/extern_functions.def \
	src/footprint/kernel/flow/extern_functions.h src/footprint/kernel/flow/induction.c \
	src/footprint/kernel/flow/induction.h src/footprint/kernel/flow/needed.c \
	src/footprint/kernel/flow/path_conditions.c src/footprint/kernel/flow/path_conditions.h \
	src/footprint/kernel/flow/phi_placement.c src/footprint/kernel/flow/ssa.c src/footprint/kernel/flow/ssa.h \
	src/footprint/kernel/flow/stack_frames.c \
	src/footprint/kernel/sites/assume.c src/footprint/kernel/sites/build.c \
	src/footprint/kernel/sites/emit.h src/footprint/kernel/sites/grid_order.c \
	src/footprint/kernel/sites/loads.c \
	src/footprint/kernel/sites/roots.c src/footprint/kernel/sites/roots.h \
	src/footprint/kernel/sites/terms.c \
	src/footprint/kernel/sites/terms.h \
	src/footprint/kernel/store/containers.c src/footprint/kernel/store/containers.h \
	src/footprint/kernel/store/disk_store.c src/footprint/kernel/store/disk_store.h \
	src/footprint/kernel/store/library.c src/footprint/kernel/store/serialize.c \
	src/footprint/kernel/store/unit_contents.c \
	src/footprint/launch/linear/known_bounds.c src/footprint/launch/linear/known_bounds.h \
	src/footprint/launch/linear/linear_form.c src/footprint/launch/linear/linear_form.h \
	src/footprint/launch/linear/simplex.c src/footprint/launch/linear/simplex.h \
	src/footprint/launch/evaluation/area.c src/footprint/launch/evaluation/area.h \
	src/footprint/launch/evaluation/bit_operations.c src/footprint/launch/evaluation/boxes.c \
	src/footprint/launch/evaluation/case_split.c src/footprint/launch/evaluation/digits.c \
	src/footprint/launch/evaluation/digits.h src/footprint/launch/evaluation/eval.h \
	src/footprint/launch/evaluation/evaluate.c src/footprint/launch/evaluation/fact_inequalities.c \
	src/footprint/launch/evaluation/form_bounds.c src/footprint/launch/evaluation/grid_state.c \
	src/footprint/launch/evaluation/join_reaches.c src/footprint/launch/evaluation/launch_memo.c \
	src/footprint/launch/evaluation/loop_counters.c src/footprint/launch/evaluation/operate.c \
	src/footprint/launch/evaluation/operate.h src/footprint/launch/evaluation/parameter_table.c \
	src/footprint/launch/evaluation/quotient.c src/footprint/launch/evaluation/reads.c \
	src/footprint/launch/evaluation/reads.h src/footprint/launch/evaluation/site_pointers.c \
	src/footprint/launch/evaluation/system_hash.c src/footprint/launch/evaluation/term_forms.c \
	src/footprint/launch/evaluation/term_text.c \
	src/footprint/launch/spans/intervals.c src/footprint/launch/spans/remembered.c \
	src/footprint/launch/spans/spans.c src/footprint/launch/spans/spans.h src/footprint/launch/spans/tables.c
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
src/footprint/kernel/store/libswfootprint_a-disk_store.$(OBJEXT): src/footprint/version.h
