#include "http/router.h"

#include <gtest/gtest.h>

#include <array>

#include "base/problem.h"

namespace comanda::http {
namespace {

using auth::Scope;

Response Handle(Context&) { return {}; }

constexpr Route LocalRoute() {
  return {Method::kPost, "/local/import", Access::kLocal, std::nullopt, Replay::kNone,
          true,          Handle};
}

std::string_view HintFor(const Mistake& mistake) {
  if (mistake.path_exists) return mistake.method == Method::kDelete ? " Cancel it instead." : "";
  return mistake.path.ends_with("/accept") ? " Change its status instead." : "";
}

constexpr std::array kRows = {
    Get("/v1/orders", Scope::kOrdersRead, Handle),
    Post("/v1/orders", Scope::kOrdersWrite, Handle),
    Get("/v1/orders/{id}", Scope::kOrdersRead, Handle),
    Patch("/v1/orders/{id}", Scope::kOrdersWrite, Handle),
    Patch("/v1/orders/{id}/status", Scope::kOrdersWrite, Handle),
    Delete("/v1/orders/{id}/combos/{comboId}", Scope::kOrdersWrite, Handle),
};
constexpr auto kOrders = With(HintFor, kRows);
constexpr std::array kMenu = {
    Get("/v1/menu/{id}", Scope::kMenuRead, Handle),
    Get("/v1/menu/products", Scope::kMenuRead, Handle),
    Patch("/v1/menu/{id}", Scope::kMenuWrite, Handle),
    LocalRoute(),
};

class HttpRouter : public ::testing::Test {
 protected:
  std::string Pattern(Method method, std::string_view path) const {
    return std::string(router_.Find(method, path).route->pattern);
  }
  Refusal Refused(Method method, std::string_view path) const {
    try {
      router_.Find(method, path);
    } catch (const Refusal& refusal) {
      return refusal;
    }
    ADD_FAILURE() << path;
    return Refusal(Problem::kInternalError, "");
  }

  Router router_{{kOrders, kMenu}};
};

TEST_F(HttpRouter, FindsTheRowAndItsParameters) {
  const Router::Match match = router_.Find(Method::kDelete, "/v1/orders/PE-1/combos/a%20b%2Fc");
  EXPECT_EQ(match.route, &kOrders[5]);
  EXPECT_EQ(match.parameters, (std::vector<std::string>{"PE-1", "a b/c"}));
  EXPECT_EQ(router_.Find(Method::kPost, "/v1/orders").route, &kOrders[1]);
}

TEST_F(HttpRouter, PrefersALiteralToAParameter) {
  EXPECT_EQ(Pattern(Method::kGet, "/v1/menu/products"), "/v1/menu/products");
  EXPECT_EQ(Pattern(Method::kGet, "/v1/menu/other"), "/v1/menu/{id}");
  EXPECT_EQ(Pattern(Method::kPatch, "/v1/menu/other"), "/v1/menu/{id}");
}

TEST_F(HttpRouter, HidesTheRowsOfAParameterBehindALiteral) {
  const Refusal refusal = Refused(Method::kPatch, "/v1/menu/products");
  EXPECT_EQ(refusal.problem, Problem::kMethodNotAllowed);
  EXPECT_EQ(refusal.allow, "GET, HEAD, OPTIONS");
  EXPECT_EQ(router_.Allowed("/v1/menu/products"), "GET, HEAD, OPTIONS");
}

TEST_F(HttpRouter, AnswersHeadWithGet) {
  EXPECT_EQ(Pattern(Method::kHead, "/v1/orders"), "/v1/orders");
  EXPECT_EQ(Refused(Method::kHead, "/v1/orders/1/status").problem, Problem::kMethodNotAllowed);
}

TEST_F(HttpRouter, DecodesSegmentsAfterSplitting) {
  EXPECT_EQ(Pattern(Method::kGet, "/v1/%6Frders"), "/v1/orders");
  EXPECT_EQ(Refused(Method::kGet, "/v1%2Forders").problem, Problem::kNotFound);
  EXPECT_EQ(Refused(Method::kGet, "/v1/orders/%zz").problem, Problem::kInvalidParameter);
  EXPECT_EQ(Refused(Method::kGet, "/v1/orders/%ff").problem, Problem::kInvalidParameter);
}

TEST_F(HttpRouter, RefusesUnknownPathsWithAHint) {
  EXPECT_EQ(Refused(Method::kGet, "/").problem, Problem::kNotFound);
  EXPECT_EQ(Refused(Method::kGet, "").problem, Problem::kNotFound);
  EXPECT_EQ(Refused(Method::kGet, "*").problem, Problem::kNotFound);
  EXPECT_EQ(Refused(Method::kGet, "/V1/orders").problem, Problem::kNotFound);
  EXPECT_EQ(Refused(Method::kGet, "/a/b/c/d/e/f/g/h/i/j/k/l/m/n").problem, Problem::kNotFound);
  const Refusal slash = Refused(Method::kGet, "/v1/orders/");
  EXPECT_EQ(slash.problem, Problem::kNotFound);
  EXPECT_NE(slash.detail.find("slash"), std::string::npos);
  EXPECT_NE(Refused(Method::kGet, "/orders").detail.find("/v1"), std::string::npos);
}

TEST_F(HttpRouter, NamesTheMethodsOfAPath) {
  const Refusal refusal = Refused(Method::kPut, "/v1/orders");
  EXPECT_EQ(refusal.problem, Problem::kMethodNotAllowed);
  EXPECT_EQ(refusal.allow, "GET, HEAD, POST, OPTIONS");
  EXPECT_EQ(router_.Allowed("/v1/orders/1"), "GET, HEAD, PATCH, OPTIONS");
  EXPECT_EQ(router_.Allowed("/v1/none"), "");
}

TEST_F(HttpRouter, HidesWhatOnlyTheCommandLineMayCall) {
  EXPECT_EQ(router_.Allowed("/local/import"), "");
  EXPECT_EQ(Refused(Method::kGet, "/local/import").problem, Problem::kNotFound);
  EXPECT_EQ(Pattern(Method::kPost, "/local/import"), "/local/import");
}

TEST_F(HttpRouter, AsksTheRowsWhatToDoInsteadOfAMistake) {
  const Refusal accept = Refused(Method::kPost, "/v1/orders/1/accept");
  EXPECT_EQ(accept.problem, Problem::kNotFound);
  EXPECT_EQ(accept.detail, "There is no such path. Change its status instead.");
  const Refusal remove = Refused(Method::kDelete, "/v1/orders/1");
  EXPECT_EQ(remove.problem, Problem::kMethodNotAllowed);
  EXPECT_EQ(remove.detail,
            "DELETE is not possible here, but GET, HEAD, PATCH, OPTIONS. Cancel it instead.");
  EXPECT_EQ(Refused(Method::kPut, "/v1/orders/1/status").detail,
            "PUT is not possible here, but PATCH, OPTIONS. Fields are changed with PATCH.");
}

}  // namespace
}  // namespace comanda::http
