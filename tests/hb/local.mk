# tests of hb
