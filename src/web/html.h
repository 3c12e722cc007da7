#pragma once

// Descriptions of openapi.json as HTML. They are written in a small part of CommonMark, which these
// functions know; other marks are text. Everything else is escaped, so that no description can add
// an element to the page. Pure functions; any thread.

#include <string>
#include <string_view>

namespace comanda::web {

// Paragraphs and lists ("- " begins an item) with a blank line
// between them; in a line `code`, **strong** and addresses, which become links.
std::string Prose(std::string_view text);
// The same for one line, without <p>.
std::string Inline(std::string_view text);

}  // namespace comanda::web
