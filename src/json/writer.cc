#include "json/writer.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/check.h"
#include "base/decimal.h"
#include "base/problem.h"
#include "base/text.h"
#include "json/scan.h"

namespace comanda::json {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

void AppendEscape(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 0xF];
      return;
  }
}

// The bytes of the character at the front, which is not ASCII; 0: it is no UTF-8.
size_t CharacterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::string_view character = text.substr(0, lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2);
  return IsUtf8(character) ? character.size() : 0;
}

}  // namespace

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  // Start of the run of characters that need no escape.
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_ascii = static_cast<unsigned char>(text[i]) < 0x80;
    if (is_ascii && !NeedsEscape(text[i])) continue;
    if (const size_t bytes = is_ascii ? 0 : CharacterBytes(text.substr(i)); bytes > 0) {
      i += bytes - 1;
      continue;
    }
    out.append(text, begin, i - begin);
    if (is_ascii) {
      AppendEscape(out, text[i]);
    } else {
      out += "\\ufffd";  // a text from a damaged row
    }
    begin = i + 1;
  }
  out.append(text, begin, text.size() - begin);
  out += '"';
}

void Writer::Begin(Nest nest, char bracket) {
  BeforeValue();
  CHECK(depth_ < kDepthMax, "the caller keeps the nesting flat");
  nests_[depth_++] = nest;
  out_ += bracket;
  need_comma_ = false;
}

void Writer::End(Nest nest, char bracket) {
  CHECK(depth_ > 0 && nests_[depth_ - 1] == nest && !after_key_,
        "the caller keeps the nesting right");
  --depth_;
  out_ += bracket;
  need_comma_ = true;
}

void Writer::BeforeValue() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  CHECK(depth_ == 0 || nests_[depth_ - 1] == Nest::kArray, "a value in an object follows a key");
  Comma();
}

void Writer::Comma() {
  if (need_comma_) out_ += ',';
  need_comma_ = true;
}

Writer& Writer::BeginObject() {
  Begin(Nest::kObject, '{');
  return *this;
}

Writer& Writer::EndObject() {
  End(Nest::kObject, '}');
  return *this;
}

Writer& Writer::BeginArray() {
  Begin(Nest::kArray, '[');
  return *this;
}

Writer& Writer::EndArray() {
  End(Nest::kArray, ']');
  return *this;
}

void Writer::BeforeKey() {
  CHECK(!after_key_ && (depth_ == 0 || nests_[depth_ - 1] == Nest::kObject),
        "a key stands in an object, after a value");
  after_key_ = true;
}

Writer& Writer::Key(Name name) {
  BeforeKey();
  std::array<char, Name::kSizeMax + 4> quoted;
  char* end = quoted.data();
  if (need_comma_) *end++ = ',';
  need_comma_ = true;
  *end++ = '"';
  end = std::copy_n(name.text().data(), name.text().size(), end);
  *end++ = '"';
  *end++ = ':';
  out_.append(quoted.data(), end);
  return *this;
}

Writer& Writer::KeyOf(std::string_view name) {
  BeforeKey();
  Comma();
  AppendQuoted(out_, name);
  out_ += ':';
  return *this;
}

Writer& Writer::Text(std::string_view value) {
  BeforeValue();
  AppendQuoted(out_, value);
  return *this;
}

Writer& Writer::Text(const std::optional<std::string>& value) {
  return value ? Text(std::string_view(*value)) : Null();
}

Writer& Writer::Integer(int64_t value) {
  BeforeValue();
  std::array<char, 24> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out_.append(digits.data(), result.ptr);
  return *this;
}

Writer& Writer::Integer(std::optional<int64_t> value) { return value ? Integer(*value) : Null(); }

Writer& Writer::Boolean(bool value) { return Raw(value ? "true" : "false"); }

Writer& Writer::Null() { return Raw("null"); }

Writer& Writer::Scaled(int64_t units, int decimals) {
  BeforeValue();
  AppendScaled(out_, units, decimals);
  return *this;
}

Writer& Writer::Scaled(std::optional<int64_t> units, int decimals) {
  return units ? Scaled(*units, decimals) : Null();
}

Writer& Writer::Instant(UtcMs value) {
  BeforeValue();
  out_ += '"';
  AppendInstant(out_, value);
  out_ += '"';
  return *this;
}

Writer& Writer::Instant(std::optional<UtcMs> value) { return value ? Instant(*value) : Null(); }

Writer& Writer::Raw(std::string_view json) {
  BeforeValue();
  out_ += json;
  return *this;
}

Writer& Writer::Members(std::string_view object) {
  CHECK(object.starts_with('{') && object.ends_with('}'), "members stand in an object");
  const std::string_view members = object.substr(1, object.size() - 2);
  if (members.empty()) return *this;
  BeforeKey();
  Comma();
  out_ += members;
  after_key_ = false;
  return *this;
}

Writer& Writer::Stored(std::string_view json) {
  try {
    Scan(json);
    return Raw(json);
  } catch (const Refusal&) {
    return Null();
  }
}

}  // namespace comanda::json
