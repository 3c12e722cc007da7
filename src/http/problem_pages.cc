#include "http/problem_pages.h"

#include <array>
#include <string>

#include "base/concat.h"
#include "base/problem.h"
#include "base/text.h"
#include "crypto/hash.h"
#include "http/context.h"
#include "http/embedded.h"
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
  response.headers.emplace_back("Content-Security-Policy",
                                "default-src 'none'; style-src 'sha256-" +
                                    crypto::Base64(crypto::Sha256(ProblemCss())) + "'");
  response.body = Concat(
      {"<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
       "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
       "content=\"light dark\">\n<title>",
       title, "</title>\n<style>", ProblemCss(), "</style>\n<main>\n<h1>", title,
       "</h1>\n<p><code>", row->code, "</code>, status ", std::to_string(row->status), "</p>\n<p>",
       HtmlEscaped(row->meaning), "</p>\n<p><a href=\"/docs\">/docs</a></p>\n</main>\n</html>\n"});
  response.etag = BodyTag(response.body);
  return response;
}

constexpr std::array kRoutes = {Open(Method::kGet, "/problems/{code}", Page)};

}  // namespace

std::span<const Route> ProblemPageRoutes() { return kRoutes; }

}  // namespace comanda::http
