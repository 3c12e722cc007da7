#pragma once

// Writes JSON into a string, in the order of the calls and without blanks.
//
// The writer inserts commas; the caller balances Begin... and End... (CHECK). Outside of any
// container both keys and values may be written, so that a part of an object can be rendered
// separately and inserted by Raw(). Functions return the writer, for chaining. One thread at a
// time.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"

namespace comanda::json {

// Appends a JSON string. Escapes what RFC 8259 section 7 requires; other characters stay UTF-8.
void AppendQuoted(std::string& out, std::string_view text);

constexpr bool NeedsEscape(char c) {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

// The name of a member, given as a literal. That it needs no escaping is checked at compile time,
// so Key() copies it unchanged.
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

// `out` must outlive the writer; text is appended to it.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  Writer& BeginObject();
  Writer& EndObject();
  Writer& BeginArray();
  Writer& EndArray();
  Writer& Key(Name name);
  // A name known only at run time; escaped.
  Writer& KeyOf(std::string_view name);

  Writer& Text(std::string_view value);
  Writer& Text(const std::string& value) { return Text(std::string_view(value)); }
  Writer& Text(const char* value) { return Text(std::string_view(value)); }
  // The overloads with an optional write null for nothing.
  Writer& Text(const std::optional<std::string>& value);
  Writer& Integer(int64_t value);
  Writer& Integer(std::optional<int64_t> value);
  Writer& Boolean(bool value);
  Writer& Null();
  // units x 10^-decimals as the shortest exact decimal (contract section 1, Money on the wire).
  Writer& Scaled(int64_t units, int decimals);
  Writer& Scaled(std::optional<int64_t> units, int decimals);
  // A timestamp as FormatInstant() writes it.
  Writer& Instant(UtcMs value);
  Writer& Instant(std::optional<UtcMs> value);
  // Inserts rendered JSON unchanged.
  Writer& Raw(std::string_view json);
  // Inserts the members of a rendered object, in an object.
  Writer& Members(std::string_view object);
  // Inserts a JSON value that a row holds as text; null where a damaged row holds another text.
  Writer& Stored(std::string_view json);

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
