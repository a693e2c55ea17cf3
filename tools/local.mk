# the syncwatch command and the scripts that the README names
EXTRA_DIST += tools/deps tools/toolkit tools/toolkit.pins tools/check tools/demo .ci/run
bin_PROGRAMS += syncwatch
syncwatch_SOURCES = \
	tools/syncwatch.c tools/command.h tools/clock.h \
	tools/options.c tools/options.h tools/options.def tools/report_files.def tools/exits.def \
	tools/analysis.c tools/analysis.h tools/verdict.c tools/verdict.h tools/output.c tools/output.h tools/terminal.c tools/terminal.h tools/pager.c tools/pager.h \
	tools/install.c tools/install.h tools/budget.c tools/budget.h tools/crash.c tools/crash.h \
	tools/run/cmd_run.c tools/run/launch.c tools/run/launch.h tools/run/channel.c tools/run/channel.h tools/run/child.c tools/run/child.h \
	tools/run/cmd_ctl.c tools/run/ctl.h tools/run/control.c tools/run/control.h \
	tools/run/judged.c tools/run/judged_print.c tools/run/judged.h tools/run/collect.c tools/run/collect.h tools/run/session.c tools/run/session.h \
	tools/run/flight.c tools/run/flight.h tools/run/kept.c tools/run/kept.h tools/run/window.c tools/run/window.h tools/run/chunk_output.c tools/run/chunk_output.h \
	tools/run/follow.c tools/run/follow.h tools/run/follower.c tools/run/follower.h tools/run/top.c tools/run/top.h tools/run/cmd_top.c \
	tools/run/witness.c tools/run/witness.h tools/run/nothing_seen.c tools/run/nothing_seen.h \
	tools/cmd_merge.c tools/merge/operands.c tools/merge/operands.h tools/merge/spread.c tools/merge/spread.h tools/merge/timeline.c tools/merge/timeline.h \
	tools/elf_probe.c tools/elf_probe.h \
	tools/draw.c tools/draw.h tools/html_file.c tools/html_file.h tools/progress.c tools/progress.h \
	tools/cmd_pack.c tools/pack_file.c tools/pack_file.h tools/cmd_report.c tools/cmd_export.c tools/cmd_diff.c \
	tools/cmd_kernels.c tools/code_files.c tools/code_files.h \
	tools/cmd_demo.c tools/cmd_calibrate.c tools/calibrate/driver.c tools/calibrate/driver.h tools/calibrate/driver.def \
	tools/calibrate/bench.c tools/calibrate/bench.h tools/calibrate/rows.c tools/calibrate/rows.h tools/calibrate/rows.def \
	tools/calibrate/cell.c tools/calibrate/cell.h tools/calibrate/measure.c tools/calibrate/measure.h \
	tools/ci_files.c tools/ci_files.h tools/cmd_dump.c tools/cmd_stat.c tools/project_config.c tools/project_config.h tools/last_report.c tools/last_report.h \
	tools/help/cmd_explain.c tools/help/terms.def tools/help/cmd_help.c tools/help/completion.c tools/help/completion.h \
	tools/confirm/cmd_confirm.c tools/confirm/trial.c tools/confirm/trial.h tools/confirm/call_places.c \
	src/api/names.c src/api/names.h tools/confirm/plan_file.c tools/confirm/outcome.c tools/confirm/explore.c tools/confirm/explore.h tools/confirm/experiment.c tools/confirm/fixes.c tools/confirm/confirm_run.h \
	tools/confirm/savings.h tools/confirm/savings.c tools/confirm/savings_together.c tools/confirm/saving_trials.c tools/confirm/saving_results.c tools/confirm/saving_runs.c tools/confirm/saving_spans.c tools/confirm/saving_spans.h tools/confirm/saving_safety.c \
	tools/confirm/bootstrap.c tools/confirm/bootstrap.h \
	tools/merge_kineto.c tools/merge_kineto.h tools/cmd_query.c tools/query_database.c tools/query_database.h
syncwatch_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS) -I$(top_srcdir)/tools -DSW_PKGLIBDIR='"$(pkglibdir)"' -DSW_PKGDATADIR='"$(pkgdatadir)"'
syncwatch_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS)
syncwatch_LDADD = libswmerge.a $(SW_QUERY_LIBS) libswpack.a libswreport.a libswdetect.a libswschedule.a libswhb.a libswreader.a $(SW_FOOTPRINT_LIBS) $(DW_LIBS) $(ZLIB_LIBS) \
	$(DEMANGLE_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS)
dist_man_MANS += doc/syncwatch.1 doc/libsyncwatch.7
dist_pkgdata_DATA = share/syncwatch/known.supp

# A page for each command, of the parts of syncwatch.1 that concern it.
command_pages = doc/syncwatch-run.1 doc/syncwatch-confirm.1 doc/syncwatch-demo.1 doc/syncwatch-report.1 doc/syncwatch-merge.1 doc/syncwatch-diff.1 doc/syncwatch-export.1 doc/syncwatch-pack.1 \
	doc/syncwatch-calibrate.1 doc/syncwatch-dump.1 doc/syncwatch-stat.1 doc/syncwatch-top.1 doc/syncwatch-ctl.1 doc/syncwatch-query.1 doc/syncwatch-kernels.1 doc/syncwatch-explain.1 \
	doc/syncwatch-help.1
nodist_man_MANS = $(command_pages)
EXTRA_DIST += doc/man_page.awk
CLEANFILES += $(command_pages)
$(command_pages): doc/syncwatch.1 doc/man_page.awk
	$(AM_V_GEN)$(MKDIR_P) doc && name='$@' && name=$${name#doc/syncwatch-} && \
	$(AWK) -f $(srcdir)/doc/man_page.awk -v command="$${name%.1}" $(srcdir)/doc/syncwatch.1 >$@.tmp && mv $@.tmp $@

# Completions, where each shell looks for them below our prefix.
bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
# The command prints them, which it cannot where it was built for another processor.
if RUNS_HERE
nodist_bashcompletion_DATA = completions/syncwatch
nodist_zshcompletion_DATA = completions/_syncwatch
nodist_fishcompletion_DATA = completions/syncwatch.fish
endif
completion_files = completions/syncwatch completions/_syncwatch completions/syncwatch.fish
CLEANFILES += $(completion_files)
completions/syncwatch: syncwatch$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) completions && ./syncwatch$(EXEEXT) help --completion bash >$@.tmp && mv $@.tmp $@
completions/_syncwatch: syncwatch$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) completions && ./syncwatch$(EXEEXT) help --completion zsh >$@.tmp && mv $@.tmp $@
completions/syncwatch.fish: syncwatch$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) completions && ./syncwatch$(EXEEXT) help --completion fish >$@.tmp && mv $@.tmp $@
