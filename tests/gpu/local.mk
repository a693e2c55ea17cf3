# tests of gpu
