# tests of detect
