#pragma once

// gzip (RFC 1952) of whole texts or of pieces that are kept and joined, and its checksum. Through
// libdeflate.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace comanda {

// The text as one gzip file, as small as the fastest way makes it.
std::string Gzip(std::string_view text);

// A piece of a text, deflated (RFC 1951) up to a whole byte, so that others may stand behind it.
struct DeflatedPiece {
  std::string bytes;
  size_t size = 0;            // of the text, as the next two are
  uint32_t crc = 0;           // its checksum
  uint32_t crc_of_place = 0;  // what its length makes of the checksum of all in front of it
};

// `before` is the text just in front of the piece, which may refer to it; must not be empty itself.
DeflatedPiece DeflatePiece(std::string_view before, std::string_view piece);

// One gzip file, made of pieces in their order.
class GzipFile {
 public:
  explicit GzipFile(size_t bytes_expected = 0);
  void Add(const DeflatedPiece& piece);
  void AddPlain(std::string_view text);  // as it is; at most 65,535 bytes
  std::string Finish() &&;

 private:
  void Count(size_t size, uint32_t crc, uint32_t crc_of_place);

  std::string file_;
  size_t size_ = 0;
  uint32_t crc_ = 0;
};

// What a file made by `gzip -n`, Gzip or GzipFile holds. The file is ours: one that is not whole is
// a broken invariant.
std::string Gunzip(std::span<const uint8_t> file);

// CRC-32 (IEEE, reflected): "123456789" is 0xcbf43926.
uint32_t Crc32(std::string_view data);

// The version of libdeflate that is linked in.
std::string GzipVersion();

}  // namespace comanda
