# Packages of the program: `./dev package` makes a .deb, whose libraries are the distribution's, and a .tar.gz that brings
# its own and runs from wherever it is unpacked.
set(CPACK_PACKAGE_NAME attica)
set(CPACK_PACKAGE_VENDOR "the attica authors")
set(CPACK_PACKAGE_CONTACT "the attica authors <noreply@attica.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "theory and simulation of how small transformers learn")
set(CPACK_PACKAGE_DESCRIPTION "Computes what theory predicts for small attention models, simulates the same models
 at finite size, draws both, and says with known error rates whether they agree.")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_SOURCE_DIR}/build/packages)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/packaging/generator.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "gnuplot-nox | gnuplot, fonts-dejavu-core")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME attica_${PROJECT_VERSION}_amd64.deb)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_FILE_NAME attica-${PROJECT_VERSION}-x86-64-v3)
set(CPACK_ARCHIVE_FILE_NAME attica-${PROJECT_VERSION}-x86-64-v3)

# What the licence of a binary follows from, where Debian looks for it.
install(FILES packaging/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/attica COMPONENT program)

# The libraries that the .tar.gz brings along: all but the C library. The program looks in ../lib/attica first, also for
# libraries of libraries (a RPATH, not a RUNPATH).
set_target_properties(attica PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/attica")
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  target_link_options(attica PRIVATE -Wl,--disable-new-dtags)
endif()
install(CODE "set(ATTICA_PROGRAM \"$<TARGET_FILE:attica>\")
set(ATTICA_LIBRARIES \"${CMAKE_INSTALL_LIBDIR}/attica\")" COMPONENT bundled EXCLUDE_FROM_ALL)
install(SCRIPT packaging/bundle.cmake COMPONENT bundled EXCLUDE_FROM_ALL)
include(CPack)
