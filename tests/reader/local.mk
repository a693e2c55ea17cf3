# tests of reader
