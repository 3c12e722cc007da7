# shellcheck shell=sh disable=SC2154 # variables of third_party/build
# libdeflate: gzip of whole buffers and of pieces to be joined, and checksums. Of its compressor the fastest
# level alone, made faster where texts repeat themselves; the rest for size.

# Nothing refers to the other levels' functions then, and the compiler leaves them out.
replace_once "$source/lib/deflate_compress.c" "if (compression_level < 0 || compression_level > 12)" \
  "if (compression_level != 1)"
replace_once "$source/lib/deflate_compress.c" "#define SUPPORT_NEAR_OPTIMAL_PARSING	1" \
  "#define SUPPORT_NEAR_OPTIMAL_PARSING	0"
# It enters every byte of a repetition into its table, most of its work where nearly all is repetition. The
# last two say enough: a page of 50 orders takes 0.11 ms instead of 0.25 (zlib: 0.5), and is no larger.
replace_once "$source/lib/ht_matchfinder.h" "	do {" \
  "	if (remaining > 2) { in_next += remaining - 2; cur_pos += remaining - 2; remaining = 2; hash = lz_hash(get_unaligned_le32(in_next), HT_MATCHFINDER_HASH_ORDER); } do {"
# What after.c is for: the reader knows the first bytes, and the last block is followed by others.
replace_once "$source/lib/deflate_compress.c" "	size_t max_passthrough_size;" \
  "	size_t max_passthrough_size; size_t known; bool goes_on;"
replace_once "$source/lib/deflate_compress.c" "	ht_matchfinder_init(&c->p.f.ht_mf);" \
  "	ht_matchfinder_init(&c->p.f.ht_mf);
	for (; in_next < in + c->known && in_end - in_next >= 4; in_next++) {
		mf_pos_t *bucket = c->p.f.ht_mf.hash_tab[
			lz_hash(get_unaligned_le32(in_next), HT_MATCHFINDER_HASH_ORDER)];
		bucket[1] = bucket[0];
		bucket[0] = in_next - in;
	}
	in_next = in + c->known;"
replace_once "$source/lib/deflate_compress.c" "c->p.f.sequences, in_next == in_end);" \
  "c->p.f.sequences, in_next == in_end && !c->goes_on);"
replace_once "$source/lib/deflate_compress.c" "	c->max_passthrough_size = 55 - (compression_level * 4);" \
  "	c->max_passthrough_size = 55 - (compression_level * 4); c->known = 0; c->goes_on = false;"
replace_once "$source/libdeflate.h" "libdeflate_deflate_compress_bound(struct libdeflate_compressor *compressor," \
  "libdeflate_deflate_compress_after(struct libdeflate_compressor *c, const void *in, size_t known,
				  size_t size, void *out, size_t room);
LIBDEFLATEAPI size_t
libdeflate_deflate_compress_bound(struct libdeflate_compressor *compressor,"
# One way to read for all processors, and for checksums the widest one that old processors have.
replace_once "$source/lib/deflate_decompress.c" '#  include "x86/decompress_impl.h"' ''
replace_once "$source/lib/crc32.c" "#  define DEFAULT_IMPL crc32_slice8" "#  define DEFAULT_IMPL crc32_slice1"
case $target in x86_64) processor=x86 ;; *) processor=arm ;; esac
narrow="-DLIBDEFLATE_ASSEMBLER_DOES_NOT_SUPPORT_VPCLMULQDQ"

compile "$CC" "$CFLAGS -DNDEBUG -I$source" "$recipe/after.c"
compile "$CC" "$CFLAGS -Os -DNDEBUG $narrow -I$source" "$source/lib/crc32.c" \
  "$source/lib/deflate_decompress.c" "$source/lib/gzip_compress.c" "$source/lib/gzip_decompress.c" \
  "$source/lib/utils.c" "$source/lib/$processor/cpu_features.c"
archive libdeflate.a ./*.o
mkdir -p "$out/include"
cp "$source/libdeflate.h" "$out/include/"
license COPYING
