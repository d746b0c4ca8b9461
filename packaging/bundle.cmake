# Copies the shared libraries that the program needs beside it. The C library stays the system's: it belongs to the
# kernel and to the loader.
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${ATTICA_PROGRAM}
     RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR missing
     PRE_EXCLUDE_REGEXES "^(libc|libm|libdl|librt|libpthread|libresolv|ld-linux-x86-64)\\.so")
if(missing)
  message(FATAL_ERROR "libraries not found: ${missing}")
endif()
# Open MPI's libraries look for each other where it was installed.
if("${libraries}" MATCHES "libmpi")
  message(FATAL_ERROR "a program with MPI cannot bring its libraries along: configure without ATTICA_MPI")
endif()
foreach(library ${libraries})
  file(INSTALL ${library} DESTINATION "${CMAKE_INSTALL_PREFIX}/${ATTICA_LIBRARIES}" FOLLOW_SYMLINK_CHAIN)
endforeach()
