# SPDX-License-Identifier: Apache-2.0
# SW_CHECK_CFLAGS(VARIABLE, FLAGS): puts those of FLAGS that the compiler takes into VARIABLE.
AC_DEFUN([SW_CHECK_CFLAGS], [
  $1=
  sw_saved_cflags=$CFLAGS
  for sw_flag in m4_normalize([$2]); do
    CFLAGS="$sw_saved_cflags -Werror $sw_flag"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM()], [$1="$$1 $sw_flag"])
  done
  CFLAGS=$sw_saved_cflags
])

# SW_CHECK_LDFLAGS(VARIABLE, FLAGS): puts those of FLAGS that the linker takes into VARIABLE.
AC_DEFUN([SW_CHECK_LDFLAGS], [
  $1=
  sw_saved_ldflags=$LDFLAGS
  for sw_flag in m4_normalize([$2]); do
    LDFLAGS="$sw_saved_ldflags $sw_flag"
    AC_LINK_IFELSE([AC_LANG_PROGRAM()], [$1="$$1 $sw_flag"])
  done
  LDFLAGS=$sw_saved_ldflags
])
