# CMake toolchain file: 64-bit ARM (Raspberry Pi 3 and later, and other boards) from an x86_64 machine,
# with the distribution's cross compiler.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_AR aarch64-linux-gnu-ar)
set(CMAKE_STRIP aarch64-linux-gnu-strip)

# Programs come from the build machine, libraries and headers never.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)

set(COMANDA_BOARD_FLAGS -mbranch-protection=standard)
if(NOT CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "aarch64")
  find_program(COMANDA_QEMU NAMES qemu-aarch64-static qemu-aarch64)
  if(COMANDA_QEMU)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${COMANDA_QEMU})
  endif()
endif()
