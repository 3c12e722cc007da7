# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# libdeflate: gzip of whole buffers and checksums. Of its compressor the fastest level alone, made faster
# where texts repeat themselves; the rest for size.

# Nothing refers to the other levels' functions then, and the compiler leaves them out.
replace_once "$source/lib/deflate_compress.c" "if (compression_level < 0 || compression_level > 12)" \
  "if (compression_level != 1)"
replace_once "$source/lib/deflate_compress.c" "#define SUPPORT_NEAR_OPTIMAL_PARSING	1" \
  "#define SUPPORT_NEAR_OPTIMAL_PARSING	0"
# It enters every byte of a repetition into its table, most of its work where nearly all is repetition. The
# last two say enough: a page of 50 orders takes 0.11 ms instead of 0.25 (zlib: 0.5), and is no larger.
replace_once "$source/lib/ht_matchfinder.h" "	do {" \
  "	if (remaining > 2) { in_next += remaining - 2; cur_pos += remaining - 2; remaining = 2; hash = lz_hash(get_unaligned_le32(in_next), HT_MATCHFINDER_HASH_ORDER); } do {"
# One way to read for all processors, and for checksums the widest one that old processors have.
replace_once "$source/lib/deflate_decompress.c" '#  include "x86/decompress_impl.h"' ''
replace_once "$source/lib/crc32.c" "#  define DEFAULT_IMPL crc32_slice8" "#  define DEFAULT_IMPL crc32_slice1"
case $target in x86_64) processor=x86 ;; *) processor=arm ;; esac
narrow="-DLIBDEFLATE_ASSEMBLER_DOES_NOT_SUPPORT_VPCLMULQDQ"

compile "$CC" "$CFLAGS -DNDEBUG -I$source" "$source/lib/deflate_compress.c"
compile "$CC" "$CFLAGS -Os -DNDEBUG $narrow -I$source" "$source/lib/crc32.c" \
  "$source/lib/deflate_decompress.c" "$source/lib/gzip_compress.c" "$source/lib/gzip_decompress.c" \
  "$source/lib/utils.c" "$source/lib/$processor/cpu_features.c"
archive libdeflate.a ./*.o
mkdir -p "$out/include"
cp "$source/libdeflate.h" "$out/include/"
license COPYING
