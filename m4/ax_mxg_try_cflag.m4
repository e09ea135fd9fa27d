dnl SPDX-License-Identifier: MIT
dnl AX_MXG_TRY_CFLAG(FLAG, VARIABLE): append FLAG to VARIABLE if the C compiler takes it.
AC_DEFUN([AX_MXG_TRY_CFLAG], [
  AS_VAR_PUSHDEF([cachevar], [mxg_cv_cflag_$1])
  AC_CACHE_CHECK([whether the C compiler takes $1], [cachevar],
    [mxg_try_save_CFLAGS=$CFLAGS
     CFLAGS="$CFLAGS -Werror $1"
     AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
       [AS_VAR_SET([cachevar], [yes])], [AS_VAR_SET([cachevar], [no])])
     CFLAGS=$mxg_try_save_CFLAGS])
  AS_VAR_IF([cachevar], [yes], [$2="$$2 $1"])
  AS_VAR_POPDEF([cachevar])
])
