#include "base/gzip.h"

#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "base/check.h"

namespace comanda {
namespace {

constexpr int kFastest = 1;
constexpr size_t kGrowthMax = 1032;  // no deflated bit says more than that (258 bytes in two bits)

struct Free {
  void operator()(libdeflate_compressor* one) const { libdeflate_free_compressor(one); }
  void operator()(libdeflate_decompressor* one) const { libdeflate_free_decompressor(one); }
};

template <typename Handle>
std::unique_ptr<Handle, Free> Owned(Handle* handle) {
  if (handle == nullptr) throw std::bad_alloc();
  return std::unique_ptr<Handle, Free>(handle);
}

// -- the checksum of joined texts -----------------------------------------------------------------

// CRC-32 is what is left of a text, read as a polynomial over two elements, by this one. Bits stand
// the other way round: x^0 is the highest.
constexpr uint32_t kPolynomial = 0xedb88320;
constexpr uint32_t kOne = uint32_t{1} << 31;
constexpr uint32_t kByte = kOne >> 8;  // x^8: moves a text by a byte

constexpr uint32_t Times(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (; a != 0; a <<= 1) {
    if ((a & kOne) != 0) product ^= b;
    b = (b & 1) != 0 ? b >> 1 ^ kPolynomial : b >> 1;
  }
  return product;
}

// x^(8 * bytes)
constexpr uint32_t Place(size_t bytes) {
  uint32_t place = kOne;
  for (uint32_t power = kByte; bytes != 0; bytes >>= 1, power = Times(power, power)) {
    if ((bytes & 1) != 0) place = Times(place, power);
  }
  return place;
}

// -- files ----------------------------------------------------------------------------------------

void AppendNumber(std::string& file, size_t number, int bytes) {
  for (; bytes > 0; --bytes, number >>= 8) file += static_cast<char>(number & 0xff);
}

// A gzip file ends with the size of what it holds.
size_t SizeInside(std::span<const uint8_t> file) {
  constexpr size_t kSizeBytes = 4;
  size_t size = 0;
  for (const uint8_t byte : file.last(kSizeBytes)) {
    size = size >> 8 | static_cast<size_t>(byte) << 24;
  }
  return size;
}

}  // namespace

std::string Gzip(std::string_view text) {
  const auto compressor = Owned(libdeflate_alloc_compressor(kFastest));
  const size_t size_max = libdeflate_gzip_compress_bound(compressor.get(), text.size());
  const auto file = std::make_unique_for_overwrite<char[]>(size_max);
  const size_t size =
      libdeflate_gzip_compress(compressor.get(), text.data(), text.size(), file.get(), size_max);
  CHECK(size > 0, "what is compressed has room for the worst case");
  return std::string(file.get(), size);
}

DeflatedPiece DeflatePiece(std::string_view before, std::string_view piece) {
  constexpr size_t kWindow = 32'768;
  constexpr size_t kEndBytes = 6;
  CHECK(!piece.empty(), "a piece says something");
  before = before.substr(before.size() - std::min(before.size(), kWindow));
  const std::string text = std::string(before).append(piece);
  const auto compressor = Owned(libdeflate_alloc_compressor(kFastest));
  const size_t size_max =
      libdeflate_deflate_compress_bound(compressor.get(), piece.size()) + kEndBytes;
  const auto bytes = std::make_unique_for_overwrite<char[]>(size_max);
  const size_t size = libdeflate_deflate_compress_after(
      compressor.get(), text.data(), before.size(), text.size(), bytes.get(), size_max);
  CHECK(size > 0, "what is compressed has room for the worst case");
  return {std::string(bytes.get(), size), piece.size(), Crc32(piece), Place(piece.size())};
}

GzipFile::GzipFile(size_t bytes_expected) {
  constexpr std::string_view kHead("\x1f\x8b\x08\0\0\0\0\0\x04\xff", 10);
  constexpr size_t kFrame = 64;  // head, end, and those of plain texts
  file_.reserve(bytes_expected + kFrame);
  file_ += kHead;
}

void GzipFile::Add(const DeflatedPiece& piece) {
  file_ += piece.bytes;
  Count(piece.size, piece.crc, piece.crc_of_place);
}

void GzipFile::AddPlain(std::string_view text) {
  constexpr size_t kSizeMax = 0xffff;
  CHECK(text.size() <= kSizeMax, "a stored block holds the text");
  file_ += '\0';
  AppendNumber(file_, text.size(), 2);
  AppendNumber(file_, ~text.size(), 2);
  file_ += text;
  Count(text.size(), Crc32(text), Place(text.size()));
}

void GzipFile::Count(size_t size, uint32_t crc, uint32_t crc_of_place) {
  size_ += size;
  crc_ = Times(crc_, crc_of_place) ^ crc;
}

std::string GzipFile::Finish() && {
  constexpr std::string_view kEnd("\x03\0", 2);  // the last block, with nothing in it
  file_ += kEnd;
  AppendNumber(file_, crc_, 4);
  AppendNumber(file_, size_, 4);
  return std::move(file_);
}

std::string Gunzip(std::span<const uint8_t> file) {
  constexpr size_t kSizeMin = 18;
  CHECK(file.size() >= kSizeMin && SizeInside(file) <= file.size() * kGrowthMax,
        "what is embedded is whole");
  const auto decompressor = Owned(libdeflate_alloc_decompressor());
  std::string text(SizeInside(file), '\0');
  size_t read = 0;
  const libdeflate_result result = libdeflate_gzip_decompress_ex(
      decompressor.get(), file.data(), file.size(), text.data(), text.size(), &read, nullptr);
  CHECK(result == LIBDEFLATE_SUCCESS && read == file.size(), "what is embedded is whole");
  return text;
}

uint32_t Crc32(std::string_view data) { return libdeflate_crc32(0, data.data(), data.size()); }

std::string GzipVersion() { return LIBDEFLATE_VERSION_STRING; }

}  // namespace comanda
