# tests of image
