# SPDX-License-Identifier: Apache-2.0
# find_package(syncwatch) for annotations and for tests under syncwatch:
#
#     find_package(syncwatch)
#     target_link_libraries(app PRIVATE syncwatch::syncwatch)      # <syncwatch/syncwatch.h>
#     add_test(NAME app COMMAND ${SYNCWATCH_COMMAND} run --error-exitcode 9 -- $<TARGET_FILE:app>)
#
# SYNCWATCH_COMMAND, SYNCWATCH_PRELOAD, SYNCWATCH_INCLUDE_DIR: of an installation in a prefix, or of the Python wheel.
set(syncwatch_VERSION "@VERSION@")
find_program(SYNCWATCH_COMMAND syncwatch)
get_filename_component(_syncwatch_share "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
find_path(SYNCWATCH_INCLUDE_DIR syncwatch/syncwatch.h HINTS "${_syncwatch_share}/../include" "${_syncwatch_share}/include")
find_file(SYNCWATCH_PRELOAD libsyncwatch.so
  HINTS "${_syncwatch_share}/../lib/syncwatch" "${_syncwatch_share}/lib/syncwatch" PATH_SUFFIXES lib/syncwatch)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(syncwatch REQUIRED_VARS SYNCWATCH_INCLUDE_DIR VERSION_VAR syncwatch_VERSION)
if(syncwatch_FOUND AND NOT TARGET syncwatch::syncwatch)
  add_library(syncwatch::syncwatch INTERFACE IMPORTED)
  set_target_properties(syncwatch::syncwatch PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${SYNCWATCH_INCLUDE_DIR}" INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")
endif()
unset(_syncwatch_share)
