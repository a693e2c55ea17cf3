# the syncwatch command and the scripts that the README names
EXTRA_DIST += tools/deps tools/check tools/demo .ci/run
bin_PROGRAMS += syncwatch
syncwatch_SOURCES = \
	tools/syncwatch.c tools/command.h \
	tools/options.c tools/options.h tools/options.def \
	tools/child.c tools/child.h tools/install.c tools/install.h \
	tools/cmd_run.c tools/cmd_explain.c
syncwatch_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools -DSW_PKGLIBDIR='"$(pkglibdir)"'
syncwatch_LDADD = libswbase.a
