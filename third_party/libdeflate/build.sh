# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# libdeflate: gzip of whole buffers, and CRC-32. Not its zlib format.

case $target in x86_64) processor=x86 ;; *) processor=arm ;; esac

compile "$CC" "$CFLAGS -DNDEBUG -I$source" "$source/lib/crc32.c" "$source/lib/deflate_compress.c" \
  "$source/lib/deflate_decompress.c" "$source/lib/gzip_compress.c" "$source/lib/gzip_decompress.c" \
  "$source/lib/utils.c" "$source/lib/$processor/cpu_features.c"
archive libdeflate.a ./*.o
mkdir -p "$out/include"
cp "$source/libdeflate.h" "$out/include/"
license COPYING
