# One library per folder. Its headers are reached as "attica/<folder>/<file>.hpp", through an include
# directory that belongs to that library alone: including a folder one does not link does not compile.
include_guard()

# Vectors are passed between functions of one file only: how they are passed is no matter (psabi).
set(ATTICA_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wno-psabi)
if(ATTICA_WERROR)
  list(APPEND ATTICA_WARNINGS -Werror)
endif()
if((ATTICA_NATIVE OR ATTICA_SANITIZE) AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
   AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms of GCC 12: its own AVX-512 header (GCC bug 105593), and moves of std::variant under sanitizers.
  list(APPEND ATTICA_WARNINGS -Wno-uninitialized -Wno-maybe-uninitialized)
endif()

# Flags that every target shares. -march changes Eigen's alignment, hence the ABI: it is never set per file.
add_library(attica_flags INTERFACE)
target_compile_features(attica_flags INTERFACE cxx_std_20)
target_compile_options(attica_flags INTERFACE -fno-math-errno -fno-trapping-math)
if(ATTICA_NATIVE)
  target_compile_options(attica_flags INTERFACE -march=native)
endif()
if(ATTICA_SANITIZE)
  target_compile_options(attica_flags INTERFACE -fsanitize=${ATTICA_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all)
  target_link_options(attica_flags INTERFACE -fsanitize=${ATTICA_SANITIZE})
endif()

# attica_folder(NAME [SUBFOLDERS folders...] [PUBLIC targets...] [PRIVATE targets...]): the library of the current
# folder and of the named sub-folders.
function(attica_folder name)
  cmake_parse_arguments(ARG "" "" "SUBFOLDERS;PUBLIC;PRIVATE" ${ARGN})
  list(TRANSFORM ARG_SUBFOLDERS APPEND "/*.cpp" OUTPUT_VARIABLE patterns)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp ${patterns})
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  set(include_root ${PROJECT_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${include_root}/attica)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${include_root}/attica/${name} SYMBOLIC)
  if(NOT sources)
    message(STATUS "${name}: no sources yet")
    add_library(attica_${name} INTERFACE)
    add_library(attica::${name} ALIAS attica_${name})
    target_include_directories(attica_${name} INTERFACE ${include_root})
    target_link_libraries(attica_${name} INTERFACE attica_flags ${ARG_PUBLIC})
    return()
  endif()
  add_library(attica_${name} STATIC ${sources})
  add_library(attica::${name} ALIAS attica_${name})
  set_target_properties(attica_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(attica_${name} PUBLIC $<BUILD_INTERFACE:${include_root}>
                                                   $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_options(attica_${name} PRIVATE ${ATTICA_WARNINGS})
  target_link_libraries(attica_${name} PUBLIC attica_flags ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()
