#include "http/problem_pages.h"

#include <array>
#include <string>

#include "base/problem.h"
#include "base/text.h"
#include "http/context.h"
#include "wire/problem.h"

namespace comanda::http {
namespace {

Response Page(Context& context) {
  const wire::ProblemRow* row = wire::FindRow(context.parameter("code"));
  if (row == nullptr) {
    throw Refusal(Problem::kNotFound, "There is no error of that name; check its spelling.");
  }
  context.query().AllowOnly({});
  const std::string title = wire::Title(row->code);
  Response response;
  response.content_type = "text/html; charset=utf-8";
  response.headers.emplace_back("Content-Security-Policy", "default-src 'none'");
  response.body = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>" + title +
                  "</title>\n<h1>" + title + "</h1>\n<p><code>" + std::string(row->code) +
                  "</code>, status " + std::to_string(row->status) + "</p>\n<p>" +
                  HtmlEscaped(row->meaning) + "</p>\n</html>\n";
  response.etag = BodyTag(response.body);
  return response;
}

constexpr std::array kRoutes = {Open(Method::kGet, "/problems/{code}", Page)};

}  // namespace

std::span<const Route> ProblemPageRoutes() { return kRoutes; }

}  // namespace comanda::http
