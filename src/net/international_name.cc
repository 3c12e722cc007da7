#include "net/international_name.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace comanda::net {
namespace {

// Letters without upper case, or in lower case, in composed form (NFC). Others have rules of their
// own (RFC 5892), or look like letters of these.
struct Range {
  char32_t first, last;
};
constexpr std::array kLetters = {
    Range{0xdf, 0xf6},     Range{0xf8, 0x17f},     // Latin
    Range{0x3ac, 0x3ce},                           // Greek
    Range{0x430, 0x45f},                           // Cyrillic
    Range{0x5d0, 0x5ea},                           // Hebrew
    Range{0x3041, 0x3096}, Range{0x30a1, 0x30fa},  // Kana
    Range{0x4e00, 0x9fff}, Range{0xac00, 0xd7a3},  // Han, Hangul
};

char32_t Lower(char32_t c) {
  const bool is_latin = c >= 0xc0 && c <= 0xde && c != 0xd7;
  const bool is_greek = c >= 0x391 && c <= 0x3a9;
  const bool is_cyrillic = c >= 0x410 && c <= 0x42f;
  if (is_latin || is_greek || is_cyrillic) return c + 0x20;
  if (c >= 0x400 && c <= 0x40f) return c + 0x50;
  // Latin Extended-A: capitals are even, behind U+0138 odd, behind U+014A even again.
  const bool is_even = (c >= 0x100 && c <= 0x137 && c != 0x130) || (c >= 0x14a && c <= 0x177);
  const bool is_odd = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e);
  if (is_even) return c | 1;
  if (is_odd && c % 2 == 1) return c + 1;
  return c == 0x178 ? 0xff : c;
}

// The code points of a label in lower case; nothing where one is no letter that is accepted.
std::optional<std::u32string> CodePoints(std::string_view label) {
  if (!IsUtf8(label)) return std::nullopt;
  std::u32string points;
  for (size_t i = 0; i < label.size();) {
    const auto byte = static_cast<unsigned char>(label[i++]);
    const int more = byte < 0x80 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    char32_t point = more == 0 ? byte : byte & (0x3fU >> more);
    for (int n = 0; n < more; ++n) {
      point = point << 6 | (static_cast<unsigned char>(label[i++]) & 0x3fU);
    }
    if (point < 0x80) {
      points += static_cast<char32_t>(AsciiLower(std::string(1, static_cast<char>(point)))[0]);
      continue;
    }
    point = Lower(point);
    const bool is_letter = std::ranges::any_of(
        kLetters, [&](const Range& range) { return point >= range.first && point <= range.last; });
    if (!is_letter || point == 0x138 || point == 0x149 || point == 0x17f) return std::nullopt;
    points += point;
  }
  return points;
}

// RFC 3492.
constexpr uint32_t kBase = 36, kMin = 1, kMax = 26, kSkew = 38, kDamp = 700, kFirstBias = 72;

uint32_t Adapted(uint32_t delta, uint32_t count, bool is_first) {
  delta = is_first ? delta / kDamp : delta / 2;
  delta += delta / count;
  uint32_t k = 0;
  for (; delta > (kBase - kMin) * kMax / 2; k += kBase) delta /= kBase - kMin;
  return k + (kBase - kMin + 1) * delta / (delta + kSkew);
}

void AppendNumber(std::string& out, uint32_t number, uint32_t bias) {
  constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz0123456789";
  for (uint32_t k = kBase;; k += kBase) {
    const uint32_t threshold = k <= bias ? kMin : std::min(k - bias, kMax);
    if (number < threshold) break;
    const uint32_t more = kBase - threshold;
    out += kDigits[threshold + (number - threshold) % more];
    number = (number - threshold) / more;
  }
  out += kDigits[number];
}

std::string Punycode(const std::u32string& points) {
  std::string out;
  for (const char32_t point : points) {
    if (point < 0x80) out += static_cast<char>(point);
  }
  const auto basic = static_cast<uint32_t>(out.size());
  if (basic > 0) out += '-';
  uint32_t done = basic, delta = 0, bias = kFirstBias;
  char32_t at = 0x80;
  while (done < points.size()) {
    char32_t next = 0x10ffff;
    for (const char32_t point : points) {
      if (point >= at) next = std::min(next, point);
    }
    delta += (next - at) * (done + 1);
    at = next;
    for (const char32_t point : points) {
      if (point < at) ++delta;
      if (point != at) continue;
      AppendNumber(out, delta, bias);
      bias = Adapted(delta, done + 1, done == basic);
      delta = 0;
      ++done;
    }
    ++delta;
    ++at;
  }
  return out;
}

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::string WithAsciiHost(const std::string& url) {
  constexpr std::string_view kScheme = "://";
  constexpr size_t kLabelBytesMax = 63 * 4;
  const size_t colon = url.find(kScheme);
  if (colon == std::string::npos || IsAscii(url)) return url;
  const size_t begin = colon + kScheme.size();
  const size_t end = std::min(url.find_first_of("/?#:@[\\", begin), url.size());
  std::string host;
  for (std::string_view rest = std::string_view(url).substr(begin, end - begin);;) {
    const size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view label = rest.substr(0, dot);
    if (IsAscii(label)) {
      host += label;
    } else {
      if (label.size() > kLabelBytesMax) return url;
      const auto points = CodePoints(label);
      if (!points) return url;
      host += "xn--" + Punycode(*points);
    }
    if (dot == rest.size()) break;
    host += '.';
    rest.remove_prefix(dot + 1);
  }
  return url.substr(0, begin) + host + url.substr(end);
}

}  // namespace comanda::net
