# Random123_INCLUDE_DIR: headers alone, without a package of CMake or pkg-config.
find_path(Random123_INCLUDE_DIR Random123/philox.h)
mark_as_advanced(Random123_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Random123 REQUIRED_VARS Random123_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "Random123/philox.h is in librandom123-dev (Debian) or random123 (conda-forge, Spack)")
