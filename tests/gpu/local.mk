# tests of gpu
EXTRA_DIST += tests/gpu/run tests/gpu/cupti_agent.c tests/gpu/completeness.py tests/gpu/gputime.py tests/gpu/overhead.py tests/gpu/savings/savings.py tests/gpu/savings/confirm.py tests/gpu/savings/train_slow.py tests/gpu/spin.cu tests/gpu/neighbours tests/gpu/neighbour.c tests/gpu/soak tests/gpu/soak_churn.c tests/gpu/soak_torch.py tests/gpu/two/calls.cu tests/gpu/two/facts.cu tests/gpu/managed/faults.cu tests/gpu/managed/copies.cu tests/gpu/confirm/run tests/gpu/confirm/explore tests/gpu/confirm/planted.cu

TESTS += tests/gpu/test_neighbours.sh
dist_check_SCRIPTS += tests/gpu/test_neighbours.sh

# Programs of PyTorch, Triton, CuPy and JAX.
gpu_python = tests/gpu/python
EXTRA_DIST += $(gpu_python)/run $(gpu_python)/verdicts.py $(gpu_python)/batches.py $(gpu_python)/cudnn_cublas.py \
	$(gpu_python)/train_convnet.py $(gpu_python)/train_transformer.py $(gpu_python)/amp.py \
	$(gpu_python)/fused_optimiser.py $(gpu_python)/checkpointing.py $(gpu_python)/embedding_scatter.py \
	$(gpu_python)/kv_cache.py $(gpu_python)/sorting.py $(gpu_python)/compiled.py $(gpu_python)/graph.py \
	$(gpu_python)/prefetch.py $(gpu_python)/gradients.py $(gpu_python)/shared_weights.py $(gpu_python)/side_stream.py \
	$(gpu_python)/compile_modes.py $(gpu_python)/accumulation.py $(gpu_python)/vision_loader.py \
	$(gpu_python)/lightning_fit.py $(gpu_python)/geometric.py $(gpu_python)/cupy_linalg.py $(gpu_python)/jax_donation.py \
	$(gpu_python)/ranks.py $(gpu_python)/loader.py $(gpu_python)/cupy_streams.py $(gpu_python)/jax_step.py $(gpu_python)/step_share.py

# Blocks that forbid calls.
EXTRA_DIST += tests/gpu/forbid/run tests/gpu/forbid/blocks.py tests/gpu/forbid/triton_kernel.py tests/gpu/forbid/custom.cu

# Ranks of a job.
EXTRA_DIST += tests/gpu/timelines tests/gpu/ranks tests/gpu/ranks_ddp.py

# Long jobs.
EXTRA_DIST += tests/gpu/long/run tests/gpu/long/train.py tests/gpu/long/watch.py tests/gpu/long/windows.py

# Memory that two processes share.
EXTRA_DIST += tests/gpu/ipc/run tests/gpu/ipc/torch_handle.py tests/gpu/ipc/torch_queue.py

# Python lines in them.
EXTRA_DIST += tests/gpu/python_lines tests/gpu/lines/check.py tests/gpu/lines/compiled.py tests/gpu/lines/cost.py tests/gpu/lines/forward.py \
	tests/gpu/lines/loop.c tests/gpu/lines/step.py

# Our findings in traces of torch.profiler.
EXTRA_DIST += tests/gpu/kineto tests/gpu/profile/step.py tests/gpu/profile/check.py

# What judging costs for real programs.
gpu_judging = tests/gpu/judging
TESTS += $(gpu_judging)/test_measure.py
EXTRA_DIST += $(gpu_judging)/run $(gpu_judging)/measure.py $(gpu_judging)/test_measure.py $(gpu_judging)/common.py \
	$(gpu_judging)/attention.py $(gpu_judging)/compiled.py $(gpu_judging)/convnet.py $(gpu_judging)/cupy_mix.py \
	$(gpu_judging)/ddp.py $(gpu_judging)/embedding.py $(gpu_judging)/generate.py $(gpu_judging)/generate_llama.py \
	$(gpu_judging)/graphs.py $(gpu_judging)/lstm.py $(gpu_judging)/prefetch.py $(gpu_judging)/resnet50.py \
	$(gpu_judging)/serving.py $(gpu_judging)/train_bert.py $(gpu_judging)/train_gpt2.py $(gpu_judging)/train_jax.py \
	$(gpu_judging)/unet.py

# The code of the kernels that a trace launched, for a look at it elsewhere.
check_PROGRAMS += tests/gpu/save_images
tests_gpu_save_images_SOURCES = tests/gpu/save_images.c tests/gpu/truth/contents.c tests/gpu/truth/contents.h
tests_gpu_save_images_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/gpu
tests_gpu_save_images_LDADD = libswreader.a $(SW_IMAGE_LIBS)

# The truth test.  The recorder is built where it runs, by the script: it needs compute-sanitizer's headers.
truth = tests/gpu/truth
EXTRA_DIST += $(truth)/torch_kernels.py $(truth)/run $(truth)/patches.cu $(truth)/recorder.c $(truth)/observed.h
check_PROGRAMS += tests/gpu/truth/compare tests/gpu/truth/share
truth_common = tests/gpu/truth/footprints.c tests/gpu/truth/footprints.h tests/gpu/truth/contents.c \
	tests/gpu/truth/contents.h
truth_ldadd = libswdetect.a libswschedule.a libswhb.a libswreader.a $(SW_FOOTPRINT_LIBS)
tests_gpu_truth_compare_SOURCES = tests/gpu/truth/compare.c tests/gpu/truth/accesses.c tests/gpu/truth/accesses.h \
	tests/gpu/truth/cover.c tests/gpu/truth/cover.h $(truth_common)
tests_gpu_truth_compare_LDADD = $(truth_ldadd)
tests_gpu_truth_share_SOURCES = tests/gpu/truth/share.c $(truth_common)
tests_gpu_truth_share_LDADD = $(truth_ldadd)
if HAVE_CHECK
check_PROGRAMS += tests/gpu/truth/test_truth
TESTS += tests/gpu/truth/test_truth
tests_gpu_truth_test_truth_SOURCES = tests/gpu/truth/test_truth.c \
	tests/gpu/truth/lines.c tests/gpu/truth/lines.h tests/gpu/truth/observed.h \
	tests/gpu/truth/accesses.c tests/gpu/truth/accesses.h tests/gpu/truth/cover.c tests/gpu/truth/cover.h
tests_gpu_truth_test_truth_LDADD = libswbase.a $(CHECK_LIBS)
check_PROGRAMS += tests/gpu/truth/test_compare
TESTS += tests/gpu/truth/test_compare
tests_gpu_truth_test_compare_LDADD = tests/reader/libtracebuilder.a libswbase.a $(CHECK_LIBS)
endif

# The reader of machine code against nvdisasm.
EXTRA_DIST += tests/gpu/sass_check
