# simcuda: a simulated libcuda.so.1, and a libcudart for each major version that reaches it as the real one does.
# Never built with sanitizers: they are loaded into programs that were not.
sim_PROGRAMS += sim/libcuda.so.1 sim/libcudart.so.12 sim/libcudart.so.13
sim_base_sources = src/base/error.c src/base/memory.c src/base/map.c
sim_image_sources = \
	src/image/image.h src/image/bytes.h src/image/formats.h src/image/fatbin.c src/image/fatbin.h \
	src/image/cubin.c src/image/ptx.h src/image/ptx.c src/image/kernels.c
sim_cppflags = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
# Deprecated entry points are entry points too.
sim_cflags = $(SW_CFLAGS) $(SW_PREFIX_MAP) -fPIC -pthread -Wno-deprecated-declarations
sim_ldflags = -shared -pthread -Wl,-Bsymbolic -Wl,-z,defs

sim_libcuda_so_1_SOURCES = $(sim_base_sources) $(sim_image_sources) \
	src/simcuda/sim.h src/simcuda/modules/module.h src/simcuda/proc.h src/simcuda/driver.def src/simcuda/errors.def \
	src/api/cuda.def src/api/signature.h src/api/newer_types.h \
	src/simcuda/state.c src/simcuda/engine.c src/simcuda/work.c \
	src/simcuda/context.c src/simcuda/device.c src/simcuda/error.c \
	src/simcuda/stream.c src/simcuda/stream_attributes.c src/simcuda/event.c src/simcuda/ipc.c src/simcuda/export_table.c src/simcuda/graphs/capture.c src/simcuda/graphs/graph.c src/simcuda/graphs/node.c src/simcuda/graphs/node_read.c src/simcuda/graphs/topology.c src/simcuda/graphs/user_object.c \
	src/simcuda/memory/memory.c src/simcuda/memory/pointer.c src/simcuda/memory/pool.c src/simcuda/memory/vmm.c src/simcuda/memory/values.c \
	src/simcuda/memory/copy.h src/simcuda/memory/copy.c src/simcuda/memory/batch.c src/simcuda/memory/array.h src/simcuda/memory/array.c \
	src/simcuda/memory/texture.c src/simcuda/memory/tensor_map.c \
	src/simcuda/modules/module.c src/simcuda/modules/function.c src/simcuda/modules/launch.c \
	src/simcuda/proc.c src/simcuda/twins.c src/simcuda/unsupported.c
sim_libcuda_so_1_CPPFLAGS = $(sim_cppflags)
sim_libcuda_so_1_CFLAGS = $(sim_cflags) $(ZSTD_CFLAGS) $(LZ4_CFLAGS)
sim_libcuda_so_1_LDADD = $(ZSTD_LIBS) $(LZ4_LIBS)
sim_libcuda_so_1_LDFLAGS = $(sim_ldflags) -Wl,-soname,libcuda.so.1 -Wl,--version-script=$(srcdir)/src/simcuda/libcuda.map

sim_runtime_sources = $(sim_base_sources) \
	src/simcuda/runtime/rt.h src/simcuda/runtime/twin.h src/simcuda/runtime/properties.h src/simcuda/runtime/driver.def src/simcuda/runtime/twins.def \
	src/simcuda/runtime/unsupported.def \
	src/simcuda/runtime/rt.c \
	src/simcuda/runtime/array.c src/simcuda/runtime/copy.c src/simcuda/runtime/stream.c \
	src/simcuda/runtime/device.c src/simcuda/runtime/graph.c \
	src/simcuda/runtime/twins.c src/simcuda/runtime/unsupported.c

sim_libcudart_so_13_SOURCES = $(sim_runtime_sources) src/simcuda/runtime/since13.c
sim_libcudart_so_13_CPPFLAGS = $(sim_cppflags) -DSW_CUDART_VERSION=13000
sim_libcudart_so_13_CFLAGS = $(sim_cflags)
sim_libcudart_so_13_LDFLAGS = $(sim_ldflags) -Wl,-soname,libcudart.so.13 \
	-Wl,--version-script=$(srcdir)/src/simcuda/runtime/libcudart-13.map
sim_libcudart_so_13_LDADD = -ldl

sim_libcudart_so_12_SOURCES = $(sim_runtime_sources) src/simcuda/runtime/until12.c
sim_libcudart_so_12_CPPFLAGS = $(sim_cppflags) -DSW_CUDART_VERSION=12090
sim_libcudart_so_12_CFLAGS = $(sim_cflags)
sim_libcudart_so_12_LDFLAGS = $(sim_ldflags) -Wl,-soname,libcudart.so.12 \
	-Wl,--version-script=$(srcdir)/src/simcuda/runtime/libcudart-12.map
sim_libcudart_so_12_LDADD = -ldl

# Which version of each entry point the runtime asks for.
simcuda_versions = src/simcuda/runtime/driver_versions.awk src/api/cuda.def src/simcuda/runtime/driver.def
BUILT_SOURCES += src/simcuda/runtime/driver_versions.def
CLEANFILES += src/simcuda/runtime/driver_versions.def
src/simcuda/runtime/driver_versions.def: $(simcuda_versions)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(AWK) -f $(srcdir)/src/simcuda/runtime/driver_versions.awk \
		$(srcdir)/src/api/cuda.def $(srcdir)/src/simcuda/runtime/driver.def >$@.new && mv $@.new $@
# The table is made before everything else by `make`, but not by `make TARGET`.
$(sim_libcudart_so_13_OBJECTS) $(sim_libcudart_so_12_OBJECTS): src/simcuda/runtime/driver_versions.def

EXTRA_DIST += src/simcuda/runtime/driver_versions.awk
EXTRA_DIST += src/simcuda/libcuda.map src/simcuda/runtime/libcudart-12.map src/simcuda/runtime/libcudart-13.map
