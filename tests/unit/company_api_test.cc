#include "company/api.h"

#include <gtest/gtest.h>

#include "support/api.h"

namespace comanda::company {
namespace {

using testing::Answer;
using testing::Api;
using testing::kCompany;

constexpr UtcMs kNoonInLima = 1'795'971'600'000;  // a Sunday, 17:00 UTC
constexpr UtcMs kMinute = 60'000;

class CompanyApi : public ::testing::Test {
 protected:
  CompanyApi() {
    api_.key = api_.AddKey(auth::ScopeSet::All());
    api_.database->Write([](db::Tx& tx, const db::Stamp&) {
      tx.Run("UPDATE company SET business_hours = $2 WHERE company_id = $1", kCompany,
             R"({"sunday":{"is_active":true,"hours":[{"open":"12:00","close":"12:05"}]}})");
    });
  }
  Answer At(UtcMs now, Api::Headers headers = {}) {
    api_.database.clock.SetWall(now);
    return api_.Get("/v1/company", std::move(headers));
  }
  static bool IsOpen(const Answer& answer) {
    return answer.response.body.find(R"("currently_open":true)") != std::string::npos;
  }

  Api api_{{Routes()}};
};

TEST_F(CompanyApi, ShowsWhetherItIsOpenNow) {
  EXPECT_FALSE(IsOpen(At(kNoonInLima - 1)));
  EXPECT_TRUE(IsOpen(At(kNoonInLima)));
  EXPECT_TRUE(IsOpen(At(kNoonInLima + 5 * kMinute - 1)));
  EXPECT_FALSE(IsOpen(At(kNoonInLima + 5 * kMinute)));
}

TEST_F(CompanyApi, AnswersAPollAcrossTheOpeningTimeAnew) {
  const std::string shut = At(kNoonInLima - kMinute).response.etag;
  const Api::Headers if_changed = {{"If-None-Match", shut}};

  EXPECT_EQ(At(kNoonInLima - 1, if_changed).status(), 304);
  const Answer opened = At(kNoonInLima, if_changed);
  EXPECT_EQ(opened.status(), 200);
  EXPECT_TRUE(IsOpen(opened));
  EXPECT_NE(opened.response.etag, shut);
  EXPECT_EQ(At(kNoonInLima + kMinute, {{"If-None-Match", opened.response.etag}}).status(), 304);
}

}  // namespace
}  // namespace comanda::company
