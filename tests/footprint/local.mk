# tests of footprint
