#pragma once

// Writes JSON into a string, in the order of the calls, without blanks. It keeps the commas; the
// caller keeps the nesting right (checked). Outside of any Begin… both keys and values may be
// written: so a part of an object can be rendered by itself.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace comanda::json {

// Appends the text in quotes, escaped (RFC 8259 section 7; non-ASCII stays UTF-8).
void AppendQuoted(std::string& out, std::string_view text);

constexpr bool NeedsEscape(char c) {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

// The name of a member as a literal that needs no escaping, which is checked when the program is
// compiled.
class Name {
 public:
  static constexpr size_t kSizeMax = 60;
  template <size_t kSize>
  consteval Name(const char (&literal)[kSize]) : text_(literal, kSize - 1) {
    static_assert(kSize - 1 <= kSizeMax);
    for (const char c : text_) {
      if (NeedsEscape(c)) throw "a name that needs escaping is written by KeyOf";
    }
  }
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  Writer& BeginObject();
  Writer& EndObject();
  Writer& BeginArray();
  Writer& EndArray();
  Writer& Key(Name name);
  Writer& KeyOf(std::string_view name);  // escaped

  Writer& Text(std::string_view value);
  Writer& Text(const std::string& value) { return Text(std::string_view(value)); }
  Writer& Text(const char* value) { return Text(std::string_view(value)); }
  Writer& Text(const std::optional<std::string>& value);  // null when nothing
  Writer& Integer(int64_t value);
  Writer& Integer(std::optional<int64_t> value);
  Writer& Boolean(bool value);
  Writer& Null();
  // units x 10^-decimals, shortest exact decimal (contract section 1, money on the wire).
  Writer& Scaled(int64_t units, int decimals);
  Writer& Scaled(std::optional<int64_t> units, int decimals);
  Writer& Instant(UtcMs value);
  Writer& Instant(std::optional<UtcMs> value);
  // JSON that is already rendered.
  Writer& Raw(std::string_view json);

 private:
  enum class Nest : uint8_t { kObject, kArray };
  static constexpr size_t kDepthMax = 32;

  void Begin(Nest nest, char bracket);
  void End(Nest nest, char bracket);
  void BeforeKey();
  void BeforeValue();
  void Comma();

  std::string& out_;
  bool need_comma_ = false;
  bool after_key_ = false;
  size_t depth_ = 0;
  std::array<Nest, kDepthMax> nests_{};
};

}  // namespace comanda::json
