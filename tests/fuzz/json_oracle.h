#pragma once

// A second opinion on what strict JSON is (RFC 8259 with the limits of json/reader.h): a small
// reader of its own that shares nothing with the product's.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "json/reader.h"

namespace comanda::fuzz {

class JsonOracle {
 public:
  explicit JsonOracle(std::string_view text) : text_(text) {}

  bool Accepts() {
    Blanks();
    return Value(0) && (Blanks(), at_ == text_.size()) && values_ <= json::kNodesMax;
  }

 private:
  char Next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool Eat(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void Blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  size_t Digits() {
    const size_t begin = at_;
    while (Next() >= '0' && Next() <= '9') ++at_;
    return at_ - begin;
  }

  bool Value(int depth) {
    ++values_;
    if (depth + (Next() == '{' || Next() == '[') > json::kDepthMax) return false;
    if (Next() == '{') return Members(depth + 1);
    if (Next() == '[') return Items(depth + 1);
    if (Next() == '"') return String().has_value();
    if (Eat("true") || Eat("false") || Eat("null")) return true;
    return Number();
  }

  bool Number() {
    const size_t begin = at_;
    Eat("-");
    if (!Eat("0") && Digits() == 0) return false;
    if (Eat(".") && Digits() == 0) return false;
    if (Eat("e") || Eat("E")) {
      if (!Eat("+")) Eat("-");
      if (Digits() == 0) return false;
    }
    return at_ - begin <= 63;
  }

  bool Items(int depth) {
    Eat("[");
    Blanks();
    if (Eat("]")) return true;
    while (Value(depth)) {
      Blanks();
      if (Eat("]")) return true;
      if (!Eat(",")) return false;
      Blanks();
    }
    return false;
  }

  bool Members(int depth) {
    Eat("{");
    std::set<std::string> names;
    Blanks();
    if (Eat("}")) return true;
    while (Next() == '"') {
      const std::optional<std::string> name = String(Nul::kRefused);
      if (!name || !names.insert(*name).second) return false;
      Blanks();
      if (!Eat(":")) return false;
      Blanks();
      if (!Value(depth)) return false;
      Blanks();
      if (Eat("}")) return true;
      if (!Eat(",")) return false;
      Blanks();
    }
    return false;
  }

  // The code point of one UTF-8 sequence (Unicode table 3-7), or nothing.
  std::optional<uint32_t> Character() {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    const int more = byte < 0x80 ? 0 : byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC0 ? 1 : -1;
    if (more < 0 || byte > 0xF7 || at_ + static_cast<size_t>(more) >= text_.size()) {
      return std::nullopt;
    }
    uint32_t point = more == 0 ? byte : byte & (0x3Fu >> more);
    for (int i = 0; i < more; ++i) {
      const auto next = static_cast<unsigned char>(text_[++at_]);
      if (next >> 6 != 2) return std::nullopt;
      point = point << 6 | (next & 0x3Fu);
    }
    ++at_;
    constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (point < kLeast[more] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) {
      return std::nullopt;
    }
    return point;
  }

  std::optional<uint32_t> FourHex() {
    uint32_t unit = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const size_t digit = std::string_view("0123456789abcdef").find(Next() | 0x20);
      const bool is_digit = Next() >= '0' && Next() <= '9';
      const bool is_letter = digit >= 10 && digit < 16;
      if (!is_digit && !is_letter) return std::nullopt;
      unit = unit * 16 + static_cast<uint32_t>(digit);
    }
    return unit;
  }

  std::optional<uint32_t> Escape() {
    if (!Eat("u")) {
      const size_t which =
          at_ < text_.size() ? std::string_view("\"\\/bfnrt").find(Next()) : text_.npos;
      if (which == text_.npos) return std::nullopt;
      ++at_;
      return static_cast<uint32_t>("\"\\/\b\f\n\r\t"[which]);
    }
    const std::optional<uint32_t> unit = FourHex();
    if (!unit || (*unit >= 0xDC00 && *unit < 0xE000)) return std::nullopt;
    if (*unit < 0xD800 || *unit >= 0xE000) return unit;
    if (!Eat("\\u")) return std::nullopt;
    const std::optional<uint32_t> low = FourHex();
    if (!low || *low < 0xDC00 || *low >= 0xE000) return std::nullopt;
    return 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00);
  }

  // As an escape: a text may have it, a name may not.
  enum class Nul { kAccepted, kRefused };

  // Its characters, told apart by four bytes each.
  std::optional<std::string> String(Nul nul = Nul::kAccepted) {
    Eat("\"");
    std::string characters;
    while (at_ < text_.size()) {
      if (Eat("\"")) return characters;
      if (static_cast<unsigned char>(Next()) < 0x20) return std::nullopt;
      const std::optional<uint32_t> point = Eat("\\") ? Escape() : Character();
      if (!point || (*point == 0 && nul == Nul::kRefused)) return std::nullopt;
      for (int shift = 0; shift < 32; shift += 8) characters += static_cast<char>(*point >> shift);
    }
    return std::nullopt;
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t values_ = 0;
};

}  // namespace comanda::fuzz
