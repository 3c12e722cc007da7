#include "wire/percent.h"

#include <algorithm>

#include "base/text.h"

namespace comanda::wire {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<std::string> PercentDecoded(std::string_view text, PlusSign plus) {
  const size_t first =
      std::min(text.find_first_of(plus == PlusSign::kBlank ? "%+" : "%"), text.size());
  std::string out(text.substr(0, first));
  for (size_t i = first; i < text.size(); ++i) {
    if (text[i] == '+' && plus == PlusSign::kBlank) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  if (!IsUtf8(out) || out.find('\0') != std::string::npos) return std::nullopt;
  return out;
}

std::string PercentEncoded(std::string_view text) {
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  constexpr std::string_view kUnreserved = "-._~";
  std::string encoded;
  for (const char c : text) {
    if (IsAlphanumeric(c) || kUnreserved.find(c) != kUnreserved.npos) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kHexDigits[byte >> 4];
    encoded += kHexDigits[byte & 0xf];
  }
  return encoded;
}

}  // namespace comanda::wire
