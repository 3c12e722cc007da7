# 64-bit PCs: the build machine's own compiler, nothing but the hardening flag of the processor.
set(COMANDA_BOARD_FLAGS -fcf-protection)
