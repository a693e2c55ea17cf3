# tests of preload
