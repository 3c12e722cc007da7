#include "web/html.h"

#include <algorithm>

#include "base/concat.h"
#include "base/text.h"

namespace comanda::web {
namespace {

// Calls fn(piece) for what lies between the separators; not for empty pieces.
template <typename Fn>
void ForEachPiece(std::string_view text, std::string_view separator, Fn&& fn) {
  while (!text.empty()) {
    const size_t end = text.find(separator);
    const std::string_view piece = text.substr(0, end);
    if (!piece.empty()) fn(piece);
    if (end == text.npos) return;
    text.remove_prefix(end + separator.size());
  }
}

// The length of the address at the beginning of the text. Punctuation at its end belongs to the
// sentence.
size_t AddressLength(std::string_view text) {
  size_t length = std::min(text.find_first_of(" \n`*)"), text.size());
  while (length > 0 && std::string_view(".,;:").find(text[length - 1]) != std::string_view::npos) {
    --length;
  }
  return length;
}

// Appends what begins at `text` with `mark` and ends with it, and returns how long that is; 0 where
// the mark does not end.
size_t AppendMarked(std::string& out, std::string_view text, std::string_view mark,
                    std::string_view element) {
  const size_t end = text.find(mark, mark.size());
  if (!text.starts_with(mark) || end == text.npos) return 0;
  const std::string inside = HtmlEscaped(text.substr(mark.size(), end - mark.size()));
  out += Concat({"<", element, ">", inside, "</", element, ">"});
  return end + mark.size();
}

size_t AppendLink(std::string& out, std::string_view text) {
  if (!text.starts_with("https://")) return 0;
  const size_t length = AddressLength(text);
  const std::string address = HtmlEscaped(text.substr(0, length));
  out += Concat({"<a href=\"", address, "\">", address, "</a>"});
  return length;
}

}  // namespace

std::string Inline(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t done = AppendMarked(out, text, "`", "code");
    if (done == 0) done = AppendMarked(out, text, "**", "strong");
    if (done == 0) done = AppendLink(out, text);
    if (done == 0) {
      done = 1;
      out += HtmlEscaped(text.substr(0, 1));
    }
    text.remove_prefix(done);
  }
  return out;
}

std::string Prose(std::string_view text) {
  std::string out;
  ForEachPiece(text, "\n\n", [&](std::string_view part) {
    if (!part.starts_with("- ")) {
      out += Concat({"<p>", Inline(part), "</p>"});
      return;
    }
    out += "<ul>";
    ForEachPiece(part, "\n", [&](std::string_view line) {
      out += Concat({"<li>", Inline(line.substr(2)), "</li>"});
    });
    out += "</ul>";
  });
  return out;
}

}  // namespace comanda::web
