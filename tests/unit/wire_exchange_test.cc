#include "wire/exchange.h"

#include <gtest/gtest.h>

namespace comanda::wire {
namespace {

TEST(WireExchange, GivesItsBodyOnce) {
  InProcessExchange exchange("body");
  EXPECT_EQ(exchange.ReadBody(4), "body");
  EXPECT_EQ(exchange.ReadBody(4), "");
}

TEST(WireExchange, RefusesABodyThatIsTooLarge) {
  InProcessExchange exchange("body");
  try {
    exchange.ReadBody(3);
    FAIL() << "4 bytes were read";
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.problem, Problem::kPayloadTooLarge);
    EXPECT_EQ(refusal.detail, "The body may have at most 3 bytes here.");
  }
}

TEST(WireExchange, IsUnauthenticatedUntilItIsSaidToBe) {
  InProcessExchange exchange("");
  EXPECT_FALSE(exchange.authenticated());
  exchange.Authenticate();
  EXPECT_TRUE(exchange.authenticated());
}

TEST(WireRequest, JoinsTheFieldsOfOneName) {
  Request request;
  request.headers = {{"Accept", "a"}, {"Host", "box"}, {"accept", "b"}};
  EXPECT_EQ(request.Joined("ACCEPT"), "a, b");
  EXPECT_EQ(request.Header("accept"), "a");
  EXPECT_EQ(request.Joined("Prefer"), "");
}

}  // namespace
}  // namespace comanda::wire
