#include "web/problem_pages.h"

#include <string>

#include <gtest/gtest.h>

#include "support/api.h"
#include "web/problem_texts.h"

namespace comanda::web {
namespace {

using testing::Answer;
using testing::Api;

TEST(WebProblemPages, ServesAPageForEveryProblemInTheLanguageThatIsAskedFor) {
  Api api{{ProblemPageRoutes()}};
  api.key.clear();
  const Answer page = api.Get("/problems/validation_failed");
  EXPECT_EQ(page.status(), 200);
  EXPECT_NE(page.response.body.find("Validation Failed</h1>"), std::string::npos);
  const Answer spanish = api.Get("/problems/order_closed", {{"Accept-Language", "es-PE,en;q=0.5"}});
  EXPECT_NE(spanish.response.body.find("<html lang=\"es\">"), std::string::npos);
  EXPECT_NE(spanish.response.body.find("La orden está finalizada"), std::string::npos);
  EXPECT_TRUE(spanish.Header("Vary").starts_with("Accept-Language"));
  EXPECT_EQ(api.Get("/problems/none").status(), 404);
}

TEST(WebProblemPages, ListsAllOfThem) {
  Api api{{ProblemPageRoutes()}};
  api.key.clear();
  const std::string body = api.Get("/problems", {{"Accept-Language", "pt"}}).response.body;
  for (size_t i = 0; i <= static_cast<size_t>(Problem::kVersionNotSupported); ++i) {
    const auto problem = static_cast<Problem>(i);
    EXPECT_GT(MeaningOf(problem, Language::kEnglish).size(), 20u);
    EXPECT_GT(MeaningOf(problem, Language::kSpanish).size(), 20u);
    EXPECT_NE(MeaningOf(problem, Language::kSpanish), MeaningOf(problem, Language::kEnglish));
    EXPECT_NE(MeaningOf(problem, Language::kPortuguese), MeaningOf(problem, Language::kSpanish));
  }
  EXPECT_NE(body.find("href=\"/problems/invalid_json\""), std::string::npos);
  EXPECT_NE(body.find("href=\"/problems/version_not_supported\""), std::string::npos);
}

}  // namespace
}  // namespace comanda::web
