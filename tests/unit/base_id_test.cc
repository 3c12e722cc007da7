#include "base/id.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>
#include <vector>

namespace comanda {
namespace {

constexpr UtcMs kNow = 1'645'557'742'000;  // the example of RFC 9562 A.6

TEST(Id, CarriesTheTimeVersionAndVariant) {
  const std::string id = NewId(kNow);

  EXPECT_EQ(id.substr(0, 13), "017f22e2-79b0");
  EXPECT_EQ(id[14], '7');
  EXPECT_NE(std::string("89ab").find(id[19]), std::string::npos);
  EXPECT_EQ(ParseId(id), id);
}

TEST(Id, OfOneMillisecondSortsInTheOrderOfMaking) {
  std::vector<std::string> ids;
  for (int i = 0; i < 10'000; ++i) ids.push_back(NewId(kNow));

  EXPECT_TRUE(std::ranges::is_sorted(ids));
  EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
}

TEST(Id, StaysInOrderWhereTimesAreMixed) {
  const std::string first = NewId(kNow);
  NewId(kNow + 1);
  const std::string second = NewId(kNow);

  EXPECT_LT(first, second);
}

TEST(Id, OfALaterMillisecondSortsLater) { EXPECT_LT(NewId(kNow), NewId(kNow + 1)); }

TEST(Id, IsUniqueAcrossThreads) {
  std::vector<std::vector<std::string>> made(4);
  {
    std::vector<std::jthread> threads;
    for (auto& ids : made) {
      threads.emplace_back([&ids] {
        for (int i = 0; i < 2000; ++i) ids.push_back(NewId(kNow));
      });
    }
  }

  std::set<std::string> all;
  for (const auto& ids : made) {
    EXPECT_TRUE(std::ranges::is_sorted(ids));
    all.insert(ids.begin(), ids.end());
  }
  EXPECT_EQ(all.size(), 8000U);
}

TEST(Id, ReadsAnyCaseAndVersion) {
  EXPECT_EQ(ParseId("2ED6657D-E927-568B-95E1-2665A8AEA6A2"),
            "2ed6657d-e927-568b-95e1-2665a8aea6a2");
  EXPECT_EQ(ParseId("00000000-0000-0000-0000-000000000000"),
            "00000000-0000-0000-0000-000000000000");
}

TEST(Id, RefusesOtherForms) {
  for (const char* text :
       {"", "2ed6657de927568b95e12665a8aea6a2", "{2ed6657d-e927-568b-95e1-2665a8aea6a2}",
        "2ed6657d-e927-568b-95e1-2665a8aea6a", "2ed6657d-e927-568b-95e1-2665a8aea6a2a",
        "2ed6657g-e927-568b-95e1-2665a8aea6a2", "2ed6657d-e927-568b-95e1-2665-8aea6a2",
        "2ed6657de-927-568b-95e1-2665a8aea6a2", "2ed6657d-e927-568b-95e1-2665a8aea6\xc3\xa1"}) {
    EXPECT_EQ(ParseId(text), std::nullopt) << text;
  }
}

TEST(Id, WritesBytesWithVersionAndVariant) {
  const std::string id = "2ed6657d-e927-568b-95e1-2665a8aea6a2";

  EXPECT_EQ(FormatId(BytesOfId(id), 5), id);
  EXPECT_EQ(FormatId(IdBytes{}, 7), "00000000-0000-7000-8000-000000000000");
}

}  // namespace
}  // namespace comanda
