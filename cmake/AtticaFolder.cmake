# One library per folder. Its headers are reached as "attica/<folder>/<file>.hpp", through an include
# directory that belongs to that library alone: including a folder one does not link does not compile.
include_guard()

# Vectors are passed between functions of one file only: how they are passed is no matter (psabi). A precompiled Eigen
# loses the pragmas that silence its own attributes.
set(ATTICA_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor -Wno-psabi -Wno-ignored-attributes)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND ATTICA_WARNINGS -Wno-sign-conversion)  # which GCC's -Wconversion leaves out
endif()
if(ATTICA_SANITIZE)
  list(APPEND ATTICA_WARNINGS -Wno-shadow)  # of what another file, compiled together with it, keeps to itself
endif()
# Errors only with the compilers that every change is built with: a later one finds more to remark on, and must still build.
if(ATTICA_WERROR AND "${CMAKE_CXX_COMPILER_ID}-${CMAKE_CXX_COMPILER_VERSION}" MATCHES "^(GNU-12|Clang-14)\\.")
  list(APPEND ATTICA_WARNINGS -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms of GCC 12: its own AVX-512 header (GCC bug 105593), moves of std::variant under sanitizers, and copies of
  # short strings (GCC bugs 105329, 105651).
  list(APPEND ATTICA_WARNINGS -Wno-uninitialized -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overread
       -Wno-stringop-overflow -Wno-restrict)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND ATTICA_WARNINGS -Wno-maybe-uninitialized)  # GCC 14's: an optional that is empty
endif()

# Flags that every target shares. -march changes Eigen's alignment, hence the ABI: it is never set per file.
add_library(attica_flags INTERFACE)
target_compile_features(attica_flags INTERFACE cxx_std_20)
target_compile_options(attica_flags INTERFACE -fno-math-errno -fno-trapping-math)
# The Python module holds the same objects as the program. Nobody replaces a function at load time: calls stay direct.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
target_compile_options(attica_flags INTERFACE -fno-semantic-interposition)
if(ATTICA_MARCH)
  set(ATTICA_NATIVE OFF)
endif()
if(ATTICA_NATIVE AND NOT CMAKE_CROSSCOMPILING)
  target_compile_options(attica_flags INTERFACE -march=native)
elseif(ATTICA_MARCH)
  target_compile_options(attica_flags INTERFACE -march=${ATTICA_MARCH})
  if(ATTICA_MARCH MATCHES "^x86-64-v[234]$")
    # The loader of a processor that has less says so, instead of an illegal instruction somewhere.
    target_link_options(attica_flags INTERFACE -Wl,-z,${ATTICA_MARCH})
  endif()
