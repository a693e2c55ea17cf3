# tests of the command
if HAVE_CHECK
check_PROGRAMS += tests/tools/test_progress
TESTS += tests/tools/test_progress
tests_tools_test_progress_SOURCES = tests/tools/test_progress.c tools/progress.c tools/progress.h
tests_tools_test_progress_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools
tests_tools_test_progress_LDADD = $(CHECK_LIBS)

check_PROGRAMS += tests/tools/test_channel
TESTS += tests/tools/test_channel
tests_tools_test_channel_SOURCES = tests/tools/test_channel.c tools/run/channel.c tools/run/channel.h
tests_tools_test_channel_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools
tests_tools_test_channel_LDADD = libswbase.a $(CHECK_LIBS)

check_PROGRAMS += tests/tools/test_kept
TESTS += tests/tools/test_kept
tests_tools_test_kept_SOURCES = tests/tools/test_kept.c tools/run/kept.c tools/run/kept.h tools/run/window.c tools/run/window.h \
	tools/run/chunk_output.c tools/run/chunk_output.h
tests_tools_test_kept_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools
tests_tools_test_kept_LDADD = $(detect_ldadd)

check_PROGRAMS += tests/tools/test_bootstrap
TESTS += tests/tools/test_bootstrap
tests_tools_test_bootstrap_SOURCES = tests/tools/test_bootstrap.c tools/confirm/bootstrap.c tools/confirm/bootstrap.h
tests_tools_test_bootstrap_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools
tests_tools_test_bootstrap_LDADD = libswbase.a $(CHECK_LIBS)

check_PROGRAMS += tests/tools/test_outcome
TESTS += tests/tools/test_outcome
tests_tools_test_outcome_SOURCES = tests/tools/test_outcome.c tools/confirm/outcome.c tools/confirm/trial.h
tests_tools_test_outcome_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools
tests_tools_test_outcome_LDADD = libswbase.a $(CHECK_LIBS)

check_PROGRAMS += tests/tools/test_saving_spans
TESTS += tests/tools/test_saving_spans
tests_tools_test_saving_spans_SOURCES = tests/tools/test_saving_spans.c tools/confirm/saving_spans.c tools/confirm/saving_spans.h
tests_tools_test_saving_spans_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools
tests_tools_test_saving_spans_LDADD = libswbase.a $(CHECK_LIBS)

check_PROGRAMS += tests/tools/test_crash
TESTS += tests/tools/test_crash
tests_tools_test_crash_SOURCES = tests/tools/test_crash.c tools/crash.c tools/crash.h
tests_tools_test_crash_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools
tests_tools_test_crash_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) -g
tests_tools_test_crash_LDADD = libswbase.a $(CHECK_LIBS)
endif
check_PROGRAMS += tests/tools/make_trace tests/tools/cuda_program
tests_tools_cuda_program_SOURCES = tests/tools/cuda_program.c tests/tools/driver_calls.h
tests_tools_cuda_program_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_tools_cuda_program_CFLAGS = $(SW_CFLAGS) -g
tests_tools_cuda_program_LDFLAGS =
tests_tools_cuda_program_LDADD = -ldl
check_PROGRAMS += tests/tools/long_job
tests_tools_long_job_SOURCES = tests/tools/long_job.c tests/tools/driver_calls.h
tests_tools_long_job_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_tools_long_job_CFLAGS = $(SW_CFLAGS) -g
tests_tools_long_job_LDFLAGS =
tests_tools_long_job_LDADD = -ldl
check_PROGRAMS += tests/tools/savings_program
tests_tools_savings_program_SOURCES = tests/tools/savings_program.c tests/tools/driver_calls.h
tests_tools_savings_program_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_tools_savings_program_CFLAGS = $(SW_CFLAGS) -g
tests_tools_savings_program_LDFLAGS =
tests_tools_savings_program_LDADD = -ldl

