# tests of tools
