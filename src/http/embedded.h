#pragma once

// The style of the pages of problems, which has the tokens of all pages (src/web/shared), embedded
// in the program: scripts/embed.cmake generates the source. The view is valid for the life of the
// process. Any thread; nothing is thrown.

#include <string_view>

namespace comanda::http {

std::string_view ProblemCss();

}  // namespace comanda::http
