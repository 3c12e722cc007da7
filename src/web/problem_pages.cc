#include "web/problem_pages.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/problem.h"
#include "base/text.h"
#include "http/context.h"
#include "web/pages.h"
#include "web/problem_texts.h"
#include "wire/problem.h"

namespace comanda::web {
namespace {

// The words around the texts.
struct Frame {
  std::string_view error, all, intro, status, english, docs;
};

const Frame& FrameOf(Language language) {
  static constexpr Frame kEnglish = {
      "Error",       "All errors", "What an answer with an error means, by its code.",
      "HTTP status", "",           "For programmers"};
  static constexpr Frame kSpanish = {
      "Error",
      "Todos los errores",
      "Qué significa una respuesta con un error, por su código.",
      "estado HTTP",
      "El detalle (detail) de cada respuesta y la documentación están en inglés.",
      "Para programadores"};
  static constexpr Frame kPortuguese = {
      "Erro",
      "Todos os erros",
      "O que significa uma resposta com erro, pelo seu código.",
      "estado HTTP",
      "O detalhe (detail) de cada resposta e a documentação estão em inglês.",
      "Para programadores"};
  return InLanguage(language, kEnglish, kSpanish, kPortuguese);
}

Language LanguageFor(http::Context& context) {
  return LanguageOf(context.request().Joined("Accept-Language"));
}

std::string Foot(const Frame& frame, bool is_index) {
  std::string out;
  if (!frame.english.empty()) out = Concat({"<p class=\"soft\">", frame.english, "</p>\n"});
  out += "<p class=\"soft\">";
  if (!is_index) out += Concat({"<a href=\"/problems\">", frame.all, "</a> · "});
  return out + Concat({"<a href=\"/docs\">", frame.docs, "</a> · <a href=\"/\">Comanda</a></p>"});
}

http::Response GetProblem(http::Context& context) {
  const wire::ProblemRow* row = wire::FindRow(context.parameter("code"));
  if (row == nullptr) {
    throw Refusal(Problem::kNotFound,
                  "There is no error of that name; check its spelling. /problems lists them.");
  }
  context.query().AllowOnly({});
  const Language language = LanguageFor(context);
  const Frame& frame = FrameOf(language);
  // The code is what people search for; English has a title made of it.
  const std::string title = language == Language::kEnglish ? wire::Title(row->code)
                                                           : Concat({frame.error, " ", row->code});
  return PageAnswer(TextPage(
      language, title,
      Concat({"<p><code>", row->code, "</code>, ", frame.status, " ", std::to_string(row->status),
              "</p>\n<p>", HtmlEscaped(MeaningOf(row->problem, language)), "</p>\n",
              Foot(frame, false)})));
}

http::Response GetIndex(http::Context& context) {
  context.query().AllowOnly({});
  const Language language = LanguageFor(context);
  const Frame& frame = FrameOf(language);
  std::string rows = Concat({"<p>", frame.intro, "</p>\n<dl>\n"});
  for (size_t i = 0; i <= static_cast<size_t>(Problem::kVersionNotSupported); ++i) {
    const wire::ProblemRow& row = wire::Row(static_cast<Problem>(i));
    rows += Concat({"<dt><a href=\"/problems/", row.code, "\"><code>", row.code, "</code></a> ",
                    std::to_string(row.status), "</dt><dd>",
                    HtmlEscaped(MeaningOf(row.problem, language)), "</dd>\n"});
  }
  return PageAnswer(TextPage(language, frame.all, rows + "</dl>\n" + Foot(frame, true)));
}

constexpr std::array kRoutes = {
    http::Open(http::Method::kGet, "/problems", GetIndex),
    http::Open(http::Method::kGet, "/problems/{code}", GetProblem),
};

}  // namespace

std::span<const http::Route> ProblemPageRoutes() { return kRoutes; }

}  // namespace comanda::web
