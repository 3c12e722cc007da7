// libdeflate's compressor, and an entry of our own into it: one piece of a text, to be joined with
// others. build.sh adds to deflate_compress_fastest() what this needs: c->known, the bytes in front
// of the piece that the reader has already, and c->goes_on, that no block is the last one.

#include "lib/deflate_compress.c"

// The bytes from `known` to `size`, deflated up to a whole byte (RFC 1951: an empty stored block is
// what fills the last one). `known` is at most the window, `out` has room for the bound and 6 more.
LIBDEFLATEAPI size_t
libdeflate_deflate_compress_after(struct libdeflate_compressor *c, const void *in, size_t known,
                                  size_t size, void *out, size_t room) {
  static const u8 kNothingStored[] = {0x00, 0x00, 0xff, 0xff};
  struct deflate_output_bitstream os = {
      .next = out, .end = (u8 *)out + room - 2 - sizeof(kNothingStored)};
  c->known = known;
  c->goes_on = true;
  (*c->impl)(c, in, size, &os);
  c->known = 0;
  c->goes_on = false;
  if (os.overflow) return 0;
  *os.next++ = (u8)os.bitbuf;
  if (os.bitcount > 5) *os.next++ = 0;  // the three bits that begin a block
  memcpy(os.next, kNothingStored, sizeof(kNothingStored));
  return os.next + sizeof(kNothingStored) - (u8 *)out;
}