check_PROGRAMS += tests/tools/confirm_program
tests_tools_confirm_program_SOURCES = tests/tools/confirm_program.c tests/tools/driver_calls.h
tests_tools_confirm_program_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_tools_confirm_program_CFLAGS = $(SW_CFLAGS) -g
tests_tools_confirm_program_LDFLAGS =
tests_tools_confirm_program_LDADD = -ldl -lpthread
tests_tools_make_trace_LDADD = tests/reader/libtracebuilder.a libswbase.a
check_PROGRAMS += tests/tools/awkward tests/tools/awkward_static tests/tools/clock_step.so
tests_tools_awkward_SOURCES = tests/tools/awkward.c tests/tools/driver_calls.h
tests_tools_awkward_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_tools_awkward_CFLAGS = $(SW_CFLAGS) -g
tests_tools_awkward_LDFLAGS =
tests_tools_awkward_LDADD = -ldl
tests_tools_awkward_static_SOURCES = tests/tools/static_program.c
tests_tools_awkward_static_CFLAGS = $(SW_CFLAGS) -fno-stack-protector
tests_tools_awkward_static_LDFLAGS = -static -nostdlib -nostartfiles
tests_tools_awkward_static_LDADD =
tests_tools_clock_step_so_SOURCES = tests/tools/clock_step.c
tests_tools_clock_step_so_CFLAGS = $(SW_CFLAGS) -fPIC
tests_tools_clock_step_so_LDFLAGS = -shared
tests_tools_clock_step_so_LDADD = -ldl
check_PROGRAMS += tests/tools/late_end.so
tests_tools_late_end_so_SOURCES = tests/tools/late_end.c
tests_tools_late_end_so_CFLAGS = $(SW_CFLAGS) -fPIC
tests_tools_late_end_so_LDFLAGS = -shared
tests_tools_late_end_so_LDADD =
# uses CUDA by dlsym, and needs it as well
check_PROGRAMS += tests/tools/plugin.so
tests_tools_plugin_so_SOURCES = tests/gpu/neighbour.c
tests_tools_plugin_so_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS) -DOBJECT
tests_tools_plugin_so_CFLAGS = $(SW_CFLAGS) -fPIC -Wno-missing-prototypes
tests_tools_plugin_so_LDFLAGS = -shared -Wl,--no-as-needed
tests_tools_plugin_so_LDADD = sim/libcuda.so.1 -ldl
check_PROGRAMS += tests/tools/crashing/libcuda.so.1
tests_tools_crashing_libcuda_so_1_SOURCES = tests/tools/crashing_driver.c
tests_tools_crashing_libcuda_so_1_CFLAGS = $(SW_CFLAGS) -fPIC
tests_tools_crashing_libcuda_so_1_LDFLAGS = -shared -Wl,-soname,libcuda.so.1
TESTS += tests/tools/test_reports.sh tests/tools/test_outputs.sh tests/tools/test_start.sh
dist_check_SCRIPTS += tests/tools/test_reports.sh tests/tools/test_outputs.sh tests/tools/test_start.sh
EXTRA_DIST += tests/tools/command_case.py tests/tools/test_reports.py tests/tools/test_outputs.py tests/tools/test_start.py
TESTS += tests/tools/test_confirm.sh tests/tools/test_savings.sh tests/tools/test_command.sh tests/tools/test_run.sh tests/tools/test_verdict.sh tests/tools/test_gate.sh tests/tools/test_live.sh tests/tools/test_follow.sh tests/tools/test_windows.sh tests/tools/test_escapes.sh tests/tools/test_pack.sh
dist_check_SCRIPTS += tests/tools/test_confirm.sh tests/tools/test_savings.sh tests/tools/test_command.sh tests/tools/test_run.sh tests/tools/test_verdict.sh tests/tools/test_gate.sh tests/tools/test_live.sh tests/tools/test_follow.sh tests/tools/test_windows.sh tests/tools/test_escapes.sh tests/tools/test_pack.sh
EXTRA_DIST += tests/tools/test_confirm.py tests/tools/test_savings.py tests/tools/test_command.py tests/tools/test_run.py tests/tools/test_verdict.py tests/tools/test_gate.py tests/tools/test_live.py tests/tools/test_follow.py tests/tools/test_windows.py tests/tools/test_escapes.py tests/tools/run_case.py tests/tools/test_pack.py tests/tools/installed
TESTS += tests/tools/test_image_store.sh
dist_check_SCRIPTS += tests/tools/test_image_store.sh
EXTRA_DIST += tests/tools/test_image_store.py
TESTS += tests/tools/test_flight.sh
dist_check_SCRIPTS += tests/tools/test_flight.sh
EXTRA_DIST += tests/tools/test_flight.py
TESTS += tests/tools/test_toolkit.sh
dist_check_SCRIPTS += tests/tools/test_toolkit.sh
