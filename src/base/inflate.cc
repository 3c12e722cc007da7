#include "base/inflate.h"

#include <zlib.h>

#include <array>

#include "base/check.h"

namespace comanda {

std::string Gunzip(std::span<const uint8_t> file) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;
  z_stream stream{};
  CHECK(inflateInit2(&stream, kGzipOnly) == Z_OK, "zlib is the one this program was built with");
  stream.next_in = const_cast<uint8_t*>(file.data());  // zlib reads it only
  stream.avail_in = static_cast<uInt>(file.size());

  std::string text;
  std::array<char, 16 * 1024> piece;
  int state = Z_OK;
  while (state == Z_OK) {
    stream.next_out = reinterpret_cast<uint8_t*>(piece.data());
    stream.avail_out = piece.size();
    state = inflate(&stream, Z_NO_FLUSH);
    text.append(piece.data(), piece.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  CHECK(state == Z_STREAM_END && stream.avail_in == 0, "what is embedded is whole");
  return text;
}

std::string ZlibVersion() { return zlibVersion(); }

}  // namespace comanda
