#include "json/scan.h"

#include <cstddef>
#include <string>
#include <utility>

#include "base/problem.h"
#include "base/text.h"
#include "json/reader.h"

namespace comanda::json {
namespace {

// cJSON parses a number in a buffer of 64 bytes.
constexpr size_t kNumberLengthMax = 63;

bool IsContinuation(unsigned char c) { return (c & 0xC0) == 0x80; }

// The length of the well-formed UTF-8 sequence (RFC 3629) at the start of the text, or 0.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
  };
  const unsigned char lead = byte(0);
  if (lead >= 0xC2 && lead <= 0xDF) return IsContinuation(byte(1)) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    // Excludes overlong forms and surrogates.
    const unsigned char low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : 0xBF;
    const bool good = byte(1) >= low && byte(1) <= high && IsContinuation(byte(2));
    return good ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned char low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xF4 ? 0x8F : 0xBF;
    const bool good =
        byte(1) >= low && byte(1) <= high && IsContinuation(byte(2)) && IsContinuation(byte(3));
    return good ? 4 : 0;
  }
  return 0;
}

enum class IsKey : bool { kNo, kYes };

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Location> Run() {
    if (text_.size() > UINT32_MAX) RefuseAt(text_, 0, "the text is larger than 4 GiB");
    if (text_.starts_with("\xEF\xBB\xBF")) {
      Refuse("a byte order mark stands before the text; send it without");
    }
    SkipBlanks();
    if (AtEnd()) Refuse("there is no value; send a JSON object, like {}");
    ReadValue(at_, 0);
    SkipBlanks();
    if (!AtEnd()) Refuse("the value has ended, and nothing but blanks may follow it");
    return std::move(locations_);
  }

 private:
  bool AtEnd() const { return at_ == text_.size(); }
  // NUL at the end of the text: no rule of the grammar accepts it.
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  [[noreturn]] void Refuse(std::string_view what) const { RefuseAt(text_, at_, what); }

  [[noreturn]] void RefuseExpecting(std::string_view expected) const {
    if (AtEnd()) Refuse("the text ends here, where " + std::string(expected) + " was expected");
    if (Peek() == '/') Refuse("comments are not allowed");
    Refuse(std::string(expected) + " was expected");
  }

  void SkipBlanks() {
    while (!AtEnd()) {
      const char c = text_[at_];
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return;
      ++at_;
    }
  }

  bool Take(char wanted) {
    if (AtEnd() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void ReadValue(size_t key_offset, int depth) {
    if (locations_.size() == kNodesMax) {
      Refuse("there are more than " + std::to_string(kNodesMax) + " values; send fewer at once");
    }
    locations_.push_back({static_cast<uint32_t>(at_), 0, static_cast<uint32_t>(key_offset)});
    const char c = Peek();
    if (c == '{') return ReadObject(depth + 1);
    if (c == '[') return ReadArray(depth + 1);
    if (c == '"') return ReadString(IsKey::kNo);
    if (c == '-' || IsDigit(c)) return ReadNumber(locations_.back());
    ReadWord();
  }

  void CheckDepth(int depth) const {
    if (depth > kDepthMax) {
      Refuse("objects and arrays are nested deeper than " + std::to_string(kDepthMax) + " levels");
    }
  }

  void ReadObject(int depth) {
    CheckDepth(depth);
    ++at_;
    SkipBlanks();
    if (Take('}')) return;
    while (true) {
      const size_t key_offset = at_;
      if (Peek() != '"') RefuseExpecting("a field name in double quotes");
      ReadString(IsKey::kYes);
      SkipBlanks();
      if (!Take(':')) RefuseExpecting("a colon after the field name");
      SkipBlanks();
      ReadValue(key_offset, depth);
      SkipBlanks();
      if (Take('}')) return;
      const size_t comma = at_;
      if (!Take(',')) RefuseExpecting("a comma or }");
      SkipBlanks();
      if (Peek() == '}') RefuseAt(text_, comma, "no comma may stand before }");
    }
  }

  void ReadArray(int depth) {
    CheckDepth(depth);
    ++at_;
    SkipBlanks();
    if (Take(']')) return;
    while (true) {
      ReadValue(at_, depth);
      SkipBlanks();
      if (Take(']')) return;
      const size_t comma = at_;
      if (!Take(',')) RefuseExpecting("a comma or ]");
      SkipBlanks();
      if (Peek() == ']') RefuseAt(text_, comma, "no comma may stand before ]");
    }
  }

  void ReadString(IsKey is_key) {
    const size_t begin = at_++;
    while (true) {
      if (AtEnd()) RefuseAt(text_, begin, "the text that begins here has no closing quote");
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        return;
      }
      if (c == '\\') {
        ReadEscape(is_key);
      } else if (c < 0x20) {
        Refuse("control characters in a text must be escaped, a line break as \\n");
      } else if (c < 0x80) {
        ++at_;
      } else {
        const size_t length = SequenceLength(text_.substr(at_));
        if (length == 0) Refuse("the text is not valid UTF-8");
        at_ += length;
      }
    }
  }

  void ReadEscape(IsKey is_key) {
    const size_t begin = at_++;
    const char c = Peek();
    if (c == 'u') {
      ++at_;
      ReadUnicodeEscape(begin, is_key);
      return;
    }
    constexpr std::string_view kSingle = "\"\\/bfnrt";
    if (AtEnd() || kSingle.find(c) == std::string_view::npos) {
      RefuseAt(
          text_, begin,
          "this escape is unknown; the known ones are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    }
    ++at_;
  }

  void ReadUnicodeEscape(size_t begin, IsKey is_key) {
    const uint32_t unit = ReadFourHexDigits(begin);
    if (unit == 0 && is_key == IsKey::kYes) {
      RefuseAt(text_, begin, "\\u0000 is not allowed in a field name");
    }
    if (unit < 0xD800 || unit > 0xDFFF) return;
    constexpr std::string_view kLone =
        "a surrogate stands alone; a character above U+FFFF is \\uD800-\\uDBFF, then "
        "\\uDC00-\\uDFFF";
    if (unit >= 0xDC00 || !text_.substr(at_).starts_with("\\u")) RefuseAt(text_, begin, kLone);
    const size_t second = at_;
    at_ += 2;
    const uint32_t low = ReadFourHexDigits(second);
    if (low < 0xDC00 || low > 0xDFFF) RefuseAt(text_, begin, kLone);
  }

  uint32_t ReadFourHexDigits(size_t begin) {
    uint32_t unit = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = Peek();
      uint32_t digit = 0;
      if (IsDigit(c)) {
        digit = static_cast<uint32_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        digit = static_cast<uint32_t>(c - 'a' + 10);
      } else if (c >= 'A' && c <= 'F') {
        digit = static_cast<uint32_t>(c - 'A' + 10);
      } else {
        RefuseAt(text_, begin, "\\u needs four hexadecimal digits");
      }
      unit = unit * 16 + digit;
    }
    return unit;
  }

  void ReadNumber(Location& location) {
    const size_t begin = at_;
    Take('-');
    const size_t first_digit = at_;
    RequireDigits("a digit");
    if (text_[first_digit] == '0' && at_ > first_digit + 1) {
      RefuseAt(text_, begin, "a number must not begin with 0");
    }
    if (Take('.')) RequireDigits("a digit after the decimal point");
    if (Peek() == 'e' || Peek() == 'E') {
      ++at_;
      if (!Take('+')) Take('-');
      RequireDigits("a digit of the exponent");
    }
    const size_t length = at_ - begin;
    if (length > kNumberLengthMax) {
      RefuseAt(text_, begin, "a number must have at most 63 characters");
    }
    location.length = static_cast<uint32_t>(length);
  }

  void RequireDigits(std::string_view expected) {
    if (!IsDigit(Peek())) RefuseExpecting(expected);
    while (IsDigit(Peek())) ++at_;
  }

  void ReadWord() {
    const std::string_view rest = text_.substr(at_);
    for (const std::string_view word : {"true", "false", "null"}) {
      if (rest.starts_with(word)) {
        at_ += word.size();
        return;
      }
    }
    if (Peek() == '\'') Refuse("texts must stand in double quotes");
    if (Peek() == '+') Refuse("a number must not begin with +");
    if (Peek() == '.') Refuse("a number must not begin with a point; write 0.5");
    RefuseExpecting("a value: a text in double quotes, a number, true, false, null, { or [");
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<Location> locations_;
};

}  // namespace

std::vector<Location> Scan(std::string_view text) { return Scanner(text).Run(); }

void RefuseAt(std::string_view text, size_t offset, std::string_view what) {
  size_t line = 1;
  size_t column = 1;
  for (const char c : text.substr(0, offset)) {
    if (c == '\n') {
      ++line;
      column = 1;
    } else if (!IsContinuation(static_cast<unsigned char>(c))) {
      ++column;
    }
  }
  throw Refusal(Problem::kInvalidJson, "This is not valid JSON at line " + std::to_string(line) +
                                           ", column " + std::to_string(column) + " (byte offset " +
                                           std::to_string(offset) + "): " + std::string(what) +
                                           ".");
}

}  // namespace comanda::json
