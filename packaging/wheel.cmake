# What `packaging/wheel` packs: program and Python module over one shared library, in the folder wheel/ of the build.
set(wheel ${PROJECT_BINARY_DIR}/wheel)
set(archives "")
foreach(folder app sources studies theory sim solvers plots core)
  list(APPEND archives $<TARGET_FILE:attica_${folder}>)
endforeach()
file(WRITE ${PROJECT_BINARY_DIR}/generated/shared.cpp "// All that this library holds is compiled already.\n")
add_library(attica_shared SHARED ${PROJECT_BINARY_DIR}/generated/shared.cpp)
set_target_properties(attica_shared PROPERTIES OUTPUT_NAME attica LIBRARY_OUTPUT_DIRECTORY ${wheel})
# Whole: studies are reached by tables alone. Ours come before Ceres, which brings an Eigen that is compiled otherwise.
target_link_options(attica_shared PRIVATE LINKER:--whole-archive ${archives} LINKER:--no-whole-archive LINKER:--as-needed
                    LINKER:-Bsymbolic-functions)
target_link_libraries(attica_shared PRIVATE attica::app)
attica_dense_ceres(attica_shared)

# The archives come last on these lines: nothing is missing any more, and nothing is taken from them.
add_executable(attica_wheel ${PROJECT_SOURCE_DIR}/app/main.cpp)
set_target_properties(attica_wheel PROPERTIES OUTPUT_NAME attica RUNTIME_OUTPUT_DIRECTORY ${wheel}/bin)
target_link_options(attica_wheel PRIVATE LINKER:--as-needed)
target_link_libraries(attica_wheel PRIVATE attica_shared attica::app)
