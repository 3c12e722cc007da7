#include "web/problem_texts.h"

#include "json/reader.h"
#include "web/embedded.h"
#include "wire/problem.h"

namespace comanda::web {

std::string_view MeaningOf(Problem problem, Language language) {
  static const json::Document texts = json::Document::Parse(ProblemsJson());
  return texts.root().Find(wire::Row(problem).code)->Find(TagOf(language))->text();
}

}  // namespace comanda::web
