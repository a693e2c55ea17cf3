# report: words, text, JSON
noinst_LIBRARIES += libswreport.a
libswreport_a_SOURCES = \
	src/report/words/confirmation.c src/report/words/confirmation.def src/report/words/saving.def src/report/report.c src/report/report.h \
	src/report/text/text.c src/report/text/text.h \
	src/report/groups.c src/report/groups.h src/report/words/fix_lines.c src/report/words/fix_lines.h src/report/words/fix_text.c src/report/words/node_lines.c src/report/words/expressions.c src/report/words/expressions.h \
	src/report/symbols/source_text.c src/report/symbols/source_text.h \
	src/report/text/text_report.c \
	src/report/text/text_run.c \
	src/report/text/text_out.c src/report/text/text_out.h \
	src/report/json/json.c src/report/json/json_finding.c src/report/json/json_out.c src/report/json/json_out.h src/report/json/report_parts.h src/report/excerpts.c src/report/excerpts.h \
	src/report/words/wording.c src/report/words/wording.h src/report/words/wording.def \
	src/report/symbols/demangle.c src/report/symbols/names.c src/report/symbols/names.h \
	src/report/words/evidence_text.c src/report/words/evidence_text.h \
	src/report/listing/kernel_listing.c src/report/listing/listing.h \
	src/report/symbols/stack.c src/report/symbols/stack.h src/report/symbols/symbols.c src/report/symbols/symbol_worker.c src/report/symbols/symbol_index.c src/report/symbols/symbols.h src/report/symbols/frames.def \
	src/report/symbols/python_frames.def \
	src/report/symbols/module_names.c src/report/symbols/module_names.h \
	src/report/symbols/debug_objects.c src/report/symbols/dwarf_objects.c src/report/symbols/debug_objects.h \
	src/report/listing/dump.c \
	src/report/suppress.c src/report/suppress.h \
	src/report/ci/ci.c src/report/ci/ci.h src/report/ci/ci_parts.h src/report/ci/formats.def src/report/ci/sarif.c src/report/ci/gitlab.c \
	src/report/ci/github.c src/report/ci/junit.c \
	src/report/diff/digest.c \
	src/report/diff/diff.c src/report/diff/diff.h  
libswreport_a_SOURCES += src/report/report.c src/report/report.h src/report/excerpts.c src/report/excerpts.h
libswreport_a_SOURCES += src/report/html/html.c src/report/html/html.h 
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
	src/report/timeline/chrome_hazards.c \
	src/report/timeline/trace_out.c src/report/timeline/trace_out.h src/report/timeline/labels.c src/report/timeline/labels.h \
	src/report/timeline/slice_layout.c   
libswreport_a_SOURCES += \
	src/report/listing/dump.c src/report/listing/fields.def \
	src/report/listing/stat.c src/report/listing/listing.h
# kineto: our findings in a trace of torch.profiler
libswreport_a_SOURCES += \
	src/report/kineto/kineto.h src/report/kineto/kineto.c \
	src/report/kineto/profile.c src/report/kineto/profile.h \
	src/report/kineto/join.c 
