# footprint: what kernels touch, from their code. Includes base and image.
# From PTX to a program; the fuzz target builds these again.
SW_PTX_CODE_SOURCES = \
	src/footprint/ptx_names.h src/footprint/ptx_names.c \
	src/footprint/ptx_declare.h src/footprint/ptx_declare.c src/footprint/ptx_types.def \
	src/footprint/ptx_module.h src/footprint/ptx_module.c \
	src/footprint/ptx_reader.h src/footprint/ptx_read.c src/footprint/ptx_scope.c \
	src/footprint/ptx_operand.c src/footprint/ptx_opcode.c src/footprint/ptx_emit.c \
	src/footprint/ptx_integer.c src/footprint/ptx_bits.c src/footprint/ptx_select.c \
	src/footprint/ptx_move.c src/footprint/ptx_memory.c src/footprint/ptx_bulk.c \
	src/footprint/ptx_control.c src/footprint/ptx_insns.def src/footprint/ptx_special.def \
	src/footprint/print.c
noinst_LIBRARIES += libswfootprint.a
libswfootprint_a_SOURCES = \
	src/footprint/pairs.h src/footprint/pairs.c \
	src/footprint/pairs_halves.c \
	src/footprint/pairs_compare.c \
	src/footprint/graph.h src/footprint/graph.c \
	src/footprint/simplify.h src/footprint/simplify.c src/footprint/fold.c src/footprint/known.c \
	src/footprint/body.h src/footprint/body.c \
	src/footprint/extern.h src/footprint/extern.c src/footprint/extern.def \
	src/footprint/flow.h src/footprint/flow.c src/footprint/dominators.c src/footprint/loops.c \
	src/footprint/ssa.h src/footprint/ssa.c src/footprint/frames.c src/footprint/place.c \
	src/footprint/lift.h src/footprint/lift.c \
	src/footprint/origins.h src/footprint/origins.c \
	src/footprint/roots.h src/footprint/roots.c src/footprint/memory.c \
	src/footprint/steps.h src/footprint/steps.c \
	src/footprint/guards.h src/footprint/guards.c \
	src/footprint/terms.h src/footprint/terms.c src/footprint/locals.c src/footprint/elements.c \
	src/footprint/ways.c \
	src/footprint/emit.h src/footprint/emit.c \
	src/footprint/assume.h src/footprint/assume.c \
	src/footprint/packed.c \
	src/footprint/make.c \
	src/footprint/layout.c \
	src/footprint/sass.h src/footprint/sass_lower.h src/footprint/sass_ops.def \
	src/footprint/sass_build.c \
	src/footprint/sass_constant.c \
	src/footprint/sass_cubin.c \
	src/footprint/sass_fields.c \
	src/footprint/sass_flow.c \
	src/footprint/sass_integer.c \
	src/footprint/sass_least.c \
	src/footprint/sass_logic.c \
	src/footprint/sass_memory.c \
	src/footprint/sass_object.c \
	src/footprint/sass_other.c \
	src/footprint/sass_read.c \
	src/footprint/library.c \
	src/footprint/choose.c src/footprint/choose.h \
	src/footprint/units.c src/footprint/units.h \
	src/footprint/contents.c \
	src/footprint/pack.c \
	src/footprint/store.c src/footprint/store.h src/footprint/folder.c \
	src/footprint/check.c src/footprint/check.h \
	$(SW_PTX_CODE_SOURCES) \
	src/footprint/eval.h src/footprint/evaluate.c src/footprint/case.c src/footprint/descent.c \
	src/footprint/form.h src/footprint/form.c \
	src/footprint/simplex.h src/footprint/simplex.c \
	src/footprint/bound.c \
	src/footprint/quotient.c \
	src/footprint/value.c \
	src/footprint/operate.h src/footprint/operate.c \
	src/footprint/product.c \
	src/footprint/bits.c \
	src/footprint/element.c \
	src/footprint/pieces.c \
	src/footprint/guard.c \
	src/footprint/loop.c \
	src/footprint/area.h src/footprint/area.c \
	src/footprint/box.c \
	src/footprint/join.c \
	src/footprint/directions.c \
	src/footprint/text.c \
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
src/footprint/libswfootprint_a-store.$(OBJEXT): src/footprint/version.h
