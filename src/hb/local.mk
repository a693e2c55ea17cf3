# hb: which operation happens before which
noinst_LIBRARIES += libswhb.a
libswhb_a_SOURCES = \
	src/hb/hb.c src/hb/hb.h src/hb/order.h \
	src/hb/step.c src/hb/sync.c
EXTRA_DIST += doc/order.md doc/strict-host.md
