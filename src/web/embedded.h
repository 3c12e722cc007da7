#pragma once

// Files of src/web that are part of the program; scripts/embed.cmake turns them into the source.

#include <string_view>

namespace comanda::web {

std::string_view OpenapiJson();
std::string_view OpenapiJsonGzip();
std::string_view DocsHtml();  // has {{style}} and {{script}}
std::string_view DocsCss();
std::string_view DocsJs();

}  // namespace comanda::web
