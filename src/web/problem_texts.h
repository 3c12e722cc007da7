#pragma once

// What each problem means and what to do, in the languages of the pages /problems; the English text
// is that of its row in wire/problem.cc. Any thread; nothing is thrown.

#include <string_view>

#include "base/problem.h"
#include "web/pages.h"

namespace comanda::web {

std::string_view MeaningOf(Problem problem, Language language);

}  // namespace comanda::web
