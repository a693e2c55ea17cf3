# tests of browser
