#pragma once

// Text in HTML. Pure functions; any thread.

#include <string>
#include <string_view>

namespace comanda::web {

// For the content of an element, and for an attribute in double quotes.
std::string Escaped(std::string_view text);

// A description of openapi.json: paragraphs and lists ("- " begins an item) with a blank line
// between them; in a line `code`, **strong** and addresses, which become links.
std::string Prose(std::string_view text);
// The same for one line, without <p>.
std::string Inline(std::string_view text);

}  // namespace comanda::web
