# 64-bit PCs: the build machine's own compiler. Included by CMakeLists.txt when no toolchain file is.
set(COMANDA_BOARD_FLAGS -fcf-protection)
