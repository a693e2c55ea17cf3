# tests of gpu
EXTRA_DIST += tests/gpu/run tests/gpu/cupti_agent.c tests/gpu/completeness.py \
	tests/gpu/torch/side_stream.py tests/gpu/torch/prefetch.py tests/gpu/torch/amp.py tests/gpu/torch/graph.py \
	tests/gpu/torch/shared_weights.py tests/gpu/torch/cudnn_cublas.py
