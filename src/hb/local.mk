# hb
