# tests of simcuda
