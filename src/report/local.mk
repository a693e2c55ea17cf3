# report: words, text, JSON
noinst_LIBRARIES += libswreport.a
libswreport_a_SOURCES = \
	src/report/words/gain_text.c src/report/words/gain_text.h src/report/words/confirmation.c src/report/words/confirmation.h src/report/words/confirmation.def src/report/words/saving.c src/report/words/saving.h src/report/words/saving.def src/report/report.c src/report/report.h src/report/unusable_files.c src/report/unusable_files.h src/report/text/text_files.c src/report/text/text_limits.c src/report/json/json_files.c \
	src/report/text/text.c src/report/text/text.h src/report/text/text_group.c src/report/text/text_table.c src/report/text/text_report.c \
	src/report/groups.c src/report/groups.h src/report/group_facts.c src/report/words/fix_lines.c src/report/words/fix_lines.h src/report/words/stream_text.c src/report/words/stream_text.h \
	src/report/symbols/places.c src/report/symbols/places.h src/report/symbols/source_text.c src/report/symbols/source_text.h \
	 src/report/text/text_notes.c src/report/text/text_run.c src/report/text/text_savings.c \
	src/report/text/text_out.c src/report/text/text_out.h \
	src/report/json/json.c src/report/json/json_finding.c src/report/json/json_groups.c src/report/json/json_savings.c src/report/json/json_out.c src/report/json/json_out.h src/report/json/report_parts.h src/report/utf8.c src/report/utf8.h \
	src/report/words/wording.c src/report/words/wording.h src/report/words/wording.def \
	src/report/symbols/names.c src/report/symbols/names.h \
	src/report/symbols/template_names.c src/report/symbols/template_names.h \
	src/report/words/library_text.c src/report/words/library_text.h \
	src/report/words/evidence_text.c src/report/words/evidence_text.h \
	src/report/listing/kernel_listing.c src/report/listing/kernel_listing.h src/report/listing/kernel_listing_json.c \
	src/report/symbols/stack.c src/report/symbols/stack.h src/report/symbols/symbols.c src/report/symbols/symbols.h src/report/symbols/frames.def \
	src/report/symbols/python_frames.c src/report/symbols/python_frames.h src/report/symbols/python_frames.def \
	src/report/symbols/module_names.c src/report/symbols/module_names.h src/report/symbols/symbol_index.c src/report/symbols/symbol_index.h \
	src/report/symbols/dwarf_objects.c src/report/symbols/dwarf_objects.h \
	src/report/symbols/symbol_worker.c src/report/symbols/symbol_worker.h \
	src/report/symbols/debug_objects.c src/report/symbols/debug_objects.h src/report/symbols/demangle.c src/report/symbols/demangle.h \
	src/report/symbols/fingerprint.c src/report/symbols/fingerprint.h src/report/listing/in_flight.c src/report/listing/in_flight.h \
	src/report/suppress.c src/report/suppress.h src/report/suppress_file.c src/report/suppress_file.h \
	src/report/ci/ci.c src/report/ci/ci.h src/report/ci/ci_parts.h src/report/ci/sarif.c src/report/ci/gitlab.c \
	src/report/ci/github.c src/report/ci/junit.c \
	src/report/diff/digest.c src/report/diff/digest.h src/report/diff/digest_json.c \
	src/report/diff/diff.c src/report/diff/diff.h src/report/diff/diff_text.c src/report/diff/diff_json.c
libswreport_a_SOURCES += src/report/coverage_counts.c src/report/coverage_counts.h src/report/excerpts.c src/report/excerpts.h
libswreport_a_SOURCES += src/report/html/html.c src/report/html/html.h src/report/html/nearby.c src/report/html/nearby.h
EXTRA_DIST += src/report/html/page.html
# The page as C strings, a line each: none is longer than a compiler must take.
nodist_libswreport_a_SOURCES = src/report/html/page.inc
BUILT_SOURCES += src/report/html/page.inc
CLEANFILES += src/report/html/page.inc
src/report/html/page.inc: src/report/html/page.html
	$(AM_V_GEN)$(MKDIR_P) src/report/html && \
	sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n",/' $(srcdir)/src/report/html/page.html >$@.tmp && mv $@.tmp $@
src/report/html/libswreport_a-html.$(OBJEXT): src/report/html/page.inc
libswreport_a_CFLAGS = $(AM_CFLAGS) $(DW_CFLAGS) $(ZLIB_CFLAGS) $(JANSSON_CFLAGS)
dist_doc_DATA = doc/report.schema.json doc/kernels.schema.json doc/diff.schema.json doc/footprints.md doc/calibrate.md doc/ci.md doc/stat.schema.json
# timelines: the users of these link $(ZLIB_LIBS)
libswreport_a_SOURCES += \
	src/report/timeline/timeline.h src/report/timeline/dot.c src/report/timeline/chrome.c src/report/timeline/chrome.h \
	src/report/timeline/chrome_nvtx.c src/report/timeline/chrome_timed.c src/report/timeline/perfetto.c src/report/timeline/perfetto.h src/report/timeline/chrome_tracks.c src/report/timeline/chrome_path.c src/report/timeline/chrome_arrows.c src/report/timeline/chrome_estimates.c src/report/timeline/chrome_hazards.c src/report/timeline/chrome_events.c src/report/timeline/chrome_events.h \
	src/report/timeline/trace_out.c src/report/timeline/trace_out.h src/report/timeline/labels.c src/report/timeline/labels.h \
	src/report/timeline/slice_layout.c src/report/timeline/slice_layout.h src/report/timeline/window.c src/report/timeline/window.h
libswreport_a_SOURCES += \
	src/report/listing/dump.c src/report/listing/dump.h src/report/listing/fields.c src/report/listing/fields.h src/report/listing/fields.def \
	src/report/listing/stat.c src/report/listing/stat.h src/report/listing/stat_tables.c \
	src/report/listing/call_times.c src/report/listing/call_times.h
# kineto: our findings in a trace of torch.profiler
libswreport_a_SOURCES += \
	src/report/kineto/kineto.h src/report/kineto/kineto.c src/report/kineto/merge_draw.c src/report/kineto/merge_draw.h \
	src/report/kineto/profile.c src/report/kineto/profile.h src/report/kineto/json_scan.c src/report/kineto/json_scan.h \
	src/report/kineto/own_calls.c src/report/kineto/own_calls.h src/report/kineto/join.c src/report/kineto/join.h
