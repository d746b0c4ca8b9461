# Toolchain: Debian's cross compiler for aarch64, with libraries of Debian's arm64 packages unpacked below ATTICA_ARM_LIBRARIES
# (`./dev arm` does so): cmake -S . -B b --toolchain cmake/aarch64.cmake -DATTICA_ARM_LIBRARIES=FOLDER -DATTICA_MINIMAL=ON
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ATTICA_ARM_LIBRARIES)
list(PREPEND CMAKE_PREFIX_PATH ${ATTICA_ARM_LIBRARIES}/usr)
