# CUDA programs, one for each case
