# simcuda
