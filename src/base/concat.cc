#include "base/concat.h"

#include <charconv>

namespace comanda {

void Piece::Write(long long value) {
  const auto written = std::to_chars(digits_.data(), digits_.data() + digits_.size(), value);
  text_ = {digits_.data(), written.ptr};
}

void Piece::Write(unsigned long long value) {
  const auto written = std::to_chars(digits_.data(), digits_.data() + digits_.size(), value);
  text_ = {digits_.data(), written.ptr};
}

std::string Concat(std::initializer_list<Piece> pieces) {
  size_t size = 0;
  for (const Piece& piece : pieces) size += piece.text().size();
  std::string whole;
  whole.reserve(size);
  for (const Piece& piece : pieces) whole += piece.text();
  return whole;
}

}  // namespace comanda
