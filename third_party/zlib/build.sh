# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# zlib: reading what is embedded compressed, and checksums. Without its files (gz*) and its writer.

apply_series '*'

compile "$CC" "$CFLAGS -DNDEBUG -DHAVE_HIDDEN" "$source/adler32.c" "$source/crc32.c" \
  "$source/inffast.c" "$source/inflate.c" "$source/inftrees.c" "$source/zutil.c"
archive libz.a ./*.o
mkdir -p "$out/include"
cp "$source/zlib.h" "$source/zconf.h" "$out/include/"
license LICENSE