endif()
if(ATTICA_SANITIZE)
  target_compile_options(attica_flags INTERFACE -fsanitize=${ATTICA_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all)
  target_link_options(attica_flags INTERFACE -fsanitize=${ATTICA_SANITIZE})
  if(ATTICA_SANITIZE STREQUAL "thread")
    target_compile_definitions(attica_flags INTERFACE ATTICA_THREAD_SANITIZER)  # each compiler has a macro of its own
  endif()
  if(ATTICA_NOT_SANITIZE)
    target_compile_options(attica_flags INTERFACE -fno-sanitize=${ATTICA_NOT_SANITIZE})
  endif()
endif()

# Headers that are compiled once, by the name of the precompiled header: numbers for what computes, text for what writes,
# checks for tests.
set(ATTICA_PRECOMPILED_numbers ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp)
set(ATTICA_PRECOMPILED_text ${ATTICA_PRECOMPILED_numbers} <nlohmann/json.hpp>)
set(ATTICA_PRECOMPILED_checks ${ATTICA_PRECOMPILED_numbers} <catch2/catch.hpp>)

# attica_level(TARGET LEVEL NAME): how far a release build optimises, and the precompiled header of that name. It holds no header
# that the project's own files read again: GCC knows a header by its path and time, and a compiler cache gives it one that was
# made elsewhere. GCC takes the level from the precompiled header: a file
# with options of its own needs SKIP_PRECOMPILE_HEADERS. Kernels are worth -O3; what runs once is not worth the time that
# compiling it takes. -fexpensive-optimizations contracts a*b + c on every level: a formula gives the same bits wherever it stands.
function(attica_level target level name)
  set(options "")
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    set(options -O${level} $<$<CXX_COMPILER_ID:GNU>:-fexpensive-optimizations>)
  elseif(ATTICA_SANITIZE AND NOT ATTICA_FUZZ AND NOT target MATCHES "^attica_(core|solvers|theory|sim)$")
    set(options -O0)  # compiled in half the time, and no part of what takes long to run
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Collecting the compiler's own garbage takes a tenth of its time: not below half a gigabyte.
    list(APPEND options --param=ggc-min-heapsize=500000)
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    # As the libraries are compiled, or a precompiled header would not fit both.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    list(APPEND options -fPIC)
  endif()
  target_compile_options(${target} PRIVATE ${options})
  if(NOT ATTICA_PRECOMPILE)
    return()
  endif()
  set(header attica_precompiled_${name})
  if(NOT TARGET ${header})
    add_library(${header} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
    target_compile_options(${header} PRIVATE ${ATTICA_WARNINGS} ${options})
    target_link_libraries(${header} PRIVATE attica_flags Eigen3::Eigen fmt::fmt)
    target_precompile_headers(${header} PRIVATE ${ATTICA_PRECOMPILED_${name}})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${header})
endfunction()

# attica_together(TARGET SIZE [all | FOLDER...]): sources of one folder (all: of all of them) are compiled together, SIZE or
# fewer at a time, but for the folders named (top: the sources that lie in none). Most of the time that a source takes is for headers and for templates that
# its neighbours need as well; whoever touches one of them compiles its group. What a source keeps to itself must have a name of
# its own: a study has a namespace. Sanitizers' builds are compiled whole: there sources of all folders are compiled together,
# fewer instances of the same templates, in groups of a minute at most.
function(attica_together target size)
  if(NOT ATTICA_TOGETHER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  set(folders "")
  foreach(source ${sources})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE place)
    get_filename_component(folder ${place} DIRECTORY)
    if(ATTICA_SANITIZE OR ARGN STREQUAL "all")
      set(folder all)
    elseif(NOT folder)
      set(folder top)
    endif()
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND folders "${folder}")
    list(APPEND "in_${folder}" ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  if(ATTICA_SANITIZE)
    set(size 18)
  elseif(NOT ARGN STREQUAL "all")
    list(REMOVE_ITEM folders ${ARGN} "")
  endif()
  foreach(folder ${folders})
    list(LENGTH "in_${folder}" count)
    math(EXPR groups "(${count} + ${size} - 1) / ${size}")
    set(index 0)
    foreach(source ${in_${folder}})
      math(EXPR group "${index} * ${groups} / ${count}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${folder}_${group}")
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
endfunction()

# attica_folder(NAME LEVEL level [TOGETHER size [folder...]] PRECOMPILED header... [PUBLIC targets...] [PRIVATE targets...]): the
# library of the current folder and its sub-folders; TOGETHER as in attica_together.
function(attica_folder name)
  cmake_parse_arguments(ARG "" "LEVEL" "TOGETHER;PRECOMPILED;PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  list(TRANSFORM ATTICA_WITHOUT PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE without)
  list(REMOVE_ITEM sources ${without} "")
  foreach(family ${ATTICA_ABSENT})
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${family}/")
  endforeach()
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
  attica_level(attica_${name} ${ARG_LEVEL} ${ARG_PRECOMPILED})
  if((ATTICA_SANITIZE OR ATTICA_LINT) AND name MATCHES "^(theory|sim)$")
    # Kernels too: last digits are no matter here, and compiling takes twice as long. (gauss: unnamed types in named ones.)
    attica_together(attica_${name} 12 gauss)
  elseif(ARG_TOGETHER)
    attica_together(attica_${name} ${ARG_TOGETHER})
  endif()
endfunction()

# attica_install_library(folders...): headers, libraries and package description of these folders.
function(attica_install_library)
  include(CMakePackageConfigHelpers)
  set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/attica)
  foreach(folder ${ARGN})
    file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} ${folder}/*.hpp)
    list(REMOVE_ITEM headers ${ATTICA_WITHOUT} "")
    foreach(family ${ATTICA_ABSENT})
      list(FILTER headers EXCLUDE REGEX "^${folder}/${family}/")
    endforeach()
    foreach(header ${headers})
      get_filename_component(place ${header} DIRECTORY)
      install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/attica/${place} COMPONENT development)
    endforeach()
  endforeach()
  list(TRANSFORM ARGN PREPEND attica_ OUTPUT_VARIABLE targets)
  install(TARGETS attica_flags ${targets} EXPORT attica-targets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(EXPORT attica-targets NAMESPACE attica:: DESTINATION ${package_directory} COMPONENT development)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/attica-config.cmake.in ${PROJECT_BINARY_DIR}/attica-config.cmake
                                INSTALL_DESTINATION ${package_directory})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/attica-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/attica-config.cmake ${PROJECT_BINARY_DIR}/attica-config-version.cmake
                ${PROJECT_SOURCE_DIR}/cmake/FindUtf8proc.cmake
          DESTINATION ${package_directory} COMPONENT development)

  # The same for pkg-config: theory, sim, solvers and core. Eigen aligns as the processor asks: users compile for the same one.
  set(pc_requires "eigen3 >= 3.4, fmt, tbb, libutf8proc")
  set(pc_libraries "")
  set(pc_flags "")
  if(NOT ATTICA_MINIMAL)
    string(APPEND pc_requires ", gsl, libarchive, zlib, libglog")
    set(pc_libraries " -lceres")
  endif()
  if(ATTICA_MARCH)
    set(pc_flags " -march=${ATTICA_MARCH}")
  elseif(ATTICA_NATIVE)
    set(pc_flags " -march=native")
  endif()
  # Where it is installed says where the rest is: the folder may be moved.
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(PREPEND pc_prefix "\${pcfiledir}/")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/attica.pc.in ${PROJECT_BINARY_DIR}/attica.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/attica.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

# attica_dense_ceres(TARGET): a program or shared library that holds Ceres does not load its sparse solvers.
function(attica_dense_ceres target)
  get_target_property(ceres_type Ceres::ceres TYPE)
  if(ceres_type STREQUAL "STATIC_LIBRARY" AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/dense_ceres.cpp)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/cmake/dense_ceres.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON
                                SKIP_UNITY_BUILD_INCLUSION ON)
    # First GSL's own BLAS: any other one that stands on the line would be taken for it.
    target_link_options(${target} PRIVATE "SHELL:-Wl,--no-as-needed $<TARGET_FILE:GSL::gslcblas> -Wl,--as-needed")
  endif()
endfunction()
