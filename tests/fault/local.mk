# tests of fault
