#include "events/cursor.h"

#include <array>
#include <charconv>

namespace comanda::events {
namespace {

// Epoch and seq are written in base 36, which discourages clients from computing with cursors.
constexpr int kBase = 36;
constexpr char kMark = '.';

void AppendNumber(std::string& out, int64_t number) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, kBase);
  out.append(digits.data(), end.ptr);
}

std::optional<int64_t> ReadNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, kBase);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::string Encode(Cursor cursor) {
  std::string text;
  AppendNumber(text, cursor.epoch);
  text += kMark;
  AppendNumber(text, cursor.seq);
  return text;
}

std::optional<Cursor> Decode(std::string_view text) {
  const size_t mark = text.find(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  const std::optional<int64_t> epoch = ReadNumber(text.substr(0, mark));
  const std::optional<int64_t> seq = ReadNumber(text.substr(mark + 1));
  if (!epoch || !seq) return std::nullopt;
  const Cursor cursor{*epoch, *seq};
  // Each cursor has one spelling: no leading zeros, no capitals.
  if (Encode(cursor) != text) return std::nullopt;
  return cursor;
}

}  // namespace comanda::events
