# query: a trace as an SQLite database; only where SQLite is
dist_doc_DATA += doc/query.md
if HAVE_SQLITE
noinst_LIBRARIES += libswquery.a
SW_QUERY_LIBS = libswquery.a
libswquery_a_SOURCES = \
	src/query/query.c src/query/query.h src/query/rows.h \
	src/query/schema.def \
	src/query/call_rows.c \
	src/query/report_rows.c 
libswquery_a_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
endif
