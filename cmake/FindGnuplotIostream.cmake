# GnuplotIostream_INCLUDE_DIR: one header. Not every packager has it: a copy lies in third_party.
find_path(GnuplotIostream_INCLUDE_DIR gnuplot-iostream.h PATHS ${CMAKE_CURRENT_LIST_DIR}/../third_party/gnuplot-iostream)
mark_as_advanced(GnuplotIostream_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(GnuplotIostream REQUIRED_VARS GnuplotIostream_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "gnuplot-iostream.h is in libgnuplot-iostream-dev (Debian) and in third_party/gnuplot-iostream")
