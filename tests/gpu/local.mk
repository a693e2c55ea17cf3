# tests of gpu
EXTRA_DIST += tests/gpu/run tests/gpu/cupti_agent.c tests/gpu/completeness.py \
	tests/gpu/python/side_stream.py tests/gpu/python/prefetch.py tests/gpu/python/amp.py tests/gpu/python/graph.py \
	tests/gpu/python/shared_weights.py tests/gpu/python/loader.py tests/gpu/python/compiled.py \
	tests/gpu/python/cupy_streams.py tests/gpu/python/jax_step.py tests/gpu/python/cudnn_cublas.py

EXTRA_DIST += tests/gpu/truth/run tests/gpu/truth/patches.cu tests/gpu/truth/recorder.c tests/gpu/truth/observed.h
