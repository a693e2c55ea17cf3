# report: words, text, JSON
noinst_LIBRARIES += libswreport.a
libswreport_a_SOURCES = \
	src/report/replayed.c src/report/replayed.h src/report/report.c src/report/report.h \
	src/report/text.c src/report/text.h src/report/text_notes.c src/report/text_run.c \
	src/report/text_out.c src/report/text_out.h \
	src/report/json.c src/report/json_out.c src/report/json_out.h src/report/utf8.c src/report/utf8.h \
	src/report/wording.c src/report/wording.h src/report/wording.def \
	src/report/names.c src/report/names.h \
	src/report/ground.c src/report/ground.h \
	src/report/kernels.c src/report/kernels.h src/report/kernels_json.c \
	src/report/stack.c src/report/stack.h src/report/symbols.c src/report/symbols.h src/report/frames.def \
	src/report/objects.c src/report/objects.h src/report/demangle.c src/report/demangle.h \
	src/report/fingerprint.c src/report/fingerprint.h src/report/in_flight.c src/report/in_flight.h \
	src/report/suppress.c src/report/suppress.h \
	src/report/digest.c src/report/digest.h src/report/digest_json.c \
	src/report/diff.c src/report/diff.h src/report/diff_text.c src/report/diff_json.c
libswreport_a_CFLAGS = $(AM_CFLAGS) $(DW_CFLAGS) $(ZLIB_CFLAGS) $(JANSSON_CFLAGS)
dist_doc_DATA = doc/report.schema.json doc/kernels.schema.json doc/diff.schema.json doc/footprints.md doc/calibrate.md
# timelines: the users of these link $(ZLIB_LIBS)
libswreport_a_SOURCES += \
	src/report/timeline.h src/report/dot.c src/report/chrome.c src/report/chrome.h \
	src/report/chrome_nvtx.c src/report/chrome_timed.c src/report/perfetto.c src/report/perfetto.h src/report/chrome_tracks.c src/report/chrome_path.c src/report/chrome_arrows.c src/report/chrome_events.c src/report/chrome_events.h \
	src/report/trace_out.c src/report/trace_out.h src/report/labels.c src/report/labels.h \
	src/report/lay.c src/report/lay.h src/report/window.c src/report/window.h
libswreport_a_SOURCES += \
	src/report/dump.c src/report/dump.h src/report/fields.c src/report/fields.h src/report/fields.def \
	src/report/stat.c src/report/stat.h
