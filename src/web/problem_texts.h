#pragma once

// What each problem means and what to do (problems.json), for the pages /problems. The view is
// valid for the life of the process. Any thread; nothing is thrown.

#include <string_view>

#include "base/problem.h"
#include "web/pages.h"

namespace comanda::web {

std::string_view MeaningOf(Problem problem, Language language);

}  // namespace comanda::web
